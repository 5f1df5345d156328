//! Joins the chunks of a stream to the complete response.

use std::collections::HashMap;

use hook_json::shape::{FieldReader, ShapeError};
use hook_json::{JsonKind, JsonObject, RawJson, RawObject};

use crate::joined::Joined;
use crate::{TranslateError, json};

/// Joins chunks: parts are appended, other fields come from the last chunk that has them.
pub(crate) fn join_chunks(chunks: &[RawObject]) -> Result<RawObject, TranslateError> {
    if let [chunk] = chunks {
        return Ok(chunk.clone());
    }
    let mut response = Response::default();
    for (number, chunk) in chunks.iter().enumerate() {
        response.add(chunk).map_err(|error| error.within(&format!("chunks[{number}]")))?;
    }
    response.complete()
}

/// The response so far.
#[derive(Debug, Default)]
struct Response {
    fields: JsonObject,
    /// The first candidate's text, which the SDK's chunks also have outside of their candidates.
    text: Option<Joined>,
    candidates: Vec<Candidate>,
    /// The position of the candidate with an index.
    positions: HashMap<u64, usize>,
}

#[derive(Debug, Default)]
struct Candidate {
    fields: JsonObject,
    content: Option<JsonObject>,
    parts: Vec<Part>,
}

#[derive(Debug)]
struct Part {
    raw: RawJson,
    /// Its text, if it has no other content that would also apply to a later part.
    text: Option<Joined>,
    /// `true` if the text is a thought.
    thought: bool,
    /// `true` if the text is joined from several parts.
    is_joined: bool,
}

impl Response {
    fn add(&mut self, chunk: &RawObject) -> Result<(), ShapeError> {
        let mut fields = FieldReader::new(chunk.fields());
        if let Some(text) = fields.of_kind("text", JsonKind::String, "a string")? {
            self.text.get_or_insert_default().push(&text);
        }
        let candidates = fields.items("candidates")?;
        if candidates.is_some() && self.fields.get("candidates").is_none() {
            // Keeps its position among the fields; the value follows at the end.
            self.fields.insert("candidates", RawJson::from_bool(true));
        }
        for (position, raw) in (0_u64..).zip(candidates.unwrap_or_default()) {
            let path = || format!("candidates[{position}]");
            let candidate =
                raw.to_object().map_err(|_| ShapeError::new(path(), "an object", raw.kind()))?;
            let index = candidate.get("index").and_then(RawJson::to_u64);
            let position_in_list =
                *self.positions.entry(index.unwrap_or(position)).or_insert_with(|| {
                    self.candidates.push(Candidate::default());
                    self.candidates.len() - 1
                });
            self.candidates[position_in_list]
                .add(candidate)
                .map_err(|error| error.within(&path()))?;
        }
        json::overlay_given(&mut self.fields, &fields.into_rest());
        Ok(())
    }

    fn complete(mut self) -> Result<RawObject, TranslateError> {
        if let Some(text) = &self.text {
            self.fields.insert("text", text.to_raw("text")?);
        }
        if self.fields.get("candidates").is_some() {
            let candidates: Vec<RawJson> =
                self.candidates.into_iter().map(Candidate::complete).collect::<Result<_, _>>()?;
            self.fields.insert("candidates", RawJson::from_items(&candidates));
        }
        Ok(self.fields.to_raw())
    }
}

impl Candidate {
    fn add(&mut self, candidate: JsonObject) -> Result<(), ShapeError> {
        let mut fields = FieldReader::new(candidate);
        if let Some(content) = fields.object("content")? {
            if self.content.is_none() {
                // As above, keeps its position among the fields.
                self.fields.insert("content", RawJson::from_bool(true));
            }
            let mut content = FieldReader::new(content.fields());
            let parts = match content.any("parts") {
                Some(part) if part.kind() == JsonKind::Object => vec![part],
                Some(parts) if !parts.is_null() => parts.to_items().ok_or_else(|| {
                    ShapeError::new("content.parts", "an array or an object", parts.kind())
                })?,
                _ => Vec::new(),
            };
            for (index, raw) in parts.into_iter().enumerate() {
                let path = || format!("content.parts[{index}]");
                self.append(Part::read(raw, path)?);
            }
            json::overlay_given(self.content.get_or_insert_default(), &content.into_rest());
        }
        json::overlay_given(&mut self.fields, &fields.into_rest());
        Ok(())
    }

    fn append(&mut self, part: Part) {
        if let Some(last) = self.parts.last_mut()
            && let (Some(text), Some(_)) = (&mut last.text, &part.text)
            && last.thought == part.thought
            && let Ok(fields) = part.raw.to_object()
        {
            fields.get("text").into_iter().for_each(|more| text.push(more));
            last.is_joined = true;
        } else {
            self.parts.push(part);
        }
    }

    fn complete(mut self) -> Result<RawJson, TranslateError> {
        if let Some(mut content) = self.content {
            let parts: Vec<RawJson> =
                self.parts.into_iter().map(Part::complete).collect::<Result<_, _>>()?;
            content.insert("parts", RawJson::from_items(&parts));
            self.fields.insert("content", content.to_raw());
        }
        Ok(self.fields.to_raw().into())
    }
}

impl Part {
    /// Reads a part. `place` returns its path.
    fn read(raw: RawJson, path: impl Fn() -> String) -> Result<Self, ShapeError> {
        if raw.is_null() {
            return Ok(Self { raw, text: None, thought: false, is_joined: false });
        }
        let fields =
            raw.to_object().map_err(|_| ShapeError::new(path(), "an object", raw.kind()))?;
        let thought = fields.get("thought").and_then(RawJson::to_bool);
        let is_plain = fields.iter().all(|(name, _)| matches!(name, "text" | "thought"));
        let text = FieldReader::new(fields).of_kind("text", JsonKind::String, "a string");
        let text = text.map_err(|error| error.within(&path()))?.filter(|_| is_plain).map(|text| {
            let mut joined = Joined::default();
            joined.push(&text);
            joined
        });
        Ok(Self { raw, text, thought: thought == Some(true), is_joined: false })
    }

    fn complete(self) -> Result<RawJson, TranslateError> {
        let (Some(text), true) = (self.text, self.is_joined) else { return Ok(self.raw) };
        let mut fields = self.raw.to_object().unwrap_or_default();
        fields.insert("text", text.to_raw("text")?);
        Ok(fields.to_raw().into())
    }
}

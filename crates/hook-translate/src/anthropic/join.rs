//! Joins the events of a stream to the complete response.

use std::collections::BTreeMap;

use hook_json::shape::{FieldReader, ShapeError};
use hook_json::{JsonKind, JsonObject, RawJson, RawObject};

use crate::joined::Joined;
use crate::{TranslateError, Translated, Warning, json};

/// The kinds of deltas that continue a text of the block, and the field of the text in both.
const TEXT_DELTAS: [(&str, &str); 3] =
    [("text_delta", "text"), ("thinking_delta", "thinking"), ("compaction_delta", "content")];

/// Joins events to the complete response.
///
/// A stream that ended with an error results in the message so far; one that began with it, in the
/// error.
pub(crate) fn join_chunks(chunks: &[RawObject]) -> Result<Translated, TranslateError> {
    let mut stream = Stream::default();
    for (number, event) in chunks.iter().enumerate() {
        let path = || format!("chunks[{number}]");
        if let Some((field, message)) = stream.add(event).map_err(|error| error.within(&path()))? {
            stream.warnings.push(Warning::new(format!("{}.{field}", path()), message));
        }
    }
    stream.complete()
}

/// The state of a stream.
#[derive(Debug, Default)]
struct Stream {
    /// The message at its start, with later changes.
    message: Option<JsonObject>,
    /// By index.
    blocks: BTreeMap<u64, Block>,
    /// The event that ended the stream with an error.
    error: Option<RawObject>,
    stopped: bool,
    warnings: Vec<Warning>,
}

/// A field of an event, and the warning about it.
type Remark = Option<(&'static str, &'static str)>;

impl Stream {
    fn add(&mut self, event: &RawObject) -> Result<Remark, ShapeError> {
        let mut fields = FieldReader::new(event.fields());
        let kind = fields.text("type")?;
        match kind.as_deref() {
            Some("message_start") => self.start(&mut fields)?,
            Some("content_block_start") => {
                let index = index(&mut fields)?;
                let block = required(fields.object("content_block")?, "content_block")?;
                self.blocks.insert(index, Block::starting(block.fields()));
            }
            Some("content_block_delta") => {
                let index = index(&mut fields)?;
                let block = self.blocks.get_mut(&index).ok_or_else(|| {
                    ShapeError::new("index", "the index of a block that has started", index)
                })?;
                let delta = required(fields.object("delta")?, "delta")?;
                return block.add(&delta).map_err(|error| error.within("delta"));
            }
            Some("message_delta") => self.change(fields)?,
            Some("message_stop") => self.stopped = true,
            Some("content_block_stop" | "ping") => {}
            Some("error") => {
                self.error = Some(event.clone());
                let message = "the stream broke off with this error; \
                               the response is what came before it";
                return Ok(self.message.is_some().then_some(("error", message)));
            }
            Some(_) => {
                return Ok(Some(("type", "not a kind of event of this sdk; it is left out")));
            }
            None => return Err(ShapeError::new("type", "a string", "nothing")),
        }
        Ok(None)
    }

    fn start(&mut self, fields: &mut FieldReader) -> Result<(), ShapeError> {
        let message = required(fields.object("message")?, "message")?.fields();
        let items = FieldReader::new(message.clone())
            .items("content")
            .map_err(|error| error.within("message"))?;
        for (index, block) in (0..).zip(items.unwrap_or_default()) {
            let block = block.to_object().map_err(|_| {
                ShapeError::new(format!("message.content[{index}]"), "an object", block.kind())
            })?;
            self.blocks.insert(index, Block::starting(block));
        }
        self.message = Some(message);
        Ok(())
    }

    /// Applies an event to the message. Counts are those of the whole message; absent fields keep
    /// their values.
    fn change(&mut self, mut fields: FieldReader) -> Result<(), ShapeError> {
        let delta = fields.object("delta")?;
        let usage = fields.object("usage")?;
        let Some(message) = &mut self.message else {
            return Err(ShapeError::new("type", "a message_start event first", "message_delta"));
        };
        message.merge(&delta.map(|delta| delta.fields()).unwrap_or_default());
        json::overlay_given(message, &fields.into_rest());
        if let Some(usage) = usage {
            let counts = message.get("usage").and_then(|counts| counts.to_object().ok());
            let mut counts = counts.unwrap_or_default();
            json::overlay_given(&mut counts, &usage.fields());
            message.insert("usage", counts.to_raw());
        }
        Ok(())
    }

    fn complete(mut self) -> Result<Translated, TranslateError> {
        let Some(mut message) = self.message else {
            let error = || ShapeError::new("chunks", "a message_start event", "none");
            return Ok(Translated::complete(self.error.ok_or_else(error)?));
        };
        if !self.stopped && self.error.is_none() {
            let text = "the stream ends before its message does; \
                        the response is what came until then";
            self.warnings.push(Warning::new("chunks", text));
        }
        let mut blocks = Vec::with_capacity(self.blocks.len());
        for block in self.blocks.into_values() {
            let (block, remark) = block.complete()?;
            let path = || format!("content[{}].input", blocks.len());
            self.warnings.extend(remark.map(|remark| Warning::new(path(), remark)));
            blocks.push(block);
        }
        message.insert("content", RawJson::from_items(&blocks));
        Ok(Translated { value: message.to_raw(), warnings: self.warnings })
    }
}

/// An unfinished block.
#[derive(Debug)]
struct Block {
    fields: JsonObject,
    /// The text that deltas continue, and its field.
    text: Option<(&'static str, Joined)>,
    citations: Vec<RawJson>,
    /// The input of a tool call, which arrives as pieces of its JSON.
    input: Option<Joined>,
}

impl Block {
    fn starting(fields: JsonObject) -> Self {
        Self { fields, text: None, citations: Vec::new(), input: None }
    }

    fn add(&mut self, delta: &RawObject) -> Result<Remark, ShapeError> {
        let mut fields = FieldReader::new(delta.fields());
        let kind = fields.text("type")?;
        let mut string = |name| {
            let string = fields.of_kind(name, JsonKind::String, "a string")?;
            string.ok_or_else(|| ShapeError::new(name, "a string", "nothing"))
        };
        let text = TEXT_DELTAS.into_iter().find(|text| Some(text.0) == kind.as_deref());
        match (kind.as_deref(), text) {
            (_, Some((_, name))) => {
                let more = string(name)?;
                let started = || {
                    let mut text = Joined::default();
                    self.fields.get(name).into_iter().for_each(|start| text.push(start));
                    (name, text)
                };
                self.text.get_or_insert_with(started).1.push(&more);
            }
            (Some("input_json_delta"), _) => {
                self.input.get_or_insert_default().push(&string("partial_json")?);
            }
            (Some("signature_delta"), _) => self.fields.insert("signature", string("signature")?),
            (Some("citations_delta"), _) => {
                let citation = fields.any("citation");
                self.citations.push(required(citation, "citation")?);
            }
            (Some(_), _) => {
                return Ok(Some(("delta.type", "not a kind of delta of this sdk; it is left out")));
            }
            (None, _) => return Err(ShapeError::new("type", "a string", "nothing")),
        }
        Ok(None)
    }

    /// Returns the whole block, and a warning about its input.
    fn complete(self) -> Result<(RawJson, Option<&'static str>), TranslateError> {
        let mut fields = self.fields;
        let mut remark = None;
        if let Some((name, text)) = &self.text {
            fields.insert(*name, text.to_raw("content")?);
        }
        if !self.citations.is_empty() {
            let mut citations =
                json::given(&fields, "citations").and_then(RawJson::to_items).unwrap_or_default();
            citations.extend(self.citations);
            fields.insert("citations", RawJson::from_items(&citations));
        }
        if let Some(input) = self.input {
            let text = input.to_raw("input")?.to_text().unwrap_or_default();
            match RawJson::parse(text.as_str()) {
                Ok(input) => fields.insert("input", input),
                Err(_) if text.is_empty() => {}
                Err(_) => {
                    remark =
                        Some("the stream gave no complete JSON for it; it is left as it began");
                }
            }
        }
        Ok((fields.to_raw().into(), remark))
    }
}

fn index(fields: &mut FieldReader) -> Result<u64, ShapeError> {
    let number = required(fields.number("index")?, "index")?;
    number.to_u64().ok_or_else(|| ShapeError::new("index", "a whole number", number.as_str()))
}

fn required<T>(value: Option<T>, name: &str) -> Result<T, ShapeError> {
    value.ok_or_else(|| ShapeError::new(name, "a value", "nothing"))
}

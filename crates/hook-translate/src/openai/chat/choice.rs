//! An alternative of a response, and a hook's changes to it.

use hook_json::shape::{FieldReader, ShapeError};
use hook_json::{JsonObject, RawJson, RawObject};
use hook_protocol::model::LlmCandidate;

use super::message::{text_part, without_text};
use crate::alternatives::Alternative;
use crate::distribute::{Piece, Portion};
use crate::openai::content::{Content, has_other_content};
use crate::openai::finish;
use crate::{Warning, json};

/// The field of a choice with the model's message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Holder {
    /// The `message` of a complete response.
    Message,
    /// The `delta` of a stream's chunk.
    Delta,
}

impl Holder {
    pub(super) fn field(self) -> &'static str {
        match self {
            Self::Message => "message",
            Self::Delta => "delta",
        }
    }
}

/// One element of a response's `choices`.
#[derive(Debug)]
pub(super) struct Choice {
    holder: Holder,
    fields: JsonObject,
    message: JsonObject,
    content: Content,
    shown: LlmCandidate,
}

impl Choice {
    /// Reads an element of `choices`. `path` is the element's path.
    pub(super) fn read(
        raw: &RawJson,
        holder: Holder,
        path: impl Fn() -> String,
    ) -> Result<Self, ShapeError> {
        let fields =
            raw.to_object().map_err(|_| ShapeError::new(path(), "an object", raw.kind()))?;
        Self::read_fields(fields, holder).map_err(|error| error.within(&path()))
    }

    fn read_fields(fields: JsonObject, holder: Holder) -> Result<Self, ShapeError> {
        let mut reader = FieldReader::new(fields.clone());
        let message = reader.object(holder.field())?;
        let message = message.map(|message| message.fields()).unwrap_or_default();
        let content = Content::of(&message).map_err(|error| error.within(holder.field()))?;
        let reason = reader.text("finish_reason")?;
        let shown = LlmCandidate {
            parts: Some(content.texts()),
            finish_reason: reason.map(|reason| finish::shown(&reason).to_owned()),
            index: reader.number("index")?,
            safety_ratings: None,
        };
        Ok(Self { holder, fields, message, content, shown })
    }

    /// Returns a complete choice for a hook's candidate at that position.
    pub(super) fn from_hook(given: &LlmCandidate, holder: Holder, position: usize) -> RawJson {
        let index = given.index.clone();
        let index = index.unwrap_or_else(|| RawJson::from_u64(position as u64));
        let text = given.parts.as_deref().unwrap_or_default().concat();
        let mut message = JsonObject::new();
        message.insert("role", RawJson::from_text("assistant"));
        message.insert("content", RawJson::from_text(&text));
        message.insert("refusal", RawJson::null());
        let reason = given.finish_reason.as_deref().map_or("stop", finish::chat_reason);
        json::object([
            ("index", index),
            (holder.field(), message.to_raw().into()),
            ("logprobs", RawJson::null()),
            ("finish_reason", RawJson::from_text(reason)),
        ])
        .into()
    }
}

impl Alternative for Choice {
    fn shown(&self) -> &LlmCandidate {
        &self.shown
    }

    fn has_non_text(&self) -> bool {
        self.content.has_non_text() || has_other_content(&self.message, &["role", "content"])
    }

    fn fields(&self) -> &JsonObject {
        &self.fields
    }

    fn pieces(&self) -> Vec<Piece<'_>> {
        self.content.pieces()
    }

    fn changes(&self, given: &LlmCandidate) -> JsonObject {
        let mut changes = JsonObject::new();
        if let Some(reason) = &given.finish_reason
            && given.finish_reason != self.shown.finish_reason
        {
            changes.insert("finish_reason", RawJson::from_text(finish::chat_reason(reason)));
        }
        if let Some(index) = &given.index
            && given.index != self.shown.index
        {
            changes.insert("index", index.clone());
        }
        changes
    }

    fn rewritten(
        &self,
        portions: Vec<Portion>,
        path: &str,
        warnings: &mut Vec<Warning>,
    ) -> (&'static str, RawObject) {
        let content_path = format!("{path}.{}.content", self.holder.field());
        let content = self.content.rewritten(portions, &content_path, text_part, warnings);
        let mut message = self.message.clone();
        if self.holder == Holder::Message && json::given(&message, "role").is_none() {
            message.insert("role", RawJson::from_text("assistant"));
        }
        let content = content.unwrap_or_else(|| without_text(&message, &self.content));
        message.insert("content", content);
        if json::given(&self.fields, "logprobs").is_some() {
            let message =
                "the hook changed the text; the log probabilities still spell the old one";
            warnings.push(Warning::new(format!("{path}.logprobs"), message));
        }
        (self.holder.field(), message.to_raw())
    }
}

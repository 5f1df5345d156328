//! One message of a chat.

use hook_core::model::{LlmMessage, LlmRole};
use hook_core::shape::{FieldReader, ShapeError};
use hook_core::{JsonKind, JsonObject, RawJson};

use crate::conversation::Entry;
use crate::openai::content::{Content, says_more};
use crate::openai::pairing::Tie;
use crate::openai::role;
use crate::spread::spread;
use crate::{TranslateError, Warning, json};

/// An element of a request's `messages`.
#[derive(Debug)]
pub(super) struct Message {
    raw: RawJson,
    fields: JsonObject,
    role: Option<String>,
    /// The role that hooks see, unless a tool speaks.
    speaker: Option<LlmRole>,
    content: Content,
}

impl Message {
    /// Reads an element of `messages`. `path` is where it stands.
    pub(super) fn read(raw: &RawJson, path: impl Fn() -> String) -> Result<Self, ShapeError> {
        let fields = match raw.kind() {
            JsonKind::Null => JsonObject::new(),
            kind => raw.to_object().map_err(|_| ShapeError::new(path(), "an object", kind))?,
        };
        Self::read_fields(raw, fields).map_err(|error| error.within(&path()))
    }

    fn read_fields(raw: &RawJson, fields: JsonObject) -> Result<Self, ShapeError> {
        let role = FieldReader::new(fields.clone()).text("role")?;
        let speaker = role::shown(role.as_deref());
        let content = match speaker {
            Some(_) => Content::read(fields.get("content"))?,
            None => Content::Nothing,
        };
        Ok(Self { raw: raw.clone(), fields, role, speaker, content })
    }

    /// A message that says what a hook's one does.
    pub(super) fn of_hook(message: &LlmMessage, system: &'static str) -> RawJson {
        let role = RawJson::from_text(role::written(message.role, system));
        let content = RawJson::from_text(&message.content);
        json::object([("role", role), ("content", content)]).into()
    }

    /// Who speaks, as it is written.
    pub(super) fn role(&self) -> Option<&str> {
        self.role.as_deref()
    }

    /// What this has to do with the messages around it.
    pub(super) fn tie(&self) -> Tie {
        if self.raw.is_null() {
            return Tie::Free;
        }
        let id = |call: &RawJson| call.to_object().ok()?.get("id")?.to_text();
        let calls = json::given(&self.fields, "tool_calls").and_then(RawJson::to_items);
        let calls = calls.filter(|calls| !calls.is_empty());
        match (self.speaker, calls) {
            (None, _) => Tie::Answers(self.fields.get("tool_call_id").and_then(RawJson::to_text)),
            (_, Some(calls)) => Tie::Calls(calls.iter().filter_map(id).collect()),
            _ if json::given(&self.fields, "function_call").is_some() => Tie::Calls(Vec::new()),
            _ => Tie::Free,
        }
    }

    /// Whether this is more than somebody who says something.
    fn holds_more(&self) -> bool {
        says_more(&self.fields, &["role", "content", "name"])
    }
}

impl Entry for Message {
    fn raw(&self) -> &RawJson {
        &self.raw
    }

    fn message(&self) -> Option<LlmMessage> {
        let role = self.speaker?;
        let content = self.content.texts().concat();
        (!content.is_empty()).then_some(LlmMessage { role, content })
    }

    fn with_text(
        &self,
        text: &str,
        path: &str,
        warnings: &mut Vec<Warning>,
    ) -> Result<Option<RawJson>, TranslateError> {
        let portions = spread(&self.content.pieces(), text);
        let path = format!("{path}.content");
        let content = match self.content.rewritten(portions, &path, text_part, warnings)? {
            Some(content) => content,
            None if self.holds_more() => without_text(&self.fields, &self.content)?,
            None => return Ok(None),
        };
        let mut fields = self.fields.clone();
        fields.insert("content", content);
        Ok(Some(fields.to_raw().into()))
    }
}

/// A part that says nothing but this.
pub(super) fn text_part(text: &str) -> RawJson {
    json::object([("type", RawJson::from_text("text")), ("text", RawJson::from_text(text))]).into()
}

/// The content of a message that stays although all of its text is gone. Beside calls of tools the
/// API wants none.
pub(super) fn without_text(
    message: &JsonObject,
    content: &Content,
) -> Result<RawJson, TranslateError> {
    let says = |name: &str| json::given(message, name).is_some();
    if ["tool_calls", "function_call", "audio", "refusal"].into_iter().any(says) {
        return json::null("content");
    }
    content.emptied()
}

//! One message of a chat.

use hook_json::shape::{ShapeError, read_text};
use hook_json::{JsonObject, JsonWalk, RawJson};
use hook_protocol::model::{LlmMessage, LlmRole};

use crate::conversation::Entry;
use crate::openai::content::{Content, Found, object_or_null, says_more};
use crate::openai::pairing::Tie;
use crate::openai::role;
use crate::spread::spread;
use crate::{Warning, json};

/// An element of a request's `messages`.
#[derive(Debug)]
pub(super) struct Message {
    raw: RawJson,
    /// `true` for the role `developer`, another name of `system`.
    by_developer: bool,
    /// The role that hooks see, or `None` for a tool.
    speaker: Option<LlmRole>,
    content: Content,
    calls: Calls,
}

/// The tool calls and results in a message, in JSON.
#[derive(Debug, Default)]
struct Calls {
    /// The calls.
    made: Option<RawJson>,
    /// The one call, in the older form.
    function: Option<RawJson>,
    /// The id of the call that it answers.
    answered: Option<RawJson>,
}

impl Message {
    /// Reads the next value as an element of `messages`.
    pub(super) fn read(walk: &mut JsonWalk<'_>) -> Result<Self, ShapeError> {
        let (mut role, mut content, mut calls) = (None, Found::default(), Calls::default());
        let raw = object_or_null(walk, |walk, name| match name {
            "role" => role = Some(walk.value()),
            "content" => content = Found::ahead(walk, role::may_be_shown(role)),
            "tool_calls" => calls.made = Some(walk.value().to_raw()),
            "function_call" => calls.function = Some(walk.value().to_raw()),
            "tool_call_id" => calls.answered = Some(walk.value().to_raw()),
            _ => {}
        })?;
        let role = read_text("role", role)?;
        let speaker = role::shown(role.as_deref());
        let by_developer = role::is_developer(role.as_deref());
        let content = match speaker {
            Some(_) => content.content()?,
            None => Content::Nothing,
        };
        Ok(Self { raw: raw.to_raw(), by_developer, speaker, content, calls })
    }

    /// Returns a message for a hook's message.
    pub(super) fn of_hook(message: &LlmMessage, system: &'static str) -> RawJson {
        let role = RawJson::from_text(role::written(message.role, system));
        let content = message.content.normalized();
        json::object([("role", role), ("content", content)]).into()
    }

    /// Returns `true` for the role `developer`, another name of `system`.
    pub(super) fn is_by_developer(&self) -> bool {
        self.by_developer
    }

    /// Returns the relation to the messages around it.
    pub(super) fn tie(&self) -> Tie {
        if self.raw.is_null() {
            return Tie::Free;
        }
        let id = |call: &RawJson| call.to_object().ok()?.get("id")?.to_text();
        let calls = self.calls.made.as_ref().and_then(RawJson::to_items);
        let calls = calls.filter(|calls| !calls.is_empty());
        let calls_function = self.calls.function.as_ref().is_some_and(|call| !call.is_null());
        match (self.speaker, calls) {
            (None, _) => Tie::Answers(self.calls.answered.as_ref().and_then(RawJson::to_text)),
            (_, Some(calls)) => Tie::Calls(calls.iter().filter_map(id).collect()),
            _ if calls_function => Tie::Calls(Vec::new()),
            _ => Tie::Free,
        }
    }
}

impl Entry for Message {
    fn raw(&self) -> &RawJson {
        &self.raw
    }

    fn said(&self) -> Option<LlmMessage> {
        Some(LlmMessage { role: self.speaker?, content: self.content.text()? })
    }

    fn with_text(&self, text: &str, path: &str, warnings: &mut Vec<Warning>) -> Option<RawJson> {
        let portions = spread(&self.content.pieces(), text);
        let path = format!("{path}.content");
        let mut fields = self.raw.to_object().unwrap_or_default();
        let content = match self.content.rewritten(portions, &path, text_part, warnings) {
            Some(content) => content,
            // The message has more than a role and text.
            None if says_more(&fields, &["role", "content", "name"]) => {
                without_text(&fields, &self.content)
            }
            None => return None,
        };
        fields.insert("content", content);
        Some(fields.to_raw().into())
    }
}

/// Returns a part with only this text.
pub(super) fn text_part(text: &str) -> RawJson {
    json::object([("type", RawJson::from_text("text")), ("text", RawJson::from_text(text))]).into()
}

/// Returns the content of a message that stays without its text. Next to tool calls the API expects
/// none.
pub(super) fn without_text(message: &JsonObject, content: &Content) -> RawJson {
    let says = |name: &str| json::given(message, name).is_some();
    if ["tool_calls", "function_call", "audio", "refusal"].into_iter().any(says) {
        return RawJson::null();
    }
    content.emptied()
}

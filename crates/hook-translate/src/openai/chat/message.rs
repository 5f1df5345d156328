//! One message of a chat.

use hook_json::shape::{ShapeError, read_text};
use hook_json::{JsonObject, JsonWalk, RawJson};
use hook_protocol::model::{LlmMessage, LlmRole};

use crate::conversation::Entry;
use crate::distribute::distribute;
use crate::openai::content::{Content, PendingContent, has_other_content, object_or_null};
use crate::openai::pairing::Relation;
use crate::openai::role;
use crate::{Warning, json};

/// An element of a request's `messages`.
#[derive(Debug)]
pub(super) struct Message {
    raw: RawJson,
    /// `true` for the role `developer`, another name of `system`.
    by_developer: bool,
    /// The role that hooks see, or `None` for a tool.
    shown_role: Option<LlmRole>,
    content: Content,
    calls: Calls,
}

/// The tool calls and results in a message, in JSON.
#[derive(Debug, Default)]
struct Calls {
    /// The calls.
    tool_calls: Option<RawJson>,
    /// The one call, in the older form.
    function_call: Option<RawJson>,
    /// The id of the call that it answers.
    tool_call_id: Option<RawJson>,
}

impl Message {
    /// Reads the next value as an element of `messages`.
    pub(super) fn read(walk: &mut JsonWalk<'_>) -> Result<Self, ShapeError> {
        let (mut role, mut content, mut calls) =
            (None, PendingContent::default(), Calls::default());
        let raw = object_or_null(walk, |walk, name| match name {
            "role" => role = Some(walk.value()),
            "content" => content = PendingContent::read_if_likely(walk, role::may_be_shown(role)),
            "tool_calls" => calls.tool_calls = Some(walk.value().to_raw()),
            "function_call" => calls.function_call = Some(walk.value().to_raw()),
            "tool_call_id" => calls.tool_call_id = Some(walk.value().to_raw()),
            _ => {}
        })?;
        let role = read_text("role", role)?;
        let shown_role = role::shown(role.as_deref());
        let by_developer = role::is_developer(role.as_deref());
        let content = match shown_role {
            Some(_) => content.content()?,
            None => Content::Absent,
        };
        Ok(Self { raw: raw.to_raw(), by_developer, shown_role, content, calls })
    }

    /// Returns a message for a hook's message.
    pub(super) fn from_hook(message: &LlmMessage, system: &'static str) -> RawJson {
        let role = RawJson::from_text(role::sdk_name(message.role, system));
        let content = message.content.normalized();
        json::object([("role", role), ("content", content)]).into()
    }

    /// Returns `true` for the role `developer`, another name of `system`.
    pub(super) fn is_by_developer(&self) -> bool {
        self.by_developer
    }

    /// Returns the relation to the messages around it.
    pub(super) fn relation(&self) -> Relation {
        if self.raw.is_null() {
            return Relation::Free;
        }
        let id = |call: &RawJson| call.to_object().ok()?.get("id")?.to_text();
        let calls = self.calls.tool_calls.as_ref().and_then(RawJson::to_items);
        let calls = calls.filter(|calls| !calls.is_empty());
        let calls_function = self.calls.function_call.as_ref().is_some_and(|call| !call.is_null());
        match (self.shown_role, calls) {
            (None, _) => {
                Relation::ToolResult(self.calls.tool_call_id.as_ref().and_then(RawJson::to_text))
            }
            (_, Some(calls)) => Relation::Calls(calls.iter().filter_map(id).collect()),
            _ if calls_function => Relation::Calls(Vec::new()),
            _ => Relation::Free,
        }
    }
}

impl Entry for Message {
    fn raw(&self) -> &RawJson {
        &self.raw
    }

    fn visible_message(&self) -> Option<LlmMessage> {
        Some(LlmMessage { role: self.shown_role?, content: self.content.text()? })
    }

    fn with_text(&self, text: &str, path: &str, warnings: &mut Vec<Warning>) -> Option<RawJson> {
        let portions = distribute(&self.content.pieces(), text);
        let path = format!("{path}.content");
        let mut fields = self.raw.to_object().unwrap_or_default();
        let content = match self.content.rewritten(portions, &path, text_part, warnings) {
            Some(content) => content,
            // The message has more than a role and text.
            None if has_other_content(&fields, &["role", "content", "name"]) => {
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
    let has = |name: &str| json::given(message, name).is_some();
    if ["tool_calls", "function_call", "audio", "refusal"].into_iter().any(has) {
        return RawJson::null();
    }
    content.emptied()
}

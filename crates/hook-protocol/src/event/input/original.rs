//! The original message of an agent with its own hook format.

use crate::event::table::EventPayload;
use hook_json::{JsonObject, RawObject};

/// The original message of an agent, from which a native request was made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OriginalMessage {
    /// The agent's language.
    pub agent: &'static str,
    /// The agent's name for the event.
    pub event: String,
    /// The message.
    pub message: RawObject,
    /// The text after the message, such as a line break, which scripts that read lines need.
    pub ending: Box<str>,
    /// The tool's arguments in native form, before hooks changed them.
    tool_input: Option<RawObject>,
}

impl OriginalMessage {
    /// Creates the message of an agent for an event with that payload.
    pub fn new(
        agent: &'static str,
        event: impl Into<String>,
        message: RawObject,
        payload: &EventPayload,
    ) -> Self {
        let tool_input = payload.tool_input().cloned();
        Self { agent, event: event.into(), message, ending: "".into(), tool_input }
    }

    /// Returns the fields of the message.
    pub fn fields(&self) -> JsonObject {
        self.message.fields()
    }

    /// Returns the tool's arguments in native form, if hooks have changed them.
    pub fn changed_tool_input<'p>(&self, payload: &'p EventPayload) -> Option<&'p RawObject> {
        payload.tool_input().filter(|current| Some(*current) != self.tool_input.as_ref())
    }
}

//! What an agent that asks has said itself.

use crate::event::table::EventPayload;
use crate::json::{JsonObject, RawObject};

/// What an agent that asks has said itself, before it became a request of ours.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AskedBy {
    /// Its language.
    pub agent: &'static str,
    /// What it calls the event.
    pub event: String,
    /// What it wrote.
    pub said: RawObject,
    /// What stood behind it, such as the end of the line: scripts that read lines want that.
    pub ending: Box<str>,
    /// The arguments of the tool as they were before hooks changed them, in our form.
    tool_input: Option<RawObject>,
}

impl AskedBy {
    /// What an agent said of an event with that payload.
    pub fn new(
        agent: &'static str,
        event: impl Into<String>,
        said: RawObject,
        payload: &EventPayload,
    ) -> Self {
        let tool_input = payload.tool_input().cloned();
        Self { agent, event: event.into(), said, ending: "".into(), tool_input }
    }

    /// The fields that the agent wrote.
    pub fn fields(&self) -> JsonObject {
        self.said.fields()
    }

    /// The arguments of the tool, in our form, if hooks have changed them since.
    pub fn changed_tool_input<'p>(&self, payload: &'p EventPayload) -> Option<&'p RawObject> {
        payload.tool_input().filter(|now| Some(*now) != self.tool_input.as_ref())
    }
}

//! The caller of an event: the agent, and what the agent says of itself. The bridge adds it to every input.

use hook_json::field::{Field, FieldKind};
use hook_json::{RawJson, fields};

use super::request::EventInput;

/// A field of the caller.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum CallerField {
    /// The name of the agent, as `hook connect` knows it.
    Agent,
    /// The type of the sub-agent; empty for the agent itself.
    Subagent,
    /// The permission mode, in the agent's own words.
    PermissionMode,
    /// The model, in the agent's own words.
    Model,
}

impl CallerField {
    /// All fields.
    pub const ALL: [Self; 4] = [Self::Agent, Self::Subagent, Self::PermissionMode, Self::Model];

    /// Returns the name in inputs and in object matchers.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Agent => "agent",
            Self::Subagent => "subagent",
            Self::PermissionMode => "permissionMode",
            Self::Model => "model",
        }
    }

    /// Returns the field with this name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|field| field.as_str() == name)
    }
}

/// The field of an input that says who calls.
pub static CALLER: Field = Field::optional(
    "caller",
    FieldKind::Open(&CALLER_FIELDS),
    "The agent that calls, and what it says of itself.",
);

fields! {
    CALLER_FIELDS:
    "agent" Text, optional, "The agent's name, such as `claude`.";
    "subagent" Text, optional, "The type of the sub-agent; empty for the agent itself.";
    "permissionMode" Text, optional, "The permission mode, in its own words.";
    "model" Text, optional, "The model, in its own words.";
}

impl EventInput {
    /// Returns what is known of the caller; `None` if the caller does not say it.
    pub fn caller(&self, field: CallerField) -> Option<String> {
        let caller = self.extra.get(CALLER.name)?.to_object().ok()?;
        caller.get(field.as_str()).and_then(RawJson::to_text)
    }
}

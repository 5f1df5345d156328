//! The fields of an output, as a table.

use crate::event::HookEventName;
use crate::json::JsonKind;

/// A field that a hook may write.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OutputField {
    /// Its name.
    pub name: &'static str,
    /// What it must be.
    pub kind: JsonKind,
    /// The events on which it means something; none: all of them.
    pub events: &'static [HookEventName],
    /// What it means.
    pub meaning: &'static str,
}

const fn field(
    name: &'static str,
    kind: JsonKind,
    events: &'static [HookEventName],
    meaning: &'static str,
) -> OutputField {
    OutputField { name, kind, events, meaning }
}

/// The fields of the output itself.
pub const OUTPUT_FIELDS: [OutputField; 7] = [
    field(
        "decision",
        JsonKind::String,
        &[],
        "block or deny forbids, ask asks the user, allow or approve lets it happen",
    ),
    field("reason", JsonKind::String, &[], "why"),
    field("continue", JsonKind::Bool, &[], "false stops the agent"),
    field("stopReason", JsonKind::String, &[], "why it stops"),
    field("systemMessage", JsonKind::String, &[], "a message for the user and the model"),
    field("suppressOutput", JsonKind::Bool, &[], "true hides the message from the display"),
    field("hookSpecificOutput", JsonKind::Object, &[], "what only some events know"),
];

/// The fields of `hookSpecificOutput`.
pub const SPECIFIC_FIELDS: [OutputField; 9] = [
    field("hookEventName", JsonKind::String, &[], "the event, for scripts that say it"),
    field("additionalContext", JsonKind::String, &[], "text for the model"),
    field(
        "permissionDecision",
        JsonKind::String,
        &[HookEventName::BeforeTool],
        "counts like decision; the stronger of both wins",
    ),
    field(
        "permissionDecisionReason",
        JsonKind::String,
        &[HookEventName::BeforeTool],
        "why permissionDecision",
    ),
    field(
        "tool_input",
        JsonKind::Object,
        &[HookEventName::BeforeTool],
        "fields that replace those of the tool's input",
    ),
    field(
        "llm_request",
        JsonKind::Object,
        &[HookEventName::BeforeModel],
        "fields that replace those of the request",
    ),
    field(
        "llm_response",
        JsonKind::Object,
        &[HookEventName::BeforeModel, HookEventName::AfterModel],
        "a response instead of the model's",
    ),
    field(
        "toolConfig",
        JsonKind::Object,
        &[HookEventName::BeforeToolSelection],
        "which tools may be called: {mode, allowedFunctionNames}",
    ),
    field(
        "clearContext",
        JsonKind::Bool,
        &[HookEventName::AfterAgent],
        "true asks for the conversation to be cleared",
    ),
];

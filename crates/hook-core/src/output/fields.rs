//! What is known in an answer. Reader and schema both go by these tables.

use super::Decision;
use crate::event::HookEventName;
use crate::field::{Field, Kind};
use crate::json::JsonKind;
use crate::model;

/// The fields that every answer may have.
pub static COMMON_FIELDS: [Field; 7] = [
    Field::optional("continue", Kind::Bool, "`false` stops the agent."),
    Field::optional("stopReason", Kind::Text, "Why it stops."),
    Field::optional("suppressOutput", Kind::Bool, "`true` hides the message from the display."),
    Field::optional("systemMessage", Kind::Text, "A message for the user and the model."),
    Field::optional(
        "decision",
        Kind::Words(&Decision::WORDS),
        "`block` or `deny` forbids, `ask` asks the user, `allow` or `approve` lets it happen.",
    ),
    Field::optional("reason", Kind::Text, "Why it is decided so."),
    Field::optional("hookSpecificOutput", Kind::AnyObject, "What only this event knows."),
];

/// The fields of `hookSpecificOutput` that the engine or a caller acts on.
pub static SPECIFIC_FIELDS: [Field; 9] = [
    Field::optional("hookEventName", Kind::Text, "The event, for scripts that say it."),
    Field::optional("additionalContext", Kind::Text, "Text for the model."),
    Field::optional(
        "permissionDecision",
        Kind::Words(&Decision::WORDS),
        "Counts like `decision`; the stronger of both wins.",
    ),
    Field::optional("permissionDecisionReason", Kind::Text, "Why it is decided so."),
    Field::optional(
        "tool_input",
        Kind::AnyObject,
        "Fields that replace those of the tool's input.",
    ),
    Field::optional(
        "llm_request",
        Kind::Model(model::REQUEST),
        "Fields that replace those of the request.",
    ),
    Field::optional(
        "llm_response",
        Kind::Model(model::RESPONSE),
        "A response that takes the place of the model's.",
    ),
    Field::optional("toolConfig", Kind::Defined(model::TOOL_CONFIG), "Which tools may be called."),
    Field::optional("clearContext", Kind::Bool, "`true` asks for the conversation to be cleared."),
];

/// Whether a name is a known one, perhaps in another case, or with blanks, hyphens or underscores.
pub(crate) fn stands_for(name: &str, known: &str) -> bool {
    fn letters(name: &str) -> impl Iterator<Item = char> {
        let letters = name.trim().chars().filter(|letter| !matches!(letter, '_' | '-' | ' '));
        letters.flat_map(char::to_lowercase)
    }
    name == known || letters(name).eq(letters(known))
}

/// The fields of `hookSpecificOutput` that replace something of the caller's on that event. Their
/// values are data.
pub(super) fn replacing(event: HookEventName) -> impl Iterator<Item = &'static str> {
    let fields = SPECIFIC_FIELDS.iter().filter(|field| json_kind(field) == JsonKind::Object);
    fields.map(|field| field.name).filter(move |name| event.row().answers(name))
}

/// Whether a field of `hookSpecificOutput` replaces something on any event.
pub(super) fn is_replacing(name: &str) -> bool {
    SPECIFIC_FIELDS.iter().any(|field| field.name == name && json_kind(field) == JsonKind::Object)
}

/// The kind of JSON that a field of an answer must be.
pub(super) fn json_kind(field: &Field) -> JsonKind {
    match field.kind {
        Kind::Bool => JsonKind::Bool,
        Kind::AnyObject | Kind::Model(_) | Kind::Defined(_) => JsonKind::Object,
        _ => JsonKind::String,
    }
}

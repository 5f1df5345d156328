//! The known fields of an output. The reader and the schema both use these tables.

use super::decision::Decision;
use crate::event::HookEventName;
use crate::model;
use hook_json::JsonKind;
pub(super) use hook_json::field::{Field, FieldKind};

/// The maximum delay before a retry, in milliseconds: ten minutes.
pub(super) const MAX_RETRY_AFTER: u64 = 600_000;

/// The fields that every output can have.
pub static COMMON_FIELDS: [Field; 9] = [
    Field::optional("continue", FieldKind::Bool, "`false` stops the agent."),
    Field::optional("stopReason", FieldKind::Text, "Why it stops."),
    Field::optional(
        "suppressOutput",
        FieldKind::Bool,
        "`true` hides the message from the display.",
    ),
    Field::optional("systemMessage", FieldKind::Text, "A message for the user and the model."),
    Field::optional(
        "decision",
        FieldKind::OneOf(&Decision::NAMES),
        "`block` or `deny` forbids, `retry` asks to try again after a while, `ask` asks the user, \
         `allow` or `approve` lets it happen.",
    ),
    Field::optional("reason", FieldKind::Text, "Why it is decided so."),
    Field::optional(
        "retryAfterMs",
        FieldKind::Unsigned(0, Some(MAX_RETRY_AFTER)),
        "How long to wait before the retry, in milliseconds; no time by default.",
    ),
    Field::optional(
        "skipRemaining",
        FieldKind::Bool,
        "`true`: hooks of later priorities do not run that are trusted no more than this one, guards \
         excepted.",
    ),
    Field::optional("hookSpecificOutput", FieldKind::AnyObject, "What only this event knows."),
];

/// The fields of `hookSpecificOutput` that the engine or the caller acts on.
pub static SPECIFIC_FIELDS: [Field; 22] = [
    Field::optional("hookEventName", FieldKind::Text, "The event, for scripts that say it."),
    Field::optional("additionalContext", FieldKind::Text, "Text for the model."),
    Field::optional(
        "permissionDecision",
        FieldKind::OneOf(&Decision::NAMES),
        "Counts like `decision`; the stronger of both wins.",
    ),
    Field::optional("permissionDecisionReason", FieldKind::Text, "Why it is decided so."),
    Field::optional(
        "tool_input",
        FieldKind::AnyObject,
        "Fields that replace those of the tool's input.",
    ),
    Field::optional(
        "toolInputReplaces",
        FieldKind::Bool,
        "`true`: `tool_input` takes the place of all arguments, and is not laid over them.",
    ),
    Field::optional(
        "llm_request",
        FieldKind::Model(model::REQUEST),
        "Fields that replace those of the request.",
    ),
    Field::optional(
        "llm_response",
        FieldKind::Model(model::RESPONSE),
        "A response that takes the place of the model's.",
    ),
    Field::optional(
        "toolConfig",
        FieldKind::Defined(model::TOOL_CONFIG),
        "Which tools may be called.",
    ),
    Field::optional(
        "clearContext",
        FieldKind::Bool,
        "`true` asks for the conversation to be cleared.",
    ),
    Field::optional(
        "tool_response",
        FieldKind::Any,
        "A response that takes the place of the tool's; of the same kind of JSON.",
    ),
    Field::optional(
        "message",
        FieldKind::AnyObject,
        "A message that is put before the prompt, with `customType`, `content`, `display` and \
         `details`; that of the first hook that gives one.",
    ),
    Field::optional(
        "messages",
        FieldKind::List,
        "A conversation that takes the place of this call's, in the agent's own shape.",
    ),
    Field::optional(
        "env",
        FieldKind::AnyObject,
        "Variables, as strings, for later hooks of the session that are trusted no more than this one.",
    ),
    Field::optional("cancel", FieldKind::Bool, "`true`: it does not happen."),
    Field::optional(
        "compaction",
        FieldKind::AnyObject,
        "What is used in place of the agent's own compression, in its shape.",
    ),
    Field::optional("context", FieldKind::List, "Texts: more context for the summary."),
    Field::optional("prompt", FieldKind::Text, "A prompt that is used, or sent."),
    Field::optional("text", FieldKind::Text, "What the user is shown."),
    Field::optional("preserveData", FieldKind::AnyObject, "What is kept beside the summary."),
    Field::optional(
        "skipConversationRestore",
        FieldKind::Bool,
        "`true`: the conversation stays as it is at the branch.",
    ),
    Field::optional(
        "summary",
        FieldKind::AnyObject,
        "A `summary` of what is left, with `details`, used where the user wants one.",
    ),
];

/// Returns `true` if every output can have a field of that name.
pub(super) fn is_common(name: &str) -> bool {
    COMMON_FIELDS.iter().any(|field| field.name == name)
}

/// Returns `true` if a field of `hookSpecificOutput` has that name, on any event.
pub(super) fn is_specific(name: &str) -> bool {
    SPECIFIC_FIELDS.iter().any(|field| field.name == name)
}

/// Returns `true` if a name equals a known one, ignoring case, spaces, hyphens and underscores.
pub fn is_spelling_of(name: &str, known: &str) -> bool {
    fn letters_of(name: &str) -> impl Iterator<Item = char> {
        let letters = name.trim().chars().filter(|letter| !matches!(letter, '_' | '-' | ' '));
        letters.flat_map(char::to_lowercase)
    }
    name == known || letters_of(name).eq(letters_of(known))
}

/// Returns the fields of `hookSpecificOutput` that replace the caller's data on that event.
pub(super) fn replacing_fields(event: HookEventName) -> impl Iterator<Item = &'static str> {
    let fields = SPECIFIC_FIELDS.iter().filter(|field| is_data(field));
    fields.map(|field| field.name).filter(move |name| event.row().acts_on(name))
}

/// Returns `true` if a field of `hookSpecificOutput` replaces the caller's data on any event.
pub(super) fn is_replacing_field(name: &str) -> bool {
    let older = model::OLDER_NAMES.iter().find(|(_, older)| *older == name);
    let name = older.map_or(name, |(name, _)| *name);
    SPECIFIC_FIELDS.iter().any(|field| field.name == name && is_data(field))
}

/// Returns `true` if a field's value is data of the caller, and not a keyword or a text about it.
fn is_data(field: &Field) -> bool {
    !matches!(json_kind(field), Some(JsonKind::Bool | JsonKind::String | JsonKind::Number))
}

/// Returns the JSON kind that a field of an output must have; `None` if it can have any.
pub(super) fn json_kind(field: &Field) -> Option<JsonKind> {
    match field.kind {
        FieldKind::Any => None,
        FieldKind::Bool => Some(JsonKind::Bool),
        FieldKind::Unsigned(..) => Some(JsonKind::Number),
        FieldKind::List | FieldKind::ListOf(_) => Some(JsonKind::Array),
        FieldKind::AnyObject
        | FieldKind::Open(_)
        | FieldKind::Variables
        | FieldKind::Model(_)
        | FieldKind::Defined(_) => Some(JsonKind::Object),
        _ => Some(JsonKind::String),
    }
}

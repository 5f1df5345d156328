//! The known fields of an output. The reader and the schema both use these tables.

use super::decision::Decision;
use crate::event::HookEventName;
use crate::model;
pub(super) use hook_json::field::{Field, FieldKind};
use hook_json::{JsonKind, fields};

/// The maximum delay before a retry, in milliseconds: ten minutes.
pub(super) const MAX_RETRY_AFTER: u64 = 600_000;

fields! {
    /// The fields that every output can have.
    pub COMMON_FIELDS:
    "continue" Bool, optional, "`false` stops the agent.";
    "stopReason" Text, optional, "Why it stops.";
    "suppressOutput" Bool, optional, "`true` hides the message from the display.";
    "systemMessage" Text, optional, "A message for the user and the model.";
    "decision" OneOf(&Decision::NAMES), optional,
        "`block` or `deny` forbids, `retry` asks to try again after a while, `ask` asks the user, \
         `allow` or `approve` lets it happen.";
    "reason" Text, optional, "Why it is decided so.";
    "retryAfterMs" Unsigned(0, Some(MAX_RETRY_AFTER)), optional,
        "How long to wait before the retry, in milliseconds; no time by default.";
    "skipRemaining" Bool, optional,
        "`true`: hooks of later priorities do not run that are trusted no more than this one, \
         guards excepted.";
    "hookSpecificOutput" AnyObject, optional, "What only this event knows.";
}

fields! {
    /// The fields of `hookSpecificOutput` that the engine or the caller acts on.
    pub SPECIFIC_FIELDS:
    "hookEventName" Text, optional, "The event, for scripts that say it.";
    "additionalContext" Text, optional, "Text for the model.";
    "permissionDecision" OneOf(&Decision::NAMES), optional,
        "Counts like `decision`; the stronger of both wins.";
    "permissionDecisionReason" Text, optional, "Why it is decided so.";
    "tool_input" AnyObject, optional, "Fields that replace those of the tool's input.";
    "toolInputReplaces" Bool, optional,
        "`true`: `tool_input` takes the place of all arguments, and is not laid over them.";
    "llm_request" Model(model::REQUEST), optional, "Fields that replace those of the request.";
    "llm_response" Model(model::RESPONSE), optional,
        "A response that takes the place of the model's.";
    "toolConfig" Defined(model::TOOL_CONFIG), optional, "Which tools may be called.";
    "clearContext" Bool, optional, "`true` asks for the conversation to be cleared.";
    "tool_response" Any, optional,
        "A response that takes the place of the tool's; of the same kind of JSON.";
    "message" AnyObject, optional,
        "A message that is put before the prompt, with `customType`, `content`, `display` and \
         `details`; that of the first hook that gives one.";
    "messages" List, optional,
        "A conversation that takes the place of this call's, in the agent's own shape.";
    "env" AnyObject, optional,
        "Variables, as strings, for later hooks of the session that are trusted no more than this one.";
    "cancel" Bool, optional, "`true`: it does not happen.";
    "compaction" AnyObject, optional,
        "What is used in place of the agent's own compression, in its shape.";
    "context" List, optional, "Texts: more context for the summary.";
    "prompt" Text, optional, "A prompt that is used, or sent.";
    "text" Text, optional, "What the user is shown.";
    "preserveData" AnyObject, optional, "What is kept beside the summary.";
    "skipConversationRestore" Bool, optional,
        "`true`: the conversation stays as it is at the branch.";
    "summary" AnyObject, optional,
        "A `summary` of what is left, with `details`, used where the user wants one.";
}

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

//! Who speaks.

use hook_core::JsonSlice;
use hook_core::model::LlmRole;

/// The roles whose messages are results of tools. What a tool gave is not said by a person or the model,
/// so hooks do not see it, as they do not see GenAI's function responses.
const TOOL_ROLES: [&str; 2] = ["tool", "function"];

/// The role that hooks see, unless a tool speaks.
pub(super) fn shown(role: Option<&str>) -> Option<LlmRole> {
    match role {
        Some("assistant") => Some(LlmRole::Model),
        Some("system" | "developer") => Some(LlmRole::System),
        Some(role) if TOOL_ROLES.contains(&role) => None,
        // As GenAI has it, every other role is one on the user's side.
        _ => Some(LlmRole::User),
    }
}

/// Whether hooks may see messages of this role, as far as is known: that of a message
/// which is not read to its end.
pub(super) fn may_be_shown(role: Option<JsonSlice<'_>>) -> bool {
    shown(role.and_then(JsonSlice::text).as_deref()).is_some()
}

/// What the SDK calls a role. Models take instructions by `system` or by `developer`, but not by
/// both in one request; `system` is the one that this request uses.
pub(super) fn written(role: LlmRole, system: &'static str) -> &'static str {
    match role {
        LlmRole::User => "user",
        LlmRole::Model => "assistant",
        LlmRole::System => system,
    }
}

/// Whether a message of this role has the newer name of the system's.
pub(super) fn is_developer(role: Option<&str>) -> bool {
    role == Some("developer")
}

/// The name that instructions go by, given of each message whether it is by the developer.
pub(super) fn of_system(mut by_developer: impl Iterator<Item = bool>) -> &'static str {
    if by_developer.any(|by_developer| by_developer) { "developer" } else { "system" }
}

//! Roles of messages.

use hook_json::JsonSlice;
use hook_protocol::model::LlmRole;

/// The roles of tool results. Hooks do not see these messages, as they do not see GenAI's function
/// responses, since neither a person nor the model wrote them.
const TOOL_ROLES: [&str; 2] = ["tool", "function"];

/// Returns the role that hooks see, or `None` for a tool.
pub(super) fn shown(role: Option<&str>) -> Option<LlmRole> {
    match role {
        Some("assistant") => Some(LlmRole::Model),
        Some("system" | "developer") => Some(LlmRole::System),
        Some(role) if TOOL_ROLES.contains(&role) => None,
        // As in GenAI, every other role counts as the user's.
        _ => Some(LlmRole::User),
    }
}

/// Returns `true` if hooks may see messages of this role, as far as the incomplete message tells.
pub(super) fn may_be_shown(role: Option<JsonSlice<'_>>) -> bool {
    shown(role.and_then(JsonSlice::text).as_deref()).is_some()
}

/// Returns the SDK's name of a role. A request has instructions by `system` or by `developer`, but
/// models do not accept both; `system` is the name that this request uses.
pub(super) fn sdk_name(role: LlmRole, system: &'static str) -> &'static str {
    match role {
        LlmRole::User => "user",
        LlmRole::Model => "assistant",
        LlmRole::System => system,
    }
}

/// Returns `true` for the newer name of the system role.
pub(super) fn is_developer(role: Option<&str>) -> bool {
    role == Some("developer")
}

/// Returns the name of the system role, given for each message whether it has the newer name.
pub(super) fn system_name(mut by_developer: impl Iterator<Item = bool>) -> &'static str {
    if by_developer.any(|by_developer| by_developer) { "developer" } else { "system" }
}

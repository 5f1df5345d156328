//! Who speaks.

use hook_core::RawJson;
use hook_core::model::LlmRole;

/// The roles whose messages are results of tools. What a tool gave is no text that somebody says,
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

/// Whether hooks may see what somebody of this role says, as far as is known: that of a message
/// which is not read to its end.
pub(super) fn may_be_shown(role: Option<&RawJson>) -> bool {
    shown(role.and_then(RawJson::to_text).as_deref()).is_some()
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

/// The name that instructions go by beside messages of these roles.
pub(super) fn of_system<'r>(mut roles: impl Iterator<Item = &'r str>) -> &'static str {
    if roles.any(|role| role == "developer") { "developer" } else { "system" }
}

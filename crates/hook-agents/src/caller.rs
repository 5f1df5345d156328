//! The caller of an agent's request: the agent, and what the request says of the sub-agent, the permission mode and
//! the model.

use hook_json::{JsonObject, RawJson};
use hook_protocol::event::input::{CALLER, CallerField};

use super::table::Agent;

/// The names of a field in requests. An object has the value in its field `id`.
const NAMES: [(CallerField, &[&str]); 3] = [
    (CallerField::Subagent, &["agent_type", "subagent_type", "agentName"]),
    (CallerField::PermissionMode, &["permission_mode", "permissionMode", "approval_mode"]),
    (CallerField::Model, &["model", "modelName", "model_id"]),
];

/// Agents that name the sub-agent in all of its requests, each with a field that only their versions have that do. There
/// a request without a sub-agent is the agent's own.
const NAMES_SUBAGENTS: [(&str, &str); 2] = [("claude", "prompt_id"), ("codex", "turn_id")];

/// Adds the caller to a native request. It takes the place of a field of this name in the agent's request.
pub(super) fn add(agent: &Agent, message: &JsonObject, request: &mut JsonObject) {
    let mut caller = JsonObject::new();
    caller.insert(CallerField::Agent.as_str(), RawJson::from_text(agent.name()));
    for (field, names) in NAMES {
        let sent = names.iter().filter_map(|name| message.get(name)).find_map(text);
        let is_known = || {
            let mut known = NAMES_SUBAGENTS.iter();
            known.any(|(name, sign)| *name == agent.name() && message.get(sign).is_some())
        };
        let own = || (field == CallerField::Subagent && is_known()).then(String::new);
        if let Some(value) = sent.or_else(own) {
            caller.insert(field.as_str(), RawJson::from_text(&value));
        }
    }
    request.insert(CALLER.name, caller.to_raw());
}

/// Returns a text, or the id of an object.
fn text(value: &RawJson) -> Option<String> {
    value.to_text().or_else(|| value.to_object().ok()?.get("id")?.to_text())
}

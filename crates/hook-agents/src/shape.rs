//! Agents, recognized by the shape of their settings.

use hook_json::{JsonObject, RawJson};
use hook_protocol::HookEventName;

use super::table::{Agent, AgentEvent, SettingsForm};
use super::{agent, agents};

/// Returns the agent whose settings a text is. The agent must know all its events, at least one of
/// which is not native. If several agents share a form, fields that only Copilot has decide, and
/// then the order of [`agents`].
pub fn agent_by_shape(text: &str) -> Option<&'static Agent> {
    let root = RawJson::parse(text).ok()?.to_object().ok()?;
    let events = root.get("hooks")?.to_object().ok()?;
    let names: Vec<&str> = events.iter().map(|(name, _)| name).collect();
    if names.is_empty() || names.iter().all(|name| HookEventName::from_name(name).is_some()) {
        return None;
    }
    // Only native settings have this key.
    if events.iter().any(|(_, hooks)| has_key(hooks, &["language"])) {
        return None;
    }
    let is_flat = events.iter().any(|(_, hooks)| is_flat(hooks));
    let has = |keys: &[&str]| events.iter().any(|(_, hooks)| has_key(hooks, keys));
    let matches_shape = |agent: &&'static Agent| {
        let form_matches = match agent.settings {
            SettingsForm::Groups => !is_flat,
            SettingsForm::Flat => is_flat,
            SettingsForm::Both => true,
        };
        form_matches
            && names.iter().all(|name| agent.events.iter().any(|event| event.is_named(name)))
    };
    // Keys that only Copilot uses.
    let copilot = agent("copilot").filter(|agent| is_flat && matches_shape(agent));
    if let Some(copilot) = copilot.filter(|_| has(&["bash", "powershell", "timeoutSec"])) {
        return Some(copilot);
    }
    agents().iter().copied().find(matches_shape)
}

impl AgentEvent {
    fn is_named(&self, name: &str) -> bool {
        self.name == name
    }
}

/// Checks whether hooks are listed without groups.
fn is_flat(hooks: &RawJson) -> bool {
    let items = hooks.to_items().unwrap_or_default();
    items
        .iter()
        .filter_map(|hook| hook.to_object().ok())
        .any(|fields: JsonObject| fields.get("hooks").is_none())
}

fn has_key(hooks: &RawJson, keys: &[&str]) -> bool {
    let items = hooks.to_items().unwrap_or_default();
    let mut fields = items.iter().filter_map(|hook| hook.to_object().ok());
    fields.any(|fields| keys.iter().any(|key| fields.get(key).is_some()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_known_by_its_events_and_its_form() {
        for (events, expected) in [
            (r#""PreToolUse": [{"hooks": []}]"#, Some("claude")),
            (r#""PreToolUse": [{"hooks": []}], "Interrupt": [{"hooks": []}]"#, Some("codex")),
            (r#""preToolUse": [{"command": "x"}]"#, Some("cursor")),
            (r#""preToolUse": [{"bash": "x"}]"#, Some("copilot")),
            (r#""agentStop": [{"command": "x"}]"#, Some("copilot")),
            (r#""beforeShellExecution": [{"command": "x"}]"#, Some("cursor")),
            (r#""BeforeTool": [{"hooks": []}]"#, None),
            (r#""PreToolUse": [{"language": "claude", "hooks": []}]"#, None),
            (r#""SessionStart": [{"hooks": []}]"#, None),
            (r#""PreToolUse": [{"hooks": []}], "BeforeTool": [{"hooks": []}]"#, None),
            (r#""Nonsense": [{"hooks": []}]"#, None),
        ] {
            let found = agent_by_shape(&format!("{{\"hooks\": {{{events}}}}}"));
            assert_eq!(found.map(|agent| agent.name), expected, "{events}");
        }
    }
}

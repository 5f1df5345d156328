//! Whose settings a text is, by its shape.

use hook_core::{HookEventName, JsonObject, RawJson};

use super::table::{Agent, AgentEvent, SettingsForm};
use super::{AGENTS, agent};

/// The agent whose settings a text is, by the events and hooks in it: one whose every event it knows, and
/// of which one at least is none of ours. Where several agents write alike, the one whose words are in it
/// most.
pub fn agent_by_shape(text: &str) -> Option<&'static Agent> {
    let root = RawJson::parse(text).ok()?.to_object().ok()?;
    let events = root.get("hooks")?.to_object().ok()?;
    let names: Vec<&str> = events.iter().map(|(name, _)| name).collect();
    if names.is_empty() || names.iter().all(|name| HookEventName::from_name(name).is_some()) {
        return None;
    }
    // No agent has that; ours have it of hooks in an agent's language.
    if events.iter().any(|(_, hooks)| has_key(hooks, &["language"])) {
        return None;
    }
    let is_flat = events.iter().any(|(_, hooks)| is_flat(hooks));
    let has = |words: &[&str]| events.iter().any(|(_, hooks)| has_key(hooks, words));
    let fits = |agent: &&'static Agent| {
        let form = match agent.settings {
            SettingsForm::Groups => !is_flat,
            SettingsForm::Flat => is_flat,
            SettingsForm::Both => true,
        };
        form && names.iter().all(|name| agent.events.iter().any(|event| event.is_called(name)))
    };
    // What only Copilot writes.
    let copilot = agent("copilot").filter(|agent| is_flat && fits(agent));
    if let Some(copilot) = copilot.filter(|_| has(&["bash", "powershell", "timeoutSec"])) {
        return Some(copilot);
    }
    AGENTS.into_iter().find(fits)
}

impl AgentEvent {
    fn is_called(&self, name: &str) -> bool {
        self.name == name
    }
}

/// Whether hooks stand there without groups around them.
fn is_flat(hooks: &RawJson) -> bool {
    let items = hooks.to_items().unwrap_or_default();
    items
        .iter()
        .filter_map(|it| it.to_object().ok())
        .any(|it: JsonObject| it.get("hooks").is_none())
}

fn has_key(hooks: &RawJson, words: &[&str]) -> bool {
    let items = hooks.to_items().unwrap_or_default();
    let mut fields = items.iter().filter_map(|it| it.to_object().ok());
    fields.any(|it| words.iter().any(|word| it.get(word).is_some()))
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

//! An agent's table as JSON, for `hook agents --json` and docs/agents/table.json.

use serde_json::{Value, json};

use super::capabilities::{
    NONE, arguments_effect, ask_effect, context_effect, denial_effect, effect_on_others,
    message_effect, stop_effect,
};
use super::is_shipped;
use super::table::{Agent, AgentEvent, NativeEvent, SampleAnswer};

impl Agent {
    /// Returns what the agent asks about and obeys, with the version that was checked.
    pub fn to_json(&self) -> Value {
        let checked = self.checked.map(|checked| {
            let by = if checked.seen { "running" } else { "reading" };
            json!({"version": checked.version, "date": checked.date, "by": by})
        });
        json!({
            "agent": self.name,
            "title": self.title,
            "builtIn": is_shipped(self.name),
            "connects": self.entry.is_some(),
            "checked": checked,
            "neverAsks": self.never_asks,
            "notes": self.notes,
            "answers": self.sample_answers.iter().map(|it| self.answer_to_json(it)).collect::<Vec<_>>(),
            "events": self.events.iter().map(|event| self.event_to_json(event)).collect::<Vec<_>>(),
        })
    }

    /// Returns a sample answer of the agent's hooks, and its effect in other agents.
    fn answer_to_json(&self, answer: &SampleAnswer) -> Value {
        let event = self.event(answer.event);
        json!({
            "event": answer.event, "answer": answer.text, "source": answer.source,
            "inOtherAgents": event.map(|event| effect_on_others(self, event, answer.text)),
        })
    }

    fn event_to_json(&self, event: &AgentEvent) -> Value {
        let native = match event.native {
            NativeEvent::BuiltIn(native) => Some(native.as_str()),
            NativeEvent::Declared => None,
        };
        let cells: serde_json::Map<String, Value> = [
            ("denial", denial_effect as fn(&Agent, &AgentEvent) -> String),
            ("ask", ask_effect),
            ("stop", stop_effect),
            ("arguments", arguments_effect),
            ("context", context_effect),
            ("message", message_effect),
        ]
        .into_iter()
        .map(|(name, effect)| (name, effect(self, event)))
        .filter(|(_, effect)| effect != NONE)
        .map(|(name, effect)| (name.to_owned(), effect.into()))
        .collect();
        let is_connected = native.is_some() && !event.is_unconnected;
        let since: serde_json::Map<String, Value> = event
            .since
            .iter()
            .map(|since| (since.part.unwrap_or("event").to_owned(), since.version.into()))
            .collect();
        json!({
            "event": event.name, "native": native, "asked": is_connected, "obeyed": cells, "since": since,
        })
    }
}

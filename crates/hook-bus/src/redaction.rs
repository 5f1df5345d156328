//! The redaction rules in effect when a record is written.

use std::collections::HashSet;
use std::sync::{Arc, OnceLock, Weak};

use hook_settings::redact::{OwnWords, Redaction};
use serde_json::Value;

use crate::handler::EngineSlot;

/// The names of the message objects that the engine itself writes.
const OBJECTS: [&str; 5] = ["error", "hook", "hooks", "output", "processed"];

/// The effective redaction of a hook system, which this does not keep alive.
#[derive(Debug)]
pub(crate) struct CurrentRedaction {
    engine: Weak<EngineSlot>,
    /// The last known rules, for when the system is gone.
    last: Arc<Redaction>,
}

impl CurrentRedaction {
    pub(crate) fn of(engine: &Arc<EngineSlot>) -> Self {
        let last = engine.redaction();
        Self { engine: Arc::downgrade(engine), last }
    }

    /// Returns the effective rules; until they are known, everything is redacted.
    pub(crate) fn now(&mut self) -> Arc<Redaction> {
        if let Some(engine) = self.engine.upgrade() {
            self.last = engine.redaction();
        }
        Arc::clone(&self.last)
    }

    /// Returns the effective rules once the settings are read.
    ///
    /// # Cancellation
    /// Dropping the future loses nothing.
    pub(crate) async fn known(&mut self) -> Arc<Redaction> {
        if let Some(engine) = self.engine.upgrade() {
            self.last = engine.known_redaction().await;
        }
        Arc::clone(&self.last)
    }
}

/// Returns the protocol's own strings, which are never redacted: field names and enum values.
pub(crate) fn own_words() -> OwnWords<'static> {
    static WORDS: OnceLock<HashSet<String>> = OnceLock::new();
    let words = WORDS.get_or_init(|| words_of(&crate::schema::messages()));
    OwnWords { words, objects: &OBJECTS }
}

fn words_of(schema: &Value) -> HashSet<String> {
    let mut words = HashSet::new();
    let mut waiting = vec![schema];
    let text = |value: &Value| value.as_str().map(str::to_owned);
    while let Some(value) = waiting.pop() {
        if let Value::Array(items) = value {
            waiting.extend(items);
        }
        let Value::Object(fields) = value else { continue };
        if let Some(Value::Object(properties)) = fields.get("properties") {
            words.extend(properties.keys().cloned());
        }
        if let Some(Value::Array(listed)) = fields.get("enum") {
            words.extend(listed.iter().filter_map(text));
        }
        words.extend(fields.get("const").and_then(text));
        waiting.extend(fields.values());
    }
    words
}

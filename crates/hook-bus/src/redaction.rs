//! The redaction rules in effect when a record is written.

use std::collections::HashSet;
use std::sync::{Arc, OnceLock, Weak};

use hook_core::redact::{OwnWords, Redaction};
use serde_json::Value;

use crate::handler::EngineSlot;

/// The objects of messages that the engine makes.
const OBJECTS: [&str; 5] = ["error", "hook", "hooks", "output", "processed"];

/// The redaction of a hook system, which it does not keep alive.
#[derive(Debug)]
pub(crate) struct CurrentRedaction {
    engine: Weak<EngineSlot>,
    /// What was in force before the system was gone.
    last: Arc<Redaction>,
}

impl CurrentRedaction {
    pub(crate) fn of(engine: &Arc<EngineSlot>) -> Self {
        let last = engine.redaction();
        Self { engine: Arc::downgrade(engine), last }
    }

    /// What is in force; everything is left out while that is not known.
    pub(crate) fn now(&mut self) -> Arc<Redaction> {
        if let Some(engine) = self.engine.upgrade() {
            self.last = engine.redaction();
        }
        Arc::clone(&self.last)
    }

    /// What is in force once settings were read.
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

/// The words of the protocol: names of fields, and texts that are one of a few.
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

//! The redaction rules in effect when a record is written.

use std::collections::HashSet;
use std::sync::{Arc, OnceLock, Weak};

use hook_settings::redact::{Exemptions, Redaction};
use serde_json::Value;

use crate::handler::EngineSlot;

/// The names of the message objects that the engine itself writes.
const PROTOCOL_OBJECTS: [&str; 5] = ["error", "hook", "hooks", "output", "processed"];

/// The effective redaction of a hook system, which this does not keep alive.
#[derive(Debug)]
pub(crate) struct CurrentRedaction {
    engine: Weak<EngineSlot>,
    /// The last known rules, for when the system is gone.
    last_known: Arc<Redaction>,
}

impl CurrentRedaction {
    pub(crate) fn of(engine: &Arc<EngineSlot>) -> Self {
        let last = engine.redaction();
        Self { engine: Arc::downgrade(engine), last_known: last }
    }

    /// Returns the effective rules; until they are known, everything is redacted.
    pub(crate) fn current(&mut self) -> Arc<Redaction> {
        if let Some(engine) = self.engine.upgrade() {
            self.last_known = engine.redaction();
        }
        Arc::clone(&self.last_known)
    }

    /// Returns the effective rules once the settings are read.
    ///
    /// # Cancellation
    /// Dropping the future loses nothing.
    pub(crate) async fn load(&mut self) -> Arc<Redaction> {
        if let Some(engine) = self.engine.upgrade() {
            self.last_known = engine.known_redaction().await;
        }
        Arc::clone(&self.last_known)
    }
}

/// Returns the protocol's own strings, which are never redacted: field names and enum values.
pub(crate) fn exemptions() -> Exemptions<'static> {
    static NAMES: OnceLock<HashSet<String>> = OnceLock::new();
    let names = NAMES.get_or_init(|| collect_names(&crate::schema::messages()));
    Exemptions { texts: names, objects: &PROTOCOL_OBJECTS }
}

fn collect_names(schema: &Value) -> HashSet<String> {
    let mut names = HashSet::new();
    let mut pending = vec![schema];
    let text = |value: &Value| value.as_str().map(str::to_owned);
    while let Some(value) = pending.pop() {
        if let Value::Array(items) = value {
            pending.extend(items);
        }
        let Value::Object(fields) = value else { continue };
        if let Some(Value::Object(properties)) = fields.get("properties") {
            names.extend(properties.keys().cloned());
        }
        if let Some(Value::Array(variants)) = fields.get("enum") {
            names.extend(variants.iter().filter_map(text));
        }
        names.extend(fields.get("const").and_then(text));
        pending.extend(fields.values());
    }
    names
}

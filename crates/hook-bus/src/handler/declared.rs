//! Events declared while a system runs, each until its last declaration is dropped.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use hook_protocol::event::DeclareError;
use hook_protocol::{EventDefinition, Events, HookEventName};

/// The events declared at run time.
#[derive(Debug, Clone, Default)]
pub(crate) struct DeclaredEvents {
    by_name: Arc<Mutex<BTreeMap<String, Declaration>>>,
}

#[derive(Debug)]
struct Declaration {
    event: HookEventName,
    definition: EventDefinition,
    declarers: usize,
}

/// One declaration of an event. The event is removed with the last of them.
#[derive(Debug)]
#[must_use = "the event is forgotten when this is dropped"]
pub struct DeclaredEvent {
    event: HookEventName,
    events: DeclaredEvents,
}

impl DeclaredEvent {
    /// Returns the event.
    pub fn event(&self) -> HookEventName {
        self.event
    }
}

impl DeclaredEvents {
    /// Declares an event in addition to those `known`.
    pub(crate) fn declare(
        &self,
        definition: EventDefinition,
        mut known: Events,
    ) -> Result<DeclaredEvent, DeclareError> {
        let mut by_name = self.lock();
        // Others may have been declared since `known` was read.
        for declared in by_name.values() {
            let _ = known.declare(declared.definition.clone());
        }
        let event = known.declare(definition.clone())?;
        let declared = by_name.entry(definition.name().to_owned()).or_insert_with(|| Declaration {
            event,
            definition,
            declarers: 0,
        });
        declared.declarers += 1;
        Ok(DeclaredEvent { event, events: self.clone() })
    }

    pub(crate) fn event(&self, name: &str) -> Option<HookEventName> {
        self.lock().get(name).map(|declared| declared.event)
    }

    /// Returns the events declared now.
    pub(crate) fn events(&self) -> impl Iterator<Item = HookEventName> + use<> {
        let events: Vec<HookEventName> =
            self.lock().values().map(|declared| declared.event).collect();
        events.into_iter()
    }

    /// Adds these events to `events`. An event that settings declare differently stays as it is.
    pub(crate) fn add_to(&self, events: &mut Events) {
        for declared in self.lock().values() {
            let _ = events.declare(declared.definition.clone());
        }
    }

    fn lock(&self) -> MutexGuard<'_, BTreeMap<String, Declaration>> {
        self.by_name.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for DeclaredEvent {
    fn drop(&mut self) {
        let mut by_name = self.events.lock();
        let Some(declared) = by_name.get_mut(self.event.as_str()) else { return };
        declared.declarers = declared.declarers.saturating_sub(1);
        if declared.declarers == 0 {
            by_name.remove(self.event.as_str());
        }
    }
}

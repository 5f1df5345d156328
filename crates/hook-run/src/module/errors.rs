//! Listeners for failing handlers whose failure blocks nothing.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex, PoisonError, Weak};

use hook_json::opaque_debug;

/// A failure of a handler.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct ModuleFault {
    /// The path of the module, or its name if it is part of the host.
    pub hook_path: String,
    /// The event's name in the module format.
    pub event: String,
    /// The error.
    pub error: String,
}

impl ModuleFault {
    /// Creates the failure of a module's handler on an event.
    pub fn new(
        hook_path: impl Into<String>,
        event: impl Into<String>,
        error: impl Into<String>,
    ) -> Self {
        Self { hook_path: hook_path.into(), event: event.into(), error: error.into() }
    }
}

type Listener = dyn Fn(&ModuleFault) + Send + Sync;

/// The listeners for failing handlers.
#[derive(Default)]
pub struct ModuleErrors {
    listeners: Mutex<Vec<Weak<Listener>>>,
}

/// A registered listener, until this is dropped.
#[must_use = "nobody is told any more once this is dropped"]
pub struct ErrorListener(#[expect(dead_code, reason = "it is kept")] Arc<Listener>);

impl ModuleErrors {
    /// Creates an empty list of listeners.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a listener for handler failures that block nothing, until the returned value is
    /// dropped. The listener is called on the task of the event and must not block.
    pub fn on_error(
        &self,
        listener: impl Fn(&ModuleFault) + Send + Sync + 'static,
    ) -> ErrorListener {
        let listener: Arc<Listener> = Arc::new(listener);
        let mut listeners = self.listeners.lock().unwrap_or_else(PoisonError::into_inner);
        listeners.retain(|known| known.strong_count() > 0);
        listeners.push(Arc::downgrade(&listener));
        ErrorListener(listener)
    }

    /// Notifies all listeners. A panicking listener does not affect the others.
    pub fn report(&self, fault: &ModuleFault) {
        let listeners = self.listeners.lock().unwrap_or_else(PoisonError::into_inner).clone();
        for listener in listeners.iter().filter_map(Weak::upgrade) {
            if catch_unwind(AssertUnwindSafe(|| listener(fault))).is_err() {
                tracing::warn!(target: "hook::module", "a listener for errors of modules panicked");
            }
        }
    }
}

opaque_debug!(ModuleErrors);

opaque_debug!(ErrorListener);

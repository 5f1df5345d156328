//! Who wants to know of handlers that fail where nothing is blocked by it.

use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex, PoisonError, Weak};

/// A handler that failed.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct ModuleFault {
    /// The module: its file, or its name where it is part of the host.
    pub hook_path: String,
    /// The event, in the words of modules.
    pub event: String,
    /// What went wrong.
    pub error: String,
}

impl ModuleFault {
    /// A handler of a module that failed on an event.
    pub fn new(
        hook_path: impl Into<String>,
        event: impl Into<String>,
        error: impl Into<String>,
    ) -> Self {
        Self { hook_path: hook_path.into(), event: event.into(), error: error.into() }
    }
}

type Listener = dyn Fn(&ModuleFault) + Send + Sync;

/// Tells listeners of handlers that failed.
#[derive(Default)]
pub struct ModuleErrors {
    listeners: Mutex<Vec<Weak<Listener>>>,
}

/// Somebody who is told of handlers that fail, until this is dropped.
#[must_use = "nobody is told any more once this is dropped"]
pub struct ErrorListener(#[expect(dead_code, reason = "it is kept")] Arc<Listener>);

impl ModuleErrors {
    /// Nobody listens yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Has somebody told of each handler that fails, where that blocks nothing; until what is given back is
    /// dropped. It is called on the task of the event, and must not block.
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

    /// Tells all of them. One that panics keeps no other from being told.
    pub fn report(&self, fault: &ModuleFault) {
        let listeners = self.listeners.lock().unwrap_or_else(PoisonError::into_inner).clone();
        for listener in listeners.iter().filter_map(Weak::upgrade) {
            if catch_unwind(AssertUnwindSafe(|| listener(fault))).is_err() {
                tracing::warn!(target: "hook::module", "a listener for errors of modules panicked");
            }
        }
    }
}

impl fmt::Debug for ModuleErrors {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("ModuleErrors").finish_non_exhaustive()
    }
}

impl fmt::Debug for ErrorListener {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("ErrorListener").finish_non_exhaustive()
    }
}

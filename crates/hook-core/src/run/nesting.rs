//! How deep hooks are in hooks: handlers that fire events, and commands that start engines.

use std::cell::Cell;

use crate::failure::HookFailure;

/// How deep hooks may start engines that run hooks.
pub(super) const MAX_DEPTH: u32 = 8;

/// Whether a hook may run so deep: 1 is the depth of one that no other hook waits for.
///
/// # Errors
/// When hooks are nested too deep.
pub(super) fn check(depth: u32) -> Result<(), HookFailure> {
    match depth {
        ..=MAX_DEPTH => Ok(()),
        depth => Err(HookFailure::TooDeep { depth }),
    }
}

thread_local! {
    /// That of events fired on this thread: by the handler that runs on it, if one does.
    static NESTING: Cell<Nesting> = const { Cell::new(Nesting(0)) };
}

/// How many blocking handlers wait for an event: more than none if it is fired by one, on the
/// handler's own thread.
#[doc(hidden)]
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Nesting(u32);

impl Nesting {
    /// That of an event that is fired on this thread.
    pub fn here() -> Self {
        NESTING.get()
    }

    /// How many they are.
    pub(super) fn depth(self) -> u32 {
        self.0
    }

    /// Runs a handler on this thread: what it fires is one deeper. It must not panic.
    pub(super) fn within<T>(self, handler: impl FnOnce() -> T) -> T {
        NESTING.set(Self(self.0.saturating_add(1)));
        let finished = handler();
        NESTING.set(Self::default());
        finished
    }
}

//! The nesting depth of hooks: handlers that fire events, and commands that start engines.

use std::cell::Cell;

use hook_protocol::failure::HookFailure;

/// The maximum depth of engines that hooks start.
pub(super) const MAX_DEPTH: u32 = 8;

/// Checks whether a hook may run at a depth; the outermost hook has depth 1.
///
/// # Errors
/// Returns an error if hooks are nested too deep.
pub(super) fn check(depth: u32) -> Result<(), HookFailure> {
    match depth {
        ..=MAX_DEPTH => Ok(()),
        depth => Err(HookFailure::TooDeep { depth }),
    }
}

thread_local! {
    /// The nesting of events fired on this thread: that of the handler running on it, if any.
    static NESTING: Cell<Nesting> = const { Cell::new(Nesting(0)) };
}

/// The number of blocking handlers that wait for an event. It is above 0 if a handler fired the
/// event, on its own thread.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Nesting(u32);

impl Nesting {
    /// Returns the nesting of an event that is fired on this thread.
    pub fn current() -> Self {
        NESTING.get()
    }

    /// Returns the number of waiting handlers.
    pub(super) fn depth(self) -> u32 {
        self.0
    }

    /// Runs a handler on this thread; events that it fires are one level deeper. It must not panic.
    pub(super) fn within<T>(self, handler: impl FnOnce() -> T) -> T {
        NESTING.set(Self(self.0.saturating_add(1)));
        let finished = handler();
        NESTING.set(Self::default());
        finished
    }
}

//! How often in a row hooks made the agent go on.

use std::sync::{Mutex, MutexGuard, PoisonError};

/// How often in a row hooks made the agent go on, so that none can do it for ever.
#[derive(Debug)]
pub(crate) struct Continuations {
    most: u32,
    state: Mutex<InARow>,
}

#[derive(Debug, Default)]
struct InARow {
    count: u32,
    /// Whether the next prompt is the one that a hook made the agent go on with, in whatever words.
    goes_on: bool,
}

impl Default for Continuations {
    fn default() -> Self {
        Self::at_most(8)
    }
}

impl Continuations {
    pub(crate) fn at_most(most: u32) -> Self {
        Self { most, state: Mutex::default() }
    }

    fn state(&self) -> MutexGuard<'_, InARow> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn count(&self) -> u32 {
        self.state().count
    }

    /// A prompt of the user's starts over.
    pub(super) fn begin(&self) {
        let mut state = self.state();
        if !std::mem::take(&mut state.goes_on) {
            *state = InARow::default();
        }
    }

    /// The agent is to go on once more.
    ///
    /// # Errors
    /// With how often it has, when that is as often as it may. It starts over.
    pub(super) fn go_on(&self) -> Result<(), u32> {
        let mut state = self.state();
        if state.count >= self.most {
            return Err(std::mem::take(&mut *state).count);
        }
        state.count += 1;
        state.goes_on = true;
        Ok(())
    }

    /// The turn is over.
    pub(super) fn end(&self) {
        *self.state() = InARow::default();
    }
}

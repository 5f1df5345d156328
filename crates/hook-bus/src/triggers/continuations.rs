//! A limit on how often in a row hooks make the agent continue.

use std::sync::{Mutex, MutexGuard, PoisonError};

/// The number of times in a row that hooks made the agent continue, with its limit.
#[derive(Debug)]
pub(crate) struct Continuations {
    most: u32,
    state: Mutex<InARow>,
}

#[derive(Debug, Default)]
struct InARow {
    count: u32,
    /// `true` if the next prompt is the one with which the agent continues, whatever its text.
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

    /// Resets the count at a prompt of the user.
    pub(super) fn begin(&self) {
        let mut state = self.state();
        if !std::mem::take(&mut state.goes_on) {
            *state = InARow::default();
        }
    }

    /// Counts one more continuation.
    ///
    /// # Errors
    /// The number of continuations, if that is the limit. The count is reset.
    pub(super) fn go_on(&self) -> Result<(), u32> {
        let mut state = self.state();
        if state.count >= self.most {
            return Err(std::mem::take(&mut *state).count);
        }
        state.count += 1;
        state.goes_on = true;
        Ok(())
    }

    /// Resets the count at the end of a turn.
    pub(super) fn end(&self) {
        *self.state() = InARow::default();
    }
}

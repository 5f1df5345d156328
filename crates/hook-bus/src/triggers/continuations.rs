//! The number of times in a row that hooks made the agent continue.

use std::sync::{Mutex, MutexGuard, PoisonError};

/// The default limit of continuations in a row.
pub(crate) const MAX_CONTINUATIONS: u32 = 8;

/// The number of times in a row that hooks made the agent continue.
#[derive(Debug, Default)]
pub(crate) struct Continuations {
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    count: u32,
    /// `true` if the next prompt is the one with which the agent continues, whatever its text.
    is_continuing: bool,
}

impl Continuations {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn count(&self) -> u32 {
        self.state().count
    }

    /// Resets the count at a prompt of the user.
    pub(super) fn start_turn(&self) {
        let mut state = self.state();
        if !std::mem::take(&mut state.is_continuing) {
            *state = State::default();
        }
    }

    /// Counts one more continuation, if there are fewer than `max`.
    ///
    /// # Errors
    /// The number of continuations, if that is the limit. The count is reset.
    pub(super) fn try_continue(&self, max: u32) -> Result<(), u32> {
        let mut state = self.state();
        if state.count >= max {
            return Err(std::mem::take(&mut *state).count);
        }
        state.count += 1;
        state.is_continuing = true;
        Ok(())
    }

    /// Resets the count at the end of a turn.
    pub(super) fn reset(&self) {
        *self.state() = State::default();
    }
}

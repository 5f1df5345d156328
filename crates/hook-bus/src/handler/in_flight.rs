//! Counting requests in flight, and waiting until there are none: one atomic step to take a request
//! on, since every request pays for it.

use std::sync::atomic::{AtomicUsize, Ordering};

use tokio::sync::Notify;

/// The bit that says that no further request is taken on; the rest is the count.
const CLOSED: usize = 1 << (usize::BITS - 1);

/// How many requests are in flight, and whether more are taken on.
#[derive(Debug, Default)]
pub(crate) struct InFlight {
    state: AtomicUsize,
    none_left: Notify,
}

impl InFlight {
    /// Counts one more, unless closed. What was counted must be released.
    pub(crate) fn enter(&self) -> bool {
        // Counting and looking are one step, so that closing misses no request.
        if self.state.fetch_add(1, Ordering::AcqRel) & CLOSED == 0 {
            return true;
        }
        self.leave();
        false
    }

    /// Releases one.
    pub(crate) fn leave(&self) {
        if self.state.fetch_sub(1, Ordering::AcqRel) == CLOSED + 1 {
            self.none_left.notify_waiters();
        }
    }

    /// Takes no more on.
    pub(crate) fn close(&self) {
        self.state.fetch_or(CLOSED, Ordering::AcqRel);
    }

    /// How many there are.
    pub(crate) fn count(&self) -> usize {
        self.state.load(Ordering::Acquire) & !CLOSED
    }

    /// Waits until there are none. To be called once closed.
    pub(crate) async fn wait(&self) {
        loop {
            // Listening before looking, so that the last one is not missed.
            let none_left = self.none_left.notified();
            if self.count() == 0 {
                return;
            }
            none_left.await;
        }
    }
}

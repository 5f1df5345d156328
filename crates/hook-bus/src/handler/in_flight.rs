//! A counter of requests in flight that can be awaited: one atomic step to accept a request, since
//! every request pays for it.

use std::sync::atomic::{AtomicUsize, Ordering};

use tokio::sync::Notify;

/// The bit of a closed counter; the other bits are the count.
const CLOSED: usize = 1 << (usize::BITS - 1);

/// The number of requests in flight, and whether new ones are accepted.
#[derive(Debug, Default)]
pub(crate) struct InFlight {
    state: AtomicUsize,
    drained: Notify,
}

impl InFlight {
    /// Counts one more request, unless closed; `leave` must follow.
    pub(crate) fn enter(&self) -> bool {
        // Counting and checking are one step, so that closing misses no request.
        if self.state.fetch_add(1, Ordering::AcqRel) & CLOSED == 0 {
            return true;
        }
        self.leave();
        false
    }

    /// Counts one request less.
    pub(crate) fn leave(&self) {
        if self.state.fetch_sub(1, Ordering::AcqRel) == CLOSED + 1 {
            self.drained.notify_waiters();
        }
    }

    /// Accepts no more requests.
    pub(crate) fn close(&self) {
        self.state.fetch_or(CLOSED, Ordering::AcqRel);
    }

    /// Returns the number of requests in flight.
    pub(crate) fn count(&self) -> usize {
        self.state.load(Ordering::Acquire) & !CLOSED
    }

    /// Waits until there are none. To be called once closed.
    pub(crate) async fn wait(&self) {
        loop {
            // Listen before checking, so that the last notification is not missed.
            let drained = self.drained.notified();
            if self.count() == 0 {
                return;
            }
            drained.await;
        }
    }
}

//! The requests that an engine has taken, and their limits.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio_util::sync::CancellationToken;

/// The unit of size limits: 1 KiB.
const UNIT: usize = 1_024;

/// The approximate maximum size of all taken requests, in bytes.
const WAITING_BYTES: usize = 64 * 1_024 * 1_024;

/// The requests that an engine has taken and not answered.
#[derive(Debug)]
pub(super) struct Taken {
    /// By reply subject, which others cannot guess.
    open: Mutex<HashMap<Arc<str>, CancellationToken>>,
    /// The permits of running requests.
    turns: Semaphore,
    may_run: usize,
    /// The permits of running and waiting requests.
    places: Arc<Semaphore>,
    may_be: usize,
    room: Arc<Semaphore>,
    pub(super) counts: Counts,
}

/// The counters of requests since the engine started.
#[derive(Debug, Default)]
pub(super) struct Counts {
    pub(super) taken: AtomicU64,
    pub(super) answered: AtomicU64,
    pub(super) failed: AtomicU64,
    pub(super) busy: AtomicU64,
    pub(super) cancelled: AtomicU64,
    /// Rejected because they expect other settings.
    pub(super) mismatched: AtomicU64,
    pub(super) microseconds: AtomicU64,
    /// Events that were not published.
    pub(super) events_missed: AtomicU64,
}

impl Counts {
    pub(super) fn add(counter: &AtomicU64) {
        counter.fetch_add(1, Ordering::Relaxed);
    }

    /// Returns the counters of requests, by name.
    pub(super) fn all(&self) -> [(&'static str, u64); 6] {
        [
            ("taken", &self.taken),
            ("answered", &self.answered),
            ("failed", &self.failed),
            ("cancelled", &self.cancelled),
            ("busy", &self.busy),
            ("mismatched", &self.mismatched),
        ]
        .map(|(name, counter)| (name, Self::get(counter)))
    }

    pub(super) fn get(counter: &AtomicU64) -> u64 {
        counter.load(Ordering::Relaxed)
    }
}

/// The slot of a taken request, which is freed on drop.
#[derive(Debug)]
pub(super) struct TakenPlace {
    taken: Arc<Taken>,
    reply: Arc<str>,
    pub(super) cancelled: CancellationToken,
    _place: OwnedSemaphorePermit,
    _room: OwnedSemaphorePermit,
}

/// The reason why a request was not taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum NotTaken {
    /// All slots are in use.
    Busy,
    /// The engine already has it; this is a repetition.
    AlreadyTaken,
}

impl Taken {
    /// Creates a queue with limits for running and for waiting requests.
    pub(super) fn new(may_run: usize, may_wait: usize) -> Arc<Self> {
        let may_run = may_run.clamp(1, Semaphore::MAX_PERMITS / 2);
        let may_be = may_run.saturating_add(may_wait).min(Semaphore::MAX_PERMITS);
        Arc::new(Self {
            open: Mutex::default(),
            turns: Semaphore::new(may_run),
            may_run,
            places: Arc::new(Semaphore::new(may_be)),
            may_be,
            room: Arc::new(Semaphore::new(WAITING_BYTES / UNIT)),
            counts: Counts::default(),
        })
    }

    /// Takes a request of that size in bytes.
    pub(super) fn take(
        self: &Arc<Self>,
        reply: &str,
        length: usize,
    ) -> Result<TakenPlace, NotTaken> {
        let mut open = self.open();
        // Checked first: a repeated request needs no slot.
        if open.contains_key(reply) {
            return Err(NotTaken::AlreadyTaken);
        }
        let units = (length / UNIT + 1).min(WAITING_BYTES / UNIT);
        let units = u32::try_from(units).map_err(|_| NotTaken::Busy)?;
        let place = Arc::clone(&self.places).try_acquire_owned().map_err(|_| NotTaken::Busy)?;
        let room = Arc::clone(&self.room).try_acquire_many_owned(units);
        let room = room.map_err(|_| NotTaken::Busy)?;
        let reply: Arc<str> = reply.into();
        let cancelled = CancellationToken::new();
        open.insert(Arc::clone(&reply), cancelled.clone());
        let taken = Arc::clone(self);
        Ok(TakenPlace { taken, reply, cancelled, _place: place, _room: room })
    }

    /// Cancels the request with that reply subject, if the engine has it.
    pub(super) fn cancel(&self, reply: &str) {
        let open = self.open().get(reply).cloned();
        if let Some(cancelled) = open {
            cancelled.cancel();
        }
    }

    /// Returns the number of running and of waiting requests.
    pub(super) fn now(&self) -> (usize, usize) {
        let running = self.may_run - self.turns.available_permits();
        let all = self.may_be - self.places.available_permits();
        (running, all.saturating_sub(running))
    }

    fn open(&self) -> MutexGuard<'_, HashMap<Arc<str>, CancellationToken>> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl TakenPlace {
    /// Returns the reply subject.
    pub(super) fn reply(&self) -> &Arc<str> {
        &self.reply
    }

    /// Waits until the request may run. It runs as long as the permit is kept.
    pub(super) async fn turn(&self) -> Option<tokio::sync::SemaphorePermit<'_>> {
        // The semaphore is never closed.
        self.taken.turns.acquire().await.ok()
    }

    pub(super) fn counts(&self) -> &Counts {
        &self.taken.counts
    }
}

impl Drop for TakenPlace {
    fn drop(&mut self) {
        self.taken.open().remove(&self.reply);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_is_room_for_so_many_and_so_many_bytes() {
        let taken = Taken::new(1, 1);
        let first = taken.take("a", 10).unwrap();
        assert_eq!(taken.take("a", 10).unwrap_err(), NotTaken::AlreadyTaken);
        let second = taken.take("b", 10).unwrap();
        assert_eq!(taken.take("c", 10).unwrap_err(), NotTaken::Busy);
        assert_eq!(taken.take("a", 10).unwrap_err(), NotTaken::AlreadyTaken);
        drop(first);
        assert_eq!(taken.take("c", WAITING_BYTES).unwrap_err(), NotTaken::Busy);
        drop(second);
        // One that is larger than all is let in alone.
        let large = taken.take("c", WAITING_BYTES * 2).unwrap();
        taken.cancel("c");
        assert!(large.cancelled.is_cancelled());
        assert_eq!(taken.now(), (0, 1));
    }
}

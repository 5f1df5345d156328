//! The requests that an engine has taken: how many there may be, and which there are.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio_util::sync::CancellationToken;

/// Bytes are counted by the KiB.
const UNIT: usize = 1_024;

/// How many bytes of requests may wait, about.
const WAITING_BYTES: usize = 64 * 1_024 * 1_024;

/// The requests that an engine has taken and not answered.
#[derive(Debug)]
pub(super) struct Taken {
    /// By the subject of their replies, which nobody else can guess.
    open: Mutex<HashMap<Arc<str>, CancellationToken>>,
    /// Those that run.
    turns: Semaphore,
    may_run: usize,
    /// Those that run or wait.
    places: Arc<Semaphore>,
    may_be: usize,
    room: Arc<Semaphore>,
    pub(super) counts: Counts,
}

/// What became of requests since the engine began.
#[derive(Debug, Default)]
pub(super) struct Counts {
    pub(super) taken: AtomicU64,
    pub(super) answered: AtomicU64,
    pub(super) failed: AtomicU64,
    pub(super) busy: AtomicU64,
    pub(super) cancelled: AtomicU64,
    /// Not answered, since they want an engine with other settings.
    pub(super) mismatched: AtomicU64,
    pub(super) microseconds: AtomicU64,
    /// What happened, and was not published.
    pub(super) events_missed: AtomicU64,
}

impl Counts {
    pub(super) fn add(counter: &AtomicU64) {
        counter.fetch_add(1, Ordering::Relaxed);
    }

    /// What became of requests, by the words for it.
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

/// A request's place. Dropped, it is free.
#[derive(Debug)]
pub(super) struct TakenPlace {
    taken: Arc<Taken>,
    reply: Arc<str>,
    pub(super) cancelled: CancellationToken,
    _place: OwnedSemaphorePermit,
    _room: OwnedSemaphorePermit,
}

/// Why a request was not taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum NotTaken {
    /// There are as many as may be.
    Busy,
    /// It has been taken already, and is asked again.
    AlreadyTaken,
}

impl Taken {
    /// Room for so many that run, and so many that wait.
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

    /// Takes a request of so many bytes.
    pub(super) fn take(
        self: &Arc<Self>,
        reply: &str,
        length: usize,
    ) -> Result<TakenPlace, NotTaken> {
        let mut open = self.open();
        // First: one that is here already needs no room.
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

    /// Ends the request with that subject, if it is here.
    pub(super) fn cancel(&self, reply: &str) {
        let open = self.open().get(reply).cloned();
        if let Some(cancelled) = open {
            cancelled.cancel();
        }
    }

    /// How many run, and how many wait.
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
    /// Where its replies go.
    pub(super) fn reply(&self) -> &Arc<str> {
        &self.reply
    }

    /// Waits until it may run; it does for as long as what is given back is kept.
    pub(super) async fn turn(&self) -> Option<tokio::sync::SemaphorePermit<'_>> {
        // Nobody closes it.
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

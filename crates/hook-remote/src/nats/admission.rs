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
pub(super) struct Admission {
    /// By reply subject, which others cannot guess.
    open: Mutex<HashMap<Arc<str>, CancellationToken>>,
    /// The permits of running requests.
    run_permits: Semaphore,
    max_running: usize,
    /// The permits of running and waiting requests.
    slots: Arc<Semaphore>,
    max_open: usize,
    memory: Arc<Semaphore>,
    pub(super) counts: Counts,
}

/// The counters of requests since the engine started.
#[derive(Debug, Default)]
pub(super) struct Counts {
    pub(super) accepted: AtomicU64,
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
            ("taken", &self.accepted),
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
pub(super) struct AdmittedRequest {
    admission: Arc<Admission>,
    reply: Arc<str>,
    pub(super) cancelled: CancellationToken,
    _slot: OwnedSemaphorePermit,
    _memory: OwnedSemaphorePermit,
}

/// The reason why a request was not taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Rejected {
    /// All slots are in use.
    Busy,
    /// The engine already has it; this is a repetition.
    Duplicate,
}

impl Admission {
    /// Creates a queue with limits for running and for waiting requests.
    pub(super) fn new(max_running: usize, max_waiting: usize) -> Arc<Self> {
        let max_running = max_running.clamp(1, Semaphore::MAX_PERMITS / 2);
        let max_open = max_running.saturating_add(max_waiting).min(Semaphore::MAX_PERMITS);
        Arc::new(Self {
            open: Mutex::default(),
            run_permits: Semaphore::new(max_running),
            max_running,
            slots: Arc::new(Semaphore::new(max_open)),
            max_open,
            memory: Arc::new(Semaphore::new(WAITING_BYTES / UNIT)),
            counts: Counts::default(),
        })
    }

    /// Takes a request of that size in bytes.
    pub(super) fn admit(
        self: &Arc<Self>,
        reply: &str,
        length: usize,
    ) -> Result<AdmittedRequest, Rejected> {
        let mut open = self.open();
        // Checked first: a repeated request needs no slot.
        if open.contains_key(reply) {
            return Err(Rejected::Duplicate);
        }
        let units = (length / UNIT + 1).min(WAITING_BYTES / UNIT);
        let units = u32::try_from(units).map_err(|_| Rejected::Busy)?;
        let slot = Arc::clone(&self.slots).try_acquire_owned().map_err(|_| Rejected::Busy)?;
        let memory = Arc::clone(&self.memory).try_acquire_many_owned(units);
        let memory = memory.map_err(|_| Rejected::Busy)?;
        let reply: Arc<str> = reply.into();
        let cancelled = CancellationToken::new();
        open.insert(Arc::clone(&reply), cancelled.clone());
        let admission = Arc::clone(self);
        Ok(AdmittedRequest { admission, reply, cancelled, _slot: slot, _memory: memory })
    }

    /// Cancels the request with that reply subject, if the engine has it.
    pub(super) fn cancel(&self, reply: &str) {
        let open = self.open().get(reply).cloned();
        if let Some(cancelled) = open {
            cancelled.cancel();
        }
    }

    /// Returns the number of running and of waiting requests.
    pub(super) fn load(&self) -> (usize, usize) {
        let running = self.max_running - self.run_permits.available_permits();
        let all = self.max_open - self.slots.available_permits();
        (running, all.saturating_sub(running))
    }

    fn open(&self) -> MutexGuard<'_, HashMap<Arc<str>, CancellationToken>> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl AdmittedRequest {
    /// Returns the reply subject.
    pub(super) fn reply(&self) -> &Arc<str> {
        &self.reply
    }

    /// Waits until the request may run. It runs as long as the permit is kept.
    pub(super) async fn run_permit(&self) -> Option<tokio::sync::SemaphorePermit<'_>> {
        // The semaphore is never closed.
        self.admission.run_permits.acquire().await.ok()
    }

    pub(super) fn counts(&self) -> &Counts {
        &self.admission.counts
    }
}

impl Drop for AdmittedRequest {
    fn drop(&mut self) {
        self.admission.open().remove(&self.reply);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_is_room_for_so_many_and_so_many_bytes() {
        let taken = Admission::new(1, 1);
        let first = taken.admit("a", 10).unwrap();
        assert_eq!(taken.admit("a", 10).unwrap_err(), Rejected::Duplicate);
        let second = taken.admit("b", 10).unwrap();
        assert_eq!(taken.admit("c", 10).unwrap_err(), Rejected::Busy);
        assert_eq!(taken.admit("a", 10).unwrap_err(), Rejected::Duplicate);
        drop(first);
        assert_eq!(taken.admit("c", WAITING_BYTES).unwrap_err(), Rejected::Busy);
        drop(second);
        // One that is larger than all is let in alone.
        let large = taken.admit("c", WAITING_BYTES * 2).unwrap();
        taken.cancel("c");
        assert!(large.cancelled.is_cancelled());
        assert_eq!(taken.load(), (0, 1));
    }
}

//! What is counted of requests and hooks.

use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use futures::StreamExt;
use hook_bus::{
    HookExecutionResponse, HookProgress, HookSystem, JournalEntry, JournalMessage, Subscription,
};
use hook_core::HookEventName;

/// The upper ends of the buckets in which durations are counted.
pub(super) const BUCKETS: [Duration; 14] = [
    Duration::from_millis(1),
    Duration::from_millis(5),
    Duration::from_millis(10),
    Duration::from_millis(25),
    Duration::from_millis(50),
    Duration::from_millis(100),
    Duration::from_millis(250),
    Duration::from_millis(500),
    Duration::from_secs(1),
    Duration::from_millis(2_500),
    Duration::from_secs(5),
    Duration::from_secs(10),
    Duration::from_secs(30),
    Duration::from_secs(60),
];

/// How many requests are known at most whose responses have not been seen: some may have been missed.
const MOST: usize = 64 * 1_024;

/// What was counted since the server began.
#[derive(Debug, Clone, Default)]
pub(super) struct Counts {
    /// By event and decision.
    pub(super) requests: BTreeMap<(&'static str, &'static str), u64>,
    /// By code.
    pub(super) failures: BTreeMap<String, u64>,
    /// How many requests took at most as long as each bucket says, and no bucket before it.
    pub(super) buckets: [u64; BUCKETS.len()],
    pub(super) timed: u64,
    pub(super) took: Duration,
    pub(super) hooks_succeeded: u64,
    pub(super) hooks_failed: u64,
    /// What was not counted, since more happened than could be.
    pub(super) missed: u64,
    begun: HashMap<u64, Instant>,
}

impl Counts {
    /// How many requests have no response yet.
    pub(super) fn in_flight(&self) -> usize {
        self.begun.len()
    }

    fn note(&mut self, entry: &JournalEntry) {
        match &entry.message {
            JournalMessage::Request(_) if self.begun.len() < MOST => {
                self.begun.insert(entry.request.number(), entry.at);
            }
            JournalMessage::Progress(progress) => {
                if let HookProgress::Finished(finished) = &**progress {
                    match finished.result.success {
                        true => self.hooks_succeeded += 1,
                        false => self.hooks_failed += 1,
                    }
                }
            }
            JournalMessage::Response(response) => {
                if let Some(begun) = self.begun.remove(&entry.request.number()) {
                    self.time(entry.at.saturating_duration_since(begun));
                }
                self.answered(response);
            }
            _ => {}
        }
    }

    fn time(&mut self, took: Duration) {
        self.timed += 1;
        self.took += took;
        if let Some(index) = BUCKETS.iter().position(|bucket| took <= *bucket) {
            self.buckets[index] += 1;
        }
    }

    fn answered(&mut self, response: &HookExecutionResponse) {
        let event = response.event.map_or("unknown", HookEventName::as_str);
        let decision = response.processed.decision.as_str();
        *self.requests.entry((event, decision)).or_default() += 1;
        if let Some(failure) = response.error() {
            *self.failures.entry(failure.code.as_str().to_owned()).or_default() += 1;
        }
    }
}

/// What is counted while somebody counts.
#[derive(Debug, Clone, Default)]
pub(super) struct Counted(Arc<Mutex<Counts>>);

impl Counted {
    /// What happens on a system's bus from now on.
    pub(super) fn subscribe(system: &HookSystem) -> Subscription<JournalEntry> {
        system.bus().subscribe()
    }

    /// Counts until the bus is gone.
    ///
    /// # Cancellation
    /// Dropping the future loses nothing but what comes later.
    pub(super) async fn count(&self, mut happening: Subscription<JournalEntry>) {
        while let Some(next) = happening.next().await {
            let mut counts = self.lock();
            match next {
                Ok(entry) => counts.note(&entry),
                Err(lagged) => {
                    counts.missed += lagged.missed();
                    // Which of them are answered is not known any more.
                    counts.begun.clear();
                }
            }
        }
    }

    pub(super) fn now(&self) -> Counts {
        self.lock().clone()
    }

    fn lock(&self) -> MutexGuard<'_, Counts> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

//! Counters of requests and hooks.

use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use futures::StreamExt;
use hook_bus::{
    HookExecutionResponse, HookProgress, HookSystem, JournalEntry, JournalMessage, Subscription,
};
use hook_protocol::{HookEventName, PolicyDecision};

/// The upper bounds of the duration buckets.
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

/// The maximum number of requests without a response yet. Messages may be missed, so it is bounded.
const MAX_IN_FLIGHT: usize = 64 * 1_024;

/// The decision of a response without one.
const UNDECIDED: &str = "none";

/// The counts since the server started.
#[derive(Debug, Clone, Default)]
pub(super) struct Counts {
    /// By event and decision.
    pub(super) requests: BTreeMap<(&'static str, &'static str), u64>,
    /// By error code.
    pub(super) failures: BTreeMap<String, u64>,
    /// The number of requests in each bucket, not cumulative.
    pub(super) buckets: [u64; BUCKETS.len()],
    pub(super) completed: u64,
    pub(super) total_duration: Duration,
    /// Hooks that raised no objection.
    pub(super) hooks_passed: u64,
    /// Hooks that refused.
    pub(super) hooks_refused: u64,
    /// Hooks that could not answer.
    pub(super) hooks_failed: u64,
    /// The number of missed messages, which are in no other count.
    pub(super) missed: u64,
    started_at: HashMap<u64, Instant>,
}

impl Counts {
    /// Returns the number of requests without a response.
    pub(super) fn in_flight(&self) -> usize {
        self.started_at.len()
    }

    fn record(&mut self, entry: &JournalEntry) {
        match &entry.message {
            JournalMessage::Request(_) if self.started_at.len() < MAX_IN_FLIGHT => {
                self.started_at.insert(entry.request.number(), entry.at);
            }
            JournalMessage::Progress(progress) => {
                if let HookProgress::Finished(finished) = &**progress {
                    let result = &finished.result;
                    let refused =
                        result.decision.is_some_and(|decision| decision >= PolicyDecision::Block);
                    let count = match (&result.failure, refused) {
                        (Some(_), _) => &mut self.hooks_failed,
                        (None, true) => &mut self.hooks_refused,
                        (None, false) => &mut self.hooks_passed,
                    };
                    *count += 1;
                }
            }
            JournalMessage::Response(response) => {
                if let Some(started_at) = self.started_at.remove(&entry.request.number()) {
                    self.record_duration(entry.at.saturating_duration_since(started_at));
                }
                self.record_response(response);
            }
            _ => {}
        }
    }

    fn record_duration(&mut self, duration: Duration) {
        self.completed += 1;
        self.total_duration += duration;
        if let Some(index) = BUCKETS.iter().position(|bucket| duration <= *bucket) {
            self.buckets[index] += 1;
        }
    }

    fn record_response(&mut self, response: &HookExecutionResponse) {
        let event = response.event.map_or("unknown", HookEventName::as_str);
        // A failure that forbids nothing leaves the decision to whoever asked.
        let decision = match response.processed.decision {
            PolicyDecision::Proceed if !response.success() => UNDECIDED,
            decision => decision.as_str(),
        };
        *self.requests.entry((event, decision)).or_default() += 1;
        if let Some(failure) = response.error() {
            *self.failures.entry(failure.code.as_str().to_owned()).or_default() += 1;
        }
    }
}

/// Counts that are shared between the counting task and readers.
#[derive(Debug, Clone, Default)]
pub(super) struct SharedCounts(Arc<Mutex<Counts>>);

impl SharedCounts {
    /// Subscribes to a system's bus.
    pub(super) fn subscribe(system: &HookSystem) -> Subscription<JournalEntry> {
        system.bus().subscribe()
    }

    /// Counts until the bus is gone.
    ///
    /// # Cancellation
    /// Dropping the future loses only later messages.
    pub(super) async fn count(&self, mut journal: Subscription<JournalEntry>) {
        while let Some(received) = journal.next().await {
            let mut counts = self.lock();
            match received {
                Ok(entry) => counts.record(&entry),
                Err(lagged) => {
                    counts.missed += lagged.missed();
                    // The missed messages may include responses to any of them.
                    counts.started_at.clear();
                }
            }
        }
    }

    pub(super) fn snapshot(&self) -> Counts {
        self.lock().clone()
    }

    fn lock(&self) -> MutexGuard<'_, Counts> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

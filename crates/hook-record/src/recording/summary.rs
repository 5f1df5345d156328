//! The summary of a recording.

use std::time::Duration;

use hook_run::WorkerHistory;
use indexmap::IndexMap;

use super::read::Recording;
use super::request::RecordedOutcome;

/// The number of slowest hooks listed.
const MAX_SLOWEST: usize = 5;

/// The summary of a recording.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RecordingSummary {
    /// The totals of each event, in order of first appearance. Requests of unknown events are
    /// listed under the name they gave, or `?`.
    pub events: Vec<EventTotals>,
    /// The slowest hooks, slowest first; at most five.
    pub slowest: Vec<SlowHook>,
    /// The number of hooks that ran.
    pub hooks: usize,
    /// The number of hooks that failed.
    pub failed_hooks: usize,
    /// The sum of the durations of all hooks.
    pub in_hooks: Duration,
    /// The time during which at least one hook ran.
    pub waited: Duration,
    /// The last recorded history of each restarted or broken worker, by the name of its hook.
    pub workers: Vec<(String, WorkerHistory)>,
    /// The number of messages that the recorder missed.
    pub missed: u64,
}

/// The totals of one event.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct EventTotals {
    /// The event's name.
    pub event: String,
    /// The number of requests.
    pub requests: usize,
    /// The number of requests that were blocked, stopped, retried or asked for.
    pub interrupted: usize,
    /// The number of hooks that ran.
    pub hooks: usize,
    /// The number of hooks that failed.
    pub failed_hooks: usize,
    /// The sum of the durations of the hooks.
    pub in_hooks: Duration,
    /// The longest duration.
    pub longest: Duration,
}

/// One of the slowest hooks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SlowHook {
    /// The index of its request in [`Recording::requests`].
    pub request: usize,
    /// The index among the request's hooks.
    pub hook: usize,
    /// The hook's duration.
    pub duration: Duration,
}

impl Recording {
    /// Returns the summary.
    pub fn summary(&self) -> RecordingSummary {
        let mut summary = RecordingSummary::default();
        let mut events: IndexMap<String, EventTotals> = IndexMap::new();
        let mut spans = Vec::new();
        let mut workers = IndexMap::new();
        for (index, request) in self.requests.iter().enumerate() {
            let name = request.event_name.clone().unwrap_or_else(|| "?".to_owned());
            let totals = events.entry(name.clone()).or_default();
            totals.event = name;
            totals.requests += 1;
            totals.interrupted += usize::from(matches!(
                request.outcome(),
                RecordedOutcome::Ask
                    | RecordedOutcome::Retry
                    | RecordedOutcome::Block
                    | RecordedOutcome::Stop
            ));
            totals.hooks += request.hooks.len();
            for (hook_index, hook) in request.hooks.iter().enumerate() {
                totals.failed_hooks += usize::from(hook.has_failed());
                if let Some(worker) = hook.worker() {
                    workers.insert(hook.name.clone(), worker);
                }
                let Some(duration) = hook.duration() else { continue };
                totals.in_hooks = totals.in_hooks.saturating_add(duration);
                totals.longest = totals.longest.max(duration);
                summary.slowest.push(SlowHook { request: index, hook: hook_index, duration });
                spans.push((hook.start, hook.end.unwrap_or(hook.start)));
            }
        }
        // The sort is stable: of equal durations, the earlier one comes first.
        summary.slowest.sort_by_key(|slow| std::cmp::Reverse(slow.duration));
        summary.slowest.truncate(MAX_SLOWEST);
        summary.waited = covered(spans);
        summary.workers = workers.into_iter().collect();
        summary.events = events.into_values().collect();
        summary.hooks = summary.events.iter().map(|totals| totals.hooks).sum();
        summary.failed_hooks = summary.events.iter().map(|totals| totals.failed_hooks).sum();
        let in_hooks = summary.events.iter().map(|totals| totals.in_hooks);
        summary.in_hooks = in_hooks.fold(Duration::ZERO, Duration::saturating_add);
        let missed = self.gaps.iter().map(|gap| gap.missed);
        summary.missed = missed.fold(0, u64::saturating_add);
        summary
    }
}

/// Returns the length of the union of these spans.
fn covered(mut spans: Vec<(Duration, Duration)>) -> Duration {
    spans.sort_unstable();
    let (mut covered, mut covered_until) = (Duration::ZERO, Duration::ZERO);
    for (start, end) in spans {
        let start = start.max(covered_until);
        covered = covered.saturating_add(end.saturating_sub(start));
        covered_until = covered_until.max(end);
    }
    covered
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn overlapping_spans_count_once() {
        let spans = [(0, 4), (2, 3), (6, 8), (7, 9), (9, 9)];
        let span = |(start, end)| (Duration::from_secs(start), Duration::from_secs(end));
        assert_eq!(covered(spans.map(span).to_vec()), Duration::from_secs(7));
    }
}

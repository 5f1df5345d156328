//! What a recording comes to.

use std::time::Duration;

use hook_core::run::WorkerHistory;
use indexmap::IndexMap;

use super::read::Recording;
use super::request::RecordedOutcome;

/// How many of the slowest hooks are named.
const SLOWEST: usize = 5;

/// What a recording comes to.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RecordingSummary {
    /// Totals of each event, in the order in which they first came; of requests without a known
    /// event under the name that they gave, or `?`.
    pub events: Vec<EventTotals>,
    /// The hooks that ran longest, longest first; at most five.
    pub slowest: Vec<SlowHook>,
    /// How many hooks ran.
    pub hooks: usize,
    /// How many of them failed.
    pub failed_hooks: usize,
    /// The durations of all hooks, added up.
    pub in_hooks: Duration,
    /// How long at least one hook ran.
    pub waited: Duration,
    /// The hooks whose workers were started again or are broken, by name, with what was last said of each.
    pub workers: Vec<(String, WorkerHistory)>,
    /// How many messages the recorder missed.
    pub missed: u64,
}

/// Totals of one event.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct EventTotals {
    /// The event's name.
    pub event: String,
    /// How many requests.
    pub requests: usize,
    /// How many of them were blocked, stopped or asked for.
    pub held_up: usize,
    /// How many hooks ran.
    pub hooks: usize,
    /// How many of them failed.
    pub failed_hooks: usize,
    /// The durations of the hooks, added up.
    pub in_hooks: Duration,
    /// The longest of them.
    pub longest: Duration,
}

/// One of the slowest hooks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SlowHook {
    /// The index of its request in [`Recording::requests`].
    pub request: usize,
    /// Its index among the request's hooks.
    pub hook: usize,
    /// How long it ran.
    pub duration: Duration,
}

impl Recording {
    /// Adds everything up.
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
            totals.held_up += usize::from(matches!(
                request.outcome(),
                RecordedOutcome::Ask
                    | RecordedOutcome::Retry
                    | RecordedOutcome::Block
                    | RecordedOutcome::Stop
            ));
            totals.hooks += request.hooks.len();
            for (place, hook) in request.hooks.iter().enumerate() {
                totals.failed_hooks += usize::from(hook.has_failed());
                if let Some(worker) = hook.worker() {
                    workers.insert(hook.name.clone(), worker);
                }
                let Some(duration) = hook.duration() else { continue };
                totals.in_hooks = totals.in_hooks.saturating_add(duration);
                totals.longest = totals.longest.max(duration);
                summary.slowest.push(SlowHook { request: index, hook: place, duration });
                spans.push((hook.start, hook.end.unwrap_or(hook.start)));
            }
        }
        // Of hooks that took as long, the earlier one comes first.
        summary.slowest.sort_by_key(|slow| std::cmp::Reverse(slow.duration));
        summary.slowest.truncate(SLOWEST);
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

/// How much time spans cover, where they overlap once.
fn covered(mut spans: Vec<(Duration, Duration)>) -> Duration {
    spans.sort_unstable();
    let (mut covered, mut until) = (Duration::ZERO, Duration::ZERO);
    for (start, end) in spans {
        let start = start.max(until);
        covered = covered.saturating_add(end.saturating_sub(start));
        until = until.max(end);
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

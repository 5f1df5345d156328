//! Running the tests of several scenarios concurrently.

use std::collections::{BTreeMap, VecDeque};
use std::num::NonZeroUsize;
use std::pin::Pin;

use futures::stream::{self, Stream, StreamExt};
use tokio_util::sync::CancellationToken;

use super::scenario::{Scenario, ScenarioTest, TestReport};
use crate::bus::MessageBus;

/// The tests of one scenario to be run.
#[derive(Debug, Clone)]
pub struct Selected<'s> {
    /// The scenario.
    pub scenario: &'s Scenario,
    /// The indices of the tests in it.
    pub tests: Vec<usize>,
}

/// One test that was run or skipped.
#[derive(Debug, Clone)]
pub struct Played {
    /// The index of its scenario in the selection.
    pub scenario: usize,
    /// The test's index in the scenario.
    pub test: usize,
    /// The report; `None` if it was skipped, because of `stop` or of an earlier failure.
    pub report: Option<TestReport>,
}

/// Runs tests, at most `jobs` at once, and returns their results in the given order.
///
/// Scenarios run concurrently. The tests of one run one after the other, unless it has `parallel =
/// true`. Once `stop` is cancelled no further test begins; with `fail_fast` also after the first
/// failure.
///
/// # Cancellation
/// Dropping the stream cancels the running tests and their hooks.
pub fn play_tests<'s>(
    bus: &'s MessageBus,
    selected: &[Selected<'s>],
    jobs: NonZeroUsize,
    fail_fast: bool,
    stop: &'s CancellationToken,
) -> impl Stream<Item = Played> + 's {
    let begin = stop.child_token();
    let lanes = lanes(selected).into_iter().map(move |lane| {
        let begin = begin.clone();
        let turns = stream::iter(lane).then(move |turn| {
            let begin = begin.clone();
            async move {
                let mut report = None;
                if !begin.is_cancelled() {
                    let played = turn.test.run(bus).await;
                    if fail_fast && !played.passed() {
                        begin.cancel();
                    }
                    report = Some(played);
                }
                (turn.number, Played { scenario: turn.scenario, test: turn.index, report })
            }
        });
        Box::pin(turns)
    });
    in_order(stream::iter(lanes).flatten_unordered(jobs.get()))
}

/// One test and the position of its report.
struct Turn<'s> {
    number: usize,
    scenario: usize,
    index: usize,
    test: &'s ScenarioTest,
}

/// Returns the sequences of tests that must run one after the other.
fn lanes<'s>(selected: &[Selected<'s>]) -> Vec<VecDeque<Turn<'s>>> {
    let mut number = 0;
    let mut lanes = Vec::new();
    for (scenario, Selected { scenario: of, tests }) in selected.iter().enumerate() {
        let mut turns = VecDeque::new();
        for &index in tests {
            let Some(test) = of.tests.get(index) else { continue };
            turns.push_back(Turn { number, scenario, index, test });
            number += 1;
        }
        match of.parallel {
            true => lanes.extend(turns.into_iter().map(|turn| VecDeque::from([turn]))),
            false => lanes.push(turns),
        }
    }
    lanes
}

/// Reorders items by their number.
fn in_order<'s, S>(numbered: S) -> impl Stream<Item = Played> + 's
where
    S: Stream<Item = (usize, Played)> + 's,
{
    struct Waiting<S> {
        numbered: Pin<Box<S>>,
        early: BTreeMap<usize, Played>,
        next: usize,
    }
    let waiting = Waiting { numbered: Box::pin(numbered), early: BTreeMap::new(), next: 0 };
    stream::unfold(waiting, |mut waiting| async move {
        loop {
            if let Some(played) = waiting.early.remove(&waiting.next) {
                waiting.next += 1;
                return Some((played, waiting));
            }
            let (number, played) = waiting.numbered.next().await?;
            waiting.early.insert(number, played);
        }
    })
}

//! Running the tests of several scenarios concurrently.

use std::collections::{BTreeMap, VecDeque};
use std::num::NonZeroUsize;
use std::pin::Pin;

use futures::stream::{self, Stream, StreamExt};
use tokio_util::sync::CancellationToken;

use super::scenario::{Scenario, ScenarioTest, TestReport};
use hook_bus::MessageBus;

/// The tests of one scenario to be run.
#[derive(Debug, Clone)]
pub struct SelectedTests<'s> {
    /// The scenario.
    pub scenario: &'s Scenario,
    /// The indices of the tests in it.
    pub tests: Vec<usize>,
}

/// One test that was run or skipped.
#[derive(Debug, Clone)]
pub struct PlayedTest {
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
    selected: &[SelectedTests<'s>],
    jobs: NonZeroUsize,
    fail_fast: bool,
    stop: &'s CancellationToken,
) -> impl Stream<Item = PlayedTest> + 's {
    let cancelled = stop.child_token();
    let runs = sequences(selected).into_iter().map(move |sequence| {
        let begin = cancelled.clone();
        let steps = stream::iter(sequence).then(move |step| {
            let begin = begin.clone();
            async move {
                let mut report = None;
                if !begin.is_cancelled() {
                    let test_report = step.test.run(bus).await;
                    if fail_fast && !test_report.passed() {
                        begin.cancel();
                    }
                    report = Some(test_report);
                }
                (step.number, PlayedTest { scenario: step.scenario, test: step.index, report })
            }
        });
        Box::pin(steps)
    });
    reorder(stream::iter(runs).flatten_unordered(jobs.get()))
}

/// One test and the position of its report.
struct Step<'s> {
    number: usize,
    scenario: usize,
    index: usize,
    test: &'s ScenarioTest,
}

/// Returns the sequences of tests that must run one after the other.
fn sequences<'s>(selected: &[SelectedTests<'s>]) -> Vec<VecDeque<Step<'s>>> {
    let mut number = 0;
    let mut sequences = Vec::new();
    for (scenario, SelectedTests { scenario: scenario_ref, tests }) in selected.iter().enumerate() {
        let mut steps = VecDeque::new();
        for &index in tests {
            let Some(test) = scenario_ref.tests.get(index) else { continue };
            steps.push_back(Step { number, scenario, index, test });
            number += 1;
        }
        match scenario_ref.parallel {
            true => sequences.extend(steps.into_iter().map(|step| VecDeque::from([step]))),
            false => sequences.push(steps),
        }
    }
    sequences
}

/// Reorders items by their number.
fn reorder<'s, S>(numbered: S) -> impl Stream<Item = PlayedTest> + 's
where
    S: Stream<Item = (usize, PlayedTest)> + 's,
{
    struct Reorder<S> {
        numbered: Pin<Box<S>>,
        early: BTreeMap<usize, PlayedTest>,
        next: usize,
    }
    let state = Reorder { numbered: Box::pin(numbered), early: BTreeMap::new(), next: 0 };
    stream::unfold(state, |mut state| async move {
        loop {
            if let Some(played) = state.early.remove(&state.next) {
                state.next += 1;
                return Some((played, state));
            }
            let (number, played) = state.numbered.next().await?;
            state.early.insert(number, played);
        }
    })
}

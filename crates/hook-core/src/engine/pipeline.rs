//! The path of an event: plan, run, aggregate, process (architecture.md, "Data flow").
//!
//! The caller parses requests (envelope, route, payload) and translates model payloads: both need
//! the bus and the SDKs, which this crate does not depend on.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use futures::stream::{FuturesUnordered, StreamExt};

use super::aggregate::aggregate;
use super::changes::with_changes;
use super::early_end::{EarlyEnd, NotStarted};
use super::finished::{FinishedHooks, PipelineOutcome};
use super::processed::{ProcessedHookResult, StageFailure};
use super::recheck::{ReceivedInputs, recheck_guards};
use super::reconcile::Reconciler;
use crate::plan::{Group, HookRegistry, Plan};
use hook_protocol::event::input::{EventInput, HookInput};
use hook_protocol::event::output::PolicyDecision;
use hook_protocol::event::{HookEventName, MergeStrategy};
use hook_protocol::failure::{FailureCode, panic_message};
use hook_run::{
    Background, HookExecutionResult, MAX_BACKGROUND, RunScope, Runner, RunnerGone, StartedHook,
};

/// The registered hooks and their runner.
#[derive(Debug)]
pub struct Pipeline {
    registry: Arc<HookRegistry>,
    runner: Arc<Runner>,
}

impl Pipeline {
    /// Creates a pipeline.
    pub fn new(registry: Arc<HookRegistry>, runner: Arc<Runner>) -> Self {
        Self { registry, runner }
    }

    /// Returns the registry, which [plans](HookRegistry::plan) requests.
    pub fn registry(&self) -> &Arc<HookRegistry> {
        &self.registry
    }

    /// Returns the runner.
    pub fn runner(&self) -> &Arc<Runner> {
        &self.runner
    }

    /// Runs a plan. Model payloads in `input` must be in the stable form already.
    ///
    /// Ready at once if the plan is empty or [inline](Plan::is_inline).
    ///
    /// # Cancellation
    /// Dropping the future ends the hooks it started: they are signalled at once and cleaned up on
    /// tasks of the engine.
    ///
    /// # Errors
    /// Returns an error if the hooks could not be run or their answers could not be merged. A
    /// failing hook is not such an error.
    pub async fn run(
        &self,
        plan: &Plan,
        input: EventInput,
        scope: &RunScope,
    ) -> Result<PipelineOutcome, StageFailure> {
        let mut finished = FinishedHooks::default();
        self.run_into(plan, input, scope, &mut finished).await?;
        self.merge_results(plan, finished)
    }

    /// Runs a plan like [`run`](Self::run), but stores each hook's result in `finished` as soon as
    /// it is available, so that results survive when the future is dropped.
    ///
    /// # Errors
    /// Returns an error if the hooks could not be run.
    pub async fn run_into(
        &self,
        plan: &Plan,
        input: EventInput,
        scope: &RunScope,
        finished: &mut FinishedHooks,
    ) -> Result<(), StageFailure> {
        if plan.is_empty() {
            return Ok(());
        }
        let mut received = ReceivedInputs::new(HookInput::new(input));
        let run = async {
            self.run_groups(plan, &mut received, scope, finished).await?;
            recheck_guards((&self.registry, &self.runner), plan, received, scope, finished)
                .await
                .map_err(runner_gone)
        };
        run.await
    }

    /// Merges the hooks' outputs in plan order, even if some hooks did not finish.
    ///
    /// # Errors
    /// Returns an error if the answers could not be merged.
    pub fn merge_results(
        &self,
        plan: &Plan,
        finished: FinishedHooks,
    ) -> Result<PipelineOutcome, StageFailure> {
        let (hooks, not_started, warnings) = finished.in_order();
        if hooks.is_empty() {
            let mut outcome = PipelineOutcome { not_started, ..PipelineOutcome::empty_success() };
            outcome.processed.warn(warnings);
            return Ok(outcome);
        }
        let process = || {
            let aggregated = aggregate(plan.event, &hooks);
            let mut processed = ProcessedHookResult::process(plan.event, aggregated);
            processed.granted = is_granted(plan.event, &processed, &hooks);
            processed
        };
        let mut processed = catch_unwind(AssertUnwindSafe(process)).map_err(|panic| {
            let message =
                format!("failed to merge the hooks' answers: {}", panic_message(panic.as_ref()));
            StageFailure::new(FailureCode::AggregationFailed, message)
        })?;
        processed.warn(warnings);
        Ok(PipelineOutcome { processed, hooks, not_started })
    }

    async fn run_groups(
        &self,
        plan: &Plan,
        received: &mut ReceivedInputs,
        scope: &RunScope,
        finished: &mut FinishedHooks,
    ) -> Result<(), StageFailure> {
        let mut early_end = EarlyEnd::default();
        let mut reconciler = Reconciler::default();
        let mut input = received.input().clone();
        for (group_index, group) in plan.groups.iter().enumerate() {
            // An inline plan finishes before the caller could cancel it.
            if group_index > 0 && scope.cancel.is_cancelled() && !plan.is_inline() {
                let message = "the request was cancelled before all of its hooks had started";
                return Err(StageFailure::new(FailureCode::Cancelled, message));
            }
            early_end.begin_group(group.priority, plan.is_in_turn(group));
            let first = finished.results.len();
            let run = GroupRun { plan, group, early_end: &early_end, input: &input, scope };
            self.run_group(run, received, finished).await.map_err(runner_gone)?;
            // Restore plan order: hooks finish in any order.
            let Some(results) = finished.results.get_mut(first..) else { continue };
            results.sort_by_key(|(index, _)| *index);
            let group_input = input.clone();
            for (index, result) in results {
                let approved = received.approved_by(plan, *index, result);
                if reconciler.reconcile(result, &group_input.payload, &input.payload) {
                    received.record_approved(*index, approved);
                }
                if let Some(planned) = plan.hooks.get(*index) {
                    early_end.record(plan.event, &planned.hook, result);
                }
                if let Some(output) = result.output.as_ref().filter(|_| result.success) {
                    input = with_changes(input, output);
                }
            }
        }
        Ok(())
    }

    /// Starts all hooks of a group before awaiting the first.
    async fn run_group(
        &self,
        run: GroupRun<'_>,
        received: &mut ReceivedInputs,
        finished: &mut FinishedHooks,
    ) -> Result<(), RunnerGone> {
        let GroupRun { plan, group, early_end: ended, input, scope } = run;
        let mut running = Vec::new();
        for (index, planned) in plan.hooks_of(group) {
            if let Some(by) = ended.prevented_by(&planned.hook) {
                let (hook, ended_by) = (planned.hook.identity.clone(), by.display_name().into());
                finished.not_started.push(NotStarted { hook, ended_by });
                continue;
            }
            let permits = planned.hook.background.as_ref();
            let is_skipped = match scope.background {
                Background::Start => false,
                Background::Skip => permits.is_some(),
                Background::Only => permits.is_none(),
            };
            if is_skipped {
                continue;
            }
            if let Some(permits) = permits.filter(|_| scope.background == Background::Start) {
                if !self.runner.start_in_background(
                    &planned.hook.spec,
                    permits,
                    input.clone(),
                    scope,
                ) {
                    let message = format!(
                        "{MAX_BACKGROUND} runs of it still go on that nothing waits for, so it was \
                         not run for this event"
                    );
                    finished.warnings.push(planned.hook.identity.format_warning(&message));
                }
                continue;
            }
            received.record(plan, index, input);
            match self.runner.start(&planned.hook.spec, input.clone(), scope) {
                StartedHook::Done(result) => finished.push(plan, index, result),
                started => running.push(async move { (index, started.finish().await) }),
            }
        }
        if running.is_empty() {
            return Ok(());
        }
        let mut running: FuturesUnordered<_> = running.into_iter().collect();
        while let Some((index, result)) = running.next().await {
            finished.push(plan, index, result?);
        }
        Ok(())
    }
}

fn runner_gone(error: RunnerGone) -> StageFailure {
    StageFailure::new(FailureCode::ExecutionFailed, error.to_string())
}

/// The arguments of a group's run.
struct GroupRun<'r> {
    plan: &'r Plan,
    group: &'r Group,
    /// The decisions of earlier groups.
    early_end: &'r EarlyEnd,
    /// The input after the changes of earlier groups.
    input: &'r HookInput,
    scope: &'r RunScope,
}

/// Checks whether a permission is granted: a hook grants it explicitly and no hook restricts it.
fn is_granted(
    event: HookEventName,
    processed: &ProcessedHookResult,
    hooks: &[HookExecutionResult],
) -> bool {
    event.row().merge == MergeStrategy::Permission
        && processed.decision == PolicyDecision::Proceed
        && HookExecutionResult::approve(hooks)
}

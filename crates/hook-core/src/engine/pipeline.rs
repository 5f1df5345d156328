//! The one way an event takes: plan, run, aggregate, process (architecture.md, "Data flow").
//!
//! The door (envelope, route, payload) and the translation of model payloads are the caller's:
//! they need the bus and the SDKs, which this crate does not know.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use futures::stream::{FuturesUnordered, StreamExt};

use super::aggregate::aggregate;
use super::asked_again::{Told, ask_again};
use super::changes::chained;
use super::ended::{Ended, NotStarted};
use super::finished::{FinishedHooks, PipelineOutcome};
use super::processed::{ProcessedHookResult, StageFailure};
use super::settled::Settled;
use crate::event::input::{EventInput, HookInput};
use crate::event::output::PolicyDecision;
use crate::event::{HookEventName, MergeStrategy};
use crate::failure::{FailureCode, panic_message};
use crate::plan::{Group, HookRegistry, Plan};
use crate::run::{
    Background, HookExecutionResult, MAX_BACKGROUND, RunScope, Runner, RunnerGone, StartedHook,
};

/// The hooks there are and what runs them.
#[derive(Debug)]
pub struct Pipeline {
    registry: Arc<HookRegistry>,
    runner: Arc<Runner>,
}

impl Pipeline {
    /// Puts the parts together.
    pub fn new(registry: Arc<HookRegistry>, runner: Arc<Runner>) -> Self {
        Self { registry, runner }
    }

    /// The hooks there are, and the [plan](HookRegistry::plan) of a request.
    pub fn registry(&self) -> &Arc<HookRegistry> {
        &self.registry
    }

    /// Runs hooks.
    pub fn runner(&self) -> &Arc<Runner> {
        &self.runner
    }

    /// Runs a plan on an input that hooks may see: model payloads are in the stable form already.
    ///
    /// Ready at once when the plan is empty or [inline](Plan::is_inline).
    ///
    /// # Cancellation
    /// Dropping the future ends the hooks it started: they are signalled at once and cleaned up on
    /// tasks of the engine's.
    ///
    /// # Errors
    /// When the hooks could not be run or their answers not be merged. A hook that fails is not
    /// such an error.
    pub async fn run(
        &self,
        plan: &Plan,
        input: EventInput,
        scope: &RunScope,
    ) -> Result<PipelineOutcome, StageFailure> {
        let mut finished = FinishedHooks::default();
        self.run_into(plan, input, scope, &mut finished).await?;
        self.settle(plan, finished)
    }

    /// Runs a plan as [`run`](Self::run) does, but leaves what each hook did in `finished` as soon
    /// as it is done, so that nothing is lost when the future is dropped half-way.
    ///
    /// # Errors
    /// When the hooks could not be run.
    #[doc(hidden)]
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
        let mut told = Told::new(HookInput::new(input));
        let run = async {
            self.run_groups(plan, &mut told, scope, finished).await?;
            ask_again((&self.registry, &self.runner), plan, told, scope, finished)
                .await
                .map_err(gone)
        };
        run.await
    }

    /// Merges what the hooks said, in plan order, also when not all of them finished.
    ///
    /// # Errors
    /// When the answers could not be merged.
    #[doc(hidden)]
    pub fn settle(
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
        told: &mut Told,
        scope: &RunScope,
        finished: &mut FinishedHooks,
    ) -> Result<(), StageFailure> {
        let mut ended = Ended::default();
        let mut settled = Settled::default();
        let mut input = told.input().clone();
        for (index, group) in plan.groups.iter().enumerate() {
            // An inline plan is done before anybody could cancel it.
            if index > 0 && scope.cancel.is_cancelled() && !plan.is_inline() {
                let message = "the request was cancelled before all of its hooks had started";
                return Err(StageFailure::new(FailureCode::Cancelled, message));
            }
            ended.begin(group.priority, plan.is_in_turn(group));
            let first = finished.results.len();
            let run = GroupRun { plan, group, ended: &ended, input: &input, scope };
            self.run_group(run, told, finished).await.map_err(gone)?;
            // In plan order, whatever finished first.
            let Some(results) = finished.results.get_mut(first..) else { continue };
            results.sort_by_key(|(place, _)| *place);
            let of_group = input.clone();
            for (place, result) in results {
                let approved = told.approved_by(plan, *place, result);
                if settled.take(result, &of_group.payload, &input.payload) {
                    told.note_approved(*place, approved);
                }
                if let Some(planned) = plan.hooks.get(*place) {
                    ended.note(plan.event, &planned.hook, result);
                }
                if let Some(output) = result.output.as_ref().filter(|_| result.success) {
                    input = chained(input, output);
                }
            }
        }
        Ok(())
    }

    /// Starts all hooks of a group before the first is awaited.
    async fn run_group(
        &self,
        run: GroupRun<'_>,
        told: &mut Told,
        finished: &mut FinishedHooks,
    ) -> Result<(), RunnerGone> {
        let GroupRun { plan, group, ended, input, scope } = run;
        let mut running = Vec::new();
        for (place, planned) in plan.hooks_of(group) {
            if let Some(by) = ended.keeps_out(&planned.hook) {
                let (hook, ended_by) = (planned.hook.identity.clone(), by.display_name().into());
                finished.not_started.push(NotStarted { hook, ended_by });
                continue;
            }
            let permits = planned.hook.background.as_ref();
            let is_left = match scope.background {
                Background::Start => false,
                Background::Leave => permits.is_some(),
                Background::Only => permits.is_none(),
            };
            if is_left {
                continue;
            }
            if let Some(permits) = permits.filter(|_| scope.background == Background::Start) {
                if !self.runner.start_in_background(
                    &planned.hook.spec,
                    permits,
                    input.clone(),
                    scope,
                ) {
                    let running = format!(
                        "{MAX_BACKGROUND} runs of it still go on that nothing waits for, so it was \
                         not run for this event"
                    );
                    finished.warnings.push(planned.hook.identity.says(&running));
                }
                continue;
            }
            told.note(plan, place, input);
            match self.runner.start(&planned.hook.spec, input.clone(), scope) {
                StartedHook::Done(result) => finished.push(plan, place, result),
                started => running.push(async move { (place, started.finish().await) }),
            }
        }
        if running.is_empty() {
            return Ok(());
        }
        let mut running: FuturesUnordered<_> = running.into_iter().collect();
        while let Some((place, result)) = running.next().await {
            finished.push(plan, place, result?);
        }
        Ok(())
    }
}

fn gone(gone: RunnerGone) -> StageFailure {
    StageFailure::new(FailureCode::ExecutionFailed, gone.to_string())
}

/// What a group runs with.
struct GroupRun<'r> {
    plan: &'r Plan,
    group: &'r Group,
    /// What the groups before it ended.
    ended: &'r Ended,
    /// What they left of the input.
    input: &'r HookInput,
    scope: &'r RunScope,
}

/// Whether a hook grants what the user would be asked for: one says so itself, and none restricts.
fn is_granted(
    event: HookEventName,
    processed: &ProcessedHookResult,
    hooks: &[HookExecutionResult],
) -> bool {
    event.row().merge == MergeStrategy::Permission
        && processed.decision == PolicyDecision::Proceed
        && HookExecutionResult::approve(hooks)
}

//! The one way an event takes: plan, run, aggregate, process (architecture.md, "Data flow").
//!
//! The door (envelope, route, payload) and the translation of model payloads are the caller's:
//! they need the bus and the SDKs, which this crate does not know.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use crate::aggregator::Aggregator;
use crate::failure::{FailureCode, panic_message};
use crate::input::{EventInput, EventPayload};
use crate::output::HookOutput;
use crate::planner::{Plan, PlannedHook, Planner};
use crate::processed::{ProcessedHookResult, StageFailure};
use crate::runner::{HookExecutionResult, HookInput, RunScope, Runner, RunnerGone};

/// What came of an event: the result for the caller, and what each hook did.
#[derive(Debug, Clone)]
pub struct PipelineOutcome {
    /// The result for the caller.
    pub processed: ProcessedHookResult,
    /// What each hook did, in plan order.
    pub hooks: Vec<HookExecutionResult>,
}

impl PipelineOutcome {
    /// The outcome of an event that no hook listens to.
    pub fn empty_success() -> Self {
        Self { processed: ProcessedHookResult::empty_success(), hooks: Vec::new() }
    }
}

/// Planner, runner and aggregator, built once.
#[derive(Debug)]
pub struct Pipeline {
    planner: Planner,
    runner: Arc<Runner>,
    aggregator: Aggregator,
}

impl Pipeline {
    /// Puts the parts together.
    pub fn new(planner: Planner, runner: Arc<Runner>, aggregator: Aggregator) -> Self {
        Self { planner, runner, aggregator }
    }

    /// Finds the hooks for events.
    pub fn planner(&self) -> &Planner {
        &self.planner
    }

    /// Runs hooks.
    pub fn runner(&self) -> &Runner {
        &self.runner
    }

    /// The runner, to be shared with another pipeline.
    pub fn shared_runner(&self) -> Arc<Runner> {
        Arc::clone(&self.runner)
    }

    /// Which hooks a payload runs.
    pub fn plan(&self, payload: &EventPayload) -> Arc<Plan> {
        self.planner.plan(payload)
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
        if plan.is_empty() {
            return Ok(PipelineOutcome::empty_success());
        }
        let input = HookInput::new(input);
        let run = match plan.sequential {
            true => self.run_in_sequence(plan, input, scope).await,
            false => self.run_together(plan, input, scope).await,
        };
        let mut hooks =
            run.map_err(|gone| StageFailure::new(FailureCode::ExecutionFailed, gone.to_string()))?;
        let process = || {
            let aggregated = self.aggregator.aggregate(plan.event, &mut hooks);
            ProcessedHookResult::process(plan.event, aggregated)
        };
        let processed = catch_unwind(AssertUnwindSafe(process)).map_err(|panic| {
            let message =
                format!("failed to merge the hooks' answers: {}", panic_message(panic.as_ref()));
            StageFailure::new(FailureCode::AggregationFailed, message)
        })?;
        Ok(PipelineOutcome { processed, hooks })
    }

    async fn run_together(
        &self,
        plan: &Plan,
        input: HookInput,
        scope: &RunScope,
    ) -> Result<Vec<HookExecutionResult>, RunnerGone> {
        // All are started before the first is awaited; results keep plan order.
        let start = |planned: &PlannedHook| self.runner.start(&planned.hook, input.clone(), scope);
        let started: Vec<_> = plan.hooks.iter().map(start).collect();
        let mut results = Vec::with_capacity(started.len());
        for (started, planned) in started.into_iter().zip(&plan.hooks) {
            results.push(with_warning(started.finish().await?, planned));
        }
        Ok(results)
    }

    async fn run_in_sequence(
        &self,
        plan: &Plan,
        mut input: HookInput,
        scope: &RunScope,
    ) -> Result<Vec<HookExecutionResult>, RunnerGone> {
        let mut results = Vec::with_capacity(plan.hooks.len());
        for planned in &plan.hooks {
            let result = self.runner.start(&planned.hook, input.clone(), scope).finish().await?;
            if let Some(output) = result.output.as_ref().filter(|_| result.success) {
                input = chained(input, output);
            }
            results.push(with_warning(result, planned));
        }
        Ok(results)
    }
}

/// What the next hook is told after one has answered.
fn chained(input: HookInput, output: &HookOutput) -> HookInput {
    let mut next = EventInput::clone(&input);
    (next.event().row().chain)(&mut next.payload, output);
    // The text of an input that did not change is not made again.
    if next.payload == input.payload { input } else { HookInput::new(next) }
}

fn with_warning(mut result: HookExecutionResult, planned: &PlannedHook) -> HookExecutionResult {
    result.warnings.extend(planned.warning.clone());
    result
}

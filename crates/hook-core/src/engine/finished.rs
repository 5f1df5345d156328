//! What the hooks of a plan did.

use super::ended::NotStarted;
use super::processed::ProcessedHookResult;
use crate::plan::Plan;
use crate::run::HookExecutionResult;

/// What came of an event: the result for the caller, and what each hook did.
#[derive(Debug, Clone)]
pub struct PipelineOutcome {
    /// The result for the caller.
    pub processed: ProcessedHookResult,
    /// What each hook did, in plan order.
    pub hooks: Vec<HookExecutionResult>,
    /// The hooks that were not started, because of what one of an earlier priority said.
    pub not_started: Vec<NotStarted>,
}

impl PipelineOutcome {
    /// The outcome of an event that no hook listens to.
    pub fn empty_success() -> Self {
        Self {
            processed: ProcessedHookResult::empty_success(),
            hooks: Vec::new(),
            not_started: Vec::new(),
        }
    }
}

/// How much of what hooks were told the results of one event keep, in bytes: as much as one message may
/// have.
const MAX_INPUTS: usize = 64 << 20;

/// What the hooks of a plan did, as far as they are done.
#[doc(hidden)]
#[derive(Debug, Default)]
pub struct FinishedHooks {
    /// With their places in the plan, in the order in which they finished.
    pub(super) results: Vec<(usize, HookExecutionResult)>,
    /// In plan order.
    pub(super) not_started: Vec<NotStarted>,
    /// What the caller should know of hooks that have no result.
    pub(super) warnings: Vec<String>,
}

impl FinishedHooks {
    pub(super) fn push(&mut self, plan: &Plan, place: usize, mut result: HookExecutionResult) {
        let number = plan.groups.iter().position(|group| group.hooks.contains(&place));
        if let Some(number) = number
            && let Some(group) = plan.groups.get(number)
        {
            result.group = (number, group.priority);
        }
        result.warnings.extend(plan.hooks.get(place).and_then(|hook| hook.warning.clone()));
        self.results.push((place, result));
    }

    /// The results in plan order, with no more of what hooks were told than one message has room for.
    pub(super) fn in_order(mut self) -> (Vec<HookExecutionResult>, Vec<NotStarted>, Vec<String>) {
        self.results.sort_by_key(|(place, _)| *place);
        let mut hooks: Vec<_> = self.results.into_iter().map(|(_, result)| result).collect();
        let mut kept = 0_usize;
        for result in &mut hooks {
            kept += result.input.as_ref().map_or(0, |input| input.as_str().len());
            if kept > MAX_INPUTS && result.input.take().is_some() {
                result.warnings.push(format!(
                    "inputs: what it was told is left out, since what the hooks of this event were \
                     told is longer than {} MiB in all",
                    MAX_INPUTS >> 20
                ));
            }
        }
        (hooks, self.not_started, self.warnings)
    }

    /// Takes those results out that are to be replaced.
    pub(super) fn take(
        &mut self,
        mut wanted: impl FnMut(usize, &HookExecutionResult) -> bool,
    ) -> Vec<(usize, HookExecutionResult)> {
        self.results.extract_if(.., |(place, result)| wanted(*place, result)).collect()
    }
}

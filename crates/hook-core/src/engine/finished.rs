//! The results of a plan's hooks.

use super::early_end::NotStarted;
use super::processed::ProcessedHookResult;
use crate::plan::Plan;
use hook_run::HookExecutionResult;

/// The outcome of an event: the result for the caller, and the result of each hook.
#[derive(Debug, Clone)]
pub struct PipelineOutcome {
    /// The result for the caller.
    pub processed: ProcessedHookResult,
    /// The result of each hook, in plan order.
    pub hooks: Vec<HookExecutionResult>,
    /// The hooks that were not started, because of an answer of an earlier priority.
    pub not_started: Vec<NotStarted>,
}

impl PipelineOutcome {
    /// Returns the outcome of an event without hooks.
    pub fn empty_success() -> Self {
        Self {
            processed: ProcessedHookResult::empty_success(),
            hooks: Vec::new(),
            not_started: Vec::new(),
        }
    }
}

/// The most bytes of hook inputs that the results of one event keep: the size limit of a message.
const MAX_INPUTS: usize = 64 << 20;

/// The results of a plan's hooks so far.
#[derive(Debug, Default)]
pub struct FinishedHooks {
    /// Results with their index in the plan, in completion order.
    pub(super) results: Vec<(usize, HookExecutionResult)>,
    /// In plan order.
    pub(super) not_started: Vec<NotStarted>,
    /// Warnings about hooks without a result.
    pub(super) warnings: Vec<String>,
}

impl FinishedHooks {
    pub(super) fn push(&mut self, plan: &Plan, index: usize, mut result: HookExecutionResult) {
        let number = plan.groups.iter().position(|group| group.hooks.contains(&index));
        if let Some(number) = number
            && let Some(group) = plan.groups.get(number)
        {
            result.group = (number, group.priority);
        }
        result.warnings.extend(plan.hooks.get(index).and_then(|hook| hook.warning.clone()));
        self.results.push((index, result));
    }

    /// Returns the results in plan order, with hook inputs up to [`MAX_INPUTS`] bytes.
    pub(super) fn in_order(mut self) -> (Vec<HookExecutionResult>, Vec<NotStarted>, Vec<String>) {
        self.results.sort_by_key(|(index, _)| *index);
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

    /// Removes and returns the results that `wanted` selects.
    pub(super) fn take(
        &mut self,
        mut is_wanted: impl FnMut(usize, &HookExecutionResult) -> bool,
    ) -> Vec<(usize, HookExecutionResult)> {
        self.results.extract_if(.., |(index, result)| is_wanted(*index, result)).collect()
    }
}

//! The result of one hook.

use std::time::Duration;

use super::identity::HookIdentity;
use super::report::ProcessReport;
use hook_json::RawObject;
use hook_json::text::first_and_last;
use hook_protocol::event::output::{HookOutput, PolicyDecision};
use hook_protocol::failure::HookFailure;

/// The result of one hook.
#[derive(Debug, Clone)]
pub struct HookExecutionResult {
    /// The hook.
    pub hook: HookIdentity,
    /// `true` if the hook exited with 0, or its handler answered.
    pub success: bool,
    /// The hook's output. Messages leave it out: they have the merged output of all hooks.
    pub output: Option<HookOutput>,
    /// The decision of the output; `None` without output, or if a message does not include it.
    pub decision: Option<PolicyDecision>,
    /// The reason of the failure, if the hook failed.
    pub failure: Option<HookFailure>,
    /// The exit and the output of the hook's process.
    pub process: ProcessReport,
    /// The run time.
    pub duration: Duration,
    /// The time the hook waited for a slot.
    pub queued: Duration,
    /// Warnings for the hook's author.
    pub warnings: Vec<String>,
    /// The hook's input, if it was started and
    /// [`RunScope::keeps_inputs`](crate::RunScope::keeps_inputs) is set.
    pub input: Option<RawObject>,
    /// The index of the hook's group in the plan, and its priority. Messages leave them out.
    pub group: (usize, i32),
    /// `true` if the hook explicitly allowed the request in the documented form and did not fail.
    pub grants: bool,
    /// `true` if the hook ran a second time because another hook had changed what it had approved.
    /// Times are then of both runs, and so are the changes in `output`; all else is of the second.
    pub rechecked: bool,
}

impl HookExecutionResult {
    /// Returns the warnings of this run for the caller: the failure, then the hook's warnings, each
    /// as `hook NAME: …`. A cancellation is not reported, as the caller caused it.
    pub fn caller_warnings(&self) -> impl Iterator<Item = String> {
        let failure = self.failure.iter().filter(|it| !matches!(it, HookFailure::Cancelled));
        let failure = failure.map(|it| first_and_last(&it.to_string()));
        let texts = failure.chain(self.warnings.iter().cloned());
        texts.map(|text| self.hook.format_warning(&text))
    }

    /// Checks whether the results of one request approve it: one hook does, and no hook that did
    /// not changed the arguments or failed.
    pub fn approve(hooks: &[Self]) -> bool {
        let changes = |hook: &Self| {
            hook.output.as_ref().is_some_and(|output| output.specific("tool_input").is_some())
        };
        let failed = |hook: &Self| {
            let failure = hook.failure.as_ref();
            failure.is_some_and(|failure| failure.is_error() || failure.not_run_reason().is_some())
        };
        let is_doubtful = hooks.iter().any(|hook| !hook.grants && (changes(hook) || failed(hook)));
        !is_doubtful && hooks.iter().any(|hook| hook.grants)
    }

    /// Returns `true` if the hook was ended by its timeout.
    pub fn timed_out(&self) -> bool {
        matches!(
            self.failure,
            Some(HookFailure::TimedOut { .. } | HookFailure::Received { timed_out: true, .. })
        )
    }
}

//! What became of one hook.

use std::time::Duration;

use super::identity::HookIdentity;
use super::report::ProcessReport;
use crate::event::output::{HookOutput, PolicyDecision};
use crate::failure::HookFailure;
use crate::json::RawObject;

/// What became of one hook.
#[derive(Debug, Clone)]
pub struct HookExecutionResult {
    /// The hook.
    pub hook: HookIdentity,
    /// Whether it did what it should: exit 0, or a handler's answer.
    pub success: bool,
    /// What it said. No message has it: there it is among what all hooks said.
    pub output: Option<HookOutput>,
    /// What it decided by what it said; `None` if it said nothing, or a message does not tell.
    pub decision: Option<PolicyDecision>,
    /// Why it failed, if it did.
    pub failure: Option<HookFailure>,
    /// How its process ended and what it wrote.
    pub process: ProcessReport,
    /// How long it ran.
    pub duration: Duration,
    /// How long it waited for a place to run.
    pub queued: Duration,
    /// What its author should know.
    pub warnings: Vec<String>,
    /// What it was told, if it was started and [`RunScope::keeps_inputs`](crate::RunScope::keeps_inputs).
    pub input: Option<RawObject>,
    /// Which group of its plan it ran in, from 0, and the priority of that. No message has them.
    pub group: (usize, i32),
    /// Whether it said itself that it allows what it was asked about, exactly as documented, and did
    /// not fail.
    pub grants: bool,
    /// Whether it ran a second time, because another hook had changed what it had approved. All
    /// but the changes in `output` is then of the second run; times are of both.
    pub asked_again: bool,
}

impl HookExecutionResult {
    /// Whether these results of one request approve what was asked about: one does, and of what it was sent no
    /// other hook changed the arguments, or failed to say something.
    #[doc(hidden)]
    pub fn approve(hooks: &[Self]) -> bool {
        let changes = |hook: &Self| {
            hook.output.as_ref().is_some_and(|output| output.specific("tool_input").is_some())
        };
        let failed = |hook: &Self| {
            let failure = hook.failure.as_ref();
            failure.is_some_and(|failure| failure.is_error() || failure.not_run().is_some())
        };
        let is_doubtful = hooks.iter().any(|hook| !hook.grants && (changes(hook) || failed(hook)));
        !is_doubtful && hooks.iter().any(|hook| hook.grants)
    }

    /// Whether it was ended by its timeout.
    pub fn timed_out(&self) -> bool {
        matches!(
            self.failure,
            Some(HookFailure::TimedOut { .. } | HookFailure::Told { timed_out: true, .. })
        )
    }
}

//! Turns a run into the hook's result: applies `failBehavior` and notifies the observer.

use std::time::Duration;

use super::answer::Answer;
use super::executor::Run;
use super::result::HookExecutionResult;
use super::scope::RunScope;
use super::spec::HookSpec;
use hook_protocol::event::HookEventName;
use hook_protocol::event::input::HookInput;
use hook_protocol::event::output::{Decision, HookOutput, PolicyDecision};
use hook_protocol::failure::HookFailure;
use hook_settings::{DEFAULT_PRIORITY, FailBehavior};

/// The time a hook waited and ran.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Timing {
    pub(super) duration: Duration,
    pub(super) queued: Duration,
}

/// The input of a hook, and whether it was started.
pub(super) struct RunInput {
    pub(super) input: HookInput,
    pub(super) was_started: bool,
}

/// Turns a run into the hook's result: applies `failBehavior` and notifies the observer.
pub(crate) fn finish(
    hook: &HookSpec,
    run: Run,
    timing: Timing,
    run_input: &RunInput,
    scope: &RunScope,
) -> HookExecutionResult {
    let Answer { mut output, mut failure, mut warnings, invalid, is_explicit } = run.answer;
    warnings.splice(0..0, hook.warnings.iter().cloned());
    let unapplied =
        output.as_mut().map(|output| output.take_unapplied(&run_input.input)).unwrap_or_default();
    let mut invalid = invalid.into_iter().chain(unapplied);
    // Hooks of other agents guard their tools, but their settings have no `failBehavior`.
    let is_missed_guard = hook.executor.foreign().is_some()
        && hook.event.is_before_tool()
        && failure.as_ref().is_some_and(HookFailure::is_missed_start);
    if hook.fail_behavior == FailBehavior::Block || is_missed_guard {
        if failure.is_none()
            && let Some(first) = invalid.next()
        {
            failure = Some(HookFailure::InvalidAnswer(first.answer));
            // The decision is unknown, so only the restricting parts of the output count.
            output = output.map(|output| output.restriction(hook.event));
        }
        if let Some(failure) = &failure {
            output = Some(deny_for_failure(hook, failure, output));
        }
    }
    warnings.extend(invalid.filter_map(|invalid| invalid.warning));
    warnings.extend(output.as_ref().and_then(|output| ineffective_decision(hook.event, output)));
    if let Some(output) = &output {
        warnings.append(&mut output.mistakes(hook.event));
    }
    let success = failure.is_none() && matches!(run.process.exit_code, None | Some(0));
    let result = HookExecutionResult {
        hook: hook.identity.clone(),
        success,
        grants: success
            && is_explicit
            && output.as_ref().is_some_and(|output| approves(hook, output, &run_input.input)),
        decision: output.as_ref().map(|output| output.policy(hook.event)),
        output,
        failure,
        process: run.process,
        duration: timing.duration,
        queued: timing.queued,
        warnings,
        input: run_input.was_started.then(|| scope.kept_input(&run_input.input)).flatten(),
        group: (0, DEFAULT_PRIORITY),
        rechecked: scope.is_recheck,
    };
    if let Some(observer) = &scope.observer {
        observer.hook_finished(&result, run_input.was_started.then_some(&run_input.input));
    }
    result
}

/// Checks whether an answer spares the user a question: an explicit approval of a hook in the
/// user's settings, by its agent's rules. In some agents, silent guards answer the same.
fn approves(hook: &HookSpec, output: &HookOutput, input: &HookInput) -> bool {
    let is_approval = match hook.executor.foreign() {
        None => {
            let kind = input.tool_kind();
            let is_requested = kind.is_none_or(|kind| hook.kinds.contains(&kind));
            (hook.kinds.is_empty() || is_requested) && output.approves(hook.event)
        }
        Some(foreign) => {
            let agent = input.original.as_deref().map(|asked| asked.agent);
            agent == Some(foreign.language.name()) || foreign.language.approves(foreign)
        }
    };
    hook.may_approve && is_approval && output.allows(hook.event)
}

/// Returns a warning for a decision that has no effect on the event.
fn ineffective_decision(event: HookEventName, output: &HookOutput) -> Option<String> {
    let row = event.row();
    let decision = output.requested_policy(event);
    let is_ineffective = match decision {
        PolicyDecision::Proceed => false,
        PolicyDecision::Block => row.block_means.is_none(),
        PolicyDecision::Retry => row.retry_means.is_none(),
        PolicyDecision::Ask | PolicyDecision::Stop => row.merge.is_observe_only(),
    };
    is_ineffective.then(|| {
        let article = if decision == PolicyDecision::Ask { "an" } else { "a" };
        format!("{article} {} has no effect on {event}", decision.as_str())
    })
}

/// Denies on behalf of a failed hook with `failBehavior: block`, whatever its output was.
fn deny_for_failure(
    hook: &HookSpec,
    failure: &HookFailure,
    answer: Option<HookOutput>,
) -> HookOutput {
    let mut output = answer.unwrap_or_default();
    if output.policy(hook.event) < PolicyDecision::Block {
        output.decision = Some(Decision::Deny);
        let name = hook.display_name();
        output.reason = Some(match failure {
            // Nothing failed; the user has to decide first.
            HookFailure::Untrusted { .. }
            | HookFailure::TrustedCopy { .. }
            | HookFailure::UntrustedFromDirectory { .. }
            | HookFailure::NotInSettings { .. }
            | HookFailure::BrokenSettings { .. } => {
                format!("blocked, because the guard `{name}` could not check this: {failure}")
            }
            _ => match failure.not_run_reason() {
                Some(reason) => format!("hook {name} did not run: {reason}"),
                None => format!("hook {name} failed: {failure}"),
            },
        });
    }
    output
}

//! One tool call on several files, for a hook that handles one file per call.

use std::time::Instant;

use super::answer::Answer;
use super::executor::{HookCall, HookExecutor, Run};
use hook_json::{RawJson, RawObject};
use hook_protocol::event::HookEventName;
use hook_protocol::event::input::EventInput;
use hook_protocol::event::output::{Decision, HookOutput, PolicyDecision};
use hook_protocol::failure::{HookFailure, InvalidAnswer};
use hook_settings::language::PartialCall;

/// Calls a hook for each part in turn, all within the call's timeout. `of` is the number of parts
/// of the whole call. Before a tool runs, the first denial denies the whole call.
pub(super) async fn run(
    executor: &dyn HookExecutor,
    call: &HookCall,
    parts: &[PartialCall],
    total: usize,
) -> Run {
    let event = call.input.event();
    let deadline = Instant::now() + call.timeout;
    let mut whole = Run::default();
    let mut changed = Vec::new();
    let mut approved = 0;
    for part in parts {
        let remaining = deadline.saturating_duration_since(Instant::now());
        if remaining.is_zero() {
            let failure = HookFailure::TimedOut { after: call.timeout };
            whole.answer.failure.get_or_insert(failure);
            break;
        }
        let part_call = call.with_input(part.input.clone(), remaining);
        let mut run = executor.execute(part_call).finished().await;
        if let Some(HookFailure::TimedOut { after }) = &mut run.answer.failure {
            *after = call.timeout;
        }
        let output = run.answer.output.as_ref();
        let is_denial = output.is_some_and(|answer| answer.policy(event) > PolicyDecision::Ask);
        if is_denial && event.is_before_tool() {
            run.answer.warnings.splice(0..0, whole.answer.warnings);
            return run;
        }
        let has_ended = matches!(
            run.answer.failure,
            Some(HookFailure::TimedOut { .. } | HookFailure::Cancelled)
        );
        if let Some(output) = &mut run.answer.output {
            approved += usize::from(part.may_be_approved() && output.allows(event));
            changed.extend(changed_arguments(part, output).map(|arguments| (part, arguments)));
        }
        merge_run(event, &mut whole, run);
        if has_ended {
            break;
        }
    }
    if let Some(output) = &mut whole.answer.output
        && approved < total
    {
        withdraw_approval(output);
    }
    merge_arguments(&call.input, changed, &mut whole.answer);
    whole
}

/// Removes the change of its part's arguments from an answer, and returns the new arguments.
fn changed_arguments(part: &PartialCall, output: &mut HookOutput) -> Option<RawObject> {
    let mut next = EventInput::clone(&part.input);
    next.payload.apply(output);
    if let Some(specific) = &mut output.hook_specific_output {
        specific.remove("tool_input");
        specific.remove("toolInputReplaces");
    }
    let changed = next
        .payload
        .tool_input()
        .filter(|arguments| Some(*arguments) != part.input.payload.tool_input());
    changed.cloned()
}

/// Merges the changed arguments of parts into the whole call. If that is impossible, the hook has
/// failed: it meant the tool to run with other arguments.
fn merge_arguments(
    input: &EventInput,
    changed: Vec<(&PartialCall, RawObject)>,
    answer: &mut Answer,
) {
    let Some(mut whole) = input.payload.tool_input().cloned().filter(|_| !changed.is_empty())
    else {
        return;
    };
    // In reverse order, so that earlier positions stay valid.
    for (part, arguments) in changed.into_iter().rev() {
        match part.put_back(&whole, &arguments) {
            Some(new) => whole = new,
            None => {
                let reason =
                    "it changed the arguments of one file, which cannot be put back into a \
                              call on several"
                        .to_owned();
                let hint = "deny, and say what to write instead".to_owned();
                let failure = HookFailure::InvalidAnswer(InvalidAnswer::new(reason, hint));
                answer.failure.get_or_insert(failure);
                return;
            }
        }
    }
    let output = answer.output.take().unwrap_or_default();
    let output = output.with_specific("tool_input", whole);
    answer.output = Some(output.with_specific("toolInputReplaces", RawJson::from_bool(true)));
}

/// Adds the outcome of one part to that of the whole.
fn merge_run(event: HookEventName, whole: &mut Run, run: Run) {
    let Answer { output, failure, warnings, invalid, is_explicit } = run.answer;
    let answer = &mut whole.answer;
    answer.output = match (answer.output.take(), output) {
        (Some(before), Some(output)) => Some(merge_outputs(event, before, output)),
        (before, output) => before.or(output),
    };
    if let Some(failure) = failure {
        answer.failure.get_or_insert(failure);
    }
    for warning in warnings {
        if !answer.warnings.contains(&warning) {
            answer.warnings.push(warning);
        }
    }
    answer.invalid.extend(invalid);
    answer.is_explicit |= is_explicit;
    whole.process = run.process;
}

/// Removes the approval from an answer, because one part was not approved.
fn withdraw_approval(output: &mut HookOutput) {
    output.decision.take_if(|decision| matches!(decision, Decision::Allow | Decision::Approve));
    if let Some(specific) = &mut output.hook_specific_output {
        let allows = |value: &RawJson| value.to_text().as_deref() == Some("allow");
        if specific.get("permissionDecision").is_some_and(allows) {
            specific.remove("permissionDecision");
            specific.remove("permissionDecisionReason");
        }
    }
}

/// Joins two answers: the stricter decision, and the texts of both.
fn merge_outputs(event: HookEventName, one: HookOutput, other: HookOutput) -> HookOutput {
    let both = |one: Option<String>, other: Option<String>| match (one, other) {
        (Some(one), Some(other)) if one != other => Some(format!("{one}\n{other}")),
        (one, other) => one.or(other),
    };
    let context = both(one.additional_context(), other.additional_context());
    let is_stricter = other.policy(event) > one.policy(event);
    // The stricter answer keeps everything it says; it may stop the agent.
    let (mut merged, weaker) = if is_stricter { (other, one) } else { (one, other) };
    let mut specific = weaker.hook_specific_output.unwrap_or_default();
    specific.merge(&merged.hook_specific_output.take().unwrap_or_default());
    merged.hook_specific_output = (!specific.is_empty()).then_some(specific);
    merged.reason = both(merged.reason.take(), weaker.reason);
    merged.system_message = both(merged.system_message.take(), weaker.system_message);
    merged.decision = merged.decision.take().or(weaker.decision);
    match context {
        Some(context) => merged.with_additional_context(&context),
        None => merged,
    }
}

//! Second calls of guards whose approval went stale (reference/events.md, "Asking again").
//!
//! A guard approves the input it received. If another hook of the plan changes that input, the
//! guard is called again with the input that will run. A guard whose matcher names paths or
//! commands, and that did not match the original input, is called if the changed input matches.

use futures::stream::{FuturesUnordered, StreamExt};

use super::finished::FinishedHooks;
use crate::plan::{Hook, HookRegistry, Plan};
use hook_json::JsonObject;
use hook_protocol::event::EventPayload;
use hook_protocol::event::input::{EventInput, HookInput};
use hook_protocol::event::output::{HookOutput, PolicyDecision};
use hook_run::{HookExecutionResult, RunScope, Runner, RunnerGone};
use hook_settings::FailBehavior;
use hook_settings::language::ForeignCommand;

/// The inputs that the hooks of a plan received.
pub(super) struct ReceivedInputs {
    /// The event's input.
    input: HookInput,
    /// Guards that received another input, by index in the plan.
    changed: Vec<(usize, HookInput)>,
    /// Payloads that guards approved, including other hooks' changes, by index in the plan.
    approved: Vec<(usize, EventPayload)>,
}

impl ReceivedInputs {
    pub(super) fn new(input: HookInput) -> Self {
        Self { input, changed: Vec::new(), approved: Vec::new() }
    }

    pub(super) fn input(&self) -> &HookInput {
        &self.input
    }

    /// Records the input of a guard if it differs from the event's.
    pub(super) fn record(&mut self, plan: &Plan, index: usize, input: &HookInput) {
        if is_guard(plan, index) && !input.ptr_eq(&self.input) {
            self.changed.push((index, input.clone()));
        }
    }

    /// Returns the payload that a guard approved with its own changes, if it changed its input.
    pub(super) fn approved_by(
        &self,
        plan: &Plan,
        index: usize,
        result: &HookExecutionResult,
    ) -> Option<EventPayload> {
        let output = result.output.as_ref().filter(|_| is_guard(plan, index))?;
        plan.event.row().chain.is_changed_by(output).then(|| self.approved(index, result))
    }

    /// Records an approved payload.
    pub(super) fn record_approved(&mut self, index: usize, approved: Option<EventPayload>) {
        self.approved.extend(approved.map(|approved| (index, approved)));
    }

    /// Returns the payload that a guard approved: its input with its own changes.
    fn approved(&self, index: usize, result: &HookExecutionResult) -> EventPayload {
        if let Some((_, approved)) = self.approved.iter().find(|(known, _)| *known == index) {
            return approved.clone();
        }
        let mut payload = self.input_of(index).payload.clone();
        if let Some(output) = result.output.as_ref().filter(|_| result.success) {
            payload.apply(output);
        }
        payload
    }

    fn input_of(&self, index: usize) -> &HookInput {
        let changed = self.changed.iter().find(|(changed, _)| *changed == index);
        changed.map_or(&self.input, |(_, input)| input)
    }
}

/// Checks whether a hook is a guard, or a foreign hook that may refuse a tool.
fn is_guard(plan: &Plan, index: usize) -> bool {
    let hook = plan.hooks.get(index).map(|planned| &planned.hook);
    // Registered foreign hooks run concurrently with others and expect changes to their answers.
    let is_foreign = |hook: &Hook| {
        hook.spec.executor.foreign().is_some_and(|home| home.command != ForeignCommand::Registered)
    };
    hook.is_some_and(|hook| {
        hook.fail_behavior == FailBehavior::Block || plan.event.is_before_tool() && is_foreign(hook)
    })
}

/// Calls guards again whose input differs from what will run, and applies the new verdicts.
///
/// Ready at once if the plan is inline. If no hook changed anything, this only looks at the
/// results.
pub(super) async fn recheck_guards(
    (registry, runner): (&HookRegistry, &Runner),
    plan: &Plan,
    received: ReceivedInputs,
    scope: &RunScope,
    finished: &mut FinishedHooks,
) -> Result<(), RunnerGone> {
    let Some(payload) = changed_payload(plan, &received, finished) else { return Ok(()) };
    let mut stale = finished
        .take(|index, result| is_guard(plan, index) && received.approved(index, result) != payload);
    let changed = EventInput { payload, ..EventInput::clone(&received.input) };
    let late = match plan.has_unmatched_guards() {
        true => registry.late_guards(plan, &changed),
        false => Vec::new(),
    };
    if stale.is_empty() && late.is_empty() {
        return Ok(());
    }
    let input = HookInput::new(changed);
    // Late guards form one more group behind all others.
    let number = plan.groups.len();
    for (index, guard) in late.into_iter().enumerate() {
        let started = runner.start(&guard.hook.spec, input.clone(), scope);
        let mut result = into_verdict(started.finish().await?, &input);
        result.warnings.extend(guard.warning);
        result.group = (number, guard.hook.priority);
        let ends = result.decision >= Some(PolicyDecision::Retry);
        finished.results.push((plan.hooks.len() + index, result));
        if ends {
            // The event is forbidden already, so the stale guards need no second call.
            finished.results.append(&mut stale);
            return Ok(());
        }
    }
    stale.sort_by_key(|(index, _)| *index);
    let scope = RunScope { is_recheck: true, ..scope.clone() };
    let start = |(index, first): (usize, HookExecutionResult)| {
        // The index comes from this plan, so it is valid.
        let hook = &plan.hooks[index].hook.spec;
        let started = runner.start(hook, input.clone(), &scope);
        async move { (index, first, started.finish().await) }
    };
    let mut stale = stale.into_iter().peekable();
    for group in &plan.groups {
        // Start the whole group before awaiting its first hook.
        let mut running = FuturesUnordered::new();
        while let Some(guard) = stale.next_if(|(index, _)| group.hooks.contains(index)) {
            running.push(start(guard));
        }
        while let Some((index, first, second)) = running.next().await {
            finished.results.push((index, merged(first, second?, &input)));
        }
    }
    Ok(())
}

/// Returns the payload that will run, if a hook changed it and no hook forbids it.
fn changed_payload(
    plan: &Plan,
    received: &ReceivedInputs,
    finished: &FinishedHooks,
) -> Option<EventPayload> {
    let chain = plan.event.row().chain;
    let mut changes = Vec::new();
    for (index, result) in &finished.results {
        let Some(output) = &result.output else { continue };
        if result.success && chain.is_changed_by(output) {
            changes.push((*index, output));
        }
    }
    if changes.is_empty() {
        return None;
    }
    let outputs = finished.results.iter().filter_map(|(_, result)| result.output.as_ref());
    if outputs.map(|output| output.policy(plan.event)).max() >= Some(PolicyDecision::Retry) {
        return None;
    }
    changes.sort_by_key(|(index, _)| *index);
    let mut payload = received.input.payload.clone();
    for (_, output) in changes {
        payload.apply(output);
    }
    Some(payload)
}

/// Turns the result of a late guard into a verdict: its changes are no longer applied.
fn into_verdict(result: HookExecutionResult, input: &HookInput) -> HookExecutionResult {
    let mut warnings = result.warnings;
    let changed = result.output.as_ref().filter(|_| result.success);
    warnings.extend(changed.and_then(|output| late_change_warning(output, input)));
    let fields = input.event().row().chain.fields();
    let output = merged_output(None, result.output, fields);
    HookExecutionResult { decision: decision_of(input, &output), output, warnings, ..result }
}

fn decision_of(input: &HookInput, output: &Option<HookOutput>) -> Option<PolicyDecision> {
    output.as_ref().map(|output| output.policy(input.event()))
}

/// Returns a warning if the output changes the input, which is too late.
fn late_change_warning(output: &HookOutput, input: &HookInput) -> Option<String> {
    let chain = input.event().row().chain;
    let mut changed = input.payload.clone();
    changed.apply(output);
    (changed != input.payload).then(|| {
        format!(
            "asked about what the hooks of this event made of the input, the hook changed it once \
             more; that change of `{}` was not applied",
            chain.fields().join("`, `")
        )
    })
}

/// Merges both runs of a guard: the verdict of the second, the changes of the first.
fn merged(
    first: HookExecutionResult,
    second: HookExecutionResult,
    input: &HookInput,
) -> HookExecutionResult {
    let chain = input.event().row().chain;
    let mut warnings = first.warnings;
    for warning in second.warnings {
        if !warnings.contains(&warning) {
            warnings.push(warning);
        }
    }
    if second.success
        && let Some(output) = &second.output
    {
        let mut changed = input.payload.clone();
        changed.apply(output);
        if changed != input.payload {
            warnings.push(format!(
                "asked again about what the hooks of this event made of the input, the hook \
                 changed it once more; that change of `{}` was not applied",
                chain.fields().join("`, `")
            ));
        }
    }
    let output = merged_output(first.output, second.output, chain.fields());
    HookExecutionResult {
        group: first.group,
        success: first.success && second.success,
        decision: decision_of(input, &output),
        output,
        duration: first.duration + second.duration,
        queued: first.queued + second.queued,
        warnings,
        ..second
    }
}

/// Merges both answers: the verdict of the second with the changes of the first, which are applied
/// already. Other fields that both set come from the second.
fn merged_output(
    first: Option<HookOutput>,
    second: Option<HookOutput>,
    changed: &[&str],
) -> Option<HookOutput> {
    let Some(first) = first else {
        return second.map(|mut output| {
            if let Some(specific) = &mut output.hook_specific_output {
                for field in changed {
                    specific.remove(field);
                }
            }
            output
        });
    };
    let second = second.unwrap_or_default();
    let mut extra = first.extra;
    extra.merge(&second.extra);
    let specific = match (first.hook_specific_output, second.hook_specific_output) {
        (None, None) => None,
        (first, second) => {
            let mut specific = first.unwrap_or_default();
            specific.remove("permissionDecision");
            specific.remove("permissionDecisionReason");
            let second_fields = second.as_ref().into_iter().flat_map(JsonObject::iter);
            for (name, value) in second_fields.filter(|(name, _)| !changed.contains(name)) {
                specific.insert(name, value.clone());
            }
            Some(specific)
        }
    };
    Some(HookOutput {
        should_continue: second.should_continue,
        stop_reason: second.stop_reason,
        decision: second.decision,
        reason: second.reason,
        retry_after: second.retry_after,
        skip_remaining: second.skip_remaining.or(first.skip_remaining),
        system_message: second.system_message.or(first.system_message),
        suppress_output: second.suppress_output.or(first.suppress_output),
        hook_specific_output: specific,
        extra,
    })
}

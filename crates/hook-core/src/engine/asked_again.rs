//! Second calls of guards whose approval went stale (protocol.md §2, "Asking again").
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
pub(super) struct Told {
    /// The event's input.
    input: HookInput,
    /// Guards that received another input, by index in the plan.
    changed: Vec<(usize, HookInput)>,
    /// Payloads that guards approved, including other hooks' changes, by index in the plan.
    approved: Vec<(usize, EventPayload)>,
}

impl Told {
    pub(super) fn new(input: HookInput) -> Self {
        Self { input, changed: Vec::new(), approved: Vec::new() }
    }

    pub(super) fn input(&self) -> &HookInput {
        &self.input
    }

    /// Records the input of a guard if it differs from the event's.
    pub(super) fn note(&mut self, plan: &Plan, place: usize, input: &HookInput) {
        if is_guard(plan, place) && !input.is_same(&self.input) {
            self.changed.push((place, input.clone()));
        }
    }

    /// Returns the payload that a guard approved with its own changes, if it changed its input.
    pub(super) fn approved_by(
        &self,
        plan: &Plan,
        place: usize,
        result: &HookExecutionResult,
    ) -> Option<EventPayload> {
        let output = result.output.as_ref().filter(|_| is_guard(plan, place))?;
        plan.event.row().chain.concerns(output).then(|| self.approved(place, result))
    }

    /// Records an approved payload.
    pub(super) fn note_approved(&mut self, place: usize, approved: Option<EventPayload>) {
        self.approved.extend(approved.map(|approved| (place, approved)));
    }

    /// Returns the payload that a guard approved: its input with its own changes.
    fn approved(&self, place: usize, result: &HookExecutionResult) -> EventPayload {
        if let Some((_, approved)) = self.approved.iter().find(|(known, _)| *known == place) {
            return approved.clone();
        }
        let mut payload = self.of(place).payload.clone();
        if let Some(output) = result.output.as_ref().filter(|_| result.success) {
            payload.apply(output);
        }
        payload
    }

    fn of(&self, place: usize) -> &HookInput {
        let changed = self.changed.iter().find(|(changed, _)| *changed == place);
        changed.map_or(&self.input, |(_, input)| input)
    }
}

/// Checks whether a hook is a guard, or a foreign hook that may refuse a tool.
fn is_guard(plan: &Plan, place: usize) -> bool {
    let hook = plan.hooks.get(place).map(|planned| &planned.hook);
    // Registered foreign hooks run concurrently with others and expect changes to their answers.
    let is_foreign = |hook: &Hook| {
        hook.spec.executor.home().is_some_and(|home| home.command != ForeignCommand::Called)
    };
    hook.is_some_and(|hook| {
        hook.fail_behavior == FailBehavior::Block
            || plan.event.is_before_a_tool() && is_foreign(hook)
    })
}

/// Calls guards again whose input differs from what will run, and applies the new verdicts.
///
/// Ready at once if the plan is inline. If no hook changed anything, this only looks at the
/// results.
pub(super) async fn ask_again(
    (registry, runner): (&HookRegistry, &Runner),
    plan: &Plan,
    told: Told,
    scope: &RunScope,
    finished: &mut FinishedHooks,
) -> Result<(), RunnerGone> {
    let Some(payload) = changed_payload(plan, &told, finished) else { return Ok(()) };
    let mut stale = finished
        .take(|place, result| is_guard(plan, place) && told.approved(place, result) != payload);
    let changed = EventInput { payload, ..EventInput::clone(&told.input) };
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
        let mut result = verdict_of(started.finish().await?, &input);
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
    stale.sort_by_key(|(place, _)| *place);
    let scope = RunScope { asked_again: true, ..scope.clone() };
    let start = |(place, first): (usize, HookExecutionResult)| {
        // The index comes from this plan, so it is valid.
        let hook = &plan.hooks[place].hook.spec;
        let started = runner.start(hook, input.clone(), &scope);
        async move { (place, first, started.finish().await) }
    };
    let mut stale = stale.into_iter().peekable();
    for group in &plan.groups {
        // Start the whole group before awaiting its first hook.
        let mut running = FuturesUnordered::new();
        while let Some(guard) = stale.next_if(|(place, _)| group.hooks.contains(place)) {
            running.push(start(guard));
        }
        while let Some((place, first, again)) = running.next().await {
            finished.results.push((place, merged(first, again?, &input)));
        }
    }
    Ok(())
}

/// Returns the payload that will run, if a hook changed it and no hook forbids it.
fn changed_payload(plan: &Plan, told: &Told, finished: &FinishedHooks) -> Option<EventPayload> {
    let chain = plan.event.row().chain;
    let mut changes = Vec::new();
    for (place, result) in &finished.results {
        let Some(output) = &result.output else { continue };
        if result.success && chain.concerns(output) {
            changes.push((*place, output));
        }
    }
    if changes.is_empty() {
        return None;
    }
    let outputs = finished.results.iter().filter_map(|(_, result)| result.output.as_ref());
    if outputs.map(|output| output.policy(plan.event)).max() >= Some(PolicyDecision::Retry) {
        return None;
    }
    changes.sort_by_key(|(place, _)| *place);
    let mut payload = told.input.payload.clone();
    for (_, output) in changes {
        payload.apply(output);
    }
    Some(payload)
}

/// Turns the result of a late guard into a verdict: its changes are no longer applied.
fn verdict_of(result: HookExecutionResult, input: &HookInput) -> HookExecutionResult {
    let mut warnings = result.warnings;
    let changed = result.output.as_ref().filter(|_| result.success);
    warnings.extend(changed.and_then(|output| warning_of_change(output, input)));
    let fields = input.event().row().chain.fields();
    let output = merged_output(None, result.output, fields);
    HookExecutionResult { decision: decision_of(input, &output), output, warnings, ..result }
}

fn decision_of(input: &HookInput, output: &Option<HookOutput>) -> Option<PolicyDecision> {
    output.as_ref().map(|output| output.policy(input.event()))
}

/// Returns a warning if the output changes the input, which is too late.
fn warning_of_change(output: &HookOutput, input: &HookInput) -> Option<String> {
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
    again: HookExecutionResult,
    input: &HookInput,
) -> HookExecutionResult {
    let chain = input.event().row().chain;
    let mut warnings = first.warnings;
    for warning in again.warnings {
        if !warnings.contains(&warning) {
            warnings.push(warning);
        }
    }
    if again.success
        && let Some(output) = &again.output
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
    let output = merged_output(first.output, again.output, chain.fields());
    HookExecutionResult {
        group: first.group,
        success: first.success && again.success,
        decision: decision_of(input, &output),
        output,
        duration: first.duration + again.duration,
        queued: first.queued + again.queued,
        warnings,
        ..again
    }
}

/// Merges both answers: the verdict of the second with the changes of the first, which are applied
/// already. Other fields that both set come from the second.
fn merged_output(
    first: Option<HookOutput>,
    again: Option<HookOutput>,
    changed: &[&str],
) -> Option<HookOutput> {
    let Some(first) = first else {
        return again.map(|mut again| {
            if let Some(specific) = &mut again.hook_specific_output {
                for field in changed {
                    specific.remove(field);
                }
            }
            again
        });
    };
    let again = again.unwrap_or_default();
    let mut extra = first.extra;
    extra.overlay(&again.extra);
    let specific = match (first.hook_specific_output, again.hook_specific_output) {
        (None, None) => None,
        (first, again) => {
            let mut specific = first.unwrap_or_default();
            specific.remove("permissionDecision");
            specific.remove("permissionDecisionReason");
            let again = again.as_ref().into_iter().flat_map(JsonObject::iter);
            for (name, value) in again.filter(|(name, _)| !changed.contains(name)) {
                specific.insert(name, value.clone());
            }
            Some(specific)
        }
    };
    Some(HookOutput {
        should_continue: again.should_continue,
        stop_reason: again.stop_reason,
        decision: again.decision,
        reason: again.reason,
        retry_after: again.retry_after,
        skip_remaining: again.skip_remaining.or(first.skip_remaining),
        system_message: again.system_message.or(first.system_message),
        suppress_output: again.suppress_output.or(first.suppress_output),
        hook_specific_output: specific,
        extra,
    })
}

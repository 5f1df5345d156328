//! Asking guards again whose approval went stale (protocol.md §2, "Asking again").
//!
//! A guard says yes to what it was told. If another hook of the plan changes that, the guard has
//! not seen what will run, and is asked once more. A guard whose matcher asks about paths or commands,
//! and that was not asked because the input had none of those, is asked if what will run has them.

use futures::stream::{FuturesUnordered, StreamExt};

use super::finished::FinishedHooks;
use crate::event::EventPayload;
use crate::event::input::{EventInput, HookInput};
use crate::event::output::{HookOutput, PolicyDecision};
use crate::json::JsonObject;
use crate::language::ForeignCommand;
use crate::plan::{Hook, HookRegistry, Plan};
use crate::run::{HookExecutionResult, RunScope, Runner, RunnerGone};
use crate::settings::FailBehavior;

/// What the hooks of a plan were told.
pub(super) struct Told {
    /// The input of the event.
    input: HookInput,
    /// By their place in the plan, guards that were told something else.
    changed: Vec<(usize, HookInput)>,
    /// Likewise, what guards have approved whose answers count with the changes of others in them.
    approved: Vec<(usize, EventPayload)>,
}

impl Told {
    pub(super) fn new(input: HookInput) -> Self {
        Self { input, changed: Vec::new(), approved: Vec::new() }
    }

    pub(super) fn input(&self) -> &HookInput {
        &self.input
    }

    /// A hook was told what those before it had made of the input.
    pub(super) fn note(&mut self, plan: &Plan, place: usize, input: &HookInput) {
        if is_guard(plan, place) && !input.is_same(&self.input) {
            self.changed.push((place, input.clone()));
        }
    }

    /// What a guard has approved that changed what it was told: that, with its own changes.
    pub(super) fn approved_by(
        &self,
        plan: &Plan,
        place: usize,
        result: &HookExecutionResult,
    ) -> Option<EventPayload> {
        let output = result.output.as_ref().filter(|_| is_guard(plan, place))?;
        plan.event.row().chain.concerns(output).then(|| self.approved(place, result))
    }

    /// Notes that, where the guard's answer says more.
    pub(super) fn note_approved(&mut self, place: usize, approved: Option<EventPayload>) {
        self.approved.extend(approved.map(|approved| (place, approved)));
    }

    /// What a guard has approved: what it was told, with its own changes.
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

/// Whether a hook is a guard, or another agent's that may refuse a tool.
fn is_guard(plan: &Plan, place: usize) -> bool {
    let hook = plan.hooks.get(place).map(|planned| &planned.hook);
    // What is registered is asked at once with others, and knows that its answer may be changed.
    let is_foreign = |hook: &Hook| {
        hook.spec.executor.home().is_some_and(|home| home.command != ForeignCommand::Called)
    };
    hook.is_some_and(|hook| {
        hook.fail_behavior == FailBehavior::Block
            || plan.event.is_before_a_tool() && is_foreign(hook)
    })
}

/// Asks those guards again that were not told what will run, and lets that verdict count.
///
/// Ready at once where the plan is inline. Costs nothing but a look at each result where no
/// hook changed anything.
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
    // They run behind all groups, as one more.
    let number = plan.groups.len();
    for (index, guard) in late.into_iter().enumerate() {
        let started = runner.start(&guard.hook.spec, input.clone(), scope);
        let mut result = verdict_of(started.finish().await?, &input);
        result.warnings.extend(guard.warning);
        result.group = (number, guard.hook.priority);
        let ends = result.decision >= Some(PolicyDecision::Retry);
        finished.results.push((plan.hooks.len() + index, result));
        if ends {
            // What it forbids nobody needs to be asked about.
            finished.results.append(&mut stale);
            return Ok(());
        }
    }
    stale.sort_by_key(|(place, _)| *place);
    let scope = RunScope { asked_again: true, ..scope.clone() };
    let start = |(place, first): (usize, HookExecutionResult)| {
        // That it is a guard of the plan is why it is here.
        let hook = &plan.hooks[place].hook.spec;
        let started = runner.start(hook, input.clone(), &scope);
        async move { (place, first, started.finish().await) }
    };
    let mut stale = stale.into_iter().peekable();
    for group in &plan.groups {
        // All of a group are started before the first is awaited.
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

/// What will run, where a hook changed it and nothing forbids that it runs.
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

/// What a guard says that was not asked before: its changes are not applied any more.
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

/// That a change comes too late, if there is one.
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

/// Both runs of a guard as one result: the second verdict, the first changes.
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

/// The verdict of the second answer; the changes of the first, which have been applied; of what
/// both say, the second.
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

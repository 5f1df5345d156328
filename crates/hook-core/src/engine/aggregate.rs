//! Aggregation: merges the outputs of hooks by the event's merge strategy (reference/answers.md).

use std::borrow::Cow;
use std::time::Duration;

use hook_json::{JsonObject, ObjectWriter, RawJson};
use hook_protocol::event::output::{Decision, HookOutput, PolicyDecision};
use hook_protocol::event::{HookEventName, MergeStrategy, narrow_tool_config};
use hook_protocol::model::ToolConfig;
use hook_run::HookExecutionResult;

/// The combined outputs of all hooks of one event. `success` describes their health, not policy
/// (architecture.md, invariant 7).
#[derive(Debug, Clone, PartialEq)]
pub struct AggregatedHookResult {
    /// `true` if every hook succeeded without an error.
    pub success: bool,
    /// The merged output; `None` if no hook returned one.
    pub final_output: Option<Box<HookOutput>>,
    /// The output of each hook, in plan order, without the hooks that returned none.
    pub all_outputs: Vec<HookOutput>,
    /// The errors of hooks and stages.
    pub errors: Vec<ErrorReport>,
    /// The sum of the hooks' durations.
    pub total_duration: Duration,
}

/// A reported error.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ErrorReport {
    /// The error message.
    pub message: String,
    /// The hook that failed.
    pub hook: Option<String>,
    /// The stage that failed.
    pub stage: Option<Cow<'static, str>>,
}

impl AsRef<[HookOutput]> for AggregatedHookResult {
    fn as_ref(&self) -> &[HookOutput] {
        &self.all_outputs
    }
}

impl AggregatedHookResult {
    /// Returns the result of an event without hooks.
    pub fn empty_success() -> Self {
        Self {
            success: true,
            final_output: None,
            all_outputs: Vec::new(),
            errors: Vec::new(),
            total_duration: Duration::ZERO,
        }
    }

    /// Returns the result of an event for which a stage of the pipeline failed.
    pub(crate) fn failed(error: ErrorReport) -> Self {
        Self { success: false, errors: vec![error], ..Self::empty_success() }
    }

    /// Writes the fields.
    pub fn write(&self, out: &mut ObjectWriter<'_>) {
        out.bool("success", self.success);
        if let Some(output) = &self.final_output {
            out.object("finalOutput", |out| output.write(out));
        }
        out.objects("allOutputs", &self.all_outputs, |out, output| output.write(out));
        out.objects("errors", &self.errors, |out, error| {
            out.text("message", &error.message);
            out.optional_text("hook", error.hook.as_deref());
            out.optional_text("stage", error.stage.as_deref());
        });
        out.milliseconds("totalDuration", self.total_duration);
    }
}

/// Merges the outputs of one event's hooks, given in plan order.
pub(super) fn aggregate(
    event: HookEventName,
    results: &[HookExecutionResult],
) -> AggregatedHookResult {
    let all_outputs: Vec<HookOutput> =
        results.iter().filter_map(|result| result.output.clone()).collect();
    AggregatedHookResult {
        success: results.iter().all(|result| result.success),
        final_output: final_output(event, results, &all_outputs).map(Box::new),
        errors: results.iter().filter_map(error_report).collect(),
        total_duration: results.iter().map(|result| result.duration).sum(),
        all_outputs,
    }
}

fn error_report(result: &HookExecutionResult) -> Option<ErrorReport> {
    let failure = result.failure.as_ref().filter(|failure| failure.is_error())?;
    Some(ErrorReport {
        message: failure.to_string(),
        hook: Some(result.hook.display_name().to_owned()),
        stage: Some("run".into()),
    })
}

fn final_output(
    event: HookEventName,
    results: &[HookExecutionResult],
    outputs: &[HookOutput],
) -> Option<HookOutput> {
    let merge_strategy = event.row().merge;
    if outputs.is_empty() || merge_strategy.is_observe_only() {
        return None;
    }
    let mut merged = merge(event, outputs);
    // Only an explicit answer grants; a default answer does not.
    if merge_strategy == MergeStrategy::Permission
        && merged
            .decision
            .as_ref()
            .is_some_and(|decision| decision.policy() == PolicyDecision::Proceed)
        && !results.iter().any(|result| result.grants)
    {
        merged.decision = None;
    }
    Some(merged)
}

/// Merges outputs by the event's strategy.
pub(crate) fn merge(event: HookEventName, outputs: &[HookOutput]) -> HookOutput {
    match event.row().merge {
        MergeStrategy::OrDecision
        | MergeStrategy::Permission
        | MergeStrategy::First
        | MergeStrategy::Last
        | MergeStrategy::Observe => or_decision(event, outputs),
        MergeStrategy::FieldReplacement => field_replacement(event, outputs),
        MergeStrategy::ToolSelection => tool_selection(event, outputs),
        MergeStrategy::Simple => {
            let mut merged = HookOutput::default();
            for output in outputs {
                replace_fields(&mut merged, output);
                if let Some(specific) = &output.hook_specific_output {
                    let before = merged.hook_specific_output.replace(specific.clone());
                    let kept = merged.hook_specific_output.get_or_insert_default();
                    // For the fields that the event acts on, the last hook that set one wins.
                    for field in event.row().answers {
                        let earlier = before.as_ref().and_then(|before| before.get(field));
                        match (kept.get(field), earlier) {
                            (None, Some(earlier)) => kept.insert(*field, earlier.clone()),
                            // `null` removes a value that an earlier hook set.
                            (Some(none), _) if none.is_null() => drop(kept.remove(field)),
                            _ => {}
                        }
                    }
                }
            }
            merged
        }
    }
}

/// Merges decisions and messages: the policy view of any event's outputs.
pub(crate) fn or_decision(event: HookEventName, outputs: &[HookOutput]) -> HookOutput {
    let stopping = || outputs.iter().filter(|output| output.should_stop_execution());
    let mut merged = HookOutput {
        should_continue: Some(stopping().next().is_none()),
        stop_reason: join(stopping().map(|output| output.stop_reason.as_deref())),
        suppress_output: Some(outputs.iter().any(|output| output.suppress_output == Some(true))),
        system_message: join(outputs.iter().map(|output| output.system_message.as_deref())),
        decision: strongest(event, outputs.iter().filter_map(|output| output.decision.clone())),
        reason: join(outputs.iter().map(|output| output.reason.as_deref())),
        retry_after: None,
        skip_remaining: None,
        hook_specific_output: merge_specific(event, outputs),
        extra: JsonObject::default(),
    };
    // A permission decision and a cancellation count like `decision`, so the merged decision covers
    // them.
    let cancels = outputs.iter().any(|output| output.cancels(event)).then_some(Decision::Block);
    let decisions = merged.decision.take().into_iter().chain(merged.permission_decision(event));
    let decision = strongest(event, decisions.chain(cancels));
    merged.decision = match decision {
        Some(decision) if decision.policy() > PolicyDecision::Proceed => Some(decision),
        _ if merged.should_stop_execution() => decision,
        _ => Some(Decision::Allow),
    };
    if merged.decision == Some(Decision::Retry) {
        merged.retry_after = outputs.iter().filter_map(|output| output.retry_after).max();
    }
    merged
}

/// Returns the strongest decision, the last among equals, of those that forbid or ask.
fn strongest(event: HookEventName, decisions: impl Iterator<Item = Decision>) -> Option<Decision> {
    decisions
        .filter(|decision| decision.policy_on(event) > PolicyDecision::Proceed)
        .max_by_key(Decision::policy)
}

fn merge_specific(event: HookEventName, outputs: &[HookOutput]) -> Option<JsonObject> {
    let mut merged = JsonObject::default();
    let mut present = false;
    let mut permission: Option<(Decision, &HookOutput)> = None;
    for output in outputs {
        let Some(specific) = &output.hook_specific_output else { continue };
        present = true;
        let clears = merged.get("clearContext").and_then(RawJson::to_bool) == Some(true);
        merged.merge(specific);
        if clears {
            merged.insert("clearContext", RawJson::from_bool(true));
        }
        if let Some(decision) = output.permission_decision(event)
            && permission
                .as_ref()
                .is_none_or(|(winner, _)| decision.policy_on(event) >= winner.policy_on(event))
        {
            permission = Some((decision, output));
        }
    }
    if merged.get("clearContext").and_then(RawJson::to_bool) == Some(false) {
        merged.remove("clearContext");
    }
    if let Some((_, winner)) = permission {
        for field in ["permissionDecision", "permissionDecisionReason"] {
            match winner.specific(field) {
                Some(value) => merged.insert(field, value.clone()),
                None => drop(merged.remove(field)),
            }
        }
    }
    choose_one_answer(event, outputs, &mut merged);
    if outputs.iter().any(|output| output.cancels(event)) {
        merged.insert("cancel", RawJson::from_bool(true));
    }
    let contexts: Vec<Option<String>> =
        outputs.iter().map(HookOutput::additional_context).collect();
    if let Some(context) = join(contexts.iter().map(Option::as_deref)) {
        merged.insert("additionalContext", RawJson::from_text(&context));
    }
    present.then_some(merged)
}

/// For fields that come from a single answer, copies those of the chosen answer into `merged`.
fn choose_one_answer(event: HookEventName, outputs: &[HookOutput], merged: &mut JsonObject) {
    let row = event.row();
    let (fields, is_last): (&[&str], _) = match row.merge {
        MergeStrategy::First => (row.answers, false),
        MergeStrategy::Last => (row.answers, true),
        _ => (row.first, false),
    };
    // The answer fields of a declared event are not known.
    let counts = |output: &&HookOutput| match row.is_declared() {
        true => output.hook_specific_output.is_some(),
        false => fields.iter().any(|field| output.specific(field).is_some()),
    };
    let chosen = match is_last {
        true => outputs.iter().rev().find(counts),
        false => outputs.iter().find(counts),
    };
    let is_one = matches!(row.merge, MergeStrategy::First | MergeStrategy::Last);
    match chosen.and_then(|output| output.hook_specific_output.as_ref()) {
        Some(specific) if row.is_declared() && is_one => merged.clone_from(specific),
        Some(specific) => {
            for field in fields {
                match specific.get(field).filter(|value| !value.is_null()) {
                    Some(value) => merged.insert(*field, value.clone()),
                    None => drop(merged.remove(field)),
                }
            }
        }
        None => {}
    }
}

fn join<'a>(texts: impl Iterator<Item = Option<&'a str>>) -> Option<String> {
    let texts: Vec<&str> = texts.flatten().filter(|text| !text.is_empty()).collect();
    (!texts.is_empty()).then(|| texts.join("\n"))
}

fn field_replacement(event: HookEventName, outputs: &[HookOutput]) -> HookOutput {
    let mut merged = HookOutput::default();
    let mut specific = JsonObject::default();
    let mut stop: Option<&HookOutput> = None;
    for output in outputs {
        let earlier = (merged.decision.clone(), merged.reason.clone());
        replace_fields(&mut merged, output);
        // A weaker answer replaces neither an earlier decision nor its reason.
        let rank = |decision: &Option<Decision>| {
            decision.as_ref().map(|decision| decision.policy_on(event))
        };
        if rank(&earlier.0).unwrap_or_default() > rank(&output.decision).unwrap_or_default() {
            (merged.decision, merged.reason) = earlier;
        }
        if let Some(fields) = &output.hook_specific_output {
            specific.merge(fields);
        }
        stop = Some(output).filter(|output| output.should_stop_execution()).or(stop);
    }
    merged.hook_specific_output = Some(specific);
    if merged.decision != Some(Decision::Retry) {
        merged.retry_after = None;
    }
    if let Some(stop) = stop {
        merged.should_continue = Some(false);
        merged.stop_reason = stop.stop_reason.clone().or(merged.stop_reason);
    }
    merged
}

/// Replaces fields with those of a later output. Unknown fields stay in `allOutputs`.
fn replace_fields(merged: &mut HookOutput, output: &HookOutput) {
    fn replace<T: Clone>(field: &mut Option<T>, later: &Option<T>) {
        if later.is_some() {
            field.clone_from(later);
        }
    }
    replace(&mut merged.should_continue, &output.should_continue);
    replace(&mut merged.stop_reason, &output.stop_reason);
    replace(&mut merged.suppress_output, &output.suppress_output);
    replace(&mut merged.system_message, &output.system_message);
    replace(&mut merged.decision, &output.decision);
    replace(&mut merged.reason, &output.reason);
    merged.retry_after = merged.retry_after.max(output.retry_after);
}

fn tool_selection(event: HookEventName, outputs: &[HookOutput]) -> HookOutput {
    let given: Vec<ToolConfig> = outputs
        .iter()
        .filter_map(|output| output.specific_object("toolConfig"))
        .map(|config| ToolConfig::read_leniently(&config.fields()))
        .collect();
    let mut narrowed = narrow_tool_config(given.iter());
    narrowed.mode.get_or_insert_with(|| "AUTO".to_owned());
    HookOutput::default()
        .with_specific("hookEventName", RawJson::from_text(event.as_str()))
        .with_specific("toolConfig", narrowed.to_raw())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn merged(event: HookEventName, outputs: &[&str]) -> String {
        let read = |text: &&str| {
            HookOutput::read(RawJson::parse(*text).unwrap().to_object().unwrap(), &mut Vec::new())
        };
        let outputs: Vec<_> = outputs.iter().map(read).collect();
        merge(event, &outputs).to_raw().as_str().to_owned()
    }

    #[test]
    fn decisions_rank_in_any_order() {
        let ask = r#"{"decision":"ask","reason":"a"}"#;
        let deny = r#"{"decision":"deny","reason":"d"}"#;
        let block = r#"{"decision":"block"}"#;
        let allow = r#"{"decision":"approve"}"#;
        for (outputs, decision) in [
            (vec![allow], "allow"),
            (vec![ask, allow], "ask"),
            (vec![deny, ask], "deny"),
            (vec![ask, deny, allow], "deny"),
            (vec![deny, block], "block"),
        ] {
            let merged = merged(HookEventName::BeforeTool, &outputs);
            assert!(merged.contains(&format!("\"decision\":\"{decision}\"")), "{merged}");
        }
    }

    #[test]
    fn the_merged_decision_says_what_the_permission_decision_says() {
        let deny = r#"{"hookSpecificOutput":{"permissionDecision":"deny","permissionDecisionReason":"p"}}"#;
        let allow = r#"{"decision":"allow","hookSpecificOutput":{"permissionDecision":"allow","permissionDecisionReason":"fine"}}"#;
        assert_eq!(
            merged(HookEventName::BeforeTool, &[deny, allow]),
            r#"{"continue":true,"suppressOutput":false,"decision":"deny","hookSpecificOutput":{"permissionDecision":"deny","permissionDecisionReason":"p"}}"#
        );
    }

    #[test]
    fn a_denial_survives_later_fields() {
        assert_eq!(
            merged(
                HookEventName::BeforeModel,
                &[
                    r#"{"decision":"deny","reason":"d","continue":false,"stopReason":"s"}"#,
                    r#"{"decision":"allow","reason":"r","continue":true,"x":1}"#
                ]
            ),
            r#"{"continue":false,"stopReason":"s","decision":"deny","reason":"d","hookSpecificOutput":{}}"#
        );
    }

    #[test]
    fn tool_lists_intersect_and_modes_rank() {
        let one = r#"{"hookSpecificOutput":{"toolConfig":{"mode":"ANY","allowedFunctionNames":["b","a","c"]}}}"#;
        let two = r#"{"hookSpecificOutput":{"toolConfig":{"mode":"AUTO","allowedFunctionNames":["c","b"]}}}"#;
        assert_eq!(
            merged(HookEventName::BeforeToolSelection, &[one, two]),
            r#"{"hookSpecificOutput":{"hookEventName":"BeforeToolSelection","toolConfig":{"mode":"ANY","allowedFunctionNames":["b","c"]}}}"#
        );
    }
}

//! The interpretation of hook outputs that all callers share (reference/answers.md,
//! "ProcessedHookResult").

use std::sync::Arc;
use std::time::Duration;

use indexmap::IndexSet;

use super::aggregate::{AggregatedHookResult, ErrorReport, or_decision};
use hook_json::{JsonObject, ObjectWriter, RawJson, RawObject};
use hook_protocol::event::output::{
    HookOutput, NO_REASON, PolicyDecision, TOOL_INPUT_REPLACES, merged_changes,
};
use hook_protocol::event::{HookEventName, MergeStrategy};
use hook_protocol::failure::FailureCode;

/// The result of an event for its caller: the decision, the messages, and any failure of the
/// engine.
#[derive(Debug, Clone, PartialEq)]
pub struct ProcessedHookResult {
    /// The merged outputs of the hooks.
    pub aggregated: AggregatedHookResult,
    /// The strongest decision of any hook.
    pub decision: PolicyDecision,
    /// The reason for the decision; `None` if the event proceeds.
    pub reason: Option<String>,
    /// `true` if the agent should stop.
    pub should_stop: bool,
    /// The reason to stop.
    pub stop_reason: Option<String>,
    /// The message to display; `None` if suppressed.
    pub system_message: Option<String>,
    /// The message for the model, which is not subject to suppression.
    pub model_message: Option<String>,
    /// `true` if the display should hide the event's output.
    pub suppress_output: bool,
    /// The time to wait before a retry, if `decision` is one.
    pub retry_after: Option<Duration>,
    /// `true` if a hook grants what the user would be asked for; only on
    /// [`PermissionRequest`](HookEventName::PermissionRequest).
    pub granted: bool,
    /// Context for the model.
    pub additional_context: Option<String>,
    /// The changes of all hooks to the tool's input, the model request or its response, under the
    /// field's name in `hookSpecificOutput`, merged in plan order; the last of equal fields wins.
    /// You overlay them on the original, except that the tool's input is replaced if
    /// `toolInputReplaces` is set.
    pub modified: Option<JsonObject>,
    /// The failure of a stage, if one failed.
    pub failure: Option<Box<StageFailure>>,
    /// Warnings to show the user, without duplicates: unreadable settings, untrusted hooks, and
    /// problems of single hooks, as `hook NAME: …`.
    pub warnings: Vec<String>,
}

/// A guard that did not run, and whose failure denies (reference/settings.md, `failBehavior`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Guard<'h> {
    /// A guard with a known name.
    Known(&'h str),
    /// Unreadable settings, which may contain a guard.
    Possible,
}

/// A stage of the pipeline that could not be completed.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[error("{message}")]
pub struct StageFailure {
    /// The stage and cause, as a code.
    pub code: FailureCode,
    /// The code as received, if this engine does not know it.
    pub(crate) other_code: Option<Box<str>>,
    /// A message: the attempted action, its subject, the problem and its fix.
    pub message: String,
    /// Details for programs.
    pub details: JsonObject,
    /// The event of the request, if the request named a known one.
    pub event: Option<HookEventName>,
    /// The correlation id of the request.
    pub correlation_id: Option<Arc<str>>,
}

impl StageFailure {
    /// Creates a failure without details.
    pub fn new(code: FailureCode, message: impl Into<String>) -> Self {
        Self {
            code,
            other_code: None,
            message: message.into(),
            details: JsonObject::default(),
            event: None,
            correlation_id: None,
        }
    }

    /// Returns the code as written in messages.
    pub fn code_name(&self) -> &str {
        self.other_code.as_deref().unwrap_or(self.code.as_str())
    }

    /// Adds the request's event and correlation id.
    #[must_use]
    pub fn with_request(self, event: Option<HookEventName>, correlation_id: &str) -> Self {
        Self { event, correlation_id: Some(correlation_id.into()), ..self }
    }

    /// Adds a detail for programs.
    #[must_use]
    pub fn with_detail(mut self, name: &str, value: impl Into<hook_json::RawJson>) -> Self {
        self.details.insert(name, value);
        self
    }
}

impl ProcessedHookResult {
    /// Returns the result of an event without hooks.
    pub fn empty_success() -> Self {
        Self::of(AggregatedHookResult::empty_success())
    }

    /// Returns the result of an event for which a stage failed. The event proceeds unless it has a
    /// `guard`.
    pub fn failed(failure: StageFailure, guard: Option<Guard<'_>>) -> Self {
        let mut result = Self::of(AggregatedHookResult::failed(ErrorReport {
            message: failure.message.clone(),
            hook: None,
            stage: Some(failure.code.stage().into()),
        }));
        if let Some(guard) = guard {
            result.decision = PolicyDecision::Block;
            result.reason = Some(match guard {
                Guard::Known(name) => {
                    format!("hook {name} could not run and blocks on failure: {failure}")
                }
                Guard::Possible => {
                    format!("hooks could not run, and one of them may be a guard: {failure}")
                }
            });
        }
        result.failure = Some(Box::new(failure));
        result
    }

    /// Replaces the decision, its reason and the retry delay with those of another result.
    pub fn adopt_decision(&mut self, other: Self) {
        self.decision = other.decision;
        self.reason = other.reason;
        self.should_stop = other.should_stop;
        self.stop_reason = other.stop_reason;
        self.retry_after = other.retry_after;
    }

    fn of(aggregated: AggregatedHookResult) -> Self {
        Self {
            aggregated,
            decision: PolicyDecision::Proceed,
            reason: None,
            should_stop: false,
            stop_reason: None,
            system_message: None,
            model_message: None,
            suppress_output: false,
            retry_after: None,
            granted: false,
            additional_context: None,
            modified: None,
            failure: None,
            warnings: Vec::new(),
        }
    }

    /// Adds warnings, without duplicates.
    pub fn warn(&mut self, warnings: impl IntoIterator<Item = String>) {
        warnings.into_iter().for_each(|warning| {
            if !self.warnings.contains(&warning) {
                self.warnings.push(warning);
            }
        });
    }

    /// Interprets the common fields of an aggregated result. No other code does.
    pub(crate) fn process(event: HookEventName, aggregated: AggregatedHookResult) -> Self {
        let Some(merged) = &aggregated.final_output else { return Self::of(aggregated) };
        // Some strategies drop the common fields; read them from the outputs.
        let view = match event.row().merge {
            MergeStrategy::ToolSelection => or_decision(event, &aggregated.all_outputs),
            _ => HookOutput::clone(merged),
        };
        let outputs = &aggregated.all_outputs;
        let decision = outputs.iter().map(|output| output.policy(event)).max().unwrap_or_default();
        let reason =
            (decision > PolicyDecision::Proceed).then(|| reason_of(event, decision, outputs));
        let retries =
            || outputs.iter().filter(|output| output.policy(event) == PolicyDecision::Retry);
        let retry_after = (decision == PolicyDecision::Retry)
            .then(|| retries().filter_map(|output| output.retry_after).max().unwrap_or_default());
        let suppress_output = view.suppress_output == Some(true);
        let message = view.system_message.clone().filter(|message| !message.is_empty());
        Self {
            decision,
            should_stop: decision == PolicyDecision::Stop,
            stop_reason: reason.clone().filter(|_| decision == PolicyDecision::Stop),
            reason,
            system_message: message.clone().filter(|_| !suppress_output),
            model_message: message,
            suppress_output,
            retry_after,
            additional_context: view.additional_context(),
            modified: modified(event, outputs),
            ..Self::of(aggregated)
        }
    }

    /// Returns `true` if a hook blocks the event. Stop and ask decisions are separate; match on
    /// `decision` to handle them all.
    pub fn is_blocking_decision(&self) -> bool {
        self.decision == PolicyDecision::Block
    }

    /// Returns `true` if the caller must ask the user first.
    pub fn is_ask_decision(&self) -> bool {
        self.decision == PolicyDecision::Ask
    }

    /// Returns `true` if the agent should stop.
    pub fn should_stop_execution(&self) -> bool {
        self.should_stop
    }

    /// Writes the fields, except `aggregated`: messages carry that as `output`.
    pub fn write(&self, out: &mut ObjectWriter<'_>) {
        out.text("decision", self.decision.as_str());
        out.optional_text("reason", self.reason.as_deref());
        if let Some(after) = self.retry_after {
            out.milliseconds("retryAfterMs", after);
        }
        if self.granted {
            out.bool("granted", true);
        }
        out.bool("suppressOutput", self.suppress_output);
        out.bool("shouldStop", self.should_stop);
        out.optional_text("stopReason", self.stop_reason.as_deref());
        out.optional_text("systemMessage", self.system_message.as_deref());
        out.optional_text("modelMessage", self.model_message.as_deref());
        out.optional_text("additionalContext", self.additional_context.as_deref());
        if let Some(modified) = &self.modified {
            out.object("modified", |out| out.fields(modified));
        }
    }

    /// Returns a tool's input with the hooks' changes; `None` if no hook changed it.
    pub fn changed_tool_input(&self, original: &RawObject) -> Option<RawObject> {
        let modified = self.modified.as_ref()?;
        let changes = modified.get("tool_input")?.to_object().ok()?;
        let replaces = modified.get(TOOL_INPUT_REPLACES).and_then(RawJson::to_bool) == Some(true);
        Some(if replaces { changes.to_raw() } else { original.merged(&changes) })
    }

    /// Returns the merged output with the changes of all hooks, in the form of a single hook's
    /// output. `None` if no hook returned an output.
    pub fn to_output(&self) -> Option<HookOutput> {
        let mut output = HookOutput::clone(self.aggregated.final_output.as_deref()?);
        if let Some(modified) = &self.modified {
            output.hook_specific_output.get_or_insert_default().merge(modified);
        }
        Some(output)
    }
}

/// Returns the merged changes of all hooks to their input, for events that merge changes.
fn modified(event: HookEventName, outputs: &[HookOutput]) -> Option<JsonObject> {
    let field = event.row().chain.overlaid_field()?;
    let sum = merged_changes(outputs.iter(), field)?;
    let mut modified = JsonObject::new();
    modified.insert(field, sum.to_raw());
    if field == "tool_input" && outputs.iter().any(HookOutput::replaces_tool_input) {
        modified.insert(TOOL_INPUT_REPLACES, RawJson::from_bool(true));
    }
    Some(modified)
}

/// Joins the reasons of the hooks that gave `decision`, without duplicates.
fn reason_of(event: HookEventName, decision: PolicyDecision, outputs: &[HookOutput]) -> String {
    let reasons: IndexSet<String> = outputs
        .iter()
        .filter(|output| output.policy(event) == decision)
        .map(|output| output.policy_reason(event))
        .filter(|reason| reason != NO_REASON)
        .collect();
    if reasons.is_empty() {
        return NO_REASON.to_owned();
    }
    reasons.into_iter().collect::<Vec<_>>().join("\n")
}

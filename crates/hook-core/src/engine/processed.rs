//! The one interpretation of what hooks said, for all callers (protocol.md §5,
//! "ProcessedHookResult").

use std::sync::Arc;
use std::time::Duration;

use indexmap::IndexSet;

use super::aggregate::{AggregatedHookResult, ErrorReport, or_decision};
use crate::event::output::{HookOutput, NO_REASON, PolicyDecision, REPLACES, changes};
use crate::event::{HookEventName, MergeStrategy};
use crate::failure::{FailureCode, HookFailure};
use crate::json::{JsonObject, ObjectWriter, RawJson, RawObject};
use crate::run::HookExecutionResult;
use crate::text::first_and_last;

/// What a caller needs to know of an event: what to do, what to say, and whether the engine could
/// do its job.
#[derive(Debug, Clone, PartialEq)]
pub struct ProcessedHookResult {
    /// What the hooks said.
    pub aggregated: AggregatedHookResult,
    /// What to do: the strongest that any hook wants.
    pub decision: PolicyDecision,
    /// Why; absent when things go on.
    pub reason: Option<String>,
    /// Whether the agent should stop.
    pub should_stop: bool,
    /// Why it should.
    pub stop_reason: Option<String>,
    /// The message to display; absent when suppressed.
    pub system_message: Option<String>,
    /// The message for the model, which suppression does not hide.
    pub model_message: Option<String>,
    /// Whether the display should hide the event's output.
    pub suppress_output: bool,
    /// How long to wait before the retry, where `decision` is one.
    pub retry_after: Option<Duration>,
    /// Whether a hook grants what the user would be asked for: on
    /// [`PermissionRequest`](HookEventName::PermissionRequest) alone.
    pub granted: bool,
    /// Context for the model.
    pub additional_context: Option<String>,
    /// All changes that hooks made of the tool's input, the request to the model or its response, under
    /// the field's name in `hookSpecificOutput`, laid over each other in plan order: to be laid over
    /// the original. The last of equal fields wins. With `toolInputReplaces` the tool's input is not laid
    /// over it, but takes its place.
    pub modified: Option<JsonObject>,
    /// The stage that failed, if one did.
    pub failure: Option<Box<StageFailure>>,
    /// What the caller should tell its user, each text once: settings that could not be read,
    /// hooks that are not trusted, and what went wrong with each hook, as `hook NAME: …`.
    pub warnings: Vec<String>,
}

/// A hook that was not asked and whose failure is a denial (protocol.md §1, `failBehavior`).
#[doc(hidden)]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Guard<'h> {
    /// The hook of that name.
    Known(&'h str),
    /// Settings could not be read, so there may be one.
    Possible,
}

/// A stage of the pipeline that could not be completed.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[error("{message}")]
pub struct StageFailure {
    /// Which one, as a code.
    pub code: FailureCode,
    /// The code where it is one that this engine does not know.
    pub(crate) other_code: Option<Box<str>>,
    /// What was attempted, on what, what went wrong and how to fix it.
    pub message: String,
    /// More, for programs.
    pub details: JsonObject,
    /// The event of the request, where it named one that is known.
    pub event: Option<HookEventName>,
    /// The request's correlation id.
    pub correlation_id: Option<Arc<str>>,
}

impl StageFailure {
    /// A failure without further details.
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

    /// The code as messages say it.
    #[doc(hidden)]
    pub fn code_word(&self) -> &str {
        self.other_code.as_deref().unwrap_or(self.code.as_str())
    }

    /// Says of which request it is.
    #[must_use]
    pub fn of_request(self, event: Option<HookEventName>, correlation_id: &str) -> Self {
        Self { event, correlation_id: Some(correlation_id.into()), ..self }
    }

    /// Adds a detail for programs.
    #[doc(hidden)]
    #[must_use]
    pub fn with_detail(mut self, name: &str, value: impl Into<crate::json::RawJson>) -> Self {
        self.details.insert(name, value);
        self
    }
}

impl ProcessedHookResult {
    /// The result of an event that no hook listens to.
    #[doc(hidden)]
    pub fn empty_success() -> Self {
        Self::of(AggregatedHookResult::empty_success())
    }

    /// The result of an event that a stage failed for. It lets things go on, unless the event has a
    /// `guard`.
    #[doc(hidden)]
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

    /// Takes over what another result wants of the caller, and why.
    #[doc(hidden)]
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

    /// Adds warnings that are not among them yet.
    #[doc(hidden)]
    pub fn warn(&mut self, warnings: impl IntoIterator<Item = String>) {
        warnings.into_iter().for_each(|warning| {
            if !self.warnings.contains(&warning) {
                self.warnings.push(warning);
            }
        });
    }

    /// Interprets the common fields of what was aggregated: the one place that does.
    #[doc(hidden)]
    pub fn process(event: HookEventName, aggregated: AggregatedHookResult) -> Self {
        let Some(merged) = &aggregated.final_output else { return Self::of(aggregated) };
        // Where merging leaves the common fields out, they are taken from the outputs.
        let view = match event.row().merge {
            MergeStrategy::ToolSelection => or_decision(event, &aggregated.all_outputs),
            _ => HookOutput::clone(merged),
        };
        let outputs = &aggregated.all_outputs;
        let decision = outputs.iter().map(|output| output.policy(event)).max().unwrap_or_default();
        let reason =
            (decision > PolicyDecision::Proceed).then(|| reason_of(event, decision, outputs));
        let retries = || outputs.iter().filter(|it| it.policy(event) == PolicyDecision::Retry);
        let retry_after = (decision == PolicyDecision::Retry)
            .then(|| retries().filter_map(|it| it.retry_after).max().unwrap_or_default());
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

    /// Whether a hook forbids what the event announced. A stop or an ask is not this; a `match` on
    /// `decision` forgets none of them.
    pub fn is_blocking_decision(&self) -> bool {
        self.decision == PolicyDecision::Block
    }

    /// Whether the caller must ask first.
    pub fn is_ask_decision(&self) -> bool {
        self.decision == PolicyDecision::Ask
    }

    /// Whether the agent should stop.
    pub fn should_stop_execution(&self) -> bool {
        self.should_stop
    }

    /// Writes the fields, without `aggregated`, which a message carries as `output`.
    #[doc(hidden)]
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

    /// What hooks made of a tool's arguments; `None` where none changed them.
    #[doc(hidden)]
    pub fn changed_tool_input(&self, original: &RawObject) -> Option<RawObject> {
        let modified = self.modified.as_ref()?;
        let changes = modified.get("tool_input")?.to_object().ok()?;
        let replaces = modified.get(REPLACES).and_then(RawJson::to_bool) == Some(true);
        Some(if replaces { changes.to_raw() } else { original.overlaid(&changes) })
    }

    /// The merged answer as a hook of another engine gives it: with all changes, not those of the last
    /// hook alone. `None` where no hook said anything.
    #[doc(hidden)]
    pub fn as_answer(&self) -> Option<HookOutput> {
        let mut answer = HookOutput::clone(self.aggregated.final_output.as_deref()?);
        if let Some(modified) = &self.modified {
            answer.hook_specific_output.get_or_insert_default().overlay(modified);
        }
        Some(answer)
    }
}

/// What hooks changed of what they were told, where changes of several add up.
fn modified(event: HookEventName, outputs: &[HookOutput]) -> Option<JsonObject> {
    let field = event.row().chain.overlaid()?;
    let sum = changes(outputs.iter(), field)?;
    let mut modified = JsonObject::new();
    modified.insert(field, sum.to_raw());
    if field == "tool_input" && outputs.iter().any(HookOutput::replaces_tool_input) {
        modified.insert(REPLACES, RawJson::from_bool(true));
    }
    Some(modified)
}

impl HookExecutionResult {
    /// What the caller should know of this run: why the hook failed and what it was warned about,
    /// each as `hook NAME: …`. A cancelled hook is no news to its caller.
    #[doc(hidden)]
    pub fn caller_warnings(&self) -> impl Iterator<Item = String> {
        let failure = self.failure.iter().filter(|it| !matches!(it, HookFailure::Cancelled));
        let failure = failure.map(|it| first_and_last(&it.to_string()));
        let texts = failure.chain(self.warnings.iter().cloned());
        texts.map(|text| self.hook.says(&text))
    }
}

/// The reasons of the hooks that decide, each once; what others said is no reason for it.
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

//! The one answer to a request.

use std::sync::{Arc, OnceLock};

use hook_core::{Guard, NotStarted, PipelineOutcome, ProcessedHookResult, StageFailure};
use hook_json::{ObjectWriter, RawObject, ShapeError};
use hook_protocol::read_back::fields_once;
use hook_protocol::{HookEventName, PolicyDecision};
use hook_run::{HookExecutionResult, HookIdentity};

use super::{CorrelationId, kind};

/// The answer to a request: exactly one per accepted request.
#[derive(Debug, Clone)]
pub struct HookExecutionResponse {
    /// The request's id.
    pub correlation_id: CorrelationId,
    /// The event; `None` if the request names no known one.
    pub event: Option<HookEventName>,
    /// The name of an event that is not built in, in a message read from JSON.
    pub(super) other_event: Option<Box<str>>,
    /// The result for the caller. Its `failure` names the stage that failed, if one did.
    pub processed: ProcessedHookResult,
    /// The hooks' results, in plan order.
    pub hooks: Vec<HookExecutionResult>,
    /// The hooks that an answer of an earlier priority kept from starting.
    pub not_started: Vec<NotStarted>,
    /// Includes each hook's standard output and error in the JSON form.
    pub streams: bool,
    /// The engine of a fleet that answered, if one did.
    pub engine: Option<Arc<AnsweringEngine>>,
}

/// An engine of a fleet, as identified in its responses.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct AnsweringEngine {
    /// An id of this run of the engine.
    pub id: String,
    /// The engine's version.
    pub version: String,
    /// A hash of the engine's settings and their trust, if known. Engines with different hashes may
    /// decide differently.
    pub settings_hash: Option<String>,
}

impl AnsweringEngine {
    /// Describes an engine of this build.
    pub fn new(id: impl Into<String>, settings_hash: Option<String>) -> Self {
        Self { id: id.into(), version: env!("CARGO_PKG_VERSION").to_owned(), settings_hash }
    }

    /// Reads the fields that [`write`](Self::write) writes.
    pub(super) fn read_back(object: &RawObject) -> Result<Self, ShapeError> {
        let mut fields = fields_once(object)?;
        let id = fields.text("id")?.ok_or_else(|| ShapeError::new("id", "a string", "nothing"))?;
        let version = fields.text("version")?.unwrap_or_default();
        Ok(Self { id, version, settings_hash: fields.text("settingsHash")? })
    }

    /// Writes the engine's fields.
    pub fn write(&self, out: &mut ObjectWriter<'_>) {
        out.text("id", &self.id);
        out.text("version", &self.version);
        out.optional_text("settingsHash", self.settings_hash.as_deref());
    }
}

impl HookExecutionResponse {
    /// Returns `true` if every stage completed, even if hooks denied, failed or timed out.
    pub fn success(&self) -> bool {
        self.processed.failure.is_none()
    }

    /// Returns the event's name. In a response [read from JSON](Self::from_json) it may name an
    /// event that is not built in.
    pub fn event_name(&self) -> Option<&str> {
        self.event.map(HookEventName::as_str).or(self.other_event.as_deref())
    }

    /// Returns the failure of the stage that failed, if one did.
    pub fn error(&self) -> Option<&StageFailure> {
        self.processed.failure.as_deref()
    }

    pub(crate) fn completed(
        correlation_id: CorrelationId,
        event: HookEventName,
        outcome: PipelineOutcome,
    ) -> Self {
        Self {
            correlation_id,
            event: Some(event),
            other_event: None,
            processed: outcome.processed,
            hooks: outcome.hooks,
            not_started: outcome.not_started,
            streams: false,
            engine: None,
        }
    }

    /// Answers a request that no engine could serve. `guard` is a guard known nevertheless.
    pub(crate) fn unavailable(
        correlation_id: CorrelationId,
        event: Option<HookEventName>,
        failure: StageFailure,
        guard: Option<Guard<'_>>,
    ) -> Box<Self> {
        crate::log::failure(event, &correlation_id, &failure);
        let processed = ProcessedHookResult::failed(failure, guard);
        Box::new(Self::failed(correlation_id, event, processed))
    }

    /// Answers a request that failed before it reached an engine. It is blocked if its event has,
    /// or may have, a guard.
    pub fn rejected(
        correlation_id: CorrelationId,
        event: Option<HookEventName>,
        failure: StageFailure,
        is_guarded: bool,
    ) -> Self {
        let guard = is_guarded.then_some(Guard::Possible);
        Self::failed(correlation_id, event, ProcessedHookResult::failed(failure, guard))
    }

    pub(crate) fn failed(
        correlation_id: CorrelationId,
        event: Option<HookEventName>,
        mut processed: ProcessedHookResult,
    ) -> Self {
        if let Some(failure) = &mut processed.failure {
            failure.event = event;
            failure.correlation_id = Some(correlation_id.as_str().into());
        }
        Self {
            correlation_id,
            event,
            other_event: None,
            processed,
            hooks: Vec::new(),
            not_started: Vec::new(),
            streams: false,
            engine: None,
        }
    }

    /// Returns the response as one line of JSON, without the newline.
    pub fn to_json(&self) -> Vec<u8> {
        ObjectWriter::line(|out| self.write(out))
    }

    /// Like [`to_json`](Self::to_json), with each hook's standard output and error, requested or
    /// not.
    pub fn to_json_with_streams(&self) -> Vec<u8> {
        ObjectWriter::line(|out| self.write_fields(out, true))
    }

    /// Writes the fields of the message.
    pub fn write(&self, out: &mut ObjectWriter<'_>) {
        self.write_fields(out, self.streams);
    }

    pub(crate) fn write_with_streams(&self, out: &mut ObjectWriter<'_>) {
        self.write_fields(out, true);
    }

    fn write_fields(&self, object: &mut ObjectWriter<'_>, streams: bool) {
        object.text("type", kind::RESPONSE);
        object.text("correlationId", self.correlation_id.as_str());
        object.optional_text("eventName", self.event_name());
        object.bool("success", self.success());
        match &self.processed.failure {
            None if self.hooks.is_empty()
                && self.processed == ProcessedHookResult::empty_success() =>
            {
                object.written_fields(empty_outcome());
            }
            None => {
                write_outcome(object, &self.processed, &self.hooks, streams);
                if !self.not_started.is_empty() {
                    object.objects("notStarted", &self.not_started, |out, entry| {
                        write_hook_identity(out, &entry.hook);
                        out.text("endedBy", &entry.ended_by);
                    });
                }
            }
            Some(failure) => {
                object.object("error", |out| write_failure(out, failure));
                // Written only if the caller must not proceed (reference/settings.md).
                if self.processed.decision > PolicyDecision::Proceed {
                    object.object("processed", |out| self.processed.write(out));
                }
            }
        }
        if let Some(engine) = &self.engine {
            object.object("engine", |out| engine.write(out));
        }
        object.warnings_if_any(&self.processed.warnings);
    }

    /// Returns the response's approximate size in memory, in bytes.
    pub(crate) fn weight(&self) -> usize {
        // A hook's output is held three times: per hook, among all outputs, and merged.
        1_024 + 3 * self.hooks.iter().map(result_weight).sum::<usize>()
    }
}

/// Two responses are equal if their JSON forms are; data outside the JSON form is ignored.
impl PartialEq for HookExecutionResponse {
    fn eq(&self, other: &Self) -> bool {
        self.to_json() == other.to_json()
    }
}

/// Returns the approximate size in memory of a hook's result, in bytes.
pub(super) fn result_weight(result: &HookExecutionResult) -> usize {
    let output_len = result.output.as_ref().map_or(0, |output| output.to_raw().as_str().len());
    let input_len = result.input.as_ref().map_or(0, |input| input.as_str().len());
    1_024
        + result.process.stdout.bytes.len()
        + result.process.stderr.bytes.len()
        + output_len
        + input_len
}

/// Returns the outcome of a request for which no hook ran, the most common one, written only once.
fn empty_outcome() -> &'static RawObject {
    static OUTCOME: OnceLock<RawObject> = OnceLock::new();
    let write = |out: &mut ObjectWriter<'_>| {
        write_outcome(out, &ProcessedHookResult::empty_success(), &[], false);
    };
    OUTCOME.get_or_init(|| RawObject::build(write))
}

fn write_outcome(
    out: &mut ObjectWriter<'_>,
    processed: &ProcessedHookResult,
    hooks: &[HookExecutionResult],
    streams: bool,
) {
    out.object("output", |out| processed.aggregated.write(out));
    out.object("processed", |out| processed.write(out));
    out.objects("hooks", hooks, |out, hook| {
        write_hook(out, hook, streams);
        if let Some(input) = &hook.input {
            out.raw("input", input.as_raw());
        }
    });
}

fn write_failure(out: &mut ObjectWriter<'_>, failure: &StageFailure) {
    out.text("code", failure.code_name());
    out.text("message", &failure.message);
    if !failure.details.is_empty() {
        out.object("details", |out| out.fields(&failure.details));
    }
}

pub(super) fn write_hook(out: &mut ObjectWriter<'_>, result: &HookExecutionResult, streams: bool) {
    let process = &result.process;
    write_hook_identity(out, &result.hook);
    out.bool("success", result.success);
    if let Some(code) = process.exit_code {
        out.integer("exitCode", code.into());
    }
    if let Some(signal) = process.signal {
        out.text("signal", &hook_protocol::failure::signal_name(signal));
    }
    out.milliseconds("duration", result.duration);
    out.milliseconds("queued", result.queued);
    for (name, value) in [
        ("timedOut", result.timed_out()),
        ("askedAgain", result.rechecked),
        ("leaked", process.leaked),
        ("truncated", process.stdout.dropped > 0 || process.stderr.dropped > 0),
    ] {
        if value {
            out.bool(name, true);
        }
    }
    if let Some(worker) = &process.worker {
        out.object("worker", |out| worker.write(out));
    }
    out.texts("warnings", &result.warnings);
    if let Some(failure) = &result.failure {
        out.text("error", &failure.to_string());
    }
    if streams {
        out.optional_text("decision", result.decision.map(PolicyDecision::as_str));
        out.text("stdout", &String::from_utf8_lossy(&process.stdout.bytes));
        out.text("stderr", &String::from_utf8_lossy(&process.stderr.bytes));
    }
}

pub(super) fn write_hook_identity(out: &mut ObjectWriter<'_>, hook: &HookIdentity) {
    out.text("name", hook.display_name());
    out.text("type", hook.kind());
    out.text("source", hook.source());
    out.optional_text("extension", hook.extension());
}

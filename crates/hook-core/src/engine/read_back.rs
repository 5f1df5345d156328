//! Results parsed from messages (protocol.md §6), for clients and recordings.
//!
//! Only the fields of the message are filled in: a parsed hook result has no
//! [output](HookExecutionResult::output), and its failure is [the reported
//! text](HookFailure::Told). Unknown fields are ignored, except that those of an answer are kept.

use std::time::Duration;

use super::aggregate::{AggregatedHookResult, ErrorReport};
use super::ended::NotStarted;
use super::processed::{ProcessedHookResult, StageFailure};
use crate::event::output::{Decision, HookOutput, PolicyDecision};
use crate::failure::{FailureCode, HookFailure, signal_number};
use crate::json::shape::{FieldReader, Required, ShapeError};
use crate::json::{JsonObject, RawJson, RawObject};
use crate::run::{Captured, HookExecutionResult, HookIdentity, ProcessReport, WorkerHistory};
use crate::settings::DEFAULT_PRIORITY;
use crate::text::shortened;

/// Returns a reader for the fields of a message's object. Duplicate fields are rejected: another
/// reader may take the first where this one takes the last.
///
/// # Errors
/// Returns an error if a field is duplicated.
pub fn fields_once(object: &RawObject) -> Result<FieldReader, ShapeError> {
    of_fields(object.fields())
}

/// Like [`fields_once`], for fields that are parsed already.
///
/// # Errors
/// Returns an error if a field is duplicated.
pub fn of_fields(fields: JsonObject) -> Result<FieldReader, ShapeError> {
    match fields.repeated() {
        Some(name) => Err(ShapeError::new(shortened(name), "one value", "several")),
        None => Ok(FieldReader::new(fields)),
    }
}

/// Times of at least this many microseconds (35 years) have no fraction of a millisecond.
const EXACT_MICROSECONDS: f64 = (1_u64 << 50) as f64;

/// Reads an optional time in milliseconds, as written in messages.
///
/// # Errors
/// Returns an error if the field has another type or is out of range.
pub fn read_milliseconds(
    fields: &mut FieldReader,
    name: &str,
) -> Result<Option<Duration>, ShapeError> {
    let Some(number) = fields.number(name)? else { return Ok(None) };
    let whole = || number.to_whole_number().map(Duration::from_millis);
    let fraction = || {
        let milliseconds: f64 = number.as_str().parse().ok()?;
        // Messages have microsecond precision, which `f64` represents exactly up to this limit.
        let microseconds = (milliseconds * 1_000.0).round();
        (0.0..EXACT_MICROSECONDS)
            .contains(&microseconds)
            .then(|| Duration::from_micros(microseconds as u64))
    };
    let Some(time) = whole().or_else(fraction) else {
        let expected = "a time in milliseconds";
        return Err(ShapeError::new(name, expected, shortened(number.as_str())));
    };
    Ok(Some(time))
}

/// Reads an array of objects; empty if the field is missing.
///
/// # Errors
/// Returns an error if the field has another type, or the error of `read` with the element's index.
pub fn read_objects<T>(
    fields: &mut FieldReader,
    name: &str,
    mut read: impl FnMut(&RawObject) -> Result<T, ShapeError>,
) -> Result<Vec<T>, ShapeError> {
    let items = fields.items(name)?.unwrap_or_default();
    let read = |(index, item): (usize, RawJson)| {
        let path = format!("{name}[{index}]");
        let kind = item.kind();
        match RawObject::try_from(item) {
            Ok(object) => read(&object).map_err(|error| error.within(&path)),
            Err(_) => Err(ShapeError::new(path, "an object", kind.to_string())),
        }
    };
    items.into_iter().enumerate().map(read).collect()
}

const TEXT: &str = "a string";
const BOOLEAN: &str = "a boolean";
const TIME: &str = "a time in milliseconds";

fn decision(fields: &mut FieldReader) -> Result<Option<PolicyDecision>, ShapeError> {
    let Some(word) = fields.text("decision")? else { return Ok(None) };
    let expected = "`proceed`, `ask`, `retry`, `block` or `stop`";
    let known = PolicyDecision::from_word(&word);
    known.map(Some).ok_or_else(|| ShapeError::new("decision", expected, shortened(&word)))
}

impl HookOutput {
    /// Parses an answer from a message. Messages contain normalized answers, so nothing is
    /// corrected.
    ///
    /// # Errors
    /// Returns an error if a known field has another type, or a field is duplicated.
    #[doc(hidden)]
    pub fn read_back(object: &RawObject) -> Result<Self, ShapeError> {
        let mut fields = fields_once(object)?;
        Ok(Self {
            should_continue: fields.bool("continue")?,
            stop_reason: fields.text("stopReason")?,
            suppress_output: fields.bool("suppressOutput")?,
            system_message: fields.text("systemMessage")?,
            decision: fields.text("decision")?.map(|word| Decision::from_word(&word)),
            reason: fields.text("reason")?,
            retry_after: read_milliseconds(&mut fields, "retryAfterMs")?,
            skip_remaining: fields.bool("skipRemaining")?,
            hook_specific_output: match fields.object("hookSpecificOutput")? {
                Some(specific) => {
                    let once = fields_once(&specific).map(FieldReader::rest);
                    Some(once.map_err(|error| error.within("hookSpecificOutput"))?)
                }
                None => None,
            },
            extra: fields.rest(),
        })
    }
}

impl AggregatedHookResult {
    /// Parses the aggregated result: `output` of a message.
    ///
    /// # Errors
    /// Returns an error if a field is missing or has another type.
    #[doc(hidden)]
    pub fn read_back(object: &RawObject) -> Result<Self, ShapeError> {
        let mut fields = fields_once(object)?;
        let output = |object: RawObject| HookOutput::read_back(&object).map(Box::new);
        let final_output = fields.object("finalOutput")?.map(output).transpose();
        let error = |object: &RawObject| {
            let mut fields = fields_once(object)?;
            Ok(ErrorReport {
                message: fields.text("message").required("message", TEXT)?,
                hook: fields.text("hook")?,
                stage: fields.text("stage")?.map(Into::into),
            })
        };
        Ok(Self {
            success: fields.bool("success").required("success", BOOLEAN)?,
            final_output: final_output.map_err(|error| error.within("finalOutput"))?,
            all_outputs: read_objects(&mut fields, "allOutputs", HookOutput::read_back)?,
            errors: read_objects(&mut fields, "errors", error)?,
            total_duration: read_milliseconds(&mut fields, "totalDuration")
                .required("totalDuration", TIME)?,
        })
    }
}

impl ProcessedHookResult {
    /// Sets all fields from `processed` of a message, except `aggregated`, `failure` and
    /// `warnings`, which are separate fields of the message.
    ///
    /// # Errors
    /// Returns an error if a field is missing or has another type, or if the decision is unknown,
    /// since a caller could not act on it.
    #[doc(hidden)]
    pub fn with_read_back(self, object: &RawObject) -> Result<Self, ShapeError> {
        let mut fields = fields_once(object)?;
        Ok(Self {
            decision: decision(&mut fields).required("decision", "a decision")?,
            reason: fields.text("reason")?,
            retry_after: read_milliseconds(&mut fields, "retryAfterMs")?,
            granted: fields.bool("granted")?.unwrap_or_default(),
            suppress_output: fields.bool("suppressOutput").required("suppressOutput", BOOLEAN)?,
            should_stop: fields.bool("shouldStop").required("shouldStop", BOOLEAN)?,
            stop_reason: fields.text("stopReason")?,
            system_message: fields.text("systemMessage")?,
            model_message: fields.text("modelMessage")?,
            additional_context: fields.text("additionalContext")?,
            modified: fields.object("modified")?.map(|modified| modified.fields()),
            ..self
        })
    }
}

impl StageFailure {
    /// Parses the failure of a request: `error` of a message. An unknown code is kept as
    /// [text](Self::code_word).
    ///
    /// # Errors
    /// Returns an error if a field is missing or has another type.
    #[doc(hidden)]
    pub fn read_back(object: &RawObject) -> Result<Self, ShapeError> {
        let mut fields = fields_once(object)?;
        let word = fields.text("code").required("code", TEXT)?;
        let message = fields.text("message").required("message", TEXT)?;
        let details = fields.object("details")?.map(|details| details.fields());
        let code = FailureCode::from_word(&word);
        Ok(Self {
            code: code.unwrap_or(FailureCode::Other),
            other_code: code.is_none().then(|| word.into()),
            message,
            details: details.unwrap_or_default(),
            event: None,
            correlation_id: None,
        })
    }
}

impl HookIdentity {
    /// Parses the identity of a hook of an event.
    ///
    /// # Errors
    /// Returns an error if a field is missing or has another type.
    #[doc(hidden)]
    pub fn read_back(fields: &mut FieldReader, event_name: &str) -> Result<Self, ShapeError> {
        let name = fields.text("name").required("name", TEXT)?;
        let kind = fields.text("type").required("type", TEXT)?;
        let source = fields.text("source").required("source", TEXT)?;
        let identity = Self::told(&name, &kind, &source, event_name);
        Ok(match fields.text("extension")? {
            Some(extension) => identity.with_extension(&extension),
            None => identity,
        })
    }
}

impl NotStarted {
    /// Parses a hook that was not started: an element of `notStarted` of a message.
    ///
    /// # Errors
    /// Returns an error if a field is missing or has another type.
    #[doc(hidden)]
    pub fn read_back(object: &RawObject, event_name: &str) -> Result<Self, ShapeError> {
        let mut fields = fields_once(object)?;
        Ok(Self {
            hook: HookIdentity::read_back(&mut fields, event_name)?,
            ended_by: fields.text("endedBy").required("endedBy", TEXT)?.into(),
        })
    }
}

impl HookExecutionResult {
    /// Parses the result of an event's hook: an element of `hooks` of a message.
    ///
    /// # Errors
    /// Returns an error if a field is missing or has another type.
    #[doc(hidden)]
    pub fn read_back(object: &RawObject, event_name: &str) -> Result<Self, ShapeError> {
        let mut fields = fields_once(object)?;
        let hook = HookIdentity::read_back(&mut fields, event_name)?;
        let timed_out = fields.bool("timedOut")?.unwrap_or_default();
        let told = |message| HookFailure::Told { message, timed_out };
        Ok(Self {
            hook,
            success: fields.bool("success").required("success", BOOLEAN)?,
            output: None,
            decision: decision(&mut fields)?,
            failure: match fields.text("error")? {
                Some(message) => Some(told(message)),
                None if timed_out => {
                    return Err(ShapeError::new("error", "a string beside `timedOut`", "nothing"));
                }
                None => None,
            },
            process: read_process(&mut fields)?,
            duration: read_milliseconds(&mut fields, "duration").required("duration", TIME)?,
            queued: read_milliseconds(&mut fields, "queued").required("queued", TIME)?,
            warnings: fields.texts("warnings")?.unwrap_or_default(),
            input: fields.object("input")?,
            grants: false,
            group: (0, DEFAULT_PRIORITY),
            asked_again: fields.bool("askedAgain")?.unwrap_or_default(),
        })
    }
}

fn read_process(fields: &mut FieldReader) -> Result<ProcessReport, ShapeError> {
    let exit_code = match fields.number("exitCode")? {
        None => None,
        Some(number) => {
            let code = number.to_integer().and_then(|code| i32::try_from(code).ok());
            let wrong = || ShapeError::new("exitCode", "an exit code", shortened(number.as_str()));
            Some(code.ok_or_else(wrong)?)
        }
    };
    let signal = match fields.text("signal")? {
        None => None,
        Some(name) => {
            let wrong = || ShapeError::new("signal", "the name of a signal", shortened(&name));
            Some(signal_number(&name).ok_or_else(wrong)?)
        }
    };
    let mut captured = |name| {
        let bytes = fields.text(name)?.unwrap_or_default().into_bytes();
        Ok(Captured { bytes, dropped: 0 })
    };
    let (stdout, mut stderr) = (captured("stdout")?, captured("stderr")?);
    // A message reports only that output was dropped, not of which stream or how much.
    stderr.dropped = fields.bool("truncated")?.unwrap_or_default().into();
    let leaked = fields.bool("leaked")?.unwrap_or_default();
    let worker = match fields.object("worker")? {
        None => None,
        Some(worker) => {
            let wrong = || {
                let found = shortened(worker.as_str());
                ShapeError::new("worker", "an object with `state` and `restarts`", found)
            };
            Some(WorkerHistory::read_back(&worker).ok_or_else(wrong)?)
        }
    };
    Ok(ProcessReport { exit_code, signal, leaked, stdout, stderr, worker })
}

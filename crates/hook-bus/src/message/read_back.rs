//! Reading responses and progress back from their JSON form (reference/messages.md).

use std::sync::Arc;

use hook_core::{AggregatedHookResult, NotStarted, ProcessedHookResult, StageFailure};
use hook_json::shape::FieldReader;
use hook_json::text::shortened;
use hook_json::{JsonError, JsonObject, RawObject, ShapeError};
use hook_protocol::HookEventName;
use hook_protocol::read_back::{fields_once, of_fields, read_milliseconds, read_objects};
use hook_run::{HookExecutionResult, HookIdentity};

use super::response::AnsweringEngine;
use super::{CorrelationId, HookExecutionResponse, HookFinished, HookProgress, HookStarted, kind};
use crate::wire::MAX_LINE;

/// An error of reading a message from JSON.
#[derive(Debug, Clone, thiserror::Error)]
#[non_exhaustive]
pub enum MessageError {
    /// The text is longer than the longest line.
    #[error(
        "failed to read a message: it has {length} bytes, and a line has at most {MAX_LINE}; ask for \
         less, without streams and inputs"
    )]
    TooLong {
        /// The text's length in bytes.
        length: usize,
    },
    /// The text is no JSON object.
    #[error(
        "failed to read a message: expected one JSON object: {reason} at column {column}",
        reason = source.reason(),
        column = source.column()
    )]
    NotJson {
        /// The syntax error.
        source: JsonError,
    },
    /// A field is missing or invalid.
    #[error("failed to read a message: {source}")]
    Shape {
        /// The field and its error.
        #[from]
        source: ShapeError,
    },
}

impl MessageError {
    /// Returns the path of the invalid field, such as `hooks[0].duration`; `None` if the text is no
    /// object.
    pub fn field(&self) -> Option<&str> {
        match self {
            Self::Shape { source } => Some(source.path()),
            Self::TooLong { .. } | Self::NotJson { .. } => None,
        }
    }
}

impl HookExecutionResponse {
    /// Reads a response from a line of JSON. The result equals the response that was written.
    ///
    /// Unknown fields are ignored. An event that is not built in is known only by its
    /// [name](Self::event_name). Bytes that are not UTF-8 are replaced, as in every line.
    /// ```
    /// use hook_bus::HookExecutionResponse;
    ///
    /// let line = r#"{"type":"hook-execution-response","correlationId":"c-1","success":false,
    ///     "error":{"code":"no_handler","message":"nothing serves the bus"}}"#;
    /// let response = HookExecutionResponse::from_json(line)?;
    /// assert_eq!(response.error().unwrap().message, "nothing serves the bus");
    /// assert_eq!(HookExecutionResponse::from_json(response.to_json())?, response);
    ///
    /// let error = HookExecutionResponse::from_json(r#"{"type":"hook-hello"}"#).unwrap_err();
    /// assert_eq!(error.field(), Some("type"));
    /// # Ok::<(), hook_bus::MessageError>(())
    /// ```
    ///
    /// # Errors
    /// If it is no response, or its fields contradict each other.
    pub fn from_json(text: impl AsRef<[u8]>) -> Result<Self, MessageError> {
        Self::from_reader(message(text.as_ref())?)
    }

    /// Reads a response from its parsed fields, as [`from_json`](Self::from_json) does.
    ///
    /// # Errors
    /// As [`from_json`](Self::from_json).
    pub fn from_fields(fields: JsonObject) -> Result<Self, MessageError> {
        Self::from_reader(of_fields(fields)?)
    }

    fn from_reader(mut fields: FieldReader) -> Result<Self, MessageError> {
        read_type(&mut fields, &[kind::RESPONSE])?;
        Ok(response(&mut fields)?)
    }
}

fn response(fields: &mut FieldReader) -> Result<HookExecutionResponse, ShapeError> {
    let correlation_id = correlation_id(fields)?;
    let event_name = fields.text("eventName")?;
    let success = required(fields.bool("success")?, "success", "a boolean")?;
    let processed = fields.object("processed")?;
    let output = fields.object("output")?;
    let error = fields.object("error")?;
    let result = match error {
        None if success => {
            let output = required(output, "output", "an object, as `success` is true")?;
            let aggregated =
                AggregatedHookResult::read_back(&output).map_err(|error| error.within("output"))?;
            ProcessedHookResult { aggregated, ..ProcessedHookResult::empty_success() }
        }
        None => {
            return Err(ShapeError::new("error", "an object, as `success` is false", "nothing"));
        }
        Some(_) if success => {
            return Err(ShapeError::new("error", "nothing, as `success` is true", "an object"));
        }
        Some(error) => {
            let failure = StageFailure::read_back(&error).map_err(|error| error.within("error"))?;
            let event = event_name.as_deref().and_then(HookEventName::from_name);
            let failure = failure.with_request(event, correlation_id.as_str());
            ProcessedHookResult::failed(failure, None)
        }
    };
    let mut result = match processed {
        Some(processed) => {
            result.with_read_back(&processed).map_err(|error| error.within("processed"))?
        }
        None if success => {
            return Err(ShapeError::new("processed", "an object, as `success` is true", "nothing"));
        }
        None => result,
    };
    result.warnings = fields.texts("warnings")?.unwrap_or_default();
    let event_text = event_name.as_deref().unwrap_or_default();
    // Either all hooks have their streams in the message, or none has.
    let mut streams = false;
    let hooks = read_objects(fields, "hooks", |hook| {
        streams |= hook.fields().get("stdout").is_some();
        HookExecutionResult::read_back(hook, event_text)
    })?;
    let not_started =
        read_objects(fields, "notStarted", |hook| NotStarted::read_back(hook, event_text))?;
    let engine = fields.object("engine")?;
    let engine = engine.as_ref().map(AnsweringEngine::read_back).transpose();
    let engine = engine.map_err(|error| error.within("engine"))?.map(Arc::new);
    let event = event_name.as_deref().and_then(HookEventName::from_name);
    Ok(HookExecutionResponse {
        correlation_id,
        event,
        other_event: event_name.filter(|_| event.is_none()).map(Into::into),
        processed: result,
        hooks,
        not_started,
        streams,
        engine,
    })
}

impl HookProgress {
    /// Reads a `hook-started` or `hook-finished` message from a line of JSON, as
    /// [`HookExecutionResponse::from_json`] reads a response.
    ///
    /// # Errors
    /// If it is neither.
    pub fn from_json(text: impl AsRef<[u8]>) -> Result<Self, MessageError> {
        let mut fields = message(text.as_ref())?;
        match read_type(&mut fields, &[kind::STARTED, kind::FINISHED])? {
            kind::STARTED => Ok(Self::Started(started(&mut fields)?)),
            _ => Ok(Self::Finished(Box::new(finished(&mut fields)?))),
        }
    }
}

fn started(fields: &mut FieldReader) -> Result<HookStarted, ShapeError> {
    let (correlation_id, event_name, hook) = progress(fields)?;
    let read = || {
        let mut hook = fields_once(&hook)?;
        let identity = HookIdentity::read_back(&mut hook, &event_name)?;
        let timeout = read_milliseconds(&mut hook, "timeout")?;
        Ok((identity, required(timeout, "timeout", "a time in milliseconds")?))
    };
    let (hook, timeout) = read().map_err(|error: ShapeError| error.within("hook"))?;
    Ok(HookStarted { request: None, correlation_id, hook, timeout })
}

fn finished(fields: &mut FieldReader) -> Result<HookFinished, ShapeError> {
    let (correlation_id, event_name, hook) = progress(fields)?;
    let result = HookExecutionResult::read_back(&hook, &event_name);
    let result = result.map_err(|error| error.within("hook"))?;
    Ok(HookFinished { request: None, correlation_id, result, input: None })
}

/// Reads the common fields of both progress messages: correlation id, event name and hook.
fn progress(fields: &mut FieldReader) -> Result<(CorrelationId, String, RawObject), ShapeError> {
    let correlation_id = correlation_id(fields)?;
    let event_name = required(fields.text("eventName")?, "eventName", "the name of an event")?;
    Ok((correlation_id, event_name, required(fields.object("hook")?, "hook", "an object")?))
}

fn message(text: &[u8]) -> Result<FieldReader, MessageError> {
    if text.len() > MAX_LINE {
        return Err(MessageError::TooLong { length: text.len() });
    }
    let text = String::from_utf8_lossy(text).into_owned();
    let object = RawObject::parse(text).map_err(|source| MessageError::NotJson { source })?;
    Ok(fields_once(&object)?)
}

/// Checks that the message has one of these types, and returns it.
fn read_type(fields: &mut FieldReader, types: &[&'static str]) -> Result<&'static str, ShapeError> {
    let found = fields.text("type")?;
    let known = types.iter().find(|known| found.as_deref() == Some(**known));
    known.copied().ok_or_else(|| {
        let expected = match types {
            [kind::RESPONSE] => "\"hook-execution-response\"",
            [kind::STARTED] => "\"hook-started\"",
            [kind::FINISHED] => "\"hook-finished\"",
            _ => "\"hook-started\" or \"hook-finished\"",
        };
        let found = found.map_or_else(|| "nothing".to_owned(), |found| shortened(&found));
        ShapeError::new("type", expected, found)
    })
}

fn correlation_id(fields: &mut FieldReader) -> Result<CorrelationId, ShapeError> {
    let id = required(fields.text("correlationId")?, "correlationId", "a string")?;
    let length = id.len();
    CorrelationId::new(id).map_err(|_| {
        ShapeError::new("correlationId", "at most 256 bytes", format!("{length} bytes"))
    })
}

fn required<T>(value: Option<T>, name: &str, expected: &'static str) -> Result<T, ShapeError> {
    value.ok_or_else(|| ShapeError::new(name, expected, "nothing"))
}

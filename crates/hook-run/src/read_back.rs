//! Results of hooks parsed from messages (reference/messages.md), for clients and recordings.
//!
//! Only the fields of the message are filled in: a parsed hook result has no
//! [output](HookExecutionResult::output), and its failure is the reported
//! text. Unknown fields are ignored.

use hook_json::RawObject;
use hook_json::shape::{FieldReader, Required, ShapeError};
use hook_json::text::shortened;
use hook_protocol::failure::{HookFailure, signal_number};
use hook_protocol::read_back::{decision, fields_once, read_milliseconds};
use hook_settings::DEFAULT_PRIORITY;

use crate::{Captured, HookExecutionResult, HookIdentity, ProcessReport, WorkerHistory};

const TEXT: &str = "a string";
const BOOLEAN: &str = "a boolean";
const TIME: &str = "a time in milliseconds";

impl HookIdentity {
    /// Parses the identity of a hook of an event.
    ///
    /// # Errors
    /// Returns an error if a field is missing or has another type.
    pub fn read_back(fields: &mut FieldReader, event_name: &str) -> Result<Self, ShapeError> {
        let name = fields.text("name").required("name", TEXT)?;
        let kind = fields.text("type").required("type", TEXT)?;
        let source = fields.text("source").required("source", TEXT)?;
        let identity = Self::reported(&name, &kind, &source, event_name);
        Ok(match fields.text("extension")? {
            Some(extension) => identity.with_extension(&extension),
            None => identity,
        })
    }
}

impl HookExecutionResult {
    /// Parses the result of an event's hook: an element of `hooks` of a message.
    ///
    /// # Errors
    /// Returns an error if a field is missing or has another type.
    pub fn read_back(object: &RawObject, event_name: &str) -> Result<Self, ShapeError> {
        let mut fields = fields_once(object)?;
        let hook = HookIdentity::read_back(&mut fields, event_name)?;
        let timed_out = fields.bool("timedOut")?.unwrap_or_default();
        let told = |message| HookFailure::Received { message, timed_out };
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
            rechecked: fields.bool("askedAgain")?.unwrap_or_default(),
        })
    }
}

fn read_process(fields: &mut FieldReader) -> Result<ProcessReport, ShapeError> {
    let exit_code = match fields.number("exitCode")? {
        None => None,
        Some(number) => {
            let code = number.to_i64().and_then(|code| i32::try_from(code).ok());
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

//! Progress: a hook started or finished.

use std::time::Duration;

use hook_json::ObjectWriter;
use hook_protocol::HookInput;
use hook_run::{HookExecutionResult, HookIdentity};

use super::response::{result_weight, write_hook, write_hook_identity};
use super::{CorrelationId, RequestKey, kind};

/// A message that a hook started or finished, in the order of these events.
#[derive(Debug, Clone, PartialEq)]
pub enum HookProgress {
    /// A hook started.
    Started(HookStarted),
    /// A hook finished.
    Finished(Box<HookFinished>),
}

impl HookProgress {
    /// Returns the request that the hook runs for; `None` in a message read from JSON.
    pub fn request(&self) -> Option<RequestKey> {
        match self {
            Self::Started(started) => started.request,
            Self::Finished(finished) => finished.request,
        }
    }

    /// Returns the name of the hook's event.
    pub fn event_name(&self) -> &str {
        match self {
            Self::Started(started) => started.hook.event_name(),
            Self::Finished(finished) => finished.result.hook.event_name(),
        }
    }

    /// Returns the message as one line of JSON, without the newline.
    pub fn to_json(&self) -> Vec<u8> {
        ObjectWriter::line(|out| self.write(out, false))
    }

    /// Like [`to_json`](Self::to_json), with the standard output and error of a finished hook.
    pub fn to_json_with_streams(&self) -> Vec<u8> {
        ObjectWriter::line(|out| self.write(out, true))
    }

    pub(crate) fn write(&self, out: &mut ObjectWriter<'_>, streams: bool) {
        match self {
            Self::Started(started) => started.write(out),
            Self::Finished(finished) => finished.write(out, streams),
        }
    }

    /// Returns the message's approximate size in memory, in bytes.
    pub(crate) fn weight(&self) -> usize {
        match self {
            Self::Started(_) => 512,
            Self::Finished(finished) => {
                let input_len = finished.input.as_ref().map_or(0, |input| input.json().len());
                result_weight(&finished.result) + input_len
            }
        }
    }
}

/// A hook's process or function started.
#[derive(Debug, Clone)]
pub struct HookStarted {
    /// The request that the hook runs for; `None` in a message read from JSON.
    pub request: Option<RequestKey>,
    /// The request's id.
    pub correlation_id: CorrelationId,
    /// The hook and its event.
    pub hook: HookIdentity,
    /// The hook's timeout.
    pub timeout: Duration,
}

/// A hook finished.
#[derive(Debug, Clone)]
pub struct HookFinished {
    /// The request that the hook ran for; `None` in a message read from JSON.
    pub request: Option<RequestKey>,
    /// The request's id.
    pub correlation_id: CorrelationId,
    /// The hook's result.
    pub result: HookExecutionResult,
    /// The hook's input, if the hook was started and there is an audit. Not in the JSON form.
    pub input: Option<HookInput>,
}

/// Two messages are equal if their JSON forms are.
impl PartialEq for HookStarted {
    fn eq(&self, other: &Self) -> bool {
        let line = |message: &Self| ObjectWriter::line(|out| message.write(out));
        line(self) == line(other)
    }
}

/// Two messages are equal if their JSON forms are, including the hook's standard output and error.
impl PartialEq for HookFinished {
    fn eq(&self, other: &Self) -> bool {
        let line = |message: &Self| ObjectWriter::line(|out| message.write(out, true));
        line(self) == line(other)
    }
}

impl HookStarted {
    fn write(&self, out: &mut ObjectWriter<'_>) {
        message(out, kind::STARTED, &self.correlation_id, &self.hook, |out| {
            write_hook_identity(out, &self.hook);
            out.milliseconds("timeout", self.timeout);
        })
    }
}

impl HookFinished {
    fn write(&self, out: &mut ObjectWriter<'_>, streams: bool) {
        message(out, kind::FINISHED, &self.correlation_id, &self.result.hook, |out| {
            write_hook(out, &self.result, streams);
        })
    }
}

fn message(
    out: &mut ObjectWriter<'_>,
    kind: &str,
    correlation_id: &CorrelationId,
    hook: &HookIdentity,
    write_hook: impl FnOnce(&mut ObjectWriter<'_>),
) {
    out.text("type", kind);
    out.text("correlationId", correlation_id.as_str());
    out.text("eventName", hook.event_name());
    out.object("hook", write_hook);
}

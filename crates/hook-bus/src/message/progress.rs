//! Progress: which hook runs now, and how it went.

use std::time::Duration;

use hook_core::{HookExecutionResult, HookIdentity, HookInput, ObjectWriter};

use super::response::{result_weight, write_hook, write_hook_identity};
use super::{CorrelationId, RequestKey, kind};

/// Which hook runs now, and how it went; in the order in which it happened.
#[derive(Debug, Clone, PartialEq)]
pub enum HookProgress {
    /// A hook started.
    Started(HookStarted),
    /// A hook is over.
    Finished(Box<HookFinished>),
}

impl HookProgress {
    /// The request that the hook runs for; absent in a message that was read.
    pub fn request(&self) -> Option<RequestKey> {
        match self {
            Self::Started(started) => started.request,
            Self::Finished(finished) => finished.request,
        }
    }

    /// The name of the event that it runs for.
    pub fn event_name(&self) -> &str {
        match self {
            Self::Started(started) => started.hook.event_name(),
            Self::Finished(finished) => finished.result.hook.event_name(),
        }
    }

    /// The message as one line of JSON, without the line's end.
    pub fn to_json(&self) -> Vec<u8> {
        ObjectWriter::line(|out| self.write(out, false))
    }

    /// [`to_json`](Self::to_json) with what a hook that is over wrote to stdout and stderr.
    pub fn to_json_with_streams(&self) -> Vec<u8> {
        ObjectWriter::line(|out| self.write(out, true))
    }

    pub(crate) fn write(&self, out: &mut ObjectWriter<'_>, streams: bool) {
        match self {
            Self::Started(started) => started.write(out),
            Self::Finished(finished) => finished.write(out, streams),
        }
    }

    /// About how many bytes the message holds in memory.
    pub(crate) fn weight(&self) -> usize {
        match self {
            Self::Started(_) => 512,
            Self::Finished(finished) => {
                let told = finished.told.as_ref().map_or(0, |told| told.json().len());
                result_weight(&finished.result) + told
            }
        }
    }
}

/// A hook's process or function started.
#[derive(Debug, Clone)]
pub struct HookStarted {
    /// The request it runs for; absent in a message that was read.
    pub request: Option<RequestKey>,
    /// That request's id.
    pub correlation_id: CorrelationId,
    /// The hook, with its event.
    pub hook: HookIdentity,
    /// How long it may run.
    pub timeout: Duration,
}

/// A hook is over.
#[derive(Debug, Clone)]
pub struct HookFinished {
    /// The request it ran for; absent in a message that was read.
    pub request: Option<RequestKey>,
    /// That request's id.
    pub correlation_id: CorrelationId,
    /// What became of it.
    pub result: HookExecutionResult,
    /// What it was told, where it was started and there is an audit. No part of the JSON form.
    pub told: Option<HookInput>,
}

/// Two messages are equal if their JSON forms are.
impl PartialEq for HookStarted {
    fn eq(&self, other: &Self) -> bool {
        self.to_json() == other.to_json()
    }
}

/// Two messages are equal if their JSON forms are, with what the hook wrote.
impl PartialEq for HookFinished {
    fn eq(&self, other: &Self) -> bool {
        let line = |it: &Self| ObjectWriter::line(|out| it.write(out, true));
        line(self) == line(other)
    }
}

impl HookStarted {
    /// The message as one line of JSON, without the line's end.
    pub fn to_json(&self) -> Vec<u8> {
        ObjectWriter::line(|out| self.write(out))
    }

    fn write(&self, out: &mut ObjectWriter<'_>) {
        message(out, kind::STARTED, &self.correlation_id, &self.hook, |out| {
            write_hook_identity(out, &self.hook);
            out.milliseconds("timeout", self.timeout);
        })
    }
}

impl HookFinished {
    /// The message as one line of JSON, without the line's end.
    pub fn to_json(&self) -> Vec<u8> {
        ObjectWriter::line(|out| self.write(out, false))
    }

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

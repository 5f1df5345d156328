//! A recording as a timeline: text for a terminal, a page, JSON lines.

mod bar;
mod json;
mod page;
mod text;

use std::time::Duration;

use hook_json::{ObjectWriter, RawJson};
use hook_record::recording::{RecordedHook, RecordedOutcome, RecordedRequest};

pub(crate) use json::trace_json;
pub(crate) use page::trace_page;
pub(crate) use text::{Scale, trace_text};

/// Returns the name of a request's event, and its subject.
pub(super) fn title(request: &RecordedRequest) -> (String, Option<String>) {
    let nameless = if request.response.is_some() { "not a request" } else { "?" };
    let event = request.event_name.clone().unwrap_or_else(|| nameless.to_owned());
    (event, request.subject())
}

/// Returns the name of a request's event, followed by its subject.
fn joined_title(request: &RecordedRequest) -> String {
    match title(request) {
        (event, Some(subject)) => format!("{event} {subject}"),
        (event, None) => event,
    }
}

/// Writes what a response says beside the decision: when to retry, and that it grants.
fn write_grant(out: &mut ObjectWriter<'_>, request: &RecordedRequest) {
    if let Some(after) = request.retry_after() {
        out.milliseconds("retryAfterMs", after);
    }
    if request.granted() {
        out.bool("granted", true);
    }
}

/// Writes the hooks that were not started, if there are any.
fn write_not_started(out: &mut ObjectWriter<'_>, request: &RecordedRequest) {
    let not_started = request.not_started();
    if !not_started.is_empty() {
        out.objects("notStarted", &not_started, |out, hook| {
            out.text("name", &hook.name);
            out.text("endedBy", &hook.ended_by);
        });
    }
}

/// Writes the group of a hook, if it has one.
fn write_group(out: &mut ObjectWriter<'_>, hook: &RecordedHook) {
    if let Some(group) = hook.group {
        out.integer("group", group.number as i128);
        out.integer("priority", group.priority.into());
    }
}

/// Describes how a hook ended, in one or two words.
fn ending(hook: &RecordedHook, outcome: RecordedOutcome) -> String {
    let Some(result) = &hook.result else { return outcome.as_str().to_owned() };
    if result.get("timedOut").and_then(RawJson::to_bool) == Some(true) {
        return "timed out".to_owned();
    }
    let outcome_name = || match hook.has_failed() {
        // This includes a guard whose failure blocks.
        true => RecordedOutcome::Failed.as_str().to_owned(),
        false => outcome.as_str().to_owned(),
    };
    match (result.get("exitCode"), hook.text("signal")) {
        // The hook decided on stdout, which its exit code does not show.
        (Some(code), _) if code.as_str() == "0" && outcome != RecordedOutcome::Proceed => {
            outcome_name()
        }
        (Some(code), _) => format!("exit {}", code.as_str()),
        (None, Some(signal)) => signal,
        (None, None) => outcome_name(),
    }
}

/// Returns a text of the response, such as `["processed", "reason"]`.
fn answered_text(request: &RecordedRequest, path: &[&str]) -> Option<String> {
    request.response_value(path)?.to_text()
}

fn microseconds(time: Duration) -> i128 {
    i128::try_from(time.as_micros()).unwrap_or(i128::MAX)
}

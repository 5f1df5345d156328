//! A recording as JSON: one line for each request, and the data of the page.

use hook_json::{ObjectWriter, RawJson};
use hook_record::recording::{RecordedHook, RecordedRequest, Recording};

use super::{answered_text, microseconds, write_grant, write_group, write_not_started};

/// The limits on long texts, in bytes.
#[derive(Debug, Clone, Copy)]
pub(super) enum Texts {
    /// No limit; values stay JSON values.
    Full,
    /// At most this much of each stream and of each value. Values are texts, since a cut value is
    /// no valid JSON.
    Cut { stream: usize, value: usize },
}

/// Formats one line for each request.
pub(crate) fn trace_json(recording: &Recording) -> String {
    let mut out = Vec::new();
    for recorded in &recording.requests {
        out.extend(ObjectWriter::line(|object| request(object, recorded, Texts::Full)));
        out.push(b'\n');
    }
    String::from_utf8_lossy(&out).into_owned()
}

/// Writes one request, with its hooks.
pub(super) fn request(out: &mut ObjectWriter<'_>, request: &RecordedRequest, texts: Texts) {
    out.integer("request", request.number.into());
    let own = |name: &str| request.message.as_ref()?.get(name)?.to_text();
    out.optional_text("correlationId", own("correlationId").as_deref());
    out.optional_text("eventName", request.event_name.as_deref());
    out.optional_text("subject", request.subject().as_deref());
    out.text("outcome", request.outcome().as_str());
    out.integer("start", microseconds(request.at));
    if let Some(response) = &request.response {
        out.integer("end", microseconds(response.at));
    }
    for name in ["reason", "systemMessage", "additionalContext"] {
        out.optional_text(name, answered_text(request, &["processed", name]).as_deref());
    }
    write_grant(out, request);
    if let Some(error) = request.response_value(&["error"]) {
        out.raw("error", &error);
    }
    value(out, "input", request.input(), texts);
    value(out, "finalOutput", request.response_value(&["output", "finalOutput"]).as_ref(), texts);
    out.objects("hooks", &request.hooks, |out, recorded: &RecordedHook| {
        out.text("name", &recorded.name);
        out.text("type", &recorded.kind);
        out.text("source", &recorded.source);
        out.text("outcome", recorded.outcome().as_str());
        out.integer("start", microseconds(recorded.start));
        if let Some(end) = recorded.end {
            out.integer("end", microseconds(end));
        }
        if recorded.estimated {
            out.bool("estimated", true);
        }
        write_group(out, recorded);
        result(out, recorded, texts);
    });
    write_not_started(out, request);
    let warnings = request.response_value(&["warnings"]).and_then(|warnings| warnings.to_items());
    let warnings = warnings.unwrap_or_default();
    out.warnings_if_any(&warnings.iter().filter_map(RawJson::to_text).collect::<Vec<_>>());
}

/// Writes the result of a hook.
fn result(out: &mut ObjectWriter<'_>, hook: &RecordedHook, texts: Texts) {
    let Some(result) = &hook.result else { return };
    for (name, value) in result.iter() {
        match (name, texts) {
            (
                "name" | "type" | "source" | "outcome" | "start" | "end" | "estimated" | "group"
                | "priority",
                _,
            ) => {}
            ("stdout" | "stderr", Texts::Cut { stream, .. }) => {
                let text = value.to_text().unwrap_or_default();
                cut(out, name, &text, stream);
            }
            _ => out.raw(name, value),
        }
    }
}

fn value(out: &mut ObjectWriter<'_>, name: &str, value: Option<&RawJson>, texts: Texts) {
    match (value, texts) {
        (None, _) => {}
        (Some(value), Texts::Full) => out.raw(name, value),
        (Some(value), Texts::Cut { value: max, .. }) => cut(out, name, value.as_str(), max),
    }
}

/// Writes at most `most` bytes of a text, and the number of bytes cut off.
fn cut(out: &mut ObjectWriter<'_>, name: &str, text: &str, max: usize) {
    let end = (0..=max.min(text.len())).rev().find(|end| text.is_char_boundary(*end));
    let shown = text.get(..end.unwrap_or_default()).unwrap_or_default();
    out.text(name, shown);
    if shown.len() < text.len() {
        out.integer(&format!("{name}Cut"), (text.len() - shown.len()) as i128);
    }
}

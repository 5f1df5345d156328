//! The results of a replay.

use std::fmt::Write;

use hook_bus::recording::{Difference, RecordedRequest, Replay, Unreplayable};
use hook_json::{ObjectWriter, RawJson};

use super::trace::title;
use crate::output::{Printer, Tone};
use hook_json::text::{self, one_line};

/// The counts of a replay's results.
#[derive(Debug, Default)]
pub(crate) struct ReplayTotals {
    pub(crate) same: usize,
    pub(crate) changed: usize,
    pub(crate) skipped: usize,
}

impl ReplayTotals {
    pub(crate) fn count(&mut self, replayed: &Result<Replay, Unreplayable>) {
        match replayed {
            Ok(replay) if replay.differences.is_empty() => self.same += 1,
            Ok(_) => self.changed += 1,
            Err(_) => self.skipped += 1,
        }
    }
}

/// Formats one request for people: a line, followed by the changes.
pub(crate) fn replayed(
    request: &RecordedRequest,
    replayed: &Result<Replay, Unreplayable>,
    printer: &Printer,
) -> String {
    let (label, tone) = match replayed {
        Ok(replay) if replay.differences.is_empty() => ("same   ", Tone::Good),
        Ok(_) => ("changed", Tone::Bad),
        Err(_) => ("skipped", Tone::Warning),
    };
    let id = request.message.as_ref().and_then(|message| message.get("correlationId")?.to_text());
    let (event, subject) = title(request);
    let mut out = format!(
        "{} {}",
        printer.paint(tone, label),
        printer.paint(Tone::Strong, &one_line(&event))
    );
    for (tone, text) in [(Tone::Plain, subject), (Tone::Quiet, id)] {
        if let Some(text) = text {
            let _ = write!(out, " {}", printer.paint(tone, &one_line(&text)));
        }
    }
    out.push('\n');
    match replayed {
        Ok(replay) => {
            for difference in &replay.differences {
                change(&mut out, difference, printer);
            }
        }
        Err(why) => {
            let _ = writeln!(out, "  {}", printer.paint(Tone::Quiet, &one_line(&why.to_string())));
        }
    }
    out
}

fn change(out: &mut String, difference: &Difference, printer: &Printer) {
    let lines: [(&str, Tone, Option<String>); 2] = match difference {
        Difference::Value { path, before, now } => {
            let _ = writeln!(out, "  {}", printer.paint(Tone::Quiet, &one_line(path)));
            let shown = |value: &Option<RawJson>| Some(shown(value.as_ref()));
            [("-", Tone::Bad, shown(before)), ("+", Tone::Good, shown(now))]
        }
        Difference::HookOrder { before, now } => {
            let _ = writeln!(out, "  {}", printer.paint(Tone::Quiet, "order of hooks"));
            [("-", Tone::Bad, Some(before.join(", "))), ("+", Tone::Good, Some(now.join(", ")))]
        }
        Difference::HookAdded(name) => {
            let _ = writeln!(out, "  {}", printer.paint(Tone::Quiet, "hook"));
            [("+", Tone::Good, Some(name.clone())), ("", Tone::Plain, None)]
        }
        Difference::HookRemoved(name) => {
            let _ = writeln!(out, "  {}", printer.paint(Tone::Quiet, "hook"));
            [("-", Tone::Bad, Some(name.clone())), ("", Tone::Plain, None)]
        }
        Difference::WarningAdded(text) => {
            let _ = writeln!(out, "  {}", printer.paint(Tone::Quiet, "warning"));
            [("+", Tone::Warning, Some(text.clone())), ("", Tone::Plain, None)]
        }
        Difference::WarningRemoved(text) => {
            let _ = writeln!(out, "  {}", printer.paint(Tone::Quiet, "warning"));
            [("-", Tone::Warning, Some(text.clone())), ("", Tone::Plain, None)]
        }
    };
    for (sign, tone, text) in lines {
        if let Some(text) = text {
            let text = text.replace('\n', "\n      ");
            let _ = writeln!(out, "    {}", printer.paint(tone, &format!("{sign} {text}")));
        }
    }
}

/// Formats a value for people, with strings unquoted.
fn shown(value: Option<&RawJson>) -> String {
    match value {
        None => "(nothing)".to_owned(),
        Some(value) => value.to_text().unwrap_or_else(|| text::escaped_lines(value.as_str())),
    }
}

/// Returns the last line.
pub(crate) fn replay_summary(totals: &ReplayTotals, printer: &Printer) -> String {
    let count = totals.same + totals.changed + totals.skipped;
    let requests = if count == 1 { "request" } else { "requests" };
    let tone = if totals.changed == 0 { Tone::Good } else { Tone::Bad };
    let mut text = format!("{count} {requests}: {} same, {} changed", totals.same, totals.changed);
    if totals.skipped > 0 {
        let _ = write!(text, ", {} skipped", totals.skipped);
    }
    format!("{}\n", printer.paint(tone, &text))
}

/// Formats one request as a line of JSON.
pub(crate) fn replayed_json(
    request: &RecordedRequest,
    replayed: &Result<Replay, Unreplayable>,
) -> Vec<u8> {
    ObjectWriter::line(|object| write_replayed(object, request, replayed))
}

fn write_replayed(
    object: &mut ObjectWriter<'_>,
    request: &RecordedRequest,
    replayed: &Result<Replay, Unreplayable>,
) {
    object.integer("request", request.number.into());
    let id = request.message.as_ref().and_then(|message| message.get("correlationId")?.to_text());
    object.optional_text("correlationId", id.as_deref());
    object.optional_text("eventName", request.event_name.as_deref());
    object.optional_text("subject", request.subject().as_deref());
    match replayed {
        Ok(replay) => {
            let same = replay.differences.is_empty();
            object.text("outcome", if same { "same" } else { "changed" });
            object.objects("differences", &replay.differences, difference_json);
            object.object("response", |out| replay.response.write(out));
        }
        Err(why) => {
            object.text("outcome", "skipped");
            object.text("why", &why.to_string());
        }
    }
}

fn difference_json(out: &mut ObjectWriter<'_>, difference: &Difference) {
    out.text("kind", difference.kind());
    match difference {
        Difference::Value { path, before, now } => {
            out.text("path", path);
            for (name, value) in [("before", before), ("now", now)] {
                if let Some(value) = value {
                    out.raw(name, value);
                }
            }
        }
        Difference::HookOrder { before, now } => {
            out.texts("before", before);
            out.texts("now", now);
        }
        Difference::HookAdded(name) | Difference::HookRemoved(name) => out.text("hook", name),
        Difference::WarningAdded(text) | Difference::WarningRemoved(text) => {
            out.text("warning", text);
        }
    }
}

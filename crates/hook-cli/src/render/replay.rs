//! The results of a replay.

use std::fmt::Write;

use hook_json::{ObjectWriter, RawJson};
use hook_record::recording::{Difference, RecordedRequest, Replay, Unreplayable};

use super::counted;
use super::trace::title;
use crate::output::{Printer, Tone, View};
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

/// A request that was fired again, and the result.
pub(crate) struct Replayed<'r> {
    pub(crate) request: &'r RecordedRequest,
    pub(crate) replayed: &'r Result<Replay, Unreplayable>,
}

impl Replayed<'_> {
    fn correlation_id(&self) -> Option<String> {
        self.request.message.as_ref()?.get("correlationId")?.to_text()
    }

    fn outcome(&self) -> (&'static str, Tone) {
        match self.replayed {
            Ok(replay) if replay.differences.is_empty() => ("same", Tone::Good),
            Ok(_) => ("changed", Tone::Bad),
            Err(_) => ("skipped", Tone::Warning),
        }
    }
}

impl View for Replayed<'_> {
    fn json(&self) -> Vec<u8> {
        ObjectWriter::line(|object| {
            object.integer("request", self.request.number.into());
            object.optional_text("correlationId", self.correlation_id().as_deref());
            object.optional_text("eventName", self.request.event_name.as_deref());
            object.optional_text("subject", self.request.subject().as_deref());
            object.text("outcome", self.outcome().0);
            match self.replayed {
                Ok(replay) => {
                    object.objects("differences", &replay.differences, difference_json);
                    object.object("response", |out| replay.response.write(out));
                }
                Err(why) => object.text("why", &why.to_string()),
            }
        })
    }

    /// Returns a line, followed by the changes.
    fn text(&self, printer: &Printer) -> String {
        let (label, tone) = self.outcome();
        let (event, subject) = title(self.request);
        let mut out = printer.paint(tone, &format!("{label:<7}"));
        let parts = [Some(event), subject, self.correlation_id()].into_iter().flatten();
        for (tone, text) in [Tone::Strong, Tone::Plain, Tone::Quiet].into_iter().zip(parts) {
            let _ = write!(out, " {}", printer.paint(tone, &one_line(&text)));
        }
        out.push('\n');
        match self.replayed {
            Ok(replay) => out.extend(replay.differences.iter().map(|found| change(found, printer))),
            Err(why) => {
                let why = printer.paint(Tone::Quiet, &one_line(&why.to_string()));
                let _ = writeln!(out, "  {why}");
            }
        }
        out
    }
}

fn change(difference: &Difference, printer: &Printer) -> String {
    let (title, lines) = match difference {
        Difference::Value { path, before, now } => {
            (&**path, vec![("-", Tone::Bad, shown(before)), ("+", Tone::Good, shown(now))])
        }
        Difference::HookOrder { before, now } => {
            let lines = [("-", Tone::Bad, before.join(", ")), ("+", Tone::Good, now.join(", "))];
            ("order of hooks", lines.to_vec())
        }
        Difference::HookAdded(name) => ("hook", vec![("+", Tone::Good, name.clone())]),
        Difference::HookRemoved(name) => ("hook", vec![("-", Tone::Bad, name.clone())]),
        Difference::WarningAdded(text) => ("warning", vec![("+", Tone::Warning, text.clone())]),
        Difference::WarningRemoved(text) => ("warning", vec![("-", Tone::Warning, text.clone())]),
    };
    let mut out = format!("  {}\n", printer.paint(Tone::Quiet, &one_line(title)));
    for (sign, tone, text) in lines {
        let text = text.replace('\n', "\n      ");
        let _ = writeln!(out, "    {}", printer.paint(tone, &format!("{sign} {text}")));
    }
    out
}

/// Formats a value for people, with strings unquoted.
fn shown(value: &Option<RawJson>) -> String {
    match value {
        None => "(nothing)".to_owned(),
        Some(value) => value.to_text().unwrap_or_else(|| text::escaped_lines(value.as_str())),
    }
}

/// Returns the last line.
pub(crate) fn replay_summary(totals: &ReplayTotals, printer: &Printer) -> String {
    let count = totals.same + totals.changed + totals.skipped;
    let tone = if totals.changed == 0 { Tone::Good } else { Tone::Bad };
    let mut text =
        format!("{}: {} same, {} changed", counted(count, "request"), totals.same, totals.changed);
    if totals.skipped > 0 {
        let _ = write!(text, ", {} skipped", totals.skipped);
    }
    format!("{}\n", printer.paint(tone, &text))
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

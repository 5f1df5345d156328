//! The output of `hook tail`: a line for each start, finish and response on a server.

use std::collections::HashMap;
use std::time::{Duration, UNIX_EPOCH};

use hook_json::{JsonObject, RawJson};

use super::response::duration;
use crate::output::{Printer, Tone};

/// The maximum length of a shown text, in characters.
const MAX_LENGTH: usize = 160;

/// A formatter of a recording's lines for people.
#[derive(Debug, Default)]
pub(crate) struct TailLines {
    /// The time of the server's start, since 1970.
    started: Option<Duration>,
    /// The arrival times of unanswered requests, in microseconds.
    started_at: HashMap<u64, u64>,
}

impl TailLines {
    /// Formats a line for people, with its end. Returns `None` if there is nothing to show.
    pub(crate) fn line(&mut self, text: String, printer: &Printer) -> Option<String> {
        let fields = RawJson::parse(text).and_then(|value| value.to_object()).ok()?;
        if let Some(started) = self::text(&fields, "startedAt") {
            let started = humantime::parse_rfc3339(&started).ok();
            self.started = started.and_then(|started| started.duration_since(UNIX_EPOCH).ok());
            return None;
        }
        let micros = number(&fields, "at")?;
        let time = printer.paint(Tone::Quiet, &self.time(micros));
        if let Some(missed) = number(&fields, "missed") {
            // Answers may be among the missed messages.
            self.started_at.clear();
            let missed = printer.paint(Tone::Warning, &format!("{missed} messages missed"));
            return Some(format!("{time} {missed}\n"));
        }
        let request = number(&fields, "request")?;
        let message = object(&fields, "message")?;
        let shown = match self::text(&message, "type")?.as_str() {
            "hook-execution-request" => {
                self.started_at.insert(request, micros);
                return None;
            }
            "hook-started" => started(&message, printer)?,
            "hook-finished" => finished(&message, printer)?,
            "hook-execution-response" => {
                let duration_micros =
                    self.started_at.remove(&request).map(|start| micros.saturating_sub(start));
                response(&message, duration_micros.map(Duration::from_micros), printer)
            }
            _ => return None,
        };
        let event = self::text(&message, "eventName").unwrap_or_else(|| "?".to_owned());
        let event = printer.paint(Tone::Strong, &format!("{:<19}", folded(&event)));
        Some(format!("{time} {event} {shown}\n"))
    }

    /// Returns the time of day in UTC.
    fn time(&self, at: u64) -> String {
        let time = self.started.and_then(|it| it.checked_add(Duration::from_micros(at)));
        let Some(time) = time else { return "--:--:--.---".to_owned() };
        let (seconds, millis) = (time.as_secs(), time.subsec_millis());
        let (hours, minutes) = (seconds / 3600 % 24, seconds / 60 % 60);
        format!("{hours:02}:{minutes:02}:{:02}.{millis:03}", seconds % 60)
    }
}

fn started(message: &JsonObject, printer: &Printer) -> Option<String> {
    let hook = object(message, "hook")?;
    Some(parts(&[&status_label(Tone::Quiet, "started", printer), &name(&hook, printer)]))
}

fn finished(message: &JsonObject, printer: &Printer) -> Option<String> {
    let hook = object(message, "hook")?;
    let error = text(&hook, "error");
    let code = number(&hook, "exitCode");
    let tone = match (&error, code) {
        (Some(_), _) => Tone::Warning,
        // A denial is how a guard is meant to end.
        (None, Some(2)) => Tone::Bad,
        (None, _) => Tone::Good,
    };
    let ended = match (error, code) {
        (Some(error), _) => error,
        (None, Some(code)) => format!("exit {code}"),
        (None, None) => String::new(),
    };
    let took = hook.get("duration").and_then(|duration| duration.as_str().parse::<f64>().ok());
    let took = took.and_then(|took| Duration::try_from_secs_f64(took / 1e3).ok());
    Some(parts(&[
        &status_label(tone, "finished", printer),
        &name(&hook, printer),
        &painted(tone, &ended, printer),
        &painted(Tone::Quiet, &took.map(duration).unwrap_or_default(), printer),
    ]))
}

fn response(message: &JsonObject, took: Option<Duration>, printer: &Printer) -> String {
    let error = object(message, "error");
    let processed = object(message, "processed");
    let decision = processed.as_ref().and_then(|processed| text(processed, "decision"));
    let reason = processed.as_ref().and_then(|processed| text(processed, "reason"));
    let (tone, decision_text) = match (decision.as_deref(), &error) {
        (Some("block" | "stop"), _) => (Tone::Bad, decision.unwrap_or_default()),
        (Some("ask" | "retry"), _) => (Tone::Warning, decision.unwrap_or_default()),
        (_, Some(error)) => (Tone::Bad, text(error, "code").unwrap_or_default()),
        _ => (Tone::Good, decision.unwrap_or_default()),
    };
    let why = reason.or_else(|| error.as_ref().and_then(|error| text(error, "message")));
    parts(&[
        &status_label(tone, &decision_text, printer),
        &painted(Tone::Plain, &why.unwrap_or_default(), printer),
        &painted(Tone::Quiet, &took.map(duration).unwrap_or_default(), printer),
        &painted(Tone::Quiet, &text(message, "correlationId").unwrap_or_default(), printer),
    ])
}

/// Formats the kind of message, as a column.
fn status_label(tone: Tone, label: &str, printer: &Printer) -> String {
    printer.paint(tone, &format!("{:<8}", folded(label)))
}

fn name(hook: &JsonObject, printer: &Printer) -> String {
    painted(Tone::Plain, &text(hook, "name").unwrap_or_default(), printer)
}

/// Formats a part of a line. An empty part stays empty, without colours.
fn painted(tone: Tone, text: &str, printer: &Printer) -> String {
    match folded(text) {
        text if text.is_empty() => text,
        text => printer.paint(tone, &text),
    }
}

fn parts(parts: &[&str]) -> String {
    let parts: Vec<&str> = parts.iter().copied().filter(|part| !part.is_empty()).collect();
    parts.join(" ").trim_end().to_owned()
}

/// Returns the beginning of a foreign text on one line, so that it cannot imitate another line.
fn folded(text: &str) -> String {
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    match text.char_indices().nth(MAX_LENGTH) {
        Some((end, _)) => format!("{}…", text.get(..end).unwrap_or_default()),
        None => text,
    }
}

fn text(fields: &JsonObject, name: &str) -> Option<String> {
    fields.get(name)?.to_text()
}

fn number(fields: &JsonObject, name: &str) -> Option<u64> {
    fields.get(name)?.to_u64()
}

fn object(fields: &JsonObject, name: &str) -> Option<JsonObject> {
    fields.get(name)?.to_object().ok()
}

//! The lines, made from messages.

use std::path::Path;
use std::time::Instant;

use hook_json::{ObjectWriter, RawObject};
use hook_protocol::timestamp;
use hook_settings::redact::Redaction;

use crate::bus::Lagged;
use crate::message::{HookExecutionResponse, JournalEntry, JournalMessage};
use crate::redaction::exemptions;

/// The version in the first line.
const FORMAT_VERSION: u64 = 1;

/// A writer of the lines of one recording, made from messages on a bus.
#[derive(Debug)]
pub(super) struct JournalLines {
    started: Instant,
    /// The last line's time in microseconds: times never decrease.
    last_micros: u64,
}

impl JournalLines {
    /// Starts a recording now; also returns the first line, without its newline.
    pub(super) fn start(project: &Path) -> (Self, Vec<u8>) {
        let (started, started_at) = (Instant::now(), timestamp());
        let first = ObjectWriter::line(|object| {
            object.text("type", "hook-recording");
            object.integer("version", FORMAT_VERSION.into());
            object.text("engine", env!("CARGO_PKG_VERSION"));
            object.text("startedAt", &started_at);
            object.text("project", &project.to_string_lossy());
        });
        (Self { started, last_micros: 0 }, first)
    }

    /// Returns the line for an item of a subscription to [`JournalEntry`], without its newline.
    /// Returns `None` for an invalid request, which has no text. Values matching `redaction` are
    /// left out of the message.
    pub(super) fn line(
        &mut self,
        entry: Result<&JournalEntry, Lagged>,
        redaction: &Redaction,
    ) -> Option<Vec<u8>> {
        match entry {
            Ok(entry) => self.entry_line(entry, redaction),
            Err(lagged) => Some(self.gap_line(lagged)),
        }
    }

    fn entry_line(&mut self, entry: &JournalEntry, redaction: &Redaction) -> Option<Vec<u8>> {
        if let JournalMessage::Request(request) = &entry.message
            && request.envelope_error().is_some()
        {
            return None;
        }
        let at = self.advance_clock(entry.at);
        Some(ObjectWriter::line(|object| {
            object.integer("at", at.into());
            object.integer("request", entry.request.number().into());
            if let JournalMessage::Response(response) = &entry.message {
                write_groups(object, response);
            }
            if redaction.is_empty() {
                object.object("message", |out| write_message(entry, out));
                return;
            }
            let message = RawObject::build(|out| write_message(entry, out));
            object.raw("message", redact(&message, redaction).as_raw());
            object.optional_text("withheld", redaction.withheld());
        }))
    }

    fn gap_line(&mut self, lagged: Lagged) -> Vec<u8> {
        // The missed messages came before the next one, at an unknown time.
        let at = self.last_micros;
        ObjectWriter::line(|object| {
            object.integer("at", at.into());
            object.integer("missed", lagged.missed().into());
        })
    }

    fn advance_clock(&mut self, at: Instant) -> u64 {
        let elapsed = at.saturating_duration_since(self.started).as_micros();
        self.last_micros = self.last_micros.max(u64::try_from(elapsed).unwrap_or(u64::MAX));
        self.last_micros
    }
}

/// Writes the groups of the response's hooks, which its message does not have: the number of hooks
/// of each group, in order. Writes nothing if there is only one group.
fn write_groups(out: &mut ObjectWriter<'_>, response: &HookExecutionResponse) {
    let mut groups: Vec<((usize, i32), usize)> = Vec::new();
    for result in &response.hooks {
        match groups.last_mut() {
            Some((group, hooks)) if *group == result.group => *hooks += 1,
            _ => groups.push((result.group, 1)),
        }
    }
    if groups.len() > 1 {
        out.objects("groups", groups, |out, ((_, priority), hooks)| {
            out.integer("priority", priority.into());
            out.integer("hooks", hooks as i128);
        });
    }
}

fn write_message(entry: &JournalEntry, out: &mut ObjectWriter<'_>) {
    match &entry.message {
        JournalMessage::Request(request) => request.write(out),
        JournalMessage::Progress(progress) => progress.write(out, true),
        JournalMessage::Response(response) => response.write_with_streams(out),
    }
}

/// Returns the message with redacted values.
fn redact(message: &RawObject, redaction: &Redaction) -> RawObject {
    match redaction.json(message.as_str(), exemptions()) {
        None => message.clone(),
        // Redacted JSON is still JSON.
        Some(redacted) => RawObject::parse(redacted).unwrap_or_else(|_| RawObject::empty()),
    }
}

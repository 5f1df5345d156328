//! The lines of a recording.

use std::path::Path;
use std::time::Instant;

use hook_core::{ObjectWriter, timestamp};

use crate::message::{JournalEntry, JournalMessage, RequestKey};
use crate::subscription::Lagged;

/// What the first line's `version` says.
const FORMAT_VERSION: u64 = 1;

/// Makes the lines of one recording out of what happens on a bus.
#[derive(Debug)]
pub struct RecordingLines {
    started: Instant,
    /// The last line's time in microseconds: lines never go back in time.
    at: u64,
}

impl RecordingLines {
    /// Begins a recording now; the first line, without its end.
    pub fn begin(project: &Path) -> (Self, Vec<u8>) {
        let (started, started_at) = (Instant::now(), timestamp());
        let mut out = Vec::new();
        let mut object = ObjectWriter::begin(&mut out);
        object.text("type", "hook-recording");
        object.integer("version", FORMAT_VERSION.into());
        object.text("engine", env!("CARGO_PKG_VERSION"));
        object.text("startedAt", &started_at);
        object.text("project", &project.to_string_lossy());
        object.end();
        (Self { started, at: 0 }, out)
    }

    /// The line of what a subscription to [`JournalEntry`] gave, without its end. `None` for what
    /// has no text: a request that was none.
    pub fn line(&mut self, entry: Result<&JournalEntry, Lagged>) -> Option<Vec<u8>> {
        match entry {
            Ok(entry) => self.entry(entry),
            Err(lagged) => Some(self.missed(lagged)),
        }
    }

    fn entry(&mut self, entry: &JournalEntry) -> Option<Vec<u8>> {
        let message = match &entry.message {
            JournalMessage::Request(request) if !request.is_envelope() => return None,
            JournalMessage::Request(request) => request.to_json(),
            JournalMessage::Progress(progress) => progress.to_json_with_streams(),
            JournalMessage::Response(response) => response.to_json_with_streams(),
        };
        let at = self.time(entry.at);
        Some(numbered(at, entry.request, &message))
    }

    fn missed(&mut self, lagged: Lagged) -> Vec<u8> {
        // What is gone came before what is still to be read, and nobody knows when.
        let at = self.at;
        let mut out = Vec::new();
        let mut object = ObjectWriter::begin(&mut out);
        object.integer("at", at.into());
        object.integer("missed", lagged.missed().into());
        object.end();
        out
    }

    fn time(&mut self, at: Instant) -> u64 {
        let since = at.saturating_duration_since(self.started).as_micros();
        self.at = self.at.max(u64::try_from(since).unwrap_or(u64::MAX));
        self.at
    }
}

fn numbered(at: u64, request: RequestKey, message: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(message.len() + 64);
    out.extend_from_slice(
        format!("{{\"at\":{at},\"request\":{},\"message\":", request.number()).as_bytes(),
    );
    out.extend_from_slice(message);
    out.push(b'}');
    out
}

//! All messages of a bus, as lines of a recording.

use std::fmt;

use crate::bus::Subscription;
use crate::message::JournalEntry;
use crate::recording::RecordingLines;
use crate::redaction::CurrentRedaction;
use crate::system::HookSystem;
use futures::StreamExt;

/// All messages of a bus, of all its clients, as lines of a recording without redacted values. The
/// bus does not wait for a slow reader: a line reports how many messages were missed.
pub struct JournalFollower {
    journal: Subscription<JournalEntry>,
    lines: RecordingLines,
    redaction: CurrentRedaction,
}

impl JournalFollower {
    /// Starts following; also returns the first line of the recording.
    pub fn start(system: &HookSystem) -> (Self, Vec<u8>) {
        let journal = system.bus().subscribe();
        let (lines, first) = RecordingLines::start(system.project());
        let redaction = system.current_redaction();
        (Self { journal, lines, redaction }, first)
    }

    /// Returns the next line, without the newline; `None` when the bus is gone.
    ///
    /// # Cancellation
    /// Dropping the future loses nothing.
    pub async fn next(&mut self) -> Option<Vec<u8>> {
        loop {
            // Await this before taking an entry, which would be lost if the future is dropped.
            self.redaction.load().await;
            let entry = self.journal.next().await?;
            let redaction = self.redaction.current();
            let entry = entry.as_deref().map_err(|lag| *lag);
            if let Some(line) = self.lines.line(entry, &redaction) {
                return Some(line);
            }
        }
    }
}

impl fmt::Debug for JournalFollower {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Following").finish_non_exhaustive()
    }
}

//! Everything that happens on a bus, as the lines of a recording.

use std::fmt;

use crate::bus::Subscription;
use crate::message::JournalEntry;
use crate::recording::RecordingLines;
use crate::redaction::CurrentRedaction;
use crate::system::HookSystem;
use futures::StreamExt;

/// Everything that happens on a bus, for all of its clients, as the lines of a recording, without what
/// settings redact. The bus does not wait for a follower: what is not read in time is a line that says how
/// much was missed.
pub struct Following {
    journal: Subscription<JournalEntry>,
    lines: RecordingLines,
    redaction: CurrentRedaction,
}

impl Following {
    /// Follows from now on; with the line that begins the recording.
    pub fn begin(system: &HookSystem) -> (Self, Vec<u8>) {
        let journal = system.bus().subscribe();
        let (lines, first) = RecordingLines::begin(system.project());
        let redaction = system.current_redaction();
        (Self { journal, lines, redaction }, first)
    }

    /// The next line, without its end; `None` when the bus is gone.
    ///
    /// # Cancellation
    /// Dropping the future loses nothing.
    pub async fn next(&mut self) -> Option<Vec<u8>> {
        loop {
            // Before an entry is taken, which would be lost with this future.
            self.redaction.known().await;
            let entry = self.journal.next().await?;
            let redaction = self.redaction.now();
            let entry = entry.as_deref().map_err(|missed| *missed);
            if let Some(line) = self.lines.line(entry, &redaction) {
                return Some(line);
            }
        }
    }
}

impl fmt::Debug for Following {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Following").finish_non_exhaustive()
    }
}

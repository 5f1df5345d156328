//! All messages of a bus, as lines of a recording.

use futures::StreamExt;
use hook_json::opaque_debug;

use super::lines::JournalLines;
use crate::bus::Subscription;
use crate::message::JournalEntry;
use crate::redaction::CurrentRedaction;
use crate::system::HookSystem;

/// All messages of a bus, of all its clients, as lines of a recording without redacted values. The
/// bus does not wait for a slow reader: a line reports how many messages were missed.
pub struct JournalFollower {
    journal: Subscription<JournalEntry>,
    lines: JournalLines,
    redaction: CurrentRedaction,
    missed: u64,
}

impl JournalFollower {
    /// Starts following; also returns the first line of the recording.
    pub fn start(system: &HookSystem) -> (Self, Vec<u8>) {
        let journal = system.bus().subscribe();
        let (lines, first) = JournalLines::start(system.project());
        let redaction = system.current_redaction();
        (Self { journal, lines, redaction, missed: 0 }, first)
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
            let entry = entry.as_deref().map_err(|lagged| *lagged);
            if let Err(lagged) = entry {
                self.missed += lagged.missed();
            }
            if let Some(line) = self.lines.line(entry, &redaction) {
                return Some(line);
            }
        }
    }

    /// Returns the number of messages that were missed because this was too slow.
    pub fn missed(&self) -> u64 {
        self.missed
    }
}

opaque_debug!(JournalFollower);

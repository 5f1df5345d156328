//! Reading lines of bytes, with a limit that a hostile line cannot get past.

use std::borrow::Cow;
use std::fmt;
use std::io;

use memchr::memchr;
use tokio::io::{AsyncRead, AsyncReadExt};

/// How long a line may be where nothing else is said, in bytes: 64 MiB.
pub const MAX_LINE: usize = 64 * 1024 * 1024;

const READ_SIZE: usize = 64 * 1024;

/// One line that is not blank.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Line {
    /// A line's text. Bytes that are not UTF-8 are replaced, as everywhere (protocol.md §3).
    Text {
        /// The line's number, from 1, blank ones counted.
        number: usize,
        /// The text, without the line's end.
        text: String,
    },
    /// A line of more bytes than a line may have, or one for which there was no room among those of
    /// other clients; nothing of it was kept.
    TooLong {
        /// The line's number, from 1.
        number: usize,
        /// How long it was, in bytes.
        length: u64,
    },
}

impl Line {
    /// The line's number, from 1, blank ones counted.
    pub fn number(&self) -> usize {
        match self {
            Self::Text { number, .. } | Self::TooLong { number, .. } => *number,
        }
    }
}

/// Room for lines whose end has not come yet, which several readers share.
pub trait Room: Send {
    /// Holds room for an unfinished line of that length, and gives back what is more. False where
    /// there is not so much left; then what was held stays held.
    #[must_use]
    fn hold(&mut self, line: usize) -> bool;
}

/// Splits a stream of bytes into lines.
pub struct LineReader<R> {
    reader: R,
    /// How long a line may be.
    limit: usize,
    /// What was read: lines that were given out, the line so far, and perhaps lines after it.
    buffer: Vec<u8>,
    /// Where the line so far begins in the buffer.
    start: usize,
    /// How far the buffer is known to hold no further line's end.
    searched: usize,
    /// How many bytes of an overlong line were thrown away.
    skipped: u64,
    /// Its share of the room that readers have together, if it has only a share.
    room: Option<Box<dyn Room>>,
    number: usize,
    ended: bool,
}

impl<R> fmt::Debug for LineReader<R> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("LineReader").field("number", &self.number).finish_non_exhaustive()
    }
}

impl<R: AsyncRead + Unpin> LineReader<R> {
    /// Reads from a stream; it need not be buffered.
    pub fn new(reader: R) -> Self {
        Self {
            reader,
            limit: MAX_LINE,
            buffer: Vec::new(),
            start: 0,
            searched: 0,
            skipped: 0,
            room: None,
            number: 0,
            ended: false,
        }
    }

    /// Lines may have so many bytes at most, instead of [`MAX_LINE`].
    #[must_use]
    pub fn up_to(mut self, limit: usize) -> Self {
        self.limit = limit;
        self
    }

    /// Holds no more of an unfinished line than there is room for.
    #[must_use]
    pub fn within(mut self, room: impl Room + 'static) -> Self {
        self.room = Some(Box::new(room));
        self
    }

    /// The stream, without what was read of it.
    pub fn into_inner(self) -> R {
        self.reader
    }

    /// The next line that is not blank; `None` at the end. A last line without an end counts.
    ///
    /// # Cancellation
    /// Dropping the future loses nothing.
    ///
    /// # Errors
    /// When the stream cannot be read.
    pub async fn next(&mut self) -> io::Result<Option<Line>> {
        loop {
            if let Some(line) = self.next_read() {
                return Ok(Some(line));
            }
            if self.ended {
                return Ok(None);
            }
            self.make_room();
            self.ended = self.reader.read_buf(&mut self.buffer).await? == 0;
        }
    }

    /// The next line that is not blank among what was read already.
    pub fn next_read(&mut self) -> Option<Line> {
        loop {
            if let Some(line) = self.take_line()? {
                return Some(line);
            }
        }
    }

    /// Drops what was given out, once for each read and not for each line.
    fn make_room(&mut self) {
        self.buffer.drain(..self.start);
        self.searched -= self.start;
        self.start = 0;
        let has_room = match &mut self.room {
            Some(room) => room.hold(self.buffer.len()),
            None => true,
        };
        if self.buffer.len() > self.limit || !has_room {
            self.skipped += self.buffer.len() as u64;
            self.buffer.clear();
            self.searched = 0;
        }
        if self.buffer.is_empty() {
            // What a long line took is not kept for the short ones after it.
            self.buffer.shrink_to(4 * READ_SIZE);
        }
        self.buffer.reserve(READ_SIZE);
    }

    /// Takes the next whole line out of the buffer, `Some(None)` for a blank one.
    fn take_line(&mut self) -> Option<Option<Line>> {
        let unsearched = self.buffer.get(self.searched..).unwrap_or_default();
        let end = match memchr(b'\n', unsearched) {
            Some(offset) => self.searched + offset + 1,
            None if self.ended && (self.start < self.buffer.len() || self.skipped > 0) => {
                self.buffer.len()
            }
            None => {
                self.searched = self.buffer.len();
                return None;
            }
        };
        let line = self.buffer.get(self.start..end).unwrap_or_default();
        let line = line.strip_suffix(b"\n").unwrap_or(line);
        (self.start, self.searched) = (end, end);
        self.number += 1;
        let skipped = std::mem::take(&mut self.skipped);
        let length = skipped + line.len() as u64;
        if skipped > 0 || length > self.limit as u64 {
            return Some(Some(Line::TooLong { number: self.number, length }));
        }
        // To look for what must be replaced takes ten times as long.
        let text = match std::str::from_utf8(line) {
            Ok(text) => Cow::Borrowed(text),
            Err(_) => String::from_utf8_lossy(line),
        };
        // A byte order mark is an editor's habit, not a mistake.
        let text = text.trim_start_matches('\u{feff}').trim();
        if text.is_empty() {
            return Some(None);
        }
        Some(Some(Line::Text { number: self.number, text: text.to_owned() }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    async fn read_all(bytes: &[u8]) -> Vec<Line> {
        let mut reader = LineReader::new(bytes);
        let mut lines = Vec::new();
        while let Some(line) = reader.next().await.unwrap() {
            lines.push(line);
        }
        lines
    }

    #[tokio::test]
    async fn blank_lines_count_and_are_skipped() {
        let lines = read_all(b"\xef\xbb\xbfa\r\n\n  \nb\xff\nlast").await;
        let text = |number, text: &str| Line::Text { number, text: text.to_owned() };
        assert_eq!(lines, [text(1, "a"), text(4, "b\u{fffd}"), text(5, "last")]);
    }

    #[tokio::test]
    async fn an_overlong_line_is_skipped_to_its_end() {
        let mut bytes = vec![b'x'; MAX_LINE + 10];
        bytes.extend_from_slice(b"\nnext\n");
        let lines = read_all(&bytes).await;
        assert_eq!(lines[0], Line::TooLong { number: 1, length: MAX_LINE as u64 + 10 });
        assert_eq!(lines[1], Line::Text { number: 2, text: "next".to_owned() });
        for length in [MAX_LINE + 1, MAX_LINE + READ_SIZE, MAX_LINE + READ_SIZE + 1] {
            let lines = read_all(&vec![b'x'; length]).await;
            assert_eq!(lines, [Line::TooLong { number: 1, length: length as u64 }]);
        }
    }
}

//! Reads lines of bytes with a length limit.

use std::borrow::Cow;
use std::{fmt, io};

use memchr::memchr;
use tokio::io::{AsyncRead, AsyncReadExt};

/// The default maximum length of a line in bytes: 64 MiB.
pub const MAX_LINE: usize = 64 * 1024 * 1024;

const READ_SIZE: usize = 64 * 1024;

/// One line that is not blank.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Line {
    /// A line's text. Invalid UTF-8 is replaced, as everywhere (reference/answers.md).
    Text {
        /// The line's number, from 1; blank lines count.
        number: usize,
        /// The text, without the line ending.
        text: String,
    },
    /// A line that was discarded because it exceeds the length limit, or the memory that it shares
    /// with other clients.
    TooLong {
        /// The line's number, from 1.
        number: usize,
        /// The line's length in bytes.
        length: u64,
    },
}

impl Line {
    /// Returns the line's number, from 1; blank lines count.
    pub fn number(&self) -> usize {
        match self {
            Self::Text { number, .. } | Self::TooLong { number, .. } => *number,
        }
    }
}

/// A memory budget for unfinished lines that several readers share.
pub trait MemoryBudget: Send {
    /// Reserves memory for an unfinished line of the given length and releases any excess. Returns
    /// `false` and keeps the present reservation if the budget is exhausted.
    #[must_use]
    fn reserve(&mut self, line_len: usize) -> bool;
}

/// Splits a stream of bytes into lines.
pub struct LineReader<R> {
    reader: R,
    /// The maximum length of a line in bytes.
    limit: usize,
    /// The bytes read: returned lines, the unfinished line, and perhaps lines after it.
    buffer: Vec<u8>,
    /// The start of the unfinished line in the buffer.
    start: usize,
    /// The offset up to which the buffer has no further line ending.
    searched: usize,
    /// The number of discarded bytes of an overlong line.
    skipped: u64,
    /// The reader's share of a common memory budget, if it has one.
    budget: Option<Box<dyn MemoryBudget>>,
    number: usize,
    is_ended: bool,
}

impl<R> fmt::Debug for LineReader<R> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("LineReader").field("number", &self.number).finish_non_exhaustive()
    }
}

impl<R: AsyncRead + Unpin> LineReader<R> {
    /// Creates a reader of a stream, which need not be buffered.
    pub fn new(reader: R) -> Self {
        Self {
            reader,
            limit: MAX_LINE,
            buffer: Vec::new(),
            start: 0,
            searched: 0,
            skipped: 0,
            budget: None,
            number: 0,
            is_ended: false,
        }
    }

    /// Limits lines to the given number of bytes instead of [`MAX_LINE`].
    #[must_use]
    pub(crate) fn with_limit(mut self, limit: usize) -> Self {
        self.limit = limit;
        self
    }

    /// Takes the memory for unfinished lines from a shared budget.
    #[must_use]
    pub fn with_budget(mut self, budget: impl MemoryBudget + 'static) -> Self {
        self.budget = Some(Box::new(budget));
        self
    }

    /// Returns the stream, without the bytes already read from it.
    pub(crate) fn into_inner(self) -> R {
        self.reader
    }

    /// Returns the next nonblank line, or `None` at the end. An unterminated last line counts.
    ///
    /// # Cancellation
    /// Dropping the future loses no data.
    ///
    /// # Errors
    /// If the stream cannot be read.
    pub async fn next(&mut self) -> io::Result<Option<Line>> {
        loop {
            if let Some(line) = self.next_buffered() {
                return Ok(Some(line));
            }
            if self.is_ended {
                return Ok(None);
            }
            self.compact();
            self.is_ended = self.reader.read_buf(&mut self.buffer).await? == 0;
        }
    }

    /// Returns the next line that is not blank from the bytes already read.
    pub fn next_buffered(&mut self) -> Option<Line> {
        loop {
            if let Some(line) = self.take_line()? {
                return Some(line);
            }
        }
    }

    /// Drops the returned lines; this happens once per read, not per line.
    fn compact(&mut self) {
        self.buffer.drain(..self.start);
        self.searched -= self.start;
        self.start = 0;
        let is_within_budget = match &mut self.budget {
            Some(budget) => budget.reserve(self.buffer.len()),
            None => true,
        };
        if self.buffer.len() > self.limit || !is_within_budget {
            self.skipped += self.buffer.len() as u64;
            self.buffer.clear();
            self.searched = 0;
        }
        if self.buffer.is_empty() {
            // Releases the memory of a long line.
            self.buffer.shrink_to(4 * READ_SIZE);
        }
        self.buffer.reserve(READ_SIZE);
    }

    /// Takes the next complete line out of the buffer, `Some(None)` for a blank one.
    fn take_line(&mut self) -> Option<Option<Line>> {
        let unsearched = self.buffer.get(self.searched..).unwrap_or_default();
        let end = match memchr(b'\n', unsearched) {
            Some(offset) => self.searched + offset + 1,
            None if self.is_ended && (self.start < self.buffer.len() || self.skipped > 0) => {
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
        // The check is ten times as fast as the search for invalid bytes.
        let text = match std::str::from_utf8(line) {
            Ok(text) => Cow::Borrowed(text),
            Err(_) => String::from_utf8_lossy(line),
        };
        // Editors may write a byte order mark.
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

//! Scanning of text that is known to be JSON.
//!
//! Every [`RawJson`](super::RawJson) was checked when it was created. A reader need not check it
//! again, and skips a string as fast as it finds its end. Invalid text gives nothing, or positions
//! within the text, and never a panic.

use std::ops::Range;

use super::strings::end_of_string;

/// A scanner for the entries of one array or object.
#[derive(Debug)]
pub struct Scanner<'t> {
    text: &'t str,
    at: usize,
}

impl<'t> Scanner<'t> {
    /// Starts inside the brackets of `text`, if the first one is `open`.
    pub(crate) fn within(text: &'t str, open: u8) -> Option<Self> {
        let mut scanner = Self::at_value(text, 0);
        (scanner.peek()? == open).then(|| {
            scanner.enter();
            scanner
        })
    }

    /// Starts at the value at `start`, after any whitespace.
    pub fn at_value(text: &'t str, start: usize) -> Self {
        let mut scanner = Self { text, at: start };
        scanner.skip_whitespace();
        scanner
    }

    /// Returns the current position.
    pub(crate) fn at(&self) -> usize {
        self.at
    }

    /// Skips the opening bracket ahead.
    pub(crate) fn enter(&mut self) {
        self.at += 1;
    }

    /// Skips the closing bracket ahead.
    pub(crate) fn leave(&mut self) {
        self.skip_whitespace();
        self.at = self.text.len().min(self.at + 1);
    }

    /// Returns the range of the next array element.
    pub(crate) fn next_item(&mut self) -> Option<Range<usize>> {
        self.skip_to_entry()?;
        self.value()
    }

    /// Returns the ranges of the next object entry: its key, with the quotes, and its value.
    pub(crate) fn next_entry(&mut self) -> Option<(Range<usize>, Range<usize>)> {
        Some((self.next_key()?, self.value()?))
    }

    /// Returns the range of the next object entry's key, with the quotes. The value is then ahead.
    pub(crate) fn next_key(&mut self) -> Option<Range<usize>> {
        self.skip_to_entry()?;
        let key = self.value()?;
        self.skip_whitespace();
        // The colon.
        self.at += 1;
        self.skip_whitespace();
        Some(key)
    }

    pub(crate) fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    fn skip_whitespace(&mut self) {
        while let Some(b' ' | b'\n' | b'\r' | b'\t') = self.peek() {
            self.at += 1;
        }
    }

    /// Skips the text before an entry; `None` if there is no other entry.
    pub(crate) fn skip_to_entry(&mut self) -> Option<()> {
        while let Some(b' ' | b'\n' | b'\r' | b'\t' | b',') = self.peek() {
            self.at += 1;
        }
        (!matches!(self.peek()?, b']' | b'}')).then_some(())
    }

    /// Skips a value, and returns its range.
    pub fn value(&mut self) -> Option<Range<usize>> {
        let start = self.at;
        match self.peek()? {
            b'"' => self.skip_string()?,
            b'{' | b'[' => self.skip_nested()?,
            _ => {
                let is_end = |byte: &u8| matches!(byte, b',' | b']' | b'}' | b':') || *byte <= b' ';
                let rest = self.text.as_bytes().get(start..)?;
                self.at += rest.iter().position(is_end).unwrap_or(rest.len());
            }
        }
        // Without an advance, the iteration would not end.
        (self.at > start).then_some(start..self.at)
    }

    fn skip_string(&mut self) -> Option<()> {
        self.at = end_of_string(self.text.as_bytes(), self.at)?;
        Some(())
    }

    fn skip_nested(&mut self) -> Option<()> {
        let mut depth = 0_usize;
        loop {
            match self.peek()? {
                b'"' => {
                    self.skip_string()?;
                    continue;
                }
                b'{' | b'[' => depth += 1,
                b'}' | b']' => depth -= 1,
                _ => {}
            }
            self.at += 1;
            if depth == 0 {
                return Some(());
            }
        }
    }
}

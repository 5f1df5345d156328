//! The mistakes and the tables of an agent that is built from a file.

use std::ops::Range;

/// A mistake, and its range in the file.
pub(super) type Mistake = (Range<usize>, String);

/// The mistakes found while an agent is built.
#[derive(Debug, Default)]
pub(super) struct Builder {
    pub(super) mistakes: Vec<Mistake>,
}

/// Returns a list that is never freed.
pub(super) fn leak<T>(items: Vec<T>) -> &'static [T] {
    if items.is_empty() { &[] } else { items.leak() }
}

/// Returns a text that is never freed.
pub(super) fn leak_text(text: &str) -> &'static str {
    text.to_owned().leak()
}

impl Builder {
    /// Adds a mistake.
    pub(super) fn mistake(&mut self, at: Range<usize>, message: String) {
        self.mistakes.push((at, message));
    }
}

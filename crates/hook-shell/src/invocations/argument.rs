//! Arguments as a shell passes them.

/// A placeholder in texts for what is not known.
pub const UNKNOWN: char = '\u{fffc}';

/// A text of which nothing is known: [`UNKNOWN`].
pub(super) const UNKNOWN_TEXT: &str = "\u{fffc}";

/// An argument.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Argument {
    /// The text; [`UNKNOWN`] stands for what is not known.
    pub text: String,
    /// `true` if the shell replaces it by the names of files that match.
    pub is_pattern: bool,
}

impl Argument {
    pub(crate) fn plain(text: impl Into<String>) -> Self {
        Self { text: text.into(), is_pattern: false }
    }

    /// Returns `true` if a part of the text is not known.
    pub(crate) fn has_unknown(&self) -> bool {
        self.text.contains(UNKNOWN)
    }
}

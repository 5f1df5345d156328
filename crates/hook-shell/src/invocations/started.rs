//! Programs, texts and scripts that programs start.

use super::argument::Argument;
use super::paths::Access;

/// Something that a program starts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Started {
    /// A program with its arguments, perhaps behind assignments.
    Program(Vec<Argument>),
    /// A shell text.
    Text(String),
    /// A shell text with its arguments.
    TextWith(String, Vec<Argument>),
    /// The standard input, as a shell text.
    Input,
    /// A script file.
    Script(Argument),
    /// The use of a file by a program in its arguments.
    File(String, Access),
    /// Something that only running it can tell, with the reason.
    Unknown(String),
}

impl Started {
    pub(super) fn text(text: impl Into<String>) -> Self {
        Self::Text(text.into())
    }

    pub(super) fn unknown_program() -> Self {
        Self::Unknown("only running it tells what a program in its arguments starts".to_owned())
    }

    /// Creates a program of words in which a mark stands for a text.
    pub(super) fn replaced(words: &[Argument], mark: &str, text: &str) -> Self {
        let word = |word: &Argument| Argument { text: word.text.replace(mark, text), ..*word };
        Self::Program(words.iter().map(word).collect())
    }
}

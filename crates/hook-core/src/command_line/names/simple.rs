//! A simple command: its words, and what it is given to read.

use crate::command_line::programs::{Role, is_prefix, role};

/// A word of a command.
#[derive(Debug)]
pub(super) struct Word {
    /// What it is without its quotes.
    pub(super) literal: String,
    /// What it may become.
    pub(super) expanded: Vec<String>,
}

impl Word {
    /// Every text that it may be.
    pub(super) fn texts(&self) -> impl Iterator<Item = &String> {
        self.expanded.iter().chain([&self.literal])
    }
}

/// A simple command.
#[derive(Debug, Default)]
pub(super) struct Simple {
    pub(super) words: Vec<Word>,
    /// What it is given to read: `< x`.
    pub(super) inputs: Vec<Word>,
}

impl Simple {
    pub(super) fn all(&self) -> impl Iterator<Item = &Word> {
        self.words.iter().chain(&self.inputs)
    }

    /// Where the program stands.
    pub(super) fn program(&self) -> Option<usize> {
        let is_question = |index| {
            let word = |at| self.words.get(at).map(|word: &Word| word.literal.as_str());
            word(index) == Some("command") && matches!(word(index + 1), Some("-v" | "-V"))
        };
        self.words.iter().enumerate().position(|(index, Word { literal, .. })| {
            is_question(index) || !literal.contains('=') && !is_prefix(literal)
        })
    }

    /// What the program does with the words behind it.
    pub(super) fn role(&self) -> Role {
        match self.program().and_then(|program| self.words.get(program)) {
            // `command -v x` only asks for a program.
            Some(word) if word.literal == "command" => Role::OpensNothing,
            Some(word) => role(&word.literal),
            None => Role::Other,
        }
    }
}

//! A simple command: its words, and what it is given to read.

use super::GAP;
use crate::shell::programs::{Role, role, starts_others};

/// A word of a command.
#[derive(Debug)]
pub(super) struct Word {
    /// What it is without its quotes.
    pub(super) literal: String,
    /// What it may become.
    pub(super) expanded: Vec<String>,
    /// Whether it sets a variable, if it stands before a program.
    pub(super) is_assignment: bool,
    /// Whether it may become the names of files, or several words.
    pub(super) is_pattern: bool,
}

impl Word {
    /// Every text that it may be.
    pub(super) fn texts(&self) -> impl Iterator<Item = &String> {
        self.expanded.iter().chain([&self.literal])
    }

    /// The one text that it becomes, whatever happens.
    pub(super) fn only_text(&self) -> Option<&str> {
        match &self.expanded[..] {
            [only] if !self.is_pattern && !only.contains(GAP) => Some(only),
            _ => None,
        }
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
    /// Whether it does not matter what variables in the words that come are: the program opens no
    /// file that they name, or is a file of the project, up to which that is.
    pub(super) fn takes_any_value(&self) -> bool {
        let mut words = self.words.iter().skip_while(|word| word.is_assignment);
        let is_file = words
            .next()
            .and_then(Word::only_text)
            .is_some_and(|text| is_relative_path(text) && !starts_others(text));
        is_file || self.opens_nothing()
    }

    /// Whether the program is one that opens no file which its words name.
    fn opens_nothing(&self) -> bool {
        // It need not be looked for behind more than a few words.
        let begin = self.words.iter().take(4).find_map(|word| match word.only_text().map(role) {
            _ if word.is_assignment => None,
            Some(Role::Keyword) => None,
            role => Some(role),
        });
        matches!(begin, Some(Some(Role::OpensNothing)))
    }
}

/// Whether a text is a path that begins in the directory where the command runs, or in the project.
pub(super) fn is_relative_path(text: &str) -> bool {
    let begins_here = text.contains('/') && !text.starts_with(['/', '~', GAP]);
    (begins_here || text.starts_with('\0')) && !text.contains("..")
}

//! The programs that a shell text starts, with their arguments, files and input.
//!
//! A text is read as a careful person reads it: every branch may run, and at each point variables,
//! directories and functions are all that they may be there, and programs that start others (`sudo`, `xargs`, `sh -c`, `ssh`) are followed.
//! What only running the text can tell is unknown, or makes it
//! [opaque](Reading::opaque).
//!
//! | module | contents |
//! | --- | --- |
//! | `expand` | words to arguments |
//! | `files` | the files that programs read and write |
//! | `inline` | programs of other languages in arguments |
//! | `reader` | scripts to invocations |
//! | `state` | what is possible at a point of a text |
//! | `starters` | programs that start other programs: the table |

use std::ops::Range;

mod expand;
mod files;
mod inline;
mod reader;
mod starters;
mod state;
#[cfg(test)]
mod tests;

pub use files::{Access, FileAccess, join, made_links, path_of_url};
pub use starters::{
    is_option, operand_indices, operands, option_indices, option_values, value_letters,
};

/// A placeholder in texts for what is not known.
pub const UNKNOWN: char = '\u{fffc}';

/// The directories of a text that runs.
#[derive(Debug, Clone, Copy)]
pub struct Surroundings<'s> {
    /// The working directory, absolute.
    pub cwd: &'s str,
    /// The project, absolute.
    pub project: &'s str,
    /// The home directory, absolute.
    pub home: &'s str,
}

/// The programs that a text may start.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Reading {
    /// The invocations in the order of the text; a program that starts another comes first.
    pub invocations: Vec<Invocation>,
    /// Parts whose effect only running them can tell.
    pub opaque: Vec<Opaque>,
}

/// A part of a text whose effect is not known.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Opaque {
    /// The reason, as a clause: "`sh` runs what it reads".
    pub reason: String,
    /// The byte range in the text.
    pub range: Range<usize>,
}

/// A program with what it is given.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Invocation {
    /// The program as it was called, such as `/bin/rm`.
    pub called: Argument,
    /// The arguments.
    pub arguments: Vec<Argument>,
    /// The variables set for it, in order; `None` for an unknown value.
    pub variables: Vec<(String, Option<String>)>,
    /// The files that it reads and writes, as far as its arguments and redirections name them.
    pub files: Vec<FileAccess>,
    /// Its standard input.
    pub input: Input,
    /// The programs whose output it may read, in the order of the pipeline.
    pub fed_by: Vec<String>,
    /// The working directory; `None` if it is not known.
    pub cwd: Option<String>,
    /// The program that starts it, such as `sudo`.
    pub started_by: Option<String>,
    /// `true` if it runs on another machine or in a container, where files are others.
    pub is_remote: bool,
    /// The byte range in the text.
    pub range: Range<usize>,
}

impl Invocation {
    /// Returns the name of the program without its folder and `.exe`.
    pub fn program(&self) -> &str {
        program_name(&self.called.text)
    }
}

pub(crate) fn program_name(called: &str) -> &str {
    let folder = called.bytes().rposition(|byte| matches!(byte, b'/' | b'\\'));
    let name = folder.and_then(|at| called.get(at + 1..)).unwrap_or(called);
    name.strip_suffix(".exe").unwrap_or(name)
}

/// The standard input of a program.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum Input {
    /// That of the text itself.
    #[default]
    Inherited,
    /// A known text.
    Text(String),
    /// The output of another program, or a file.
    Unknown,
}

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

/// Reads a text.
pub fn read(text: &str, surroundings: &Surroundings<'_>) -> Reading {
    reader::Reader::new(surroundings).read(text)
}

//! Programs with what they are given.

use std::ops::Range;
use std::sync::Arc;

use super::argument::Argument;
use super::options;
use super::paths::FileAccess;
use super::program::{OptionValue, Program};

/// A program with what it is given.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Invocation {
    /// The program as it was called, such as `/bin/rm`.
    pub called: Argument,
    /// The arguments.
    pub arguments: Vec<Argument>,
    /// The indices of the arguments that are neither options nor their values.
    pub operands: Vec<usize>,
    /// The indices of the options among the arguments.
    pub options: Vec<usize>,
    /// The variables set for it, in order; `None` for an unknown value.
    pub variables: Vec<(String, Option<String>)>,
    /// The files that it reads and writes, as far as its arguments and redirections name them.
    pub files: Vec<FileAccess>,
    /// Its standard input.
    pub input: Input,
    /// The programs whose output it may read, in the order of the pipeline.
    pub fed_by: Vec<String>,
    /// The variables of the environment that it prints where nobody else reads them.
    pub prints: Vec<String>,
    /// The working directory; `None` if it is not known.
    pub cwd: Option<Arc<str>>,
    /// The program that starts it, such as `sudo`.
    pub started_by: Option<String>,
    /// `true` if it runs on another machine or in a container, where files are others.
    pub is_remote: bool,
    /// The byte range in the text.
    pub range: Range<usize>,
    /// The letters of the short options that take a value.
    pub value_letters: &'static str,
    pub(super) known: &'static Program,
}

/// The standard input of a program.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum Input {
    /// The input of the text itself.
    #[default]
    Inherited,
    /// A known text.
    Text(String),
    /// The output of another program, or a file.
    Unknown,
}

impl Input {
    /// Returns the text, if it is known.
    pub(super) fn text(&self) -> Option<&str> {
        match self {
            Self::Text(text) => Some(text),
            Self::Inherited | Self::Unknown => None,
        }
    }
}

impl Invocation {
    pub(super) fn new(called: Argument, arguments: Vec<Argument>) -> Self {
        let known = Program::named(file_name(&called.text));
        let (operands, options) = options::indices(known, &arguments);
        let value_letters = match known.name {
            "git" => {
                let subcommand = operands.first().and_then(|index| arguments.get(*index));
                options::git_letters(subcommand.map_or("", |subcommand| &subcommand.text))
            }
            _ => known.letters.as_str(),
        };
        Self { called, arguments, operands, options, value_letters, known, ..Self::default() }
    }

    /// Returns the name of the program without its folder and `.exe`, and without the version of one
    /// that is known: `git` for `/opt/git2`.
    pub fn program(&self) -> &str {
        match self.known.name {
            "" => self.called_name(),
            name => name,
        }
    }

    /// Returns the name of the program as it was called, without its folder and `.exe`.
    pub fn called_name(&self) -> &str {
        file_name(&self.called.text)
    }

    /// Returns the arguments that are neither options nor their values.
    pub fn operands(&self) -> impl DoubleEndedIterator<Item = &Argument> {
        self.operands.iter().filter_map(|index| self.arguments.get(*index))
    }

    /// Returns the text of an operand; empty if there is none.
    pub fn operand(&self, index: usize) -> &str {
        self.operands().nth(index).map_or("", |operand| &operand.text)
    }

    /// Returns `true` if no operand names a script, so that its input is one.
    pub(super) fn reads_program(&self) -> bool {
        matches!(self.operand(0), "" | "-" | "/dev/stdin" | "/dev/fd/0" | "/proc/self/fd/0")
    }

    /// Returns the texts of all arguments.
    pub(super) fn texts(&self) -> impl DoubleEndedIterator<Item = &str> {
        self.arguments.iter().map(|argument| argument.text.as_str())
    }

    /// Returns `true` if one of these options is given.
    pub(super) fn has_option(&self, names: &[&str]) -> bool {
        let is_one =
            |text| names.iter().any(|name| options::is_option(text, name, self.value_letters));
        self.texts().any(is_one)
    }

    /// Returns the values of options, in `--name value`, `--name=value`, `-n value` and `-nvalue`.
    pub fn option_values(&self, names: &[impl AsRef<str>]) -> Vec<&str> {
        options::option_values(&self.arguments, names)
    }

    /// Returns the values of options whose values are such.
    pub(super) fn values(&self, kind: OptionValue) -> Vec<&str> {
        match self.known.options_of(kind) {
            options if options.is_empty() => Vec::new(),
            options => self.option_values(&options),
        }
    }
}

/// Returns the last name of a path, without `.exe`.
pub(super) fn file_name(path: &str) -> &str {
    let folder = path.bytes().rposition(|byte| matches!(byte, b'/' | b'\\'));
    let name = folder.and_then(|at| path.get(at + 1..)).unwrap_or(path);
    name.strip_suffix(".exe").unwrap_or(name)
}

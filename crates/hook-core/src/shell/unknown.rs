//! Why not every file that a command may name is known.

use std::fmt;

/// A reason for which a command is opaque.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Unknown {
    /// The output of a command is part of this one.
    Substitution,
    /// A variable whose value is not in the text.
    Variable(String),
    /// An expansion or a quotation that is not read, such as `${x%y}` or `$'x'`.
    Expansion,
    /// A word of the shell such as `eval`.
    Word(String),
    /// A variable by which something else may be run or loaded.
    Loader(String),
    /// A here-document.
    HereDocument,
    /// An option of an interpreter that is not known to be harmless, such as `-c`.
    Option { program: String, option: String },
    /// An interpreter that runs what it reads.
    Input(String),
    /// A program that runs what files say that are not named.
    TaskRunner(String),
    /// A directory of which an interpreter runs a file that is not known.
    Directory(String),
    /// A file of a module loads what is not written down in it.
    Import { file: String, why: String },
    /// More than is looked at.
    TooMuch,
}

impl fmt::Display for Unknown {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Substitution => write!(formatter, "the output of a command is part of it"),
            Self::Variable(name) => write!(formatter, "the value of ${name} is not in its text"),
            Self::Expansion => write!(formatter, "it has an expansion that only the shell can do"),
            Self::Word(word) => write!(formatter, "`{word}` does what only running it can tell"),
            Self::Loader(name) => {
                write!(formatter, "what ${name} is decides what is run or loaded")
            }
            Self::HereDocument => write!(formatter, "it has a here-document"),
            Self::Option { program, option } => {
                write!(formatter, "`{program} {option}` may run code that is in no file it names")
            }
            Self::Input(program) => write!(formatter, "`{program}` runs what it reads"),
            Self::TaskRunner(program) => {
                write!(formatter, "`{program}` runs what other files of the project say")
            }
            Self::Directory(path) => {
                write!(formatter, "it is not known which file of the directory {path} runs")
            }
            Self::Import { file, why } => write!(formatter, "{file}: {why}"),
            Self::TooMuch => write!(formatter, "it is too long or too deep to be taken apart"),
        }
    }
}

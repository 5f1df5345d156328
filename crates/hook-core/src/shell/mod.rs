//! Texts of a shell: what their words are, and what they will start, without running anything.
//!
//! | module | contents |
//! | --- | --- |
//! | `lexer` | quotes, escapes, lines that go on: what each character means |
//! | `words` | words and operators |
//! | `first_command` | the words of the first simple command |
//! | `quoting` | quotes around variables, and quotes that are not closed |
//! | `names`, `unknown` | the files that a command may name, and why not all are known |
//! | `programs` | what is known of programs and of the shell's own words |
//! | `loaders` | variables that say what programs load, which no hook gets |
//! | `braces`, `glob` | brace expansion; patterns of file names |

mod braces;
mod first_command;
mod glob;
mod lexer;
pub(crate) mod loaders;
mod names;
mod programs;
mod quoting;
mod unknown;
mod words;

pub(crate) use first_command::{expanded_words, leading_variable, plain_words};
pub(crate) use glob::{is_pattern, name_fits, path_fits};
pub(crate) use names::{HERE, Names, Use, names};
pub(crate) use programs::{interpreter, is_shell_word, starts_others};
pub(crate) use quoting::{quote_project_directory, unclosed_quote};
pub(crate) use unknown::Unknown;

/// Variables that hold the project directory; all but the first for scripts written elsewhere.
pub(crate) const PROJECT_DIRECTORY: [&str; 4] =
    ["HOOK_PROJECT_DIR", "LLXPRT_PROJECT_DIR", "GEMINI_PROJECT_DIR", "CLAUDE_PROJECT_DIR"];

#[cfg(test)]
mod tests;

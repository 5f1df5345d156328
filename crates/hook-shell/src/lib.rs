//! Shell text: its words, and the programs that it starts, without running anything.
//!
//! | module | contents |
//! | --- | --- |
//! | `first_command` | the words of the first simple command |
//! | `quoting` | quoting of variables, and unclosed quotes |
//! | `commands` | the simple commands of a plain text |
//! | `programs` | tables of programs and of the shell's own words |
//! | `loaders` | variables that determine what programs load, which hooks do not get |
//! | `glob` | patterns of paths |
//! | `script` | whole texts: all commands, with words, redirections and here-documents |
//! | `windows` | commands on Windows that need no shell |
//!
//! # Example
//!
//! ```
//! let words = hook_shell::plain_words("grep -q 'rm -rf' \"$1\"");
//! assert!(words.is_none_or(|words| words[0] == "grep"));
//! ```

mod commands;
mod first_command;
mod glob;
pub mod invocations;
pub mod loaders;
mod programs;
mod quoting;
pub mod script;
mod windows;

pub use commands::{CWD_PLACEHOLDER, ShellWord, SimpleCommand, quote, simple_commands};
pub use first_command::{expanded_words, leading_variable, plain_words};
pub use glob::{glob_matches, path_matches};
pub use programs::{
    interpreter, is_builtin_or_keyword, is_filter, is_harmless_variable, is_started_program,
    options_before_script, searches_parent_folders, searches_script_folder, started_programs,
    words_before_program,
};
pub use quoting::{quote_project_directory, unclosed_quote};
pub use windows::{windows_program, windows_quote, windows_script, windows_words};

/// Variables with the project directory; all but the first are for scripts of other hook engines.
pub const PROJECT_DIRECTORY: [&str; 4] =
    ["HOOK_PROJECT_DIR", "LLXPRT_PROJECT_DIR", "GEMINI_PROJECT_DIR", "CLAUDE_PROJECT_DIR"];

#[cfg(test)]
mod tests;

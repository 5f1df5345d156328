//! Commands that need no shell: started directly, at two thirds of the cost, in the same
//! environment as under bash.
//!
//! A command qualifies if it consists of plain words (`[A-Za-z0-9_@%+:,./=-]`, separated by
//! blanks), the first word is not an assignment, a job (`%…`), a builtin or a keyword, and no
//! variable in the hook's environment affects bash itself. Arguments, exit, streams, directory and
//! variables are the same as under bash, except for `SHLVL`, `_` and bash's warning about a locale
//! that is not installed. If the program is not found or cannot be executed, bash gets the command
//! after all, for its own error message.

use std::ffi::{OsStr, OsString};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use hook_files::program;
use hook_settings::language::Launch;
use hook_shell::plain_words;

/// Variables that change bash's behavior, or whose value bash changes before it starts a program,
/// in addition to all that begin with `BASH`.
const SHELL_VARIABLES: [&str; 21] = [
    "COMP_WORDBREAKS",
    "DIRSTACK",
    "EPOCHREALTIME",
    "EPOCHSECONDS",
    "EUID",
    "EXECIGNORE",
    "FUNCNAME",
    "GROUPS",
    "HISTCMD",
    "IFS",
    "LINENO",
    "OPTERR",
    "OPTIND",
    "POSIXLY_CORRECT",
    "POSIX_PEDANTIC",
    "PPID",
    "PS4",
    "RANDOM",
    "SECONDS",
    "SHELLOPTS",
    "SRANDOM",
];

/// Variables that a non-interactive bash removes before it starts a program.
const DROPPED: [&str; 2] = ["PS1", "PS2"];

/// A command that needs no shell, and the variables that affect its start.
#[derive(Debug)]
pub(crate) struct DirectCommand {
    words: Vec<String>,
    search_path: Option<OsString>,
    working_directory: Option<PathBuf>,
    previous_directory: Option<PathBuf>,
}

impl DirectCommand {
    /// Parses a command for hooks with these variables; returns `None` if it needs a shell.
    pub(crate) fn new<'a>(
        command: &str,
        _project: &Path,
        variables: impl IntoIterator<Item = (&'a OsStr, &'a OsStr)>,
    ) -> Option<Self> {
        let mut direct = Self {
            words: plain_words(command)?,
            search_path: None,
            working_directory: None,
            previous_directory: None,
        };
        for (name, value) in variables {
            // Bash's own variables have UTF-8 names.
            match name.to_str().unwrap_or_default() {
                "PATH" => direct.search_path = Some(value.to_owned()),
                "PWD" => direct.working_directory = Some(value.into()),
                "OLDPWD" => direct.previous_directory = Some(value.into()),
                name if name.starts_with("BASH") || SHELL_VARIABLES.contains(&name) => return None,
                _ => {}
            }
        }
        Some(direct)
    }

    /// Returns the process to start in a directory with these variables; `None` if it cannot be
    /// started, so that bash reports the reason.
    pub(crate) fn process<'a>(
        &self,
        directory: &Path,
        variables: impl IntoIterator<Item = (&'a OsStr, &'a OsStr)>,
    ) -> Option<Command> {
        let (name, arguments) = self.words.split_first()?;
        let mut process = Command::new(self.program(name)?);
        process.arg0(name).args(arguments).current_dir(directory).env_clear().envs(variables);
        for name in DROPPED {
            process.env_remove(name);
        }
        process.env("PWD", self.working_directory(directory)?);
        let is_folder =
            |path: &PathBuf| !path.as_os_str().is_empty() && directory.join(path).is_dir();
        if !self.previous_directory.as_ref().is_some_and(is_folder) {
            process.env_remove("OLDPWD");
        }
        Some(process)
    }

    /// Returns the program file of a command's first word.
    fn program(&self, name: &str) -> Option<PathBuf> {
        if name.contains('/') {
            return Some(name.into());
        }
        program::find(self.search_path.as_ref()?, name)
    }

    /// Returns `PWD` as bash sets it: the inherited value if that names the directory, to keep a
    /// path through symbolic links, or else the directory's real path.
    fn working_directory(&self, directory: &Path) -> Option<PathBuf> {
        match &self.working_directory {
            Some(inherited) if inherited.is_absolute() && is_same(inherited, directory) => {
                Some(inherited.clone())
            }
            _ => hook_files::plain_path::canonical(directory).ok(),
        }
    }
}

/// Returns the start of a program with arguments, which the system finds.
pub(super) fn started_without_shell(
    launch: &Launch,
    _environment: &[(OsString, OsString)],
) -> Command {
    Command::new(&launch.program)
}

fn is_same(one: &Path, other: &Path) -> bool {
    use std::os::unix::fs::MetadataExt;
    let identity = |path: &Path| path.metadata().map(|file| (file.dev(), file.ino())).ok();
    identity(one).is_some_and(|one| Some(one) == identity(other))
}

#[cfg(test)]
mod tests;

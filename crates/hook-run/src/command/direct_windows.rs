//! Commands on Windows that need no shell: a program and plain words ([`windows_words`]). A shell
//! costs several times as much as the program, and gives spaces, `&`, `%` and `^` meanings of its
//! own.
//!
//! The program is looked for as Windows does: with the endings of `PATHEXT`, and without a folder
//! in `PATH`. What is no program of Windows is started by what runs it: a script by the program that
//! its first line (`#!`) names, one in PowerShell by PowerShell. The standard library quotes
//! arguments as programs read them and, for `.cmd` and `.bat`, as cmd.exe does; what cannot be
//! quoted for that is an error.

use std::ffi::{OsStr, OsString};
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::Command;

use hook_files::{program, regular_file};
use hook_settings::language::Launch;
use hook_shell::{is_builtin_or_keyword, windows_words};

/// The endings of programs where the environment names none.
const ENDINGS: &str = ".COM;.EXE;.BAT;.CMD";

/// How many bytes the first line of a script may have.
const MAX_FIRST_LINE: u64 = 256;

/// A command that needs no shell, and the variables that affect its start.
#[derive(Debug)]
pub(crate) struct DirectCommand {
    words: Vec<String>,
    programs: Programs,
}

impl DirectCommand {
    /// Parses a command for hooks with these variables; returns `None` if it needs a shell.
    pub(crate) fn new<'a>(
        command: &str,
        project: &Path,
        variables: impl IntoIterator<Item = (&'a OsStr, &'a OsStr)>,
    ) -> Option<Self> {
        let words = windows_words(command, project.to_str()?)?;
        let words: Vec<String> = words.into_iter().map(|(word, _)| word).collect();
        let is_program = words.first().is_some_and(|name| !is_builtin_or_keyword(name));
        is_program.then(|| Self { words, programs: Programs::of(variables) })
    }

    /// Returns the process to start in a directory with these variables; `None` if there is no such
    /// program, so that the shell reports it.
    pub(crate) fn process<'a>(
        &self,
        directory: &Path,
        variables: impl IntoIterator<Item = (&'a OsStr, &'a OsStr)>,
    ) -> Option<Command> {
        let (name, arguments) = self.words.split_first()?;
        let mut process = self.programs.command(name, directory)?;
        process.args(arguments).current_dir(directory).env_clear().envs(variables);
        Some(process)
    }
}

/// Returns the start of a program with arguments: of a file that is no program, of what runs it.
pub(super) fn started_without_shell(
    launch: &Launch,
    environment: &[(OsString, OsString)],
) -> Command {
    let variables = environment.iter().map(|(name, value)| (&**name, &**value));
    let name = launch.program.to_string_lossy();
    // What is not found fails at its start, by this name.
    Programs::of(variables)
        .command(&name, &launch.directory)
        .unwrap_or_else(|| Command::new(&launch.program))
}

/// Where programs are looked for, and what counts as one.
#[derive(Debug)]
struct Programs {
    search_path: OsString,
    endings: Vec<String>,
}

impl Programs {
    /// Reads `PATH` and `PATHEXT` of an environment.
    fn of<'a>(variables: impl IntoIterator<Item = (&'a OsStr, &'a OsStr)>) -> Self {
        let (mut search_path, mut endings) = (OsString::new(), OsString::from(ENDINGS));
        for (name, value) in variables {
            match name {
                _ if name.eq_ignore_ascii_case("PATH") => search_path = value.to_owned(),
                _ if name.eq_ignore_ascii_case("PATHEXT") => endings = value.to_owned(),
                _ => {}
            }
        }
        let endings = endings.to_string_lossy().to_lowercase();
        let endings = endings.split(';').filter(|ending| ending.starts_with('.'));
        Self { search_path, endings: endings.map(str::to_owned).collect() }
    }

    /// Returns the start of a program, or of what runs that script; `None` if there is none.
    fn command(&self, name: &str, directory: &Path) -> Option<Command> {
        let file = self.find(name, directory)?;
        let ending = file.extension().unwrap_or_default().to_string_lossy().to_lowercase();
        if self.endings.iter().any(|known| known.get(1..) == Some(&*ending)) {
            return Some(Command::new(file));
        }
        let mut command = match ending.as_str() {
            "ps1" => {
                let shell = ["pwsh", "powershell"].iter().find_map(|shell| self.in_path(shell))?;
                let mut command = Command::new(shell);
                // Of what is started, trust decides here.
                command.args(["-NoProfile", "-NonInteractive", "-ExecutionPolicy", "Bypass"]);
                command.arg("-File");
                command
            }
            _ => self.interpreter(&file)?,
        };
        command.arg(file);
        Some(command)
    }

    /// Returns the file of a program or script.
    fn find(&self, name: &str, directory: &Path) -> Option<PathBuf> {
        match name.contains(['/', '\\']) {
            true => self.with_ending(&directory.join(name)),
            false => self.in_path(name),
        }
    }

    fn in_path(&self, name: &str) -> Option<PathBuf> {
        std::env::split_paths(&self.search_path)
            .take_while(|folder| folder.is_absolute())
            .find_map(|folder| self.with_ending(&folder.join(name)))
    }

    /// Returns a file of that name, or of that name and an ending of programs.
    fn with_ending(&self, path: &Path) -> Option<PathBuf> {
        let ended = self.endings.iter().map(|ending| {
            let mut ended = path.as_os_str().to_owned();
            ended.push(ending);
            PathBuf::from(ended)
        });
        // A file without an ending is no program here, but may be a script.
        let itself = [path.to_path_buf()];
        match path.extension() {
            Some(_) => itself.into_iter().chain(ended).find(|file| program::is_executable(file)),
            None => ended.chain(itself).find(|file| program::is_executable(file)),
        }
    }

    /// Returns the start of the interpreter that a script names in its first line.
    fn interpreter(&self, script: &Path) -> Option<Command> {
        let mut begin = Vec::new();
        regular_file::open(script).ok()?.take(MAX_FIRST_LINE).read_to_end(&mut begin).ok()?;
        let text = String::from_utf8_lossy(&begin);
        let mut words = text.strip_prefix("#!")?.lines().next()?.split_whitespace();
        let base_name = |word: &str| word.rsplit('/').next().unwrap_or(word).to_owned();
        let name = match base_name(words.next()?).as_str() {
            "env" => words.find(|word| *word != "-S").map(base_name)?,
            name => name.to_owned(),
        };
        // Python's own installer for Windows knows no `python3`.
        let names = [name.as_str(), name.trim_end_matches('3')];
        let mut command = Command::new(names.iter().find_map(|name| self.in_path(name))?);
        command.args(words);
        Some(command)
    }
}

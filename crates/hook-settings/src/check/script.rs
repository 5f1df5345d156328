//! The scripts and programs that commands start: missing or not executable ones.

use std::collections::HashMap;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use super::findings::{CheckContext, Finding, Findings, path_of, project_of};
use crate::language::{ForeignCommand, LaunchContext};
use crate::{HookEntry, HookSource, Rule, SettingsFile};
use hook_files::{program, regular_file};
use hook_json::text::{PathText, shortened};
use hook_shell::{
    PROJECT_DIRECTORY, expanded_words, interpreter, is_builtin_or_keyword, leading_variable,
};

/// The number of bytes that the system reads of a script's first line.
const FIRST_LINE: u64 = 256;

/// Variables that the shell sets itself.
const SET_BY_SHELL: [&str; 14] = [
    "BASH", "BASHPID", "EUID", "HOSTNAME", "HOSTTYPE", "IFS", "OSTYPE", "PATH", "PPID", "PWD",
    "RANDOM", "SECONDS", "SHELL", "UID",
];

/// A command with the hook's own variables.
type Program<'e> = (&'e str, &'e [(String, String)]);

pub(super) fn check(file: &SettingsFile, context: &CheckContext, findings: &mut Findings<'_>) {
    if !cfg!(unix) {
        // Commands are PowerShell on this system.
        return;
    }
    let is_project_hook = file.source == HookSource::Project || project_of(file).is_some();
    // Many hooks may share one script.
    let mut known: HashMap<Program<'_>, Option<Problem>> = HashMap::new();
    for entry in &file.hooks {
        let Some(range) = entry.spans.get("command") else { continue };
        if !is_shell_in_project(entry, file) {
            continue;
        }
        let problem = known
            .entry((&entry.command, &entry.env))
            .or_insert_with(|| Command { entry, context, is_project_hook }.problem());
        let Some(problem) = problem else { continue };
        let path = path_of(entry, "command");
        let mut finding = Finding::new(problem.rule, range, path, &problem.message);
        finding.diagnostic.help.clone_from(&problem.help);
        findings.add(finding);
    }
}

/// Checks whether a command is the shell's, and where its relative paths lead is known. Hooks of another
/// agent may be something else than commands, and outside of a project they run in other directories.
fn is_shell_in_project(entry: &HookEntry, file: &SettingsFile) -> bool {
    entry.foreign.as_ref().is_none_or(|foreign| {
        matches!(foreign.command, ForeignCommand::Shell { .. })
            && (file.source == HookSource::Project || project_of(file).is_some())
            && foreign.directory.is_none()
            && foreign.plugin_root.is_none()
    })
}

struct Problem {
    rule: Rule,
    message: String,
    help: Option<String>,
}

impl Problem {
    fn new(rule: Rule, message: String) -> Self {
        Self { rule, message, help: None }
    }

    fn with_help(self, help: String) -> Self {
        Self { help: Some(help), ..self }
    }
}

struct Command<'c> {
    entry: &'c HookEntry,
    context: &'c CheckContext,
    /// `true` if the hook is a project's, so its script is in the project.
    is_project_hook: bool,
}

impl Command<'_> {
    fn problem(&self) -> Option<Problem> {
        if let Some(name) = leading_variable(&self.entry.command)
            && !self.is_set(&name)
        {
            let message = format!("the command begins with `${name}`, which is not set here");
            return Some(Problem::new(Rule::UnsetVariable, message));
        }
        let words = expanded_words(&self.entry.command, |name| self.variable(name));
        let (first, arguments) = words.split_first()?;
        // Words that only the shell can expand are not checked.
        let first = first.as_deref().filter(|first| !first.is_empty())?;
        if first.contains('/') {
            let path = self.directory().join(first);
            return self
                .check_direct(first, &path)
                .or_else(|| self.check_interpreted(first, arguments))
                .or_else(|| self.check_relative(first));
        }
        if is_builtin_or_keyword(first) || self.entry.command.contains("()") {
            return None;
        }
        self.check_on_path(first).or_else(|| self.check_interpreted(first, arguments))
    }

    /// Returns the value of a variable, as far as it is known before the hook runs.
    fn variable(&self, name: &str) -> Option<String> {
        if let Some((_, value)) = self.entry.env.iter().rev().find(|(known, _)| known == name) {
            return Some(value.clone());
        }
        if PROJECT_DIRECTORY.contains(&name) {
            return Some(self.context.project.to_str()?.to_owned());
        }
        match name {
            "HOME" => Some(self.context.variable(name)?.to_str()?.to_owned()),
            _ => None,
        }
    }

    /// Returns `true` if the variable is set when the hook runs, judging by this environment.
    fn is_set(&self, name: &str) -> bool {
        self.entry.env.iter().any(|(known, _)| known == name)
            || name.starts_with("HOOK_")
            || PROJECT_DIRECTORY.contains(&name)
            || SET_BY_SHELL.contains(&name)
            || self.context.variable(name).is_some()
    }

    /// Returns the directory in which it is started, as far as that is known before an event.
    fn directory(&self) -> PathBuf {
        let project = &self.context.project;
        let context = LaunchContext { project, directory: project, environment: &[] };
        match &self.entry.foreign {
            Some(foreign) => foreign.language.directory(foreign, &context),
            None => project.clone(),
        }
    }

    fn search_path(&self) -> Option<std::ffi::OsString> {
        let own = self.entry.env.iter().rev().find(|(name, _)| name == "PATH");
        match own {
            Some((_, value)) => Some(value.into()),
            None => Some(self.context.variable("PATH")?.to_owned()),
        }
    }

    fn is_on_path(&self, name: &str) -> bool {
        // Unknown without a search path, or if it depends on the working directory.
        let Some(path) = self.search_path() else { return true };
        let relative = std::env::split_paths(&path).any(|folder| !folder.is_absolute());
        relative || program::find(&path, name).is_some()
    }

    fn check_on_path(&self, name: &str) -> Option<Problem> {
        let missing = !self.is_on_path(name);
        missing.then(|| {
            let message = format!("the program `{}` is not on PATH", shortened(name));
            let project_file = self.context.project.join(name);
            let problem = Problem::new(Rule::ProgramNotFound, message);
            match project_file.is_file() {
                true => {
                    problem.with_help(format!("write `./{name}` to start the one in the project"))
                }
                false => problem,
            }
        })
    }

    /// Checks a script that is started directly.
    fn check_direct(&self, name: &str, path: &Path) -> Option<Problem> {
        if let Some(problem) = check_regular_file(name, path) {
            return Some(problem);
        }
        let shown = shortened(name);
        if !program::is_executable(path) {
            let message = format!("`{shown}` is not executable");
            let problem = Problem::new(Rule::ScriptNotExecutable, message);
            return Some(problem.with_help(format!("run `chmod +x {}`", path.shown())));
        }
        match FirstLine::read(path)? {
            FirstLine::Interpreter(line) => self.check_interpreter(&shown, path, &line),
            FirstLine::Text => {
                let message = format!(
                    "`{shown}` does not begin with `#!`, so the shell runs it, whatever it is \
                     written in"
                );
                Some(Problem::new(Rule::ScriptWithoutShebang, message))
            }
            FirstLine::Binary => None,
        }
    }

    /// Checks a script that is an interpreter's argument.
    fn check_interpreted(&self, program: &str, arguments: &[Option<String>]) -> Option<Problem> {
        interpreter(program)?;
        let script = arguments.first()?.as_deref()?;
        if script.starts_with('-') || !script.contains(['/', '.']) {
            return None;
        }
        check_regular_file(script, &self.directory().join(script))
            .or_else(|| self.check_relative(script))
    }

    /// Reports a relative script: from another folder it is a different file, or missing.
    fn check_relative(&self, name: &str) -> Option<Problem> {
        // Files of the folder are those of its copy, from wherever the agent works, and other agents
        // have their own rules.
        let is_of_copy = Path::new(name).starts_with(".hooks") || name.starts_with("./.hooks/");
        let is_own = self.is_project_hook && self.entry.foreign.is_none() && !is_of_copy;
        (is_own && Path::new(name).is_relative()).then(|| {
            let shown = shortened(name);
            let message = format!(
                "`{shown}` is looked for from where the agent works: in a subfolder of the project \
                 it is not found, or another file"
            );
            let path = name.trim_start_matches("./");
            Problem::new(Rule::ScriptRelative, message)
                .with_help(format!("write \"$HOOK_PROJECT_DIR\"/{path}"))
        })
    }

    fn check_interpreter(&self, script: &str, path: &Path, line: &str) -> Option<Problem> {
        if line.ends_with('\r') {
            let message = format!(
                "the first line of `{script}` ends with a carriage return, which the system takes \
                 for a part of the interpreter's name"
            );
            let help = format!(
                "save the script with Unix line ends, for example with `sed -i 's/\\r$//' {}`",
                path.shown()
            );
            return Some(Problem::new(Rule::InterpreterMissing, message).with_help(help));
        }
        let mut words = line.split([' ', '\t']).filter(|word| !word.is_empty());
        let interpreter = words.next().unwrap_or_default();
        let missing = |name: &str| {
            let message =
                format!("`{script}` is to be run by `{}`, which does not exist", shortened(name));
            Some(Problem::new(Rule::InterpreterMissing, message))
        };
        if !self.context.project.join(interpreter).is_file() {
            return missing(interpreter);
        }
        if !interpreter.ends_with("/env") {
            return None;
        }
        let program = words.find(|word| !word.starts_with('-') && !word.contains('='))?;
        if program.contains('/') || self.is_on_path(program) { None } else { missing(program) }
    }
}

fn check_regular_file(name: &str, path: &Path) -> Option<Problem> {
    let state = match path.metadata() {
        Ok(metadata) if metadata.is_file() => return None,
        Ok(metadata) if metadata.is_dir() => "is a directory",
        Ok(_) => "is no regular file",
        Err(error) if is_absence(&error) => "does not exist",
        // The user who runs it may have permissions that this one lacks.
        Err(_) => return None,
    };
    let shown = shortened(name);
    let message = match Path::new(name) == path {
        true => format!("`{shown}` {state}"),
        false => format!("`{shown}` {state}: it was looked for at {}", normalized(path).shown()),
    };
    Some(Problem::new(Rule::ScriptMissing, message))
}

fn is_absence(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory)
}

/// Removes `.` from a path.
fn normalized(path: &Path) -> PathBuf {
    path.components().collect()
}

/// The beginning of a program file.
enum FirstLine {
    /// `#!`, with the text after it.
    Interpreter(String),
    /// Other text, or an empty file.
    Text,
    /// A binary.
    Binary,
}

impl FirstLine {
    /// Reads the beginning; `None` for an unreadable file, which may still be executable.
    fn read(path: &Path) -> Option<Self> {
        let mut bytes = Vec::new();
        regular_file::open(path).ok()?.take(FIRST_LINE).read_to_end(&mut bytes).ok()?;
        let line = bytes.split(|byte| *byte == b'\n').next().unwrap_or_default();
        Some(match line.strip_prefix(b"#!") {
            Some(interpreter) => {
                Self::Interpreter(String::from_utf8_lossy(interpreter).into_owned())
            }
            None if bytes.contains(&0) => Self::Binary,
            None => Self::Text,
        })
    }
}

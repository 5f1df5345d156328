//! The files and programs that a hook's command starts, as far as its text shows: files of the project, or
//! programs that run nothing else. Anything beyond that is opaque.

use std::collections::BTreeSet;
use std::fmt;
use std::ops::Range;
use std::path::{Component, Path, PathBuf};

use super::paths::{PROJECT, home_dir, relative_to_project, word_path};
use hook_json::text::PathText;
use hook_settings::HookEntry;
use hook_settings::language::{ForeignCommand, ForeignHook, HookDirectory, LaunchContext};
use hook_shell::loaders::is_forbidden_in_project;
use hook_shell::{
    CWD_PLACEHOLDER, PROJECT_DIRECTORY, ShellWord, SimpleCommand, interpreter,
    is_builtin_or_keyword, is_filter, is_harmless_variable, options_before_script, quote,
    searches_parent_folders, simple_commands, windows_program, windows_quote, windows_script,
    windows_words, words_before_program,
};

/// The placeholder of a word whose value is unknown.
const UNKNOWN: &str = "\u{1}";

/// The project of a pack's command: whichever an agent works in. No path leads there.
const ANY_PROJECT: &str = "/\0";

/// Builtins of the shell that run what they are given.
const LOADING_BUILTINS: [&str; 7] = [".", "builtin", "command", "eval", "exec", "source", "trap"];

/// A command as far as it was understood.
#[derive(Debug, Clone, Default)]
pub(super) struct Command {
    /// Files of the project that it starts, from the project's folder on.
    pub(super) started: Vec<PathBuf>,
    /// All words that are paths in the project.
    words: Vec<FileWord>,
    /// The reasons why not everything that it starts is known.
    pub(super) opaque: BTreeSet<Opaque>,
    /// `true` if one of its programs looks for modules in the parent folders of a script.
    pub(super) searches_parents: bool,
    /// The interpreters that it gives files to.
    interpreters: Vec<(PathBuf, String)>,
}

/// A word that is a path in the project.
#[derive(Debug, Clone)]
struct FileWord {
    /// The text that has it, and its range there.
    location: (usize, Range<usize>),
    /// The path from the project's folder on.
    path: PathBuf,
    /// The path as it is written, where it begins at the working directory.
    relative: Option<String>,
}

impl FileWord {
    /// Returns `true` if an option of that text would be read, unless the word is started.
    fn may_be_option(&self) -> bool {
        self.relative.as_ref().is_some_and(|text| text.starts_with('-'))
    }
}

/// A reason for which a command is opaque.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Opaque {
    /// More than simple commands.
    Syntax,
    /// A word that only the shell can tell.
    Word,
    /// A variable that says what is run or loaded.
    Variable(String),
    /// A program that may run anything.
    Program(String),
    /// An interpreter that is given code.
    Code(String),
    /// An interpreter that is not given a file of the project right away.
    Interpreter(String),
    /// A file of installed packages, or of git.
    Package(String),
    /// A path with `..`, or through /proc or /dev: where it leads may change.
    Parent(String),
    /// A shell that is not read here.
    Shell(String),
}

impl fmt::Display for Opaque {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Syntax => write!(
                formatter,
                "only programs joined by `&&`, `||`, `;` and `|`, with output to /dev/null, are followed; put all \
                 else into a script"
            ),
            Self::Word => write!(
                formatter,
                "one of its words is known only as it runs, as with `$(…)` or a variable of the shell"
            ),
            Self::Variable(name) => {
                write!(formatter, "what ${name} is decides what is run or loaded")
            }
            Self::Program(name) => write!(
                formatter,
                "what `{name}` starts or reads is not covered, and may change without your being asked"
            ),
            Self::Code(name) => write!(
                formatter,
                "`{name}` is given its code in the command itself, and what that loads is not covered"
            ),
            Self::Interpreter(name) => write!(
                formatter,
                "`{name}` is not started as `{name} SCRIPT` with a script of the project, so what it runs is not covered"
            ),
            Self::Package(path) => {
                write!(formatter, "{path} is among installed packages or files of git")
            }
            Self::Parent(path) => write!(
                formatter,
                "where `..`, /proc or /dev in `{path}` leads may change; write the path without it"
            ),
            Self::Shell(name) => write!(formatter, "commands of `{name}` are not read"),
        }
    }
}

impl Command {
    /// Reads the command of a hook of that project.
    pub(super) fn of(entry: &HookEntry, project: &Path) -> Self {
        let mut command = Self::default();
        for (name, _) in &entry.env {
            if is_forbidden_in_project(name) {
                command.opaque.insert(Opaque::Variable(name.clone()));
            }
        }
        if let Some(module) = &entry.module {
            command.searches_parents = true;
            match relative_to_project(module, project) {
                _ if may_lead_elsewhere(module, project) => {
                    command.opaque.insert(Opaque::Parent(module.shown().to_string()));
                }
                Some(path) => command.start(path),
                None => {
                    command.opaque.insert(Opaque::Program(module.shown().to_string()));
                }
            }
            return command;
        }
        let directory = match &entry.foreign {
            Some(foreign) => {
                command.opaque.extend(host_variables(entry, foreign));
                let location = LaunchContext { project, directory: project, environment: &[] };
                let directory = foreign.language.directory(foreign, &location);
                if may_lead_elsewhere(&directory, project) {
                    command.opaque.insert(Opaque::Parent(directory.shown().to_string()));
                }
                directory
            }
            None => project.to_path_buf(),
        };
        match entry.foreign.as_ref().map(|foreign| &foreign.command) {
            None if entry.upstream.is_some() || entry.unreadable.is_some() => {}
            None => command.read(&entry.command, entry, project, &directory),
            Some(ForeignCommand::Shell { text, shell }) => {
                if let Some(shell) = shell.as_ref().filter(|shell| *shell != "bash") {
                    command.opaque.insert(Opaque::Shell(shell.clone()));
                }
                command.read(text, entry, project, &directory);
            }
            Some(ForeignCommand::Program { program, arguments }) => {
                let texts = std::iter::once(program).chain(arguments);
                let words = texts.enumerate().map(|(index, text)| {
                    command.program_word(index, text, entry, project, &directory)
                });
                let words: Vec<ShellWord> = words.collect();
                command.read_simple(&words, project, &directory);
            }
            Some(_) => {}
        }
        command
    }

    /// Returns the reason why a pack's hook does not run: it starts a file of whichever project an agent works in, or
    /// names one of the pack in a way that means the project's.
    pub(super) fn outside_of_pack(entry: &HookEntry, pack: &Path) -> Option<String> {
        let mut entry = entry.clone();
        let folder = hook_files::plain_path::absolute(pack).into_os_string().into_string();
        match folder {
            Ok(folder) if !entry.env.iter().any(|(name, _)| name == "HOOK_DIR") => {
                entry.env.push(("HOOK_DIR".to_owned(), folder));
            }
            _ => {}
        }
        let command = Self::of(&entry, Path::new(ANY_PROJECT));
        let is_of_pack = |word: &&FileWord| {
            word.relative.is_some()
                && word.path.iter().count() > 1
                && pack.join(&word.path).is_file()
        };
        let named = || command.words.iter().find(is_of_pack).map(|word| &word.path);
        let path = command.started.first().or_else(named)?;
        Some(format!(
            "`{}` is a file of the project that an agent works in, and only files of a pack run; its own are below \
             $HOOK_DIR (in the words of other agents, the variable of plugins)",
            path.shown()
        ))
    }

    fn read(&mut self, text: &str, entry: &HookEntry, project: &Path, directory: &Path) {
        if cfg!(windows) {
            return self.read_on_windows(text, entry, project, directory);
        }
        let variable = |name: &str| variable(entry, name);
        let Some(read) = simple_commands(text, &variable) else {
            self.opaque.insert(Opaque::Syntax);
            return;
        };
        if read.has_more {
            self.opaque.insert(Opaque::Syntax);
        }
        for word in &read.others {
            self.note(0, word, project, directory);
        }
        for SimpleCommand { assignments, words } in &read.commands {
            for assignment in assignments {
                let name = assignment.text.as_deref().and_then(|raw| raw.split_once('='));
                let name = name.map_or("", |(name, _)| name.trim_end_matches('+'));
                if !is_harmless_variable(name) {
                    self.opaque.insert(match name {
                        "" => Opaque::Word,
                        name => Opaque::Variable(name.to_owned()),
                    });
                }
            }
            for word in words {
                self.note(0, word, project, directory);
                // What an agent replaces in the text may stand in quotes.
                let may_be_expanded = |text: &String| entry.foreign.is_some() && text.contains('$');
                if word.text.as_ref().is_none_or(may_be_expanded) {
                    self.opaque.insert(Opaque::Word);
                }
            }
            self.read_simple(words, project, directory);
        }
        // They are replaced from the last to the first.
        self.words.sort_by_key(|word| word.location.1.start);
    }

    /// Reads a command of Windows. Only what is started without a shell is followed.
    fn read_on_windows(&mut self, text: &str, entry: &HookEntry, project: &Path, directory: &Path) {
        let words = windows_words(text, &PROJECT.to_string()).unwrap_or_default();
        // A shell of another agent reads the same words otherwise.
        if entry.foreign.is_some()
            || words.first().is_none_or(|(program, _)| is_builtin_or_keyword(program))
        {
            self.opaque.insert(Opaque::Shell("powershell".to_owned()));
            return;
        }
        let words = words.into_iter().map(|(text, range)| ShellWord { text: Some(text), range });
        let words: Vec<ShellWord> = words.collect();
        for word in &words {
            self.note(0, word, project, directory);
        }
        self.read_simple(&words, project, directory);
    }

    /// Reads a program of Windows and its arguments. A file of the project has to be there, by its
    /// plain name: without its ending, another file could take its place.
    fn read_windows_program(
        &mut self,
        program: &str,
        arguments: &[&str],
        project: &Path,
        directory: &Path,
    ) {
        let file = |word: &str| {
            let path = relative_to_project(&word_path(word, project, directory), project)?;
            let is_named = path.extension().is_some() && has_plain_names(&path);
            (is_named && project.join(&path).is_file()).then_some(path)
        };
        let own = file(program).filter(|_| program.contains(['/', '\\', PROJECT]));
        let name = windows_program(program);
        self.searches_parents |= searches_parent_folders(&name);
        let script = windows_script(&name, arguments).and_then(|index| arguments.get(index));
        match (own, script) {
            (Some(path), _) => self.start(path),
            (None, Some(script)) => match file(script) {
                Some(path) => {
                    self.interpreters.push((path.clone(), name));
                    self.start(path);
                }
                None => drop(self.opaque.insert(Opaque::Interpreter(program.to_owned()))),
            },
            (None, None) => {
                self.opaque.insert(Opaque::Program(program.replace(PROJECT, "…")));
            }
        }
    }

    /// A word of a hook that is started without a shell: the agent replaces variables in it.
    fn program_word(
        &mut self,
        index: usize,
        text: &str,
        entry: &HookEntry,
        project: &Path,
        directory: &Path,
    ) -> ShellWord {
        let mut value = String::new();
        let mut rest = Some(text);
        while let Some((before, after)) = rest.and_then(|rest| rest.split_once("${")) {
            value.push_str(before);
            let split = after.split_once('}');
            let known = split.and_then(|(name, after)| Some((variable(entry, name)?, after)));
            match known {
                Some((known, after)) => {
                    value.push_str(&known);
                    rest = Some(after);
                }
                None => {
                    self.opaque.insert(Opaque::Word);
                    return ShellWord { text: None, range: 0..text.len() };
                }
            }
        }
        value.push_str(rest.unwrap_or_default());
        let value = value.replace(CWD_PLACEHOLDER, ".");
        let word = ShellWord { text: Some(value), range: 0..text.len() };
        self.note(index, &word, project, directory);
        word
    }

    /// Notes a word that is a path in the project.
    fn note(&mut self, text: usize, word: &ShellWord, project: &Path, directory: &Path) {
        let is_path = |value: &&str| !may_lead_elsewhere(Path::new(value), project);
        let Some(path_text) = word.text.as_deref().filter(is_path) else { return };
        if let Some(path) = relative_to_project(&word_path(path_text, project, directory), project)
        {
            let is_relative =
                !path_text.starts_with([PROJECT, '/', '~']) && !Path::new(path_text).is_absolute();
            let relative = is_relative.then(|| path_text.to_owned());
            self.words.push(FileWord { location: (text, word.range.clone()), path, relative });
        }
    }

    fn read_simple(&mut self, words: &[ShellWord], project: &Path, directory: &Path) {
        let texts: Vec<&str> =
            words.iter().map(|word| word.text.as_deref().unwrap_or(UNKNOWN)).collect();
        let Some((program, arguments)) = texts.split_first() else { return };
        if cfg!(windows) {
            return self.read_windows_program(program, arguments, project, directory);
        }
        if let Some(skipped) = words_before_program(program, arguments) {
            return self.read_simple(
                words.get(skipped + 1..).unwrap_or_default(),
                project,
                directory,
            );
        }
        self.searches_parents |= searches_parent_folders(program);
        if program.contains(UNKNOWN) || is_filter(program, arguments) {
            return;
        }
        let file = |word: &str| match word.contains(UNKNOWN) {
            true => None,
            false => relative_to_project(&word_path(word, project, directory), project),
        };
        if may_lead_elsewhere(Path::new(program), project) {
            self.opaque.insert(Opaque::Parent((*program).replace(PROJECT, "…")));
            return;
        }
        let own = file(program).filter(|_| program.contains(['/', PROJECT]));
        // One of the project's own that is called so may be one, where it is given anything.
        if interpreter(program).is_some() && (own.is_none() || !arguments.is_empty()) {
            let index = options_before_script(program, arguments).filter(|_| own.is_none());
            let script = index.and_then(|index| arguments.get(index)).copied();
            // A folder, or a name without its ending, may be any file.
            if let Some(script) =
                script.filter(|script| may_lead_elsewhere(Path::new(script), project))
            {
                self.opaque.insert(Opaque::Parent(script.replace(PROJECT, "…")));
                return;
            }
            let script = script.filter(|option| *option != "-").and_then(file);
            match script.filter(|script| !project.join(script).is_dir()) {
                Some(script)
                    if !searches_parent_folders(program)
                        || has_extension(&script)
                        || project.join(&script).is_file() =>
                {
                    self.interpreters.push((script.clone(), (*program).to_owned()));
                    self.start(script);
                }
                _ => {
                    let is_code = |word: &&&str| matches!(**word, "-c" | "-e" | "--eval" | "-p");
                    let has_code = arguments.first().iter().any(is_code);
                    let name = (*program).to_owned();
                    self.opaque.insert(match has_code {
                        true => Opaque::Code(name),
                        false => Opaque::Interpreter(name),
                    });
                }
            }
            return;
        }
        match own {
            Some(path) => self.start(path),
            // What the shell does itself starts nothing, and is not followed.
            None if is_builtin_or_keyword(program) && !LOADING_BUILTINS.contains(program) => {
                self.opaque.insert(Opaque::Syntax);
            }
            None => {
                self.opaque.insert(Opaque::Program((*program).replace(PROJECT, "…")));
            }
        }
    }

    fn start(&mut self, path: PathBuf) {
        let is_below = |name: &str| path.components().any(|part| part.as_os_str() == name);
        if ["node_modules", ".venv", "venv", ".git"].into_iter().any(is_below) {
            self.opaque.insert(Opaque::Package(path.shown().to_string()));
        }
        self.started.push(path);
    }

    /// The interpreters that a file is given to by its name.
    pub(super) fn interpreters_of(&self, script: &Path) -> impl Iterator<Item = &str> {
        let of_script = self.interpreters.iter().filter(move |(path, _)| path == script);
        of_script.map(|(_, program)| program.as_str())
    }

    /// The files of the project that are there and that it names.
    pub(super) fn named_files(&self, project: &Path) -> Vec<PathBuf> {
        let files = self.words.iter().filter(|word| !word.may_be_option());
        let files = files.filter(|word| project.join(&word.path).is_file());
        let mut file_paths: Vec<PathBuf> = files.map(|word| word.path.clone()).collect();
        file_paths.extend(self.started.iter().cloned());
        file_paths.sort();
        file_paths.dedup();
        file_paths
    }

    /// A relative path that is another file from that directory than from the project's, of those that the
    /// command starts.
    pub(super) fn differs_in(&self, directory: &Path, project: &Path) -> Option<String> {
        let is_started = |word: &&FileWord| self.started.contains(&word.path);
        let relative = self.words.iter().filter(is_started).filter_map(|word| {
            let relative = word.relative.as_ref()?;
            let is_same = relative_to_project(&directory.join(relative), project).as_ref()
                == Some(&word.path);
            (!is_same).then(|| relative.clone())
        });
        relative.into_iter().next()
    }

    /// Returns `true` if [`rewrite`](Self::rewrite) replaces all that the command starts by what is in that copy.
    pub(super) fn is_rewritable(&self, copy: &Path) -> bool {
        let has_word = |path: &PathBuf| self.words.iter().any(|word| word.path == *path);
        let is_text = |path: &PathBuf| copy.join(path).to_str().is_some();
        self.started.iter().all(|path| has_word(path) && is_text(path))
    }

    /// Returns the texts of the command with the paths of copied files instead of those in the project.
    pub(super) fn rewrite(
        &self,
        texts: &[&str],
        (copy, roots): (&Path, &[PathBuf]),
        is_shell: bool,
    ) -> Vec<String> {
        let mut rewritten: Vec<String> = texts.iter().map(|text| (*text).to_owned()).collect();
        for word in self.words.iter().rev() {
            let (text, range) = &word.location;
            let target = copy.join(&word.path);
            let is_covered = roots.iter().any(|root| word.path.starts_with(root));
            let is_copied =
                is_covered && !word.may_be_option() && target.symlink_metadata().is_ok()
                    || self.started.contains(&word.path);
            if let (Some(text), Some(there), true) =
                (rewritten.get_mut(*text), target.to_str(), is_copied)
            {
                let there = match is_shell {
                    true if cfg!(windows) => windows_quote(there),
                    true => quote(there),
                    false => there.to_owned(),
                };
                text.replace_range(range.clone(), &there);
            }
        }
        rewritten
    }
}

/// Returns `true` if a path may lead elsewhere when it is used: by `..` below the project's folder, where the name
/// before it may be a link, or through what the system has for each process.
fn may_lead_elsewhere(path: &Path, project: &Path) -> bool {
    let own = path.strip_prefix(project);
    let is_of_process = || ["/proc", "/dev"].iter().any(|folder| path.starts_with(folder));
    own.is_err() && is_of_process()
        || own.unwrap_or(path).components().any(|part| part == Component::ParentDir)
}

/// Returns `true` if Windows gives no name in a path another meaning: that of a stream, of a device, or of
/// the name without its end.
fn has_plain_names(path: &Path) -> bool {
    const DEVICES: [&str; 8] = ["con", "prn", "aux", "nul", "com", "lpt", "conin$", "conout$"];
    path.components().all(|part| {
        let name = part.as_os_str().to_string_lossy().to_lowercase();
        let stem = name.split('.').next().unwrap_or_default().trim_end();
        let number = stem.get(3..).unwrap_or_default();
        let is_device = DEVICES.contains(&stem)
            || ["com", "lpt"].iter().any(|port| stem.starts_with(port))
                && number.chars().count() == 1;
        matches!(part, Component::Normal(_))
            && !is_device
            && !name.contains([':', '*', '?', '"', '<', '>', '|'])
            && !name.ends_with(['.', ' '])
    })
}

/// Returns `true` if a Node script is named with its extension, so that Node tries no other file.
fn has_extension(script: &Path) -> bool {
    const EXTENSIONS: [&str; 6] = ["js", "mjs", "cjs", "ts", "mts", "cts"];
    script.extension().is_some_and(|extension| EXTENSIONS.iter().any(|known| extension == *known))
}

/// Returns `true` if the first line of a script, after `#!`, starts an interpreter outside of the project that
/// runs nothing but the script.
pub(super) fn is_plain_interpreter(line: &str, project: &Path) -> bool {
    let words: Vec<&str> = line.split_whitespace().collect();
    let Some((interpreter_path, mut rest)) = words.split_first() else { return false };
    let is_outside = |path: &str| {
        let path = Path::new(path);
        let has_root = path.has_root() && !may_lead_elsewhere(path, project);
        has_root && relative_to_project(path, project).is_none()
    };
    let mut program = *interpreter_path;
    if !is_outside(program) {
        return false;
    }
    if program.ends_with("/env") {
        rest = rest.strip_prefix(&["-S"]).unwrap_or(rest);
        let Some((name, env_arguments)) = rest.split_first() else { return false };
        if name.contains('/') && !is_outside(name) {
            return false;
        }
        (program, rest) = (name, env_arguments);
    }
    // The script stands behind them.
    let arguments: Vec<&str> = rest.iter().copied().chain(["script"]).collect();
    interpreter(program).is_some() && options_before_script(program, &arguments) == Some(rest.len())
}

/// Returns the value of a variable, if it is known before the hook runs.
fn variable(entry: &HookEntry, name: &str) -> Option<String> {
    let configured = entry.env.iter().rev().find(|(known, _)| known == name);
    if let Some((_, value)) = configured {
        // Its agent expands it, and may have another value.
        return (entry.foreign.is_none() || !value.contains('$')).then(|| value.clone());
    }
    let project = || Some(PROJECT.to_string());
    match &entry.foreign {
        Some(foreign) => match foreign.language.variable(name) {
            Some(HookDirectory::Project) => project(),
            Some(HookDirectory::Event) => Some(CWD_PLACEHOLDER.to_string()),
            Some(HookDirectory::Plugin) => {
                foreign.plugin_root.as_ref()?.to_str().map(str::to_owned)
            }
            None if name == "PWD" => Some(CWD_PLACEHOLDER.to_string()),
            None if name == "HOME" => self::home_dir(),
            None => None,
        },
        None => match name {
            _ if PROJECT_DIRECTORY.contains(&name) => project(),
            "HOOK_DIR" => Some(format!("{PROJECT}/.hooks")),
            "PWD" | "GEMINI_CWD" => Some(CWD_PLACEHOLDER.to_string()),
            "HOOK_EVENT_NAME" => Some(entry.event.as_str().to_owned()),
            "HOME" => self::home_dir(),
            _ => None,
        },
    }
}

/// Returns the variables of the host's environment that a hook of another agent depends on outside of its command:
/// its agent expands them there.
fn host_variables(entry: &HookEntry, hook: &ForeignHook) -> Vec<Opaque> {
    let directory = hook.directory.iter().map(|path| path.to_string_lossy().into_owned());
    let values = entry.env.iter().map(|(_, value)| value.clone());
    let named = directory.chain(values).flat_map(|text| {
        let names = text.split('$').skip(1).map(|segment| {
            let name = segment.trim_start_matches('{');
            let end =
                name.find(|character: char| !character.is_ascii_alphanumeric() && character != '_');
            name.get(..end.unwrap_or(name.len())).unwrap_or_default().to_owned()
        });
        names.collect::<Vec<_>>()
    });
    let named = named.filter(|name| hook.language.variable(name).is_none());
    named.map(Opaque::Variable).collect()
}

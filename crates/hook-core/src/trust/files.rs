//! The files of the project that a hook's command names.

use std::fs;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use sha2::{Digest, Sha256};

use super::imports::{Imports, loaders};
use super::limits::{MAX_BYTES, MAX_FILES};
use super::lookup::{Found, Lookup};
use super::paths::{self, PROJECT, home, is_inside, key, path_of, same_path, without_dots};
use crate::files::regular_file;
use crate::language::{HomeDirectory, HomeHook, Place};
use crate::settings::HookEntry;
use crate::shell::{
    HERE, Names, PROJECT_DIRECTORY, Unknown, Use, expanded_words, names, path_fits, starts_others,
};

/// What a hook's command says of files, read once.
#[derive(Debug)]
pub(super) struct Mentioned {
    names: Names,
    /// The command's first word, where it is known.
    program: Option<String>,
    data: Vec<String>,
    /// The hook, if it is another agent's: its home says where it runs.
    home: Option<Arc<HomeHook>>,
    /// Variables of the host's that decide where another agent's hook runs, or what its own variables are.
    of_host: Vec<Unknown>,
    /// The file of the module that it is.
    module: Option<PathBuf>,
    /// The file that it is, if it is one in a folder of hooks: started by itself, whatever it is called.
    hook_file: Option<PathBuf>,
}

/// The files of the project that a hook names when it is run in some directory.
#[derive(Debug)]
pub(super) struct Covered {
    /// What is covered, by path.
    pub(super) files: Vec<CoveredFile>,
    /// What is not, since the hook calls it data.
    pub(super) data: Vec<PathBuf>,
    /// Why not every file is known.
    pub(super) unknown: Vec<Unknown>,
    /// There are too many, or the command is too long: it cannot be trusted.
    pub(super) too_much: bool,
}

/// A file of the project that a command names, as it was when it was read.
#[derive(Debug)]
pub(super) struct CoveredFile {
    /// Its path, from the project's directory on where it is below it.
    pub(super) path: PathBuf,
    /// The relative path that the command has for it, if it is one.
    pub(super) relative: Option<String>,
    /// Where it leads, as an absolute path.
    pub(super) target: PathBuf,
    /// The same from the project's directory on, where it is below it.
    below_project: Option<PathBuf>,
    /// Whether it can be started; only asked of the file that the command begins with.
    pub(super) executable: Option<bool>,
    /// What is there.
    pub(super) content: Content,
}

/// What is in a file.
#[derive(Debug)]
pub(super) enum Content {
    /// This.
    Read { sha256: [u8; 32], bytes: Option<Vec<u8>> },
    /// There is no such file.
    Absent,
    /// It cannot be read, or is no regular file.
    Unreadable,
    /// More than a decision covers.
    TooLong,
}

/// What is kept of a file that is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Keep {
    /// Its hash alone.
    Nothing,
    /// What is in it, too.
    Bytes,
}

impl Mentioned {
    pub(super) fn by(entry: &HookEntry) -> Self {
        let variable = |name: &str| match name {
            _ if entry.home.is_some() => home_directory(entry, name),
            _ if PROJECT_DIRECTORY.contains(&name) => Some(PROJECT.to_string()),
            "PWD" | "GEMINI_CWD" => Some(HERE.to_string()),
            "HOOK_EVENT_NAME" => Some(entry.event.as_str().to_owned()),
            "HOME" => home().and_then(|home| home.into_string().ok()),
            _ => None,
        };
        Self {
            names: names(script_of(entry), &entry.env, &variable),
            program: first_word(entry),
            data: entry.data.clone(),
            home: entry.home.clone(),
            of_host: entry.home.as_deref().map(|home| of_host(entry, home)).unwrap_or_default(),
            module: entry.module.clone(),
            hook_file: hook_file(entry),
        }
    }

    /// Reads the files that are named for a process in that directory.
    pub(super) fn read(&self, project: &Path, directory: &Path, keep: Keep) -> Covered {
        let place = Place { project, directory, environment: &[] };
        if let Some(module) = &self.module {
            return self.read_module(module, project, keep);
        }
        if let Some(path) = &self.hook_file {
            let mut file = CoveredFile::read(path, project, keep, &mut MAX_BYTES.clone());
            file.executable = Some(crate::files::program::is_executable(path));
            return Covered {
                files: vec![file],
                data: Vec::new(),
                unknown: Vec::new(),
                too_much: false,
            };
        }
        let own = self.home.as_ref().map(|home| home.language.directory(home, &place));
        let directory = own.as_deref().unwrap_or(directory);
        let mut lookup = Lookup::new(project, directory);
        lookup.add(&self.names);
        let mut covered = Covered {
            files: Vec::new(),
            data: Vec::new(),
            unknown: self
                .names
                .unknown
                .iter()
                .chain(&lookup.unknown)
                .chain(&self.of_host)
                .cloned()
                .collect(),
            too_much: lookup.too_much || self.names.unknown.contains(&Unknown::TooMuch),
        };
        let program = self.program.as_deref().filter(|word| word.contains(['/', PROJECT]));
        let program = program
            .map(|word| (path_of(word, project, directory), word))
            .filter(|(path, _)| is_inside(path, project));
        let mut found = lookup.found;
        if let Some((path, word)) = &program {
            // Also where it is not there.
            let relative = Path::new(word).is_relative() && !word.starts_with(PROJECT);
            let relative = relative.then(|| (*word).to_owned());
            let path = path.clone();
            let program = Found { path, relative, used: Use::Started };
            found.insert(key(&program.path, project), program);
        }
        let mut left = MAX_BYTES;
        for ((path, _), Found { path: named, relative, used }) in found {
            let is_program =
                program.as_ref().is_some_and(|(program, _)| same_path(program, &named));
            let is_data = |path: &str| self.data.iter().any(|data| path_fits(data, path));
            let is_started = match used {
                Use::Read => false,
                Use::Given => can_be_started(&named),
                Use::Started => true,
            };
            if !is_started && path.to_str().is_some_and(is_data) {
                covered.data.push(path);
                continue;
            }
            if covered.files.len() == MAX_FILES {
                covered.too_much = true;
                break;
            }
            let mut file = CoveredFile::read(&named, project, keep, &mut left);
            if is_started && file.hides_program() {
                covered.unknown.push(Unknown::Input(path.display().to_string()));
            }
            file.relative = relative;
            file.executable = is_program.then(|| crate::files::program::is_executable(&named));
            covered.files.push(file);
        }
        covered
    }
}

impl Mentioned {
    /// Reads the files that a module loads.
    fn read_module(&self, module: &Path, project: &Path, keep: Keep) -> Covered {
        let imports = Imports::of(module, project);
        let variables = self.names.unknown.iter().filter(|it| matches!(it, Unknown::Loader(_)));
        let mut covered = Covered {
            files: Vec::new(),
            data: Vec::new(),
            unknown: imports.unknown.into_iter().chain(variables.cloned()).collect(),
            too_much: imports.too_much,
        };
        let mut left = MAX_BYTES;
        for path in imports.files {
            let named = key(&path, project).0;
            let is_data = |path: &str| self.data.iter().any(|data| path_fits(data, path));
            if path != *module && named.to_str().is_some_and(is_data) {
                covered.data.push(named);
                continue;
            }
            covered.files.push(CoveredFile::read(&path, project, keep, &mut left));
        }
        covered.files[..].sort_by(|one, other| one.path.cmp(&other.path));
        covered
    }

    /// Folders of the project's own loader of modules, if its files are covered.
    pub(super) fn loaders(&self, project: &Path) -> Vec<PathBuf> {
        self.module.iter().flat_map(|module| loaders(module, project)).collect()
    }
}

impl Covered {
    /// Whether a decision can cover it.
    pub(super) fn can_be_trusted(&self) -> bool {
        let is_covered = |file: &CoveredFile| !matches!(file.content, Content::TooLong);
        !self.too_much && self.files.iter().all(is_covered)
    }
}

impl CoveredFile {
    fn read(named: &Path, project: &Path, keep: Keep, left: &mut u64) -> Self {
        let target = fs::canonicalize(named).unwrap_or_else(|_| named.to_path_buf());
        let real = fs::canonicalize(project).unwrap_or_else(|_| without_dots(project));
        let below_project = target.strip_prefix(real).ok().map(Path::to_path_buf);
        Self {
            path: key(named, project).0,
            relative: None,
            below_project,
            target,
            executable: None,
            content: Content::of(named, keep, left),
        }
    }

    /// Whether it leads to a program that starts others, under another name, so that its words were
    /// not looked at; or to what is no file, such as standard input.
    fn hides_program(&self) -> bool {
        let starts_others = |path: &Path| {
            let name = path.file_name().and_then(|name| name.to_str());
            name.is_some_and(starts_others)
        };
        let is_hidden = starts_others(&self.target) && !starts_others(&self.path);
        is_hidden || matches!(self.content, Content::Unreadable)
    }

    /// Where the path leads, from the project's directory on; `None` for what is outside.
    pub(super) fn target_below_project(&self) -> Option<&Path> {
        self.below_project.as_deref()
    }
}

impl Content {
    /// Reads a file of at most so many bytes, and takes them off.
    fn of(path: &Path, keep: Keep, left: &mut u64) -> Self {
        match Self::read(path, keep, left) {
            Ok(content) => content,
            Err(error) if is_absence(&error) => Self::Absent,
            Err(_) => Self::Unreadable,
        }
    }

    fn read(path: &Path, keep: Keep, left: &mut u64) -> io::Result<Self> {
        let mut file = regular_file::open(path)?;
        let mut hash = Sha256::new();
        let mut kept = Vec::new();
        let mut buffer = vec![0; 64 * 1024];
        loop {
            let read = match file.read(&mut buffer) {
                Ok(0) => break,
                Ok(count) => buffer.get(..count).unwrap_or_default(),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) => return Err(error),
            };
            let Some(rest) = left.checked_sub(read.len() as u64) else { return Ok(Self::TooLong) };
            *left = rest;
            hash.update(read);
            if keep == Keep::Bytes {
                kept.extend_from_slice(read);
            }
        }
        let bytes = (keep == Keep::Bytes).then_some(kept);
        Ok(Self::Read { sha256: hash.finalize().into(), bytes })
    }
}

/// Whether a file is one that programs start: it is executable, or names its interpreter.
fn can_be_started(path: &Path) -> bool {
    let names_interpreter = || {
        let mut begin = [0; 2];
        let read = regular_file::open(path).and_then(|mut file| file.read_exact(&mut begin));
        read.is_ok() && &begin == b"#!"
    };
    crate::files::program::is_executable(path) || names_interpreter()
}

fn is_absence(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory)
}

/// The file in the project that a command's first word names, as decisions of the first version
/// have it. A name without a slash is none: the shell looks for it elsewhere.
pub(super) fn program(entry: &HookEntry, project: &Path, directory: &Path) -> Option<CoveredFile> {
    let word = first_word(entry)?;
    let named = path_of(&word, project, directory);
    (word.contains(['/', PROJECT]) && is_inside(&named, project))
        .then(|| CoveredFile::read(&named, project, Keep::Nothing, &mut MAX_BYTES.clone()))
}

/// The file of a hook that is one in a folder of hooks.
fn hook_file(entry: &HookEntry) -> Option<PathBuf> {
    let is_file = entry.stands_for.is_some() && entry.module.is_none();
    entry.place.file.as_deref().filter(|_| is_file).cloned()
}

/// The command, where it starts a process here: a URL or a question to a model names no files.
fn script_of(entry: &HookEntry) -> &str {
    let is_process = entry.home.as_ref().is_none_or(|home| home.command.is_process());
    if is_process && entry.module.is_none() { &entry.command } else { "" }
}

/// The first word of a command, where it can be told, with [`PROJECT`] for the project's directory.
fn first_word(entry: &HookEntry) -> Option<String> {
    let script = script_of(entry);
    if script.contains(PROJECT) {
        return None;
    }
    expanded_words(script, |name| project_variable(entry, name)).into_iter().next()?
}

/// The value of a variable that holds the project's directory, unless the hook has its own.
fn project_variable(entry: &HookEntry, name: &str) -> Option<String> {
    let own = entry.env.iter().rev().find(|(known, _)| known == name);
    let value = || own.map_or_else(|| PROJECT.to_string(), |(_, value)| value.clone());
    match entry.home {
        Some(_) => own.map(|(_, value)| value.clone()).or_else(|| home_directory(entry, name)),
        None => PROJECT_DIRECTORY.contains(&name).then(value),
    }
}

/// What a hook of another agent takes from the host's environment beside its command: its home expands
/// variables in them.
fn of_host(entry: &HookEntry, home: &HomeHook) -> Vec<Unknown> {
    let directory = home.directory.iter().map(|it| it.to_string_lossy().into_owned());
    let values = entry.env.iter().map(|(_, value)| value.clone());
    let named = directory.chain(values).flat_map(|text| {
        let names = text.split('$').skip(1).map(|behind| {
            let name = behind.trim_start_matches('{');
            let end = name.find(|it: char| !it.is_ascii_alphanumeric() && it != '_');
            name.get(..end.unwrap_or(name.len())).unwrap_or_default().to_owned()
        });
        names.collect::<Vec<_>>()
    });
    // One that the hook sets itself may be another's, too: it is not looked into.
    let named = named.filter(|name| home.language.variable(name).is_none());
    named.map(Unknown::Variable).collect()
}

/// The directory that a variable holds for a hook of another agent.
fn home_directory(entry: &HookEntry, name: &str) -> Option<String> {
    let home = entry.home.as_ref()?;
    match home.language.variable(name) {
        Some(HomeDirectory::Project) => Some(PROJECT.to_string()),
        Some(HomeDirectory::OfEvent) => Some(HERE.to_string()),
        Some(HomeDirectory::Plugin) => home.plugin_root.as_ref()?.to_str().map(str::to_owned),
        None if name == "HOME" => paths::home().and_then(|home| home.into_string().ok()),
        None if name == "PWD" => Some(HERE.to_string()),
        None => None,
    }
}

//! The files of the project that a hook's command names.

use std::ffi::OsString;
use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Component, Path, PathBuf};

use sha2::{Digest, Sha256};

use crate::command_line::{PROJECT_DIRECTORY, expanded_words, interpreter, possible_names};
use crate::settings::HookEntry;

/// How long a file may be that a decision covers, in bytes: 64 MiB. It is read before each run.
pub(super) const MAX_FILE: u64 = 64 << 20;

/// What stands for the project's directory in a word: its path need not be a text, and bash can be
/// given no NUL.
const PROJECT: char = '\0';

/// A file of the project that a command names, as it was when it was read.
#[derive(Debug)]
pub(super) struct CoveredFile {
    /// Its path, from the project's directory on where it is below it.
    pub(super) path: PathBuf,
    /// Where that leads, as an absolute path.
    pub(super) target: PathBuf,
    /// The same from the project's directory on, where it is below it.
    below_project: Option<PathBuf>,
    /// What is there.
    pub(super) content: Content,
}

impl CoveredFile {
    fn read(named: &Path, project: &Path, keep: Keep) -> Self {
        let target = fs::canonicalize(named).unwrap_or_else(|_| named.to_path_buf());
        let real = fs::canonicalize(project).unwrap_or_else(|_| without_dots(project));
        let below_project = target.strip_prefix(real).ok().map(Path::to_path_buf);
        let path = match below(project, named) {
            path if path.is_relative() => path,
            // The project by another name.
            path => below_project.clone().unwrap_or(path),
        };
        Self { path, below_project, target, content: Content::of(named, keep) }
    }

    /// Where the path leads, from the project's directory on; `None` for what is outside.
    pub(super) fn target_below_project(&self) -> Option<&Path> {
        self.below_project.as_deref()
    }
}

/// Reads the files of the project that a command names when it is run in that directory.
pub(super) fn covered_files(
    entry: &HookEntry,
    project: &Path,
    directory: &Path,
    keep: Keep,
) -> Vec<CoveredFile> {
    program(entry, project, directory, keep).into_iter().collect()
}

/// Reads the file that a command's first word names, if the name is one in the project. A name
/// without a slash is none: the shell looks for it elsewhere.
pub(super) fn program(
    entry: &HookEntry,
    project: &Path,
    directory: &Path,
    keep: Keep,
) -> Option<CoveredFile> {
    let word = first_word(entry)?;
    let named = path_of(&word, project, directory);
    (word.contains(['/', PROJECT]) && is_inside(&named, project))
        .then(|| CoveredFile::read(&named, project, keep))
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

impl Content {
    fn of(path: &Path, keep: Keep) -> Self {
        match Self::read(path, keep) {
            Ok(content) => content,
            Err(error) if is_absence(&error) => Self::Absent,
            Err(_) => Self::Unreadable,
        }
    }

    fn read(path: &Path, keep: Keep) -> io::Result<Self> {
        // Not a pipe, whose opening would wait for somebody to write.
        if !fs::metadata(path)?.is_file() {
            return Ok(Self::Unreadable);
        }
        let mut file = File::open(path)?;
        let mut hash = Sha256::new();
        let mut kept = Vec::new();
        let mut length = 0;
        let mut buffer = vec![0; 64 * 1024];
        loop {
            let read = match file.read(&mut buffer) {
                Ok(0) => break,
                Ok(count) => buffer.get(..count).unwrap_or_default(),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) => return Err(error),
            };
            length += read.len() as u64;
            if length > MAX_FILE {
                return Ok(Self::TooLong);
            }
            hash.update(read);
            if keep == Keep::Bytes {
                kept.extend_from_slice(read);
            }
        }
        let bytes = (keep == Keep::Bytes).then_some(kept);
        Ok(Self::Read { sha256: hash.finalize().into(), bytes })
    }
}

fn is_absence(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory)
}

/// The first word of a command, where it can be told, with [`PROJECT`] for the project's directory.
pub(super) fn first_word(entry: &HookEntry) -> Option<String> {
    if entry.command.contains(PROJECT) {
        return None;
    }
    expanded_words(&entry.command, |name| project_variable(entry, name)).into_iter().next()?
}

/// The interpreter that a command begins with, and the script that it is given: a path without `.`
/// in it, below the project where it is said so.
pub(super) fn interpreted(entry: &HookEntry) -> Option<(String, PathBuf)> {
    let words = expanded_words(&entry.command, |name| project_variable(entry, name));
    let program = words.first()?.as_deref()?;
    let interpreter = interpreter(program)?;
    let script = words.get(1)?.as_deref()?;
    let script = script.strip_prefix(PROJECT).map_or(script, |rest| rest.trim_start_matches('/'));
    Some((interpreter.to_owned(), without_dots(Path::new(script))))
}

/// The value of a variable that holds the project's directory, unless the hook has its own.
fn project_variable(entry: &HookEntry, name: &str) -> Option<String> {
    let own = entry.env.iter().rev().find(|(known, _)| known == name);
    let value = || own.map_or_else(|| PROJECT.to_string(), |(_, value)| value.clone());
    PROJECT_DIRECTORY.contains(&name).then(value)
}

/// The path that a word means to a process in that directory.
fn path_of(word: &str, project: &Path, directory: &Path) -> PathBuf {
    let mut path = OsString::new();
    for (index, part) in word.split(PROJECT).enumerate() {
        if index > 0 {
            path.push(project);
        }
        path.push(part);
    }
    directory.join(path)
}

/// The files in the project that further words of a command name. No decision covers what is in
/// them.
pub(super) fn files_beside_program(
    entry: &HookEntry,
    program: Option<&CoveredFile>,
    project: &Path,
) -> Vec<PathBuf> {
    let mut files: Vec<PathBuf> = Vec::new();
    for mut name in possible_names(&entry.command, |name| project_variable(entry, name)) {
        // What the shell takes literally may be a command for another one.
        for variable in PROJECT_DIRECTORY {
            for written in [format!("${{{variable}}}/"), format!("${variable}/")] {
                name = name.replace(&written, &format!("{PROJECT}/"));
            }
        }
        let file = path_of(&name, project, project);
        let is_program = program.is_some_and(|it| it.path == below(project, &file));
        if !is_program
            && is_inside(&file, project)
            && file.is_file()
            && !files.iter().any(|known| same(known, &file))
        {
            files.push(file);
        }
    }
    files
}

fn same(one: &Path, other: &Path) -> bool {
    without_dots(one) == without_dots(other)
}

/// Whether a path is one in the project.
fn is_inside(named: &Path, project: &Path) -> bool {
    // By its name, not by where a link leads: what a link of the project leads to is the project's
    // choice, and may change.
    let really =
        || Some(fs::canonicalize(named).ok()?.starts_with(fs::canonicalize(project).ok()?));
    without_dots(named).starts_with(without_dots(project)) || really().unwrap_or(false)
}

/// A path without `.` and `..`, as it is written.
fn without_dots(path: &Path) -> PathBuf {
    let mut plain = PathBuf::new();
    for component in path.components() {
        match component {
            Component::CurDir => {}
            Component::ParentDir => {
                plain.pop();
            }
            other => plain.push(other),
        }
    }
    plain
}

/// A path from the project's directory on, where it is below it; else the path without `.` and `..`.
pub(super) fn below(project: &Path, path: &Path) -> PathBuf {
    let (project, path) = (without_dots(project), without_dots(path));
    path.strip_prefix(&project).map(Path::to_path_buf).unwrap_or(path)
}

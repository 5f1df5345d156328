//! What a decision is bound to.

use std::fs;
use std::path::{Component, Path, PathBuf};

use sha2::{Digest, Sha256};

use crate::command_line::{first_word, in_project_directory};
use crate::settings::HookEntry;

/// What a decision is bound to: every field by itself, so that no text can be moved from one to
/// another, and the content of the file that is run.
pub fn fingerprint(entry: &HookEntry, project: &Path) -> String {
    fingerprint_in(entry, project, project)
}

/// The fingerprint of a hook that runs in `directory`, where a relative command may be another
/// file than in the project.
pub(super) fn fingerprint_in(entry: &HookEntry, project: &Path, directory: &Path) -> String {
    fingerprint_of(entry, Program::of(entry, project, directory).as_ref())
}

/// The fingerprint of a hook with a program that was read before: what somebody has looked at, and
/// not what is there by now.
pub(super) fn fingerprint_of(entry: &HookEntry, program: Option<&Program>) -> String {
    let mut hash = Sha256::new();
    let mut field = |value: Option<&[u8]>| match value {
        None => hash.update([0]),
        Some(bytes) => {
            hash.update([1]);
            hash.update((bytes.len() as u64).to_le_bytes());
            hash.update(bytes);
        }
    };
    field(Some(entry.event.as_str().as_bytes()));
    field(entry.matcher.as_deref().map(str::as_bytes));
    field(entry.name.as_deref().map(str::as_bytes));
    field(Some(entry.command.as_bytes()));
    // Variables can make a trusted command do anything (PATH, LD_PRELOAD).
    for (name, value) in &entry.env {
        field(Some(name.as_bytes()));
        field(Some(value.as_bytes()));
    }
    if let Some(program) = program {
        // Where it leads and what is there.
        field(Some(program.target.to_string_lossy().as_bytes()));
        field(program.bytes.as_deref());
    }
    hexadecimal(&hash.finalize())
}

/// The SHA-256 of some bytes, as a fingerprint is written.
pub(super) fn hash_of(bytes: &[u8]) -> String {
    hexadecimal(&Sha256::digest(bytes))
}

fn hexadecimal(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// The file in the project that a command runs, as it was when it was read.
#[derive(Debug)]
pub(super) struct Program {
    /// By the name that the command has for it.
    pub(super) named: PathBuf,
    /// Where that leads.
    pub(super) target: PathBuf,
    /// Absent when it cannot be read.
    pub(super) bytes: Option<Vec<u8>>,
}

impl Program {
    /// Reads the file that a command's first word names, if the name is one in the project.
    pub(super) fn of(entry: &HookEntry, project: &Path, directory: &Path) -> Option<Self> {
        let named = file_in_project(&first_word(&entry.command)?, project, directory)?;
        Some(Self {
            target: fs::canonicalize(&named).unwrap_or_else(|_| named.clone()),
            bytes: fs::read(&named).ok(),
            named,
        })
    }
}

/// The files in the project that further words of a command name. No decision covers what is in
/// them.
pub(super) fn files_beside_program(command: &str, project: &Path) -> Vec<PathBuf> {
    let mut files: Vec<PathBuf> = Vec::new();
    let separator = |character: char| character.is_whitespace() || ";|&<>()=".contains(character);
    let first = first_word(command);
    for word in command.split(separator).filter_map(first_word) {
        if Some(&word) != first.as_ref()
            && let Some(file) = file_in_project(&word, project, project)
            && !files.contains(&file)
        {
            files.push(file);
        }
    }
    files
}

/// The file that a word of a command names, if the name is one in the project.
fn file_in_project(word: &str, project: &Path, directory: &Path) -> Option<PathBuf> {
    let named = match in_project_directory(word) {
        Some(relative) => project.join(relative),
        None => directory.join(word),
    };
    // By its name, not by where a link leads: what a link of the project leads to is the project's
    // choice, and may change.
    let inside = without_dots(&named).starts_with(without_dots(project))
        || fs::canonicalize(&named).ok()?.starts_with(fs::canonicalize(project).ok()?);
    (inside && named.is_file()).then_some(named)
}

/// A path without `.` and `..`, as it is written.
pub(super) fn without_dots(path: &Path) -> PathBuf {
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

//! A file that a decision about a hook covers, as it was reviewed.

use std::path::PathBuf;

use serde_json::Map;

use super::files::{Content, CoveredFile};
use super::fingerprint::hash_of;
use super::grant::SeenFile;

/// How much of a file is kept with a decision, in bytes: 64 KiB.
const MAX_KEPT: usize = 64 * 1024;

/// A file as it was when it was reviewed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReviewedFile {
    /// Its path, from the project's folder on where it is below it.
    pub path: PathBuf,
    /// Where that leads.
    pub target: PathBuf,
    /// What is in it; absent when it was not read.
    pub bytes: Option<Vec<u8>>,
    /// Whether it was read, and why not.
    pub state: FileState,
    /// Whether it can be executed, where the hook is started by executing it.
    pub executable: Option<bool>,
}

/// Whether a file that is reviewed was read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum FileState {
    /// It was read.
    Read,
    /// There is no such file.
    Absent,
    /// It cannot be read, or is no regular file.
    Unreadable,
    /// It is longer than 64 MiB, alone or with the hook's other files, so its hook cannot be trusted:
    /// it would be read before each run.
    TooLong,
}

impl ReviewedFile {
    /// What is in it, if it is a text.
    pub fn text(&self) -> Option<&str> {
        let text = std::str::from_utf8(self.bytes.as_deref()?).ok()?;
        (!text.contains('\0')).then_some(text)
    }

    /// The SHA-256 of what is in it.
    pub fn sha256(&self) -> Option<String> {
        self.bytes.as_deref().map(hash_of)
    }
}

impl ReviewedFile {
    pub(super) fn of(file: CoveredFile) -> Self {
        let (state, bytes) = match file.content {
            Content::Read { bytes, .. } => (FileState::Read, bytes),
            Content::Absent => (FileState::Absent, None),
            Content::Unreadable => (FileState::Unreadable, None),
            Content::TooLong => (FileState::TooLong, None),
        };
        let executable = file.executable;
        Self { path: file.path, target: file.target, bytes, state, executable }
    }

    pub(super) fn to_seen(&self) -> SeenFile {
        SeenFile {
            path: self.path.to_string_lossy().into_owned(),
            target: self.target.to_string_lossy().into_owned(),
            sha256: self.sha256(),
            // A file that is not there is not merely not executable.
            executable: self.executable.filter(|_| self.bytes.is_some()),
            content: self.text().filter(|text| text.len() <= MAX_KEPT).map(str::to_owned),
            unknown: Map::new(),
        }
    }
}

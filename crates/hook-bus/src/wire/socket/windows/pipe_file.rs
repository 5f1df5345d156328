//! The file at a socket's path. It names the pipe, and holds the proof of its server.
//!
//! The names of all pipes are visible to every user, who can take one that is free. The file is in
//! the user's own folder, which other users cannot read.

use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use hook_files::{private_folder, user_folders};
use hook_trust::sha256;
use uuid::Uuid;

use super::SocketError;

/// The maximum length of a file that is read.
const MAX_LENGTH: u64 = 1024;

/// The file of a server.
#[derive(Debug)]
pub(super) struct PipeFile {
    path: PathBuf,
    /// The name of the pipe.
    pub(super) pipe: String,
    /// The line that the server sends first.
    pub(super) proof: String,
}

impl PipeFile {
    /// Determines the file of a new server. Nothing is written yet.
    pub(super) fn new(path: &Path) -> Result<Self, SocketError> {
        let make = |source| failed(path, "its directory", source);
        let absolute = std::path::absolute(path).map_err(make)?;
        let directory = absolute.parent().unwrap_or(&absolute);
        if let Some(existing) = directory.ancestors().find_map(|it| fs::canonicalize(it).ok()) {
            check_private(&existing)?;
        }
        private_folder::make(directory).map_err(make)?;
        let path = real_path(path).map_err(make)?;
        check_private(&path)?;
        let proof = format!("{}{}\n", Uuid::new_v4().simple(), Uuid::new_v4().simple());
        Ok(Self { pipe: pipe_name(&path), path, proof })
    }

    /// Reads the file of a running server.
    pub(super) fn read(path: &Path) -> Result<Self, SocketError> {
        let failed = |source| SocketError::Connect { path: path.to_owned(), source };
        let real = real_path(path).map_err(failed)?;
        check_private(&real)?;
        let mut text = String::new();
        let file = File::open(&real).map_err(failed)?;
        file.take(MAX_LENGTH).read_to_string(&mut text).map_err(failed)?;
        let pipe = pipe_name(&real);
        match text.strip_prefix(&pipe).and_then(|rest| rest.strip_prefix('\n')) {
            Some(proof) if proof.len() > 1 => {
                Ok(Self { proof: proof.to_owned(), pipe, path: real })
            }
            _ => Err(SocketError::Taken { path: real }),
        }
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    fn text(&self) -> String {
        format!("{}\n{}", self.pipe, self.proof)
    }

    /// Writes the file, in place of one that an earlier server left. The pipe is open by now, so no
    /// other server writes it.
    pub(super) fn write(&self) -> Result<(), SocketError> {
        match fs::symlink_metadata(&self.path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Ok(metadata) if metadata.is_file() => drop(Self::read(&self.path)?),
            _ => return Err(SocketError::Taken { path: self.path.clone() }),
        }
        let new = self.path.with_extension("new");
        fs::write(&new, self.text())
            .and_then(|()| hook_files::atomic::rename(&new, &self.path))
            .map_err(|source| failed(&self.path, "write", source))
    }

    /// Removes the file, unless it was replaced.
    pub(super) fn remove(&self) {
        if fs::read_to_string(&self.path).is_ok_and(|text| text == self.text()) {
            // If this fails, the next server replaces it.
            let _ = fs::remove_file(&self.path);
        }
    }
}

fn failed(path: &Path, doing: &'static str, source: io::Error) -> SocketError {
    SocketError::Make { path: path.to_owned(), doing, source }
}

/// Returns the path with its directory resolved.
fn real_path(path: &Path) -> io::Result<PathBuf> {
    let absolute = std::path::absolute(path)?;
    match (absolute.parent(), absolute.file_name()) {
        (Some(directory), Some(name)) => Ok(fs::canonicalize(directory)?.join(name)),
        _ => Err(io::ErrorKind::InvalidFilename.into()),
    }
}

/// Checks that a path is in the user's own folder, since this system tells nobody without `unsafe`
/// who may change another one.
fn check_private(path: &Path) -> Result<(), SocketError> {
    let home = user_folders::home().unwrap_or_default();
    match fs::canonicalize(&home).is_ok_and(|home| path.starts_with(home)) {
        true => Ok(()),
        false => {
            let directory = path.parent().unwrap_or(path).to_owned();
            Err(SocketError::OutsideHome { path: path.to_owned(), directory, home })
        }
    }
}

/// Returns the name of the pipe for a path: `\\.\pipe\hook-USER-DIGEST`. Paths that differ in case
/// alone are the same file.
fn pipe_name(path: &Path) -> String {
    let user = user_folders::home().unwrap_or_default();
    let user = user.file_name().unwrap_or_default().to_string_lossy();
    let user = user.replace(|it: char| !it.is_ascii_alphanumeric(), "_");
    let digest = sha256(path.to_string_lossy().to_lowercase().as_bytes());
    format!(r"\\.\pipe\hook-{user}-{}", digest.get(..16).unwrap_or(&digest))
}

//! Files below one folder, each read once however many hooks cover it.

use std::collections::HashMap;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::fingerprint::hash_of;
use super::index::hash_file;
use super::tree::{MAX_BYTES, Stamp, is_of_packages};
use hook_files::regular_file;

/// The files below one folder that were read.
#[derive(Debug)]
pub(super) struct Contents<'c> {
    pub(super) base: &'c Path,
    read: Mutex<HashMap<PathBuf, Cached>>,
}

/// A file that was read, with its stamp when it was listed.
type Cached = (Stamp, Result<Arc<Content>, io::ErrorKind>);

/// The content of a file.
#[derive(Debug)]
pub(super) struct Content {
    /// Absent for installed packages, which are not shown.
    pub(super) bytes: Option<Vec<u8>>,
    pub(super) sha256: String,
}

impl<'c> Contents<'c> {
    /// The files below that folder.
    pub(super) fn of(base: &'c Path) -> Self {
        Self { base, read: Mutex::default() }
    }

    /// Reads a file that was listed with that stamp.
    ///
    /// # Errors
    /// If it cannot be read.
    pub(super) fn read(&self, path: &Path, stamp: &Stamp) -> io::Result<Arc<Content>> {
        if let Some((known, content)) = self.known().get(path)
            && known == stamp
        {
            return content.clone().map_err(io::Error::from);
        }
        let content = self.read_anew(path).map(Arc::new).map_err(|error| error.kind());
        self.known().insert(path.to_path_buf(), (*stamp, content.clone()));
        content.map_err(io::Error::from)
    }

    fn known(&self) -> MutexGuard<'_, HashMap<PathBuf, Cached>> {
        self.read.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn read_anew(&self, path: &Path) -> io::Result<Content> {
        let full = self.base.join(path);
        if is_of_packages(path) {
            let (sha256, _) = hash_file(&full)?;
            return Ok(Content { bytes: None, sha256 });
        }
        let bytes = regular_file::read(&full, MAX_BYTES)?;
        Ok(Content { sha256: hash_of(&bytes), bytes: Some(bytes) })
    }
}

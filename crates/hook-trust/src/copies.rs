//! Copies of what was trusted: `DIGEST/` with the covered folders as they are in the project.

use std::collections::HashSet;
use std::fs;
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};

use super::fingerprint::hexadecimal;
use super::index::{Index, digest};
use super::tree::{Entry, Listing, MAX_PACKAGE_BYTES, Scope, Stamp};
use hook_files::plain_path::resolved;
use hook_files::{private_folder, regular_file};

/// The folder of these copies.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Copies(pub(super) PathBuf);

impl Copies {
    /// Returns the folder of the copy with that digest.
    pub(super) fn path(&self, digest: &str) -> PathBuf {
        self.0.join(digest)
    }

    /// Returns the folder of indexes.
    pub(super) fn indexes(&self) -> PathBuf {
        self.0.join("index")
    }

    /// Returns the folder in which interpreters cache compiled files of hooks with that digest. Files compiled from
    /// other sources are never found there, even if those had the same times and sizes.
    pub(super) fn cache(&self, digest: &str) -> PathBuf {
        self.caches().join(digest)
    }

    fn caches(&self) -> PathBuf {
        self.0.join("cache")
    }

    /// Removes caches but those of hooks with these digests.
    pub(super) fn retain_caches(&self, digests: &HashSet<&str>) {
        for entry in fs::read_dir(self.caches()).into_iter().flatten().flatten() {
            if !digests.contains(&*entry.file_name().to_string_lossy()) {
                let _ = remove(&entry.path());
            }
        }
    }

    /// Refuses a folder that a project could write to.
    pub(super) fn check(&self, project: &Path) -> io::Result<()> {
        let folder = resolved(&self.0);
        let is_of_project = folder.starts_with(resolved(project));
        let is_in_proc = self.0.starts_with("/proc") || folder.starts_with("/proc");
        let message = match self.0.to_str() {
            _ if is_of_project && !is_home_repository(project, &self.0) || is_in_proc => {
                "it is in the project whose hooks would be copied there"
            }
            None => "its path is no UTF-8, so no command can name it",
            Some(_) => return Ok(()),
        };
        Err(io::Error::new(io::ErrorKind::InvalidInput, message))
    }

    /// Returns `true` if the copy with that digest exists and is unchanged.
    pub(super) fn is_intact(&self, digest: &str, scope: &Scope) -> bool {
        let actual = self.index(digest, scope).digest();
        actual.is_ok_and(|found| found == digest)
    }

    /// Returns the index of a copy.
    pub(super) fn index(&self, digest: &str, scope: &Scope) -> Index {
        Index::new(&self.path(digest), &copy_scope(scope), Some(&self.indexes()))
            .of_copy(digest, self.list(digest))
    }

    /// Copies files that have that digest.
    ///
    /// # Errors
    /// If they cannot be copied, or have another digest.
    pub(super) fn make(
        &self,
        project: &Path,
        (scope, listing): (&Scope, &Listing),
        digest: &str,
    ) -> io::Result<()> {
        if self.is_intact(digest, scope) {
            return Ok(());
        }
        private_folder::make(&self.0)?;
        private_folder::check(&self.0)?;
        let copy = tempfile::Builder::new().prefix(".new-").tempdir_in(&self.0)?;
        let made =
            write(project, listing, copy.path()).and_then(|written| match written == digest {
                true => Ok(()),
                false => Err(io::Error::other("the files changed while they were copied")),
            });
        if let Err(error) = made {
            let _ = remove(copy.path());
            return Err(error);
        }
        let path = self.path(digest);
        if fs::symlink_metadata(&path).is_ok() {
            remove(&path)?;
        }
        let copy = copy.keep();
        fs::rename(&copy, &path).inspect_err(|_| {
            let _ = remove(&copy);
        })?;
        private_folder::make(&self.indexes())?;
        let list = listing.files.iter().filter(|(_, entry)| **entry != Entry::Absent);
        let list: Vec<&[u8]> = list.map(|(path, _)| path.as_os_str().as_encoded_bytes()).collect();
        fs::write(self.list(digest), list.join(&0))
    }

    /// Returns the path of the list of a copy's files.
    fn list(&self, digest: &str) -> PathBuf {
        self.indexes().join(digest)
    }

    /// Returns the digests of the copies.
    pub(super) fn digests(&self) -> Vec<String> {
        let entries = fs::read_dir(&self.0).into_iter().flatten().flatten();
        let names = entries.map(|entry| entry.file_name().to_string_lossy().into_owned());
        names.filter(|name| is_digest(name)).collect()
    }

    /// Removes copies but those with these digests.
    pub(super) fn retain(&self, digests: &HashSet<&str>) {
        let folders = [self.0.clone(), self.indexes()];
        let entries = folders.iter().flat_map(fs::read_dir).flatten().flatten();
        for entry in entries {
            let name = entry.file_name();
            let name = name.to_string_lossy();
            // No other process copies while the store is locked.
            if is_digest(&name) && !digests.contains(&*name) || name.starts_with(".new-") {
                let _ = remove(&entry.path());
            }
        }
    }
}

fn is_digest(name: &str) -> bool {
    name.len() == 64 && name.bytes().all(|byte| byte.is_ascii_hexdigit())
}

/// Returns `true` if the project contains the user's own folders, as a home directory that is a repository does.
fn is_home_repository(project: &Path, folder: &Path) -> bool {
    hook_files::user_folders::home()
        .is_some_and(|home| resolved(&home) == resolved(project) && folder.starts_with(&home))
}

/// Returns the scope of everything in a copy.
fn copy_scope(scope: &Scope) -> Scope {
    Scope { roots: vec![PathBuf::new()], data: Vec::new(), started: scope.started.clone() }
}

/// Writes a copy. Returns the digest of what was written.
fn write(project: &Path, listing: &Listing, copy: &Path) -> io::Result<String> {
    let mut made: Option<&Path> = None;
    for (path, entry) in &listing.files {
        // Files of one folder follow each other.
        if made != path.parent()
            && let Some(folder) = path.parent()
        {
            private_folder::make(&copy.join(folder))?;
            made = Some(folder);
        }
        if let Entry::Link { target } = entry {
            link(target, &copy.join(path))?;
        }
    }
    let copy_file = |path: &Path, stamp: &Stamp| {
        copy_file(&project.join(path), &copy.join(path), stamp.is_executable())
    };
    digest(listing, copy_file).map_err(|error| io::Error::other(error.to_string()))
}

/// Copies a file. Returns the hash of what was written.
fn copy_file(from: &Path, to: &Path, executable: bool) -> io::Result<String> {
    let mut source = regular_file::open(from)?.take(MAX_PACKAGE_BYTES);
    let mut options = fs::OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    {
        let mode = if executable { 0o500 } else { 0o400 };
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, mode);
    }
    #[cfg(not(unix))]
    let _ = executable;
    let mut copy = HashingWriter { file: options.open(to)?, hash: Sha256::new() };
    io::copy(&mut source, &mut copy)?;
    copy.flush()?;
    Ok(hexadecimal(&copy.hash.finalize()))
}

/// A file, and the hash of what is written to it.
struct HashingWriter {
    file: fs::File,
    hash: Sha256,
}

impl Write for HashingWriter {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let count = self.file.write(bytes)?;
        self.hash.update(bytes.get(..count).unwrap_or_default());
        Ok(count)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

#[cfg(unix)]
fn link(target: &Path, at: &Path) -> io::Result<()> {
    std::os::unix::fs::symlink(target, at)
}

#[cfg(not(unix))]
fn link(_: &Path, _: &Path) -> io::Result<()> {
    Err(io::ErrorKind::Unsupported.into())
}

fn set_folder_modes(folder: &Path, mode: u32) -> io::Result<()> {
    #[cfg(unix)]
    {
        let permissions: fs::Permissions = std::os::unix::fs::PermissionsExt::from_mode(mode);
        // A list, since folders may be nested as deeply as a path is long.
        let mut folders = vec![folder.to_path_buf()];
        let mut next = 0;
        while let Some(folder) = folders.get(next).cloned() {
            next += 1;
            if mode & 0o200 != 0 {
                fs::set_permissions(&folder, permissions.clone())?;
            }
            for entry in fs::read_dir(&folder)? {
                let entry = entry?;
                if entry.file_type()?.is_dir() {
                    folders.push(entry.path());
                }
            }
        }
        for folder in folders.iter().rev() {
            fs::set_permissions(folder, permissions.clone())?;
        }
    }
    #[cfg(not(unix))]
    let _ = (folder, mode);
    Ok(())
}

fn remove(copy: &Path) -> io::Result<()> {
    if fs::symlink_metadata(copy)?.is_dir() {
        set_folder_modes(copy, 0o700)?;
        return fs::remove_dir_all(copy);
    }
    fs::remove_file(copy)
}

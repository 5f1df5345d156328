//! Packs: their files by digest, and the copies that run.

use std::collections::{BTreeMap, HashSet};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::command::Command;
use super::contents::Contents;
use super::copies::Copies;
use super::index::digest;
use super::reviewed_file::ReviewedFile;
use super::tree::{Listing, Scope};
use hook_files::file_lock::FileLock;
use hook_settings::{HookEntry, LockedPack, PROJECT_RULES, Pack, packs_folder};

/// The file that is locked while packs are copied. No pack has this name.
const LOCK: &str = ".lock";

/// The longest wait for another process that copies packs.
const LOCK_TIMEOUT: Duration = Duration::from_secs(10);

/// The files of a pack as they were read.
#[derive(Debug)]
pub struct PackFiles {
    /// The files.
    pub files: Vec<ReviewedFile>,
    /// The SHA-256 of all of them, with their names.
    pub digest: String,
    folder: PathBuf,
    scope: Scope,
    listing: Listing,
}

impl PackFiles {
    /// Reads a folder: at most 2,000 files and 64 MiB, with links only to what is in it.
    ///
    /// # Errors
    /// If it has more, or something that cannot be copied.
    pub fn read(folder: &Path) -> Result<Self, String> {
        Self::read_roots(folder, PathBuf::new())
    }

    /// Reads the rules of a project.
    ///
    /// # Errors
    /// As [`read`](Self::read).
    pub(crate) fn of_rules(project: &Path) -> Result<Self, String> {
        Self::read_roots(&project.join(".hooks"), "rules".into())
    }

    /// Returns the folder that was read.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Copies the files into a folder, and returns the copy's.
    ///
    /// # Errors
    /// If they cannot be written, or are not what they were when they were read.
    pub fn copy_to(&self, folder: &Path) -> io::Result<PathBuf> {
        let copies = Copies(folder.to_path_buf());
        copies.make(&self.folder, (&self.scope, &self.listing), &self.digest)?;
        Ok(copies.path(&self.digest))
    }

    fn read_roots(folder: &Path, root: PathBuf) -> Result<Self, String> {
        let scope = Scope { roots: vec![root], ..whole() };
        let contents = Contents::of(folder);
        let read = || {
            let listing = scope.list(folder)?;
            let hash_of = |path: &Path, stamp: &_| {
                contents.read(path, stamp).map(|content| content.sha256.clone())
            };
            let digest = digest(&listing, hash_of)?;
            Ok::<_, super::tree::CoverError>((listing, digest))
        };
        let (listing, digest) = read().map_err(|error| error.to_string())?;
        let files = ReviewedFile::read(&contents, &listing, &[]);
        Ok(Self { files, digest, folder: folder.to_path_buf(), scope, listing })
    }
}

fn whole() -> Scope {
    Scope { roots: vec![PathBuf::new()], data: Vec::new(), started: Vec::new() }
}

/// The user's copies of packs: `NAME/DIGEST/`.
#[derive(Debug, Clone)]
pub struct PackStore(PathBuf);

impl PackStore {
    /// Returns the user's store, if there is a folder for data.
    pub fn of_user() -> Option<Self> {
        packs_folder().map(Self)
    }

    fn copies(&self, name: &str) -> Copies {
        Copies(self.0.join(name))
    }

    /// Copies a pack, and returns the copy's folder. The copy is made aside and then put in its
    /// place, so that it is whole whenever it is there.
    ///
    /// # Errors
    /// If it cannot be written, or the files are not what they were when they were read.
    pub fn install(&self, name: &str, files: &PackFiles) -> io::Result<PathBuf> {
        let _lock = FileLock::acquire_within(&self.0.join(LOCK), LOCK_TIMEOUT)?;
        files.copy_to(&self.copies(name).0)
    }

    /// Returns `true` if the copy of a pack is there as it was made.
    pub fn is_intact(&self, name: &str, digest: &str) -> bool {
        self.copies(name).is_intact(digest, &whole())
    }

    /// Reads the copy of a pack; `None` if it is not there, or not what it was.
    pub fn installed(&self, name: &str, digest: &str) -> Option<PackFiles> {
        PackFiles::read(&self.copies(name).path(digest)).ok().filter(|files| files.digest == digest)
    }

    /// Returns the packs of which there are copies, each with their digests.
    pub fn copied(&self) -> Vec<(String, Vec<String>)> {
        let entries = fs::read_dir(&self.0).into_iter().flatten().flatten();
        let names = entries.map(|entry| entry.file_name().to_string_lossy().into_owned());
        let names = names.filter(|name| name != PROJECT_RULES);
        let packs = names.map(|name| (name.clone(), self.copies(&name).digests()));
        packs.filter(|(_, digests)| !digests.is_empty()).collect()
    }

    /// Removes the copies of a pack but those with these digests.
    ///
    /// # Errors
    /// If another process is copying.
    pub fn retain(&self, name: &str, digests: &HashSet<&str>) -> io::Result<()> {
        let _lock = FileLock::acquire_within(&self.0.join(LOCK), LOCK_TIMEOUT)?;
        let copies = self.copies(name);
        copies.retain(digests);
        copies.retain_caches(digests);
        Ok(())
    }

    /// Keeps the rules of a project as the user agreed to them: taking one out needs another yes.
    ///
    /// # Errors
    /// If they cannot be read or copied.
    pub fn keep_rules(&self, project: &Path) -> io::Result<LockedPack> {
        let files = PackFiles::of_rules(project).map_err(io::Error::other)?;
        self.install(PROJECT_RULES, &files)?;
        Ok(LockedPack { digest: files.digest, ..LockedPack::default() })
    }
}

/// Compares the files of a pack with its digest.
///
/// # Errors
/// The reason why nothing of it may run.
pub fn verify_pack(pack: &Pack) -> Result<(), String> {
    let back = match &pack.project {
        Some(_) => "`hook add`",
        None => "`hook add` with its source",
    };
    let (title, name) = (pack.title(), &pack.name);
    let how = match &**name {
        PROJECT_RULES => "`hook trust` agrees to the rules as they are".to_owned(),
        _ => format!("{back} puts it back, `hook remove {name}` takes it out"),
    };
    if fs::symlink_metadata(&pack.folder).is_err() {
        return Err(format!("{title} is not in the user's data any more; {how}"));
    }
    let copies = Copies(pack.folder.parent().unwrap_or(Path::new("/")).to_path_buf());
    match copies.is_intact(&pack.locked.digest, &whole()) {
        true => Ok(()),
        false => Err(format!(
            "{title} changed since it was added: its files in the user's data are different; {how}"
        )),
    }
}

/// Returns the reason why a hook of a pack in that folder does not run, if it starts something of the project.
pub fn outside_of_pack(entry: &HookEntry, folder: &Path) -> Option<String> {
    Command::outside_of_pack(entry, folder)
}

/// The packs that a user agreed to in a project, by name.
pub type AgreedPacks = BTreeMap<String, LockedPack>;

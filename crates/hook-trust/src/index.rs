//! The digest of folders, and an index by which it is known again without reading the files.

use std::collections::HashSet;
use std::fs;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::fingerprint::{hash_of, hexadecimal};
use super::parallel;
use super::tree::{
    CoverError, Entry, Listing, MAX_DEPTH, Scope, Stamp, is_not_found, is_output_file,
    is_output_folder,
};
use hook_files::{private_folder, regular_file};

/// A file that was written so long before it was read has another stamp when it is written again; in
/// nanoseconds. Some file systems count whole seconds, and one counts two at a time.
const SETTLE_TIME: i128 = 2_500_000_000;

/// The most files, and bytes of them, that are read for each event instead of being recognized by their stamps: less
/// than a millisecond's work.
const SMALL_FILES: usize = 64;
const SMALL_BYTES: u64 = 512 << 10;

/// The most bytes of files changed just now that are read for a warning: while packages are installed it can wait.
const MAX_CHANGING: u64 = 16 << 20;

/// The greatest age of a result that only a warning depends on.
const RECENT: Duration = Duration::from_secs(1);

/// The greatest length of an index, in bytes.
const MAX_INDEX: u64 = 4 << 10;

/// The greatest length of a list of a copy's files, in bytes.
const MAX_LIST: u64 = 64 << 20;

/// The digest of the files in one scope, remembered between looks.
#[derive(Debug)]
pub(super) struct Index {
    base: PathBuf,
    scope: Scope,
    /// The file that keeps it for the next process, if it is kept.
    path: Option<PathBuf>,
    copy: Option<CopyOf>,
    state: Mutex<State>,
}

/// A copy as it was made.
#[derive(Debug)]
struct CopyOf {
    digest: String,
    /// The path of the list of its files.
    list: PathBuf,
}

#[derive(Debug, Default)]
struct State {
    cached: Option<CachedDigest>,
    /// The last result, and the time at which its computation began.
    last: Option<(Instant, Result<String, CoverError>)>,
    /// Files that were removed from the copy and not yet reported.
    removed: Vec<PathBuf>,
}

/// The digest of files, and the hash of their names and stamps by which it is recognized. Both are empty for files
/// that were written just before they were read.
#[derive(Debug, Default, Serialize, Deserialize)]
struct CachedDigest {
    stamps: String,
    digest: String,
}

/// The use of a digest.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Purpose {
    /// To decide whether a hook runs.
    Decision,
    /// To warn that a folder differs from the copy that runs.
    Warning,
}

impl Index {
    /// Creates the index of these files, kept in that folder.
    pub(super) fn new(base: &Path, scope: &Scope, folder: Option<&Path>) -> Self {
        let name = hash_of(format!("{base:?} {scope:?}").as_bytes());
        let name = format!("{}.json", name.get(..32).unwrap_or(&name));
        let path = folder.map(|folder| folder.join(name));
        Self { base: base.into(), scope: scope.clone(), path, copy: None, state: Mutex::default() }
    }

    /// Makes it the index of a copy, from which each look removes files that the copy was not made with.
    pub(super) fn of_copy(self, digest: &str, list: PathBuf) -> Self {
        Self { copy: Some(CopyOf { digest: digest.to_owned(), list }), ..self }
    }

    /// Returns the digest of the files as they are.
    ///
    /// # Errors
    /// If they cannot be covered.
    pub(super) fn digest(&self) -> Result<String, CoverError> {
        self.digest_since(Instant::now(), Purpose::Decision)
    }

    /// Returns the digest of the files for a warning: as they were at most a second ago if `may_be_recent`.
    ///
    /// # Errors
    /// If they cannot be covered; [`CoverError::Changing`] if the warning can wait.
    pub(super) fn digest_for_warning(&self, may_be_recent: bool) -> Result<String, CoverError> {
        let now = Instant::now();
        let requested = if may_be_recent { now.checked_sub(RECENT).unwrap_or(now) } else { now };
        self.digest_since(requested, Purpose::Warning)
    }

    fn digest_since(&self, requested: Instant, purpose: Purpose) -> Result<String, CoverError> {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        match &state.last {
            // Another hook of the same event has looked meanwhile.
            Some((started, result)) if *started > requested => result.clone(),
            _ => {
                let started = Instant::now();
                let mut found = self.scan(&mut state, purpose);
                if let Some(copy) = &self.copy
                    && !found.as_ref().is_ok_and(|digest| *digest == copy.digest)
                    && let removed = copy.remove_others(&self.base)
                    && !removed.is_empty()
                {
                    state.removed.extend(removed);
                    found = self.scan(&mut state, purpose);
                }
                if found == Err(CoverError::Changing) {
                    return found;
                }
                state.last = Some((started, found.clone()));
                found
            }
        }
    }

    /// Takes the files that were removed from the copy and not yet reported.
    pub(super) fn take_removed(&self) -> Vec<PathBuf> {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        std::mem::take(&mut state.removed)
    }

    fn scan(&self, state: &mut State, purpose: Purpose) -> Result<String, CoverError> {
        let now = SystemTime::now()
            .duration_since(UNIX_EPOCH)
            .map_or(0, |elapsed| elapsed.as_nanos() as i128);
        let listing = self.listing()?;
        if is_small(&listing) {
            return digest(&listing, |path, _| {
                hash_file(&self.base.join(path)).map(|(hash, _)| hash)
            });
        }
        let stamps = stamps_hash(&listing);
        let cached = state.cached.get_or_insert_with(|| self.load());
        if cached.stamps == stamps {
            return Ok(cached.digest.clone());
        }
        let is_settled_at = |stamp: &Stamp| now - stamp.changed > SETTLE_TIME;
        if purpose == Purpose::Warning && has_large_changes(&listing, is_settled_at) {
            return Err(CoverError::Changing);
        }
        let is_changing = AtomicBool::new(false);
        let digest = digest(&listing, |path, stamp| {
            let (hash, read) = hash_file(&self.base.join(path))?;
            // Anyone may set the time of modification; that of the change is the system's.
            if read != *stamp || !is_settled_at(stamp) {
                is_changing.store(true, Ordering::Relaxed);
            }
            Ok(hash)
        })?;
        if !is_changing.into_inner() {
            *cached = CachedDigest { stamps, digest: digest.clone() };
            // Without it the files are read again.
            let _ = self.save(cached);
        }
        Ok(digest)
    }

    /// Lists the files as they are.
    ///
    /// # Errors
    /// If they cannot be covered.
    pub(super) fn listing(&self) -> Result<Listing, CoverError> {
        self.scope.list(&self.base)
    }

    fn load(&self) -> CachedDigest {
        let read = self.path.as_deref().and_then(|path| regular_file::read(path, MAX_INDEX).ok());
        read.and_then(|bytes| serde_json::from_slice(&bytes).ok()).unwrap_or_default()
    }

    fn save(&self, cached: &CachedDigest) -> io::Result<()> {
        let Some(path) = &self.path else { return Ok(()) };
        if let Some(folder) = path.parent() {
            private_folder::make(folder)?;
            private_folder::check(folder)?;
        }
        let temporary = path.with_extension(format!("{}.tmp", std::process::id()));
        fs::write(&temporary, serde_json::to_vec(cached)?)?;
        hook_files::atomic::rename(&temporary, path)
    }
}

impl CopyOf {
    /// Removes files that the copy was not made with, except for output of hooks, and returns their paths. Files that
    /// were changed stay: the digest shows those.
    fn remove_others(&self, base: &Path) -> Vec<PathBuf> {
        let mut removed = Vec::new();
        if let Ok(list) = regular_file::read(&self.list, MAX_LIST) {
            let known: HashSet<&[u8]> = list.split(|byte| *byte == 0).collect();
            remove_others((base, Path::new("")), &known, None, &mut removed);
        }
        removed
    }
}

/// Removes files that are not among the known ones. `outputs` is set inside an output folder: `true` if output of
/// hooks there is not part of the digest.
fn remove_others(
    (base, folder): (&Path, &Path),
    known: &HashSet<&[u8]>,
    outputs: Option<bool>,
    removed: &mut Vec<PathBuf>,
) {
    if folder.components().count() > MAX_DEPTH {
        return;
    }
    for entry in fs::read_dir(base.join(folder)).into_iter().flatten().flatten() {
        let path = folder.join(entry.file_name());
        let Ok(found) = entry.metadata() else { continue };
        let name = path.as_os_str().as_encoded_bytes();
        if found.is_dir() {
            let is_empty = || {
                let is_in_it = |file: &&[u8]| {
                    file.strip_prefix(name).is_some_and(|rest| rest.starts_with(b"/"))
                };
                !known.iter().any(is_in_it)
            };
            let outputs = outputs.or_else(|| is_output_folder(&path).then(is_empty));
            remove_others((base, &path), known, outputs, removed);
        } else if !known.contains(name)
            && (outputs == Some(false) || !is_output_file(&path, &found, outputs.is_some()))
            && fs::remove_file(base.join(&path)).is_ok()
        {
            removed.push(path);
        }
    }
}

/// Returns `true` if the files are read each time: a process that mapped a file into its memory can change it while
/// its stamp stays the same.
fn is_small(listing: &Listing) -> bool {
    listing.files.len() <= SMALL_FILES && total_size(listing) <= SMALL_BYTES
}

/// Returns `true` if the files are large and one of them changed just now.
fn has_large_changes(listing: &Listing, is_settled: impl Fn(&Stamp) -> bool) -> bool {
    total_size(listing) > MAX_CHANGING && !stamps(listing).all(is_settled)
}

fn stamps(listing: &Listing) -> impl Iterator<Item = &Stamp> {
    listing.files.values().filter_map(|entry| match entry {
        Entry::File(stamp) => Some(stamp),
        Entry::Link { .. } | Entry::Absent => None,
    })
}

fn total_size(listing: &Listing) -> u64 {
    stamps(listing).map(|stamp| stamp.size).sum()
}

/// Returns a hash that changes whenever one of the files does.
fn stamps_hash(listing: &Listing) -> String {
    let mut hasher = Sha256::new_with_prefix(b"hook stamps 1\n");
    for (path, entry) in &listing.files {
        let name = path.as_os_str().as_encoded_bytes();
        hasher.update((name.len() as u64).to_le_bytes());
        hasher.update(name);
        match entry {
            Entry::Absent => hasher.update(b"absent"),
            Entry::Link { target } => {
                let target = target.as_os_str().as_encoded_bytes();
                hasher.update(b"link");
                hasher.update((target.len() as u64).to_le_bytes());
                hasher.update(target);
            }
            Entry::File(stamp) => hasher.update(stamp.bytes()),
        }
    }
    hexadecimal(&hasher.finalize())
}

/// Returns the digest of listed files. `hash_of_file` returns the hash of one, and is called by several threads.
pub(super) fn digest(
    listing: &Listing,
    hash_of_file: impl Fn(&Path, &Stamp) -> io::Result<String> + Sync,
) -> Result<String, CoverError> {
    let entries: Vec<(&PathBuf, &Entry)> = listing.files.iter().collect();
    let hashes = parallel::map(&entries, |(path, entry)| match entry {
        Entry::File(stamp) => hash_of_file(path, stamp),
        Entry::Link { .. } | Entry::Absent => Ok(String::new()),
    });
    let mut hasher = Sha256::new_with_prefix(b"hook folder 1\n");
    let mut add = |parts: &[&[u8]]| {
        for part in parts {
            hasher.update((part.len() as u64).to_le_bytes());
            hasher.update(part);
        }
    };
    for ((path, entry), hash) in entries.into_iter().zip(hashes) {
        let name = path.as_os_str().as_encoded_bytes();
        match entry {
            Entry::Absent => {}
            Entry::Link { target } => {
                add(&[b"link", name, target.as_os_str().as_encoded_bytes()]);
            }
            Entry::File(stamp) => {
                let kind: &[u8] = if stamp.is_executable() { b"program" } else { b"file" };
                match hash {
                    Ok(hash) => add(&[kind, name, hash.as_bytes()]),
                    Err(error) => return Err(CoverError::Unreadable(path.clone(), error.kind())),
                }
            }
        }
    }
    Ok(hexadecimal(&hasher.finalize()))
}

/// Returns the hash of a file, and its stamp when it was opened.
pub(super) fn hash_file(path: &Path) -> io::Result<(String, Stamp)> {
    let metadata = fs::symlink_metadata(path)?;
    if !metadata.is_file() {
        return Err(io::ErrorKind::InvalidInput.into());
    }
    let file = match regular_file::open(path) {
        // It went away just now: that is no file to be covered.
        Err(error) if is_not_found(&error) => return Err(io::ErrorKind::NotFound.into()),
        opened => opened?,
    };
    let stamp = Stamp::of(&file.metadata()?);
    let mut hash = Sha256::new();
    // One that grows meanwhile is not read for ever, and has another hash.
    io::copy(&mut file.take(stamp.size + 1), &mut hash)?;
    Ok((hexadecimal(&hash.finalize()), stamp))
}

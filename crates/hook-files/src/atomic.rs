//! Replaces a file as a whole: a reader sees either the old or the new content, even after a crash,
//! and of two concurrent writers neither loses a change.
//!
//! A writer holds the file's lock, `NAME.lock` in the same folder, from before it reads until it
//! has written. Editors ignore that lock: if another program changed the file in between, the file
//! is not replaced and the writer starts over with the new content. A race remains between the last
//! check and the rename.

use std::ffi::OsString;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// A failed operation on a file, with the system's error.
#[derive(Debug)]
pub struct FileError {
    /// The attempted step.
    pub attempt: &'static str,
    /// The error of the operating system.
    pub source: io::Error,
}

impl FileError {
    fn during(attempt: &'static str) -> impl FnOnce(io::Error) -> Self {
        move |source| Self { attempt, source }
    }
}

/// The outcome of an attempt to replace a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[must_use]
pub enum ReplaceOutcome {
    /// The file was replaced.
    Replaced,
    /// The file was not replaced, because it changed after it was read.
    Conflict,
}

/// The permissions of a new file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NewFile {
    /// Only its user may read it.
    Private,
    /// The user's umask decides who may read it.
    Ordinary,
    /// As [`NewFile::Ordinary`], and executable.
    Executable,
}

/// The exclusive right to replace one file, held until dropped.
#[derive(Debug)]
pub struct ReplaceLock {
    /// The file itself, not a link to it.
    path: PathBuf,
    _lock: Lock,
}

impl ReplaceLock {
    /// Waits for the lock of a file, which need not exist yet. Its folder is created.
    pub fn acquire(path: &Path) -> Result<Self, FileError> {
        let path = resolve_symlink(path).map_err(FileError::during("follow the link to"))?;
        fs::create_dir_all(parent_or_current(&path))
            .map_err(FileError::during("make the folder of"))?;
        let mut lock_name = path.file_name().map(OsString::from).unwrap_or_default();
        lock_name.push(".lock");
        let lock =
            Lock::acquire(path.with_file_name(lock_name)).map_err(FileError::during("lock"))?;
        remove_stale_temp_files(&path);
        Ok(Self { path, _lock: lock })
    }

    /// Returns the file's path with a symlink resolved.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Replaces the file that was read as `before` (`None` if it did not exist). Its permissions
    /// stay, and its owner if the system allows that.
    pub fn replace(
        &self,
        before: Option<&[u8]>,
        contents: &[u8],
        new_file: NewFile,
    ) -> Result<ReplaceOutcome, FileError> {
        let folder = parent_or_current(&self.path);
        if before.is_some() {
            // A rename needs no permission of the file, but read-only files must stay.
            let file = none_if_missing(OpenOptions::new().write(true).open(&self.path));
            if file.map_err(FileError::during("write"))?.is_none() {
                return Ok(ReplaceOutcome::Conflict);
            }
        }
        let write = || -> io::Result<ReplaceOutcome> {
            let old = none_if_missing(fs::metadata(&self.path))?;
            // A user who cannot read the old file must never be able to read the new one.
            let initial = if old.is_some() { NewFile::Private } else { new_file };
            let mut file = temporary_file(folder, &temp_prefix(&self.path), initial)?;
            file.write_all(contents)?;
            if let Some(old) = old {
                keep_owner(file.as_file(), &old);
                file.as_file().set_permissions(old.permissions())?;
            }
            file.as_file().sync_all()?;
            if !is_unchanged(&self.path, before)? {
                return Ok(ReplaceOutcome::Conflict);
            }
            // Renamed by hand: Windows' way of tempfile does not replace a file that is open.
            let (_file, temporary) = file.keep()?;
            rename(&temporary, &self.path).inspect_err(|_| drop(fs::remove_file(&temporary)))?;
            sync_folder(folder)?;
            Ok(ReplaceOutcome::Replaced)
        };
        write().map_err(FileError::during("write"))
    }
}

/// Renames a file, in place of another one. Windows refuses that while others have the file open in some
/// ways, as virus scanners do, so there it is tried for half a second.
///
/// # Errors
/// Returns an error if the file cannot be renamed.
pub fn rename(from: &Path, to: &Path) -> io::Result<()> {
    #[cfg(windows)]
    for _ in 0..50 {
        // Access denied, and a sharing violation.
        match fs::rename(from, to) {
            Err(error) if matches!(error.raw_os_error(), Some(5 | 32)) => {
                std::thread::sleep(Duration::from_millis(10));
            }
            renamed => return renamed,
        }
    }
    fs::rename(from, to)
}

/// Turns a missing file into `None`.
pub fn none_if_missing<T>(result: io::Result<T>) -> io::Result<Option<T>> {
    match result {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        found => found.map(Some),
    }
}

/// Writes a new file as a whole; fails if the file exists.
pub fn create(path: &Path, contents: &[u8], new_file: NewFile) -> io::Result<()> {
    let folder = parent_or_current(path);
    fs::create_dir_all(folder)?;
    let mut file = temporary_file(folder, TEMP_PREFIX, new_file)?;
    file.write_all(contents)?;
    file.as_file().sync_all()?;
    file.persist_noclobber(path)?;
    sync_folder(folder)
}

/// The prefix of temporary files; six more characters follow.
const TEMP_PREFIX: &str = ".hook-";
const RANDOM_LEN: usize = 6;

/// The age at which a temporary file without a lock counts as abandoned.
const STALE_AGE: Duration = Duration::from_secs(3600);

/// Returns the prefix of the temporary files of one file.
fn temp_prefix(path: &Path) -> String {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    format!("{TEMP_PREFIX}{name}-")
}

/// Removes temporary files of killed writers. Those of this file have no other writer, since its
/// lock is held.
fn remove_stale_temp_files(path: &Path) {
    let own_prefix = temp_prefix(path);
    let is_temp_name = |name: &str, prefix: &str| {
        name.strip_prefix(prefix).is_some_and(|rest| {
            rest.len() == RANDOM_LEN && rest.bytes().all(|byte| byte.is_ascii_alphanumeric())
        })
    };
    // Errors do not matter: a leftover is harmless.
    for entry in fs::read_dir(parent_or_current(path)).into_iter().flatten().flatten() {
        let name = entry.file_name();
        let name = name.to_string_lossy();
        let Ok(file) = entry.metadata() else { continue };
        let is_old =
            || file.modified().is_ok_and(|at| at.elapsed().is_ok_and(|age| age > STALE_AGE));
        if file.is_file()
            && (is_temp_name(&name, &own_prefix) || (is_temp_name(&name, TEMP_PREFIX) && is_old()))
        {
            let _ = fs::remove_file(entry.path());
        }
    }
}

fn temporary_file(
    folder: &Path,
    prefix: &str,
    new_file: NewFile,
) -> io::Result<tempfile::NamedTempFile> {
    let mut builder = tempfile::Builder::new();
    builder.prefix(prefix).rand_bytes(RANDOM_LEN);
    permit(&mut builder, new_file);
    builder.tempfile_in(folder)
}

fn parent_or_current(path: &Path) -> &Path {
    path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// Resolves a symlink, so that its target is replaced and the link stays.
fn resolve_symlink(path: &Path) -> io::Result<PathBuf> {
    match none_if_missing(fs::symlink_metadata(path))? {
        Some(found) if found.is_symlink() => fs::canonicalize(path),
        _ => Ok(path.to_path_buf()),
    }
}

/// Checks whether the file is unchanged, reading no more of it than necessary.
fn is_unchanged(path: &Path, before: Option<&[u8]>) -> io::Result<bool> {
    let file = none_if_missing(crate::regular_file::open(path))?;
    let (Some(file), Some(before)) = (&file, before) else {
        return Ok(file.is_some() == before.is_some());
    };
    let mut current = Vec::new();
    file.take(before.len() as u64 + 1).read_to_end(&mut current)?;
    Ok(current == before)
}

/// A lock file. Its holder removes it, so that none stays in a project.
#[derive(Debug)]
struct Lock {
    path: PathBuf,
    _file: File,
}

impl Lock {
    fn acquire(path: PathBuf) -> io::Result<Self> {
        loop {
            let mut options = OpenOptions::new();
            options.read(true).write(true).create(true).truncate(false);
            let file = options.open(&path)?;
            while let Err(error) = file.lock() {
                if error.kind() != io::ErrorKind::Interrupted {
                    return Err(error);
                }
            }
            // The last holder may have removed it, and another process may hold a new one.
            if is_the_file_at(&file, &path)? {
                return Ok(Self { path, _file: file });
            }
        }
    }
}

impl Drop for Lock {
    fn drop(&mut self) {
        if cfg!(unix) {
            // A leftover file is harmless: the next writer locks and removes it.
            let _ = fs::remove_file(&self.path);
        }
    }
}

#[cfg(unix)]
fn is_the_file_at(file: &File, path: &Path) -> io::Result<bool> {
    use std::os::unix::fs::MetadataExt;
    let held = file.metadata()?;
    let found = none_if_missing(fs::metadata(path))?;
    Ok(found.is_some_and(|found| (found.dev(), found.ino()) == (held.dev(), held.ino())))
}

#[cfg(not(unix))]
fn is_the_file_at(_: &File, _: &Path) -> io::Result<bool> {
    // Lock files are never removed on this system.
    Ok(true)
}

#[cfg(unix)]
fn permit(builder: &mut tempfile::Builder<'_, '_>, new_file: NewFile) {
    use std::os::unix::fs::PermissionsExt;
    // The umask applies.
    let mode = match new_file {
        NewFile::Private => 0o600,
        NewFile::Ordinary => 0o666,
        NewFile::Executable => 0o777,
    };
    builder.permissions(fs::Permissions::from_mode(mode));
}

#[cfg(not(unix))]
fn permit(_: &mut tempfile::Builder<'_, '_>, _: NewFile) {}

/// Gives the new file to the old one's owner, in case an administrator edits another user's file.
/// Errors are ignored: who may not change the owner owns the file or could rewrite it anyway.
#[cfg(unix)]
fn keep_owner(file: &File, old: &fs::Metadata) {
    use std::os::unix::fs::{MetadataExt, fchown};
    let _ = fchown(file, Some(old.uid()), Some(old.gid()));
}

#[cfg(not(unix))]
fn keep_owner(_: &File, _: &fs::Metadata) {}

/// Makes the rename durable.
#[cfg(unix)]
fn sync_folder(folder: &Path) -> io::Result<()> {
    File::open(folder)?.sync_all()
}

#[cfg(not(unix))]
fn sync_folder(_: &Path) -> io::Result<()> {
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_another_process_wrote_in_between_is_not_replaced() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("settings.json");
        for (before, now) in [(None, Some("new")), (Some("old"), Some("new")), (Some("old"), None)]
        {
            let _ = fs::remove_file(&path);
            if let Some(text) = before {
                fs::write(&path, text).unwrap();
            }
            let exclusive = ReplaceLock::acquire(&path).unwrap();
            match now {
                Some(text) => fs::write(&path, text).unwrap(),
                None => fs::remove_file(&path).unwrap(),
            }
            let before = before.map(str::as_bytes);
            let replaced = exclusive.replace(before, b"ours", NewFile::Ordinary).unwrap();
            assert_eq!(replaced, ReplaceOutcome::Conflict);
            assert_eq!(fs::read_to_string(&path).ok().as_deref(), now);
            let _ = fs::remove_file(&path);
        }
        let left = fs::read_dir(folder.path()).unwrap().count();
        assert_eq!(left, 0, "neither locks nor halves of files are left");
    }

    #[cfg(unix)]
    #[test]
    fn what_others_may_not_read_they_cannot_read_while_it_is_written() {
        use std::os::unix::fs::PermissionsExt;
        use std::sync::atomic::{AtomicBool, Ordering};
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("settings.json");
        fs::write(&path, "old").unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).unwrap();
        let contents = vec![b' '; 32 << 20];
        let done = AtomicBool::new(false);
        let mut seen = 0;
        std::thread::scope(|threads| {
            threads.spawn(|| {
                let exclusive = ReplaceLock::acquire(&path).unwrap();
                let _ = exclusive.replace(Some(b"old"), &contents, NewFile::Ordinary).unwrap();
                done.store(true, Ordering::Release);
            });
            while !done.load(Ordering::Acquire) {
                for entry in fs::read_dir(folder.path()).unwrap().flatten() {
                    // It may be gone by now.
                    let Ok(file) = entry.metadata() else { continue };
                    let is_lock = entry.file_name().to_string_lossy().ends_with(".lock");
                    if !is_lock {
                        assert_eq!(file.permissions().mode() & 0o777, 0o600, "{entry:?}");
                        seen += 1;
                    }
                }
            }
        });
        assert!(seen > 0);
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
    }
}

//! Replacing a file as a whole: a reader sees what was there before or what is there after,
//! also when the machine stops in between, and of two writers at once neither loses anything.
//!
//! A writer holds the file's lock, `NAME.lock` beside it, from before it reads until it has written.
//! Editors know nothing of that lock: a file that another program changed in between is not
//! replaced, and the writer starts over with what is there now. What remains is the moment between the last
//! look and the renaming.

use std::ffi::OsString;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// What was attempted on a file, and what the system said.
#[derive(Debug)]
pub(crate) struct Failed {
    pub(crate) attempt: &'static str,
    pub(crate) source: io::Error,
}

impl Failed {
    fn to(attempt: &'static str) -> impl FnOnce(io::Error) -> Self {
        move |source| Self { attempt, source }
    }
}

/// Whether the file was replaced.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[must_use]
pub(crate) enum Replaced {
    /// It was.
    Done,
    /// It was not: it is not what it was when it was read.
    ChangedMeanwhile,
}

/// Who may read a file that was not there before.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum NewFile {
    /// Its user alone.
    Private,
    /// All whom the user's umask lets read new files.
    Ordinary,
    /// The same, and they may execute it.
    Executable,
}

/// The right to replace one file, held until it is dropped.
#[derive(Debug)]
pub(crate) struct Exclusive {
    /// The file itself, not a link to it.
    path: PathBuf,
    _lock: Lock,
}

impl Exclusive {
    /// Waits for the right to replace a file, which need not exist yet; its folder is made.
    pub(crate) fn wait(path: &Path) -> Result<Self, Failed> {
        let path = where_it_leads(path).map_err(Failed::to("follow the link to"))?;
        fs::create_dir_all(folder_of(&path)).map_err(Failed::to("make the folder of"))?;
        let mut lock_name = path.file_name().map(OsString::from).unwrap_or_default();
        lock_name.push(".lock");
        let lock = Lock::wait(path.with_file_name(lock_name)).map_err(Failed::to("lock"))?;
        remove_abandoned(&path);
        Ok(Self { path, _lock: lock })
    }

    /// The file, where a link to it leads.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Puts a new file in the place of the one that was read as `before` (`None`: it was not
    /// there). Its permissions stay, and its owner where the system lets them.
    pub(crate) fn replace(
        &self,
        before: Option<&[u8]>,
        contents: &[u8],
        new_file: NewFile,
    ) -> Result<Replaced, Failed> {
        let folder = folder_of(&self.path);
        if before.is_some() {
            // Renaming asks only the folder; who made the file read-only meant it.
            let file = absent_is_none(OpenOptions::new().write(true).open(&self.path));
            if file.map_err(Failed::to("write"))?.is_none() {
                return Ok(Replaced::ChangedMeanwhile);
            }
        }
        let write = || -> io::Result<Replaced> {
            let old = absent_is_none(fs::metadata(&self.path))?;
            // A user who may not read the old file may not read the new one at any moment.
            let at_first = if old.is_some() { NewFile::Private } else { new_file };
            let mut file = temporary_file(folder, &prefix_of(&self.path), at_first)?;
            file.write_all(contents)?;
            if let Some(old) = old {
                keep_owner(file.as_file(), &old);
                file.as_file().set_permissions(old.permissions())?;
            }
            file.as_file().sync_all()?;
            if !is_still(&self.path, before)? {
                return Ok(Replaced::ChangedMeanwhile);
            }
            file.persist(&self.path)?;
            sync_folder(folder)?;
            Ok(Replaced::Done)
        };
        write().map_err(Failed::to("write"))
    }
}

/// `None` for what is not there.
pub(crate) fn absent_is_none<T>(found: io::Result<T>) -> io::Result<Option<T>> {
    match found {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        found => found.map(Some),
    }
}

/// Writes a file that must not be there yet, as a whole.
pub(crate) fn create(path: &Path, contents: &[u8], new_file: NewFile) -> io::Result<()> {
    let folder = folder_of(path);
    fs::create_dir_all(folder)?;
    let mut file = temporary_file(folder, PREFIX, new_file)?;
    file.write_all(contents)?;
    file.as_file().sync_all()?;
    file.persist_noclobber(path)?;
    sync_folder(folder)
}

/// What the names of temporary files begin with; six more characters follow.
const PREFIX: &str = ".hook-";
const RANDOM: usize = 6;

/// How old a temporary file is that no writer has any more, where no lock says so.
const ABANDONED: Duration = Duration::from_secs(3600);

/// What the temporary files of one file begin with.
fn prefix_of(path: &Path) -> String {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    format!("{PREFIX}{name}-")
}

/// Removes what writers left that were killed. Those of this file have no other writer, since its lock is
/// held.
fn remove_abandoned(path: &Path) {
    let own = prefix_of(path);
    let has_form = |name: &str, prefix: &str| {
        name.strip_prefix(prefix).is_some_and(|rest| {
            rest.len() == RANDOM && rest.bytes().all(|it| it.is_ascii_alphanumeric())
        })
    };
    // What cannot be looked at or removed is in nobody's way.
    for entry in fs::read_dir(folder_of(path)).into_iter().flatten().flatten() {
        let name = entry.file_name();
        let name = name.to_string_lossy();
        let Ok(file) = entry.metadata() else { continue };
        let is_old =
            || file.modified().is_ok_and(|at| at.elapsed().is_ok_and(|age| age > ABANDONED));
        if file.is_file() && (has_form(&name, &own) || (has_form(&name, PREFIX) && is_old())) {
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
    builder.prefix(prefix).rand_bytes(RANDOM);
    permit(&mut builder, new_file);
    builder.tempfile_in(folder)
}

fn folder_of(path: &Path) -> &Path {
    path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// The file that a link stands for: the link stays, and what it leads to is replaced.
fn where_it_leads(path: &Path) -> io::Result<PathBuf> {
    match absent_is_none(fs::symlink_metadata(path))? {
        Some(found) if found.is_symlink() => fs::canonicalize(path),
        _ => Ok(path.to_path_buf()),
    }
}

/// Whether the file is what it was. No more of it is read than tells.
fn is_still(path: &Path, before: Option<&[u8]>) -> io::Result<bool> {
    let file = absent_is_none(crate::files::regular_file::open(path))?;
    let (Some(file), Some(before)) = (&file, before) else {
        return Ok(file.is_some() == before.is_some());
    };
    let mut now = Vec::new();
    file.take(before.len() as u64 + 1).read_to_end(&mut now)?;
    Ok(now == before)
}

/// A lock file. Its holder removes it, so that none is left in a project.
#[derive(Debug)]
struct Lock {
    path: PathBuf,
    _file: File,
}

impl Lock {
    fn wait(path: PathBuf) -> io::Result<Self> {
        loop {
            let mut options = OpenOptions::new();
            options.read(true).write(true).create(true).truncate(false);
            let file = options.open(&path)?;
            while let Err(error) = file.lock() {
                if error.kind() != io::ErrorKind::Interrupted {
                    return Err(error);
                }
            }
            // Who held it before may have removed it; then another process may hold a new one.
            if is_the_file_at(&file, &path)? {
                return Ok(Self { path, _file: file });
            }
        }
    }
}

impl Drop for Lock {
    fn drop(&mut self) {
        if cfg!(unix) {
            // One that stays is no harm: the next writer locks and removes it.
            let _ = fs::remove_file(&self.path);
        }
    }
}

#[cfg(unix)]
fn is_the_file_at(file: &File, path: &Path) -> io::Result<bool> {
    use std::os::unix::fs::MetadataExt;
    let held = file.metadata()?;
    let found = absent_is_none(fs::metadata(path))?;
    Ok(found.is_some_and(|found| (found.dev(), found.ino()) == (held.dev(), held.ino())))
}

#[cfg(not(unix))]
fn is_the_file_at(_: &File, _: &Path) -> io::Result<bool> {
    // Nothing removes it here.
    Ok(true)
}

#[cfg(unix)]
fn permit(builder: &mut tempfile::Builder<'_, '_>, new_file: NewFile) {
    use std::os::unix::fs::PermissionsExt;
    // Less what the user's mask takes.
    let mode = match new_file {
        NewFile::Private => 0o600,
        NewFile::Ordinary => 0o666,
        NewFile::Executable => 0o777,
    };
    builder.permissions(fs::Permissions::from_mode(mode));
}

#[cfg(not(unix))]
fn permit(_: &mut tempfile::Builder<'_, '_>, _: NewFile) {}

/// Gives the new file to whom the old one belongs, as an administrator who edits another's file
/// wants. Who may not give files away owns the old one, or could have rewritten it as well.
#[cfg(unix)]
fn keep_owner(file: &File, old: &fs::Metadata) {
    use std::os::unix::fs::{MetadataExt, fchown};
    let _ = fchown(file, Some(old.uid()), Some(old.gid()));
}

#[cfg(not(unix))]
fn keep_owner(_: &File, _: &fs::Metadata) {}

/// Makes the renaming last.
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
            let exclusive = Exclusive::wait(&path).unwrap();
            match now {
                Some(text) => fs::write(&path, text).unwrap(),
                None => fs::remove_file(&path).unwrap(),
            }
            let before = before.map(str::as_bytes);
            let replaced = exclusive.replace(before, b"ours", NewFile::Ordinary).unwrap();
            assert_eq!(replaced, Replaced::ChangedMeanwhile);
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
                let exclusive = Exclusive::wait(&path).unwrap();
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

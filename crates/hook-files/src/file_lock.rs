//! A lock shared by processes. It is released when its process ends, in whatever way.

use std::fs::{File, TryLockError};
use std::io;
use std::path::Path;
use std::time::{Duration, Instant};

use super::{private_folder, regular_file};
use hook_json::text::PathText;

/// The interval between attempts to take a lock: the system has no wait for a lock with a deadline.
const RETRY_INTERVAL: Duration = Duration::from_millis(2);

/// A lock that is held until dropped.
#[derive(Debug)]
pub struct FileLock(File);

impl FileLock {
    /// Takes the lock of a lock file, or returns `None` if it is held. The file is created if
    /// necessary and is never removed.
    ///
    /// # Errors
    /// If the file cannot be created, or is not one that only its user can write.
    pub fn try_acquire(path: &Path) -> io::Result<Option<Self>> {
        let file = open(path)?;
        match file.try_lock() {
            Ok(()) => Ok(Some(Self(file))),
            Err(TryLockError::WouldBlock) => Ok(None),
            Err(TryLockError::Error(error)) => Err(error),
        }
    }

    /// Takes the lock, waiting at most `timeout`; blocks the thread.
    ///
    /// # Errors
    /// As [`FileLock::try_acquire`], and if it stays held ([`io::ErrorKind::TimedOut`]).
    pub fn acquire_within(path: &Path, timeout: Duration) -> io::Result<Self> {
        let file = open(path)?;
        match lock_within(&file, timeout)? {
            true => Ok(Self(file)),
            false => {
                let message = format!("another process holds {}", path.shown());
                Err(io::Error::new(io::ErrorKind::TimedOut, message))
            }
        }
    }

    /// Returns the file. Every open copy of it keeps the lock, as in a process that inherits it.
    pub fn into_file(self) -> File {
        self.0
    }
}

/// Locks an open file, waiting at most `timeout`; blocks the thread. Returns `false` if another
/// process keeps the lock.
///
/// # Errors
/// If the file cannot be locked: not all file systems have locks ([`io::ErrorKind::Unsupported`]).
pub fn lock_within(file: &File, timeout: Duration) -> io::Result<bool> {
    let start = Instant::now();
    loop {
        match file.try_lock() {
            Ok(()) => return Ok(true),
            Err(TryLockError::Error(error)) if error.kind() != io::ErrorKind::Interrupted => {
                return Err(error);
            }
            Err(_) if start.elapsed() >= timeout => return Ok(false),
            Err(_) => std::thread::sleep(RETRY_INTERVAL),
        }
    }
}

fn open(path: &Path) -> io::Result<File> {
    private_folder::make(path.parent().unwrap_or(Path::new("/")))?;
    regular_file::append(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_holds_it_and_others_do_not_wait_for_ever() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("within/lock");
        let held = FileLock::try_acquire(&path).unwrap().unwrap();
        assert!(FileLock::try_acquire(&path).unwrap().is_none());
        let error = FileLock::acquire_within(&path, Duration::from_millis(20)).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::TimedOut, "{error}");
        drop(held);
        FileLock::acquire_within(&path, Duration::ZERO).unwrap();
    }
}

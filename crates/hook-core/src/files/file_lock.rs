//! A lock that processes share. It goes with the process that holds it, however that ends.

use std::fs::{File, TryLockError};
use std::io;
use std::path::Path;
use std::time::{Duration, Instant};

use super::{private_folder, regular_file};
use crate::text::PathText;

/// How long is waited before a lock that is taken is asked for again: the system wakes nobody by a
/// deadline who waits for one.
const AGAIN: Duration = Duration::from_millis(2);

/// A lock that is held, until it is dropped.
#[derive(Debug)]
pub struct FileLock(File);

impl FileLock {
    /// Takes the lock of that name, a file that is made where it is not there and stays; `None` where another
    /// holds it.
    ///
    /// # Errors
    /// When the file cannot be made, or is none that only its user writes.
    pub fn try_take(path: &Path) -> io::Result<Option<Self>> {
        let file = open(path)?;
        match file.try_lock() {
            Ok(()) => Ok(Some(Self(file))),
            Err(TryLockError::WouldBlock) => Ok(None),
            Err(TryLockError::Error(error)) => Err(error),
        }
    }

    /// The same, waiting for it at most so long, on a thread that may block.
    ///
    /// # Errors
    /// The same, and when others hold it for longer ([`io::ErrorKind::TimedOut`]).
    pub fn take_within(path: &Path, patience: Duration) -> io::Result<Self> {
        let begun = Instant::now();
        let file = open(path)?;
        loop {
            match file.try_lock() {
                Ok(()) => return Ok(Self(file)),
                Err(TryLockError::Error(error)) if error.kind() != io::ErrorKind::Interrupted => {
                    return Err(error);
                }
                Err(_) if begun.elapsed() >= patience => {
                    let held = format!("another process holds {}", path.shown());
                    return Err(io::Error::new(io::ErrorKind::TimedOut, held));
                }
                Err(_) => std::thread::sleep(AGAIN),
            }
        }
    }

    /// The file. Who has a copy of it open holds the lock, too: a process that inherits it, for one.
    pub fn into_file(self) -> File {
        self.0
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
        let held = FileLock::try_take(&path).unwrap().unwrap();
        assert!(FileLock::try_take(&path).unwrap().is_none());
        let error = FileLock::take_within(&path, Duration::from_millis(20)).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::TimedOut, "{error}");
        drop(held);
        FileLock::take_within(&path, Duration::ZERO).unwrap();
    }
}

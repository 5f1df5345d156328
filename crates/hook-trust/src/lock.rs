//! `.hooks/trust.lock`: what the people of a project have reviewed, committed with it, so that a
//! build fails where a hook is not what they reviewed. It trusts nothing by itself.

use std::io;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::grant::Grant;
use super::matching::Matched;
use super::review::{self, Review};
use hook_files::atomic::{NewFile, ReplaceLock, ReplaceOutcome, none_if_missing};
use hook_files::{project_file, regular_file};
use hook_json::text::PathText;
use hook_settings::HookEntry;

/// The path of the lock, below the project's directory.
const IN_PROJECT: &str = ".hooks/trust.lock";

const VERSION: u32 = 1;

/// The greatest length of a lock, in bytes: 16 MiB.
const MAX_LOCK: u64 = 16 << 20;

/// The lock could not be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TrustLockError {
    /// It could not be read or written.
    #[error("failed to {attempt} the lock {}: {source}", path.shown())]
    Io {
        /// The attempted action.
        attempt: &'static str,
        /// The lock.
        path: PathBuf,
        /// The error of the system.
        source: io::Error,
    },
    /// It is no lock.
    #[error("the lock {} is damaged ({source}); rewrite it with `hook trust --lock`", path.shown())]
    Damaged {
        /// The lock.
        path: PathBuf,
        /// The error in it.
        source: serde_json::Error,
    },
    /// A later version of the engine wrote it.
    #[error(
        "the lock {} has version {version}, which this version does not know; use the later one, or \
         rewrite it with `hook trust --lock`", path.shown()
    )]
    Newer {
        /// The lock.
        path: PathBuf,
        /// Its version.
        version: u32,
    },
}

/// The lock of a project: each hook as it was reviewed, with nothing that depends on the machine.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TrustLock {
    version: u32,
    hooks: Vec<Grant>,
}

/// The hooks of a project beside its lock.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct LockCheck {
    /// Each hook; its status is towards the lock. [`TrustStatus::Trusted`](super::TrustStatus::Trusted)
    /// is one that is as the lock says.
    pub reviews: Vec<Review>,
    /// Hooks of the lock that the project no longer has.
    pub gone: Vec<Grant>,
}

impl TrustLock {
    /// Returns the path of a project's lock.
    pub fn path(project: &Path) -> PathBuf {
        project.join(IN_PROJECT)
    }

    /// A lock of these hooks as they were reviewed.
    pub fn of<'r>(reviews: impl IntoIterator<Item = &'r Review>) -> Self {
        let portable = |review: &Review| {
            let mut grant = review.to_grant();
            if let Some(seen) = &mut grant.seen {
                seen.at.clear();
            }
            grant
        };
        Self { version: VERSION, hooks: reviews.into_iter().map(portable).collect() }
    }

    /// Reads the lock of a project; `None` if it has none.
    ///
    /// # Errors
    /// If it cannot be read, is damaged, or of a later version.
    pub fn read(project: &Path) -> Result<Option<Self>, TrustLockError> {
        let path = Self::path(project);
        let read = none_if_missing(regular_file::read(&path, MAX_LOCK));
        let read = match read {
            Ok(read) => read,
            Err(source) => return Err(TrustLockError::Io { attempt: "read", path, source }),
        };
        let Some(bytes) = read else { return Ok(None) };
        match serde_json::from_slice::<Self>(&bytes) {
            Ok(Self { version, .. }) if version > VERSION => {
                Err(TrustLockError::Newer { path, version })
            }
            Ok(lock) => Ok(Some(lock)),
            Err(source) => Err(TrustLockError::Damaged { path, source }),
        }
    }

    /// Writes the lock of a project, replacing an existing one.
    ///
    /// # Errors
    /// If it cannot be written, or is being changed by another process.
    pub fn write(&self, project: &Path) -> Result<(), TrustLockError> {
        let path = Self::path(project);
        let io = |attempt, source| TrustLockError::Io { attempt, path: path.clone(), source };
        let mut text =
            serde_json::to_vec_pretty(self).map_err(|error| io("write", error.into()))?;
        text.push(b'\n');
        project_file::check(project, &path).map_err(|source| io("write", source))?;
        let file = ReplaceLock::acquire(&path).map_err(|error| io(error.attempt, error.source))?;
        let current = none_if_missing(regular_file::read(file.path(), MAX_LOCK));
        let current = current.map_err(|source| io("read", source))?;
        match file.replace(current.as_deref(), &text, NewFile::Ordinary) {
            Ok(ReplaceOutcome::Replaced) => Ok(()),
            Ok(ReplaceOutcome::Conflict) => {
                Err(io("write", io::Error::other("something else changed it just now")))
            }
            Err(failed) => Err(io(failed.attempt, failed.source)),
        }
    }

    /// Returns the number of hooks in it.
    pub fn len(&self) -> usize {
        self.hooks.len()
    }

    /// Returns `true` if no hook is in it.
    pub fn is_empty(&self) -> bool {
        self.hooks.is_empty()
    }

    /// Compares hooks of the project with the lock. Nothing is trusted by that.
    pub fn check(&self, project: &Path, entries: &[HookEntry]) -> LockCheck {
        let reviews = review::review(project, entries, &self.hooks, None);
        let all: Vec<&HookEntry> = entries.iter().collect();
        let gone = Matched::of(&all, &self.hooks).gone;
        let gone = gone.into_iter().cloned().collect();
        LockCheck { reviews, gone }
    }
}

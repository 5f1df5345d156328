//! Writing an audit to a file.

use std::io;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use futures::{FutureExt, StreamExt};
use hook_json::text::PathText;
use hook_settings::AuditLevel;
use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;

use super::file::AuditFile;
use super::{Audit, AuditEntry};
use crate::system::HookSystem;

/// The maximum number of entries written together.
const MAX_BATCH: usize = 256;

/// An error of using the file of an audit.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum AuditLogError {
    /// The file cannot be opened or created.
    #[error(
        "failed to open the audit file {}: {source}; name a regular file of yours, in a folder that \
         exists",
        path.shown()
    )]
    Open {
        /// The file.
        path: PathBuf,
        /// The system's error.
        source: io::Error,
    },
    /// The file cannot be reopened; the old one stays in use.
    #[error(
        "failed to reopen the audit file {}: {source}; the audit goes on in the file that had this \
         name before",
        path.shown()
    )]
    Reopen {
        /// The file.
        path: PathBuf,
        /// The system's error.
        source: io::Error,
    },
    /// The file cannot be written now; each entry is a new attempt, and lost ones are counted.
    #[error(
        "failed to write the audit file {}: {source}; entries are lost until it can be written again",
        path.shown()
    )]
    Write {
        /// The file.
        path: PathBuf,
        /// The system's error.
        source: io::Error,
    },
    /// Lines of the file that were written here are gone.
    #[error(
        "lines of the audit file {} were cut off or changed, or it was removed, while this process wrote it; `hook audit \
         verify` shows the place; to move the file away, rename it and send SIGHUP",
        path.shown()
    )]
    Cut {
        /// The file.
        path: PathBuf,
    },
}

/// An audit written to a file: one JSON object per line, each appended with one write.
#[derive(Debug)]
pub struct AuditLog {
    path: PathBuf,
    file: Arc<Mutex<AuditFile>>,
    audit: Audit,
    /// `true` once it was reported that the file cannot be written.
    is_failing: bool,
}

impl AuditLog {
    /// Opens or creates the file, readable by its owner only, and subscribes. `level` is as in
    /// [`HookSystem::audit`].
    ///
    /// # Errors
    /// If it is no regular file, or cannot be opened.
    pub fn open(
        path: impl Into<PathBuf>,
        system: &HookSystem,
        level: impl Into<Option<AuditLevel>>,
    ) -> Result<Self, AuditLogError> {
        let path = path.into();
        // The working directory may change before the file is reopened.
        let path = std::path::absolute(&path).unwrap_or(path);
        let file = AuditFile::open(path.clone())
            .map_err(|source| AuditLogError::Open { path: path.clone(), source })?;
        let file = Arc::new(Mutex::new(file));
        Ok(Self { path, file, audit: system.audit(level), is_failing: false })
    }

    /// Writes until `stop` is cancelled or the bus is gone, and reopens the file whenever `reopen`
    /// is notified. `problem` is called once per failure to write, until writing works again;
    /// failures are also logged.
    ///
    /// # Cancellation
    /// Dropping the future loses the entries not yet written.
    pub async fn run(
        mut self,
        stop: &CancellationToken,
        reopen: &Notify,
        mut on_error: impl FnMut(AuditLogError),
    ) {
        let mut report = |error: AuditLogError| {
            tracing::error!(target: "hook::audit", "{error}");
            on_error(error);
        };
        loop {
            tokio::select! {
                biased;
                () = reopen.notified() => {
                    if let Err(source) = self.with_file(AuditFile::reopen).await {
                        report(AuditLogError::Reopen { path: self.path.clone(), source });
                    }
                }
                () = stop.cancelled() => break,
                entry = self.audit.next() => match entry {
                    Some(entry) => self.write(entry, &mut report).await,
                    None => break,
                },
            }
        }
        // Include the entries made before the end.
        while let Some(Some(entry)) = self.audit.next().now_or_never() {
            self.write(entry, &mut report).await;
        }
    }

    /// Writes an entry, and those that are ready after it.
    async fn write(&mut self, entry: AuditEntry, report: &mut impl FnMut(AuditLogError)) {
        let mut entries = vec![entry];
        while entries.len() < MAX_BATCH
            && let Some(Some(entry)) = self.audit.next().now_or_never()
        {
            entries.push(entry);
        }
        let written = self.with_file(move |file| file.write(&entries)).await;
        let was_failing = std::mem::replace(&mut self.is_failing, written.is_err());
        let path = self.path.clone();
        match written {
            Ok(false) => {}
            Ok(true) => report(AuditLogError::Cut { path }),
            Err(_) if was_failing => {}
            Err(source) => report(AuditLogError::Write { path, source }),
        }
    }

    /// Runs `work` with the file on a blocking thread.
    async fn with_file<T: Send + 'static>(
        &self,
        work: impl FnOnce(&mut AuditFile) -> io::Result<T> + Send + 'static,
    ) -> io::Result<T> {
        let file = Arc::clone(&self.file);
        let work = move || work(&mut file.lock().unwrap_or_else(PoisonError::into_inner));
        tokio::task::spawn_blocking(work).await.unwrap_or_else(|error| Err(io::Error::other(error)))
    }
}

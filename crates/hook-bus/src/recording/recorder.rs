//! Writing a recording into a file.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use futures::{FutureExt, StreamExt};
use hook_core::redact::Redaction;
use hook_core::text::PathText;
use tokio::io::AsyncWriteExt;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use super::RecordingLines;
use crate::bus::{Lagged, Subscription};
use crate::message::JournalEntry;
use crate::redaction::CurrentRedaction;
use crate::system::HookSystem;

/// How long a line may wait to be written.
const FLUSH_AFTER: Duration = Duration::from_millis(100);

/// How many bytes are written at once, about.
const BUFFER: usize = 64 * 1024;

/// A recording could not be made.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RecorderError {
    /// There is a file of that name.
    #[error(
        "failed to begin the recording {}: the file is there already; name another one, or remove it",
        path.shown()
    )]
    Exists {
        /// The file.
        path: PathBuf,
    },
    /// The file cannot be made.
    #[error("failed to begin the recording {}: {source}", path.shown())]
    Create {
        /// The file.
        path: PathBuf,
        /// Why not.
        source: io::Error,
    },
    /// The file cannot be written any more.
    #[error("failed to write the recording {}, which ends here: {source}", path.shown())]
    Write {
        /// The file.
        path: PathBuf,
        /// Why not.
        source: io::Error,
    },
}

/// What was recorded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Recorded {
    /// How many lines, without the first.
    pub lines: u64,
    /// How much is not in it because the recorder fell behind.
    pub missed: u64,
}

/// Records everything that happens on the bus of a hook system.
///
/// It listens as a subscriber with the bus's usual limits: the bus does not wait for it, and what it is too
/// slow for is counted in the recording itself. What settings redact (protocol.md §1) is left out.
///
/// ```
/// use hook_bus::HookSystem;
/// use hook_bus::recording::Recorder;
/// use hook_core::BeforeAgentInput;
/// use tokio_util::sync::CancellationToken;
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let folder = tempfile::tempdir()?;
/// # let file = folder.path().join("session.hooks.jsonl");
///
/// let system = HookSystem::builder(".").build()?;
/// let recorder = Recorder::create(&file, &system)?;
/// let stop = CancellationToken::new();
/// let recording = tokio::spawn({
///     let stop = stop.clone();
///     async move { recorder.run(&stop).await }
/// });
///
/// system.fire_before_agent(BeforeAgentInput::new("Hi")).await;
///
/// stop.cancel();
/// let recorded = recording.await??;
/// assert_eq!((recorded.lines, recorded.missed), (2, 0));
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct Recorder {
    path: PathBuf,
    file: tokio::fs::File,
    journal: Subscription<JournalEntry>,
    lines: RecordingLines,
    redaction: CurrentRedaction,
    /// What is not written yet, and since when.
    buffer: Vec<u8>,
    waiting_since: Instant,
    recorded: Recorded,
}

impl Recorder {
    /// Makes the file, readable by its owner only, and listens from now on.
    ///
    /// # Errors
    /// When there is a file of that name, or none can be made.
    pub fn create(path: impl Into<PathBuf>, system: &HookSystem) -> Result<Self, RecorderError> {
        let path = path.into();
        let file = match create_private(&path) {
            Ok(file) => tokio::fs::File::from_std(file),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                return Err(RecorderError::Exists { path });
            }
            Err(source) => return Err(RecorderError::Create { path, source }),
        };
        let journal = system.bus().subscribe();
        let (lines, first) = RecordingLines::begin(system.project());
        let mut recorder = Self {
            path,
            file,
            journal,
            lines,
            redaction: system.current_redaction(),
            buffer: Vec::new(),
            waiting_since: Instant::now(),
            recorded: Recorded { lines: 0, missed: 0 },
        };
        recorder.push(&first);
        Ok(recorder)
    }

    /// Records until `stop` is cancelled or the bus is gone. Written at least every 100 ms.
    ///
    /// # Cancellation
    /// Dropping the future loses what was not written yet.
    ///
    /// # Errors
    /// When the file cannot be written; nothing is recorded from then on.
    pub async fn run(mut self, stop: &CancellationToken) -> Result<Recorded, RecorderError> {
        match self.record(stop).await {
            Ok(()) => Ok(self.recorded),
            Err(source) => Err(RecorderError::Write { path: self.path, source }),
        }
    }

    async fn record(&mut self, stop: &CancellationToken) -> io::Result<()> {
        loop {
            let is_waiting = !self.buffer.is_empty();
            tokio::select! {
                entry = self.journal.next() => match entry {
                    Some(entry) => {
                        let redaction = self.redaction.known().await;
                        self.take(entry, &redaction);
                    }
                    None => break,
                },
                () = tokio::time::sleep_until(self.waiting_since + FLUSH_AFTER), if is_waiting => {
                    self.write().await?;
                }
                () = stop.cancelled() => break,
            }
            if self.buffer.len() >= BUFFER {
                self.write().await?;
            }
        }
        // What happened before the end belongs to it.
        while let Some(Some(entry)) = self.journal.next().now_or_never() {
            let redaction = self.redaction.now();
            self.take(entry, &redaction);
            if self.buffer.len() >= BUFFER {
                self.write().await?;
            }
        }
        self.write().await
    }

    fn take(&mut self, entry: Result<Arc<JournalEntry>, Lagged>, redaction: &Redaction) {
        if let Err(lagged) = &entry {
            self.recorded.missed += lagged.missed();
        }
        if let Some(line) = self.lines.line(entry.as_deref().map_err(|lagged| *lagged), redaction) {
            self.recorded.lines += 1;
            self.push(&line);
        }
    }

    fn push(&mut self, line: &[u8]) {
        if self.buffer.is_empty() {
            self.waiting_since = Instant::now();
        }
        self.buffer.extend_from_slice(line);
        self.buffer.push(b'\n');
    }

    async fn write(&mut self) -> io::Result<()> {
        self.file.write_all(&self.buffer).await?;
        self.buffer.clear();
        // What one large line took is not kept for the small ones after it.
        self.buffer.shrink_to(4 * BUFFER);
        self.file.flush().await
    }
}

/// Makes a file that no other user can read: what hooks are told is private.
fn create_private(path: &Path) -> io::Result<std::fs::File> {
    let mut options = std::fs::OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(path)
}

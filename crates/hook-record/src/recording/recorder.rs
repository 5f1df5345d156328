//! Writing a recording to a file.

use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use futures::FutureExt;
use hook_bus::HookSystem;
use hook_bus::journal::JournalFollower;
use hook_json::text::PathText;
use tokio::io::AsyncWriteExt;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

/// The maximum time until a line is written.
const FLUSH_INTERVAL: Duration = Duration::from_millis(100);

/// The approximate number of bytes per write.
const BUFFER: usize = 64 * 1024;

/// An error of making a recording.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RecorderError {
    /// The file exists already.
    #[error(
        "failed to begin the recording {}: the file is there already; name another one, or remove it",
        path.shown()
    )]
    Exists {
        /// The file.
        path: PathBuf,
    },
    /// The file cannot be created.
    #[error("failed to begin the recording {}: {source}", path.shown())]
    Create {
        /// The file.
        path: PathBuf,
        /// The system's error.
        source: io::Error,
    },
    /// The file cannot be written any more.
    #[error("failed to write the recording {}, which ends here: {source}", path.shown())]
    Write {
        /// The file.
        path: PathBuf,
        /// The system's error.
        source: io::Error,
    },
}

/// The size of a finished recording.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RecordingSize {
    /// The number of lines, without the first.
    pub lines: u64,
    /// The number of messages missed because the recorder was too slow.
    pub missed: u64,
}

/// A recorder of all messages on the bus of a hook system.
///
/// It is a subscriber with the bus's usual limits: the bus does not wait for it, and the recording
/// counts the messages that it missed. Values that settings redact (reference/settings.md) are left out.
/// ```
/// use hook_bus::HookSystem;
/// use hook_record::recording::Recorder;
/// use hook_protocol::BeforeAgentInput;
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
    journal: JournalFollower,
    /// The lines not yet written, and the time of the first of them.
    buffer: Vec<u8>,
    buffered_since: Instant,
    lines: u64,
}

impl Recorder {
    /// Creates the file, readable by its owner only, and subscribes.
    ///
    /// # Errors
    /// If the file exists, or cannot be created.
    pub fn create(path: impl Into<PathBuf>, system: &HookSystem) -> Result<Self, RecorderError> {
        let path = path.into();
        let file = match create_private(&path) {
            Ok(file) => tokio::fs::File::from_std(file),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                return Err(RecorderError::Exists { path });
            }
            Err(source) => return Err(RecorderError::Create { path, source }),
        };
        let (journal, first) = JournalFollower::start(system);
        let mut recorder = Self {
            path,
            file,
            journal,
            buffer: Vec::new(),
            buffered_since: Instant::now(),
            lines: 0,
        };
        recorder.push(&first);
        Ok(recorder)
    }

    /// Records until `stop` is cancelled or the bus is gone. Lines are written at least every 100
    /// ms.
    ///
    /// # Cancellation
    /// Dropping the future loses the lines not yet written.
    ///
    /// # Errors
    /// If the file cannot be written; recording ends then.
    pub async fn run(mut self, stop: &CancellationToken) -> Result<RecordingSize, RecorderError> {
        match self.record_all(stop).await {
            Ok(()) => Ok(RecordingSize { lines: self.lines, missed: self.journal.missed() }),
            Err(source) => Err(RecorderError::Write { path: self.path, source }),
        }
    }

    async fn record_all(&mut self, stop: &CancellationToken) -> io::Result<()> {
        loop {
            let has_buffered = !self.buffer.is_empty();
            tokio::select! {
                line = self.journal.next() => match line {
                    Some(line) => self.record(&line),
                    None => break,
                },
                () = tokio::time::sleep_until(self.buffered_since + FLUSH_INTERVAL), if has_buffered => {
                    self.write().await?;
                }
                () = stop.cancelled() => break,
            }
            if self.buffer.len() >= BUFFER {
                self.write().await?;
            }
        }
        // Include the messages sent before the end.
        while let Some(Some(line)) = self.journal.next().now_or_never() {
            self.record(&line);
            if self.buffer.len() >= BUFFER {
                self.write().await?;
            }
        }
        self.write().await
    }

    fn record(&mut self, line: &[u8]) {
        self.lines += 1;
        self.push(line);
    }

    fn push(&mut self, line: &[u8]) {
        if self.buffer.is_empty() {
            self.buffered_since = Instant::now();
        }
        self.buffer.extend_from_slice(line);
        self.buffer.push(b'\n');
    }

    async fn write(&mut self) -> io::Result<()> {
        self.file.write_all(&self.buffer).await?;
        self.buffer.clear();
        // Release the memory of an unusually large line.
        self.buffer.shrink_to(4 * BUFFER);
        self.file.flush().await
    }
}

/// Creates a file that no other user can read, since inputs of hooks are private.
fn create_private(path: &Path) -> io::Result<std::fs::File> {
    let mut options = std::fs::OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(path)
}

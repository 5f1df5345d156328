//! What a worker writes on standard error: for the log, and its end for messages about its failures.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::io::{AsyncRead, AsyncReadExt};

use crate::run::report::Captured;
use crate::text::{one_line, shortened};

/// How much of it is kept.
const KEPT: usize = 16 * 1024;

/// How much is read at once.
const READ_SIZE: usize = 4 * 1024;

/// What a worker's processes have written there: the last 16 KiB, and how much it was.
#[derive(Debug, Default)]
pub(super) struct Errors {
    kept: VecDeque<u8>,
    total: u64,
}

impl Errors {
    /// How many bytes there were so far.
    pub(super) fn total(&self) -> u64 {
        self.total
    }

    /// What came after so many bytes.
    pub(super) fn since(&self, before: u64) -> Captured {
        let wanted = self.total.saturating_sub(before);
        let kept = usize::try_from(wanted).unwrap_or(usize::MAX).min(self.kept.len());
        let bytes = self.kept.iter().skip(self.kept.len() - kept).copied().collect();
        Captured { bytes, dropped: wanted - kept as u64 }
    }

    fn add(&mut self, bytes: &[u8]) {
        self.kept.extend(bytes);
        let surplus = self.kept.len().saturating_sub(KEPT);
        self.kept.drain(..surplus);
        self.total += bytes.len() as u64;
    }
}

pub(super) fn lock(errors: &Mutex<Errors>) -> MutexGuard<'_, Errors> {
    errors.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Standard error on its way in: each line is logged, and what is [kept](Errors) is kept.
#[derive(Debug)]
pub(super) struct ErrorOutput<P> {
    /// `None` once it has ended.
    pipe: Option<P>,
    errors: Arc<Mutex<Errors>>,
    /// What there was before this process.
    before: u64,
    /// The line so far, as much of it as is logged.
    line: Vec<u8>,
    buffer: Vec<u8>,
}

impl<P: AsyncRead + Unpin> ErrorOutput<P> {
    pub(super) fn new(pipe: Option<P>, errors: Arc<Mutex<Errors>>) -> Self {
        let before = lock(&errors).total();
        Self { pipe, errors, before, line: Vec::new(), buffer: Vec::new() }
    }

    /// Takes the next piece; never ready once the stream has ended.
    ///
    /// # Cancellation
    /// Dropping the future loses nothing.
    pub(super) async fn fill(&mut self) {
        let Some(pipe) = &mut self.pipe else { return std::future::pending().await };
        self.buffer.clear();
        self.buffer.reserve(READ_SIZE);
        let read = pipe.read_buf(&mut self.buffer).await;
        if !matches!(read, Ok(1..)) {
            self.pipe = None;
            self.end_line();
            return;
        }
        let buffer = std::mem::take(&mut self.buffer);
        for byte in &buffer {
            match byte {
                b'\n' => self.end_line(),
                _ if self.line.len() < READ_SIZE => self.line.push(*byte),
                _ => {}
            }
        }
        lock(&self.errors).add(&buffer);
        self.buffer = buffer;
    }

    /// The last that it wrote.
    pub(super) fn kept(&self) -> Vec<u8> {
        lock(&self.errors).since(self.before).bytes
    }

    /// What is still open of it.
    pub(super) fn into_pipe(self) -> Option<P> {
        self.pipe
    }

    fn end_line(&mut self) {
        let line = std::mem::take(&mut self.line);
        let text = String::from_utf8_lossy(&line);
        if !text.trim().is_empty() {
            let shortened = shortened(text.trim_end());
            tracing::info!(target: "hook::worker", "{}", one_line(&shortened));
        }
    }
}

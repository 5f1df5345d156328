//! The standard error of a worker: logged, and its end kept for failure messages.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::io::{AsyncRead, AsyncReadExt};

use crate::report::Captured;
use hook_json::text::{one_line, shortened};

/// The number of bytes that are kept.
const MAX_KEPT: usize = 16 * 1024;

/// The maximum size of one read.
const READ_SIZE: usize = 4 * 1024;

/// The last 16 KiB of standard error of a worker's processes, and its total length.
#[derive(Debug, Default)]
pub(super) struct StderrTail {
    kept: VecDeque<u8>,
    total: u64,
}

impl StderrTail {
    /// Returns the total length so far, in bytes.
    pub(super) fn total(&self) -> u64 {
        self.total
    }

    /// Returns the output after this many bytes.
    pub(super) fn since(&self, before: u64) -> Captured {
        let length = self.total.saturating_sub(before);
        let kept = usize::try_from(length).unwrap_or(usize::MAX).min(self.kept.len());
        let bytes = self.kept.iter().skip(self.kept.len() - kept).copied().collect();
        Captured { bytes, dropped: length - kept as u64 }
    }

    fn add(&mut self, bytes: &[u8]) {
        self.kept.extend(bytes);
        let surplus = self.kept.len().saturating_sub(MAX_KEPT);
        self.kept.drain(..surplus);
        self.total += bytes.len() as u64;
    }
}

pub(super) fn lock(tail: &Mutex<StderrTail>) -> MutexGuard<'_, StderrTail> {
    tail.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A reader of standard error: it logs each line, and keeps the end.
#[derive(Debug)]
pub(super) struct StderrReader<P> {
    /// `None` once the stream has ended.
    pipe: Option<P>,
    tail: Arc<Mutex<StderrTail>>,
    /// The total length before this process.
    before: u64,
    /// The current line, truncated to the logged length.
    line: Vec<u8>,
    buffer: Vec<u8>,
}

impl<P: AsyncRead + Unpin> StderrReader<P> {
    pub(super) fn new(pipe: Option<P>, tail: Arc<Mutex<StderrTail>>) -> Self {
        let before = lock(&tail).total();
        Self { pipe, tail, before, line: Vec::new(), buffer: Vec::new() }
    }

    /// Reads the next piece; never ready once the stream has ended.
    ///
    /// # Cancellation
    /// Dropping the future loses no data.
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
        lock(&self.tail).add(&buffer);
        self.buffer = buffer;
    }

    /// Returns the kept output of this process.
    pub(super) fn kept(&self) -> Vec<u8> {
        lock(&self.tail).since(self.before).bytes
    }

    /// Returns the pipe, if it is still open.
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

//! Output of a hook, captured up to a limit and counted beyond it.

use futures::FutureExt;
use tokio::io::{AsyncRead, AsyncReadExt};

use crate::report::Captured;

/// The size of a read: small at first, since most hooks write little.
const FIRST_READ_SIZE: usize = 4 * 1024;
const READ_SIZE: usize = 64 * 1024;

/// One output stream of a hook while it is read.
#[derive(Debug)]
pub(crate) struct Capture<P> {
    /// `None` once the stream has ended.
    pipe: Option<P>,
    limit: usize,
    captured: Captured,
    /// The buffer for bytes beyond the limit.
    surplus: Vec<u8>,
}

impl<P: AsyncRead + Unpin> Capture<P> {
    pub(crate) fn new(pipe: Option<P>, limit: usize) -> Self {
        Self { pipe, limit, captured: Captured::default(), surplus: Vec::new() }
    }

    pub(crate) fn is_open(&self) -> bool {
        self.pipe.is_some()
    }

    /// Reads the next piece; never ready once the stream has ended.
    ///
    /// # Cancellation
    /// Dropping the future loses no data.
    pub(crate) async fn fill(&mut self) {
        let Some(pipe) = &mut self.pipe else { return std::future::pending().await };
        let kept = &mut self.captured.bytes;
        let remaining = self.limit - kept.len();
        let read = if remaining > 0 {
            kept.reserve(kept.len().clamp(FIRST_READ_SIZE, READ_SIZE).min(remaining));
            pipe.take(remaining as u64).read_buf(kept).await
        } else {
            self.surplus.clear();
            self.surplus.reserve(READ_SIZE);
            let read = pipe.read_buf(&mut self.surplus).await;
            self.captured.dropped += self.surplus.len() as u64;
            read
        };
        if !matches!(read, Ok(1..)) {
            self.pipe = None;
        }
    }

    /// Reads what is in the pipe now, without waiting for more.
    pub(crate) async fn drain_available(&mut self) {
        // A pipe holds little; after this many pieces a process must still be writing.
        for _ in 0..32 {
            if cfg!(windows) {
                // A read ends only when the runtime looks for events.
                tokio::task::yield_now().await;
            }
            if self.pipe.is_none() || self.fill().now_or_never().is_none() {
                return;
            }
        }
    }

    /// Returns the captured bytes, and the pipe if it is still open. Dropping that may end the
    /// hook, since a process that writes to a closed pipe gets a signal.
    pub(crate) fn finish(self) -> (Captured, Option<P>) {
        (self.captured, self.pipe)
    }
}

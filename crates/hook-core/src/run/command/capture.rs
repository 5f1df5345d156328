//! What a hook writes, kept up to a limit and counted beyond it.

use futures::FutureExt;
use tokio::io::{AsyncRead, AsyncReadExt};

use crate::run::report::Captured;

/// How much is asked for at once: little at first, since most hooks say little.
const FIRST_READ: usize = 4 * 1024;
const READ_SIZE: usize = 64 * 1024;

/// One of a hook's outputs on its way in.
#[derive(Debug)]
pub(in crate::run) struct Capture<P> {
    /// `None` once it has ended.
    pipe: Option<P>,
    limit: usize,
    captured: Captured,
    /// Where what is beyond the limit goes.
    surplus: Vec<u8>,
}

impl<P: AsyncRead + Unpin> Capture<P> {
    pub(in crate::run) fn new(pipe: Option<P>, limit: usize) -> Self {
        Self { pipe, limit, captured: Captured::default(), surplus: Vec::new() }
    }

    pub(in crate::run) fn is_open(&self) -> bool {
        self.pipe.is_some()
    }

    /// Takes the next piece; never ready once the stream has ended.
    ///
    /// # Cancellation
    /// Dropping the future loses nothing.
    pub(in crate::run) async fn fill(&mut self) {
        let Some(pipe) = &mut self.pipe else { return std::future::pending().await };
        let kept = &mut self.captured.bytes;
        let room = self.limit - kept.len();
        let read = if room > 0 {
            kept.reserve(kept.len().clamp(FIRST_READ, READ_SIZE).min(room));
            pipe.take(room as u64).read_buf(kept).await
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

    /// Takes what is in the pipe by now, without waiting for more.
    pub(in crate::run) fn fill_with_what_is_there(&mut self) {
        // A pipe holds little; more than this many pieces means that a process is still writing.
        for _ in 0..32 {
            if self.pipe.is_none() || self.fill().now_or_never().is_none() {
                return;
            }
        }
    }

    /// What was captured, and the pipe if it is still open. Dropping it may end the hook: who
    /// writes to a closed pipe gets a signal.
    pub(in crate::run) fn finish(self) -> (Captured, Option<P>) {
        (self.captured, self.pipe)
    }
}

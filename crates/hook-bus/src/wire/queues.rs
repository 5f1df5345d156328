//! The queue of requests for the bus and the queue of lines for the client.

use std::collections::VecDeque;
use std::io;
use std::task::{Context, Poll, ready};

use futures::FutureExt;
use futures::future::BoxFuture;
use tokio::io::{AsyncWrite, AsyncWriteExt};

use crate::bus::{MessageBus, PublishError, RequestContext, Submitted};
use crate::message::{HookExecutionRequest, RequestKey};

/// Requests that were read but not accepted yet: the bus takes them one by one as it has room,
/// while later messages (a cancellation, say) are still read.
#[derive(Default)]
pub(super) struct Inbox {
    queue: VecDeque<(HookExecutionRequest, RequestContext)>,
    pub(super) bytes: usize,
    /// The first of them, waiting for a permit.
    submitting: Option<Submission>,
}

struct Submission {
    key: RequestKey,
    weight: usize,
    future: BoxFuture<'static, Result<Submitted, PublishError>>,
}

impl Inbox {
    pub(super) fn is_empty(&self) -> bool {
        self.submitting.is_none() && self.queue.is_empty()
    }

    pub(super) fn push(&mut self, request: HookExecutionRequest, context: RequestContext) {
        self.bytes += request.weight();
        self.queue.push_back((request, context));
    }

    /// Submits the next request once the bus has room; pending while there is none.
    pub(super) fn poll_submit(
        &mut self,
        bus: &MessageBus,
        context: &mut Context<'_>,
    ) -> Poll<(RequestKey, Result<Submitted, PublishError>)> {
        if self.submitting.is_none()
            && let Some((request, request_context)) = self.queue.pop_front()
        {
            let (bus, key, weight) = (bus.clone(), request_context.key, request.weight());
            let future = async move {
                let permit = bus.admit(&request, request_context.origin.depth).await?;
                bus.submit(permit, request, request_context)
            };
            self.submitting = Some(Submission { key, weight, future: future.boxed() });
        }
        let Some(Submission { key, weight, future: submitting }) = &mut self.submitting else {
            return Poll::Pending;
        };
        let (key, submitted) = (*key, ready!(submitting.poll_unpin(context)));
        self.bytes -= *weight;
        self.submitting = None;
        Poll::Ready((key, submitted))
    }
}

/// The size up to which lines are joined, to be written together.
const CHUNK: usize = 64 * 1024;

/// Lines queued for the client.
pub(super) struct Outbox<W> {
    writer: W,
    /// Whole lines; short ones are joined.
    chunks: VecDeque<Vec<u8>>,
    /// The number of bytes not yet written.
    pub(super) bytes: usize,
    /// The number of bytes of the first chunk already written.
    written: usize,
    /// `true` if written bytes may still be buffered in the writer.
    unflushed: bool,
    /// An empty chunk to be reused.
    spare: Vec<u8>,
}

impl<W: AsyncWrite + Unpin> Outbox<W> {
    pub(super) fn new(writer: W) -> Self {
        Self {
            writer,
            chunks: VecDeque::new(),
            bytes: 0,
            written: 0,
            unflushed: false,
            spare: Vec::new(),
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.chunks.is_empty() && !self.unflushed
    }

    pub(super) fn push(&mut self, mut line: Vec<u8>) {
        line.push(b'\n');
        self.bytes += line.len();
        match self.chunks.back_mut() {
            Some(last) if last.len() + line.len() <= CHUNK => last.append(&mut line),
            _ if line.len() < CHUNK / 16 => {
                let mut chunk = std::mem::take(&mut self.spare);
                chunk.append(&mut line);
                self.chunks.push_back(chunk);
            }
            _ => self.chunks.push_back(line),
        }
    }

    /// Writes some of the queued lines, and flushes once all are written; pending while there is
    /// nothing to do.
    ///
    /// # Cancellation
    /// Dropping the future loses nothing.
    pub(super) async fn write(&mut self) -> io::Result<()> {
        let Some(chunk) = self.chunks.front() else {
            if !self.unflushed {
                return std::future::pending().await;
            }
            self.writer.flush().await?;
            self.unflushed = false;
            return Ok(());
        };
        let rest = chunk.get(self.written..).unwrap_or_default();
        let written = self.writer.write(rest).await?;
        if written == 0 {
            return Err(io::ErrorKind::WriteZero.into());
        }
        self.bytes -= written;
        self.unflushed = true;
        if written < rest.len() {
            self.written += written;
            return Ok(());
        }
        self.written = 0;
        if let Some(mut chunk) = self.chunks.pop_front()
            && chunk.capacity() <= CHUNK
        {
            chunk.clear();
            self.spare = chunk;
        }
        if self.chunks.is_empty() {
            // An unbuffered writer flushes at once, which saves a turn of the loop.
            if let Some(flushed) = self.writer.flush().now_or_never() {
                flushed?;
                self.unflushed = false;
            }
        }
        Ok(())
    }
}

//! What waits for the bus, and what waits for the client.

use std::collections::VecDeque;
use std::io;

use futures::FutureExt;
use futures::future::BoxFuture;
use tokio::io::{AsyncWrite, AsyncWriteExt};

use crate::bus::{MessageBus, Publication, PublishError, PublishedRequest};
use crate::message::HookExecutionRequest;

/// Requests that were read and not accepted yet: the bus takes them one by one as it has room,
/// while what comes behind them (a cancellation, say) is read on.
#[derive(Default)]
pub(super) struct Inbox {
    waiting: VecDeque<(HookExecutionRequest, Publication)>,
    pub(super) bytes: usize,
    /// The first of them, on its way into the bus, with its weight.
    publishing: Option<(BoxFuture<'static, Result<PublishedRequest, PublishError>>, usize)>,
}

impl Inbox {
    pub(super) fn is_empty(&self) -> bool {
        self.publishing.is_none() && self.waiting.is_empty()
    }

    pub(super) fn push(&mut self, request: HookExecutionRequest, publication: Publication) {
        self.bytes += request.weight();
        self.waiting.push_back((request, publication));
    }

    /// Publishes the next request; never done while there is none.
    ///
    /// # Cancellation
    /// Dropping the future loses nothing.
    pub(super) async fn publish(
        &mut self,
        bus: &MessageBus,
    ) -> Result<PublishedRequest, PublishError> {
        if self.publishing.is_none()
            && let Some((request, publication)) = self.waiting.pop_front()
        {
            let (bus, weight) = (bus.clone(), request.weight());
            let publish = async move { bus.publish_as(request, publication).await };
            self.publishing = Some((publish.boxed(), weight));
        }
        let Some((publish, weight)) = &mut self.publishing else {
            return std::future::pending().await;
        };
        let published = publish.await;
        self.bytes -= *weight;
        self.publishing = None;
        published
    }
}

/// Lines that are ready for the client.
pub(super) struct Outbox<W> {
    writer: W,
    lines: VecDeque<Vec<u8>>,
    pub(super) bytes: usize,
    /// How much of the first line is written.
    written: usize,
}

impl<W: AsyncWrite + Unpin> Outbox<W> {
    pub(super) fn new(writer: W) -> Self {
        Self { writer, lines: VecDeque::new(), bytes: 0, written: 0 }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.lines.is_empty()
    }

    pub(super) fn push(&mut self, mut line: Vec<u8>) {
        line.push(b'\n');
        self.bytes += line.len();
        self.lines.push_back(line);
    }

    /// Writes a piece of what is ready; never done while nothing is.
    pub(super) async fn write(&mut self) -> io::Result<()> {
        let Some(line) = self.lines.front() else { return std::future::pending().await };
        let rest = line.get(self.written..).unwrap_or_default();
        if rest.is_empty() {
            self.writer.flush().await?;
            self.bytes -= line.len();
            self.written = 0;
            self.lines.pop_front();
            return Ok(());
        }
        match self.writer.write(rest).await? {
            0 => Err(io::ErrorKind::WriteZero.into()),
            written => {
                self.written += written;
                Ok(())
            }
        }
    }
}

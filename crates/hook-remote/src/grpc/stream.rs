//! A client's stream: incoming answers and outgoing events.

use std::pin::Pin;
use std::task::{Context, Poll, ready};

use futures::{Stream, StreamExt};
use tokio::sync::{mpsc, oneshot};
use tonic::{Status, Streaming};

use super::proto::hooks::{HookEvent, HookResponse};

/// The events of one stream, and its final status.
#[derive(Debug)]
pub(super) struct Events {
    events: mpsc::Receiver<HookEvent>,
    end: Option<oneshot::Receiver<Status>>,
}

impl Stream for Events {
    type Item = Result<HookEvent, Status>;

    fn poll_next(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let this = self.get_mut();
        if let Some(event) = ready!(this.events.poll_recv(context)) {
            return Poll::Ready(Some(Ok(event)));
        }
        // No status follows the final one.
        let end = this.end.take().and_then(|mut end| end.try_recv().ok());
        Poll::Ready(end.map(Err))
    }
}

/// A client's open stream.
pub(super) struct OpenStream {
    incoming: Streaming<HookResponse>,
    outgoing: mpsc::Sender<HookEvent>,
    /// The event that was taken from the engine and is not sent yet.
    pub(super) pending: Option<HookEvent>,
    end: oneshot::Sender<Status>,
}

/// Something that happened on a stream.
pub(super) enum StreamEvent {
    Received(Option<Result<HookResponse, Status>>),
    Sent,
    Closed,
}

impl OpenStream {
    /// Creates a stream from its incoming answers. Also returns the outgoing events.
    pub(super) fn new(incoming: Streaming<HookResponse>) -> (Self, Events) {
        let (outgoing, events) = mpsc::channel(1);
        let (end, ended) = oneshot::channel();
        let events = Events { events, end: Some(ended) };
        (Self { incoming, outgoing, pending: None, end }, events)
    }

    /// Waits for the next event. Dropping the future loses nothing.
    async fn next(&mut self) -> StreamEvent {
        let Self { incoming, outgoing, pending, .. } = self;
        tokio::select! {
            message = incoming.next() => StreamEvent::Received(message),
            permit = outgoing.reserve(), if pending.is_some() => match permit {
                Ok(permit) => {
                    if let Some(event) = pending.take() {
                        permit.send(event);
                    }
                    StreamEvent::Sent
                }
                Err(_) => StreamEvent::Closed,
            },
            () = outgoing.closed() => StreamEvent::Closed,
        }
    }

    /// Ends the stream with a status.
    pub(super) fn end_with(self, status: Status) {
        // Fails only if the client is gone.
        let _ = self.end.send(status);
    }
}

/// Waits for the next event of a stream. Never completes if there is no stream.
pub(super) async fn next_event(stream: &mut Option<OpenStream>) -> StreamEvent {
    match stream {
        Some(stream) => stream.next().await,
        None => std::future::pending().await,
    }
}

//! Bodies of calls: a memory limit for incoming ones, an end for outgoing ones.

use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll};

use bytes::Bytes;
use http::HeaderMap;
use http_body::{Body, Frame};
use hyper::body::Incoming;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio_util::sync::WaitForCancellationFutureOwned;
use tonic::Status;

/// The maximum size of all unanswered calls of all clients together, in bytes.
const MAX_BUFFERED: usize = 256 * 1024 * 1024;

/// The shared memory budget for data from clients.
#[derive(Debug, Clone)]
pub(super) struct MemoryBudget(Arc<Semaphore>);

impl MemoryBudget {
    pub(super) fn new() -> Self {
        Self(Arc::new(Semaphore::new(MAX_BUFFERED)))
    }

    /// Returns a reservation for one call. It grows with the body, until its last clone is dropped.
    pub(super) fn reserve(&self) -> Reservation {
        Reservation { budget: Arc::clone(&self.0), permit: Arc::default() }
    }
}

/// The memory reserved for a call until its body and its handler are done.
#[derive(Debug, Clone)]
pub(super) struct Reservation {
    budget: Arc<Semaphore>,
    permit: Arc<Mutex<Option<OwnedSemaphorePermit>>>,
}

impl Reservation {
    fn take(&self, bytes: usize) -> Result<(), Status> {
        let bytes = u32::try_from(bytes).unwrap_or(u32::MAX);
        let full = |_| {
            Status::resource_exhausted(
                "calls of other clients take all the room that this server has for them; try again later",
            )
        };
        let added = Arc::clone(&self.budget).try_acquire_many_owned(bytes).map_err(full)?;
        let mut permit = self.permit.lock().unwrap_or_else(PoisonError::into_inner);
        match permit.as_mut() {
            Some(permit) => permit.merge(added),
            None => *permit = Some(added),
        }
        Ok(())
    }
}

/// The body of an incoming call.
pub(super) struct CallBody {
    inner: Incoming,
    /// `None` for a stream: its messages are limited one by one, and so is their number.
    reservation: Option<Reservation>,
}

impl CallBody {
    pub(super) fn new(inner: Incoming, reservation: Option<Reservation>) -> Self {
        Self { inner, reservation }
    }
}

impl Body for CallBody {
    type Data = Bytes;
    type Error = Status;

    fn poll_frame(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Status>>> {
        let this = self.get_mut();
        let frame = std::task::ready!(Pin::new(&mut this.inner).poll_frame(context));
        Poll::Ready(frame.map(|frame| {
            let frame = frame.map_err(|error| Status::from_error(error.into()))?;
            if let (Some(reservation), Some(data)) = (&this.reservation, frame.data_ref()) {
                reservation.take(data.len())?;
            }
            Ok(frame)
        }))
    }

    fn is_end_stream(&self) -> bool {
        self.inner.is_end_stream()
    }

    fn size_hint(&self) -> http_body::SizeHint {
        self.inner.size_hint()
    }
}

/// A response body without an end of its own, which ends with the server.
pub(super) struct EndedBody {
    inner: tonic::body::Body,
    end: Pin<Box<WaitForCancellationFutureOwned>>,
    is_over: bool,
}

impl EndedBody {
    pub(super) fn new(inner: tonic::body::Body, end: WaitForCancellationFutureOwned) -> Self {
        Self { inner, end: Box::pin(end), is_over: false }
    }
}

impl Body for EndedBody {
    type Data = Bytes;
    type Error = Status;

    fn poll_frame(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Status>>> {
        let this = self.get_mut();
        if this.is_over {
            return Poll::Ready(None);
        }
        if let Poll::Ready(frame) = Pin::new(&mut this.inner).poll_frame(context) {
            return Poll::Ready(frame);
        }
        std::task::ready!(this.end.as_mut().poll(context));
        this.is_over = true;
        let mut trailers = HeaderMap::new();
        let written = shutting_down().add_header(&mut trailers);
        Poll::Ready(written.is_ok().then(|| Ok(Frame::trailers(trailers))))
    }

    fn is_end_stream(&self) -> bool {
        self.is_over || self.inner.is_end_stream()
    }
}

/// Returns the status of a server that is shutting down.
pub(super) fn shutting_down() -> Status {
    Status::unavailable("this server ends (shutdown)")
}

//! A request that was published.

use tokio::sync::oneshot;
use tokio_util::sync::CancellationToken;

use crate::message::{CorrelationId, HookExecutionResponse, RequestKey};

/// What came of a request that was served as far as that needed no waiting.
pub(crate) enum Submitted {
    Answered(Box<HookExecutionResponse>),
    Running(PublishedRequest),
}

/// A request that was accepted and is served on a task of the bus.
#[derive(Debug)]
pub struct PublishedRequest {
    pub(super) key: RequestKey,
    pub(super) correlation_id: CorrelationId,
    pub(super) cancel: CancellationToken,
    pub(super) response: oneshot::Receiver<HookExecutionResponse>,
}

impl PublishedRequest {
    /// Tells this request apart from others, also from those with the same correlation id.
    pub fn key(&self) -> RequestKey {
        self.key
    }

    /// The id that the response carries.
    pub fn correlation_id(&self) -> &CorrelationId {
        &self.correlation_id
    }

    /// Ends the request's hooks; its response is `cancelled`. Too late is no error.
    pub fn cancel(&self) {
        self.cancel.cancel();
    }

    pub(crate) fn cancellation(&self) -> &CancellationToken {
        &self.cancel
    }

    /// Waits for the response. `None` only if the async runtime ended first; subscribers were told
    /// `cancelled` then.
    ///
    /// # Cancellation
    /// Dropping the future cancels nothing.
    pub async fn response(self) -> Option<HookExecutionResponse> {
        self.response.await.ok()
    }
}

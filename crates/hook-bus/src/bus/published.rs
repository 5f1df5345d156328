//! A published request.

use tokio::sync::oneshot;
use tokio_util::sync::CancellationToken;

use crate::message::{CorrelationId, HookExecutionResponse, RequestKey};

/// A submitted request: answered already, or waiting for hooks.
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
    /// Returns the key of this request, unique even among equal correlation ids.
    pub fn key(&self) -> RequestKey {
        self.key
    }

    /// Returns the id of the response.
    pub fn correlation_id(&self) -> &CorrelationId {
        &self.correlation_id
    }

    /// Cancels the request's hooks; its response is `cancelled`. Does nothing once it is answered.
    pub fn cancel(&self) {
        self.cancel.cancel();
    }

    pub(crate) fn cancellation(&self) -> &CancellationToken {
        &self.cancel
    }

    /// Waits for the response. Returns `None` only if the async runtime ended first; subscribers
    /// got `cancelled` then.
    ///
    /// # Cancellation
    /// Dropping the future cancels nothing.
    pub async fn response(self) -> Option<HookExecutionResponse> {
        self.response.await.ok()
    }
}

//! Everything that happens on the bus, in one order.

use std::sync::Arc;
use std::time::Instant;

use super::{HookExecutionRequest, HookExecutionResponse, HookProgress, RequestKey};

/// Something that happened on the bus. Subscribing to these gives requests, progress and responses
/// in one order; they are not built while there is no such subscriber.
#[derive(Debug, Clone)]
pub struct JournalEntry {
    /// When it happened.
    pub at: Instant,
    /// The request that it belongs to.
    pub request: RequestKey,
    /// What happened.
    pub message: JournalMessage,
}

/// What happened to a request.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub enum JournalMessage {
    /// It was accepted.
    Request(Arc<HookExecutionRequest>),
    /// One of its hooks started or finished.
    Progress(Arc<HookProgress>),
    /// It was answered. What hooks do after a response that did not wait for them may follow.
    Response(Arc<HookExecutionResponse>),
}

impl JournalEntry {
    pub(crate) fn now(request: RequestKey, message: JournalMessage) -> Arc<Self> {
        Arc::new(Self { at: Instant::now(), request, message })
    }

    /// About how many bytes the entry holds in memory.
    pub(crate) fn weight(&self) -> usize {
        match &self.message {
            JournalMessage::Request(request) => request.weight(),
            JournalMessage::Progress(progress) => progress.weight(),
            JournalMessage::Response(response) => response.weight(),
        }
    }
}

//! All messages on the bus, in one order.

use std::sync::Arc;
use std::time::Instant;

use super::{HookExecutionRequest, HookExecutionResponse, HookProgress, RequestKey};

/// A message on the bus. A subscription to this type receives requests, progress and responses in
/// one order; entries are built only while one exists.
#[derive(Debug, Clone)]
pub struct JournalEntry {
    /// The time of the message.
    pub at: Instant,
    /// The request that it belongs to.
    pub request: RequestKey,
    /// The message.
    pub message: JournalMessage,
}

/// A message about a request.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub enum JournalMessage {
    /// The request was accepted.
    Request(Arc<HookExecutionRequest>),
    /// One of the request's hooks started or finished.
    Progress(Arc<HookProgress>),
    /// The request was answered. Progress of `async` hooks may follow.
    Response(Arc<HookExecutionResponse>),
}

impl JournalEntry {
    pub(crate) fn now(request: RequestKey, message: JournalMessage) -> Arc<Self> {
        Arc::new(Self { at: Instant::now(), request, message })
    }

    /// Returns the entry's approximate size in memory, in bytes.
    pub(crate) fn weight(&self) -> usize {
        match &self.message {
            JournalMessage::Request(request) => request.weight(),
            JournalMessage::Progress(progress) => progress.weight(),
            JournalMessage::Response(response) => response.weight(),
        }
    }
}

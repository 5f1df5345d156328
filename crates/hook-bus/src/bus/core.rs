//! The shared state of all handles of a bus: its handler, subscribers and permits.

use std::sync::{Arc, PoisonError, RwLock};

use hook_core::StageFailure;
use hook_protocol::FailureCode;

use super::limits::BusLimits;
use super::permits::RequestPermits;
use super::request_handler::RequestHandler;
use super::subscription::{Message, Topics};
use crate::message::{JournalEntry, JournalMessage, RequestKey};

/// The error of a bus that already has a handler; it has at most one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error(
    "the bus has a handler already; dispose of the other hook system first, or use another bus"
)]
pub struct AlreadyServed;

/// The shared state of all handles of a bus.
pub(crate) struct BusCore {
    pub(super) limits: BusLimits,
    handler: RwLock<Option<Arc<dyn RequestHandler>>>,
    pub(super) topics: Arc<Topics>,
    pub(super) permits: RequestPermits,
}

impl BusCore {
    pub(super) fn new(limits: BusLimits) -> Self {
        Self {
            limits,
            handler: RwLock::new(None),
            topics: Arc::default(),
            permits: RequestPermits::new(&limits),
        }
    }

    pub(crate) fn handler(&self) -> Option<Arc<dyn RequestHandler>> {
        self.handler.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Checks whether the handler forwards requests to remote engines instead of running hooks
    /// here.
    pub(super) fn is_remote(&self) -> bool {
        let handler = self.handler.read().unwrap_or_else(PoisonError::into_inner);
        handler.as_ref().is_some_and(|handler| handler.is_remote())
    }

    /// Checks that `handler` is the attached one.
    ///
    /// # Errors
    /// If it is not: a failure for requests to `handler`.
    pub(crate) fn check_attached(
        &self,
        handler: &Arc<dyn RequestHandler>,
    ) -> Result<(), StageFailure> {
        let current = self.handler.read().unwrap_or_else(PoisonError::into_inner);
        let message = match &*current {
            Some(current) if Arc::ptr_eq(current, handler) => return Ok(()),
            Some(_) => {
                "another hook system serves the bus, so the hooks of this one are not run; dispose \
                 of the other one first, or use another bus"
            }
            None => "the hook system was disposed of, so its hooks are not run",
        };
        Err(StageFailure::new(FailureCode::NoHandler, message))
    }

    pub(crate) fn attach(&self, handler: Arc<dyn RequestHandler>) -> Result<(), AlreadyServed> {
        let mut current = self.handler.write().unwrap_or_else(PoisonError::into_inner);
        if current.is_some() {
            return Err(AlreadyServed);
        }
        *current = Some(handler);
        Ok(())
    }

    /// Detaches `handler` if it is the attached one.
    pub(crate) fn detach(&self, handler: &Arc<dyn RequestHandler>) {
        let mut current = self.handler.write().unwrap_or_else(PoisonError::into_inner);
        current.take_if(|current| Arc::ptr_eq(current, handler));
    }

    pub(crate) fn topics(&self) -> &Arc<Topics> {
        &self.topics
    }

    pub(crate) fn has_subscribers<M: Message>(&self) -> bool {
        M::topic(&self.topics).has_subscribers()
    }

    pub(crate) fn publish_message<M: Message>(&self, message: &Arc<M>) {
        M::topic(&self.topics).publish(message);
    }

    /// Publishes a message to the journal's subscribers; it is built only if there are any.
    pub(crate) fn record(&self, request: RequestKey, message: impl FnOnce() -> JournalMessage) {
        if self.has_subscribers::<JournalEntry>() {
            self.publish_message(&JournalEntry::now(request, message()));
        }
    }
}

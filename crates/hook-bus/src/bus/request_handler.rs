//! The trait of the handler of a bus.

use std::sync::Arc;
use std::time::Instant;

use futures::future::BoxFuture;
use hook_core::StageFailure;
use hook_protocol::HookEventName;
use hook_run::{FairnessKey, RunningHooks};
use tokio_util::sync::CancellationToken;

use super::origin::Origin;
use crate::message::{CorrelationId, HookExecutionRequest, HookExecutionResponse, RequestKey};

/// The context of a request, from its client to its hooks.
pub(crate) struct RequestContext {
    pub(crate) key: RequestKey,
    /// Cancelled when the publisher no longer wants the answer. If `None`, a token is made once the
    /// request must wait for hooks.
    pub(crate) cancel: Option<CancellationToken>,
    /// The time by which the request must be answered; set when it is accepted.
    pub(crate) deadline: Option<Instant>,
    /// The fairness key of its hooks.
    pub(crate) lane: FairnessKey,
    pub(crate) origin: Origin,
}

impl RequestContext {
    /// Returns the context of a new request.
    pub(crate) fn new(lane: FairnessKey, origin: Origin) -> Self {
        Self { key: RequestKey::next(), cancel: None, deadline: None, lane, origin }
    }
}

/// A request that is answered already, or that must be polled to its answer.
pub(crate) enum Served {
    Done(Box<HookExecutionResponse>),
    Running {
        running: BoxFuture<'static, Box<HookExecutionResponse>>,
        /// Cancels the request, which is still answered.
        cancel: CancellationToken,
    },
}

/// A handler of the requests of a bus.
pub(crate) trait RequestHandler: Send + Sync {
    /// Accepts a request, or returns the reason for refusing it. An accepted request is served
    /// whatever happens to the handler later, and counts as in flight until it is released.
    fn accept(&self) -> Result<(), StageFailure>;

    /// Returns the event of a request, if its name is known.
    fn event_of(&self, request: &HookExecutionRequest) -> Option<HookEventName>;

    /// Returns the running hooks; `None` before the engine is built.
    fn running_hooks(&self) -> Option<Arc<RunningHooks>>;

    /// Checks whether requests are forwarded to remote engines, so that late polling does no harm
    /// here.
    fn is_remote(&self) -> bool {
        false
    }

    /// Releases an accepted request after its answer.
    fn release(&self);

    /// Serves an accepted request.
    fn serve(self: Arc<Self>, request: HookExecutionRequest, context: RequestContext) -> Served;

    /// Answers a refused request, blocking it if it has guards.
    fn refuse(self: Arc<Self>, request: HookExecutionRequest, failure: StageFailure) -> Served;

    /// Answers a request that could not be served.
    fn failed(
        &self,
        id: CorrelationId,
        event: Option<HookEventName>,
        failure: StageFailure,
    ) -> Box<HookExecutionResponse>;
}

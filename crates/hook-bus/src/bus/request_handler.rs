//! What serves the requests of a bus.

use std::sync::Arc;
use std::time::Instant;

use futures::future::BoxFuture;
use hook_core::run::RunningHooks;
use hook_core::{HookEventName, RunLane, StageFailure};
use tokio_util::sync::CancellationToken;

use crate::message::{CorrelationId, HookExecutionRequest, HookExecutionResponse, RequestKey};

/// What a handler is told beside the request.
pub(crate) struct RequestControl {
    pub(crate) key: RequestKey,
    /// Cancelled when the publisher no longer wants the answer.
    pub(crate) cancel: Option<CancellationToken>,
    /// When the answer must be there.
    pub(crate) deadline: Option<Instant>,
    /// On whose behalf its hooks run.
    pub(crate) lane: RunLane,
    /// How many hooks wait for it.
    pub(crate) depth: u32,
}

/// A request that is answered already, or one that must be driven to its answer.
pub(crate) enum Served {
    Done(Box<HookExecutionResponse>),
    Running {
        running: BoxFuture<'static, Box<HookExecutionResponse>>,
        /// Ends it, with an answer all the same.
        cancel: CancellationToken,
    },
}

/// What serves the requests of a bus.
pub(crate) trait RequestHandler: Send + Sync {
    /// Takes on a request, or says why not. What was taken on is served, whatever happens to the
    /// handler afterwards, and counts as in flight until it is released.
    fn accept(&self) -> Result<(), StageFailure>;

    /// The event that a request is about, if there is one of its name.
    fn event_of(&self, request: &HookExecutionRequest) -> Option<HookEventName>;

    /// The hooks that run now; `None` before there are any.
    fn running_hooks(&self) -> Option<Arc<RunningHooks>>;

    /// Whether what it serves waits for somebody elsewhere, so that nothing goes wrong here where it is polled
    /// late.
    fn is_elsewhere(&self) -> bool {
        false
    }

    /// Told when a request that was taken on has been answered.
    fn release(&self);

    /// Serves a request that was taken on.
    fn serve(self: Arc<Self>, request: HookExecutionRequest, control: RequestControl) -> Served;

    /// Answers a request that was not taken on, as its guards want.
    fn refuse(self: Arc<Self>, request: HookExecutionRequest, failure: StageFailure) -> Served;

    /// The answer to a request that could not be served.
    fn failed(
        &self,
        id: CorrelationId,
        event: Option<HookEventName>,
        failure: StageFailure,
    ) -> Box<HookExecutionResponse>;
}

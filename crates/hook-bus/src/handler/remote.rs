//! Serving a bus by forwarding its requests to remote engines.

use std::fmt;
use std::sync::Arc;
use std::time::{Duration, Instant};

use futures::FutureExt;
use futures::future::BoxFuture;
use hook_core::{Guard, StageFailure};
use hook_json::opaque_debug;
use hook_protocol::{FailureCode, HookEventName};
use hook_run::RunningHooks;
use hook_settings::FailBehavior;
use tokio::runtime::Handle;
use tokio_util::sync::CancellationToken;

use super::event_handler::{no_runtime, shutting_down};
use super::in_flight::InFlight;
use crate::bus::{AlreadyServed, MessageBus, RequestContext, RequestHandler, Served};
use crate::message::{CorrelationId, HookExecutionRequest, HookExecutionResponse};

/// A connection to remote engines. If none can be reached, the request is answered here.
pub trait RemoteEngines: fmt::Debug + Send + Sync + 'static {
    /// Forwards a request to an engine, which must respond by the deadline.
    ///
    /// # Errors
    /// If there will be no response: the failure becomes the response, with a decision by
    /// [`fail_behavior`](Self::fail_behavior).
    ///
    /// # Cancellation
    /// The future is dropped when no caller waits for the response any more.
    fn forward(
        self: Arc<Self>,
        request: HookExecutionRequest,
        deadline: Option<Instant>,
    ) -> BoxFuture<'static, Result<HookExecutionResponse, StageFailure>>;

    /// Returns the behavior for an event that no engine answered: its guards are not known here.
    fn fail_behavior(&self) -> FailBehavior;
}

/// A handle to a bus that remote engines serve. Dropping it detaches them: later requests are
/// answered `no_handler`, accepted ones finish.
pub struct RemoteServing {
    bus: MessageBus,
    handler: Arc<RemoteHandler>,
}

impl MessageBus {
    /// Serves the bus by remote engines.
    ///
    /// # Errors
    /// If it already has a handler.
    pub fn serve_remotely(
        &self,
        engines: Arc<dyn RemoteEngines>,
    ) -> Result<RemoteServing, AlreadyServed> {
        let handler = Arc::new(RemoteHandler {
            engines,
            in_flight: InFlight::default(),
            cancel_all: CancellationToken::new(),
        });
        self.core().attach(Arc::clone(&handler) as Arc<dyn RequestHandler>)?;
        Ok(RemoteServing { bus: self.clone(), handler })
    }
}

impl RemoteServing {
    /// Returns the number of requests waiting for their responses.
    pub fn in_flight(&self) -> usize {
        self.handler.in_flight.count()
    }

    /// Answers later requests `shutting_down`, waits for accepted ones until the deadline, and then
    /// answers those `shutting_down` too.
    pub async fn shutdown(&self, deadline: Duration) {
        let handler = &self.handler;
        handler.in_flight.close();
        if tokio::time::timeout(deadline, handler.in_flight.wait()).await.is_err() {
            handler.cancel_all.cancel();
            handler.in_flight.wait().await;
        }
    }
}

opaque_debug!(RemoteServing);

impl Drop for RemoteServing {
    fn drop(&mut self) {
        self.bus.core().detach(&(Arc::clone(&self.handler) as Arc<dyn RequestHandler>));
    }
}

struct RemoteHandler {
    engines: Arc<dyn RemoteEngines>,
    in_flight: InFlight,
    /// Cancelled when a shutdown's deadline has passed.
    cancel_all: CancellationToken,
}

impl RequestHandler for RemoteHandler {
    fn accept(&self) -> Result<(), StageFailure> {
        if self.in_flight.enter() { Ok(()) } else { Err(shutting_down()) }
    }

    fn event_of(&self, request: &HookExecutionRequest) -> Option<HookEventName> {
        request.event()
    }

    fn running_hooks(&self) -> Option<Arc<RunningHooks>> {
        None
    }

    fn is_remote(&self) -> bool {
        true
    }

    fn release(&self) {
        self.in_flight.leave();
    }

    fn serve(self: Arc<Self>, request: HookExecutionRequest, context: RequestContext) -> Served {
        let (id, event) = (request.correlation_id().clone(), request.event());
        if let Some(failure) = request.envelope_error().cloned() {
            // The request is invalid and cannot be forwarded.
            return Served::Done(self.failed(id, event, failure));
        }
        if Handle::try_current().is_err() {
            return Served::Done(self.failed(id, event, no_runtime()));
        }
        let cancel = context.cancel.unwrap_or_default();
        let cancelled = cancel.clone();
        let running = async move {
            let forwarding = Arc::clone(&self.engines).forward(request, context.deadline);
            let result = tokio::select! {
                biased;
                () = self.cancel_all.cancelled() => Err(shutting_down()),
                () = cancelled.cancelled() => {
                    Err(StageFailure::new(FailureCode::Cancelled, "the request was cancelled"))
                }
                result = forwarding => result,
            };
            match result {
                Ok(response) => Box::new(response),
                Err(failure) => self.failed(id, event, failure),
            }
        };
        Served::Running { running: running.boxed(), cancel }
    }

    fn refuse(self: Arc<Self>, request: HookExecutionRequest, failure: StageFailure) -> Served {
        Served::Done(self.failed(request.correlation_id().clone(), request.event(), failure))
    }

    fn failed(
        &self,
        id: CorrelationId,
        event: Option<HookEventName>,
        failure: StageFailure,
    ) -> Box<HookExecutionResponse> {
        let guard = match self.engines.fail_behavior() {
            FailBehavior::Block => Some(Guard::Possible),
            FailBehavior::Continue => None,
        };
        HookExecutionResponse::unavailable(id, event, failure, guard)
    }
}

//! An accepted request: it is answered exactly once, whatever happens to its handler
//! (architecture.md, invariant 1).

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::Instant;

use futures::FutureExt;
use hook_core::StageFailure;
use hook_protocol::failure::panic_message;
use hook_protocol::{FailureCode, HookEventName};

use super::core::BusCore;
use super::origin::UNKNOWN_TOKEN;
use super::request_handler::{RequestContext, RequestHandler, Served};
use crate::message::{
    CorrelationId, HookExecutionRequest, HookExecutionResponse, JournalEntry, JournalMessage,
    RequestKey,
};

/// The handler that a request is for.
#[derive(Clone, Copy)]
pub(crate) enum ServeBy<'h> {
    /// The handler attached to the bus.
    Attached,
    /// This handler only. If it is not attached, it refuses the request, since it knows its guards.
    Only(&'h Arc<dyn RequestHandler>),
}

/// An accepted request that must be answered.
pub(crate) struct Accepted {
    bus: Arc<BusCore>,
    key: RequestKey,
    is_token_unknown: bool,
    correlation_id: CorrelationId,
    event: Option<HookEventName>,
    streams: bool,
    /// The handler, fixed now: an accepted request finishes even if its handler is detached later.
    handler: Option<Arc<dyn RequestHandler>>,
    /// The handler's reason for refusing the request, if it did.
    refusal: Option<Box<StageFailure>>,
    answered: bool,
}

impl Accepted {
    pub(crate) fn new(
        bus: &Arc<BusCore>,
        request: &HookExecutionRequest,
        context: &mut RequestContext,
        by: ServeBy<'_>,
    ) -> Self {
        let key = context.key;
        context.deadline = request.deadline().and_then(|after| Instant::now().checked_add(after));
        bus.record(key, || JournalMessage::Request(Arc::new(request.clone())));
        let (handler, refusal) = match by {
            ServeBy::Attached => {
                let handler = bus.handler();
                let refusal = handler.as_ref().and_then(|handler| handler.accept().err());
                (handler, refusal)
            }
            ServeBy::Only(own) => {
                let refusal = bus.check_attached(own).and_then(|()| own.accept()).err();
                (Some(Arc::clone(own)), refusal)
            }
        };
        Self {
            bus: Arc::clone(bus),
            key,
            is_token_unknown: context.origin.is_token_unknown,
            correlation_id: request.correlation_id().clone(),
            event: match &handler {
                Some(handler) => handler.event_of(request),
                None => request.event(),
            },
            streams: request.wants_streams(),
            handler,
            refusal: refusal.map(Box::new),
            answered: false,
        }
    }

    /// Returns the event of the request, if its name is known.
    pub(crate) fn event(&self) -> Option<HookEventName> {
        self.event
    }

    /// Passes the request to its handler. A running request must be polled to its end.
    pub(crate) fn begin(self, request: HookExecutionRequest, context: RequestContext) -> Served {
        if self.bus.has_subscribers::<HookExecutionRequest>() {
            self.bus.publish_message(&Arc::new(request.clone()));
        }
        match self.serve(request, context) {
            Served::Done(response) => Served::Done(self.answer(response)),
            Served::Running { running, cancel } => {
                let answer = async move {
                    let response = AssertUnwindSafe(running).catch_unwind().await;
                    let response = response.unwrap_or_else(|panic| self.panicked(panic.as_ref()));
                    self.answer(response)
                };
                Served::Running { running: answer.boxed(), cancel }
            }
        }
    }

    fn serve(&self, request: HookExecutionRequest, context: RequestContext) -> Served {
        let Some(handler) = &self.handler else {
            let message = "nothing serves the bus: no hook system was started on it, or it was \
                           disposed of";
            return Served::Done(self.failed(StageFailure::new(FailureCode::NoHandler, message)));
        };
        let serve = || match &self.refusal {
            None => Arc::clone(handler).serve(request, context),
            Some(refusal) => Arc::clone(handler).refuse(request, StageFailure::clone(refusal)),
        };
        catch_unwind(AssertUnwindSafe(serve))
            .unwrap_or_else(|panic| Served::Done(self.panicked(panic.as_ref())))
    }

    /// Publishes the response and returns it.
    fn answer(mut self, mut response: Box<HookExecutionResponse>) -> Box<HookExecutionResponse> {
        self.answered = true;
        response.streams = self.streams;
        if self.is_token_unknown {
            response.processed.warnings.push(UNKNOWN_TOKEN.to_owned());
        }
        let has_subscribers = self.bus.has_subscribers::<HookExecutionResponse>()
            || self.bus.has_subscribers::<JournalEntry>();
        if !has_subscribers {
            return response;
        }
        let response = Arc::new(*response);
        self.publish(&response);
        Box::new(Arc::unwrap_or_clone(response))
    }

    fn publish(&self, response: &Arc<HookExecutionResponse>) {
        self.bus.publish_message(response);
        self.bus.record(self.key, || JournalMessage::Response(Arc::clone(response)));
    }

    fn panicked(&self, panic: &(dyn Any + Send)) -> Box<HookExecutionResponse> {
        let message = format!("the hook engine panicked: {}", panic_message(panic));
        self.failed(StageFailure::new(FailureCode::InternalError, message))
    }

    fn failed(&self, failure: StageFailure) -> Box<HookExecutionResponse> {
        let id = self.correlation_id.clone();
        match &self.handler {
            Some(handler) => handler.failed(id, self.event, failure),
            None => HookExecutionResponse::unavailable(id, self.event, failure, None),
        }
    }
}

impl Drop for Accepted {
    /// Answers a request whose future was dropped by its caller or runtime.
    fn drop(&mut self) {
        if !self.answered {
            let message = "the caller does not wait for the answer any more";
            let failure = StageFailure::new(FailureCode::Cancelled, message);
            let response = Arc::new(*self.failed(failure));
            self.publish(&response);
        }
        if let (Some(handler), None) = (&self.handler, &self.refusal) {
            handler.release();
        }
    }
}

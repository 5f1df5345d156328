//! The bus: it passes requests to its one handler, and all messages to subscribers.

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use futures::FutureExt;
use futures::future::BoxFuture;
use hook_core::StageFailure;
use hook_json::opaque_debug;
use hook_protocol::{FailureCode, HookEventName};
use hook_run::FairnessKey;
use tokio::runtime::Handle;
use tokio::sync::oneshot;
use tokio::task::JoinError;
use tokio_util::sync::CancellationToken;
use tracing::Instrument;
use tracing::instrument::WithSubscriber;

use super::accepted::{Accepted, ServeBy};
use super::core::BusCore;
use super::limits::{BusLimits, PublishError};
use super::origin::Origin;
use super::permits::RequestPermit;
use super::published::{PublishedRequest, Submitted};
use super::request_handler::{RequestContext, Served};
use super::subscription::{Message, Subscription, SubscriptionLimits};
use crate::message::{CorrelationId, HookExecutionRequest, HookExecutionResponse};

/// An in-process typed bus. Clones are handles to the same bus.
///
/// ```
/// use hook_bus::{HookExecutionRequest, MessageBus};
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() {
///
/// let bus = MessageBus::new();
/// let request = HookExecutionRequest::from_json(
///     r#"{"type":"hook-execution-request","eventName":"SessionEnd","input":{"reason":"exit"}}"#,
/// );
/// let response = bus.request(request).await;
/// assert_eq!(response.error().unwrap().code.as_str(), "no_handler");
/// # }
/// ```
#[derive(Clone)]
pub struct MessageBus {
    core: Arc<BusCore>,
}

opaque_debug!(MessageBus);

impl Default for MessageBus {
    fn default() -> Self {
        Self::new()
    }
}

impl MessageBus {
    /// Creates a bus with the default limits.
    pub fn new() -> Self {
        Self::with_limits(BusLimits::default())
    }

    /// Creates a bus with these limits.
    pub fn with_limits(limits: BusLimits) -> Self {
        Self { core: Arc::new(BusCore::new(limits)) }
    }

    /// Returns the limits of the bus.
    pub fn limits(&self) -> BusLimits {
        self.core.limits
    }

    /// Passes a message of another bus to subscribers.
    pub fn relay<M: Message>(&self, message: Arc<M>) {
        self.core.publish_message(&message);
    }

    /// Subscribes to one type of message from now on.
    ///
    /// Messages are shared. Messages not read in time are dropped, oldest first, and their number
    /// is reported instead; the bus never waits for a subscriber.
    pub fn subscribe<M: Message>(&self) -> Subscription<M> {
        self.subscribe_with(self.core.limits.subscription)
    }

    /// Subscribes with these limits.
    pub fn subscribe_with<M: Message>(&self, limits: SubscriptionLimits) -> Subscription<M> {
        Subscription::new(&self.core.topics, limits)
    }

    /// Serves a request and returns its response, which also goes to subscribers.
    ///
    /// Work that does not wait runs on the caller's task. Hooks that must be waited for run on
    /// tasks of the engine, even if the caller stops polling. The request is accepted when the
    /// future is first polled; its deadline counts from then.
    ///
    /// # Cancellation
    /// Dropping the future cancels its hooks (their process groups are signalled at once) and
    /// publishes a `cancelled` response.
    pub async fn request(&self, request: HookExecutionRequest) -> HookExecutionResponse {
        *self.serve(request, ServeBy::Attached).await
    }

    /// Returns the context of a request of no particular client.
    fn context_of(&self, request: &HookExecutionRequest) -> RequestContext {
        RequestContext::new(FairnessKey::default(), self.origin_of(request, None))
    }

    /// Determines a request's origin; `group` is the client's process group, if known.
    pub(crate) fn origin_of(&self, request: &HookExecutionRequest, group: Option<u32>) -> Origin {
        Origin::of(request, group, || self.core.handler()?.running_hooks())
    }

    /// Like [`request`](Self::request), but for a given handler and with the boxed response.
    pub(crate) async fn serve(
        &self,
        request: HookExecutionRequest,
        by: ServeBy<'_>,
    ) -> Box<HookExecutionResponse> {
        // Keep the future small: a request that is answered at once leaves nothing in it.
        let id = request.correlation_id().clone();
        let mut context = self.context_of(&request);
        let accepted = Accepted::new(&self.core, &request, &mut context, by);
        let event = accepted.event();
        match accepted.begin(request, context) {
            Served::Done(response) => response,
            Served::Running { running, cancel } if self.core.is_remote() => {
                InlineRequest { running: Some(running), cancel }.await
            }
            Served::Running { running, cancel } => match run_on_task(running, cancel).await {
                Ok(response) => response,
                Err(ended) => self.runtime_ended(id, event, &ended),
            },
        }
    }

    /// Publishes a request, to be served on a task of the bus. Waits while the limits in flight are
    /// reached.
    ///
    /// The returned request can be awaited or dropped; dropping it does not cancel it.
    ///
    /// # Errors
    /// If the request was not accepted.
    pub async fn publish(
        &self,
        request: HookExecutionRequest,
    ) -> Result<PublishedRequest, PublishError> {
        let context = self.context_of(&request);
        let permit = self.admit(&request, context.origin.depth).await?;
        self.publish_with_permit(permit, request, context)
    }

    /// Waits for a permit for the request.
    pub(crate) async fn admit(
        &self,
        request: &HookExecutionRequest,
        depth: u32,
    ) -> Result<RequestPermit, PublishError> {
        self.core.permits.acquire(request, depth).await
    }

    /// Like [`admit`](Self::admit), but returns `None` instead of waiting.
    pub(crate) fn try_admit(
        &self,
        request: &HookExecutionRequest,
        depth: u32,
    ) -> Option<RequestPermit> {
        self.core.permits.try_acquire(request, depth).ok()
    }

    /// Accepts a request like [`publish`](Self::publish), but serves it on the caller's task until
    /// it has to wait for hooks: only then it gets its own task.
    pub(crate) fn submit(
        &self,
        place: RequestPermit,
        request: HookExecutionRequest,
        mut context: RequestContext,
    ) -> Result<Submitted, PublishError> {
        let runtime = Handle::try_current().map_err(|_| PublishError::NoRuntime)?;
        let (key, correlation_id) = (context.key, request.correlation_id().clone());
        let accepted = Accepted::new(&self.core, &request, &mut context, ServeBy::Attached);
        let (running, cancel) = match accepted.begin(request, context) {
            Served::Done(response) => return Ok(Submitted::Answered(response)),
            Served::Running { running, cancel } => (running, cancel),
        };
        let (sender, response) = oneshot::channel();
        runtime.spawn(with_current_tracing(async move {
            let response = running.await;
            drop(place);
            // The caller may be gone; subscribers have the response already.
            let _ = sender.send(*response);
        }));
        Ok(Submitted::Running(PublishedRequest { key, correlation_id, cancel, response }))
    }

    /// Publishes a request if the limits allow it now.
    ///
    /// # Errors
    /// If the request was not accepted.
    pub fn try_publish(
        &self,
        request: HookExecutionRequest,
    ) -> Result<PublishedRequest, PublishError> {
        let context = self.context_of(&request);
        let permit = self.core.permits.try_acquire(&request, context.origin.depth)?;
        self.publish_with_permit(permit, request, context)
    }

    fn publish_with_permit(
        &self,
        place: RequestPermit,
        request: HookExecutionRequest,
        mut context: RequestContext,
    ) -> Result<PublishedRequest, PublishError> {
        let runtime = Handle::try_current().map_err(|_| PublishError::NoRuntime)?;
        let (key, correlation_id) = (context.key, request.correlation_id().clone());
        let (sender, response) = oneshot::channel();
        // Accepted from here on, even if the task never runs. The task ends with an answer in any
        // case.
        let accepted = Accepted::new(&self.core, &request, &mut context, ServeBy::Attached);
        let cancel = context.cancel.get_or_insert_default().clone();
        runtime.spawn(with_current_tracing(async move {
            let response = match accepted.begin(request, context) {
                Served::Done(response) => response,
                Served::Running { running, .. } => running.await,
            };
            drop(place);
            // The caller may be gone; subscribers have the response already.
            let _ = sender.send(*response);
        }));
        Ok(PublishedRequest { key, correlation_id, cancel, response })
    }

    /// Returns the shared state of the bus.
    pub(crate) fn core(&self) -> &Arc<BusCore> {
        &self.core
    }

    /// Answers a request whose task ended with the runtime; subscribers got `cancelled`.
    fn runtime_ended(
        &self,
        id: CorrelationId,
        event: Option<HookEventName>,
        ended: &JoinError,
    ) -> Box<HookExecutionResponse> {
        let message = format!("the async runtime ended before the request was answered: {ended}");
        let failure = StageFailure::new(FailureCode::Cancelled, message);
        match self.core.handler() {
            Some(handler) => handler.failed(id, event, failure),
            None => HookExecutionResponse::unavailable(id, event, failure, None),
        }
    }
}

/// A request to remote engines, polled on the caller's task, which saves a wake-up. If dropped
/// early, it is cancelled, and answered on its own task.
struct InlineRequest {
    running: Option<BoxFuture<'static, Box<HookExecutionResponse>>>,
    cancel: CancellationToken,
}

impl Future for InlineRequest {
    type Output = Box<HookExecutionResponse>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let Some(running) = &mut self.running else { return Poll::Pending };
        let response = ready!(running.poll_unpin(context));
        self.running = None;
        Poll::Ready(response)
    }
}

impl Drop for InlineRequest {
    fn drop(&mut self) {
        let Some(running) = self.running.take() else { return };
        self.cancel.cancel();
        if let Ok(runtime) = Handle::try_current() {
            runtime.spawn(with_current_tracing(running));
        }
    }
}

/// Drives a request on its own task, which continues if the caller does not poll, and is cancelled
/// if the caller is gone.
async fn run_on_task(
    running: BoxFuture<'static, Box<HookExecutionResponse>>,
    cancel: CancellationToken,
) -> Result<Box<HookExecutionResponse>, JoinError> {
    let Ok(runtime) = Handle::try_current() else {
        // Hooks that need no runtime run here; others are answered `no_runtime`.
        return Ok(running.await);
    };
    let _cancel = cancel.drop_guard();
    runtime.spawn(with_current_tracing(running)).await
}

/// Keeps the caller's tracing span and subscriber for a task.
fn with_current_tracing<F: Future>(future: F) -> impl Future<Output = F::Output> {
    future.in_current_span().with_current_subscriber()
}

//! The bus: requests go to the one handler, everything goes to subscribers.

use std::fmt;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use futures::FutureExt;
use futures::future::BoxFuture;
use hook_core::{FailureCode, HookEventName, RunLane, StageFailure};
use tokio::runtime::Handle;
use tokio::sync::oneshot;
use tokio::task::JoinError;
use tokio_util::sync::CancellationToken;
use tracing::Instrument;
use tracing::instrument::WithSubscriber;

use super::accepted::{AcceptAs, Accepted, ServeBy};
use super::core::BusCore;
use super::limits::{BusLimits, PublishError};
use super::origin::Origin;
use super::places::Place;
use super::published::{PublishedRequest, Submitted};
use super::request_handler::Served;
use super::subscription::{Message, Subscription, SubscriptionLimits};
use crate::message::{CorrelationId, HookExecutionRequest, HookExecutionResponse, RequestKey};

/// What is settled of a request before it is published.
pub(crate) struct Publication {
    /// Tells it apart.
    pub(crate) key: RequestKey,
    /// Ends it. Where there is none, one is made once the request must wait for hooks.
    pub(crate) cancel: Option<CancellationToken>,
    /// On whose behalf its hooks run.
    pub(crate) lane: RunLane,
    /// Where it comes from.
    pub(crate) origin: Origin,
}

impl Publication {
    /// A request of no client.
    fn new(bus: &MessageBus, request: &HookExecutionRequest) -> Self {
        Self {
            key: RequestKey::next(),
            cancel: None,
            lane: RunLane::default(),
            origin: bus.origin_of(request, None),
        }
    }
}

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

impl fmt::Debug for MessageBus {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("MessageBus")
            .field("limits", &self.core.limits)
            .field("served", &self.core.handler().is_some())
            .finish_non_exhaustive()
    }
}

impl Default for MessageBus {
    fn default() -> Self {
        Self::new()
    }
}

impl MessageBus {
    /// A bus with the default limits.
    pub fn new() -> Self {
        Self::with_limits(BusLimits::default())
    }

    /// A bus with limits of one's own.
    pub fn with_limits(limits: BusLimits) -> Self {
        Self { core: Arc::new(BusCore::new(limits)) }
    }

    /// What it may hold.
    pub fn limits(&self) -> BusLimits {
        self.core.limits
    }

    /// Hands subscribers a message that happened on another bus.
    pub fn relay<M: Message>(&self, message: Arc<M>) {
        self.core.publish_message(&message);
    }

    /// Subscribes to one type of message from now on.
    ///
    /// Messages are shared. What is not read in time is dropped, oldest first, and its number
    /// reported instead; the bus never waits for a subscriber.
    pub fn subscribe<M: Message>(&self) -> Subscription<M> {
        self.subscribe_with(self.core.limits.subscription)
    }

    /// Subscribes with limits of one's own.
    pub fn subscribe_with<M: Message>(&self, limits: SubscriptionLimits) -> Subscription<M> {
        Subscription::new(&self.core.topics, limits)
    }

    /// Serves a request and gives its response, which also goes to subscribers.
    ///
    /// What needs no waiting runs on the caller's own task; hooks that must be waited for run on
    /// tasks of the engine, whether the caller goes on polling or not. The request is accepted
    /// when the future is first polled, and a deadline counts from then.
    ///
    /// # Cancellation
    /// Dropping the future ends the hooks it started (their process groups are signalled at once)
    /// and publishes a `cancelled` response.
    pub async fn request(&self, request: HookExecutionRequest) -> HookExecutionResponse {
        *self.serve(request, ServeBy::Attached).await
    }

    /// Where a request comes from, whose client is in this process group if it is known.
    pub(crate) fn origin_of(&self, request: &HookExecutionRequest, group: Option<u32>) -> Origin {
        Origin::of(request, group, || self.core.handler()?.running_hooks())
    }

    /// [`request`](Self::request), with the response where it was made.
    pub(crate) async fn serve(
        &self,
        request: HookExecutionRequest,
        by: ServeBy<'_>,
    ) -> Box<HookExecutionResponse> {
        // Nothing of a request that is answered at once is carried through the future.
        let id = request.correlation_id().clone();
        let origin = self.origin_of(&request, None);
        let (key, lane) = (RequestKey::next(), RunLane::default());
        let accepted = Accepted::new(&self.core, &request, key, AcceptAs { lane, origin, by });
        let event = accepted.event();
        match accepted.begin(request, None) {
            Served::Done(response) => response,
            Served::Running { running, cancel } if self.core.is_elsewhere() => {
                Here { running: Some(running), cancel }.await
            }
            Served::Running { running, cancel } => match drive(running, cancel).await {
                Ok(response) => response,
                Err(ended) => self.runtime_ended(id, event, &ended),
            },
        }
    }

    /// Publishes a request, to be served on a task of the bus. Waits while as much is in flight as
    /// may be.
    ///
    /// What it returns can be awaited or dropped; dropping it cancels nothing.
    ///
    /// # Errors
    /// When the request was not accepted.
    pub async fn publish(
        &self,
        request: HookExecutionRequest,
    ) -> Result<PublishedRequest, PublishError> {
        let publication = Publication::new(self, &request);
        let place = self.admit(&request, publication.origin.depth).await?;
        self.publish_in(place, request, publication)
    }

    /// Waits until the request may be in flight.
    pub(crate) async fn admit(
        &self,
        request: &HookExecutionRequest,
        depth: u32,
    ) -> Result<Place, PublishError> {
        self.core.places.enter(request, depth).await
    }

    /// [`admit`](Self::admit) without waiting; `None` where that would be needed.
    pub(crate) fn try_admit(&self, request: &HookExecutionRequest, depth: u32) -> Option<Place> {
        self.core.places.try_enter(request, depth).ok()
    }

    /// Accepts a request as [`publish`](Self::publish) does, but serves it on the caller's own task
    /// as far as it needs no waiting: only what must wait for hooks gets a task.
    pub(crate) fn submit(
        &self,
        place: Place,
        request: HookExecutionRequest,
        publication: Publication,
    ) -> Result<Submitted, PublishError> {
        let Publication { key, cancel, lane, origin } = publication;
        let runtime = Handle::try_current().map_err(|_| PublishError::NoRuntime)?;
        let correlation_id = request.correlation_id().clone();
        let accepted = Accepted::new(
            &self.core,
            &request,
            key,
            AcceptAs { lane, origin, by: ServeBy::Attached },
        );
        let (running, cancel) = match accepted.begin(request, cancel) {
            Served::Done(response) => return Ok(Submitted::Answered(response)),
            Served::Running { running, cancel } => (running, cancel),
        };
        let (sender, response) = oneshot::channel();
        runtime.spawn(logged_as_here(async move {
            let response = running.await;
            drop(place);
            // A response that is not waited for has gone to subscribers.
            let _ = sender.send(*response);
        }));
        Ok(Submitted::Running(PublishedRequest { key, correlation_id, cancel, response }))
    }

    /// Publishes a request if there is room for it now.
    ///
    /// # Errors
    /// When the request was not accepted.
    pub fn try_publish(
        &self,
        request: HookExecutionRequest,
    ) -> Result<PublishedRequest, PublishError> {
        let publication = Publication::new(self, &request);
        let place = self.core.places.try_enter(&request, publication.origin.depth)?;
        self.publish_in(place, request, publication)
    }

    fn publish_in(
        &self,
        place: Place,
        request: HookExecutionRequest,
        publication: Publication,
    ) -> Result<PublishedRequest, PublishError> {
        let Publication { key, cancel, lane, origin } = publication;
        let runtime = Handle::try_current().map_err(|_| PublishError::NoRuntime)?;
        let correlation_id = request.correlation_id().clone();
        let (sender, response) = oneshot::channel();
        // Accepted from here on, also if the task never gets to run. The task ends with its
        // answer, which its handler gives in any case.
        let accepted = Accepted::new(
            &self.core,
            &request,
            key,
            AcceptAs { lane, origin, by: ServeBy::Attached },
        );
        let cancel = cancel.unwrap_or_default();
        let cancelled = cancel.clone();
        runtime.spawn(logged_as_here(async move {
            let response = match accepted.begin(request, Some(cancelled)) {
                Served::Done(response) => response,
                Served::Running { running, .. } => running.await,
            };
            drop(place);
            // It is fine if no caller waits; subscribers have it.
            let _ = sender.send(*response);
        }));
        Ok(PublishedRequest { key, correlation_id, cancel, response })
    }

    /// What all handles of the bus share.
    pub(crate) fn core(&self) -> &Arc<BusCore> {
        &self.core
    }

    /// The answer where the runtime ended with the request's task in it; subscribers were told
    /// `cancelled`.
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
            None => HookExecutionResponse::unserved(id, event, failure, None),
        }
    }
}

/// What waits for somebody elsewhere: on the caller's own task, which saves waking another. Dropped before
/// it is over, it is cancelled, and answered on a task of its own.
struct Here {
    running: Option<BoxFuture<'static, Box<HookExecutionResponse>>>,
    cancel: CancellationToken,
}

impl Future for Here {
    type Output = Box<HookExecutionResponse>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let Some(running) = &mut self.running else { return Poll::Pending };
        let response = ready!(running.poll_unpin(context));
        self.running = None;
        Poll::Ready(response)
    }
}

impl Drop for Here {
    fn drop(&mut self) {
        let Some(running) = self.running.take() else { return };
        self.cancel.cancel();
        if let Ok(runtime) = Handle::try_current() {
            runtime.spawn(logged_as_here(running));
        }
    }
}

/// Drives a request on a task of its own, which goes on when the caller does not poll, and ends the
/// request when the caller is gone.
async fn drive(
    running: BoxFuture<'static, Box<HookExecutionResponse>>,
    cancel: CancellationToken,
) -> Result<Box<HookExecutionResponse>, JoinError> {
    let Ok(runtime) = Handle::try_current() else {
        // What can be done without one is done here; the rest is answered `no_runtime`.
        return Ok(running.await);
    };
    let _cancel = cancel.drop_guard();
    runtime.spawn(logged_as_here(running)).await
}

/// What a task records belongs to the span, and goes to the tracing subscriber, of the caller.
fn logged_as_here<F: Future>(future: F) -> impl Future<Output = F::Output> {
    future.in_current_span().with_current_subscriber()
}

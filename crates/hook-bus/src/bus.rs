//! The bus: requests go to the one handler, everything goes to subscribers.

use std::fmt;
use std::sync::{Arc, PoisonError, RwLock};
use std::time::Instant;

use futures::future::BoxFuture;
use hook_core::runner::RunningHooks;
use hook_core::{FailureCode, HookEventName, RunLane, StageFailure};
use tokio::runtime::Handle;
use tokio::sync::oneshot;
use tokio::task::JoinError;
use tokio_util::sync::CancellationToken;
use tracing::Instrument;
use tracing::instrument::WithSubscriber;

use crate::accepted::{AcceptAs, Accepted, ServeBy};
use crate::limits::{BusLimits, PublishError};
use crate::message::{
    CorrelationId, HookExecutionRequest, HookExecutionResponse, JournalEntry, JournalMessage,
    RequestKey,
};
use crate::origin::Origin;
use crate::places::{Place, Places};
use crate::subscription::{Message, Subscription, SubscriptionLimits, Topics};

/// The bus serves requests already; it has at most one handler.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error(
    "the bus has a handler already; dispose of the other hook system first, or use another bus"
)]
pub struct AlreadyServed;

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
    inner: Arc<Inner>,
}

struct Inner {
    limits: BusLimits,
    handler: RwLock<Option<Arc<dyn RequestHandler>>>,
    topics: Arc<Topics>,
    places: Places,
}

impl fmt::Debug for MessageBus {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("MessageBus")
            .field("limits", &self.inner.limits)
            .field("served", &self.handler().is_some())
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
        Self {
            inner: Arc::new(Inner {
                limits,
                handler: RwLock::new(None),
                topics: Arc::default(),
                places: Places::new(&limits),
            }),
        }
    }

    /// Subscribes to one type of message from now on.
    ///
    /// Messages are shared. What is not read in time is dropped, oldest first, and its number
    /// reported instead; the bus never waits for a subscriber.
    pub fn subscribe<M: Message>(&self) -> Subscription<M> {
        self.subscribe_with(self.inner.limits.subscription)
    }

    /// Subscribes with limits of one's own.
    pub fn subscribe_with<M: Message>(&self, limits: SubscriptionLimits) -> Subscription<M> {
        Subscription::new(&self.inner.topics, limits)
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
        Origin::of(request, group, || self.handler()?.running_hooks())
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
        let accepted = Accepted::new(self, &request, key, AcceptAs { lane, origin, by });
        let event = accepted.event();
        match accepted.begin(request, None) {
            Served::Done(response) => response,
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
        self.inner.places.enter(request, depth).await
    }

    /// [`admit`](Self::admit) without waiting; `None` where that would be needed.
    pub(crate) fn try_admit(&self, request: &HookExecutionRequest, depth: u32) -> Option<Place> {
        self.inner.places.try_enter(request, depth).ok()
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
        let accepted =
            Accepted::new(self, &request, key, AcceptAs { lane, origin, by: ServeBy::Attached });
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
        let place = self.inner.places.try_enter(&request, publication.origin.depth)?;
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
        let accepted =
            Accepted::new(self, &request, key, AcceptAs { lane, origin, by: ServeBy::Attached });
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

    pub(crate) fn handler(&self) -> Option<Arc<dyn RequestHandler>> {
        self.inner.handler.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Whether `handler` is the one attached.
    ///
    /// # Errors
    /// Why it is not, as a failure of a request that was meant for it.
    pub(crate) fn is_served_by(
        &self,
        handler: &Arc<dyn RequestHandler>,
    ) -> Result<(), StageFailure> {
        let current = self.inner.handler.read().unwrap_or_else(PoisonError::into_inner);
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
        match self.handler() {
            Some(handler) => handler.failed(id, event, failure),
            None => HookExecutionResponse::unserved(id, event, failure, None),
        }
    }

    pub(crate) fn attach(&self, handler: Arc<dyn RequestHandler>) -> Result<(), AlreadyServed> {
        let mut current = self.inner.handler.write().unwrap_or_else(PoisonError::into_inner);
        if current.is_some() {
            return Err(AlreadyServed);
        }
        *current = Some(handler);
        Ok(())
    }

    /// Detaches `handler` if it is the one attached.
    pub(crate) fn detach(&self, handler: &Arc<dyn RequestHandler>) {
        let mut current = self.inner.handler.write().unwrap_or_else(PoisonError::into_inner);
        current.take_if(|current| Arc::ptr_eq(current, handler));
    }

    pub(crate) fn topics(&self) -> &Arc<Topics> {
        &self.inner.topics
    }

    pub(crate) fn has_subscribers<M: Message>(&self) -> bool {
        M::topic(&self.inner.topics).has_subscribers()
    }

    pub(crate) fn publish_message<M: Message>(&self, message: &Arc<M>) {
        M::topic(&self.inner.topics).publish(message);
    }

    /// Tells those who want to know everything; the message is made only for them.
    pub(crate) fn record(&self, request: RequestKey, message: impl FnOnce() -> JournalMessage) {
        if self.has_subscribers::<JournalEntry>() {
            self.publish_message(&JournalEntry::now(request, message()));
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

/// What came of a request that was served as far as that needed no waiting.
pub(crate) enum Submitted {
    Answered(Box<HookExecutionResponse>),
    Running(PublishedRequest),
}

/// A request that was accepted and is served on a task of the bus.
#[derive(Debug)]
pub struct PublishedRequest {
    key: RequestKey,
    correlation_id: CorrelationId,
    cancel: CancellationToken,
    response: oneshot::Receiver<HookExecutionResponse>,
}

impl PublishedRequest {
    /// Tells this request apart from others, also from those with the same correlation id.
    pub fn key(&self) -> RequestKey {
        self.key
    }

    /// The id that the response carries.
    pub fn correlation_id(&self) -> &CorrelationId {
        &self.correlation_id
    }

    /// Ends the request's hooks; its response is `cancelled`. Too late is no error.
    pub fn cancel(&self) {
        self.cancel.cancel();
    }

    pub(crate) fn cancellation(&self) -> &CancellationToken {
        &self.cancel
    }

    /// Waits for the response. `None` only if the async runtime ended first; subscribers were told
    /// `cancelled` then.
    ///
    /// # Cancellation
    /// Dropping the future cancels nothing.
    pub async fn response(self) -> Option<HookExecutionResponse> {
        self.response.await.ok()
    }
}

//! The bus: requests go to the one handler, everything goes to subscribers.

use std::fmt;
use std::sync::{Arc, PoisonError, RwLock};
use std::time::Instant;

use futures::future::BoxFuture;
use hook_core::{HookEventName, ProcessedHookResult, StageFailure};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, TryAcquireError, oneshot};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::accepted::{Accepted, Begun};
use crate::message::{CorrelationId, HookExecutionRequest, HookExecutionResponse, RequestKey};
use crate::subscription::{Message, Subscription, SubscriptionLimits, Topics};

/// What a bus may hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BusLimits {
    /// How many published requests may be in flight, 1,024 by default. When they are,
    /// [`MessageBus::publish`] waits; requests that are served on the caller's own task
    /// ([`MessageBus::request`]) are bounded by there being callers.
    pub in_flight: usize,
    /// How much a subscriber may leave unread.
    pub subscription: SubscriptionLimits,
}

impl Default for BusLimits {
    fn default() -> Self {
        Self { in_flight: 1_024, subscription: SubscriptionLimits::default() }
    }
}

/// The bus serves requests already; it has at most one handler.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error(
    "the bus has a handler already; dispose of the other hook system first, or use another bus"
)]
pub struct AlreadyServed;

/// A request was not accepted, and will not be answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum PublishError {
    /// As many requests are in flight as may be.
    #[error("the bus is full: as many requests are in flight as it may hold; publish again later")]
    Full,
    /// There is no async runtime to serve the request on.
    #[error(
        "failed to publish outside of a tokio runtime; call from a task, or enter the runtime first"
    )]
    NoRuntime,
}

/// What a handler is told beside the request.
pub(crate) struct RequestControl {
    pub(crate) key: RequestKey,
    /// Cancelled when whoever published the request does not want it any more.
    pub(crate) cancel: Option<CancellationToken>,
    /// When the answer must be there.
    pub(crate) deadline: Option<Instant>,
}

/// A request that is answered already, or one that must be driven to its answer.
pub(crate) enum Served {
    Done(Box<HookExecutionResponse>),
    Running(BoxFuture<'static, Box<HookExecutionResponse>>),
}

/// What serves the requests of a bus.
pub(crate) trait RequestHandler: Send + Sync {
    /// Takes on a request, or says why not. What was taken on is served, whatever happens to the
    /// handler afterwards, and counts as in flight until it is released.
    fn accept(&self) -> Result<(), StageFailure>;

    /// Told when a request that was taken on has been answered.
    fn release(&self);

    /// Serves a request that was taken on.
    fn serve(self: Arc<Self>, request: HookExecutionRequest, control: RequestControl) -> Served;

    /// What it means to the caller that the bus could not serve a request for that event.
    fn failed(&self, event: Option<HookEventName>, failure: StageFailure) -> ProcessedHookResult;
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
    places: Arc<Semaphore>,
    tasks: TaskTracker,
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
        let places = limits.in_flight.clamp(1, Semaphore::MAX_PERMITS);
        Self {
            inner: Arc::new(Inner {
                limits,
                handler: RwLock::new(None),
                topics: Arc::default(),
                places: Arc::new(Semaphore::new(places)),
                tasks: TaskTracker::new(),
            }),
        }
    }

    /// Subscribes to one type of message from now on.
    ///
    /// Messages are shared. What is not read in time is dropped, oldest first, and its number
    /// reported in its place; nobody waits for a subscriber.
    pub fn subscribe<M: Message>(&self) -> Subscription<M> {
        self.subscribe_with(self.inner.limits.subscription)
    }

    /// Subscribes with limits of one's own.
    pub fn subscribe_with<M: Message>(&self, limits: SubscriptionLimits) -> Subscription<M> {
        Subscription::new(&self.inner.topics, limits)
    }

    /// Serves a request on the caller's own task and gives its response, which also goes to
    /// subscribers.
    ///
    /// The request is accepted when the future is first polled. A deadline counts from then.
    ///
    /// # Cancellation
    /// Dropping the future ends the hooks it started (their process groups are signalled at once)
    /// and publishes a `cancelled` response.
    pub async fn request(&self, request: HookExecutionRequest) -> HookExecutionResponse {
        *self.serve(request).await
    }

    /// [`request`](Self::request), with the response where it was made.
    pub(crate) async fn serve(&self, request: HookExecutionRequest) -> Box<HookExecutionResponse> {
        // Nothing of a request that is answered at once is carried through the future.
        let accepted = Accepted::new(self, &request, RequestKey::next());
        match accepted.begin(request, None) {
            Begun::Answered(response) => response,
            Begun::Running(running) => running.await,
        }
    }

    /// Publishes a request, to be served on a task of the bus. Waits while as many requests are in
    /// flight as may be.
    ///
    /// What it returns can be awaited or dropped; dropping it cancels nothing.
    ///
    /// # Errors
    /// When the request was not accepted.
    pub async fn publish(
        &self,
        request: HookExecutionRequest,
    ) -> Result<PublishedRequest, PublishError> {
        // The bus never closes its places.
        let place = Arc::clone(&self.inner.places).acquire_owned().await;
        self.publish_in(place.map_err(|_| PublishError::Full)?, request)
    }

    /// Publishes a request if there is room for it now.
    ///
    /// # Errors
    /// When the request was not accepted.
    pub fn try_publish(
        &self,
        request: HookExecutionRequest,
    ) -> Result<PublishedRequest, PublishError> {
        match Arc::clone(&self.inner.places).try_acquire_owned() {
            Ok(place) => self.publish_in(place, request),
            Err(TryAcquireError::NoPermits | TryAcquireError::Closed) => Err(PublishError::Full),
        }
    }

    fn publish_in(
        &self,
        place: OwnedSemaphorePermit,
        request: HookExecutionRequest,
    ) -> Result<PublishedRequest, PublishError> {
        let runtime = tokio::runtime::Handle::try_current().map_err(|_| PublishError::NoRuntime)?;
        let key = RequestKey::next();
        let correlation_id = request.correlation_id().clone();
        let cancel = CancellationToken::new();
        let (sender, response) = oneshot::channel();
        // Accepted from here on, also if the task never gets to run.
        let accepted = Accepted::new(self, &request, key);
        let cancelled = cancel.clone();
        self.inner.tasks.spawn_on(
            async move {
                let response = match accepted.begin(request, Some(cancelled)) {
                    Begun::Answered(response) => response,
                    Begun::Running(running) => running.await,
                };
                drop(place);
                // Nobody waiting for it is fine; subscribers have it.
                let _ = sender.send(*response);
            },
            &runtime,
        );
        Ok(PublishedRequest { key, correlation_id, cancel, response })
    }

    pub(crate) fn handler(&self) -> Option<Arc<dyn RequestHandler>> {
        self.inner.handler.read().unwrap_or_else(PoisonError::into_inner).clone()
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

    pub(crate) fn has_subscribers<M: Message>(&self) -> bool {
        M::topic(&self.inner.topics).has_subscribers()
    }

    pub(crate) fn publish_message<M: Message>(&self, message: &Arc<M>) {
        M::topic(&self.inner.topics).publish(message);
    }
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

    /// Something that cancels the request without holding on to its response.
    pub fn canceller(&self) -> Canceller {
        Canceller(self.cancel.clone())
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

/// Cancels a published request.
#[derive(Debug, Clone)]
pub struct Canceller(CancellationToken);

impl Canceller {
    /// Ends the request's hooks; its response is `cancelled`. Too late is no error.
    pub fn cancel(&self) {
        self.0.cancel();
    }
}

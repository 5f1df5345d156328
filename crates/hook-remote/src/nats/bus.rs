//! The bus of a fleet's clients.

use std::sync::Arc;
use std::time::Duration;

use async_nats::{Client, Message, Subscriber};
use bytes::Bytes;
use futures::StreamExt;
use hook_bus::{
    HookExecutionRequest, HookExecutionResponse, HookProgress, MessageBus, PublishError,
    PublishedRequest, RemoteServing, Subscription,
};
use hook_core::{ProcessedHookResult, StageFailure};
use hook_json::opaque_debug;
use hook_protocol::{FailureCode, RequestInput};
use tokio::sync::{broadcast, mpsc, watch};
use tokio::time::Instant;
use tokio_util::sync::{CancellationToken, DropGuard};
use tokio_util::task::TaskTracker;

use super::connection::{Connection, Link, SUBSCRIPTION, is_unsubscribed};
use super::error::NatsError;
use super::fleet::Fleet;
use super::message;
use super::options::{Broker, NatsOptions};
use super::replies::Replies;
use super::roll_call::EngineStatus;

/// The time that a closing client has to cancel its pending requests at engines.
const CLOSE_TIMEOUT: Duration = Duration::from_secs(1);

/// The delay before another attempt to subscribe to replies, after the broker refused it.
const RESUBSCRIBE_DELAY: Duration = Duration::from_secs(5);

/// A message type that engines publish for remote subscribers.
pub trait FleetMessage: hook_bus::Message {}

impl FleetMessage for HookExecutionResponse {}
impl FleetMessage for HookProgress {}

/// The bus of a fleet's clients: engines behind a broker serve its requests. A request that no
/// engine answers is answered locally, and blocks ([`NatsOptions::fail_behavior`]).
///
/// Hooks run at least once: if an engine is lost with a request, the request is sent again, with
/// the same correlation id and the same `idempotencyKey` in the input.
///
/// ```no_run
/// use hook_protocol::{BeforeToolInput, ToolName};
/// use hook_json::RawObject;
/// use hook_remote::nats::{NatsBus, NatsOptions};
/// # async fn example() -> Result<(), Box<dyn std::error::Error>> {
///
/// let options = NatsOptions::new("tls://broker.example:4222").credentials("agent.creds");
/// let bus = NatsBus::with(options)?;
/// let input = BeforeToolInput::new(ToolName::new("run_shell_command")?, RawObject::empty());
/// let result = bus.fire_before_tool(input).await;
/// assert!(!result.is_blocking_decision());
/// # Ok(())
/// # }
/// ```
pub struct NatsBus {
    bus: MessageBus,
    served: RemoteServing,
    fleet: Arc<Fleet>,
    /// The bus of the engines' events, for local subscribers.
    events: MessageBus,
    follow: watch::Sender<bool>,
    following: watch::Receiver<bool>,
    tasks: TaskTracker,
    _end: DropGuard,
}

impl NatsBus {
    /// Creates a bus behind a broker, with default options. The connection is made in the
    /// background; requests wait for it until their deadlines.
    ///
    /// # Errors
    /// Fails if the broker may not be used with these options.
    ///
    /// # Panics
    /// Panics outside of a tokio runtime.
    pub fn connect(url: impl Into<String>) -> Result<Self, NatsError> {
        Self::with(NatsOptions::new(url))
    }

    /// Creates a bus as [`connect`](Self::connect) does, with options.
    ///
    /// # Errors
    /// Also fails if the credentials cannot be used.
    ///
    /// # Panics
    /// Panics outside of a tokio runtime.
    pub fn with(options: NatsOptions) -> Result<Self, NatsError> {
        let broker = options.check()?;
        let (replies, cancels) = Replies::new(&broker);
        let connection = Connection::open(broker.clone(), "hook-asker", SUBSCRIPTION);
        let away = Link::Down { why: None, refused: false };
        let (ready, is_ready) = watch::channel(away);
        let (follow, wanted) = watch::channel(false);
        let (followed, following) = watch::channel(false);
        let events = MessageBus::new();
        let mut listener = Listener {
            broker: broker.clone(),
            link: connection.link(),
            unsubscribed: connection.unsubscribed(),
            ready,
            replies: Arc::clone(&replies),
            cancels,
            pending_cancel: None,
            is_wanted: wanted,
            followed,
            events: events.clone(),
        };
        let (tasks, stop) = (TaskTracker::new(), CancellationToken::new());
        let stopped = stop.clone();
        tasks.spawn(async move {
            tokio::select! {
                () = stopped.cancelled() => {}
                () = listener.listen() => {}
            }
            listener.end().await;
        });
        let fleet = Arc::new(Fleet::new(broker, connection, is_ready, replies, &options));
        let bus = MessageBus::new();
        let served = bus.serve_remotely(Arc::clone(&fleet) as _);
        // Cannot fail, since the bus is new.
        let served = served.map_err(|error| NatsError::InvalidBroker {
            text: fleet.broker.to_string(),
            why: error.to_string(),
        })?;
        let _end = stop.drop_guard();
        Ok(Self { bus, served, fleet, events, follow, following, tasks, _end })
    }

    /// Returns the underlying bus, with the functions of a bus in the same process. Its subscribers
    /// see this bus's requests and their responses.
    pub fn bus(&self) -> &MessageBus {
        &self.bus
    }

    /// Sends a request to the fleet, and returns the response.
    ///
    /// # Cancellation
    /// Dropping the future ends the request's hooks.
    pub async fn request(&self, request: HookExecutionRequest) -> HookExecutionResponse {
        self.bus.request(request).await
    }

    /// Publishes a request, which a task of the bus sends; see [`MessageBus::publish`].
    ///
    /// # Errors
    /// Fails if the request is not accepted.
    pub async fn publish(
        &self,
        request: HookExecutionRequest,
    ) -> Result<PublishedRequest, PublishError> {
        self.bus.publish(request).await
    }

    /// Subscribes to messages of all engines that run with `--nats-events`, for requests of any
    /// client, from now on.
    ///
    /// # Errors
    /// Fails if there is no connection in time.
    pub async fn subscribe<M: FleetMessage>(&self) -> Result<Subscription<M>, StageFailure> {
        let subscription = self.events.subscribe();
        self.follow.send_replace(true);
        let (deadline, mut following) = (self.fleet.deadline(), self.following.clone());
        let following = following.wait_for(|following| *following);
        // The result holds a lock, which the listener would wait for.
        let is_followed = matches!(tokio::time::timeout(deadline, following).await, Ok(Ok(_)));
        if !is_followed {
            self.fleet.up(Instant::now()).await?;
            let message = format!("failed to follow the engines at {}", self.fleet.broker);
            return Err(StageFailure::new(FailureCode::DeadlineExceeded, message));
        }
        self.fleet.round_trip().await?;
        Ok(subscription)
    }

    /// Fires an event: sends a request to the fleet, and returns the result. Never fails: an error
    /// is the result's `failure`.
    ///
    /// # Cancellation
    /// As [`request`](Self::request).
    pub fn fire(
        &self,
        input: impl Into<RequestInput>,
    ) -> impl Future<Output = ProcessedHookResult> + Send {
        let request = HookExecutionRequest::typed(input);
        async move { self.request(request).await.processed }
    }

    /// Returns the engines that answer within the given time, by id.
    ///
    /// # Errors
    /// Fails if there is no connection in time, or if the broker does not permit the request.
    pub async fn engines(&self, timeout: Duration) -> Result<Vec<EngineStatus>, StageFailure> {
        self.fleet.roll_call(timeout).await
    }

    /// Shuts the bus down. Later requests are answered `shutting_down`, and so are those without a
    /// response by the deadline.
    pub async fn shutdown(&self, deadline: Duration) {
        self.served.shutdown(deadline).await;
    }

    /// Shuts the bus down as [`shutdown`](Self::shutdown) does, and closes the connection.
    pub async fn close(self, deadline: Duration) {
        self.shutdown(deadline).await;
        let Self { tasks, _end, .. } = self;
        drop(_end);
        tasks.close();
        tasks.wait().await;
    }
}

hook_bus::fire_functions!(NatsBus);

opaque_debug!(NatsBus);

/// The task that receives replies, and cancels requests at engines.
struct Listener {
    broker: Broker,
    link: watch::Receiver<Link>,
    /// The broker's refused subscriptions.
    unsubscribed: broadcast::Receiver<Arc<str>>,
    ready: watch::Sender<Link>,
    replies: Arc<Replies>,
    cancels: mpsc::Receiver<String>,
    /// The reply subject of the cancellation that is being sent.
    pending_cancel: Option<String>,
    is_wanted: watch::Receiver<bool>,
    followed: watch::Sender<bool>,
    events: MessageBus,
}

/// The subscriptions of one connection.
#[derive(Default)]
struct Subscriptions {
    /// The number of the connection's client.
    number: u64,
    replies: Option<Subscriber>,
    events: Option<Subscriber>,
    /// The time of the next attempt, after the broker refused the subscription to replies.
    retry_at: Option<Instant>,
}

impl Listener {
    async fn listen(&mut self) {
        let mut subscriptions = Subscriptions::default();
        self.link.mark_changed();
        loop {
            tokio::select! {
                biased;
                changed = self.link.changed() => {
                    if changed.is_err() {
                        return;
                    }
                    let link = self.link.borrow_and_update().clone();
                    self.handle_link(link, &mut subscriptions).await;
                }
                changed = self.is_wanted.changed() => {
                    if changed.is_err() {
                        return;
                    }
                    let link = self.link.borrow().clone();
                    self.handle_link(link, &mut subscriptions).await;
                }
                Ok(text) = self.unsubscribed.recv() => {
                    if is_unsubscribed(&text, &self.replies.wildcard()) {
                        self.replies.set_refusal(Some(text));
                        subscriptions.retry_at = Some(Instant::now() + RESUBSCRIBE_DELAY);
                    }
                }
                () = wait_until(subscriptions.retry_at) => {
                    let link = self.link.borrow().clone();
                    (subscriptions.retry_at, subscriptions.replies) = (None, None);
                    self.handle_link(link, &mut subscriptions).await;
                }
                message = next(&mut subscriptions.replies) => match message {
                    Some(message) => self.replies.dispatch(message),
                    None => subscriptions.replies = None,
                },
                message = next(&mut subscriptions.events) => match message {
                    Some(message) => self.relay(&message),
                    None => subscriptions.events = None,
                },
                Some(reply) = self.cancels.recv() => {
                    self.pending_cancel = Some(reply);
                    self.cancel().await;
                }
            }
        }
    }

    /// Makes missing subscriptions, and reports the connection as ready.
    async fn handle_link(&mut self, link: Link, subscriptions: &mut Subscriptions) {
        if let Link::Up { client, number, .. } = &link {
            if subscriptions.number != *number {
                *subscriptions = Subscriptions { number: *number, ..Subscriptions::default() };
            }
            if subscriptions.replies.is_none() {
                // Until the broker refuses it.
                self.replies.set_refusal(None);
            }
            let subjects = &self.broker.subjects;
            let subscribed = async {
                subscribe(client, &mut subscriptions.replies, || self.replies.wildcard()).await?;
                if *self.is_wanted.borrow_and_update() {
                    subscribe(client, &mut subscriptions.events, || subjects.all_events()).await?;
                    self.followed.send_replace(true);
                }
                Ok(())
            };
            let subscribed: Result<(), String> = subscribed.await;
            if let Err(why) = subscribed {
                let why = Some(why.into());
                self.ready.send_replace(Link::Down { why, refused: false });
                return;
            }
        }
        self.ready.send_replace(link);
    }

    fn relay(&self, message: &Message) {
        let text = &message.payload;
        if let Ok(response) = HookExecutionResponse::from_json(text) {
            self.events.relay(Arc::new(response));
        } else if let Ok(progress) = HookProgress::from_json(text) {
            self.events.relay(Arc::new(progress));
        } else {
            tracing::warn!(
                target: "hook::nats",
                bytes = text.len(),
                "messages of an engine are missing, or one is none that is known here"
            );
        }
    }

    /// Sends one cancellation. It stays pending until then, since the future may be dropped before.
    async fn cancel(&mut self) {
        let link = self.ready.borrow().clone();
        if let (Link::Up { client, .. }, Some(reply)) = (link, &self.pending_cancel) {
            let line = Bytes::from(message::cancel(reply));
            // An engine that misses it goes on until the deadline.
            let _ = client.publish(self.broker.subjects.cancel(), line).await;
        }
        self.pending_cancel = None;
    }

    /// Sends all pending cancellations before the connection ends.
    async fn end(mut self) {
        let Link::Up { client, .. } = self.ready.borrow().clone() else { return };
        let notify = async {
            self.cancel().await;
            while let Ok(reply) = self.cancels.try_recv() {
                self.pending_cancel = Some(reply);
                self.cancel().await;
            }
            client.flush().await
        };
        if !matches!(tokio::time::timeout(CLOSE_TIMEOUT, notify).await, Ok(Ok(()))) {
            tracing::warn!(
                target: "hook::nats",
                "engines may not have been told of requests for which nobody waits any more; they end with \
                 their deadlines"
            );
        }
    }
}

async fn subscribe(
    client: &Client,
    subscriber: &mut Option<Subscriber>,
    subject: impl FnOnce() -> String,
) -> Result<(), String> {
    if subscriber.is_none() {
        let subscribed = client.subscribe(subject()).await;
        *subscriber = Some(subscribed.map_err(|error| error.to_string())?);
    }
    Ok(())
}

async fn wait_until(instant: Option<Instant>) {
    match instant {
        Some(instant) => tokio::time::sleep_until(instant).await,
        None => std::future::pending().await,
    }
}

async fn next(subscriber: &mut Option<Subscriber>) -> Option<Message> {
    match subscriber {
        Some(subscriber) => subscriber.next().await,
        None => std::future::pending().await,
    }
}

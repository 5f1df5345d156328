//! An engine of a fleet: it joins the queue group, takes requests that it can run, and leaves.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, SystemTime};

use async_nats::{Client, Message, Subject, Subscriber};
use futures::StreamExt;
use futures::stream::{SelectAll, select_all};
use hook_bus::HookSystem;
use hook_json::RawJson;
use hook_json::text::shortened;
use tokio::sync::{broadcast, mpsc, watch};
use tokio::time::MissedTickBehavior;
use tokio_util::sync::CancellationToken;
use tokio_util::task::{AbortOnDropHandle, TaskTracker};

use super::admission::{Admission, Counts, Rejected};
use super::connection::{Connection, Link, SUBSCRIPTION, is_unsubscribed, jittered, mentions};
use super::credentials::Credentials;
use super::error::NatsError;
use super::events::Events;
use super::fitness::Fitness;
use super::message::{self, EngineState};
use super::options::{Broker, NatsOptions, QUEUE_GROUP};
use super::serving::{Server, send_reply};
use super::status::Status;
use super::subjects::is_token;
use super::{group, own_fleet};

/// The maximum number of unsent short replies, for requests that are rejected or already running.
const MAX_QUEUED_REPLIES: usize = 8_192;

/// The timeout of the broker for joining and leaving.
const GRACE: Duration = Duration::from_secs(5);

/// The interval of checks whether the hooks permit the engine to decide.
const CHECK_INTERVAL: Duration = Duration::from_secs(1);

/// The minimum and maximum delay between two attempts to join.
const JOIN_BACKOFF: (Duration, Duration) = (Duration::from_secs(1), Duration::from_secs(30));

/// An engine of a fleet.
#[derive(Debug)]
#[must_use]
pub struct NatsEngine {
    broker: Broker,
    group: String,
    waiting: Option<usize>,
    unread: usize,
    events: bool,
    may_be_empty: bool,
    /// The status, once it serves.
    status: Arc<OnceLock<Arc<Status>>>,
}

/// The fleet metrics of an engine while it serves.
#[cfg(feature = "metrics")]
#[derive(Debug)]
struct StatusMetrics(Arc<OnceLock<Arc<Status>>>);

#[cfg(feature = "metrics")]
impl crate::metrics::FleetMetrics for StatusMetrics {
    fn snapshot(&self) -> Option<crate::metrics::FleetSnapshot> {
        self.0.get().map(|status| status.snapshot())
    }
}

impl NatsEngine {
    /// Creates an engine. It connects when it [serves](Self::serve).
    ///
    /// # Errors
    /// Fails if the options do not permit the broker, or if the credentials cannot be used.
    pub fn new(options: &NatsOptions) -> Result<Self, NatsError> {
        let group = QUEUE_GROUP.to_owned();
        Ok(Self {
            broker: options.check()?,
            group,
            waiting: None,
            unread: SUBSCRIPTION,
            events: false,
            may_be_empty: false,
            status: Arc::default(),
        })
    }

    /// Sets the queue group; `engines` by default. Each request goes to one engine of the group.
    /// All engines of a subject must be in one group: an engine does not start to serve beside
    /// another group.
    ///
    /// # Errors
    /// Fails if it is not a valid name.
    pub fn queue_group(mut self, group: &str) -> Result<Self, NatsError> {
        if !is_token(group) {
            return Err(NatsError::InvalidQueueGroup { text: shortened(group) });
        }
        group.clone_into(&mut self.group);
        Ok(self)
    }

    /// Sets the maximum number of waiting requests; by default the number that may run
    /// ([`BusLimits::in_flight`](hook_bus::BusLimits::in_flight)). Beyond it the engine reports
    /// that it is busy.
    pub fn waiting(mut self, requests: usize) -> Self {
        self.waiting = Some(requests);
        self
    }

    /// Sets the maximum number of received requests that are not read yet; 4,096 by default.
    /// Further ones are lost and counted in the status; their clients send them again.
    pub fn unread(mut self, requests: usize) -> Self {
        self.unread = requests.max(1);
        self
    }

    /// Sets whether responses and progress are published for remote subscribers.
    pub fn events(mut self, events: bool) -> Self {
        self.events = events;
        self
    }

    /// Sets whether the engine joins without hooks that run, or with untrusted hooks; `false` by
    /// default. Events which those hooks should guard are then approved.
    pub fn may_be_empty(mut self, may_be_empty: bool) -> Self {
        self.may_be_empty = may_be_empty;
        self
    }

    /// Returns the fleet metrics, for a [`MetricsServer`](crate::metrics::MetricsServer).
    #[cfg(feature = "metrics")]
    pub fn metrics(&self) -> Arc<dyn crate::metrics::FleetMetrics> {
        Arc::new(StatusMetrics(Arc::clone(&self.status)))
    }

    /// Serves until `stop`, then leaves the group, finishes its requests and returns. Messages for
    /// people go to `notices`; if that is full, to the log only. An engine that loses its right to
    /// serve later joins again when it can, and is out of the group while its settings are unfit.
    /// From now on the system refuses guards of clients, which other engines would not have.
    ///
    /// # Errors
    /// Fails before the first request if the broker rejects the engine or its subscription, if
    /// engines of another queue group serve, if the settings name the own fleet as `upstream` or
    /// differ from the expected ones, if clients have registered guards, or if there are no hooks or
    /// untrusted ones without [`may_be_empty`](Self::may_be_empty).
    pub async fn serve(
        self,
        system: &Arc<HookSystem>,
        stop: &CancellationToken,
        notices: &mpsc::Sender<String>,
    ) -> Result<(), NatsError> {
        let Self { broker, group, waiting, unread, events, may_be_empty, status: shared_status } =
            self;
        // First, so that no guard is registered before.
        if let Err(present) = system.live_clients().refuse_guards() {
            return Err(NatsError::Unfit { why: present.to_string() });
        }
        own_fleet::refuse(system, &broker)?;
        let fitness = Arc::new(Fitness::new(system, may_be_empty, broker.expected.clone()));
        if let Some(why) = fitness.problem() {
            return Err(NatsError::Unfit { why: why.to_string() });
        }
        let may_run = system.bus().limits().in_flight;
        let server = Arc::new(Server {
            system: Arc::clone(system),
            requests: system.bus().client(None),
            id: uuid::Uuid::new_v4().simple().to_string(),
            subjects: broker.subjects.clone(),
            fitness,
        });
        let admission = Admission::new(may_run, waiting.unwrap_or(may_run));
        let connection = Connection::open(broker.clone(), "hook-engine", unread);
        let status = Arc::new(Status {
            server: Arc::clone(&server),
            admission: Arc::clone(&admission),
            subjects: broker.subjects.clone(),
            group: group.as_str().into(),
            started: SystemTime::now(),
            dropped: connection.dropped_messages(),
            is_leaving: AtomicBool::new(false),
            is_serving: AtomicBool::new(false),
        });
        let _ = shared_status.set(Arc::clone(&status));
        let publish_stop = CancellationToken::new();
        // Independent of requests: events that exceed its queues are counted, not awaited.
        let publishing = events.then(|| {
            let events = Events::of(system, broker.subjects.clone(), Arc::clone(&admission));
            let publishing = events.publish(connection.link(), publish_stop.clone());
            AbortOnDropHandle::new(tokio::spawn(publishing))
        });
        let tasks = TaskTracker::new();
        let user = broker.credentials.as_ref().map(Credentials::public_key);
        let reply_subject = format!("{}.{}", broker.subjects.replies(user), server.id);
        let mut member =
            Member { broker, server, admission, status, tasks, notices, answers: reply_subject };
        let ended = member.run(&connection, stop).await;
        publish_stop.cancel();
        if let Some(publishing) = publishing {
            let _ = tokio::time::timeout(GRACE, publishing).await;
        }
        connection.close().await;
        ended
    }
}

/// The subscriptions of an engine.
struct Subscriptions {
    requests: Subscriber,
    cancels: Subscriber,
    /// Status requests.
    queries: SelectAll<Subscriber>,
}

/// The reason why an engine did not join.
enum JoinError {
    /// The broker or the group does not permit it.
    Refused(NatsError),
    /// Any other failure.
    Failed(String),
}

/// The reason why an engine stopped serving.
enum ServeEnd {
    /// It was stopped, and has left.
    Stopped,
    /// The library has given up the connection.
    Disconnected,
    /// The broker no longer permits it to take requests.
    Refused(NatsError),
    /// Its hooks no longer permit it to decide.
    Unfit(Arc<str>),
}

/// A short reply that no task waits for.
type QueuedReply = (Subject, Vec<u8>);

/// An engine that serves.
struct Member<'n> {
    broker: Broker,
    server: Arc<Server>,
    admission: Arc<Admission>,
    status: Arc<Status>,
    tasks: TaskTracker,
    notices: &'n mpsc::Sender<String>,
    /// The reply subject for this engine's own requests.
    answers: String,
}

impl Member<'_> {
    async fn run(
        &mut self,
        connection: &Connection,
        stop: &CancellationToken,
    ) -> Result<(), NatsError> {
        let (mut has_served, mut wait, mut link) = (false, JOIN_BACKOFF.0, connection.link());
        // The last client.
        let mut last = None;
        loop {
            let client = tokio::select! {
                biased;
                () = stop.cancelled() => break,
                client = self.wait_connected(&mut link) => client,
            };
            let client = match client {
                Ok(client) => client,
                Err(error) if !has_served => return Err(error),
                Err(error) => {
                    self.announce(error.to_string());
                    tokio::select! {
                        () = stop.cancelled() => break,
                        _ = link.changed() => continue,
                    }
                }
            };
            last = Some(client.clone());
            let mut unsubscribed = connection.unsubscribed();
            let joined = tokio::select! {
                biased;
                () = stop.cancelled() => break,
                joined = self.join(&client, connection, &mut unsubscribed, !has_served) => joined,
            };
            let why = match joined {
                Ok(subscriptions) => {
                    (has_served, wait) = (true, JOIN_BACKOFF.0);
                    let (id, requests) = (&self.server.id, self.status.subjects.requests());
                    let settings = self.server.system.settings_hash();
                    let settings = settings.map(|hash| format!(", settings {hash}"));
                    self.announce(format!(
                        "serving {requests} at {} as engine {id}{}",
                        self.broker,
                        settings.unwrap_or_default()
                    ));
                    self.status.is_serving.store(true, Ordering::Relaxed);
                    let ended = self
                        .serve(&client, subscriptions, (&mut link, &mut unsubscribed), stop)
                        .await;
                    self.status.is_serving.store(false, Ordering::Relaxed);
                    match ended {
                        ServeEnd::Stopped => return Ok(()),
                        ServeEnd::Disconnected => continue,
                        ServeEnd::Refused(why) => why.to_string(),
                        ServeEnd::Unfit(why) => {
                            self.announce(format!("left the fleet: {why}"));
                            tokio::select! {
                                () = stop.cancelled() => break,
                                () = self.until_fit() => {
                                    self.status.is_leaving.store(false, Ordering::Relaxed);
                                    continue;
                                }
                            }
                        }
                    }
                }
                Err(JoinError::Refused(why)) if !has_served => return Err(why),
                Err(JoinError::Refused(why)) => why.to_string(),
                Err(JoinError::Failed(why)) => {
                    format!("failed to join the engines at {}: {why}", self.broker)
                }
            };
            self.announce(format!("{why}; trying again in {} s", wait.as_secs()));
            tokio::select! {
                () = stop.cancelled() => break,
                () = tokio::time::sleep(jittered(wait)) => wait = (wait * 2).min(JOIN_BACKOFF.1),
                _ = link.changed() => {}
            }
        }
        if let Some(client) = last {
            self.finish(&client).await;
        }
        Ok(())
    }

    /// Waits until the engine's hooks permit it to decide again.
    async fn until_fit(&self) {
        let mut checks = tokio::time::interval(CHECK_INTERVAL);
        checks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            checks.tick().await;
            if self.server.fitness.problem().is_none() {
                return;
            }
        }
    }

    fn refused(&self, why: &str) -> NatsError {
        NatsError::NotAllowed {
            broker: self.broker.to_string(),
            subject: self.status.subjects.requests(),
            why: why.to_owned(),
        }
    }

    /// Waits for a connection, and reports the reason of a delay.
    async fn wait_connected(&self, link: &mut watch::Receiver<Link>) -> Result<Client, NatsError> {
        let mut last_notice = String::new();
        loop {
            let away = match &*link.borrow_and_update() {
                Link::Down { why: Some(why), refused: false } => {
                    Some(format!("{} cannot be reached ({why}); trying on", self.broker))
                }
                Link::Down { why: None, .. } => None,
                settled => return settled.client(&self.broker),
            };
            if let Some(text) = away.filter(|text| *text != last_notice) {
                self.announce(text.clone());
                last_notice = text;
            }
            if link.changed().await.is_err() {
                // Only the caller ends the connection.
                std::future::pending::<()>().await;
            }
        }
    }

    async fn join(
        &self,
        client: &Client,
        connection: &Connection,
        unsubscribed: &mut broadcast::Receiver<Arc<str>>,
        is_first: bool,
    ) -> Result<Subscriptions, JoinError> {
        let mut refusals = connection.refusals();
        if is_first {
            self.check_group(client, &mut refusals).await?;
        }
        let subscriptions = self.subscribe(client).await;
        let mut subscriptions =
            subscriptions.map_err(|error| JoinError::Failed(error.to_string()))?;
        let (requests, engines) = (self.status.subjects.requests(), self.status.subjects.engines());
        // The broker handles commands in order: after its own status, the engine is in the group or
        // refused. A refusal arrives on another channel, so a second round trip gives it time.
        let mut own_reports = 0;
        self.status.report(client, EngineState::Serving).await;
        let settled = async {
            loop {
                tokio::select! {
                    biased;
                    Ok(text) = unsubscribed.recv() => {
                        if is_unsubscribed(&text, &requests) {
                            return Err(JoinError::Refused(self.refused(&text)));
                        }
                        self.warn_refused(&text);
                    }
                    Ok(text) = refusals.recv() => if mentions(&text, &engines) {
                        // The engine cannot receive its own status, but this message came after any
                        // earlier refusal.
                        self.announce(format!("{} lets nobody hear how this engine is: {text}", self.broker));
                        return Ok(());
                    },
                    message = subscriptions.queries.next() => match message {
                        Some(message) if self.is_own(&message) => {
                            if own_reports > 0 {
                                return Ok(());
                            }
                            own_reports += 1;
                            self.status.report(client, EngineState::Serving).await;
                        }
                        Some(message) => self.status.answer(client, &message).await,
                        None => return Err(JoinError::Failed("the connection is lost".to_owned())),
                    }
                }
            }
        };
        match tokio::time::timeout(GRACE, settled).await {
            Ok(settled) => settled.map(|()| subscriptions),
            Err(_) => Err(JoinError::Failed("the broker does not answer".to_owned())),
        }
    }

    /// Checks that engines which already serve are in the same group.
    async fn check_group(
        &self,
        client: &Client,
        refusals: &mut broadcast::Receiver<Arc<str>>,
    ) -> Result<(), JoinError> {
        let engines = self.status.subjects.engines();
        let group_of_others = group::find(client, engines, self.answers.clone(), refusals).await;
        match group_of_others.map_err(JoinError::Failed)? {
            Some(other) if *other != *self.status.group => {
                Err(JoinError::Refused(NatsError::OtherGroup {
                    broker: self.broker.to_string(),
                    subject: self.status.subjects.requests(),
                    group: self.status.group.to_string(),
                    other: shortened(&other),
                }))
            }
            _ => Ok(()),
        }
    }

    async fn subscribe(
        &self,
        client: &Client,
    ) -> Result<Subscriptions, async_nats::SubscribeError> {
        let subjects = &self.status.subjects;
        let group = self.status.group.to_string();
        // Subscribed first, so that its refusal arrives before everything else.
        let requests = client.queue_subscribe(subjects.requests(), group).await?;
        let cancels = client.subscribe(subjects.cancel()).await?;
        let mut queries = Vec::new();
        for subject in self.status.service_subjects() {
            queries.push(client.subscribe(subject).await?);
        }
        queries.push(client.subscribe(subjects.engines()).await?);
        Ok(Subscriptions { requests, cancels, queries: select_all(queries) })
    }

    /// Returns `true` if a message is this engine's own status.
    fn is_own(&self, message: &Message) -> bool {
        let fields = message::fields_of(&message.payload).unwrap_or_default();
        fields.get("id").and_then(RawJson::to_text).is_some_and(|id| id == self.server.id)
    }

    /// Serves over one connection.
    async fn serve(
        &self,
        client: &Client,
        subscriptions: Subscriptions,
        (link, unsubscribed): (&mut watch::Receiver<Link>, &mut broadcast::Receiver<Arc<str>>),
        stop: &CancellationToken,
    ) -> ServeEnd {
        let Subscriptions { mut requests, mut cancels, queries: asked } = subscriptions;
        // Short replies are sent by a task of their own, so that reading never waits for them.
        let (replies, queued) = mpsc::channel(MAX_QUEUED_REPLIES);
        let _sender = AbortOnDropHandle::new(tokio::spawn(send_all(client.clone(), queued)));
        let status = Arc::clone(&self.status);
        let _reporter = AbortOnDropHandle::new(tokio::spawn(status.run(client.clone(), asked)));
        let own = self.status.subjects.requests();
        let mut checks = tokio::time::interval(CHECK_INTERVAL);
        checks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            if let Some(why) = self.server.fitness.problem() {
                self.drain_requests(client, &mut requests, &replies).await;
                return ServeEnd::Unfit(why);
            }
            tokio::select! {
                () = stop.cancelled() => break,
                message = requests.next() => match message {
                    Some(message) => self.accept(client, message, &replies),
                    None => return ServeEnd::Disconnected,
                },
                Some(message) = cancels.next() => self.cancel(&message),
                Ok(text) = unsubscribed.recv() => {
                    if is_unsubscribed(&text, &own) {
                        return ServeEnd::Refused(self.refused(&text));
                    }
                    self.warn_refused(&text);
                }
                Ok(()) = link.changed() => self.report_link(link),
                // The settings may have changed.
                _ = checks.tick() => {}
            }
        }
        self.leave(client, &mut requests, &mut cancels, &replies).await;
        ServeEnd::Stopped
    }

    /// Leaves the group while unfit, and lets other engines take the requests that still arrive.
    async fn drain_requests(
        &self,
        client: &Client,
        requests: &mut Subscriber,
        asides: &mpsc::Sender<QueuedReply>,
    ) {
        self.status.is_leaving.store(true, Ordering::Relaxed);
        self.status.is_serving.store(false, Ordering::Relaxed);
        let leaving = async {
            self.status.report(client, EngineState::Draining).await;
            if requests.drain().await.is_ok() {
                while let Some(message) = requests.next().await {
                    self.accept(client, message, asides);
                }
            }
        };
        let _ = tokio::time::timeout(GRACE, leaving).await;
    }

    /// Leaves the group and finishes the taken requests.
    async fn leave(
        &self,
        client: &Client,
        requests: &mut Subscriber,
        cancels: &mut Subscriber,
        asides: &mpsc::Sender<QueuedReply>,
    ) {
        let (running, waiting) = self.admission.load();
        self.announce(format!(
            "leaving the fleet; {} requests are finished first",
            running + waiting
        ));
        self.status.is_leaving.store(true, Ordering::Relaxed);
        let leaving = async {
            self.status.report(client, EngineState::Draining).await;
            requests.drain().await.is_ok()
        };
        let mut has_drained = !tokio::time::timeout(GRACE, leaving).await.unwrap_or_default();
        let grace = tokio::time::sleep(GRACE);
        tokio::pin!(grace);
        self.tasks.close();
        let mut done = Box::pin(self.tasks.wait());
        loop {
            tokio::select! {
                biased;
                message = requests.next(), if !has_drained => match message {
                    // The request was in flight when the engine left.
                    Some(message) => self.accept(client, message, asides),
                    None => has_drained = true,
                },
                () = &mut grace, if !has_drained => has_drained = true,
                Some(message) = cancels.next() => self.cancel(&message),
                () = &mut done, if has_drained => break,
            }
        }
        self.report_ended(client).await;
    }

    /// Finishes the taken requests of an engine that is not in the group any more.
    async fn finish(&self, client: &Client) {
        self.tasks.close();
        self.tasks.wait().await;
        self.report_ended(client).await;
    }

    async fn report_ended(&self, client: &Client) {
        let report = async {
            self.status.report(client, EngineState::Ended).await;
            client.flush().await
        };
        let _ = tokio::time::timeout(GRACE, report).await;
    }

    /// Takes a request, or replies why not.
    fn accept(&self, client: &Client, message: Message, replies: &mpsc::Sender<QueuedReply>) {
        let Some(reply) = message.reply.clone() else {
            tracing::warn!(
                target: "hook::nats",
                subject = %shortened(&message.subject),
                "a request that wants no response is not served"
            );
            return;
        };
        if self.status.subjects.user_of_reply(&reply).is_none() {
            tracing::warn!(
                target: "hook::nats",
                reply = %shortened(&reply),
                "a request that wants its response elsewhere than below {}.reply is not served",
                self.status.subjects.prefix()
            );
            return;
        }
        if self.server.fitness.problem().is_some() {
            // Another engine may take it.
            Counts::add(&self.admission.counts.busy);
            let _ = replies.try_send((reply, message::busy()));
            return;
        }
        let reply_line = match self.admission.admit(&reply, message.payload.len()) {
            Ok(admitted) => {
                self.tasks.spawn(Arc::clone(&self.server).serve(client.clone(), message, admitted));
                return;
            }
            Err(Rejected::Busy) => {
                Counts::add(&self.admission.counts.busy);
                Some(message::busy())
            }
            Err(Rejected::Duplicate) => message::still_working(&message.payload),
        };
        if let Some(line) = reply_line {
            // A client that gets no reply sends its request again.
            let _ = replies.try_send((reply, line));
        }
    }

    fn cancel(&self, message: &Message) {
        if let Some(reply) = message::cancelled(&message.payload) {
            self.admission.cancel(&reply);
        }
    }

    fn warn_refused(&self, why: &str) {
        self.announce(format!("{} does not let this engine hear all: {why}", self.broker));
    }

    fn report_link(&self, link: &mut watch::Receiver<Link>) {
        let link = link.borrow_and_update();
        self.status.is_serving.store(matches!(*link, Link::Up { .. }), Ordering::Relaxed);
        let text = match &*link {
            Link::Up { .. } => format!("connected to {} again", self.broker),
            Link::Down { why, .. } => {
                let why = why.as_deref().unwrap_or("it is being connected");
                format!("{} is away ({why}); trying on", self.broker)
            }
        };
        self.announce(text);
    }

    fn announce(&self, text: String) {
        tracing::info!(target: "hook::nats", "{text}");
        // Messages for people may be dropped.
        let _ = self.notices.try_send(text);
    }
}

/// Sends short replies until the channel is closed.
async fn send_all(client: Client, mut queued: mpsc::Receiver<QueuedReply>) {
    while let Some((reply, line)) = queued.recv().await {
        send_reply(&client, &reply, line).await;
    }
}

//! An engine of a fleet: it joins the queue group, takes what it can run, and leaves when told to.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, SystemTime};

use async_nats::{Client, Message, Subject, Subscriber};
use futures::StreamExt;
use futures::stream::{SelectAll, select_all};
use hook_bus::HookSystem;
use hook_core::RawJson;
use hook_core::text::shortened;
use tokio::sync::{broadcast, mpsc, watch};
use tokio::time::MissedTickBehavior;
use tokio_util::sync::CancellationToken;
use tokio_util::task::{AbortOnDropHandle, TaskTracker};

use super::connection::{Connection, Link, SUBSCRIPTION, is_about, is_unsubscribed, jittered};
use super::credentials::Credentials;
use super::error::NatsError;
use super::events::Events;
use super::fitness::Fitness;
use super::group;
use super::message::{self, EngineState};
use super::options::{Broker, NatsOptions, QUEUE_GROUP};
use super::own_fleet;
use super::serving::{Server, say};
use super::status::Status;
use super::subjects::is_token;
use super::taken::{Counts, NotTaken, Taken};

/// How many askers may wait to be told that there is no room, or that their request is at work.
const ASIDES: usize = 8_192;

/// How long the broker may take to say that the engine is there, or has left.
const PATIENCE: Duration = Duration::from_secs(5);

/// How often is looked whether its hooks are such that it may decide.
const LOOKING: Duration = Duration::from_secs(1);

/// How long is waited before the engine tries to join again, at least and at most.
const JOINING: (Duration, Duration) = (Duration::from_secs(1), Duration::from_secs(30));

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
    /// How it is, once it serves.
    status: Arc<OnceLock<Arc<Status>>>,
}

/// The numbers of an engine's part in its fleet, while it serves.
#[cfg(feature = "metrics")]
#[derive(Debug)]
struct Numbers(Arc<OnceLock<Arc<Status>>>);

#[cfg(feature = "metrics")]
impl crate::metrics::FleetNumbers for Numbers {
    fn now(&self) -> Option<crate::metrics::FleetNow> {
        self.0.get().map(|status| status.numbers())
    }
}

impl NatsEngine {
    /// An engine at that broker. Nothing is connected until it [serves](Self::serve).
    ///
    /// # Errors
    /// When the broker may not be used so, or the credentials cannot be.
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

    /// The queue group that it joins: each request goes to one of it. `engines` by default. All engines of a
    /// subject are in one: an engine does not begin to serve where others of another group do.
    ///
    /// # Errors
    /// When it is no name of one.
    pub fn queue_group(mut self, group: &str) -> Result<Self, NatsError> {
        if !is_token(group) {
            return Err(NatsError::NoQueueGroup { text: shortened(group) });
        }
        group.clone_into(&mut self.group);
        Ok(self)
    }

    /// How many requests may wait here for those that run
    /// ([`BusLimits::in_flight`](hook_bus::BusLimits::in_flight)); as many by default. Beyond that it says
    /// that it is busy.
    pub fn waiting(mut self, requests: usize) -> Self {
        self.waiting = Some(requests);
        self
    }

    /// How many requests may have come that the engine has not looked at; 4,096 by default. What comes then is
    /// lost, is counted in its status, and is asked again by whoever asked.
    pub fn unread(mut self, requests: usize) -> Self {
        self.unread = requests.max(1);
        self
    }

    /// Whether responses and progress are published for subscribers elsewhere.
    pub fn events(mut self, events: bool) -> Self {
        self.events = events;
        self
    }

    /// Whether it also joins without hooks that run, or with hooks that nobody has trusted: of what those should
    /// guard against, everything goes on. Not by default.
    pub fn may_be_empty(mut self, may_be_empty: bool) -> Self {
        self.may_be_empty = may_be_empty;
        self
    }

    /// The numbers of its part in the fleet, for a [`MetricsServer`](crate::metrics::MetricsServer).
    #[cfg(feature = "metrics")]
    pub fn numbers(&self) -> Arc<dyn crate::metrics::FleetNumbers> {
        Arc::new(Numbers(Arc::clone(&self.status)))
    }

    /// Serves until `stop`; then it leaves the group, finishes what it has taken, and returns. What people
    /// should know meanwhile goes to `news`; what does not fit there is in the log alone.
    ///
    /// # Errors
    /// When the broker refuses it, or its right to take requests, before it has served anything, or engines of another
    /// queue group are there; when its settings name its own fleet as their `upstream`, are not those that the options
    /// expect, or have no hooks, or hooks that nobody has trusted, and it [may not](Self::may_be_empty) be so. What it loses
    /// later it tries to have back; while its settings are such that it would not join, it is out of the group.
    pub async fn serve(
        self,
        system: &Arc<HookSystem>,
        stop: &CancellationToken,
        news: &mpsc::Sender<String>,
    ) -> Result<(), NatsError> {
        let Self { broker, group, waiting, unread, events, may_be_empty, status: shown } = self;
        own_fleet::refuse(system, &broker)?;
        let fitness = Arc::new(Fitness::new(system, may_be_empty, broker.expected.clone()));
        if let Some(why) = fitness.wrong() {
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
        let taken = Taken::new(may_run, waiting.unwrap_or(may_run));
        let connection = Connection::keep(broker.clone(), "hook-engine", unread);
        let status = Arc::new(Status {
            server: Arc::clone(&server),
            taken: Arc::clone(&taken),
            subjects: broker.subjects.clone(),
            group: group.as_str().into(),
            begun: SystemTime::now(),
            lost: connection.lost(),
            is_leaving: AtomicBool::new(false),
            is_serving: AtomicBool::new(false),
        });
        let _ = shown.set(Arc::clone(&status));
        let told = CancellationToken::new();
        // Nobody waits for it: what does not fit into its queues is counted.
        let publishing = events.then(|| {
            let events = Events::of(system, broker.subjects.clone(), Arc::clone(&taken));
            let publishing = events.publish(connection.link(), told.clone());
            AbortOnDropHandle::new(tokio::spawn(publishing))
        });
        let tasks = TaskTracker::new();
        let user = broker.credentials.as_ref().map(Credentials::public);
        let answers = format!("{}.{}", broker.subjects.replies(user), server.id);
        let mut member = Member { broker, server, taken, status, tasks, news, answers };
        let ended = member.run(&connection, stop).await;
        told.cancel();
        if let Some(publishing) = publishing {
            let _ = tokio::time::timeout(PATIENCE, publishing).await;
        }
        connection.close().await;
        ended
    }
}

/// What an engine hears.
struct Heard {
    requests: Subscriber,
    cancels: Subscriber,
    /// Questions how it is.
    asked: SelectAll<Subscriber>,
}

/// Why an engine takes no requests.
enum NotJoined {
    /// It may not.
    Refused(NatsError),
    /// Something else.
    Failed(String),
}

/// Why an engine serves no more.
enum Ended {
    /// It was told to end, and has left.
    Stopped,
    /// The library has given the connection up.
    Disconnected,
    /// It may not take requests any more.
    Refused(NatsError),
    /// Its hooks are not such that it may decide.
    Unfit(Arc<str>),
}

/// Something to say that nothing waits for.
type Aside = (Subject, Vec<u8>);

/// An engine that serves.
struct Member<'n> {
    broker: Broker,
    server: Arc<Server>,
    taken: Arc<Taken>,
    status: Arc<Status>,
    tasks: TaskTracker,
    news: &'n mpsc::Sender<String>,
    /// Where other engines answer it.
    answers: String,
}

impl Member<'_> {
    async fn run(
        &mut self,
        connection: &Connection,
        stop: &CancellationToken,
    ) -> Result<(), NatsError> {
        let (mut has_served, mut wait, mut link) = (false, JOINING.0, connection.link());
        // The client that it had last.
        let mut last = None;
        loop {
            let client = tokio::select! {
                biased;
                () = stop.cancelled() => break,
                client = self.reached(&mut link) => client,
            };
            let client = match client {
                Ok(client) => client,
                Err(error) if !has_served => return Err(error),
                Err(error) => {
                    self.tell(error.to_string());
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
                Ok(heard) => {
                    (has_served, wait) = (true, JOINING.0);
                    let (id, requests) = (&self.server.id, self.status.subjects.requests());
                    let settings = self.server.system.settings_hash();
                    let settings = settings.map(|hash| format!(", settings {hash}"));
                    self.tell(format!(
                        "serving {requests} at {} as engine {id}{}",
                        self.broker,
                        settings.unwrap_or_default()
                    ));
                    self.status.is_serving.store(true, Ordering::Relaxed);
                    let ended =
                        self.serve(&client, heard, (&mut link, &mut unsubscribed), stop).await;
                    self.status.is_serving.store(false, Ordering::Relaxed);
                    match ended {
                        Ended::Stopped => return Ok(()),
                        Ended::Disconnected => continue,
                        Ended::Refused(why) => why.to_string(),
                        Ended::Unfit(why) => {
                            self.tell(format!("left the fleet: {why}"));
                            tokio::select! {
                                () = stop.cancelled() => break,
                                () = self.until_fit() => continue,
                            }
                        }
                    }
                }
                Err(NotJoined::Refused(why)) if !has_served => return Err(why),
                Err(NotJoined::Refused(why)) => why.to_string(),
                Err(NotJoined::Failed(why)) => {
                    format!("failed to join the engines at {}: {why}", self.broker)
                }
            };
            self.tell(format!("{why}; trying again in {} s", wait.as_secs()));
            tokio::select! {
                () = stop.cancelled() => break,
                () = tokio::time::sleep(jittered(wait)) => wait = (wait * 2).min(JOINING.1),
                _ = link.changed() => {}
            }
        }
        if let Some(client) = last {
            self.finish(&client).await;
        }
        Ok(())
    }

    /// Waits until its hooks are such that it may decide again.
    async fn until_fit(&self) {
        let mut looks = tokio::time::interval(LOOKING);
        looks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            looks.tick().await;
            if self.server.fitness.wrong().is_none() {
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

    /// Waits for a connection, and says what keeps it from being there.
    async fn reached(&self, link: &mut watch::Receiver<Link>) -> Result<Client, NatsError> {
        let mut told = String::new();
        loop {
            let away = match &*link.borrow_and_update() {
                Link::Away { why: Some(why), refused: false } => {
                    Some(format!("{} cannot be reached ({why}); trying on", self.broker))
                }
                Link::Away { why: None, .. } => None,
                settled => return settled.client(&self.broker),
            };
            if let Some(text) = away.filter(|text| *text != told) {
                self.tell(text.clone());
                told = text;
            }
            if link.changed().await.is_err() {
                // The connection is ended by whoever waits here.
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
    ) -> Result<Heard, NotJoined> {
        let mut refusals = connection.refusals();
        if is_first {
            self.look_around(client, &mut refusals).await?;
        }
        let heard = self.subscribe(client).await;
        let mut heard = heard.map_err(|error| NotJoined::Failed(error.to_string()))?;
        let (requests, engines) = (self.status.subjects.requests(), self.status.subjects.engines());
        // The broker takes things in their order: once the engine hears itself, it is in the group, or the
        // broker has said that it may not be. What the broker says comes another way, and has the time of a
        // second turn for it.
        let mut turns = 0;
        self.status.report(client, EngineState::Serving).await;
        let settled = async {
            loop {
                tokio::select! {
                    biased;
                    Ok(text) = unsubscribed.recv() => {
                        if is_unsubscribed(&text, &requests) {
                            return Err(NotJoined::Refused(self.refused(&text)));
                        }
                        self.hears_less(&text);
                    }
                    Ok(text) = refusals.recv() => if is_about(&text, &engines) {
                        // It cannot hear itself then, and this came after what there was to say before.
                        self.tell(format!("{} lets nobody hear how this engine is: {text}", self.broker));
                        return Ok(());
                    },
                    message = heard.asked.next() => match message {
                        Some(message) if self.is_own(&message) => {
                            if turns > 0 {
                                return Ok(());
                            }
                            turns += 1;
                            self.status.report(client, EngineState::Serving).await;
                        }
                        Some(message) => self.status.answer(client, &message).await,
                        None => return Err(NotJoined::Failed("the connection is lost".to_owned())),
                    }
                }
            }
        };
        match tokio::time::timeout(PATIENCE, settled).await {
            Ok(settled) => settled.map(|()| heard),
            Err(_) => Err(NotJoined::Failed("the broker does not answer".to_owned())),
        }
    }

    /// Sees that the engines that are there, if any are, are of its own group.
    async fn look_around(
        &self,
        client: &Client,
        refusals: &mut broadcast::Receiver<Arc<str>>,
    ) -> Result<(), NotJoined> {
        let engines = self.status.subjects.engines();
        let others = group::of_others(client, engines, self.answers.clone(), refusals).await;
        match others.map_err(NotJoined::Failed)? {
            Some(other) if *other != *self.status.group => {
                Err(NotJoined::Refused(NatsError::OtherGroup {
                    broker: self.broker.to_string(),
                    subject: self.status.subjects.requests(),
                    group: self.status.group.to_string(),
                    other: shortened(&other),
                }))
            }
            _ => Ok(()),
        }
    }

    async fn subscribe(&self, client: &Client) -> Result<Heard, async_nats::SubscribeError> {
        let subjects = &self.status.subjects;
        let group = self.status.group.to_string();
        // First, so that what the broker says of it comes before all else.
        let requests = client.queue_subscribe(subjects.requests(), group).await?;
        let cancels = client.subscribe(subjects.cancel()).await?;
        let mut asked = Vec::new();
        for subject in self.status.asked_under() {
            asked.push(client.subscribe(subject).await?);
        }
        asked.push(client.subscribe(subjects.engines()).await?);
        Ok(Heard { requests, cancels, asked: select_all(asked) })
    }

    /// Whether it is what this engine says of itself.
    fn is_own(&self, message: &Message) -> bool {
        let fields = message::fields_of(&message.payload).unwrap_or_default();
        fields.get("id").and_then(RawJson::to_text).is_some_and(|id| id == self.server.id)
    }

    /// Serves over one connection.
    async fn serve(
        &self,
        client: &Client,
        heard: Heard,
        (link, unsubscribed): (&mut watch::Receiver<Link>, &mut broadcast::Receiver<Arc<str>>),
        stop: &CancellationToken,
    ) -> Ended {
        let Heard { mut requests, mut cancels, asked } = heard;
        // Nothing here waits for what is said, so that what comes is looked at as fast as it comes.
        let (asides, said) = mpsc::channel(ASIDES);
        let _saying = AbortOnDropHandle::new(tokio::spawn(say_all(client.clone(), said)));
        let status = Arc::clone(&self.status);
        let _telling = AbortOnDropHandle::new(tokio::spawn(status.tell(client.clone(), asked)));
        let own = self.status.subjects.requests();
        let mut looks = tokio::time::interval(LOOKING);
        looks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            if let Some(why) = self.server.fitness.wrong() {
                self.stand_aside(client, &mut requests, &asides).await;
                return Ended::Unfit(why);
            }
            tokio::select! {
                () = stop.cancelled() => break,
                message = requests.next() => match message {
                    Some(message) => self.take(client, message, &asides),
                    // The library has given the connection up.
                    None => return Ended::Disconnected,
                },
                Some(message) = cancels.next() => self.cancel(&message),
                Ok(text) = unsubscribed.recv() => {
                    if is_unsubscribed(&text, &own) {
                        return Ended::Refused(self.refused(&text));
                    }
                    self.hears_less(&text);
                }
                Ok(()) = link.changed() => self.say_how_it_is(link),
                // Its settings may have been read again.
                _ = looks.tick() => {}
            }
        }
        self.leave(client, &mut requests, &mut cancels, &asides).await;
        Ended::Stopped
    }

    /// Leaves the group, and has others take what comes meanwhile.
    async fn stand_aside(
        &self,
        client: &Client,
        requests: &mut Subscriber,
        asides: &mpsc::Sender<Aside>,
    ) {
        let leaving = async {
            self.status.report(client, EngineState::Draining).await;
            if requests.drain().await.is_ok() {
                while let Some(message) = requests.next().await {
                    self.take(client, message, asides);
                }
            }
        };
        let _ = tokio::time::timeout(PATIENCE, leaving).await;
    }

    /// Leaves the group, and finishes what was taken.
    async fn leave(
        &self,
        client: &Client,
        requests: &mut Subscriber,
        cancels: &mut Subscriber,
        asides: &mpsc::Sender<Aside>,
    ) {
        let (running, waiting) = self.taken.now();
        self.tell(format!("leaving the fleet; {} requests are finished first", running + waiting));
        self.status.is_leaving.store(true, Ordering::Relaxed);
        let leaving = async {
            self.status.report(client, EngineState::Draining).await;
            requests.drain().await.is_ok()
        };
        let mut has_left = !tokio::time::timeout(PATIENCE, leaving).await.unwrap_or_default();
        let patience = tokio::time::sleep(PATIENCE);
        tokio::pin!(patience);
        self.tasks.close();
        let mut done = Box::pin(self.tasks.wait());
        loop {
            tokio::select! {
                biased;
                message = requests.next(), if !has_left => match message {
                    // It was on its way when the engine left.
                    Some(message) => self.take(client, message, asides),
                    None => has_left = true,
                },
                () = &mut patience, if !has_left => has_left = true,
                Some(message) = cancels.next() => self.cancel(&message),
                () = &mut done, if has_left => break,
            }
        }
        self.say_the_end(client).await;
    }

    /// Finishes what was taken by an engine that is in no group any more.
    async fn finish(&self, client: &Client) {
        self.tasks.close();
        self.tasks.wait().await;
        self.say_the_end(client).await;
    }

    async fn say_the_end(&self, client: &Client) {
        let said = async {
            self.status.report(client, EngineState::Ended).await;
            client.flush().await
        };
        let _ = tokio::time::timeout(PATIENCE, said).await;
    }

    /// Takes a request, or says why not.
    fn take(&self, client: &Client, message: Message, asides: &mpsc::Sender<Aside>) {
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
        if self.server.fitness.wrong().is_some() {
            // Another engine may have it.
            Counts::add(&self.taken.counts.busy);
            let _ = asides.try_send((reply, message::busy()));
            return;
        }
        let aside = match self.taken.take(&reply, message.payload.len()) {
            Ok(place) => {
                self.tasks.spawn(Arc::clone(&self.server).serve(client.clone(), message, place));
                return;
            }
            Err(NotTaken::Busy) => {
                Counts::add(&self.taken.counts.busy);
                Some(message::busy())
            }
            Err(NotTaken::AlreadyTaken) => message::still_working(&message.payload),
        };
        if let Some(line) = aside {
            // Who is not told asks again later.
            let _ = asides.try_send((reply, line));
        }
    }

    fn cancel(&self, message: &Message) {
        if let Some(reply) = message::cancelled(&message.payload) {
            self.taken.cancel(&reply);
        }
    }

    fn hears_less(&self, why: &str) {
        self.tell(format!("{} does not let this engine hear all: {why}", self.broker));
    }

    fn say_how_it_is(&self, link: &mut watch::Receiver<Link>) {
        let link = link.borrow_and_update();
        self.status.is_serving.store(matches!(*link, Link::Up { .. }), Ordering::Relaxed);
        let text = match &*link {
            Link::Up { .. } => format!("connected to {} again", self.broker),
            Link::Away { why, .. } => {
                let why = why.as_deref().unwrap_or("it is being connected");
                format!("{} is away ({why}); trying on", self.broker)
            }
        };
        self.tell(text);
    }

    fn tell(&self, text: String) {
        tracing::info!(target: "hook::nats", "{text}");
        // Nobody waits for people.
        let _ = self.news.try_send(text);
    }
}

/// Says what nothing waits for, until nobody sends any more.
async fn say_all(client: Client, mut said: mpsc::Receiver<Aside>) {
    while let Some((reply, line)) = said.recv().await {
        say(&client, &reply, line).await;
    }
}

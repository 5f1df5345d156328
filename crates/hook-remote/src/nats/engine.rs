//! An engine of a fleet: it joins the queue group, takes what it can run, and leaves when told to.

use std::sync::Arc;
use std::time::{Duration, SystemTime};

use async_nats::{Client, Message, Subject, Subscriber};
use bytes::Bytes;
use futures::StreamExt;
use futures::stream::{SelectAll, select_all};
use hook_bus::HookSystem;
use hook_core::RawJson;
use hook_core::text::shortened;
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;
use tokio_util::task::{AbortOnDropHandle, TaskTracker};

use super::connection::{Connection, Link};
use super::events::Events;
use super::message;
use super::options::{Broker, NatsError, NatsOptions, QUEUE_GROUP};
use super::serving::{Server, say, say_busy, say_working};
use super::status::Status;
use super::subjects::is_token;
use super::taken::{Counts, NotTaken, Taken};

/// How often an engine says unasked how it is.
const ROLL_CALL: Duration = Duration::from_secs(10);

/// How many askers may wait to be told that there is no room. One that is not told asks again later.
const BUSY: usize = 8_192;

/// How long the broker may take to say that the engine has left.
const LEAVING: Duration = Duration::from_secs(5);

/// An engine of a fleet.
#[derive(Debug)]
#[must_use]
pub struct NatsEngine {
    broker: Broker,
    group: String,
    waiting: Option<usize>,
    events: bool,
}

impl NatsEngine {
    /// An engine at that broker. Nothing is connected until it [serves](Self::serve).
    ///
    /// # Errors
    /// When the broker may not be used so, or the credentials cannot be.
    pub fn new(options: &NatsOptions) -> Result<Self, NatsError> {
        let group = QUEUE_GROUP.to_owned();
        Ok(Self { broker: options.check()?, group, waiting: None, events: false })
    }

    /// The queue group that it joins: each request goes to one of it. `engines` by default.
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

    /// Whether responses and progress are published for subscribers elsewhere.
    pub fn events(mut self, events: bool) -> Self {
        self.events = events;
        self
    }

    /// Serves until `stop`; then it leaves the group, finishes what it has taken, and returns. What people
    /// should know meanwhile goes to `news`; what does not fit there is in the log alone.
    ///
    /// # Errors
    /// When the broker refuses it before it has served anything.
    pub async fn serve(
        self,
        system: &Arc<HookSystem>,
        stop: &CancellationToken,
        news: &mpsc::Sender<String>,
    ) -> Result<(), NatsError> {
        let Self { broker, group, waiting, events } = self;
        let may_run = system.bus().limits().in_flight;
        let server = Arc::new(Server {
            system: Arc::clone(system),
            requests: system.bus().client(None),
            id: uuid::Uuid::new_v4().simple().to_string(),
        });
        let taken = Taken::new(may_run, waiting.unwrap_or(may_run));
        let subjects = broker.subjects.clone();
        let events = events.then(|| Events::of(system, subjects.clone()));
        let status = Status {
            server: Arc::clone(&server),
            taken: Arc::clone(&taken),
            subjects: subjects.clone(),
            group: group.as_str().into(),
            begun: SystemTime::now(),
        };
        let connection = Connection::keep(broker.clone(), "hook-engine");
        let tasks = TaskTracker::new();
        let (busy, _) = mpsc::channel(1);
        let mut member = Member { broker, server, taken, status, tasks, events, busy, news };
        let ended = member.run(connection.link(), stop).await;
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

/// An engine that serves.
struct Member<'n> {
    broker: Broker,
    server: Arc<Server>,
    taken: Arc<Taken>,
    status: Status,
    tasks: TaskTracker,
    events: Option<Events>,
    /// Who is to be told that there is no room.
    busy: mpsc::Sender<Subject>,
    news: &'n mpsc::Sender<String>,
}

impl Member<'_> {
    async fn run(
        &mut self,
        mut link: tokio::sync::watch::Receiver<Link>,
        stop: &CancellationToken,
    ) -> Result<(), NatsError> {
        let mut has_served = false;
        loop {
            let client = tokio::select! {
                biased;
                () = stop.cancelled() => return Ok(()),
                client = self.reached(&mut link) => client,
            };
            let client = match client {
                Ok(client) => client,
                Err(error) if !has_served => return Err(error),
                Err(error) => {
                    self.tell(error.to_string());
                    tokio::select! {
                        () = stop.cancelled() => return Ok(()),
                        _ = link.changed() => continue,
                    }
                }
            };
            let heard = match self.join(&client).await {
                Ok(heard) => heard,
                Err(error) => {
                    self.tell(format!("failed to join the engines at {}: {error}", self.broker));
                    tokio::select! {
                        () = stop.cancelled() => return Ok(()),
                        _ = link.changed() => continue,
                    }
                }
            };
            has_served = true;
            let (id, requests) = (&self.server.id, self.status.subjects.requests());
            self.tell(format!("serving {requests} at {} as engine {id}", self.broker));
            if self.serve(&client, heard, &mut link, stop).await {
                return Ok(());
            }
        }
    }

    /// Waits for a connection, and says what keeps it from being there.
    async fn reached(
        &self,
        link: &mut tokio::sync::watch::Receiver<Link>,
    ) -> Result<Client, NatsError> {
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

    async fn join(&self, client: &Client) -> Result<Heard, async_nats::SubscribeError> {
        let subjects = &self.status.subjects;
        let cancels = client.subscribe(subjects.cancel()).await?;
        let mut asked = vec![client.subscribe(subjects.engines()).await?];
        for subject in self.status.asked_under() {
            asked.push(client.subscribe(subject).await?);
        }
        // Last, so that the rest is heard of what is taken.
        let group = self.status.group.to_string();
        let requests = client.queue_subscribe(subjects.requests(), group).await?;
        let mut asked = select_all(asked);
        // The broker takes things in their order: once the engine hears itself, it is in the group. Where that
        // does not come, the connection is lost again.
        self.report(client, "serving").await;
        let itself = async {
            while let Some(message) = asked.next().await {
                let fields = message::fields_of(&message.payload).unwrap_or_default();
                let id = fields.get("id").and_then(RawJson::to_text);
                if id.is_some_and(|id| id == self.server.id) {
                    break;
                }
                self.answer(client, &message, "serving").await;
            }
        };
        let _ = tokio::time::timeout(LEAVING, itself).await;
        Ok(Heard { requests, cancels, asked })
    }

    /// Serves over one connection; whether the engine is to end.
    async fn serve(
        &mut self,
        client: &Client,
        mut heard: Heard,
        link: &mut tokio::sync::watch::Receiver<Link>,
        stop: &CancellationToken,
    ) -> bool {
        let mut events = self.events.take();
        let (busy, turned_away) = mpsc::channel(BUSY);
        self.busy = busy;
        // Nothing else waits for it, so that what comes is looked at as fast as it comes.
        let telling = AbortOnDropHandle::new(tokio::spawn(say_busy(client.clone(), turned_away)));
        let publishing = async {
            if let Some(events) = &mut events {
                events.publish(client).await;
            }
            std::future::pending::<()>().await;
        };
        let mut publishing = Box::pin(publishing);
        let mut roll_call = tokio::time::interval(ROLL_CALL);
        let stopped = loop {
            tokio::select! {
                () = stop.cancelled() => break true,
                message = heard.requests.next() => match message {
                    Some(message) => self.take(client, message).await,
                    // The library has given the connection up.
                    None => break false,
                },
                Some(message) = heard.cancels.next() => self.cancel(&message),
                Some(message) = heard.asked.next() => self.answer(client, &message, "serving").await,
                _ = roll_call.tick() => self.report(client, "serving").await,
                Ok(()) = link.changed() => self.say_how_it_is(link),
                () = &mut publishing => {}
            }
        };
        if stopped {
            self.leave(client, &mut heard, &mut publishing).await;
        }
        drop(publishing);
        drop(telling);
        self.events = events;
        stopped
    }

    /// Leaves the group, and finishes what was taken.
    async fn leave(
        &self,
        client: &Client,
        heard: &mut Heard,
        publishing: &mut (impl Future<Output = ()> + Unpin),
    ) {
        let (running, waiting) = self.taken.now();
        self.tell(format!("leaving the fleet; {} requests are finished first", running + waiting));
        self.report(client, "draining").await;
        let mut has_left = heard.requests.drain().await.is_err();
        let patience = tokio::time::sleep(LEAVING);
        tokio::pin!(patience);
        self.tasks.close();
        let mut done = Box::pin(self.tasks.wait());
        loop {
            tokio::select! {
                biased;
                message = heard.requests.next(), if !has_left => match message {
                    // It was on its way when the engine left.
                    Some(message) => self.take(client, message).await,
                    None => has_left = true,
                },
                () = &mut patience, if !has_left => has_left = true,
                Some(message) = heard.cancels.next() => self.cancel(&message),
                Some(message) = heard.asked.next() => self.answer(client, &message, "draining").await,
                () = &mut *publishing => {}
                () = &mut done, if has_left => break,
            }
        }
        self.report(client, "ended").await;
        let _ = tokio::time::timeout(LEAVING, client.flush()).await;
    }

    /// Takes a request, or says why not.
    async fn take(&self, client: &Client, message: Message) {
        let Some(reply) = message.reply.clone() else {
            tracing::warn!(
                target: "hook::nats",
                subject = %shortened(&message.subject),
                "a request that wants no response is not served"
            );
            return;
        };
        match self.taken.take(&reply, message.payload.len()) {
            Ok(place) => {
                self.tasks.spawn(Arc::clone(&self.server).serve(client.clone(), message, place));
            }
            Err(NotTaken::Busy) => {
                Counts::add(&self.taken.counts.busy);
                let _ = self.busy.try_send(reply);
            }
            Err(NotTaken::AlreadyTaken) => say_working(client, &message, &reply).await,
        }
    }

    fn cancel(&self, message: &Message) {
        if let Some(reply) = message::cancelled(&message.payload) {
            self.taken.cancel(&reply);
        }
    }

    /// Answers who asks how it is.
    async fn answer(&self, client: &Client, message: &Message, state: &str) {
        // Without a subject for replies it is what another engine says of itself.
        let Some(reply) = &message.reply else { return };
        let line = match message.subject.starts_with("$SRV.") {
            true => self.status.answer(&message.subject, state),
            false => Some(self.status.line(state)),
        };
        if let Some(line) = line {
            say(client, reply, line).await;
        }
    }

    /// Says unasked how it is.
    async fn report(&self, client: &Client, state: &str) {
        let line = Bytes::from(self.status.line(state));
        // Who wants to know asks.
        let _ = client.publish(self.status.subjects.engines(), line).await;
    }

    fn say_how_it_is(&self, link: &mut tokio::sync::watch::Receiver<Link>) {
        let text = match &*link.borrow_and_update() {
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

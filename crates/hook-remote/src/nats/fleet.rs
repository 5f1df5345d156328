//! One request of a client: sent to the fleet, sent once more if its engine is lost, and failed by
//! the client if no engine answers.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use async_nats::Client;
use bytes::Bytes;
use futures::FutureExt;
use futures::future::BoxFuture;
use hook_bus::{CorrelationId, Elsewhere, HookExecutionRequest, HookExecutionResponse};
use hook_core::StageFailure;
use hook_json::RawJson;
use hook_json::text::shortened;
use hook_protocol::FailureCode;
use hook_settings::FailBehavior;
use tokio::sync::{Semaphore, SemaphorePermit, broadcast, watch};
use tokio::time::{Instant, sleep_until, timeout, timeout_at};

use super::connection::{Connection, Link, is_about, jittered};
use super::message::{self, Reply};
use super::options::{Broker, NatsOptions};
use super::replies::{OpenReplies, Replies, Unheard};

/// The maximum number of attempts in which an engine takes a request, or may have.
const ATTEMPTS: u32 = 2;

/// The maximum and minimum time without a message of an engine. Engines report work at most every
/// 20 ms.
const SILENCE: Duration = Duration::from_secs(5);
const SHORTEST_SILENCE: Duration = Duration::from_millis(60);

/// The minimum and maximum delay before a request is sent again to a fleet without room.
const BUSY: (Duration, Duration) = (Duration::from_millis(20), Duration::from_millis(500));

/// The time after a reconnection, or after a fleet without room or answer, in which a lack of
/// engines may be temporary: a broker disconnects an engine that has too much to read.
const COMING_BACK: Duration = Duration::from_secs(5);

/// The maximum number of requests of a client at the fleet. Others wait, within their deadlines.
const IN_FLIGHT: usize = 1_024;

/// Their maximum size in KiB, below the `max_pending` of a broker (64 MiB by default).
const KIB_IN_FLIGHT: usize = 8 * 1_024;

/// The client side of a fleet.
#[derive(Debug)]
pub(super) struct Fleet {
    pub(super) broker: Broker,
    pub(super) connection: Connection,
    /// The state of the connection; up once replies are subscribed.
    pub(super) ready: watch::Receiver<Link>,
    pub(super) replies: Arc<Replies>,
    places: Semaphore,
    room: Semaphore,
    /// The last time that it had no room or gave no answer.
    strained: Mutex<Option<Instant>>,
    /// The maximum time to wait for a connection.
    connecting: Duration,
    deadline: Duration,
    fail_behavior: FailBehavior,
}

impl Fleet {
    pub(super) fn new(
        broker: Broker,
        connection: Connection,
        ready: watch::Receiver<Link>,
        replies: Arc<Replies>,
        options: &NatsOptions,
    ) -> Self {
        let NatsOptions { connecting, deadline, fail_behavior, .. } = *options;
        let (places, room) = (Semaphore::new(IN_FLIGHT), Semaphore::new(KIB_IN_FLIGHT));
        let strained = Mutex::default();
        Self {
            broker,
            connection,
            ready,
            replies,
            places,
            room,
            strained,
            connecting,
            deadline,
            fail_behavior,
        }
    }

    fn is_strained(&self) {
        *self.strained.lock().unwrap_or_else(PoisonError::into_inner) = Some(Instant::now());
    }

    fn was_strained(&self) -> bool {
        let strained = *self.strained.lock().unwrap_or_else(PoisonError::into_inner);
        strained.is_some_and(|strained| strained.elapsed() < COMING_BACK)
    }

    /// Returns the default deadline of a request.
    pub(super) fn deadline(&self) -> Duration {
        self.deadline
    }

    /// Waits for a connection, at most for the connection timeout, which may end long before the
    /// request's deadline.
    async fn connected(
        &self,
        deadline: Instant,
    ) -> Result<(Client, Option<Instant>), StageFailure> {
        match timeout(self.connecting, self.up(deadline)).await {
            Ok(up) => up,
            Err(_) => {
                let why = match &*self.ready.borrow() {
                    Link::Away { why: Some(why), .. } => why.to_string(),
                    _ => "it is being made".to_owned(),
                };
                let message = format!(
                    "there was no connection to {} within {} ms ({why})",
                    self.broker,
                    self.connecting.as_millis()
                );
                Err(StageFailure::new(FailureCode::Unanswered, message))
            }
        }
    }

    /// Waits for a connection with subscribed replies; also returns the time of a reconnection.
    pub(super) async fn up(
        &self,
        deadline: Instant,
    ) -> Result<(Client, Option<Instant>), StageFailure> {
        let mut ready = self.ready.clone();
        loop {
            let why = match &*ready.borrow_and_update() {
                Link::Up { client, again, .. } => return Ok((client.clone(), *again)),
                Link::Away { why, refused: true } => {
                    let why = why.as_deref().unwrap_or("it does not say why");
                    let message = format!("{} refuses the connection: {why}", self.broker);
                    return Err(StageFailure::new(FailureCode::Unanswered, message));
                }
                Link::Away { why, .. } => why.clone(),
            };
            tokio::select! {
                changed = ready.changed() => if changed.is_err() {
                    let message = "the connection to the fleet is closed";
                    return Err(StageFailure::new(FailureCode::Unanswered, message));
                },
                () = sleep_until(deadline) => {
                    let why = why.as_deref().unwrap_or("it is being made");
                    let message = format!(
                        "the request's deadline passed before there was a connection to {} ({why})",
                        self.broker
                    );
                    return Err(StageFailure::new(FailureCode::DeadlineExceeded, message));
                }
            }
        }
    }

    /// Returns the failure for a client whose broker refuses the subscription to replies.
    pub(super) fn unheard(&self, why: &str) -> StageFailure {
        let message =
            format!("{} does not let this asker hear what it is answered: {why}", self.broker);
        StageFailure::new(FailureCode::Unanswered, message)
    }

    async fn answer(
        &self,
        request: HookExecutionRequest,
        deadline: Option<Instant>,
    ) -> Result<HookExecutionResponse, StageFailure> {
        let begun = Instant::now();
        let deadline = deadline.unwrap_or(begun + self.deadline);
        // The same for both attempts. Replaces a key in the input, which may be of another request.
        let request = request.with_idempotency_key(&uuid::Uuid::new_v4().to_string());
        let event = request.event_name().unwrap_or_default();
        let mut asking = Asking {
            fleet: self,
            subject: self.broker.subjects.request(event),
            replies: self.replies.open(),
            refusals: self.connection.refusals(),
            unheard: self.replies.unheard(),
            id: request.correlation_id().clone(),
            event,
            deadline,
            silence: (deadline.saturating_duration_since(begun) / ATTEMPTS)
                .clamp(SHORTEST_SILENCE, SILENCE),
            wait: BUSY.0,
            others: None,
            room: None,
        };
        let Ok(Ok(_place)) = timeout_at(deadline, self.places.acquire()).await else {
            return Err(asking.too_late("others of this asker were still at the fleet"));
        };
        for attempt in 1..=ATTEMPTS {
            if attempt > 1 {
                // An engine that still has it is cancelled at the end.
                asking.replies.is_left = true;
                tracing::warn!(
                    target: "hook::nats",
                    correlation_id = %asking.id,
                    "no engine says anything for {} ms; asking again",
                    asking.silence.as_millis()
                );
            }
            if let Some(response) = asking.attempt(&request).await? {
                return Ok(response);
            }
        }
        Err(asking.unanswered())
    }
}

impl Elsewhere for Fleet {
    fn ask(
        self: Arc<Self>,
        request: HookExecutionRequest,
        deadline: Option<std::time::Instant>,
    ) -> BoxFuture<'static, Result<HookExecutionResponse, StageFailure>> {
        async move { self.answer(request, deadline.map(Instant::from_std)).await }.boxed()
    }

    fn fail_behavior(&self) -> FailBehavior {
        self.fail_behavior
    }
}

/// The state of one request.
struct Asking<'f> {
    fleet: &'f Fleet,
    subject: String,
    replies: OpenReplies,
    refusals: broadcast::Receiver<Arc<str>>,
    /// The broker's refusal of replies.
    unheard: Unheard,
    id: CorrelationId,
    event: &'f str,
    deadline: Instant,
    /// The maximum time without a message of an engine.
    silence: Duration,
    /// The delay before the request is sent again to a fleet without room.
    wait: Duration,
    /// The settings of an engine that rejected it, and the deadline to find another engine.
    others: Option<(String, Instant)>,
    /// The permit for its size.
    room: Option<SemaphorePermit<'f>>,
}

/// The result of sending a request.
enum Sent {
    Answered(Box<HookExecutionResponse>),
    /// No engine took it, so it may be sent again.
    NotTaken,
    /// No engine answers, or none answers any more.
    Silent,
}

impl Asking<'_> {
    /// Sends it until it is taken. Returns the response, or `None` if no engine answers.
    async fn attempt(
        &mut self,
        request: &HookExecutionRequest,
    ) -> Result<Option<HookExecutionResponse>, StageFailure> {
        loop {
            let again = self.send(request).await?;
            match self.hear(again).await? {
                Sent::Answered(response) => {
                    self.replies.is_open = false;
                    return Ok(Some(*response));
                }
                Sent::Silent => return Ok(None),
                Sent::NotTaken => {}
            }
        }
    }

    /// Sends it. Returns the time of the reconnection, if the connection was lost.
    async fn send(
        &mut self,
        request: &HookExecutionRequest,
    ) -> Result<Option<Instant>, StageFailure> {
        let (client, again) = self.fleet.connected(self.deadline).await?;
        if let Some(why) = self.unheard.known() {
            return Err(self.fleet.unheard(&why));
        }
        let mut line = self.line(request)?;
        if self.room.is_none() {
            let units = u32::try_from((line.len() / 1_024 + 1).min(KIB_IN_FLIGHT)).unwrap_or(1);
            self.room = self.fleet.room.try_acquire_many(units).ok();
            if self.room.is_none() {
                let room = timeout_at(self.deadline, self.fleet.room.acquire_many(units)).await;
                let Ok(Ok(room)) = room else {
                    return Err(self.too_late("others of this asker were still at the fleet"));
                };
                self.room = Some(room);
                // Waiting has reduced the remaining time.
                line = self.line(request)?;
            }
        }
        let limit = client.max_payload();
        if !message::fits(line.len(), limit) {
            let message = format!(
                "the request has {} bytes, and a message of the broker has room for {limit}; send less, or \
                 raise `max_payload` of the broker",
                line.len()
            );
            return Err(StageFailure::new(FailureCode::InvalidRequest, message)
                .with_detail("bytes", RawJson::from_integer(line.len() as u64))
                .with_detail("maxPayload", RawJson::from_integer(limit as u64)));
        }
        let (subject, reply) = (self.subject.clone(), self.replies.subject.clone());
        self.replies.is_open = true;
        // Earlier refusals belong to other requests.
        self.refusals = self.fleet.connection.refusals();
        let sent = client.publish_with_reply(subject, reply, Bytes::from(line));
        match timeout_at(self.deadline, sent).await {
            Ok(Ok(())) => Ok(again),
            Ok(Err(error)) => {
                let message =
                    format!("failed to send the request to {}: {error}", self.fleet.broker);
                Err(StageFailure::new(FailureCode::Unanswered, message))
            }
            Err(_) => Err(self.too_late("it could not be sent")),
        }
    }

    /// Returns the line to send now.
    fn line(&self, request: &HookExecutionRequest) -> Result<Vec<u8>, StageFailure> {
        // The remaining time is sent, since clocks differ.
        let left = self.deadline.saturating_duration_since(Instant::now()).as_millis();
        let left = Duration::from_millis(u64::try_from(left).unwrap_or(u64::MAX));
        if left.is_zero() {
            return Err(self.too_late("it could not be sent"));
        }
        Ok(message::request_line(
            &request.clone().with_deadline(left),
            self.fleet.broker.expected.as_deref(),
        ))
    }

    /// Handles replies until a result, also while the request waits to be sent again.
    async fn hear(&mut self, again: Option<Instant>) -> Result<Sent, StageFailure> {
        let mut silent_at = Instant::now() + self.silence;
        let (mut is_at_work, mut send_at) = (false, None);
        loop {
            tokio::select! {
                // Replies take precedence over the timeout.
                biased;
                message = self.replies.next() => match Reply::read(&message, &self.id, self.event) {
                    Reply::Response(response) => {
                        self.check_settings(&response)?;
                        return Ok(Sent::Answered(response));
                    }
                    Reply::Working => {
                        (is_at_work, send_at) = (true, None);
                        self.replies.is_open = true;
                        silent_at = Instant::now() + self.silence;
                    }
                    // A late message, or one of another engine: an engine already has the request.
                    Reply::Busy if is_at_work => {}
                    Reply::Busy => {
                        self.replies.is_open = false;
                        self.fleet.is_strained();
                        send_at.get_or_insert_with(|| self.later());
                    }
                    Reply::OtherSettings(_) if is_at_work => {}
                    Reply::OtherSettings(settings) => {
                        self.replies.is_open = false;
                        let until = self.others.take().map(|(_, until)| until);
                        let until = until.unwrap_or_else(|| Instant::now() + self.silence);
                        self.others = Some((settings, until));
                        if Instant::now() >= until.min(self.deadline) {
                            return Err(self.others_only());
                        }
                        send_at.get_or_insert_with(|| self.later());
                    }
                    Reply::NoResponders => {
                        self.replies.is_open = false;
                        let is_back = again.is_some_and(|again| again.elapsed() < COMING_BACK);
                        if !is_back && !self.fleet.was_strained() {
                            return Err(self.nobody());
                        }
                        send_at.get_or_insert_with(|| self.later());
                    }
                    Reply::Failed(failure) => {
                        self.replies.is_open = false;
                        return Err(failure);
                    }
                    Reply::TooLarge(why) => {
                        self.replies.is_open = false;
                        return Err(StageFailure::new(FailureCode::Unanswered, why));
                    }
                    Reply::Strange(why) => {
                        let message = format!("what was answered is no response: {why}");
                        return Err(StageFailure::new(FailureCode::Unanswered, message));
                    }
                },
                Ok(text) = self.refusals.recv() => if is_about(&text, &self.subject) {
                    self.replies.is_open = false;
                    let broker = &self.fleet.broker;
                    let message = format!("{broker} does not let this asker ask: {text}");
                    return Err(StageFailure::new(FailureCode::Unanswered, message));
                },
                // No reply is expected while the request waits to be sent.
                why = self.unheard.refused(), if send_at.is_none() => return Err(self.fleet.unheard(&why)),
                () = sleep_until(send_at.unwrap_or(silent_at).min(self.deadline)) => {
                    let is_late = Instant::now() >= self.deadline;
                    if send_at.is_none() && !is_late {
                        self.fleet.is_strained();
                    }
                    return match send_at {
                        Some(_) if is_late && self.others.is_some() => Err(self.others_only()),
                        Some(_) if is_late => Err(self.too_late("no engine had room for it")),
                        Some(_) => Ok(Sent::NotTaken),
                        None if is_late => Err(self.too_late("no engine had answered it")),
                        None => {
                            self.fleet.is_strained();
                            Ok(Sent::Silent)
                        }
                    };
                }
            }
        }
    }

    /// Fails if the answering engine, of an earlier version, has other settings.
    fn check_settings(&mut self, response: &HookExecutionResponse) -> Result<(), StageFailure> {
        let Some(expected) = self.fleet.broker.expected.as_deref() else { return Ok(()) };
        let hash = response.engine.as_ref().and_then(|engine| engine.settings_hash.as_deref());
        if hash == Some(expected) {
            return Ok(());
        }
        self.replies.is_open = false;
        let hash = hash.map_or("not known".to_owned(), shortened);
        let message = format!(
            "an engine has answered whose settings are {hash}, and {expected} was expected; its answer does not count"
        );
        Err(StageFailure::new(FailureCode::Unanswered, message))
    }

    fn others_only(&self) -> StageFailure {
        let settings = self.others.as_ref().map_or("not known", |(settings, _)| settings);
        let message = format!(
            "no engine with the expected settings ({}) answers; there is one with {settings}",
            self.fleet.broker.expected.as_deref().unwrap_or("any")
        );
        StageFailure::new(FailureCode::Unanswered, message)
    }

    /// Returns the time of the next attempt, with a growing delay.
    fn later(&mut self) -> Instant {
        let wait = jittered(self.wait);
        self.wait = (self.wait * 2).min(BUSY.1);
        Instant::now() + wait
    }

    fn nobody(&self) -> StageFailure {
        let Self { subject, fleet, .. } = self;
        let message = format!(
            "nobody serves {subject} at {}; start an engine with `hook serve --nats`",
            fleet.broker
        );
        StageFailure::new(FailureCode::NoHandler, message)
    }

    fn too_late(&self, what: &str) -> StageFailure {
        let message = match &*self.fleet.ready.borrow() {
            Link::Away { why, .. } => format!(
                "the request's deadline passed and {what}; {} is away ({})",
                self.fleet.broker,
                why.as_deref().unwrap_or("it is being connected")
            ),
            Link::Up { .. } => format!("the request's deadline passed and {what}"),
        };
        StageFailure::new(FailureCode::DeadlineExceeded, message)
    }

    fn unanswered(&self) -> StageFailure {
        let message = format!(
            "no engine of the fleet at {} said anything for {} ms; it was asked again, and none said anything for \
             as long",
            self.fleet.broker,
            self.silence.as_millis()
        );
        StageFailure::new(FailureCode::Unanswered, message)
    }
}

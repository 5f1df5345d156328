//! One request of a client: sent to the fleet, sent once more if its engine is lost, and failed by
//! the client if no engine answers.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use async_nats::Client;
use bytes::Bytes;
use futures::FutureExt;
use futures::future::BoxFuture;
use hook_bus::{CorrelationId, HookExecutionRequest, HookExecutionResponse, RemoteEngines};
use hook_core::StageFailure;
use hook_json::RawJson;
use hook_json::text::shortened;
use hook_protocol::FailureCode;
use hook_settings::FailBehavior;
use tokio::sync::{Semaphore, SemaphorePermit, broadcast, watch};
use tokio::time::{Instant, sleep_until, timeout, timeout_at};

use super::connection::{Connection, Link, jittered, mentions};
use super::message::{self, Reply};
use super::options::{Broker, NatsOptions};
use super::replies::{OpenReplies, Replies, ReplyRefusal};

/// The maximum number of attempts in which an engine takes a request, or may have.
const ATTEMPTS: u32 = 2;

/// The maximum and minimum time without a message of an engine. Engines report work at most every
/// 20 ms.
const SILENCE: Duration = Duration::from_secs(5);
const SHORTEST_SILENCE: Duration = Duration::from_millis(60);

/// The minimum and maximum delay before a request is sent again to a fleet without room.
const BUSY_BACKOFF: (Duration, Duration) = (Duration::from_millis(20), Duration::from_millis(500));

/// The time after a reconnection, or after a fleet without room or answer, in which a lack of
/// engines may be temporary: a broker disconnects an engine that has too much to read.
const RECONNECT_GRACE: Duration = Duration::from_secs(5);

/// The maximum number of requests of a client at the fleet. Others wait, within their deadlines.
const MAX_IN_FLIGHT: usize = 1_024;

/// Their maximum size in KiB, below the `max_pending` of a broker (64 MiB by default).
const MAX_KIB_IN_FLIGHT: usize = 8 * 1_024;

/// The client side of a fleet.
#[derive(Debug)]
pub(super) struct Fleet {
    pub(super) broker: Broker,
    pub(super) connection: Connection,
    /// The state of the connection; up once replies are subscribed.
    pub(super) ready: watch::Receiver<Link>,
    pub(super) replies: Arc<Replies>,
    slots: Semaphore,
    memory: Semaphore,
    /// The last time that it had no room or gave no answer.
    last_strain: Mutex<Option<Instant>>,
    /// The maximum time to wait for a connection.
    connect_timeout: Duration,
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
        let NatsOptions { connect_timeout: connecting, deadline, fail_behavior, .. } = *options;
        let (slots, memory) = (Semaphore::new(MAX_IN_FLIGHT), Semaphore::new(MAX_KIB_IN_FLIGHT));
        let strained = Mutex::default();
        Self {
            broker,
            connection,
            ready,
            replies,
            slots,
            memory,
            last_strain: strained,
            connect_timeout: connecting,
            deadline,
            fail_behavior,
        }
    }

    fn mark_strained(&self) {
        *self.last_strain.lock().unwrap_or_else(PoisonError::into_inner) = Some(Instant::now());
    }

    fn is_recently_strained(&self) -> bool {
        let strained = *self.last_strain.lock().unwrap_or_else(PoisonError::into_inner);
        strained.is_some_and(|strained| strained.elapsed() < RECONNECT_GRACE)
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
        match timeout(self.connect_timeout, self.up(deadline)).await {
            Ok(up) => up,
            Err(_) => {
                let why = match &*self.ready.borrow() {
                    Link::Down { why: Some(why), .. } => why.to_string(),
                    _ => "it is being made".to_owned(),
                };
                let message = format!(
                    "there was no connection to {} within {} ms ({why})",
                    self.broker,
                    self.connect_timeout.as_millis()
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
                Link::Up { client, reconnected_at: again, .. } => {
                    return Ok((client.clone(), *again));
                }
                Link::Down { why, refused: true } => {
                    let why = why.as_deref().unwrap_or("it does not say why");
                    let message = format!("{} refuses the connection: {why}", self.broker);
                    return Err(StageFailure::new(FailureCode::Unanswered, message));
                }
                Link::Down { why, .. } => why.clone(),
            };
            tokio::select! {
                changed = ready.changed() => if changed.is_err() {
                    let message = "the connection to the fleet is closed";
                    return Err(StageFailure::new(FailureCode::Unanswered, message));
                },
                () = sleep_until(deadline) => {
                    let why = why.as_deref().unwrap_or("it is being made");
                    let message = format!(
                        "the request's deadline passed with no connection to {} ({why})",
                        self.broker
                    );
                    return Err(StageFailure::new(FailureCode::DeadlineExceeded, message));
                }
            }
        }
    }

    /// Returns the failure for a client whose broker refuses the subscription to replies.
    pub(super) fn reply_refused_error(&self, why: &str) -> StageFailure {
        let message =
            format!("{} does not let this asker hear what it is answered: {why}", self.broker);
        StageFailure::new(FailureCode::Unanswered, message)
    }

    async fn answer(
        &self,
        request: HookExecutionRequest,
        deadline: Option<Instant>,
    ) -> Result<HookExecutionResponse, StageFailure> {
        let started = Instant::now();
        let deadline = deadline.unwrap_or(started + self.deadline);
        // The same for both attempts. Replaces a key in the input, which may be of another request.
        let request = request.with_idempotency_key(&uuid::Uuid::new_v4().to_string());
        let event = request.event_name().unwrap_or_default();
        let mut in_flight = FleetRequest {
            fleet: self,
            subject: self.broker.subjects.request(event),
            replies: self.replies.open(),
            refusals: self.connection.refusals(),
            refusal: self.replies.refusal(),
            id: request.correlation_id().clone(),
            event,
            deadline,
            silence: (deadline.saturating_duration_since(started) / ATTEMPTS)
                .clamp(SHORTEST_SILENCE, SILENCE),
            wait: BUSY_BACKOFF.0,
            other_settings: None,
            memory: None,
        };
        let Ok(Ok(_slot)) = timeout_at(deadline, self.slots.acquire()).await else {
            return Err(in_flight.deadline_error("others of this asker were still at the fleet"));
        };
        for attempt in 1..=ATTEMPTS {
            if attempt > 1 {
                // An engine that still has it is cancelled at the end.
                in_flight.replies.is_abandoned = true;
                tracing::warn!(
                    target: "hook::nats",
                    correlation_id = %in_flight.id,
                    "no engine says anything for {} ms; asking again",
                    in_flight.silence.as_millis()
                );
            }
            if let Some(response) = in_flight.attempt(&request).await? {
                return Ok(response);
            }
        }
        Err(in_flight.no_answer())
    }
}

impl RemoteEngines for Fleet {
    fn forward(
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
struct FleetRequest<'f> {
    fleet: &'f Fleet,
    subject: String,
    replies: OpenReplies,
    refusals: broadcast::Receiver<Arc<str>>,
    /// The broker's refusal of replies.
    refusal: ReplyRefusal,
    id: CorrelationId,
    event: &'f str,
    deadline: Instant,
    /// The maximum time without a message of an engine.
    silence: Duration,
    /// The delay before the request is sent again to a fleet without room.
    wait: Duration,
    /// The settings of an engine that rejected it, and the deadline to find another engine.
    other_settings: Option<(String, Instant)>,
    /// The permit for its size.
    memory: Option<SemaphorePermit<'f>>,
}

/// The result of sending a request.
enum Outcome {
    Answered(Box<HookExecutionResponse>),
    /// No engine took it, so it may be sent again.
    Declined,
    /// No engine answers, or none answers any more.
    Silent,
}

impl FleetRequest<'_> {
    /// Sends it until it is taken. Returns the response, or `None` if no engine answers.
    async fn attempt(
        &mut self,
        request: &HookExecutionRequest,
    ) -> Result<Option<HookExecutionResponse>, StageFailure> {
        loop {
            let again = self.send(request).await?;
            match self.receive(again).await? {
                Outcome::Answered(response) => {
                    self.replies.is_open = false;
                    return Ok(Some(*response));
                }
                Outcome::Silent => return Ok(None),
                Outcome::Declined => {}
            }
        }
    }

    /// Sends it. Returns the time of the reconnection, if the connection was lost.
    async fn send(
        &mut self,
        request: &HookExecutionRequest,
    ) -> Result<Option<Instant>, StageFailure> {
        let (client, again) = self.fleet.connected(self.deadline).await?;
        if let Some(why) = self.refusal.current() {
            return Err(self.fleet.reply_refused_error(&why));
        }
        let mut line = self.line(request)?;
        if self.memory.is_none() {
            let units = u32::try_from((line.len() / 1_024 + 1).min(MAX_KIB_IN_FLIGHT)).unwrap_or(1);
            self.memory = self.fleet.memory.try_acquire_many(units).ok();
            if self.memory.is_none() {
                let memory = timeout_at(self.deadline, self.fleet.memory.acquire_many(units)).await;
                let Ok(Ok(memory)) = memory else {
                    return Err(self.deadline_error("others of this asker were still at the fleet"));
                };
                self.memory = Some(memory);
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
                .with_detail("bytes", RawJson::from_u64(line.len() as u64))
                .with_detail("maxPayload", RawJson::from_u64(limit as u64)));
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
            Err(_) => Err(self.deadline_error("it could not be sent")),
        }
    }

    /// Returns the line to send now.
    fn line(&self, request: &HookExecutionRequest) -> Result<Vec<u8>, StageFailure> {
        // The remaining time is sent, since clocks differ.
        let remaining = self.deadline.saturating_duration_since(Instant::now()).as_millis();
        let remaining = Duration::from_millis(u64::try_from(remaining).unwrap_or(u64::MAX));
        if remaining.is_zero() {
            return Err(self.deadline_error("it could not be sent"));
        }
        message::request_line(
            &request.clone().with_deadline(remaining),
            self.fleet.broker.expected.as_deref(),
        )
        .map_err(|error| StageFailure::new(FailureCode::InvalidRequest, error.to_string()))
    }

    /// Handles replies until a result, also while the request waits to be sent again.
    async fn receive(&mut self, again: Option<Instant>) -> Result<Outcome, StageFailure> {
        let mut silent_at = Instant::now() + self.silence;
        let (mut is_working, mut retry_at) = (false, None);
        loop {
            tokio::select! {
                // Replies take precedence over the timeout.
                biased;
                message = self.replies.next() => match Reply::read(&message, &self.id, self.event) {
                    Reply::Response(response) => {
                        self.check_settings(&response)?;
                        return Ok(Outcome::Answered(response));
                    }
                    Reply::Working => {
                        (is_working, retry_at) = (true, None);
                        self.replies.is_open = true;
                        silent_at = Instant::now() + self.silence;
                    }
                    // A late message, or one of another engine: an engine already has the request.
                    Reply::Busy if is_working => {}
                    Reply::Busy => {
                        self.replies.is_open = false;
                        self.fleet.mark_strained();
                        retry_at.get_or_insert_with(|| self.next_retry());
                    }
                    Reply::OtherSettings(_) if is_working => {}
                    Reply::OtherSettings(settings) => {
                        self.replies.is_open = false;
                        let until = self.other_settings.take().map(|(_, until)| until);
                        let until = until.unwrap_or_else(|| Instant::now() + self.silence);
                        self.other_settings = Some((settings, until));
                        if Instant::now() >= until.min(self.deadline) {
                            return Err(self.other_settings_error());
                        }
                        retry_at.get_or_insert_with(|| self.next_retry());
                    }
                    Reply::NoResponders => {
                        self.replies.is_open = false;
                        let has_reconnected = again.is_some_and(|again| again.elapsed() < RECONNECT_GRACE);
                        if !has_reconnected && !self.fleet.is_recently_strained() {
                            return Err(self.no_responders());
                        }
                        retry_at.get_or_insert_with(|| self.next_retry());
                    }
                    Reply::Failed(failure) => {
                        self.replies.is_open = false;
                        return Err(failure);
                    }
                    Reply::TooLarge(why) => {
                        self.replies.is_open = false;
                        return Err(StageFailure::new(FailureCode::Unanswered, why));
                    }
                    Reply::Invalid(why) => {
                        let message = format!("what was answered is no response: {why}");
                        return Err(StageFailure::new(FailureCode::Unanswered, message));
                    }
                },
                Ok(text) = self.refusals.recv() => if mentions(&text, &self.subject) {
                    self.replies.is_open = false;
                    let broker = &self.fleet.broker;
                    let message = format!("{broker} does not let this asker ask: {text}");
                    return Err(StageFailure::new(FailureCode::Unanswered, message));
                },
                // No reply is expected while the request waits to be sent.
                why = self.refusal.wait(), if retry_at.is_none() => return Err(self.fleet.reply_refused_error(&why)),
                () = sleep_until(retry_at.unwrap_or(silent_at).min(self.deadline)) => {
                    let is_late = Instant::now() >= self.deadline;
                    if retry_at.is_none() && !is_late {
                        self.fleet.mark_strained();
                    }
                    return match retry_at {
                        Some(_) if is_late && self.other_settings.is_some() => Err(self.other_settings_error()),
                        Some(_) if is_late => Err(self.deadline_error("no engine had room for it")),
                        Some(_) => Ok(Outcome::Declined),
                        None if is_late => Err(self.deadline_error("no engine had answered it")),
                        None => {
                            self.fleet.mark_strained();
                            Ok(Outcome::Silent)
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

    fn other_settings_error(&self) -> StageFailure {
        let settings = self.other_settings.as_ref().map_or("not known", |(settings, _)| settings);
        let message = format!(
            "no engine with the expected settings ({}) answers; there is one with {settings}",
            self.fleet.broker.expected.as_deref().unwrap_or("any")
        );
        StageFailure::new(FailureCode::Unanswered, message)
    }

    /// Returns the time of the next attempt, with a growing delay.
    fn next_retry(&mut self) -> Instant {
        let wait = jittered(self.wait);
        self.wait = (self.wait * 2).min(BUSY_BACKOFF.1);
        Instant::now() + wait
    }

    fn no_responders(&self) -> StageFailure {
        let Self { subject, fleet, .. } = self;
        let message = format!(
            "nobody serves {subject} at {}; start an engine with `hook serve --nats`",
            fleet.broker
        );
        StageFailure::new(FailureCode::NoHandler, message)
    }

    fn deadline_error(&self, what: &str) -> StageFailure {
        let message = match &*self.fleet.ready.borrow() {
            Link::Down { why, .. } => format!(
                "the request's deadline passed and {what}; {} is away ({})",
                self.fleet.broker,
                why.as_deref().unwrap_or("it is being connected")
            ),
            Link::Up { .. } => format!("the request's deadline passed and {what}"),
        };
        StageFailure::new(FailureCode::DeadlineExceeded, message)
    }

    fn no_answer(&self) -> StageFailure {
        let message = format!(
            "no engine of the fleet at {} said anything for {} ms; it was asked again, and none said anything for \
             as long",
            self.fleet.broker,
            self.silence.as_millis()
        );
        StageFailure::new(FailureCode::Unanswered, message)
    }
}

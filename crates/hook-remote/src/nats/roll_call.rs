//! The list of a fleet's engines.

use std::collections::BTreeMap;
use std::time::Duration;

use async_nats::StatusCode;
use bytes::Bytes;
use hook_core::StageFailure;
use hook_json::{JsonObject, ObjectWriter, RawJson};
use hook_protocol::FailureCode;
use tokio::time::{Instant, sleep_until};

use super::connection::{Link, mentions};
use super::fleet::Fleet;
use super::message::{ENGINE, fields_of};

/// The maximum number of listed engines.
const MAX_ENGINES: usize = 10_000;

/// The maximum time to wait for the broker, since possibly no engine answers.
const ROUND_TRIP: Duration = Duration::from_secs(2);

/// The status of an engine, as it reports it.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct EngineStatus {
    /// The unique id of the running engine.
    pub id: String,
    /// The version of the engine.
    pub version: String,
    /// The version of its messages.
    pub protocol: u64,
    /// The hash of its settings and their trust, if it is known.
    pub settings_hash: Option<String>,
    /// `serving` or `draining`.
    pub state: String,
    /// Its queue group.
    pub queue_group: String,
    /// The number of its hooks.
    pub total_hooks: u64,
    /// The number of its hooks that do not run because they are untrusted.
    pub untrusted_hooks: u64,
    /// The number of running requests.
    pub running: u64,
    /// The number of waiting requests.
    pub waiting: u64,
    /// The number of answered requests.
    pub answered: u64,
    /// The number of requests that were answered with a failure.
    pub failed: u64,
    /// The number of requests that were rejected for lack of room.
    pub busy: u64,
    /// The number of requests that expected other settings.
    pub mismatched: u64,
    /// The minimum number of lost messages: more arrived than it could read.
    pub lost: u64,
    /// The number of events that it failed to publish.
    pub events_missed: u64,
}

impl EngineStatus {
    /// Writes the fields of the status message.
    pub fn write(&self, out: &mut ObjectWriter<'_>) {
        out.text("id", &self.id);
        out.text("version", &self.version);
        out.optional_text("settingsHash", self.settings_hash.as_deref());
        out.integer("protocol", self.protocol.into());
        out.text("state", &self.state);
        out.text("queueGroup", &self.queue_group);
        for (name, number) in [
            ("totalHooks", self.total_hooks),
            ("untrustedHooks", self.untrusted_hooks),
            ("running", self.running),
            ("waiting", self.waiting),
            ("answered", self.answered),
            ("failed", self.failed),
            ("busy", self.busy),
            ("mismatched", self.mismatched),
            ("lost", self.lost),
            ("eventsMissed", self.events_missed),
        ] {
            out.integer(name, number.into());
        }
    }

    fn read(fields: &JsonObject) -> Option<Self> {
        let text = |name: &str| fields.get(name).and_then(RawJson::to_text);
        let number = |name: &str| fields.get(name).and_then(RawJson::to_u64).unwrap_or_default();
        if text("type")? != ENGINE {
            return None;
        }
        Some(Self {
            id: text("id")?,
            version: text("version")?,
            protocol: number("protocol"),
            settings_hash: text("settingsHash"),
            state: text("state").unwrap_or_default(),
            queue_group: text("queueGroup").unwrap_or_default(),
            total_hooks: number("totalHooks"),
            untrusted_hooks: number("untrustedHooks"),
            running: number("running"),
            waiting: number("waiting"),
            answered: number("answered"),
            failed: number("failed"),
            busy: number("busy"),
            mismatched: number("mismatched"),
            lost: number("lost"),
            events_missed: number("eventsMissed"),
        })
    }
}

impl Fleet {
    /// Waits until the broker has handled all earlier commands. It handles commands in order, and
    /// answers a status request, if only with a refusal. Where clients other than engines are
    /// subscribed, no answer may come, so the wait is bounded.
    pub(super) async fn round_trip(&self) -> Result<(), StageFailure> {
        let deadline = Instant::now() + self.deadline();
        let (client, _) = self.up(deadline).await?;
        let mut replies = self.replies.open();
        let mut refusals = self.connection.refusals();
        let (subject, reply) = (self.broker.subjects.engines(), replies.subject.clone());
        let failed = |why: String| {
            let message = format!("failed to follow the engines at {}: {why}", self.broker);
            StageFailure::new(FailureCode::Unanswered, message)
        };
        let sent = client.publish_with_reply(subject.clone(), reply, Bytes::new()).await;
        sent.map_err(|error| failed(error.to_string()))?;
        let until = deadline.min(Instant::now() + ROUND_TRIP);
        loop {
            tokio::select! {
                _ = replies.next() => return Ok(()),
                Ok(text) = refusals.recv() => if mentions(&text, &subject) {
                    return Ok(());
                },
                () = sleep_until(until) => break,
            }
        }
        if let Link::Down { why, .. } = &*self.ready.borrow() {
            return Err(failed(why.as_deref().unwrap_or("it is away").to_owned()));
        }
        tracing::warn!(
            target: "hook::nats",
            broker = %self.broker,
            "nobody answers under {subject}; the engines are taken to be followed"
        );
        Ok(())
    }

    /// Returns the status of all engines that answer within the given time, by id.
    pub(super) async fn roll_call(
        &self,
        timeout: Duration,
    ) -> Result<Vec<EngineStatus>, StageFailure> {
        let (client, _) = self.up(Instant::now() + self.deadline()).await?;
        // All of them may answer at once.
        let mut replies = self.replies.open_for(MAX_ENGINES);
        let mut refusals = self.connection.refusals();
        let mut refusal = self.replies.refusal();
        let (subject, reply) = (self.broker.subjects.engines(), replies.subject.clone());
        if let Err(error) = client.publish_with_reply(subject.clone(), reply, Bytes::new()).await {
            let message = format!("failed to ask the engines at {}: {error}", self.broker);
            return Err(StageFailure::new(FailureCode::Unanswered, message));
        }
        let until = Instant::now() + timeout;
        let mut engines = BTreeMap::new();
        while engines.len() < MAX_ENGINES {
            let message = tokio::select! {
                message = replies.next() => message,
                Ok(text) = refusals.recv() => {
                    if !mentions(&text, &subject) {
                        continue;
                    }
                    let message = format!("{} does not let this asker ask: {text}", self.broker);
                    return Err(StageFailure::new(FailureCode::Unanswered, message));
                }
                why = refusal.wait() => return Err(self.reply_refused_error(&why)),
                () = sleep_until(until) => break,
            };
            if message.status == Some(StatusCode::NO_RESPONDERS) {
                break;
            }
            if let Some(engine) = fields_of(&message.payload).as_ref().and_then(EngineStatus::read)
            {
                engines.insert(engine.id.clone(), engine);
            }
        }
        Ok(engines.into_values().collect())
    }
}

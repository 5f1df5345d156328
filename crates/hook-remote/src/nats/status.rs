//! The status of an engine: on the subject of the engines, and as a NATS service (`$SRV.PING`,
//! `INFO`, `STATS`), so that the broker's own tools show it.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, SystemTime};

use async_nats::{Client, Message, Subscriber};
use bytes::Bytes;
use futures::StreamExt;
use futures::stream::SelectAll;
use hook_json::ObjectWriter;
use hook_protocol::event::input::timestamp_before;

use super::admission::{Admission, Counts};
use super::connection::DroppedMessages;
use super::message::{ENGINE, EngineState, PROTOCOL};
use super::serving::{Server, send_reply};
use super::subjects::Subjects;

/// The name of engines as services of a broker.
pub(super) const SERVICE: &str = "hook-engine";

/// The interval of unsolicited status messages.
const ROLL_CALL: Duration = Duration::from_secs(10);

/// The sources of an engine's status.
#[derive(Debug)]
pub(super) struct Status {
    pub(super) server: Arc<Server>,
    pub(super) admission: Arc<Admission>,
    pub(super) subjects: Subjects,
    pub(super) group: Arc<str>,
    pub(super) started: SystemTime,
    /// The counter of lost messages.
    pub(super) dropped: DroppedMessages,
    /// `true` once it leaves the group.
    pub(super) is_leaving: AtomicBool,
    /// `true` while it takes requests.
    pub(super) is_serving: AtomicBool,
}

impl Status {
    /// Sends the status regularly, and answers status requests.
    ///
    /// # Cancellation
    /// Dropping the future loses nothing but what it would say.
    pub(super) async fn run(self: Arc<Self>, client: Client, mut queries: SelectAll<Subscriber>) {
        let mut roll_call = tokio::time::interval(ROLL_CALL);
        loop {
            tokio::select! {
                message = queries.next() => match message {
                    Some(message) => self.answer(&client, &message).await,
                    None => return,
                },
                _ = roll_call.tick() => self.report(&client, self.state()).await,
            }
        }
    }

    /// Sends the status without a request.
    pub(super) async fn report(&self, client: &Client, state: EngineState) {
        // A lost message does no harm: clients can request the status.
        let _ = client.publish(self.subjects.engines(), Bytes::from(self.line(state))).await;
    }

    /// Answers a status request.
    pub(super) async fn answer(&self, client: &Client, message: &Message) {
        // A message without a reply subject is the status of another engine. A sender could name any
        // subject, so it must be one for replies: an engine may send where its clients may not.
        let reply = message.reply.as_ref();
        let Some(reply) = reply.filter(|reply| self.subjects.user_of_reply(reply).is_some()) else {
            return;
        };
        let state = self.state();
        let line = match message.subject.starts_with("$SRV.") {
            true => self.service_answer(&message.subject, state),
            false => Some(self.line(state)),
        };
        if let Some(line) = line {
            send_reply(client, reply, line).await;
        }
    }

    fn state(&self) -> EngineState {
        match self.is_leaving.load(Ordering::Relaxed) {
            true => EngineState::Draining,
            false => EngineState::Serving,
        }
    }

    /// Returns the status line for the subject of the engines.
    fn line(&self, state: EngineState) -> Vec<u8> {
        ObjectWriter::line(|out| {
            out.text("type", ENGINE);
            self.write(out, state);
        })
    }

    fn write(&self, out: &mut ObjectWriter<'_>, state: EngineState) {
        let Self { server, admission: taken, .. } = self;
        let (running, waiting) = taken.load();
        let counts = &taken.counts;
        server.engine().write(out);
        out.integer("protocol", PROTOCOL.into());
        out.text("state", state.as_str());
        out.text("subject", &self.subjects.requests());
        out.text("queueGroup", &self.group);
        let hooks = server.system.hooks().unwrap_or_default();
        let untrusted = hooks.iter().filter(|listing| !listing.trusted).count();
        out.integer("totalHooks", hooks.len() as i128);
        out.integer("untrustedHooks", untrusted as i128);
        out.integer("running", running as i128);
        out.integer("waiting", waiting as i128);
        for (name, count) in counts.all() {
            out.integer(name, count.into());
        }
        out.integer("eventsMissed", Counts::get(&counts.events_missed).into());
        out.integer("lost", self.dropped.count().into());
    }

    /// Returns the fleet metrics.
    #[cfg(feature = "metrics")]
    pub(super) fn snapshot(&self) -> crate::metrics::FleetSnapshot {
        let (running, waiting) = self.admission.load();
        let counts = &self.admission.counts;
        crate::metrics::FleetSnapshot {
            is_serving: self.is_serving.load(Ordering::Relaxed),
            running: running as u64,
            waiting: waiting as u64,
            requests: counts.all().to_vec(),
            lost: self.dropped.count(),
            events_missed: Counts::get(&counts.events_missed),
        }
    }

    /// Returns the subjects of requests by tools of the broker.
    pub(super) fn service_subjects(&self) -> [String; 3] {
        [
            "$SRV.*".to_owned(),
            format!("$SRV.*.{SERVICE}"),
            format!("$SRV.*.{SERVICE}.{}", self.server.id),
        ]
    }

    /// Returns the answer to such a request.
    fn service_answer(&self, subject: &str, state: EngineState) -> Option<Vec<u8>> {
        match subject.split('.').nth(1)? {
            "PING" => Some(self.service("ping", |_| {})),
            "INFO" => Some(self.service("info", |out| {
                out.text("description", "Runs hooks of AI agents");
                out.objects("endpoints", &[()], |out, ()| self.endpoint(out));
            })),
            "STATS" => Some(self.service("stats", |out| {
                let uptime = self.started.elapsed().unwrap_or_default();
                out.text("started", &timestamp_before(uptime));
                out.objects("endpoints", &[()], |out, ()| self.statistics(out, state));
            })),
            _ => None,
        }
    }

    fn service(&self, kind: &str, write_more: impl FnOnce(&mut ObjectWriter<'_>)) -> Vec<u8> {
        ObjectWriter::line(|out| {
            let engine = self.server.engine();
            out.text("type", &format!("io.nats.micro.v1.{kind}_response"));
            out.text("name", SERVICE);
            out.text("id", &engine.id);
            out.text("version", &engine.version);
            out.object("metadata", |out| {
                out.text("subject", &self.subjects.requests());
                out.text("protocol", &PROTOCOL.to_string());
                out.optional_text("settingsHash", engine.settings_hash.as_deref());
            });
            write_more(out);
        })
    }

    fn endpoint(&self, out: &mut ObjectWriter<'_>) {
        out.text("name", "request");
        out.text("subject", &self.subjects.requests());
        out.text("queue_group", &self.group);
    }

    fn statistics(&self, out: &mut ObjectWriter<'_>, state: EngineState) {
        let counts = &self.admission.counts;
        let (answered, failed) = (Counts::get(&counts.answered), Counts::get(&counts.failed));
        let nanoseconds = i128::from(Counts::get(&counts.microseconds)) * 1_000;
        let all = i128::from(answered + failed);
        self.endpoint(out);
        out.integer("num_requests", all);
        out.integer("num_errors", failed.into());
        out.text("last_error", "");
        out.integer("processing_time", nanoseconds);
        out.integer("average_processing_time", nanoseconds / all.max(1));
        out.object("data", |out| self.write(out, state));
    }
}

//! The run of one request that an engine has taken: parse, run, and reply.

use std::pin::pin;
use std::sync::Arc;
use std::time::{Duration, Instant};

use async_nats::{Client, Message};
use bytes::Bytes;
use hook_bus::live::ClientServices;
use hook_bus::{
    AnsweringEngine, BusClient, HookExecutionRequest, HookExecutionResponse, HookSystem,
};
use hook_json::text::shortened;
use hook_json::{JsonObject, ObjectWriter, RawJson, RawObject};

use super::admission::{AdmittedRequest, Counts};
use super::fitness::{Fitness, Refusal, RequestCheck};
use super::message::{self, MAX_HOPS, PROTOCOL};
use super::subjects::{NO_USER, Subjects, is_for_event};

/// The maximum interval between two reports that a request is being worked on.
const HEARTBEAT: Duration = Duration::from_secs(1);

/// The minimum interval, for a request with a short deadline.
const MIN_HEARTBEAT: Duration = Duration::from_millis(20);

/// The state that all requests of an engine share.
#[derive(Debug)]
pub(super) struct Server {
    pub(super) system: Arc<HookSystem>,
    pub(super) requests: BusClient,
    pub(super) id: String,
    pub(super) subjects: Subjects,
    pub(super) fitness: Arc<Fitness>,
}

impl Server {
    /// Returns this engine with its present settings.
    pub(super) fn engine(&self) -> AnsweringEngine {
        AnsweringEngine::new(self.id.clone(), self.system.settings_hash())
    }

    /// Serves a request until it is answered or cancelled.
    pub(super) async fn serve(
        self: Arc<Self>,
        client: Client,
        message: Message,
        admitted: AdmittedRequest,
    ) {
        let started = Instant::now();
        Counts::add(&admitted.counts().accepted);
        let (request, check) = self.read(&message);
        let id = request.correlation_id().clone();
        // Frees the text, the largest part of the message.
        let subject = message.subject;
        drop(message.payload);
        let heartbeat = heartbeat(request.deadline());
        let response = {
            let mut running = pin!(self.run(&admitted, request, started));
            let mut beat =
                tokio::time::interval_at(tokio::time::Instant::now() + heartbeat, heartbeat);
            beat.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
            loop {
                tokio::select! {
                    biased;
                    () = admitted.cancelled.cancelled() => break None,
                    response = &mut running => break response,
                    _ = beat.tick() => send_reply(&client, admitted.reply(), message::working(&id)).await,
                }
            }
        };
        let Some(mut response) = response else {
            Counts::add(&admitted.counts().cancelled);
            return;
        };
        if let Some(refused) = check.refusal() {
            // Another engine may take it.
            let line = match refused {
                Refusal::Unfit => {
                    Counts::add(&admitted.counts().busy);
                    message::busy()
                }
                Refusal::OtherSettings => {
                    Counts::add(&admitted.counts().mismatched);
                    message::other_settings(check.settings().as_deref())
                }
            };
            send_reply(&client, admitted.reply(), line).await;
            return;
        }
        let settings = check.settings().or_else(|| self.system.settings_hash());
        response.engine = Some(Arc::new(AnsweringEngine::new(self.id.clone(), settings)));
        let line = ObjectWriter::line(|out| {
            response.write(out);
            out.integer("protocol", PROTOCOL.into());
        });
        let limit = client.max_payload();
        let line = match message::fits(line.len(), limit) {
            true => line,
            false => {
                tracing::warn!(
                    target: "hook::nats",
                    correlation_id = %id,
                    subject = %subject,
                    bytes = line.len(),
                    limit,
                    "the response is larger than a message of the broker may be"
                );
                message::too_large(&id, line.len(), limit)
            }
        };
        send_reply(&client, admitted.reply(), line).await;
        let micros = u64::try_from(started.elapsed().as_micros()).unwrap_or(u64::MAX);
        let counts = admitted.counts();
        counts.microseconds.fetch_add(micros, std::sync::atomic::Ordering::Relaxed);
        Counts::add(if response.success() { &counts.answered } else { &counts.failed });
    }

    /// Parses a message as a request or an invalid one, with the check of its engine.
    fn read(&self, message: &Message) -> (HookExecutionRequest, Arc<RequestCheck>) {
        let text = String::from_utf8_lossy(&message.payload).into_owned();
        let (request, expected) = match RawObject::parse(text.as_str()) {
            Ok(object) => {
                let fields = object.fields();
                (read(message, &object, &fields), message::expected(&fields))
            }
            // Reports the position of the error.
            Err(_) => (HookExecutionRequest::from_json(&text), None),
        };
        // The broker enforces this key: other users cannot read replies below it.
        let user = message.reply.as_ref().and_then(|reply| self.subjects.user_of_reply(reply));
        let user = user.filter(|name| *name != NO_USER);
        let check = Arc::new(RequestCheck::new(&self.fitness, expected));
        // A client behind a broker serves no host calls.
        let request = request.with_host_services(ClientServices::none());
        let request = request.with_client_key(user.map(Arc::from));
        (request.with_engine_check(Arc::clone(&check) as _), check)
    }

    async fn run(
        &self,
        admitted: &AdmittedRequest,
        request: HookExecutionRequest,
        started: Instant,
    ) -> Option<HookExecutionResponse> {
        let _permit = admitted.run_permit().await?;
        // The deadline counts from the arrival, not from the start of the run.
        let remaining =
            request.deadline().map(|deadline| deadline.saturating_sub(started.elapsed()));
        let request = match remaining {
            Some(remaining) => request.with_deadline(remaining),
            None => request,
        };
        self.requests.request(request).await.ok()
    }
}

/// Returns the interval of reports for a request with this deadline: several within the time after
/// which its client assumes that the engine is lost.
fn heartbeat(deadline: Option<Duration>) -> Duration {
    let interval = deadline.map_or(HEARTBEAT, |deadline| deadline / 8);
    interval.clamp(MIN_HEARTBEAT, HEARTBEAT)
}

/// Reads a message as a request, and rejects one that must not be served.
fn read(message: &Message, object: &RawObject, fields: &JsonObject) -> HookExecutionRequest {
    let request = HookExecutionRequest::from_object(object);
    let event = fields.get("eventName").and_then(RawJson::to_text).unwrap_or_default();
    let problem = message::other_protocol(fields).or_else(|| {
        // A client that may send requests for one event must not send them for another.
        let is_of_event = is_for_event(&message.subject, &event);
        (!is_of_event && request.envelope_error().is_none()).then(|| {
            format!(
                "the request is about `{}`, and was sent under the subject `{}`",
                shortened(&event),
                shortened(&message.subject)
            )
        })
    });
    let hops = message::hops(fields);
    let problem = problem.or_else(|| {
        (hops >= MAX_HOPS).then(|| {
            format!(
                "{MAX_HOPS} engines have had the request before: fleets ask each other in a circle; look at \
                 `upstream` in the settings of the engines"
            )
        })
    });
    let request = match problem {
        Some(why) => refusal(fields, why).with_correlation_id(request.correlation_id().clone()),
        None => request,
    };
    request.with_hops(hops)
}

/// Returns a request that is answered `invalid_request`, as guards of its event want.
fn refusal(fields: &JsonObject, why: String) -> HookExecutionRequest {
    let event = fields.get("eventName").and_then(RawJson::to_text);
    HookExecutionRequest::rejected(event.as_deref(), why)
}

/// Sends a reply to a client.
pub(super) async fn send_reply(client: &Client, reply: &str, line: Vec<u8>) {
    if let Err(error) = client.publish(reply.to_owned(), Bytes::from(line)).await {
        tracing::warn!(target: "hook::nats", "failed to answer: {error}");
    }
}

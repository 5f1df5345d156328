//! Serving one client over a pair of byte streams: requests in, responses out as they complete.
//!
//! Reading, running and writing happen concurrently, so a client may send everything before it
//! reads anything. The amount of output not yet written is limited; at the limit nothing more is
//! read until the client reads.

use std::collections::hash_map::Entry;
use std::collections::{HashMap, HashSet, VecDeque};
use std::future::poll_fn;
use std::io;
use std::pin::pin;
use std::sync::Arc;
use std::task::Poll;
use std::time::Duration;

use futures::future::BoxFuture;
use futures::stream::FuturesUnordered;
use futures::{FutureExt, StreamExt};
use hook_protocol::{EventDefinition, FailureCode};
use hook_run::ToHook;
use hook_settings::AuditLevel;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::task::unconstrained;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use super::LineReader;
use super::bridge::{BridgeMessage, answer_line};
use super::live::{ErrorReply, LiveMessage, hook_list_line, registration_line, resumed_line};
use super::message::{
    ClientMessage, audit_line, event_defined_line, hello_line, lagged_line, reload_settings,
    with_optional_id,
};
use super::queues::{Inbox, Outbox};
use super::services::Services;
use super::status::worker_states;
use super::trigger::{TriggerError, TriggerMessage, error_line};
use super::triggers::{TriggerEnd, Triggers};
use crate::audit::{Audit, AuditEntry};
use crate::bridge::repeats::{FirstCall, Turn};
use crate::bridge::{Bridge, BridgeAnswer};
use crate::bus::{
    BusClient, Lagged, MessageBus, PublishError, RequestContext, Submitted, Subscription,
};
use crate::handler::DeclaredEvent;
use crate::journal::JournalFollower;
use crate::live::LiveConnection;
use crate::message::{
    CorrelationId, HookExecutionRequest, HookExecutionResponse, HookProgress, RequestKey,
};
use crate::system::HookSystem;

/// The maximum number of bytes queued for a client that does not read.
const MAX_UNREAD_BYTES: usize = 64 * 1024 * 1024;

/// The maximum number of requests in flight of a client that is behind with reading, and the number
/// of queued bytes from which it is: each request may answer with megabytes.
const MAX_IN_FLIGHT_BEHIND: usize = 16;
const BEHIND_BYTES: usize = 1024 * 1024;

/// The maximum number of reloads that wait for the running one; each gets its answer.
const MAX_RELOADS: usize = 64;

/// The time that a client has to read its last answers once the server stops.
const LAST_READ_TIMEOUT: Duration = Duration::from_secs(2);

/// The maximum number of requests in flight of one client.
const MAX_IN_FLIGHT: usize = 128;

/// The maximum number of lines handled in a row, if read together, before anything else.
const MAX_LINES_BATCH: usize = 64;

/// The end of a client's connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ClientEnd {
    /// The client's input ended and everything was answered.
    Finished,
    /// The client does not read any more; its requests were cancelled.
    Gone,
}

/// Serves a client until its input has ended and all its requests are answered, or until it is
/// gone. Queued output is written together, and flushed before waiting. Once `stop` is cancelled
/// nothing more is read.
///
/// # Errors
/// If its input cannot be read. A client that does not read is no error.
pub async fn serve_client<R, W>(
    system: &HookSystem,
    reader: R,
    writer: W,
    stop: &CancellationToken,
) -> io::Result<ClientEnd>
where
    R: AsyncRead + Unpin,
    W: AsyncWrite + Unpin,
{
    let lines = LineReader::new(reader);
    serve_until_disconnected(system, lines, writer, stop, None, std::future::pending()).await
}

/// Like [`serve_client`], with the client's process group, if known, and a future that ends when
/// the client is gone, even if nothing is written to it.
pub(super) async fn serve_until_disconnected<R, W>(
    system: &HookSystem,
    mut lines: LineReader<R>,
    writer: W,
    stop: &CancellationToken,
    group: Option<u32>,
    disconnected: impl Future<Output = ()>,
) -> io::Result<ClientEnd>
where
    R: AsyncRead + Unpin,
    W: AsyncWrite + Unpin,
{
    let mut disconnected = pin!(disconnected);
    let mut client = Client {
        system,
        bus: system.bus().client(group),
        outbox: Outbox::new(writer),
        group,
        depths: Vec::new(),
        progress: None,
        tail: None,
        audit: None,
        declared_events: Vec::new(),
        running: FuturesUnordered::new(),
        requests: HashMap::new(),
        bridges: HashMap::new(),
        answered: AnsweredRequests::default(),
        cancels: HashMap::new(),
        reloads: Reloads::default(),
        live_connection: None,
        services: Services::default(),
        triggers: Triggers::default(),
    };
    let live = system.live_clients().connect();
    client.outbox.push(hello_line(system, live.token()));
    client.live_connection = Some(live);
    let (mut reading, mut result) = (true, Ok(ClientEnd::Finished));
    let (mut stopped, mut read_timeout) = (false, pin!(tokio::time::sleep(LAST_READ_TIMEOUT)));
    let mut stopping = pin!(stop.cancelled());
    while reading && !stopped || client.is_busy() || client.has_pending_calls() {
        let unread = client.is_unread();
        // After stop, only answers of pending calls are read.
        let may_read = reading && client.may_read() && (!stopped || client.has_pending_calls());
        let max_in_flight = client.max_in_flight();
        tokio::select! {
            () = &mut stopping, if !stopped => {
                stopped = true;
                client.stop();
                read_timeout.as_mut().reset(Instant::now() + LAST_READ_TIMEOUT);
            }
            () = &mut read_timeout, if stopped && !client.outbox.is_empty() => {
                return Ok(ClientEnd::Gone);
            }
            line = lines.next(), if may_read => match line {
                Ok(Some(line)) => {
                    client.handle_unless_stopped(stopped, ClientMessage::read(line));
                    for _ in 1..MAX_LINES_BATCH {
                        if !client.may_read() {
                            break;
                        }
                        let Some(line) = lines.next_buffered() else { break };
                        client.handle_unless_stopped(stopped, ClientMessage::read(line));
                    }
                }
                // The client's hooks cannot answer any more; its earlier requests are still
                // answered.
                Ok(None) => reading = client.input_ended(),
                Err(error) => (reading, result) = (client.input_ended(), Err(error)),
            },
            (depth, key, submitted) = submit(&mut client.depths, max_in_flight, system.bus()) => {
                client.handle_submitted(depth, key, submitted);
            }
            // Results stay where they are while the client does not read.
            Some(finished) = client.running.next(), if !unread => client.handle_finished(finished),
            progress = next_progress(&mut client.progress), if !unread => {
                client.push_progress(progress, None);
            }
            message = next_call(&mut client.live_connection), if !unread => {
                client.outbox.push(message.to_line());
            }
            line = client.services.next(), if !unread => client.outbox.push(line),
            line = client.triggers.next_chunk(), if !unread => client.outbox.push(line),
            // Sent only as fast as the client reads, so that little is queued here.
            line = next_line(&mut client.tail), if client.outbox.bytes <= BEHIND_BYTES => {
                client.outbox.push(line);
            }
            entry = next_entry(&mut client.audit), if client.outbox.bytes <= BEHIND_BYTES => {
                client.outbox.push(audit_line(&entry));
            }
            written = client.outbox.write() => {
                if written.is_err() {
                    return Ok(ClientEnd::Gone);
                }
                if stopped {
                    read_timeout.as_mut().reset(Instant::now() + LAST_READ_TIMEOUT);
                }
            }
            () = &mut disconnected => return Ok(ClientEnd::Gone),
        }
        if (!reading || stopped) && !client.is_busy() {
            client.push_last_lines();
        }
    }
    if let Some(live) = client.live_connection.take().filter(|_| stopped) {
        live.close_for_shutdown();
    }
    result
}

/// A finished task of the client.
enum Finished {
    Response { depth: usize, key: RequestKey, response: Option<Box<HookExecutionResponse>> },
    Reloaded(Vec<u8>),
    Bridged(Vec<u8>),
    Repeated(Box<Repeated>),
    Triggered(TriggerEnd),
}

/// An agent's call that came a second time, with the answer to the first one, if that was answered.
struct Repeated {
    bridge: Bridge,
    request: HookExecutionRequest,
    answer: Option<BridgeAnswer>,
}

struct Client<'s, W> {
    system: &'s HookSystem,
    /// The client on the bus, with its fair share of the hook slots.
    bus: BusClient,
    outbox: Outbox<W>,
    /// The client's process group, which may be that of a hook.
    group: Option<u32>,
    /// The client's requests by nesting depth; depth 0 is outside of hooks.
    depths: Vec<Depth>,
    progress: Option<Subscription<HookProgress>>,
    tail: Option<JournalFollower>,
    audit: Option<Audit>,
    /// The events that the client declared.
    declared_events: Vec<DeclaredEvent>,
    running: FuturesUnordered<BoxFuture<'s, Finished>>,
    /// The client's requests that are not answered yet.
    requests: HashMap<RequestKey, CorrelationId>,
    /// The bridges of those requests that an agent sent in its own format.
    bridges: HashMap<RequestKey, (Bridge, Option<FirstCall>)>,
    /// The last answered requests, whose async hooks may still run.
    answered: AnsweredRequests,
    /// The tokens that cancel requests. Ids are per client, and even there not unique.
    cancels: HashMap<CorrelationId, HashMap<RequestKey, CancellationToken>>,
    reloads: Reloads,
    /// The client's connection for its hooks.
    live_connection: Option<LiveConnection>,
    services: Services,
    triggers: Triggers,
}

/// The requests of one nesting depth. Depths do not wait for each other: a hook may wait for a
/// nested request over its agent's own connection.
#[derive(Default)]
struct Depth {
    inbox: Inbox,
    in_flight: usize,
}

/// The maximum number of answered requests kept for progress of their async hooks.
const MAX_ANSWERED: usize = 1_024;

/// The last answered requests.
#[derive(Default)]
struct AnsweredRequests {
    keys: HashSet<RequestKey>,
    order: VecDeque<RequestKey>,
}

impl AnsweredRequests {
    fn insert(&mut self, key: RequestKey) {
        if self.order.len() >= MAX_ANSWERED
            && let Some(oldest) = self.order.pop_front()
        {
            self.keys.remove(&oldest);
        }
        self.order.push_back(key);
        self.keys.insert(key);
    }

    fn contains(&self, key: RequestKey) -> bool {
        self.keys.contains(&key)
    }
}

/// The requested reloads. All that arrive during one are done by the next one.
#[derive(Default)]
struct Reloads {
    queued: usize,
    running: usize,
}

impl<W: AsyncWrite + Unpin> Client<'_, W> {
    /// Checks whether the limit of output not yet read is reached.
    fn is_unread(&self) -> bool {
        self.outbox.bytes >= MAX_UNREAD_BYTES
    }

    /// Returns how many requests of one depth may be in flight now.
    fn max_in_flight(&self) -> usize {
        match self.outbox.bytes {
            _ if self.is_unread() => 0,
            bytes if bytes > BEHIND_BYTES => MAX_IN_FLIGHT_BEHIND,
            _ => MAX_IN_FLIGHT,
        }
    }

    fn may_read(&self) -> bool {
        !self.is_unread()
            && self.depths.iter().map(|depth| depth.inbox.bytes).sum::<usize>() < MAX_UNREAD_BYTES
            && self.reloads.queued < MAX_RELOADS
    }

    fn is_busy(&self) -> bool {
        self.depths.iter().any(|depth| !depth.inbox.is_empty())
            || !self.running.is_empty()
            || !self.outbox.is_empty()
    }

    /// Checks whether a call of the client's hooks is pending.
    fn has_pending_calls(&self) -> bool {
        self.live_connection.as_ref().is_some_and(LiveConnection::has_pending_calls)
    }

    fn handle(&mut self, message: ClientMessage) {
        match message {
            ClientMessage::Request(request) => {
                let services = self.services.offered();
                self.request(request.with_host_services(services));
            }
            ClientMessage::Invalid(line) => {
                self.fail_calls(line.call, &line.reason);
                self.handle(ClientMessage::Request(line.request));
            }
            ClientMessage::Subscribe => {
                self.progress.get_or_insert_with(|| self.system.bus().subscribe());
            }
            ClientMessage::Tail => self.start_tail(),
            ClientMessage::Audit(level) => self.audit(level),
            ClientMessage::Cancel(id) => {
                let cancels = self.cancels.remove(&id).unwrap_or_default();
                cancels.values().for_each(CancellationToken::cancel);
            }
            ClientMessage::DefineEvent(definition, id) => self.declare_event(*definition, id),
            ClientMessage::Bridge(message) => self.bridge(*message),
            ClientMessage::Live(message) => self.live(*message),
            ClientMessage::Trigger(message) => self.trigger(message),
            ClientMessage::Status => {
                let states = self.system.worker_states().unwrap_or_default();
                self.outbox.push(worker_states(&states));
            }
            ClientMessage::Reload => {
                self.reloads.queued += 1;
                self.reload();
            }
        }
    }

    /// Handles a message; after stop, only one that a pending call waits for.
    fn handle_unless_stopped(&mut self, stopped: bool, message: ClientMessage) {
        let may_answer_call = |message: &LiveMessage| {
            matches!(
                message,
                LiveMessage::FromHook(_)
                    | LiveMessage::InvalidAnswer { .. }
                    | LiveMessage::HostResult { .. }
            )
        };
        match message {
            ClientMessage::Live(message) if may_answer_call(&message) => self.live(*message),
            // The invalid line may have been the answer.
            ClientMessage::Invalid(line) if stopped => self.fail_calls(line.call, &line.reason),
            message if !stopped => self.handle(message),
            _ => {}
        }
    }

    /// Announces the end of the connection to the client's hooks, and ends its triggers.
    fn stop(&mut self) {
        self.triggers.end_all(&TriggerError::new("shutting_down", "the server is ending"));
        let has_hooks = self.live_connection.as_ref().is_some_and(LiveConnection::has_hooks);
        if has_hooks {
            self.outbox.push(ToHook::Close { reason: "shutdown" }.to_line());
        }
    }

    /// Handles a message about the client's hooks or services.
    fn live(&mut self, message: LiveMessage) {
        let Some(live) = &mut self.live_connection else { return };
        let answer = match message {
            LiveMessage::Hello(hello) => {
                let withdrawn = self.services.offer(hello.host_services);
                withdrawn.into_iter().for_each(|line| self.outbox.push(line));
                let Some(token) = hello.client_token else { return };
                match live.resume(&token) {
                    Ok(hook_ids) => resumed_line(&token, &hook_ids),
                    Err(error) => ErrorReply::unknown_token(error).to_line(),
                }
            }
            LiveMessage::Register(Ok(register)) => {
                let (id, event) = (register.hook_id.clone(), register.event_name.clone());
                match live.register(register) {
                    Ok(()) => registration_line("hook-registered", &id),
                    Err(error) => {
                        ErrorReply::for_hook("hook-register", &id, Some(&event), &error).to_line()
                    }
                }
            }
            LiveMessage::Register(Err(reply)) | LiveMessage::Invalid(reply) => reply.to_line(),
            LiveMessage::Unregister(id) => match live.unregister(&id) {
                Ok(()) => registration_line("hook-unregistered", &id),
                Err(error) => ErrorReply::for_hook("hook-unregister", &id, None, &error).to_line(),
            },
            LiveMessage::List => hook_list_line(&live.list()),
            LiveMessage::FromHook(hook_message) => return live.receive(hook_message),
            LiveMessage::InvalidAnswer { call, reason, reply: refused } => {
                self.fail_calls(call, &reason);
                refused.to_line()
            }
            LiveMessage::HostResult { id, outcome } => {
                return self.services.handle_result(&id, outcome);
            }
        };
        self.outbox.push(answer);
    }

    /// Fails the calls that an invalid line may have answered.
    fn fail_calls(&self, call: Option<u64>, reason: &str) {
        if let Some(live) = &self.live_connection {
            live.receive_invalid(
                call,
                format!("its client sent a line that is no message: {reason}"),
            );
        }
    }

    /// Handles the end of input: pending calls of the client's hooks, services and triggers cannot be
    /// answered any more. Returns `false`, as there is no more to read.
    fn input_ended(&mut self) -> bool {
        self.live_connection = None;
        let withdrawn = self.services.close();
        withdrawn.into_iter().for_each(|line| self.outbox.push(line));
        false
    }

    /// Handles a message about a trigger.
    fn trigger(&mut self, message: TriggerMessage) {
        match message {
            TriggerMessage::Start(trigger) => {
                match self.triggers.start(*trigger, self.system, &self.bus, &self.services) {
                    Ok(run) => self.running.push(run.map(Finished::Triggered).boxed()),
                    Err(refusal) => self.outbox.push(refusal),
                }
            }
            TriggerMessage::Invalid(id, error) => self.outbox.push(error_line(&id, &error)),
            TriggerMessage::Chunk(id, chunk) => {
                if !self.triggers.feed(&id, chunk) {
                    self.services.count_dropped();
                }
            }
            TriggerMessage::Cancel(id) => self.triggers.cancel(&id),
            TriggerMessage::Unidentified(reply) => self.outbox.push(reply.to_line()),
        }
    }

    /// Queues a trigger's result, after the lines that belong before it.
    fn finish_trigger(&mut self, end: TriggerEnd) {
        // The budget of the task must not make it look as if there were no more.
        while let Some(line) = unconstrained(self.triggers.next_chunk()).now_or_never() {
            self.outbox.push(line);
        }
        while let Some(line) = unconstrained(self.services.next()).now_or_never() {
            self.outbox.push(line);
        }
        self.triggers.remove(&end.id);
        self.outbox.push(end.line);
    }

    /// Handles an agent's call. Input that the agent could not have sent is rejected as malformed.
    fn bridge(&mut self, message: BridgeMessage) {
        let input = message.input.clone();
        let (bridge, request) = match message.request(&self.system.events()) {
            Ok(call) => call,
            Err((reason, id)) => {
                let request = HookExecutionRequest::invalid(FailureCode::InvalidRequest, reason);
                return self.request(with_optional_id(id, request));
            }
        };
        // Those that wait for the answer to another call have a limit, too.
        let turn = match self.running.len() < MAX_IN_FLIGHT {
            true => self.system.repeats().enter(&bridge, &input, self.system.settings_hash()),
            false => None,
        };
        match turn {
            Some(Turn::First(first)) => self.start_bridge(bridge, request, Some(first)),
            None => self.start_bridge(bridge, request, None),
            Some(Turn::Repeat(repeat)) => self.running.push(
                async move {
                    let answer = repeat.answer().await;
                    Finished::Repeated(Box::new(Repeated { bridge, request, answer }))
                }
                .boxed(),
            ),
        }
    }

    fn start_bridge(
        &mut self,
        bridge: Bridge,
        request: HookExecutionRequest,
        first: Option<FirstCall>,
    ) {
        let key = RequestKey::next();
        self.bridges.insert(key, (bridge, first));
        let request = request.with_host_services(self.services.offered());
        let context = RequestContext { key, ..self.context(&request) };
        self.submit_or_queue(request, context);
    }

    /// Declares an event. Repeated declarations by one client count once.
    fn declare_event(&mut self, definition: EventDefinition, id: Option<CorrelationId>) {
        match self.system.declare_event(definition) {
            Ok(declared) => {
                self.outbox.push(event_defined_line(declared.event(), id.as_ref()));
                if self.declared_events.iter().all(|other| other.event() != declared.event()) {
                    self.declared_events.push(declared);
                }
            }
            Err(error) => {
                let request =
                    HookExecutionRequest::invalid(FailureCode::InvalidRequest, error.to_string());
                self.request(with_optional_id(id, request));
            }
        }
    }

    fn start_tail(&mut self) {
        if self.tail.is_none() {
            let (following, first) = JournalFollower::start(self.system);
            self.outbox.push(first);
            self.tail = Some(following);
        }
    }

    fn audit(&mut self, level: AuditLevel) {
        match &mut self.audit {
            audit if level == AuditLevel::Off => *audit = None,
            Some(audit) => audit.set_level(level),
            audit @ None => *audit = Some(self.system.audit(level)),
        }
    }

    /// Queues the last audit and tail entries, as far as there is room.
    fn push_last_lines(&mut self) {
        while self.outbox.bytes <= BEHIND_BYTES
            && let Some(entry) = next_entry(&mut self.audit).now_or_never()
        {
            self.outbox.push(audit_line(&entry));
        }
        while self.outbox.bytes <= BEHIND_BYTES
            && let Some(line) = next_line(&mut self.tail).now_or_never()
        {
            self.outbox.push(line);
        }
    }

    fn reload(&mut self) {
        if self.reloads.running == 0 && self.reloads.queued > 0 {
            self.reloads.running = std::mem::take(&mut self.reloads.queued);
            let system = self.system;
            self.running
                .push(async move { Finished::Reloaded(reload_settings(system).await) }.boxed());
        }
    }

    /// Submits a request at once if the bus has room and no other request waits.
    fn request(&mut self, request: HookExecutionRequest) {
        let context = self.context(&request);
        self.submit_or_queue(request, context);
    }

    /// Returns the context of a new request of this client.
    fn context(&self, request: &HookExecutionRequest) -> RequestContext {
        RequestContext::new(self.bus.lane(), self.system.bus().origin_of(request, self.group))
    }

    fn submit_or_queue(&mut self, request: HookExecutionRequest, mut context: RequestContext) {
        let (max_in_flight, index) = (self.max_in_flight(), context.origin.depth as usize);
        let key = context.key;
        if self.depths.len() <= index {
            self.depths.resize_with(index + 1, Depth::default);
        }
        let Some(depth) = self.depths.get_mut(index) else { return };
        if depth.inbox.is_empty()
            && depth.in_flight < max_in_flight
            && let Some(permit) = self.system.bus().try_admit(&request, context.origin.depth)
        {
            let submitted = self.system.bus().submit(permit, request, context);
            // Most requests are answered already, with nothing to cancel.
            if let Ok(Submitted::Running(running)) = &submitted {
                self.track(key, running.correlation_id(), running.cancellation());
            }
            self.handle_submitted(index, key, submitted);
        } else {
            let cancel = CancellationToken::new();
            context.cancel = Some(cancel.clone());
            let id = request.correlation_id().clone();
            depth.inbox.push(request, context);
            self.track(key, &id, &cancel);
        }
    }

    /// Records a request that is not answered at once.
    fn track(&mut self, key: RequestKey, id: &CorrelationId, cancel: &CancellationToken) {
        self.cancels.entry(id.clone()).or_default().insert(key, cancel.clone());
        self.requests.insert(key, id.clone());
    }

    fn handle_submitted(
        &mut self,
        depth: usize,
        key: RequestKey,
        submitted: Result<Submitted, PublishError>,
    ) {
        match submitted {
            Ok(Submitted::Answered(response)) => self.respond(key, &response),
            Ok(Submitted::Running(published)) => {
                let response = published.response();
                if let Some(depth) = self.depths.get_mut(depth) {
                    depth.in_flight += 1;
                }
                self.running.push(
                    async move {
                        let response = response.await.map(Box::new);
                        Finished::Response { depth, key, response }
                    }
                    .boxed(),
                );
            }
            // A waiting request is refused only if the runtime is gone.
            Err(error) => tracing::error!("request not accepted: {error}"),
        }
    }

    fn respond(&mut self, key: RequestKey, response: &HookExecutionResponse) {
        // Progress of the request's hooks comes before the response.
        while let Some(progress) = next_progress(&mut self.progress).now_or_never() {
            self.push_progress(progress, Some(key));
        }
        self.untrack(key);
        if self.progress.is_some() {
            self.answered.insert(key);
        }
        match self.bridges.remove(&key) {
            // The server ends: the client runs the hooks with its own engine.
            Some(_) if is_server_end(response) => self.outbox.push(response.to_json()),
            Some((bridge, first)) => {
                let missing_guards = |event| self.system.unread_guards(event);
                let pending_answer = bridge.pending_answer(self.system, response, missing_guards);
                let id = response.correlation_id.clone();
                // It accesses files, so it runs on a blocking thread.
                let fallback = pending_answer.answer().clone();
                let task = tokio::task::spawn_blocking(move || pending_answer.finish());
                let finished = async move {
                    let answer = task.await.unwrap_or_else(|error| {
                        tracing::warn!(target: "hook::bridge", "a call was not written down: {error}");
                        fallback
                    });
                    if let Some(first) = first {
                        first.answer(&answer);
                    }
                    Finished::Bridged(answer_line(&id, &answer))
                };
                self.running.push(finished.boxed());
            }
            None => self.outbox.push(response.to_json()),
        }
    }

    fn handle_finished(&mut self, finished: Finished) {
        match finished {
            Finished::Response { depth, key, response } => {
                if let Some(depth) = self.depths.get_mut(depth) {
                    depth.in_flight -= 1;
                }
                match response {
                    Some(response) => self.respond(key, &response),
                    // The runtime has ended; subscribers got `cancelled`.
                    None => {
                        self.bridges.remove(&key);
                        self.untrack(key);
                    }
                }
            }
            Finished::Bridged(line) => self.outbox.push(line),
            Finished::Repeated(call) => {
                let Repeated { bridge, request, answer } = *call;
                match answer {
                    Some(answer) => {
                        self.outbox.push(answer_line(request.correlation_id(), &answer));
                    }
                    None => self.start_bridge(bridge, request, None),
                }
            }
            Finished::Triggered(end) => self.finish_trigger(end),
            Finished::Reloaded(message) => {
                for _ in 0..std::mem::take(&mut self.reloads.running) {
                    self.outbox.push(message.clone());
                }
                self.reload();
            }
        }
    }

    /// Queues progress of this client's requests: of pending ones, of the one being `answered`, and
    /// of async hooks of the last answered ones.
    fn push_progress(
        &mut self,
        progress: Result<Arc<HookProgress>, Lagged>,
        answered: Option<RequestKey>,
    ) {
        match progress {
            Ok(progress) => {
                let key = progress.request();
                let is_own = |key| {
                    answered == Some(key)
                        || self.requests.contains_key(&key)
                        || self.answered.contains(key)
                };
                if key.is_some_and(is_own) {
                    self.outbox.push(progress.to_json());
                }
            }
            Err(lag) => self.outbox.push(lagged_line(lag)),
        }
    }

    fn untrack(&mut self, key: RequestKey) {
        let Some(id) = self.requests.remove(&key) else { return };
        if let Entry::Occupied(mut cancels) = self.cancels.entry(id) {
            cancels.get_mut().remove(&key);
            if cancels.get().is_empty() {
                cancels.remove();
            }
        }
    }
}

impl<W> Drop for Client<'_, W> {
    /// Cancels the requests that cannot be answered any more, since the client is gone.
    fn drop(&mut self) {
        let cancels = self.cancels.values().flat_map(HashMap::values);
        cancels.for_each(CancellationToken::cancel);
    }
}

/// Checks whether a response is due to the server's end and not to hooks.
fn is_server_end(response: &HookExecutionResponse) -> bool {
    let end_codes = [FailureCode::ShuttingDown, FailureCode::Cancelled, FailureCode::NoHandler];
    response.error().is_some_and(|failure| end_codes.contains(&failure.code))
}

/// Submits the next waiting request once the bus has room; returns it with its depth. Pending while
/// there is none, or while the limit of its depth is in flight.
///
/// # Cancellation
/// Dropping the future loses nothing.
async fn submit(
    depths: &mut [Depth],
    max_in_flight: usize,
    bus: &MessageBus,
) -> (usize, RequestKey, Result<Submitted, PublishError>) {
    poll_fn(|context| {
        for (index, depth) in depths.iter_mut().enumerate() {
            if depth.in_flight < max_in_flight
                && let Poll::Ready((key, submitted)) = depth.inbox.poll_submit(bus, context)
            {
                return Poll::Ready((index, key, submitted));
            }
        }
        Poll::Pending
    })
    .await
}

/// Returns the next message to a client's hooks; pending while it has none.
async fn next_call(live: &mut Option<LiveConnection>) -> ToHook {
    match live {
        Some(live) => live.next().await,
        None => std::future::pending().await,
    }
}

/// Returns the next progress message of any request; pending without a subscription.
async fn next_progress(
    progress: &mut Option<Subscription<HookProgress>>,
) -> Result<Arc<HookProgress>, Lagged> {
    let Some(progress) = progress else { return std::future::pending().await };
    match progress.next().await {
        Some(progress) => progress,
        None => std::future::pending().await,
    }
}

/// Returns the next line of a client's tail; pending without one.
async fn next_line(tail: &mut Option<JournalFollower>) -> Vec<u8> {
    if let Some(following) = tail
        && let Some(line) = following.next().await
    {
        return line;
    }
    std::future::pending().await
}

/// Returns the next entry of a client's audit; pending without one.
async fn next_entry(audit: &mut Option<Audit>) -> AuditEntry {
    let Some(audit) = audit else { return std::future::pending().await };
    match audit.next().await {
        Some(entry) => entry,
        None => std::future::pending().await,
    }
}

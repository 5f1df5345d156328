//! The task of one client, which owns its connection to the engine. It runs from the first
//! registration or stream until the time to reconnect is over.

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;
use std::time::Duration;

use hook_bus::live::{HookRegister, ListedHook, LiveConnection, NotRegistered, RECONNECT_GRACE};
use hook_run::{FromHook, HookAnswer, ToHook};
use tokio::sync::{mpsc, oneshot};
use tokio::time::{Instant, sleep_until};
use tokio_util::sync::CancellationToken;
use tonic::{Code, Status, Streaming};

use super::answer::{self, Vocabulary};
use super::body::shutting_down;
use super::caller::{Caller, ClientState};
use super::event;
use super::names::{CLIENT_ID, MAX_STREAM_MESSAGE};
use super::proto::hooks::HookResponse;
use super::register::VOCABULARY;
use super::stream::{Events, OpenStream, StreamEvent, next_event};

/// The maximum number of remembered unanswered calls, more than may be pending at once.
const MAX_PENDING: usize = 1_024;

/// The time that a client has to read its last event after the server stops.
const FLUSH_TIMEOUT: Duration = Duration::from_secs(2);

/// A command for a client's task.
pub(super) enum Command {
    Register {
        register: HookRegister,
        knows_calls: bool,
        done: oneshot::Sender<Result<(), NotRegistered>>,
    },
    Unregister {
        hook_id: String,
        done: oneshot::Sender<Result<(), NotRegistered>>,
    },
    List {
        done: oneshot::Sender<Vec<ListedHook>>,
    },
    Attach(Box<Attach>),
}

/// A new stream of a client.
pub(super) struct Attach {
    pub(super) incoming: Streaming<HookResponse>,
    pub(super) caller: Arc<Caller>,
    /// `true` if the client proved its identity by its token.
    pub(super) has_token: bool,
    pub(super) knows_calls: bool,
    pub(super) done: oneshot::Sender<Result<Events, Status>>,
}

/// A call that was sent to the client.
struct PendingCall {
    call: u64,
    hook: String,
    cancelled: Option<Instant>,
}

/// An event of the task's loop.
enum ClientEvent {
    Order(Option<Command>),
    OnStream(StreamEvent),
    ToHook(ToHook),
    Stopped,
    TimedOut,
}

/// A client's task.
pub(super) struct RemoteClient {
    live: LiveConnection,
    commands: mpsc::Receiver<Command>,
    state: Arc<ClientState>,
    /// The answer format of each of its hooks.
    vocabularies: HashMap<String, Vocabulary>,
    /// Calls without an answer, oldest first.
    pending: VecDeque<PendingCall>,
    /// `true` if the client is known to use call ids, and so understands a cancelled call. A client
    /// of the first version would take a cancellation for an event.
    knows_calls: bool,
    stream: Option<OpenStream>,
    /// The deadline for a new stream.
    reconnect_deadline: Instant,
}

impl RemoteClient {
    /// Creates a connected client without a stream. Resumed hooks keep their answer formats.
    pub(super) fn new(
        mut live: LiveConnection,
        orders: mpsc::Receiver<Command>,
        known: Arc<ClientState>,
    ) -> Self {
        live.close();
        let own = live.list().into_iter().filter(|hook| hook.own).map(|hook| {
            let vocabulary = Vocabulary::of(hook.register.vocabulary.as_deref());
            (hook.register.hook_id, vocabulary)
        });
        let hooks = own.collect();
        Self {
            live,
            commands: orders,
            state: known,
            vocabularies: hooks,
            pending: VecDeque::new(),
            knows_calls: false,
            stream: None,
            reconnect_deadline: Instant::now() + RECONNECT_GRACE,
        }
    }

    /// Runs until the client is gone for good, or until `stop` is cancelled and no call of its
    /// hooks is pending.
    pub(super) async fn run(mut self, stop: CancellationToken) {
        let (mut stopped, mut flush_deadline) = (false, None);
        loop {
            if stopped && (self.stream.is_none() || !self.live.has_pending_calls()) {
                break;
            }
            let is_blocked = self.stream.as_ref().is_some_and(|stream| stream.pending.is_some());
            if !stopped || !is_blocked {
                flush_deadline = None;
            } else if flush_deadline.is_none() {
                flush_deadline = Some(Instant::now() + FLUSH_TIMEOUT);
            }
            let wake_at = match &self.stream {
                None => Some(self.reconnect_deadline),
                Some(_) => flush_deadline,
            };
            let Self { live, commands: orders, stream, .. } = &mut self;
            let has_stream = stream.is_some();
            let happened = tokio::select! {
                order = orders.recv() => ClientEvent::Order(order),
                stream_event = next_event(stream) => ClientEvent::OnStream(stream_event),
                message = live.next(), if has_stream && !is_blocked => ClientEvent::ToHook(message),
                () = stop.cancelled(), if !stopped => ClientEvent::Stopped,
                () = sleep_until(wake_at.unwrap_or_else(Instant::now)), if wake_at.is_some() => {
                    ClientEvent::TimedOut
                }
            };
            match happened {
                ClientEvent::Order(Some(order)) => self.handle_command(order),
                ClientEvent::OnStream(on_stream) => self.handle_stream_event(on_stream),
                ClientEvent::ToHook(message) => self.send(&message),
                ClientEvent::Stopped => stopped = true,
                // No handle to the task is left, or its deadline has passed.
                ClientEvent::Order(None) | ClientEvent::TimedOut => break,
            }
            if self.live.is_superseded() {
                break;
            }
            if self.stream.is_none() && self.vocabularies.is_empty() {
                break;
            }
        }
        // A sender that finds the queue closed creates a new client.
        self.commands.close();
        if let Some(stream) = self.stream.take() {
            stream.end_with(match self.live.is_superseded() {
                true => taken_over(),
                false => shutting_down(),
            });
        }
        self.state.set_connected(false);
        match stopped {
            true => self.live.close_for_shutdown(),
            false => self.live.disconnect(),
        }
    }

    fn handle_command(&mut self, command: Command) {
        match command {
            Command::Register { register, knows_calls, done } => {
                let vocabulary = Vocabulary::of(register.vocabulary.as_deref());
                let hook_id = register.hook_id.clone();
                let registered = self.live.register(register);
                if registered.is_ok() {
                    self.vocabularies.insert(hook_id, vocabulary);
                }
                self.knows_calls |= knows_calls;
                let _ = done.send(registered);
            }
            Command::Unregister { hook_id, done } => {
                let unregistered = self.live.unregister(&hook_id);
                if unregistered.is_ok() {
                    self.vocabularies.remove(&hook_id);
                }
                let _ = done.send(unregistered);
            }
            Command::List { done } => {
                let _ = done.send(self.live.list());
            }
            Command::Attach(attach) => self.attach(*attach),
        }
    }

    fn attach(&mut self, attach: Attach) {
        let Attach { incoming, caller, has_token, knows_calls, done } = attach;
        if self.stream.is_some() && !has_token {
            let _ = done.send(Err(has_a_stream()));
            return;
        }
        if let Some(previous) = self.stream.take() {
            previous.end_with(taken_over());
        }
        let (stream, events) = OpenStream::new(incoming);
        self.state.set_caller(&caller);
        self.state.set_connected(true);
        self.knows_calls |= knows_calls;
        // Pending calls are sent again.
        self.pending.clear();
        self.live.open();
        self.stream = Some(stream);
        // A client that is gone by now is detected later, as at any time.
        let _ = done.send(Ok(events));
    }

    fn handle_stream_event(&mut self, event: StreamEvent) {
        match event {
            StreamEvent::Sent => {}
            StreamEvent::Received(Some(Ok(response))) => self.receive(response),
            // A closed stream brings no more answers.
            StreamEvent::Closed | StreamEvent::Received(None) => self.disconnect(None),
            StreamEvent::Received(Some(Err(status))) => {
                let is_unreadable = matches!(status.code(), Code::OutOfRange | Code::Internal)
                    && std::error::Error::source(&status).is_none();
                if !is_unreadable {
                    return self.disconnect(None);
                }
                // The message does not tell which call it answers, so all of them fail.
                let why = format!(
                    "its client sent what is no message of at most {MAX_STREAM_MESSAGE} bytes: {}",
                    status.message()
                );
                for sent in std::mem::take(&mut self.pending) {
                    self.answer(sent.call, HookAnswer::Error(why.clone()));
                }
                self.disconnect(Some(status));
            }
        }
    }

    /// Closes the stream. The client may reconnect.
    fn disconnect(&mut self, status: Option<Status>) {
        if let (Some(stream), Some(status)) = (self.stream.take(), status) {
            stream.end_with(status);
        }
        self.live.close();
        self.state.set_connected(false);
        self.reconnect_deadline = Instant::now() + RECONNECT_GRACE;
    }

    fn answer(&self, call: u64, output: HookAnswer) {
        self.live.receive(FromHook::Answer { call: Some(call), answer: output });
    }

    fn receive(&mut self, response: HookResponse) {
        self.knows_calls |= !response.call_id.is_empty();
        if let Some(json) = &response.host_call {
            match answer::host_call(json) {
                Ok(request) => {
                    let by_id = || response.call_id.parse().ok();
                    let by_hook = || self.oldest(&response.hook_id);
                    let call = request.call.or_else(by_id).or_else(by_hook);
                    let answer::HostRequest { id, method, params, .. } = request;
                    self.live.receive(FromHook::HostCall { id, call, method, params });
                }
                // The hook would wait for a result that never comes, so its call fails.
                Err(why) => {
                    if let Some(sent) = self.take_pending(&response) {
                        self.answer(sent.call, HookAnswer::Error(why));
                    }
                }
            }
            return;
        }
        let Some(sent) = self.take_pending(&response) else {
            let call = response.call_id.parse().ok();
            self.live.receive(FromHook::Answer { call, answer: HookAnswer::Nothing });
            return;
        };
        let hook = &response.hook_id;
        let output = match hook.is_empty() || *hook == sent.hook {
            true => {
                let vocabulary =
                    self.vocabularies.get(&sent.hook).copied().unwrap_or(Vocabulary::Other);
                answer::interpret(&response, vocabulary)
            }
            false => HookAnswer::Error(format!(
                "the answer to the call {} names another hook, `{}`",
                sent.call,
                hook_json::text::shortened(hook)
            )),
        };
        self.answer(sent.call, output);
    }

    /// Removes and returns the call that a response answers. Without an id it is the oldest of its
    /// hook, even if it was cancelled: a late answer must not be taken for one to the next call.
    fn take_pending(&mut self, response: &HookResponse) -> Option<PendingCall> {
        let index = match response.call_id.is_empty() {
            true => {
                self.pending.retain(|sent| {
                    sent.cancelled.is_none_or(|cancelled| cancelled.elapsed() < RECONNECT_GRACE)
                });
                self.pending.iter().position(|sent| sent.hook == response.hook_id)
            }
            false => {
                let call: u64 = response.call_id.parse().ok()?;
                self.pending.iter().position(|sent| sent.call == call)
            }
        };
        self.pending.remove(index?)
    }

    fn oldest(&self, hook: &str) -> Option<u64> {
        let mut open = self.pending.iter().filter(|sent| sent.cancelled.is_none());
        open.find(|sent| sent.hook == hook).map(|sent| sent.call)
    }

    /// Sends a message of the engine as an event.
    fn send(&mut self, message: &ToHook) {
        let event = match message {
            ToHook::Call(call) => match event::call_event(call) {
                Ok(event) => {
                    if self.pending.len() >= MAX_PENDING {
                        self.pending.pop_front();
                    }
                    let hook = call.hook.to_string();
                    self.pending.push_back(PendingCall { call: call.call, hook, cancelled: None });
                    event
                }
                Err(length) => {
                    let why = format!(
                        "the event has {length} bytes, and a message of a stream may have \
                         {MAX_STREAM_MESSAGE}"
                    );
                    return self.answer(call.call, HookAnswer::Error(why));
                }
            },
            ToHook::Cancelled { call, hook } => {
                if let Some(sent) = self.pending.iter_mut().find(|sent| sent.call == *call) {
                    sent.cancelled = Some(Instant::now());
                }
                if !self.knows_calls {
                    return;
                }
                event::cancelled_event(*call, hook)
            }
            ToHook::HostResult { .. } => event::host_result_event(message),
            _ => return,
        };
        if let Some(stream) = &mut self.stream {
            stream.pending = Some(event);
        }
    }
}

fn taken_over() -> Status {
    Status::aborted("this client goes on over another connection")
}

/// Returns the status of a client that already has a stream, which only its token can take over.
pub(super) fn has_a_stream() -> Status {
    Status::already_exists(format!(
        "this client has a stream already; send its hook-client-token to take it over, or another {CLIENT_ID}"
    ))
}

/// Returns `true` if a registration has something that only clients with call ids send.
pub(super) fn knows_calls(register: &HookRegister, has_id: bool) -> bool {
    has_id
        || register.vocabulary.as_deref() != Some(VOCABULARY)
        || register.config.get("failBehavior").is_some()
}

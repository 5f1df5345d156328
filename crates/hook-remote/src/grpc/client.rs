//! The task of one client, which owns its connection to the engine. It runs from the first
//! registration or stream until the time to reconnect is over.

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;
use std::time::Duration;

use hook_bus::live::{HookRegister, ListedHook, LiveConnection, NotRegistered, RECONNECT_GRACE};
use hook_run::{FromHook, Said, ToHook};
use tokio::sync::{mpsc, oneshot};
use tokio::time::{Instant, sleep_until};
use tokio_util::sync::CancellationToken;
use tonic::{Code, Status, Streaming};

use super::answer::{self, Words};
use super::body::shutting_down;
use super::caller::{Caller, Known};
use super::event;
use super::names::{CLIENT_ID, MAX_STREAM_MESSAGE};
use super::proto::hooks::HookResponse;
use super::register::VOCABULARY;
use super::stream::{Events, OnStream, OpenStream, next_on};

/// The maximum number of remembered unanswered calls, more than may be pending at once.
const MAX_SENT: usize = 1_024;

/// The time that a client has to read its last event after the server stops.
const UNREAD_AT_END: Duration = Duration::from_secs(2);

/// A command for a client's task.
pub(super) enum Order {
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
struct Sent {
    call: u64,
    hook: String,
    cancelled: Option<Instant>,
}

/// An event of the task's loop.
enum Happened {
    Order(Option<Order>),
    OnStream(OnStream),
    ToHook(ToHook),
    Stopped,
    TimeIsOver,
}

/// A client's task.
pub(super) struct RemoteClient {
    live: LiveConnection,
    orders: mpsc::Receiver<Order>,
    known: Arc<Known>,
    /// The answer format of each of its hooks.
    hooks: HashMap<String, Words>,
    /// Calls without an answer, oldest first.
    sent: VecDeque<Sent>,
    /// `true` if the client is known to use call ids, and so understands a cancelled call. A client
    /// of the first version would take a cancellation for an event.
    knows_calls: bool,
    stream: Option<OpenStream>,
    /// The deadline for a new stream.
    patience: Instant,
}

impl RemoteClient {
    /// Creates a connected client without a stream. Resumed hooks keep their answer formats.
    pub(super) fn new(
        mut live: LiveConnection,
        orders: mpsc::Receiver<Order>,
        known: Arc<Known>,
    ) -> Self {
        live.close();
        let own = live.list().into_iter().filter(|hook| hook.own).map(|hook| {
            let words = Words::of(hook.register.vocabulary.as_deref());
            (hook.register.hook_id, words)
        });
        let hooks = own.collect();
        Self {
            live,
            orders,
            known,
            hooks,
            sent: VecDeque::new(),
            knows_calls: false,
            stream: None,
            patience: Instant::now() + RECONNECT_GRACE,
        }
    }

    /// Runs until the client is gone for good, or until `stop` is cancelled and no call of its
    /// hooks is pending.
    pub(super) async fn run(mut self, stop: CancellationToken) {
        let (mut stopped, mut unread) = (false, None);
        loop {
            if stopped && (self.stream.is_none() || !self.live.is_waited_for()) {
                break;
            }
            let is_unread = self.stream.as_ref().is_some_and(|stream| stream.pending.is_some());
            if !stopped || !is_unread {
                unread = None;
            } else if unread.is_none() {
                unread = Some(Instant::now() + UNREAD_AT_END);
            }
            let until = match &self.stream {
                None => Some(self.patience),
                Some(_) => unread,
            };
            let Self { live, orders, stream, .. } = &mut self;
            let has_stream = stream.is_some();
            let happened = tokio::select! {
                order = orders.recv() => Happened::Order(order),
                on_stream = next_on(stream) => Happened::OnStream(on_stream),
                message = live.next(), if has_stream && !is_unread => Happened::ToHook(message),
                () = stop.cancelled(), if !stopped => Happened::Stopped,
                () = sleep_until(until.unwrap_or_else(Instant::now)), if until.is_some() => {
                    Happened::TimeIsOver
                }
            };
            match happened {
                Happened::Order(Some(order)) => self.obey(order),
                Happened::OnStream(on_stream) => self.on_stream(on_stream),
                Happened::ToHook(message) => self.tell(&message),
                Happened::Stopped => stopped = true,
                // No handle to the task is left, or its deadline has passed.
                Happened::Order(None) | Happened::TimeIsOver => break,
            }
            if self.live.is_superseded() {
                break;
            }
            if self.stream.is_none() && self.hooks.is_empty() {
                break;
            }
        }
        // A sender that finds the queue closed creates a new client.
        self.orders.close();
        if let Some(stream) = self.stream.take() {
            stream.end_with(match self.live.is_superseded() {
                true => elsewhere(),
                false => shutting_down(),
            });
        }
        self.known.set_up(false);
        match stopped {
            true => self.live.leave(),
            false => self.live.forget(),
        }
    }

    fn obey(&mut self, order: Order) {
        match order {
            Order::Register { register, knows_calls, done } => {
                let words = Words::of(register.vocabulary.as_deref());
                let hook_id = register.hook_id.clone();
                let registered = self.live.register(register);
                if registered.is_ok() {
                    self.hooks.insert(hook_id, words);
                }
                self.knows_calls |= knows_calls;
                let _ = done.send(registered);
            }
            Order::Unregister { hook_id, done } => {
                let unregistered = self.live.unregister(&hook_id);
                if unregistered.is_ok() {
                    self.hooks.remove(&hook_id);
                }
                let _ = done.send(unregistered);
            }
            Order::List { done } => {
                let _ = done.send(self.live.list());
            }
            Order::Attach(attach) => self.attach(*attach),
        }
    }

    fn attach(&mut self, attach: Attach) {
        let Attach { incoming, caller, has_token, knows_calls, done } = attach;
        if self.stream.is_some() && !has_token {
            let _ = done.send(Err(has_a_stream()));
            return;
        }
        if let Some(before) = self.stream.take() {
            before.end_with(elsewhere());
        }
        let (stream, events) = OpenStream::new(incoming);
        self.known.is_of(&caller);
        self.known.set_up(true);
        self.knows_calls |= knows_calls;
        // Pending calls are sent again.
        self.sent.clear();
        self.live.open();
        self.stream = Some(stream);
        // A client that is gone by now is detected later, as at any time.
        let _ = done.send(Ok(events));
    }

    fn on_stream(&mut self, on_stream: OnStream) {
        match on_stream {
            OnStream::Sent => {}
            OnStream::Said(Some(Ok(response))) => self.hear(response),
            // A closed stream brings no more answers.
            OnStream::Gone | OnStream::Said(None) => self.lost(None),
            OnStream::Said(Some(Err(status))) => {
                let is_unreadable = matches!(status.code(), Code::OutOfRange | Code::Internal)
                    && std::error::Error::source(&status).is_none();
                if !is_unreadable {
                    return self.lost(None);
                }
                // The message does not tell which call it answers, so all of them fail.
                let why = format!(
                    "its client sent what is no message of at most {MAX_STREAM_MESSAGE} bytes: {}",
                    status.message()
                );
                for sent in std::mem::take(&mut self.sent) {
                    self.answer(sent.call, Said::Error(why.clone()));
                }
                self.lost(Some(status));
            }
        }
    }

    /// Closes the stream. The client may reconnect.
    fn lost(&mut self, status: Option<Status>) {
        if let (Some(stream), Some(status)) = (self.stream.take(), status) {
            stream.end_with(status);
        }
        self.live.close();
        self.known.set_up(false);
        self.patience = Instant::now() + RECONNECT_GRACE;
    }

    fn answer(&self, call: u64, said: Said) {
        self.live.take(FromHook::Answer { call: Some(call), said });
    }

    fn hear(&mut self, response: HookResponse) {
        self.knows_calls |= !response.call_id.is_empty();
        if let Some(json) = &response.host_call {
            match answer::host_call(json) {
                Ok(asked) => {
                    let by_id = || response.call_id.parse().ok();
                    let by_hook = || self.oldest(&response.hook_id);
                    let call = asked.call.or_else(by_id).or_else(by_hook);
                    let answer::AskedOfHost { id, method, params, .. } = asked;
                    self.live.take(FromHook::HostCall { id, call, method, params });
                }
                // The hook would wait for a result that never comes, so its call fails.
                Err(why) => {
                    if let Some(sent) = self.taken(&response) {
                        self.answer(sent.call, Said::Error(why));
                    }
                }
            }
            return;
        }
        let Some(sent) = self.taken(&response) else {
            let call = response.call_id.parse().ok();
            self.live.take(FromHook::Answer { call, said: Said::Nothing });
            return;
        };
        let hook = &response.hook_id;
        let said = match hook.is_empty() || *hook == sent.hook {
            true => {
                let words = self.hooks.get(&sent.hook).copied().unwrap_or(Words::Other);
                answer::said(&response, words)
            }
            false => Said::Error(format!(
                "the answer to the call {} names another hook, `{}`",
                sent.call,
                hook_json::text::shortened(hook)
            )),
        };
        self.answer(sent.call, said);
    }

    /// Removes and returns the call that a response answers. Without an id it is the oldest of its
    /// hook, even if it was cancelled: a late answer must not be taken for one to the next call.
    fn taken(&mut self, response: &HookResponse) -> Option<Sent> {
        let index = match response.call_id.is_empty() {
            true => {
                self.sent.retain(|sent| {
                    sent.cancelled.is_none_or(|cancelled| cancelled.elapsed() < RECONNECT_GRACE)
                });
                self.sent.iter().position(|sent| sent.hook == response.hook_id)
            }
            false => {
                let call: u64 = response.call_id.parse().ok()?;
                self.sent.iter().position(|sent| sent.call == call)
            }
        };
        self.sent.remove(index?)
    }

    fn oldest(&self, hook: &str) -> Option<u64> {
        let mut open = self.sent.iter().filter(|sent| sent.cancelled.is_none());
        open.find(|sent| sent.hook == hook).map(|sent| sent.call)
    }

    /// Sends a message of the engine as an event.
    fn tell(&mut self, message: &ToHook) {
        let event = match message {
            ToHook::Call(told) => match event::of_call(told) {
                Ok(event) => {
                    if self.sent.len() >= MAX_SENT {
                        self.sent.pop_front();
                    }
                    let hook = told.hook.to_string();
                    self.sent.push_back(Sent { call: told.call, hook, cancelled: None });
                    event
                }
                Err(length) => {
                    let why = format!(
                        "the event has {length} bytes, and a message of a stream may have \
                         {MAX_STREAM_MESSAGE}"
                    );
                    return self.answer(told.call, Said::Error(why));
                }
            },
            ToHook::Cancelled { call, hook } => {
                if let Some(sent) = self.sent.iter_mut().find(|sent| sent.call == *call) {
                    sent.cancelled = Some(Instant::now());
                }
                if !self.knows_calls {
                    return;
                }
                event::of_cancelled(*call, hook)
            }
            ToHook::HostResult { .. } => event::of_host_result(message),
            _ => return,
        };
        if let Some(stream) = &mut self.stream {
            stream.pending = Some(event);
        }
    }
}

fn elsewhere() -> Status {
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

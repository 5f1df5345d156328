//! The session with a live hook.
//!
//! Callers add calls and wait for their answers; a transport takes messages out and brings the
//! hook's messages in. Either side may disappear at any time.

use std::collections::{HashMap, HashSet, VecDeque};
use std::future::poll_fn;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::{Notify, OwnedSemaphorePermit, Semaphore};
use tokio::time::Instant;

use super::mailbox::{CallEvent, HostRequest, Mailbox, Refusal};
use super::message::{CallMessage, HookAnswer, ToHook};
use crate::slots::SlotQueue;
use hook_json::{RawJson, RawObject, TooDeep, opaque_debug};
use hook_protocol::failure::HookFailure;

/// The maximum number of calls in progress per session and nesting depth.
pub(crate) const MAX_CALLS: usize = 64;

/// The maximum number of bytes in a hook's send buffer.
const MAX_BUFFERED: usize = 8 * 1024 * 1024;

/// A session with a live hook. Clones are handles.
#[derive(Clone)]
pub struct CallSession {
    shared: Arc<Shared>,
}

pub(super) struct Shared {
    state: Mutex<State>,
    /// Notified when there is a message to send, or the session has ended.
    pub(super) wake: Notify,
    /// The free bytes of the send buffer.
    send_capacity: Arc<Semaphore>,
    /// The slots for calls in progress.
    calls: Arc<SlotQueue>,
    /// The free bytes for host requests.
    host_request_capacity: Arc<Semaphore>,
    /// `true` if the session outlives its transport: the hook may reconnect.
    is_lasting: bool,
    /// `true` if the hook runs on this machine, as this user.
    is_local: bool,
}

#[derive(Default)]
struct State {
    last: u64,
    calls: HashMap<u64, WaitingCall>,
    outgoing: VecDeque<(ToHook, OwnedSemaphorePermit)>,
    link: Link,
    /// The number of transports so far.
    transports: u64,
    dropped: DroppedAnswers,
    /// The pipe for direct writes of short messages while no other message is queued.
    pipe: Option<Arc<dyn MessagePipe>>,
    /// `true` while the transport has taken messages that it has not written yet.
    is_writing: bool,
}

/// A pipe that accepts bytes without waiting.
pub(crate) trait MessagePipe: Send + Sync {
    /// Writes a prefix of the bytes, and returns its length.
    fn try_write(&self, bytes: &[u8]) -> usize;
}

/// The maximum size of a message that its sender writes directly.
const MAX_DIRECT_WRITE: usize = 16 * 1024;

/// The state of the connection.
#[derive(Default)]
enum Link {
    /// Connected, through the transport of this number.
    Up(u64),
    /// Not connected at present, or not yet.
    #[default]
    Down,
    /// Closed for good.
    Closed(HookFailure),
}

/// A call that waits for its answer.
struct WaitingCall {
    message: Arc<CallMessage>,
    mailbox: Arc<Mailbox>,
}

/// The numbers of answers without a waiting call.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct DroppedAnswers {
    /// Answers to calls that had ended: cancelled, timed out, or already answered.
    pub late: u64,
    /// Answers to calls that never existed.
    pub unknown: u64,
}

impl DroppedAnswers {
    /// Returns the sums of both.
    pub(crate) fn with(self, others: Self) -> Self {
        Self { late: self.late + others.late, unknown: self.unknown + others.unknown }
    }
}

/// The part of a call that does not depend on the session.
pub(super) struct CallRequest {
    pub(super) hook: Arc<str>,
    pub(super) event: Arc<str>,
    pub(super) input: RawObject,
    pub(super) session: Arc<str>,
    pub(super) correlation: Option<Arc<str>>,
    pub(super) deadline: Instant,
    pub(super) has_ui: bool,
}

impl CallSession {
    /// Creates a session that ends with its transport.
    pub(crate) fn new() -> Self {
        Self::with(false, true)
    }

    /// Creates a session that outlives its transport until it is [closed](Self::close). After a
    /// disconnect, waiting calls are sent again by the next transport, and new ones fail at once.
    pub fn lasting() -> Self {
        Self::with(true, true)
    }

    /// Creates a session that outlives its transport, with a hook that may be on another machine:
    /// the engine runs no programs for it.
    pub fn remote() -> Self {
        Self::with(true, false)
    }

    /// Returns `true` if the hook runs on this machine, as this user.
    pub fn is_local(&self) -> bool {
        self.shared.is_local
    }

    fn with(is_lasting: bool, is_local: bool) -> Self {
        Self {
            shared: Arc::new(Shared {
                state: Mutex::default(),
                wake: Notify::new(),
                send_capacity: Arc::new(Semaphore::new(MAX_BUFFERED)),
                calls: SlotQueue::new(MAX_CALLS),
                host_request_capacity: Arc::new(Semaphore::new(MAX_BUFFERED)),
                is_lasting,
                is_local,
            }),
        }
    }

    /// Returns the state that all handles share.
    pub(super) fn shared(&self) -> &Arc<Shared> {
        &self.shared
    }

    /// Closes the session: waiting and future calls fail with this reason.
    pub fn close(&self, why: HookFailure) {
        self.shared.close(why);
    }

    /// Closes the session unless calls are waiting; returns `true` if it did.
    pub(crate) fn close_if_idle(&self, why: HookFailure) -> bool {
        let mut state = self.shared.lock();
        if !state.calls.is_empty() {
            return false;
        }
        state.link = Link::Closed(why);
        state.pipe = None;
        true
    }

    /// Sends a request that is not an event, and waits for the answer.
    ///
    /// # Errors
    /// Returns an error if the session is not connected, or ends without an answer, or if the input
    /// nests deeper than a message.
    pub(crate) async fn request(
        &self,
        name: &str,
        input: RawObject,
        deadline: Instant,
    ) -> Result<HookAnswer, HookFailure> {
        check_depth(&input)?;
        let request = CallRequest {
            hook: name.into(),
            event: name.into(),
            input,
            session: "".into(),
            correlation: None,
            deadline,
            has_ui: false,
        };
        let mut pending = self.call(request, false).await?;
        loop {
            if let CallEvent::Answered(answer) = pending.next_event(false).await {
                return answer;
            }
        }
    }

    /// Returns `true` if no call waits for its answer.
    pub fn is_idle(&self) -> bool {
        self.shared.lock().calls.is_empty()
    }

    /// Returns `true` if a transport is attached.
    pub(crate) fn is_connected(&self) -> bool {
        matches!(self.shared.lock().link, Link::Up(_))
    }

    /// Returns the numbers of answers without a waiting call.
    pub(crate) fn dropped(&self) -> DroppedAnswers {
        self.shared.lock().dropped
    }

    /// Returns the slots that a call needs before its timeout starts.
    pub(super) fn slots(&self) -> &Arc<SlotQueue> {
        &self.shared.calls
    }

    /// Sends a call, once there is space in the buffer.
    ///
    /// # Errors
    /// Returns an error if the session is not connected.
    ///
    /// # Cancellation
    /// Dropping the future sends nothing.
    pub(super) async fn call(
        &self,
        request: CallRequest,
        with_host: bool,
    ) -> Result<PendingCall, HookFailure> {
        let CallRequest { hook, event, input, session, correlation, deadline, has_ui } = request;
        let mut message =
            CallMessage { call: 0, hook, event, input, session, correlation, deadline, has_ui };
        let permit = self.shared.reserve(message.approximate_size()).await;
        let mailbox = Arc::new(Mailbox::new(with_host));
        let mut state = self.shared.lock();
        match &state.link {
            Link::Up(_) => {}
            Link::Down => return Err(unavailable("its client is not connected at present")),
            Link::Closed(why) => return Err(why.clone()),
        }
        state.last += 1;
        message.call = state.last;
        let message = Arc::new(message);
        let call = message.call;
        let waiting = WaitingCall { message: Arc::clone(&message), mailbox: Arc::clone(&mailbox) };
        state.calls.insert(call, waiting);
        let is_queued = state.send(ToHook::Call(Arc::clone(&message)), permit);
        drop(state);
        if is_queued {
            self.shared.wake.notify_one();
        }
        Ok(PendingCall { shared: Arc::clone(&self.shared), message, mailbox, is_open: true })
    }
}

impl Default for CallSession {
    fn default() -> Self {
        Self::new()
    }
}

opaque_debug!(CallSession);

impl State {
    /// Writes a message or queues it for the transport; returns `true` if it was queued.
    fn send(&mut self, message: ToHook, permit: OwnedSemaphorePermit) -> bool {
        // With several calls in flight, the transport writes them together.
        let is_only_call = self.calls.len() <= 1 && self.outgoing.is_empty() && !self.is_writing;
        let is_direct = is_only_call && message.approximate_size() <= MAX_DIRECT_WRITE;
        let Some(pipe) = self.pipe.as_ref().filter(|_| is_direct) else {
            self.outgoing.push_back((message, permit));
            return true;
        };
        let mut line = message.to_line();
        line.push(b'\n');
        let written = pipe.try_write(&line);
        if written >= line.len() {
            return false;
        }
        let rest = if written == 0 { message } else { rest_of(line, written) };
        self.outgoing.push_back((rest, permit));
        true
    }
}

/// Returns the rest of a partly written line, without its end, which the transport adds.
fn rest_of(mut line: Vec<u8>, written: usize) -> ToHook {
    line.pop();
    ToHook::Rest(line.split_off(written.min(line.len())))
}

/// Checks that a message holds the whole input of a call: nothing is cut of what a hook decides by.
pub(super) fn check_depth(input: &RawObject) -> Result<(), HookFailure> {
    TooDeep::check("input", input.as_raw()).map_err(|error| unavailable(error.to_string()))
}

/// Returns the failure of a hook that cannot be called.
pub(super) fn unavailable(reason: impl Into<String>) -> HookFailure {
    HookFailure::Live { reason: reason.into() }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Attaches a new transport; returns its number, and the calls to send again.
    pub(super) fn attach(&self) -> (u64, Vec<Arc<CallMessage>>) {
        let mut state = self.lock();
        state.transports += 1;
        let number = state.transports;
        let mut resend = Vec::new();
        if number > 1 {
            resend.extend(state.calls.values().map(|waiting| Arc::clone(&waiting.message)));
            resend.sort_by_key(|call| call.call);
            state.outgoing.retain(|(message, _)| !matches!(message, ToHook::Call(_)));
        }
        if !matches!(state.link, Link::Closed(_)) {
            state.link = Link::Up(number);
        }
        drop(state);
        self.wake.notify_one();
        (number, resend)
    }

    /// Reserves buffer space for a message; one larger than the buffer takes all of it.
    async fn reserve(&self, weight: usize) -> OwnedSemaphorePermit {
        let bytes = u32::try_from(weight.min(MAX_BUFFERED)).unwrap_or(u32::MAX);
        match Arc::clone(&self.send_capacity).acquire_many_owned(bytes).await {
            Ok(permit) => permit,
            // The semaphore is never closed.
            Err(_) => std::future::pending().await,
        }
    }

    /// Returns the next message to send, if this transport is attached and one is waiting.
    ///
    /// # Errors
    /// Returns an error if another transport is attached, or the session is closed.
    pub(super) fn next(
        &self,
        transport: u64,
    ) -> Result<Option<(ToHook, OwnedSemaphorePermit)>, HookFailure> {
        let mut state = self.lock();
        match &state.link {
            Link::Up(number) if *number == transport => {}
            Link::Up(_) | Link::Down => {
                return Err(unavailable("another connection took its place"));
            }
            // Messages that are already queued are still sent.
            Link::Closed(why) if state.outgoing.is_empty() => return Err(why.clone()),
            Link::Closed(_) => {}
        }
        let next = state.outgoing.pop_front();
        state.is_writing |= next.is_some();
        Ok(next)
    }

    /// Records that the transport has written all messages that it took.
    pub(super) fn flushed(&self) {
        self.lock().is_writing = false;
    }

    /// Sets the pipe for direct writes of short messages while no other message is queued.
    pub(super) fn write_to(&self, pipe: Arc<dyn MessagePipe>) {
        self.lock().pipe = Some(pipe);
    }

    /// Detaches the transport of this number.
    pub(super) fn detach(&self, transport: u64, why: impl FnOnce() -> HookFailure) {
        let mut state = self.lock();
        if !matches!(state.link, Link::Up(number) if number == transport) {
            return;
        }
        state.link = Link::Down;
        (state.pipe, state.is_writing) = (None, false);
        // Calls are sent again; other messages were for the old connection.
        state.outgoing.clear();
        drop(state);
        if !self.is_lasting {
            self.close(why());
        }
    }

    pub(super) fn close(&self, why: HookFailure) {
        let mut state = self.lock();
        if matches!(state.link, Link::Closed(_)) {
            return;
        }
        state.link = Link::Closed(why.clone());
        let calls = std::mem::take(&mut state.calls);
        state.outgoing.clear();
        state.pipe = None;
        drop(state);
        for waiting in calls.into_values() {
            waiting.mailbox.answer(Err(why.clone()));
        }
        self.wake.notify_one();
    }

    /// Delivers an answer; returns `false` if no call waits for it.
    pub(super) fn deliver_answer(&self, call: Option<u64>, answer: HookAnswer) -> bool {
        let mut state = self.lock();
        let Some(waiting) = call.and_then(|call| state.calls.remove(&call)) else {
            match call {
                Some(call) if call <= state.last && call > 0 => state.dropped.late += 1,
                _ => state.dropped.unknown += 1,
            }
            let DroppedAnswers { late, unknown } = state.dropped;
            drop(state);
            // Logged at powers of two only.
            if (late + unknown).is_power_of_two() {
                tracing::warn!(
                    target: "hook::live",
                    "answers that nobody waited for were dropped so far: {late} too late, or given \
                     twice, {unknown} to calls that never were"
                );
            }
            return false;
        };
        drop(state);
        waiting.mailbox.answer(Ok(answer));
        true
    }

    /// Fails all calls that were sent to a hook, because one of its messages was unreadable, and
    /// tells the hook that they are cancelled.
    pub(super) fn fail_all(&self, why: &HookFailure) {
        let mut state = self.lock();
        // Calls that were not sent yet cannot have been answered.
        let unsent = state.outgoing.iter().filter_map(|(message, _)| match message {
            ToHook::Call(call) => Some(call.call),
            _ => None,
        });
        let unsent: HashSet<u64> = unsent.collect();
        let failed = state.calls.extract_if(|call, _| !unsent.contains(call));
        let mut failed: Vec<WaitingCall> = failed.map(|(_, waiting)| waiting).collect();
        drop(state);
        failed.sort_by_key(|waiting| waiting.message.call);
        for WaitingCall { message, mailbox } in failed {
            mailbox.answer(Err(why.clone()));
            self.send(ToHook::Cancelled { call: message.call, hook: Arc::clone(&message.hook) });
        }
    }

    /// Fails a call whose answer was unreadable.
    pub(super) fn fail(&self, call: u64, why: HookFailure) {
        if let Some(waiting) = self.lock().calls.remove(&call) {
            waiting.mailbox.answer(Err(why));
        }
    }

    /// Reserves space for a host request, if there is any.
    pub(super) fn reserve_for_host_request(
        &self,
        params: &RawJson,
    ) -> Option<OwnedSemaphorePermit> {
        let bytes = u32::try_from(256 + params.as_str().len()).ok()?;
        Arc::clone(&self.host_request_capacity).try_acquire_many_owned(bytes).ok()
    }

    /// Checks whether the transport of this number is attached.
    pub(super) fn is_attached(&self, transport: u64) -> bool {
        matches!(self.lock().link, Link::Up(number) if number == transport)
    }

    /// Passes on a hook's request to the host of a call.
    ///
    /// # Errors
    /// Returns the request if there is no such call, it has no host, or too many requests are in
    /// progress.
    pub(super) fn forward_host_request(
        &self,
        call: Option<u64>,
        request: HostRequest,
    ) -> Result<(), (HostRequest, Refusal)> {
        let state = self.lock();
        let waiting = call.and_then(|call| state.calls.get(&call));
        let mailbox = waiting.map(|waiting| Arc::clone(&waiting.mailbox));
        drop(state);
        match mailbox {
            Some(mailbox) => mailbox.add_request(request),
            None => Err((request, Refusal::NoCall)),
        }
    }

    /// Sends a message without waiting; drops it if the hook reads too slowly.
    pub(super) fn send(&self, message: ToHook) {
        let bytes = u32::try_from(message.approximate_size().min(MAX_BUFFERED)).unwrap_or(u32::MAX);
        let Ok(permit) = Arc::clone(&self.send_capacity).try_acquire_many_owned(bytes) else {
            tracing::warn!(target: "hook::live", "a hook does not read; a message to it was dropped");
            return;
        };
        self.put(message, permit);
    }

    /// Sends a message for which space is reserved.
    fn put(&self, message: ToHook, permit: OwnedSemaphorePermit) {
        let mut state = self.lock();
        if matches!(state.link, Link::Up(_)) {
            let is_queued = state.send(message, permit);
            drop(state);
            if is_queued {
                self.wake.notify_one();
            }
        }
    }

    fn remove_call(&self, call: &CallMessage) {
        let mut state = self.lock();
        if state.calls.remove(&call.call).is_none() {
            return;
        }
        let before = state.outgoing.len();
        // A message that was not sent yet need not be sent.
        state.outgoing.retain(
            |(message, _)| !matches!(message, ToHook::Call(other) if other.call == call.call),
        );
        let was_sent = state.outgoing.len() == before;
        drop(state);
        if was_sent {
            self.send(ToHook::Cancelled { call: call.call, hook: Arc::clone(&call.hook) });
        }
        // The session may be unused from now on.
        self.wake.notify_one();
    }
}

/// A call that was sent, and is cancelled if dropped before its answer.
pub(super) struct PendingCall {
    shared: Arc<Shared>,
    message: Arc<CallMessage>,
    mailbox: Arc<Mailbox>,
    /// `true` until the answer arrives.
    is_open: bool,
}

impl PendingCall {
    /// Waits for the next event: the answer, or a host request if another one may run.
    ///
    /// # Cancellation
    /// Dropping the future loses no event.
    pub(super) async fn next_event(&mut self, takes_requests: bool) -> CallEvent {
        let event = poll_fn(|context| self.mailbox.poll(context, takes_requests)).await;
        self.is_open &= !matches!(event, CallEvent::Answered(_));
        event
    }

    /// Returns the answer, if it has arrived.
    pub(super) fn try_answer(&mut self) -> Option<Result<HookAnswer, HookFailure>> {
        let answer = self.mailbox.try_answer()?;
        self.is_open = false;
        Some(answer)
    }

    /// Returns a sender for results of host requests.
    pub(super) fn result_sender(&self) -> ResultSender {
        ResultSender { shared: Arc::clone(&self.shared) }
    }
}

/// Sends results of host requests to a hook.
pub(super) struct ResultSender {
    shared: Arc<Shared>,
}

impl ResultSender {
    /// Sends a message, once there is space in the buffer.
    pub(super) async fn send(self, message: ToHook) {
        let permit = self.shared.reserve(message.approximate_size()).await;
        self.shared.put(message, permit);
    }
}

impl Drop for PendingCall {
    fn drop(&mut self) {
        if self.is_open {
            self.shared.remove_call(&self.message);
        }
    }
}

//! The calls of one conversation with a hook that stays alive.
//!
//! Callers put calls in and wait for their answers; a carrier takes messages out and brings what
//! the hook says. Neither knows the other, and either may be gone at any time.

use std::collections::{HashMap, HashSet, VecDeque};
use std::fmt;
use std::future::poll_fn;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::{Notify, OwnedSemaphorePermit, Semaphore};
use tokio::time::Instant;

use super::mailbox::{AskedOfHost, Happened, Mailbox, Refusal};
use super::message::{Said, ToHook, Told};
use crate::failure::HookFailure;
use crate::json::{RawJson, RawObject};
use crate::run::slots::SlotQueue;

/// How many calls of one conversation may wait for their answers, at each depth of nesting.
pub(in crate::run) const MAX_CALLS: usize = 64;

/// How many bytes may wait for a hook to take them.
const MAX_BUFFERED: usize = 8 * 1024 * 1024;

/// One conversation with a hook that stays alive. Clones are handles.
#[derive(Clone)]
pub struct CallSession {
    shared: Arc<Shared>,
}

pub(super) struct Shared {
    state: Mutex<State>,
    /// Something is to be sent, or there is nobody to send it.
    pub(super) woken: Notify,
    /// Room for what waits to be sent, in bytes.
    room: Arc<Semaphore>,
    /// Places for calls that wait for their answers.
    calls: Arc<SlotQueue>,
    /// Room for what its hooks ask of hosts, in bytes.
    host_room: Arc<Semaphore>,
    /// Whether it outlives its carrier: the hook may come back on another.
    is_lasting: bool,
    /// Whether the hook is on this machine, and the user's own.
    is_near: bool,
}

#[derive(Default)]
struct State {
    last: u64,
    calls: HashMap<u64, Waiting>,
    outgoing: VecDeque<(ToHook, OwnedSemaphorePermit)>,
    link: Link,
    /// Carriers so far.
    carriers: u64,
    dropped: Dropped,
    /// Where short messages are written at once, while nothing else waits to be.
    pipe: Option<Arc<dyn MessagePipe>>,
    /// Whether the carrier has something that it has not written yet.
    is_writing: bool,
}

/// Something that takes bytes without waiting.
pub(in crate::run) trait MessagePipe: Send + Sync {
    /// How many bytes, from the first on, it took.
    fn try_write(&self, bytes: &[u8]) -> usize;
}

/// How long a message may be that its sender writes itself.
const SHORT: usize = 16 * 1024;

/// Whether there is somebody who carries messages.
#[derive(Default)]
enum Link {
    /// By the carrier of this number.
    Up(u64),
    /// Not at present, or not yet.
    #[default]
    Down,
    /// Never again.
    Closed(HookFailure),
}

/// A call that waits for its answer.
struct Waiting {
    told: Arc<Told>,
    mailbox: Arc<Mailbox>,
}

/// Answers that nobody waited for.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Dropped {
    /// To calls that were over: cancelled, too late, or answered before.
    pub late: u64,
    /// To calls that never were.
    pub unknown: u64,
}

impl Dropped {
    /// Those, and others.
    pub(in crate::run) fn with(self, others: Self) -> Self {
        Self { late: self.late + others.late, unknown: self.unknown + others.unknown }
    }
}

/// What a call tells, without what the conversation adds.
pub(super) struct Telling {
    pub(super) hook: Arc<str>,
    pub(super) event: Arc<str>,
    pub(super) input: RawObject,
    pub(super) session: Arc<str>,
    pub(super) correlation: Option<Arc<str>>,
    pub(super) deadline: Instant,
    pub(super) has_ui: bool,
}

impl CallSession {
    /// A conversation that is over when its carrier is gone.
    pub fn new() -> Self {
        Self::with(false, true)
    }

    /// A conversation that waits for another carrier when one is gone: calls that wait for their answers
    /// go on waiting and are sent again, and new ones fail at once, until somebody
    /// [closes](Self::close) it.
    pub fn lasting() -> Self {
        Self::with(true, true)
    }

    /// [`lasting`](Self::lasting), with a hook that may be on another machine: the engine runs no
    /// programs for it.
    pub fn remote() -> Self {
        Self::with(true, false)
    }

    /// Whether the hook is on this machine, and the user's own.
    #[doc(hidden)]
    pub fn is_near(&self) -> bool {
        self.shared.is_near
    }

    fn with(is_lasting: bool, is_near: bool) -> Self {
        Self {
            shared: Arc::new(Shared {
                state: Mutex::default(),
                woken: Notify::new(),
                room: Arc::new(Semaphore::new(MAX_BUFFERED)),
                calls: SlotQueue::new(MAX_CALLS),
                host_room: Arc::new(Semaphore::new(MAX_BUFFERED)),
                is_lasting,
                is_near,
            }),
        }
    }

    /// What all handles share.
    pub(super) fn shared(&self) -> &Arc<Shared> {
        &self.shared
    }

    /// Ends the conversation: calls that wait fail with this, and so do all that come.
    pub fn close(&self, why: HookFailure) {
        self.shared.close(why);
    }

    /// Ends the conversation if no call waits for its answer. Whether it is over.
    pub(in crate::run) fn close_if_idle(&self, why: HookFailure) -> bool {
        let mut state = self.shared.lock();
        if !state.calls.is_empty() {
            return false;
        }
        state.link = Link::Closed(why);
        state.pipe = None;
        true
    }

    /// Asks for something that is no event, and waits for the answer.
    ///
    /// # Errors
    /// When nobody carries it, or the conversation ends without an answer.
    pub(in crate::run) async fn ask(
        &self,
        word: &str,
        input: RawObject,
        deadline: Instant,
    ) -> Result<Said, HookFailure> {
        let telling = Telling {
            hook: word.into(),
            event: word.into(),
            input,
            session: "".into(),
            correlation: None,
            deadline,
            has_ui: false,
        };
        let mut pending = self.call(telling, false).await?;
        loop {
            if let Happened::Answered(said) = pending.happened(false).await {
                return said;
            }
        }
    }

    /// Whether no call waits for its answer.
    pub fn is_idle(&self) -> bool {
        self.shared.lock().calls.is_empty()
    }

    /// Whether there is somebody who carries messages.
    pub fn is_connected(&self) -> bool {
        matches!(self.shared.lock().link, Link::Up(_))
    }

    /// Answers that nobody waited for.
    pub fn dropped(&self) -> Dropped {
        self.shared.lock().dropped
    }

    /// What a call waits for before its time begins.
    pub(super) fn places(&self) -> &Arc<SlotQueue> {
        &self.shared.calls
    }

    /// Sends a call, once there is room for it.
    ///
    /// # Errors
    /// When nobody carries it.
    ///
    /// # Cancellation
    /// Dropping the future sends nothing.
    pub(super) async fn call(
        &self,
        telling: Telling,
        with_host: bool,
    ) -> Result<Pending, HookFailure> {
        let Telling { hook, event, input, session, correlation, deadline, has_ui } = telling;
        let mut told = Told { call: 0, hook, event, input, session, correlation, deadline, has_ui };
        let permit = self.shared.room(told.weight()).await;
        let mailbox = Arc::new(Mailbox::new(with_host));
        let mut state = self.shared.lock();
        match &state.link {
            Link::Up(_) => {}
            Link::Down => return Err(gone("its client is not connected at present")),
            Link::Closed(why) => return Err(why.clone()),
        }
        state.last += 1;
        told.call = state.last;
        let told = Arc::new(told);
        let call = told.call;
        let waiting = Waiting { told: Arc::clone(&told), mailbox: Arc::clone(&mailbox) };
        state.calls.insert(call, waiting);
        let is_left = state.send(ToHook::Call(Arc::clone(&told)), permit);
        drop(state);
        if is_left {
            self.shared.woken.notify_one();
        }
        Ok(Pending { shared: Arc::clone(&self.shared), told, mailbox, is_open: true })
    }
}

impl Default for CallSession {
    fn default() -> Self {
        Self::new()
    }
}

impl fmt::Debug for CallSession {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("CallSession").finish_non_exhaustive()
    }
}

impl State {
    /// Sends a message, or leaves it to the carrier. Whether the carrier has something to do.
    fn send(&mut self, message: ToHook, permit: OwnedSemaphorePermit) -> bool {
        // With several calls in flight the carrier writes them together.
        let is_alone = self.calls.len() <= 1 && self.outgoing.is_empty() && !self.is_writing;
        let is_free = is_alone && message.weight() <= SHORT;
        let Some(pipe) = self.pipe.as_ref().filter(|_| is_free) else {
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

/// What is left of a line of which so much was written; its end is written behind every message.
fn rest_of(mut line: Vec<u8>, written: usize) -> ToHook {
    line.pop();
    ToHook::Rest(line.split_off(written.min(line.len())))
}

/// That a hook cannot be asked.
pub(super) fn gone(reason: impl Into<String>) -> HookFailure {
    HookFailure::Live { reason: reason.into() }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Another carrier comes: its number, and the calls that the one before it may have sent to nobody.
    pub(super) fn attached(&self) -> (u64, Vec<Arc<Told>>) {
        let mut state = self.lock();
        state.carriers += 1;
        let number = state.carriers;
        let mut again = Vec::new();
        if number > 1 {
            again.extend(state.calls.values().map(|waiting| Arc::clone(&waiting.told)));
            again.sort_by_key(|told| told.call);
            state.outgoing.retain(|(message, _)| !matches!(message, ToHook::Call(_)));
        }
        if !matches!(state.link, Link::Closed(_)) {
            state.link = Link::Up(number);
        }
        drop(state);
        self.woken.notify_one();
        (number, again)
    }

    /// Room for a message; a larger one than there can be waits until nothing else does.
    async fn room(&self, weight: usize) -> OwnedSemaphorePermit {
        let bytes = u32::try_from(weight.min(MAX_BUFFERED)).unwrap_or(u32::MAX);
        match Arc::clone(&self.room).acquire_many_owned(bytes).await {
            Ok(permit) => permit,
            // It is never closed.
            Err(_) => std::future::pending().await,
        }
    }

    /// The next message to send, if that carrier is still the one; `None` if there is nothing now.
    ///
    /// # Errors
    /// When it is not, or the conversation is over.
    pub(super) fn next(
        &self,
        carrier: u64,
    ) -> Result<Option<(ToHook, OwnedSemaphorePermit)>, HookFailure> {
        let mut state = self.lock();
        match &state.link {
            Link::Up(number) if *number == carrier => {}
            Link::Up(_) | Link::Down => return Err(gone("another connection took its place")),
            // What is to be said at the end is said.
            Link::Closed(why) if state.outgoing.is_empty() => return Err(why.clone()),
            Link::Closed(_) => {}
        }
        let next = state.outgoing.pop_front();
        state.is_writing |= next.is_some();
        Ok(next)
    }

    /// The carrier has written all that it took.
    pub(super) fn flushed(&self) {
        self.lock().is_writing = false;
    }

    /// Short messages are written there by those who send them, while nothing else waits to be.
    pub(super) fn write_to(&self, pipe: Arc<dyn MessagePipe>) {
        self.lock().pipe = Some(pipe);
    }

    /// The carrier of that number is gone.
    pub(super) fn detached(&self, carrier: u64, why: impl FnOnce() -> HookFailure) {
        let mut state = self.lock();
        if !matches!(state.link, Link::Up(number) if number == carrier) {
            return;
        }
        state.link = Link::Down;
        (state.pipe, state.is_writing) = (None, false);
        // Calls are sent again; what else there is was for the one that is gone.
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
        self.woken.notify_one();
    }

    /// A hook has answered.
    pub(super) fn answered(&self, call: Option<u64>, said: Said) -> bool {
        let mut state = self.lock();
        let Some(waiting) = call.and_then(|call| state.calls.remove(&call)) else {
            match call {
                Some(call) if call <= state.last && call > 0 => state.dropped.late += 1,
                _ => state.dropped.unknown += 1,
            }
            let Dropped { late, unknown } = state.dropped;
            drop(state);
            // Rarer and rarer, however many there are.
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
        waiting.mailbox.answer(Ok(said));
        true
    }

    /// The hook has said something of which nobody knows what it meant: all calls that it was told of fail, and
    /// it is told that nobody waits for them any more.
    pub(super) fn fail_all(&self, why: &HookFailure) {
        let mut state = self.lock();
        // Those that it has not been told of it cannot have answered.
        let unsent = state.outgoing.iter().filter_map(|(message, _)| match message {
            ToHook::Call(told) => Some(told.call),
            _ => None,
        });
        let unsent: HashSet<u64> = unsent.collect();
        let failed = state.calls.extract_if(|call, _| !unsent.contains(call));
        let mut failed: Vec<Waiting> = failed.map(|(_, waiting)| waiting).collect();
        drop(state);
        failed.sort_by_key(|waiting| waiting.told.call);
        for Waiting { told, mailbox } in failed {
            mailbox.answer(Err(why.clone()));
            self.say(ToHook::Cancelled { call: told.call, hook: Arc::clone(&told.hook) });
        }
    }

    /// What the hook has answered to a call means nothing.
    pub(super) fn fail(&self, call: u64, why: HookFailure) {
        if let Some(waiting) = self.lock().calls.remove(&call) {
            waiting.mailbox.answer(Err(why));
        }
    }

    /// The oldest call of a hook that waits for its answer.
    pub(super) fn oldest_of(&self, hook: &str) -> Option<u64> {
        let state = self.lock();
        let of_hook = state.calls.values().filter(|waiting| &*waiting.told.hook == hook);
        of_hook.map(|waiting| waiting.told.call).min()
    }

    /// Room for something that a hook asks of a host, if there is any.
    pub(super) fn room_to_ask(&self, params: &RawJson) -> Option<OwnedSemaphorePermit> {
        let bytes = u32::try_from(256 + params.as_str().len()).ok()?;
        Arc::clone(&self.host_room).try_acquire_many_owned(bytes).ok()
    }

    /// Whether the carrier of that number is the one.
    pub(super) fn is_carried_by(&self, carrier: u64) -> bool {
        matches!(self.lock().link, Link::Up(number) if number == carrier)
    }

    /// A hook asks something of the host of a call.
    ///
    /// # Errors
    /// When there is no such call, it has no host, or too much is asked at once: what the hook is to be
    /// told.
    pub(super) fn asked_of_host(
        &self,
        call: Option<u64>,
        asked: AskedOfHost,
    ) -> Result<(), (AskedOfHost, Refusal)> {
        let state = self.lock();
        let waiting = call.and_then(|call| state.calls.get(&call));
        let mailbox = waiting.map(|waiting| Arc::clone(&waiting.mailbox));
        drop(state);
        match mailbox {
            Some(mailbox) => mailbox.ask(asked),
            None => Err((asked, Refusal::NoCall)),
        }
    }

    /// Sends what a hook needs no answer to, where there is room for it now. One that does not read what
    /// it asked for loses it.
    pub(super) fn say(&self, message: ToHook) {
        let bytes = u32::try_from(message.weight().min(MAX_BUFFERED)).unwrap_or(u32::MAX);
        let Ok(permit) = Arc::clone(&self.room).try_acquire_many_owned(bytes) else {
            tracing::warn!(target: "hook::live", "a hook does not read; a message to it was dropped");
            return;
        };
        self.put(message, permit);
    }

    /// Sends a message that there is room for.
    fn put(&self, message: ToHook, permit: OwnedSemaphorePermit) {
        let mut state = self.lock();
        if matches!(state.link, Link::Up(_)) {
            let is_left = state.send(message, permit);
            drop(state);
            if is_left {
                self.woken.notify_one();
            }
        }
    }

    fn over(&self, told: &Told) {
        let mut state = self.lock();
        if state.calls.remove(&told.call).is_none() {
            return;
        }
        let before = state.outgoing.len();
        // What was not sent yet need not be sent.
        state.outgoing.retain(
            |(message, _)| !matches!(message, ToHook::Call(other) if other.call == told.call),
        );
        let was_sent = state.outgoing.len() == before;
        drop(state);
        if was_sent {
            self.say(ToHook::Cancelled { call: told.call, hook: Arc::clone(&told.hook) });
        }
        // It may be unused from now on.
        self.woken.notify_one();
    }
}

/// A call that was sent. Dropped without its answer, it is cancelled.
pub(super) struct Pending {
    shared: Arc<Shared>,
    told: Arc<Told>,
    mailbox: Arc<Mailbox>,
    /// Whether nothing is known of its answer yet.
    is_open: bool,
}

impl Pending {
    /// Waits for what happens next: the answer, or something that the hook asks of the host, if so much
    /// more may be asked.
    ///
    /// # Cancellation
    /// Dropping the future loses nothing.
    pub(super) async fn happened(&mut self, may_ask: bool) -> Happened {
        let happened = poll_fn(|context| self.mailbox.poll(context, may_ask)).await;
        self.is_open &= !matches!(happened, Happened::Answered(_));
        happened
    }

    /// The answer, if it is there by now.
    pub(super) fn try_answer(&mut self) -> Option<Result<Said, HookFailure>> {
        let answered = self.mailbox.try_answer()?;
        self.is_open = false;
        Some(answered)
    }

    /// Tells the hook what came of something that it asked of the host.
    pub(super) fn speaker(&self) -> Speaker {
        Speaker { shared: Arc::clone(&self.shared) }
    }
}

/// Tells a hook what it asked for.
pub(super) struct Speaker {
    shared: Arc<Shared>,
}

impl Speaker {
    /// Sends a message, once there is room for it.
    pub(super) async fn say(self, message: ToHook) {
        let permit = self.shared.room(message.weight()).await;
        self.shared.put(message, permit);
    }
}

impl Drop for Pending {
    fn drop(&mut self) {
        if self.is_open {
            self.shared.over(&self.told);
        }
    }
}

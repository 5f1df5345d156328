//! Subscriptions: each subscriber has a bounded queue, so that a slow one delays no other and
//! learns how many messages it missed (architecture.md, invariant 12).

use std::collections::VecDeque;
use std::fmt;
use std::pin::Pin;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::task::{Context, Poll, Waker};

use tokio_stream::Stream;

use crate::message::{
    HookExecutionRequest, HookExecutionResponse, HookProgress, HookRegistration, JournalEntry,
};

/// The limits on one subscriber's unread messages. Beyond them, the oldest messages are dropped and
/// counted. A single message larger than `bytes` is delivered only if the queue is empty when it is
/// published, and does not count towards `bytes`; otherwise it is dropped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SubscriptionLimits {
    /// The number of messages, 4,096 by default.
    pub messages: usize,
    /// The approximate size of the messages in bytes, 64 MiB by default.
    pub bytes: usize,
}

impl Default for SubscriptionLimits {
    fn default() -> Self {
        Self { messages: 4_096, bytes: 64 * 1024 * 1024 }
    }
}

/// The report of dropped messages: the subscriber was too slow, or they were too large.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, thiserror::Error)]
pub struct Lagged {
    missed: u64,
    too_large: u64,
}

impl Lagged {
    /// Returns the number of messages dropped since the last one that was read.
    pub fn missed(&self) -> u64 {
        self.missed
    }

    /// Returns how many of them were each larger than the whole limit and published while others
    /// were waiting. The others were not read in time.
    pub fn too_large(&self) -> u64 {
        self.too_large
    }

    fn add(&mut self, other: Self) {
        self.missed += other.missed;
        self.too_large += other.too_large;
    }
}

impl fmt::Display for Lagged {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (slow, large) = (self.missed - self.too_large, self.too_large);
        if slow > 0 || large == 0 {
            let reason = "because the subscriber did not read them in time";
            write!(formatter, "{slow} messages were dropped {reason}")?;
        }
        if large > 0 {
            let separator = if slow > 0 { "; " } else { "" };
            let reason = "because each was larger than all that may wait for the subscriber";
            write!(formatter, "{separator}{large} messages were dropped {reason}")?;
        }
        Ok(())
    }
}

/// A type of message that can be subscribed to.
pub trait Message: sealed::Message {}

impl<M: sealed::Message> Message for M {}

pub(crate) mod sealed {
    use super::{Topic, Topics};

    /// The bus's view of a message type. Sealed: the set of message types is part of the bus's API.
    pub trait Message: Send + Sync + Sized + 'static {
        fn topic(topics: &Topics) -> &Topic<Self>;
        fn weight(&self) -> usize;
    }
}

/// The topics of all message types.
#[derive(Debug, Default)]
pub struct Topics {
    requests: Topic<HookExecutionRequest>,
    responses: Topic<HookExecutionResponse>,
    progress: Topic<HookProgress>,
    journal: Topic<JournalEntry>,
    registrations: Topic<HookRegistration>,
    /// The number of audits.
    audits: AtomicUsize,
}

impl Topics {
    /// Checks whether an audit needs the changes that hooks made to their inputs.
    pub(crate) fn has_audits(&self) -> bool {
        self.audits.load(Ordering::Acquire) > 0
    }
}

/// A handle that counts as an audit until it is dropped.
#[derive(Debug)]
pub(crate) struct AuditGuard(Weak<Topics>);

impl AuditGuard {
    pub(crate) fn count(topics: &Arc<Topics>) -> Self {
        topics.audits.fetch_add(1, Ordering::AcqRel);
        Self(Arc::downgrade(topics))
    }
}

impl Drop for AuditGuard {
    fn drop(&mut self) {
        if let Some(topics) = self.0.upgrade() {
            topics.audits.fetch_sub(1, Ordering::AcqRel);
        }
    }
}

macro_rules! topic {
    ($message:ty, $field:ident, $weight:expr) => {
        impl sealed::Message for $message {
            fn topic(topics: &Topics) -> &Topic<Self> {
                &topics.$field
            }

            fn weight(&self) -> usize {
                $weight(self)
            }
        }
    };
}

topic!(HookExecutionRequest, requests, HookExecutionRequest::weight);
topic!(HookExecutionResponse, responses, HookExecutionResponse::weight);
topic!(HookProgress, progress, HookProgress::weight);
topic!(JournalEntry, journal, JournalEntry::weight);
topic!(HookRegistration, registrations, HookRegistration::weight);

/// All subscribers to one type of message.
#[derive(Debug)]
pub struct Topic<M> {
    /// The number of queues, outside the lock so that publishing without subscribers costs one
    /// load.
    subscribers: AtomicUsize,
    queues: Mutex<Vec<Arc<Queue<M>>>>,
}

impl<M> Default for Topic<M> {
    fn default() -> Self {
        Self { subscribers: AtomicUsize::new(0), queues: Mutex::new(Vec::new()) }
    }
}

impl<M: sealed::Message> Topic<M> {
    pub(crate) fn has_subscribers(&self) -> bool {
        self.subscribers.load(Ordering::Acquire) > 0
    }

    /// Queues a message for every subscriber, without waiting.
    pub(crate) fn publish(&self, message: &Arc<M>) {
        let weight = message.weight();
        for queue in lock(&self.queues).iter() {
            queue.push(message, weight);
        }
    }

    fn add(&self, queue: Arc<Queue<M>>) {
        let mut queues = lock(&self.queues);
        queues.push(queue);
        self.subscribers.store(queues.len(), Ordering::Release);
    }

    fn remove(&self, queue: &Arc<Queue<M>>) {
        let mut queues = lock(&self.queues);
        queues.retain(|other| !Arc::ptr_eq(other, queue));
        self.subscribers.store(queues.len(), Ordering::Release);
    }
}

impl<M> Drop for Topic<M> {
    fn drop(&mut self) {
        for queue in lock(&self.queues).iter() {
            queue.close();
        }
    }
}

#[derive(Debug)]
struct Queue<M> {
    limits: SubscriptionLimits,
    state: Mutex<State<M>>,
}

/// An entry of a subscriber's queue.
#[derive(Debug)]
enum QueueEntry<M> {
    /// A message and its size, as counted towards the limit.
    Message(Arc<M>, usize),
    /// Dropped messages.
    Gap(Lagged),
}

#[derive(Debug)]
struct State<M> {
    entries: VecDeque<QueueEntry<M>>,
    bytes: usize,
    /// The messages dropped before the first entry.
    lagged: Lagged,
    closed: bool,
    reader: Option<Waker>,
}

impl<M> Queue<M> {
    fn push(&self, message: &Arc<M>, weight: usize) {
        let mut state = lock(&self.state);
        match weight > self.limits.bytes {
            // The one message that does not count towards the limit: there is never a second.
            true if state.entries.is_empty() => {
                state.entries.push_back(QueueEntry::Message(Arc::clone(message), 0));
            }
            true => state.push_gap(Lagged { missed: 1, too_large: 1 }),
            false => {
                state.entries.push_back(QueueEntry::Message(Arc::clone(message), weight));
                state.bytes += weight;
            }
        }
        while state.entries.len() > self.limits.messages || state.bytes > self.limits.bytes {
            let Some(oldest) = state.entries.pop_front() else { break };
            let lagged = match oldest {
                QueueEntry::Message(_, weight) => {
                    state.bytes -= weight;
                    Lagged { missed: 1, too_large: 0 }
                }
                QueueEntry::Gap(lagged) => lagged,
            };
            state.lagged.add(lagged);
        }
        wake(state);
    }

    fn close(&self) {
        let mut state = lock(&self.state);
        state.closed = true;
        wake(state);
    }
}

impl<M> State<M> {
    /// Records messages dropped after the last entry.
    fn push_gap(&mut self, lagged: Lagged) {
        match self.entries.back_mut() {
            Some(QueueEntry::Gap(gap)) => gap.add(lagged),
            _ => self.entries.push_back(QueueEntry::Gap(lagged)),
        }
    }
}

/// Wakes the reader after the lock is released.
fn wake<M>(mut state: MutexGuard<'_, State<M>>) {
    let reader = state.reader.take();
    drop(state);
    if let Some(reader) = reader {
        reader.wake();
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A stream of messages; dropping it unsubscribes. It ends when the bus is gone.
#[derive(Debug)]
pub struct Subscription<M: Message> {
    queue: Arc<Queue<M>>,
    topics: Weak<Topics>,
}

impl<M: Message> Subscription<M> {
    pub(crate) fn new(topics: &Arc<Topics>, limits: SubscriptionLimits) -> Self {
        let state = State {
            entries: VecDeque::new(),
            bytes: 0,
            lagged: Lagged::default(),
            closed: false,
            reader: None,
        };
        let queue = Arc::new(Queue { limits, state: Mutex::new(state) });
        M::topic(topics).add(Arc::clone(&queue));
        Self { queue, topics: Arc::downgrade(topics) }
    }
}

impl<M: Message> Stream for Subscription<M> {
    type Item = Result<Arc<M>, Lagged>;

    fn poll_next(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let mut state = lock(&self.queue.state);
        if state.lagged != Lagged::default() {
            return Poll::Ready(Some(Err(std::mem::take(&mut state.lagged))));
        }
        match state.entries.pop_front() {
            Some(QueueEntry::Message(message, weight)) => {
                state.bytes -= weight;
                return Poll::Ready(Some(Ok(message)));
            }
            Some(QueueEntry::Gap(lagged)) => return Poll::Ready(Some(Err(lagged))),
            None => {}
        }
        if state.closed {
            return Poll::Ready(None);
        }
        state.reader = Some(context.waker().clone());
        Poll::Pending
    }
}

impl<M: Message> Drop for Subscription<M> {
    fn drop(&mut self) {
        if let Some(topics) = self.topics.upgrade() {
            M::topic(&topics).remove(&self.queue);
        }
    }
}

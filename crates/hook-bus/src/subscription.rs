//! Subscribing: a bounded queue for each subscriber, so that a slow one delays nobody and learns
//! what it missed (architecture.md, invariant 12).

use std::collections::VecDeque;
use std::pin::Pin;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};

use tokio_stream::Stream;

use crate::message::{HookExecutionRequest, HookExecutionResponse, HookProgress, JournalEntry};

/// How much one subscriber may leave unread. Beyond it, the oldest messages are dropped and
/// counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SubscriptionLimits {
    /// Messages, 4,096 by default.
    pub messages: usize,
    /// Bytes that the messages hold, about; 64 MiB by default.
    pub bytes: usize,
}

impl Default for SubscriptionLimits {
    fn default() -> Self {
        Self { messages: 4_096, bytes: 64 * 1024 * 1024 }
    }
}

/// A subscriber fell behind; the oldest messages that it had not read are gone.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("{missed} messages were dropped because the subscriber did not read them in time")]
pub struct Lagged {
    missed: u64,
}

impl Lagged {
    /// How many messages were dropped since the last one that was read.
    pub fn missed(&self) -> u64 {
        self.missed
    }
}

/// A type of message that can be subscribed to.
pub trait Message: sealed::Message {}

impl<M: sealed::Message> Message for M {}

pub(crate) mod sealed {
    use super::{Topic, Topics};

    /// What the bus needs of a message type. Sealed: what travels on the bus is the bus's contract.
    pub trait Message: Send + Sync + Sized + 'static {
        fn topic(topics: &Topics) -> &Topic<Self>;
        fn weight(&self) -> usize;
    }
}

/// Everything that can be subscribed to.
#[derive(Debug, Default)]
pub struct Topics {
    requests: Topic<HookExecutionRequest>,
    responses: Topic<HookExecutionResponse>,
    progress: Topic<HookProgress>,
    journal: Topic<JournalEntry>,
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

/// All subscribers to one type of message.
#[derive(Debug)]
pub struct Topic<M> {
    /// Beside the lock, so that publishing to nobody costs one load.
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

    /// Hands a message to every subscriber, without waiting for any.
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
        queues.retain(|known| !Arc::ptr_eq(known, queue));
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

#[derive(Debug)]
struct State<M> {
    messages: VecDeque<(Arc<M>, usize)>,
    bytes: usize,
    missed: u64,
    closed: bool,
    reader: Option<Waker>,
}

impl<M> Queue<M> {
    fn push(&self, message: &Arc<M>, weight: usize) {
        let mut state = lock(&self.state);
        state.messages.push_back((Arc::clone(message), weight));
        state.bytes += weight;
        while state.messages.len() > self.limits.messages || state.bytes > self.limits.bytes {
            let Some((_, weight)) = state.messages.pop_front() else { break };
            state.bytes -= weight;
            state.missed += 1;
        }
        wake(state);
    }

    fn close(&self) {
        let mut state = lock(&self.state);
        state.closed = true;
        wake(state);
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
    topics: std::sync::Weak<Topics>,
}

impl<M: Message> Subscription<M> {
    pub(crate) fn new(topics: &Arc<Topics>, limits: SubscriptionLimits) -> Self {
        let state =
            State { messages: VecDeque::new(), bytes: 0, missed: 0, closed: false, reader: None };
        let queue = Arc::new(Queue { limits, state: Mutex::new(state) });
        M::topic(topics).add(Arc::clone(&queue));
        Self { queue, topics: Arc::downgrade(topics) }
    }
}

impl<M: Message> Stream for Subscription<M> {
    type Item = Result<Arc<M>, Lagged>;

    fn poll_next(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let mut state = lock(&self.queue.state);
        if state.missed > 0 {
            let missed = std::mem::take(&mut state.missed);
            return Poll::Ready(Some(Err(Lagged { missed })));
        }
        if let Some((message, weight)) = state.messages.pop_front() {
            state.bytes -= weight;
            return Poll::Ready(Some(Ok(message)));
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

//! Slots for running processes. Waiting hooks queue by fairness key, and the keys take turns: a key
//! with a hundred waiting hooks delays a key with one by at most one slot.

use std::collections::{BTreeMap, HashMap};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use tokio::sync::oneshot;

use super::nesting::MAX_DEPTH;

/// The fairness key of a request: hooks of one key run in order, and the keys take turns for slots.
/// Requests without a key share the default one.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub struct FairnessKey(u64);

impl FairnessKey {
    /// Returns a new, unique key.
    pub fn unique() -> Self {
        static NEXT: AtomicU64 = AtomicU64::new(1);
        Self(NEXT.fetch_add(1, Ordering::Relaxed))
    }
}

/// Slots per nesting depth. A hook may wait, while it holds a slot, for hooks one level deeper, so
/// these have slots of their own.
#[derive(Debug)]
pub struct SlotQueue {
    slots: usize,
    /// Each is created with the first hook of its depth.
    depths: [OnceLock<Arc<DepthQueue>>; MAX_DEPTH as usize + 1],
}

/// The slots of one depth, and the queue for them.
#[derive(Debug)]
struct DepthQueue {
    state: Mutex<State>,
}

/// The state of a queue. Every operation takes logarithmic time, because a client may have many
/// thousands of waiting hooks and drop all of them at once.
#[derive(Debug)]
struct State {
    /// The free slots; 0 while hooks wait.
    free: usize,
    /// The overdraft: the number of returned slots that nobody gets, because as many were lent.
    overdraft: usize,
    /// The waiting hooks, by fairness key; no queue is empty.
    queues: HashMap<FairnessKey, KeyQueue>,
    /// The order of the keys; each occurs once, under its turn.
    turns: BTreeMap<u64, FairnessKey>,
    /// The number of the next ticket or turn.
    next_number: u64,
}

/// The waiting hooks of one key, by ticket; the lowest is first.
#[derive(Debug)]
struct KeyQueue {
    turn: u64,
    waiting: BTreeMap<u64, oneshot::Sender<Slot>>,
}

/// A slot, returned when dropped.
#[derive(Debug)]
pub(crate) struct Slot {
    /// `None` if there is nothing to return.
    queue: Option<Arc<DepthQueue>>,
}

/// A slot that its holder lends to another hook until this is dropped. If the borrower still runs
/// then, one slot too many is in use until any slot is returned.
#[derive(Debug)]
pub(crate) struct SlotLoan {
    queue: Arc<DepthQueue>,
}

impl Drop for SlotLoan {
    fn drop(&mut self) {
        let mut state = self.queue.lock();
        match state.free.checked_sub(1) {
            Some(free) => state.free = free,
            None => state.overdraft += 1,
        }
    }
}

impl SlotQueue {
    /// Creates a queue with this number of slots per depth.
    pub(crate) fn new(slots: usize) -> Arc<Self> {
        Arc::new(Self { slots, depths: [const { OnceLock::new() }; MAX_DEPTH as usize + 1] })
    }

    /// Waits for a slot. Never returns `None`, since a queue is never closed. Hooks below the
    /// maximum depth fail without a slot; otherwise they would wait with the deepest.
    ///
    /// # Cancellation
    /// Dropping the future only gives up its turn.
    pub(crate) async fn acquire(&self, key: FairnessKey, depth: u32) -> Option<Slot> {
        self.depth_queue(depth)?.acquire(key).await
    }

    /// Lends a slot to another hook while its holder waits, until the returned value is dropped.
    pub(crate) fn lend(&self, depth: u32) -> Option<SlotLoan> {
        let queue = Arc::clone(self.depth_queue(depth)?);
        queue.release();
        Some(SlotLoan { queue })
    }

    fn depth_queue(&self, depth: u32) -> Option<&Arc<DepthQueue>> {
        let depth = self.depths.get(depth.min(MAX_DEPTH) as usize)?;
        Some(depth.get_or_init(|| DepthQueue::new(self.slots)))
    }
}

impl DepthQueue {
    fn new(slots: usize) -> Arc<Self> {
        let state = State {
            free: slots,
            overdraft: 0,
            queues: HashMap::new(),
            turns: BTreeMap::new(),
            next_number: 0,
        };
        Arc::new(Self { state: Mutex::new(state) })
    }

    async fn acquire(self: &Arc<Self>, key: FairnessKey) -> Option<Slot> {
        let (ticket, receiver) = {
            let mut state = self.lock();
            if state.free > 0 {
                state.free -= 1;
                return Some(Slot { queue: Some(Arc::clone(self)) });
            }
            let (sender, receiver) = oneshot::channel();
            (state.wait(key, sender), receiver)
        };
        let mut waiter = Waiter { queue: self, key, ticket, receiver };
        (&mut waiter.receiver).await.ok()
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Gives a slot to the next waiting hook.
    fn release(self: &Arc<Self>) {
        loop {
            let next = {
                let mut state = self.lock();
                if state.overdraft > 0 {
                    state.overdraft -= 1;
                    return;
                }
                let next = state.next();
                if next.is_none() {
                    state.free += 1;
                }
                next
            };
            let Some(next) = next else { return };
            match next.send(Slot { queue: Some(Arc::clone(self)) }) {
                Ok(()) => return,
                // The waiter is gone; the next one gets the slot.
                Err(mut slot) => slot.queue = None,
            }
        }
    }
}

impl State {
    fn number(&mut self) -> u64 {
        self.next_number += 1;
        self.next_number
    }

    /// Adds a waiter to a key's queue and returns its ticket.
    fn wait(&mut self, key: FairnessKey, sender: oneshot::Sender<Slot>) -> u64 {
        let ticket = self.number();
        match self.queues.get_mut(&key) {
            Some(queue) => {
                queue.waiting.insert(ticket, sender);
            }
            None => {
                // The first ticket of a key is also its turn.
                let waiting = BTreeMap::from([(ticket, sender)]);
                self.queues.insert(key, KeyQueue { turn: ticket, waiting });
                self.turns.insert(ticket, key);
            }
        }
        ticket
    }

    fn next(&mut self) -> Option<oneshot::Sender<Slot>> {
        let (_, key) = self.turns.pop_first()?;
        let turn = self.number();
        let queue = self.queues.get_mut(&key)?;
        let next = queue.waiting.pop_first();
        if queue.waiting.is_empty() {
            self.queues.remove(&key);
        } else {
            queue.turn = turn;
            self.turns.insert(turn, key);
        }
        next.map(|(_, sender)| sender)
    }

    /// Removes a waiter that left.
    fn remove(&mut self, key: FairnessKey, ticket: u64) {
        let Some(queue) = self.queues.get_mut(&key) else { return };
        queue.waiting.remove(&ticket);
        if queue.waiting.is_empty() {
            self.turns.remove(&queue.turn);
            self.queues.remove(&key);
        }
    }
}

impl Drop for Slot {
    fn drop(&mut self) {
        if let Some(queue) = self.queue.take() {
            queue.release();
        }
    }
}

struct Waiter<'q> {
    queue: &'q Arc<DepthQueue>,
    key: FairnessKey,
    ticket: u64,
    receiver: oneshot::Receiver<Slot>,
}

impl Drop for Waiter<'_> {
    fn drop(&mut self) {
        self.receiver.close();
        if !self.receiver.is_terminated() {
            // A slot that arrived too late goes to the next waiter, after the lock is released.
            let late = self.receiver.try_recv();
            self.queue.lock().remove(self.key, self.ticket);
            drop(late);
        }
    }
}

#[cfg(test)]
mod tests {
    use futures::FutureExt;
    use futures::future::BoxFuture;

    use super::*;

    fn waiting(queue: &Arc<DepthQueue>, lane: FairnessKey) -> BoxFuture<'static, Slot> {
        let queue = Arc::clone(queue);
        let mut waiting = async move { queue.acquire(lane).await.unwrap() }.boxed();
        assert!((&mut waiting).now_or_never().is_none());
        waiting
    }

    fn is_empty(queue: &Arc<DepthQueue>) -> bool {
        let state = queue.lock();
        state.queues.is_empty() && state.turns.is_empty()
    }

    #[test]
    fn a_lent_slot_is_had_by_another_and_is_the_holder_s_again() {
        let queue = SlotQueue::new(1);
        let own = queue.acquire(FairnessKey::default(), 0).now_or_never().flatten().unwrap();
        let lent = queue.lend(0);
        let other = queue.acquire(FairnessKey::default(), 0).now_or_never().flatten().unwrap();
        drop(lent);
        drop(other);
        assert!(queue.acquire(FairnessKey::default(), 0).now_or_never().is_none(), "one was owed");
        drop(own);
        assert!(queue.acquire(FairnessKey::default(), 0).now_or_never().is_some());
    }

    #[test]
    fn lanes_take_turns_however_many_wait_in_one() {
        let queue = DepthQueue::new(1);
        let (greedy, modest) = (FairnessKey::unique(), FairnessKey::unique());
        let mut held = queue.acquire(greedy).now_or_never().flatten();
        let mut greedy: Vec<_> = (0..100).map(|_| waiting(&queue, greedy)).collect();
        let mut modest = waiting(&queue, modest);
        held.take();
        let mut first = greedy.remove(0).now_or_never();
        assert!(first.is_some() && (&mut modest).now_or_never().is_none());
        first.take();
        assert!(modest.now_or_never().is_some(), "its turn is the second, not the last");
        for waiting in greedy {
            assert!(waiting.now_or_never().is_some());
        }
        assert!(is_empty(&queue) && queue.lock().free == 1);
    }

    #[test]
    fn a_waiter_that_leaves_takes_no_slot_along() {
        let queue = DepthQueue::new(1);
        let held = queue.acquire(FairnessKey::default()).now_or_never().flatten();
        let (left, late, last) = (
            waiting(&queue, FairnessKey::default()),
            waiting(&queue, FairnessKey::unique()),
            waiting(&queue, FairnessKey::unique()),
        );
        drop(left);
        // This waiter already has a slot but was not polled.
        drop(held);
        drop(late);
        assert!(last.now_or_never().is_some());
        assert!(is_empty(&queue) && queue.lock().free == 1);
    }

    /// If each removal scanned the queue, this would take minutes instead of a second.
    #[test]
    fn a_hundred_thousand_that_leave_at_once_take_linear_time() {
        let started = std::time::Instant::now();
        let queue = DepthQueue::new(1);
        let held = queue.acquire(FairnessKey::default()).now_or_never().flatten();
        let (busy, first) = (FairnessKey::unique(), waiting(&queue, FairnessKey::unique()));
        let mut leaving: Vec<_> = (0..100_000).map(|_| waiting(&queue, busy)).collect();
        // From both ends, so that neither order is favored.
        let later = leaving.split_off(50_000);
        leaving.into_iter().chain(later.into_iter().rev()).for_each(drop);
        assert!(started.elapsed() < std::time::Duration::from_secs(30), "{:?}", started.elapsed());
        drop(held);
        assert!(first.now_or_never().is_some());
        assert!(is_empty(&queue) && queue.lock().free == 1);
    }
}

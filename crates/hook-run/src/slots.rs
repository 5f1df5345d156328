//! Slots for running processes. Waiting hooks queue by fairness key, and the keys take turns: a key
//! with a hundred waiting hooks delays a key with one by at most one slot.

use std::collections::{BTreeMap, HashMap};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use tokio::sync::oneshot;

use super::nesting::MAX_DEPTH;

/// The fairness key of a request: hooks of one key run in order, and the keys take turns for slots.
/// Requests without a key share the default one.
#[doc(hidden)]
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub struct RunLane(u64);

impl RunLane {
    /// Returns a new, unique key.
    pub fn own() -> Self {
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
    depths: [OnceLock<Arc<Depth>>; MAX_DEPTH as usize + 1],
}

/// The slots of one depth, and the queue for them.
#[derive(Debug)]
struct Depth {
    state: Mutex<State>,
}

/// The state of a queue. Every operation takes logarithmic time, because a client may have many
/// thousands of waiting hooks and drop all of them at once.
#[derive(Debug)]
struct State {
    /// The free slots; 0 while hooks wait.
    free: usize,
    /// The overdraft: the number of returned slots that nobody gets, because as many were lent.
    owed: usize,
    /// The waiting hooks, by fairness key; no queue is empty.
    lanes: HashMap<RunLane, Lane>,
    /// The order of the keys; each occurs once, under its turn.
    turns: BTreeMap<u64, RunLane>,
    /// The number of the next ticket or turn.
    next_number: u64,
}

/// The waiting hooks of one key, by ticket; the lowest is first.
#[derive(Debug)]
struct Lane {
    turn: u64,
    waiting: BTreeMap<u64, oneshot::Sender<Slot>>,
}

/// A slot, returned when dropped.
#[derive(Debug)]
pub(crate) struct Slot {
    /// `None` if there is nothing to return.
    queue: Option<Arc<Depth>>,
}

/// A slot that its holder lends to another hook until this is dropped. If the borrower still runs
/// then, one slot too many is in use until any slot is returned.
#[derive(Debug)]
pub(crate) struct Lent {
    queue: Arc<Depth>,
}

impl Drop for Lent {
    fn drop(&mut self) {
        let mut state = self.queue.lock();
        match state.free.checked_sub(1) {
            Some(free) => state.free = free,
            None => state.owed += 1,
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
    pub(crate) async fn acquire(&self, lane: RunLane, depth: u32) -> Option<Slot> {
        self.at(depth)?.acquire(lane).await
    }

    /// Lends a slot to another hook while its holder waits, until the returned value is dropped.
    pub(crate) fn lend(&self, depth: u32) -> Option<Lent> {
        let queue = Arc::clone(self.at(depth)?);
        queue.hand_on();
        Some(Lent { queue })
    }

    fn at(&self, depth: u32) -> Option<&Arc<Depth>> {
        let depth = self.depths.get(depth.min(MAX_DEPTH) as usize)?;
        Some(depth.get_or_init(|| Depth::new(self.slots)))
    }
}

impl Depth {
    fn new(slots: usize) -> Arc<Self> {
        let state = State {
            free: slots,
            owed: 0,
            lanes: HashMap::new(),
            turns: BTreeMap::new(),
            next_number: 0,
        };
        Arc::new(Self { state: Mutex::new(state) })
    }

    async fn acquire(self: &Arc<Self>, lane: RunLane) -> Option<Slot> {
        let (ticket, receiver) = {
            let mut state = self.lock();
            if state.free > 0 {
                state.free -= 1;
                return Some(Slot { queue: Some(Arc::clone(self)) });
            }
            let (sender, receiver) = oneshot::channel();
            (state.wait(lane, sender), receiver)
        };
        let mut waiting = Waiting { queue: self, lane, ticket, receiver };
        (&mut waiting.receiver).await.ok()
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Gives a slot to the next waiting hook.
    fn hand_on(self: &Arc<Self>) {
        loop {
            let next = {
                let mut state = self.lock();
                if state.owed > 0 {
                    state.owed -= 1;
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
    fn wait(&mut self, lane: RunLane, sender: oneshot::Sender<Slot>) -> u64 {
        let ticket = self.number();
        match self.lanes.get_mut(&lane) {
            Some(lane) => {
                lane.waiting.insert(ticket, sender);
            }
            None => {
                // The first ticket of a key is also its turn.
                let waiting = BTreeMap::from([(ticket, sender)]);
                self.lanes.insert(lane, Lane { turn: ticket, waiting });
                self.turns.insert(ticket, lane);
            }
        }
        ticket
    }

    fn next(&mut self) -> Option<oneshot::Sender<Slot>> {
        let (_, lane) = self.turns.pop_first()?;
        let turn = self.number();
        let waiting = self.lanes.get_mut(&lane)?;
        let next = waiting.waiting.pop_first();
        if waiting.waiting.is_empty() {
            self.lanes.remove(&lane);
        } else {
            waiting.turn = turn;
            self.turns.insert(turn, lane);
        }
        next.map(|(_, sender)| sender)
    }

    /// Removes a waiter that left.
    fn leave(&mut self, lane: RunLane, ticket: u64) {
        let Some(waiting) = self.lanes.get_mut(&lane) else { return };
        waiting.waiting.remove(&ticket);
        if waiting.waiting.is_empty() {
            self.turns.remove(&waiting.turn);
            self.lanes.remove(&lane);
        }
    }
}

impl Drop for Slot {
    fn drop(&mut self) {
        if let Some(queue) = self.queue.take() {
            queue.hand_on();
        }
    }
}

struct Waiting<'q> {
    queue: &'q Arc<Depth>,
    lane: RunLane,
    ticket: u64,
    receiver: oneshot::Receiver<Slot>,
}

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        self.receiver.close();
        if !self.receiver.is_terminated() {
            // A slot that arrived too late goes to the next waiter, after the lock is released.
            let late = self.receiver.try_recv();
            self.queue.lock().leave(self.lane, self.ticket);
            drop(late);
        }
    }
}

#[cfg(test)]
mod tests {
    use futures::FutureExt;
    use futures::future::BoxFuture;

    use super::*;

    fn waiting(queue: &Arc<Depth>, lane: RunLane) -> BoxFuture<'static, Slot> {
        let queue = Arc::clone(queue);
        let mut waiting = async move { queue.acquire(lane).await.unwrap() }.boxed();
        assert!((&mut waiting).now_or_never().is_none());
        waiting
    }

    fn is_empty(queue: &Arc<Depth>) -> bool {
        let state = queue.lock();
        state.lanes.is_empty() && state.turns.is_empty()
    }

    #[test]
    fn a_lent_slot_is_had_by_another_and_is_the_holder_s_again() {
        let queue = SlotQueue::new(1);
        let own = queue.acquire(RunLane::default(), 0).now_or_never().flatten().unwrap();
        let lent = queue.lend(0);
        let other = queue.acquire(RunLane::default(), 0).now_or_never().flatten().unwrap();
        drop(lent);
        drop(other);
        assert!(queue.acquire(RunLane::default(), 0).now_or_never().is_none(), "one was owed");
        drop(own);
        assert!(queue.acquire(RunLane::default(), 0).now_or_never().is_some());
    }

    #[test]
    fn lanes_take_turns_however_many_wait_in_one() {
        let queue = Depth::new(1);
        let (greedy, modest) = (RunLane::own(), RunLane::own());
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
        let queue = Depth::new(1);
        let held = queue.acquire(RunLane::default()).now_or_never().flatten();
        let (left, late, last) = (
            waiting(&queue, RunLane::default()),
            waiting(&queue, RunLane::own()),
            waiting(&queue, RunLane::own()),
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
        let queue = Depth::new(1);
        let held = queue.acquire(RunLane::default()).now_or_never().flatten();
        let (busy, first) = (RunLane::own(), waiting(&queue, RunLane::own()));
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

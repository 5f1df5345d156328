//! Places among the running processes. Whoever waits for one stands in a lane, and the lanes take
//! turns, so that one with a hundred waiting holds up another with one by no more than one place.

use std::collections::hash_map::Entry;
use std::collections::{HashMap, VecDeque};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::oneshot;

/// On whose behalf hooks run, where places are few: hooks of one lane come one after the other,
/// lanes take turns. The default is the lane of everybody who asked for none.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub struct RunLane(u64);

impl RunLane {
    /// A lane of one's own.
    pub fn own() -> Self {
        static NEXT: AtomicU64 = AtomicU64::new(1);
        Self(NEXT.fetch_add(1, Ordering::Relaxed))
    }
}

/// So many places, and who waits for one.
#[derive(Debug)]
pub(crate) struct SlotQueue {
    state: Mutex<State>,
}

#[derive(Debug)]
struct State {
    /// Places that nobody holds; none while somebody waits.
    free: usize,
    /// Those who wait, by lane; no lane is empty.
    lanes: HashMap<RunLane, VecDeque<oneshot::Sender<Slot>>>,
    /// Whose turn is next; each lane once.
    turns: VecDeque<RunLane>,
}

/// A place; given back by being dropped.
#[derive(Debug)]
pub(crate) struct Slot {
    /// Gone when there is nothing to give back.
    queue: Option<Arc<SlotQueue>>,
}

impl SlotQueue {
    pub(crate) fn new(places: usize) -> Arc<Self> {
        let state = State { free: places, lanes: HashMap::new(), turns: VecDeque::new() };
        Arc::new(Self { state: Mutex::new(state) })
    }

    /// Waits for a place. `None` never comes: a queue is not closed.
    ///
    /// # Cancellation
    /// Dropping the future gives up its turn and nothing else.
    pub(crate) async fn acquire(self: &Arc<Self>, lane: RunLane) -> Option<Slot> {
        let receiver = {
            let mut state = self.lock();
            if state.free > 0 {
                state.free -= 1;
                return Some(Slot { queue: Some(Arc::clone(self)) });
            }
            let (sender, receiver) = oneshot::channel();
            state.wait(lane, sender);
            receiver
        };
        let mut waiting = Waiting { queue: self, lane, receiver };
        (&mut waiting.receiver).await.ok()
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Gives a place to the next who still waits for one.
    fn hand_on(self: &Arc<Self>) {
        loop {
            let next = {
                let mut state = self.lock();
                let next = state.next();
                if next.is_none() {
                    state.free += 1;
                }
                next
            };
            let Some(next) = next else { return };
            match next.send(Slot { queue: Some(Arc::clone(self)) }) {
                Ok(()) => return,
                // Whoever waited has left meanwhile; the place is still to be given.
                Err(mut slot) => slot.queue = None,
            }
        }
    }
}

impl State {
    fn wait(&mut self, lane: RunLane, sender: oneshot::Sender<Slot>) {
        match self.lanes.entry(lane) {
            Entry::Occupied(mut waiting) => waiting.get_mut().push_back(sender),
            Entry::Vacant(empty) => {
                empty.insert(VecDeque::from([sender]));
                self.turns.push_back(lane);
            }
        }
    }

    fn next(&mut self) -> Option<oneshot::Sender<Slot>> {
        let lane = self.turns.pop_front()?;
        let Entry::Occupied(mut waiting) = self.lanes.entry(lane) else { return None };
        let next = waiting.get_mut().pop_front();
        if waiting.get().is_empty() {
            waiting.remove();
        } else {
            self.turns.push_back(lane);
        }
        next
    }

    /// Forgets those of a lane who left.
    fn tidy(&mut self, lane: RunLane) {
        if let Entry::Occupied(mut waiting) = self.lanes.entry(lane) {
            waiting.get_mut().retain(|sender| !sender.is_closed());
            if waiting.get().is_empty() {
                waiting.remove();
                self.turns.retain(|turn| *turn != lane);
            }
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
    queue: &'q Arc<SlotQueue>,
    lane: RunLane,
    receiver: oneshot::Receiver<Slot>,
}

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        self.receiver.close();
        if !self.receiver.is_terminated() {
            // A place that came too late goes on to the next, after the lock is released.
            let late = self.receiver.try_recv();
            self.queue.lock().tidy(self.lane);
            drop(late);
        }
    }
}

#[cfg(test)]
mod tests {
    use futures::FutureExt;
    use futures::future::BoxFuture;

    use super::*;

    fn waiting(queue: &Arc<SlotQueue>, lane: RunLane) -> BoxFuture<'static, Slot> {
        let queue = Arc::clone(queue);
        let mut waiting = async move { queue.acquire(lane).await.unwrap() }.boxed();
        assert!((&mut waiting).now_or_never().is_none());
        waiting
    }

    fn is_empty(queue: &Arc<SlotQueue>) -> bool {
        let state = queue.lock();
        state.lanes.is_empty() && state.turns.is_empty()
    }

    #[test]
    fn lanes_take_turns_however_many_wait_in_one() {
        let queue = SlotQueue::new(1);
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
    fn who_leaves_takes_no_place_along() {
        let queue = SlotQueue::new(1);
        let held = queue.acquire(RunLane::default()).now_or_never().flatten();
        let (left, late, last) = (
            waiting(&queue, RunLane::default()),
            waiting(&queue, RunLane::own()),
            waiting(&queue, RunLane::own()),
        );
        drop(left);
        // This one has its place already and never looked.
        drop(held);
        drop(late);
        assert!(last.now_or_never().is_some());
        assert!(is_empty(&queue) && queue.lock().free == 1);
    }
}

//! What follows a verdict on a hook that still runs: TERM, a grace, KILL; on a task that the engine
//! owns, so that nobody waits for it.

use std::time::Duration;

use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use super::executor::Slots;
use super::tree::ProcessTree;

/// What the engine owns beyond the answer of a hook.
#[derive(Debug, Clone)]
pub(super) struct EngineTasks {
    /// Runs in progress and clean-ups.
    pub(super) tracker: TaskTracker,
    /// Cancelled when no process is to be given a grace any more.
    pub(super) impatient: CancellationToken,
}

impl EngineTasks {
    pub(super) fn new() -> Self {
        let tracker = TaskTracker::new();
        // A closed tracker takes tasks all the same, and can be waited for by anybody at any time.
        tracker.close();
        Self { tracker, impatient: CancellationToken::new() }
    }

    /// Tells a tree to end at once, and sees to it that it does. The slots are free when its leader
    /// is gone.
    pub(super) fn end(&self, mut tree: ProcessTree, grace: Duration, slots: Slots) {
        tree.terminate();
        let impatient = self.impatient.clone();
        self.tracker.spawn(async move {
            let mut slots = Some(slots);
            let ended = async {
                tree.leader_gone().await;
                slots.take();
                tree.gone().await;
            };
            tokio::select! {
                () = ended => {}
                () = tokio::time::sleep(grace) => {}
                () = impatient.cancelled() => {}
            }
            // Also when all seem gone: looking is not atomic, and this hits no stranger.
            tree.kill();
            // Whatever waiting says, there is nothing left to do.
            let _ = tree.wait().await;
        });
    }
}

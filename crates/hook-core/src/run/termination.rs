//! What follows a verdict on a hook that still runs: TERM, a grace, KILL; on a task that the engine
//! owns, so that no caller waits for it.

use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};
use std::time::Duration;

use tokio::io::{AsyncRead, copy, sink};
use tokio::process::{ChildStderr, ChildStdout};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use super::executor::Slots;
use super::tree::{EndSignal, ProcessTree, Sweeper};

/// How long a killed process may take to be gone.
const AFTER_KILL: Duration = Duration::from_secs(1);

/// A hook that got its verdict while it ran.
pub(super) struct Leaving {
    pub(super) tree: ProcessTree,
    /// Read on, so that what it writes while it tidies up does not end it early.
    pub(super) stdout: Option<ChildStdout>,
    pub(super) stderr: Option<ChildStderr>,
    /// Free when the leader is gone.
    pub(super) slots: Slots,
}

/// What the engine owns beyond the answer of a hook.
#[derive(Debug, Clone)]
pub(super) struct EngineTasks {
    /// Runs in progress and clean-ups.
    pub(super) tracker: TaskTracker,
    /// Processes that stay alive.
    pub(super) workers: TaskTracker,
    /// Cancelled when no process is to be given a grace any more.
    pub(super) impatient: CancellationToken,
    /// How processes are told to end: an [`EndSignal`].
    signal: Arc<AtomicU8>,
    /// Finds out when groups are gone.
    sweeper: Sweeper,
}

impl EngineTasks {
    pub(super) fn new(sweeper: Sweeper) -> Self {
        let (tracker, workers) = (TaskTracker::new(), TaskTracker::new());
        // A closed tracker takes tasks all the same, and can be waited for by anybody at any time.
        tracker.close();
        workers.close();
        Self {
            tracker,
            workers,
            impatient: CancellationToken::new(),
            signal: Arc::default(),
            sweeper,
        }
    }

    /// From now on processes are told to end by that signal.
    pub(super) fn end_with(&self, signal: EndSignal) {
        self.signal.store(signal as u8, Ordering::Relaxed);
    }

    fn signal(&self) -> EndSignal {
        let stored = self.signal.load(Ordering::Relaxed);
        EndSignal::ALL.get(usize::from(stored)).copied().unwrap_or(EndSignal::Terminate)
    }

    /// Tells a tree to end at once, and sees to it that it does.
    pub(super) fn end(&self, leaving: Leaving, grace: Duration) {
        let Leaving { mut tree, stdout, stderr, slots } = leaving;
        tree.tell_to_end(self.signal());
        let (impatient, sweeper) = (self.impatient.clone(), self.sweeper.clone());
        self.tracker.spawn(async move {
            let mut slots = Some(slots);
            let ended = async {
                tree.leader_gone().await;
                slots.take();
                tree.gone(&sweeper).await;
            };
            let all_ended = tokio::select! {
                () = discard(stdout, stderr) => false,
                () = ended => true,
                () = tokio::time::sleep(grace) => false,
                () = impatient.cancelled() => false,
            };
            // Also when all seem gone: looking is not atomic, and this hits no stranger.
            tree.kill();
            // Children end a moment after they are killed; only Linux tells when.
            if !all_ended && cfg!(target_os = "linux") {
                let _ = tokio::time::timeout(AFTER_KILL, tree.gone(&sweeper)).await;
            }
            // What cannot be killed (another user's, stuck in the kernel) is not waited for: dropped,
            // it is reaped by the runtime when it ends.
            let _ = tokio::time::timeout(AFTER_KILL, tree.wait()).await;
        });
    }
}

/// Reads both to their ends and on; never ready.
async fn discard(stdout: Option<ChildStdout>, stderr: Option<ChildStderr>) {
    async fn drain(pipe: Option<impl AsyncRead + Unpin>) {
        if let Some(mut pipe) = pipe {
            // A pipe that cannot be read is as good as one that has ended.
            let _ = copy(&mut pipe, &mut sink()).await;
        }
    }
    tokio::join!(drain(stdout), drain(stderr));
    std::future::pending().await
}

//! The end of a hook that still runs after its verdict: TERM, grace period, KILL. It happens on a
//! task of the engine, so no caller waits for it.

use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};
use std::time::Duration;

use tokio::io::{AsyncRead, copy, sink};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use super::executor::Slots;
use super::tree::{EndSignal, ProcessTree, StderrPipe, StdoutPipe, Sweeper};

/// The time within which a killed process should be gone.
const KILL_TIMEOUT: Duration = Duration::from_secs(1);

/// A process that is being ended because its hook has got its verdict.
pub(super) struct LeftoverProcess {
    pub(super) tree: ProcessTree,
    /// Read further, so that output during its clean-up does not end the process early.
    pub(super) stdout: Option<StdoutPipe>,
    pub(super) stderr: Option<StderrPipe>,
    /// Released when the leader is gone.
    pub(super) slots: Slots,
}

/// The tasks that the engine owns and that outlive a hook's answer.
#[derive(Debug, Clone)]
pub(super) struct EngineTasks {
    /// Runs in progress and clean-ups.
    pub(super) tracker: TaskTracker,
    /// Long-lived processes.
    pub(super) workers: TaskTracker,
    /// Cancelled to end all grace periods.
    pub(super) skip_grace: CancellationToken,
    /// The [`EndSignal`] that asks processes to end.
    signal: Arc<AtomicU8>,
    /// The watcher that notices when groups are gone.
    sweeper: Sweeper,
}

impl EngineTasks {
    pub(super) fn new(sweeper: Sweeper) -> Self {
        let (tracker, workers) = (TaskTracker::new(), TaskTracker::new());
        // A closed tracker still accepts tasks, and can be waited for at any time.
        tracker.close();
        workers.close();
        Self {
            tracker,
            workers,
            skip_grace: CancellationToken::new(),
            signal: Arc::default(),
            sweeper,
        }
    }

    /// Sets the signal that asks processes to end.
    pub(super) fn end_with(&self, signal: EndSignal) {
        self.signal.store(signal as u8, Ordering::Relaxed);
    }

    fn signal(&self) -> EndSignal {
        let stored = self.signal.load(Ordering::Relaxed);
        EndSignal::ALL.get(usize::from(stored)).copied().unwrap_or(EndSignal::Terminate)
    }

    /// Signals a tree to end, and kills it after the grace period.
    pub(super) fn end(&self, leftover: LeftoverProcess, grace: Duration) {
        let LeftoverProcess { mut tree, stdout, stderr, slots } = leftover;
        tree.tell_to_end(self.signal());
        let (skip_grace, sweeper) = (self.skip_grace.clone(), self.sweeper.clone());
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
                () = skip_grace.cancelled() => false,
            };
            // Also if all seem gone, because the scan is not atomic. It cannot hit other processes.
            tree.kill();
            // Children end a moment after they are killed; only Linux reports when.
            if !all_ended && cfg!(target_os = "linux") {
                let _ = tokio::time::timeout(KILL_TIMEOUT, tree.gone(&sweeper)).await;
            }
            // Not waited for: processes that cannot be killed (another user's, stuck in the
            // kernel). After the drop, the runtime reaps them when they end.
            let _ = tokio::time::timeout(KILL_TIMEOUT, tree.wait()).await;
        });
    }
}

/// Reads both streams to their ends; never ready.
async fn discard(stdout: Option<StdoutPipe>, stderr: Option<StderrPipe>) {
    async fn drain(pipe: Option<impl AsyncRead + Unpin>) {
        if let Some(mut pipe) = pipe {
            // A pipe that cannot be read counts as ended.
            let _ = copy(&mut pipe, &mut sink()).await;
        }
    }
    tokio::join!(drain(stdout), drain(stderr));
    std::future::pending().await
}

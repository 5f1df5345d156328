//! Ending a process and everything it started: TERM to its group, a grace, then KILL.

use std::time::Duration;

use tokio::process::{Child, Command};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use super::executor::Slots;

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
}

/// How often a group that was told to end is looked at.
const LOOK_AGAIN: Duration = Duration::from_millis(20);

/// The process group that a hook runs in. The leader's id is its name.
///
/// Signals are only sent while the leader has not been reaped, so its id cannot have been given to
/// a stranger.
#[derive(Debug, Clone, Copy)]
pub(super) struct Group {
    #[cfg(unix)]
    leader: Option<rustix::process::Pid>,
}

impl Group {
    /// Makes `command` start a group of its own.
    pub(super) fn prepare(command: &mut Command) {
        #[cfg(unix)]
        command.process_group(0);
        // A runtime that ends takes the leader with it.
        command.kill_on_drop(true);
    }

    /// The group of a child that was just started.
    pub(super) fn of(child: &Child) -> Self {
        #[cfg(not(unix))]
        let _ = child;
        Self {
            #[cfg(unix)]
            leader: child
                .id()
                .and_then(|id| i32::try_from(id).ok())
                .and_then(rustix::process::Pid::from_raw),
        }
    }

    /// Signals the group at once and leaves the rest to an owned task: the grace, the kill, the
    /// reaping. The slots are freed when the leader is gone.
    pub(super) fn terminate(
        self,
        mut child: Child,
        grace: Duration,
        slots: Slots,
        tasks: &EngineTasks,
    ) {
        self.signal(Signal::Terminate);
        let impatient = tasks.impatient.clone();
        tasks.tracker.spawn(async move {
            tokio::select! {
                () = tokio::time::sleep(grace) => {}
                () = self.gone() => {}
                () = impatient.cancelled() => {}
            }
            self.signal(Signal::Kill);
            let _ = child.start_kill();
            let _ = child.wait().await;
            drop(slots);
        });
    }

    /// Waits until nothing of the group runs any more. The leader is not reaped by this, so its id
    /// stays its own.
    async fn gone(self) {
        while self.is_running() {
            tokio::time::sleep(LOOK_AGAIN).await;
        }
    }

    /// Whether a process of the group is neither ended nor about to be reaped.
    #[cfg(target_os = "linux")]
    fn is_running(self) -> bool {
        let Some(leader) = self.leader else { return false };
        let leader = leader.as_raw_nonzero().get().to_string();
        // What cannot be looked at may run.
        let Ok(processes) = std::fs::read_dir("/proc") else { return true };
        processes.flatten().any(|process| {
            let stat = std::fs::read_to_string(process.path().join("stat")).unwrap_or_default();
            // After the name in parentheses, which may hold anything: state, parent, group.
            let fields = stat.rsplit_once(')').map_or("", |(_, fields)| fields);
            let mut fields = fields.split_ascii_whitespace();
            let state = fields.next();
            fields.nth(1) == Some(&leader) && !matches!(state, Some("Z" | "X"))
        })
    }

    #[cfg(not(target_os = "linux"))]
    fn is_running(self) -> bool {
        true
    }

    #[cfg(unix)]
    fn signal(self, signal: Signal) {
        let signal = match signal {
            Signal::Terminate => rustix::process::Signal::TERM,
            Signal::Kill => rustix::process::Signal::KILL,
        };
        if let Some(leader) = self.leader {
            // A group that is gone already is what was wanted.
            let _ = rustix::process::kill_process_group(leader, signal);
        }
    }

    #[cfg(not(unix))]
    fn signal(self, _: Signal) {}
}

#[derive(Debug, Clone, Copy)]
enum Signal {
    Terminate,
    Kill,
}

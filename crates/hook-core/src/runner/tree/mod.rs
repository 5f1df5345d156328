//! A hook's process and everything it started, as one thing that can be told to end and killed.
//!
//! `unix` and `windows` have the same functions: what holds a tree together on that system.

#[cfg_attr(not(unix), expect(dead_code, reason = "a job knows by itself whether it runs"))]
mod sweeper;
#[cfg(unix)]
mod unix;
#[cfg(windows)]
mod windows;

use std::io;
use std::process::{ExitStatus, Stdio};
use std::time::Duration;

use tokio::process::{Child, ChildStderr, ChildStdin, ChildStdout, Command};

use super::termination::EndSignal;
pub(super) use sweeper::Sweeper;
#[cfg(unix)]
use unix::Group;
#[cfg(windows)]
use windows::Group;

/// How soon a leader that was told to end is looked at, and at most how long until the next look.
const LOOK_AGAIN: (Duration, Duration) = (Duration::from_millis(2), Duration::from_millis(100));

/// A process that leads a tree of processes. Dropping it while the leader runs kills the tree: a
/// runtime that ends leaves nothing behind.
#[derive(Debug)]
pub(super) struct ProcessTree {
    leader: Child,
    group: Group,
}

impl ProcessTree {
    /// Starts a process as the leader of a tree of its own, with pipes to all its streams.
    ///
    /// # Errors
    /// When it cannot be started.
    pub(super) fn spawn(process: std::process::Command) -> io::Result<Self> {
        let mut process = Command::from(process);
        process.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        Group::prepare(&mut process);
        let leader = process.kill_on_drop(true).spawn()?;
        let group = Group::of(&leader);
        Ok(Self { leader, group })
    }

    /// The process group, where the system has those: its leader's id.
    pub(super) fn group(&self) -> Option<u32> {
        if cfg!(unix) { self.leader.id() } else { None }
    }

    pub(super) fn take_stdin(&mut self) -> Option<ChildStdin> {
        self.leader.stdin.take()
    }

    pub(super) fn take_stdout(&mut self) -> Option<ChildStdout> {
        self.leader.stdout.take()
    }

    pub(super) fn take_stderr(&mut self) -> Option<ChildStderr> {
        self.leader.stderr.take()
    }

    /// Waits for the leader and reaps it. From then on nothing of the tree is signalled any more:
    /// the leader's id, by which it is known, may be a stranger's.
    ///
    /// # Cancellation
    /// Dropping the future loses nothing.
    pub(super) async fn wait(&mut self) -> io::Result<ExitStatus> {
        self.leader.wait().await
    }

    /// The leader's status, if it has ended by now; as [`wait`](Self::wait).
    pub(super) fn try_wait(&mut self) -> Option<io::Result<ExitStatus>> {
        self.leader.try_wait().transpose()
    }

    /// Tells every process of the tree to end.
    pub(super) fn tell_to_end(&self, signal: EndSignal) {
        self.group.tell_to_end(&self.leader, signal);
    }

    /// Ends every process of the tree.
    pub(super) fn kill(&mut self) {
        self.group.kill(&self.leader);
        // The leader may have left its own group.
        let _ = self.leader.start_kill();
    }

    /// Waits until the leader has ended, without reaping it, so that the tree can be signalled.
    pub(super) async fn leader_gone(&self) {
        until(|| !self.group.leader_runs(&self.leader)).await;
    }

    /// Waits until nothing of the tree runs any more.
    pub(super) async fn gone(&self, sweeper: &Sweeper) {
        self.group.gone(&self.leader, sweeper).await;
    }
}

impl Drop for ProcessTree {
    fn drop(&mut self) {
        // `None` once it was reaped.
        if self.leader.id().is_some() {
            self.kill();
        }
    }
}

/// Looks again and again, less and less often, at what costs next to nothing.
async fn until(over: impl Fn() -> bool) {
    let (mut pause, longest) = LOOK_AGAIN;
    while !over() {
        tokio::time::sleep(pause).await;
        pause = (pause * 2).min(longest);
    }
}

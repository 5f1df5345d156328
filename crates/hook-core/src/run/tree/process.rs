//! One tree of processes.

use std::io;
use std::process::{ExitStatus, Stdio};

use tokio::process::{Child, ChildStderr, ChildStdin, ChildStdout, Command};

use super::signal::EndSignal;
use super::sweeper::Sweeper;
#[cfg(unix)]
use super::unix::{Group, LeaderEnd};
use super::until::until;
#[cfg(windows)]
use super::windows::{Group, LeaderEnd};

/// A process that leads a tree of processes. Dropping it while the leader runs kills the tree: a
/// runtime that ends leaves nothing behind.
#[derive(Debug)]
pub(in crate::run) struct ProcessTree {
    leader: Child,
    group: Group,
    /// Tells of the leader's end, once somebody asked for it.
    end: Option<LeaderEnd>,
}

impl ProcessTree {
    /// Starts a process as the leader of a tree of its own, with pipes to all its streams.
    ///
    /// # Errors
    /// When it cannot be started.
    pub(in crate::run) fn spawn(process: std::process::Command) -> io::Result<Self> {
        let mut process = Command::from(process);
        process.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        Group::prepare(&mut process);
        let leader = process.kill_on_drop(true).spawn()?;
        let group = Group::of(&leader);
        Ok(Self { leader, group, end: None })
    }

    /// The process group, where the system has those: its leader's id.
    pub(in crate::run) fn group(&self) -> Option<u32> {
        if cfg!(unix) { self.leader.id() } else { None }
    }

    pub(in crate::run) fn take_stdin(&mut self) -> Option<ChildStdin> {
        self.leader.stdin.take()
    }

    pub(in crate::run) fn take_stdout(&mut self) -> Option<ChildStdout> {
        self.leader.stdout.take()
    }

    pub(in crate::run) fn take_stderr(&mut self) -> Option<ChildStderr> {
        self.leader.stderr.take()
    }

    /// Waits for the leader and reaps it. From then on nothing of the tree is signalled any more:
    /// the leader's id, by which it is known, may be a stranger's.
    ///
    /// # Cancellation
    /// Dropping the future loses nothing.
    pub(in crate::run) async fn wait(&mut self) -> io::Result<ExitStatus> {
        self.leader.wait().await
    }

    /// The leader's status, if it has ended by now; as [`wait`](Self::wait).
    pub(in crate::run) fn try_wait(&mut self) -> Option<io::Result<ExitStatus>> {
        self.leader.try_wait().transpose()
    }

    /// Tells every process of the tree to end.
    pub(in crate::run) fn tell_to_end(&self, signal: EndSignal) {
        self.group.tell_to_end(&self.leader, signal);
    }

    /// Ends every process of the tree.
    pub(in crate::run) fn kill(&mut self) {
        self.group.kill(&self.leader);
        // The leader may have left its own group.
        let _ = self.leader.start_kill();
    }

    /// Waits until the leader has ended, without reaping it, so that the tree can be signalled.
    pub(in crate::run) async fn leader_gone(&self) {
        until(|| !self.group.leader_runs(&self.leader)).await;
    }

    /// Waits until the leader has ended, without reaping it: as [`leader_gone`](Self::leader_gone), for
    /// one that may run for a long time.
    ///
    /// # Cancellation
    /// Dropping the future loses nothing.
    pub(in crate::run) async fn leader_ended(&mut self) {
        let leader = &self.leader;
        self.end.get_or_insert_with(|| LeaderEnd::of(leader)).reached().await;
        // Where nothing tells of it, or that was a mistake.
        self.leader_gone().await;
    }

    /// How the leader ended, in words, without reaping it.
    pub(in crate::run) fn how_it_ended(&self) -> String {
        self.group.how_it_ended(&self.leader)
    }

    /// Waits until nothing of the tree runs any more.
    pub(in crate::run) async fn gone(&self, sweeper: &Sweeper) {
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

//! A process tree.

use std::io;
use std::process::ExitStatus;

use tokio::process::Command;

use super::signal::EndSignal;
use super::sweeper::Sweeper;
#[cfg(unix)]
use super::unix::{Group, Leader, LeaderEnd, StderrPipe, StdinPipe, StdoutPipe, spawn_leader};
use super::until::until;
#[cfg(windows)]
use super::windows::{Group, Leader, LeaderEnd, StderrPipe, StdinPipe, StdoutPipe, spawn_leader};

/// A process that leads a tree. Dropping it while the leader runs kills the tree, so that the end
/// of a runtime leaves no processes behind.
#[derive(Debug)]
pub(crate) struct ProcessTree {
    leader: Leader,
    group: Group,
    /// The notification of the leader's end, created on demand.
    end: Option<LeaderEnd>,
}

impl ProcessTree {
    /// Starts a process as the leader of its own tree, with pipes to all its streams.
    ///
    /// # Errors
    /// Returns an error if the process cannot be started.
    pub(crate) fn spawn(process: std::process::Command) -> io::Result<Self> {
        let mut process = Command::from(process);
        process.kill_on_drop(true);
        Ok(Self { leader: spawn_leader(process)?, group: Group::new(), end: None })
    }

    /// Returns the process group's id, which is the leader's, on systems with process groups.
    pub(crate) fn group(&self) -> Option<u32> {
        if cfg!(unix) { self.leader.id() } else { None }
    }

    pub(crate) fn take_stdin(&mut self) -> Option<StdinPipe> {
        self.leader.stdin.take()
    }

    pub(crate) fn take_stdout(&mut self) -> Option<StdoutPipe> {
        self.leader.stdout.take()
    }

    pub(crate) fn take_stderr(&mut self) -> Option<StderrPipe> {
        self.leader.stderr.take()
    }

    /// Waits for the leader and reaps it. After that the tree cannot be signalled, because the
    /// leader's id may belong to another process.
    ///
    /// # Cancellation
    /// Dropping the future has no effect.
    pub(crate) async fn wait(&mut self) -> io::Result<ExitStatus> {
        self.leader.wait().await
    }

    /// Returns the leader's status if it has ended, and reaps it like [`wait`](Self::wait).
    pub(crate) fn try_wait(&mut self) -> Option<io::Result<ExitStatus>> {
        self.leader.try_wait().transpose()
    }

    /// Asks every process of the tree to end.
    pub(crate) fn tell_to_end(&self, signal: EndSignal) {
        self.group.tell_to_end(&self.leader, signal);
    }

    /// Kills every process of the tree.
    pub(crate) fn kill(&mut self) {
        self.group.kill(&self.leader);
        // The leader may have left its own group.
        let _ = self.leader.start_kill();
    }

    /// Waits until the leader has ended, without reaping it, so that the tree can be signalled.
    pub(crate) async fn leader_gone(&self) {
        until(|| !self.group.leader_runs(&self.leader)).await;
    }

    /// Waits like [`leader_gone`](Self::leader_gone), but without polling where the system reports
    /// the end: for a leader that may run for a long time.
    ///
    /// # Cancellation
    /// Dropping the future has no effect.
    pub(crate) async fn leader_ended(&mut self) {
        let leader = &self.leader;
        self.end.get_or_insert_with(|| LeaderEnd::of(leader)).reached().await;
        // In case there is no notification, or it was spurious.
        self.leader_gone().await;
    }

    /// Returns a description of the leader's end, without reaping it.
    pub(crate) fn how_it_ended(&self) -> String {
        self.group.how_it_ended(&self.leader)
    }

    /// Waits until no process of the tree runs.
    pub(crate) async fn gone(&self, sweeper: &Sweeper) {
        self.group.gone(&self.leader, sweeper).await;
    }
}

impl Drop for ProcessTree {
    fn drop(&mut self) {
        // `None` once reaped.
        if self.leader.id().is_some() {
            self.kill();
        }
    }
}

//! Process trees on Unix: process groups, identified by the leader's id.
//!
//! A signal does not reach processes that left the group (`setsid`), changed their user, or are
//! stuck in the kernel.

use std::io;
use std::process::Stdio;

use rustix::process::{
    Pid, Signal, WaitId, WaitIdOptions, WaitIdStatus, kill_process_group, waitid,
};
#[cfg(target_os = "linux")]
use rustix::process::{PidfdFlags, pidfd_open};
#[cfg(target_os = "linux")]
use tokio::io::{Interest, unix::AsyncFd};
use tokio::process::{Child, Command};
pub(crate) use tokio::process::{
    ChildStderr as StderrPipe, ChildStdin as StdinPipe, ChildStdout as StdoutPipe,
};

use super::signal::EndSignal;
use super::sweeper::Sweeper;
use hook_protocol::failure::signal_name;

/// The group of a child. Every method takes the child, so that signals are only sent while it has
/// not been reaped.
#[derive(Debug)]
pub(super) struct Group;

/// The first process of a group.
pub(super) type Leader = Child;

/// Starts a process in a group of its own.
///
/// # Errors
/// Returns an error if it cannot be started.
pub(super) fn spawn_leader(mut command: Command) -> io::Result<Leader> {
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command.process_group(0).spawn()
}

impl Group {
    pub(super) fn new() -> Self {
        Self
    }

    pub(super) fn tell_to_end(&self, leader: &Child, how: EndSignal) {
        let how = match how {
            EndSignal::Terminate => Signal::TERM,
            EndSignal::Interrupt => Signal::INT,
            EndSignal::Quit => Signal::QUIT,
            EndSignal::HangUp => Signal::HUP,
        };
        signal(leader, how);
        // A stopped process handles the signal only after it continues.
        signal(leader, Signal::CONT);
    }

    pub(super) fn kill(&self, leader: &Child) {
        signal(leader, Signal::KILL);
    }

    pub(super) fn leader_runs(&self, leader: &Child) -> bool {
        let Some(leader) = id(leader) else { return false };
        matches!(peek_status(leader), Ok(None))
    }

    pub(super) fn how_it_ended(&self, leader: &Child) -> String {
        let status = id(leader).and_then(|leader| peek_status(leader).ok().flatten());
        let code = status.as_ref().and_then(WaitIdStatus::exit_status);
        let signal = status.as_ref().and_then(WaitIdStatus::terminating_signal);
        match (code, signal) {
            (Some(code), _) => format!("it exited with code {code}"),
            (_, Some(signal)) => format!("it was ended by {}", signal_name(signal)),
            _ => "it ended".to_owned(),
        }
    }

    /// Waits until no process of the group runs; forever on systems other than Linux, so that the
    /// group gets its whole grace period.
    pub(super) async fn gone(&self, leader: &Child, sweeper: &Sweeper) {
        if let Some(id) = id(leader) {
            sweeper.gone(id.as_raw_nonzero().get()).await;
        }
    }
}

/// The notification of a leader's end.
#[derive(Debug)]
pub(super) struct LeaderEnd {
    #[cfg(target_os = "linux")]
    end: Option<AsyncFd<std::os::fd::OwnedFd>>,
}

#[cfg(target_os = "linux")]
impl LeaderEnd {
    #[expect(
        deprecated,
        reason = "the descriptor is owned, so it stays open for as long as this is there"
    )]
    pub(super) fn of(leader: &Child) -> Self {
        let opened = id(leader).and_then(|id| pidfd_open(id, PidfdFlags::NONBLOCK).ok());
        let end = opened.and_then(|fd| AsyncFd::with_interest(fd, Interest::READABLE).ok());
        Self { end }
    }

    /// Waits for the leader's end; ready at once if there is no notification.
    pub(super) async fn reached(&self) {
        if let Some(end) = &self.end {
            // It stays readable.
            let _ = end.readable().await;
        }
    }
}

#[cfg(not(target_os = "linux"))]
impl LeaderEnd {
    pub(super) fn of(_leader: &Child) -> Self {
        Self {}
    }

    pub(super) async fn reached(&self) {}
}

/// Returns the leader's id; `None` once reaped.
fn id(leader: &Child) -> Option<Pid> {
    leader.id().and_then(|id| i32::try_from(id).ok()).and_then(Pid::from_raw)
}

/// Returns a child's status without reaping it; an error if it is not a child any more.
fn peek_status(leader: Pid) -> rustix::io::Result<Option<WaitIdStatus>> {
    let options = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT | WaitIdOptions::NOHANG;
    waitid(WaitId::Pid(leader), options)
}

fn signal(leader: &Child, signal: Signal) {
    // A host that reaps all children may have reaped this one.
    if let Some(leader) = id(leader)
        && peek_status(leader).is_ok()
    {
        // If the group is already gone, there is nothing to do.
        let _ = kill_process_group(leader, signal);
    }
}

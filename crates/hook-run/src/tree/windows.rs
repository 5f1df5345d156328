//! Process trees on Windows: job objects, which include all descendants.
//!
//! A leader is started suspended and runs only once it is in its job, so nothing that it starts can
//! be outside. Windows has no TERM: a tree that should end is killed at once.

use std::fs::{File, OpenOptions};
use std::io;
use std::process::ExitStatus;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use futures::FutureExt;
use process_wrap::tokio::{ChildWrapper, CommandWrap, CreationFlags, JobObject};
use tokio::net::windows::named_pipe::{NamedPipeServer, ServerOptions};
use tokio::process::Command;
use uuid::Uuid;
use windows::Win32::System::Threading::CREATE_NO_WINDOW;

use super::signal::EndSignal;
use super::sweeper::Sweeper;
use super::until::until;

/// The pipes to and from a process. Those that tokio makes for children take a thread of its few for as
/// long as a read lasts, so what a hook has written might not be read before others have ended.
pub(crate) type StdinPipe = NamedPipeServer;
pub(crate) type StdoutPipe = NamedPipeServer;
pub(crate) type StderrPipe = NamedPipeServer;

/// The first process of a job. Its id is of no use to others: handles identify it.
#[derive(Debug)]
pub(super) struct Leader {
    /// The child in its job. Behind a lock, since asking whether it runs changes it.
    child: Mutex<Box<dyn ChildWrapper>>,
    pub(super) stdin: Option<StdinPipe>,
    pub(super) stdout: Option<StdoutPipe>,
    pub(super) stderr: Option<StderrPipe>,
}

impl Leader {
    /// Returns the process's id; `None` once its end was noticed.
    pub(super) fn id(&self) -> Option<u32> {
        self.lock().id()
    }

    /// Waits for the process, and not for the rest of its job.
    pub(super) async fn wait(&mut self) -> io::Result<ExitStatus> {
        let child = self.child.get_mut().unwrap_or_else(PoisonError::into_inner);
        child.inner_mut().wait().await
    }

    pub(super) fn try_wait(&self) -> io::Result<Option<ExitStatus>> {
        self.lock().inner_mut().try_wait()
    }

    pub(super) fn start_kill(&self) -> io::Result<()> {
        self.lock().start_kill()
    }

    fn lock(&self) -> MutexGuard<'_, Box<dyn ChildWrapper>> {
        self.child.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Starts a process in a job of its own, without a console window.
///
/// # Errors
/// Returns an error if it cannot be started, or not in a job; then it is killed.
pub(super) fn spawn_leader(mut command: Command) -> io::Result<Leader> {
    let (stdin, its_stdin) = pipe(Direction::ToProcess)?;
    let (stdout, its_stdout) = pipe(Direction::FromProcess)?;
    let (stderr, its_stderr) = pipe(Direction::FromProcess)?;
    command.stdin(its_stdin).stdout(its_stdout).stderr(its_stderr);
    let mut wrapped = CommandWrap::from(command);
    let child = wrapped.wrap(CreationFlags(CREATE_NO_WINDOW)).wrap(JobObject).spawn()?;
    Ok(Leader {
        child: Mutex::new(child),
        stdin: Some(stdin),
        stdout: Some(stdout),
        stderr: Some(stderr),
    })
}

#[derive(Clone, Copy, PartialEq)]
enum Direction {
    ToProcess,
    FromProcess,
}

/// Makes a pipe that one other can open, and opens it.
///
/// # Errors
/// Returns an error if that fails, or if another process was faster.
fn pipe(direction: Direction) -> io::Result<(NamedPipeServer, File)> {
    let name = format!(r"\\.\pipe\hook-run-{}", Uuid::new_v4());
    let is_input = direction == Direction::ToProcess;
    let engine_end = ServerOptions::new()
        .first_pipe_instance(true)
        .max_instances(1)
        .access_inbound(!is_input)
        .access_outbound(is_input)
        .create(&name)?;
    let process_end = OpenOptions::new().read(is_input).write(!is_input).open(&name)?;
    // It is connected, and this says so to the runtime.
    engine_end.connect().now_or_never().unwrap_or(Err(io::ErrorKind::NotConnected.into()))?;
    Ok((engine_end, process_end))
}

/// The notification of a leader's end: there is none.
#[derive(Debug)]
pub(super) struct LeaderEnd;

impl LeaderEnd {
    pub(super) fn of(_leader: &Leader) -> Self {
        Self
    }

    pub(super) async fn reached(&self) {}
}

/// The job of a leader.
#[derive(Debug)]
pub(super) struct Group {
    is_killed: AtomicBool,
}

impl Group {
    pub(super) fn new() -> Self {
        Self { is_killed: AtomicBool::new(false) }
    }

    pub(super) fn tell_to_end(&self, leader: &Leader, _how: EndSignal) {
        self.kill(leader);
    }

    pub(super) fn kill(&self, leader: &Leader) {
        // Ends every process of the job.
        self.is_killed.store(leader.start_kill().is_ok(), Ordering::Release);
    }

    pub(super) fn leader_runs(&self, leader: &Leader) -> bool {
        matches!(leader.try_wait(), Ok(None))
    }

    /// Waits until the job was ended; its processes do not outlive that.
    pub(super) async fn gone(&self, leader: &Leader, _sweeper: &Sweeper) {
        until(|| self.is_killed.load(Ordering::Acquire) && !self.leader_runs(leader)).await;
    }

    pub(super) fn how_it_ended(&self, leader: &Leader) -> String {
        match leader.try_wait().ok().flatten().and_then(|status| status.code()) {
            Some(code) => format!("it exited with code {code}"),
            None => "it ended".to_owned(),
        }
    }
}

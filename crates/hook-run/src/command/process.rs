//! One process from start to verdict. A single loop writes standard input, drains both outputs and
//! waits for the exit.

use std::io;
use std::pin::pin;
use std::process::ExitStatus;
use std::time::Duration;

use tokio::io::AsyncWriteExt;
use tokio_util::sync::CancellationToken;

use super::capture::Capture;
use crate::answer::Ending;
use crate::executor::Slots;
use crate::limits::RunnerLimits;
use crate::report::ProcessReport;
use crate::termination::{EngineTasks, LeftoverProcess};
use crate::tree::{ProcessTree, StdinPipe};
use hook_protocol::failure::HookFailure;

/// The resources of a running process.
pub(crate) struct ProcessCall<'a> {
    pub(crate) stdin: &'a [u8],
    pub(crate) timeout: Duration,
    pub(crate) cancel: &'a CancellationToken,
    pub(crate) slots: Slots,
    pub(crate) limits: &'a RunnerLimits,
    /// The owner of the clean-up of a process that outlives its verdict.
    pub(crate) tasks: &'a EngineTasks,
}

/// Runs a process that was just started until its verdict.
pub(crate) async fn run(mut tree: ProcessTree, call: ProcessCall<'_>) -> (Ending, ProcessReport) {
    let mut stdin = Feed::new(tree.take_stdin(), call.stdin);
    let mut stdout = Capture::new(tree.take_stdout(), call.limits.max_stdout);
    let mut stderr = Capture::new(tree.take_stderr(), call.limits.max_stderr);

    let mut deadline = pin!(tokio::time::sleep(call.timeout));
    let mut cancelled = pin!(call.cancel.cancelled());
    let verdict = loop {
        // Biased, so that a hook's output cannot starve the deadline.
        tokio::select! {
            biased;
            () = &mut cancelled => break Verdict::Cancelled,
            () = &mut deadline => break Verdict::TimedOut,
            status = tree.wait() => break Verdict::Ended(status),
            () = stdin.feed() => {}
            () = stdout.fill() => {}
            () = stderr.fill() => {}
        }
    };
    drop(stdin);
    // If both happened while the engine was delayed, the hook was in time.
    let verdict = match verdict {
        Verdict::Ended(status) => Verdict::Ended(status),
        verdict => tree.try_wait().map_or(verdict, Verdict::Ended),
    };

    let mut report = ProcessReport::default();
    let mut still_running = None;
    let mut ending = match verdict {
        Verdict::Ended(status) => {
            // The hook itself has ended. Its children may still write, but not for long.
            let mut drain_deadline = pin!(tokio::time::sleep(call.limits.drain_timeout));
            while stdout.is_open() || stderr.is_open() {
                tokio::select! {
                    biased;
                    () = &mut drain_deadline => break,
                    () = stdout.fill() => {}
                    () = stderr.fill() => {}
                }
            }
            stdout.drain_available().await;
            stderr.drain_available().await;
            report.leaked = stdout.is_open() || stderr.is_open();
            record_exit(status, &mut report)
        }
        Verdict::TimedOut | Verdict::Cancelled => {
            stdout.drain_available().await;
            stderr.drain_available().await;
            still_running = Some(tree);
            Ending::Failed(match verdict {
                Verdict::TimedOut => HookFailure::TimedOut { after: call.timeout },
                _ => HookFailure::Cancelled,
            })
        }
    };
    let (stdout, stdout_pipe) = stdout.finish();
    let (stderr, stderr_pipe) = stderr.finish();
    (report.stdout, report.stderr) = (stdout, stderr);
    if let Some(tree) = still_running {
        let leftover =
            LeftoverProcess { tree, stdout: stdout_pipe, stderr: stderr_pipe, slots: call.slots };
        call.tasks.end(leftover, call.limits.grace);
    }
    // Exit 2 denies, whatever else was printed.
    if report.stdout.dropped > 0 && matches!(ending, Ending::Exited(code) if code != 2) {
        ending = Ending::Failed(HookFailure::OutputTooLarge { limit: call.limits.max_stdout });
    }
    (ending, report)
}

enum Verdict {
    Ended(io::Result<ExitStatus>),
    TimedOut,
    Cancelled,
}

/// Converts an exit status, and records it in the report.
fn record_exit(status: io::Result<ExitStatus>, report: &mut ProcessReport) -> Ending {
    let status = match status {
        Ok(status) => status,
        Err(source) => {
            let attempt = "wait for the hook's exit";
            return Ending::Failed(HookFailure::Io { attempt, source: source.into() });
        }
    };
    report.exit_code = status.code();
    report.signal = signal_of(status);
    match (report.exit_code, report.signal) {
        (Some(code), _) => Ending::Exited(code),
        (None, number) => {
            Ending::Failed(HookFailure::Signal { number: number.unwrap_or_default() })
        }
    }
}

/// Standard input, and the bytes that remain to be written.
struct Feed<'a> {
    pipe: Option<StdinPipe>,
    rest: &'a [u8],
}

impl<'a> Feed<'a> {
    fn new(pipe: Option<StdinPipe>, input: &'a [u8]) -> Self {
        if let Some(pipe) = &pipe {
            widen(pipe, input.len());
        }
        Self { pipe, rest: input }
    }

    /// Writes the next piece; never ready once everything is written.
    async fn feed(&mut self) {
        let Some(pipe) = &mut self.pipe else { return std::future::pending().await };
        match pipe.write(self.rest).await {
            Ok(written) if written > 0 && written < self.rest.len() => {
                self.rest = &self.rest[written..];
            }
            // Everything is written, or the hook does not read on: both are end-of-file, not
            // failures.
            _ => self.pipe = None,
        }
    }
}

/// Enlarges a pipe for a long input, to save context switches. A failure only costs time.
#[cfg(target_os = "linux")]
fn widen(pipe: &StdinPipe, input: usize) {
    const DEFAULT_SIZE: usize = 64 * 1024;
    const LARGE_SIZE: usize = 256 * 1024;
    if input > DEFAULT_SIZE {
        let _ = rustix::pipe::fcntl_setpipe_size(pipe, LARGE_SIZE);
    }
}

#[cfg(not(target_os = "linux"))]
fn widen(_pipe: &StdinPipe, _input: usize) {}

#[cfg(unix)]
fn signal_of(status: ExitStatus) -> Option<i32> {
    std::os::unix::process::ExitStatusExt::signal(&status)
}

#[cfg(not(unix))]
fn signal_of(_: ExitStatus) -> Option<i32> {
    None
}

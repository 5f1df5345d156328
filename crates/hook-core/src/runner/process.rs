//! One process from spawn to verdict: a single loop that writes standard input, drains both
//! outputs and waits for the exit, all at once.

use std::io;
use std::time::Duration;

use futures::FutureExt;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWriteExt};
use tokio::process::{ChildStdin, Command};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use super::RunnerLimits;
use super::answer::Ending;
use super::executor::{Captured, ProcessReport, Slots};
use super::termination::{EngineTasks, Group};
use crate::failure::HookFailure;

const READ_SIZE: usize = 64 * 1024;

/// What a running process needs of the engine.
pub(super) struct ProcessCall<'a> {
    pub(super) stdin: &'a [u8],
    pub(super) timeout: Duration,
    pub(super) cancel: &'a CancellationToken,
    /// Kept by the caller, unless the process outlives its verdict.
    pub(super) slots: &'a mut Slots,
    pub(super) limits: &'a RunnerLimits,
    /// Owns the clean-up of a process that outlives its verdict.
    pub(super) tasks: &'a EngineTasks,
}

/// Starts `command` and runs it to its verdict.
///
/// # Errors
/// When the process cannot be started.
pub(super) async fn run(
    command: &mut Command,
    call: ProcessCall<'_>,
) -> io::Result<(Ending, ProcessReport)> {
    let mut child = command.spawn()?;
    let deadline = Instant::now() + call.timeout;
    let group = Group::of(&child);
    let mut stdin = child.stdin.take().map(|pipe| Feed { pipe: Some(pipe), rest: call.stdin });
    let mut stdout = Drain::new(child.stdout.take(), call.limits.max_stdout);
    let mut stderr = Drain::new(child.stderr.take(), call.limits.max_stderr);

    let verdict = loop {
        tokio::select! {
            () = feed(&mut stdin) => {}
            () = stdout.fill() => {}
            () = stderr.fill() => {}
            status = child.wait() => break Verdict::Ended(status),
            () = tokio::time::sleep_until(deadline) => break Verdict::TimedOut,
            () = call.cancel.cancelled() => break Verdict::Cancelled,
        }
    };
    drop(stdin);

    let outlives_its_verdict = matches!(verdict, Verdict::TimedOut | Verdict::Cancelled);
    let mut report = ProcessReport::default();
    let mut ending = match verdict {
        Verdict::Ended(Ok(status)) => {
            // The hook itself is done. What it started may still write, but not for long.
            let patience = Instant::now() + call.limits.exit_patience;
            while stdout.is_open() || stderr.is_open() {
                tokio::select! {
                    () = stdout.fill() => {}
                    () = stderr.fill() => {}
                    () = tokio::time::sleep_until(patience) => break,
                }
            }
            report.leaked = stdout.is_open() || stderr.is_open();
            report.exit_code = status.code();
            report.signal = signal_of(status);
            match (report.exit_code, report.signal) {
                (Some(code), _) => Ending::Exited(code),
                (None, number) => {
                    Ending::Failed(HookFailure::Signal { number: number.unwrap_or_default() })
                }
            }
        }
        Verdict::Ended(Err(source)) => {
            let attempt = "wait for the hook's exit";
            Ending::Failed(HookFailure::Io { attempt, source: source.into() })
        }
        Verdict::TimedOut => Ending::Failed(HookFailure::TimedOut { after: call.timeout }),
        Verdict::Cancelled => Ending::Failed(HookFailure::Cancelled),
    };
    if outlives_its_verdict {
        stdout.fill_with_what_is_there();
        stderr.fill_with_what_is_there();
        group.terminate(child, call.limits.grace, std::mem::take(call.slots), call.tasks);
    }
    report.stdout = stdout.captured;
    report.stderr = stderr.captured;
    // Exit 2 denies, whatever else was printed.
    if report.stdout.dropped > 0 && matches!(ending, Ending::Exited(code) if code != 2) {
        ending = Ending::Failed(HookFailure::OutputTooLarge { limit: call.limits.max_stdout });
    }
    Ok((ending, report))
}

enum Verdict {
    Ended(io::Result<std::process::ExitStatus>),
    TimedOut,
    Cancelled,
}

/// Standard input with what is still to be written to it.
struct Feed<'a> {
    pipe: Option<ChildStdin>,
    rest: &'a [u8],
}

/// Writes the next piece; never ready once everything is written.
async fn feed(stdin: &mut Option<Feed<'_>>) {
    let Some(Feed { pipe: Some(pipe), rest }) = stdin else {
        return std::future::pending().await;
    };
    match pipe.write(rest).await {
        Ok(written) if written > 0 && written < rest.len() => *rest = &rest[written..],
        // All is written, or the hook does not want to read: both mean end-of-file, not failure.
        _ => *stdin = None,
    }
}

/// One of the hook's outputs, kept up to a limit and counted beyond it.
struct Drain<P> {
    pipe: Option<P>,
    limit: usize,
    buffer: Vec<u8>,
    captured: Captured,
}

impl<P: AsyncRead + Unpin> Drain<P> {
    fn new(pipe: Option<P>, limit: usize) -> Self {
        Self { pipe, limit, buffer: Vec::with_capacity(READ_SIZE), captured: Captured::default() }
    }

    fn is_open(&self) -> bool {
        self.pipe.is_some()
    }

    /// Takes the next piece; never ready once the stream has ended.
    async fn fill(&mut self) {
        let Some(pipe) = &mut self.pipe else { return std::future::pending().await };
        self.buffer.clear();
        match pipe.read_buf(&mut self.buffer).await {
            Ok(read) if read > 0 => {
                let room = self.limit - self.captured.bytes.len();
                let kept = read.min(room);
                self.captured.bytes.extend_from_slice(&self.buffer[..kept]);
                self.captured.dropped += (read - kept) as u64;
            }
            _ => self.pipe = None,
        }
    }

    /// Takes what is in the pipe by now, without waiting for more.
    fn fill_with_what_is_there(&mut self) {
        // A pipe holds little; more than this many pieces is somebody writing on.
        for _ in 0..32 {
            if self.pipe.is_none() || self.fill().now_or_never().is_none() {
                return;
            }
        }
    }
}

#[cfg(unix)]
fn signal_of(status: std::process::ExitStatus) -> Option<i32> {
    std::os::unix::process::ExitStatusExt::signal(&status)
}

#[cfg(not(unix))]
fn signal_of(_: std::process::ExitStatus) -> Option<i32> {
    None
}

//! One process of a worker, from its start to its end.

use std::ffi::OsString;
use std::io;
use std::path::Path;
use std::pin::pin;
use std::process::Command;
use std::sync::Arc;
use std::time::Duration;

use tokio::time::{Instant, sleep_until, timeout};

use super::input::Input;
use super::modules;
use super::output::StderrReader;
use super::state::{Shared, WorkerDeclaration, unavailable as failure};
use crate::command::RunVariables;
use crate::executor::Slots;
use crate::lines::{Line, LineReader};
use crate::live::{
    CallSession, FromHook, LIVE_PROTOCOL, MAX_LIVE_LINE, ToHook, Transport, WorkerModule,
};
use crate::running::RunningHook;
use crate::session_env::SessionEnv;
use crate::termination::LeftoverProcess;
use crate::tree::{ProcessTree, StderrPipe, StdoutPipe};
use hook_json::text::escaped_lines;
use hook_protocol::failure::HookFailure;

/// The time that a worker has to end after a `hook-close` message, before it is signalled.
const CLOSE_TIMEOUT: Duration = Duration::from_millis(500);

/// The size of a write, if more is queued.
const WRITE_CHUNK: usize = 64 * 1024;

/// The maximum number of buffered lines that are handled in a row.
const LINES_AT_ONCE: usize = 64;

/// The maximum number of reads of standard error before each batch of lines.
const READS_BEFORE_LINES: usize = 4;

/// The reason for ending a process.
enum EndReason {
    /// It is not needed any more.
    Closing(&'static str),
    /// It has died, or has violated the protocol.
    Failed(String),
}

/// Runs one generation of a worker's process to its end; starts it at `not_before` or later.
pub(super) async fn run_generation(
    shared: Arc<Shared>,
    generation: u64,
    not_before: Option<Instant>,
) {
    // Also reports the end if this future is dropped, so that waiters are woken.
    let _guard = LostGuard { shared: Arc::clone(&shared), generation };
    if let Some(not_before) = not_before {
        tokio::select! {
            () = shared.closing.cancelled() => {}
            () = sleep_until(not_before) => {}
        }
    }
    if shared.closing.is_cancelled() {
        shared.died(generation, failure("the engine ended before it was started"), Duration::ZERO);
        return;
    }
    let refusals = match shared.runnable().await {
        Ok(refusals) => refusals,
        Err(why) => {
            shared.died(generation, why, Duration::ZERO);
            return;
        }
    };
    let started_at = Instant::now();
    let running =
        shared.context.running.enter(shared.context.environment.outer_token.as_deref(), 0);
    let mut process = match Process::start(&shared, running, &refusals) {
        Ok(process) => process,
        Err(source) => {
            let program = shared.context.shell.program.clone();
            let source = Arc::new(source);
            shared.died(generation, HookFailure::Spawn { program, source }, started_at.elapsed());
            return;
        }
    };
    shared.started(process.tree.group());
    let session = CallSession::new();
    let mut transport = session.attach();
    if let Some(pipe) = process.stdin.shared() {
        transport.write_to(pipe);
    }
    // The files may have changed between the first check and the start.
    let end = match shared.check_trust().await {
        Ok(now) => match newly_refused(&refusals, now) {
            None => process.serve(&shared, generation, &session, &mut transport, started_at).await,
            Some(why) => EndReason::Failed(why.to_string()),
        },
        Err(why) => EndReason::Failed(why.to_string()),
    };
    match end {
        EndReason::Closing(reason) => {
            // From here on a call starts another process, if the engine allows it.
            shared.stopped();
            transport.lost(failure("the worker is ending"));
            process.close(&shared, reason).await;
        }
        EndReason::Failed(reason) => {
            let why = process.end(&shared, reason, shared.is_ready(generation)).await;
            // Before waiters are notified, so that the next call starts another process.
            shared.died(generation, why.clone(), started_at.elapsed());
            transport.lost(why);
        }
    }
}

/// Returns the reason why a file that was started is not trusted any more.
fn newly_refused(
    before: &[Option<HookFailure>],
    now: Vec<Option<HookFailure>>,
) -> Option<HookFailure> {
    let begun = before.iter().zip(now).filter(|(before, _)| before.is_none());
    begun.filter_map(|(_, now)| now).next()
}

/// Reports the end of a process's task if nothing else has done so.
struct LostGuard {
    shared: Arc<Shared>,
    generation: u64,
}

impl Drop for LostGuard {
    fn drop(&mut self) {
        self.shared.task_lost(self.generation);
    }
}

struct Process {
    tree: ProcessTree,
    stdin: Input,
    lines: LineReader<StdoutOf>,
    stderr: StderrReader<StderrPipe>,
    /// `true` once the process does not read any more.
    input_closed: bool,
    /// The write buffer, and its written part.
    outgoing: Vec<u8>,
    written: usize,
    running: Option<RunningHook>,
    /// The modules that are not loaded because they have changed.
    excluded_modules: Vec<WorkerModule>,
    /// The failed trust checks at the start.
    trust_checks: Vec<Option<HookFailure>>,
}

/// The variable with the version of the engine's messages.
const PROTOCOL: &str = "HOOK_PROTOCOL";

/// Standard output, or an empty stream if there is none.
type StdoutOf = tokio_util::either::Either<StdoutPipe, tokio::io::Empty>;

impl Process {
    fn start(
        shared: &Shared,
        mut running: RunningHook,
        refusals: &[Option<HookFailure>],
    ) -> io::Result<Self> {
        let context = &shared.context;
        let environment = &context.environment;
        let depth = environment.depth.to_string();
        let no_session = SessionEnv::default();
        let run = RunVariables { depth: &depth, token: running.token(), session: (&no_session, 0) };
        let shell = &context.shell;
        let in_shell = |arguments: &[String]| {
            let mut process = Command::new(&shell.program);
            process.args(shell.arguments).args(arguments);
            process
        };
        let mut process = match shared.spec.modules.is_empty() {
            true => {
                let script = shared.spec.script.as_ref().unwrap_or(&shared.spec.command);
                // On Unix a shell costs little beside a worker.
                let direct = cfg!(windows)
                    .then(|| environment.start_directly(script, &shared.spec.env))
                    .flatten();
                direct.unwrap_or_else(|| in_shell(&[shell.script(script)]))
            }
            false => {
                let host = modules::ModuleHost::of(&shared.spec, &environment.project, refusals)?;
                in_shell(host.arguments())
            }
        };
        let directory: &Path = &environment.project;
        process.current_dir(directory).env_clear();
        process.envs(environment.lasting_variables(&run, &shared.spec.env));
        let own_path = shared.spec.env.iter().any(|(name, _)| name == "NODE_PATH");
        if let (false, false, Some(path)) =
            (shared.spec.modules.is_empty(), own_path, &environment.node_path)
        {
            // The module host resolves imports there, outside the project.
            process.env("NODE_PATH", path);
        }
        let env = &shared.spec.env;
        let is_own = |name: &OsString| env.iter().any(|(own_name, _)| name == own_name.as_str());
        let extra = shared.spec.variables.iter().filter(|(name, _)| !is_own(name));
        process.envs(extra.map(|(name, value)| (name, value)));
        // The process speaks first, and may support several versions.
        process.env(PROTOCOL, LIVE_PROTOCOL.to_string());
        let mut tree = ProcessTree::spawn(process)?;
        running.record_group(tree.group());
        let stdout = match tree.take_stdout() {
            Some(stdout) => StdoutOf::Left(stdout),
            None => StdoutOf::Right(tokio::io::empty()),
        };
        Ok(Self {
            stdin: Input::of(tree.take_stdin())?,
            lines: LineReader::new(stdout).with_limit(MAX_LIVE_LINE),
            stderr: StderrReader::new(tree.take_stderr(), Arc::clone(&shared.stderr)),
            tree,
            input_closed: false,
            outgoing: Vec::new(),
            written: 0,
            running: Some(running),
            excluded_modules: modules::excluded_modules(&shared.spec, refusals),
            trust_checks: refusals.to_vec(),
        })
    }

    /// Transports messages until there is a reason to end.
    async fn serve(
        &mut self,
        shared: &Shared,
        generation: u64,
        session: &CallSession,
        transport: &mut Transport,
        started_at: Instant,
    ) -> EndReason {
        let mut ready = false;
        let mut idle_since = Instant::now();
        let mut closing = pin!(shared.closing.cancelled());
        let mut stuck = pin!(shared.stuck.notified());
        let mut unread = pin!(self.stdin.unread());
        loop {
            let unwritten = self.outgoing.len() - self.written;
            let (to_start, idle) = (shared.spec.max_start_time(), shared.spec.rules.idle_timeout);
            let too_late = async {
                match ready {
                    true => std::future::pending().await,
                    false => sleep_until(started_at + to_start).await,
                }
            };
            let unused = async {
                match idle {
                    Some(idle) if ready && session.is_idle() => {
                        sleep_until(idle_since + idle).await
                    }
                    _ => std::future::pending().await,
                }
            };
            let rest = self.outgoing.get(self.written..).unwrap_or_default();
            tokio::select! {
                biased;
                () = &mut closing => return EndReason::Closing("shutdown"),
                () = &mut stuck => {
                    stuck.set(shared.stuck.notified());
                    if !shared.is_stuck(generation) {
                        continue;
                    }
                    let repeated = match shared.max_timeouts() {
                        1 => "",
                        _ => ", three times in a row",
                    };
                    return EndReason::Failed(format!("it did not answer in time{repeated}"));
                }
                () = too_late => {
                    let message = format!(
                        "it did not say that it is ready within {}ms; if the machine is busy, or it \
                         needs longer, give it a longer `startTimeout`",
                        to_start.as_millis()
                    );
                    return EndReason::Failed(message);
                }
                line = self.lines.next() => {
                    let mut next = match line {
                        Ok(Some(line)) => Some(line),
                        Ok(None) => return EndReason::Failed(String::new()),
                        Err(error) => return EndReason::Failed(format!("its standard output cannot be read: {error}")),
                    };
                    // Output to standard error before the answer belongs to the call.
                    for _ in 0..READS_BEFORE_LINES {
                        if futures::FutureExt::now_or_never(self.stderr.fill()).is_none() {
                            break;
                        }
                    }
                    // Lines that were taken from the reader must be handled.
                    let mut taken = 0;
                    while let Some(line) = next {
                        let handled = self.take(line, &mut ready, shared, generation, session, transport);
                        if let Err(problem) = handled.await {
                            return EndReason::Failed(problem);
                        }
                        taken += 1;
                        next = if taken < LINES_AT_ONCE { self.lines.next_buffered() } else { None };
                    }
                    idle_since = Instant::now();
                }
                () = self.tree.leader_ended() => {
                    let said = self.drain_lines(&mut ready, shared, generation, session, transport);
                    return EndReason::Failed(said.await.err().unwrap_or_default());
                }
                wrote = self.stdin.write(rest) => {
                    match wrote {
                        Ok(wrote) => self.wrote(wrote),
                        Err(_) => {
                            self.input_closed = true;
                            let result = self.drain_lines(&mut ready, shared, generation, session, transport);
                            return EndReason::Failed(result.await.err().unwrap_or_default());
                        }
                    }
                    if self.outgoing.is_empty() {
                        transport.flushed();
                    }
                }
                message = transport.next(), if unwritten < WRITE_CHUNK => match message {
                    Ok(message) => {
                        self.push(&message);
                        idle_since = Instant::now();
                        while self.outgoing.len() - self.written < WRITE_CHUNK
                            && let Ok(Some(message)) = transport.try_next()
                        {
                            self.push(&message);
                        }
                    }
                    Err(why) => return EndReason::Failed(why.to_string()),
                },
                () = unused => {
                    let idle_failure = failure("it was not used, and is being ended");
                    // Later calls start another process.
                    if session.close_if_idle(idle_failure) {
                        return EndReason::Closing("idle");
                    }
                }
                () = self.stderr.fill() => {}
                // The process may still write messages before it ends.
                () = &mut unread => {
                    self.input_closed = true;
                    let said = self.drain_lines(&mut ready, shared, generation, session, transport);
                    return EndReason::Failed(said.await.err().unwrap_or_default());
                }
            }
        }
    }

    /// Handles a line of the process.
    async fn take(
        &mut self,
        line: Line,
        ready: &mut bool,
        shared: &Shared,
        generation: u64,
        session: &CallSession,
        transport: &mut Transport,
    ) -> Result<(), String> {
        const TOO_EARLY: &str = "it answered before it had said that it is ready (`hook-worker`)";
        match read(line)? {
            FromHook::Ready { hooks, mut modules } if !*ready => {
                // It may have read a file that changed after its start.
                let trust_checks = shared.check_trust().await.map_err(|why| why.to_string())?;
                if let Some(why) = newly_refused(&self.trust_checks, trust_checks) {
                    return Err(why.to_string());
                }
                *ready = true;
                modules.extend(self.excluded_modules.iter().cloned());
                let declared = hooks.map(|hooks| WorkerDeclaration { hooks, modules });
                shared.ready(generation, session.clone(), declared);
            }
            FromHook::Ready { .. } => {
                return Err("it said a second time that it is ready (`hook-worker`)".to_owned());
            }
            FromHook::Answer { .. } | FromHook::HostCall { .. } if !*ready => {
                return Err(TOO_EARLY.to_owned());
            }
            message => {
                transport.take(message);
            }
        }
        Ok(())
    }

    /// Handles remaining lines, for a short while.
    async fn drain_lines(
        &mut self,
        ready: &mut bool,
        shared: &Shared,
        generation: u64,
        session: &CallSession,
        transport: &mut Transport,
    ) -> Result<(), String> {
        let until = Instant::now() + shared.context.limits.drain_timeout;
        loop {
            let line = tokio::select! {
                biased;
                line = self.lines.next() => line,
                () = self.stderr.fill() => continue,
                () = sleep_until(until) => return Ok(()),
            };
            let Ok(Some(line)) = line else { return Ok(()) };
            self.take(line, ready, shared, generation, session, transport).await?;
        }
    }

    fn push(&mut self, message: &ToHook) {
        self.outgoing.append(&mut message.to_line());
        self.outgoing.push(b'\n');
    }

    fn wrote(&mut self, bytes: usize) {
        self.written += bytes;
        if self.written >= self.outgoing.len() {
            self.outgoing.clear();
            self.written = 0;
            self.outgoing.shrink_to(WRITE_CHUNK);
        } else if self.written >= WRITE_CHUNK {
            self.outgoing.drain(..self.written);
            self.written = 0;
        }
    }

    /// Asks the process to end, and terminates it after the timeout.
    async fn close(mut self, shared: &Shared, reason: &'static str) {
        self.push(&ToHook::Close { reason });
        let ending = async {
            while self.written < self.outgoing.len() {
                let rest = self.outgoing.get(self.written..).unwrap_or_default();
                let wrote = tokio::select! {
                    wrote = self.stdin.write(rest) => wrote,
                    () = self.stderr.fill() => continue,
                    () = self.tree.leader_ended() => return,
                };
                match wrote {
                    Ok(wrote) => self.wrote(wrote),
                    Err(_) => break,
                }
            }
            self.stdin.close();
            loop {
                tokio::select! {
                    () = self.tree.leader_ended() => return,
                    // Further messages are ignored.
                    Ok(Some(_)) = self.lines.next() => {}
                    () = self.stderr.fill() => {}
                }
            }
        };
        tokio::select! {
            _ = timeout(CLOSE_TIMEOUT, ending) => {}
            () = shared.context.tasks.skip_grace.cancelled() => {}
        }
        self.hand_over(shared);
    }

    /// Terminates the process, and returns the reason of its end.
    async fn end(mut self, shared: &Shared, reason: String, ready: bool) -> HookFailure {
        let drain_timeout = shared.context.limits.drain_timeout;
        // The exit follows shortly after the end of the output, with a message on standard error.
        let ended = timeout(drain_timeout, self.tree.leader_ended());
        let has_ended = {
            let draining = async {
                loop {
                    self.stderr.fill().await;
                }
            };
            tokio::select! {
                ended = ended => ended.is_ok(),
                () = draining => false,
            }
        };
        while futures::FutureExt::now_or_never(self.stderr.fill()).is_some() {}
        let how = match (has_ended, reason.is_empty()) {
            (true, true) if !ready => {
                format!(
                    "{} before it had said that it is ready (`hook-worker`)",
                    self.tree.how_it_ended()
                )
            }
            (true, true) => self.tree.how_it_ended(),
            (false, true) if self.input_closed => "it closed its standard input".to_owned(),
            (false, true) => "it closed its standard output".to_owned(),
            (_, false) => reason,
        };
        let kept = self.stderr.kept();
        let stderr_text = String::from_utf8_lossy(&kept);
        let stderr_end = stderr_text.trim();
        let message = match stderr_end.is_empty() {
            true => how,
            false => format!(
                "{how}; its standard error ends with:\n{}",
                escaped_lines(&tail_of(stderr_end))
            ),
        };
        self.hand_over(shared);
        failure(message)
    }

    /// Hands the running process over to the engine's tasks.
    fn hand_over(mut self, shared: &Shared) {
        self.stdin.close();
        let stdout = match self.lines.into_inner() {
            StdoutOf::Left(stdout) => Some(stdout),
            StdoutOf::Right(_) => None,
        };
        let slots = Slots { running: self.running.take(), ..Slots::default() };
        let leftover =
            LeftoverProcess { tree: self.tree, stdout, stderr: self.stderr.into_pipe(), slots };
        shared.context.tasks.end(leftover, shared.context.limits.grace);
    }
}

/// Returns the end of a long text.
fn tail_of(text: &str) -> String {
    const SHOWN: usize = 16 * 1024;
    let mut start = text.len().saturating_sub(SHOWN);
    while !text.is_char_boundary(start) {
        start += 1;
    }
    text.get(start..).unwrap_or_default().to_owned()
}

fn read(line: Line) -> Result<FromHook, String> {
    match line {
        Line::Text { text, .. } => FromHook::read(text).map_err(|error| error.to_string()),
        Line::TooLong { length, .. } => {
            Err(format!("it sent a line of {length} bytes, and a line may have {MAX_LIVE_LINE}"))
        }
    }
}

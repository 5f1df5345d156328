//! One process of a worker, from its start to its end.

use std::ffi::OsString;
use std::io;
use std::path::Path;
use std::pin::pin;
use std::process::Command;
use std::sync::Arc;
use std::time::Duration;

use tokio::process::{ChildStderr, ChildStdout};
use tokio::time::{Instant, sleep_until, timeout};

use super::input::Input;
use super::modules;
use super::output::ErrorOutput;
use super::state::{Declared, Shared, live as failure};
use crate::command::RunVariables;
use crate::executor::Slots;
use crate::lines::{Line, LineReader};
use crate::live::{
    CallSession, Carrier, FromHook, LIVE_PROTOCOL, MAX_LIVE_LINE, ToHook, WorkerModule,
};
use crate::running::RunningHook;
use crate::session_env::SessionEnv;
use crate::termination::Leaving;
use crate::tree::ProcessTree;
use hook_json::text::lines;
use hook_protocol::failure::HookFailure;
use hook_shell::quote_project_directory;

/// The time that a worker has to end after a `hook-close` message, before it is signalled.
const TO_CLOSE: Duration = Duration::from_millis(500);

/// The size of a write, if more is queued.
const CHUNK: usize = 64 * 1024;

/// The maximum number of buffered lines that are handled in a row.
const LINES_AT_ONCE: usize = 64;

/// The maximum number of reads of standard error before each batch of lines.
const READS_BEFORE_LINES: usize = 4;

/// The reason for ending a process.
enum End {
    /// It is not needed any more.
    Closing(&'static str),
    /// It has died, or has violated the protocol.
    Failed(String),
}

/// Runs one generation of a worker's process to its end; starts it at `not_before` or later.
pub(super) async fn live(shared: Arc<Shared>, life: u64, not_before: Option<Instant>) {
    // Also reports the end if this future is dropped, so that waiters are woken.
    let _lost = Lost { shared: Arc::clone(&shared), life };
    if let Some(not_before) = not_before {
        tokio::select! {
            () = shared.closing.cancelled() => {}
            () = sleep_until(not_before) => {}
        }
    }
    if shared.closing.is_cancelled() {
        shared.died(life, failure("the engine ended before it was started"), Duration::ZERO);
        return;
    }
    let left_out = match shared.runnable().await {
        Ok(left_out) => left_out,
        Err(why) => {
            shared.died(life, why, Duration::ZERO);
            return;
        }
    };
    let begun = Instant::now();
    let running =
        shared.context.running.enter(shared.context.environment.outer_token.as_deref(), 0);
    let mut process = match Process::start(&shared, running, &left_out) {
        Ok(process) => process,
        Err(source) => {
            let program = shared.context.shell.program.clone();
            let source = Arc::new(source);
            shared.died(life, HookFailure::Spawn { program, source }, begun.elapsed());
            return;
        }
    };
    shared.started(process.tree.group());
    let session = CallSession::new();
    let mut carrier = session.attach();
    if let Some(pipe) = process.stdin.shared() {
        carrier.write_to(pipe);
    }
    // The files may have changed between the first check and the start.
    let end = match shared.consents().await {
        Ok(now) => match newly_refused(&left_out, now) {
            None => process.serve(&shared, life, &session, &mut carrier, begun).await,
            Some(why) => End::Failed(why.to_string()),
        },
        Err(why) => End::Failed(why.to_string()),
    };
    match end {
        End::Closing(reason) => {
            // From here on a call starts another process, if the engine allows it.
            shared.rests();
            carrier.lost(failure("the worker is ending"));
            process.close(&shared, reason).await;
        }
        End::Failed(reason) => {
            let why = process.end(&shared, reason, shared.is_ready(life)).await;
            // Before waiters are notified, so that the next call starts another process.
            shared.died(life, why.clone(), begun.elapsed());
            carrier.lost(why);
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
struct Lost {
    shared: Arc<Shared>,
    life: u64,
}

impl Drop for Lost {
    fn drop(&mut self) {
        self.shared.lost(self.life);
    }
}

struct Process {
    tree: ProcessTree,
    stdin: Input,
    lines: LineReader<StdoutOf>,
    stderr: ErrorOutput<ChildStderr>,
    /// `true` once the process does not read any more.
    input_closed: bool,
    /// The write buffer, and its written part.
    outgoing: Vec<u8>,
    written: usize,
    running: Option<RunningHook>,
    /// The modules that are not loaded because they have changed.
    left_out: Vec<WorkerModule>,
    /// The failed trust checks at the start.
    consents: Vec<Option<HookFailure>>,
}

/// The variable with the version of the engine's messages.
const PROTOCOL: &str = "HOOK_PROTOCOL";

/// Standard output, or an empty stream if there is none.
type StdoutOf = tokio_util::either::Either<ChildStdout, tokio::io::Empty>;

impl Process {
    fn start(
        shared: &Shared,
        mut running: RunningHook,
        left_out: &[Option<HookFailure>],
    ) -> io::Result<Self> {
        let context = &shared.context;
        let environment = &context.environment;
        let depth = environment.depth.to_string();
        let none = SessionEnv::default();
        let run = RunVariables { depth: &depth, token: running.token(), session: (&none, 0) };
        let shell = &context.shell;
        let mut process = Command::new(&shell.program);
        match shared.terms.modules.is_empty() {
            true => {
                let script = shared.terms.script.as_ref().unwrap_or(&shared.terms.command);
                let script = match cfg!(unix) {
                    true => quote_project_directory(script),
                    false => script.clone(),
                };
                process.args(shell.arguments).arg(script);
            }
            false => {
                let host = modules::Host::of(&shared.terms, &environment.project, left_out)?;
                process.args(shell.arguments).args(host.arguments());
            }
        }
        let directory: &Path = &environment.project;
        process.current_dir(directory).env_clear();
        process.envs(environment.lasting_variables(&run, &shared.terms.env));
        let own_path = shared.terms.env.iter().any(|(name, _)| name == "NODE_PATH");
        if let (false, false, Some(path)) =
            (shared.terms.modules.is_empty(), own_path, &environment.node_path)
        {
            // The module host resolves imports there, outside the project.
            process.env("NODE_PATH", path);
        }
        let env = &shared.terms.env;
        let is_own = |name: &OsString| env.iter().any(|(own, _)| name == own.as_str());
        let given = shared.terms.variables.iter().filter(|(name, _)| !is_own(name));
        process.envs(given.map(|(name, value)| (name, value)));
        // The process speaks first, and may support several versions.
        process.env(PROTOCOL, LIVE_PROTOCOL.to_string());
        let mut tree = ProcessTree::spawn(process)?;
        running.started(tree.group());
        let stdout = match tree.take_stdout() {
            Some(stdout) => StdoutOf::Left(stdout),
            None => StdoutOf::Right(tokio::io::empty()),
        };
        Ok(Self {
            stdin: Input::of(tree.take_stdin())?,
            lines: LineReader::new(stdout).up_to(MAX_LIVE_LINE),
            stderr: ErrorOutput::new(tree.take_stderr(), Arc::clone(&shared.errors)),
            tree,
            input_closed: false,
            outgoing: Vec::new(),
            written: 0,
            running: Some(running),
            left_out: modules::left_out(&shared.terms, left_out),
            consents: left_out.to_vec(),
        })
    }

    /// Transports messages until there is a reason to end.
    async fn serve(
        &mut self,
        shared: &Shared,
        life: u64,
        session: &CallSession,
        carrier: &mut Carrier,
        begun: Instant,
    ) -> End {
        let mut ready = false;
        let mut idle_since = Instant::now();
        let mut closing = pin!(shared.closing.cancelled());
        let mut stuck = pin!(shared.stuck.notified());
        let mut unread = pin!(self.stdin.unread());
        loop {
            let unwritten = self.outgoing.len() - self.written;
            let (to_start, idle) = (shared.terms.longest_start(), shared.terms.rules.idle_timeout);
            let too_late = async {
                match ready {
                    true => std::future::pending().await,
                    false => sleep_until(begun + to_start).await,
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
                () = &mut closing => return End::Closing("shutdown"),
                () = &mut stuck => {
                    stuck.set(shared.stuck.notified());
                    if !shared.is_stuck(life) {
                        continue;
                    }
                    let often = match shared.most_timeouts() {
                        1 => "",
                        _ => ", three times in a row",
                    };
                    return End::Failed(format!("it did not answer in time{often}"));
                }
                () = too_late => {
                    let message = format!(
                        "it did not say that it is ready within {}ms; if the machine is busy, or it \
                         needs longer, give it a longer `startTimeout`",
                        to_start.as_millis()
                    );
                    return End::Failed(message);
                }
                line = self.lines.next() => {
                    let mut next = match line {
                        Ok(Some(line)) => Some(line),
                        Ok(None) => return End::Failed(String::new()),
                        Err(error) => return End::Failed(format!("its standard output cannot be read: {error}")),
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
                        let taken_in = self.take(line, &mut ready, shared, life, session, carrier);
                        if let Err(wrong) = taken_in.await {
                            return End::Failed(wrong);
                        }
                        taken += 1;
                        next = if taken < LINES_AT_ONCE { self.lines.next_read() } else { None };
                    }
                    idle_since = Instant::now();
                }
                () = self.tree.leader_ended() => {
                    let said = self.last_words(&mut ready, shared, life, session, carrier);
                    return End::Failed(said.await.err().unwrap_or_default());
                }
                wrote = self.stdin.write(rest) => {
                    match wrote {
                        Ok(wrote) => self.wrote(wrote),
                        Err(_) => {
                            self.input_closed = true;
                            let said = self.last_words(&mut ready, shared, life, session, carrier);
                            return End::Failed(said.await.err().unwrap_or_default());
                        }
                    }
                    if self.outgoing.is_empty() {
                        carrier.flushed();
                    }
                }
                message = carrier.next(), if unwritten < CHUNK => match message {
                    Ok(message) => {
                        self.push(&message);
                        idle_since = Instant::now();
                        while self.outgoing.len() - self.written < CHUNK
                            && let Ok(Some(message)) = carrier.try_next()
                        {
                            self.push(&message);
                        }
                    }
                    Err(why) => return End::Failed(why.to_string()),
                },
                () = unused => {
                    let resting = failure("it was not used, and is being ended");
                    // Later calls start another process.
                    if session.close_if_idle(resting) {
                        return End::Closing("idle");
                    }
                }
                () = self.stderr.fill() => {}
                // The process may still write messages before it ends.
                () = &mut unread => {
                    self.input_closed = true;
                    let said = self.last_words(&mut ready, shared, life, session, carrier);
                    return End::Failed(said.await.err().unwrap_or_default());
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
        life: u64,
        session: &CallSession,
        carrier: &mut Carrier,
    ) -> Result<(), String> {
        const TOO_EARLY: &str = "it answered before it had said that it is ready (`hook-worker`)";
        match read(line)? {
            FromHook::Ready { hooks, mut modules } if !*ready => {
                // It may have read a file that changed after its start.
                let consents = shared.consents().await.map_err(|why| why.to_string())?;
                if let Some(why) = newly_refused(&self.consents, consents) {
                    return Err(why.to_string());
                }
                *ready = true;
                modules.extend(self.left_out.iter().cloned());
                let declared = hooks.map(|hooks| Declared { hooks, modules });
                shared.ready(life, session.clone(), declared);
            }
            FromHook::Ready { .. } => {
                return Err("it said a second time that it is ready (`hook-worker`)".to_owned());
            }
            FromHook::Answer { .. } | FromHook::HostCall { .. } if !*ready => {
                return Err(TOO_EARLY.to_owned());
            }
            message => {
                carrier.take(message);
            }
        }
        Ok(())
    }

    /// Handles remaining lines, for a short while.
    async fn last_words(
        &mut self,
        ready: &mut bool,
        shared: &Shared,
        life: u64,
        session: &CallSession,
        carrier: &mut Carrier,
    ) -> Result<(), String> {
        let until = Instant::now() + shared.context.limits.exit_patience;
        loop {
            let line = tokio::select! {
                biased;
                line = self.lines.next() => line,
                () = self.stderr.fill() => continue,
                () = sleep_until(until) => return Ok(()),
            };
            let Ok(Some(line)) = line else { return Ok(()) };
            self.take(line, ready, shared, life, session, carrier).await?;
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
            self.outgoing.shrink_to(CHUNK);
        } else if self.written >= CHUNK {
            self.outgoing.drain(..self.written);
            self.written = 0;
        }
    }

    /// Asks the process to end, and terminates it after the timeout.
    async fn close(mut self, shared: &Shared, reason: &'static str) {
        self.push(&ToHook::Close { reason });
        let leaving = async {
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
            _ = timeout(TO_CLOSE, leaving) => {}
            () = shared.context.tasks.impatient.cancelled() => {}
        }
        self.leave(shared);
    }

    /// Terminates the process, and returns the reason of its end.
    async fn end(mut self, shared: &Shared, reason: String, ready: bool) -> HookFailure {
        let patience = shared.context.limits.exit_patience;
        // The exit follows shortly after the end of the output, with a message on standard error.
        let ended = timeout(patience, self.tree.leader_ended());
        let has_ended = {
            let said = async {
                loop {
                    self.stderr.fill().await;
                }
            };
            tokio::select! {
                ended = ended => ended.is_ok(),
                () = said => false,
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
        let said = String::from_utf8_lossy(&kept);
        let said = said.trim();
        let message = match said.is_empty() {
            true => how,
            false => format!("{how}; its standard error ends with:\n{}", lines(&last_of(said))),
        };
        self.leave(shared);
        failure(message)
    }

    /// Hands the running process over to the engine's tasks.
    fn leave(mut self, shared: &Shared) {
        self.stdin.close();
        let stdout = match self.lines.into_inner() {
            StdoutOf::Left(stdout) => Some(stdout),
            StdoutOf::Right(_) => None,
        };
        let slots = Slots { running: self.running.take(), ..Slots::default() };
        let leaving = Leaving { tree: self.tree, stdout, stderr: self.stderr.into_pipe(), slots };
        shared.context.tasks.end(leaving, shared.context.limits.grace);
    }
}

/// Returns the end of a long text.
fn last_of(text: &str) -> String {
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

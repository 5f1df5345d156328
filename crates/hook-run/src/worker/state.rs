//! A worker, over all generations of its process.

use std::ffi::OsString;
use std::fmt;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use futures::future::BoxFuture;
use tokio::runtime::Handle;
use tokio::sync::Notify;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use super::output::{StderrTail, lock};
use crate::HookKind;
use crate::command::CommandContext;
use crate::executor::CommandIdentity;
use crate::live::{CallSession, DroppedAnswers, HookAnswer, MAX_CALLS, WorkerHook, WorkerModule};
use crate::report::{Captured, WorkerHistory};
use crate::slots::SlotQueue;
use hook_json::text::{OneLine, first_and_last};
use hook_json::{ObjectWriter, RawJson, RawObject, opaque_debug};
use hook_protocol::failure::HookFailure;
use hook_settings::{EnvironmentRules, HookSource, WorkerRules, variables};
use hook_trust::TrustedHook;

/// The first and the longest delay of a restart.
const RESTART_DELAYS: (Duration, Duration) = (Duration::from_millis(100), Duration::from_secs(30));

/// The run time after which the next restart has the first delay again.
const STABLE_RUN_TIME: Duration = Duration::from_secs(30);

/// The number of deaths in a row, without an answer in between, after which a worker is broken.
const MAX_DEATHS: u32 = 5;

/// The number of timeouts in a row after which its process is ended.
const MAX_TIMEOUTS: u32 = 3;

/// The factor on `startTimeout` of a worker that loads modules.
const MODULE_START_FACTOR: u32 = 3;

/// The specification of a worker in settings; equal specifications share one worker.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct WorkerSpec {
    /// The shell command.
    pub(crate) command: String,
    /// The command with the files of the trusted copy, for a project's worker.
    pub(crate) script: Option<String>,
    /// Additional environment variables from the engine.
    pub(crate) variables: Vec<(OsString, OsString)>,
    /// Additional environment variables from the settings.
    pub(crate) env: Vec<(String, String)>,
    /// The rules for the host's variables that it inherits.
    pub(crate) environment: EnvironmentRules,
    /// The timeouts and other rules of its process.
    pub(crate) rules: WorkerRules,
    /// The source of its hooks.
    pub(crate) source: HookSource,
    /// The digest of its trusted files, for a project's worker.
    pub(crate) granted: Option<String>,
    /// The modules that it loads; empty for a command.
    pub(crate) modules: Vec<ModuleSpec>,
}

impl WorkerSpec {
    /// Returns the time within which the process must report that it is ready. The module host
    /// measures only its own time, which is a part of this if many processes start at once.
    pub(super) fn max_start_time(&self) -> Duration {
        let factor = if self.modules.is_empty() { 1 } else { MODULE_START_FACTOR };
        self.rules.start_timeout.saturating_mul(factor)
    }
}

/// A module that a worker loads.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct ModuleSpec {
    /// The path in settings.
    pub(crate) path: PathBuf,
    /// The file that is loaded; for a trusted project's module, the one in the copy.
    pub(crate) file: PathBuf,
    /// The display name.
    pub(crate) label: String,
    /// The digest of the file.
    pub(crate) loaded: Option<String>,
    /// `true` for a trusted module of a project.
    pub(crate) is_granted: bool,
}

/// The trust decisions on a worker's modules, or on its command. `None` needs no decision.
pub(crate) type TrustGrants = Vec<Option<Arc<TrustedHook>>>;

/// The declaration of a worker.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct WorkerDeclaration {
    /// The worker's hooks.
    pub hooks: Vec<WorkerHook>,
    /// The modules that the worker was to load.
    pub modules: Vec<WorkerModule>,
}

/// A process that answers calls. It is started when needed, restarted after it has died, and ended
/// when the last hook that names it is gone.
pub struct Worker {
    pub(super) shared: Arc<Shared>,
}

/// Runs one generation of a worker's process to its end, from `not_before` on.
pub(super) type RunGeneration = fn(Arc<Shared>, u64, Option<Instant>) -> BoxFuture<'static, ()>;

pub(super) struct Shared {
    run: RunGeneration,
    pub(super) spec: WorkerSpec,
    /// The trust decisions, checked when a process is started.
    pub(super) granted: TrustGrants,
    pub(super) context: Arc<CommandContext>,
    pub(super) state: Mutex<State>,
    /// Notified when the phase changes.
    pub(super) changed: Notify,
    /// Cancelled when the worker is not needed any more.
    pub(super) closing: CancellationToken,
    /// Notified to end a process that does not answer.
    pub(super) stuck: Notify,
    calls: Arc<SlotQueue>,
    /// The standard error of its processes.
    pub(super) stderr: Arc<Mutex<StderrTail>>,
}

#[derive(Default)]
pub(super) struct State {
    phase: Phase,
    /// The number of started processes, which is also the current generation.
    generations: u64,
    /// The number of deaths in a row without an answer.
    deaths: u32,
    timeouts: u32,
    /// The generation that does not answer any more.
    stuck: Option<u64>,
    backoff: Option<Duration>,
    not_before: Option<Instant>,
    /// The generation that ended last, and its failure.
    ended: Option<(u64, HookFailure)>,
    process: Option<u32>,
    /// The dropped answers of earlier generations.
    dropped: DroppedAnswers,
    /// The worker's last declaration, and its number.
    declared: Option<(u64, Arc<WorkerDeclaration>)>,
}

impl State {
    /// Adds the counts of the session that has ended.
    fn note_dropped(&mut self) {
        if let Phase::Ready(_, session) = &self.phase {
            self.dropped = self.dropped.with(session.dropped());
        }
    }
}

#[derive(Default, Clone)]
enum Phase {
    #[default]
    Stopped,
    Starting(u64),
    Ready(u64, CallSession),
    /// Not started any more, for this reason.
    Broken(HookFailure),
}

impl Phase {
    fn name(&self) -> &'static str {
        match self {
            Self::Stopped => STOPPED,
            Self::Starting(_) => "starting",
            Self::Ready(..) => "ready",
            Self::Broken(_) => BROKEN,
        }
    }
}

const STOPPED: &str = "stopped";
const BROKEN: &str = "broken";

/// The status of a worker.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct WorkerStatus {
    /// The state: `stopped`, `starting`, `ready` or `broken`.
    pub state: &'static str,
    /// The number of restarts.
    pub restarts: u64,
    /// The id of the running process.
    pub process: Option<u32>,
    /// The failure of the last process that ended unexpectedly.
    pub failure: Option<String>,
    /// The numbers of answers without a waiting call.
    pub dropped: DroppedAnswers,
}

impl WorkerStatus {
    /// The names of all states.
    pub const STATES: [&str; 4] = [STOPPED, "starting", "ready", BROKEN];

    /// Returns `true` if the worker is not started any more.
    pub fn is_broken(&self) -> bool {
        self.state == BROKEN
    }

    /// Returns `true` if this engine has ever started the worker; other engines do not count.
    pub fn is_known(&self) -> bool {
        self.state != STOPPED || self.restarts > 0 || self.failure.is_some()
    }

    /// Reads the output of [`write`](Self::write); returns `None` for anything else.
    pub fn read_back(object: &RawObject) -> Option<Self> {
        let fields = object.fields();
        let state_name = fields.get("state")?.to_text()?;
        let process = fields.get("process").and_then(RawJson::to_u64);
        let dropped = fields.get("droppedAnswers").and_then(|value| value.to_object().ok());
        let counted = |name| dropped.as_ref()?.get(name)?.to_u64();
        Some(Self {
            state: Self::STATES.into_iter().find(|state| *state == state_name)?,
            restarts: fields.get("restarts")?.to_u64()?,
            process: process.and_then(|process| u32::try_from(process).ok()),
            failure: fields.get("failure").and_then(RawJson::to_text),
            dropped: DroppedAnswers {
                late: counted("late").unwrap_or_default(),
                unknown: counted("unknown").unwrap_or_default(),
            },
        })
    }

    /// Writes the status as fields of a message.
    pub fn write(&self, object: &mut ObjectWriter<'_>) {
        object.text("state", self.state);
        object.integer("restarts", self.restarts.into());
        if let Some(process) = self.process {
            object.integer("process", process.into());
        }
        object.optional_text("failure", self.failure.as_deref());
        if self.dropped != DroppedAnswers::default() {
            object.object("droppedAnswers", |object| {
                object.integer("late", self.dropped.late.into());
                object.integer("unknown", self.dropped.unknown.into());
            });
        }
    }
}

/// A description for people; empty for a worker that was never started.
impl fmt::Display for WorkerStatus {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.is_known() {
            return Ok(());
        }
        formatter.write_str(self.state)?;
        if let Some(process) = self.process {
            write!(formatter, ", process {process}")?;
        }
        match self.restarts {
            0 => {}
            1 => formatter.write_str(", started again once")?,
            times => write!(formatter, ", started again {times} times")?,
        }
        if let Some(failure) = &self.failure {
            write!(formatter, "; the last failure: {}", first_and_last(failure))?;
        }
        if self.dropped != DroppedAnswers::default() {
            let DroppedAnswers { late, unknown } = self.dropped;
            write!(formatter, "; dropped answers: {late} too late, {unknown} to no call of it")?;
        }
        Ok(())
    }
}

impl Worker {
    pub(super) fn new(
        spec: WorkerSpec,
        granted: TrustGrants,
        context: Arc<CommandContext>,
        run: RunGeneration,
    ) -> Self {
        Self {
            shared: Arc::new(Shared {
                run,
                spec,
                granted,
                context,
                state: Mutex::default(),
                changed: Notify::new(),
                closing: CancellationToken::new(),
                stuck: Notify::new(),
                calls: SlotQueue::new(MAX_CALLS),
                stderr: Arc::default(),
            }),
        }
    }

    /// Returns the current status.
    pub fn status(&self) -> WorkerStatus {
        let state = self.shared.lock();
        let current = match &state.phase {
            Phase::Ready(_, session) => session.dropped(),
            _ => DroppedAnswers::default(),
        };
        WorkerStatus {
            dropped: state.dropped.with(current),
            state: state.phase.name(),
            restarts: state.generations.saturating_sub(1),
            process: state.process,
            failure: state.ended.as_ref().map(|(_, failure)| failure.to_string()),
        }
    }

    /// Returns the number of its last declaration, from 1; 0 if there is none.
    pub fn declaration_number(&self) -> u64 {
        self.shared.lock().declared.as_ref().map_or(0, |(number, _)| *number)
    }

    /// Returns the worker's declaration and its number. Starts the worker if needed, and waits for
    /// it.
    ///
    /// # Errors
    /// Returns an error if the worker cannot be started, is not ready in time, is broken, or has to
    /// wait for its restart delay.
    pub async fn declaration(&self) -> Result<(u64, Arc<WorkerDeclaration>), HookFailure> {
        let is_too_early = |state: &State| {
            matches!(state.phase, Phase::Stopped)
                && state.not_before.is_some_and(|at| at > Instant::now())
        };
        loop {
            {
                let state = self.shared.lock();
                if let Some(declared) = &state.declared {
                    return Ok(declared.clone());
                }
                if is_too_early(&state)
                    && let Some((_, failure)) = &state.ended
                {
                    return Err(failure.clone());
                }
            }
            self.session().await?;
            if self.shared.lock().declared.is_none() {
                return Err(unavailable(
                    "it did not say which hooks it has (`hooks` of `hook-worker`)",
                ));
            }
        }
    }

    /// Sends a request that is neither an event nor a hook's, and has no host. Starts the worker if
    /// needed.
    ///
    /// # Errors
    /// Returns an error if the worker is not available, does not answer in time, or reports a
    /// failure.
    pub async fn request(
        &self,
        name: &str,
        input: RawObject,
        timeout: Duration,
    ) -> Result<Option<RawObject>, HookFailure> {
        let deadline = Instant::now() + timeout;
        let response = async {
            let (session, _) = self.session().await?;
            match session.request(name, input, deadline).await? {
                HookAnswer::Output(object)
                | HookAnswer::Action(object)
                | HookAnswer::Native(object) => Ok(Some(object)),
                HookAnswer::Nothing => Ok(None),
                HookAnswer::Error(message) => {
                    Err(HookFailure::Reported { message: hook_json::text::shortened(&message) })
                }
            }
        };
        let timed_out = |_| Err(HookFailure::TimedOut { after: timeout });
        tokio::time::timeout_at(deadline, response).await.unwrap_or_else(timed_out)
    }

    /// Returns the last declaration, if there is one.
    pub fn last_declaration(&self) -> Option<Arc<WorkerDeclaration>> {
        self.shared.lock().declared.as_ref().map(|(_, declared)| Arc::clone(declared))
    }

    /// Returns the worker's history; `None` if it was never restarted and is not broken.
    pub(crate) fn history(&self) -> Option<WorkerHistory> {
        let state = self.shared.lock();
        let restarts = state.generations.saturating_sub(1);
        let is_broken = matches!(state.phase, Phase::Broken(_));
        let history = || WorkerHistory { state: state.phase.name().into(), restarts };
        (restarts > 0 || is_broken).then(history)
    }

    /// Returns the kind of the worker's hooks.
    pub(crate) fn kind(&self) -> HookKind {
        match self.shared.spec.modules.is_empty() {
            true => HookKind::Worker,
            false => HookKind::Module,
        }
    }

    /// Returns the slots that a call needs before its timeout starts.
    pub(crate) fn slots(&self) -> &Arc<SlotQueue> {
        &self.shared.calls
    }

    pub(crate) fn identity(&self) -> CommandIdentity<'_> {
        CommandIdentity {
            command: &self.shared.spec.command,
            env: variables(&self.shared.spec.env),
            project: &self.shared.context.environment.project,
            foreign_event: None,
            is_worker: true,
        }
    }

    /// Checks whether the worker may be called at this nesting depth.
    ///
    /// # Errors
    /// Returns an error if hooks are nested too deep.
    pub(crate) fn check_depth(&self, depth: u32) -> Result<(), HookFailure> {
        self.shared.context.check_depth(depth)
    }

    /// Returns a session with the process, and the generation; starts the process if needed.
    ///
    /// # Errors
    /// Returns an error if the process cannot be started, is not ready in time, or is broken.
    ///
    /// # Cancellation
    /// Dropping the future does not stop a start in progress.
    pub(crate) async fn session(&self) -> Result<(CallSession, u64), HookFailure> {
        let shared = &self.shared;
        loop {
            let (changed, waited) = {
                let mut state = shared.lock();
                let waited = match &state.phase {
                    // That process is being ended; wait for the next one.
                    Phase::Ready(generation, _) if state.stuck == Some(*generation) => 0,
                    Phase::Ready(generation, session) => return Ok((session.clone(), *generation)),
                    Phase::Broken(why) => return Err(why.clone()),
                    Phase::Starting(generation) => *generation,
                    Phase::Stopped if shared.closing.is_cancelled() => {
                        return Err(unavailable("the engine is ending, and starts it no more"));
                    }
                    Phase::Stopped => shared.start(&mut state),
                };
                // Created under the lock, so that no change is missed.
                (shared.changed.notified(), waited)
            };
            changed.await;
            let state = shared.lock();
            if let Some((generation, failure)) = &state.ended
                && *generation == waited
            {
                return Err(failure.clone());
            }
        }
    }

    /// Starts an `eager` worker before its first call, unless it is broken or closing.
    pub fn start_if_eager(&self) {
        let shared = &self.shared;
        if !shared.spec.rules.eager || Handle::try_current().is_err() {
            return;
        }
        let mut state = shared.lock();
        if matches!(state.phase, Phase::Stopped) && !shared.closing.is_cancelled() {
            shared.start(&mut state);
        }
    }

    /// Returns the reason why the worker is broken, if it is.
    pub fn broken(&self) -> Option<HookFailure> {
        match &self.shared.lock().phase {
            Phase::Broken(why) => Some(why.clone()),
            _ => None,
        }
    }

    /// Returns the length of its standard error so far, in bytes.
    pub(crate) fn stderr_length(&self) -> u64 {
        lock(&self.shared.stderr).total()
    }

    /// Returns its standard error after this many bytes.
    pub(crate) fn stderr_since(&self, before: u64) -> Captured {
        lock(&self.shared.stderr).since(before)
    }

    /// Returns `true` while a process is starting and not ready yet.
    pub(crate) fn is_starting(&self) -> bool {
        matches!(self.shared.lock().phase, Phase::Starting(_))
    }

    /// Records an answer.
    pub(crate) fn answered(&self) {
        let mut state = self.shared.lock();
        (state.deaths, state.timeouts) = (0, 0);
    }

    /// Records a timeout of a generation, and ends its process after too many of them.
    pub(crate) fn timed_out(&self, generation: u64) {
        let mut state = self.shared.lock();
        if !matches!(state.phase, Phase::Ready(current, _) if current == generation) {
            return;
        }
        state.timeouts += 1;
        if state.timeouts >= self.shared.max_timeouts() {
            state.timeouts = 0;
            state.stuck = Some(generation);
            self.shared.stuck.notify_one();
        }
    }

    /// Waits until another generation is current.
    pub(crate) async fn generation_ended(&self, generation: u64) {
        loop {
            let changed = {
                let state = self.shared.lock();
                if !matches!(state.phase, Phase::Ready(current, _) if current == generation) {
                    return;
                }
                self.shared.changed.notified()
            };
            changed.await;
        }
    }

    /// Records the timeout of a call that the process has not read.
    pub(crate) fn timed_out_unread(&self) {
        let generation = match &self.shared.lock().phase {
            Phase::Ready(generation, _) => Some(*generation),
            _ => None,
        };
        if let Some(generation) = generation {
            self.timed_out(generation);
        }
    }

    /// Closes the worker; it is not started any more.
    pub(crate) fn close(&self) {
        self.shared.closing.cancel();
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        self.close();
    }
}

opaque_debug!(Worker);

/// Returns the failure of a worker that cannot be called.
pub(super) fn unavailable(reason: impl Into<String>) -> HookFailure {
    HookFailure::Live { reason: reason.into() }
}

impl Shared {
    pub(super) fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Starts a process, and returns its generation.
    fn start(self: &Arc<Self>, state: &mut State) -> u64 {
        state.generations += 1;
        let generation = state.generations;
        state.phase = Phase::Starting(generation);
        let not_before = state.not_before.take();
        self.context.tasks.workers.spawn((self.run)(Arc::clone(self), generation, not_before));
        generation
    }

    /// Returns the number of timeouts in a row after which the process is ended. A module that does
    /// not answer may be in a loop, which also blocks the other modules.
    pub(super) fn max_timeouts(&self) -> u32 {
        if self.spec.modules.is_empty() { MAX_TIMEOUTS } else { 1 }
    }

    /// Checks the trust in its files, and returns the failure for each decision.
    ///
    /// # Errors
    /// Returns an error if the check could not be made.
    pub(super) async fn check_trust(&self) -> Result<Vec<Option<HookFailure>>, HookFailure> {
        if self.granted.iter().all(Option::is_none) {
            return Ok(self.granted.iter().map(|_| None).collect());
        }
        let (granted, project) = (self.granted.clone(), self.context.environment.project.clone());
        // Reading files may be slow.
        let checked = tokio::task::spawn_blocking(move || {
            let check = |grant: &Option<Arc<TrustedHook>>| grant.as_ref()?.verify(&project).err();
            granted.iter().map(check).collect()
        });
        checked.await.map_err(|_| unavailable("the engine is ending, and starts it no more"))
    }

    /// Returns the failure of each part that must not run, such as a changed module.
    ///
    /// # Errors
    /// Returns an error if nothing may run.
    pub(super) async fn runnable(&self) -> Result<Vec<Option<HookFailure>>, HookFailure> {
        let checks = self.check_trust().await?;
        match checks.iter().all(Option::is_some) {
            true => match checks.iter().flatten().next() {
                Some(why) => Err(why.clone()),
                None => Ok(checks),
            },
            false => Ok(checks),
        }
    }

    /// Returns `true` if this generation does not answer any more.
    pub(super) fn is_stuck(&self, generation: u64) -> bool {
        self.lock().stuck == Some(generation)
    }

    /// Handles the end of a generation's task that reported none: its runtime is gone, or it
    /// panicked.
    pub(super) fn task_lost(&self, generation: u64) {
        let is_current = matches!(
            self.lock().phase,
            Phase::Starting(current) | Phase::Ready(current, _) if current == generation
        );
        if is_current {
            self.died(
                generation,
                unavailable("the task that looked after it is gone"),
                Duration::ZERO,
            );
        }
    }

    /// Returns `true` if this generation is ready.
    pub(super) fn is_ready(&self, generation: u64) -> bool {
        matches!(self.lock().phase, Phase::Ready(current, _) if current == generation)
    }

    /// Records the id of the started process.
    pub(super) fn started(&self, process: Option<u32>) {
        self.lock().process = process;
    }

    /// Records that a generation is ready, and its declaration.
    pub(super) fn ready(
        &self,
        generation: u64,
        session: CallSession,
        declared: Option<WorkerDeclaration>,
    ) {
        let mut state = self.lock();
        state.phase = Phase::Ready(generation, session);
        state.timeouts = 0;
        if let Some(declared) = declared {
            let before = state.declared.as_ref();
            if before.is_none_or(|(_, current)| **current != declared) {
                let number = before.map_or(0, |(number, _)| *number) + 1;
                state.declared = Some((number, Arc::new(declared)));
            }
        }
        drop(state);
        self.changed.notify_waiters();
    }

    /// Records the regular end of the process.
    pub(super) fn stopped(&self) {
        let mut state = self.lock();
        state.note_dropped();
        (state.phase, state.process) = (Phase::Stopped, None);
        drop(state);
        self.changed.notify_waiters();
    }

    /// Records the death of a generation after a run time.
    pub(super) fn died(&self, generation: u64, failure: HookFailure, ran: Duration) {
        let command = hook_json::text::shortened(&self.spec.command);
        let mut state = self.lock();
        state.deaths += 1;
        state.process = None;
        state.note_dropped();
        let wait = restart_delay(state.backoff, ran);
        state.backoff = Some(wait);
        state.not_before = Some(Instant::now() + wait);
        state.ended = Some((generation, failure.clone()));
        if state.deaths >= MAX_DEATHS {
            let reason = format!(
                "it died {MAX_DEATHS} times in a row without an answer, and is started no more until \
                 the settings are read again; the last time: {failure}"
            );
            tracing::error!(target: "hook::worker", "worker `{command}`: {}", OneLine(&reason));
            state.phase = Phase::Broken(unavailable(reason));
        } else {
            tracing::warn!(target: "hook::worker", "worker `{command}`: {}", OneLine(&failure));
            state.phase = Phase::Stopped;
        }
        drop(state);
        self.changed.notify_waiters();
    }
}

/// Returns the delay before the restart of a process that ran for this time. `before` is the
/// previous delay.
fn restart_delay(before: Option<Duration>, ran: Duration) -> Duration {
    let (first, longest) = RESTART_DELAYS;
    match before.filter(|_| ran < STABLE_RUN_TIME) {
        Some(before) => (before * 2).min(longest),
        None => first,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn restarts_come_later_and_later_until_a_process_lasts() {
        let short = Duration::from_millis(29_999);
        let mut waits = vec![restart_delay(None, short)];
        while waits.len() < 12 {
            waits.push(restart_delay(waits.last().copied(), short));
        }
        let milliseconds: Vec<u128> = waits.iter().map(Duration::as_millis).collect();
        let expected =
            [100, 200, 400, 800, 1_600, 3_200, 6_400, 12_800, 25_600, 30_000, 30_000, 30_000];
        assert_eq!(milliseconds, expected);
        let lasted = Duration::from_secs(30);
        assert_eq!(restart_delay(waits.last().copied(), lasted), Duration::from_millis(100));
    }
}

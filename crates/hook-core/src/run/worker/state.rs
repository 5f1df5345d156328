//! One worker, over all processes that it has had.

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

use super::output::{Errors, lock};
use crate::failure::HookFailure;
use crate::json::{ObjectWriter, RawJson, RawObject};
use crate::run::HookKind;
use crate::run::command::CommandContext;
use crate::run::executor::CommandIdentity;
use crate::run::live::{CallSession, Dropped, MAX_CALLS, Said, WorkerHook, WorkerModule};
use crate::run::report::{Captured, WorkerHistory};
use crate::run::slots::SlotQueue;
use crate::settings::{EnvironmentRules, HookSource, WorkerRules, variables};
use crate::text::{OneLine, first_and_last};
use crate::trust::Granted;

/// How long after a death it is started again: the first time, and at most.
const RESTART: (Duration, Duration) = (Duration::from_millis(100), Duration::from_secs(30));

/// How long it must have run for its next start to come at once again.
const STEADY: Duration = Duration::from_secs(30);

/// After so many deaths without an answer in between it is started no more.
const MOST_DEATHS: u32 = 5;

/// After so many timeouts in a row its process is ended.
const MOST_TIMEOUTS: u32 = 3;

/// How many times its `startTimeout` a worker that loads modules is waited for at most.
const PATIENCE_WITH_MODULES: u32 = 3;

/// What a worker is, as settings say it: two that are the same are one.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct WorkerTerms {
    /// Its shell command.
    pub(crate) command: String,
    /// The same with the files of a copy, of a trusted project's.
    pub(crate) script: Option<String>,
    /// Variables that it is given beside its own.
    pub(crate) variables: Vec<(OsString, OsString)>,
    /// Variables added to its environment.
    pub(crate) env: Vec<(String, String)>,
    /// Which variables of the host's it gets.
    pub(crate) environment: EnvironmentRules,
    /// How long it lives.
    pub(crate) rules: WorkerRules,
    /// Where it comes from.
    pub(crate) source: HookSource,
    /// The files that were agreed to, of a project's.
    pub(crate) granted: Option<String>,
    /// The modules that it loads, if that is what it does.
    pub(crate) modules: Vec<ModuleTerms>,
}

impl WorkerTerms {
    /// After what time it must have said that it is ready. The host of modules counts the time of its own
    /// process; where many begin at once, that is a part of what goes by.
    pub(super) fn longest_start(&self) -> Duration {
        let patience = if self.modules.is_empty() { 1 } else { PATIENCE_WITH_MODULES };
        self.rules.start_timeout.saturating_mul(patience)
    }
}

/// A module that a worker loads.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct ModuleTerms {
    /// Its file.
    pub(crate) path: PathBuf,
    /// What is loaded: of a trusted project's, the file in the copy.
    pub(crate) file: PathBuf,
    /// What it is shown as.
    pub(crate) label: String,
    /// The digest of what is loaded.
    pub(crate) loaded: Option<String>,
    /// Whether it is a project's, and trusted.
    pub(crate) is_granted: bool,
}

/// What was agreed to of what a worker runs: for each module of one that loads modules, else for its
/// command. `None` needs no consent.
pub(crate) type Consents = Vec<Option<Arc<Granted>>>;

/// What a worker says it has.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Declared {
    /// Its hooks.
    pub hooks: Vec<WorkerHook>,
    /// The modules that it was to load.
    pub modules: Vec<WorkerModule>,
}

/// A process that answers calls, started when it is needed and again when it has died. When the last
/// hook that names it is gone, it is ended.
pub struct Worker {
    pub(super) shared: Arc<Shared>,
}

/// Runs the process of that number of a worker, not before a certain time, to its end.
pub(super) type Live = fn(Arc<Shared>, u64, Option<Instant>) -> BoxFuture<'static, ()>;

pub(super) struct Shared {
    live: Live,
    pub(super) terms: WorkerTerms,
    /// What was agreed to, of a project's: looked at when a process is started.
    pub(super) granted: Consents,
    pub(super) context: Arc<CommandContext>,
    pub(super) state: Mutex<State>,
    /// Its phase has changed.
    pub(super) changed: Notify,
    /// It is needed no more.
    pub(super) closing: CancellationToken,
    /// Its process is to be ended: it answers no more.
    pub(super) stuck: Notify,
    calls: Arc<SlotQueue>,
    /// What its processes wrote on standard error.
    pub(super) errors: Arc<Mutex<Errors>>,
}

#[derive(Default)]
pub(super) struct State {
    phase: Phase,
    /// How many processes were started.
    lives: u64,
    /// Those that died without an answer, in a row.
    deaths: u32,
    timeouts: u32,
    /// The process that answers no more.
    stuck: Option<u64>,
    backoff: Option<Duration>,
    not_before: Option<Instant>,
    /// How the last one ended, and which that was.
    ended: Option<(u64, HookFailure)>,
    process: Option<u32>,
    /// Answers of processes before this one that nobody waited for.
    dropped: Dropped,
    /// The hooks that it says it has.
    declared: Option<(u64, Arc<Declared>)>,
}

impl State {
    /// Keeps what is known of the conversation that is over.
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
    /// It is started no more, for this reason.
    Broken(HookFailure),
}

impl Phase {
    fn word(&self) -> &'static str {
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

/// How a worker is.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct WorkerStatus {
    /// In a word: `stopped`, `starting`, `ready` or `broken`.
    pub state: &'static str,
    /// How often it was started again.
    pub restarts: u64,
    /// The process that runs now.
    pub process: Option<u32>,
    /// Why the last process ended, if one did that should not have.
    pub failure: Option<String>,
    /// Answers that nobody waited for.
    pub dropped: Dropped,
}

impl WorkerStatus {
    /// The words for all states.
    #[doc(hidden)]
    pub const STATES: [&str; 4] = [STOPPED, "starting", "ready", BROKEN];

    /// Whether it is started no more.
    pub fn is_broken(&self) -> bool {
        self.state == BROKEN
    }

    /// Whether this process has ever started it: nothing is known of what another one did.
    pub fn is_known(&self) -> bool {
        self.state != STOPPED || self.restarts > 0 || self.failure.is_some()
    }

    /// Reads the fields that [`write`](Self::write) wrote; `None` of anything else.
    #[doc(hidden)]
    pub fn read_back(object: &RawObject) -> Option<Self> {
        let fields = object.fields();
        let said = fields.get("state")?.to_text()?;
        let process = fields.get("process").and_then(RawJson::to_whole_number);
        let dropped = fields.get("droppedAnswers").and_then(|it| it.to_object().ok());
        let counted = |name| dropped.as_ref()?.get(name)?.to_whole_number();
        Some(Self {
            state: Self::STATES.into_iter().find(|state| *state == said)?,
            restarts: fields.get("restarts")?.to_whole_number()?,
            process: process.and_then(|process| u32::try_from(process).ok()),
            failure: fields.get("failure").and_then(RawJson::to_text),
            dropped: Dropped {
                late: counted("late").unwrap_or_default(),
                unknown: counted("unknown").unwrap_or_default(),
            },
        })
    }

    /// As fields of a message.
    #[doc(hidden)]
    pub fn write(&self, object: &mut ObjectWriter<'_>) {
        object.text("state", self.state);
        object.integer("restarts", self.restarts.into());
        if let Some(process) = self.process {
            object.integer("process", process.into());
        }
        object.optional_text("failure", self.failure.as_deref());
        if self.dropped != Dropped::default() {
            object.object("droppedAnswers", |object| {
                object.integer("late", self.dropped.late.into());
                object.integer("unknown", self.dropped.unknown.into());
            });
        }
    }
}

/// For people; nothing of one that was never started.
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
        if self.dropped != Dropped::default() {
            let Dropped { late, unknown } = self.dropped;
            write!(formatter, "; dropped answers: {late} too late, {unknown} to no call of it")?;
        }
        Ok(())
    }
}

impl Worker {
    pub(super) fn new(
        terms: WorkerTerms,
        granted: Consents,
        context: Arc<CommandContext>,
        live: Live,
    ) -> Self {
        Self {
            shared: Arc::new(Shared {
                live,
                terms,
                granted,
                context,
                state: Mutex::default(),
                changed: Notify::new(),
                closing: CancellationToken::new(),
                stuck: Notify::new(),
                calls: SlotQueue::new(MAX_CALLS),
                errors: Arc::default(),
            }),
        }
    }

    /// How it is now.
    pub fn status(&self) -> WorkerStatus {
        let state = self.shared.lock();
        let of_session = match &state.phase {
            Phase::Ready(_, session) => session.dropped(),
            _ => Dropped::default(),
        };
        WorkerStatus {
            dropped: state.dropped.with(of_session),
            state: state.phase.word(),
            restarts: state.lives.saturating_sub(1),
            process: state.process,
            failure: state.ended.as_ref().map(|(_, failure)| failure.to_string()),
        }
    }

    /// How often it has said which hooks it has: each is another declaration, the first is 1.
    pub(crate) fn declaration(&self) -> u64 {
        self.shared.lock().declared.as_ref().map_or(0, |(number, _)| *number)
    }

    /// The hooks that it said it has, with the number of that declaration; waits until it has said so, for
    /// which it is started.
    ///
    /// # Errors
    /// When it cannot be started, is not ready in time, is started no more, or is not to be started yet, so
    /// soon after its last end.
    pub async fn declared(&self) -> Result<(u64, Arc<Declared>), HookFailure> {
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
                return Err(live("it did not say which hooks it has (`hooks` of `hook-worker`)"));
            }
        }
    }

    /// Asks its process something that is no event, and that no hook of an engine waits for: it has no host. It
    /// is started if it does not run.
    ///
    /// # Errors
    /// When it cannot be asked, does not answer in time, or says that it failed.
    pub async fn ask(
        &self,
        word: &str,
        input: RawObject,
        patience: Duration,
    ) -> Result<Option<RawObject>, HookFailure> {
        let deadline = Instant::now() + patience;
        let asked = async {
            let (session, _) = self.session().await?;
            match session.ask(word, input, deadline).await? {
                Said::Output(object) | Said::Action(object) | Said::Native(object) => {
                    Ok(Some(object))
                }
                Said::Nothing => Ok(None),
                Said::Error(message) => {
                    Err(HookFailure::Reported { message: crate::text::shortened(&message) })
                }
            }
        };
        let timed_out = |_| Err(HookFailure::TimedOut { after: patience });
        tokio::time::timeout_at(deadline, asked).await.unwrap_or_else(timed_out)
    }

    /// What it said last of what it has, if it has said so.
    pub fn last_declared(&self) -> Option<Arc<Declared>> {
        self.shared.lock().declared.as_ref().map(|(_, declared)| Arc::clone(declared))
    }

    /// What it has been through; `None` of one that was never started again and is not broken.
    pub(in crate::run) fn history(&self) -> Option<WorkerHistory> {
        let state = self.shared.lock();
        let restarts = state.lives.saturating_sub(1);
        let is_broken = matches!(state.phase, Phase::Broken(_));
        let history = || WorkerHistory { state: state.phase.word().into(), restarts };
        (restarts > 0 || is_broken).then(history)
    }

    /// What its hooks are.
    pub(in crate::run) fn kind(&self) -> HookKind {
        match self.shared.terms.modules.is_empty() {
            true => HookKind::Worker,
            false => HookKind::Module,
        }
    }

    /// What a call waits for before its time begins.
    pub(in crate::run) fn places(&self) -> &Arc<SlotQueue> {
        &self.shared.calls
    }

    pub(in crate::run) fn identity(&self) -> CommandIdentity<'_> {
        CommandIdentity {
            command: &self.shared.terms.command,
            env: variables(&self.shared.terms.env),
            project: &self.shared.context.environment.project,
            foreign_event: None,
            is_worker: true,
        }
    }

    /// Whether it may be called for an event that so many hooks of this engine wait for.
    ///
    /// # Errors
    /// When hooks are nested too deep.
    pub(in crate::run) fn check_depth(&self, depth: u32) -> Result<(), HookFailure> {
        self.shared.context.check_depth(depth)
    }

    /// A conversation with its process, and the number of that; it is started if none runs.
    ///
    /// # Errors
    /// When it cannot be started, is not ready in time, or is started no more.
    ///
    /// # Cancellation
    /// Dropping the future leaves a start going on.
    pub(in crate::run) async fn session(&self) -> Result<(CallSession, u64), HookFailure> {
        let shared = &self.shared;
        loop {
            let (changed, waited) = {
                let mut state = shared.lock();
                let waited = match &state.phase {
                    // It is being ended; another one comes.
                    Phase::Ready(life, _) if state.stuck == Some(*life) => 0,
                    Phase::Ready(life, session) => return Ok((session.clone(), *life)),
                    Phase::Broken(why) => return Err(why.clone()),
                    Phase::Starting(life) => *life,
                    Phase::Stopped if shared.closing.is_cancelled() => {
                        return Err(live("the engine is ending, and starts it no more"));
                    }
                    Phase::Stopped => shared.start(&mut state),
                };
                // Made under the lock, so that no change is missed.
                (shared.changed.notified(), waited)
            };
            changed.await;
            let state = shared.lock();
            if let Some((life, failure)) = &state.ended
                && *life == waited
            {
                return Err(failure.clone());
            }
        }
    }

    /// Starts it, if it is to be there before its first call and nothing keeps it from being started.
    pub(crate) fn start_if_eager(&self) {
        let shared = &self.shared;
        if !shared.terms.rules.eager || Handle::try_current().is_err() {
            return;
        }
        let mut state = shared.lock();
        if matches!(state.phase, Phase::Stopped) && !shared.closing.is_cancelled() {
            shared.start(&mut state);
        }
    }

    /// Why it is started no more, if it is not.
    pub(crate) fn broken(&self) -> Option<HookFailure> {
        match &self.shared.lock().phase {
            Phase::Broken(why) => Some(why.clone()),
            _ => None,
        }
    }

    /// How much it has written on standard error so far, in bytes.
    pub(in crate::run) fn errors_so_far(&self) -> u64 {
        lock(&self.shared.errors).total()
    }

    /// What it has written there after so many bytes.
    pub(in crate::run) fn errors_since(&self, before: u64) -> Captured {
        lock(&self.shared.errors).since(before)
    }

    /// Whether a process of it is starting, and has not said that it is ready.
    pub(in crate::run) fn is_starting(&self) -> bool {
        matches!(self.shared.lock().phase, Phase::Starting(_))
    }

    /// It has answered.
    pub(in crate::run) fn answered(&self) {
        let mut state = self.shared.lock();
        (state.deaths, state.timeouts) = (0, 0);
    }

    /// It has not answered in time, as the process of that number.
    pub(in crate::run) fn timed_out(&self, life: u64) {
        let mut state = self.shared.lock();
        if !matches!(state.phase, Phase::Ready(current, _) if current == life) {
            return;
        }
        state.timeouts += 1;
        if state.timeouts >= self.shared.most_timeouts() {
            state.timeouts = 0;
            state.stuck = Some(life);
            self.shared.stuck.notify_one();
        }
    }

    /// Waits until the process of that number is not the one any more.
    pub(in crate::run) async fn over(&self, life: u64) {
        loop {
            let changed = {
                let state = self.shared.lock();
                if !matches!(state.phase, Phase::Ready(current, _) if current == life) {
                    return;
                }
                self.shared.changed.notified()
            };
            changed.await;
        }
    }

    /// It has not taken a call in time: it does not read.
    pub(in crate::run) fn not_taken(&self) {
        let life = match &self.shared.lock().phase {
            Phase::Ready(life, _) => Some(*life),
            _ => None,
        };
        if let Some(life) = life {
            self.timed_out(life);
        }
    }

    /// Ends it; it is started no more.
    pub(in crate::run) fn close(&self) {
        self.shared.closing.cancel();
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        self.close();
    }
}

impl fmt::Debug for Worker {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_tuple("Worker").field(&self.shared.terms.command).finish()
    }
}

/// Why a worker cannot be asked.
pub(super) fn live(reason: impl Into<String>) -> HookFailure {
    HookFailure::Live { reason: reason.into() }
}

impl Shared {
    pub(super) fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Starts a process; gives its number.
    fn start(self: &Arc<Self>, state: &mut State) -> u64 {
        state.lives += 1;
        let life = state.lives;
        state.phase = Phase::Starting(life);
        let not_before = state.not_before.take();
        self.context.tasks.workers.spawn((self.live)(Arc::clone(self), life, not_before));
        life
    }

    /// After so many timeouts in a row its process is ended. A module that does not answer may be in a loop,
    /// in which no other one gets a turn.
    pub(super) fn most_timeouts(&self) -> u32 {
        if self.terms.modules.is_empty() { MOST_TIMEOUTS } else { 1 }
    }

    /// Looks whether what it runs is still what was agreed to: for each of its [`Consents`], why not.
    ///
    /// # Errors
    /// When that cannot be found out.
    pub(super) async fn consents(&self) -> Result<Vec<Option<HookFailure>>, HookFailure> {
        if self.granted.iter().all(Option::is_none) {
            return Ok(self.granted.iter().map(|_| None).collect());
        }
        let (granted, project) = (self.granted.clone(), self.context.environment.project.clone());
        // Files are read, which may take a while.
        let looked = tokio::task::spawn_blocking(move || {
            let look = |it: &Option<Arc<Granted>>| it.as_ref()?.still_holds(&project).err();
            granted.iter().map(look).collect()
        });
        looked.await.map_err(|_| live("the engine is ending, and starts it no more"))
    }

    /// What it may run now: which of its modules are left out since they changed, and why.
    ///
    /// # Errors
    /// When there is nothing that it may run.
    pub(super) async fn runnable(&self) -> Result<Vec<Option<HookFailure>>, HookFailure> {
        let consents = self.consents().await?;
        match consents.iter().all(Option::is_some) {
            true => match consents.iter().flatten().next() {
                Some(why) => Err(why.clone()),
                None => Ok(consents),
            },
            false => Ok(consents),
        }
    }

    /// Whether the process of that number answers no more.
    pub(super) fn is_stuck(&self, life: u64) -> bool {
        self.lock().stuck == Some(life)
    }

    /// The task of the process of that number ended before it could say how: its runtime is gone, or it
    /// panicked.
    pub(super) fn lost(&self, life: u64) {
        let is_current = matches!(
            self.lock().phase,
            Phase::Starting(current) | Phase::Ready(current, _) if current == life
        );
        if is_current {
            self.died(life, live("the task that looked after it is gone"), Duration::ZERO);
        }
    }

    /// Whether the process of that number has said that it is ready.
    pub(super) fn is_ready(&self, life: u64) -> bool {
        matches!(self.lock().phase, Phase::Ready(current, _) if current == life)
    }

    /// A process has started.
    pub(super) fn started(&self, process: Option<u32>) {
        self.lock().process = process;
    }

    /// The process of that number is ready.
    pub(super) fn ready(&self, life: u64, session: CallSession, declared: Option<Declared>) {
        let mut state = self.lock();
        state.phase = Phase::Ready(life, session);
        state.timeouts = 0;
        if let Some(declared) = declared {
            let before = state.declared.as_ref();
            if before.is_none_or(|(_, known)| **known != declared) {
                let number = before.map_or(0, |(number, _)| *number) + 1;
                state.declared = Some((number, Arc::new(declared)));
            }
        }
        drop(state);
        self.changed.notify_waiters();
    }

    /// The process of that number is gone as it should be: nobody needed it.
    pub(super) fn rests(&self) {
        let mut state = self.lock();
        state.note_dropped();
        (state.phase, state.process) = (Phase::Stopped, None);
        drop(state);
        self.changed.notify_waiters();
    }

    /// The process of that number has died, after it had run for so long.
    pub(super) fn died(&self, life: u64, failure: HookFailure, ran: Duration) {
        let command = crate::text::shortened(&self.terms.command);
        let mut state = self.lock();
        state.deaths += 1;
        state.process = None;
        state.note_dropped();
        let wait = wait_after(state.backoff, ran);
        state.backoff = Some(wait);
        state.not_before = Some(Instant::now() + wait);
        state.ended = Some((life, failure.clone()));
        if state.deaths >= MOST_DEATHS {
            let reason = format!(
                "it died {MOST_DEATHS} times in a row without an answer, and is started no more until \
                 the settings are read again; the last time: {failure}"
            );
            tracing::error!(target: "hook::worker", "worker `{command}`: {}", OneLine(&reason));
            state.phase = Phase::Broken(live(reason));
        } else {
            tracing::warn!(target: "hook::worker", "worker `{command}`: {}", OneLine(&failure));
            state.phase = Phase::Stopped;
        }
        drop(state);
        self.changed.notify_waiters();
    }
}

/// How long after its death a process is started again that ran for so long; before it the wait was
/// `before`.
fn wait_after(before: Option<Duration>, ran: Duration) -> Duration {
    let (first, longest) = RESTART;
    match before.filter(|_| ran < STEADY) {
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
        let mut waits = vec![wait_after(None, short)];
        while waits.len() < 12 {
            waits.push(wait_after(waits.last().copied(), short));
        }
        let milliseconds: Vec<u128> = waits.iter().map(Duration::as_millis).collect();
        let expected =
            [100, 200, 400, 800, 1_600, 3_200, 6_400, 12_800, 25_600, 30_000, 30_000, 30_000];
        assert_eq!(milliseconds, expected);
        let lasted = Duration::from_secs(30);
        assert_eq!(wait_after(waits.last().copied(), lasted), Duration::from_millis(100));
    }
}

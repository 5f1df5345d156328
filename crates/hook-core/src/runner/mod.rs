//! Running hooks: each process, future or thread on a task that the engine owns, with its own
//! deadline; inline handlers right here.
//!
//! | room | what it holds |
//! | --- | --- |
//! | `spec` | what is run: a hook without what decided that it runs |
//! | `executor` | what can run a hook: the trait |
//! | `command` | a command: which program, where, with what around it |
//! | `direct`, `environment` | what that program is and finds: shell or none, variables, directories |
//! | `process`, `capture` | one process from start to verdict, and what it wrote |
//! | `slots` | slots for running processes, and who waits for one |
//! | `running` | which commands run now, and what is asked for from inside of them |
//! | `tree`, `termination` | all that a process started, and its end after the verdict |
//! | `answer`, `printed`, `noise` | what a finished command means |
//! | `handler`, `blocking` | functions of the host; those that may block |
//! | `consent` | the last look at what was trusted |
//! | `threads` | threads of the engine's own |

mod answer;
mod blocking;
mod capture;
mod command;
mod consent;
#[cfg_attr(not(unix), expect(dead_code, reason = "there is no bash to be equal to"))]
mod direct;
mod environment;
mod executor;
mod handler;
mod noise;
mod printed;
mod process;
mod running;
mod signs;
mod slots;
mod spec;
mod termination;
mod threads;
mod tree;

use std::ffi::{OsStr, OsString};
use std::panic::AssertUnwindSafe;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use futures::FutureExt;
use tokio::sync::{Semaphore, oneshot};
use tokio_util::sync::{CancellationToken, DropGuard};
use tokio_util::task::TaskTracker;

pub use answer::Answer;
pub use blocking::Nesting;
pub use environment::RunnerError;
pub use executor::{Captured, HookInput, HookKind, HookStart, ProcessReport};
pub(crate) use executor::{CommandIdentity, HookExecutor, Run};
pub use handler::{HandlerError, HandlerHook, HandlerResult, TypedResult};

use crate::event::HookEventName;
use crate::failure::{HookFailure, panic_message};
use crate::identity::HookIdentity;
use crate::json::RawObject;
use crate::output::{Decision, HookOutput, PolicyDecision};
use crate::settings::{DEFAULT_PRIORITY, FailBehavior, HooksConfig};
use blocking::BlockingHandlers;
use command::{CommandContext, CommandExecutor};
use environment::{HostEnvironment, Shell};
use executor::{Execution, HookCall, Slots};
pub use running::RunningHooks;
pub use slots::RunLane;
pub(crate) use slots::SlotQueue;
pub use spec::HookSpec;
pub(crate) use spec::{MAX_BACKGROUND, TrustCheck, background};
pub use termination::EndSignal;
use termination::EngineTasks;
use threads::Threads;
use tree::Sweeper;

/// What one hook may cost, and how patient the engine is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunnerLimits {
    /// How long a hook may run that says nothing else, 60 seconds by default.
    pub timeout: Duration,
    /// How many hook processes may run at once; 0, the default, means four for each core, and at
    /// least eight.
    pub max_concurrent: usize,
    /// How many blocking handlers may run at once, 64 by default; at least one. Each has a thread.
    pub max_blocking: usize,
    /// How many threads of blocking handlers may have outlived their timeout, 256 by default. At
    /// that number blocking handlers fail at once, until some of the threads return.
    pub max_abandoned: usize,
    /// How many bytes of standard output are kept, 4 MiB by default. A hook that writes more has
    /// failed.
    pub max_stdout: usize,
    /// How many bytes of standard error are kept, 256 KiB by default; the rest is dropped and
    /// counted.
    pub max_stderr: usize,
    /// How long a process has between TERM and KILL, 2 seconds by default.
    pub grace: Duration,
    /// How long after a hook's exit its output may still be held open, 50 ms by default.
    pub exit_patience: Duration,
}

impl Default for RunnerLimits {
    fn default() -> Self {
        Self {
            timeout: Duration::from_secs(60),
            max_concurrent: 0,
            max_blocking: 64,
            max_abandoned: 256,
            max_stdout: 4 * 1024 * 1024,
            max_stderr: 256 * 1024,
            grace: Duration::from_secs(2),
            exit_patience: Duration::from_millis(50),
        }
    }
}

impl RunnerLimits {
    fn slots(&self) -> usize {
        let cores = || std::thread::available_parallelism().map_or(1, usize::from);
        match self.max_concurrent {
            0 => (4 * cores()).max(8),
            given => given,
        }
    }
}

/// What the engine takes from the process that hosts it, once, when it is built.
#[derive(Debug, Clone)]
pub struct RunnerHost {
    /// The project's directory.
    pub project: PathBuf,
    /// The environment that hooks inherit, before the rules of settings.
    pub environment: Vec<(OsString, OsString)>,
    /// What one hook may cost.
    pub limits: RunnerLimits,
}

/// Told when hooks start and finish, for progress. Called where the hook is run; must not block.
pub trait RunObserver: Send + Sync {
    /// The hook's process or function starts, after it waited for a place to run.
    fn hook_started(&self, hook: &HookSpec);

    /// The hook is over. `told` is what it was started with; absent for one that was not started.
    fn hook_finished(&self, result: &HookExecutionResult, told: Option<&HookInput>);
}

/// What becomes of the hooks of an event that nothing waits for (`async`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum Background {
    /// They are started, and the event goes on.
    #[default]
    Start,
    /// They are left to another process.
    Leave,
    /// They alone are run, and waited for: what the other process does.
    Only,
}

/// What the runs of one event share.
#[derive(Clone, Default)]
pub struct RunScope {
    /// Cancelled when the event's hooks should end.
    pub cancel: CancellationToken,
    /// Who wants to know of starts and finishes.
    pub observer: Option<Arc<dyn RunObserver>>,
    /// On whose behalf they run.
    pub lane: RunLane,
    /// How many blocking handlers wait for them.
    pub nesting: Nesting,
    /// How many command hooks of this engine wait for it: 0 for an event from outside.
    pub depth: u32,
    /// Whether each result says what its hook was told.
    pub keeps_inputs: bool,
    /// What becomes of hooks that nothing waits for.
    pub background: Background,
    /// Whether the hooks ran before and are asked once more (protocol.md §2, "Asking again").
    pub asked_again: bool,
}

impl RunScope {
    fn kept(&self, input: &HookInput) -> Option<RawObject> {
        self.keeps_inputs.then(|| input.to_raw())
    }
}

impl std::fmt::Debug for RunScope {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("RunScope").field("cancel", &self.cancel).finish_non_exhaustive()
    }
}

/// What became of one hook.
#[derive(Debug, Clone)]
pub struct HookExecutionResult {
    /// The hook.
    pub hook: HookIdentity,
    /// Whether it did what it should: exit 0, or a handler's answer.
    pub success: bool,
    /// What it said. No message has it: there it is among what all hooks said.
    pub output: Option<HookOutput>,
    /// What it decided by what it said; `None` if it said nothing, or a message does not tell.
    pub decision: Option<PolicyDecision>,
    /// Why it failed, if it did.
    pub failure: Option<HookFailure>,
    /// How its process ended and what it wrote.
    pub process: ProcessReport,
    /// How long it ran.
    pub duration: Duration,
    /// How long it waited for a place to run.
    pub queued: Duration,
    /// What its author should know.
    pub warnings: Vec<String>,
    /// What it was told, if it was started and [`RunScope::keeps_inputs`].
    pub input: Option<RawObject>,
    /// Which group of its plan it ran in, from 0, and the priority of that. No message has them.
    pub group: (usize, i32),
    /// Whether it said itself that it allows what it was asked about, exactly as documented, and did
    /// not fail.
    pub grants: bool,
    /// Whether it ran a second time, because another hook had changed what it had approved. All
    /// but the changes in `output` is then of the second run; times are of both.
    pub asked_again: bool,
}

impl HookExecutionResult {
    /// Whether it was ended by its timeout.
    pub fn timed_out(&self) -> bool {
        matches!(
            self.failure,
            Some(HookFailure::TimedOut { .. } | HookFailure::Told { timed_out: true, .. })
        )
    }
}

/// Runs hooks. Owns every task and process that it starts.
#[derive(Debug)]
pub struct Runner {
    shell: Shell,
    host: RunnerHost,
    /// Made when the first hook wants a place: to ask how many cores there are takes a while.
    slots: OnceLock<Arc<SlotQueue>>,
    running: Arc<RunningHooks>,
    tasks: EngineTasks,
    blocking: Arc<BlockingHandlers>,
    threads: Arc<Threads>,
    /// Cancelled when hooks are to end that nothing waits for.
    background: CancellationToken,
}

impl Runner {
    /// Settles what all hooks share.
    ///
    /// # Errors
    /// When the process is not fit to run hooks.
    pub fn new(host: RunnerHost) -> Result<Self, RunnerError> {
        if environment::ignores_child_signal() {
            return Err(RunnerError::ChildSignalIgnored);
        }
        let shell = Shell::find(path_of(&host))?;
        Ok(Self::with(shell, host))
    }

    /// A runner for a process that is not fit to run hooks: with it one can still say which hooks
    /// there would be.
    pub fn unfit(host: RunnerHost) -> Self {
        let shell = Shell::find(path_of(&host)).unwrap_or_else(|_| Shell::missing());
        Self::with(shell, host)
    }

    fn with(shell: Shell, host: RunnerHost) -> Self {
        let threads = Arc::new(Threads::new(host.limits.max_blocking.max(1)));
        let tasks = EngineTasks::new(Sweeper::new(Arc::clone(&threads)));
        let blocking = Arc::new(BlockingHandlers::new(&host.limits, Arc::clone(&threads)));
        let running = Arc::default();
        let background = CancellationToken::new();
        Self { shell, host, slots: OnceLock::new(), running, tasks, blocking, threads, background }
    }

    /// Makes executors for the command hooks of one settings file, which belong to that project.
    pub(crate) fn commands(&self, config: &HooksConfig, project: &Path) -> CommandMaker {
        let environment = HostEnvironment::new(
            self.host.environment.iter().cloned(),
            &config.environment,
            project.to_path_buf(),
        );
        let slots = match config.max_concurrent {
            0 => None,
            limit => Some(SlotQueue::new(limit)),
        };
        CommandMaker {
            context: Arc::new(CommandContext {
                shell: self.shell.clone(),
                environment,
                limits: self.host.limits.clone(),
                tasks: self.tasks.clone(),
                running: Arc::clone(&self.running),
            }),
            slots,
        }
    }

    /// The shell that runs commands, as it was found.
    pub fn shell(&self) -> &Path {
        &self.shell.program
    }

    pub(crate) fn home(&self) -> Option<&OsStr> {
        let name = if cfg!(windows) { "USERPROFILE" } else { "HOME" };
        let home = self.host.environment.iter().find(|(known, _)| known == name);
        home.map(|(_, value)| value.as_os_str())
    }

    pub(crate) fn limits(&self) -> &RunnerLimits {
        &self.host.limits
    }

    pub(crate) fn handler(&self, handler: &HandlerHook) -> Arc<dyn HookExecutor> {
        handler.executor(&self.blocking)
    }

    /// The command hooks that run now.
    pub fn running_hooks(&self) -> &Arc<RunningHooks> {
        &self.running
    }

    /// The engine's tasks: runs in progress and clean-ups after a timeout. Waiting for it waits
    /// until every process group is gone.
    pub fn tasks(&self) -> &TaskTracker {
        &self.tasks.tracker
    }

    /// Gives no process a grace any more: those that were told to end are killed at once.
    pub fn kill(&self) {
        self.tasks.impatient.cancel();
    }

    /// From now on hooks that have to go are told so by that signal; by TERM before.
    pub fn end_with(&self, signal: EndSignal) {
        self.tasks.end_with(signal);
    }

    /// How many blocking handlers never returned and still hold a thread.
    pub fn abandoned_threads(&self) -> usize {
        self.blocking.abandoned()
    }

    /// Starts one hook. Inline handlers are over when this returns; everything else runs on a task
    /// of the engine's, and ends with the returned value if that is dropped.
    pub(crate) fn start(
        &self,
        hook: &Arc<HookSpec>,
        input: HookInput,
        scope: &RunScope,
    ) -> StartedHook {
        let started = Instant::now();
        if hook.kind() == HookKind::Inline {
            if let Some(observer) = &scope.observer {
                observer.hook_started(hook);
            }
            let told = Told { input: input.clone(), was_started: true };
            let call = HookCall {
                input,
                timeout: hook.timeout,
                cancel: scope.cancel.clone(),
                slots: Slots::default(),
                nesting: scope.nesting,
                depth: scope.depth,
            };
            let Execution::Done(run) = hook.executor.execute(call) else {
                // Only the other kinds are running after `execute`.
                let run = Answer::failed(HookFailure::Cancelled).into();
                let told = Told { was_started: false, ..told };
                return StartedHook::Done(finish(hook, run, Timing::default(), &told, scope));
            };
            let timing = Timing { duration: started.elapsed(), queued: Duration::ZERO };
            return StartedHook::Done(finish(hook, run, timing, &told, scope));
        }
        let cancel = scope.cancel.child_token();
        let (sender, receiver) = oneshot::channel();
        let task =
            self.supervised(hook, input, RunScope { cancel: cancel.clone(), ..scope.clone() });
        self.tasks.tracker.spawn(async move {
            // Without a receiver the run was cancelled, and is over.
            let _ = sender.send(task.await);
        });
        StartedHook::Running { receiver, hook: Arc::clone(hook), _cancel: cancel.drop_guard() }
    }

    /// Starts a hook that nothing waits for: it ends with its timeout, or with the engine. Whether it
    /// was started: not where as many of its runs go on as may.
    pub(crate) fn start_in_background(
        &self,
        hook: &Arc<HookSpec>,
        permits: &Arc<Semaphore>,
        input: HookInput,
        scope: &RunScope,
    ) -> bool {
        let Ok(permit) = Arc::clone(permits).try_acquire_owned() else { return false };
        let cancel = self.background.child_token();
        let scope = RunScope { cancel, keeps_inputs: false, ..scope.clone() };
        if hook.kind() == HookKind::Inline {
            drop(self.start(hook, input, &scope));
            return true;
        }
        let task = self.supervised(hook, input, scope);
        self.tasks.tracker.spawn(async move {
            task.await;
            drop(permit);
        });
        true
    }

    /// Ends the hooks that nothing waits for.
    pub fn end_background(&self) {
        self.background.cancel();
    }

    fn supervised(
        &self,
        hook: &Arc<HookSpec>,
        input: HookInput,
        scope: RunScope,
    ) -> impl Future<Output = HookExecutionResult> + Send + use<> {
        supervise(
            Arc::clone(hook),
            input,
            scope,
            Arc::clone(self.slots.get_or_init(|| SlotQueue::new(self.host.limits.slots()))),
            Arc::clone(&self.blocking),
            Arc::clone(&self.threads),
            Instant::now(),
        )
    }
}

fn path_of(host: &RunnerHost) -> Option<&OsStr> {
    let path = host.environment.iter().find(|(name, _)| name == "PATH");
    path.map(|(_, value)| value.as_os_str())
}

/// Makes executors for the command hooks of one source.
#[derive(Debug)]
pub(crate) struct CommandMaker {
    context: Arc<CommandContext>,
    pub(crate) slots: Option<Arc<SlotQueue>>,
}

impl CommandMaker {
    pub(crate) fn executor(
        &self,
        command: &str,
        env: &[(String, String)],
    ) -> Arc<dyn HookExecutor> {
        let context = Arc::clone(&self.context);
        Arc::new(CommandExecutor::new(command.to_owned(), env.to_vec(), context))
    }
}

/// A hook on its way.
#[expect(
    clippy::large_enum_variant,
    reason = "short-lived, and the common inline run must not allocate"
)]
pub(crate) enum StartedHook {
    Done(HookExecutionResult),
    Running {
        receiver: oneshot::Receiver<HookExecutionResult>,
        hook: Arc<HookSpec>,
        /// Ends the hook when its caller is gone.
        _cancel: DropGuard,
    },
}

/// The engine's runtime ended while a hook was running.
#[derive(Debug, Clone, thiserror::Error)]
#[error(
    "the task that ran hook {hook} ended without an answer: it panicked, or the async runtime is \
     shutting down"
)]
pub struct RunnerGone {
    hook: String,
}

impl StartedHook {
    pub(crate) async fn finish(self) -> Result<HookExecutionResult, RunnerGone> {
        match self {
            Self::Done(result) => Ok(result),
            Self::Running { receiver, hook, _cancel } => {
                receiver.await.map_err(|_| RunnerGone { hook: hook.display_name().to_owned() })
            }
        }
    }
}

#[derive(Debug, Clone, Copy, Default)]
struct Timing {
    duration: Duration,
    queued: Duration,
}

/// What a hook was told, or was to be told.
struct Told {
    input: HookInput,
    was_started: bool,
}

/// Holds one hook from queue to result. It waits since `queued_at`, also for its first poll.
async fn supervise(
    hook: Arc<HookSpec>,
    input: HookInput,
    scope: RunScope,
    slots: Arc<SlotQueue>,
    blocking: Arc<BlockingHandlers>,
    threads: Arc<Threads>,
    queued_at: Instant,
) -> HookExecutionResult {
    let permits = async {
        match hook.kind() {
            HookKind::Command => {}
            HookKind::Blocking => {
                return blocking.acquire(scope.lane, scope.nesting, scope.depth).await;
            }
            HookKind::Inline | HookKind::Async => return Ok(Slots::default()),
        }
        hook.executor.check_depth(scope.depth)?;
        // The narrower queue first, so that a source at its limit does not fill the engine's.
        let of_source = match &hook.slots {
            Some(own) => own.acquire(scope.lane, scope.depth).await,
            None => None,
        };
        // A source that is trusted to say how many may run has said so; the others share.
        let of_engine = match of_source.is_some() && hook.may_raise_limits {
            true => None,
            false => slots.acquire(scope.lane, scope.depth).await,
        };
        Ok(Slots { of_source, of_engine, running: None })
    };
    let trusted_permits = async {
        let slots = permits.await?;
        let placed_at = Instant::now();
        // Only now: what runs may have changed while the hook waited.
        let slots = match hook.granted()? {
            Some(granted) => consent::confirm(Arc::clone(granted), &input, slots, &threads).await?,
            None => slots,
        };
        Ok((slots, placed_at))
    };
    let slots = tokio::select! {
        biased;
        () = scope.cancel.cancelled() => Err(HookFailure::Cancelled),
        slots = trusted_permits => slots,
    };
    // From its permit on it is the hook's own time, also that in which its script is read.
    let (slots, started_at) = match slots {
        Ok(slots) => slots,
        Err(failure) => {
            let timing = Timing { queued: queued_at.elapsed(), ..Timing::default() };
            let told = Told { input, was_started: false };
            return finish(&hook, Answer::failed(failure).into(), timing, &told, &scope);
        }
    };
    if let Some(observer) = &scope.observer {
        observer.hook_started(&hook);
    }
    let told = Told { input: input.clone(), was_started: true };
    let cancel = scope.cancel.clone();
    let (timeout, RunScope { nesting, depth, .. }) = (hook.timeout, scope.clone());
    let call = HookCall { input, timeout, cancel, slots, nesting, depth };
    let executor = Arc::clone(&hook.executor);
    let running = AssertUnwindSafe(async move {
        match executor.execute(call) {
            Execution::Done(run) => run,
            Execution::Running(running) => running.await,
        }
    });
    let run = running.catch_unwind().await.unwrap_or_else(|panic| {
        let message = panic_message(panic.as_ref());
        Answer::failed(HookFailure::Panicked { message }).into()
    });
    let timing = Timing { duration: started_at.elapsed(), queued: started_at - queued_at };
    finish(&hook, run, timing, &told, &scope)
}

/// Makes a run the hook's result: its fail behaviour applied, its observer told.
fn finish(
    hook: &HookSpec,
    run: Run,
    timing: Timing,
    told: &Told,
    scope: &RunScope,
) -> HookExecutionResult {
    let Answer { mut output, mut failure, mut warnings, invalid, is_explicit } = run.answer;
    warnings.splice(0..0, hook.warnings.iter().cloned());
    let unapplied = output.as_ref().map(|output| output.unapplied(&told.input)).unwrap_or_default();
    let mut invalid = invalid.into_iter().chain(unapplied);
    if hook.fail_behavior == FailBehavior::Block {
        if failure.is_none()
            && let Some(first) = invalid.next()
        {
            failure = Some(HookFailure::InvalidAnswer(first.answer));
            // What it decided is not known, so of the rest only what restricts counts.
            output = output.map(|output| output.restricting(hook.event));
        }
        if let Some(failure) = &failure {
            output = Some(deny_for_failure(hook, failure, output));
        }
    }
    warnings.extend(invalid.filter_map(|invalid| invalid.warning));
    warnings.extend(output.as_ref().and_then(|output| useless_decision(hook.event, output)));
    if let Some(output) = &output {
        warnings.append(&mut output.mistakes(hook.event));
    }
    let success = failure.is_none() && matches!(run.process.exit_code, None | Some(0));
    let result = HookExecutionResult {
        hook: hook.identity.clone(),
        success,
        grants: success && is_explicit && output.as_ref().is_some_and(|it| it.allows(hook.event)),
        decision: output.as_ref().map(|output| output.policy(hook.event)),
        output,
        failure,
        process: run.process,
        duration: timing.duration,
        queued: timing.queued,
        warnings,
        input: told.was_started.then(|| scope.kept(&told.input)).flatten(),
        group: (0, DEFAULT_PRIORITY),
        asked_again: scope.asked_again,
    };
    if let Some(observer) = &scope.observer {
        observer.hook_finished(&result, told.was_started.then_some(&told.input));
    }
    result
}

/// That what a hook decided means nothing on its event.
fn useless_decision(event: HookEventName, output: &HookOutput) -> Option<String> {
    let row = event.row();
    let wanted = output.wanted(event);
    let useless = match wanted {
        PolicyDecision::Proceed => false,
        PolicyDecision::Block => row.block_means.is_none(),
        PolicyDecision::Retry => row.retry_means.is_none(),
        PolicyDecision::Ask | PolicyDecision::Stop => row.merge.only_observes(),
    };
    useless.then(|| {
        let article = if wanted == PolicyDecision::Ask { "an" } else { "a" };
        format!("{article} {} has no effect on {event}", wanted.as_str())
    })
}

/// A hook with `failBehavior: block` that failed has denied, whatever it said before.
fn deny_for_failure(
    hook: &HookSpec,
    failure: &HookFailure,
    said: Option<HookOutput>,
) -> HookOutput {
    let mut output = said.unwrap_or_default();
    if output.policy(hook.event) < PolicyDecision::Block {
        output.decision = Some(Decision::Deny);
        let name = hook.display_name();
        output.reason = Some(match failure {
            // Nothing failed: a person has to decide first.
            HookFailure::Untrusted | HookFailure::BrokenSettings { .. } => {
                format!("blocked, because the guard `{name}` could not check this: {failure}")
            }
            _ => format!("hook {name} failed: {failure}"),
        });
    }
    output
}

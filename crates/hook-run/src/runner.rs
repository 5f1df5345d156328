//! The runner, which starts hooks and owns their tasks and processes.

use std::ffi::OsStr;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use futures::FutureExt;
use tokio::sync::{Semaphore, oneshot};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use super::answer::Answer;
use super::command::{CommandContext, HostEnvironment, RunnerError, Shell, ignores_child_signal};
use super::executor::{Execution, HookCall, HookExecutor, HookKind, Permits, Slots};
use super::factory::ExecutorFactory;
use super::finish::{RunInput, Timing, finish};
use super::handler::{BlockingHandlers, HandlerHook};
use super::limits::{RunnerHost, RunnerLimits};
use super::live::Programs;
use super::result::HookExecutionResult;
use super::running::RunningHooks;
use super::scope::RunScope;
use super::slots::SlotQueue;
use super::spec::HookSpec;
use super::started::StartedHook;
use super::supervise::supervise;
use super::termination::EngineTasks;
use super::threads::Threads;
use super::tree::{EndSignal, Sweeper};
use super::upstream::Upstreams;
use super::worker::Workers;
use hook_files::project_tree::ProjectTree;
use hook_files::user_folders;
use hook_protocol::event::input::HookInput;
use hook_protocol::failure::HookFailure;
use hook_settings::HooksConfig;
use hook_shell::loaders::is_same_name;

/// Runs hooks, and owns every task and process that it starts.
#[derive(Debug)]
pub struct Runner {
    shell: Shell,
    host: RunnerHost,
    /// Created when the first hook needs a slot, because counting the cores is slow.
    slots: OnceLock<Arc<SlotQueue>>,
    running: Arc<RunningHooks>,
    tasks: EngineTasks,
    blocking: Arc<BlockingHandlers>,
    threads: Arc<Threads>,
    workers: Arc<Workers>,
    /// The programs that hooks of clients may have the engine run.
    programs: OnceLock<Arc<Programs>>,
    /// The clients of remote fleets, if the host has any.
    upstreams: Option<Arc<dyn Upstreams>>,
    #[cfg(feature = "http")]
    client: Arc<super::http::Client>,
    /// Cancelled to end the background hooks.
    background: CancellationToken,
    /// One handle per running background hook; its strong count is their number plus one.
    background_handles: Arc<()>,
    /// The number of background hooks that were ended.
    ended_in_background: AtomicUsize,
}

impl Runner {
    /// Creates a runner.
    ///
    /// # Errors
    /// Returns an error if the process is not fit to run hooks.
    pub fn new(host: RunnerHost) -> Result<Self, RunnerError> {
        if ignores_child_signal() {
            return Err(RunnerError::ChildSignalIgnored);
        }
        let shell = find_shell(&host);
        Ok(Self::with(shell, host))
    }

    /// Creates a runner in a process that is not fit to run hooks. It can still show which hooks
    /// would run.
    pub fn unfit(host: RunnerHost) -> Self {
        let shell = find_shell(&host);
        Self::with(shell, host)
    }

    /// Returns the project's directory.
    pub fn project(&self) -> &Path {
        &self.host.project
    }

    /// Returns the directories that the agent works in, that of the project first.
    pub fn directories(&self) -> impl Iterator<Item = &Path> {
        let others = self.host.workspace.iter().map(std::path::PathBuf::as_path);
        std::iter::once(self.project()).chain(others)
    }

    fn with(shell: Shell, host: RunnerHost) -> Self {
        let threads = Arc::new(Threads::new(host.limits.max_blocking.max(1)));
        let tasks = EngineTasks::new(Sweeper::new(Arc::clone(&threads)));
        let blocking = Arc::new(BlockingHandlers::new(&host.limits, Arc::clone(&threads)));
        let running = Arc::default();
        let background = CancellationToken::new();
        Self {
            shell,
            host,
            slots: OnceLock::new(),
            running,
            tasks,
            blocking,
            #[cfg(feature = "http")]
            client: Arc::new(super::http::Client::new(Arc::clone(&threads))),
            threads,
            workers: Arc::default(),
            programs: OnceLock::new(),
            upstreams: None,
            background,
            background_handles: Arc::default(),
            ended_in_background: AtomicUsize::new(0),
        }
    }

    /// Sets the clients of remote fleets.
    #[must_use]
    pub fn with_upstreams(mut self, upstreams: Option<Arc<dyn Upstreams>>) -> Self {
        self.upstreams = upstreams;
        self
    }

    /// Returns the executor factory for one settings file, in this directory and of this project.
    pub fn executors(
        &self,
        config: &HooksConfig,
        (project, folder): (&Path, &Path),
        is_project: bool,
    ) -> ExecutorFactory {
        let projects = ProjectTree::of_all(std::iter::once(project).chain(self.directories()));
        let environment = HostEnvironment::new(
            self.host.environment.iter().cloned(),
            &config.environment,
            (project.to_path_buf(), projects),
            is_project,
        );
        let slots = match config.max_concurrent {
            0 => None,
            limit => Some(SlotQueue::new(limit)),
        };
        let context = Arc::new(CommandContext {
            shell: self.shell.clone(),
            environment,
            limits: self.host.limits.clone(),
            tasks: self.tasks.clone(),
            running: Arc::clone(&self.running),
        });
        ExecutorFactory {
            #[cfg(feature = "http")]
            client: Arc::clone(&self.client),
            workers: Arc::clone(&self.workers),
            programs: Arc::new(Programs::new(Arc::clone(&context))),
            rules: config.environment.clone(),
            folder: folder.to_path_buf(),
            upstreams: self.upstreams.clone(),
            context,
            slots,
        }
    }

    /// Returns the path of the shell that runs commands.
    pub fn shell(&self) -> &Path {
        &self.shell.program
    }

    /// Returns the home directory of the host's environment.
    pub fn home(&self) -> Option<&OsStr> {
        let home = self.host.environment.iter().find(|(name, _)| name == user_folders::HOME);
        home.map(|(_, value)| value.as_os_str())
    }

    /// Returns the limits.
    pub fn limits(&self) -> &RunnerLimits {
        &self.host.limits
    }

    /// Returns the executor of a function of the host.
    pub fn handler(&self, handler: &HandlerHook) -> Arc<dyn HookExecutor> {
        let programs = || {
            let project = self.host.project.clone();
            let created = self.programs.get_or_init(|| {
                self.executors(&HooksConfig::default(), (&project, &project), false).programs
            });
            Arc::clone(created)
        };
        handler.executor(&self.blocking, &self.running, programs)
    }

    /// Ends all workers, and waits until each is gone or handed over to the [tasks](Self::tasks).
    /// No worker is started after that.
    pub async fn close_workers(&self) {
        self.workers.close();
        self.tasks.workers.wait().await;
    }

    /// Returns the command hooks that run now.
    pub fn running_hooks(&self) -> &Arc<RunningHooks> {
        &self.running
    }

    /// Returns the engine's tasks: runs in progress and clean-ups after a timeout. Waiting for them
    /// waits until every process group is gone.
    pub fn tasks(&self) -> &TaskTracker {
        &self.tasks.tracker
    }

    /// Kills all processes that are being terminated, and gives no grace period from now on.
    pub fn kill(&self) {
        self.tasks.skip_grace.cancel();
    }

    /// Sets the signal that asks hooks to end; TERM by default.
    pub fn end_with(&self, signal: EndSignal) {
        self.tasks.end_with(signal);
    }

    /// Returns the number of blocking handlers that never returned and still hold a thread.
    pub fn abandoned_threads(&self) -> usize {
        self.blocking.abandoned()
    }

    /// Starts one hook. An inline handler has finished when this returns. Everything else runs on a
    /// task of the engine, which is cancelled when the returned value is dropped.
    pub fn start(&self, hook: &Arc<HookSpec>, input: HookInput, scope: &RunScope) -> StartedHook {
        let started = Instant::now();
        if hook.kind() == HookKind::Inline {
            if let Some(observer) = &scope.observer {
                observer.hook_started(&hook.identity, hook.timeout);
            }
            let run_input = RunInput { input: input.clone(), was_started: true };
            let (timeout, trust_rank) = (hook.timeout, hook.trust_rank);
            let (slots, scope_of_call) = (Slots::default(), scope.clone());
            let call = HookCall { input, timeout, slots, scope: scope_of_call, trust_rank };
            let Execution::Done(run) = hook.executor.execute(call) else {
                // Only other kinds of hooks are still running after `execute`.
                let run = Answer::failed(HookFailure::Cancelled).into();
                let run_input = RunInput { was_started: false, ..run_input };
                return StartedHook::Done(finish(hook, run, Timing::default(), &run_input, scope));
            };
            let timing = Timing { duration: started.elapsed(), queued: Duration::ZERO };
            return StartedHook::Done(finish(hook, run, timing, &run_input, scope));
        }
        // A session call ends with its future and leaves nothing to clean up, so it needs no task.
        if let Permits::Session(_) = hook.executor.permits() {
            return StartedHook::Polled(self.supervised(hook, input, scope.clone()).boxed());
        }
        let cancel = scope.cancel.child_token();
        let (sender, receiver) = oneshot::channel();
        let task =
            self.supervised(hook, input, RunScope { cancel: cancel.clone(), ..scope.clone() });
        self.tasks.tracker.spawn(async move {
            // Without a receiver the run was cancelled and is over.
            let _ = sender.send(task.await);
        });
        StartedHook::Running { receiver, hook: Arc::clone(hook), _cancel: cancel.drop_guard() }
    }

    /// Starts a background hook, which ends with its timeout or the engine. Returns `false` if the
    /// maximum number of its runs is in progress.
    pub fn start_in_background(
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
        let handle = Arc::clone(&self.background_handles);
        self.tasks.tracker.spawn(async move {
            task.await;
            drop((permit, handle));
        });
        true
    }

    /// Ends the background hooks.
    pub fn end_background(&self) {
        if !self.background.is_cancelled() {
            let running = Arc::strong_count(&self.background_handles) - 1;
            self.ended_in_background.fetch_add(running, Ordering::Relaxed);
        }
        self.background.cancel();
    }

    /// Returns the number of background hooks that were [ended](Self::end_background) early.
    pub fn ended_in_background(&self) -> usize {
        self.ended_in_background.load(Ordering::Relaxed)
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

/// Returns the shell in the host's `PATH` that is in no project.
fn find_shell(host: &RunnerHost) -> Shell {
    let path = host
        .environment
        .iter()
        .find(|(name, _)| name.to_str().is_some_and(|name| is_same_name(name, "PATH")));
    let path = path.map(|(_, value)| value.as_os_str()).unwrap_or_default();
    let others = host.workspace.iter().map(std::path::PathBuf::as_path);
    Shell::find(&ProjectTree::of_all(std::iter::once(&*host.project).chain(others)), path)
}

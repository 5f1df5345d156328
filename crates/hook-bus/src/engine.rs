//! The engine behind a hook system: built once, on first use, and again on reload.

use std::path::Path;
use std::sync::{Arc, PoisonError, RwLock};

use hook_core::runner::RunnerError;
use hook_core::settings::load;
use hook_core::{
    Aggregator, HandlerHook, HookRegistry, Pipeline, Planner, Runner, RunnerHost, SettingsSource,
    TrustPolicy,
};
use tokio::sync::{OnceCell, Semaphore};

/// Why a hook system could not be initialized. Remembered until a reload.
#[derive(Debug, Clone, thiserror::Error)]
#[non_exhaustive]
pub enum InitializeError {
    /// The host's process is not fit to run hooks.
    #[error("failed to initialize the hook system: {0}")]
    Runner(#[source] Arc<RunnerError>),
    /// Reading the settings panicked or was cut off by the end of the runtime.
    #[error("failed to initialize the hook system: reading the settings did not finish ({0})")]
    Settings(Arc<tokio::task::JoinError>),
}

/// What is settled before the engine is built.
#[derive(Debug, Clone)]
pub(crate) struct EngineOptions {
    pub(crate) sources: Vec<SettingsSource>,
    pub(crate) handlers: Vec<HandlerHook>,
    pub(crate) host: RunnerHost,
    pub(crate) trust: TrustPolicy,
}

/// Registry, planner, runner and aggregator.
#[derive(Debug)]
pub(crate) struct Engine {
    pub(crate) registry: Arc<HookRegistry>,
    pub(crate) pipeline: Pipeline,
}

impl Engine {
    /// Builds an engine on a thread that may wait: settings may lie on a slow or absent file system.
    async fn build(
        options: &EngineOptions,
        runner: Option<Arc<Runner>>,
    ) -> Result<Arc<Self>, InitializeError> {
        let options = options.clone();
        let built = tokio::task::spawn_blocking(move || Self::build_here(&options, runner));
        built.await.map_err(|error| InitializeError::Settings(Arc::new(error)))?
    }

    /// Reads the settings. A `runner` that is there already goes on: what it runs counts against
    /// its limits, and is waited for at the end.
    fn build_here(
        options: &EngineOptions,
        runner: Option<Arc<Runner>>,
    ) -> Result<Arc<Self>, InitializeError> {
        let new = || Runner::new(options.host.clone()).map(Arc::new);
        let unfit = |error: RunnerError| InitializeError::Runner(Arc::new(error));
        let runner = runner.map_or_else(new, Ok).map_err(unfit)?;
        let files = options.sources.iter().filter_map(load).collect();
        let registry = Arc::new(HookRegistry::new(
            files,
            &options.handlers,
            &runner,
            &options.host.project,
            &options.trust,
        ));
        for diagnostic in registry.diagnostics() {
            tracing::warn!(target: "hook::settings", "{diagnostic}");
        }
        let planner = Planner::new(Arc::clone(&registry));
        Ok(Arc::new(Self { registry, pipeline: Pipeline::new(planner, runner, Aggregator) }))
    }
}

type Built = OnceCell<Result<Arc<Engine>, InitializeError>>;

/// The place where the engine is, once it is built.
#[derive(Debug)]
pub(crate) struct EngineSlot {
    options: EngineOptions,
    current: RwLock<Arc<Built>>,
    /// One reload at a time, so that the last to begin is the last to be seen.
    reloading: Semaphore,
}

impl EngineSlot {
    pub(crate) fn new(options: EngineOptions) -> Self {
        Self { options, current: RwLock::default(), reloading: Semaphore::new(1) }
    }

    pub(crate) fn project(&self) -> &Path {
        &self.options.host.project
    }

    /// The engine or why there is none; `None` before it was first needed.
    pub(crate) fn get(&self) -> Option<Result<Arc<Engine>, InitializeError>> {
        self.current.read().unwrap_or_else(PoisonError::into_inner).get().cloned()
    }

    /// Builds the engine unless it is there; any number of callers wait for the one build, which
    /// goes on when whoever began it does not poll.
    pub(crate) async fn initialize(self: &Arc<Self>) -> Result<Arc<Engine>, InitializeError> {
        if let Some(built) = self.get() {
            return built;
        }
        let slot = Arc::clone(self);
        let build = tokio::spawn(async move {
            let current = Arc::clone(&slot.current.read().unwrap_or_else(PoisonError::into_inner));
            current.get_or_init(|| Engine::build(&slot.options, None)).await.clone()
        });
        build.await.map_err(|error| InitializeError::Settings(Arc::new(error)))?
    }

    /// As [`initialize`](Self::initialize), on the caller's own thread.
    pub(crate) async fn initialize_here(self: &Arc<Self>) -> Result<Arc<Engine>, InitializeError> {
        if self.get().is_none() {
            let current = Arc::clone(&self.current.read().unwrap_or_else(PoisonError::into_inner));
            // Somebody else may be at it: then theirs counts.
            let _ = current.set(Engine::build_here(&self.options, None));
        }
        self.initialize().await
    }

    /// Builds the engine anew and puts it in the old one's place; requests in flight stay with the
    /// old one. What was switched at run time stays switched.
    pub(crate) async fn reload(self: &Arc<Self>) -> Result<Arc<Engine>, InitializeError> {
        // The semaphore is never closed; a reload without it would only be seen too early.
        let _one_at_a_time = self.reloading.acquire().await;
        // There is one runner; the first build makes it.
        let before = self.initialize().await;
        let runner = before.as_ref().ok().map(|before| before.pipeline.shared_runner());
        let rebuilt = Engine::build(&self.options, runner).await;
        if let Err(error) = &rebuilt {
            tracing::error!(target: "hook::settings", "reload failed: {error}");
        }
        // An engine that works is not given up for one that does not.
        if rebuilt.is_ok() || before.is_err() {
            let mut current = self.current.write().unwrap_or_else(PoisonError::into_inner);
            if let (Ok(engine), Ok(before)) = (&rebuilt, &before) {
                for (name, enabled) in before.registry.switches() {
                    engine.registry.set_enabled(&name, enabled);
                }
            }
            *current = Arc::new(OnceCell::new_with(Some(rebuilt.clone())));
        }
        rebuilt
    }
}

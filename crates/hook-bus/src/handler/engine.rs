//! The engine of a hook system: built on first use, and again on reload.

use std::collections::HashSet;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::{Arc, PoisonError, RwLock};
use std::{io, thread};

use hook_core::{Guard, HookRegistry, Pipeline};
use hook_json::text::OneLine;
use hook_protocol::event::DeclareError;
use hook_protocol::{EventDefinition, Events, HookEventName};
use hook_run::{HandlerHook, Runner, RunnerError, RunnerHost, Upstreams};
use hook_settings::redact::Redaction;
use hook_settings::{
    Agents, AuditLevel, Diagnostic, RegistrationLimits, SettingsFile, SettingsSource, Severity,
    audit_level, discover, logs_calls, project_sources, redaction, registration_limits,
    reload_files, starts_server,
};
use hook_trust::{TrustPolicy, settings_hash};
use tokio::runtime::Handle;
use tokio::sync::{OnceCell, Semaphore};
use tokio::task::JoinError;

use crate::handler::declared::{DeclaredEvent, DeclaredEvents};
use crate::handler::registered::{
    RegisterError, RegisteredHooks, Registrant, Registration, Target,
};
use crate::handler::registrations::Registrations;

/// The error of initializing a hook system. Kept until a reload, except [`Thread`](Self::Thread).
#[derive(Debug, Clone, thiserror::Error)]
#[non_exhaustive]
pub enum InitializeError {
    /// The host's process cannot run hooks.
    #[error("failed to initialize the hook system: {0}")]
    Runner(#[source] Arc<RunnerError>),
    /// No thread can be started to read the settings.
    #[error(
        "failed to initialize the hook system: no thread can be started that reads the settings \
         ({0}); raise the limit of processes, or end some"
    )]
    Thread(#[source] Arc<io::Error>),
    /// Reading the settings panicked.
    #[error("failed to initialize the hook system: reading the settings panicked")]
    Panicked,
    /// The runtime ended before the settings were read.
    #[error("failed to initialize the hook system: the runtime ended before settings were read")]
    RuntimeEnded,
    /// The settings of a strict system have errors.
    #[error(
        "failed to initialize the hook system: it is strict, and its settings are broken: {}; fix \
         them, or start without strict",
        listed(problems)
    )]
    Strict {
        /// All errors.
        problems: Arc<[Diagnostic]>,
    },
}

/// The error of a hook system that is not initialized.
#[derive(Debug, Clone, thiserror::Error)]
#[non_exhaustive]
pub enum NotInitialized {
    /// It is not initialized; call `initialize()` or fire an event.
    #[error("the hook system is not initialized yet; call initialize() first")]
    NotYet,
    /// Initialization failed; call `reload()` once the cause is fixed.
    #[error(transparent)]
    Failed(InitializeError),
}

/// Lists the first few problems, and the number of the others.
fn listed(problems: &[Diagnostic]) -> String {
    const MAX_LISTED: usize = 3;
    let mut listed: Vec<String> =
        problems.iter().take(MAX_LISTED).map(ToString::to_string).collect();
    if problems.len() > MAX_LISTED {
        listed.push(format!("and {} more, which `hook check` lists", problems.len() - MAX_LISTED));
    }
    listed.join("; ")
}

/// The sources of settings.
#[derive(Debug, Clone)]
pub(crate) enum Sources {
    /// One file.
    File(SettingsSource),
    /// The native files, looked for on each read, since files may be added.
    Native { config_home: Option<PathBuf> },
}

/// The parameters of building an engine.
#[derive(Debug, Clone)]
pub(crate) struct EngineOptions {
    pub(crate) sources: Vec<Sources>,
    /// The other agents whose hooks may run.
    pub(crate) agents: Agents,
    pub(crate) handlers: Vec<HandlerHook>,
    pub(crate) host: RunnerHost,
    /// The connector to fleets of engines.
    pub(crate) upstreams: Option<Arc<dyn Upstreams>>,
    pub(crate) trust: TrustPolicy,
    /// Refuses to start with errors in settings.
    pub(crate) strict: bool,
    /// Computes a hash of the effective settings.
    pub(crate) hashes_settings: bool,
    /// The built-in events and those that the host declared.
    pub(crate) events: Events,
    /// The events declared at run time.
    pub(crate) declared: DeclaredEvents,
}

impl EngineOptions {
    fn files(&self) -> Vec<SettingsSource> {
        let files = |sources: &Sources| match sources {
            Sources::File(source) => vec![source.clone()],
            Sources::Native { config_home } => {
                let sources = discover(&self.host.project, config_home.as_deref());
                self.trust.with_agreed_packs(sources, &self.host.project)
            }
        };
        let mut sources: Vec<SettingsSource> = self.sources.iter().flat_map(files).collect();
        for directory in &self.host.workspace {
            let found = self.trust.with_agreed_packs(project_sources(directory), directory);
            let is_new =
                |found: &SettingsSource| !sources.iter().any(|known| known.is_same_file(found));
            let new: Vec<SettingsSource> = found.into_iter().filter(is_new).collect();
            sources.extend(new);
        }
        let directories = std::iter::once(&self.host.project).chain(&self.host.workspace);
        self.agents.with_files(sources, directories.map(PathBuf::as_path))
    }
}

/// The state that requests run with, made from settings and host.
#[derive(Debug)]
pub(crate) struct Engine {
    pub(crate) pipeline: Pipeline,
    /// The known events, including those that settings declare.
    pub(crate) events: Events,
    /// The names of events that were unknown when settings were read, but have guards in them.
    unknown_event_guards: HashSet<Box<str>>,
    /// The limits on hooks registered by clients.
    pub(crate) registration: RegistrationLimits,
    /// The files of the registry, kept for a reload that finds one of them broken.
    files: Vec<SettingsFile>,
    /// Makes `hook bridge` start a server.
    pub(crate) starts_server: bool,
    pub(crate) logs_calls: bool,
    /// The redaction of audits and recordings.
    pub(crate) redaction: Arc<Redaction>,
    /// The default level of an audit.
    pub(crate) audit_level: AuditLevel,
    /// The hash of the settings, unless they changed while being read.
    pub(crate) settings_hash: Option<String>,
    /// The number of this engine in its system; each rebuild has a greater one.
    pub(crate) generation: u64,
}

/// A failed build, with the guards that are known nevertheless: they must still block.
#[derive(Debug)]
pub(crate) struct BuildFailure {
    pub(crate) error: InitializeError,
    /// The engine that was read. It runs nothing.
    pub(crate) inert_engine: Option<Engine>,
}

impl BuildFailure {
    /// Checks whether there may be hooks that were not read.
    pub(crate) fn is_incomplete(&self) -> bool {
        self.inert_engine.is_none() || matches!(self.error, InitializeError::Strict { .. })
    }
}

pub(crate) type BuiltEngine = Result<Arc<Engine>, Arc<BuildFailure>>;

impl Engine {
    /// Builds an engine on a blocking thread, since settings may be on a slow or absent file
    /// system. If no thread can be started, they are read here to find the guards.
    async fn build(options: &EngineOptions, previous: Option<Arc<Self>>) -> BuiltEngine {
        // `spawn_blocking` panics if it cannot start a thread.
        match thread::Builder::new().spawn(|| ()) {
            Ok(thread) => drop(thread.join()),
            Err(error) => {
                return Err(BuildFailure::new(options, InitializeError::Thread(Arc::new(error))));
            }
        }
        let owned_options = options.clone();
        let build = move || Self::build_blocking(&owned_options, previous.as_deref());
        // The last free thread may be taken meanwhile.
        let Ok(built) = catch_unwind(AssertUnwindSafe(|| tokio::task::spawn_blocking(build)))
        else {
            let error = Arc::new(io::ErrorKind::WouldBlock.into());
            return Err(BuildFailure::new(options, InitializeError::Thread(error)));
        };
        built.await.unwrap_or_else(|error| Err(BuildFailure::from_join_error(options, &error)))
    }

    /// Reads the settings. Keeps the runner of a previous engine: its running hooks count towards
    /// the limits, and shutdown waits for them.
    fn build_blocking(options: &EngineOptions, previous: Option<&Self>) -> BuiltEngine {
        let runner = match previous {
            Some(previous) => Ok(previous.pipeline.runner().clone()),
            None => Runner::new(options.host.clone())
                .map(|runner| Arc::new(runner.with_upstreams(options.upstreams.clone()))),
        };
        let (runner, unfit_error) = match runner {
            Ok(runner) => (runner, None),
            Err(error) => {
                let runner = Arc::new(Runner::unfit(options.host.clone()));
                (runner, Some(InitializeError::Runner(Arc::new(error))))
            }
        };
        let engine = Self::read(options, runner, previous);
        let diagnostics = engine.pipeline.registry().diagnostics();
        for diagnostic in diagnostics {
            tracing::warn!(target: "hook::settings", "{diagnostic}");
        }
        let broken = || -> Option<InitializeError> {
            // A working system keeps the previous content of a broken file.
            if !options.strict || previous.is_some() {
                return None;
            }
            let errors =
                diagnostics.iter().filter(|diagnostic| diagnostic.severity == Severity::Error);
            let problems: Arc<[Diagnostic]> = errors.cloned().collect();
            (!problems.is_empty()).then_some(InitializeError::Strict { problems })
        };
        match unfit_error.or_else(broken) {
            None => Ok(Arc::new(engine)),
            Some(error) => Err(Arc::new(BuildFailure { error, inert_engine: Some(engine) })),
        }
    }

    /// Checks for guards of that event name that are not in the event's plan, because the event was
    /// declared, or declared differently, after settings were read.
    pub(crate) fn has_displaced_guard(&self, event: HookEventName) -> bool {
        event.row().is_declared()
            && (self.unknown_event_guards.contains(event.as_str())
                || self.pipeline.registry().displaced_guard(event.as_str(), Some(event)).is_some())
    }

    /// Returns the event of guards whose event name is not declared now.
    pub(crate) fn guard_event(&self, name: &str) -> Option<HookEventName> {
        let displaced = self.pipeline.registry().displaced_guard(name, None).map(|hook| hook.event);
        displaced.or_else(|| {
            let is_unknown = self.unknown_event_guards.contains(name);
            is_unknown.then(|| EventDefinition::new(name).event().ok()).flatten()
        })
    }

    /// Returns why guards of an event may be missing: some settings cannot be read.
    pub(crate) fn unread_guards(&self, event: Option<HookEventName>) -> Option<String> {
        let unread = self.pipeline.registry().unread_guards(event)?;
        Some(format!("{unread}; a hook with `failBehavior: block` may be missing"))
    }

    /// Checks whether an event has a guard, or may have one in settings that could not be read.
    pub(crate) fn may_have_guard(&self, event: HookEventName) -> bool {
        self.pipeline.registry().blocking_on_failure(event).is_some()
            || self.has_displaced_guard(event)
            || self.pipeline.registry().unread_guards(Some(event)).is_some()
    }

    fn read(options: &EngineOptions, runner: Arc<Runner>, previous: Option<&Self>) -> Self {
        let previous_files = previous.map_or(&[][..], |previous| &previous.files);
        let mut events = options.events.clone();
        // Hooks in settings can use events declared at run time.
        let add_declared = |events: &mut Events| options.declared.add_to(events);
        let sources = options.files();
        let current_hash =
            || options.hashes_settings.then(|| settings_hash(&sources, &options.trust));
        let hash_before = current_hash();
        let files =
            reload_files(&sources, previous_files, options.strict, &mut events, add_declared);
        let registry = Arc::new(HookRegistry::new(
            &files,
            &options.handlers,
            &runner,
            &options.trust,
            &options.agents,
            &mut events,
        ));
        let is_permanent = |event: HookEventName| {
            options.events.from_name(event.as_str()) == Some(event)
                || files.iter().any(|file| file.declares(event))
        };
        for event in options.declared.events().filter(|event| !is_permanent(*event)) {
            events.remove(event);
        }
        let unknown_event_guards = files.iter().flat_map(SettingsFile::unknown_event_guards);
        Self {
            unknown_event_guards: unknown_event_guards.map(Box::from).collect(),
            pipeline: Pipeline::new(registry, runner),
            events,
            registration: registration_limits(&files),
            redaction: Arc::new(redaction(&files)),
            audit_level: audit_level(&files),
            starts_server: starts_server(&files),
            logs_calls: logs_calls(&files),
            files,
            // Settings that changed meanwhile may have been read in part only.
            settings_hash: current_hash().filter(|after| Some(after) == hash_before.as_ref()),
            generation: previous.map_or(0, |previous| previous.generation + 1),
        }
    }
}

impl BuildFailure {
    /// Checks whether the error may be temporary; it is then not kept.
    fn is_temporary(&self) -> bool {
        matches!(self.error, InitializeError::Thread(_))
    }

    fn from_join_error(options: &EngineOptions, error: &JoinError) -> Arc<Self> {
        let error = match error.is_panic() {
            true => InitializeError::Panicked,
            false => InitializeError::RuntimeEnded,
        };
        Self::new(options, error)
    }

    /// Reads the settings on the caller's thread, to find the guards.
    fn new(options: &EngineOptions, error: InitializeError) -> Arc<Self> {
        let read = || Engine::read(options, Arc::new(Runner::unfit(options.host.clone())), None);
        let inert_engine = match error {
            InitializeError::Panicked => None,
            _ => catch_unwind(AssertUnwindSafe(read)).ok(),
        };
        Arc::new(Self { error, inert_engine })
    }
}

/// Starts the workers with `"start": "eager"`.
fn start_workers(built: &BuiltEngine) {
    if let Ok(engine) = built {
        engine.pipeline.registry().start_workers();
    }
}

/// Returns the registry for registered hooks, even of a failed build, since its guards are known.
fn target(built: &BuiltEngine) -> Option<Target> {
    let engine = match built {
        Ok(engine) => engine,
        Err(unbuilt) => unbuilt.inert_engine.as_ref()?,
    };
    Some(Target {
        registry: Arc::clone(engine.pipeline.registry()),
        runner: engine.pipeline.runner().clone(),
        limits: engine.registration,
    })
}

type Built = OnceCell<BuiltEngine>;

/// The slot that holds the engine once it is built.
#[derive(Debug)]
pub(crate) struct EngineSlot {
    options: EngineOptions,
    current: RwLock<Arc<Built>>,
    /// Allows one reload at a time, so that the last one to begin wins.
    reloading: Semaphore,
    /// The hooks registered at run time.
    registered: Arc<RegisteredHooks>,
}

impl EngineSlot {
    pub(crate) fn new(options: EngineOptions, registrations: Registrations) -> Self {
        Self {
            options,
            current: RwLock::default(),
            reloading: Semaphore::new(1),
            registered: Arc::new(RegisteredHooks::new(registrations)),
        }
    }

    pub(crate) fn registered(&self) -> &RegisteredHooks {
        &self.registered
    }

    /// Registers a hook with this id or a generated one.
    pub(crate) fn register(
        &self,
        hook: HandlerHook,
        id: Option<&str>,
        registrant: Registrant,
    ) -> Result<Registration, RegisterError> {
        let event = hook.event();
        if event.row().is_declared() && self.event(event.as_str()) != Some(event) {
            let hook = hook.name().to_owned();
            return Err(RegisterError::UnknownEvent { hook, event });
        }
        self.registered.register(hook, id, registrant)
    }

    /// Publishes the changes of hooks after a new engine replaced the previous one.
    fn publish_replaced(&self, previous: Option<&Arc<Engine>>, built: &BuiltEngine) {
        if let Ok(engine) = built {
            let previous_registry = previous.map(|old| &**old.pipeline.registry());
            let registrations = self.registered.registrations();
            registrations.publish_replaced(
                previous_registry,
                engine.pipeline.registry(),
                engine.generation,
            );
        }
    }

    /// Returns the redaction of records; until it is known, everything is redacted.
    pub(crate) fn redaction(&self) -> Arc<Redaction> {
        let withhold = |reason: &str| Arc::new(Redaction::withholding(reason));
        match self.get() {
            Some(Ok(engine)) => Arc::clone(&engine.redaction),
            Some(Err(unbuilt)) => match &unbuilt.inert_engine {
                Some(engine) => Arc::clone(&engine.redaction),
                None => withhold("settings could not be read, and may say what to redact"),
            },
            None => withhold("settings were not read yet, and may say what to redact"),
        }
    }

    /// Returns the [`redaction`](Self::redaction) once the settings are read.
    pub(crate) async fn known_redaction(self: &Arc<Self>) -> Arc<Redaction> {
        if self.get().is_none() {
            // Errors are reported to the callers that need the engine.
            let _ = self.initialize().await;
        }
        self.redaction()
    }

    pub(crate) fn project(&self) -> &Path {
        &self.options.host.project
    }

    /// Returns the engine or its build error; `None` before first use.
    pub(crate) fn get(&self) -> Option<BuiltEngine> {
        self.current.read().unwrap_or_else(PoisonError::into_inner).get().cloned()
    }

    /// Finds an event by name among all that are known now.
    pub(crate) fn event(&self, name: &str) -> Option<HookEventName> {
        match self.get() {
            Some(Ok(engine)) => self.event_in(&engine, name),
            Some(Err(unbuilt)) => {
                let inert_engine = unbuilt.inert_engine.as_ref();
                inert_engine.and_then(|engine| self.event_in(engine, name))
            }
            None => {
                let declared = || self.options.declared.event(name);
                self.options.events.from_name(name).or_else(declared)
            }
        }
    }

    /// Finds an event by name among those of this engine and those declared since.
    pub(crate) fn event_in(&self, engine: &Engine, name: &str) -> Option<HookEventName> {
        let events = &engine.events;
        let declared = || self.options.declared.event(name);
        events.from_confirmed_name(name).or_else(declared).or_else(|| events.from_name(name))
    }

    /// Finds an event by name; failing that, an event that only guards name.
    pub(crate) fn event_or_guard_event(&self, name: &str) -> Option<HookEventName> {
        self.event(name).or_else(|| match self.get()? {
            Ok(engine) => engine.guard_event(name),
            Err(unbuilt) => unbuilt.inert_engine.as_ref()?.guard_event(name),
        })
    }

    /// Returns all events known now.
    pub(crate) fn events(&self) -> Events {
        let mut events = match self.get() {
            Some(Ok(engine)) => engine.events.clone(),
            Some(Err(unbuilt)) => unbuilt
                .inert_engine
                .as_ref()
                .map(|engine| engine.events.clone())
                .unwrap_or_default(),
            None => self.options.events.clone(),
        };
        self.options.declared.add_to(&mut events);
        events
    }

    /// Declares an event until the returned handle is dropped.
    pub(crate) fn declare(
        &self,
        definition: EventDefinition,
    ) -> Result<DeclaredEvent, DeclareError> {
        self.options.declared.declare(definition, self.events())
    }

    /// Checks whether an event has, or may have, a guard.
    pub(crate) fn may_have_guard(&self, event: HookEventName) -> bool {
        match self.get() {
            Some(Ok(engine)) => engine.may_have_guard(event),
            Some(Err(unbuilt)) => {
                unbuilt.is_incomplete()
                    || unbuilt
                        .inert_engine
                        .as_ref()
                        .is_some_and(|engine| engine.may_have_guard(event))
            }
            None => true,
        }
    }

    /// Returns a guard of an event known before settings are read: one of the host's own.
    pub(crate) fn guard_before_reading(&self, event: Option<HookEventName>) -> Option<Guard<'_>> {
        let handlers = || self.options.handlers.iter();
        let known_guard =
            event.and_then(|event| handlers().find(|handler| handler.is_guard_of(event)));
        let registered = || event.is_some_and(|event| self.registered.has_guard_of(event));
        let possible_guard = (self.options.strict || registered()).then_some(Guard::Possible);
        known_guard.map(|handler| Guard::Known(handler.name())).or(possible_guard)
    }

    fn current(&self) -> Arc<Built> {
        Arc::clone(&self.current.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// Switches hooks on or off in the current engine and its successors.
    pub(crate) fn set_enabled(&self, name: &str, enabled: bool) -> Result<usize, NotInitialized> {
        // The lock is held to the end: a reload either copies this switch or happened before.
        let current = self.current.read().unwrap_or_else(PoisonError::into_inner);
        match current.get() {
            Some(Ok(engine)) => Ok(engine.pipeline.registry().set_enabled(name, enabled)),
            Some(Err(unbuilt)) => Err(NotInitialized::Failed(unbuilt.error.clone())),
            None => Err(NotInitialized::NotYet),
        }
    }

    /// Builds the engine if there is none. Concurrent callers wait for one build, which continues
    /// if its caller stops polling. Without a runtime it is built here.
    pub(crate) async fn initialize(self: &Arc<Self>) -> BuiltEngine {
        if let Some(built) = self.get() {
            return built;
        }
        if Handle::try_current().is_err() {
            return self.initialize_blocking().await;
        }
        let slot = Arc::clone(self);
        let build = tokio::spawn(async move {
            let mut is_first = false;
            let build = async || {
                is_first = true;
                match Engine::build(&slot.options, None).await {
                    Err(unbuilt) if unbuilt.is_temporary() => Err(unbuilt),
                    built => {
                        slot.registered.set_target(target(&built), || ());
                        Ok(built)
                    }
                }
            };
            let built = match slot.current().get_or_try_init(build).await {
                Ok(built) => built.clone(),
                Err(unbuilt) => Err(unbuilt),
            };
            if is_first {
                slot.publish_replaced(None, &built);
                start_workers(&built);
            }
            built
        });
        match build.await {
            Ok(built) => built,
            Err(error) => Err(BuildFailure::from_join_error(&self.options, &error)),
        }
    }

    /// Like [`initialize`](Self::initialize), on the caller's thread and without starting workers.
    pub(crate) async fn initialize_blocking(self: &Arc<Self>) -> BuiltEngine {
        let mut is_first = false;
        let build = async || {
            is_first = true;
            let built = Engine::build_blocking(&self.options, None);
            self.registered.set_target(target(&built), || ());
            built
        };
        let built = self.current().get_or_init(build).await.clone();
        if is_first {
            self.publish_replaced(None, &built);
        }
        built
    }

    /// Builds a new engine and replaces the old one; requests in flight keep the old one. Hooks
    /// switched on or off at run time stay so.
    pub(crate) async fn reload(self: &Arc<Self>) -> BuiltEngine {
        // The semaphore is never closed.
        let _one_at_a_time = self.reloading.acquire().await;
        // The first build makes the one runner.
        let previous = self.initialize().await;
        let rebuilt = Engine::build(&self.options, previous.as_ref().ok().cloned()).await;
        if let Err(unbuilt) = &rebuilt {
            tracing::error!(target: "hook::settings", "reload failed: {}", OneLine(&unbuilt.error));
        }
        // A working engine is not replaced by a failed build.
        let may_pass = rebuilt.as_ref().is_err_and(|unbuilt| unbuilt.is_temporary());
        if rebuilt.is_ok() || previous.is_err() && !may_pass {
            self.registered.set_target(target(&rebuilt), || {
                let mut current = self.current.write().unwrap_or_else(PoisonError::into_inner);
                if let (Ok(engine), Ok(previous_engine)) = (&rebuilt, &previous) {
                    for (name, enabled) in previous_engine.pipeline.registry().switches() {
                        engine.pipeline.registry().set_enabled(&name, enabled);
                    }
                }
                *current = Arc::new(OnceCell::new_with(Some(rebuilt.clone())));
            });
            self.publish_replaced(previous.as_ref().ok(), &rebuilt);
            start_workers(&rebuilt);
        }
        rebuilt
    }
}

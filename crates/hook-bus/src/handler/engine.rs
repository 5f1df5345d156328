//! The engine behind a hook system: built once, on first use, and again on reload.

use std::collections::HashSet;
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::{Arc, PoisonError, RwLock};
use std::thread;

use hook_core::event::DeclareError;
use hook_core::redact::Redaction;
use hook_core::run::{RunnerError, Upstreams};
use hook_core::settings::{
    Agents, AuditLevel, Diagnostic, RegistrationLimits, SettingsFile, Severity, audit_level,
    discover, logs_calls, read_again, redaction, registration_limits, starts_server,
};
use hook_core::text::OneLine;
use hook_core::trust::settings_hash;
use hook_core::{
    EventDefinition, Events, Guard, HandlerHook, HookEventName, HookRegistry, Pipeline, Runner,
    RunnerHost, SettingsSource, TrustPolicy,
};
use tokio::runtime::Handle;
use tokio::sync::{OnceCell, Semaphore};
use tokio::task::JoinError;

use crate::handler::declared::{DeclaredEvent, DeclaredEvents};
use crate::handler::registered::{
    RegisterError, RegisteredHooks, Registrant, Registration, Target,
};
use crate::handler::registrations::Registrations;

/// Why a hook system could not be initialized. Remembered until a reload, but for
/// [`Thread`](Self::Thread).
#[derive(Debug, Clone, thiserror::Error)]
#[non_exhaustive]
pub enum InitializeError {
    /// The host's process is not fit to run hooks.
    #[error("failed to initialize the hook system: {0}")]
    Runner(#[source] Arc<RunnerError>),
    /// No thread can be started that reads the settings.
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
    /// The settings have errors, and the system is to start only without any.
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

/// The hook system was not initialized yet, or could not be.
#[derive(Debug, Clone, thiserror::Error)]
#[non_exhaustive]
pub enum NotInitialized {
    /// It is not initialized; call `initialize()` or fire an event.
    #[error("the hook system is not initialized yet; call initialize() first")]
    NotYet,
    /// It could not be; call `reload()` once the cause is fixed.
    #[error(transparent)]
    Failed(InitializeError),
}

/// The first few problems, and how many more there are.
fn listed(problems: &[Diagnostic]) -> String {
    const SHOWN: usize = 3;
    let mut listed: Vec<String> = problems.iter().take(SHOWN).map(ToString::to_string).collect();
    if problems.len() > SHOWN {
        listed.push(format!("and {} more, which `hook check` lists", problems.len() - SHOWN));
    }
    listed.join("; ")
}

/// Where settings are read from.
#[derive(Debug, Clone)]
pub(crate) enum Sources {
    /// From this file.
    File(SettingsSource),
    /// From the native files, looked for each time, since a project may get some.
    Native { config_home: Option<PathBuf> },
}

/// What is settled before the engine is built.
#[derive(Debug, Clone)]
pub(crate) struct EngineOptions {
    pub(crate) sources: Vec<Sources>,
    /// Other agents whose hooks may run, too.
    pub(crate) agents: Agents,
    pub(crate) handlers: Vec<HandlerHook>,
    pub(crate) host: RunnerHost,
    /// Who knows how to ask fleets of engines.
    pub(crate) upstreams: Option<Arc<dyn Upstreams>>,
    pub(crate) trust: TrustPolicy,
    /// Whether errors in settings keep the system from starting.
    pub(crate) strict: bool,
    /// Whether it is to be known which settings are in force.
    pub(crate) proves_settings: bool,
    /// The events that the host declared, beside the built-in ones.
    pub(crate) events: Events,
    /// Those that were declared while the system runs.
    pub(crate) declared: DeclaredEvents,
}

impl EngineOptions {
    fn files(&self) -> Vec<SettingsSource> {
        let files = |sources: &Sources| match sources {
            Sources::File(source) => vec![source.clone()],
            Sources::Native { config_home } => discover(&self.host.project, config_home.as_deref()),
        };
        let sources = self.sources.iter().flat_map(files).collect();
        self.agents.with_files(sources, &self.host.project)
    }
}

/// What requests run with, as settings and the host say it.
#[derive(Debug)]
pub(crate) struct Engine {
    pub(crate) pipeline: Pipeline,
    /// The events there are, with those that settings declare.
    pub(crate) events: Events,
    /// The names of events that were unknown when settings were read, and that those have guards of.
    unplaced_guards: HashSet<Box<str>>,
    /// How many hooks clients may register.
    pub(crate) registration: RegistrationLimits,
    /// What the registry was made of, for a reload that finds a file broken.
    files: Vec<SettingsFile>,
    /// Whether `hook bridge` is to start a server.
    pub(crate) starts_server: bool,
    pub(crate) logs_calls: bool,
    /// What is left out of audits and recordings.
    pub(crate) redaction: Arc<Redaction>,
    /// How much an audit tells that does not say it itself.
    pub(crate) audit_level: AuditLevel,
    /// What its settings were, where they did not change meanwhile.
    pub(crate) settings_hash: Option<String>,
    /// Which engine of its system it is; the later, the greater.
    pub(crate) generation: u64,
}

/// Why there is no engine, and what is known of its hooks all the same: a guard that cannot be asked
/// is not to be got past.
#[derive(Debug)]
pub(crate) struct Unbuilt {
    pub(crate) error: InitializeError,
    /// What would have been the engine. Nothing is run with it.
    pub(crate) unused: Option<Engine>,
}

impl Unbuilt {
    /// Whether there may be hooks that were not read.
    pub(crate) fn is_incomplete(&self) -> bool {
        self.unused.is_none() || matches!(self.error, InitializeError::Strict { .. })
    }
}

pub(crate) type BuiltEngine = Result<Arc<Engine>, Arc<Unbuilt>>;

impl Engine {
    /// Builds an engine on a thread that may wait: settings may lie on a slow or absent file system.
    /// Where no thread can be had, they are read here all the same, to know which guards there are.
    async fn build(options: &EngineOptions, before: Option<Arc<Self>>) -> BuiltEngine {
        // The runtime panics where it can start no thread.
        match thread::Builder::new().spawn(|| ()) {
            Ok(thread) => drop(thread.join()),
            Err(error) => {
                return Err(Unbuilt::because(options, InitializeError::Thread(Arc::new(error))));
            }
        }
        let owned = options.clone();
        let build = move || Self::build_here(&owned, before.as_deref());
        // Another may have taken the last thread since.
        let Ok(built) = catch_unwind(AssertUnwindSafe(|| tokio::task::spawn_blocking(build)))
        else {
            let error = Arc::new(io::ErrorKind::WouldBlock.into());
            return Err(Unbuilt::because(options, InitializeError::Thread(error)));
        };
        built.await.unwrap_or_else(|error| Err(Unbuilt::unfinished(options, &error)))
    }

    /// Reads the settings. The runner of an engine `before` this one goes on: what it runs counts
    /// against its limits, and is waited for at the end.
    fn build_here(options: &EngineOptions, before: Option<&Self>) -> BuiltEngine {
        let runner = match before {
            Some(before) => Ok(before.pipeline.runner().clone()),
            None => Runner::new(options.host.clone())
                .map(|runner| Arc::new(runner.with_upstreams(options.upstreams.clone()))),
        };
        let (runner, unfit) = match runner {
            Ok(runner) => (runner, None),
            Err(error) => {
                let runner = Arc::new(Runner::unfit(options.host.clone()));
                (runner, Some(InitializeError::Runner(Arc::new(error))))
            }
        };
        let engine = Self::read(options, runner, before);
        let diagnostics = engine.pipeline.registry().diagnostics();
        for diagnostic in diagnostics {
            tracing::warn!(target: "hook::settings", "{diagnostic}");
        }
        let broken = || -> Option<InitializeError> {
            // A system that works goes on with what it had of a broken file.
            if !options.strict || before.is_some() {
                return None;
            }
            let errors = diagnostics.iter().filter(|it| it.severity == Severity::Error);
            let problems: Arc<[Diagnostic]> = errors.cloned().collect();
            (!problems.is_empty()).then_some(InitializeError::Strict { problems })
        };
        match unfit.or_else(broken) {
            None => Ok(Arc::new(engine)),
            Some(error) => Err(Arc::new(Unbuilt { error, unused: Some(engine) })),
        }
    }

    /// Whether there is a guard of an event of that name that the event's plan does not have: the event
    /// was declared after settings were read, or otherwise by then.
    pub(crate) fn has_displaced_guard(&self, event: HookEventName) -> bool {
        event.row().is_declared()
            && (self.unplaced_guards.contains(event.as_str())
                || self.pipeline.registry().displaced_guard(event.as_str(), Some(event)).is_some())
    }

    /// The event that guards listen to by a name that is no event's now.
    pub(crate) fn undeclared_event(&self, name: &str) -> Option<HookEventName> {
        let displaced = self.pipeline.registry().displaced_guard(name, None).map(|hook| hook.event);
        displaced.or_else(|| {
            let unplaced = self.unplaced_guards.contains(name);
            unplaced.then(|| EventDefinition::new(name).event().ok()).flatten()
        })
    }

    /// Why guards of an event may be missing among the hooks: there are settings that cannot be read.
    pub(crate) fn unread_guards(&self, event: HookEventName) -> Option<String> {
        let unread = self.pipeline.registry().unread_guards(event)?;
        Some(format!("{unread}; a hook with `failBehavior: block` may be missing"))
    }

    /// Why a guard is missing that was there: its settings cannot be read any more.
    pub(crate) fn unread_guard(&self) -> Option<String> {
        let unread = self.pipeline.registry().unread_guard()?;
        Some(format!("{unread}; a hook with `failBehavior: block` is missing"))
    }

    /// Whether an event has a guard, or one may be missing that could not be read.
    pub(crate) fn may_have_guard(&self, event: HookEventName) -> bool {
        self.pipeline.registry().blocking_on_failure(event).is_some()
            || self.has_displaced_guard(event)
            || self.pipeline.registry().unread_guards(event).is_some()
    }

    fn read(options: &EngineOptions, runner: Arc<Runner>, before: Option<&Self>) -> Self {
        let known = before.map_or(&[][..], |before| &before.files);
        let mut events = options.events.clone();
        // Hooks in settings can listen to these, too, for as long as they are declared.
        let at_run_time = |events: &mut Events| options.declared.add_to(events);
        let sources = options.files();
        let hash_of = || options.proves_settings.then(|| settings_hash(&sources, &options.trust));
        let before_reading = hash_of();
        let files = read_again(&sources, known, options.strict, &mut events, at_run_time);
        let registry = Arc::new(HookRegistry::new(
            &files,
            &options.handlers,
            &runner,
            &options.host.project,
            &options.trust,
            &mut events,
        ));
        let is_lasting = |event: HookEventName| {
            options.events.from_name(event.as_str()) == Some(event)
                || files.iter().any(|file| file.declares(event))
        };
        for event in options.declared.events().filter(|event| !is_lasting(*event)) {
            events.forget(event);
        }
        let unplaced_guards = files.iter().flat_map(SettingsFile::unplaced_guards);
        Self {
            unplaced_guards: unplaced_guards.map(Box::from).collect(),
            pipeline: Pipeline::new(registry, runner),
            events,
            registration: registration_limits(&files),
            redaction: Arc::new(redaction(&files)),
            audit_level: audit_level(&files),
            starts_server: starts_server(&files),
            logs_calls: logs_calls(&files),
            files,
            // What changed while it was read may have been read half.
            settings_hash: hash_of().filter(|after| Some(after) == before_reading.as_ref()),
            generation: before.map_or(0, |before| before.generation + 1),
        }
    }
}

impl Unbuilt {
    /// Whether it may be over by the next request, so that it is not remembered.
    fn may_pass(&self) -> bool {
        matches!(self.error, InitializeError::Thread(_))
    }

    fn unfinished(options: &EngineOptions, error: &JoinError) -> Arc<Self> {
        let error = match error.is_panic() {
            true => InitializeError::Panicked,
            false => InitializeError::RuntimeEnded,
        };
        Self::because(options, error)
    }

    /// Reads the settings while the caller waits, so that it is known what guards there are.
    fn because(options: &EngineOptions, error: InitializeError) -> Arc<Self> {
        let read = || Engine::read(options, Arc::new(Runner::unfit(options.host.clone())), None);
        let unused = match error {
            InitializeError::Panicked => None,
            _ => catch_unwind(AssertUnwindSafe(read)).ok(),
        };
        Arc::new(Self { error, unused })
    }
}

/// Starts the workers that are to be there before their first call.
fn start_workers(built: &BuiltEngine) {
    if let Ok(engine) = built {
        engine.pipeline.registry().start_workers();
    }
}

/// What registered hooks are given to; also where nothing is run, since its guards are known.
fn target(built: &BuiltEngine) -> Option<Target> {
    let engine = match built {
        Ok(engine) => engine,
        Err(unbuilt) => unbuilt.unused.as_ref()?,
    };
    Some(Target {
        registry: Arc::clone(engine.pipeline.registry()),
        runner: engine.pipeline.runner().clone(),
        limits: engine.registration,
    })
}

type Built = OnceCell<BuiltEngine>;

/// The place where the engine is, once it is built.
#[derive(Debug)]
pub(crate) struct EngineSlot {
    options: EngineOptions,
    current: RwLock<Arc<Built>>,
    /// One reload at a time, so that the last to begin is the last to be seen.
    reloading: Semaphore,
    /// Registered while the system runs.
    registered: Arc<RegisteredHooks>,
}

impl EngineSlot {
    pub(crate) fn new(options: EngineOptions, registrations: Registrations) -> Self {
        Self {
            options,
            current: RwLock::default(),
            reloading: Semaphore::new(1),
            registered: Arc::new(RegisteredHooks::telling(registrations)),
        }
    }

    pub(crate) fn registered(&self) -> &RegisteredHooks {
        &self.registered
    }

    /// Registers a hook, under that id or one that is made.
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

    /// Tells who listens what changed when this engine took the place of another.
    fn tell_replaced(&self, before: Option<&Arc<Engine>>, now: &BuiltEngine) {
        if let Ok(now) = now {
            let before = before.map(|before| &**before.pipeline.registry());
            let registrations = self.registered.registrations();
            registrations.replaced(before, now.pipeline.registry(), now.generation);
        }
    }

    /// What is to be left out of what is written down: everything, while that is not known.
    pub(crate) fn redaction(&self) -> Arc<Redaction> {
        let unknown = |why: &str| Arc::new(Redaction::withholding(why));
        match self.get() {
            Some(Ok(engine)) => Arc::clone(&engine.redaction),
            Some(Err(unbuilt)) => match &unbuilt.unused {
                Some(engine) => Arc::clone(&engine.redaction),
                None => unknown("settings could not be read, and may say what to redact"),
            },
            None => unknown("settings were not read yet, and may say what to redact"),
        }
    }

    /// [`redaction`](Self::redaction), once settings were read.
    pub(crate) async fn known_redaction(self: &Arc<Self>) -> Arc<Redaction> {
        if self.get().is_none() {
            // Why there may be no engine is told to those who need one.
            let _ = self.initialize().await;
        }
        self.redaction()
    }

    pub(crate) fn project(&self) -> &Path {
        &self.options.host.project
    }

    /// The engine or why there is none; `None` before it was first needed.
    pub(crate) fn get(&self) -> Option<BuiltEngine> {
        self.current.read().unwrap_or_else(PoisonError::into_inner).get().cloned()
    }

    /// The event of that name, by all that is known.
    pub(crate) fn event(&self, name: &str) -> Option<HookEventName> {
        match self.get() {
            Some(Ok(engine)) => self.event_in(&engine, name),
            Some(Err(unbuilt)) => {
                let of_settings = unbuilt.unused.as_ref();
                of_settings.and_then(|engine| self.event_in(engine, name))
            }
            None => {
                let declared = || self.options.declared.event(name);
                self.options.events.from_name(name).or_else(declared)
            }
        }
    }

    /// The event of that name, by what this engine read and what was declared since.
    pub(crate) fn event_in(&self, engine: &Engine, name: &str) -> Option<HookEventName> {
        let events = &engine.events;
        let declared = || self.options.declared.event(name);
        events.settled(name).or_else(declared).or_else(|| events.from_name(name))
    }

    /// The event of that name, or the one that guards listen to by a name that is none now.
    pub(crate) fn event_or_undeclared(&self, name: &str) -> Option<HookEventName> {
        self.event(name).or_else(|| match self.get()? {
            Ok(engine) => engine.undeclared_event(name),
            Err(unbuilt) => unbuilt.unused.as_ref()?.undeclared_event(name),
        })
    }

    /// All events, by all that is known.
    pub(crate) fn events(&self) -> Events {
        let mut events = match self.get() {
            Some(Ok(engine)) => engine.events.clone(),
            Some(Err(unbuilt)) => {
                unbuilt.unused.as_ref().map(|engine| engine.events.clone()).unwrap_or_default()
            }
            None => self.options.events.clone(),
        };
        self.options.declared.add_to(&mut events);
        events
    }

    /// Declares an event for as long as what is given back is kept.
    pub(crate) fn declare(
        &self,
        definition: EventDefinition,
    ) -> Result<DeclaredEvent, DeclareError> {
        self.options.declared.declare(definition, self.events())
    }

    /// Whether an event has a guard, or may have one, by all that is known.
    pub(crate) fn may_have_guard(&self, event: HookEventName) -> bool {
        match self.get() {
            Some(Ok(engine)) => engine.may_have_guard(event),
            Some(Err(unbuilt)) => {
                unbuilt.is_incomplete()
                    || unbuilt.unused.as_ref().is_some_and(|engine| engine.may_have_guard(event))
            }
            None => true,
        }
    }

    /// What is known of an event's guards before settings were read: the host's own.
    pub(crate) fn guard_before_reading(&self, event: Option<HookEventName>) -> Option<Guard<'_>> {
        let handlers = || self.options.handlers.iter();
        let known = event.and_then(|event| handlers().find(|it| it.is_guard_of(event)));
        let registered = || event.is_some_and(|event| self.registered.has_guard_of(event));
        let possible = (self.options.strict || registered()).then_some(Guard::Possible);
        known.map(|handler| Guard::Known(handler.name())).or(possible)
    }

    fn current(&self) -> Arc<Built> {
        Arc::clone(&self.current.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// Switches hooks on or off in the engine that is in force, and in those that come after it.
    pub(crate) fn set_enabled(&self, name: &str, enabled: bool) -> Result<usize, NotInitialized> {
        // The lock is held until the end, so that a reload either carries this over or comes before.
        let current = self.current.read().unwrap_or_else(PoisonError::into_inner);
        match current.get() {
            Some(Ok(engine)) => Ok(engine.pipeline.registry().set_enabled(name, enabled)),
            Some(Err(unbuilt)) => Err(NotInitialized::Failed(unbuilt.error.clone())),
            None => Err(NotInitialized::NotYet),
        }
    }

    /// Builds the engine unless it is there; any number of callers wait for the one build, which
    /// goes on if the caller that began it stops polling. Without a runtime it is built here.
    pub(crate) async fn initialize(self: &Arc<Self>) -> BuiltEngine {
        if let Some(built) = self.get() {
            return built;
        }
        if Handle::try_current().is_err() {
            return self.initialize_here().await;
        }
        let slot = Arc::clone(self);
        let build = tokio::spawn(async move {
            let mut is_first = false;
            let build = async || {
                is_first = true;
                match Engine::build(&slot.options, None).await {
                    Err(unbuilt) if unbuilt.may_pass() => Err(unbuilt),
                    built => {
                        slot.registered.adopted_by(target(&built), || ());
                        Ok(built)
                    }
                }
            };
            let built = match slot.current().get_or_try_init(build).await {
                Ok(built) => built.clone(),
                Err(unbuilt) => Err(unbuilt),
            };
            if is_first {
                slot.tell_replaced(None, &built);
                start_workers(&built);
            }
            built
        });
        match build.await {
            Ok(built) => built,
            Err(error) => Err(Unbuilt::unfinished(&self.options, &error)),
        }
    }

    /// As [`initialize`](Self::initialize), on the caller's own thread, and without starting workers.
    pub(crate) async fn initialize_here(self: &Arc<Self>) -> BuiltEngine {
        let mut is_first = false;
        let build = async || {
            is_first = true;
            let built = Engine::build_here(&self.options, None);
            self.registered.adopted_by(target(&built), || ());
            built
        };
        let built = self.current().get_or_init(build).await.clone();
        if is_first {
            self.tell_replaced(None, &built);
        }
        built
    }

    /// Builds a new engine and replaces the old one; requests in flight stay with the
    /// old one. What was switched at run time stays switched.
    pub(crate) async fn reload(self: &Arc<Self>) -> BuiltEngine {
        // The semaphore is never closed; a reload without it would only be seen too early.
        let _one_at_a_time = self.reloading.acquire().await;
        // There is one runner; the first build makes it.
        let before = self.initialize().await;
        let rebuilt = Engine::build(&self.options, before.as_ref().ok().cloned()).await;
        if let Err(unbuilt) = &rebuilt {
            tracing::error!(target: "hook::settings", "reload failed: {}", OneLine(&unbuilt.error));
        }
        // An engine that works is not given up for one that does not.
        let may_pass = rebuilt.as_ref().is_err_and(|unbuilt| unbuilt.may_pass());
        if rebuilt.is_ok() || before.is_err() && !may_pass {
            self.registered.adopted_by(target(&rebuilt), || {
                let mut current = self.current.write().unwrap_or_else(PoisonError::into_inner);
                if let (Ok(engine), Ok(before)) = (&rebuilt, &before) {
                    for (name, enabled) in before.pipeline.registry().switches() {
                        engine.pipeline.registry().set_enabled(&name, enabled);
                    }
                }
                *current = Arc::new(OnceCell::new_with(Some(rebuilt.clone())));
            });
            self.tell_replaced(before.as_ref().ok(), &rebuilt);
            start_workers(&rebuilt);
        }
        rebuilt
    }
}

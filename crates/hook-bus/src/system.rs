//! A hook system: one engine on one bus, with everything a host needs to drive it.

use std::ffi::OsString;
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use hook_core::HostServices;
use hook_core::event::DeclareError;
use hook_core::language::Language;
use hook_core::run::{ModuleCommand, RunnerLimits, Upstreams};
use hook_core::settings::{Agents, AuditLevel, Diagnostic};
use hook_core::text::shortened;
use hook_core::{
    Background, CommandInput, EndSignal, EventDefinition, Events, Explanation, HandlerHook,
    HookEventName, HookListing, HookRegistry, HostContext, MatchInput, ProcessedHookResult,
    RawObject, RequestInput, RunnerHost, SettingsSource, TrustPolicy,
};
use hook_translate::agents;

use crate::audit::Audit;
use crate::bridge::state::BridgeState;
use crate::bus::ServeBy;
use crate::bus::{AlreadyServed, MessageBus, RequestHandler};
use crate::handler::HookEventHandler;
use crate::handler::Registrations;
use crate::handler::{DeclaredEvent, DeclaredEvents};
use crate::handler::{
    Engine, EngineOptions, EngineSlot, InitializeError, NotInitialized, Sources, Unbuilt,
};
use crate::handler::{RegisterError, RegisteredHook, Registrant, Registration};
use crate::live::modules as live_modules;
use crate::live::{LiveClients, LoadedModule, WorkerStates, workers};
use crate::message::HookExecutionRequest;
use crate::module::{
    CommandError, CommandInfo, CommandOutput, HookModule, ModuleError, Modules, RenderOptions,
    StyledLine,
};
use crate::redaction::CurrentRedaction;

/// Where a hook system stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HookSystemStatus {
    /// Whether the engine is built.
    pub initialized: bool,
    /// How many hooks are registered.
    pub total_hooks: usize,
    /// How many requests wait for their hooks.
    pub in_flight: usize,
    /// How many blocking handlers never returned and still hold a thread.
    pub abandoned_threads: usize,
}

/// Settles what a hook system is made of; see [`HookSystem::builder`].
#[derive(Debug, Clone)]
#[must_use]
pub struct HookSystemBuilder {
    options: EngineOptions,
    context: HostContext,
    deadline: Option<Duration>,
    background: Background,
    state: Option<BridgeState>,
    services: Option<Arc<dyn HostServices>>,
    modules: Modules,
    bus: Option<MessageBus>,
}

impl HookSystemBuilder {
    /// Adds a settings file. Files run in the order in which they are added.
    pub fn settings(mut self, source: SettingsSource) -> Self {
        self.options.sources.push(Sources::File(source));
        self
    }

    /// Adds modules of JavaScript or TypeScript, by their files; naming one trusts it. They share a process, and
    /// run behind the hooks of sources that were added before.
    pub fn module_files(mut self, paths: impl IntoIterator<Item = PathBuf>) -> Self {
        self.options.sources.extend(SettingsSource::modules(paths).map(Sources::File));
        self
    }

    /// Adds the native files: project, user, system (protocol.md §1), looked for whenever settings
    /// are read. `config_home` is `$XDG_CONFIG_HOME` or its default; `None` leaves the user's out.
    ///
    /// The files of other agents that they name under `hooksConfig.agents` are read as well.
    pub fn native_settings(mut self, config_home: Option<&Path>) -> Self {
        self.options.agents.with_users &= config_home.is_some();
        let config_home = config_home.map(Path::to_path_buf);
        self.options.sources.push(Sources::Native { config_home });
        self
    }

    /// Reads the files in which these agents keep their own hooks, whether settings name them or not, and
    /// the user's among them only if `with_users`.
    #[doc(hidden)]
    pub fn agents(mut self, agents: &[&'static dyn Language], with_users: bool) -> Self {
        self.options.agents.named.extend(agents);
        self.options.agents.with_users &= with_users;
        self
    }

    /// Keeps what hooks set for their sessions for later processes, and writes down what
    /// [agents ask](crate::bridge).
    pub fn bridge_state(mut self, state: Option<BridgeState>) -> Self {
        self.state = state.map(|state| state.of_project(&self.options.host.project));
        self
    }

    /// Has a server say which settings it serves, so that a client can tell whether they are those that it
    /// would read itself.
    #[doc(hidden)]
    pub fn proves_settings(mut self) -> Self {
        self.options.proves_settings = true;
        self
    }

    /// Starts only with settings that have no error, missing files that were named included: else
    /// [`initialize`](HookSystem::initialize) fails with all of them, and every event is answered
    /// `planning_failed` and blocks, since a guard may be configured. A reload that finds a file with
    /// an error leaves what was in force before, with a warning in every response.
    pub fn strict(mut self) -> Self {
        self.options.strict = true;
        self
    }

    /// Declares an event beside the built-in ones.
    ///
    /// ```
    /// use hook_bus::HookSystem;
    /// use hook_core::{EventDefinition, HandlerHook, HookOutput, JsonObject, OpenInput, RawJson};
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    ///
    /// let deploy = EventDefinition::new("DeployFinished")
    ///     .matching_exactly("environment")
    ///     .block_means("it is rolled back");
    /// let event = deploy.event()?;
    /// let guard = HandlerHook::inline(event, "freeze", |_input| {
    ///     Ok(Some(HookOutput::deny("production is frozen")))
    /// })
    /// .matcher("production");
    /// let system = HookSystem::builder(".").event(deploy)?.handler(guard).build()?;
    ///
    /// let mut fields = JsonObject::new();
    /// fields.insert("environment", RawJson::from_text("production"));
    /// let result = system.fire(OpenInput::new(event, fields)?).await;
    /// assert!(result.is_blocking_decision());
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// When there is an event of that name that means something else, or too many.
    pub fn event(mut self, definition: EventDefinition) -> Result<Self, DeclareError> {
        self.options.events.declare(definition)?;
        Ok(self)
    }

    /// Registers a function of the host as a hook.
    pub fn handler(mut self, handler: HandlerHook) -> Self {
        self.options.handlers.push(handler);
        self
    }

    /// Has a module register its handlers, commands and renderers.
    ///
    /// # Errors
    /// When it registers a handler for something that is no event.
    pub fn module(mut self, module: impl HookModule) -> Result<Self, ModuleError> {
        self.options.handlers.extend(self.modules.load(&module)?);
        Ok(self)
    }

    /// Which hooks of the project may run; [`TrustPolicy::Nothing`] by default.
    pub fn trust(mut self, trust: TrustPolicy) -> Self {
        self.options.trust = trust;
        self
    }

    /// What one hook may cost.
    pub fn limits(mut self, limits: RunnerLimits) -> Self {
        self.options.host.limits = limits;
        self
    }

    /// Who knows how to ask the fleets of engines that settings name (`hooksConfig.upstream`). Without
    /// anybody, the hooks that stand for them fail, and block.
    pub fn upstreams(mut self, upstreams: Arc<dyn Upstreams>) -> Self {
        self.options.upstreams = Some(upstreams);
        self
    }

    /// The environment that hooks inherit; this process's own by default.
    pub fn environment(
        mut self,
        variables: impl IntoIterator<Item = (OsString, OsString)>,
    ) -> Self {
        self.options.host.environment = variables.into_iter().collect();
        self
    }

    /// The session that events belong to unless a request says otherwise.
    pub fn session_id(mut self, session_id: impl Into<Arc<str>>) -> Self {
        self.context.session_id = session_id.into();
        self
    }

    /// The agent's working directory; the project by default.
    pub fn working_directory(mut self, cwd: impl Into<PathBuf>) -> Self {
        self.context.cwd = cwd.into().to_string_lossy().into();
        self
    }

    /// The file with the session's transcript; none by default.
    pub fn transcript_path(mut self, path: impl Into<PathBuf>) -> Self {
        self.context.transcript_path = path.into().to_string_lossy().into();
        self
    }

    /// How long a request may take that does not say it itself; for ever by default, since each
    /// hook has a timeout of its own.
    pub fn deadline(mut self, deadline: Duration) -> Self {
        self.deadline = Some(deadline);
        self
    }

    /// What becomes of hooks that nothing waits for; they are started by default. For a process that
    /// ends with the event, and leaves them to one that outlives it.
    pub fn background(mut self, background: Background) -> Self {
        self.background = background;
        self
    }

    /// The bus to serve; one of its own by default.
    pub fn bus(mut self, bus: MessageBus) -> Self {
        self.bus = Some(bus);
        self
    }

    pub(crate) fn request_deadline(&self) -> Option<Duration> {
        self.deadline
    }

    pub(crate) fn context(&self) -> &HostContext {
        &self.context
    }

    /// What the host does for hooks that ask it for something: a question to the user, a tool to run. Requests
    /// that come with [services of their own](HookExecutionRequest::with_host_services) use those. Without
    /// any, hooks get what there is without a user interface, and errors.
    pub fn host_services(mut self, services: Arc<dyn HostServices>) -> Self {
        self.services = Some(services);
        self
    }

    /// Builds the system and attaches it to the bus. Nothing is read until it is first needed.
    ///
    /// # Errors
    /// When the bus has a handler already.
    pub fn build(self) -> Result<HookSystem, AlreadyServed> {
        let (system, attached) = self.build_unattached();
        attached.map(|()| system)
    }

    /// Builds the system, and tries to attach it. One that is not attached runs no hooks, but knows
    /// which of its guards want a block then.
    pub(crate) fn build_unattached(self) -> (HookSystem, Result<(), AlreadyServed>) {
        let bus = self.bus.unwrap_or_default();
        self.modules.ready(self.services.as_ref());
        let registrations = Registrations::on(bus.core().topics());
        let engine = Arc::new(EngineSlot::new(self.options, registrations));
        // The one place where bus, engine and log come together.
        let handler = HookEventHandler::new(
            bus.clone(),
            Arc::clone(&engine),
            self.context,
            self.deadline,
            self.background,
            self.state.clone(),
            self.services,
        );
        let handler = Arc::new(handler.telling(self.modules.errors()));
        let served = Arc::clone(&handler) as Arc<dyn RequestHandler>;
        let attached = bus.core().attach(Arc::clone(&served));
        let live = LiveClients::of(&engine);
        let (state, modules) = (self.state, self.modules);
        (HookSystem { bus, engine, handler, served, live, state, modules }, attached)
    }
}

/// Hooks for one agent: an engine that is built on first use, serving a bus.
///
/// Dropping it disposes of it.
///
/// ```
/// use hook_bus::HookSystem;
/// use hook_core::{BeforeAgentInput, HandlerHook, HookEventName, HookOutput};
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
///
/// let polite = HandlerHook::inline(HookEventName::BeforeAgent, "polite", |_input| {
///     Ok(Some(HookOutput::allow().with_additional_context("Be polite.")))
/// });
/// let system = HookSystem::builder(".").handler(polite).build()?;
///
/// let result = system.fire_before_agent(BeforeAgentInput::new("Hi")).await;
/// assert_eq!(result.additional_context.as_deref(), Some("Be polite."));
/// # Ok(())
/// # }
/// ```
pub struct HookSystem {
    bus: MessageBus,
    engine: Arc<EngineSlot>,
    handler: Arc<HookEventHandler>,
    /// The same, as the bus knows it.
    served: Arc<dyn RequestHandler>,
    /// Clients that have hooks.
    live: Arc<LiveClients>,
    state: Option<BridgeState>,
    modules: Modules,
}

impl fmt::Debug for HookSystem {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("HookSystem")
            .field("bus", &self.bus)
            .field("engine", &self.engine)
            .field("handler", &self.handler)
            .finish_non_exhaustive()
    }
}

impl HookSystem {
    /// Begins a system for a project.
    pub fn builder(project: impl Into<PathBuf>) -> HookSystemBuilder {
        // Hooks are told where the project is, and may run elsewhere.
        let project = project.into();
        let project = std::path::absolute(&project).unwrap_or(project);
        let context = HostContext {
            session_id: "".into(),
            cwd: project.to_string_lossy().into(),
            transcript_path: "".into(),
        };
        let host = RunnerHost {
            project,
            environment: std::env::vars_os().collect(),
            limits: RunnerLimits::default(),
        };
        let options = EngineOptions {
            sources: Vec::new(),
            agents: Agents::known(agents::languages()),
            handlers: Vec::new(),
            host,
            upstreams: None,
            trust: TrustPolicy::Nothing,
            strict: false,
            proves_settings: false,
            events: Events::built_in(),
            declared: DeclaredEvents::default(),
        };
        HookSystemBuilder {
            options,
            context,
            deadline: None,
            background: Background::default(),
            state: None,
            services: None,
            modules: Modules::default(),
            bus: None,
        }
    }

    /// Reads the settings and builds the engine, unless that was done. Any number of callers at
    /// once do it once. The first event does it if it has not been done.
    ///
    /// # Errors
    /// When the process is not fit to run hooks. The error is remembered until [`reload`].
    /// Settings that are wrong are an error only for a [strict](HookSystemBuilder::strict) system:
    /// see [`diagnostics`].
    ///
    /// [`reload`]: Self::reload
    /// [`diagnostics`]: Self::diagnostics
    pub async fn initialize(&self) -> Result<(), InitializeError> {
        self.engine.initialize().await.map(drop).map_err(reason)
    }

    /// As [`initialize`](Self::initialize), on the caller's own thread, which waits as long as the
    /// file system does. It spares a program that has nothing else to do the cost of a thread.
    /// [Workers](Self::start_workers) are not started.
    ///
    /// # Errors
    /// As [`initialize`](Self::initialize).
    pub async fn initialize_here(&self) -> Result<(), InitializeError> {
        self.engine.initialize_here().await.map(drop).map_err(reason)
    }

    /// Starts the workers that settings want before their first call (`"start": "eager"`), where
    /// [`initialize_here`](Self::initialize_here) has read the settings. One that cannot be started says
    /// so in the log, and fails its first call.
    pub fn start_workers(&self) {
        if let Ok(engine) = self.ready() {
            engine.pipeline.registry().start_workers();
        }
    }

    /// Reads the settings again. Requests in flight stay with the old ones, what was switched at
    /// run time stays switched.
    ///
    /// # Errors
    /// As [`initialize`](Self::initialize); a system that worked goes on with what it had.
    pub async fn reload(&self) -> Result<(), InitializeError> {
        self.engine.reload().await.map(drop).map_err(reason)
    }

    /// Where the system stands.
    pub fn status(&self) -> HookSystemStatus {
        let engine = self.ready().ok();
        HookSystemStatus {
            initialized: engine.is_some(),
            total_hooks: engine.as_ref().map_or(0, |engine| engine.pipeline.registry().len()),
            in_flight: self.handler.in_flight(),
            abandoned_threads: engine
                .as_ref()
                .map_or(0, |engine| engine.pipeline.runner().abandoned_threads()),
        }
    }

    /// The bus that the system serves.
    pub fn bus(&self) -> &MessageBus {
        &self.bus
    }

    /// The project's directory.
    pub fn project(&self) -> &Path {
        self.engine.project()
    }

    /// What serves the bus.
    ///
    /// # Errors
    /// Before [`initialize`](Self::initialize), or when that failed.
    pub fn event_handler(&self) -> Result<&Arc<HookEventHandler>, NotInitialized> {
        self.ready().map(|_| &self.handler)
    }

    /// The hooks there are.
    ///
    /// # Errors
    /// Before [`initialize`](Self::initialize), or when that failed.
    pub fn registry(&self) -> Result<Arc<HookRegistry>, NotInitialized> {
        self.ready().map(|engine| Arc::clone(engine.pipeline.registry()))
    }

    /// Loads the modules of JavaScript that may run, where that was not done yet: the first event does it as
    /// well. What is wrong with one is said by [`loaded_modules`](Self::loaded_modules).
    ///
    /// # Errors
    /// Before [`initialize`](Self::initialize), or when that failed.
    ///
    /// # Cancellation
    /// Dropping the future leaves their process starting.
    pub async fn load_modules(&self) -> Result<(), NotInitialized> {
        let engine = self.ready()?;
        workers::load_modules(&engine.pipeline, &self.events(), self.modules.errors()).await;
        Ok(())
    }

    /// The modules of JavaScript that may run, in the order in which they are loaded: of two commands of one
    /// name that of the first is run.
    ///
    /// # Errors
    /// Before [`initialize`](Self::initialize), or when that failed.
    pub fn loaded_modules(&self) -> Result<Vec<LoadedModule>, NotInitialized> {
        Ok(live_modules::modules(&self.ready()?.pipeline))
    }

    /// A message of a module's own type as lines of styled text, by the renderer that was loaded first: modules
    /// in Rust come first. `None` where no module that is [loaded](Self::load_modules) renders it; what fails
    /// is said in the log.
    ///
    /// # Errors
    /// Before [`initialize`](Self::initialize), or when that failed.
    ///
    /// # Cancellation
    /// Dropping the future leaves the renderer to itself.
    pub async fn render_message(
        &self,
        custom_type: &str,
        message: &RawObject,
        options: RenderOptions,
    ) -> Result<Option<Vec<StyledLine>>, NotInitialized> {
        let engine = self.ready()?;
        if let Some(renderer) = self.modules.get_message_renderer(custom_type) {
            return Ok(renderer.render_caught(custom_type, message, options));
        }
        Ok(live_modules::render(&engine.pipeline, custom_type, message, options).await)
    }

    /// What a request would run, and why not the rest
    /// ([`HookRegistry::explain`]).
    ///
    /// # Errors
    /// Before [`initialize`](Self::initialize), or when that failed.
    pub fn explain(&self, input: &RequestInput) -> Result<Explanation, NotInitialized> {
        let input_of = MatchInput::of(input, self.handler.host());
        self.ready().map(|engine| engine.pipeline.registry().explain(input.event(), &input_of))
    }

    /// The shell that runs commands.
    ///
    /// # Errors
    /// Before [`initialize`](Self::initialize), or when that failed.
    pub fn shell(&self) -> Result<PathBuf, NotInitialized> {
        Ok(self.ready()?.pipeline.runner().shell().to_path_buf())
    }

    /// Every hook in run order, with whether it runs.
    ///
    /// # Errors
    /// Before [`initialize`](Self::initialize), or when that failed.
    pub fn hooks(&self) -> Result<Vec<HookListing>, NotInitialized> {
        Ok(self.registry()?.list())
    }

    /// How the workers of its hooks are.
    ///
    /// # Errors
    /// Before [`initialize`](Self::initialize), or when that failed.
    pub fn worker_states(&self) -> Result<WorkerStates, NotInitialized> {
        Ok(WorkerStates::of(&self.hooks()?))
    }

    /// Switches every hook of that name (or, where a hook has none, command) on or off, also those
    /// that a reload brings. Gives how many hooks have it now.
    ///
    /// # Errors
    /// Before [`initialize`](Self::initialize), or when that failed.
    pub fn set_hook_enabled(&self, name: &str, enabled: bool) -> Result<usize, NotInitialized> {
        self.engine.set_enabled(name, enabled)
    }

    /// What happens to hooks, for a trail that can be looked at later: as much as `level` says, or,
    /// without one, as much as the settings do. It begins with the hooks that there are.
    ///
    /// The bus does not wait for a reader; what one missed is an entry.
    pub fn audit(&self, level: impl Into<Option<AuditLevel>>) -> Audit {
        Audit::begin(&self.bus, &self.engine, level.into())
    }

    /// What is left out of audits and recordings, as it is in force now.
    pub(crate) fn current_redaction(&self) -> CurrentRedaction {
        CurrentRedaction::of(&self.engine)
    }

    /// Everything that is wrong with the settings.
    ///
    /// # Errors
    /// Before [`initialize`](Self::initialize), or when that failed.
    pub fn diagnostics(&self) -> Result<Vec<Diagnostic>, NotInitialized> {
        Ok(self.registry()?.diagnostics().to_vec())
    }

    /// Where it keeps what calls of agents leave for later ones.
    pub(crate) fn bridge_state(&self) -> Option<&BridgeState> {
        self.state.as_ref()
    }

    /// What the settings in force were, and what was trusted of them, as a hash; `None` before they are
    /// read, and where they changed while they were.
    #[doc(hidden)]
    pub fn settings_hash(&self) -> Option<String> {
        self.ready().ok()?.settings_hash.clone()
    }

    /// Whether the settings want a server where none runs.
    #[doc(hidden)]
    pub fn wants_server(&self) -> bool {
        self.ready().is_ok_and(|engine| engine.starts_server)
    }

    /// Whether calls of agents are written down, as far as settings are read.
    pub(crate) fn logs_calls(&self) -> bool {
        self.ready().is_ok_and(|engine| engine.logs_calls)
    }

    /// Why guards of an event may be missing among the hooks: there are settings that cannot be read.
    #[doc(hidden)]
    pub fn unread_guards(&self, event: HookEventName) -> Option<String> {
        self.ready().ok()?.unread_guards(event)
    }

    /// The events there are: the built-in ones, and those that the host, settings and clients declared.
    pub fn events(&self) -> Events {
        self.engine.events()
    }

    /// Declares an event while the system runs, for as long as what is given back is kept. Another
    /// declaration of the same keeps it, too.
    ///
    /// # Errors
    /// When there is an event of that name that means something else, or too many.
    pub fn declare_event(
        &self,
        definition: EventDefinition,
    ) -> Result<DeclaredEvent, DeclareError> {
        self.engine.declare(definition)
    }

    /// Registers a function of the host as a hook while the system runs: it is asked from the next
    /// request on, behind the other hooks of its priority, also after a reload. It goes when what is
    /// given back is dropped.
    ///
    /// ```
    /// use hook_bus::HookSystem;
    /// use hook_core::{BeforeAgentInput, HandlerHook, events::BeforeAgent};
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    ///
    /// let system = HookSystem::builder(".").build()?;
    /// let frozen = system.register(HandlerHook::on::<BeforeAgent>("freeze", |_input, answer| {
    ///     answer.deny("not while the release is built");
    ///     Ok(())
    /// }))?;
    /// assert!(system.fire_before_agent(BeforeAgentInput::new("Hi")).await.is_blocking_decision());
    ///
    /// drop(frozen);
    /// assert!(!system.fire_before_agent(BeforeAgentInput::new("Hi")).await.is_blocking_decision());
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// When its matcher cannot be used, or its event was not declared.
    pub fn register(&self, hook: HandlerHook) -> Result<Registration, RegisterError> {
        self.engine.register(hook, None, Registrant::Host)
    }

    /// As [`register`](Self::register), under an id, and on behalf of somebody else: hooks of clients
    /// are limited by `hooksConfig.registration`.
    ///
    /// # Errors
    /// Also when there is one of that id, or there are too many.
    pub fn register_as(
        &self,
        id: &str,
        hook: HandlerHook,
        registrant: Registrant,
    ) -> Result<Registration, RegisterError> {
        self.engine.register(hook, Some(id), registrant)
    }

    /// The hooks that were registered while the system runs, in the order of their registration.
    pub fn registrations(&self) -> Vec<RegisteredHook> {
        self.engine.registered().list()
    }

    /// Whether an event has a guard (a hook with `failBehavior: block` that is switched on), or may have
    /// one: where settings were not read yet, or could not be. For a caller that could not fire the
    /// event, and must not go on if a hook could have forbidden that.
    pub fn may_have_guard(&self, event: HookEventName) -> bool {
        self.engine.may_have_guard(event)
    }

    fn ready(&self) -> Result<Arc<Engine>, NotInitialized> {
        match self.engine.get() {
            Some(Ok(engine)) => Ok(engine),
            Some(Err(unbuilt)) => Err(NotInitialized::Failed(reason(unbuilt))),
            None => Err(NotInitialized::NotYet),
        }
    }

    /// The clients that have hooks: for what serves clients.
    pub fn live_clients(&self) -> &Arc<LiveClients> {
        &self.live
    }

    /// The modules that are part of the host: their commands, their renderers, and who is told of their
    /// errors.
    pub fn modules(&self) -> &Modules {
        &self.modules
    }

    /// The commands that modules have, in the order in which they were loaded: those in Rust first. Of equal names the
    /// first is the one that is [run](Self::run_command). Modules of JavaScript are loaded for it; why one
    /// cannot be is said by [`loaded_modules`](Self::loaded_modules).
    ///
    /// # Errors
    /// When the system cannot be initialized.
    pub async fn commands(&self) -> Result<Vec<CommandInfo>, NotInitialized> {
        self.initialize().await.map_err(NotInitialized::Failed)?;
        self.load_modules().await?;
        let mut all: Vec<CommandInfo> = self.modules.commands().collect();
        for module in self.loaded_modules()? {
            let info = |it: &ModuleCommand| {
                CommandInfo::new(&it.name, it.description.as_deref(), &module.name)
            };
            all.extend(module.commands.iter().map(info));
        }
        Ok(all)
    }

    /// Runs a command that a module registered. One in Rust has no time limit: whoever waits for it may stop. One in
    /// JavaScript has its module's; it is run by the event `Command`, which is fired for it, and other hooks of that
    /// event with it.
    ///
    /// # Errors
    /// When there is none of that name, it failed, or another hook kept it from being run.
    ///
    /// # Cancellation
    /// Dropping the future ends it.
    pub async fn run_command(
        &self,
        name: &str,
        arguments: &str,
    ) -> Result<CommandOutput, CommandError> {
        // It may run programs, for which there has to be an engine.
        let initialized = self.initialize().await;
        if let Some(command) = self.modules.get_command(name) {
            if let Err(error) = initialized {
                tracing::warn!(target: "hook::module", "a command runs without an engine: {error}");
            }
            let host = self.handler.host();
            return command.run(arguments, &host.cwd, &host.session_id).await;
        }
        let all = self.commands().await.map_err(|error| CommandError::NotInitialized {
            name: shortened(name),
            reason: error.to_string(),
        })?;
        let Some(command) = all.iter().find(|command| command.name == name) else {
            return Err(CommandError::unknown(name, &all));
        };
        let request = HookExecutionRequest::typed(CommandInput::new(name, arguments));
        let response = self.bus.serve(request, ServeBy::Only(&self.served)).await;
        command.came_to(&response)
    }

    /// Detaches from the bus: later requests are answered `no_handler`, accepted ones finish. A
    /// second call does nothing.
    pub fn dispose(&self) {
        self.handler.dispose();
    }

    /// Ends the system: later requests are answered `shutting_down`, accepted ones finish until
    /// the deadline, and are then ended and answered `shutting_down` too. Hooks that nothing waits for
    /// (`async`) have the same deadline. Returns when every
    /// request is answered and every hook's process group is gone, which takes a little longer
    /// than the deadline where a hook ignores TERM.
    pub async fn shutdown(&self, deadline: Duration) {
        let begun = Instant::now();
        self.handler.shut_down(deadline).await;
        self.live.end().await;
        if let Ok(engine) = self.ready() {
            let runner = engine.pipeline.runner();
            let left = deadline.saturating_sub(begun.elapsed());
            let _ = tokio::time::timeout(left, runner.tasks().wait()).await;
            runner.end_background();
            // Last, since hooks that nothing waits for may call them.
            runner.close_workers().await;
        }
        self.clean_up().await;
    }

    /// How many hooks that nothing waits for (`async`) a [`shutdown`](Self::shutdown) ended before they
    /// were done.
    pub fn ended_in_background(&self) -> usize {
        self.ready().map_or(0, |engine| engine.pipeline.runner().ended_in_background())
    }

    /// Waits until nothing runs on behalf of hooks any more: no hook and no clean-up after one.
    pub async fn clean_up(&self) {
        if let Ok(engine) = self.ready() {
            engine.pipeline.runner().tasks().wait().await;
        }
    }

    /// Gives hooks that were told to end no grace any more: they are killed at once. For a user who
    /// does not want to wait for [`shutdown`](Self::shutdown).
    pub fn kill(&self) {
        if let Ok(engine) = self.ready() {
            engine.pipeline.runner().kill();
        }
    }

    /// From now on hooks that have to go are told so by that signal, TERM before. For a command that
    /// hands on what its user sent.
    pub fn end_hooks_with(&self, signal: EndSignal) {
        if let Ok(engine) = self.ready() {
            engine.pipeline.runner().end_with(signal);
        }
    }

    /// Fires an event: publishes a request on the bus, serves it on the caller's own task and
    /// gives the result. Never fails: what went wrong is the result's `failure`. Once this system is
    /// disposed of, nothing is run, but its guards still block.
    ///
    /// # Cancellation
    /// As [`MessageBus::request`].
    pub fn fire(
        &self,
        input: impl Into<RequestInput>,
    ) -> impl Future<Output = ProcessedHookResult> + Send {
        // Built here and not in the future, which would carry the payload through every layer.
        let request = HookExecutionRequest::typed(input);
        async move { self.bus.serve(request, ServeBy::Only(&self.served)).await.processed }
    }
}

fn reason(unbuilt: Arc<Unbuilt>) -> InitializeError {
    unbuilt.error.clone()
}

impl Drop for HookSystem {
    fn drop(&mut self) {
        self.dispose();
    }
}

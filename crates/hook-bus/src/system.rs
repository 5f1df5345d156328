//! A hook system: one engine on one bus, with the API of its host.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use hook_core::{Explanation, HookListing, HookRegistry, ProcessedHookResult};
use hook_json::text::shortened;
use hook_json::{RawObject, opaque_debug};
use hook_protocol::event::DeclareError;
use hook_protocol::{
    CommandInput, EventDefinition, Events, HookEventName, HostContext, RequestInput,
};
use hook_run::{
    Background, EndSignal, HandlerHook, HostServices, ModuleCommand, RunnerHost, RunnerLimits,
    Upstreams,
};
use hook_settings::language::Language;
use hook_settings::{Agents, AuditLevel, Diagnostic, MatchInput, SettingsSource};
use hook_trust::TrustPolicy;

use crate::audit::Audit;
use crate::bridge::repeats::Repeats;
use crate::bridge::state::BridgeState;
use crate::bus::{AlreadyServed, MessageBus, RequestHandler, ServeBy};
use crate::handler::{
    BuildFailure, DeclaredEvent, DeclaredEvents, Engine, EngineOptions, EngineSlot,
    HookEventHandler, InitializeError, NotInitialized, RegisterError, RegisteredHook, Registrant,
    Registration, Registrations, Sources,
};
use crate::live::{LiveClients, LoadedModule, WorkerStates, modules as live_modules, workers};
use crate::message::HookExecutionRequest;
use crate::module::{
    CommandError, CommandInfo, CommandOutput, HookModule, ModuleError, Modules, RenderOptions,
    StyledLine,
};
use crate::redaction::CurrentRedaction;

/// The current status of a hook system.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HookSystemStatus {
    /// `true` once the engine is built.
    pub initialized: bool,
    /// The number of registered hooks.
    pub total_hooks: usize,
    /// The number of requests in progress.
    pub in_flight: usize,
    /// The number of blocking handlers that never returned and still hold a thread.
    pub abandoned_threads: usize,
}

/// A builder for a [`HookSystem`]; see [`HookSystem::builder`].
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
    /// Adds a settings file. The hooks of files run in the order in which the files are added.
    pub fn settings(mut self, source: SettingsSource) -> Self {
        self.options.sources.push(Sources::File(source));
        self
    }

    /// Adds JavaScript or TypeScript modules by file, and trusts them. They share a process, and
    /// run after the hooks of sources added before.
    pub fn module_files(mut self, paths: impl IntoIterator<Item = PathBuf>) -> Self {
        self.options.sources.extend(SettingsSource::modules(paths).map(Sources::File));
        self
    }

    /// Adds the native settings files of project, user and system (reference/settings.md), looked for each
    /// time settings are read. `config_home` is `$XDG_CONFIG_HOME` or its default; `None` skips the
    /// user's files.
    ///
    /// Settings files of other agents that they list under `hooksConfig.agents` are read as well.
    pub fn native_settings(mut self, config_home: Option<&Path>) -> Self {
        self.options.agents.include_user &= config_home.is_some();
        let config_home = config_home.map(Path::to_path_buf);
        self.options.sources.push(Sources::Native { config_home });
        self
    }

    /// Adds the native settings files of further directories that the agent works in, and of the
    /// projects around them. Files of the project that are the same are read once.
    pub fn workspace(mut self, directories: impl IntoIterator<Item = PathBuf>) -> Self {
        self.options.host.workspace.extend(directories);
        self
    }

    /// Reads the settings files of these agents, even if no settings list them. The users' own
    /// files among them are read only if `with_users`.
    pub fn agents(mut self, agents: &[&'static dyn Language], with_users: bool) -> Self {
        self.options.agents.named.extend(agents);
        self.options.agents.include_user &= with_users;
        self
    }

    /// Sets where values that hooks set for their sessions are kept for later processes, and where
    /// [calls of agents](crate::bridge) are logged.
    pub fn bridge_state(mut self, state: Option<BridgeState>) -> Self {
        self.state = state.map(|state| state.for_project(&self.options.host.project));
        self
    }

    /// Makes a server report the hash of its settings, so that a client can compare it with its own
    /// settings.
    pub fn hash_settings(mut self) -> Self {
        self.options.hashes_settings = true;
        self
    }

    /// Rejects settings with errors, including missing files that were named: then
    /// [`initialize`](HookSystem::initialize) fails with all errors, and every event is answered
    /// `planning_failed` and blocks, since a guard may be configured. A reload that finds an error
    /// keeps the previous settings and adds a warning to every response.
    pub fn strict(mut self) -> Self {
        self.options.strict = true;
        self
    }

    /// Declares an event in addition to the built-in ones.
    /// ```
    /// use hook_bus::HookSystem;
    /// use hook_protocol::{EventDefinition, HookOutput, OpenInput};
    /// use hook_run::HandlerHook;
    /// use hook_json::{JsonObject, RawJson};
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
    /// If the name is already declared with another definition, or there are too many events.
    pub fn event(mut self, definition: EventDefinition) -> Result<Self, DeclareError> {
        self.options.events.declare(definition)?;
        Ok(self)
    }

    /// Registers a function of the host as a hook.
    pub fn handler(mut self, handler: HandlerHook) -> Self {
        self.options.handlers.push(handler);
        self
    }

    /// Adds a module's handlers, commands and renderers.
    ///
    /// # Errors
    /// If it registers a handler for an unknown event.
    pub fn module(mut self, module: impl HookModule) -> Result<Self, ModuleError> {
        self.options.handlers.extend(self.modules.load(&module)?);
        Ok(self)
    }

    /// Sets which hooks of the project may run; [`TrustPolicy::Nothing`] by default.
    pub fn trust(mut self, trust: TrustPolicy) -> Self {
        self.options.trust = trust;
        self
    }

    /// Sets the resource limits of each hook.
    pub fn limits(mut self, limits: RunnerLimits) -> Self {
        self.options.host.limits = limits;
        self
    }

    /// Sets the connector to the fleets of engines listed in the settings (`hooksConfig.upstream`).
    /// Without one, the hooks that represent these fleets fail, and block.
    pub fn upstreams(mut self, upstreams: Arc<dyn Upstreams>) -> Self {
        self.options.upstreams = Some(upstreams);
        self
    }

    /// Sets the environment that hooks inherit; this process's own by default.
    pub fn environment(
        mut self,
        variables: impl IntoIterator<Item = (OsString, OsString)>,
    ) -> Self {
        self.options.host.environment = variables.into_iter().collect();
        self
    }

    /// Sets the default session of events, used if a request has none.
    pub fn session_id(mut self, session_id: impl Into<Arc<str>>) -> Self {
        self.context.session_id = session_id.into();
        self
    }

    /// Sets the agent's working directory; the project by default.
    pub fn working_directory(mut self, cwd: impl Into<PathBuf>) -> Self {
        self.context.cwd = cwd.into().to_string_lossy().into();
        self
    }

    /// Sets the path of the session's transcript; none by default.
    pub fn transcript_path(mut self, path: impl Into<PathBuf>) -> Self {
        self.context.transcript_path = path.into().to_string_lossy().into();
        self
    }

    /// Sets the default time limit of a request; none by default, since each hook has its own
    /// timeout.
    pub fn deadline(mut self, deadline: Duration) -> Self {
        self.deadline = Some(deadline);
        self
    }

    /// Sets how `async` hooks run; by default they are started. A process that exits with the event
    /// leaves them to a longer-lived process.
    pub fn background(mut self, background: Background) -> Self {
        self.background = background;
        self
    }

    /// Sets the bus to serve; a new one by default.
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

    /// Sets the services that hooks may call in their host: a question to the user, a tool to run.
    /// Requests with [services of their own](HookExecutionRequest::with_host_services) use those.
    /// Without any, hooks get the answers of a host without a user interface, or errors.
    pub fn host_services(mut self, services: Arc<dyn HostServices>) -> Self {
        self.services = Some(services);
        self
    }

    /// Builds the system and attaches it to the bus. Settings are read on first use.
    ///
    /// # Errors
    /// If the bus already has a handler.
    pub fn build(self) -> Result<HookSystem, AlreadyServed> {
        let (system, attached) = self.build_unattached();
        attached.map(|()| system)
    }

    /// Builds the system and tries to attach it. An unattached system runs no hooks, but knows
    /// which guards must block.
    pub(crate) fn build_unattached(self) -> (HookSystem, Result<(), AlreadyServed>) {
        let bus = self.bus.unwrap_or_default();
        self.modules.ready(self.services.as_ref());
        let registrations = Registrations::new(bus.core().topics());
        let engine = Arc::new(EngineSlot::new(self.options, registrations));
        // The only code that connects bus, engine and log.
        let handler = HookEventHandler::new(
            bus.clone(),
            Arc::clone(&engine),
            self.context,
            self.deadline,
            self.background,
            self.state.clone(),
            self.services,
        );
        let handler = Arc::new(handler.with_module_errors(self.modules.errors()));
        let bus_handler = Arc::clone(&handler) as Arc<dyn RequestHandler>;
        let attached = bus.core().attach(Arc::clone(&bus_handler));
        let live = LiveClients::new(&engine);
        let (state, modules) = (self.state, self.modules);
        (
            HookSystem {
                bus,
                engine,
                handler,
                bus_handler,
                live,
                state,
                repeats: Repeats::default(),
                modules,
            },
            attached,
        )
    }
}

/// Hooks for one agent: an engine, built on first use, that serves a bus.
///
/// Dropping it disposes of it.
/// ```
/// use hook_bus::HookSystem;
/// use hook_protocol::{BeforeAgentInput, HookEventName, HookOutput};
/// use hook_run::HandlerHook;
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
    /// `handler` as a trait object, to compare with the bus's handler.
    bus_handler: Arc<dyn RequestHandler>,
    /// The clients with registered hooks.
    live: Arc<LiveClients>,
    state: Option<BridgeState>,
    /// The calls of agents that may come twice.
    repeats: Repeats,
    modules: Modules,
}

opaque_debug!(HookSystem { bus, engine, handler });

impl HookSystem {
    /// Returns a builder for a project.
    pub fn builder(project: impl Into<PathBuf>) -> HookSystemBuilder {
        // Hooks get the project's path and may run in another directory: make it absolute.
        let project = project.into();
        let project = std::path::absolute(&project).unwrap_or(project);
        let context = HostContext {
            session_id: "".into(),
            cwd: project.to_string_lossy().into(),
            transcript_path: "".into(),
        };
        let host = RunnerHost {
            project,
            workspace: Vec::new(),
            environment: std::env::vars_os().collect(),
            limits: RunnerLimits::default(),
        };
        let options = EngineOptions {
            sources: Vec::new(),
            agents: Agents::known(hook_agents::languages()),
            handlers: Vec::new(),
            host,
            upstreams: None,
            trust: TrustPolicy::Nothing,
            strict: false,
            hashes_settings: false,
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

    /// Reads the settings and builds the engine, if that is not done yet. Concurrent calls do it
    /// once. Otherwise the first event does it.
    ///
    /// # Errors
    /// If the process cannot run hooks. The error is kept until [`reload`]. Errors in settings are
    /// errors here only for a [strict](HookSystemBuilder::strict) system; see [`diagnostics`].
    ///
    /// [`reload`]: Self::reload
    /// [`diagnostics`]: Self::diagnostics
    pub async fn initialize(&self) -> Result<(), InitializeError> {
        self.engine.initialize().await.map(drop).map_err(initialize_error)
    }

    /// Initializes like [`initialize`](Self::initialize), but blocks the caller's thread on file
    /// access. This saves a program with nothing else to do the cost of a thread.
    /// [Workers](Self::start_workers) are not started.
    ///
    /// # Errors
    /// As [`initialize`](Self::initialize).
    pub async fn initialize_blocking(&self) -> Result<(), InitializeError> {
        self.engine.initialize_blocking().await.map(drop).map_err(initialize_error)
    }

    /// Starts the workers with `"start": "eager"`, after
    /// `initialize_blocking`. A worker that fails to start is reported in the
    /// log, and its first call fails.
    pub fn start_workers(&self) {
        if let Ok(engine) = self.built_engine() {
            engine.pipeline.registry().start_workers();
        }
    }

    /// Reads the settings again. Requests in flight keep the old settings. Hooks switched on or off
    /// at run time stay so.
    ///
    /// # Errors
    /// As [`initialize`](Self::initialize); after an error the previous settings stay in effect.
    pub async fn reload(&self) -> Result<(), InitializeError> {
        self.engine.reload().await.map(drop).map_err(initialize_error)
    }

    /// Returns the current status.
    pub fn status(&self) -> HookSystemStatus {
        let engine = self.built_engine().ok();
        HookSystemStatus {
            initialized: engine.is_some(),
            total_hooks: engine.as_ref().map_or(0, |engine| engine.pipeline.registry().len()),
            in_flight: self.handler.in_flight(),
            abandoned_threads: engine
                .as_ref()
                .map_or(0, |engine| engine.pipeline.runner().abandoned_threads()),
        }
    }

    /// Returns the bus that the system serves.
    pub fn bus(&self) -> &MessageBus {
        &self.bus
    }

    /// Returns the handler, with the data that it adds to requests.
    pub(crate) fn handler(&self) -> &HookEventHandler {
        &self.handler
    }

    /// Returns the project's directory.
    pub fn project(&self) -> &Path {
        self.engine.project()
    }

    /// Returns the handler that serves the bus.
    ///
    /// # Errors
    /// Before [`initialize`](Self::initialize), or if that failed.
    pub fn event_handler(&self) -> Result<&Arc<HookEventHandler>, NotInitialized> {
        self.built_engine().map(|_| &self.handler)
    }

    /// Returns the registered hooks.
    ///
    /// # Errors
    /// Before [`initialize`](Self::initialize), or if that failed.
    pub fn registry(&self) -> Result<Arc<HookRegistry>, NotInitialized> {
        self.built_engine().map(|engine| Arc::clone(engine.pipeline.registry()))
    }

    /// Loads the JavaScript modules that may run, if that is not done yet; otherwise the first
    /// event does it. [`loaded_modules`](Self::loaded_modules) returns their errors.
    ///
    /// # Errors
    /// Before [`initialize`](Self::initialize), or if that failed.
    ///
    /// # Cancellation
    /// Dropping the future leaves their process starting.
    pub async fn load_modules(&self) -> Result<(), NotInitialized> {
        let engine = self.built_engine()?;
        workers::load_modules(&engine.pipeline, &self.events(), self.modules.errors()).await;
        Ok(())
    }

    /// Returns the JavaScript modules that may run, in load order: if two commands share a name,
    /// the first one runs.
    ///
    /// # Errors
    /// Before [`initialize`](Self::initialize), or if that failed.
    pub fn loaded_modules(&self) -> Result<Vec<LoadedModule>, NotInitialized> {
        Ok(live_modules::modules(&self.built_engine()?.pipeline))
    }

    /// Renders a message of a module's own type as lines of styled text. The first loaded renderer
    /// of the type is used, Rust modules first. Returns `None` if no [loaded](Self::load_modules)
    /// module renders the type, or if rendering fails, which is logged.
    ///
    /// # Errors
    /// Before [`initialize`](Self::initialize), or if that failed.
    ///
    /// # Cancellation
    /// Dropping the future does not stop the renderer.
    pub async fn render_message(
        &self,
        custom_type: &str,
        message: &RawObject,
        options: RenderOptions,
    ) -> Result<Option<Vec<StyledLine>>, NotInitialized> {
        let engine = self.built_engine()?;
        if let Some(renderer) = self.modules.get_message_renderer(custom_type) {
            return Ok(renderer.render_caught(custom_type, message, options));
        }
        Ok(live_modules::render(&engine.pipeline, custom_type, message, options).await)
    }

    /// Explains which hooks a request would run, and why not the others
    /// ([`HookRegistry::explain`]).
    ///
    /// # Errors
    /// Before [`initialize`](Self::initialize), or if that failed.
    pub fn explain(&self, input: &RequestInput) -> Result<Explanation, NotInitialized> {
        let match_input = MatchInput::of(input, self.handler.host());
        self.built_engine()
            .map(|engine| engine.pipeline.registry().explain(input.event(), &match_input))
    }

    /// Returns the path of the shell that runs commands.
    ///
    /// # Errors
    /// Before [`initialize`](Self::initialize), or if that failed.
    pub fn shell(&self) -> Result<PathBuf, NotInitialized> {
        Ok(self.built_engine()?.pipeline.runner().shell().to_path_buf())
    }

    /// Returns all hooks in run order, and whether each of them runs.
    ///
    /// # Errors
    /// Before [`initialize`](Self::initialize), or if that failed.
    pub fn hooks(&self) -> Result<Vec<HookListing>, NotInitialized> {
        Ok(self.registry()?.list())
    }

    /// Returns the states of the hooks' workers.
    ///
    /// # Errors
    /// Before [`initialize`](Self::initialize), or if that failed.
    pub fn worker_states(&self) -> Result<WorkerStates, NotInitialized> {
        Ok(WorkerStates::of(&self.hooks()?))
    }

    /// Switches all hooks of a name (or of a command, for hooks without a name) on or off,
    /// including hooks added by a later reload. Returns the number of such hooks now.
    ///
    /// # Errors
    /// Before [`initialize`](Self::initialize), or if that failed.
    pub fn set_hook_enabled(&self, name: &str, enabled: bool) -> Result<usize, NotInitialized> {
        self.engine.set_enabled(name, enabled)
    }

    /// Returns the audit of the hooks: at `level`, or, with `None`, at the level of the settings.
    /// It begins with the present hooks.
    ///
    /// The bus does not wait for a slow reader; missed entries are reported as an entry.
    pub fn audit(&self, level: impl Into<Option<AuditLevel>>) -> Audit {
        Audit::begin(&self.bus, &self.engine, level.into())
    }

    /// Returns the effective redaction of audits and recordings.
    pub(crate) fn current_redaction(&self) -> CurrentRedaction {
        CurrentRedaction::of(&self.engine)
    }

    /// Returns all problems found in the settings.
    ///
    /// # Errors
    /// Before [`initialize`](Self::initialize), or if that failed.
    pub fn diagnostics(&self) -> Result<Vec<Diagnostic>, NotInitialized> {
        Ok(self.registry()?.diagnostics().to_vec())
    }

    /// Returns the calls of agents that may come twice.
    pub(crate) fn repeats(&self) -> &Repeats {
        &self.repeats
    }

    /// Returns the state that calls of agents keep for later calls.
    pub(crate) fn bridge_state(&self) -> Option<&BridgeState> {
        self.state.as_ref()
    }

    /// Returns a hash of the effective settings and their trust; `None` before they are read, or if
    /// they changed while being read.
    pub fn settings_hash(&self) -> Option<String> {
        self.built_engine().ok()?.settings_hash.clone()
    }

    /// Checks whether the settings want a server to be started if none runs.
    pub fn wants_server(&self) -> bool {
        self.built_engine().is_ok_and(|engine| engine.starts_server)
    }

    /// Checks whether the settings enable the log of agents' calls; `false` before they are read.
    pub(crate) fn logs_calls(&self) -> bool {
        self.built_engine().is_ok_and(|engine| engine.logs_calls)
    }

    /// Returns why guards of an event may be missing from the hooks, if some settings cannot be
    /// read.
    pub fn unread_guards(&self, event: HookEventName) -> Option<String> {
        self.built_engine().ok()?.unread_guards(Some(event))
    }

    /// Returns all events: built-in ones, and those declared by the host, settings and clients.
    pub fn events(&self) -> Events {
        self.engine.events()
    }

    /// Declares an event while the system runs, until the returned handle is dropped. Other
    /// declarations of the same event keep it alive, too.
    ///
    /// # Errors
    /// If the name is already declared with another definition, or there are too many events.
    pub fn declare_event(
        &self,
        definition: EventDefinition,
    ) -> Result<DeclaredEvent, DeclareError> {
        self.engine.declare(definition)
    }

    /// Registers a function of the host as a hook while the system runs. It is called from the next
    /// request on, after other hooks of its priority, and survives reloads. It is removed when the
    /// returned handle is dropped.
    /// ```
    /// use hook_bus::HookSystem;
    /// use hook_protocol::{BeforeAgentInput, events::BeforeAgent};
    /// use hook_run::HandlerHook;
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
    /// If its matcher is invalid, or its event is not declared.
    pub fn register(&self, hook: HandlerHook) -> Result<Registration, RegisterError> {
        self.engine.register(hook, None, Registrant::Host)
    }

    /// Registers like [`register`](Self::register), with an id and a registrant. The number of
    /// hooks of clients is limited by `hooksConfig.registration`.
    ///
    /// # Errors
    /// Also if the id is taken, or there are too many hooks.
    pub fn register_as(
        &self,
        id: &str,
        hook: HandlerHook,
        registrant: Registrant,
    ) -> Result<Registration, RegisterError> {
        self.engine.register(hook, Some(id), registrant)
    }

    /// Returns the hooks registered at run time, in registration order.
    pub fn registrations(&self) -> Vec<RegisteredHook> {
        self.engine.registered().list()
    }

    /// Checks whether an event has a guard (an enabled hook with `failBehavior: block`) or may have
    /// one because settings are not read yet or unreadable. For a caller that could not fire the
    /// event and must not continue if a hook could have forbidden it.
    pub fn may_have_guard(&self, event: HookEventName) -> bool {
        self.engine.may_have_guard(event)
    }

    fn built_engine(&self) -> Result<Arc<Engine>, NotInitialized> {
        match self.engine.get() {
            Some(Ok(engine)) => Ok(engine),
            Some(Err(unbuilt)) => Err(NotInitialized::Failed(initialize_error(unbuilt))),
            None => Err(NotInitialized::NotYet),
        }
    }

    /// Returns the clients with registered hooks, for servers.
    pub fn live_clients(&self) -> &Arc<LiveClients> {
        &self.live
    }

    /// Returns the host's own Rust modules: their commands, renderers and error handlers.
    pub fn modules(&self) -> &Modules {
        &self.modules
    }

    /// Returns the commands of all modules in load order, Rust modules first. If names are equal,
    /// the first one [runs](Self::run_command). JavaScript modules are loaded first;
    /// [`loaded_modules`](Self::loaded_modules) returns their errors.
    ///
    /// # Errors
    /// If the system cannot be initialized.
    pub async fn commands(&self) -> Result<Vec<CommandInfo>, NotInitialized> {
        self.initialize().await.map_err(NotInitialized::Failed)?;
        self.load_modules().await?;
        let mut all: Vec<CommandInfo> = self.modules.commands().collect();
        for module in self.loaded_modules()? {
            let info = |command: &ModuleCommand| {
                CommandInfo::new(&command.name, command.description.as_deref(), &module.name)
            };
            all.extend(module.commands.iter().map(info));
        }
        Ok(all)
    }

    /// Runs a command of a module. A Rust command has no time limit; the caller may cancel it. A
    /// JavaScript command has its module's timeout, and runs as a hook of the event `Command`,
    /// along with other hooks of that event.
    ///
    /// # Errors
    /// If the command is unknown or failed, or another hook blocked it.
    ///
    /// # Cancellation
    /// Dropping the future cancels the command.
    pub async fn run_command(
        &self,
        name: &str,
        arguments: &str,
    ) -> Result<CommandOutput, CommandError> {
        // The command may run programs, which needs an engine.
        let initialized = self.initialize().await;
        if let Some(command) = self.modules.get_command(name) {
            if let Err(error) = initialized {
                tracing::warn!(target: "hook::module", "a command runs without an engine: {error}");
            }
            let host = self.handler.host();
            return command.run(arguments, &host.cwd, &host.session_id).await;
        }
        let commands = self.commands().await.map_err(|error| CommandError::NotInitialized {
            name: shortened(name),
            reason: error.to_string(),
        })?;
        let Some(command) = commands.iter().find(|command| command.name == name) else {
            return Err(CommandError::unknown(name, &commands));
        };
        let request = HookExecutionRequest::typed(CommandInput::new(name, arguments));
        let response = self.bus.serve(request, ServeBy::Only(&self.bus_handler)).await;
        command.output_of(&response)
    }

    /// Detaches from the bus: later requests are answered `no_handler`, accepted ones finish.
    /// Calling it again does nothing.
    pub fn dispose(&self) {
        self.handler.dispose();
    }

    /// Shuts the system down: later requests are answered `shutting_down`; accepted ones and
    /// `async` hooks may finish until the deadline, and are then cancelled, the requests answered
    /// `shutting_down` too. Returns when every request is answered and every hook's process group
    /// is gone. This takes a little longer than the deadline if a hook ignores TERM.
    pub async fn shutdown(&self, deadline: Duration) {
        let started_at = Instant::now();
        self.handler.shut_down(deadline).await;
        self.live.shut_down().await;
        if let Ok(engine) = self.built_engine() {
            let runner = engine.pipeline.runner();
            let remaining = deadline.saturating_sub(started_at.elapsed());
            let _ = tokio::time::timeout(remaining, runner.tasks().wait()).await;
            runner.end_background();
            // Last, since `async` hooks may call workers.
            runner.close_workers().await;
        }
        self.clean_up().await;
    }

    /// Returns the number of `async` hooks cancelled by [`shutdown`](Self::shutdown).
    pub fn ended_in_background(&self) -> usize {
        self.built_engine().map_or(0, |engine| engine.pipeline.runner().ended_in_background())
    }

    /// Waits until no hook, and no clean-up after one, runs any more.
    pub async fn clean_up(&self) {
        if let Ok(engine) = self.built_engine() {
            engine.pipeline.runner().tasks().wait().await;
        }
    }

    /// Kills all hooks that are being terminated, without their grace period. For a user who does
    /// not want to wait for [`shutdown`](Self::shutdown).
    pub fn kill(&self) {
        if let Ok(engine) = self.built_engine() {
            engine.pipeline.runner().kill();
        }
    }

    /// Sets the signal that terminates hooks from now on, TERM by default. For a command that
    /// forwards its own signal.
    pub fn set_end_signal(&self, signal: EndSignal) {
        if let Ok(engine) = self.built_engine() {
            engine.pipeline.runner().end_with(signal);
        }
    }

    /// Fires an event: publishes a request on the bus, serves it on the caller's task and returns
    /// the result. Never fails: an error is in the result's `failure`. After disposal nothing runs,
    /// but guards still block.
    ///
    /// # Cancellation
    /// As [`MessageBus::request`].
    pub fn fire(
        &self,
        input: impl Into<RequestInput>,
    ) -> impl Future<Output = ProcessedHookResult> + Send {
        // Built outside the future, which would otherwise carry the payload through every layer.
        let request = HookExecutionRequest::typed(input);
        async move { self.bus.serve(request, ServeBy::Only(&self.bus_handler)).await.processed }
    }
}

fn initialize_error(unbuilt: Arc<BuildFailure>) -> InitializeError {
    unbuilt.error.clone()
}

impl Drop for HookSystem {
    fn drop(&mut self) {
        self.dispose();
    }
}

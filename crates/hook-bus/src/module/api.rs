//! The API with which a module registers handlers, commands and renderers.

use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

use futures::FutureExt;
use hook_agents::Agent;
use hook_json::RawObject;
use hook_json::text::shortened;
use hook_protocol::{Events, HookEventName};
use hook_run::{
    CommandContext, HandlerHook, HookContext, ModuleErrors, ModuleEvent, ModuleHandle,
    ModuleHandler, ModuleReturn,
};
use hook_settings::FailBehavior;

use super::command::{CommandReturn, RegisteredCommand};
use super::renderer::{MessageRenderer, RenderOptions};
use super::styled::StyledLine;

/// The agent whose event names modules use.
const AGENT_NAME: &str = "omp";

/// The timeout of a handler, without questions to the user.
const HANDLER_TIMEOUT: Duration = Duration::from_secs(60);

/// A module that is part of the host: it registers handlers, commands and renderers.
/// ```
/// use hook_bus::HookSystem;
/// use hook_bus::module::{HookModule, ModuleApi};
/// use hook_protocol::BeforeToolInput;
/// use hook_run::ModuleAnswer;
/// use hook_json::RawObject;
/// use hook_protocol::ToolName;
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
///
/// struct NoShell;
///
/// impl HookModule for NoShell {
///     fn register(&self, api: &mut ModuleApi) {
///         api.on("tool_call", |event, _ctx| async move {
///             let is_shell = event.tool_name().as_deref() == Some("bash");
///             Ok(is_shell.then(|| ModuleAnswer::block("no shell today")))
///         });
///     }
/// }
///
/// let system = HookSystem::builder(".").module(NoShell)?.build()?;
/// let shell = BeforeToolInput::new(ToolName::new("run_shell_command")?, RawObject::empty());
/// assert_eq!(system.fire(shell).await.reason.as_deref(), Some("no shell today"));
/// # Ok(())
/// # }
/// ```
pub trait HookModule {
    /// Returns the module's name in messages and error reports; its type's name by default.
    fn path(&self) -> &str {
        std::any::type_name::<Self>()
    }

    /// Registers the module's handlers, commands and renderers. Handlers run in the order of
    /// modules, then of registration.
    fn register(&self, api: &mut ModuleApi);
}

/// The error of loading a module.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ModuleError {
    /// The module registers a handler for an unknown event.
    #[error("module {module}: there is no event {event:?}; it may register handlers for {known}")]
    UnknownEvent {
        /// The module.
        module: String,
        /// The unknown event.
        event: String,
        /// The known events.
        known: String,
    },
}

/// The registry that is passed to a module.
#[derive(Debug)]
pub struct ModuleApi {
    handle: ModuleHandle,
    errors: Arc<ModuleErrors>,
    pub(super) hooks: Vec<HandlerHook>,
    pub(super) commands: Vec<Arc<RegisteredCommand>>,
    pub(super) renderers: Vec<(String, MessageRenderer)>,
    problem: Option<ModuleError>,
}

impl ModuleApi {
    /// Lets a module register its items.
    ///
    /// # Errors
    /// If it registers a handler for an unknown event.
    pub(super) fn load(
        module: &impl HookModule,
        errors: &Arc<ModuleErrors>,
    ) -> Result<Self, ModuleError> {
        let mut api = Self {
            handle: ModuleHandle::new(module.path()),
            errors: Arc::clone(errors),
            hooks: Vec::new(),
            commands: Vec::new(),
            renderers: Vec::new(),
            problem: None,
        };
        module.register(&mut api);
        match api.problem.take() {
            Some(problem) => Err(problem),
            None => Ok(api),
        }
    }

    /// Registers a handler for an event by its name for modules, such as `tool_call`. Its timeout
    /// is 60 s, or ten minutes while a question to the user is open. A handler that fails before a
    /// tool blocks the tool.
    pub fn on<F>(
        &mut self,
        event: &str,
        handler: impl Fn(ModuleEvent, HookContext) -> F + Send + Sync + 'static,
    ) where
        F: Future<Output = ModuleReturn> + Send + 'static,
    {
        let words: Option<&'static Agent> = hook_agents::agent(AGENT_NAME);
        let resolved =
            words.and_then(|agent| agent.registered_hook(event, None, &Events::built_in()));
        let Some((native_event, foreign)) = resolved else {
            let known_events: Vec<&str> = words.into_iter().flat_map(Agent::event_names).collect();
            self.problem.get_or_insert_with(|| ModuleError::UnknownEvent {
                module: self.handle.path().to_string(),
                event: shortened(event),
                known: known_events.join(", "),
            });
            return;
        };
        let name = format!("{}:{event}", self.handle.path());
        let handler = ModuleHandler::new(&self.handle, &self.errors, handler);
        let fail_behavior = match native_event == HookEventName::BeforeTool {
            true => FailBehavior::Block,
            false => FailBehavior::Continue,
        };
        let hook = HandlerHook::of_module(native_event, name, handler, Arc::new(foreign));
        self.hooks.push(hook.timeout(HANDLER_TIMEOUT).fail_behavior(fail_behavior));
    }

    /// Registers a command, which a user runs by its name
    /// ([`HookSystem::run_command`](crate::HookSystem::run_command)). If names are equal, the first
    /// one loaded is used.
    pub fn register_command<F>(
        &mut self,
        name: &str,
        description: &str,
        handler: impl Fn(String, CommandContext) -> F + Send + Sync + 'static,
    ) where
        F: Future<Output = CommandReturn> + Send + 'static,
    {
        self.commands.push(Arc::new(RegisteredCommand {
            name: name.to_owned(),
            description: (!description.is_empty()).then(|| description.to_owned()),
            module: self.handle.clone(),
            function: Box::new(move |arguments, context| handler(arguments, context).boxed()),
        }));
    }

    /// Registers a renderer for messages of a type (their `customType`). If types are equal, the
    /// first one loaded is used.
    pub fn register_message_renderer(
        &mut self,
        custom_type: &str,
        renderer: impl Fn(&RawObject, RenderOptions) -> Vec<StyledLine> + Send + Sync + 'static,
    ) {
        self.renderers.push((custom_type.to_owned(), MessageRenderer(Arc::new(renderer))));
    }

    /// Returns the handle with which the module calls its host later: messages, entries, programs.
    /// Calls fail until the host is ready.
    pub fn handle(&self) -> &ModuleHandle {
        &self.handle
    }

    /// Returns the module's log: `tracing` records of the target `hook::module`.
    pub fn logger(&self) -> ModuleLogger {
        ModuleLogger { module: Arc::clone(self.handle.path()) }
    }
}

/// The log of a module.
#[derive(Debug, Clone)]
pub struct ModuleLogger {
    module: Arc<str>,
}

impl ModuleLogger {
    fn sanitize(message: &str) -> String {
        shortened(message)
    }

    /// Logs an error.
    pub fn error(&self, message: &str) {
        tracing::error!(target: "hook::module", module = &*self.module, "{}", Self::sanitize(message));
    }

    /// Logs a warning.
    pub fn warn(&self, message: &str) {
        tracing::warn!(target: "hook::module", module = &*self.module, "{}", Self::sanitize(message));
    }

    /// Logs information.
    pub fn info(&self, message: &str) {
        tracing::info!(target: "hook::module", module = &*self.module, "{}", Self::sanitize(message));
    }

    /// Logs details for debugging.
    pub fn debug(&self, message: &str) {
        tracing::debug!(target: "hook::module", module = &*self.module, "{}", Self::sanitize(message));
    }
}

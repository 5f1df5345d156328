//! Running one command of a module.

use std::panic::AssertUnwindSafe;

use futures::FutureExt;
use futures::future::BoxFuture;
use hook_core::ErrorReport;
use hook_json::opaque_debug;
use hook_json::text::shortened;
use hook_run::{CommandContext, HookIdentity, HookKind, ModuleHandle};

use crate::message::HookExecutionResponse;

/// A command's result: a text to show, nothing, or an error.
pub type CommandReturn = Result<Option<String>, Box<dyn std::error::Error + Send + Sync>>;

/// The output of a command.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct CommandOutput {
    /// The text to show.
    pub text: Option<String>,
    /// The prompt for the model in place of the command. Only other hooks of `Command` set it.
    pub prompt: Option<String>,
    /// Warnings for the user.
    pub warnings: Vec<String>,
}

/// A command of a Rust or JavaScript module.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct CommandInfo {
    /// The command's name.
    pub name: String,
    /// The command's description.
    pub description: Option<String>,
    /// The module.
    pub module: String,
}

impl CommandInfo {
    pub(crate) fn new(name: &str, description: Option<&str>, module: &str) -> Self {
        Self {
            name: name.to_owned(),
            description: description.map(str::to_owned),
            module: module.to_owned(),
        }
    }

    /// Returns the command's output from the response to its event, `Command`.
    ///
    /// # Errors
    /// If the command failed, or was not run.
    pub fn output_of(
        &self,
        response: &HookExecutionResponse,
    ) -> Result<CommandOutput, CommandError> {
        let result = &response.processed;
        let command_failed = |error: &str| CommandError::failed(&self.name, &self.module, error);
        // If several commands share a name, only the first runs. Failures of other hooks are
        // warnings.
        let command_result = response.hooks.iter().find(|ran| is_command(&ran.hook));
        let is_own_error = |error: &&ErrorReport| {
            command_result
                .is_some_and(|hook| error.hook.as_deref() == Some(hook.hook.display_name()))
        };
        if let Some(error) = result.aggregated.errors.iter().find(is_own_error) {
            return Err(command_failed(&error.message));
        }
        if let Some(failure) = response.error() {
            return Err(command_failed(&failure.message));
        }
        if command_result.is_none() {
            return Err(self.not_run_error(response));
        }
        let output = result.aggregated.final_output.as_deref();
        let field_text = |field: &str| output.and_then(|output| output.specific(field)?.to_text());
        let (text, prompt) = (field_text("text"), field_text("prompt"));
        Ok(CommandOutput { text, prompt, warnings: result.warnings.clone() })
    }

    /// Returns the error that the command was not run.
    fn not_run_error(&self, response: &HookExecutionResponse) -> CommandError {
        let result = &response.processed;
        let not_started = response.not_started.iter().find(|entry| is_command(&entry.hook));
        let ended_by = not_started.map(|entry| {
            let ender = shortened(&entry.ended_by);
            match result.stop_reason.as_deref().filter(|_| result.should_stop) {
                Some(reason) => format!("hook {ender} stopped the agent: {reason}"),
                None => format!("hook {ender} skipped what comes after it"),
            }
        });
        let reason = ended_by.unwrap_or_else(|| "it is switched off, or changed".to_owned());
        CommandError::NotRun { name: shortened(&self.name), reason: shortened(&reason) }
    }
}

/// Checks whether a hook of the event `Command` is a module's command.
fn is_command(hook: &HookIdentity) -> bool {
    hook.kind() == HookKind::Module.as_str()
}

type Function = dyn Fn(String, CommandContext) -> BoxFuture<'static, CommandReturn> + Send + Sync;

/// A command that a module registered.
pub struct RegisteredCommand {
    pub(super) name: String,
    pub(super) description: Option<String>,
    pub(super) module: ModuleHandle,
    pub(super) function: Box<Function>,
}

/// The error of a command.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum CommandError {
    /// The name is unknown.
    #[error("there is no command {name:?}; {}", listed(.known))]
    Unknown {
        /// The unknown name.
        name: String,
        /// The known commands.
        known: Vec<String>,
    },
    /// Another hook kept the command from running.
    #[error("the command {name} was not run: {reason}")]
    NotRun {
        /// The command.
        name: String,
        /// The reason.
        reason: String,
    },
    /// JavaScript modules are not available, and no Rust module has the command.
    #[error("the command {name} is not known: {reason}")]
    NotInitialized {
        /// The command.
        name: String,
        /// The reason.
        reason: String,
    },
    /// The command failed.
    #[error("the command {name} of module {module} failed: {error}")]
    Failed {
        /// The command.
        name: String,
        /// The module.
        module: String,
        /// The error.
        error: String,
    },
}

impl CommandError {
    pub(crate) fn failed(name: &str, module: &str, error: &str) -> Self {
        Self::Failed { name: shortened(name), module: module.to_owned(), error: shortened(error) }
    }

    pub(crate) fn unknown(name: &str, known: &[CommandInfo]) -> Self {
        let known = known.iter().map(|command| shortened(&command.name)).collect();
        Self::Unknown { name: shortened(name), known }
    }
}

fn listed(names: &[String]) -> String {
    match names.is_empty() {
        true => "no module registers any".to_owned(),
        false => format!("there are {}", names.join(", ")),
    }
}

impl RegisteredCommand {
    /// Returns the command's name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns the command's description.
    pub fn description(&self) -> Option<&str> {
        self.description.as_deref()
    }

    /// Returns the name of the module.
    pub fn module(&self) -> &str {
        self.module.path()
    }

    /// Runs the command in this directory and session.
    pub(crate) async fn run(
        &self,
        arguments: &str,
        cwd: &str,
        session_id: &str,
    ) -> Result<CommandOutput, CommandError> {
        let command_failed =
            |error: String| CommandError::failed(&self.name, self.module(), &error);
        let context = CommandContext::of(&self.module, cwd, session_id);
        let context = context.map_err(|error| command_failed(error.to_string()))?;
        let (arguments, own_context) = (arguments.to_owned(), context.clone());
        // It may panic before it returns its future, too.
        let command = async move { (self.function)(arguments, own_context).await };
        let result = context.scope(AssertUnwindSafe(command).catch_unwind()).await;
        let warnings = context.take_failures();
        match result {
            Ok(Ok(text)) => Ok(CommandOutput { text, prompt: None, warnings }),
            Ok(Err(error)) => Err(command_failed(error.to_string())),
            Err(_) => Err(command_failed("it panicked".to_owned())),
        }
    }
}

opaque_debug!(RegisteredCommand { name });

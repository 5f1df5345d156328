//! One command of a module, run.

use std::fmt;
use std::panic::AssertUnwindSafe;

use futures::FutureExt;
use futures::future::BoxFuture;
use hook_core::run::{CommandContext, ModuleHandle};
use hook_core::text::shortened;
use hook_core::{ErrorReport, HookIdentity, HookKind};

use crate::message::HookExecutionResponse;

/// What a command returns: a text to be shown, nothing, or why it failed.
pub type CommandReturn = Result<Option<String>, Box<dyn std::error::Error + Send + Sync>>;

/// What came of a command.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct CommandOutput {
    /// What is to be shown.
    pub text: Option<String>,
    /// What is to be said to the model in the place of the command. Only other hooks of `Command` say that.
    pub prompt: Option<String>,
    /// What the user should be told.
    pub warnings: Vec<String>,
}

/// A command that there is, of a module in Rust or in JavaScript.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct CommandInfo {
    /// What it is run by.
    pub name: String,
    /// What it is for.
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

    /// What it means for the command what its event, `Command`, has come to.
    ///
    /// # Errors
    /// When it failed, or was not run.
    pub fn came_to(&self, response: &HookExecutionResponse) -> Result<CommandOutput, CommandError> {
        let result = &response.processed;
        let failed = |error: &str| CommandError::failed(&self.name, &self.module, error);
        // Of several commands of one name only the first is run. What fails of other hooks is a warning.
        let ran = response.hooks.iter().find(|ran| is_command(&ran.hook));
        let is_its = |error: &&ErrorReport| {
            ran.is_some_and(|ran| error.hook.as_deref() == Some(ran.hook.display_name()))
        };
        if let Some(error) = result.aggregated.errors.iter().find(is_its) {
            return Err(failed(&error.message));
        }
        if let Some(failure) = response.error() {
            return Err(failed(&failure.message));
        }
        if ran.is_none() {
            return Err(self.not_run(response));
        }
        let output = result.aggregated.final_output.as_deref();
        let said = |field: &str| output.and_then(|output| output.specific(field)?.to_text());
        let (text, prompt) = (said("text"), said("prompt"));
        Ok(CommandOutput { text, prompt, warnings: result.warnings.clone() })
    }

    /// Why it was not run.
    fn not_run(&self, response: &HookExecutionResponse) -> CommandError {
        let result = &response.processed;
        let not_started = response.not_started.iter().find(|it| is_command(&it.hook));
        let ended_by = not_started.map(|it| {
            let by = shortened(&it.ended_by);
            match result.stop_reason.as_deref().filter(|_| result.should_stop) {
                Some(reason) => format!("hook {by} stopped the agent: {reason}"),
                None => format!("hook {by} skipped what comes after it"),
            }
        });
        let reason = ended_by.unwrap_or_else(|| "it is switched off, or changed".to_owned());
        CommandError::NotRun { name: shortened(&self.name), reason: shortened(&reason) }
    }
}

/// Whether a hook of the event `Command` is a module's command.
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

/// Why a command was not run, or failed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum CommandError {
    /// There is none of that name.
    #[error("there is no command {name:?}; {}", listed(.known))]
    Unknown {
        /// What was asked for.
        name: String,
        /// The commands that there are.
        known: Vec<String>,
    },
    /// Another hook kept it from being run.
    #[error("the command {name} was not run: {reason}")]
    NotRun {
        /// The command.
        name: String,
        /// Why.
        reason: String,
    },
    /// Modules of JavaScript are not to be had, and it is none of those in Rust.
    #[error("the command {name} is not known: {reason}")]
    NotInitialized {
        /// The command.
        name: String,
        /// Why.
        reason: String,
    },
    /// It failed.
    #[error("the command {name} of module {module} failed: {error}")]
    Failed {
        /// The command.
        name: String,
        /// The module.
        module: String,
        /// What went wrong.
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
    /// What it is run by.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// What it is for.
    pub fn description(&self) -> Option<&str> {
        self.description.as_deref()
    }

    /// The module.
    pub fn module(&self) -> &str {
        self.module.path()
    }

    /// Runs it, in that directory and session.
    pub(crate) async fn run(
        &self,
        arguments: &str,
        cwd: &str,
        session_id: &str,
    ) -> Result<CommandOutput, CommandError> {
        let failed = |error: String| CommandError::failed(&self.name, self.module(), &error);
        let context = CommandContext::of(&self.module, cwd, session_id);
        let context = context.map_err(|error| failed(error.to_string()))?;
        let (arguments, own) = (arguments.to_owned(), context.clone());
        // It may panic before it returns its future, too.
        let command = async move { (self.function)(arguments, own).await };
        let ended = context.scope(AssertUnwindSafe(command).catch_unwind()).await;
        let warnings = context.take_lost();
        match ended {
            Ok(Ok(text)) => Ok(CommandOutput { text, prompt: None, warnings }),
            Ok(Err(error)) => Err(failed(error.to_string())),
            Err(_) => Err(failed("it panicked".to_owned())),
        }
    }
}

impl fmt::Debug for RegisteredCommand {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("RegisteredCommand")
            .field("name", &self.name)
            .field("module", &self.module())
            .finish_non_exhaustive()
    }
}

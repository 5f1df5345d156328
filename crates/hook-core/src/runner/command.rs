//! Hooks that are shell commands.

use std::io;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::Arc;

use futures::FutureExt;
use tokio::process::Command;

use super::RunnerLimits;
use super::answer::{Answer, Ending, interpret};
use super::environment::{HostEnvironment, MAX_DEPTH, Shell};
use super::executor::{Execution, HookCall, HookExecutor, HookInput, HookKind, ProcessReport, Run};
use super::process::{self, ProcessCall};
use super::quoting::quote_project_directory;
use super::termination::{EngineTasks, Group};
use crate::failure::HookFailure;

/// What all command hooks of one source share.
#[derive(Debug)]
pub(super) struct CommandContext {
    pub(super) shell: Shell,
    pub(super) environment: HostEnvironment,
    pub(super) limits: RunnerLimits,
    pub(super) tasks: EngineTasks,
}

/// A hook that is a shell command.
#[derive(Debug)]
pub(super) struct CommandExecutor {
    command: String,
    /// What the shell is given: the command with its project directory quoted.
    script: Arc<str>,
    env: Arc<[(String, String)]>,
    context: Arc<CommandContext>,
}

impl CommandExecutor {
    pub(super) fn new(
        command: String,
        env: Vec<(String, String)>,
        context: Arc<CommandContext>,
    ) -> Self {
        let script = match cfg!(unix) {
            true => quote_project_directory(&command).into(),
            false => command.as_str().into(),
        };
        Self { command, script, env: env.into(), context }
    }
}

impl HookExecutor for CommandExecutor {
    fn kind(&self) -> HookKind {
        HookKind::Command
    }

    fn label(&self) -> &str {
        &self.command
    }

    fn execute(&self, call: HookCall) -> Execution {
        let depth = self.context.environment.depth;
        if depth > MAX_DEPTH {
            return Execution::Done(Answer::failed(HookFailure::TooDeep { depth }).into());
        }
        let script = Arc::clone(&self.script);
        let env = Arc::clone(&self.env);
        let context = Arc::clone(&self.context);
        Execution::Running(async move { run(&script, &env, &context, call).await }.boxed())
    }
}

async fn run(
    script: &str,
    env: &[(String, String)],
    context: &CommandContext,
    mut call: HookCall,
) -> Run {
    let input = call.input.clone();
    let mut warnings = Vec::new();
    let directory = Path::new(&*input.cwd);
    let mut ran = spawn_in(directory, script, env, context, &mut call).await;
    if let Err(error) = &ran
        && let Some(reason) = cannot_enter(directory, error)
    {
        // A guard must not vanish with its folder.
        let project = &context.environment.project;
        warnings.push(format!(
            "the working directory {} cannot be entered ({reason}); the hook runs in the project \
             directory {}",
            directory.display(),
            project.display()
        ));
        ran = spawn_in(project, script, env, context, &mut call).await;
    }
    let (ending, process) = match ran {
        Ok(ran) => ran,
        Err(error) => (Ending::Failed(spawn_failure(error, context)), ProcessReport::default()),
    };
    let mut answer = interpret(input.event(), ending, &process.stdout.bytes, &process.stderr.bytes);
    warnings.append(&mut answer.warnings);
    for (stream, captured) in [("stdout", &process.stdout), ("stderr", &process.stderr)] {
        if captured.dropped > 0 {
            warnings.push(format!("{} bytes of {stream} were cut", captured.dropped));
        }
    }
    if process.leaked {
        warnings.push(
            "something the hook started still held its output open after it had exited".to_owned(),
        );
    }
    answer.warnings = warnings;
    Run { answer, process }
}

async fn spawn_in(
    directory: &Path,
    script: &str,
    env: &[(String, String)],
    context: &CommandContext,
    call: &mut HookCall,
) -> io::Result<(Ending, ProcessReport)> {
    let input: &HookInput = &call.input;
    let mut command = Command::new(&context.shell.program);
    command
        .args(context.shell.arguments)
        .arg(script)
        .current_dir(directory)
        .env_clear()
        .envs(context.environment.variables(input, env))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    Group::prepare(&mut command);
    let process = ProcessCall {
        stdin: input.to_raw().as_str().as_bytes(),
        timeout: call.timeout,
        cancel: &call.cancel,
        slots: &mut call.slots,
        limits: &context.limits,
        tasks: &context.tasks,
    };
    process::run(&mut command, process).await
}

/// Why a directory cannot be entered, if that is what kept the process from starting.
fn cannot_enter(directory: &Path, error: &io::Error) -> Option<io::Error> {
    use io::ErrorKind::{InvalidInput, NotADirectory, NotFound, PermissionDenied};
    if !matches!(error.kind(), NotFound | NotADirectory | PermissionDenied | InvalidInput) {
        return None;
    }
    std::fs::read_dir(directory).err()
}

fn spawn_failure(error: io::Error, context: &CommandContext) -> HookFailure {
    let project: &PathBuf = &context.environment.project;
    match cannot_enter(project, &error) {
        Some(reason) => {
            HookFailure::Directory { directory: project.clone(), source: reason.into() }
        }
        None => HookFailure::Spawn { program: context.shell.program.clone(), source: error.into() },
    }
}

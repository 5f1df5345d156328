//! Programs that the engine runs for a hook (`exec`). They have a timeout and captured output like
//! the engine's own hooks, so a hook cannot hang in one.

use std::path::PathBuf;
use std::process::Command;
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::{Semaphore, oneshot};
use tokio_util::sync::CancellationToken;

use super::host::HostCallError;
use crate::answer::Ending;
use crate::command::{CommandContext, ProcessCall, RunVariables, run_process};
use crate::executor::Slots;
use crate::session_env::SessionEnv;
use crate::tree::ProcessTree;
use hook_json::{ObjectWriter, RawJson, RawObject};
use hook_protocol::failure::HookFailure;

/// The method that the engine itself answers.
pub(super) const EXEC: &str = "exec";

/// The maximum number of concurrent programs for the hooks of one source.
const MAX_CONCURRENT: usize = 8;

/// The default timeout of a program.
const DEFAULT_TIMEOUT: Duration = Duration::from_secs(60);

/// Runs programs for hooks.
#[derive(Debug)]
pub(crate) struct Programs {
    context: Arc<CommandContext>,
    permits: Semaphore,
}

/// The program in a request.
struct ProgramRequest {
    command: String,
    arguments: Vec<String>,
    directory: PathBuf,
    env: Vec<(String, String)>,
    timeout: Duration,
}

impl Programs {
    pub(crate) fn new(context: Arc<CommandContext>) -> Self {
        Self { context, permits: Semaphore::new(MAX_CONCURRENT) }
    }

    /// Runs a program to its end, for a hook at this nesting depth.
    ///
    /// # Errors
    /// Fails on invalid parameters, or if the program cannot start. Its own failure is no error.
    ///
    /// # Cancellation
    /// Dropping the future ends the program.
    pub(crate) async fn run(
        self: Arc<Self>,
        params: RawJson,
        depth: u32,
    ) -> Result<RawJson, HostCallError> {
        let request = self.read(&params).map_err(HostCallError::failed)?;
        let depth = depth.saturating_add(1);
        let depth_check = self.context.check_depth(depth);
        depth_check.map_err(|error| HostCallError::failed(error.to_string()))?;
        let Ok(_permit) = self.permits.acquire().await else {
            return Err(HostCallError::failed("the engine is ending"));
        };
        let context = Arc::clone(&self.context);
        let environment = &context.environment;
        let mut running = context.running.enter(environment.outer_token.as_deref(), depth);
        let depth = environment.depth.saturating_add(depth).to_string();
        let no_session = SessionEnv::default();
        let run = RunVariables { depth: &depth, token: running.token(), session: (&no_session, 0) };
        let mut process = Command::new(&request.command);
        process.args(&request.arguments).current_dir(&request.directory).env_clear();
        process.envs(environment.lasting_variables(&run, &request.env));
        let tree = ProcessTree::spawn(process).map_err(|error| {
            let command = hook_json::text::shortened(&request.command);
            HostCallError::failed(format!("failed to start {command}: {error}"))
        })?;
        running.record_group(tree.group());
        let cancel = CancellationToken::new();
        let cancel_guard = cancel.clone().drop_guard();
        let (sender, receiver) = oneshot::channel();
        let timeout = request.timeout;
        // A task of the engine, so that the program is also ended when its caller is gone.
        context.tasks.tracker.clone().spawn(async move {
            let slots = Slots { running: Some(running), ..Slots::default() };
            let call = ProcessCall {
                stdin: &[],
                timeout,
                cancel: &cancel,
                slots,
                limits: &context.limits,
                tasks: &context.tasks,
            };
            let _ = sender.send(run_process(tree, call).await);
        });
        let outcome = receiver.await;
        drop(cancel_guard);
        let (ending, report) =
            outcome.map_err(|_| HostCallError::failed("the engine ended before it"))?;
        let killed = matches!(ending, Ending::Failed(HookFailure::TimedOut { .. }));
        // Numbered like in a shell if a signal ended the program.
        let code = report.exit_code.or_else(|| report.signal.map(|signal| 128 + signal));
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        let dropped = report.stdout.dropped + report.stderr.dropped;
        let result = RawObject::build(|object: &mut ObjectWriter<'_>| {
            object.text("stdout", &text(&report.stdout.bytes));
            object.text("stderr", &text(&report.stderr.bytes));
            object.integer("code", code.unwrap_or(if killed { 143 } else { 1 }).into());
            object.bool("killed", killed);
            if dropped > 0 {
                object.bool("truncated", true);
            }
            if report.leaked {
                object.bool("leaked", true);
            }
        });
        Ok(result.as_raw().clone())
    }

    fn read(&self, params: &RawJson) -> Result<ProgramRequest, String> {
        let fields = params.to_object().map_err(|_| "`params`: expected an object".to_owned())?;
        let field = |name: &str| fields.get(name).filter(|value| !value.is_null());
        let text = |name: &str| match field(name) {
            None => Ok(None),
            Some(value) => {
                let text = value.to_text().filter(|text| !text.contains('\0'));
                text.map(Some).ok_or_else(|| format!("`params.{name}`: expected a string"))
            }
        };
        let command = text("command")?.filter(|command| !command.is_empty());
        let command = command.ok_or("`params.command`: expected the name of a program")?;
        let arguments = match field("args") {
            None => Vec::new(),
            Some(list) => {
                let texts = list.to_items().and_then(|items| {
                    items.iter().map(RawJson::to_text).collect::<Option<Vec<String>>>()
                });
                let texts = texts.filter(|all| all.iter().all(|text| !text.contains('\0')));
                texts.ok_or("`params.args`: expected an array of strings")?
            }
        };
        let mut env = Vec::new();
        if let Some(variables) = field("env") {
            const EXPECTED: &str = "`params.env`: expected an object of strings";
            let variables = variables.to_object().map_err(|_| EXPECTED)?;
            for (name, value) in variables.iter() {
                let value = value.to_text().filter(|value| !value.contains('\0'));
                let is_name = !name.is_empty() && !name.contains(['=', '\0']);
                let value = value.filter(|_| is_name).ok_or(EXPECTED)?;
                // The engine uses these to count the nesting of hooks.
                if !matches!(name, "HOOK_DEPTH" | "HOOK_RUN_TOKEN") {
                    env.push((name.to_owned(), value));
                }
            }
        }
        let timeout = match field("timeout") {
            None => DEFAULT_TIMEOUT,
            Some(timeout) => {
                let milliseconds = timeout.to_u64().filter(|milliseconds| *milliseconds > 0);
                let milliseconds =
                    milliseconds.ok_or("`params.timeout`: expected whole milliseconds")?;
                Duration::from_millis(milliseconds)
            }
        };
        let project = &self.context.environment.project;
        let directory = text("cwd")?.map_or_else(|| project.clone(), |cwd| project.join(cwd));
        Ok(ProgramRequest { command, arguments, directory, env, timeout })
    }
}

//! The executor of commands.

use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Arc, OnceLock};

use futures::FutureExt;

use super::direct::{self, DirectCommand};
use super::env_file::EnvFile;
use super::environment::{HostEnvironment, RunVariables, Shell};
use super::process::{self, ProcessCall};
use crate::answer::{Ending, interpret, interpret_foreign};
use crate::executor::{
    CommandIdentity, Execution, HookCall, HookExecutor, HookKind, HookStart, Permits, Run,
};
use crate::limits::RunnerLimits;
use crate::nesting;
use crate::report::ProcessReport;
use crate::running::{RunningHook, RunningHooks};
use crate::termination::EngineTasks;
use crate::tree::ProcessTree;
use hook_json::RawObject;
use hook_json::text::PathText;
use hook_protocol::event::input::EventInput;
use hook_protocol::failure::HookFailure;
use hook_settings::language::{ForeignHook, Launch, LaunchContext};
use hook_settings::variables;

/// The shared state of all command hooks of one source.
#[derive(Debug)]
pub(crate) struct CommandContext {
    pub(crate) shell: Shell,
    pub(crate) environment: HostEnvironment,
    pub(crate) limits: RunnerLimits,
    pub(crate) tasks: EngineTasks,
    pub(crate) running: Arc<RunningHooks>,
}

impl CommandContext {
    /// Checks whether a hook may run while this number of command hooks of this engine wait for it.
    ///
    /// # Errors
    /// Returns an error if hooks are nested too deep.
    pub(crate) fn check_depth(&self, depth: u32) -> Result<(), HookFailure> {
        nesting::check(self.environment.depth.saturating_add(depth))
    }
}

/// Runs a command hook.
#[derive(Debug)]
pub(crate) struct CommandExecutor {
    program: Arc<Program>,
}

/// The program of a hook, the same for every event.
#[derive(Debug)]
struct Program {
    command: String,
    /// The shell's argument: the command with its project directory quoted. For a foreign hook,
    /// everything that decides what it runs.
    script: String,
    /// The direct start of a command that needs no shell, looked up when it first runs.
    direct: OnceLock<Option<DirectCommand>>,
    /// The text that is run.
    text: String,
    env: Vec<(String, String)>,
    /// The engine's variables for a trusted hook, beside the hook's own.
    extra_variables: Vec<(OsString, OsString)>,
    /// The hook's definition in the other agent, for a foreign hook.
    foreign: Option<Arc<ForeignHook>>,
    context: Arc<CommandContext>,
}

impl CommandExecutor {
    /// Creates the executor of a foreign hook, with that agent's start, input and answer.
    pub(crate) fn for_foreign(
        command: String,
        foreign: Arc<ForeignHook>,
        extra_variables: Vec<(OsString, OsString)>,
        context: Arc<CommandContext>,
    ) -> Self {
        // The same command means other files in another plugin.
        let root = foreign.plugin_root.as_ref().map(|root| root.to_string_lossy());
        let script = format!("{}{}", foreign.command.spec(), root.unwrap_or_default());
        let env = foreign.variables.clone();
        let foreign = Some(foreign);
        Self {
            program: Arc::new(Program {
                command,
                script,
                direct: OnceLock::from(None),
                text: String::new(),
                env,
                extra_variables,
                foreign,
                context,
            }),
        }
    }

    /// Creates the executor of a hook that is shown as `command`; its copy may run another `text`.
    pub(crate) fn new(
        command: String,
        (text, extra_variables): (String, Vec<(OsString, OsString)>),
        env: Vec<(String, String)>,
        context: Arc<CommandContext>,
    ) -> Self {
        let script = context.shell.script(&text);
        let foreign = None;
        Self {
            program: Arc::new(Program {
                command,
                script,
                direct: OnceLock::new(),
                text,
                env,
                extra_variables,
                foreign,
                context,
            }),
        }
    }
}

impl HookExecutor for CommandExecutor {
    fn kind(&self) -> HookKind {
        HookKind::Command
    }

    fn foreign(&self) -> Option<&ForeignHook> {
        self.program.foreign.as_deref()
    }

    fn label(&self) -> &str {
        &self.program.command
    }

    fn permits(&self) -> Permits<'_> {
        Permits::Process
    }

    fn start(&self) -> HookStart<'_> {
        match self.program.direct() {
            Some(_) => HookStart::Direct,
            None => HookStart::Shell(&self.program.context.shell.program),
        }
    }

    fn identity(&self) -> Option<CommandIdentity<'_>> {
        let Program { command, script, env, context, foreign, .. } = &*self.program;
        if foreign.as_ref().is_some_and(|foreign| !foreign.runs_once) {
            return None;
        }
        Some(CommandIdentity {
            command: if foreign.is_some() { script } else { command },
            env: variables(env),
            project: &context.environment.project,
            foreign_event: foreign.as_ref().map(|foreign| &*foreign.event),
            is_worker: false,
        })
    }

    fn check_depth(&self, depth: u32) -> Result<(), HookFailure> {
        self.program.context.check_depth(depth)
    }

    fn execute(&self, call: HookCall) -> Execution {
        let program = Arc::clone(&self.program);
        Execution::Running(async move { program.run(call).await }.boxed())
    }
}

/// The start of one process.
struct ProcessStart<'s> {
    call: &'s HookCall,
    running: &'s RunningHook,
    /// The input in the foreign hook's format.
    payload: Option<&'s RawObject>,
    env_file: Option<&'s EnvFile>,
}

impl Program {
    async fn run(&self, mut call: HookCall) -> Run {
        let mut warnings = Vec::new();
        let outer = self.context.environment.outer_token.as_deref();
        let mut running = self.context.running.enter(outer, call.scope.depth);
        let told = self.foreign.as_ref().map(|foreign| {
            let payload = foreign.language.foreign_input(foreign, &call.input);
            payload.unwrap_or_else(RawObject::empty)
        });
        let stdin_with_ending =
            told.as_ref().and_then(|payload| self.with_ending(payload, &call.input));
        let env_file = self.env_file(&mut warnings);
        let start = ProcessStart {
            call: &call,
            running: &running,
            payload: told.as_ref(),
            env_file: env_file.as_ref(),
        };
        let started = self.start(&start, &mut warnings);
        let (ending, process) = match started {
            Ok(tree) => {
                running.record_group(tree.group());
                call.slots.running = Some(running);
                let call = ProcessCall {
                    // Serialized after the start, because the hook's own start takes longer.
                    stdin: match (&stdin_with_ending, &told) {
                        (Some(program_input), _) => program_input.as_bytes(),
                        (None, Some(payload)) => payload.as_str().as_bytes(),
                        (None, None) => call.input.json(),
                    },
                    timeout: call.timeout,
                    cancel: &call.scope.cancel,
                    slots: call.slots,
                    limits: &self.context.limits,
                    tasks: &self.context.tasks,
                };
                process::run(tree, call).await
            }
            Err(failure) => (Ending::Failed(failure), ProcessReport::default()),
        };
        let event = call.input.event();
        let mut answer = match (&self.foreign, &told) {
            (Some(foreign), Some(payload)) => interpret_foreign(
                foreign,
                &call.input,
                payload,
                ending,
                &process.stdout,
                &process.stderr,
            ),
            _ => interpret(event, ending, &process.stdout, &process.stderr),
        };
        if let Some(file) = env_file {
            file.add_to(&mut answer);
        }
        warnings.append(&mut answer.warnings);
        for (stream, captured) in [("stdout", &process.stdout), ("stderr", &process.stderr)] {
            if captured.dropped > 0 {
                warnings.push(format!("{} bytes of {stream} were cut", captured.dropped));
            }
        }
        if process.leaked {
            warnings.push(
                "something the hook started still held its output open after it had exited"
                    .to_owned(),
            );
        }
        answer.warnings = warnings;
        Run { answer, process }
    }

    /// Returns the direct start of a command that needs no shell.
    fn direct(&self) -> Option<&DirectCommand> {
        let find = || {
            let environment = &self.context.environment;
            DirectCommand::new(&self.text, &environment.project, environment.constant(&self.env))
        };
        self.direct.get_or_init(find).as_ref()
    }

    /// Creates the agent's file for a foreign hook's variables, unless the host has one.
    fn env_file(&self, warnings: &mut Vec<String>) -> Option<EnvFile> {
        let foreign = self.foreign.as_deref()?;
        let name = foreign.language.env_file(foreign)?;
        let host = self.context.environment.host();
        if host.iter().any(|(known, value)| known == name && !value.is_empty()) {
            return None;
        }
        let file = EnvFile::new(name);
        file.map_err(|error| warnings.push(format!("there is no file for {name}: {error}"))).ok()
    }

    /// Returns the input of a hook of the calling agent, with the bytes that followed it there.
    fn with_ending(&self, payload: &RawObject, input: &EventInput) -> Option<String> {
        let request = input.original.as_deref().filter(|request| !request.ending.is_empty())?;
        let is_own =
            self.foreign.as_ref().is_some_and(|foreign| foreign.language.name() == request.agent);
        is_own.then(|| format!("{}{}", payload.as_str(), request.ending))
    }

    /// Starts the process in the event's directory, or in the project's: removing a directory must
    /// not disable a guard.
    fn start(
        &self,
        start: &ProcessStart<'_>,
        warnings: &mut Vec<String>,
    ) -> Result<ProcessTree, HookFailure> {
        let project = &self.context.environment.project;
        let directory = match &*start.call.input.cwd {
            "" => project.as_path(),
            named => Path::new(named),
        };
        let error = match self.start_in(directory, start) {
            Ok(tree) => return Ok(tree),
            Err(error) => error,
        };
        let Some(reason) = entry_error(directory) else {
            return Err(self.not_started(error));
        };
        warnings.push(format!(
            "the working directory {} cannot be entered ({reason}); the hook runs in the project \
             directory {}",
            directory.shown(),
            project.shown()
        ));
        self.start_in(project, start).map_err(|error| match entry_error(project) {
            Some(reason) => {
                HookFailure::Directory { directory: project.clone(), source: reason.into() }
            }
            None => self.not_started(error),
        })
    }

    /// Starts the process, without a shell if that makes no difference.
    fn start_in(&self, directory: &Path, start: &ProcessStart<'_>) -> io::Result<ProcessTree> {
        let ProcessStart { call, running, payload, env_file } = start;
        let environment = &self.context.environment;
        let depth = environment.depth.saturating_add(call.scope.depth).to_string();
        let session = (&call.scope.session_env, call.trust_rank);
        let run = RunVariables { depth: &depth, token: running.token(), session };
        if let (Some(foreign), Some(payload)) = (&self.foreign, payload) {
            let location = LaunchContext {
                project: &environment.project,
                directory,
                environment: environment.host(),
            };
            let mut launch = foreign.language.launch(foreign, payload, &location);
            if let Some(file) = env_file {
                launch.variables.push((file.name.into(), file.path().into()));
            }
            return ProcessTree::spawn(self.foreign_process(&launch, &run));
        }
        let is_own =
            |name: &OsString| self.env.iter().any(|(own_name, _)| name == own_name.as_str());
        let extra = || self.extra_variables.iter().filter(|(name, _)| !is_own(name));
        let extra = || extra().map(|(name, value)| (&**name, &**value));
        let variables = || environment.variables(&call.input, &run, &self.env).chain(extra());
        let direct = self.direct().and_then(|direct| direct.process(directory, variables()));
        match direct.map(ProcessTree::spawn) {
            Some(Ok(tree)) => return Ok(tree),
            // The program itself is not at fault; it may even have been started.
            Some(Err(error)) if is_starved(&error) => return Err(error),
            Some(Err(_)) | None => {}
        }
        let shell = &self.context.shell;
        let mut process = Command::new(&shell.program);
        process.args(shell.arguments).arg(&self.script);
        process.current_dir(directory).env_clear().envs(variables());
        ProcessTree::spawn(process)
    }

    /// Returns the process of a foreign hook.
    fn foreign_process(&self, launch: &Launch, run: &RunVariables<'_>) -> Command {
        let shell = &self.context.shell.bash;
        // Looked up once, so that a changed PATH cannot replace it.
        let mut process = match launch.program == "bash" {
            true => Command::new(shell),
            false => direct::started_without_shell(launch, self.context.environment.host()),
        };
        process.args(&launch.arguments).current_dir(&launch.directory).env_clear();
        process.envs(self.context.environment.foreign_variables(launch, run));
        // Behind the filter of what a project may set: these are the engine's.
        process.envs(self.extra_variables.iter().map(|(name, value)| (name, value)));
        process
    }

    fn not_started(&self, error: io::Error) -> HookFailure {
        let program: &PathBuf = &self.context.shell.program;
        HookFailure::Spawn { program: program.clone(), source: error.into() }
    }
}

/// Returns the error that keeps a process from starting in a directory, if there is one.
fn entry_error(directory: &Path) -> Option<io::Error> {
    // Reading the metadata of `.` needs the same permission as entering the directory.
    directory.join(".").metadata().err()
}

/// Checks for a lack of resources, which would also affect bash.
#[cfg(unix)]
fn is_starved(error: &io::Error) -> bool {
    use rustix::io::Errno;
    let exhausted = [Errno::AGAIN, Errno::NOMEM, Errno::NFILE, Errno::MFILE, Errno::NOSPC];
    Errno::from_io_error(error).is_some_and(|error| exhausted.contains(&error))
}

/// Returns `false`: on other systems every program is started by the shell.
#[cfg(not(unix))]
fn is_starved(_error: &io::Error) -> bool {
    false
}

#[cfg(test)]
#[cfg(unix)]
mod tests {
    use super::*;

    #[test]
    fn only_a_lack_of_resources_counts_as_starved() {
        use rustix::io::Errno;
        for (error, expected) in [
            (Errno::AGAIN, true),
            (Errno::NOMEM, true),
            (Errno::MFILE, true),
            (Errno::NOENT, false),
            (Errno::ACCESS, false),
            (Errno::NOEXEC, false),
        ] {
            assert_eq!(is_starved(&error.into()), expected, "{error}");
        }
        assert!(!is_starved(&io::Error::other("no error of the system")));
    }
}

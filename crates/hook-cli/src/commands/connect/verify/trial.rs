//! One run of an agent without a user and without a network, in folders of its own: the entries of its user and a
//! guard are there, and a scripted model has it run the command that the guard refuses.

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

use hook_agents::scripted::{ScriptedCall, ScriptedModel};
use hook_agents::{Agent, Headless};
use hook_bus::bridge::BridgeState;
use hook_files::{private_folder, regular_file};
use hook_json::RawJson;
use tempfile::TempDir;
use tokio::process::{Child, Command};

use super::super::codex;
use crate::commands::log::read_calls;
use crate::search_path::search_path;

/// The time limit for one run.
const TIMEOUT: Duration = Duration::from_secs(90);

/// The maximum size of the agent's settings, in bytes.
const MAX_SETTINGS: u64 = 16 << 20;

/// The maximum size of the agent's output that is read, in bytes.
const MAX_OUTPUT: u64 = 1 << 20;

/// The attempts to remove the folders while ended processes still write there, and the time between them.
const REMOVALS: u32 = 20;
const REMOVAL_PAUSE: Duration = Duration::from_millis(50);

/// The variables that are passed on to the agent, where they are set.
const PASSED_ON: [&str; 8] =
    ["LANG", "SHELL", "PATHEXT", "COMSPEC", "SystemRoot", "SystemDrive", "windir", "ProgramFiles"];

/// The name of the rule, which is in the reason that the model has to be told.
const CANARY: &str = "hook-canary";

/// The folders and the model of one run. Dropping it removes the folders.
#[derive(Debug)]
pub(super) struct Trial {
    agent: &'static Agent,
    headless: Headless,
    folder: TempDir,
    model: ScriptedModel,
    canary: String,
}

/// The result of one run.
#[derive(Debug, Default)]
pub(super) struct Observation {
    /// The agent's events that it called `hook bridge` for.
    pub(super) events: BTreeSet<String>,
    /// `true` if a call was refused.
    pub(super) is_refused: bool,
    /// `true` if the agent ran the command.
    pub(super) ran_command: bool,
    /// `true` if the agent asked the model for a turn.
    pub(super) reached_model: bool,
    /// `true` if the model was told the reason.
    pub(super) is_reason_shown: bool,
    /// `true` if the run was ended because it took too long.
    pub(super) is_timed_out: bool,
    /// The last line of the agent's output.
    pub(super) last_line: String,
}

impl Trial {
    /// Prepares a run with the entries of a settings file.
    pub(super) fn prepare(
        agent: &'static Agent,
        headless: Headless,
        entries: &Path,
    ) -> io::Result<Self> {
        let folder = tempfile::Builder::new().prefix("hook-verify-").tempdir()?;
        let name = folder.path().file_name().unwrap_or_default().to_string_lossy().into_owned();
        // Names of folders on some systems are of upper case, too, and no shell minds that.
        let canary = format!("{CANARY}-{}", name.trim_start_matches("hook-verify-"));
        let model = ScriptedModel::start(ScriptedCall::Shell(format!("mkdir {canary}")))?;
        let trial = Self { agent, headless, folder, model, canary };
        for folder in [trial.home(), trial.project(), trial.path("tmp"), trial.path("run")] {
            private_folder::make(&folder)?;
        }
        trial.write_guard()?;
        trial.write_agent_files(entries)?;
        Ok(trial)
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn home(&self) -> PathBuf {
        self.path("user")
    }

    fn project(&self) -> PathBuf {
        let path = self.path("project");
        path.canonicalize().unwrap_or(path)
    }

    fn log_of_output(&self) -> PathBuf {
        self.path("output.log")
    }

    /// Returns the folder of the engine's state.
    fn state(&self) -> PathBuf {
        self.home().join(".local/state")
    }

    fn write_guard(&self) -> io::Result<()> {
        let canary = &self.canary;
        write(
            &self.home().join(".config/hooks/rules/canary.toml"),
            &format!(
                "[[rule]]\nid = \"canary\"\nshell = {{ program = \"mkdir\", args = [\"{canary}\"] }}\n\
                 deny = \"{canary} is refused\"\n"
            ),
        )
    }

    fn write_agent_files(&self, entries: &Path) -> io::Result<()> {
        let folder = self.agent.default_user_folder(&self.home());
        for (path, text) in self.headless.files {
            write(&folder.join(path), &self.filled(text))?;
        }
        let text = regular_file::read_to_string(entries, MAX_SETTINGS)?;
        let settings = self.agent.trial_settings(&text, &self.headless);
        let settings = settings.map_err(|error| io::Error::other(error.message))?;
        let file = self.agent.entry().map(|entry| entry.file).unwrap_or_default();
        write(&folder.join(file), &settings)?;
        if self.agent.name() == "codex" {
            let user = entries.with_file_name("config.toml");
            let user = regular_file::read_to_string(&user, MAX_SETTINGS).unwrap_or_default();
            let config = regular_file::read_to_string(&folder.join("config.toml"), MAX_SETTINGS)?;
            let trusted = codex::with_trust_of(&config, &user, entries, &folder.join(file));
            write(&folder.join("config.toml"), &trusted)?;
        }
        Ok(())
    }

    /// Fills in the placeholders of a run.
    fn filled(&self, text: &str) -> String {
        let project = self.project().to_string_lossy().into_owned();
        text.replace("{url}", &self.model.url())
            .replace("{project}", &project)
            .replace("{prompt}", "Please do what there is to do.")
    }

    /// Runs the agent until it ends, or for too long.
    pub(super) async fn run(&self, program: &Path) -> io::Result<Observation> {
        let mut agent = AgentProcess::start(self.command(program)?, self.folder.path())?;
        let is_timed_out = match tokio::time::timeout(TIMEOUT, agent.child.wait()).await {
            Ok(ended) => ended.map(|_| false)?,
            Err(_) => true,
        };
        drop(agent);
        Ok(self.observe(is_timed_out))
    }

    fn command(&self, program: &Path) -> io::Result<Command> {
        let name = program.file_name().unwrap_or_default().to_string_lossy();
        let mut command = Command::new(program);
        command.args(self.headless.arguments.iter().map(|argument| self.filled(argument)));
        command.current_dir(self.project()).env_clear();
        let passed_on = PASSED_ON.iter().filter_map(|name| Some((name, std::env::var_os(name)?)));
        command.envs(passed_on).env("PATH", search_path(&name));
        let home = self.home();
        for (name, value) in [
            ("HOME", home.clone()),
            ("USERPROFILE", home.clone()),
            ("APPDATA", home.join("AppData/Roaming")),
            ("LOCALAPPDATA", home.join("AppData/Local")),
            ("XDG_CONFIG_HOME", home.join(".config")),
            ("XDG_CACHE_HOME", home.join(".cache")),
            ("XDG_DATA_HOME", home.join(".local/share")),
            ("XDG_STATE_HOME", self.state()),
            ("XDG_RUNTIME_DIR", self.path("run")),
            ("TMPDIR", self.path("tmp")),
            ("TEMP", self.path("tmp")),
            ("TMP", self.path("tmp")),
        ] {
            command.env(name, value);
        }
        command.envs([("TERM", "dumb"), ("NO_COLOR", "1"), ("NO_PROXY", "127.0.0.1,localhost")]);
        command
            .envs(self.headless.variables.iter().map(|(name, value)| (name, self.filled(value))));
        let output = File::create(self.log_of_output())?;
        command.stdin(Stdio::null()).stdout(output.try_clone()?).stderr(output).kill_on_drop(true);
        #[cfg(unix)]
        command.process_group(0);
        Ok(command)
    }

    fn observe(&self, is_timed_out: bool) -> Observation {
        let state = BridgeState::in_folder(&self.state());
        let log = state.log();
        let log = read_calls(&log).ok().flatten();
        let is_refused = log.into_iter().flatten().any(|call| {
            call.get("decision")
                .and_then(RawJson::to_text)
                .is_some_and(|decision| decision == "block")
        });
        let requests = self.model.requests();
        let output = regular_file::read(&self.log_of_output(), MAX_OUTPUT).unwrap_or_default();
        let output = String::from_utf8_lossy(&output);
        let last_line = output.lines().map(str::trim).rfind(|line| !line.is_empty());
        let reason = format!("{} is refused", self.canary);
        Observation {
            events: state.last_calls(self.agent).into_keys().collect(),
            is_refused,
            ran_command: self.project().join(&self.canary).exists(),
            reached_model: !requests.is_empty(),
            is_reason_shown: requests.iter().any(|request| request.to_string().contains(&reason)),
            is_timed_out,
            last_line: last_line.unwrap_or_default().to_owned(),
        }
    }

    /// Removes the folders.
    ///
    /// # Errors
    /// Returns an error if something is left.
    pub(super) async fn remove(self) -> io::Result<()> {
        let path = self.folder.keep();
        let mut attempt = 0;
        loop {
            match fs::remove_dir_all(&path) {
                Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
                Err(_) if attempt < REMOVALS => tokio::time::sleep(REMOVAL_PAUSE).await,
                removed => return removed,
            }
            attempt += 1;
        }
    }
}

/// A running agent, in folders that only its own processes know. Dropping it ends them all.
#[derive(Debug)]
struct AgentProcess {
    child: Child,
    #[cfg(unix)]
    group: Option<rustix::process::Pid>,
    #[cfg(target_os = "linux")]
    folder: PathBuf,
}

impl AgentProcess {
    #[cfg_attr(
        not(target_os = "linux"),
        expect(unused_variables, reason = "nothing tells them there")
    )]
    fn start(mut command: Command, folder: &Path) -> io::Result<Self> {
        let child = command.spawn()?;
        #[cfg(unix)]
        let group = child.id().and_then(|id| i32::try_from(id).ok());
        Ok(Self {
            child,
            #[cfg(unix)]
            group: group.and_then(rustix::process::Pid::from_raw),
            #[cfg(target_os = "linux")]
            folder: folder.to_path_buf(),
        })
    }
}

impl Drop for AgentProcess {
    fn drop(&mut self) {
        #[cfg(unix)]
        if let Some(group) = self.group {
            let _ = rustix::process::kill_process_group(group, rustix::process::Signal::KILL);
        }
        let _ = self.child.start_kill();
        #[cfg(target_os = "linux")]
        end_daemons(&self.folder);
    }
}

/// Ends the processes that left the agent's group. They still have its environment, in which the folder is.
#[cfg(target_os = "linux")]
fn end_daemons(folder: &Path) {
    use std::os::unix::ffi::OsStrExt;

    use rustix::process::{Pid, Signal, kill_process};

    let home = [b"TMPDIR=", folder.as_os_str().as_bytes(), b"/"].concat();
    for process in fs::read_dir("/proc").into_iter().flatten().flatten() {
        let id = process.file_name().to_str().and_then(|name| name.parse().ok());
        let Some(id) = id.and_then(Pid::from_raw) else { continue };
        let environment = fs::read(process.path().join("environ")).unwrap_or_default();
        if environment.split(|byte| *byte == 0).any(|variable| variable.starts_with(&home)) {
            let _ = kill_process(id, Signal::KILL);
        }
    }
}

fn write(path: &Path, text: &str) -> io::Result<()> {
    if let Some(folder) = path.parent() {
        private_folder::make(folder)?;
    }
    fs::write(path, text)
}

//! Hooks of other agents: their settings files, inputs, processes and answers.
//!
//! A crate that knows an agent implements its [`Language`]. The engine runs a [`ForeignHook`] as
//! that agent would; plan, limits, trust and merging are the same as for native hooks. If the
//! client is itself an agent with foreign hooks, its original message is an `OriginalMessage`: hooks of
//! the same agent get that message, not a translation of its translation.

pub mod calls;
mod foreign_command;

pub use hook_shell::loaders::is_forbidden_in_project;

use std::collections::BTreeSet;
use std::ffi::{OsStr, OsString};
use std::fmt;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

pub use calls::{Calls, PartialCall, calls};
pub use foreign_command::{ForeignCommand, ForeignRequest};
use hook_json::{RawJson, RawObject};
use hook_protocol::event::input::EventInput;
pub use hook_protocol::event::input::OriginalMessage;
use hook_protocol::event::output::HookOutput;
use hook_protocol::event::{EventDefinition, Events, HookEventName};
use hook_protocol::failure::{HookFailure, InvalidAnswer};

/// The format of one agent's hooks: its settings, inputs and answers.
pub trait Language: fmt::Debug + Send + Sync {
    /// Returns the agent's name in settings and on the command line, such as `claude`.
    fn name(&self) -> &'static str;

    /// Returns the agent's display name.
    fn title(&self) -> &'static str;

    /// Returns the agent's events without a built-in equivalent, to be declared under its names.
    fn declared_events(&self) -> Vec<EventDefinition>;

    /// Returns the files in which the agent may keep hooks, in its own order of precedence: those
    /// of the projects, from the innermost to the outermost, and those of the user if `home` is
    /// given. The caller checks which of them exist.
    fn sources(&self, projects: &[PathBuf], home: Option<&Path>) -> Vec<ForeignSource>;

    /// Returns the agent's directory that a variable names in the environment of a hook.
    fn variable(&self, name: &str) -> Option<HookDirectory>;

    /// Returns the working directory of a hook.
    fn directory(&self, hook: &ForeignHook, context: &LaunchContext<'_>) -> PathBuf;

    /// Reads a settings file of the agent. Hooks that the agent would not run are left out.
    fn read(&'static self, text: &str, file: &ForeignFile<'_>) -> ForeignSettings;

    /// Reads one definition of hooks in native settings that is declared to be in the agent's
    /// language.
    fn read_definition(
        &'static self,
        definition: &ForeignDefinition<'_>,
        file: &ForeignFile<'_>,
    ) -> ForeignSettings;

    /// Returns the input of a hook, or `None` if the agent's event does not cover this input.
    fn foreign_input(&self, hook: &ForeignHook, input: &EventInput) -> Option<RawObject>;

    /// Returns the native name of a tool that the agent calls `name` in the given event of the
    /// agent, or `None` if the agent has no such tool.
    fn native_tool(&self, _foreign_event: &str, name: &str) -> Option<String> {
        Some(name.to_owned())
    }

    /// Returns the tool call that a hook requests, with the names of the client, whose host runs
    /// it. The hook uses the names of its own agent.
    fn host_tool(
        &self,
        _hook: &ForeignHook,
        _input: &EventInput,
        name: &str,
        arguments: &RawObject,
    ) -> (String, RawObject) {
        (name.to_owned(), arguments.clone())
    }

    /// Returns `true` if an allow of the hook skips the permission prompt in its own agent.
    fn approves(&self, _hook: &ForeignHook) -> bool {
        false
    }

    /// Returns `true` if the agent's tools, and so its hooks, accept relative paths of the model.
    fn accepts_relative_paths(&self) -> bool {
        false
    }

    /// Returns `true` if the agent changes files only by patches, so its hooks know no other edits.
    fn edits_by_patch(&self) -> bool {
        false
    }

    /// Returns the reason why the hook's input contradicts the tool call: two arguments differ that
    /// are one argument for the agent, so the one that the tool uses is unknown.
    fn contradiction(&self, _hook: &ForeignHook, _input: &EventInput) -> Option<String> {
        None
    }

    /// Returns `true` if the hook's matcher and condition accept the input.
    fn matches(&self, hook: &ForeignHook, foreign_input: &RawObject) -> bool;

    /// Returns the answer that the agent reads from a hook's failure; most agents read none.
    fn read_failure(&self, _hook: &ForeignHook, _failure: &HookFailure) -> Option<HookOutput> {
        None
    }

    /// Returns the command line, directory and variables to start a hook with.
    fn launch(
        &self,
        hook: &ForeignHook,
        foreign_input: &RawObject,
        context: &LaunchContext<'_>,
    ) -> Launch;

    /// Returns the variable with the path of a file for session variables, if the agent has one.
    fn env_file(&self, _hook: &ForeignHook) -> Option<&'static str> {
        None
    }

    /// Returns `true` if the agent's own answers include `{"action": …}`.
    fn answers_by_action(&self) -> bool {
        false
    }

    /// Reads the answer of a hook whose process ended.
    fn read_answer(
        &self,
        hook: &ForeignHook,
        input: &EventInput,
        told: &RawObject,
        output: &ProcessOutput<'_>,
    ) -> ForeignAnswer;

    /// Returns the URL and headers for a hook of type `http`.
    ///
    /// # Errors
    /// If the agent would not send the request; the error is the reason.
    fn http_request(&self, hook: &ForeignHook, context: &LaunchContext<'_>)
    -> Result<Post, String>;

    /// Reads the reply of a hook of type `http`, or the meaning of a failed request.
    fn read_reply(
        &self,
        hook: &ForeignHook,
        told: &RawObject,
        reply: Result<&str, HookFailure>,
    ) -> ForeignAnswer;
}

impl PartialEq for dyn Language {
    fn eq(&self, other: &Self) -> bool {
        self.name() == other.name()
    }
}

impl Eq for dyn Language {}

/// The names of agents that a reader of settings accepts without the languages of a host.
pub(crate) const NAMES: [&str; 11] = [
    "claude", "gemini", "llxprt", "qwen", "codex", "cursor", "copilot", "vscode", "pi", "omp",
    "a3s",
];

/// The languages known to a reader of settings.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Languages(Arc<[&'static dyn Language]>);

impl Languages {
    /// Returns the language of the given name.
    pub fn get(&self, name: &str) -> Option<&'static dyn Language> {
        self.all().find(|language| language.name() == name)
    }

    /// Returns `true` if an agent has this name. Without a host that knows some, the usual ones count.
    pub(crate) fn has_agent(&self, name: &str) -> bool {
        self.get(name).is_some() || NAMES.contains(&name)
    }

    /// Returns all languages.
    pub fn all(&self) -> impl Iterator<Item = &'static dyn Language> {
        self.0.iter().copied()
    }

    /// Returns `true` if there are no languages.
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl FromIterator<&'static dyn Language> for Languages {
    fn from_iter<I: IntoIterator<Item = &'static dyn Language>>(languages: I) -> Self {
        Self(languages.into_iter().collect())
    }
}

/// A file in which an agent may keep hooks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ForeignSource {
    /// The file.
    pub path: PathBuf,
    /// The owner of the file.
    pub owner: SettingsOwner,
    /// The directory of the file's plugin, if it belongs to one.
    pub plugin_root: Option<PathBuf>,
}

/// The owner of a settings file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SettingsOwner {
    /// The project in that directory.
    Project(PathBuf),
    /// The user.
    User,
    /// The machine.
    System,
}

/// A directory that a variable gives to a hook.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HookDirectory {
    /// The project's directory.
    Project,
    /// The event's directory.
    Event,
    /// The directory of the hook's plugin.
    Plugin,
}

/// The directories and environment in which a hook is started.
#[derive(Debug, Clone, Copy)]
pub struct LaunchContext<'p> {
    /// The project's directory.
    pub project: &'p Path,
    /// The event's directory.
    pub directory: &'p Path,
    /// The host's environment; the last of equal names wins.
    pub environment: &'p [(OsString, OsString)],
}

impl LaunchContext<'_> {
    /// Returns the value of a variable of the host.
    pub fn variable(&self, name: &str) -> Option<&OsStr> {
        let found = self.environment.iter().rev().find(|(known, _)| known == name);
        found.map(|(_, value)| value.as_os_str())
    }
}

/// The command line, directory and variables of a hook's process.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Launch {
    /// The program: a path, or a name to search in `PATH`.
    pub program: OsString,
    /// The program's arguments.
    pub arguments: Vec<OsString>,
    /// The working directory.
    pub directory: PathBuf,
    /// Variables added to the host's.
    pub variables: Vec<(OsString, OsString)>,
    /// Variables of the host to remove, because a hook would recognise a different agent by them.
    pub removed_variables: Vec<&'static str>,
}

/// The URL and headers of an HTTP hook's request; its body is the hook's input.
#[derive(Clone, PartialEq, Eq)]
pub struct Post {
    /// The URL.
    pub url: String,
    /// Headers, with variables expanded.
    pub headers: Vec<(String, String)>,
}

impl fmt::Debug for Post {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Values of headers are secrets.
        let names: Vec<&str> = self.headers.iter().map(|(name, _)| name.as_str()).collect();
        formatter.debug_struct("Post").field("headers", &names).finish_non_exhaustive()
    }
}

/// The result of a hook's process.
#[derive(Debug, Clone, Copy)]
pub struct ProcessOutput<'e> {
    /// The exit code; absent if a signal or the engine ended the process.
    pub code: Option<i32>,
    /// The process's standard output.
    pub stdout: &'e str,
    /// The process's standard error.
    pub stderr: &'e str,
}

/// The answer of a foreign hook, in native form.
#[derive(Debug, Clone, Default)]
pub struct ForeignAnswer {
    /// The output; absent if the hook gave none.
    pub output: Option<HookOutput>,
    /// The reason why the agent counts the hook as failed, if it does.
    pub failure: Option<HookFailure>,
    /// The parts that cannot be applied: a failure of a guard, a warning for other hooks.
    pub invalid: Vec<InvalidAnswer>,
    /// Warnings for the hook's author.
    pub warnings: Vec<String>,
}

/// One hook of another agent, with that agent's names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ForeignHook {
    /// The agent's language.
    pub language: &'static dyn Language,
    /// The agent's name of the event.
    pub event: String,
    /// The matcher, if any.
    pub matcher: Option<String>,
    /// A further condition (`if`), if any.
    pub condition: Option<String>,
    /// The command.
    pub command: ForeignCommand,
    /// The working directory, relative to the project.
    pub directory: Option<PathBuf>,
    /// The folder of the agent's settings file with this hook, or the project of that file.
    pub folder: Option<PathBuf>,
    /// Additional variables.
    pub variables: Vec<(String, String)>,
    /// The directory of the hook's plugin.
    pub plugin_root: Option<PathBuf>,
    /// `true` if the hook is the user's, not a project's.
    pub is_user: bool,
    /// `true` if the hook is the machine's.
    pub is_system: bool,
    /// `true` if the file was named: then the client is trusted about its project.
    pub is_explicit: bool,
    /// `true` if the agent runs duplicates of a hook only once per event.
    pub runs_once: bool,
    /// The number of times in a row that the hook may continue a turn, if the agent counts that per
    /// hook.
    pub loop_limit: Option<u64>,
    /// `true` if the file was found in the agent's standard location, not named: the agent runs the
    /// hook itself.
    pub is_discovered: bool,
}

impl ForeignHook {
    /// Returns the hook's agent-specific settings by their keys: trust in the hook is bound to them
    /// as well.
    pub fn spec(&self) -> Vec<(String, String)> {
        let text = |path: &PathBuf| path.to_string_lossy().into_owned();
        let spec = [
            ("language", Some(self.language.name().to_owned())),
            ("language.event", Some(self.event.clone())),
            ("if", self.condition.clone()),
            ("runs", Some(self.command.spec())),
            ("cwd", self.directory.as_ref().map(text)),
            ("pluginRoot", self.plugin_root.as_ref().map(text)),
            ("loop_limit", self.loop_limit.map(|limit| limit.to_string())),
        ];
        spec.into_iter().filter_map(|(key, value)| Some((key.to_owned(), value?))).collect()
    }
}

/// A hook as written in a file.
#[derive(Debug, Clone)]
pub struct ForeignEntry {
    /// The hook.
    pub hook: ForeignHook,
    /// The native event.
    pub event: HookEventName,
    /// The hook's name, if the agent has names.
    pub name: Option<String>,
    /// The timeout.
    pub timeout: Duration,
    /// `true` if a failure of the hook is a denial.
    pub blocks_on_failure: bool,
    /// `true` if the engine does not wait for the hook.
    pub is_async: bool,
    /// `true` if the event's hooks run one after the other.
    pub sequential: bool,
    /// The byte range in the text.
    pub range: Range<usize>,
    /// The JSON path.
    pub path: String,
}

/// A problem in a settings file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ForeignProblem {
    /// The byte range in the text.
    pub range: Range<usize>,
    /// The JSON path.
    pub path: String,
    /// The message.
    pub message: String,
    /// The consequence.
    pub loss: ForeignLoss,
}

/// The consequence of a problem in a settings file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ForeignLoss {
    /// Hooks are missing that the agent would run.
    Hooks,
    /// A hook does less than in its agent.
    Part,
    /// None here: the agent itself refuses the whole file.
    Agent,
    /// None: the agent does nothing for it, either.
    Nothing,
}

/// A settings file of another agent.
#[derive(Debug, Clone, Copy)]
pub struct ForeignFile<'f> {
    /// The file's path.
    pub path: Option<&'f Path>,
    /// The directory of the file's plugin, if it belongs to one.
    pub plugin_root: Option<&'f Path>,
    /// `true` if the file is the user's, not a project's.
    pub is_user: bool,
    /// `true` if the file is the machine's.
    pub is_system: bool,
    /// `true` if the file was named explicitly.
    pub is_explicit: bool,
    /// `true` if the file was found in the agent's standard location, not named.
    pub is_discovered: bool,
    /// The known events.
    pub events: &'f Events,
    /// The agent's other settings files that are read with this one, without those of plugins: a
    /// setting in one of them may apply to all.
    pub others: &'f [OtherFile<'f>],
}

/// Another settings file of the agent.
#[derive(Debug, Clone, Copy)]
pub struct OtherFile<'f> {
    /// The file's path.
    pub path: &'f Path,
    /// The file's text.
    pub text: &'f str,
    /// `true` if the file is the user's, not a project's.
    pub is_user: bool,
    /// `true` if the file is the machine's.
    pub is_system: bool,
    /// `true` if the file was named explicitly.
    pub is_explicit: bool,
}

/// A definition of hooks in an agent's language, inside native settings.
#[derive(Debug, Clone, Copy)]
pub struct ForeignDefinition<'d> {
    /// The event, in the agent's name.
    pub event: &'d str,
    /// The definition; a slice of the settings' text.
    pub value: &'d RawJson,
    /// Its JSON path.
    pub path: &'d str,
    /// The indices of the `hooks` in that language, if not all are.
    pub only: Option<&'d BTreeSet<usize>>,
}

/// The result of reading a settings file.
#[derive(Debug, Clone, Default)]
pub struct ForeignSettings {
    /// The hooks, in the order of the file.
    pub hooks: Vec<ForeignEntry>,
    /// The problems of the file.
    pub problems: Vec<ForeignProblem>,
    /// The number of entries by which the agent runs hooks; they are not hooks themselves.
    pub entries: usize,
    /// `true` if the hooks were read at all.
    pub was_read: bool,
}

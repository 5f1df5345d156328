//! Hooks of other agents: how each of them writes its hooks down, tells them of an event, starts
//! them, and reads what they answer.
//!
//! An agent's [`Language`] is given by a crate that knows it; the engine runs a [`ForeignHook`] as its
//! home would, and everything around it (the plan, limits, trust, merging) as ever. What an agent said
//! itself, where it was one that asked, is [`AskedBy`]: hooks of its own get that, and no translation
//! of a translation.

mod calls;
mod runs;

#[doc(hidden)]
pub use crate::shell::loaders::is_refused_of_project;

use std::collections::BTreeSet;
use std::ffi::{OsStr, OsString};
use std::fmt;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

pub use crate::event::input::AskedBy;
use crate::event::input::EventInput;
use crate::event::output::HookOutput;
use crate::event::{EventDefinition, Events, HookEventName};
use crate::failure::{HookFailure, InvalidAnswer};
use crate::json::{RawJson, RawObject};
pub(crate) use calls::{Calls, PartialCall, calls};
pub use runs::{ForeignCommand, ForeignRequest};

/// How one agent's hooks are written, told and understood.
pub trait Language: fmt::Debug + Send + Sync {
    /// Its word in settings and on the command line, such as `claude`.
    fn name(&self) -> &'static str;

    /// What people call the agent.
    fn title(&self) -> &'static str;

    /// The agent's events that no built-in event stands for, to be declared under its names.
    fn declared(&self) -> Vec<EventDefinition>;

    /// The files in which it may keep hooks, in the order of its own precedence: of these projects, from
    /// the innermost to the outermost, and of the user with that home, if the user's count. Whether they
    /// are there is looked at by the caller.
    fn places(&self, projects: &[PathBuf], home: Option<&Path>) -> Vec<ForeignSource>;

    /// Which of the agent's directories a variable holds in the environment of a hook.
    fn variable(&self, name: &str) -> Option<HookDirectory>;

    /// Where a hook runs whose event is about that directory, in that project.
    fn directory(&self, hook: &ForeignHook, place: &Place<'_>) -> PathBuf;

    /// Reads a settings file of the agent. What its home would not run is no hook here, either.
    fn read(&'static self, text: &str, file: &ForeignFile<'_>) -> ForeignSettings;

    /// Reads one definition of hooks that stands in settings of ours and says that it is in the agent's
    /// language.
    fn read_definition(
        &'static self,
        definition: &ForeignDefinition<'_>,
        file: &ForeignFile<'_>,
    ) -> ForeignSettings;

    /// What a hook is told on standard input; `None` where this is not what its event means at home.
    fn told(&self, hook: &ForeignHook, input: &EventInput) -> Option<RawObject>;

    /// What a tool is called here that at home has that name, in an event of home. `None` where no tool has
    /// that name there.
    fn our_tool(&self, _foreign_event: &str, name: &str) -> Option<String> {
        Some(name.to_owned())
    }

    /// The tool that a hook wants run, by the names of whoever asked for the event: its host runs it. The hook
    /// names it as its own agent does.
    fn host_tool(
        &self,
        _hook: &ForeignHook,
        _input: &EventInput,
        name: &str,
        arguments: &RawObject,
    ) -> (String, RawObject) {
        (name.to_owned(), arguments.clone())
    }

    /// Whether an allow of a hook spares the user of its own agent a question.
    fn approves(&self, _hook: &ForeignHook) -> bool {
        false
    }

    /// Whether its tools, and so its hooks, take paths as the model writes them, and not absolute ones alone.
    fn takes_relative_paths(&self) -> bool {
        false
    }

    /// Whether the agent changes files by patches alone, so that its hooks know no other edits.
    fn edits_by_patch(&self) -> bool {
        false
    }

    /// Why what a hook would be told of a tool's call is not what the tool may be given: two arguments that are
    /// one at home, and differ. Nobody can tell by which of them the tool goes.
    fn contradiction(&self, _hook: &ForeignHook, _input: &EventInput) -> Option<String> {
        None
    }

    /// Whether a hook is for that, by its matcher and its condition.
    fn matches(&self, hook: &ForeignHook, told: &RawObject) -> bool;

    /// What it means at home that a hook failed without an answer: nothing, for most.
    fn failed(&self, _hook: &ForeignHook, _failure: &HookFailure) -> Option<HookOutput> {
        None
    }

    /// How a hook is started.
    fn launch(&self, hook: &ForeignHook, told: &RawObject, place: &Place<'_>) -> Launch;

    /// The variable that names a file to which a hook writes variables for its session, where it has one.
    fn env_file(&self, _hook: &ForeignHook) -> Option<&'static str> {
        None
    }

    /// Whether `{"action": …}` is an answer in its own words.
    fn answers_by_action(&self) -> bool {
        false
    }

    /// What a hook that was told something of an event has answered when it ended.
    fn answer(
        &self,
        hook: &ForeignHook,
        input: &EventInput,
        told: &RawObject,
        ended: &Ended<'_>,
    ) -> ForeignAnswer;

    /// What a hook of type `http` sends beside what it is told, and where to.
    ///
    /// # Errors
    /// When its home would not send it, with the reason.
    fn post(&self, hook: &ForeignHook, place: &Place<'_>) -> Result<Post, String>;

    /// What the server of a hook of type `http` has answered, or what it means that it has not.
    fn replied(
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

/// The words of all agents that are described, as settings and the command line have them.
pub const NAMES: [&str; 11] = [
    "claude", "gemini", "llxprt", "qwen", "codex", "cursor", "copilot", "vscode", "pi", "omp",
    "a3s",
];

/// The languages that a reader of settings knows, by their names.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Languages(Arc<[&'static dyn Language]>);

impl Languages {
    /// The one of that name.
    pub fn named(&self, name: &str) -> Option<&'static dyn Language> {
        self.all().find(|language| language.name() == name)
    }

    /// All of them.
    pub fn all(&self) -> impl Iterator<Item = &'static dyn Language> {
        self.0.iter().copied()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl FromIterator<&'static dyn Language> for Languages {
    fn from_iter<I: IntoIterator<Item = &'static dyn Language>>(all: I) -> Self {
        Self(all.into_iter().collect())
    }
}

/// A file in which an agent may keep hooks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ForeignSource {
    /// The file.
    pub path: PathBuf,
    /// Whose it is.
    pub owner: SettingsOwner,
    /// The directory of the plugin that it belongs to, if it belongs to one.
    pub plugin_root: Option<PathBuf>,
}

/// Whose a settings file is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SettingsOwner {
    /// The project's in that directory.
    Project(PathBuf),
    /// The user's.
    User,
    /// The machine's.
    System,
}

/// A directory that a hook finds by a variable.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HookDirectory {
    /// The project's.
    Project,
    /// The one that the event names.
    OfEvent,
    /// That of the hook's plugin.
    Plugin,
}

/// Where a hook is started.
#[derive(Debug, Clone, Copy)]
pub struct Place<'p> {
    /// The project's directory.
    pub project: &'p Path,
    /// The directory that the event names.
    pub directory: &'p Path,
    /// The host's variables, of which the last of equal names counts.
    pub environment: &'p [(OsString, OsString)],
}

impl Place<'_> {
    /// What the host has of a variable.
    pub fn variable(&self, name: &str) -> Option<&OsStr> {
        let found = self.environment.iter().rev().find(|(known, _)| known == name);
        found.map(|(_, value)| value.as_os_str())
    }
}

/// How a hook is started.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Launch {
    /// The program, by its path or to be looked for in `PATH`, and its arguments.
    pub program: OsString,
    /// Its arguments.
    pub arguments: Vec<OsString>,
    /// Where it runs.
    pub directory: PathBuf,
    /// Variables that it has beside the host's.
    pub variables: Vec<(OsString, OsString)>,
    /// Variables of the host's that it does not have: those by which it would take another agent for
    /// its home.
    pub without: Vec<&'static str>,
}

/// What is posted beside what the hook is told.
#[derive(Clone, PartialEq, Eq)]
pub struct Post {
    /// Where to.
    pub url: String,
    /// Headers, with the values of variables in them.
    pub headers: Vec<(String, String)>,
}

impl fmt::Debug for Post {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Their values are secrets.
        let names: Vec<&str> = self.headers.iter().map(|(name, _)| name.as_str()).collect();
        formatter.debug_struct("Post").field("headers", &names).finish_non_exhaustive()
    }
}

/// How a hook's process ended.
#[derive(Debug, Clone, Copy)]
pub struct Ended<'e> {
    /// Its exit code; absent where a signal or the engine ended it.
    pub code: Option<i32>,
    /// What it printed.
    pub stdout: &'e str,
    /// What it printed on standard error.
    pub stderr: &'e str,
}

/// What a hook has answered, in our words.
#[derive(Debug, Clone, Default)]
pub struct ForeignAnswer {
    /// What it said; absent where it said nothing.
    pub output: Option<HookOutput>,
    /// Why its home counts it as failed, if it does.
    pub failure: Option<HookFailure>,
    /// What of it cannot be done: a failure of a guard, and a warning to any other.
    pub invalid: Vec<InvalidAnswer>,
    /// What its author should know.
    pub warnings: Vec<String>,
}

/// One hook of another agent, as its home knows it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ForeignHook {
    /// Its home's language.
    pub language: &'static dyn Language,
    /// What its home calls the event.
    pub event: String,
    /// Its matcher, if it has one.
    pub matcher: Option<String>,
    /// A further condition (`if`), if it has one.
    pub condition: Option<String>,
    /// What it runs.
    pub command: ForeignCommand,
    /// Where it runs, beginning at the project.
    pub directory: Option<PathBuf>,
    /// The folder of its home's own file that it stands in, or the project whose file that is.
    pub folder: Option<PathBuf>,
    /// Variables of its own.
    pub variables: Vec<(String, String)>,
    /// The directory of the plugin that it comes with.
    pub plugin_root: Option<PathBuf>,
    /// Whether it is one of the user's, and not of a project.
    pub is_users: bool,
    /// Whether it is one of the machine's.
    pub is_machines: bool,
    /// Whether its file was named: then the asking agent is believed where its project is.
    pub is_named: bool,
    /// Whether its home runs the same hook of one event only once.
    pub runs_once: bool,
    /// How often in a row it may have the agent go on at the end of a turn, where its home counts that for
    /// each hook.
    pub loop_limit: Option<u64>,
    /// Whether it stands where its agent keeps its hooks, and was not named: then that agent runs it by
    /// itself.
    pub is_found: bool,
}

impl ForeignHook {
    /// How it is run at home beyond what every hook has, by the key in settings: what a decision to trust
    /// it is bound to as well.
    pub(crate) fn terms(&self) -> Vec<(String, String)> {
        let text = |path: &PathBuf| path.to_string_lossy().into_owned();
        let terms = [
            ("language", Some(self.language.name().to_owned())),
            ("language.event", Some(self.event.clone())),
            ("if", self.condition.clone()),
            ("runs", Some(self.command.terms())),
            ("cwd", self.directory.as_ref().map(text)),
            ("pluginRoot", self.plugin_root.as_ref().map(text)),
            ("loop_limit", self.loop_limit.map(|limit| limit.to_string())),
        ];
        terms.into_iter().filter_map(|(key, value)| Some((key.to_owned(), value?))).collect()
    }
}

/// A hook as it stands in a file.
#[derive(Debug, Clone)]
pub struct ForeignEntry {
    /// The hook.
    pub hook: ForeignHook,
    /// Our event.
    pub event: HookEventName,
    /// What it is called: its name, where its home knows names.
    pub name: Option<String>,
    /// How long it may run.
    pub timeout: Duration,
    /// Whether its failure is a denial.
    pub blocks_on_failure: bool,
    /// Whether nothing waits for it.
    pub is_async: bool,
    /// Whether the event's hooks run one after the other.
    pub sequential: bool,
    /// Where it stands in the text, in bytes.
    pub at: Range<usize>,
    /// Its JSON path.
    pub path: String,
}

/// What is wrong with a file, or lost of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ForeignProblem {
    /// Where, in bytes of the text.
    pub at: Range<usize>,
    /// The JSON path.
    pub path: String,
    /// What.
    pub message: String,
    /// What that costs.
    pub loss: ForeignLoss,
}

/// What is lost by a problem of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ForeignLoss {
    /// Hooks are missing that the home would run.
    Hooks,
    /// A hook does less than at home.
    Part,
    /// Nothing: it does nothing at home, either.
    Nothing,
}

/// A settings file of another agent.
#[derive(Debug, Clone, Copy)]
pub struct ForeignFile<'f> {
    /// Where it is.
    pub path: Option<&'f Path>,
    /// The directory of the plugin that it belongs to, if it belongs to one.
    pub plugin_root: Option<&'f Path>,
    /// Whether it is the user's, and not a project's.
    pub is_users: bool,
    /// Whether it is the machine's.
    pub is_machines: bool,
    /// Whether it was named.
    pub is_named: bool,
    /// Whether it was found where the agent keeps its settings, and not named.
    pub is_found: bool,
    /// The events there are.
    pub events: &'f Events,
    /// The agent's other settings files that are read with it, plugins' left out: one may say what holds for
    /// all.
    pub others: &'f [OtherFile<'f>],
}

/// Another settings file of the agent.
#[derive(Debug, Clone, Copy)]
pub struct OtherFile<'f> {
    /// Where it is.
    pub path: &'f Path,
    /// What stands in it.
    pub text: &'f str,
    /// Whether it is the user's, and not a project's.
    pub is_users: bool,
    /// Whether it is the machine's.
    pub is_machines: bool,
    /// Whether it was named.
    pub is_named: bool,
}

/// A definition of hooks in an agent's language, in settings of ours.
#[derive(Debug, Clone, Copy)]
pub struct ForeignDefinition<'d> {
    /// The event under which it stands, as the agent calls it.
    pub event: &'d str,
    /// The definition; a part of the text that it stands in.
    pub value: &'d RawJson,
    /// Its JSON path.
    pub path: &'d str,
    /// Which of its `hooks` are in that language, where not all are.
    pub only: Option<&'d BTreeSet<usize>>,
}

/// What was read of a file.
#[derive(Debug, Clone, Default)]
pub struct ForeignSettings {
    /// The hooks, in the order of the file.
    pub hooks: Vec<ForeignEntry>,
    /// What is wrong with it.
    pub problems: Vec<ForeignProblem>,
    /// How many entries it has by which its agent asks hooks. They are no hooks themselves.
    pub entries: usize,
    /// Whether hooks were read at all.
    pub was_read: bool,
}

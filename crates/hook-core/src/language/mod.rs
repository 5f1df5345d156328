//! Hooks of other agents: how each of them writes its hooks down, tells them of an event, starts
//! them, and reads what they answer.
//!
//! An agent's [`Language`] is given by a crate that knows it; the engine runs a [`HomeHook`] as its
//! home would, and everything around it (the plan, limits, trust, merging) as ever. What an agent said
//! itself, where it was one that asked, is [`AskedBy`]: hooks of its own get that, and no translation
//! of a translation.

mod asked;
mod hook;

use std::ffi::{OsStr, OsString};
use std::fmt;
use std::path::{Path, PathBuf};

pub use asked::AskedBy;
pub use hook::{HomeCommand, HomeEntry, HomeFile, HomeHook, HomeProblem, HomeSettings};

use crate::event::EventDefinition;
use crate::event::input::EventInput;
use crate::event::output::HookOutput;
use crate::failure::HookFailure;
use crate::json::RawObject;

/// How one agent's hooks are written, told and understood.
pub trait Language: fmt::Debug + Send + Sync {
    /// Its word in settings and on the command line, such as `claude`.
    fn name(&self) -> &'static str;

    /// What people call the agent.
    fn title(&self) -> &'static str;

    /// The agent's events that no built-in event stands for, to be declared under its names.
    fn declared(&self) -> Vec<EventDefinition>;

    /// Reads a settings file of the agent. What its home would not run is no hook here, either.
    fn read(&'static self, text: &str, file: &HomeFile<'_>) -> HomeSettings;

    /// What a hook is told on standard input; `None` where this is not what its event means at home.
    fn told(&self, hook: &HomeHook, input: &EventInput) -> Option<RawObject>;

    /// Whether a hook is for that, by its matcher and its condition.
    fn matches(&self, hook: &HomeHook, told: &RawObject) -> bool;

    /// How a hook is started.
    fn launch(&self, hook: &HomeHook, told: &RawObject, place: &Place<'_>) -> Launch;

    /// What a hook that was told something has answered when it ended.
    fn answer(&self, hook: &HomeHook, told: &RawObject, ended: &Ended<'_>) -> HomeAnswer;
}

impl PartialEq for dyn Language {
    fn eq(&self, other: &Self) -> bool {
        self.name() == other.name()
    }
}

impl Eq for dyn Language {}

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
pub struct HomeAnswer {
    /// What it said; absent where it said nothing.
    pub output: Option<HookOutput>,
    /// Why its home counts it as failed, if it does.
    pub failure: Option<HookFailure>,
    /// What its author should know.
    pub warnings: Vec<String>,
}

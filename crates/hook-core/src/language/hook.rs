//! One hook of another agent, and the file that it stands in.

use std::ops::Range;
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::Language;
use crate::event::{Events, HookEventName};

/// What a hook of another agent runs.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum HomeCommand {
    /// A text for the home's shell, or another one that it names.
    Shell {
        /// The text.
        text: String,
        /// The shell that it names.
        shell: Option<String>,
    },
    /// A program and its arguments, without a shell.
    Program {
        /// The program.
        program: String,
        /// Its arguments.
        arguments: Vec<String>,
    },
}

/// One hook of another agent, as its home knows it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HomeHook {
    /// Its home's language.
    pub language: &'static dyn Language,
    /// What its home calls the event.
    pub event: String,
    /// Its matcher, if it has one.
    pub matcher: Option<String>,
    /// A further condition (`if`), if it has one.
    pub condition: Option<String>,
    /// What it runs.
    pub command: HomeCommand,
    /// Where it runs, beginning at the project.
    pub directory: Option<PathBuf>,
    /// Variables of its own.
    pub variables: Vec<(String, String)>,
    /// The directory of the plugin that it comes with.
    pub plugin_root: Option<PathBuf>,
    /// Whether it is one of the user's, and not of a project.
    pub is_users: bool,
    /// Whether its home runs the same hook of one event only once.
    pub runs_once: bool,
}

/// A hook as it stands in a file.
#[derive(Debug, Clone)]
pub struct HomeEntry {
    /// The hook.
    pub hook: HomeHook,
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

impl HomeEntry {
    /// What is shown of what it runs.
    pub fn command(&self) -> String {
        match &self.hook.command {
            HomeCommand::Shell { text, .. } => text.clone(),
            HomeCommand::Program { program, arguments } => {
                let words = std::iter::once(program).chain(arguments);
                words.map(String::as_str).collect::<Vec<_>>().join(" ")
            }
        }
    }
}

/// What is wrong with a file, or lost of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HomeProblem {
    /// Where, in bytes of the text.
    pub at: Range<usize>,
    /// The JSON path.
    pub path: String,
    /// What.
    pub message: String,
    /// Whether hooks are missing that the home would run.
    pub costs_hooks: bool,
}

/// A settings file of another agent.
#[derive(Debug, Clone, Copy)]
pub struct HomeFile<'f> {
    /// Where it is.
    pub path: Option<&'f Path>,
    /// The directory of the plugin that it belongs to, if it belongs to one.
    pub plugin_root: Option<&'f Path>,
    /// Whether it is the user's, and not a project's.
    pub is_users: bool,
    /// The events there are.
    pub events: &'f Events,
}

/// What was read of a file.
#[derive(Debug, Clone, Default)]
pub struct HomeSettings {
    /// The hooks, in the order of the file.
    pub hooks: Vec<HomeEntry>,
    /// What is wrong with it.
    pub problems: Vec<HomeProblem>,
    /// Whether hooks were read at all.
    pub was_read: bool,
}

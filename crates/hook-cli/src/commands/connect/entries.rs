//! The entries of `hook connect` in agents' settings, and their status.

use std::path::{Path, PathBuf};

use hook_agents::Agent;
use hook_bus::wire::MAX_LINE;
use hook_files::user_folders::home;
use hook_files::{project_file, regular_file};
use hook_json::text::PathText;
use hook_settings::language::Language;
use serde_json::{Value, json};

use super::command::{binary_of, command};
use super::installed::LastCalls;
pub(crate) use super::scope::Scope;
use super::scripts;
use crate::context::Context;
use crate::error::{CommandError, Result};
use crate::installation::Installation;

/// The entries of `hook connect` in one settings file of an agent.
#[derive(Debug)]
pub(crate) struct Entries {
    pub(crate) agent: &'static Agent,
    pub(crate) scope: Scope,
    pub(crate) file: PathBuf,
    /// The agent's events, each with its command.
    pub(crate) commands: Vec<(String, String)>,
    status: EntryStatus,
}

/// The status of entries.
#[derive(Debug, Clone, PartialEq, Eq)]
enum EntryStatus {
    /// The entries call this binary.
    Current,
    /// The entries call another binary, or differ otherwise.
    Other,
    /// The binary that the entries call does not exist.
    Missing(PathBuf),
    /// The agent refuses the file, for this mistake.
    Refused(String),
}

impl Entries {
    /// Returns the reason to write the entries again, if there is one.
    pub(crate) fn stale(&self) -> Option<String> {
        match &self.status {
            EntryStatus::Current => None,
            EntryStatus::Other => {
                Some("it calls another binary, or is not the command that this one writes: connect it again".to_owned())
            }
            EntryStatus::Missing(binary) => {
                let binary = binary.shown();
                Some(format!("it calls {binary}, which is not there: connect it again"))
            }
            EntryStatus::Refused(mistake) => {
                let title = self.agent.title();
                Some(format!("{title} runs no hook of this file: {mistake}; correct it"))
            }
        }
    }

    /// Returns the command that repairs stale entries, or shows the place of the mistake that has them
    /// refused.
    pub(crate) fn repair_command(&self) -> String {
        match &self.status {
            EntryStatus::Refused(_) => {
                format!("hook check {}", hook_shell::quote(&self.file.to_string_lossy()))
            }
            _ => format!("hook connect {} --scope {}", self.agent.name(), self.scope.as_str()),
        }
    }

    /// Returns `true` if no hook runs: the called binary does not exist, or the agent refuses the file.
    pub(crate) fn is_broken(&self) -> bool {
        matches!(self.status, EntryStatus::Missing(_) | EntryStatus::Refused(_))
    }

    /// Returns a summary in one line.
    pub(crate) fn line(&self) -> String {
        let (found, all) = (self.commands.len(), self.agent.connected_event_names().count());
        let stale = match self.stale() {
            Some(stale) => format!("; {stale}"),
            None => format!(", hook {}", env!("CARGO_PKG_VERSION")),
        };
        format!("{found} of {all} events, {}{stale}", self.file.shown())
    }

    /// Returns the agent's last calls for its entries.
    pub(crate) fn last_calls(&self) -> LastCalls {
        LastCalls::of(self.agent, &self.commands)
    }

    pub(crate) fn to_json(&self, is_installed: bool) -> Value {
        let calls = self.last_calls();
        json!({
            "agent": self.agent.name(), "here": is_installed, "scope": self.scope.as_str(),
            "file": self.file, "events": self.commands.len(),
            "callsThisBinary": self.status == EntryStatus::Current, "works": !self.is_broken(),
            "lastCall": calls.last_timestamp(), "neverCalled": calls.never,
        })
    }
}

/// Returns the entries of an agent.
pub(crate) fn of(agent: &'static Agent, scope: Scope, context: &Context) -> Entries {
    let file = file_of(agent, scope, context).unwrap_or_default();
    let text = || {
        let bytes = regular_file::read(&file, MAX_LINE as u64).unwrap_or_default();
        String::from_utf8_lossy(&bytes).into_owned()
    };
    let (commands, refusal) = match agent.writes_scripts() {
        true => (scripts::commands(agent, &file), None),
        false => {
            let text = text();
            (agent.connections(&text).unwrap_or_default(), agent.refusal(&text))
        }
    };
    let installation = Installation::current().ok();
    let lasting = installation.as_ref().and_then(Installation::lasting_path);
    let binary = lasting.clone().unwrap_or_default();
    let is_current =
        |(event, known): &(String, String)| *known == command(&binary, agent, event, scope);
    let calls_this_build =
        || installation.zip(lasting.as_ref()).is_some_and(|(this, lasting)| this.is_at(lasting));
    let mut binaries = commands.iter().filter_map(|(_, command)| binary_of(command));
    let status = match (refusal, binaries.find(|binary| !binary.exists())) {
        (Some(mistake), _) => EntryStatus::Refused(mistake),
        (None, Some(gone)) => EntryStatus::Missing(gone),
        (None, None) if commands.iter().all(is_current) && calls_this_build() => {
            EntryStatus::Current
        }
        (None, None) => EntryStatus::Other,
    };
    Entries { agent, scope, file, commands, status }
}

/// Returns `true` if an agent has an entry, for the user or in this project.
pub(crate) fn is_connected(agent: Option<&'static Agent>, context: &Context) -> bool {
    agent.is_some_and(|agent| {
        Scope::ALL.iter().any(|scope| !of(agent, *scope, context).commands.is_empty())
    })
}

/// Returns `true` if an agent seems to be used here: its user folder exists.
pub(crate) fn is_installed(agent: &Agent) -> bool {
    home().is_some_and(|home| agent.user_folder(&home).is_dir())
}

/// Returns the folder of an agent's user settings.
pub(super) fn user_folder(agent: &Agent) -> Result<PathBuf> {
    home().map(|home| agent.user_folder(&home)).ok_or(CommandError::NoHome)
}

/// Returns the agent's settings file of a scope.
pub(crate) fn file_of(agent: &Agent, scope: Scope, context: &Context) -> Result<PathBuf> {
    let Some(entry) = agent.entry() else {
        let text = format!(
            "{} has no settings file of its own to be written; add `hook bridge {} EVENT` as a hook",
            agent.title(),
            agent.name()
        );
        return Err(CommandError::Usage(text));
    };
    if cfg!(windows) && agent.writes_scripts() {
        let text = format!(
            "{} wants PowerShell scripts on Windows, which are not written; have its own call `hook bridge {} EVENT`",
            agent.title(),
            agent.name()
        );
        return Err(CommandError::Usage(text));
    }
    match scope {
        Scope::Project => match entry.in_project {
            Some(file) => path_in_project(context.project(), file),
            None => Err(CommandError::Usage(format!(
                "{} reads no settings of projects; connect it for the user",
                agent.title()
            ))),
        },
        Scope::User => Ok(user_folder(agent)?.join(entry.file)),
    }
}

/// Returns a file of a project, or an error if a link leads out of the project.
pub(crate) fn path_in_project(project: &Path, path: &str) -> Result<PathBuf> {
    let path = project.join(path);
    let checked = project_file::check(project, &path);
    checked.map(|()| path).map_err(|error| CommandError::Usage(error.to_string()))
}

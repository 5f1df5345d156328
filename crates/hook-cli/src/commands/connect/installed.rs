//! The programs of agents that are installed, their versions, and the times at which they last called `hook bridge`.

use std::cmp::Ordering;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::{Duration, SystemTime};

use hook_agents::{Agent, Program, compare_versions, version_in};
use hook_bus::bridge::BridgeState;
use hook_files::program;
use hook_files::user_folders::home;
use hook_protocol::timestamp_in_seconds;
use hook_settings::language::Language;
use tokio::process::Command;

use crate::search_path::search_path;

/// The time limit for a program to say its version.
const VERSION_TIMEOUT: Duration = Duration::from_secs(5);

/// The time after its last call in which an agent may still write to its transcript: that of a long answer.
const TRANSCRIPT_DELAY: Duration = Duration::from_secs(15 * 60);

/// An agent's program in `PATH`.
#[derive(Debug)]
pub(crate) struct Installed {
    pub(crate) program: Program,
    pub(crate) path: PathBuf,
}

impl Installed {
    /// Returns the program of an agent, if it is known and in `PATH` outside of projects.
    pub(crate) fn find(agent: &Agent) -> Option<Self> {
        let program = agent.program()?;
        let endings: &[&str] = if cfg!(windows) { &[".exe", ".cmd"] } else { &[""] };
        let mut names = endings.iter().map(|ending| format!("{}{ending}", program.name));
        let path = names.find_map(|name| program::find(&search_path(&name), &name))?;
        Some(Self { program, path })
    }

    /// Returns the version, by the program's path, or else as it says itself.
    pub(crate) async fn version(&self) -> Option<String> {
        if let Some(version) = self.program.version_at(&self.path) {
            return Some(version);
        }
        let mut command = Command::new(&self.path);
        command.env("PATH", search_path(self.program.name));
        command.arg("--version").stdin(Stdio::null()).stderr(Stdio::null()).kill_on_drop(true);
        let output = tokio::time::timeout(VERSION_TIMEOUT, command.output()).await.ok()?.ok()?;
        version_in(&String::from_utf8_lossy(&output.stdout))
    }
}

/// Returns remarks about the version of an installed agent: what it lacks at these events, and that it is not the
/// version that the agent's table was checked with.
pub(crate) async fn version_remarks(agent: &Agent, events: &[&str]) -> Vec<String> {
    let Some(installed) = Installed::find(agent) else { return Vec::new() };
    let Some(version) = installed.version().await else { return Vec::new() };
    let title = agent.title();
    let missing = agent.missing_in(&version, events).into_iter();
    let missing = missing.map(|(since, what)| {
        format!("{title} {version} is older than {since}, which is the first that has {what}")
    });
    let checked = installed.program.checked.and_then(|checked| {
        let relation = match compare_versions(&version, checked) {
            Ordering::Equal => return None,
            Ordering::Less => "older",
            Ordering::Greater => "newer",
        };
        Some(format!(
            "{title} {version} is {relation} than {checked}, with which it was checked that it obeys"
        ))
    });
    missing.chain(checked).collect()
}

/// The last calls of a connected agent.
#[derive(Debug)]
pub(crate) struct LastCalls {
    /// The time of the last call for any event.
    pub(crate) last: Option<SystemTime>,
    /// The connected events that were never called for.
    pub(crate) never: Vec<String>,
}

impl LastCalls {
    /// Returns the last calls of an agent for the events of its entries, each with its command.
    pub(crate) fn of(agent: &Agent, entries: &[(String, String)]) -> Self {
        let calls = BridgeState::for_user().map(|state| state.last_calls(agent));
        let calls = calls.unwrap_or_default();
        let events = entries.iter().map(|(event, _)| event);
        let never = events.filter(|event| !calls.contains_key(*event)).cloned().collect();
        Self { last: calls.into_values().max(), never }
    }

    /// Returns the time of the last call for programs.
    pub(crate) fn last_timestamp(&self) -> Option<String> {
        self.last.map(timestamp_in_seconds)
    }

    /// Returns a summary in a few words.
    pub(crate) fn describe(&self) -> String {
        let Some(last) = self.last else { return "never called yet".to_owned() };
        let last = format!("last called {}", ago(last));
        match self.never.as_slice() {
            [] => last,
            never => format!("{last}; {} never", never.join(", ")),
        }
    }

    /// Returns the problem of an agent that wrote to a transcript long after its last call, or after it was connected
    /// if it never called: the time of the file with its entries.
    pub(crate) fn silence(&self, agent: &Agent, file: &Path) -> Option<String> {
        let folder = home().map(|home| agent.user_folder(&home))?;
        let transcript = agent.program()?.last_transcript(&folder)?;
        let since = self.last.or_else(|| modified(file))?;
        let silence = transcript.duration_since(since).ok()?;
        (silence > TRANSCRIPT_DELAY).then(|| {
            let last = match self.last {
                Some(last) => format!("its last call was {}", ago(last)),
                None => "it has never called `hook`".to_owned(),
            };
            format!(
                "{} ran {}, by its transcript, and did not call `hook`: {last}; no hook was run",
                agent.title(),
                ago(transcript)
            )
        })
    }
}

fn modified(path: &Path) -> Option<SystemTime> {
    path.metadata().ok()?.modified().ok()
}

/// Returns the time since then, in the largest unit.
fn ago(time: SystemTime) -> String {
    let seconds = SystemTime::now().duration_since(time).unwrap_or_default().as_secs();
    let (count, unit) = match seconds {
        0..60 => (seconds, "second"),
        60..3_600 => (seconds / 60, "minute"),
        3_600..86_400 => (seconds / 3_600, "hour"),
        _ => (seconds / 86_400, "day"),
    };
    format!("{} ago", crate::render::counted(usize::try_from(count).unwrap_or(usize::MAX), unit))
}

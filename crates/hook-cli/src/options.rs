//! Options common to all commands.

use std::num::NonZeroUsize;
use std::path::PathBuf;

use clap::{Args, ValueEnum};
use hook_agents::Agent;
use hook_json::text::{PathText, nearest};

/// The session of events if none is named.
pub(crate) const SESSION: &str = "cli";

#[derive(Debug, Args)]
#[command(next_help_heading = "Common options")]
pub(crate) struct Common {
    /// The project; the nearest parent with .hooks/settings.json by default, else here
    #[arg(long, global = true, value_name = "DIR")]
    pub(crate) project: Option<PathBuf>,
    /// Use this settings file instead of those that are found; naming it trusts it; may be given several times
    #[arg(long, global = true, value_name = "FILE")]
    pub(crate) settings: Vec<PathBuf>,
    /// Load this module, too; naming it trusts it; may be given several times
    #[arg(long = "module", global = true, value_name = "PATH")]
    pub(crate) modules: Vec<PathBuf>,
    /// Run the hooks that this agent has, too, as it would; with --settings, read that file as the agent's; may be given several times
    #[arg(long = "agent", global = true, value_name = "AGENT", value_parser = NamedAgent::parse)]
    pub(crate) agents: Vec<NamedAgent>,
    /// Leave the user's own settings out
    #[arg(long, global = true)]
    pub(crate) no_user: bool,
    /// Do not start with broken settings; when they are read again, keep what worked of a broken file; with
    /// trust, block where a folder is not what was trusted, and do not run the copy
    #[arg(long, global = true)]
    pub(crate) strict: bool,
    /// Answer each event within this time, in milliseconds
    #[arg(long, global = true, value_name = "MS", value_parser = milliseconds)]
    pub(crate) timeout: Option<u64>,
    /// The session that events belong to
    #[arg(long, global = true, value_name = "ID", default_value = SESSION)]
    pub(crate) session_id: String,
    /// Print JSON
    #[arg(long, global = true)]
    pub(crate) json: bool,
    /// When to use colours
    #[arg(long, global = true, value_name = "WHEN", default_value = "auto")]
    pub(crate) color: Color,
    /// Log what happens to stderr; -vv says more; HOOK_LOG filters, as in HOOK_LOG=hook::run=debug
    #[arg(short, long, global = true, action = clap::ArgAction::Count)]
    pub(crate) verbose: u8,
}

/// An agent named on the command line.
#[derive(Debug, Clone, Copy)]
pub(crate) struct NamedAgent(pub(crate) &'static Agent);

impl NamedAgent {
    pub(crate) fn parse(name: &str) -> Result<Self, String> {
        hook_agents::agent(name).map(Self).ok_or_else(|| {
            let names: Vec<&str> = hook_agents::agents().iter().map(|agent| agent.name()).collect();
            if let Some(broken) =
                hook_agents::broken_agent_files().iter().find(|broken| broken.name == name)
            {
                let problem = broken.problems.first().map(ToString::to_string);
                return format!(
                    "the file of the agent {name:?} is broken: {}:{}",
                    broken.path.shown(),
                    problem.unwrap_or_default()
                );
            }
            let suggestion = match nearest(name, names.iter().copied()) {
                Some(nearest) => format!("; did you mean {nearest}?"),
                None => ".".to_owned(),
            };
            format!("there is no agent {name:?}{suggestion} There are {}", names.join(", "))
        })
    }
}

fn milliseconds(text: &str) -> Result<u64, &'static str> {
    text.parse().map_err(|_| "expected whole milliseconds, such as 5000")
}

/// Parses a count of at least 1.
pub(crate) fn count(text: &str) -> Result<NonZeroUsize, &'static str> {
    text.parse().map_err(|_| "expected a whole number of at least 1")
}

#[derive(Debug, Clone, Copy, ValueEnum)]
pub(crate) enum Color {
    Auto,
    Always,
    Never,
}

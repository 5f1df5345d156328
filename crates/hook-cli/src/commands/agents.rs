//! `hook agents`: lists the known agents, and checks and starts files that define further ones.

use std::path::{Path, PathBuf};

use clap::{Args, Subcommand};
use hook_agents::{Agent, AgentFileProblem, MAX_AGENT_FILE};
use hook_files::regular_file;
use hook_json::text::PathText;
use hook_settings::language::Language;
use serde_json::json;

use crate::context::Context;
use crate::error::{CommandError, Result};
use crate::output::Printer;
use crate::{exit_code, render};

/// The text of a new file, with `NAME` for the agent's name.
const TEMPLATE: &str = include_str!("agents/template.toml");

#[derive(Debug, Args)]
#[command(after_help = "\
An agent that `hook` does not know is defined by a TOML file. The files of
~/.config/hooks/agents count everywhere; `hook connect --agent-file FILE` copies
one there. docs/agents/adding.md describes them.

Examples:
  hook agents
  hook agents --json
  hook agents new mine > mine.toml
  hook agents check mine.toml

Exit code: of `check` 1 if a file has a mistake; else 0.")]
pub(crate) struct Arguments {
    #[command(subcommand)]
    action: Option<Action>,
}

#[derive(Debug, Subcommand)]
enum Action {
    /// Look for mistakes in files that define agents
    Check {
        /// The files
        #[arg(value_name = "FILE", required = true, value_hint = clap::ValueHint::FilePath)]
        files: Vec<PathBuf>,
    },
    /// Print a file to start from
    New {
        /// The name of the agent in settings and on the command line
        name: String,
    },
}

pub(crate) async fn run(arguments: &Arguments, context: &Context, printer: &mut Printer) -> Result {
    match &arguments.action {
        None => list(context, printer).await,
        Some(Action::Check { files }) => check(files, context, printer).await,
        Some(Action::New { name }) => {
            let text = TEMPLATE.replace("NAME", name);
            let problems = hook_agents::read_agent(&text).err().unwrap_or_default();
            if let Some(problem) = problems.first() {
                return Err(CommandError::Usage(format!("{name:?}: {}", problem.message)));
            }
            refuse_shipped(name)?;
            printer.raw(&text).await?;
            Ok(exit_code::PROCEED)
        }
    }
}

async fn list(context: &Context, printer: &mut Printer) -> Result {
    for agent in hook_agents::agents() {
        if context.json() {
            printer.object(&agent.to_json()).await?;
            continue;
        }
        let checked = match agent.checked() {
            Some(checked) if checked.seen => format!("{} run {}", checked.version, checked.date),
            Some(checked) => format!("{} read {}", checked.version, checked.date),
            None => String::new(),
        };
        let events = render::counted(agent.connected_event_names().count(), "event");
        let origin = if hook_agents::is_shipped(agent.name()) { "" } else { "  your file" };
        let (name, title) = (agent.name(), agent.title());
        printer.text(&format!("{name:<10} {title:<16} {events:<10} {checked}{origin}\n")).await?;
    }
    for broken in hook_agents::broken_agent_files() {
        for problem in &broken.problems {
            printer.warning(&format!("{}:{problem}", broken.path.shown()));
        }
    }
    Ok(exit_code::PROCEED)
}

async fn check(files: &[PathBuf], context: &Context, printer: &mut Printer) -> Result {
    let mut status = exit_code::PROCEED;
    for path in files {
        let found = read(path)?;
        let problems = match &found {
            Ok(agent) if hook_agents::is_shipped(agent.name()) => vec![shipped(agent.name())],
            Ok(_) => Vec::new(),
            Err(problems) => problems.clone(),
        };
        if context.json() {
            let problems: Vec<_> = problems
                .iter()
                .map(|it| json!({"line": it.line, "column": it.column, "message": it.message}))
                .collect();
            printer.object(&json!({"file": path, "problems": problems})).await?;
        } else if let (Ok(agent), []) = (&found, problems.as_slice()) {
            let events = render::counted(agent.connected_event_names().count(), "event");
            let text = format!("{}: {}, {events}\n", path.shown(), agent.title());
            printer.text(&text).await?;
        }
        for problem in &problems {
            printer.problem(&format!("{}:{problem}", path.shown()));
            status = exit_code::FAILURE;
        }
    }
    Ok(status)
}

/// Reads an agent file.
fn read(path: &Path) -> Result<Result<Agent, Vec<AgentFileProblem>>> {
    let text = regular_file::read_to_string(path, MAX_AGENT_FILE)
        .map_err(CommandError::read("the agent file", path))?;
    Ok(hook_agents::read_agent(&text))
}

fn shipped(name: &str) -> AgentFileProblem {
    let message =
        format!("`{name}` is part of `hook` and cannot be defined anew; take another name");
    AgentFileProblem { line: 1, column: 1, message }
}

fn refuse_shipped(name: &str) -> Result<()> {
    match hook_agents::is_shipped(name) {
        true => Err(CommandError::Usage(shipped(name).message)),
        false => Ok(()),
    }
}

/// Returns the agent of a file, with the file's text and the path of the user's copy.
pub(super) fn agent_of_file(path: &Path) -> Result<(&'static Agent, String, PathBuf)> {
    let agent = read(path)?.map_err(|problems| {
        let lines = problems.iter().map(|problem| format!("{}:{problem}", path.shown()));
        CommandError::Usage(lines.collect::<Vec<_>>().join("\n"))
    })?;
    refuse_shipped(agent.name())?;
    let folder = hook_agents::agent_folder().ok_or(CommandError::NoHome)?;
    let copy = folder.join(format!("{}.toml", agent.name()));
    let text = regular_file::read_to_string(path, MAX_AGENT_FILE)
        .map_err(CommandError::read("the agent file", path))?;
    Ok((Box::leak(Box::new(agent)), text, copy))
}

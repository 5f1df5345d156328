//! `hook connect` and `hook disconnect`: the entries by which an agent calls `hook bridge`.

use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};
use hook_bus::wire::MAX_LINE;
use hook_core::files::regular_file;
use hook_core::language::Language;
use hook_core::settings::edit::{AbsentFile, EditMode, FileChange, NotEditable, edit_in_file};
use hook_translate::agents::{self, Agent};
use serde_json::json;

use super::bridge::agent;
use crate::context::Context;
use crate::error::CommandError;
use crate::exit_code::{self, Status};
use crate::output::Printer;
use crate::render;

pub(crate) const DISCONNECT_HELP: &str = "\
Takes the entries out again that `hook connect` wrote; every other byte stays.

Examples:
  hook disconnect claude
  hook disconnect --all      every agent, for the user and in this project";

#[derive(Debug, Args)]
#[command(after_help = "\
Writes an entry for each event of the agent into its settings, which calls
`hook bridge`: from then on the agent runs your hooks. Every other byte stays.
What the agent still wants of you is said.

Examples:
  hook connect --list
  hook connect claude --dry-run
  hook connect gemini --scope project
  hook connect codex --events PreToolUse,Stop")]
pub(crate) struct Arguments {
    /// The agent: claude, gemini, codex, cursor or copilot
    #[arg(required_unless_present = "list")]
    agent: Option<String>,
    /// Whose settings are written: the user's, or this project's
    #[arg(long, value_enum, default_value = "user")]
    scope: Scope,
    /// Only these events, as the agent calls them
    #[arg(long, value_name = "EVENTS", value_delimiter = ',')]
    events: Vec<String>,
    /// Show what would be written, and write nothing
    #[arg(long)]
    dry_run: bool,
    /// Say which agents are connected
    #[arg(long, conflicts_with_all = ["agent", "events", "dry_run"])]
    list: bool,
}

#[derive(Debug, Args)]
pub(crate) struct DisconnectArguments {
    /// The agent: claude, gemini, codex, cursor or copilot
    #[arg(required_unless_present = "all", conflicts_with = "all")]
    agent: Option<String>,
    /// Every agent, for the user and in this project
    #[arg(long, conflicts_with = "scope")]
    all: bool,
    /// Whose settings are written: the user's, or this project's
    #[arg(long, value_enum, default_value = "user")]
    scope: Scope,
    /// Show what would be written, and write nothing
    #[arg(long)]
    dry_run: bool,
}

/// Whose settings are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Scope {
    User,
    Project,
}

impl Scope {
    const ALL: [Self; 2] = [Self::User, Self::Project];

    fn as_str(self) -> &'static str {
        match self {
            Self::User => "user",
            Self::Project => "project",
        }
    }
}

/// The agent's settings file of that scope.
fn file_of(agent: &Agent, scope: Scope, context: &Context) -> Result<PathBuf, CommandError> {
    let Some(entry) = agent.entry_places() else {
        let text = format!(
            "{} has no settings file of its own to be written; add `hook bridge {} EVENT` as a hook",
            agent.title(),
            agent.word()
        );
        return Err(CommandError::Usage(text));
    };
    if scope == Scope::Project {
        return within(context.project(), entry.in_project);
    }
    let set = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty());
    let folder = entry.variable.and_then(set).map(PathBuf::from);
    let home = || Some(PathBuf::from(set("HOME").or_else(|| set("USERPROFILE"))?));
    let folder = folder.or_else(|| Some(home()?.join(entry.folder)));
    Ok(folder.ok_or(CommandError::NoHome)?.join(entry.file))
}

/// A file of a project. A link could lead out of it, to a file of somebody else.
fn within(project: &Path, path: &str) -> Result<PathBuf, CommandError> {
    let path = project.join(path);
    let inside = path.ancestors().take_while(|part| *part != project);
    match inside.filter(|part| part.is_symlink()).last() {
        Some(link) => Err(CommandError::Usage(format!(
            "{} is a link, and might lead out of the project; nothing was written",
            link.display()
        ))),
        None => Ok(path),
    }
}

pub(crate) async fn run(
    arguments: &Arguments,
    context: &Context,
    printer: &mut Printer,
) -> Result<Status, CommandError> {
    let Some(name) = &arguments.agent else { return list(context, printer).await };
    let agent = agent(name)?;
    let path = file_of(agent, arguments.scope, context)?;
    let events = events_of(agent, &arguments.events)?;
    let binary = std::env::current_exe().map_err(CommandError::WorkingDirectory)?;
    let command = |event: &str| command(&binary, agent, event, arguments.scope);
    let edit = |text: Option<&str>| {
        let empty = text.filter(|text| !text.trim().is_empty());
        agent.connected(empty, &events, &command).map_err(|error| not_editable(text, error))
    };
    let change = edited(&path, arguments.dry_run, AbsentFile::Made, &edit)?;
    show(agent, &change, "connected", arguments.dry_run, context, printer).await?;
    if let Some(entry) = agent.entry_places().filter(|_| !arguments.dry_run) {
        printer.remark(entry.remains);
        if agent.word() == "copilot" && is_connected(agents::agent("claude"), context) {
            printer.warning(
                "Copilot runs the hooks of Claude Code's settings, too, which are connected: each hook \
                 would run twice; `hook disconnect` one of them",
            );
        }
    }
    Ok(exit_code::PROCEED)
}

fn is_connected(agent: Option<&Agent>, context: &Context) -> bool {
    agent.is_some_and(|agent| {
        Scope::ALL.iter().any(|scope| !connections(agent, *scope, context).1.is_empty())
    })
}

pub(crate) async fn disconnect(
    arguments: &DisconnectArguments,
    context: &Context,
    printer: &mut Printer,
) -> Result<Status, CommandError> {
    let wanted: Vec<(&'static Agent, Scope)> = match &arguments.agent {
        Some(name) => vec![(agent(name)?, arguments.scope)],
        None => {
            let all = agents::AGENTS.into_iter().filter(|agent| agent.entry_places().is_some());
            all.flat_map(|agent| Scope::ALL.map(|scope| (agent, scope))).collect()
        }
    };
    let mut status = exit_code::PROCEED;
    for (agent, scope) in wanted {
        match taken_out(agent, scope, arguments, context, printer).await {
            Ok(()) => {}
            // One that cannot be edited keeps no other.
            Err(error) if arguments.all => {
                printer.problem(&error.to_string());
                status = exit_code::FAILURE;
            }
            Err(error) => return Err(error),
        }
    }
    Ok(status)
}

async fn taken_out(
    agent: &'static Agent,
    scope: Scope,
    arguments: &DisconnectArguments,
    context: &Context,
    printer: &mut Printer,
) -> Result<(), CommandError> {
    let path = file_of(agent, scope, context)?;
    let edit = |text: Option<&str>| match text {
        Some(text) => agent.disconnected(text).map_err(|error| not_editable(Some(text), error)),
        None => Ok(String::new()),
    };
    if arguments.all && !path.exists() {
        return Ok(());
    }
    let change = edited(&path, arguments.dry_run, AbsentFile::Made, &edit)?;
    if arguments.all && !change.is_change() {
        return Ok(());
    }
    if change.is_change() && agent.is_made_here(&change.before) && !arguments.dry_run {
        let what = "the settings file";
        std::fs::remove_file(&path).map_err(|source| CommandError::Write {
            what,
            path: path.clone(),
            source,
        })?;
    }
    show(agent, &change, "disconnected", arguments.dry_run, context, printer).await
}

fn edited(
    path: &Path,
    dry_run: bool,
    absent: AbsentFile,
    edit: &hook_core::settings::edit::Edit<'_>,
) -> Result<FileChange, CommandError> {
    let mode = if dry_run { EditMode::Preview } else { EditMode::Write };
    Ok(edit_in_file(path, absent, mode, edit)?)
}

fn not_editable(text: Option<&str>, error: agents::NotEditable) -> Box<NotEditable> {
    NotEditable::at(text.unwrap_or_default(), error.at, error.message)
}

fn events_of(agent: &Agent, named: &[String]) -> Result<Vec<&'static str>, CommandError> {
    let all: Vec<&'static str> = agent.asks().map(|(event, _)| event).collect();
    if named.is_empty() {
        return Ok(all);
    }
    let known = |name: &String| {
        let found = all.iter().find(|event| *event == name).copied();
        found.ok_or_else(|| {
            let known = all.join(", ");
            let text =
                format!("{} has no event {name:?} to ask about; it has {known}", agent.title());
            CommandError::Usage(text)
        })
    };
    named.iter().map(known).collect()
}

/// What the agent runs. A project's settings are those of others, too, who may not have the binary.
fn command(binary: &Path, agent: &Agent, event: &str, scope: Scope) -> String {
    let binary = render::shell_word(&binary.to_string_lossy());
    let bridge = format!("{binary} bridge {} {event}", agent.word());
    match scope {
        Scope::User => bridge,
        Scope::Project => format!(
            "[ -x {binary} ] || {{ echo 'hook is not installed here; its hooks do not run' >&2; exit 0; }}; \
             exec {bridge}"
        ),
    }
}

async fn show(
    agent: &Agent,
    change: &FileChange,
    word: &str,
    dry_run: bool,
    context: &Context,
    printer: &mut Printer,
) -> Result<(), CommandError> {
    let path = change.path.display().to_string();
    if context.json() {
        let object = json!({
            "agent": agent.word(), "file": path, "changed": change.is_change(),
            "events": agent.connections(&change.after).unwrap_or_default().len(),
        });
        return printer.object(&object).await;
    }
    let text = match (change.is_change(), dry_run) {
        (false, _) => format!("{} is {word} already: {path}\n", agent.title()),
        (true, true) => {
            let names = Some((&*path, &*path));
            let diff = render::unified(&change.before, &change.after, names);
            render::painted(&diff, "", printer)
        }
        (true, false) => format!("{word} {}: {path}\n", agent.title()),
    };
    printer.text(&text).await
}

/// The file of an agent, and the entries that are in it.
fn connections(agent: &Agent, scope: Scope, context: &Context) -> (PathBuf, Vec<(String, String)>) {
    let Ok(path) = file_of(agent, scope, context) else { return Default::default() };
    let bytes = regular_file::read(&path, MAX_LINE as u64).unwrap_or_default();
    let text = String::from_utf8_lossy(&bytes);
    let found = agent.connections(&text).unwrap_or_default();
    (path, found)
}

async fn list(context: &Context, printer: &mut Printer) -> Result<Status, CommandError> {
    let binary = std::env::current_exe().map_err(CommandError::WorkingDirectory)?;
    for agent in agents::AGENTS {
        for scope in Scope::ALL {
            let (path, found) = connections(agent, scope, context);
            let calls_this =
                found.iter().all(|(event, known)| *known == command(&binary, agent, event, scope));
            if context.json() {
                let object = json!({
                    "agent": agent.word(), "scope": scope.as_str(), "file": path,
                    "events": found.len(), "callsThisBinary": calls_this,
                });
                printer.object(&object).await?;
                continue;
            }
            if found.is_empty() {
                continue;
            }
            let stale = match calls_this {
                true => "",
                false => "; it calls another binary than this one: connect it again",
            };
            let text = format!(
                "{:<8} {:<8} {} of {} events, {}{stale}\n",
                agent.word(),
                scope.as_str(),
                found.len(),
                agent.asks().count(),
                path.display(),
            );
            printer.text(&text).await?;
        }
    }
    if !context.json() && !agents::AGENTS.iter().any(|agent| is_connected(Some(agent), context)) {
        printer.text("no agent is connected; `hook connect AGENT` does it\n").await?;
    }
    Ok(exit_code::PROCEED)
}

//! `hook connect` and `hook disconnect`: an agent's settings entries that call `hook bridge`.

mod codex;
mod command;
mod connection;
mod consent;
pub(super) mod entries;
pub(super) mod installed;
pub(super) mod losses;
pub(super) mod record;
mod scope;
mod scripts;
mod server;
mod verify;

use std::path::{Path, PathBuf};

use clap::Args;
use hook_agents::Agent;
use hook_json::text::PathText;
use hook_settings::edit::{AbsentFile, EditMode, FileChange, NotEditable};
use hook_settings::language::Language;
use serde_json::json;

use self::command::command;
use self::connection::Connection;
use self::entries::{Entries, Scope, file_of};
use super::agents::agent_of_file;
use super::bridge::agent;
use crate::context::Context;
use crate::error::{CommandError, Result};
use crate::exit_code;
use crate::installation::Installation;
use crate::output::Printer;
use crate::render;

pub(crate) const DISCONNECT_HELP: &str = "\
Takes the entries out again that `hook connect` wrote; every other byte stays.

Examples:
  hook disconnect claude
  hook disconnect --all      every agent, for the user and in this project";

#[derive(Debug, Args)]
#[command(after_help = "\
Writes entries into the agent's settings that call `hook bridge`: one for each
event that can be refused, and for each of the others that hooks listen to. From
then on the agent runs your hooks. Every other byte stays. What the agent still
wants of you is asked, on a terminal or by --yes, and else said. For the user,
`\"server\": \"auto\"` is written into the user's settings where they say nothing
of it: the first call starts a server, which answers the next ones faster.

Examples:
  hook connect --list
  hook connect --verify                  every connected agent
  hook connect claude codex
  hook connect --all                     every agent that is here
  hook connect claude --dry-run
  hook connect gemini --scope project
  hook connect codex --yes
  hook connect --agent-file mine.toml    an agent that hook does not know
  hook connect codex --events PreToolUse,Stop")]
pub(crate) struct Arguments {
    /// The agents, as `hook agents` lists them
    #[arg(value_name = "AGENT", required_unless_present_any = ["list", "all", "agent_file", "verify"])]
    named: Vec<String>,
    /// Every agent that is here
    #[arg(long, conflicts_with = "named")]
    all: bool,
    /// The agent that this file defines; it is copied to ~/.config/hooks/agents
    #[arg(long, value_name = "FILE", value_hint = clap::ValueHint::FilePath)]
    #[arg(conflicts_with_all = ["named", "all", "list"])]
    agent_file: Option<PathBuf>,
    /// Whose settings are written: the user's, or this project's
    #[arg(long, value_enum, default_value = "user")]
    scope: Scope,
    /// These events and no others, as the agent calls them
    #[arg(long, value_name = "EVENTS", value_delimiter = ',')]
    events: Vec<String>,
    /// Agree to what the agent wants before it runs the entries, such as trust in this folder
    #[arg(long, conflicts_with = "dry_run")]
    yes: bool,
    /// Show what would be written, and write nothing
    #[arg(long)]
    dry_run: bool,
    /// Start no server: leave the user's settings as they are
    #[arg(long)]
    no_server: bool,
    /// Say which agents are connected, and when they last called
    #[arg(long, conflicts_with_all = ["named", "all", "no_server", "events", "dry_run", "yes"])]
    list: bool,
    /// Prove that the user's connections work: start each agent once, offline, with a guard that refuses
    #[arg(long, conflicts_with_all = ["list", "all", "scope", "no_server", "events", "dry_run", "yes"])]
    verify: bool,
}

#[derive(Debug, Args)]
pub(crate) struct DisconnectArguments {
    /// The agent, as `hook agents` lists it
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

pub(crate) async fn run(arguments: &Arguments, context: &Context, printer: &mut Printer) -> Result {
    if arguments.list {
        return list(context, printer).await;
    }
    let named = arguments.named.iter().map(|name| agent(name)).collect::<Result<Vec<_>, _>>()?;
    if arguments.verify {
        return verify::run(&named, context, printer).await;
    }
    let connectable =
        || hook_agents::agents().iter().copied().filter(|agent| agent.entry().is_some());
    let selected: Vec<&'static Agent> = match (&arguments.agent_file, arguments.all) {
        (Some(file), _) => vec![copy_agent_file(file, arguments.dry_run, context, printer).await?],
        (None, true) => connectable().filter(|agent| entries::is_installed(agent)).collect(),
        (None, false) => named,
    };
    if selected.is_empty() {
        printer.problem("no agent that can be connected has a folder of its user here");
        return Ok(exit_code::FAILURE);
    }
    let binary = binary_to_call(arguments.dry_run, printer)?;
    let mut status = exit_code::PROCEED;
    for agent in &selected {
        match connect(agent, &binary, arguments, context, printer).await {
            Ok(()) => {}
            // A failure for one agent does not affect the others.
            Err(error) if selected.len() > 1 => {
                printer.problem(&error.to_string());
                status = exit_code::FAILURE;
            }
            Err(error) => return Err(error),
        }
    }
    if arguments.scope == Scope::User && !arguments.no_server {
        server::enable_auto_start(arguments.dry_run, context, printer).await?;
    }
    if let Some(why) = losses::no_hooks_warning(context).await? {
        printer.warning(&why);
    }
    Ok(status)
}

/// Copies a file that defines an agent to the user's, and returns the agent.
async fn copy_agent_file(
    file: &Path,
    dry_run: bool,
    context: &Context,
    printer: &mut Printer,
) -> Result<&'static Agent> {
    let (agent, text, copy) = agent_of_file(file)?;
    let change = edit_file(&copy, dry_run, AbsentFile::Create, &|_| Ok(text.clone()))?;
    if change.is_change() && !context.json() {
        let verb = if dry_run { "would copy" } else { "copied" };
        printer.text(&format!("{verb} {} to {}\n", file.shown(), copy.shown())).await?;
    }
    Ok(agent)
}

/// Writes the entries again that are missing or stale: all that `hook connect` wrote for the user and in this project.
pub(super) async fn repair(context: &Context, printer: &mut Printer) -> Result {
    let agents = hook_agents::agents().iter().copied().filter(|agent| agent.entry().is_some());
    let all = agents.flat_map(|agent| Scope::ALL.map(|scope| entries::of(agent, scope, context)));
    let mut status = exit_code::PROCEED;
    for entries in all {
        let missing = record::missing(&entries);
        if missing.is_empty() && (entries.commands.is_empty() || entries.stale().is_none()) {
            continue;
        }
        let present = entries.commands.iter().map(|(event, _)| event.clone());
        let arguments = Arguments {
            named: Vec::new(),
            agent_file: None,
            all: false,
            scope: entries.scope,
            events: present.chain(missing).collect(),
            yes: false,
            dry_run: false,
            no_server: true,
            list: false,
            verify: false,
        };
        let binary = binary_to_call(false, printer)?;
        // A failure for one agent does not affect the others.
        if let Err(error) = connect(entries.agent, &binary, &arguments, context, printer).await {
            printer.problem(&error.to_string());
            status = exit_code::FAILURE;
        }
    }
    Ok(status)
}

/// Returns the path that entries name. A binary whose own path does not last is copied.
fn binary_to_call(dry_run: bool, printer: &mut Printer) -> Result<PathBuf> {
    let installation = Installation::current().map_err(CommandError::OwnBinary)?;
    if installation.path.file_stem().is_none_or(|name| name != "hook") {
        let text = format!(
            "this binary is {}; entries are known by the name `hook`, so call it that and connect again",
            installation.path.shown()
        );
        return Err(CommandError::Usage(text));
    }
    let path = installation.lasting_path().ok_or(CommandError::NoHome)?;
    if !dry_run && !installation.is_at(&path) {
        installation.copy_to(&path).map_err(CommandError::write("a copy of `hook`", &path))?;
        printer.remark(&format!(
            "agents call a copy of this binary, {}, since {} may be gone or changed tomorrow; after an \
             update of `hook`, connect again",
            path.shown(),
            installation.path.shown()
        ));
    }
    Ok(path)
}

async fn connect(
    agent: &'static Agent,
    binary: &Path,
    arguments: &Arguments,
    context: &Context,
    printer: &mut Printer,
) -> Result<()> {
    let path = file_of(agent, arguments.scope, context)?;
    let events = match arguments.events.as_slice() {
        [] => losses::needed_events(agent, &entries::of(agent, arguments.scope, context), context),
        named => parse_events(agent, named)?,
    };
    let command = |event: &str| command(binary, agent, event, arguments.scope);
    let events = if agent.writes_scripts() {
        scripts::connect(agent, &path, &events, &command, arguments.dry_run, printer).await?
    } else {
        let edit = |text: Option<&str>| {
            let filled = text.filter(|text| !text.trim().is_empty());
            with_entries(agent, filled, &events, &command, context)
                .map_err(|error| not_editable(text, error))
        };
        let change = edit_file(&path, arguments.dry_run, AbsentFile::Create, &edit)?;
        show(agent, &change, "connected", arguments.dry_run, printer).await?;
        events
    };
    if !arguments.dry_run
        && let Err(error) = record::write(agent, &path, &events)
    {
        printer.warning(&format!(
            "entries that something else takes out later will not be missed: the record of them was not written: {error}"
        ));
    }
    for loss in losses::losses(agent, &events, context) {
        printer.remark(&loss);
    }
    for remark in installed::version_remarks(agent, &events).await {
        let trial = match agent.can_be_tried() {
            true => format!("; `hook connect --verify {}` tries it", agent.name()),
            false => String::new(),
        };
        printer.remark(&format!("{remark}{trial}"));
    }
    let other = match arguments.scope {
        Scope::User => Scope::Project,
        Scope::Project => Scope::User,
    };
    let others = entries::of(agent, other, context);
    if others.file != path && !others.commands.is_empty() {
        printer.warning(&format!(
            "{} is connected for the {}, too, so that each hook runs twice; disconnect one of them: `hook \
             disconnect {} --scope {}`",
            agent.title(),
            other.as_str(),
            agent.name(),
            other.as_str()
        ));
    }
    let connection = Connection { agent, scope: arguments.scope, context, yes: arguments.yes };
    if arguments.dry_run {
        consent::preview(connection, events.len(), printer).await?;
    } else {
        consent::settle(connection, printer).await?;
        if agent.name() == "copilot" && entries::is_connected(hook_agents::agent("claude"), context)
        {
            printer.warning(
                "Copilot runs the hooks of Claude Code's settings, too, which are connected: each hook \
                 would run twice; `hook disconnect` one of them",
            );
        }
    }
    Ok(())
}

/// Adds entries to an agent's settings. A consent in the same file stays its last item.
fn with_entries(
    agent: &Agent,
    text: Option<&str>,
    events: &[&str],
    command: &dyn Fn(&str) -> String,
    context: &Context,
) -> Result<String, hook_agents::ForeignEditError> {
    let text_without_consent = text.map(|text| without_consent(agent, text)).transpose()?;
    let connected = agent.connected(text_without_consent.as_deref(), events, command)?;
    match agent.consent().filter(|_| text_without_consent.as_deref() != text) {
        Some(consent) => consent.grant(Some(&connected), context.project()),
        None => Ok(connected),
    }
}

/// Removes a consent that is stored in the same file.
fn without_consent(agent: &Agent, text: &str) -> Result<String, hook_agents::ForeignEditError> {
    match agent.consent().filter(|consent| consent.file.is_none()) {
        Some(consent) => consent.revoke(text, None),
        None => Ok(text.to_owned()),
    }
}

pub(crate) async fn disconnect(
    arguments: &DisconnectArguments,
    context: &Context,
    printer: &mut Printer,
) -> Result {
    let Some(name) = &arguments.agent else {
        return disconnect_all(arguments.dry_run, context, printer).await;
    };
    disconnect_one(agent(name)?, arguments.scope, arguments, context, printer).await?;
    Ok(exit_code::PROCEED)
}

/// Returns `true` if an agent has an entry, for the user or in this project.
pub(super) fn is_any_connected(context: &Context) -> bool {
    hook_agents::agents().iter().any(|agent| entries::is_connected(Some(agent), context))
}

/// Removes the entries of all agents, for the user and in this project.
pub(super) async fn disconnect_all(
    dry_run: bool,
    context: &Context,
    printer: &mut Printer,
) -> Result {
    let arguments = &DisconnectArguments { agent: None, all: true, scope: Scope::User, dry_run };
    let all = hook_agents::agents().iter().copied().filter(|agent| agent.entry().is_some());
    let has_file = |(agent, scope): &(&Agent, Scope)| {
        *scope == Scope::User || agent.entry().is_some_and(|entry| entry.in_project.is_some())
    };
    let targets = all.flat_map(|agent| Scope::ALL.map(|scope| (agent, scope))).filter(has_file);
    let mut status = exit_code::PROCEED;
    let mut any_connected = false;
    for (agent, scope) in targets {
        match disconnect_one(agent, scope, arguments, context, printer).await {
            Ok(was_connected) => any_connected |= was_connected,
            // A failure for one agent does not affect the others.
            Err(error) => {
                printer.problem(&error.to_string());
                status = exit_code::FAILURE;
            }
        }
    }
    if !any_connected && status == exit_code::PROCEED && !context.json() {
        printer.text("no agent is connected, for this user or in this project\n").await?;
    }
    Ok(status)
}

/// Returns `true` if it was connected.
async fn disconnect_one(
    agent: &'static Agent,
    scope: Scope,
    arguments: &DisconnectArguments,
    context: &Context,
    printer: &mut Printer,
) -> Result<bool> {
    let path = file_of(agent, scope, context)?;
    let edit = |text: Option<&str>| match text {
        Some(text) => without_consent(agent, text)
            .and_then(|plain| agent.disconnected(&plain))
            .map_err(|error| not_editable(Some(text), error)),
        None => Ok(String::new()),
    };
    let connection = Connection { agent, scope, context, yes: false };
    if !arguments.dry_run {
        record::remove(agent, &path);
    }
    if agent.writes_scripts() {
        let was_connected = scripts::disconnect(agent, &path, arguments.dry_run, printer).await?;
        if !was_connected && !arguments.all {
            let (path, text) = (path.clone(), String::new());
            let unchanged = FileChange { path, before: text.clone(), after: text };
            show(agent, &unchanged, "disconnected", arguments.dry_run, printer).await?;
        }
        return Ok(was_connected);
    }
    if arguments.all && !path.exists() {
        consent::revoke(connection, arguments.dry_run, printer).await?;
        return Ok(false);
    }
    let change = edit_file(&path, arguments.dry_run, AbsentFile::Create, &edit)?;
    let is_made_here =
        without_consent(agent, &change.before).is_ok_and(|text| agent.is_created_file(&text));
    if change.is_change() && is_made_here && !arguments.dry_run {
        remove_file(&path)?;
    }
    if change.is_change() && arguments.dry_run && arguments.all && !context.json() {
        let path = path.shown();
        let file = match is_made_here {
            true => format!("remove {path}, which only has these entries"),
            false => format!("take its entries out of {path}"),
        };
        printer.text(&format!("would disconnect {}, and {file}\n", agent.title())).await?;
    }
    if (!arguments.all || change.is_change())
        && !(is_made_here && arguments.dry_run && arguments.all)
    {
        show(agent, &change, "disconnected", arguments.dry_run, printer).await?;
    }
    consent::revoke(connection, arguments.dry_run, printer).await?;
    Ok(change.is_change())
}

/// Removes a file that has no content left.
fn remove_file(path: &Path) -> Result<()> {
    std::fs::remove_file(path).map_err(CommandError::write("the settings file", path))
}

fn edit_file(
    path: &Path,
    dry_run: bool,
    absent: AbsentFile,
    edit: &hook_settings::edit::Edit<'_>,
) -> Result<FileChange> {
    let mode = if dry_run { EditMode::Preview } else { EditMode::Write };
    Ok(hook_settings::edit::edit_file(path, absent, mode, edit)?)
}

fn not_editable(text: Option<&str>, error: hook_agents::ForeignEditError) -> Box<NotEditable> {
    NotEditable::at(text.unwrap_or_default(), error.at, error.message)
}

fn parse_events(agent: &Agent, named: &[String]) -> Result<Vec<&'static str>> {
    let all: Vec<&'static str> = agent.connected_event_names().map(|(event, _)| event).collect();
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

async fn show(
    agent: &Agent,
    change: &FileChange,
    verb: &str,
    dry_run: bool,
    printer: &mut Printer,
) -> Result<()> {
    let (title, path) = (agent.title(), change.path.shown().to_string());
    let events = agent.connections(&change.after).unwrap_or_default().len();
    let object = json!({
        "agent": agent.name(), "file": path, "changed": change.is_change(), "events": events,
    });
    let text = |printer: &Printer| match (change.is_change(), dry_run) {
        (false, _) => format!("{title} is {verb} already: {path}\n"),
        (true, true) => render::file_diff(change, printer),
        (true, false) if events == 0 => format!("{verb} {title}: {path}\n"),
        (true, false) => {
            let all = agent.connected_event_names().count();
            let others = match all.saturating_sub(events) {
                0 => "",
                _ => "; connect again once a hook listens to one of the others",
            };
            format!("{verb} {title}: {path}, {events} of {all} events{others}\n")
        }
    };
    printer.show(&(object, text)).await
}

async fn list(context: &Context, printer: &mut Printer) -> Result {
    let mut any_connected = false;
    for agent in hook_agents::agents().iter().copied().filter(|agent| agent.entry().is_some()) {
        let is_here = entries::is_installed(agent);
        let has_file = |scope: &Scope| file_of(agent, *scope, context).is_ok();
        let scopes = Scope::ALL.into_iter().filter(has_file);
        let found: Vec<_> = scopes.map(|scope| entries::of(agent, scope, context)).collect();
        if context.json() {
            for entries in &found {
                printer.object(&entries.to_json(is_here)).await?;
            }
            continue;
        }
        let connected: Vec<&Entries> =
            found.iter().filter(|entries| !entries.commands.is_empty()).collect();
        any_connected |= !connected.is_empty();
        let name = agent.name();
        for entries in &connected {
            let (scope, calls) = (entries.scope.as_str(), entries.last_calls().describe());
            let text = format!("{name:<8} {scope:<8} {}; {calls}\n", entries.line());
            printer.text(&text).await?;
        }
        if connected.is_empty() {
            let status = if is_here { "here, and not connected" } else { "not here" };
            printer.text(&format!("{name:<8} {status}\n")).await?;
        }
    }
    if !context.json() && !any_connected {
        printer.text("no agent is connected; `hook connect AGENT` does it\n").await?;
    }
    Ok(exit_code::PROCEED)
}

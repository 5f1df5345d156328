//! `hook import`: copies an agent's hooks into native settings.

use std::path::{Path, PathBuf};

use clap::Args;
use hook_agents::Agent;
use hook_files::regular_file;
use hook_json::RawJson;
use hook_json::text::PathText;
use hook_protocol::Events;
use hook_settings::edit::{
    AbsentFile, EditMode, FileChange, NewDefinition, NotEditable, edit_file, missing_definitions,
    with_definitions,
};
use hook_settings::language::{ForeignFile, Language};
use hook_settings::{Agents, HookSource, IN_PROJECT, MAX_SETTINGS, SettingsSource, declare_events};
use serde::Serialize;
use serde_json::{Value, json};

use super::bridge::agent;
use super::connect::entries::{Scope, is_connected, path_in_project};
use crate::context::Context;
use crate::error::Result;
use crate::exit_code;
use crate::output::Printer;
use crate::render::{self, counted};

#[derive(Debug, Args)]
#[command(after_help = "\
Hooks of a project go into its .hooks/settings.json, the user's into the user's
own settings, each in the language of its agent: they do there what they do at
home. The agent's files stay as they are. What is there already is not written
again. What is lost is said.

Examples:
  hook import claude --dry-run
  hook import cursor --scope project
  hook import claude --settings plugin/hooks.json --to hooks.json

Exit code: 1 if a file cannot be read or written; else 0.")]
pub(crate) struct Arguments {
    /// The agent, as `hook agents` lists it
    agent: String,
    /// Write all of them into this file
    #[arg(long, value_name = "FILE")]
    to: Option<PathBuf>,
    /// Only the user's hooks, or only the project's
    #[arg(long, value_enum)]
    scope: Option<Scope>,
    /// Use native settings where they mean the same: that a failure is a denial
    #[arg(long)]
    rewrite: bool,
    /// Show what would be written, and write nothing
    #[arg(long)]
    dry_run: bool,
}

/// The definitions for one settings file.
struct Target {
    path: PathBuf,
    definitions: Vec<NewDefinition>,
    /// The files that the definitions come from.
    from: Vec<PathBuf>,
}

/// A part of the settings that cannot be imported, and its location.
#[derive(Serialize)]
struct Loss {
    file: PathBuf,
    line: usize,
    message: String,
}

/// The result of the search for hooks.
#[derive(Default)]
struct ImportPlan {
    targets: Vec<Target>,
    losses: Vec<Loss>,
    /// `true` if a file could not be read.
    failed: bool,
    /// `true` if hooks of a project go into a file that needs no trust.
    unguarded: bool,
}

pub(crate) async fn run(arguments: &Arguments, context: &Context, printer: &mut Printer) -> Result {
    let agent = agent(&arguments.agent)?;
    let plan = plan_import(agent, arguments, context)?;
    // All files are edited, or none: a preview detects files that cannot be edited.
    let mut changes = Vec::new();
    for target in &plan.targets {
        changes.push(edit(target, EditMode::Preview)?);
    }
    if !arguments.dry_run {
        let mut written: Vec<FileChange> = Vec::new();
        for target in &plan.targets {
            match edit(target, EditMode::Write) {
                Ok(change) => written.push(change),
                Err(error) => {
                    for change in written.iter().filter(|change| change.is_change()) {
                        printer.warning(&format!("{} is written already", change.path.shown()));
                    }
                    return Err(error);
                }
            }
        }
        changes = written;
    }
    let text = |printer: &Printer| {
        let target = |(target, change)| text(agent, target, change, arguments.dry_run, printer);
        let mut text: String = plan.targets.iter().zip(&changes).map(target).collect();
        if plan.targets.is_empty() {
            text.push_str(&format!("no hooks of {} are found\n", agent.title()));
        }
        for Loss { file, line, message } in &plan.losses {
            text.push_str(&format!("lost: {}:{line}: {message}\n", file.shown()));
        }
        text
    };
    printer.show(&(to_json(agent, arguments, &plan, &changes), text)).await?;
    if plan.targets.iter().any(|target| !target.definitions.is_empty()) {
        advise(agent, arguments, &plan, &changes, context, printer);
    }
    Ok(if plan.failed { exit_code::FAILURE } else { exit_code::PROCEED })
}

fn edit(target: &Target, mode: EditMode) -> Result<FileChange> {
    let edit = |text: Option<&str>| with_definitions(text, &target.definitions);
    Ok(edit_file(&target.path, AbsentFile::Create, mode, &edit)?)
}

/// Returns the agent's settings files in effect.
fn sources(agent: &'static Agent, context: &Context) -> Vec<SettingsSource> {
    let named = context.named_paths();
    if !named.is_empty() {
        let named = named.iter().map(SettingsSource::explicit);
        return named.map(|source| source.for_language(agent, None)).collect();
    }
    let agents = Agents {
        named: vec![agent],
        include_user: context.config_home().is_some() && !context.excludes_user(),
        ..Agents::known([])
    };
    agents.with_files(Vec::new(), [context.project()])
}

fn plan_import(
    agent: &'static Agent,
    arguments: &Arguments,
    context: &Context,
) -> Result<ImportPlan> {
    let mut plan = ImportPlan::default();
    let sources = sources(agent, context);
    let mut events = Events::built_in();
    declare_events(&sources, &mut events);
    for source in sources {
        let scope = match source.source {
            HookSource::Project | HookSource::Explicit => Some(Scope::Project),
            HookSource::User => Some(Scope::User),
            _ => None,
        };
        let is_named = source.source == HookSource::Explicit;
        if arguments.scope.is_some_and(|wanted| !is_named && Some(wanted) != scope) {
            continue;
        }
        let make_loss = |line, message: String| Loss { file: source.path.clone(), line, message };
        let bytes = match regular_file::read(&source.path, MAX_SETTINGS) {
            Ok(bytes) => bytes,
            Err(error) => {
                plan.failed = true;
                plan.losses.push(make_loss(0, format!("it cannot be read: {error}")));
                continue;
            }
        };
        let text = String::from_utf8_lossy(&bytes);
        let text = text.trim_start_matches('\u{feff}');
        let file = ForeignFile {
            path: Some(&source.path),
            plugin_root: source.plugin_root.as_deref(),
            is_user: source.source == HookSource::User,
            is_system: false,
            is_explicit: false,
            is_discovered: false,
            events: &events,
            others: &[],
        };
        let mut import = agent.import(text, &file, arguments.rewrite);
        for loss in &import.losses {
            let location = NotEditable::at(text, loss.at.clone(), "").location;
            plan.losses.push(make_loss(location.line, loss.message.clone()));
        }
        if import.definitions.is_empty() {
            continue;
        }
        let scope = if is_named { arguments.scope.or(scope) } else { scope };
        let path = match (&arguments.to, scope) {
            (Some(to), _) => {
                plan.unguarded |= source.source == HookSource::Project && !to.ends_with(IN_PROJECT);
                context.cwd().join(to)
            }
            (None, Some(Scope::User)) => context.user_file()?,
            (None, Some(Scope::Project)) => {
                let project = source.project.as_deref().unwrap_or(context.project());
                make_relative(&mut import.definitions, project);
                // Through a link, hooks of a project could end up in the user's settings.
                path_in_project(project, IN_PROJECT)?
            }
            (None, None) => {
                let message = "the machine's hooks stay where they are; --to FILE writes them, too";
                plan.losses.push(make_loss(1, message.to_owned()));
                continue;
            }
        };
        match plan.targets.iter_mut().find(|target| target.path == path) {
            Some(target) => {
                target.definitions.append(&mut import.definitions);
                target.from.push(source.path.clone());
            }
            None => plan.targets.push(Target {
                path,
                definitions: import.definitions,
                from: vec![source.path.clone()],
            }),
        }
    }
    Ok(plan)
}

/// Makes paths of plugins inside the project relative, since its location differs per user.
fn make_relative(definitions: &mut [NewDefinition], project: &Path) {
    for definition in definitions {
        let root = definition.fields.get("pluginRoot").and_then(RawJson::to_text);
        let relative = root.as_deref().and_then(|root| Path::new(root).strip_prefix(project).ok());
        if let Some(relative) = relative {
            definition.fields.insert("pluginRoot", RawJson::from_text(&relative.to_string_lossy()));
        }
    }
}

/// Returns the number of hooks that a file gained, and the number that it already had.
fn counts(target: &Target, change: &FileChange) -> (usize, usize) {
    let number =
        |all: &[NewDefinition]| all.iter().map(|definition| definition.hooks.len()).sum::<usize>();
    let before = Some(&*change.before).filter(|text| !text.is_empty());
    let added = missing_definitions(before, &target.definitions).unwrap_or_default();
    (number(&added), number(&target.definitions).saturating_sub(number(&added)))
}

fn text(
    agent: &Agent,
    target: &Target,
    change: &FileChange,
    dry_run: bool,
    printer: &Printer,
) -> String {
    let (added, existing) = counts(target, change);
    let path = change.path.shown();
    let mut text = match dry_run && change.is_change() {
        true => render::file_diff(change, printer),
        false => String::new(),
    };
    let title = agent.title();
    if added > 0 {
        let verb = if dry_run { "would import" } else { "imported" };
        let from: Vec<String> =
            target.from.iter().map(|source| source.shown().to_string()).collect();
        let (hooks, from) = (counted(added, "hook"), from.join(", "));
        text.push_str(&format!("{verb} {hooks} of {title} into {path}, from {from}\n"));
    }
    if existing > 0 {
        text.push_str(&format!("{} there already: {path}\n", counted(existing, "hook")));
    }
    text
}

fn to_json(
    agent: &Agent,
    arguments: &Arguments,
    plan: &ImportPlan,
    changes: &[FileChange],
) -> Value {
    let files = plan.targets.iter().zip(changes).map(|(target, change)| {
        let (added, there) = counts(target, change);
        json!({"file": change.path, "from": target.from, "changed": change.is_change(),
            "added": added, "there": there})
    });
    json!({"agent": agent.name(), "dryRun": arguments.dry_run,
        "files": files.collect::<Vec<_>>(), "lost": plan.losses})
}

/// Prints advice about hooks that would run twice, and hooks that still need trust.
fn advise(
    agent: &'static Agent,
    arguments: &Arguments,
    plan: &ImportPlan,
    changes: &[FileChange],
    context: &Context,
    printer: &mut Printer,
) {
    let (title, word) = (agent.title(), agent.name());
    let files = context.settings_files().unwrap_or_default();
    if files.iter().any(|file| file.config.agents.iter().any(|name| name == word)) {
        printer.warning(&format!(
            "settings name {word} under `hooksConfig.agents`, so its own files are read as well: take it \
             out there, or hooks may run twice"
        ));
    }
    if is_connected(Some(agent), context) {
        printer.warning(&format!(
            "{title} is connected and has these hooks itself: there each runs twice until you take them \
             out of its own files"
        ));
    }
    if plan.unguarded {
        printer.warning(
            "hooks of the project were among them: in a file that is no project's they need no trust",
        );
    }
    let is_shared =
        changes.iter().any(|change| change.is_change() && change.path.ends_with(IN_PROJECT));
    if is_shared && !arguments.dry_run {
        printer.remark("hooks of the project run once they are trusted: `hook trust` shows them");
    }
}

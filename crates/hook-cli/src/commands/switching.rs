//! `hook enable` and `hook disable`: switch a hook on or off in the settings, and report files that
//! could not be changed.

use clap::Args;
use clap_complete::engine::ArgValueCompleter;
use hook_files::project_file;
use hook_json::text::{PathText, shortened};
use hook_settings::edit::{AbsentFile, EditMode, FileChange, set_hook_enabled_in_file};
use hook_settings::{
    FailBehavior, HookSource, SettingsFile, SettingsSource, Severity, Switches, has_hook_folder,
    parse_source,
};

use super::remark_reload;
use crate::complete;
use crate::context::Context;
use crate::error::{CommandError, Result, UnknownHook};
use crate::exit_code::{self, Status};
use crate::output::Printer;
use crate::render::{self, Edited, Outcome, Reason, Remaining};

pub(crate) const ENABLE_HELP: &str = "\
Removes the name from every `disabled` list that switches the hook off: that of
its own file, and those of files that are trusted more. A project's file is
shared: the change counts for everyone who works on the project.

Examples:
  hook enable guard
  hook enable guard --dry-run
  hook enable guard --user   only in your own settings

Exit code: 1 if no hook has that name, or it is still off; else 0.";

pub(crate) const DISABLE_HELP: &str = "\
Puts the name on the `disabled` list of the settings file that defines the hook.
A project's file is shared: the change counts for everyone who works on the
project. With --user the hook is switched off for you alone. If hooks of the
project and of the user have the same name, choose with --shared or --user.

Examples:
  hook disable guard
  hook disable guard --user
  hook disable './lint.sh --fast'   a hook without a name goes by its command
  hook disable guard --dry-run      show the change as a diff, write nothing

Exit code: 1 if no hook has that name, or it is still on; else 0.";

// Arguments of both commands. A doc comment would replace the help of each command.
#[derive(Debug, Args)]
pub(crate) struct Arguments {
    /// The hook, by its name; by its command if it has none
    #[arg(add = ArgValueCompleter::new(complete::hook_names))]
    name: String,
    /// Edit your own settings, whose `disabled` list also counts for hooks of projects
    #[arg(long)]
    user: bool,
    /// Edit the project's settings, which everyone who works on the project shares
    #[arg(long, conflicts_with = "user")]
    shared: bool,
    /// Show what would change as a diff, and write nothing
    #[arg(long)]
    dry_run: bool,
}

pub(crate) async fn run(
    target: &Arguments,
    enabled: bool,
    context: &Context,
    printer: &mut Printer,
) -> Result {
    let user = target.user.then(|| context.user_settings()).transpose()?;
    let mut files = context.settings_files()?;
    let sources = select_sources(target, enabled, user, &files, context).inspect_err(|_| {
        // The hook may be in a file that cannot be read.
        let errors = files.iter().flat_map(|file| &file.diagnostics);
        for problem in errors.filter(|problem| problem.severity == Severity::Error) {
            printer.settings_problem(problem);
        }
    })?;
    let mode = if target.dry_run { EditMode::Preview } else { EditMode::Write };
    let mut edited = Vec::new();
    for source in sources {
        let absent = if source.required { AbsentFile::Refuse } else { AbsentFile::Create };
        if source.source == HookSource::Project
            && let Some(project) = source.path.ancestors().nth(2)
        {
            project_file::check_inside(project, &source.path)
                .map_err(|error| CommandError::Usage(error.to_string()))?;
        }
        let result = set_hook_enabled_in_file(&source.path, &target.name, enabled, absent, mode);
        if let Ok(change) = &result {
            let known = source.clone().with_languages(&hook_agents::languages().collect());
            let text = change.after.trim_start_matches('\u{feff}');
            let current = parse_source(text, &known, &context.events().0);
            let mut is_new = true;
            for file in files.iter_mut().filter(|file| file.path.as_ref() == Some(&source.path)) {
                // The rules beside the file are as they were.
                let rules = std::mem::take(&mut file.rules);
                *file = current.clone();
                file.rules = rules;
                is_new = false;
            }
            if is_new {
                files.push(current);
            }
        }
        edited.push(Edited { source: source.source, path: source.path, result });
    }
    let switches = Switches::of(&target.name, &files);
    let mut hooks = switches.holders.iter().flat_map(|file| &file.hooks);
    let has_guard = hooks.any(|hook| {
        hook.display_name() == target.name && hook.fail_behavior == FailBehavior::Block
    });
    // If an edit failed, its error says why the hook is still on.
    let remaining = match !enabled && edited.iter().any(|edited| edited.result.is_err()) {
        true => Vec::new(),
        false => remaining(&switches, enabled, target.shared),
    };
    if switches.holders.is_empty() {
        printer.warning(&format!("no hook is named `{}` now", shortened(&target.name)));
    }
    let outcome =
        Outcome { name: &target.name, enabled, dry_run: target.dry_run, edited, remaining };
    printer.show(&outcome).await?;
    if !context.json() {
        let changed = |edited: &Edited| edited.result.as_ref().is_ok_and(FileChange::is_change);
        let is_shared = |edited: &Edited| edited.source == HookSource::Project && changed(edited);
        if outcome.edited.iter().any(is_shared) {
            let shared = "the project's settings are shared: this counts for everyone who works on \
                          the project";
            printer.remark(&match enabled {
                true => shared.to_owned(),
                false => {
                    let name = hook_shell::quote(&target.name);
                    let guards = if has_guard {
                        "; a trusted guard blocks until you agree to that with `hook trust`"
                    } else {
                        ""
                    };
                    format!("{shared}{guards}; `hook disable {name} --user` is for you alone")
                }
            });
        }
        if target.user && !enabled && outcome.edited.iter().any(changed) {
            let name = shortened(&target.name);
            printer.remark(&format!(
                "this counts for every hook that is named `{name}`, in all your projects"
            ));
        }
        if !outcome.dry_run && outcome.edited.iter().any(changed) {
            remark_reload(context, printer).await;
        }
    }
    Ok(status(&outcome, printer))
}

/// Returns the files to edit.
fn select_sources(
    target: &Arguments,
    enabled: bool,
    user: Option<SettingsSource>,
    files: &[SettingsFile],
    context: &Context,
) -> Result<Vec<SettingsSource>> {
    let name = &target.name;
    let switches = Switches::of(name, files);
    // A name that only appears in a `disabled` list can be removed from it.
    let is_known = !switches.holders.is_empty() || (enabled && !switches.disabled_by.is_empty());
    if !is_known {
        let known = files.iter().flat_map(SettingsFile::names);
        return Err(UnknownHook::new(name, known).into());
    }
    if let Some(user) = user {
        return Ok(vec![user]);
    }
    let mut files = if enabled { switches.disabled_by } else { switches.holders };
    if target.shared {
        files.retain(|file| file.source == HookSource::Project);
    }
    let source = |file: &SettingsFile| {
        let path = file.path.clone()?;
        let source = SettingsSource::optional(file.source.clone(), path);
        // A file that was discovered beside settings exists without them.
        Some(SettingsSource { required: !has_hook_folder(&source), ..source })
    };
    let (foreign, own): (Vec<&SettingsFile>, Vec<&SettingsFile>) =
        files.into_iter().partition(|file| file.language.is_some() || file.pack.is_some());
    let mut chosen: Vec<SettingsSource> = Vec::new();
    if !foreign.is_empty() && !target.shared {
        // Agents and packs have no such list; the user's own settings have one for them.
        chosen.push(context.user_settings()?);
    }
    for source in own.into_iter().filter_map(source) {
        // A file may have been named twice.
        if !chosen.contains(&source) {
            chosen.push(source);
        }
    }
    if !enabled {
        check_single_owner(name, &chosen)?;
        if chosen.is_empty() {
            let text = format!("no hook of the project's settings is named `{}`", shortened(name));
            return Err(CommandError::Usage(text));
        }
    }
    Ok(chosen)
}

/// Checks that hooks of one name all come from the same source. A guard must not be switched off
/// because another hook has its name.
fn check_single_owner(name: &str, chosen: &[SettingsSource]) -> Result<()> {
    let Some(first) = chosen.first() else { return Ok(()) };
    if chosen.iter().all(|source| source.source == first.source) {
        return Ok(());
    }
    let files: Vec<String> = chosen
        .iter()
        .map(|source| format!("{} ({})", source.path.shown(), source.source))
        .collect();
    Err(CommandError::Usage(format!(
        "several hooks are named `{}`, in {}; nothing was changed; choose with --shared (the \
         project's settings) or --user (your own, which switch it off for you in every project)",
        shortened(name),
        files.join(" and ")
    )))
}

fn remaining(switches: &Switches<'_>, enabled: bool, shared: bool) -> Vec<Remaining> {
    let remaining = |because: Reason| {
        move |file: &&SettingsFile| Remaining {
            source: file.source.clone(),
            path: file.path.clone(),
            reason: because,
        }
    };
    if enabled {
        let listed = switches.disabled_by.iter().map(remaining(Reason::Listed));
        return listed
            .chain(switches.fully_disabled.iter().map(remaining(Reason::AllOff)))
            .collect();
    }
    let is_selected = |file: &&SettingsFile| !shared || file.source == HookSource::Project;
    switches
        .still_enabled()
        .filter(is_selected)
        .map(|file| remaining(Reason::OutOfReach)(&file))
        .collect()
}

/// Prints the failures, and returns the exit code.
fn status(outcome: &Outcome<'_>, printer: &mut Printer) -> Status {
    let mut failed = false;
    for edited in &outcome.edited {
        if let Err(error) = &edited.result {
            failed = true;
            printer.problem(&error.to_string());
        }
    }
    for remaining in &outcome.remaining {
        failed = true;
        printer.warning(&render::remaining(outcome.name, remaining));
    }
    if failed { exit_code::FAILURE } else { exit_code::PROCEED }
}

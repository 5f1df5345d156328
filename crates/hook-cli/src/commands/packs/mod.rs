//! `hook add`, `update`, `remove`, `packs` and `pack`: rules and hooks from the command itself, from
//! folders and from git repositories.

mod candidate;
mod git;
mod list;
mod owner;
mod source;
mod template;

use std::path::{Path, PathBuf};

use clap::{Args, Subcommand};
use hook_json::text::{one_line, shortened};
use hook_rules::packs::PACKS;
use hook_settings::{Diagnostic, Location, LockedPack, Pack, Rule};
use hook_trust::PackFiles;
use serde_json::json;

pub(crate) use self::list::list;

use self::candidate::Candidate;
use self::owner::Owner;
use self::source::{Fetched, Source};
use super::{confirms, remark_reload, test};
use crate::context::Context;
use crate::error::{CommandError, Result};
use crate::exit_code;
use crate::output::{Printer, Tone};
use crate::render::plural;

pub(crate) const ADD_HELP: &str = "\
Adds packs: rules that refuse or ask, and hooks. SOURCE is the name of a pack
that is part of hook, a folder, or a git repository, by tag or commit behind an
@. What a pack would run and refuse is shown, and you are asked; until then
only the tests of its rules are run. Its files are copied, and only these run.
Without a SOURCE, exactly the packs are added that the project's lock names,
.hooks/packs.lock.

A name that is not part of hook is looked up in packs.json of the repository or
folder that HOOK_INDEX names: {\"NAME\": \"SOURCE\"}.

Examples:
  hook add shell-safety git-safety secrets
  hook add ./team-pack
  hook add https://git.example/acme/guards@v2 --shared
  hook add github:acme/guards@v2 --yes
  hook add
  hook rules try 'git push --force'

Exit code: 1 if a pack was not added; 64 for an unknown name; else 0.";

pub(crate) const REMOVE_HELP: &str = "\
Removes packs that were added, by their names.

Examples:
  hook remove stay-inside
  hook remove stay-inside --shared

Exit code: 1 if one was not there; else 0.";

pub(crate) const UPDATE_HELP: &str = "\
Looks for other versions of added packs, shows what changed, and asks. Without
names, of all.

Examples:
  hook update
  hook update guards --shared

Exit code: 1 if there is another version that was not added, or a source could
not be read; else 0.";

#[derive(Debug, Args)]
pub(crate) struct AddArguments {
    /// Names, folders or git repositories; without any, those of the project's lock
    #[arg(value_name = "SOURCE")]
    sources: Vec<String>,
    #[command(flatten)]
    options: Options,
}

#[derive(Debug, Args)]
pub(crate) struct UpdateArguments {
    /// The packs
    #[arg(value_name = "NAME")]
    names: Vec<String>,
    #[command(flatten)]
    options: Options,
}

#[derive(Debug, Args)]
struct Options {
    /// For this project and everyone who works on it, instead of for yourself
    #[arg(long)]
    shared: bool,
    /// Add what is shown without asking
    #[arg(long)]
    yes: bool,
    /// Show files in full
    #[arg(long)]
    show: bool,
}

#[derive(Debug, Args)]
pub(crate) struct RemoveArguments {
    /// The packs
    #[arg(required = true, value_name = "NAME")]
    names: Vec<String>,
    /// From this project, instead of from your own packs
    #[arg(long)]
    shared: bool,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  hook packs
  hook packs --json

Exit code: 0.")]
pub(crate) struct ListArguments {}

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  hook pack new team-guards
  hook pack check team-guards

Exit code: of `check` 1 if the pack cannot be added as it is; else 0.")]
pub(crate) struct AuthorArguments {
    #[command(subcommand)]
    action: AuthorAction,
}

#[derive(Debug, Subcommand)]
enum AuthorAction {
    /// Write a pack with a rule, a hook and tests to begin with
    New {
        /// The name, and the folder that is made
        name: String,
    },
    /// Look whether a folder is a pack, and run its tests; its hooks run in these
    Check {
        /// The folder
        #[arg(default_value = ".", value_hint = clap::ValueHint::DirPath)]
        folder: PathBuf,
        /// Show files in full
        #[arg(long)]
        show: bool,
    },
}

/// Returns a problem for each pack that was added and that the user's lock does not name any more.
pub(crate) fn forgotten(context: &Context) -> Vec<Diagnostic> {
    let owner = Owner::of(context, false).ok();
    // A lock that cannot be read is a problem of its own.
    let names = owner.and_then(|owner| Some((owner.forgotten().ok()?, owner.lock_path())));
    let (names, lock) = names.unwrap_or_default();
    let problem = |name: &String| {
        let name = one_line(name);
        let message = format!(
            "the pack {name} was added, but this lock does not name it any more: nothing of it runs; \
             `hook add` with its source adds it again, `hook remove {name}` removes its copy"
        );
        Diagnostic::new(Rule::PackForgotten, Location::of_file(&lock), message)
    };
    names.iter().map(problem).collect()
}

pub(crate) async fn add(
    arguments: &AddArguments,
    context: &Context,
    printer: &mut Printer,
) -> Result {
    let options = &arguments.options;
    if arguments.sources.is_empty() {
        return add_locked(options, context, printer).await;
    }
    let owner = Owner::of(context, options.shared)?;
    let sources = arguments.sources.iter().map(|text| Source::parse(text, context.cwd()));
    let sources = sources.collect::<Result<Vec<_>>>()?;
    let mut status = exit_code::PROCEED;
    for source in sources {
        let added = add_one(&source, options, &owner, context, printer).await;
        if !reported(added, printer)? {
            status = exit_code::FAILURE;
        }
    }
    remark_reload(context, printer).await;
    Ok(status)
}

/// Shows why a pack was not added, and goes on with the others.
fn reported(added: Result<bool>, printer: &mut Printer) -> Result<bool> {
    match added {
        Err(error @ CommandError::Pack(_)) => {
            printer.problem(&error.to_string());
            Ok(false)
        }
        added => added,
    }
}

/// Adds a pack. Returns `false` if it was not added.
async fn add_one(
    source: &Source,
    options: &Options,
    owner: &Owner,
    context: &Context,
    printer: &mut Printer,
) -> Result<bool> {
    let fetched = source.fetch(None, context.cwd()).await?;
    fetched.notes.iter().for_each(|note| printer.remark(note));
    let candidate = Candidate::read(&fetched.folder)?;
    let name = candidate.manifest.name.clone();
    let is_built_in = is_built_in(&name, source)?;
    let locked = candidate.to_locked(source.to_text(owner.folder()), fetched.commit.clone());
    let known = owner.lock()?.packs.remove(&name);
    if let Some(known) = &known {
        let base = owner.folder().unwrap_or(context.cwd());
        let before = Source::of_lock(&name, &known.source, base)?;
        if !before.is_same_repository(source, base) {
            printer.problem(&format!(
                "there is a pack {name} already, from {}; nothing was added: `hook remove {name}` takes it out",
                shortened(&known.source)
            ));
            return Ok(false);
        }
        if known.digest == locked.digest && owner.is_complete(&name, known)? {
            show_added(("there already:", reach(owner, false)), &candidate, known, printer).await?;
            return Ok(true);
        }
    }
    if let Some(known) = known.as_ref().filter(|known| known.source == locked.source) {
        remark_move(known, fetched.commit.as_deref(), printer);
    }
    let before = known.as_ref().and_then(|known| owner.installed(&name, known));
    let agreement = Agreement { before: before.as_ref(), needs_no_yes: is_built_in, options };
    install(&candidate, &locked, &agreement, owner, context, printer).await
}

/// Remarks that a tag or branch has another commit than the locked one.
fn remark_move(known: &LockedPack, now: Option<&str>, printer: &mut Printer) {
    if let (Some(before), Some(now)) = (known.commit.as_deref(), now)
        && before != now
    {
        let source = shortened(&known.source);
        printer.remark(&format!("{source} was at {before}, and is at {now} by now"));
    }
}

/// Returns `true` if a pack is part of the command. No other pack has the name of one.
fn is_built_in(name: &str, source: &Source) -> Result<bool> {
    let is_built_in = matches!(source, Source::BuiltIn(own) if *own == name);
    if !is_built_in && hook_rules::packs::pack(name).is_some() {
        return Err(CommandError::Pack(format!(
            "`{name}` is the name of a pack that is part of hook; nothing was added from {}",
            source.to_text(None)
        )));
    }
    Ok(is_built_in)
}

/// How to ask about a pack.
struct Agreement<'a> {
    /// The files that it takes the place of.
    before: Option<&'a PackFiles>,
    /// `true` for a pack that is part of the command, or whose files the user agreed to before.
    needs_no_yes: bool,
    options: &'a Options,
}

/// Shows a pack, asks, copies it, runs its scenarios and records it.
async fn install(
    candidate: &Candidate,
    locked: &LockedPack,
    agreement: &Agreement<'_>,
    owner: &Owner,
    context: &Context,
    printer: &mut Printer,
) -> Result<bool> {
    let name = &candidate.manifest.name;
    let Agreement { before, needs_no_yes, options } = agreement;
    if !needs_no_yes && !context.json() {
        let text = match before {
            Some(before) => candidate.difference(before, printer),
            None => candidate.text(options.show, printer),
        };
        printer.text(&text).await?;
    }
    if !candidate.problems.is_empty() {
        for problem in &candidate.problems {
            printer.problem(problem);
        }
        printer.problem(&format!("the pack {name} has mistakes, and was not added"));
        return Ok(false);
    }
    if !(*needs_no_yes
        || options.yes
        || confirms(&format!("Add {name}?"), context, printer).await?)
    {
        printer.problem(&format!("the pack {name} was not added; --yes adds it without asking"));
        return Ok(false);
    }
    let folder = owner.copy(name, &candidate.files)?;
    if candidate.has_scenarios() && !*needs_no_yes {
        let pack = Pack { folder: folder.clone(), ..Pack::new(name, locked, None) };
        if !test::play_pack(pack, context, printer).await? {
            owner.clean(name)?;
            printer.problem(&format!("the tests of the pack {name} failed; it was not added"));
            return Ok(false);
        }
    }
    let is_known = owner.lock()?.packs.contains_key(name);
    owner.record(name, locked)?;
    let done = if before.is_some() { "updated" } else { "added" };
    let is_in_lock = is_known && before.is_none();
    show_added((done, reach(owner, !is_in_lock)), candidate, locked, printer).await?;
    Ok(true)
}

/// Returns for whom a pack was added. `is_new` if the lock was written.
fn reach(owner: &Owner, is_new: bool) -> &'static str {
    match (owner.is_project(), is_new) {
        (true, true) => {
            "for this project; commit .hooks/packs.lock, and others add it by `hook add`"
        }
        (true, false) => "for you in this project, whose .hooks/packs.lock names it",
        (false, _) => "for all your projects",
    }
}

async fn show_added(
    (done, reach): (&str, &str),
    candidate: &Candidate,
    locked: &LockedPack,
    printer: &mut Printer,
) -> Result<()> {
    let name = &candidate.manifest.name;
    let mut object = candidate.json();
    object["source"] = locked.source.clone().into();
    object["commit"] = locked.commit.clone().into();
    object["result"] = done.trim_end_matches(':').into();
    let view = (object, |printer: &Printer| {
        let about =
            PACKS.iter().find(|pack| pack.name == name).map(|pack| format!(": {}", pack.about));
        format!(
            "{} {} {reach}{}\n",
            printer.paint(Tone::Good, done),
            printer.paint(Tone::Strong, name),
            about.unwrap_or_default()
        )
    });
    printer.show(&view).await
}

/// Adds exactly the packs of the project's lock, and restores copies of the user's own.
async fn add_locked(options: &Options, context: &Context, printer: &mut Printer) -> Result {
    let mut status = exit_code::PROCEED;
    let mut count = 0;
    for shared in [true, false] {
        let owner = Owner::of(context, shared)?;
        for (name, locked) in owner.lock()?.packs {
            count += 1;
            if owner.is_complete(&name, &locked)? {
                continue;
            }
            let added = add_exactly(&name, &locked, options, &owner, context, printer).await;
            if !reported(added, printer)? {
                status = exit_code::FAILURE;
            }
        }
    }
    if status == exit_code::PROCEED {
        let packs = plural(count, "pack", "packs");
        let view = (json!({"packs": count, "complete": true}), |printer: &Printer| {
            format!("{} {packs}, as in the locks\n", printer.paint(Tone::Good, "✓"))
        });
        printer.show(&view).await?;
    }
    remark_reload(context, printer).await;
    Ok(status)
}

async fn add_exactly(
    name: &str,
    locked: &LockedPack,
    options: &Options,
    owner: &Owner,
    context: &Context,
    printer: &mut Printer,
) -> Result<bool> {
    let (source, _fetched, candidate) =
        fetch_locked(name, locked, locked.commit.as_deref(), owner, context, printer).await?;
    if candidate.manifest.name != name || candidate.files.digest != locked.digest {
        let shared = if owner.is_project() { " --shared" } else { "" };
        return Err(CommandError::Pack(format!(
            "the files of {} have changed since the lock was written for {name}: their digest is {}, and the lock \
             has {}; the lock counts, and nothing was added: `hook update {name}{shared}` shows what changed",
            shortened(&locked.source),
            candidate.files.digest,
            locked.digest
        )));
    }
    // The user has agreed to the files of their own packs before.
    let needs_no_yes = is_built_in(name, &source)? || !owner.is_project();
    let agreement = Agreement { before: None, needs_no_yes, options };
    install(&candidate, locked, &agreement, owner, context, printer).await
}

/// Fetches a pack of a lock: that commit, if given, else what its source has now. What was fetched is
/// removed when it is dropped.
async fn fetch_locked(
    name: &str,
    locked: &LockedPack,
    commit: Option<&str>,
    owner: &Owner,
    context: &Context,
    printer: &mut Printer,
) -> Result<(Source, Fetched, Candidate)> {
    let base = owner.folder().unwrap_or(context.cwd());
    let source = Source::of_lock(name, &locked.source, base)?;
    let fetched = source.fetch(commit, base).await?;
    fetched.notes.iter().for_each(|note| printer.remark(note));
    let candidate = Candidate::read(&fetched.folder)?;
    Ok((source, fetched, candidate))
}

pub(crate) async fn update(
    arguments: &UpdateArguments,
    context: &Context,
    printer: &mut Printer,
) -> Result {
    let options = &arguments.options;
    let owner = Owner::of(context, options.shared)?;
    let packs = owner.lock()?.packs;
    if let Some(unknown) = arguments.names.iter().find(|name| !packs.contains_key(*name)) {
        let text = format!("no pack {:?} was added; `hook packs` lists them", shortened(unknown));
        return Err(CommandError::Usage(text));
    }
    let mut status = exit_code::PROCEED;
    for (name, known) in packs {
        if !arguments.names.is_empty() && !arguments.names.contains(&name) {
            continue;
        }
        let updated = update_one(&name, &known, options, &owner, context, printer).await;
        if !reported(updated, printer)? {
            status = exit_code::FAILURE;
        }
    }
    remark_reload(context, printer).await;
    Ok(status)
}

async fn update_one(
    name: &str,
    known: &LockedPack,
    options: &Options,
    owner: &Owner,
    context: &Context,
    printer: &mut Printer,
) -> Result<bool> {
    let (source, fetched, candidate) =
        fetch_locked(name, known, None, owner, context, printer).await?;
    if candidate.manifest.name != name {
        return Err(CommandError::Pack(format!(
            "{} now has the pack {} instead of {name}; nothing was changed",
            shortened(&known.source),
            candidate.manifest.name
        )));
    }
    if candidate.files.digest == known.digest && owner.is_complete(name, known)? {
        // Another update may have been killed before it did so.
        owner.clean(name)?;
        show_added(("up to date:", reach(owner, false)), &candidate, known, printer).await?;
        return Ok(true);
    }
    remark_move(known, fetched.commit.as_deref(), printer);
    let before = owner.installed(name, known);
    let locked = candidate.to_locked(known.source.clone(), fetched.commit.clone());
    let needs_no_yes = is_built_in(name, &source)?;
    let agreement = Agreement { before: before.as_ref(), needs_no_yes, options };
    install(&candidate, &locked, &agreement, owner, context, printer).await
}

pub(crate) async fn remove(
    arguments: &RemoveArguments,
    context: &Context,
    printer: &mut Printer,
) -> Result {
    let owner = Owner::of(context, arguments.shared)?;
    let mut status = exit_code::PROCEED;
    for name in &arguments.names {
        if !owner.remove(name)? {
            let name = one_line(name);
            let of_project =
                !arguments.shared && Owner::of(context, true)?.lock()?.packs.contains_key(&*name);
            printer.problem(&match of_project {
                true => format!("the pack {name} is the project's: `hook remove {name} --shared`"),
                false => format!("no pack {name} was added; `hook packs` lists them"),
            });
            status = exit_code::FAILURE;
            continue;
        }
        let view = (json!({"pack": name, "result": "removed"}), |printer: &Printer| {
            format!("{} {}\n", printer.paint(Tone::Good, "removed"), one_line(name))
        });
        printer.show(&view).await?;
    }
    remark_reload(context, printer).await;
    Ok(status)
}

pub(crate) async fn author(
    arguments: &AuthorArguments,
    context: &Context,
    printer: &mut Printer,
) -> Result {
    match &arguments.action {
        AuthorAction::New { name } => {
            let folder = template::write(name, context.cwd())?;
            let view = (
                json!({"pack": name, "folder": folder.to_string_lossy()}),
                |printer: &Printer| {
                    format!(
                        "{} {name}\n\nTry it with `hook pack check {name}`, add it with `hook add ./{name}`.\n",
                        printer.paint(Tone::Good, "wrote")
                    )
                },
            );
            printer.show(&view).await?;
            Ok(exit_code::PROCEED)
        }
        AuthorAction::Check { folder, show } => {
            let checked = check(&context.cwd().join(folder), *show, context, printer).await;
            Ok(if reported(checked, printer)? { exit_code::PROCEED } else { exit_code::FAILURE })
        }
    }
}

async fn check(
    folder: &Path,
    show: bool,
    context: &Context,
    printer: &mut Printer,
) -> Result<bool> {
    let candidate = Candidate::read(folder)?;
    let view = (candidate.json(), |printer: &Printer| candidate.text(show, printer));
    printer.show(&view).await?;
    candidate.problems.iter().for_each(|problem| printer.problem(problem));
    let passed = candidate.problems.is_empty();
    if !candidate.has_scenarios() {
        return Ok(passed);
    }
    // As it would be added: from a copy.
    let failed = CommandError::write("a copy of the pack", folder);
    let copies = tempfile::tempdir().map_err(&failed)?;
    let copy = candidate.files.copy_to(copies.path()).map_err(&failed)?;
    let locked = candidate.to_locked(String::new(), None);
    let pack = Pack { folder: copy, ..Pack::new(&candidate.manifest.name, &locked, None) };
    Ok(test::play_pack(pack, context, printer).await? && passed)
}

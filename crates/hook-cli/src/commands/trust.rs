//! `hook trust`: reviews the project's hooks and trusts them.

mod lock;
mod removed;
mod reviewed;
mod rules;

use std::collections::BTreeSet;
use std::io::IsTerminal;
use std::path::Path;

use clap::Args;
use clap_complete::engine::ArgValueCompleter;
use hook_json::text::{PathText, one_line};
use hook_settings::language::Language;
use hook_settings::{Agents, Diagnostic, HookSource, Severity, load};
use hook_trust::{Grant, Review, TrustStatus, TrustStore, TrustStoreError, agent_of};
use tokio::io::{AsyncBufReadExt, BufReader, Lines, Stdin};

use removed::RemovedGuard;
use reviewed::{ProjectHooks, Reviewed};
pub(crate) use rules::keep_rules;

use crate::commands::{remark_reload, try_modules};
use crate::complete;
use crate::context::Context;
use crate::error::{CommandError, UnknownHook};
use crate::exit_code::{self, Status};
use crate::output::Printer;
use crate::render::{self, Match};

#[derive(Debug, Args)]
#[command(after_help = "\
Hooks of a project run only once they are trusted. This shows what each would
run, and what changed since it was trusted, and asks. A decision is about the
hook and the whole folder of its script, by content. Hooks of .hooks/ then run
from a copy, so that a later change of the folder changes nothing until it is
trusted; hooks of other agents run where they are, until they change. No hook is
run; modules are loaded once they are trusted.

A command is opaque if more than files of its folder may run, as with `$(...)`,
`make` or `python3 -c`; that takes a yes of its own: --opaque beside --yes.

Examples:
  hook trust                          show what is not trusted, and ask
  hook trust guard --show             with the whole of its script
  hook trust --yes                    without asking, where there is no terminal
  hook trust --list
  hook trust --revoke guard           take back the trust in one hook
  hook trust --use 3f2a91c0           trust again what had that digest
  hook trust --lock                   write what is trusted to .hooks/trust.lock
  hook trust --check                  fail if a hook is not as the lock says

Exit code: 1 if a hook stays untrusted, or trusted that was to be revoked, or is
not as the lock says; else 0.")]
pub(crate) struct Arguments {
    /// Only hooks of these names; by their commands, if they have none
    #[arg(value_name = "NAME", add = ArgValueCompleter::new(complete::hook_names))]
    names: Vec<String>,
    /// List what is trusted in this project, and whether it is still there
    #[arg(long, conflicts_with_all = ["revoke", "yes", "show", "lock", "check"])]
    list: bool,
    /// Take back the trust in the hooks named; without names, ask about each, or take back all with --yes
    #[arg(long, conflicts_with_all = ["show", "lock", "check", "opaque"])]
    revoke: bool,
    /// Trust again what had this digest when it was trusted before, and was not revoked
    #[arg(
        long = "use",
        value_name = "DIGEST",
        conflicts_with_all = ["names", "list", "revoke", "yes", "show", "lock", "check"]
    )]
    digest: Option<String>,
    /// Trust, or revoke, what is shown without asking
    #[arg(long)]
    yes: bool,
    /// With --yes, also trust hooks of which not all that they start is known
    #[arg(long, requires = "yes")]
    opaque: bool,
    /// Write the hooks to .hooks/trust.lock, once all of them are trusted
    #[arg(long, conflicts_with_all = ["names", "yes", "show", "check"])]
    lock: bool,
    /// Compare the hooks with .hooks/trust.lock; trusts nothing
    #[arg(long, conflicts_with_all = ["names", "yes"])]
    check: bool,
    /// Show files in full, and hooks that are trusted too
    #[arg(long)]
    show: bool,
}

impl Arguments {
    /// Returns `true` if the command also works for a project that no longer exists.
    pub(crate) fn allows_missing_project(&self) -> bool {
        self.revoke || self.list
    }
}

pub(crate) async fn run(
    arguments: &Arguments,
    context: &Context,
    printer: &mut Printer,
) -> Result<Status, CommandError> {
    context
        .refuse_named_settings("naming a file trusts its hooks; trust is about the project's")?;
    let projects = project_hooks(context, printer);
    if arguments.check {
        return lock::check(&projects, arguments.show, context, printer).await;
    }
    let store = context.trust_store().ok_or(CommandError::NoHome)?;
    if arguments.revoke {
        return revoke(arguments, &store, &projects, context, printer).await;
    }
    if let Some(digest) = &arguments.digest {
        return reactivate(digest, &store, &projects, context, printer).await;
    }
    let mut reviews = Vec::new();
    for ProjectHooks { directory: project, hooks: entries, .. } in &projects {
        let found = match store.review(project, entries) {
            // The new decision replaces the damaged store.
            Err(damaged @ TrustStoreError::Damaged { .. })
                if !arguments.list && !arguments.lock =>
            {
                if reviews.is_empty() {
                    printer.warning(&damaged.to_string());
                }
                store.review_untrusted(project, entries)
            }
            reviews => reviews?,
        };
        let of_project = |review| Reviewed { project: project.clone(), review };
        reviews.extend(found.into_iter().map(of_project));
    }
    if arguments.lock {
        return lock::write(&projects, &reviews, context, printer).await;
    }
    if arguments.list {
        return list(arguments, &store, &projects, &reviews, context, printer).await;
    }
    restore(&store, &projects, &reviews, printer)?;
    let mut removed = removed::find(&store, &projects, context);
    let name_of = |reviewed: &Reviewed| reviewed.review.entry.display_name().to_owned();
    let known = reviews.iter().map(name_of);
    let known = known.chain(removed.iter().map(|guard| guard.grant.display_name().to_owned()));
    let names = resolve_names(&arguments.names, &known.collect::<Vec<_>>())?;
    let is_named = |name: &str| names.is_empty() || names.iter().any(|named| named == name);
    reviews.retain(|reviewed| is_named(reviewed.review.entry.display_name()));
    removed.retain(|guard| is_named(guard.grant.display_name()));
    if context.is_strict() {
        reviews.iter_mut().for_each(|reviewed| reviewed.review.make_strict());
    }
    // A yes to some hooks is none to rules that are gone.
    let mut keeps_rules = true;
    for ProjectHooks { directory, .. } in projects.iter().filter(|_| names.is_empty()) {
        keeps_rules &= keep_rules(&store, directory, arguments.yes, context, printer).await?;
    }
    let status = review(arguments, &store, (reviews, removed), context, printer).await?;
    Ok(if keeps_rules { status } else { exit_code::FAILURE })
}

/// Restores trusted copies that are missing or changed.
fn restore(
    store: &TrustStore,
    projects: &[ProjectHooks],
    reviews: &[Reviewed],
    printer: &mut Printer,
) -> Result<(), CommandError> {
    for ProjectHooks { directory: project, .. } in projects {
        let of_project = reviews.iter().filter(|reviewed| reviewed.project == *project);
        match store.restore(project, of_project.map(|reviewed| &reviewed.review))? {
            0 => {}
            1 => printer.remark("the trusted copy of 1 hook was changed or gone, and is restored"),
            count => printer.remark(&format!(
                "the trusted copies of {count} hooks were changed or gone, and are restored"
            )),
        }
    }
    Ok(())
}

/// Trusts again whatever had this digest before.
async fn reactivate(
    digest: &str,
    store: &TrustStore,
    projects: &[ProjectHooks],
    context: &Context,
    printer: &mut Printer,
) -> Result<Status, CommandError> {
    let mut found = Vec::new();
    let mut unknown = None;
    for ProjectHooks { directory: project, .. } in projects {
        match store.reactivate(project, digest) {
            Ok(grants) => found.extend(grants),
            Err(error @ TrustStoreError::UnknownDigest { .. }) => unknown = Some(error),
            Err(error) => return Err(error.into()),
        }
    }
    if let (true, Some(unknown)) = (found.is_empty(), unknown) {
        return Err(unknown.into());
    }
    if context.json() {
        for grant in &found {
            printer.object(&render::grant_json(grant, ("used", true))).await?;
        }
        return Ok(exit_code::PROCEED);
    }
    let names: Vec<&str> = found.iter().map(Grant::display_name).collect();
    printer.text(&render::trusted(&names, &[], printer)).await?;
    remark_reload(context, printer).await;
    Ok(exit_code::PROCEED)
}

/// Returns the hooks of each project, the innermost first, and prints settings problems.
fn project_hooks(context: &Context, printer: &mut Printer) -> Vec<ProjectHooks> {
    let project = |directory: &Path| ProjectHooks {
        directory: directory.to_path_buf(),
        hooks: Vec::new(),
        has_errors: false,
    };
    let mut projects = vec![project(context.project())];
    let sources = context.sources();
    let of_project = sources.iter().filter(|source| source.source == HookSource::Project);
    for file in of_project.filter_map(load) {
        for problem in &file.diagnostics {
            printer.settings_problem(problem);
        }
        let directory = file.project(context.project());
        let index = projects.iter().position(|known| known.directory == directory);
        let index = index.unwrap_or_else(|| {
            projects.push(project(directory));
            projects.len() - 1
        });
        let is_error = |problem: &Diagnostic| problem.severity == Severity::Error;
        if let Some(known) = projects.get_mut(index) {
            known.has_errors |= file.diagnostics.iter().any(is_error);
            known.hooks.extend(file.hooks);
        }
    }
    projects
}

/// Trusts hooks, each in its own project.
fn grant<'r>(
    store: &TrustStore,
    approved: impl IntoIterator<Item = &'r Reviewed>,
) -> Result<(), CommandError> {
    let approved: Vec<&Reviewed> = approved.into_iter().collect();
    let mut projects: Vec<&Path> =
        approved.iter().map(|reviewed| reviewed.project.as_path()).collect();
    projects.dedup();
    for project in projects {
        let of_project = approved.iter().filter(|reviewed| reviewed.project == project);
        store.grant_reviewed(project, of_project.map(|reviewed| &reviewed.review))?;
    }
    Ok(())
}

/// Returns the hooks that are meant by these names: a hook's own name, or of one hook alone the name of a file
/// in its command.
fn resolve_names(names: &[String], known: &[String]) -> Result<Vec<String>, UnknownHook> {
    let has_file = |command: &str, name: &str| {
        let mut words =
            command.split(|character: char| character.is_whitespace() || "'\"".contains(character));
        words.any(|word| word.rsplit('/').next() == Some(name))
    };
    let resolve = |name: &String| {
        if known.contains(name) {
            return Ok(name.clone());
        }
        let with_file: BTreeSet<&String> =
            known.iter().filter(|known| has_file(known, name)).collect();
        match with_file.into_iter().collect::<Vec<_>>().as_slice() {
            [only] => Ok((*only).clone()),
            _ => Err(UnknownHook::new(name, known.iter().map(String::as_str))),
        }
    };
    names.iter().map(resolve).collect()
}

/// Keeps the decisions about hooks of these names, or all if no name is given.
fn select_granted(grants: &mut Vec<(&Path, Grant)>, names: &[String]) -> Result<(), CommandError> {
    let known = grants.iter().map(|(_, grant)| grant.display_name().to_owned());
    let names = resolve_names(names, &known.collect::<Vec<_>>());
    let names = names.map_err(UnknownHook::among_trusted)?;
    grants.retain(|(_, grant)| {
        names.is_empty() || names.iter().any(|name| name == grant.display_name())
    });
    Ok(())
}

async fn review(
    arguments: &Arguments,
    store: &TrustStore,
    (mut reviews, removed): (Vec<Reviewed>, Vec<RemovedGuard>),
    context: &Context,
    printer: &mut Printer,
) -> Result<Status, CommandError> {
    if arguments.opaque {
        reviews.iter_mut().for_each(|reviewed| reviewed.review.accept_opaque());
    }
    if arguments.yes {
        // Decisions are stored even if nobody reads the output.
        printer.ignore_broken_pipe();
    }
    // The hooks that `--yes` agrees to without a question.
    let is_approved =
        |reviewed: &Reviewed| arguments.yes && (arguments.opaque || !reviewed.is_opaque());
    if context.json() {
        let is_open = |reviewed: &&Reviewed| !reviewed.is_trusted();
        grant(store, reviews.iter().filter(is_open).filter(|reviewed| is_approved(reviewed)))?;
        for reviewed in &reviews {
            let is_granted = is_approved(reviewed) && !reviewed.is_trusted();
            printer.object(&render::review_json(&reviewed.review, is_granted)).await?;
        }
        if arguments.yes {
            removed::forget(store, &removed)?;
        }
        for guard in &removed {
            let mut line = render::grant_json(&guard.grant, ("gone", true));
            line["agreed"] = arguments.yes.into();
            printer.object(&line).await?;
        }
        let approved = reviews.iter().filter(is_open).filter(|reviewed| is_approved(reviewed));
        if let Some(ended) = check_modules(approved, context, printer).await {
            return Ok(ended);
        }
        let rejected: Vec<&Reviewed> =
            reviews.iter().filter(is_open).filter(|reviewed| !is_approved(reviewed)).collect();
        let removed = if arguments.yes { 0 } else { removed.len() };
        return Ok(report_open(&rejected, removed, arguments.yes, printer));
    }
    let (trusted, open): (Vec<Reviewed>, Vec<Reviewed>) =
        reviews.into_iter().partition(Reviewed::is_trusted);
    if arguments.show {
        show(&trusted, true, printer).await?;
    }
    if open.is_empty() && removed.is_empty() {
        printer.text(&render::nothing_to_trust(trusted.len())).await?;
        if trusted.is_empty() {
            show_agents(context, printer).await?;
        }
        show_lost_guards(context, printer).await?;
        return Ok(exit_code::PROCEED);
    }
    let asks = std::io::stdin().is_terminal() && printer.is_interactive();
    let (approved, rejected, agreed, kept) = if arguments.yes {
        show(&open, arguments.show, printer).await?;
        removed::show(&removed, printer).await?;
        let (approved, rejected) = open.into_iter().partition(is_approved);
        (approved, rejected, removed, 0)
    } else if asks {
        let mut answers = BufReader::new(tokio::io::stdin()).lines();
        let (approved, rejected) =
            ask_for_each(open, arguments.show, &mut answers, printer).await?;
        let (agreed, kept) = removed::ask_for_each(removed, &mut answers, printer).await?;
        (approved, rejected, agreed, kept)
    } else {
        show(&open, arguments.show, printer).await?;
        removed::show(&removed, printer).await?;
        let open: Vec<&Reviewed> = open.iter().collect();
        return Ok(report_open(&open, removed.len(), false, printer));
    };
    grant(store, &approved)?;
    removed::forget(store, &agreed)?;
    if !(approved.is_empty() && rejected.is_empty()) {
        let names: Vec<&str> =
            approved.iter().map(|reviewed| reviewed.review.entry.display_name()).collect();
        let rejected: Vec<&Review> = rejected.iter().map(|reviewed| &reviewed.review).collect();
        printer.text(&render::trusted(&names, &rejected, printer)).await?;
        let approved: Vec<&Review> = approved.iter().map(|reviewed| &reviewed.review).collect();
        printer.text(&render::copied(&approved, store.copies_folder())).await?;
    }
    let agreed_grants: Vec<&Grant> = agreed.iter().map(|guard| &guard.grant).collect();
    printer.text(&render::removals(&agreed_grants, kept, printer)).await?;
    if !(approved.is_empty() && agreed.is_empty()) {
        remark_reload(context, printer).await;
    }
    if let Some(ended) = check_modules(&approved, context, printer).await {
        return Ok(ended);
    }
    if arguments.yes {
        return Ok(report_open(&rejected.iter().collect::<Vec<_>>(), 0, true, printer));
    }
    let is_settled = rejected.is_empty() && kept == 0;
    Ok(if is_settled { exit_code::PROCEED } else { exit_code::FAILURE })
}

/// Reports modules that cannot be loaded, if some were just trusted; they stay trusted. Returns the
/// exit code if a signal ended the command meanwhile.
async fn check_modules<'r>(
    approved: impl IntoIterator<Item = &'r Reviewed>,
    context: &Context,
    printer: &mut Printer,
) -> Option<Status> {
    if approved.into_iter().all(|reviewed| reviewed.review.entry.module.is_none()) {
        return None;
    }
    match try_modules(context, printer).await {
        Ok(ended) => (ended != exit_code::PROCEED).then_some(ended),
        Err(error) => {
            printer.warning(&format!("whether the modules can be loaded is not known: {error}"));
            None
        }
    }
}

/// Prints how to trust the remaining hooks, and to agree to the removal of guards, if there are any, and
/// returns the exit code.
fn report_open(
    untrusted: &[&Reviewed],
    removed: usize,
    yes: bool,
    printer: &mut Printer,
) -> Status {
    if untrusted.is_empty() && removed == 0 {
        return exit_code::PROCEED;
    }
    let reviews: Vec<&Review> = untrusted.iter().map(|reviewed| &reviewed.review).collect();
    let what = render::not_agreed(&reviews, removed);
    let opaque = untrusted.iter().filter(|reviewed| reviewed.is_opaque()).count();
    let agrees = match (opaque, untrusted.len() - opaque) {
        (0, _) => "`--yes` agrees to what is shown".to_owned(),
        (_, 0) => {
            "`--yes --opaque` agrees to what is shown, although not all that it starts is known"
                .to_owned()
        }
        (opaque, _) => format!(
            "`--yes` agrees to what is shown but {opaque} opaque, and `--yes --opaque` to those, too, although \
             not all that they start is known"
        ),
    };
    printer.problem(&match yes {
        true => format!("{what}: not all that is started is known; --opaque agrees to that"),
        false => {
            format!("{what}: there is no terminal to ask on; run `hook trust` in one; {agrees}")
        }
    });
    exit_code::FAILURE
}

/// Prints the files of agents in the project whose hooks are reviewed only if the agent is named.
async fn show_agents(context: &Context, printer: &mut Printer) -> Result<(), CommandError> {
    for agent in hook_agents::agents().iter().copied() {
        let agents = Agents {
            named: vec![agent],
            include_user: false,
            ..Agents::known(hook_agents::languages())
        };
        let sources = agents.with_files(Vec::new(), [context.project()]);
        for file in sources.iter().filter_map(load).filter(|file| !file.hooks.is_empty()) {
            let Some(path) = &file.path else { continue };
            let command = context.review_command([agent.name()]);
            let (count, title) = (render::counted(file.hooks.len(), "hook"), agent.title());
            let text =
                format!("{} has {count} of {title}: `{command}` reviews them\n", path.shown());
            printer.text(&text).await?;
        }
    }
    Ok(())
}

/// Warns of trusted guards that the settings do not have any more.
async fn show_lost_guards(context: &Context, printer: &mut Printer) -> Result<(), CommandError> {
    let system = context.builder()?.build()?;
    system.initialize_blocking().await?;
    for lost in system.registry()?.lost_guards() {
        printer.warning(lost);
    }
    Ok(())
}

async fn show(
    reviews: &[Reviewed],
    whole: bool,
    printer: &mut Printer,
) -> Result<(), CommandError> {
    let mut shown = render::ShownFiles::default();
    for reviewed in reviews {
        printer.text(&render::review(&reviewed.review, whole, &mut shown, printer)).await?;
    }
    Ok(())
}

/// Shows each hook and asks; no answer means no. Returns the hooks that the user trusts, and the
/// others.
async fn ask_for_each(
    open: Vec<Reviewed>,
    whole: bool,
    answers: &mut Answers,
    printer: &mut Printer,
) -> Result<(Vec<Reviewed>, Vec<Reviewed>), CommandError> {
    let (mut approved, mut rejected) = (Vec::new(), Vec::new());
    let mut open = std::collections::VecDeque::from(open);
    let mut approves_all = false;
    let mut shown = render::ShownFiles::default();
    while let Some(mut reviewed) = open.pop_front() {
        let mut yes = approves_all;
        if !approves_all {
            let text = render::review(&reviewed.review, whole, &mut shown, printer);
            printer.text(&text).await?;
        }
        while !yes {
            let all = if open.is_empty() { "" } else { ", [a]ll" };
            let question =
                format!("Trust this hook? [y]es, [N]o{all}, [s]how all of its files, [q]uit: ");
            match answer(&question, answers, printer).await?.as_str() {
                "y" | "yes" => yes = true,
                "s" | "show" => {
                    let mut shown = render::ShownFiles::default();
                    let text = render::review(&reviewed.review, true, &mut shown, printer);
                    printer.text(&text).await?;
                }
                // Nothing is trusted without being shown.
                "a" | "all" if !open.is_empty() => {
                    show(open.make_contiguous(), whole, printer).await?;
                    let count = open.len() + 1;
                    let question = format!("Trust all of these {count} hooks? [y]es, [N]o: ");
                    approves_all = is_yes(&answer(&question, answers, printer).await?);
                    yes = approves_all;
                }
                "q" | "quit" => {
                    rejected.push(reviewed);
                    rejected.extend(open);
                    return Ok((approved, rejected));
                }
                _ => break,
            }
        }
        if yes && reviewed.is_opaque() {
            let question = format!(
                "Not all that {} starts is known, and it may change without anybody being \
                 asked. Trust it all the same? [y]es, [N]o: ",
                one_line(reviewed.review.entry.display_name())
            );
            yes = is_yes(&answer(&question, answers, printer).await?);
            reviewed.review.accept_opaque();
        }
        if yes { &mut approved } else { &mut rejected }.push(reviewed);
    }
    Ok((approved, rejected))
}

/// The lines that the user answers with.
type Answers = Lines<BufReader<Stdin>>;

fn is_yes(answer: &str) -> bool {
    matches!(answer, "y" | "yes")
}

/// Asks one question. The end of the input counts as `quit`.
async fn answer(
    question: &str,
    answers: &mut Answers,
    printer: &mut Printer,
) -> Result<String, CommandError> {
    printer.text(question).await?;
    let line = answers.next_line().await.map_err(CommandError::Input)?;
    if line.is_none() {
        printer.text("\n").await?;
    }
    Ok(line.map_or_else(|| "quit".to_owned(), |line| line.trim().to_lowercase()))
}

async fn list(
    arguments: &Arguments,
    store: &TrustStore,
    projects: &[ProjectHooks],
    reviews: &[Reviewed],
    context: &Context,
    printer: &mut Printer,
) -> Result<Status, CommandError> {
    let mut grants = project_grants(store, projects)?;
    select_granted(&mut grants, &arguments.names)?;
    let fits = |grant: &Grant| {
        let same = reviews.iter().map(|reviewed| &reviewed.review);
        let mut same = same.filter(|review| review.fingerprint == grant.fingerprint);
        let is_copy = grant.digest.is_some() && grant.in_place.is_none() && !grant.strict;
        let is_changed = |reviewed: &Reviewed| matches!(&reviewed.review.status, TrustStatus::Changed(before) if **before == *grant);
        let is_of_agent = |language: &str| {
            let is_read = |reviewed: &Reviewed| agent_of(&reviewed.review.entry) == Some(language);
            !reviews.iter().any(is_read)
        };
        match same.clone().find(|review| review.fits(grant)) {
            Some(review) if is_copy && store.has_broken_copy(review) => Match::BrokenCopy,
            Some(_) => Match::Full,
            None if same.any(|_| is_copy) => Match::Copy,
            None if reviews.iter().any(is_changed) => Match::Changed,
            None => match grant.foreign_event() {
                Some((language, _)) if is_of_agent(language) => Match::OfAgent,
                _ => Match::None,
            },
        }
    };
    let grants: Vec<&Grant> = grants.iter().map(|(_, grant)| grant).collect();
    if context.json() {
        for grant in grants {
            printer
                .object(&render::grant_json(grant, ("fits", fits(grant) == Match::Full)))
                .await?;
        }
    } else {
        printer.text(&render::grants(&grants, fits, printer)).await?;
    }
    Ok(exit_code::PROCEED)
}

/// Returns the decisions about all projects, each with its project.
fn project_grants<'p>(
    store: &TrustStore,
    projects: &'p [ProjectHooks],
) -> Result<Vec<(&'p Path, Grant)>, CommandError> {
    let mut grants = Vec::new();
    for ProjectHooks { directory: project, .. } in projects {
        let of_project = |grant| (project.as_path(), grant);
        grants.extend(store.grants(project)?.into_iter().map(of_project));
    }
    Ok(grants)
}

async fn revoke(
    arguments: &Arguments,
    store: &TrustStore,
    projects: &[ProjectHooks],
    context: &Context,
    printer: &mut Printer,
) -> Result<Status, CommandError> {
    let mut grants = project_grants(store, projects)?;
    select_granted(&mut grants, &arguments.names)?;
    let mut status = exit_code::PROCEED;
    if arguments.names.is_empty() && !arguments.yes && !grants.is_empty() {
        let hooks = hooks_of(&grants);
        let asks = std::io::stdin().is_terminal() && printer.is_interactive() && !context.json();
        if !asks {
            let hooks = render::shown_names(&hooks);
            printer.problem(&format!(
                "nothing is taken back: this is the trust in {hooks}; name those that are meant, as in `hook \
                 trust --revoke NAME`, or say --yes to take back all of it"
            ));
            return Ok(exit_code::FAILURE);
        }
        let revoked = ask_what_to_revoke(hooks, printer).await?;
        if revoked.len() < hooks_of(&grants).len() {
            status = exit_code::FAILURE;
        }
        grants.retain(|(_, grant)| revoked.contains(&hook_of(grant)));
        if grants.is_empty() {
            printer.text("nothing is taken back\n").await?;
            return Ok(status);
        }
    }
    for ProjectHooks { directory: project, .. } in projects {
        let of_project = grants.iter().filter(|(project_of, _)| project_of == project);
        let fingerprints: Vec<String> =
            of_project.map(|(_, grant)| grant.fingerprint.clone()).collect();
        if !fingerprints.is_empty() {
            store.revoke_grants(project, &fingerprints)?;
        }
    }
    let grants: Vec<&Grant> = grants.iter().map(|(_, grant)| grant).collect();
    if context.json() {
        for grant in &grants {
            printer.object(&render::grant_json(grant, ("revoked", true))).await?;
        }
    } else {
        printer.text(&render::revoked(&grants, printer)).await?;
    }
    if !grants.is_empty() && !context.json() {
        remark_reload(context, printer).await;
    }
    Ok(status)
}

/// The event and the name of a hook.
type EventAndName = (String, String);

fn hook_of(grant: &Grant) -> EventAndName {
    (grant.event.clone(), grant.display_name().to_owned())
}

/// Returns the hooks that decisions are about.
fn hooks_of(grants: &[(&Path, Grant)]) -> BTreeSet<EventAndName> {
    grants.iter().map(|(_, grant)| hook_of(grant)).collect()
}

/// Asks about the trust in each hook; no answer means no.
async fn ask_what_to_revoke(
    hooks: BTreeSet<EventAndName>,
    printer: &mut Printer,
) -> Result<BTreeSet<EventAndName>, CommandError> {
    let mut answers = BufReader::new(tokio::io::stdin()).lines();
    let mut revoked = BTreeSet::new();
    for hook in hooks {
        let question = format!(
            "Take back the trust in {} {}, which then does not run? [y]es, [N]o, [q]uit: ",
            one_line(&hook.0),
            one_line(&hook.1)
        );
        match answer(&question, &mut answers, printer).await?.as_str() {
            "y" | "yes" => drop(revoked.insert(hook)),
            "q" | "quit" => break,
            _ => {}
        }
    }
    Ok(revoked)
}

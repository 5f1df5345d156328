//! `hook trust`: review the project's hooks and trust them.

use std::io::IsTerminal;

use clap::Args;
use clap_complete::engine::ArgValueCompleter;
use hook_core::settings::{HookEntry, load};
use hook_core::trust::{Grant, Review, Standing, TrustStoreError};
use hook_core::{HookSource, TrustStore};
use tokio::io::{AsyncBufReadExt, BufReader, Lines, Stdin};

use crate::commands::RELOAD;
use crate::complete;
use crate::context::Context;
use crate::error::{CommandError, UnknownHook};
use crate::exit_code::{self, Status};
use crate::output::Printer;
use crate::render;

#[derive(Debug, Args)]
#[command(after_help = "\
Hooks of a project run only once they are trusted. This shows what each would
run, and what changed since it was trusted, and asks. What is trusted is what
was shown: a change of a hook, or of the script that it runs, asks again. No
hook runs meanwhile.

Examples:
  hook trust                          show what is not trusted, and ask
  hook trust guard --show             with the whole of its script
  hook trust --yes                    without asking, where there is no terminal
  hook trust --list
  hook trust --revoke guard

Exit code: 1 if a hook stays untrusted because nobody can be asked; else 0.")]
pub(crate) struct Arguments {
    /// Only hooks of these names; by their commands, if they have none
    #[arg(value_name = "NAME", add = ArgValueCompleter::new(complete::hook_names))]
    names: Vec<String>,
    /// List what is trusted in this project, and whether it is still there
    #[arg(long, conflicts_with_all = ["revoke", "yes", "show"])]
    list: bool,
    /// Take trust back: all of it in this project, or that in the hooks named
    #[arg(long, conflicts_with_all = ["yes", "show"])]
    revoke: bool,
    /// Trust what is shown without asking
    #[arg(long)]
    yes: bool,
    /// Show scripts in full, and hooks that are trusted too
    #[arg(long)]
    show: bool,
}

pub(crate) async fn run(
    arguments: &Arguments,
    context: &Context,
    printer: &mut Printer,
) -> Result<Status, CommandError> {
    context
        .refuse_named_settings("naming a file trusts its hooks; trust is about the project's")?;
    let store = context.trust_store().ok_or(CommandError::NoHome)?;
    let entries = project_hooks(context, printer);
    if arguments.revoke {
        return revoke(arguments, &store, context, printer).await;
    }
    let mut reviews = match store.review(context.project(), &entries) {
        // The decision that is asked for now sets it aside.
        Err(damaged @ TrustStoreError::Damaged { .. }) if !arguments.list => {
            printer.warning(&damaged.to_string());
            store.review_anew(context.project(), &entries)
        }
        reviews => reviews?,
    };
    if arguments.list {
        return list(arguments, &store, &reviews, context, printer).await;
    }
    select(&mut reviews, &arguments.names, |review| review.entry.display_name())?;
    review(arguments, &store, &reviews, context, printer).await
}

/// The project's hooks; what is wrong with its settings is said.
fn project_hooks(context: &Context, printer: &mut Printer) -> Vec<HookEntry> {
    let mut hooks = Vec::new();
    let sources = context.sources();
    let of_project = sources.iter().filter(|source| source.source == HookSource::Project);
    for file in of_project.filter_map(load) {
        for problem in &file.diagnostics {
            printer.settings_problem(problem);
        }
        hooks.extend(file.hooks);
    }
    hooks
}

/// Keeps what was named; everything, if nothing was.
fn select<T>(
    all: &mut Vec<T>,
    names: &[String],
    name_of: impl Fn(&T) -> &str,
) -> Result<(), CommandError> {
    if let Some(unknown) = names.iter().find(|name| !all.iter().any(|it| name_of(it) == *name)) {
        return Err(UnknownHook::new(unknown, all.iter().map(name_of)).into());
    }
    all.retain(|it| names.is_empty() || names.iter().any(|name| name_of(it) == name));
    Ok(())
}

/// Keeps the decisions about hooks of these names.
fn select_granted(grants: &mut Vec<Grant>, names: &[String]) -> Result<(), CommandError> {
    select(grants, names, Grant::display_name).map_err(|error| match error {
        CommandError::UnknownHook(unknown) => unknown.among_trusted().into(),
        error => error,
    })
}

async fn review(
    arguments: &Arguments,
    store: &TrustStore,
    reviews: &[Review],
    context: &Context,
    printer: &mut Printer,
) -> Result<Status, CommandError> {
    let (trusted, open): (Vec<&Review>, Vec<&Review>) =
        reviews.iter().partition(|review| review.standing == Standing::Trusted);
    if arguments.yes {
        // What was agreed to is written down whether anybody reads or not.
        printer.work_on_unread();
    }
    if context.json() {
        if arguments.yes {
            store.grant_reviewed(context.project(), open.iter().copied())?;
        }
        for review in reviews {
            let line = render::review_json(review, arguments.yes).to_string();
            printer.message(line.as_bytes()).await?;
        }
        return Ok(if arguments.yes || open.is_empty() {
            exit_code::PROCEED
        } else {
            say_how_to_trust(open.len(), printer)
        });
    }
    if arguments.show {
        for review in &trusted {
            printer.text(&render::review(review, true, printer)).await?;
        }
    }
    if open.is_empty() {
        printer.text(&render::nothing_to_trust(trusted.len())).await?;
        return Ok(exit_code::PROCEED);
    }
    let agreed = if arguments.yes {
        show(&open, arguments.show, printer).await?;
        open.clone()
    } else if std::io::stdin().is_terminal() && printer.is_interactive() {
        ask(&open, arguments.show, printer).await?
    } else {
        show(&open, arguments.show, printer).await?;
        return Ok(say_how_to_trust(open.len(), printer));
    };
    if !agreed.is_empty() {
        store.grant_reviewed(context.project(), agreed.iter().copied())?;
    }
    let left = open.len() - agreed.len();
    printer.text(&render::trusted(&agreed, left, printer)).await?;
    if !agreed.is_empty() {
        printer.remark(RELOAD);
    }
    Ok(if left == 0 { exit_code::PROCEED } else { exit_code::FAILURE })
}

fn say_how_to_trust(count: usize, printer: &mut Printer) -> Status {
    let hooks = if count == 1 { "1 hook is" } else { &format!("{count} hooks are") };
    printer.problem(&format!(
        "{hooks} not trusted, and there is nobody to ask; call `hook trust` on a terminal, or with \
         --yes to trust what is shown"
    ));
    exit_code::FAILURE
}

async fn show(reviews: &[&Review], whole: bool, printer: &mut Printer) -> Result<(), CommandError> {
    for review in reviews {
        printer.text(&render::review(review, whole, printer)).await?;
    }
    Ok(())
}

/// Shows each hook and asks. Whoever says nothing trusts nothing.
async fn ask<'r>(
    open: &[&'r Review],
    whole: bool,
    printer: &mut Printer,
) -> Result<Vec<&'r Review>, CommandError> {
    let mut answers = BufReader::new(tokio::io::stdin()).lines();
    let mut agreed = Vec::new();
    for (index, review) in open.iter().enumerate() {
        let rest = open.get(index + 1..).unwrap_or_default();
        printer.text(&render::review(review, whole, printer)).await?;
        loop {
            let all = if rest.is_empty() { "" } else { ", [a]ll" };
            let question =
                format!("Trust this hook? [y]es, [N]o{all}, [s]how all of its script, [q]uit: ");
            match answer(&question, &mut answers, printer).await?.as_str() {
                "y" | "yes" => agreed.push(*review),
                "s" | "show" => {
                    printer.text(&render::review(review, true, printer)).await?;
                    continue;
                }
                // Nothing is trusted that was not shown.
                "a" | "all" if !rest.is_empty() => {
                    show(rest, whole, printer).await?;
                    let question =
                        format!("Trust all of these {} hooks? [y]es, [N]o: ", rest.len() + 1);
                    if !matches!(
                        answer(&question, &mut answers, printer).await?.as_str(),
                        "y" | "yes"
                    ) {
                        continue;
                    }
                    agreed.push(*review);
                    agreed.extend(rest);
                    return Ok(agreed);
                }
                "q" | "quit" => return Ok(agreed),
                _ => {}
            }
            break;
        }
    }
    Ok(agreed)
}

/// Asks one question; the end of the input is the end of the questions.
async fn answer(
    question: &str,
    answers: &mut Lines<BufReader<Stdin>>,
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
    reviews: &[Review],
    context: &Context,
    printer: &mut Printer,
) -> Result<Status, CommandError> {
    let mut grants = store.granted(context.project())?;
    select_granted(&mut grants, &arguments.names)?;
    let fits = |grant: &Grant| reviews.iter().any(|it| it.fingerprint == grant.fingerprint);
    if context.json() {
        for grant in &grants {
            let line = render::grant_json(grant, ("fits", fits(grant))).to_string();
            printer.message(line.as_bytes()).await?;
        }
    } else {
        printer.text(&render::grants(&grants, fits, printer)).await?;
    }
    Ok(exit_code::PROCEED)
}

async fn revoke(
    arguments: &Arguments,
    store: &TrustStore,
    context: &Context,
    printer: &mut Printer,
) -> Result<Status, CommandError> {
    let mut grants = store.granted(context.project())?;
    select_granted(&mut grants, &arguments.names)?;
    if !grants.is_empty() {
        let fingerprints: Vec<String> = grants.iter().map(|it| it.fingerprint.clone()).collect();
        store.revoke_grants(context.project(), &fingerprints)?;
    }
    if context.json() {
        for grant in &grants {
            let line = render::grant_json(grant, ("revoked", true)).to_string();
            printer.message(line.as_bytes()).await?;
        }
    } else {
        printer.text(&render::revoked(&grants, printer)).await?;
    }
    if !grants.is_empty() && !context.json() {
        printer.remark(RELOAD);
    }
    Ok(exit_code::PROCEED)
}

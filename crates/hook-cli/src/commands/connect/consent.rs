//! The consent that an agent needs to run its entries: asking, writing and withdrawing.

use std::path::{Path, PathBuf};

use hook_agents::{Agent, Agreed, Consent};
use hook_json::text::PathText;
use hook_settings::edit::AbsentFile;

use super::connection::Connection;
use super::entries::{self, Scope, file_of, user_folder};
use super::{codex, edited, not_editable};
use crate::context::Context;
use crate::error::CommandError;
use crate::output::Printer;

/// Returns the path of the file with a consent.
fn place(
    consent: &Consent,
    agent: &'static Agent,
    scope: Scope,
    context: &Context,
) -> Result<PathBuf, CommandError> {
    match consent.file {
        Some(file) => Ok(user_folder(agent)?.join(file)),
        None => file_of(agent, scope, context),
    }
}

/// Asks for the agent's missing consent and writes it, or prints what is left to do. The entries
/// are written by now, so a failure here is only a warning.
pub(super) async fn settle(
    connection: Connection<'_>,
    printer: &mut Printer,
) -> Result<(), CommandError> {
    let agent = connection.agent;
    let Some(entry) = agent.entry_places() else { return Ok(()) };
    let settled = match (agent.word(), agent.consent()) {
        ("codex", _) => codex::settle(connection, printer).await,
        (_, Some(consent)) => written(connection, consent, printer).await,
        (_, None) => Ok(false),
    };
    let settled = settled.unwrap_or_else(|error| {
        printer.warning(&error.to_string());
        false
    });
    if !settled {
        printer.remark(entry.remains);
        let can_be_written = agent.consent().is_some() || agent.word() == "codex";
        if can_be_written && !connection.yes {
            let scope = match connection.scope {
                Scope::User => "",
                Scope::Project => " --scope project",
            };
            printer.remark(&format!("`hook connect {}{scope} --yes` agrees to it", agent.word()));
        }
    }
    Ok(())
}

/// Shows what [`settle`] would ask and write for this many entries. Writes nothing.
pub(super) async fn foresee(
    connection: Connection<'_>,
    entries: usize,
    printer: &mut Printer,
) -> Result<(), CommandError> {
    let Connection { agent, scope, context, .. } = connection;
    let json = context.json();
    if agent.word() == "codex" {
        return match codex::question(connection, entries)? {
            Some(question) if !json => {
                let text = "Codex says the hashes once the entries are there";
                printer.text(&format!("would ask: {question} {text}\n")).await
            }
            _ => Ok(()),
        };
    }
    let Some(consent) = agent.consent() else { return Ok(()) };
    let path = place(consent, agent, scope, context)?;
    let folder = connection.folder();
    if standing(consent, &path, &folder)? != Agreed::Open {
        return Ok(());
    }
    if !json {
        printer.text(&format!("would ask: {}\n", question(consent, &folder))).await?;
    }
    if consent.file.is_none() {
        return Ok(());
    }
    let give = |text: Option<&str>| {
        consent.given(text, &folder).map_err(|error| not_editable(text, error))
    };
    let change = edited(&path, true, AbsentFile::Made, &give)?;
    connection.show(&change, "agreed for", true, printer).await
}

/// Returns the state of the consent for a folder, according to a file.
fn standing(consent: &Consent, path: &Path, folder: &Path) -> Result<Agreed, CommandError> {
    let standing = std::cell::Cell::new(Agreed::Open);
    let look = |text: Option<&str>| {
        let known = consent.standing(text, folder).map_err(|error| not_editable(text, error))?;
        standing.set(known);
        Ok(text.unwrap_or_default().to_owned())
    };
    edited(path, true, AbsentFile::Made, &look)?;
    Ok(standing.get())
}

fn question(consent: &Consent, folder: &Path) -> String {
    match consent.file {
        Some(_) => format!("{} {}", consent.question, folder.shown()),
        None => consent.question.to_owned(),
    }
}

async fn written(
    connection: Connection<'_>,
    consent: &Consent,
    printer: &mut Printer,
) -> Result<bool, CommandError> {
    let path = place(consent, connection.agent, connection.scope, connection.context)?;
    let folder = connection.folder();
    match standing(consent, &path, &folder)? {
        Agreed::Yes => return Ok(true),
        Agreed::No => return Ok(false),
        Agreed::Open => {}
    }
    if !connection.agrees(&question(consent, &folder), printer).await? {
        return Ok(false);
    }
    let give = |text: Option<&str>| {
        consent.given(text, &folder).map_err(|error| not_editable(text, error))
    };
    let change = edited(&path, false, AbsentFile::Made, &give)?;
    connection.show(&change, "agreed for", false, printer).await?;
    Ok(true)
}

/// Withdraws the consent that was written for the agent, and nothing else.
pub(super) async fn take_back(
    connection: Connection<'_>,
    dry_run: bool,
    printer: &mut Printer,
) -> Result<(), CommandError> {
    let agent = connection.agent;
    // The user's entries still need it.
    let is_wanted = connection.scope == Scope::Project
        && !entries::of(agent, Scope::User, connection.context).commands.is_empty();
    let folder = connection.folder();
    let folder = (connection.scope == Scope::Project).then_some(folder);
    if agent.word() == "codex" {
        let path = codex::config(agent)?;
        let file = file_of(agent, connection.scope, connection.context)?;
        let edit = |text: Option<&str>| Ok(codex::without(text.unwrap_or_default(), &file));
        let is_empty = |text: &str| text.is_empty();
        return undone(connection, &path, &edit, &is_empty, dry_run, printer).await;
    }
    let Some(consent) = agent.consent().filter(|it| it.file.is_some() && !is_wanted) else {
        return Ok(());
    };
    let path = place(consent, agent, connection.scope, connection.context)?;
    let edit = |text: Option<&str>| {
        let back = consent.taken_back(text.unwrap_or_default(), folder.as_deref());
        back.map_err(|error| not_editable(text, error))
    };
    let is_empty = |text: &str| consent.is_made_here(text);
    undone(connection, &path, &edit, &is_empty, dry_run, printer).await
}

async fn undone(
    connection: Connection<'_>,
    path: &Path,
    edit: &hook_settings::edit::Edit<'_>,
    is_made_here: &dyn Fn(&str) -> bool,
    dry_run: bool,
    printer: &mut Printer,
) -> Result<(), CommandError> {
    if !path.exists() {
        return Ok(());
    }
    let change = edited(path, dry_run, AbsentFile::Made, edit)?;
    if change.is_change() && is_made_here(&change.after) && !dry_run {
        super::removed(path)?;
    }
    connection.show(&change, "taken back for", dry_run, printer).await
}

//! What an agent still wants once its entries are written: asked for, written down, and taken back.

use std::path::{Path, PathBuf};

use hook_core::settings::edit::AbsentFile;
use hook_translate::agents::{Agent, Agreed, Consent};

use super::connection::Connection;
use super::entries::{self, Scope, file_of, user_folder};
use super::{codex, edited, not_editable};
use crate::context::Context;
use crate::error::CommandError;
use crate::output::Printer;

/// The file of a consent.
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

/// Asks for what the agent still wants, and writes it down; what is left is said. The entries are there by
/// now, so that nothing here is a failure.
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
    }
    Ok(())
}

async fn written(
    connection: Connection<'_>,
    consent: &Consent,
    printer: &mut Printer,
) -> Result<bool, CommandError> {
    let path = place(consent, connection.agent, connection.scope, connection.context)?;
    let folder = connection.folder();
    let standing = std::cell::Cell::new(Agreed::Open);
    let look = |text: Option<&str>| {
        let known = consent.standing(text, &folder).map_err(|error| not_editable(text, error))?;
        standing.set(known);
        Ok(text.unwrap_or_default().to_owned())
    };
    edited(&path, true, AbsentFile::Made, &look)?;
    match standing.get() {
        Agreed::Yes => return Ok(true),
        Agreed::No => return Ok(false),
        Agreed::Open => {}
    }
    let question = match consent.file {
        Some(_) => format!("{} {}", consent.question, folder.display()),
        None => consent.question.to_owned(),
    };
    if !connection.agrees(&question, printer).await? {
        return Ok(false);
    }
    let give = |text: Option<&str>| {
        consent.given(text, &folder).map_err(|error| not_editable(text, error))
    };
    let change = edited(&path, false, AbsentFile::Made, &give)?;
    connection.show(&change, "agreed for", false, printer).await?;
    Ok(true)
}

/// Takes back what was written for the agent, and nothing else.
pub(super) async fn take_back(
    connection: Connection<'_>,
    dry_run: bool,
    printer: &mut Printer,
) -> Result<(), CommandError> {
    let agent = connection.agent;
    // The user's entries still want it.
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
    edit: &hook_core::settings::edit::Edit<'_>,
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

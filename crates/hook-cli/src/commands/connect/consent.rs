//! The consent that an agent needs to run its entries: asking, writing and withdrawing.

use std::path::{Path, PathBuf};

use hook_agents::{Agent, Consent, ConsentStatus};
use hook_json::text::PathText;
use hook_settings::edit::AbsentFile;

use super::connection::Connection;
use super::entries::{self, Scope, file_of, user_folder};
use super::{codex, edit_file, not_editable};
use crate::context::Context;
use crate::error::Result;
use crate::output::Printer;

/// Returns the path of the file with a consent.
fn consent_path(
    consent: &Consent,
    agent: &'static Agent,
    scope: Scope,
    context: &Context,
) -> Result<PathBuf> {
    match consent.file {
        Some(file) => Ok(user_folder(agent)?.join(file)),
        None => file_of(agent, scope, context),
    }
}

/// Asks for the agent's missing consent and writes it, or prints what is left to do. The entries
/// are written by now, so a failure here is only a warning.
pub(super) async fn settle(connection: Connection<'_>, printer: &mut Printer) -> Result<()> {
    let agent = connection.agent;
    let Some(entry) = agent.entry() else { return Ok(()) };
    let settled = match (agent.name(), agent.consent()) {
        ("codex", _) => codex::settle(connection, printer).await,
        (_, Some(consent)) => write_consent(connection, consent, printer).await,
        (_, None) => Ok(false),
    };
    let settled = settled.unwrap_or_else(|error| {
        printer.warning(&error.to_string());
        false
    });
    if !settled {
        printer.remark(entry.next_step);
        let can_be_written = agent.consent().is_some() || agent.name() == "codex";
        if can_be_written && !connection.yes {
            let scope = match connection.scope {
                Scope::User => "",
                Scope::Project => " --scope project",
            };
            printer.remark(&format!("`hook connect {}{scope} --yes` agrees to it", agent.name()));
        }
    }
    Ok(())
}

/// Shows what [`settle`] would ask and write for this many entries. Writes nothing.
pub(super) async fn preview(
    connection: Connection<'_>,
    entries: usize,
    printer: &mut Printer,
) -> Result<()> {
    let Connection { agent, scope, context, .. } = connection;
    let json = context.json();
    if agent.name() == "codex" {
        return match codex::question(connection, entries)? {
            Some(question) if !json => {
                let text = "Codex says the hashes once the entries are there";
                printer.text(&format!("would ask: {question} {text}\n")).await
            }
            _ => Ok(()),
        };
    }
    let Some(consent) = agent.consent() else { return Ok(()) };
    let path = consent_path(consent, agent, scope, context)?;
    let folder = connection.folder();
    if consent_status(consent, &path, &folder)? != ConsentStatus::Unset {
        return Ok(());
    }
    if !json {
        printer.text(&format!("would ask: {}\n", question(consent, &folder))).await?;
    }
    if consent.file.is_none() {
        return Ok(());
    }
    let edit = |text: Option<&str>| {
        consent.grant(text, &folder).map_err(|error| not_editable(text, error))
    };
    let change = edit_file(&path, true, AbsentFile::Create, &edit)?;
    connection.show(&change, "agreed for", true, printer).await
}

/// Returns the state of the consent for a folder, according to a file.
fn consent_status(consent: &Consent, path: &Path, folder: &Path) -> Result<ConsentStatus> {
    let status = std::cell::Cell::new(ConsentStatus::Unset);
    let inspect = |text: Option<&str>| {
        let known = consent.status(text, folder).map_err(|error| not_editable(text, error))?;
        status.set(known);
        Ok(text.unwrap_or_default().to_owned())
    };
    edit_file(path, true, AbsentFile::Create, &inspect)?;
    Ok(status.get())
}

fn question(consent: &Consent, folder: &Path) -> String {
    match consent.file {
        Some(_) => format!("{} {}", consent.question, folder.shown()),
        None => consent.question.to_owned(),
    }
}

async fn write_consent(
    connection: Connection<'_>,
    consent: &Consent,
    printer: &mut Printer,
) -> Result<bool> {
    let path = consent_path(consent, connection.agent, connection.scope, connection.context)?;
    let folder = connection.folder();
    match consent_status(consent, &path, &folder)? {
        ConsentStatus::Granted => return Ok(true),
        ConsentStatus::Refused => return Ok(false),
        ConsentStatus::Unset => {}
    }
    if !connection.confirms(&question(consent, &folder), printer).await? {
        return Ok(false);
    }
    let edit = |text: Option<&str>| {
        consent.grant(text, &folder).map_err(|error| not_editable(text, error))
    };
    let change = edit_file(&path, false, AbsentFile::Create, &edit)?;
    connection.show(&change, "agreed for", false, printer).await?;
    Ok(true)
}

/// Withdraws the consent that was written for the agent, and nothing else.
pub(super) async fn revoke(
    connection: Connection<'_>,
    dry_run: bool,
    printer: &mut Printer,
) -> Result<()> {
    let agent = connection.agent;
    // The user's entries still need it.
    let is_wanted = connection.scope == Scope::Project
        && !entries::of(agent, Scope::User, connection.context).commands.is_empty();
    let folder = connection.folder();
    let folder = (connection.scope == Scope::Project).then_some(folder);
    if agent.name() == "codex" {
        let path = codex::config(agent)?;
        let file = file_of(agent, connection.scope, connection.context)?;
        let edit = |text: Option<&str>| Ok(codex::without_trusted(text.unwrap_or_default(), &file));
        let is_empty = |text: &str| text.is_empty();
        return revert(connection, &path, &edit, &is_empty, dry_run, printer).await;
    }
    let Some(consent) = agent.consent().filter(|consent| consent.file.is_some() && !is_wanted)
    else {
        return Ok(());
    };
    let path = consent_path(consent, agent, connection.scope, connection.context)?;
    let edit = |text: Option<&str>| {
        let reverted = consent.revoke(text.unwrap_or_default(), folder.as_deref());
        reverted.map_err(|error| not_editable(text, error))
    };
    let is_empty = |text: &str| consent.is_created_file(text);
    revert(connection, &path, &edit, &is_empty, dry_run, printer).await
}

async fn revert(
    connection: Connection<'_>,
    path: &Path,
    edit: &hook_settings::edit::Edit<'_>,
    is_made_here: &dyn Fn(&str) -> bool,
    dry_run: bool,
    printer: &mut Printer,
) -> Result<()> {
    if !path.exists() {
        return Ok(());
    }
    let change = edit_file(path, dry_run, AbsentFile::Create, edit)?;
    if change.is_change() && is_made_here(&change.after) && !dry_run {
        super::remove_file(path)?;
    }
    connection.show(&change, "taken back for", dry_run, printer).await
}

//! The entries of agents whose hooks are programs with the names of events: a folder with a script for each. A file of
//! the user's with such a name stays as it is.

use std::path::Path;

use hook_agents::Agent;
use hook_files::regular_file;
use hook_json::text::PathText;
use hook_settings::edit::AbsentFile;

use super::{edit_file, not_editable, remove_file, show};
use crate::error::Result;
use crate::output::Printer;

/// The maximum size of a script, in bytes.
const MAX_SCRIPT: u64 = 1 << 16;

/// A file with the name of an event.
#[derive(Debug, PartialEq, Eq)]
enum Script {
    Absent,
    /// `hook connect` wrote it.
    Own,
    /// The user's, or no file at all.
    Foreign,
}

impl Script {
    fn at(agent: &Agent, path: &Path) -> Self {
        let text = regular_file::read_to_string(path, MAX_SCRIPT);
        match text {
            Ok(text) if agent.is_created_file(&text) => Self::Own,
            _ if path.symlink_metadata().is_err() => Self::Absent,
            _ => Self::Foreign,
        }
    }
}

/// Returns the entries in a folder, each as its event and its command.
pub(super) fn commands(agent: &Agent, folder: &Path) -> Vec<(String, String)> {
    let text = |event: &str| regular_file::read_to_string(&folder.join(event), MAX_SCRIPT).ok();
    let texts = agent.connected_event_names().filter_map(|(event, _)| text(event));
    texts.flat_map(|text| agent.connections(&text).unwrap_or_default()).collect()
}

/// Writes a script for each of these events, and removes those of other events. Returns the events that have one.
pub(super) async fn connect(
    agent: &Agent,
    folder: &Path,
    events: &[&'static str],
    command: &dyn Fn(&str) -> String,
    dry_run: bool,
    printer: &mut Printer,
) -> Result<Vec<&'static str>> {
    let mut connected = Vec::new();
    for (event, _) in agent.connected_event_names() {
        let path = folder.join(event);
        match (Script::at(agent, &path), events.contains(&event)) {
            (Script::Foreign, true) => printer.warning(&format!(
                "{} is yours, and stays as it is: nothing is asked at {event}. Have it pass its standard input to \
                 this command, and print what that prints: {}",
                path.shown(),
                command(event)
            )),
            (Script::Absent | Script::Own, true) => {
                let edit = |text: Option<&str>| {
                    let filled = text.filter(|text| !text.is_empty());
                    agent.connected(filled, &[event], command).map_err(|it| not_editable(text, it))
                };
                let change = edit_file(&path, dry_run, AbsentFile::Create, &edit)?;
                if !dry_run {
                    make_executable(&path)?;
                }
                show(agent, &change, "connected", dry_run, printer).await?;
                connected.push(event);
            }
            (Script::Own, false) => remove(agent, &path, dry_run, printer).await?,
            (Script::Absent | Script::Foreign, false) => {}
        }
    }
    Ok(connected)
}

/// Removes the scripts that `hook connect` wrote. Returns `true` if there was one.
pub(super) async fn disconnect(
    agent: &Agent,
    folder: &Path,
    dry_run: bool,
    printer: &mut Printer,
) -> Result<bool> {
    let paths = agent.connected_event_names().map(|(event, _)| folder.join(event));
    let mut was_connected = false;
    for path in paths.filter(|path| Script::at(agent, path) == Script::Own) {
        remove(agent, &path, dry_run, printer).await?;
        was_connected = true;
    }
    Ok(was_connected)
}

async fn remove(agent: &Agent, path: &Path, dry_run: bool, printer: &mut Printer) -> Result<()> {
    let edit = |text: Option<&str>| {
        let text = text.unwrap_or_default();
        agent.disconnected(text).map_err(|error| not_editable(Some(text), error))
    };
    let change = edit_file(path, dry_run, AbsentFile::Refuse, &edit)?;
    if !dry_run {
        remove_file(path)?;
    }
    show(agent, &change, "disconnected", dry_run, printer).await
}

#[cfg(unix)]
fn make_executable(path: &Path) -> Result<()> {
    use std::fs::Permissions;
    use std::os::unix::fs::PermissionsExt;

    use crate::error::CommandError;

    std::fs::set_permissions(path, Permissions::from_mode(0o755))
        .map_err(CommandError::write("the script", path))
}

#[cfg(not(unix))]
fn make_executable(_: &Path) -> Result<()> {
    Ok(())
}

//! `hook uninstall`: removes `hook` from everything that calls it, and lists the remaining files.

use std::path::{Path, PathBuf};

use clap::Args;
use hook_json::text::{PathText, one_line};
use hook_settings::{data_home, state_home};
use serde_json::json;

use super::connect;
use super::serve::own_socket;
use crate::context::Context;
use crate::error::Result;
use crate::installation::{self, Installation};
use crate::output::Printer;

#[derive(Debug, Args)]
#[command(after_help = "\
Takes the entries of `hook connect` out of every agent's settings, for the user
and in this project, ends servers that answer agents, and says what remains:
your settings, decisions and logs, and the binary itself. Nothing of that is
removed.

Examples:
  hook uninstall --dry-run
  hook uninstall

Exit code: 1 if an agent's settings cannot be edited; else 0.")]
pub(crate) struct Arguments {
    /// Show what would be done, and do nothing
    #[arg(long)]
    dry_run: bool,
}

/// The folder of a project's own hooks.
const PROJECT_HOOKS: &str = ".hooks";

pub(crate) async fn run(arguments: &Arguments, context: &Context, printer: &mut Printer) -> Result {
    let status = connect::disconnect_all(arguments.dry_run, context, printer).await?;
    for (socket, process) in servers(context).await {
        let is_ended = !arguments.dry_run && end(&socket, process);
        let what = match (arguments.dry_run, is_ended) {
            (true, _) => "would end",
            (false, true) => "ended",
            (false, false) => "could not end",
        };
        let object = json!({"server": socket, "process": process, "ended": is_ended});
        let server = socket.shown();
        let process = process.map_or_else(String::new, |process| format!(", process {process}"));
        let text = |_: &Printer| format!("{what} the server at {server}{process}\n");
        printer.show(&(object, text)).await?;
    }
    let own = Installation::current()
        .ok()
        .and_then(|installation| Some((installation.path, installation.method.facts().remove?)));
    for (what, path) in remaining_paths(context) {
        let word = hook_shell::quote(&path.to_string_lossy());
        let word = one_line(&word);
        let text = |_: &Printer| match (path.ends_with(PROJECT_HOOKS), path.is_dir()) {
            // Others who work on the project have them, too.
            (true, _) => format!("left alone: {what}, {word}, which are part of it\n"),
            _ if own.as_ref().is_some_and(|(own, _)| *own == path) => {
                let command = own.as_ref().map_or("", |(_, command)| command);
                format!("remains: {what}; remove with `{command}`\n")
            }
            (false, true) => format!("remains: {what}; remove with `rm -r {word}`\n"),
            (false, false) => format!("remains: {what}; remove with `rm {word}`\n"),
        };
        printer.show(&(json!({"remains": what, "path": path}), text)).await?;
    }
    if !context.json() {
        let verb = if arguments.dry_run { "would run" } else { "run" };
        printer.remark(&format!(
            "agents {verb} without hooks from here on; entries in other projects (`--scope project`) stay: `hook \
             disconnect --all` there takes them out"
        ));
    }
    Ok(status)
}

/// Returns the files that remain, each with a description.
fn remaining_paths(context: &Context) -> Vec<(&'static str, PathBuf)> {
    let join = |folder: Option<PathBuf>, name: &str| folder.map(|folder| folder.join(name));
    let user = context.config_home().map(Path::to_path_buf);
    let all = [
        ("your settings, hooks and decisions", join(user, "hooks")),
        ("the log of calls, and what sessions left", join(state_home(), "hook")),
        ("copies of what you trusted, and your packs", join(data_home(), "hook")),
        ("the hooks of this project", Some(context.project().join(PROJECT_HOOKS))),
        ("the copy of this program that agents called", installation::copied_path()),
        ("this program", std::env::current_exe().ok()),
    ];
    let existing = all.into_iter().filter_map(|(what, path)| Some((what, path?)));
    existing.filter(|(_, path)| path.exists()).collect()
}

/// Returns the servers that answer agents in all projects: their sockets, and process ids where the
/// system reports them.
async fn servers(context: &Context) -> Vec<(PathBuf, Option<i32>)> {
    let folder = own_socket(context.project()).ok();
    let folder = folder.as_deref().and_then(Path::parent);
    let mut found = Vec::new();
    for entry in
        folder.and_then(|folder| std::fs::read_dir(folder).ok()).into_iter().flatten().flatten()
    {
        let path = entry.path();
        if path.extension().is_none_or(|extension| extension != "sock") {
            continue;
        }
        // A socket that nobody answers at was left behind.
        let Ok(connection) = hook_bus::wire::connect(&path).await else { continue };
        found.push((path, connection.process));
    }
    found
}

/// Asks a server to end, as with a signal from its terminal. Returns `true` if it was signalled.
#[cfg(unix)]
fn end(_: &Path, process: Option<i32>) -> bool {
    let process = process.and_then(rustix::process::Pid::from_raw);
    process.is_some_and(|process| {
        rustix::process::kill_process(process, rustix::process::Signal::TERM).is_ok()
    })
}

/// Takes a server's socket away, whereupon it ends within seconds. Returns `true` if that was done.
#[cfg(not(unix))]
fn end(socket: &Path, _: Option<i32>) -> bool {
    std::fs::remove_file(socket).is_ok()
}

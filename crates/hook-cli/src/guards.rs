//! Checks for the guards of an event. A guard is a hook with `failBehavior: block`: if it cannot
//! run, the event is blocked. The engine knows its hooks; the command knows whether the user's
//! settings could be searched.

use std::path::{Path, PathBuf};

use hook_bus::HookSystem;
use hook_bus::live::guard_file;
use hook_bus::wire::{default_socket_path, sockets_with_saved_guards};
use hook_files::user_folders::HOME;
use hook_json::text::PathText;
use hook_protocol::HookEventName;
use hook_settings::guarded_directories;

use crate::context::Context;
use crate::output::Printer;

/// Returns `true` if a guard of the event exists, or may exist.
pub(crate) fn may_exist(event: HookEventName, system: &HookSystem, context: &Context) -> bool {
    context.lacks_home() || system.may_have_guard(event)
}

/// Returns the reason why guards of the event may be missing, or `None` if all are known.
pub(crate) fn unknown(
    event: HookEventName,
    system: &HookSystem,
    context: &Context,
) -> Option<String> {
    unsearched(context).or_else(|| system.unread_guards(event))
}

/// Returns the reason why the user's settings could not be searched.
pub(crate) fn unsearched(context: &Context) -> Option<String> {
    context.lacks_home().then(|| {
        format!(
            "neither {HOME} nor XDG_CONFIG_HOME names a folder, so the user's settings cannot be \
             found; set one, or give --no-user"
        )
    })
}

/// Returns the sockets of the projects around the context's, and of the others that the agent works
/// in, whose servers remember guards of programs.
pub(crate) fn other_servers(context: &Context) -> Vec<PathBuf> {
    let own = default_socket_path(context.project());
    let workspace = context.workspace().iter().map(PathBuf::as_path);
    let mut found = Vec::new();
    for directory in
        std::iter::once(context.project()).chain(workspace).flat_map(guarded_directories)
    {
        for socket in sockets_with_saved_guards(&directory) {
            if own.as_ref() != Some(&socket) && !found.contains(&socket) {
                found.push(socket);
            }
        }
    }
    found
}

/// Blocks for the guards that the server at `socket` remembers, since that server is not asked, for
/// this reason.
pub(crate) fn block_for_remembered(
    system: &HookSystem,
    socket: &Path,
    reason: &str,
    printer: &mut Printer,
) {
    let Some(file) = guard_file(socket) else { return };
    let reason = format!(
        "a program registered this guard at {}, where it cannot be asked: {reason}; start that program, \
         and `hook serve --socket` in the project, again",
        socket.shown()
    );
    match system.live_clients().block_for_guards_in(&file, &reason) {
        Ok(warnings) => warnings.iter().for_each(|warning| printer.problem(warning)),
        Err(error) => printer.problem(&format!(
            "guards that programs registered at {} cannot be read, and what can be blocked is: {}: {error}; \
             `hook serve --socket` in the project writes them anew",
            socket.shown(),
            file.shown()
        )),
    }
}

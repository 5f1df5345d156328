//! The default socket of a project's server, and those whose guards are saved.

use std::path::{Path, PathBuf};

use hook_files::absence::is_absent;
use hook_files::plain_path::{former_paths, resolved};
use hook_settings::state_home;
use hook_trust::sha256;

use crate::live::guard_file;

/// Returns the socket of a project's own server: in `$XDG_RUNTIME_DIR/hook`, or else in `hook/run`
/// of the user's state directory. The name has the first 16 hexadecimal digits of the SHA-256 of
/// the project's real path. `None` without either directory.
pub fn default_socket_path(project: &Path) -> Option<PathBuf> {
    socket_of(&resolved(project))
}

/// Returns the default sockets of a directory whose servers have saved guards of their clients: its
/// own, and those that it had before it was moved away and a link led there.
pub fn sockets_with_saved_guards(directory: &Path) -> impl Iterator<Item = PathBuf> {
    let sockets = former_paths(directory).into_iter().filter_map(|path| socket_of(&path));
    sockets.filter(move |socket| guard_file(socket).is_some_and(|file| !is_absent(&file)))
}

fn socket_of(project: &Path) -> Option<PathBuf> {
    let runtime = std::env::var_os("XDG_RUNTIME_DIR").map(PathBuf::from);
    let folder = match runtime.filter(|path| path.is_absolute()) {
        Some(runtime) => runtime.join("hook"),
        None => state_home()?.join("hook/run"),
    };
    let name = sha256(project.as_os_str().as_encoded_bytes());
    Some(folder.join(format!("{}.sock", name.get(..16)?)))
}

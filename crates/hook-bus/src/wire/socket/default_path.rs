//! The default socket of a project's server.

use std::path::{Path, PathBuf};

use hook_settings::state_home;
use hook_trust::sha256;

/// Returns the socket of a project's own server: in `$XDG_RUNTIME_DIR/hook`, or else in `hook/run`
/// of the user's state directory. The name has the first 16 hexadecimal digits of the SHA-256 of
/// the project's real path. `None` without either directory.
pub fn default_socket_path(project: &Path) -> Option<PathBuf> {
    let runtime = std::env::var_os("XDG_RUNTIME_DIR").map(PathBuf::from);
    let folder = match runtime.filter(|path| path.is_absolute()) {
        Some(runtime) => runtime.join("hook"),
        None => state_home()?.join("hook/run"),
    };
    let canonical = std::fs::canonicalize(project).ok()?;
    let name = sha256(canonical.as_os_str().as_encoded_bytes());
    Some(folder.join(format!("{}.sock", name.get(..16)?)))
}

//! Finding programs as a shell does.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

/// Checks whether a file exists and is executable by anyone.
#[cfg(unix)]
pub fn is_executable(path: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt;
    path.metadata()
        .is_ok_and(|metadata| metadata.is_file() && metadata.permissions().mode() & 0o111 != 0)
}

/// Checks whether a file exists.
#[cfg(not(unix))]
pub fn is_executable(path: &Path) -> bool {
    path.is_file()
}

/// Returns the program of the given name on a search path, up to the first relative folder.
pub fn find(search_path: &OsStr, name: &str) -> Option<PathBuf> {
    std::env::split_paths(search_path)
        // Relative folders and tildes are left to the shell.
        .take_while(|folder| folder.is_absolute())
        .map(|folder| folder.join(name))
        .find(|candidate| is_executable(candidate))
}

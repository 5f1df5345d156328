//! Finding programs as a shell does.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

/// Whether a file is there and anybody may execute it.
#[cfg(unix)]
pub fn is_executable(path: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt;
    path.metadata()
        .is_ok_and(|metadata| metadata.is_file() && metadata.permissions().mode() & 0o111 != 0)
}

/// Whether a file is there.
#[cfg(not(unix))]
pub fn is_executable(path: &Path) -> bool {
    path.is_file()
}

/// The program of that name on a search path, as far as its folders are absolute.
pub fn find(search_path: &OsStr, name: &str) -> Option<PathBuf> {
    std::env::split_paths(search_path)
        // What is relative or begins with a tilde is bash's to make sense of.
        .take_while(|folder| folder.is_absolute())
        .map(|folder| folder.join(name))
        .find(|candidate| is_executable(candidate))
}

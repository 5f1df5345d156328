//! Paths in their plain form.

use std::io;
use std::path::{Component, Path, PathBuf};

/// Returns the path of an existing file or folder without links, and on Windows without the prefix `\\?\`
/// where it is not needed: programs do not take that, and paths with and without it are different texts.
///
/// # Errors
/// Returns an error if the file or folder cannot be found.
pub fn canonical(path: &Path) -> io::Result<PathBuf> {
    dunce::canonicalize(path)
}

/// Removes `.` and `..` from a path lexically.
pub fn without_dots(path: &Path) -> PathBuf {
    let mut plain = PathBuf::new();
    for component in path.components() {
        match component {
            Component::CurDir => {}
            Component::ParentDir => {
                plain.pop();
            }
            other => plain.push(other),
        }
    }
    plain
}

/// Makes a path absolute and removes `.` and `..`, lexically.
pub fn absolute(path: &Path) -> PathBuf {
    let absolute = std::path::absolute(path).unwrap_or_else(|_| path.to_path_buf());
    without_dots(&absolute)
}

//! Lexical operations on paths, without access to the file system.

use std::path::{Component, Path, PathBuf};

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

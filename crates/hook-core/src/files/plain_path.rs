//! Paths as they are written, without a look at what is there.

use std::path::{Component, Path, PathBuf};

/// A path without `.` and `..`, as it is written.
pub(crate) fn without_dots(path: &Path) -> PathBuf {
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

/// A path as an absolute one, without `.` and `..`.
pub(crate) fn absolute(path: &Path) -> PathBuf {
    let absolute = std::path::absolute(path).unwrap_or_else(|_| path.to_path_buf());
    without_dots(&absolute)
}

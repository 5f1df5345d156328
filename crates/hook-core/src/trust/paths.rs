//! Paths that commands name.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};

pub(super) use crate::files::plain_path::without_dots;

/// What stands for the project's directory in a word: its path need not be a text, and bash can be
/// given no NUL.
pub(super) const PROJECT: char = '\0';

/// The path that a word means to a process in that directory.
pub(super) fn path_of(word: &str, project: &Path, directory: &Path) -> PathBuf {
    let mut path = OsString::new();
    let rest = match word.strip_prefix('~') {
        Some(rest) if rest.is_empty() || rest.starts_with('/') => {
            path.push(home().unwrap_or_else(|| "~".into()));
            rest
        }
        _ => word,
    };
    for (index, part) in rest.split(PROJECT).enumerate() {
        if index > 0 {
            path.push(project);
        }
        path.push(part);
    }
    directory.join(path)
}

pub(super) fn home() -> Option<OsString> {
    std::env::var_os("HOME").filter(|home| !home.is_empty())
}

pub(super) fn same_path(one: &Path, other: &Path) -> bool {
    without_dots(one) == without_dots(other)
}

/// Whether a path is one in the project.
pub(super) fn is_inside(named: &Path, project: &Path) -> bool {
    // By its name, not by where a link leads: what a link of the project leads to is the project's
    // choice, and may change.
    let really =
        || Some(fs::canonicalize(named).ok()?.starts_with(fs::canonicalize(project).ok()?));
    without_dots(named).starts_with(without_dots(project)) || really().unwrap_or(false)
}

/// What tells files apart: the path from the project's directory on, and where it leads.
pub(super) fn key(named: &Path, project: &Path) -> (PathBuf, PathBuf) {
    let target = fs::canonicalize(named).unwrap_or_else(|_| without_dots(named));
    let (plain, plain_project) = (without_dots(named), without_dots(project));
    let path = match plain.strip_prefix(&plain_project) {
        Ok(below) => below.to_path_buf(),
        Err(_) => {
            // The project by another name.
            let real = fs::canonicalize(project).unwrap_or(plain_project);
            target.strip_prefix(real).map(Path::to_path_buf).unwrap_or(plain)
        }
    };
    (path, target)
}

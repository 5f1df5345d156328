//! Paths that commands name.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};

pub(super) use hook_files::plain_path::{resolved, without_dots};

/// The placeholder of the project's directory in a word: its path need not be text, and a word of bash has no NUL.
pub(super) const PROJECT: char = '\0';

/// The path that a word means to a process in that directory.
pub(super) fn word_path(word: &str, project: &Path, directory: &Path) -> PathBuf {
    let mut path = OsString::new();
    for (index, part) in word.split(PROJECT).enumerate() {
        if index > 0 {
            path.push(project);
        }
        path.push(part);
    }
    directory.join(path)
}

pub(super) fn home_dir() -> Option<String> {
    hook_files::user_folders::home()?.into_os_string().into_string().ok()
}

/// A path from the project's folder on, if it is one in the project: by its name, or by where it leads. What
/// a link of the project leads to is the project's choice, and may change.
pub(super) fn relative_to_project(path: &Path, project: &Path) -> Option<PathBuf> {
    let lexical = without_dots(path);
    let by_name = |path: &Path| lexical.strip_prefix(path).ok().map(Path::to_path_buf);
    let by_target = |real: &Path| {
        // It may come into being there.
        resolved(path).strip_prefix(real).ok().map(Path::to_path_buf)
    };
    let found = by_name(&without_dots(project)).or_else(|| {
        let real = fs::canonicalize(project).ok()?;
        by_name(&real).or_else(|| by_target(&real))
    });
    // Names of any case are one file on Windows, and have that of the folder's list here.
    let is_same = |listed: &PathBuf, named: &PathBuf| {
        listed.to_string_lossy().to_lowercase() == named.to_string_lossy().to_lowercase()
    };
    let listed = || by_target(&fs::canonicalize(project).ok()?);
    match found {
        Some(named) if cfg!(windows) => listed().filter(|it| is_same(it, &named)).or(Some(named)),
        found => found,
    }
}

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

/// Returns a path without links, whose end need not exist.
pub fn resolved(path: &Path) -> PathBuf {
    let path = std::path::absolute(path).unwrap_or_else(|_| path.to_path_buf());
    let real = path.ancestors().find_map(|ancestor| {
        let (real, rest) = (canonical(ancestor).ok()?, path.strip_prefix(ancestor).ok()?);
        Some(if rest.as_os_str().is_empty() { real } else { without_dots(&real.join(rest)) })
    });
    real.unwrap_or_else(|| without_dots(&path))
}

/// Returns the paths that a folder may have had before a part of its path became a link: the path without
/// links, and for each link on the path as it is written, the path of that link with the rest behind it.
pub fn former_paths(path: &Path) -> Vec<PathBuf> {
    let written = std::path::absolute(path).unwrap_or_else(|_| path.to_path_buf());
    let mut paths = vec![resolved(&written)];
    if paths.first() == Some(&written) {
        return paths;
    }
    for link in written.ancestors().filter(|ancestor| ancestor.is_symlink()) {
        if let (Some(parent), Some(name), Ok(rest)) =
            (link.parent(), link.file_name(), written.strip_prefix(link))
        {
            paths.push(without_dots(&resolved(parent).join(name).join(rest)));
        }
    }
    paths
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

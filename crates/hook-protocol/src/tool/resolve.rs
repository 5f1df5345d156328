//! Resolves paths: absolute, with symlinks followed.

use std::path::{Component, Path, PathBuf};

use percent_encoding::percent_decode_str;

/// The maximum number of dangling symlinks to follow.
const MAX_DANGLING: u32 = 64;

/// Resolves `.`, `..` and symlinks as far as the path exists; the missing rest is added as written.
pub fn resolve_path(path: &str, directory: &Path) -> PathBuf {
    let path = absolute(path, directory);
    follow(std::path::absolute(&path).unwrap_or(path), MAX_DANGLING)
}

/// Returns an absolute path. A relative path starts at `directory`, `~/` at the user's home
/// directory; a `file://` URI is converted to its path.
pub(super) fn absolute(path: &str, directory: &Path) -> PathBuf {
    let uri_path = path_of_uri(path);
    let path = uri_path.as_deref().unwrap_or(path);
    let home = path.strip_prefix("~/").and_then(|rest| Some(std::env::home_dir()?.join(rest)));
    home.unwrap_or_else(|| directory.join(path))
}

/// Returns an absolute path without `.` and `..`; symlinks stay.
pub(super) fn normalize_path(path: &str, directory: &Path) -> PathBuf {
    let path = absolute(path, directory);
    append_components(PathBuf::new(), path.components())
}

/// Resolves a path, whose form with symlinks is `plain`. A target inside of the directory is
/// returned below `directory`, even if that is a symlink itself.
pub(super) fn resolve_links(path: &str, plain: &Path, directory: &Path) -> PathBuf {
    let target = resolve_path(path, directory);
    // Most paths have no symlinks.
    if target == plain {
        return target;
    }
    match target.strip_prefix(resolve_path("", directory)) {
        Ok(relative) if relative.as_os_str().is_empty() => directory.to_path_buf(),
        Ok(relative) => directory.join(relative),
        Err(_) => target,
    }
}

/// Returns `true` if a path is absolute and normalized, with no symlinks.
pub(super) fn is_resolved(path: &str, directory: &Path) -> bool {
    let plain = normalize_path(path, directory);
    plain.as_os_str() == path && resolve_links(path, &plain, directory) == plain
}

/// Returns the local path of a `file://` URI.
pub fn path_of_uri(uri: &str) -> Option<String> {
    let (scheme, rest) = uri.split_once("://")?;
    let rest = Some(rest).filter(|_| scheme.eq_ignore_ascii_case("file"))?;
    let path = rest.get(rest.find('/')?..)?;
    Some(percent_decode_str(path).decode_utf8_lossy().into_owned())
}

fn follow(path: PathBuf, links_left: u32) -> PathBuf {
    // The file system resolves the longest existing part: `..` after a symlink is not lexical.
    let mut rest: Vec<Component<'_>> = Vec::new();
    let mut existing = path.components();
    loop {
        if let Ok(real) = existing.as_path().canonicalize() {
            return append_components(real, rest.into_iter().rev());
        }
        // Writing to a dangling symlink creates its target.
        if let Ok(target) = existing.as_path().read_link()
            && links_left > 0
        {
            let parent = existing.as_path().parent().unwrap_or(existing.as_path());
            return follow(
                append_components(parent.join(target), rest.into_iter().rev()),
                links_left - 1,
            );
        }
        match existing.next_back() {
            Some(component) => rest.push(component),
            None => return path,
        }
    }
}

/// Appends components that do not exist.
fn append_components<'p>(mut path: PathBuf, rest: impl Iterator<Item = Component<'p>>) -> PathBuf {
    for component in rest {
        match component {
            Component::ParentDir => drop(path.pop()),
            Component::CurDir => {}
            other => path.push(other),
        }
    }
    path
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    #[test]
    fn links_are_resolved_as_far_as_files_exist() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        std::fs::create_dir(root.join("real")).unwrap();
        std::os::unix::fs::symlink(root.join("real"), root.join("link")).unwrap();
        std::os::unix::fs::symlink("gone", root.join("dangling")).unwrap();
        for (path, expected) in [
            ("link/new/file", "real/new/file"),
            ("link/../a", "a"),
            ("gone/../a", "a"),
            ("./link", "real"),
            ("dangling", "gone"),
            ("dangling/a", "gone/a"),
        ] {
            assert_eq!(resolve_path(path, &root), root.join(expected), "{path}");
        }
        assert_eq!(resolve_path("/", &root), Path::new("/"));
        for uri in ["file:///a%20b/.env", "FILE://localhost/a%20b/%2eenv"] {
            assert_eq!(resolve_path(uri, &root), Path::new("/a b/.env"), "{uri}");
        }
    }
}

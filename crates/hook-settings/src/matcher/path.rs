//! Paths as text: made absolute against a directory, and normalized lexically. The file system is
//! not accessed, so symbolic links are not followed.

use std::borrow::Cow;

/// `true` on systems whose names are usually the same in any case.
pub(super) const IGNORES_CASE: bool = cfg!(any(windows, target_os = "macos"));

/// Returns a path with `/` between its components, on every system.
pub(super) fn with_slashes(path: &str) -> Cow<'_, str> {
    match cfg!(windows) {
        true => of_windows(path),
        false => Cow::Borrowed(path),
    }
}

/// Returns a path of Windows with `/` between its components and one spelling of each name:
/// `a\.env::$DATA`, `a\.env. ` and `\\?\C:\a\.env` open the file `.env`, as its plain name does.
fn of_windows(path: &str) -> Cow<'_, str> {
    let slashed = match path.contains('\\') {
        true => Cow::Owned(path.replace('\\', "/")),
        false => Cow::Borrowed(path),
    };
    let device = ["//?/", "//./"].iter().find_map(|prefix| slashed.strip_prefix(prefix));
    let plain = device.unwrap_or(&slashed);
    let has_drive = plain.get(1..2) == Some(":");
    let is_plain = |(index, name): (usize, &str)| {
        let names_stream = name.contains(':') && !(index == 0 && has_drive);
        let is_cut = name.ends_with(['.', ' ']) && name != "." && name != "..";
        !names_stream && !is_cut
    };
    if device.is_none() && plain.split('/').enumerate().all(is_plain) {
        return slashed;
    }
    let names = plain.split('/').enumerate().map(|(index, name)| {
        let drive = if index == 0 && has_drive { 2 } else { 0 };
        let (drive, name) = name.split_at(drive);
        let name = name.split(':').next().unwrap_or(name);
        let trimmed =
            if matches!(name, "." | "..") { name } else { name.trim_end_matches(['.', ' ']) };
        format!("{drive}{trimmed}")
    });
    Cow::Owned(names.collect::<Vec<_>>().join("/"))
}

/// Returns `true` if a path begins at a root: `/`, or a drive on Windows.
pub(super) fn is_absolute(path: &str) -> bool {
    path.starts_with('/') || !drive(path).is_empty()
}

/// Returns the drive that a Windows path begins with, such as `C:`.
fn drive(path: &str) -> &str {
    let is_drive = |prefix: &str| {
        prefix.ends_with(':') && prefix.starts_with(|letter: char| letter.is_ascii_alphabetic())
    };
    path.get(..2).filter(|prefix| cfg!(windows) && is_drive(prefix)).unwrap_or_default()
}

/// Returns a path as seen from an absolute directory.
pub(super) fn absolute(path: &str, directory: &str) -> String {
    if is_absolute(path) {
        return path.to_owned();
    }
    let joint = if directory.ends_with('/') { "" } else { "/" };
    format!("{directory}{joint}{path}")
}

/// Removes `.`, `..`, doubled slashes and a trailing slash from an absolute path. `..` at the root
/// is the root.
pub(super) fn normalized(path: &str) -> String {
    let drive = drive(path);
    let mut components: Vec<&str> = Vec::new();
    for component in path.get(drive.len()..).unwrap_or_default().split('/') {
        match component {
            "" | "." => {}
            ".." => drop(components.pop()),
            name => components.push(name),
        }
    }
    let mut normalized = String::with_capacity(path.len() + 1);
    normalized.push_str(drive);
    for component in &components {
        normalized.push('/');
        normalized.push_str(component);
    }
    if components.is_empty() {
        normalized.push('/');
    }
    normalized
}

/// Returns the directory `levels` above a normalized one, or the root if there are fewer.
pub(super) fn ancestor(directory: &str, levels: usize) -> &str {
    let mut ancestor = directory;
    for _ in 0..levels {
        match ancestor.rsplit_once('/') {
            Some((above, _)) if !above.is_empty() => ancestor = above,
            _ => return ancestor.get(..1).unwrap_or("/"),
        }
    }
    ancestor
}

/// Returns the rest of a path that is inside a directory, or is that directory.
pub(super) fn strip_directory<'p>(path: &'p str, directory: &str) -> Option<&'p str> {
    let directory = directory.trim_end_matches('/');
    let rest = path.strip_prefix(directory).or_else(|| {
        let (begin, rest) = path.split_at_checked(directory.len())?;
        (IGNORES_CASE && begin.to_lowercase() == directory.to_lowercase()).then_some(rest)
    })?;
    if rest.is_empty() { Some(rest) } else { rest.strip_prefix('/') }
}

/// Returns the last component; empty for the root.
pub(super) fn name(path: &str) -> &str {
    let path = path.trim_end_matches('/');
    path.rsplit_once('/').map_or(path, |(_, name)| name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn paths_are_normalised_as_texts() {
        for (path, expected) in [
            ("/", "/"),
            ("", "/"),
            ("/a/b", "/a/b"),
            ("//a///b/", "/a/b"),
            ("/a/./b/.", "/a/b"),
            ("/a/../.env", "/.env"),
            ("/../../a", "/a"),
            ("/a/b/../../..", "/"),
            ("/a/...", "/a/..."),
        ] {
            assert_eq!(normalized(path), expected, "{path}");
        }
    }

    #[test]
    fn a_file_of_windows_has_one_spelling() {
        for (path, expected) in [
            (r"C:\a\.env", "C:/a/.env"),
            (r"\\?\C:\a\.env", "C:/a/.env"),
            (r"\\.\C:\a\.env", "C:/a/.env"),
            (r"C:\a\.env::$DATA", "C:/a/.env"),
            (r"C:\a.\.env. .", "C:/a/.env"),
            (".env:stream", ".env"),
            ("C:.env ", "C:.env"),
            (r"..\.\a", ".././a"),
            ("/größe/b", "/größe/b"),
        ] {
            assert_eq!(of_windows(path), expected, "{path}");
        }
    }

    #[test]
    fn directories_are_found_above_and_below() {
        assert_eq!(ancestor("/a/b/c", 0), "/a/b/c");
        assert_eq!(ancestor("/a/b/c", 2), "/a");
        assert_eq!(ancestor("/a/b/c", 3), "/");
        assert_eq!(ancestor("/a/b/c", 9), "/");
        assert_eq!(ancestor("/", 1), "/");
        assert_eq!(strip_directory("/a/b", "/a"), Some("b"));
        assert_eq!(strip_directory("/a", "/a"), Some(""));
        assert_eq!(strip_directory("/ab", "/a"), None);
        assert_eq!(strip_directory("/a", "/"), Some("a"));
        assert_eq!(strip_directory("/", "/"), Some(""));
        assert_eq!(name("/a/.env/"), ".env");
        assert_eq!(name(".env"), ".env");
        assert_eq!(name("/"), "");
    }

    #[test]
    #[cfg(not(windows))]
    fn a_backslash_is_a_letter_of_a_name() {
        assert_eq!(with_slashes(r"a\b"), r"a\b");
        assert!(!is_absolute(r"C:\a"));
        assert!(!is_absolute("C:/a"));
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn what_is_normalised_is_absolute_and_stays(path in "(\\.|\\.\\.|/|a|é|\\PC){0,20}") {
            let once = normalized(&absolute(&with_slashes(&path), "/w"));
            prop_assert!(once.starts_with('/'));
            prop_assert!(!once.split('/').any(|part| part == "." || part == ".."));
            prop_assert!(!once.contains("//"));
            prop_assert_eq!(normalized(&once), once.as_str());
            let _ = (ancestor(&once, path.len()), strip_directory(&path, &once), name(&path));
        }
    }
}

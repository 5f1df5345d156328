//! Folders and files that `find` looks for.

use super::argument::UNKNOWN_TEXT;
use super::invocation::Invocation;

/// Returns the folders that `find` looks in.
pub(super) fn roots(invocation: &Invocation) -> Vec<&str> {
    let is_option = |text: &&str| {
        matches!(*text, "-L" | "-H" | "-P") || text.starts_with("-O") || text.starts_with("-D")
    };
    let roots = invocation.texts().skip_while(is_option);
    let roots: Vec<&str> = roots.take_while(|text| !text.starts_with(['-', '(', '!'])).collect();
    if roots.is_empty() { vec!["."] } else { roots }
}

/// Returns the paths that `find` may find: in each folder, those of its `-name`s. `None` if there are too many.
pub(super) fn found_paths(invocation: &Invocation) -> Option<Vec<String>> {
    const MAX_PATHS: usize = 64;
    let mut names = invocation.option_values(&["-name", "-iname"]);
    if names.is_empty() {
        names.push(UNKNOWN_TEXT);
    }
    let roots = roots(invocation);
    if roots.len().saturating_mul(names.len()) > MAX_PATHS {
        return None;
    }
    let folders = roots.into_iter().map(|root| root.strip_suffix('/').unwrap_or(root));
    let paths = folders.flat_map(|folder| names.iter().map(move |name| format!("{folder}/{name}")));
    Some(paths.collect())
}

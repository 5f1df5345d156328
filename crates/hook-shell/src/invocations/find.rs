//! Folders and files that `find` looks for.

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

/// Returns the paths that `find` may find: in each folder, those of its `-name`s.
pub(super) fn found_paths(invocation: &Invocation) -> Vec<String> {
    let mut names = invocation.option_values(&["-name", "-iname"]);
    if names.is_empty() {
        names.push("\u{fffc}");
    }
    let mut paths = Vec::new();
    for root in roots(invocation).into_iter().take(8) {
        let folder = root.strip_suffix('/').unwrap_or(root);
        paths.extend(names.iter().take(8).map(|name| format!("{folder}/{name}")));
    }
    paths
}

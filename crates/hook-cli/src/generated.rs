//! Files that are generated from the code and committed.

use std::path::{Path, PathBuf};

/// The variable that, set to 1, makes tests write the generated files instead of comparing them.
const GENERATE: &str = "HOOK_GENERATE";

/// Asserts that a file of the workspace equals the generated text.
pub(crate) fn is_up_to_date(path: &str, generated: &str) {
    let file = in_workspace(path);
    if std::env::var_os(GENERATE).is_some_and(|value| value == "1") {
        std::fs::create_dir_all(file.parent().unwrap()).unwrap();
        std::fs::write(&file, generated).unwrap();
    }
    let committed = std::fs::read_to_string(&file).unwrap_or_default();
    assert!(
        committed == generated,
        "{path} is not what the code says now; `{GENERATE}=1 cargo test -p hook-cli` writes it"
    );
}

/// Asserts that a part of a file, from `head` to the next empty line, equals the generated text.
pub(crate) fn part_is_up_to_date(path: &str, head: &str, generated: &str) {
    let text = std::fs::read_to_string(in_workspace(path)).unwrap();
    let (before, rest) = text.split_once(head).unwrap();
    let end = rest.find("\n\n").map_or(rest.len(), |end| end + 1);
    is_up_to_date(path, &format!("{before}{head}{generated}{}", &rest[end..]));
}

fn in_workspace(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(path)
}

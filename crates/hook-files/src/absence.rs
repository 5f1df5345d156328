//! Checks for absent files.

use std::path::Path;
use std::{fs, io};

/// Checks whether nothing is at a path. A dangling symlink counts as present, also as a parent:
/// something was meant to be here.
pub fn is_absent(path: &Path) -> bool {
    match fs::symlink_metadata(path) {
        Ok(_) => false,
        Err(error) => error.kind() == io::ErrorKind::NotFound && !is_below_dangling_link(path),
    }
}

/// Checks whether the nearest existing ancestor is a dangling symlink.
fn is_below_dangling_link(path: &Path) -> bool {
    let ancestors = path.ancestors().skip(1);
    let mut found =
        ancestors.filter_map(|ancestor| Some((ancestor, fs::symlink_metadata(ancestor).ok()?)));
    found
        .next()
        .is_some_and(|(ancestor, found)| found.is_symlink() && fs::metadata(ancestor).is_err())
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;

    #[test]
    fn a_link_that_leads_nowhere_is_not_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        fs::create_dir(at("there")).unwrap();
        symlink(at("there"), at("link")).unwrap();
        symlink(at("gone"), at("broken")).unwrap();
        fs::write(at("file"), "").unwrap();
        for (name, absent) in [
            ("there", false),
            ("there/x", true),
            ("x/y/z", true),
            ("link/x/y", true),
            ("broken", false),
            ("broken/x", false),
            ("broken/x/y", false),
            // Not absent either: it cannot be read.
            ("file/x", false),
        ] {
            assert_eq!(is_absent(&at(name)), absent, "{name}");
        }
        assert!(is_absent(Path::new("nothing-of-this-name/x")));
    }
}

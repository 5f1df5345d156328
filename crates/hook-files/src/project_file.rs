//! Checks for files written into a project: a symlink could lead to someone else's file.

use std::io;
use std::path::Path;

use hook_json::text::PathText;

/// Checks that a file of a project can be changed. A symlink within the project is allowed.
///
/// # Errors
/// If a symlink leads out of the project, or dangles.
pub fn check_inside(project: &Path, path: &Path) -> io::Result<()> {
    let real = |path: &Path| path.canonicalize();
    match (real(project), real(path)) {
        (Ok(project), Ok(path)) if path.starts_with(&project) => Ok(()),
        _ => check(project, path),
    }
}

/// Checks that neither a file of a project nor a folder on its path is a symlink.
///
/// # Errors
/// If one is a symlink; the error names it.
pub fn check(project: &Path, path: &Path) -> io::Result<()> {
    let inside = path.ancestors().take_while(|part| *part != project);
    match inside.filter(|part| part.is_symlink()).last() {
        None => Ok(()),
        Some(link) => Err(io::Error::new(
            io::ErrorKind::InvalidInput,
            format!(
                "{} is a link, and might lead out of the project; nothing was written",
                link.shown()
            ),
        )),
    }
}

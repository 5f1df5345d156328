//! Files that are written into a project: by no link of it, which could lead to a file of somebody else.

use std::io;
use std::path::Path;

use crate::text::PathText;

/// Whether a file of a project can be changed where it is: a link that stays in the project stays a link.
///
/// # Errors
/// When a link leads out of the project, or to nothing.
pub fn check_inside(project: &Path, path: &Path) -> io::Result<()> {
    let real = |path: &Path| path.canonicalize();
    match (real(project), real(path)) {
        (Ok(project), Ok(path)) if path.starts_with(&project) => Ok(()),
        _ => check(project, path),
    }
}

/// Whether a file of a project can be written: neither it nor a folder below the project is a link.
///
/// # Errors
/// When one is; the error names it.
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

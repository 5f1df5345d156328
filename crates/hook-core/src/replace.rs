//! Replacing a file as a whole, so that a reader or a crash never finds half of it.

use std::fs;
use std::io::{self, Write};
use std::path::Path;

/// Replaces the content of a file that exists: a temporary file in the same folder is written,
/// synchronised and renamed. Permissions stay, and a link stays a link.
///
/// # Errors
/// When the file holds something else than `before` by now (`ResourceBusy`), or when something
/// cannot be read or written. Then it is as it was.
pub fn replace_file(path: &Path, before: &[u8], after: &[u8]) -> io::Result<()> {
    let path = fs::canonicalize(path)?;
    let folder = path.parent().unwrap_or(Path::new("/"));
    let mut file = tempfile::NamedTempFile::new_in(folder)?;
    file.as_file().set_permissions(fs::metadata(&path)?.permissions())?;
    file.write_all(after)?;
    file.as_file().sync_all()?;
    if fs::read(&path)? != before {
        let changed = "it was changed in the meantime";
        return Err(io::Error::new(io::ErrorKind::ResourceBusy, changed));
    }
    file.persist(&path)?;
    Ok(())
}

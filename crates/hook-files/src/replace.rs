//! Replaces a file as a whole, so that neither a reader nor a crash sees a partial one.

use std::path::Path;
use std::{fs, io};

use crate::atomic::{NewFile, ReplaceLock, ReplaceOutcome};

/// Replaces the content of an existing file, under the engine's lock for it: a temporary file in
/// the same folder is written, synchronised and renamed. Permissions stay, the owner stays if the
/// system allows that, and a symlink stays a symlink.
///
/// # Errors
/// If the file no longer contains `before` (`ResourceBusy`), or something cannot be read or
/// written. The file is then unchanged.
pub fn replace_file(path: &Path, before: &[u8], after: &[u8]) -> io::Result<()> {
    fs::metadata(path)?;
    let file = ReplaceLock::acquire(path).map_err(|error| error.source)?;
    match file.replace(Some(before), after, NewFile::Ordinary).map_err(|error| error.source)? {
        ReplaceOutcome::Replaced => Ok(()),
        ReplaceOutcome::Conflict => {
            let message = "it was changed in the meantime";
            Err(io::Error::new(io::ErrorKind::ResourceBusy, message))
        }
    }
}

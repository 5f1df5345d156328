//! Replacing a file as a whole, so that a reader or a crash never finds half of it.

use std::fs;
use std::io;
use std::path::Path;

use crate::files::atomic::{Exclusive, NewFile, Replaced};

/// Replaces the content of a file that exists, under the lock that others of the engine wait for: a
/// temporary file in the same folder is written, synchronised and renamed. Permissions stay, the
/// owner where the system lets it, and a link stays a link.
///
/// # Errors
/// When the file holds something else than `before` by now (`ResourceBusy`), or when something
/// cannot be read or written. Then it is as it was.
pub fn replace_file(path: &Path, before: &[u8], after: &[u8]) -> io::Result<()> {
    fs::metadata(path)?;
    let file = Exclusive::wait(path).map_err(|failed| failed.source)?;
    match file.replace(Some(before), after, NewFile::Ordinary).map_err(|failed| failed.source)? {
        Replaced::Done => Ok(()),
        Replaced::ChangedMeanwhile => {
            let changed = "it was changed in the meantime";
            Err(io::Error::new(io::ErrorKind::ResourceBusy, changed))
        }
    }
}

//! Folders that only their owner can enter.

use std::fs::DirBuilder;
use std::io;
use std::path::Path;

/// Creates a folder and its parents for the owner only. An existing folder stays as it is.
///
/// # Errors
/// If the folder cannot be created.
pub fn make(folder: &Path) -> io::Result<()> {
    let mut builder = DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(folder)
}

/// Checks that a folder is the user's and no one else may change its content.
///
/// # Errors
/// If others may change it, or that cannot be determined.
#[cfg(unix)]
pub fn check(folder: &Path) -> io::Result<()> {
    use std::os::unix::fs::MetadataExt;
    const STICKY: u32 = 0o1000;
    let user = rustix::process::geteuid().as_raw();
    let is_changed_by_others = |mode: u32| mode & 0o022 != 0;
    // A user who may change the parent folder can replace this one, except in a folder such as `/tmp`.
    let is_safe_parent = |parent: &Path| {
        let found = std::fs::symlink_metadata(parent)?;
        let is_trusted = found.uid() == user || found.uid() == 0;
        let is_kept = !is_changed_by_others(found.mode()) || found.mode() & STICKY != 0;
        Ok::<_, io::Error>(found.is_dir() && is_trusted && is_kept)
    };
    let found = std::fs::symlink_metadata(folder)?;
    let is_private = found.is_dir() && found.uid() == user && !is_changed_by_others(found.mode());
    match is_private && folder.parent().map_or(Ok(true), is_safe_parent)? {
        true => Ok(()),
        false => {
            let message = "others than its user may change what is in it";
            Err(io::Error::new(io::ErrorKind::PermissionDenied, message))
        }
    }
}

/// Checks that a folder exists; this system has no permissions to check.
///
/// # Errors
/// If it does not exist.
#[cfg(not(unix))]
pub fn check(folder: &Path) -> io::Result<()> {
    folder.metadata().map(|_| ())
}

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
    let is_private = |folder: &Path| {
        let metadata = std::fs::symlink_metadata(folder)?;
        let is_own = metadata.uid() == rustix::process::geteuid().as_raw();
        Ok::<_, io::Error>(metadata.is_dir() && is_own && metadata.mode() & 0o022 == 0)
    };
    // A user who may change the parent folder can replace this one.
    let is_parent_private = folder.parent().map_or(Ok(true), is_private)?;
    match is_parent_private && is_private(folder)? {
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

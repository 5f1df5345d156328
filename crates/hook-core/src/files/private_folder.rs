//! Folders that only their owner can enter.

use std::fs::DirBuilder;
use std::io;
use std::path::Path;

/// Makes a folder, with those around it, that only its owner can enter. One that is there stays as it is.
///
/// # Errors
/// When it cannot be made.
pub fn make(folder: &Path) -> io::Result<()> {
    let mut builder = DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(folder)
}

/// Whether a folder is the user's, and nobody else may change what is in it.
///
/// # Errors
/// When it is not, or that cannot be found out.
#[cfg(unix)]
pub fn check(folder: &Path) -> io::Result<()> {
    use std::os::unix::fs::MetadataExt;
    let is_private = |folder: &Path| {
        let metadata = std::fs::symlink_metadata(folder)?;
        let is_own = metadata.uid() == rustix::process::geteuid().as_raw();
        Ok::<_, io::Error>(metadata.is_dir() && is_own && metadata.mode() & 0o022 == 0)
    };
    // Who may change the folder around it may put another in its place.
    let around = folder.parent().map_or(Ok(true), is_private)?;
    match around && is_private(folder)? {
        true => Ok(()),
        false => {
            let message = "others than its user may change what is in it";
            Err(io::Error::new(io::ErrorKind::PermissionDenied, message))
        }
    }
}

/// Whether a folder is the user's, and nobody else may change what is in it.
///
/// # Errors
/// When it is not a folder.
#[cfg(not(unix))]
pub fn check(folder: &Path) -> io::Result<()> {
    folder.metadata().map(|_| ())
}

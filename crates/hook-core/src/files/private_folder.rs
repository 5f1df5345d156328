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

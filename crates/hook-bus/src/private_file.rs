//! Files that only their owner can read.

use std::fs;
use std::io::{self, Write};
use std::path::Path;

use hook_files::{private_folder, regular_file};

/// Replaces the file at `path` atomically with one that only its owner can read.
pub(crate) fn write(path: &Path, text: &[u8]) -> io::Result<()> {
    let folder = path.parent().unwrap_or(Path::new("/"));
    private_folder::make(folder)?;
    // Each of several concurrent writers has its own temporary file.
    let staged = path.with_extension(format!("{}.new", uuid::Uuid::new_v4().simple()));
    let written = regular_file::append(&staged).and_then(|mut file| file.write_all(text));
    let renamed = written.and_then(|()| hook_files::atomic::rename(&staged, path));
    if renamed.is_err() {
        let _ = fs::remove_file(&staged);
    }
    renamed
}

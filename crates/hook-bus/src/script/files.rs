//! Finding scenario files.

use std::io;
use std::path::{Path, PathBuf};

use hook_core::text::PathText;

/// Why scenario files could not be found.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ScenarioFilesError {
    /// A file or folder cannot be read.
    #[error("failed to read {}: {source}", path.shown())]
    Read {
        /// The file or folder.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// A folder has no scenario in it.
    #[error("there is no *.toml file in or below {}", path.shown())]
    None {
        /// The folder.
        path: PathBuf,
    },
}

/// The scenario files that a path stands for, by name: the file itself, or every `*.toml` in and
/// below a folder. Hidden files and folders are left out, and links to folders not followed.
///
/// # Errors
/// When the path or a folder below it cannot be read, or no scenario is in it.
pub fn scenario_files(path: &Path) -> Result<Vec<PathBuf>, ScenarioFilesError> {
    let read = |source| ScenarioFilesError::Read { path: path.to_path_buf(), source };
    if !std::fs::metadata(path).map_err(read)?.is_dir() {
        return Ok(vec![path.to_path_buf()]);
    }
    let mut files = Vec::new();
    let mut folders = vec![path.to_path_buf()];
    while let Some(folder) = folders.pop() {
        let read = |source| ScenarioFilesError::Read { path: folder.clone(), source };
        for entry in std::fs::read_dir(&folder).map_err(read)? {
            let entry = entry.map_err(read)?;
            if entry.file_name().as_encoded_bytes().starts_with(b".") {
                continue;
            }
            let path = entry.path();
            let path = path.strip_prefix(".").map_or(path.clone(), Path::to_path_buf);
            if entry.file_type().map_err(read)?.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "toml") {
                files.push(path);
            }
        }
    }
    files.sort();
    match files.is_empty() {
        true => Err(ScenarioFilesError::None { path: path.to_path_buf() }),
        false => Ok(files),
    }
}

//! Finding scenario files.

use std::io;
use std::path::{Path, PathBuf};

use hook_json::text::PathText;

/// An error of finding scenario files.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ScenarioFilesError {
    /// A file or directory cannot be read.
    #[error("failed to read {}: {source}", path.shown())]
    Read {
        /// The file or directory.
        path: PathBuf,
        /// The system's error.
        source: io::Error,
    },
    /// A directory has no scenario in it.
    #[error("there is no *.toml file in or below {}", path.shown())]
    None {
        /// The directory.
        path: PathBuf,
    },
}

/// Returns the scenario files of a path, sorted by name: the file itself, or every `*.toml` in and
/// below a directory. Hidden files and directories are skipped, and links to directories not
/// followed.
///
/// # Errors
/// If the path or a directory below it cannot be read, or has no scenario.
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

//! Edits of settings files that leave every other byte as it is: order, indentation, line ends,
//! numbers, duplicates, comments.
//!
//! The engine's own parser locates the values. Comments stay, also in a list that is edited. Text
//! that the engine does not accept is not edited. `set_hook_enabled` edits a text,
//! [`set_hook_enabled_in_file`] a file; [`with_definitions`] adds hooks.

mod add;
mod text;

use std::path::{Path, PathBuf};
use std::{fmt, io};

pub use add::{NewDefinition, missing_definitions, with_definitions};
pub(crate) use text::set_hook_enabled;
pub use text::with_server;

use super::Location;
use super::document::Document;
use super::load::read_file;
pub use hook_files::atomic::{FileError, NewFile, ReplaceLock, ReplaceOutcome, none_if_missing};
use hook_json::text::PathText;

/// The number of attempts to edit a file that another program keeps changing.
const ATTEMPTS: usize = 8;

/// The error of an edit; the settings file is unchanged.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum EditError {
    /// The text cannot be edited.
    #[error(transparent)]
    NotEditable(Box<NotEditable>),
    /// The file could not be read or written.
    #[error("failed to {attempt} the settings file {}: {source}{}", path.shown(), advice(source))]
    Io {
        /// The attempted action.
        attempt: &'static str,
        /// The file.
        path: PathBuf,
        /// The operating system's error.
        source: io::Error,
    },
    /// Another program, such as an editor, kept changing the file.
    #[error(
        "failed to edit the settings file {}: something else keeps changing it; try again when \
         nothing does", .0.shown()
    )]
    Contested(PathBuf),
}

fn advice(error: &io::Error) -> &'static str {
    match error.kind() {
        io::ErrorKind::PermissionDenied => "; a user who may write there can do it",
        _ => "",
    }
}

/// The part of a settings text that prevents an edit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NotEditable {
    /// The location.
    pub location: Location,
    /// The problem.
    pub message: String,
}

impl fmt::Display for NotEditable {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            formatter,
            "failed to edit {}: {}; fix that first; nothing was written",
            self.location, self.message
        )
    }
}

impl NotEditable {
    /// Creates the error for a range of bytes.
    pub fn at(text: &str, range: std::ops::Range<usize>, message: impl Into<String>) -> Box<Self> {
        let location = Document::new(text, None).location_at(range, String::new());
        Box::new(Self { location, message: message.into() })
    }
}

impl std::error::Error for NotEditable {}

/// A settings file before and after an edit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileChange {
    /// The file.
    pub path: PathBuf,
    /// The text before the edit; empty if the file did not exist.
    pub before: String,
    /// The text after the edit.
    pub after: String,
}

impl FileChange {
    /// Returns `true` if the text changes.
    pub fn is_change(&self) -> bool {
        self.before != self.after
    }
}

/// An edit of a text; the argument is `None` if the file does not exist.
pub type Edit<'e> = dyn Fn(Option<&str>) -> Result<String, Box<NotEditable>> + 'e;

/// The effect of an edit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EditMode {
    /// The file is written.
    Write,
    /// Nothing is written.
    Preview,
}

/// The handling of a missing file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AbsentFile {
    /// The file is created.
    Create,
    /// An error is returned.
    Refuse,
}

/// Adds a hook's name to the `disabled` list of a settings file, or removes it.
///
/// The file is replaced as a whole, under a lock that other calls of this function wait for. Its
/// permissions are kept, and a symlink stays a symlink. If a program changes the file without the
/// lock, its change is not lost: the edit starts over with the new text.
///
/// # Errors
/// Returns an error if the file cannot be read or written, is not JSON, or has another value in the
/// position of the list.
pub fn set_hook_enabled_in_file(
    path: &Path,
    name: &str,
    enabled: bool,
    absent: AbsentFile,
    mode: EditMode,
) -> Result<FileChange, EditError> {
    edit_file(path, absent, mode, &|text| match text {
        Some(text) => set_hook_enabled(text, name, enabled),
        None if enabled => Ok(String::new()),
        None => Ok(set_hook_enabled("{}\n", name, enabled).unwrap_or_default()),
    })
}

/// Edits a file, as `set_hook_enabled_in_file` does. A missing file is passed as `None`; it is not created
/// if the new text is empty.
///
/// # Errors
/// Returns an error if the file cannot be read or written, or the edit fails.
pub fn edit_file(
    path: &Path,
    absent: AbsentFile,
    mode: EditMode,
    edit: &Edit<'_>,
) -> Result<FileChange, EditError> {
    let io = |failed: FileError| EditError::Io {
        attempt: failed.attempt,
        path: path.to_path_buf(),
        source: failed.source,
    };
    if mode == EditMode::Preview {
        return Ok(read_and_edit(path, path, absent, edit)?.1);
    }
    let file = ReplaceLock::acquire(path).map_err(io)?;
    for _ in 0..ATTEMPTS {
        let (before, change) = read_and_edit(path, file.path(), absent, edit)?;
        if !change.is_change() {
            return Ok(change);
        }
        let after = change.after.as_bytes();
        match file.replace(before.as_deref(), after, NewFile::Ordinary).map_err(io)? {
            ReplaceOutcome::Replaced => return Ok(change),
            ReplaceOutcome::Conflict => {}
        }
    }
    Err(EditError::Contested(path.to_path_buf()))
}

/// Returns the file's bytes and the change to make.
fn read_and_edit(
    path: &Path,
    real: &Path,
    absent: AbsentFile,
    edit: &Edit<'_>,
) -> Result<(Option<Vec<u8>>, FileChange), EditError> {
    let failed = |source| EditError::Io { attempt: "read", path: path.to_path_buf(), source };
    let bytes = match absent {
        AbsentFile::Create => none_if_missing(read_file(real)),
        AbsentFile::Refuse => read_file(real).map(Some),
    };
    let bytes = bytes.map_err(failed)?;
    let mut change =
        FileChange { path: path.to_path_buf(), before: String::new(), after: String::new() };
    let failed = |mut problem: Box<NotEditable>| {
        problem.location.file = Some(path.to_path_buf().into());
        EditError::NotEditable(problem)
    };
    let Some(bytes) = bytes else {
        change.after = edit(None).map_err(failed)?;
        return Ok((None, change));
    };
    change.before = match String::from_utf8(bytes.clone()) {
        Ok(text) => text,
        Err(error) => {
            let valid = bytes.get(..error.utf8_error().valid_up_to()).unwrap_or_default();
            let line = valid.iter().filter(|byte| **byte == b'\n').count() + 1;
            let location = Location {
                file: Some(path.to_path_buf().into()),
                line,
                column: 1,
                ..Location::default()
            };
            let message = "the line is not UTF-8 text".to_owned();
            return Err(EditError::NotEditable(Box::new(NotEditable { location, message })));
        }
    };
    change.after = edit(Some(&change.before)).map_err(failed)?;
    Ok((Some(bytes), change))
}

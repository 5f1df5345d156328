//! Switching hooks on and off in a settings file, and leaving every other byte of it as it is:
//! order, indentation, line ends, numbers, duplicates.
//!
//! The text is read by the engine's own reader, which knows where every value stands, and only
//! `hooksConfig.disabled` is cut or added to. What the engine does not read as JSON (comments, say)
//! is not edited either. [`switched`] is the change of a text, [`switch_in_file`] that of a file;
//! [`with_definitions`] adds hooks.

mod add;
mod text;

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

pub use add::{NewDefinition, missing_definitions, with_definitions};
pub use text::{switched, with_server};

use super::Place;
use super::document::Document;
use super::load::read_file;
use crate::files::atomic::{Exclusive, Failed, NewFile, Replaced, absent_is_none};
use crate::text::PathText;

/// How often an edit starts over when another program changes the file in between.
const ATTEMPTS: usize = 8;

/// A settings file could not be edited. It is as it was.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum EditError {
    /// Its text is not what can be edited.
    #[error(transparent)]
    NotEditable(Box<NotEditable>),
    /// It could not be read or written.
    #[error("failed to {attempt} the settings file {}: {source}{}", path.shown(), advice(source))]
    Io {
        /// What was attempted.
        attempt: &'static str,
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// Another program, such as an editor, changed it again and again.
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

/// What in a settings text keeps it from being edited.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NotEditable {
    /// Where it is.
    pub place: Place,
    /// What is wrong.
    pub message: String,
}

impl fmt::Display for NotEditable {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            formatter,
            "failed to edit {}: {}; fix that first; nothing was written",
            self.place, self.message
        )
    }
}

impl NotEditable {
    /// That bytes of a text keep it from being edited.
    pub fn at(text: &str, range: std::ops::Range<usize>, message: impl Into<String>) -> Box<Self> {
        let place = Document::new(text, None).place_at(range, String::new());
        Box::new(Self { place, message: message.into() })
    }
}

impl std::error::Error for NotEditable {}

/// A settings file before and after an edit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileChange {
    /// The file.
    pub path: PathBuf,
    /// Its text before; empty when it was not there.
    pub before: String,
    /// Its text after.
    pub after: String,
}

impl FileChange {
    /// Whether there was anything to change.
    pub fn is_change(&self) -> bool {
        self.before != self.after
    }
}

/// An edit of a text; `None` stands for a file that is not there.
pub type Edit<'e> = dyn Fn(Option<&str>) -> Result<String, Box<NotEditable>> + 'e;

/// Whether an edit is made or only shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EditMode {
    /// The file is written.
    Write,
    /// Nothing is written.
    Preview,
}

/// What to do about a file that is not there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AbsentFile {
    /// It is made.
    Made,
    /// It is an error.
    Refused,
}

/// Puts a hook's name on the `disabled` list of a settings file, or takes it off.
///
/// The file is replaced as a whole, under a lock that other callers of this function wait for; its
/// permissions stay, and a link to it stays a link. Who edits it without that lock at the same time
/// loses nothing either: the edit starts over with what is there then.
///
/// # Errors
/// When the file cannot be read or written, is not JSON, or has something else where the list
/// belongs.
pub fn switch_in_file(
    path: &Path,
    name: &str,
    enabled: bool,
    absent: AbsentFile,
    mode: EditMode,
) -> Result<FileChange, EditError> {
    edit_in_file(path, absent, mode, &|text| match text {
        Some(text) => switched(text, name, enabled),
        None if enabled => Ok(String::new()),
        None => Ok(switched("{}\n", name, enabled).unwrap_or_default()),
    })
}

/// Makes an edit of a text in a file, as [`switch_in_file`] does; `None` stands for a file that is not
/// there, of which an empty text makes none.
///
/// # Errors
/// When the file cannot be read or written, or the edit cannot be made.
pub fn edit_in_file(
    path: &Path,
    absent: AbsentFile,
    mode: EditMode,
    edit: &Edit<'_>,
) -> Result<FileChange, EditError> {
    let io = |failed: Failed| EditError::Io {
        attempt: failed.attempt,
        path: path.to_path_buf(),
        source: failed.source,
    };
    if mode == EditMode::Preview {
        return Ok(read_and_edit(path, path, absent, edit)?.1);
    }
    let file = Exclusive::wait(path).map_err(io)?;
    for _ in 0..ATTEMPTS {
        let (before, change) = read_and_edit(path, file.path(), absent, edit)?;
        if !change.is_change() {
            return Ok(change);
        }
        let after = change.after.as_bytes();
        match file.replace(before.as_deref(), after, NewFile::Ordinary).map_err(io)? {
            Replaced::Done => return Ok(change),
            Replaced::ChangedMeanwhile => {}
        }
    }
    Err(EditError::Contested(path.to_path_buf()))
}

/// The file as it is, and as it is to be.
fn read_and_edit(
    path: &Path,
    real: &Path,
    absent: AbsentFile,
    edit: &Edit<'_>,
) -> Result<(Option<Vec<u8>>, FileChange), EditError> {
    let failed = |source| EditError::Io { attempt: "read", path: path.to_path_buf(), source };
    let bytes = match absent {
        AbsentFile::Made => absent_is_none(read_file(real)),
        AbsentFile::Refused => read_file(real).map(Some),
    };
    let bytes = bytes.map_err(failed)?;
    let mut change =
        FileChange { path: path.to_path_buf(), before: String::new(), after: String::new() };
    let failed = |mut problem: Box<NotEditable>| {
        problem.place.file = Some(path.to_path_buf().into());
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
            let place = Place {
                file: Some(path.to_path_buf().into()),
                line,
                column: 1,
                ..Place::default()
            };
            let message = "the line is not UTF-8 text".to_owned();
            return Err(EditError::NotEditable(Box::new(NotEditable { place, message })));
        }
    };
    change.after = edit(Some(&change.before)).map_err(failed)?;
    Ok((Some(bytes), change))
}

//! The error of settings that cannot be edited.

use std::ops::Range;

use hook_json::RawJson;

/// An error in settings that cannot be edited.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ForeignEditError {
    /// The range in the text, in bytes.
    pub at: Range<usize>,
    /// The description of the error.
    pub message: String,
}

pub(super) fn wrong_type(value: &RawJson, name: &str, expected: &str) -> ForeignEditError {
    let message = format!("`{name}` is {}, and not {expected}", value.kind());
    ForeignEditError { at: value.range(), message }
}

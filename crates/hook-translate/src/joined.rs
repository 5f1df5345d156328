//! A JSON string that arrives in pieces.

use hook_json::{JsonKind, RawJson};

use crate::TranslateError;

/// Strings put together as they are written, escapes and all: so a character that a stream cuts
/// in two halves is whole again.
#[derive(Debug, Default)]
pub(crate) struct Joined {
    escaped: String,
}

impl Joined {
    /// Appends a JSON string; other values are ignored.
    pub(crate) fn push(&mut self, string: &RawJson) {
        if string.kind() == JsonKind::String {
            let text = string.as_str();
            self.escaped.push_str(text.get(1..text.len() - 1).unwrap_or_default());
        }
    }

    /// Returns the whole as a JSON string. `path` is its path in errors.
    pub(crate) fn to_raw(&self, path: &'static str) -> Result<RawJson, TranslateError> {
        let text = format!("\"{}\"", self.escaped);
        RawJson::parse(text).map_err(|source| TranslateError::Unwritable { path, source })
    }
}

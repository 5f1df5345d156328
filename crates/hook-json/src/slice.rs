//! A view of a value inside a JSON text.

use std::borrow::Cow;
use std::fmt;
use std::ops::Range;

use super::read::decode_string;
use super::{JsonKind, JsonWalk, RawJson};

/// A view of a part of a [`RawJson`].
///
/// Most values in a long payload are barely looked at. A view costs nothing;
/// [`to_raw`](Self::to_raw) keeps the value.
#[derive(Clone, Copy)]
pub struct JsonSlice<'v> {
    whole: &'v RawJson,
    start: usize,
    end: usize,
}

impl<'v> JsonSlice<'v> {
    /// Creates a view of the value at `range` of the text of `whole`.
    pub(super) fn new(whole: &'v RawJson, range: Range<usize>) -> Self {
        Self { whole, start: range.start, end: range.end }
    }

    /// Returns the JSON text.
    pub fn as_str(self) -> &'v str {
        self.whole.as_str().get(self.start..self.end).unwrap_or("null")
    }

    /// Returns the kind of value, known from its first byte.
    pub fn kind(self) -> JsonKind {
        JsonKind::of_text(self.as_str())
    }

    /// Returns `true` if this is `null`, which everywhere in the protocol means absence.
    pub fn is_null(self) -> bool {
        self.kind() == JsonKind::Null
    }

    /// Returns the string, if this is one. A lone surrogate becomes U+FFFD.
    pub fn text(self) -> Option<Cow<'v, str>> {
        decode_string(self.as_str())
    }

    /// Returns the boolean, if this is one.
    pub fn to_bool(self) -> Option<bool> {
        match self.as_str() {
            "true" => Some(true),
            "false" => Some(false),
            _ => None,
        }
    }

    /// Returns the value, to be kept.
    pub fn to_raw(self) -> RawJson {
        self.whole.slice(self.start..self.end)
    }

    /// Returns a walk through this value.
    pub fn walk(self) -> JsonWalk<'v> {
        JsonWalk::new(self.whole, self.start)
    }
}

impl fmt::Debug for JsonSlice<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.as_str())
    }
}

//! A value that is looked at where it stands.

use std::borrow::Cow;
use std::fmt;
use std::ops::Range;

use super::read::string_text;
use super::{JsonKind, JsonWalk, RawJson};

/// A part of a [`RawJson`] that is not kept yet.
///
/// Of most values in a long payload little is wanted to know. A look at one of these costs nothing;
/// [`to_raw`](Self::to_raw) keeps it.
#[doc(hidden)]
#[derive(Clone, Copy)]
pub struct JsonSlice<'v> {
    whole: &'v RawJson,
    start: usize,
    end: usize,
}

impl<'v> JsonSlice<'v> {
    /// The value at `range` of the text of `whole`.
    pub(super) fn new(whole: &'v RawJson, range: Range<usize>) -> Self {
        Self { whole, start: range.start, end: range.end }
    }

    /// The JSON text.
    pub fn as_str(self) -> &'v str {
        self.whole.as_str().get(self.start..self.end).unwrap_or("null")
    }

    /// The kind of value, known from its first byte.
    pub fn kind(self) -> JsonKind {
        JsonKind::of_text(self.as_str())
    }

    /// Whether this is `null`, which everywhere in the protocol means absence.
    pub fn is_null(self) -> bool {
        self.kind() == JsonKind::Null
    }

    /// The string, if this is one; a lone surrogate in it becomes U+FFFD.
    pub fn text(self) -> Option<Cow<'v, str>> {
        string_text(self.as_str())
    }

    /// The boolean, if this is one.
    pub fn to_bool(self) -> Option<bool> {
        match self.as_str() {
            "true" => Some(true),
            "false" => Some(false),
            _ => None,
        }
    }

    /// This as a value that can be kept.
    pub fn to_raw(self) -> RawJson {
        self.whole.slice(self.start..self.end)
    }

    /// A way through this value.
    pub fn walk(self) -> JsonWalk<'v> {
        JsonWalk::new(self.whole, self.start)
    }
}

impl fmt::Debug for JsonSlice<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.as_str())
    }
}

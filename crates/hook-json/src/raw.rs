//! A JSON value as text.

use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;

use serde::{Serialize, Serializer};
use serde_json::value::RawValue;

use super::line::{escape_separators, into_string, whitespace_to_spaces};
use super::read::{locate_items, locate_value, read_entries};
use super::{JsonError, JsonKind, JsonObject, JsonSlice, JsonWalk};

/// The maximum depth of a value built in process, checked first since serializing it recurses.
const MAX_VALUE_DEPTH: usize = 1_000;

/// A JSON value as its text, checked to be valid.
///
/// The text is kept byte for byte, but on one line: line breaks and tabs between tokens become
/// spaces, and U+0085, U+2028 and U+2029 in strings become escapes.
///
/// The text is a slice of a shared buffer, which clones and the values inside share. Two values are
/// equal if their texts are.
///
/// ```
/// use hook_json::RawJson;
///
/// let value = RawJson::parse(r#"{"big": 1.10e400, "list": [1, 2]}"#)?;
/// assert_eq!(value.to_object()?.get("big").unwrap().as_str(), "1.10e400");
/// # Ok::<(), hook_json::JsonError>(())
/// ```
#[derive(Clone)]
pub struct RawJson {
    buffer: Arc<String>,
    start: usize,
    end: usize,
}

impl RawJson {
    /// Checks that `text` is one JSON value, and drops surrounding whitespace.
    ///
    /// # Errors
    /// Returns the position where the text stops being JSON.
    pub fn parse(text: impl Into<String>) -> Result<Self, JsonError> {
        let value = Self::parse_with_offsets(text)?;
        Ok(match escape_separators(value.as_str()) {
            Cow::Borrowed(_) => value,
            Cow::Owned(escaped) => Self::from_checked_text(escaped),
        })
    }

    /// Like [`parse`](Self::parse), for a value that is only read: every byte keeps its offset in
    /// `text`, and line separators in strings stay. It must not be written.
    pub fn parse_with_offsets(text: impl Into<String>) -> Result<Self, JsonError> {
        let text = text.into();
        let range = locate_value(&text)?;
        let buffer = Arc::new(whitespace_to_spaces(text));
        Ok(Self { buffer, start: range.start, end: range.end })
    }

    /// Creates the text of a value built in process.
    ///
    /// # Errors
    /// If it nests deeper than 1,000 levels, which no writer can be trusted with.
    pub fn from_value(value: &serde_json::Value) -> Result<Self, JsonError> {
        let mut level: Vec<&serde_json::Value> = vec![value];
        for _ in 0..MAX_VALUE_DEPTH {
            level = level.iter().flat_map(|value| children(value)).collect();
            if level.is_empty() {
                let text = value.to_string();
                return Ok(Self::from_checked_text(escape_separators(&text)));
            }
        }
        Err(JsonError::new(format!("the value nests deeper than {MAX_VALUE_DEPTH} levels")))
    }

    /// Returns `null`.
    pub fn null() -> Self {
        Self::from_checked_text("null")
    }

    /// Creates an array of values, each as it is written.
    pub fn from_items<'a>(items: impl IntoIterator<Item = &'a RawJson>) -> Self {
        let items: Vec<&RawJson> = items.into_iter().collect();
        let length: usize = items.iter().map(|item| item.as_str().len() + 1).sum();
        let mut text = String::with_capacity(length + 2);
        text.push('[');
        for (index, item) in items.into_iter().enumerate() {
            if index > 0 {
                text.push(',');
            }
            text.push_str(item.as_str());
        }
        text.push(']');
        Self::from_checked_text(text)
    }

    /// Creates a boolean.
    pub fn from_bool(value: bool) -> Self {
        Self::from_checked_text(if value { "true" } else { "false" })
    }

    /// Creates a whole number.
    pub fn from_u64(value: u64) -> Self {
        Self::from_checked_text(value.to_string())
    }

    /// Creates a JSON string.
    pub fn from_text(text: &str) -> Self {
        let mut out = Vec::with_capacity(text.len() + 2);
        super::write::write_string(&mut out, text);
        Self::from_written(out)
    }

    /// Creates a value from text that this crate wrote.
    pub(crate) fn from_checked_text(text: impl Into<String>) -> Self {
        let buffer = Arc::new(text.into());
        let end = buffer.len();
        Self { buffer, start: 0, end }
    }

    /// Creates a value from bytes that this crate's writer wrote.
    pub(crate) fn from_written(bytes: Vec<u8>) -> Self {
        Self::from_checked_text(into_string(bytes))
    }

    /// Returns the value at `range` of this value's own text.
    pub fn slice(&self, range: std::ops::Range<usize>) -> Self {
        Self {
            buffer: Arc::clone(&self.buffer),
            start: self.start + range.start,
            end: self.start + range.end,
        }
    }

    /// Returns the start of this value in the text that it is part of.
    pub fn start(&self) -> usize {
        self.start
    }

    /// Returns the range of this value in the text that it is part of.
    pub fn range(&self) -> std::ops::Range<usize> {
        self.start..self.end
    }

    /// Returns the length of the text that this value is part of.
    pub(super) fn buffer_len(&self) -> usize {
        self.buffer.len()
    }

    /// Returns the JSON text.
    pub fn as_str(&self) -> &str {
        self.buffer.get(self.start..self.end).unwrap_or("null")
    }

    /// Returns the kind of value, known from its first byte.
    pub fn kind(&self) -> JsonKind {
        JsonKind::of_text(self.as_str())
    }

    /// Returns `true` if this is `null`, which everywhere in the protocol means absence.
    pub fn is_null(&self) -> bool {
        self.kind() == JsonKind::Null
    }

    /// Returns the string, if this is one. A lone surrogate becomes U+FFFD.
    pub fn to_text(&self) -> Option<String> {
        self.as_slice().text().map(Cow::into_owned)
    }

    /// Returns the boolean, if this is one.
    pub fn to_bool(&self) -> Option<bool> {
        self.as_slice().to_bool()
    }

    /// Returns the number, if it is a non-negative whole number, also if it is written as `5e3` or
    /// `5000.0`.
    pub fn to_u64(&self) -> Option<u64> {
        if self.kind() != JsonKind::Number {
            return None;
        }
        if let Ok(number) = self.as_str().parse() {
            return Some(number);
        }
        let number: f64 = self.as_str().parse().ok()?;
        (number.fract() == 0.0 && (0.0..u64::MAX as f64).contains(&number)).then_some(number as u64)
    }

    /// Returns the number, if it is a whole one that fits, also if written as `-5e3` or `-5000.0`.
    pub fn to_i64(&self) -> Option<i64> {
        match self.as_str().strip_prefix('-') {
            None => self.to_u64()?.try_into().ok(),
            Some(amount) => {
                let amount = Self::parse(amount).ok()?.to_u64()?;
                0_i64.checked_sub_unsigned(amount)
            }
        }
    }

    /// Returns the elements, one level deep, if this is an array.
    pub fn to_items(&self) -> Option<Vec<RawJson>> {
        if self.kind() != JsonKind::Array {
            return None;
        }
        let ranges = locate_items(self.as_str())?;
        Some(ranges.into_iter().map(|range| self.slice(range)).collect())
    }

    /// Returns a view of this value, like those of a walk.
    pub fn as_slice(&self) -> JsonSlice<'_> {
        JsonSlice::new(self, 0..self.end - self.start)
    }

    /// Returns a walk through this value, for reading several levels in one pass.
    pub fn walk(&self) -> JsonWalk<'_> {
        self.as_slice().walk()
    }

    /// Returns the entries of an object in order, one level deep, including repeated ones; none if
    /// this is not an object.
    pub fn to_entries(&self) -> Vec<(String, RawJson)> {
        let mut entries = Vec::new();
        read_entries(self.as_str(), |name, range| entries.push((name, self.slice(range))));
        entries
    }

    /// Reads an object one level deep.
    ///
    /// # Errors
    /// If this is not an object.
    pub fn to_object(&self) -> Result<JsonObject, JsonError> {
        JsonObject::read(self)
    }
}

fn children(value: &serde_json::Value) -> Box<dyn Iterator<Item = &serde_json::Value> + '_> {
    match value {
        serde_json::Value::Array(items) => Box::new(items.iter()),
        serde_json::Value::Object(fields) => Box::new(fields.values()),
        _ => Box::new(std::iter::empty()),
    }
}

impl PartialEq for RawJson {
    fn eq(&self, other: &Self) -> bool {
        self.as_str() == other.as_str()
    }
}

impl Eq for RawJson {}

impl fmt::Debug for RawJson {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.as_str())
    }
}

impl fmt::Display for RawJson {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.as_str())
    }
}

impl Serialize for RawJson {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let raw: &RawValue =
            serde_json::from_str(self.as_str()).map_err(serde::ser::Error::custom)?;
        raw.serialize(serializer)
    }
}

/// A [`RawJson`] that is known to be an object.
#[derive(Clone, PartialEq, Eq)]
pub struct RawObject(RawJson);

impl RawObject {
    /// Checks that `text` is one JSON object, as [`RawJson::parse`] does.
    ///
    /// # Errors
    /// Returns the position where the text stops being JSON, or the kind of another value.
    pub fn parse(text: impl Into<String>) -> Result<Self, JsonError> {
        let not_object = |other: RawJson| JsonError::not_object(other.kind());
        Self::try_from(RawJson::parse(text)?).map_err(not_object)
    }

    /// Returns an object without fields.
    pub fn empty() -> Self {
        Self(RawJson::from_checked_text("{}"))
    }

    /// Creates an object of the fields that `write` writes.
    pub fn build(write: impl FnOnce(&mut super::ObjectWriter<'_>)) -> Self {
        Self::from_written(super::ObjectWriter::value(0, write))
    }

    /// Creates an object from bytes that this crate's writer wrote.
    pub fn from_written(bytes: Vec<u8>) -> Self {
        Self(RawJson::from_written(bytes))
    }

    /// Returns the value as one of any kind.
    pub fn as_raw(&self) -> &RawJson {
        &self.0
    }

    /// Returns the JSON text.
    pub fn as_str(&self) -> &str {
        self.0.as_str()
    }

    /// Returns the fields, one level deep.
    pub fn fields(&self) -> JsonObject {
        self.0.to_object().unwrap_or_default()
    }

    /// Returns this object with values in it replaced, and every other byte unchanged. `None`
    /// unless all replaced values were read from this very text and are in its order.
    pub fn replaced(&self, values: &[(&RawJson, RawJson)]) -> Option<Self> {
        let whole = &self.0;
        let length: usize = values.iter().map(|(_, new)| new.as_str().len()).sum();
        let mut text = String::with_capacity(whole.as_str().len() + length);
        let mut at = whole.start;
        for (old, new) in values {
            if !Arc::ptr_eq(&old.buffer, &whole.buffer) || old.end > whole.end {
                return None;
            }
            text.push_str(whole.buffer.get(at..old.start)?);
            text.push_str(new.as_str());
            at = old.end;
        }
        text.push_str(whole.buffer.get(at..whole.end)?);
        Some(Self(RawJson::from_checked_text(text)))
    }

    /// Returns this object with the fields of `changes` merged into it, one level deep. Without
    /// changes, the text stays the same.
    pub fn merged(&self, changes: &JsonObject) -> Self {
        if changes.is_empty() {
            return self.clone();
        }
        let mut fields = self.fields();
        fields.merge(changes);
        fields.to_raw()
    }
}

impl fmt::Debug for RawObject {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.as_str())
    }
}

impl From<RawObject> for RawJson {
    fn from(object: RawObject) -> Self {
        object.0
    }
}

/// Fails with the value itself if it is not an object.
impl TryFrom<RawJson> for RawObject {
    type Error = RawJson;

    fn try_from(value: RawJson) -> Result<Self, RawJson> {
        match value.kind() {
            JsonKind::Object => Ok(Self(value)),
            _ => Err(value),
        }
    }
}

impl TryFrom<&serde_json::Value> for RawObject {
    type Error = JsonError;

    fn try_from(value: &serde_json::Value) -> Result<Self, JsonError> {
        let not_object = |other: RawJson| JsonError::not_object(other.kind());
        RawObject::try_from(RawJson::from_value(value)?).map_err(not_object)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_built_too_deep_is_refused() {
        let mut value = serde_json::json!(1);
        for _ in 0..2_000 {
            value = serde_json::Value::Array(vec![value]);
        }
        assert!(RawJson::from_value(&value).is_err());
    }

    #[test]
    fn text_survives_byte_for_byte() {
        let text = r#"{"n":1e0007,"s":"\ud800","a":[ 1 ,2]}"#;
        let value = RawJson::parse(text).unwrap();
        assert_eq!(value.as_str(), text);
        assert_eq!(serde_json::to_string(&value).unwrap(), text);
        assert_eq!(value.to_object().unwrap().get("a").unwrap().as_str(), "[ 1 ,2]");
    }

    #[test]
    fn what_is_replaced_leaves_all_other_bytes() {
        let text = "{ \"a\" : [ 1 ,{\"b\":2 }, 3] }";
        let whole = RawObject::try_from(RawJson::parse(text).unwrap()).unwrap();
        let items = whole.fields().get("a").unwrap().to_items().unwrap();
        let new = || RawJson::from_text("new");
        let replaced = whole.replaced(&[(&items[0], new()), (&items[2], new())]).unwrap();
        assert_eq!(replaced.as_str(), "{ \"a\" : [ \"new\" ,{\"b\":2 }, \"new\"] }");
        assert_eq!(whole.replaced(&[]).unwrap(), whole);
        assert_eq!(whole.replaced(&[(&items[2], new()), (&items[0], new())]), None);
        assert_eq!(whole.replaced(&[(&RawJson::null(), new())]), None);
    }

    #[test]
    fn an_overlay_without_changes_keeps_the_text() {
        let object = RawObject::try_from(RawJson::parse("{ \"a\" : 1 }").unwrap()).unwrap();
        assert_eq!(object.merged(&JsonObject::default()).as_str(), "{ \"a\" : 1 }");
    }
}

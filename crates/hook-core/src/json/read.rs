//! Reading one level of JSON with the places of what was found.

use std::fmt;
use std::ops::Range;

use serde::Deserializer as _;
use serde::de::{DeserializeSeed, MapAccess, SeqAccess, Visitor};
use serde_json::value::RawValue;

/// A text that is not the JSON it was expected to be.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{reason} at line {line}, column {column}")]
pub struct JsonError {
    reason: String,
    line: usize,
    column: usize,
}

impl JsonError {
    pub(crate) fn new(reason: impl Into<String>) -> Self {
        Self { reason: reason.into(), line: 1, column: 1 }
    }

    /// What is wrong, without the place.
    pub fn reason(&self) -> &str {
        &self.reason
    }

    /// The line of the text in which reading stopped, from 1.
    pub fn line(&self) -> usize {
        self.line
    }

    /// The column in bytes at which reading stopped, from 1.
    pub fn column(&self) -> usize {
        self.column
    }
}

impl From<serde_json::Error> for JsonError {
    fn from(error: serde_json::Error) -> Self {
        let (line, column) = (error.line().max(1), error.column().max(1));
        let text = error.to_string();
        let place = format!(" at line {} column {}", error.line(), error.column());
        let reason = text.strip_suffix(&place).unwrap_or(&text).to_owned();
        Self { reason, line, column }
    }
}

/// An object's entry: where its key and its value stand in the text that was read.
#[derive(Debug, Clone)]
pub(crate) struct Located {
    pub(crate) key: String,
    /// Absent for a key written with escapes, whose place the reader does not tell.
    pub(crate) key_at: Option<usize>,
    pub(crate) value: Range<usize>,
}

/// Checks that `text` is one JSON value, and gives its range without the blanks around it.
pub(super) fn locate_value(text: &str) -> Result<Range<usize>, JsonError> {
    let value: &RawValue = serde_json::from_str(text)?;
    Ok(range_in(text, value.get()))
}

/// Reads an object one level deep. Duplicate keys are all reported, in order.
pub(crate) fn locate_entries(text: &str) -> Result<Vec<Located>, JsonError> {
    let mut reader = serde_json::Deserializer::from_str(text);
    let entries = reader.deserialize_map(Entries { text })?;
    reader.end()?;
    Ok(entries)
}

/// Reads an array one level deep.
pub(super) fn locate_items(text: &str) -> Result<Vec<Range<usize>>, JsonError> {
    let mut reader = serde_json::Deserializer::from_str(text);
    let items = reader.deserialize_seq(Items { text })?;
    reader.end()?;
    Ok(items)
}

/// Reads a JSON string, with U+FFFD for a lone surrogate.
pub(super) fn read_string(text: &str) -> Result<String, JsonError> {
    let mut reader = serde_json::Deserializer::from_str(text);
    let (string, _) = reader.deserialize_bytes(LossyString { text })?;
    reader.end()?;
    Ok(string)
}

/// The range of `part`, which borrows from `text`, within it.
fn range_in(text: &str, part: &str) -> Range<usize> {
    let start = (part.as_ptr() as usize).saturating_sub(text.as_ptr() as usize);
    start..start + part.len()
}

struct Entries<'t> {
    text: &'t str,
}

impl<'t> Visitor<'t> for Entries<'t> {
    type Value = Vec<Located>;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("an object")
    }

    fn visit_map<A: MapAccess<'t>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut entries = Vec::new();
        while let Some((key, key_at)) = map.next_key_seed(LossyString { text: self.text })? {
            let value: &'t RawValue = map.next_value()?;
            entries.push(Located { key, key_at, value: range_in(self.text, value.get()) });
        }
        Ok(entries)
    }
}

struct Items<'t> {
    text: &'t str,
}

impl<'t> Visitor<'t> for Items<'t> {
    type Value = Vec<Range<usize>>;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("an array")
    }

    fn visit_seq<A: SeqAccess<'t>>(self, mut seq: A) -> Result<Self::Value, A::Error> {
        let mut items = Vec::new();
        while let Some(item) = seq.next_element::<&'t RawValue>()? {
            items.push(range_in(self.text, item.get()));
        }
        Ok(items)
    }
}

/// Reads a string as bytes, which is how serde_json hands over lone surrogates (as WTF-8) that a
/// Rust string cannot hold.
struct LossyString<'t> {
    text: &'t str,
}

impl<'t> DeserializeSeed<'t> for LossyString<'t> {
    type Value = (String, Option<usize>);

    fn deserialize<D: serde::Deserializer<'t>>(self, reader: D) -> Result<Self::Value, D::Error> {
        reader.deserialize_bytes(self)
    }
}

impl<'t> Visitor<'t> for LossyString<'t> {
    type Value = (String, Option<usize>);

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a string")
    }

    fn visit_borrowed_bytes<E>(self, bytes: &'t [u8]) -> Result<Self::Value, E> {
        let at = (bytes.as_ptr() as usize).checked_sub(self.text.as_ptr() as usize);
        // The borrowed bytes begin after the opening quote.
        Ok((from_wtf8(bytes), at.map(|at| at.saturating_sub(1))))
    }

    fn visit_bytes<E>(self, bytes: &[u8]) -> Result<Self::Value, E> {
        Ok((from_wtf8(bytes), None))
    }
}

fn from_wtf8(mut bytes: &[u8]) -> String {
    let mut string = String::with_capacity(bytes.len());
    loop {
        match std::str::from_utf8(bytes) {
            Ok(valid) => {
                string.push_str(valid);
                return string;
            }
            Err(error) => {
                let (valid, rest) = bytes.split_at(error.valid_up_to());
                string.push_str(&String::from_utf8_lossy(valid));
                string.push(char::REPLACEMENT_CHARACTER);
                // A surrogate takes three bytes in WTF-8; nothing else can be invalid here.
                bytes = rest.get(3..).unwrap_or_default();
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lone_surrogates_are_replaced_and_pairs_are_kept() {
        for (text, expected) in [
            (r#""a\ud800b""#, "a\u{fffd}b"),
            (r#""\udc00\ud800""#, "\u{fffd}\u{fffd}"),
            (r#""\ud83d\ude00""#, "😀"),
            (r#""plain""#, "plain"),
        ] {
            assert_eq!(read_string(text).unwrap(), expected, "{text}");
        }
    }

    #[test]
    fn entries_know_where_their_keys_and_values_stand() {
        let text = " {\"a\" : 1, \"\\u0062\": [2] }";
        let entries = locate_entries(text).unwrap();
        assert_eq!(entries[0].key_at, Some(2));
        assert_eq!(&text[entries[0].value.clone()], "1");
        assert_eq!((entries[1].key.as_str(), entries[1].key_at), ("b", None));
        assert_eq!(&text[entries[1].value.clone()], "[2]");
    }

    #[test]
    fn a_hundred_thousand_levels_do_not_overflow_the_stack() {
        let deep = format!("{{\"a\":{}{}}}", "[".repeat(100_000), "]".repeat(100_000));
        assert_eq!(locate_entries(&deep).unwrap().len(), 1);
        assert!(locate_value(&deep).is_ok());
    }
}

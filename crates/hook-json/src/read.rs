//! Reading one level of JSON, with the positions of its parts.

use std::borrow::Cow;
use std::ops::Range;

use serde_json::value::RawValue;

use super::JsonKind;
use super::scan::Scanner;
use super::strings::plain_length;

/// An error about text that is not the expected JSON.
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

    pub(super) fn not_object(found: JsonKind) -> Self {
        Self::new(format!("expected an object, found {found}"))
    }

    /// Returns the reason, without the position.
    pub fn reason(&self) -> &str {
        &self.reason
    }

    /// Returns the line at which reading stopped, from 1.
    pub fn line(&self) -> usize {
        self.line
    }

    /// Returns the column in bytes at which reading stopped, from 1.
    pub fn column(&self) -> usize {
        self.column
    }
}

impl From<serde_json::Error> for JsonError {
    fn from(error: serde_json::Error) -> Self {
        let (line, column) = (error.line().max(1), error.column().max(1));
        let text = error.to_string();
        let suffix = format!(" at line {} column {}", error.line(), error.column());
        let reason = text.strip_suffix(&suffix).unwrap_or(&text).to_owned();
        Self { reason, line, column }
    }
}

/// An object's entry, with the positions of its key and value in the text.
#[derive(Debug, Clone)]
pub struct LocatedEntry {
    /// The decoded key.
    pub key: String,
    /// The start of the key; `None` if it has escapes, since its offsets differ from the name's.
    pub key_start: Option<usize>,
    /// The bytes of the value.
    pub value: Range<usize>,
}

/// Checks that `text` is one JSON value, and returns its range without surrounding whitespace.
pub(super) fn locate_value(text: &str) -> Result<Range<usize>, JsonError> {
    let value: &RawValue = serde_json::from_str(text)?;
    Ok(range_in(text, value.get()))
}

/// Returns the entries of an object, one level deep, in text that is known to be JSON. Duplicate
/// keys are all included, in order.
pub fn locate_entries(text: &str) -> Result<Vec<LocatedEntry>, JsonError> {
    let mut scanner = Scanner::within(text, b'{')
        .ok_or_else(|| JsonError::new("expected an object, found something else"))?;
    let mut entries = Vec::new();
    while let Some((key, value)) = scanner.next_entry() {
        let written = text.get(key.clone()).unwrap_or_default();
        let key_start = (!written.contains('\\')).then_some(key.start);
        entries.push(LocatedEntry { key: read_string(written), key_start, value });
    }
    Ok(entries)
}

/// Calls `take` with the name of each entry of an object and the range of its value, in order.
pub(super) fn read_entries(text: &str, mut visit: impl FnMut(String, Range<usize>)) {
    let Some(mut scanner) = Scanner::within(text, b'{') else { return };
    while let Some((key, value)) = scanner.next_entry() {
        visit(read_string(text.get(key).unwrap_or_default()), value);
    }
}

/// Returns the elements of an array, one level deep, in text that is known to be JSON.
pub(super) fn locate_items(text: &str) -> Option<Vec<Range<usize>>> {
    let mut scanner = Scanner::within(text, b'[')?;
    let mut items = Vec::new();
    while let Some(item) = scanner.next_item() {
        items.push(item);
    }
    Some(items)
}

/// Decodes a value, if it is a string. A lone surrogate becomes U+FFFD.
pub fn decode_string(value: &str) -> Option<Cow<'_, str>> {
    value.starts_with('"').then(|| match plain_string(value) {
        Some(plain) => Cow::Borrowed(plain),
        None => Cow::Owned(read_string(value)),
    })
}

/// Returns the content of a JSON string, if it has no escapes.
pub(super) fn plain_string(text: &str) -> Option<&str> {
    let inner = text.strip_prefix('"')?.strip_suffix('"')?;
    (plain_length(inner.as_bytes()) == inner.len()).then_some(inner)
}

/// Decodes a JSON string with its quotes. A lone surrogate becomes U+FFFD.
pub fn read_string(text: &str) -> String {
    let mut rest = text.strip_prefix('"').unwrap_or(text);
    rest = rest.strip_suffix('"').unwrap_or(rest);
    let mut string = String::with_capacity(rest.len());
    loop {
        let bytes = rest.as_bytes();
        let plain = plain_length(bytes);
        string.push_str(rest.get(..plain).unwrap_or_default());
        // Skips the backslash and the letter after it.
        let Some(escape) = bytes.get(plain + 1) else { return string };
        rest = rest.get(plain + 2..).unwrap_or_default();
        string.push(match escape {
            b'b' => '\u{8}',
            b'f' => '\u{c}',
            b'n' => '\n',
            b'r' => '\r',
            b't' => '\t',
            b'u' => {
                let (character, after) = decode_unicode_escape(rest);
                rest = after;
                character
            }
            other => char::from(*other),
        });
    }
}

/// Decodes the four digits that `text` begins with, or a surrogate pair of two such escapes.
/// Returns the character and the rest.
pub(super) fn decode_unicode_escape(text: &str) -> (char, &str) {
    let number = |text: &str| {
        text.get(..4).and_then(|digits| u32::from_str_radix(digits, 16).ok()).unwrap_or(0xFFFD)
    };
    let digits_end = |text: &'_ str| text.len().min(4);
    let first = number(text);
    let rest = text.get(digits_end(text)..).unwrap_or_default();
    if let 0xD800..=0xDBFF = first
        && let Some(second_text) = rest.strip_prefix("\\u")
        && let second @ 0xDC00..=0xDFFF = number(second_text)
    {
        let code_point = 0x1_0000 + ((first - 0xD800) << 10) + (second - 0xDC00);
        let rest = second_text.get(digits_end(second_text)..).unwrap_or_default();
        return (char::from_u32(code_point).unwrap_or(char::REPLACEMENT_CHARACTER), rest);
    }
    (char::from_u32(first).unwrap_or(char::REPLACEMENT_CHARACTER), rest)
}

/// Returns the range of `part`, which borrows from `text`, within it.
fn range_in(text: &str, part: &str) -> Range<usize> {
    let start = (part.as_ptr() as usize).saturating_sub(text.as_ptr() as usize);
    start..start + part.len()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use serde_json::json;

    #[test]
    fn lone_surrogates_are_replaced_and_pairs_are_kept() {
        for (text, expected) in [
            (r#""a\ud800b""#, "a\u{fffd}b"),
            (r#""\udc00\ud800""#, "\u{fffd}\u{fffd}"),
            (r#""\ud83d\ude00""#, "😀"),
            (r#""plain""#, "plain"),
        ] {
            assert_eq!(read_string(text), expected, "{text}");
        }
    }

    #[test]
    fn entries_know_where_their_keys_and_values_stand() {
        let text = " {\"a\" : 1, \"\\u0062\": [2] }";
        let entries = locate_entries(text).unwrap();
        assert_eq!(entries[0].key_start, Some(2));
        assert_eq!(&text[entries[0].value.clone()], "1");
        assert_eq!((entries[1].key.as_str(), entries[1].key_start), ("b", None));
        assert_eq!(&text[entries[1].value.clone()], "[2]");
    }

    #[test]
    fn a_hundred_thousand_levels_do_not_overflow_the_stack() {
        let deep = format!("{{\"a\":{}{}}}", "[".repeat(100_000), "]".repeat(100_000));
        assert_eq!(locate_entries(&deep).unwrap().len(), 1);
        assert!(locate_value(&deep).is_ok());
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn what_serde_json_writes_is_read_as_it_reads_it(
            entries in prop::collection::vec((any::<String>(), any::<String>()), 0..5), blanks in " {0,9}",
        ) {
            let written: Vec<String> = entries
                .iter()
                .map(|(key, value)| format!("{}:{blanks}[{}]", json!(key), json!(value)))
                .collect();
            let text = format!("{blanks}{{{}{blanks}}}", written.join(&format!("{blanks},")));
            let found: Vec<(String, String)> = locate_entries(&text)
                .unwrap()
                .into_iter()
                .map(|entry| {
                    let value = &text[entry.value];
                    (entry.key, read_string(&value[locate_items(value).unwrap()[0].clone()]))
                })
                .collect();
            prop_assert_eq!(found, entries);
        }

        #[test]
        fn escapes_are_read_as_serde_json_reads_them(
            pieces in prop::collection::vec("\\\\[nrtbf/\"\\\\]|\\\\u[0-9a-cA-Cef][0-9a-fA-F]{3}|[a-z\u{e0}]{1,9}", 0..9),
        ) {
            let text = format!("\"{}\"", pieces.concat());
            let expected: String = serde_json::from_str(&text).unwrap();
            prop_assert_eq!(read_string(&text), expected);
        }

        #[test]
        fn any_text_gives_places_within_it(text in "\\PC{0,40}|[\\[{\"\\\\:,a \\]}]{0,40}") {
            let _ = read_string(&text);
            let _ = locate_items(&text);
            for entry in locate_entries(&text).unwrap_or_default() {
                prop_assert!(entry.value.end <= text.len());
            }
        }
    }
}

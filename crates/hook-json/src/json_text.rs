//! JSON strings in their written form.

use std::borrow::Cow;
use std::fmt;

use super::normal::normalized;
use super::read::decode_string;
use super::{JsonKind, RawJson};

/// A JSON string that is decoded only on access.
///
/// Most texts of a conversation are passed on and compared, which needs no decoding. Two texts are
/// equal if their decoded values are.
///
/// ```
/// use hook_json::{JsonText, RawJson};
///
/// let text = JsonText::try_from(RawJson::parse(r#""\u00e0 la carte""#)?).unwrap();
/// assert_eq!(text.decode(), "à la carte");
/// assert_eq!(text, JsonText::new("à la carte"));
/// # Ok::<(), hook_json::JsonError>(())
/// ```
#[derive(Clone)]
pub struct JsonText(RawJson);

impl JsonText {
    /// Creates the JSON string of a text.
    pub fn new(text: &str) -> Self {
        Self(RawJson::from_text(text))
    }

    /// Returns the written string without its quotes.
    fn written(&self) -> &str {
        let text = self.0.as_str();
        text.get(1..text.len().saturating_sub(1)).unwrap_or_default()
    }

    /// Decodes the string. A lone surrogate becomes U+FFFD.
    pub fn decode(&self) -> Cow<'_, str> {
        decode_string(self.0.as_str()).unwrap_or_default()
    }

    /// Returns `true` if the text is empty.
    pub fn is_empty(&self) -> bool {
        self.written().is_empty()
    }

    /// Joins texts without a separator; `None` if there are none.
    pub fn join<'t>(texts: impl Iterator<Item = &'t JsonText> + Clone) -> Option<Self> {
        let mut first_two = texts.clone();
        let first = first_two.next()?;
        if first_two.next().is_none() {
            return Some(first.clone());
        }
        let length: usize = texts.clone().map(|text| text.written().len()).sum();
        let mut joined = String::with_capacity(length + 2);
        joined.push('"');
        // In normal form, the halves of a surrogate pair in two texts stay separate.
        texts.for_each(|text| joined.push_str(&normalized(text.written())));
        joined.push('"');
        Some(Self(RawJson::from_checked_text(joined)))
    }

    /// Returns the JSON string as it is written.
    pub fn as_raw(&self) -> &RawJson {
        &self.0
    }

    /// Returns the JSON string in this crate's form, with no more escapes than it needs.
    pub fn normalized(&self) -> RawJson {
        match self.normal() {
            Cow::Borrowed(_) => self.0.clone(),
            Cow::Owned(normal) => RawJson::from_checked_text(normal),
        }
    }

    /// Returns the text in its normal form.
    pub(super) fn normal(&self) -> Cow<'_, str> {
        normalized(self.0.as_str())
    }

    /// Returns the length of the written form, in bytes.
    pub fn written_len(&self) -> usize {
        self.0.as_str().len()
    }
}

impl PartialEq for JsonText {
    fn eq(&self, other: &Self) -> bool {
        self.0 == other.0 || self.normal() == other.normal()
    }
}

impl Eq for JsonText {}

/// Fails with the value itself if it is not a string.
impl TryFrom<RawJson> for JsonText {
    type Error = RawJson;

    fn try_from(value: RawJson) -> Result<Self, RawJson> {
        match value.kind() {
            JsonKind::String => Ok(Self(value)),
            _ => Err(value),
        }
    }
}

impl fmt::Debug for JsonText {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.0, formatter)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn text(written: &str) -> JsonText {
        JsonText::try_from(RawJson::parse(format!("\"{written}\"")).unwrap()).unwrap()
    }

    /// Texts that are often equal, and often contain halves of surrogate pairs.
    fn written() -> impl Strategy<Value = String> {
        let piece = prop_oneof![
            "\\\\[nrtbf/\"\\\\]",
            "\\\\u(d83d|D83D|de00|00e0|006e|000a)",
            "[an/u\u{e0}\u{1f600}]{1,40}",
        ];
        prop::collection::vec(piece, 0..6).prop_map(|pieces| pieces.concat())
    }

    #[test]
    fn halves_of_a_character_in_two_texts_stay_halves() {
        let halves = [text(r"a\ud83d"), text(r"\ude00b")];
        assert_eq!(JsonText::join(halves.iter()).unwrap().decode(), "a\u{fffd}\u{fffd}b");
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn texts_joined_say_what_they_say_one_by_one(all in prop::collection::vec(written(), 0..4)) {
            let texts: Vec<JsonText> = all.iter().map(|written| text(written)).collect();
            let decoded: Vec<Cow<'_, str>> = texts.iter().map(JsonText::decode).collect();
            let joined = JsonText::join(texts.iter());
            prop_assert_eq!(joined.is_none(), texts.is_empty());
            prop_assert_eq!(joined.map_or_else(String::new, |joined| joined.decode().into()), decoded.concat());
        }

        #[test]
        fn texts_are_equal_when_they_say_the_same(one in written(), other in written()) {
            let (one, other) = (text(&one), text(&other));
            prop_assert_eq!(one == other, one.decode() == other.decode());
            prop_assert_eq!(&one, &JsonText::new(&one.decode()));
        }

        #[test]
        fn a_text_is_written_as_if_it_had_been_read(written in written()) {
            let text = text(&written);
            let expected = RawJson::from_text(&text.decode()).to_string();
            prop_assert_eq!(text.normalized().to_string(), expected.as_str());
            prop_assert_eq!(text.normal(), expected);
            prop_assert_eq!(text.is_empty(), text.decode().is_empty());
        }
    }
}

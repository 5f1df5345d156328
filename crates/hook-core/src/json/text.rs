//! A string as it is written.

use std::borrow::Cow;
use std::fmt;

use super::normal::normalized;
use super::read::string_text;
use super::{JsonKind, RawJson};

/// A text as a JSON string, decoded only on access.
///
/// Most texts of a conversation are handed on and compared, and for that they need not be read.
/// Two texts are equal when they say the same, however each is written.
///
/// ```
/// use hook_core::{JsonText, RawJson};
///
/// let text = JsonText::try_from(RawJson::parse(r#""\u00e0 la carte""#)?).unwrap();
/// assert_eq!(text.read(), "à la carte");
/// assert_eq!(text, JsonText::new("à la carte"));
/// # Ok::<(), hook_core::JsonError>(())
/// ```
#[doc(hidden)]
#[derive(Clone)]
pub struct JsonText(RawJson);

impl JsonText {
    /// Writes a text.
    pub fn new(text: &str) -> Self {
        Self(RawJson::from_text(text))
    }

    /// The string between its quotes.
    fn written(&self) -> &str {
        let text = self.0.as_str();
        text.get(1..text.len().saturating_sub(1)).unwrap_or_default()
    }

    /// What it says; a lone surrogate in it becomes U+FFFD.
    pub fn read(&self) -> Cow<'_, str> {
        string_text(self.0.as_str()).unwrap_or_default()
    }

    /// Whether it says nothing.
    pub fn is_empty(&self) -> bool {
        self.written().is_empty()
    }

    /// These texts one behind the other, if there are any.
    pub fn joined<'t>(texts: impl Iterator<Item = &'t JsonText> + Clone) -> Option<Self> {
        let mut first_two = texts.clone();
        let first = first_two.next()?;
        if first_two.next().is_none() {
            return Some(first.clone());
        }
        let length: usize = texts.clone().map(|text| text.written().len()).sum();
        let mut joined = String::with_capacity(length + 2);
        joined.push('"');
        // In normal form, halves of a character that stand in two texts make no whole one.
        texts.for_each(|text| joined.push_str(&normalized(text.written())));
        joined.push('"');
        Some(Self(RawJson::from_checked_text(joined)))
    }

    /// The JSON string as it is written.
    pub fn as_raw(&self) -> &RawJson {
        &self.0
    }

    /// The JSON string as this crate writes it: with no more escapes than it needs.
    pub fn normalized(&self) -> RawJson {
        match self.normal() {
            Cow::Borrowed(_) => self.0.clone(),
            Cow::Owned(normal) => RawJson::from_checked_text(normal),
        }
    }

    /// The text in its normal form.
    pub(super) fn normal(&self) -> Cow<'_, str> {
        normalized(self.0.as_str())
    }

    /// How many bytes it takes as it is written.
    pub(crate) fn written_length(&self) -> usize {
        self.0.as_str().len()
    }
}

impl PartialEq for JsonText {
    fn eq(&self, other: &Self) -> bool {
        self.0 == other.0 || self.normal() == other.normal()
    }
}

impl Eq for JsonText {}

/// Gives back a value that is not a string.
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

    /// Texts of which many are equal, and many are halves of characters.
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
        assert_eq!(JsonText::joined(halves.iter()).unwrap().read(), "a\u{fffd}\u{fffd}b");
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn texts_joined_say_what_they_say_one_by_one(all in prop::collection::vec(written(), 0..4)) {
            let texts: Vec<JsonText> = all.iter().map(|written| text(written)).collect();
            let said: Vec<Cow<'_, str>> = texts.iter().map(JsonText::read).collect();
            let joined = JsonText::joined(texts.iter());
            prop_assert_eq!(joined.is_none(), texts.is_empty());
            prop_assert_eq!(joined.map_or_else(String::new, |joined| joined.read().into()), said.concat());
        }

        #[test]
        fn texts_are_equal_when_they_say_the_same(one in written(), other in written()) {
            let (one, other) = (text(&one), text(&other));
            prop_assert_eq!(one == other, one.read() == other.read());
            prop_assert_eq!(&one, &JsonText::new(&one.read()));
        }

        #[test]
        fn a_text_is_written_as_if_it_had_been_read(written in written()) {
            let text = text(&written);
            let said = RawJson::from_text(&text.read()).to_string();
            prop_assert_eq!(text.normalized().to_string(), said.as_str());
            prop_assert_eq!(text.normal(), said);
            prop_assert_eq!(text.is_empty(), text.read().is_empty());
        }
    }
}

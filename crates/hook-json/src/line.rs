//! JSON on one line.
//!
//! In valid JSON, a byte below 0x20 is whitespace between tokens, since strings escape such bytes.
//! So each can become a space, and the text keeps its length. Three characters that JSON allows
//! unescaped in strings end a line for some readers (Node's `readline`, Python's `splitlines`):
//! they are escaped.

use std::borrow::Cow;

use crate::text::escaped;

/// The number of bytes scanned at once. The loop over a block has no early exit, so that the
/// compiler vectorizes it.
const BLOCK: usize = 32;

/// The line separators outside ASCII, with their JSON escapes.
const SEPARATORS: [(char, &str); 3] =
    [('\u{85}', "\\u0085"), ('\u{2028}', "\\u2028"), ('\u{2029}', "\\u2029")];

/// Returns the escape of a separator.
pub(super) fn separator_escape(character: char) -> Option<&'static str> {
    SEPARATORS.iter().find(|(separator, _)| *separator == character).map(|(_, escape)| *escape)
}

/// Replaces line breaks and tabs between the tokens of valid JSON with spaces.
pub(super) fn whitespace_to_spaces(json: String) -> String {
    if !any(json.as_bytes(), |byte, _, _| byte < 0x20) {
        return json;
    }
    let mut bytes = json.into_bytes();
    for byte in &mut bytes {
        *byte = if *byte < 0x20 { b' ' } else { *byte };
    }
    into_string(bytes)
}

/// Converts the writer's bytes to text. They are valid UTF-8, since only whole strings are written.
pub fn into_string(bytes: Vec<u8>) -> String {
    String::from_utf8(bytes)
        .unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned())
}

/// Escapes line separators in valid JSON, or in a part of a JSON string.
pub(super) fn escape_separators(json: &str) -> Cow<'_, str> {
    match has_separator(json) {
        true => Cow::Owned(escaped(json, separator_escape)),
        false => Cow::Borrowed(json),
    }
}

/// Returns `true` if `text` contains an unescaped line separator.
pub(super) fn has_separator(text: &str) -> bool {
    !text.is_ascii()
        && any(text.as_bytes(), |first, second, third| {
            (first == 0xc2) & (second == 0x85)
                | (first == 0xe2) & (second == 0x80) & (third & 0xfe == 0xa8)
        })
}

/// Returns `true` if `found` holds for a byte and the two after it, which are 0 past the end.
fn any(bytes: &[u8], matches: impl Fn(u8, u8, u8) -> bool) -> bool {
    let block = |at: usize| bytes.get(at..)?.first_chunk::<BLOCK>();
    let mut at = 0;
    while let Some(first) = block(at)
        && let Some(second) = block(at + 1)
        && let Some(third) = block(at + 2)
    {
        let mut any = false;
        for index in 0..BLOCK {
            any |= matches(first[index], second[index], third[index]);
        }
        if any {
            return true;
        }
        at += BLOCK;
    }
    let byte = |at: usize| bytes.get(at).copied().unwrap_or_default();
    (at..bytes.len()).any(|at| matches(byte(at), byte(at + 1), byte(at + 2)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn blanks_become_spaces_and_nothing_else_changes(text in "[ \n\r\ta\u{e9}\u{2028}]{0,100}") {
            let spaces = text.replace(['\n', '\r', '\t'], " ");
            prop_assert_eq!(whitespace_to_spaces(text), spaces);
        }

        #[test]
        fn separators_are_found_wherever_they_stand(
            text in "[a\u{e9}\u{84}\u{86}\u{2027}\u{2026}\u{2030}\u{1f600}]{0,99}", at in 0_usize..100,
            separator in prop::sample::select(vec!['\u{85}', '\u{2028}', '\u{2029}']),
        ) {
            prop_assert_eq!(escape_separators(&text), text.as_str());
            let mut with: Vec<char> = text.chars().collect();
            with.insert(at.min(with.len()), separator);
            let with: String = with.into_iter().collect();
            let escaped = escape_separators(&with).into_owned();
            prop_assert_eq!(escaped.replace(separator_escape(separator).unwrap(), ""), text);
        }
    }
}

//! Strings written with no more escapes than they need.
//!
//! A text can be written in many ways, but this crate's writer uses only one. A string is brought
//! into that form without decoding: only numeric escapes and escaped slashes can differ, and the
//! parts between them are copied as a whole. Two texts are equal if their normal forms are.

use std::borrow::Cow;

use super::line::separator_escape;
use super::read::decode_unicode_escape;
use super::strings::find_nonstandard_escape;

/// Returns a string as this crate's writer would write it, with or without its quotes.
pub(super) fn normalized(written: &str) -> Cow<'_, str> {
    let bytes = written.as_bytes();
    let Some(mut found) = find_nonstandard_escape(bytes, 0) else { return Cow::Borrowed(written) };
    let mut normal = String::with_capacity(written.len());
    let mut copied = 0;
    loop {
        let before = &bytes[..found];
        let is_escaped = before.iter().rev().take_while(|byte| **byte == b'\\').count() % 2 == 1;
        if !is_escaped {
            normal.push_str(written.get(copied..found).unwrap_or_default());
            copied = match bytes.get(found + 1) {
                Some(b'u') => {
                    let (character, rest) =
                        decode_unicode_escape(written.get(found + 2..).unwrap_or_default());
                    push_escaped(&mut normal, character);
                    written.len() - rest.len()
                }
                // A slash, which needs no escape.
                _ => found + 1,
            };
        }
        match find_nonstandard_escape(bytes, copied.max(found + 1)) {
            Some(next) => found = next,
            None => break,
        }
    }
    normal.push_str(written.get(copied..).unwrap_or_default());
    Cow::Owned(normal)
}

/// Writes one character of a string.
fn push_escaped(out: &mut String, character: char) {
    let short = match character {
        '"' => "\\\"",
        '\\' => "\\\\",
        '\u{8}' => "\\b",
        '\u{c}' => "\\f",
        '\n' => "\\n",
        '\r' => "\\r",
        '\t' => "\\t",
        '\0'..'\u{20}' => return out.push_str(&format!("\\u{:04x}", u32::from(character))),
        other => match separator_escape(other) {
            Some(escape) => escape,
            None => return out.push(other),
        },
    };
    out.push_str(short);
}

#[cfg(test)]
mod tests {
    use super::super::read::read_string;
    use super::*;
    use crate::RawJson;
    use proptest::prelude::*;

    #[test]
    fn what_only_looks_like_an_escape_stays() {
        for (written, expected) in [
            (r#""\\u00e0""#, r#""\\u00e0""#),
            (r#""\\\u00e0""#, r#""\\à""#),
            (r#""\u005c\/\u0022""#, r#""\\/\"""#),
            (r#""\u001B\u000a""#, r#""\u001b\n""#),
            (r#""\ud83d\ude00\ud83d""#, "\"😀\u{fffd}\""),
            (r#""\u0085\u00e0\u2028\u2029""#, r#""\u0085à\u2028\u2029""#),
        ] {
            assert_eq!(normalized(written), expected, "{written}");
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn the_normal_form_is_what_the_writer_writes(
            pieces in prop::collection::vec(
                "\\\\[nrtbf/\"\\\\]|\\\\u[0-9a-f]{4}|\\\\ud83d|\\\\ude00|\\\\u00[01][0-9a-fA-F]|(\\\\\\\\){1,9}|[a-z u/\u{e0}\u{1f600}]{1,40}",
                0..20,
            ),
        ) {
            let written = format!("\"{}\"", pieces.concat());
            let expected = RawJson::from_text(&read_string(&written));
            prop_assert_eq!(normalized(&written), expected.as_str());
        }

        #[test]
        fn any_text_is_taken(text in "\\PC{0,40}|[u/0-9\\\\\"]{0,90}") {
            let _ = normalized(&text);
        }
    }
}

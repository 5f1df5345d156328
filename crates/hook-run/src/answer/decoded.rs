//! The output of a hook as text: decoded, and without terminal codes (reference/answers.md, "Standard
//! output on exit 0").

use std::borrow::Cow;
use std::ops::Range;

const ESCAPE: u8 = 0x1b;

/// Checks for the final byte of a control sequence that programs print: a letter, or one used for
/// keys and tab stops. Not `[` and `{`, which would swallow the beginning of an answer.
fn is_final(byte: u8) -> bool {
    byte.is_ascii_alphabetic() || matches!(byte, b'@' | b'`' | b'~')
}

/// A stream of a hook as text.
#[derive(Debug)]
pub(crate) struct DecodedOutput<'a> {
    raw: &'a [u8],
    /// Decoded and without terminal codes.
    bytes: Cow<'a, [u8]>,
    text: Cow<'a, str>,
    /// The part of the text that JavaScript's `trim` keeps.
    trimmed: Range<usize>,
    /// `true` if the stream is JSON, or nearly, in UTF-16.
    pub(crate) is_utf16: bool,
    /// `true` if the stream contained terminal codes.
    pub(crate) has_escape_codes: bool,
}

impl<'a> DecodedOutput<'a> {
    /// Decodes a captured stream. The text of truncated (`cut`) output stays empty.
    pub(crate) fn read(raw: &'a [u8], truncated: bool) -> Self {
        let utf16 = decoded_utf16(raw).filter(|text| begins_like_json(text.as_bytes()));
        let is_utf16 = utf16.is_some();
        let decoded = utf16.map_or(Cow::Borrowed(raw), |text| Cow::Owned(text.into_bytes()));
        let has_codes = decoded.contains(&ESCAPE);
        let bytes = if has_codes { Cow::Owned(strip_escape_codes(&decoded)) } else { decoded };
        let text = match &bytes {
            _ if truncated => Cow::default(),
            Cow::Borrowed(bytes) => String::from_utf8_lossy(bytes),
            Cow::Owned(bytes) => Cow::Owned(String::from_utf8_lossy(bytes).into_owned()),
        };
        let kept = trim_javascript(&text);
        let start = kept.as_ptr() as usize - text.as_ptr() as usize;
        let trimmed = start..start + kept.len();
        Self { raw, bytes, text, trimmed, is_utf16, has_escape_codes: has_codes }
    }

    /// Returns the trimmed text; it is empty for truncated output.
    pub(crate) fn text(&self) -> &str {
        self.text.get(self.trimmed.clone()).unwrap_or_default()
    }

    /// Returns the whole stream, decoded and without terminal codes, but not trimmed.
    pub(crate) fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Returns the whole stream as text, and also the raw bytes if it was UTF-16.
    pub(crate) fn texts(&self) -> impl Iterator<Item = &[u8]> {
        std::iter::once(&*self.bytes).chain(self.is_utf16.then_some(self.raw))
    }

    /// Checks whether this was probably meant to be JSON: its first visible character, quotes
    /// aside, opens an object or an array.
    pub(crate) fn begins_like_json(&self) -> bool {
        begins_like_json(&self.bytes)
    }

    /// Converts a line and column of [`text`](Self::text) to those of the captured stream.
    pub(crate) fn position(&self, line: usize, column: usize) -> (usize, usize) {
        let before = self.text.get(..self.trimmed.start).unwrap_or_default();
        match before.rsplit_once('\n') {
            _ if line > 1 => (line + before.matches('\n').count(), column),
            Some((lines, rest)) => (line + 1 + lines.matches('\n').count(), column + rest.len()),
            None => (line, column + before.len()),
        }
    }
}

/// Checks whether bytes were probably meant to be JSON.
pub(crate) fn begins_like_json(bytes: &[u8]) -> bool {
    let visible =
        |letter: &char| !letter.is_whitespace() && !letter.is_control() && !is_invisible(*letter);
    let quote = |letter: &char| matches!(letter, '"' | '\'' | '`');
    let mut letters = bytes.utf8_chunks().flat_map(|chunk| chunk.valid().chars());
    let first = letters.find(|letter| visible(letter) && !quote(letter));
    matches!(first, Some('{' | '['))
}

/// Checks for the replacement character, or a character without width that Unicode does not call a
/// control character.
fn is_invisible(letter: char) -> bool {
    matches!(
        letter,
        '\u{ad}' | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{2069}' | '\u{feff}' | '\u{fffd}'
    )
}

fn trim_javascript(text: &str) -> &str {
    text.trim_matches(|character: char| {
        character == '\u{feff}' || (character.is_whitespace() && character != '\u{85}')
    })
}

/// Decodes UTF-16. The bytes count as such if an ASCII character beside a zero byte follows a byte
/// order mark, or begins the text and is followed by another one.
fn decoded_utf16(bytes: &[u8]) -> Option<String> {
    let (mark_length, is_little_endian) = match bytes {
        [0xff, 0xfe, 1..=0x7f, 0, ..] => (2, true),
        [0xfe, 0xff, 0, 1..=0x7f, ..] => (2, false),
        [1..=0x7f, 0, 1..=0x7f, 0, ..] => (0, true),
        [0, 1..=0x7f, 0, 1..=0x7f, ..] => (0, false),
        _ => return None,
    };
    let units = bytes.get(mark_length..).unwrap_or_default().chunks(2).map(|unit| match unit {
        [low, high] if is_little_endian => u16::from_le_bytes([*low, *high]),
        [high, low] => u16::from_be_bytes([*high, *low]),
        _ => 0xfffd,
    });
    let decoded = char::decode_utf16(units);
    Some(decoded.map(|unit| unit.unwrap_or(char::REPLACEMENT_CHARACTER)).collect())
}

fn strip_escape_codes(bytes: &[u8]) -> Vec<u8> {
    let mut kept = Vec::with_capacity(bytes.len());
    let mut rest = bytes;
    while let Some(at) = rest.iter().position(|byte| *byte == ESCAPE) {
        let (before, code) = rest.split_at(at);
        kept.extend_from_slice(before);
        rest = code.get(escape_code_length(code)..).unwrap_or_default();
    }
    kept.extend_from_slice(rest);
    kept
}

/// Returns the length of the code at an escape character. For an unknown code it is that of the
/// escape character alone, so that no visible text is removed.
fn escape_code_length(code: &[u8]) -> usize {
    let length = match code.get(1) {
        Some(b'[') => {
            let parameters =
                code.iter().skip(2).take_while(|byte| matches!(byte, b'0'..=b'?')).count();
            let end = 2 + parameters;
            code.get(end).filter(|byte| is_final(**byte)).map(|_| end + 1)
        }
        // A title or link, ended by BEL, or by an escape character and a backslash.
        Some(b']') => {
            code.iter().skip(2).position(|byte| matches!(byte, 0..0x20 | b'{')).and_then(|length| {
                match code.get(2 + length..)? {
                    [0x07, ..] => Some(2 + length + 1),
                    [ESCAPE, b'\\', ..] => Some(2 + length + 2),
                    _ => None,
                }
            })
        }
        Some(b'(' | b')') => code.get(2).filter(|byte| byte.is_ascii_alphanumeric()).map(|_| 3),
        Some(b'=' | b'>' | b'7' | b'8' | b'c' | b'D' | b'E' | b'M') => Some(2),
        _ => None,
    };
    length.unwrap_or(1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn read(bytes: &[u8]) -> String {
        DecodedOutput::read(bytes, false).text().to_owned()
    }

    #[test]
    fn terminal_codes_are_removed_and_nothing_else_is() {
        for (printed, expected) in [
            ("\x1b[31mred\x1b[0m", "red"),
            ("\x1b[1;38;5;4m{\x1b[0m\"a\":1}\x1b(B\x1b[m", "{\"a\":1}"),
            ("\x1b]0;title\x07text\x1b]8;;u\x1b\\", "text"),
            ("\x1b[{\"a\":1}", "[{\"a\":1}"),
            ("\x1b]{\"a\":1}\x07", "]{\"a\":1}\x07"),
            ("\x1b]0;never ended", "]0;never ended"),
            ("\x1b[31", "[31"),
            ("\x1b", ""),
        ] {
            assert_eq!(read(printed.as_bytes()), expected, "{printed:?}");
        }
    }

    #[test]
    fn utf_16_is_recognised_with_and_without_a_mark() {
        for text in ["{\"a\":1}", " [1]", "\n{"] {
            let little: Vec<u8> = text.encode_utf16().flat_map(u16::to_le_bytes).collect();
            let big: Vec<u8> = text.encode_utf16().flat_map(u16::to_be_bytes).collect();
            for bytes in [
                &little[..],
                &big,
                &[&[0xff, 0xfe], &little[..]].concat(),
                &[&[0xfe, 0xff], &big[..]].concat(),
            ] {
                let printed = DecodedOutput::read(bytes, false);
                assert!(printed.is_utf16 && printed.text() == text.trim(), "{bytes:?}");
            }
        }
        assert!(!DecodedOutput::read(b"\xff\xfe\n{\"a\":1}", false).is_utf16);
        assert!(!DecodedOutput::read(b"a\0b\0\n{\"a\":1}", false).is_utf16);
        assert!(!DecodedOutput::read(b"{\"a\":1}\0\0", false).is_utf16);
        assert!(!DecodedOutput::read(b"\0{\"a\":1}", false).is_utf16);
    }

    #[test]
    fn what_begins_like_json_is_recognised_behind_what_is_not_visible() {
        for (printed, expected) in [
            ("{", true),
            (" \n\t[", true),
            ("\u{feff}\u{200b}{", true),
            ("\0\x1b[0m\x1b{", true),
            ("'{\"a\":1}'", true),
            ("text {", false),
            ("\"text\"", false),
            ("\x1b[31mred", false),
            ("", false),
        ] {
            assert_eq!(
                DecodedOutput::read(printed.as_bytes(), false).begins_like_json(),
                expected,
                "{printed:?}"
            );
        }
    }

    #[test]
    fn positions_are_those_of_what_was_written() {
        for (printed, expected) in [("x", (1, 3)), (" \n\n  x", (3, 5)), ("  x", (1, 5))] {
            assert_eq!(
                DecodedOutput::read(printed.as_bytes(), false).position(1, 3),
                expected,
                "{printed:?}"
            );
        }
        assert_eq!(DecodedOutput::read(b"\n x", false).position(2, 7), (3, 7));
    }

    proptest! {
        #[test]
        fn braces_and_brackets_after_escape_characters_stay(
            text in "[\x1b\\[\\]{}0;m\x07\\\\\"a ]{0,30}",
        ) {
            let read = read(text.as_bytes());
            prop_assert_eq!(read.matches('{').count(), text.matches('{').count(), "{:?}", text);
        }

        #[test]
        fn any_bytes_are_read(bytes in proptest::collection::vec(any::<u8>(), 0..60)) {
            let printed = DecodedOutput::read(&bytes, false);
            printed.begins_like_json();
            printed.position(1, 1);
        }
    }
}

//! Scanning of strings as they are written, many bytes at a time.
//!
//! Texts of models are long and full of escapes, and most of them are only skipped. So the scan
//! does not stop at escapes that do not matter, as a search for one byte does (docs/dev/dependencies.md
//! has the numbers). Loops over blocks of a fixed size have no early exit, so that the compiler
//! vectorizes them.

use std::ops::Range;

/// The number of bytes scanned at once in a long string.
const BLOCK: usize = 32;

/// The number of bytes scanned one by one before a string counts as long.
const SHORT: usize = 16;

/// Returns `true` if a string has no escapes and needs none: printable ASCII without quotes and
/// backslashes.
pub(super) fn is_plain(bytes: &[u8]) -> bool {
    let is_plain = |byte: &u8| matches!(byte, b' '..=b'~') & !matches!(byte, b'"' | b'\\');
    let are_plain = |block: &[u8]| block.iter().fold(true, |plain, byte| plain & is_plain(byte));
    bytes.chunks(BLOCK).all(are_plain)
}

/// Returns the number of bytes before the first quote or backslash, or all if there is neither.
pub(super) fn plain_length(bytes: &[u8]) -> usize {
    memchr::memchr2(b'"', b'\\', bytes).unwrap_or(bytes.len())
}

/// Returns the index after the closing quote of the string that opens at `open`.
pub fn end_of_string(text: &[u8], open: usize) -> Option<usize> {
    let mut at = open + 1;
    // Most strings are names and other short words.
    for byte in text.get(at..)?.iter().take(SHORT) {
        match byte {
            b'"' => return Some(at + 1),
            // The escaped byte does not end the string.
            b'\\' => {
                at += 2;
                break;
            }
            _ => at += 1,
        }
    }
    while let Some(block) = block_at(text, at)
        && let Some(one_before) = block_at(text, at.saturating_sub(1))
        && let Some(two_before) = block_at(text, at.saturating_sub(2))
    {
        if may_end(block, one_before, two_before)
            && let Some(end) = first_end(text, at..at + BLOCK)
        {
            return Some(end);
        }
        at += BLOCK;
    }
    first_end(text, at..text.len())
}

fn block_at(text: &[u8], at: usize) -> Option<&[u8; BLOCK]> {
    text.get(at..)?.first_chunk()
}

/// Returns `true` if a string may end in a block, given the blocks that begin one and two bytes
/// earlier: at a quote that follows no backslash (it ends) or two (it may end).
fn may_end(block: &[u8; BLOCK], one_before: &[u8; BLOCK], two_before: &[u8; BLOCK]) -> bool {
    let mut may_end = false;
    for index in 0..BLOCK {
        may_end |=
            (block[index] == b'"') & ((one_before[index] != b'\\') | (two_before[index] == b'\\'));
    }
    may_end
}

/// Returns the index after the first quote in the range that follows an even number of backslashes.
/// Counting stops at a quote, so each backslash is counted at most once.
fn first_end(text: &[u8], range: Range<usize>) -> Option<usize> {
    let is_end = |index: &usize| {
        text[*index] == b'"'
            && text[..*index].iter().rev().take_while(|byte| **byte == b'\\').count() % 2 == 0
    };
    range.into_iter().find(is_end).map(|index| index + 1)
}

/// Returns the index of the next escape from `from` on that this crate's writer might not write: a
/// numeric one or a slash. An escaped backslash before `u` or `/` counts too.
pub(super) fn find_nonstandard_escape(written: &[u8], mut from: usize) -> Option<usize> {
    let is_nonstandard =
        |first: u8, second: u8| (first == b'\\') & ((second == b'u') | (second == b'/'));
    while let Some(block) = block_at(written, from)
        && let Some(next) = block_at(written, from + 1)
    {
        let mut found = false;
        for index in 0..BLOCK {
            found |= is_nonstandard(block[index], next[index]);
        }
        if found {
            break;
        }
        from += BLOCK;
    }
    let rest = written.get(from..)?;
    rest.windows(2).position(|pair| is_nonstandard(pair[0], pair[1])).map(|found| from + found)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Strings that are hard to skip.
    fn written() -> impl Strategy<Value = String> {
        let piece = prop_oneof![
            4 => "\\\\[nrtbf/\"\\\\]",
            2 => "\\\\u[0-9a-f]{4}",
            2 => "(\\\\\\\\){1,40}",
            4 => "[a-z u/\u{e0}\u{65e5}\u{1f600}]{1,40}",
        ];
        prop::collection::vec(piece, 0..20).prop_map(|pieces| pieces.concat())
    }

    /// Returns the end of a string, byte by byte.
    fn end_by_byte(text: &[u8], open: usize) -> Option<usize> {
        let mut at = open + 1;
        loop {
            match text.get(at)? {
                b'"' => return Some(at + 1),
                b'\\' => at += 2,
                _ => at += 1,
            }
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn a_string_ends_where_reading_it_byte_by_byte_ends(
            before in written(), string in written(), after in written(),
        ) {
            let text = format!("\"{before}\",\"{string}\"{after}");
            let open = before.len() + 3;
            prop_assert_eq!(end_of_string(text.as_bytes(), 0), Some(before.len() + 2));
            prop_assert_eq!(end_of_string(text.as_bytes(), open), Some(open + string.len() + 2));
        }

        #[test]
        fn any_bytes_end_where_they_do_byte_by_byte(
            text in "\"[\"\\\\]{0,90}|\"[\"\\\\a]{0,90}|\"\\PC{0,90}",
        ) {
            for open in (0..text.len()).filter(|&open| text.as_bytes()[open] == b'"') {
                let text = text.as_bytes();
                prop_assert_eq!(end_of_string(text, open), end_by_byte(text, open));
            }
        }

        #[test]
        fn a_plain_string_has_no_other_form(
            plain in "[ !#-\\[\\]-~]{0,40}", at in 0_usize..41,
            other in prop_oneof![Just("\""), Just("\\"), Just("\n"), Just("\0"), Just("\u{7f}"), Just("\u{80}")],
        ) {
            prop_assert!(is_plain(plain.as_bytes()), "{}", plain);
            let (before, after) = plain.split_at(at.min(plain.len()));
            let with = format!("{before}{other}{after}");
            prop_assert!(!is_plain(with.as_bytes()), "{}", with);
        }

        #[test]
        fn another_escape_is_found_wherever_it_stands(
            before in "[a\\\\u/]{0,90}", after in "[a\\\\u/]{0,90}", from in 0_usize..190,
        ) {
            let written = format!("{before}\\u{after}");
            let other = |pair: &&[u8]| matches!(pair, [b'\\', b'u' | b'/']);
            let positions = written.as_bytes().windows(2).enumerate();
            let expected = positions.skip(from).find(|(_, pair)| other(pair)).map(|(position, _)| position);
            prop_assert_eq!(find_nonstandard_escape(written.as_bytes(), from), expected);
        }
    }
}

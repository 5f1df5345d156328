//! Hints that text was meant as an answer (reference/answers.md, "Invalid answers").

use std::borrow::Cow;

use hook_protocol::event::output::{COMMON_FIELDS, is_spelling_of};

/// Checks for a field name that only answers have. `reason` is too common, and the fields of
/// `hookSpecificOutput` occur only inside it.
fn is_answer_field(name: &str) -> bool {
    let common = COMMON_FIELDS.iter().map(|field| field.name).filter(|name| *name != "reason");
    let mut names = common.chain(["permissionDecision", "permissionDecisionReason"]);
    names.any(|known| is_spelling_of(name, known))
}

/// The maximum length of a name, and of the gap between it and its colon, in bytes.
const MAX_NAME_LENGTH: usize = 64;

/// Counts the fields of an answer after the first opening brace of a text. The syntax may be JSON,
/// nearly JSON or another language's: names in any quotes, or without quotes after a brace or
/// comma. Values do not matter, and NULs (UTF-16) are skipped.
pub(crate) fn answer_fields(text: &[u8]) -> usize {
    let text = match text.contains(&0) {
        true => Cow::Owned(text.iter().copied().filter(|byte| *byte != 0).collect::<Vec<u8>>()),
        false => Cow::Borrowed(text),
    };
    let Some(brace) = text.iter().position(|byte| *byte == b'{') else { return 0 };
    let colons = text.iter().enumerate().skip(brace).filter(|(_, byte)| **byte == b':');
    colons.filter(|(colon, _)| ends_with_field(text.get(..*colon).unwrap_or_default())).count()
}

fn ends_with_field(text: &[u8]) -> bool {
    let text = trim_trailing(text, |byte| byte.is_ascii_whitespace());
    let unquoted = trim_trailing(text, is_quote);
    let is_quoted = unquoted.len() < text.len();
    let is_name = |byte: u8| {
        byte.is_ascii_alphabetic() || matches!(byte, b'_' | b'-') || (is_quoted && byte == b' ')
    };
    let before = trim_trailing(unquoted, is_name);
    let name = unquoted.get(before.len()..).unwrap_or_default();
    let opens =
        || matches!(trim_trailing(before, |byte| byte.is_ascii_whitespace()), [.., b'{' | b',']);
    std::str::from_utf8(name).is_ok_and(is_answer_field) && (is_quoted || opens())
}

/// Checks for a quote of any language; bytes outside ASCII count as typographic quotes.
fn is_quote(byte: u8) -> bool {
    matches!(byte, b'"' | b'\'' | b'`' | b'\\' | 0x80..)
}

/// Strips trailing bytes of a kind from a text, up to the maximum length of a name.
fn trim_trailing(text: &[u8], is_kind: impl Fn(u8) -> bool) -> &[u8] {
    let count = text.iter().rev().take(MAX_NAME_LENGTH).take_while(|byte| is_kind(**byte)).count();
    text.get(..text.len() - count).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_of_an_answer_are_counted_in_whatever_way_they_are_written() {
        for (text, count) in [
            ("checking {\"decision\": \"deny\"}", 1),
            ("checking {'Decision' : 'deny', 'continue': False}", 2),
            ("checking {decision: deny, reason: r}", 1),
            ("note {reason: r,\n  hook_specific_output: {}}", 1),
            ("\"checking {\\\"decision\\\":\\\"deny\\\"}\"", 1),
            ("see {\u{201c}decision\u{201d}: \u{201c}deny\u{201d}}", 1),
            ("x{\0\"\0d\0e\0c\0i\0s\0i\0o\0n\0\"\0:\0", 1),
            ("decision: deny", 0),
            ("\"decision\": \"deny\"", 0),
            ("3 of {4}; my decision: none", 0),
            ("fn main() { loop { continue; } }", 0),
            ("{\"name\":\"x\",\"version\":\"1\",\"reason\":\"r\"}", 0),
            ("got {\"tool_name\":\"t\",\"tool_input\":{},\"hook_event_name\":\"BeforeTool\"}", 0),
            ("{\"decision", 0),
            ("", 0),
        ] {
            assert_eq!(answer_fields(text.as_bytes()), count, "{text:?}");
        }
    }
}

//! Replaces values in JSON, and in texts that contain JSON, in one pass.

use std::borrow::Cow;
use std::collections::HashSet;

use hook_json::line::into_string;
use hook_json::read::{decode_string, read_string};
use hook_json::scan::Scanner;
use hook_json::strings::end_of_string;
use hook_json::write::write_string;

/// The parts of a message that belong to the protocol and are never redacted.
#[derive(Debug, Clone, Copy)]
pub struct Exemptions<'w> {
    /// Field names and texts that stay, wherever they occur.
    pub texts: &'w HashSet<String>,
    /// Names of fields with engine-made objects. If values are withheld, objects of other fields
    /// are redacted as a whole.
    pub objects: &'w [&'static str],
}

/// The maximum depth of texts within texts: JSON in a JSON string, and so on. Each level doubles
/// the backslashes before a quote. Deeper texts are replaced.
const MAX_LEVELS: usize = 8;

/// The rules of a replacement.
pub(crate) trait Replacer {
    /// Returns the replacement for a redacted value.
    fn replacement(&self) -> &'static str;

    /// Returns a text with the replacements that apply to it as plain text.
    fn replace_plain<'t>(&self, text: &'t str) -> Cow<'t, str>;

    /// The same for a part of a text that is also compared as a whole: only the replacements that
    /// depend on where a text begins or ends.
    fn replace_token<'t>(&self, token: &'t str) -> Cow<'t, str>;

    /// Returns `true` if values of the field are replaced.
    fn is_field(&self, name: &str) -> bool;

    /// Returns `true` if all values are replaced, except those of the engine.
    fn withholds_all(&self) -> bool;
}

/// A copy of a text in which some ranges are replaced, in order.
struct Rewriter<'t> {
    text: &'t str,
    out: String,
    copied: usize,
}

impl<'t> Rewriter<'t> {
    fn new(text: &'t str) -> Self {
        Self { text, out: String::new(), copied: 0 }
    }

    fn replace(&mut self, start: usize, end: usize, replacement: &str) {
        self.out.push_str(self.text.get(self.copied..start).unwrap_or_default());
        self.out.push_str(replacement);
        self.copied = end;
    }

    /// Returns the new text, or `None` if nothing was replaced.
    fn finish(mut self) -> Option<String> {
        if self.copied == 0 && self.out.is_empty() {
            return None;
        }
        self.out.push_str(self.text.get(self.copied..).unwrap_or_default());
        Some(self.out)
    }
}

/// Returns a text as a JSON string.
fn to_json_string(text: &str) -> String {
    let mut out = Vec::with_capacity(text.len() + 2);
    write_string(&mut out, text);
    into_string(out)
}

/// Replaces values in valid JSON, or returns `None` if there is nothing to replace. Texts of the
/// protocol stay.
pub(crate) fn replace_in_json(
    json: &str,
    replacer: &impl Replacer,
    exempt: Exemptions<'_>,
) -> Option<String> {
    let bytes = json.as_bytes();
    let mut copy = Rewriter::new(json);
    let replacement = to_json_string(replacer.replacement());
    // For each open level, whether it is an object; and whether a name comes next.
    let (mut levels, mut is_name) = (Vec::new(), false);
    let mut at = 0;
    while let Some(byte) = bytes.get(at) {
        match byte {
            b'{' | b'[' => {
                levels.push(*byte == b'{');
                is_name = *byte == b'{';
                at += 1;
            }
            b'}' | b']' => {
                levels.pop();
                is_name = false;
                at += 1;
            }
            b',' => {
                is_name = levels.last() == Some(&true);
                at += 1;
            }
            b'"' => {
                let end = end_of_string(bytes, at).unwrap_or(bytes.len());
                let decoded =
                    decode_string(json.get(at..end).unwrap_or_default()).unwrap_or_default();
                let is_exempt = exempt.texts.contains(&*decoded);
                if !is_exempt && let Cow::Owned(new) = replaced_or_empty(&decoded, replacer) {
                    copy.replace(at, end, &to_json_string(&new));
                }
                if !is_name {
                    at = end;
                    continue;
                }
                is_name = false;
                at = value_after(bytes, end);
                let is_nested = matches!(bytes.get(at), Some(b'{' | b'['));
                let is_engine_field =
                    is_exempt && (!is_nested || exempt.objects.contains(&&*decoded));
                let is_withheld = replacer.withholds_all() && !is_engine_field;
                if !is_withheld && !replacer.is_field(&decoded) {
                    continue;
                }
                let end = end_of_value(json, at);
                let text = decode_string(json.get(at..end).unwrap_or_default());
                if !text.is_some_and(|text| exempt.texts.contains(&*text)) {
                    copy.replace(at, end, &replacement);
                }
                at = end;
            }
            b' ' | b'\n' | b'\r' | b'\t' | b':' => at += 1,
            _ => {
                let end = end_of_value(json, at);
                let text = json.get(at..end).unwrap_or_default();
                let is_number = matches!(byte, b'0'..=b'9' | b'-');
                if is_number && !replacer.withholds_all() && replacer.replace_plain(text) != text {
                    copy.replace(at, end, &replacement);
                }
                at = end.max(at + 1);
            }
        }
    }
    copy.finish()
}

/// Returns the text with replacements, owned if there are any, else empty.
fn replaced_or_empty(text: &str, replacer: &impl Replacer) -> Cow<'static, str> {
    match replace_in_text(text, replacer) {
        new if new == text => Cow::Borrowed(""),
        new => Cow::Owned(new.into_owned()),
    }
}

/// Replaces values in a text, and in complete or partial JSON within it.
pub(crate) fn replace_in_text<'t>(text: &'t str, replacer: &impl Replacer) -> Cow<'t, str> {
    replace_at_level(text, replacer, MAX_LEVELS)
}

fn replace_at_level<'t>(text: &'t str, replacer: &impl Replacer, levels: usize) -> Cow<'t, str> {
    match replace_embedded(text, replacer, levels) {
        Some(new) => Cow::Owned(replacer.replace_plain(&new).into_owned()),
        None => replacer.replace_plain(text),
    }
}

/// Replaces values of fields, and matches in strings.
///
/// The text may have quotes that belong to no JSON, so each quote is tried both as an opening and
/// as a closing one. Each level reads every byte only a few times.
fn replace_embedded(text: &str, replacer: &impl Replacer, levels: usize) -> Option<String> {
    let bytes = text.as_bytes();
    let first = text.find('"')?;
    let Some(remaining) = levels.checked_sub(1) else {
        return Some(replacer.replacement().to_owned());
    };
    let mut copy = Rewriter::new(text);
    let mut next = Some(first);
    let mut read_until = 0;
    while let Some(open) = next {
        let escapes = backslashes_before(bytes, open);
        if escapes % 2 == 1 && open >= read_until {
            // The text may begin inside a string, whose quotes are escaped: that string is read
            // first.
            let start = open - escapes;
            read_until = unescaped_quote(bytes, start);
            let decoded =
                read_string(&format!("\"{}\"", text.get(start..read_until).unwrap_or_default()));
            let new = replace_at_level(&decoded, replacer, remaining);
            if new != decoded {
                copy.replace(start, read_until, &escaped_content(&new));
                next = find_quote(text, read_until);
                continue;
            }
        }
        let closed = end_of_string(bytes, open);
        let end = closed.unwrap_or(bytes.len());
        let close = if closed.is_some() { end - 1 } else { end };
        let token = text.get(open + 1..close).unwrap_or_default();
        let decoded = match token.contains('\\') {
            true => Cow::Owned(read_string(&format!("\"{token}\""))),
            false => Cow::Borrowed(token),
        };
        if closed.is_some()
            && let Some(value) = colon_after(bytes, end)
            && replacer.is_field(&decoded)
        {
            let end_of_value = end_of_value(text, value);
            copy.replace(value, end_of_value, &to_json_string(replacer.replacement()));
            next = find_quote(text, end_of_value);
            continue;
        }
        let new = match token.contains('\\') {
            true => replace_at_level(&decoded, replacer, remaining),
            false => replacer.replace_token(&decoded),
        };
        if new != decoded {
            copy.replace(open + 1, close, &escaped_content(&new));
        }
        if closed.is_some()
            && let Some(value) = colon_after(bytes, end)
            && matches!(bytes.get(value), Some(b'0'..=b'9' | b'-'))
        {
            let end_of_value = end_of_value(text, value);
            let number = text.get(value..end_of_value).unwrap_or_default();
            if replacer.replace_token(number) != number {
                copy.replace(value, end_of_value, &to_json_string(replacer.replacement()));
                next = find_quote(text, end_of_value);
                continue;
            }
        }
        // The closing quote of one string may open another.
        next = closed.is_some().then_some(close);
    }
    copy.finish()
}

/// Returns a text as a JSON string without the quotes.
fn escaped_content(text: &str) -> String {
    let written = to_json_string(text);
    written.get(1..written.len().saturating_sub(1)).unwrap_or_default().to_owned()
}

fn find_quote(text: &str, from: usize) -> Option<usize> {
    Some(from + text.get(from..)?.find('"')?)
}

fn backslashes_before(bytes: &[u8], at: usize) -> usize {
    let before = bytes.get(..at).unwrap_or_default();
    before.iter().rev().take_while(|byte| **byte == b'\\').count()
}

/// Returns the position of the next unescaped quote, or the end of the text.
fn unescaped_quote(bytes: &[u8], from: usize) -> usize {
    let mut at = from;
    while let Some(byte) = bytes.get(at) {
        match byte {
            b'\\' => at += 2,
            b'"' => return at,
            _ => at += 1,
        }
    }
    bytes.len()
}

fn skip_whitespace(bytes: &[u8], mut at: usize) -> usize {
    while let Some(b' ' | b'\n' | b'\r' | b'\t') = bytes.get(at) {
        at += 1;
    }
    at
}

/// Returns the start of a field's value, after the colon.
fn value_after(bytes: &[u8], name_end: usize) -> usize {
    colon_after(bytes, name_end).unwrap_or(name_end)
}

fn colon_after(bytes: &[u8], name_end: usize) -> Option<usize> {
    let colon = skip_whitespace(bytes, name_end);
    (bytes.get(colon) == Some(&b':')).then(|| skip_whitespace(bytes, colon + 1))
}

/// Returns the end of the value at `start`, or the end of the text.
fn end_of_value(text: &str, start: usize) -> usize {
    let value = Scanner::at_value(text, start).value();
    let end = value.map_or(text.len(), |range| range.end);
    // In a text that is not JSON, it may end anywhere.
    if text.is_char_boundary(end) { end } else { text.len() }
}

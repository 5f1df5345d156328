//! Text of unknown origin, made safe for people and logs.
//!
//! Text from hooks, models, projects and clients must not move a cursor, change colours, ring a
//! bell, look like something else, or fake a line of its own. Code that shows such text to a person
//! or writes it to a record must use one of these functions.

mod nearest;

use std::borrow::Cow;
use std::fmt::{self, Write};
use std::path::Path;

pub use nearest::nearest;

/// The maximum length of an untrusted text repeated in a message, in characters.
const MAX_SHOWN_CHARS: usize = 100;

/// Returns `true` if a terminal interprets the character, or displays nothing for it.
pub fn is_hidden(character: char) -> bool {
    character.is_control() || is_invisible(character)
}

/// Returns a text on one line: every hidden character, including line ends and tabs, becomes an
/// escape (`\n`, `\u{1b}`).
///
/// ```
/// assert_eq!(hook_json::text::one_line("a\nb\u{202e}"), r"a\nb\u{202e}");
/// ```
pub fn one_line(text: &str) -> Cow<'_, str> {
    escape_hidden(text, |character| is_hidden(character).then(|| character.escape_default()))
}

/// A value displayed as by [`one_line`], formatted lazily.
#[derive(Debug, Clone, Copy)]
pub struct OneLine<T>(pub T);

impl<T: fmt::Display> fmt::Display for OneLine<T> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(EscapingWriter(formatter), "{}", self.0)
    }
}

/// Displays paths to people. `Path::display` is unsafe for that: a name may contain line ends,
/// escapes and marks that reverse the direction of text.
pub trait PathText {
    /// Returns the path on one line, with hidden characters as escapes.
    fn shown(&self) -> OneLine<std::path::Display<'_>>;
}

impl PathText for Path {
    #[allow(clippy::disallowed_methods, reason = "it is escaped here")]
    fn shown(&self) -> OneLine<std::path::Display<'_>> {
        OneLine(self.display())
    }
}

/// Escapes the text written to it, as [`one_line`] does.
struct EscapingWriter<'a, 'f>(&'a mut fmt::Formatter<'f>);

impl fmt::Write for EscapingWriter<'_, '_> {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        self.0.write_str(&one_line(text))
    }
}

/// Escapes a text of several lines: line ends and tabs stay, and a carriage return before a line
/// end is removed.
pub fn escaped_lines(text: &str) -> String {
    let escape = |character: char| {
        let is_kept = matches!(character, '\n' | '\t') || !is_hidden(character);
        (!is_kept).then(|| character.escape_unicode())
    };
    escape_hidden(&text.replace("\r\n", "\n"), escape).into_owned()
}

/// Escapes a text for a terminal. Line ends and tabs stay, and if `coloured`, so do changes of
/// colour and weight.
pub fn for_terminal(text: &str, coloured: bool) -> Cow<'_, str> {
    if !has_hidden(text) {
        return Cow::Borrowed(text);
    }
    let mut shown = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, escape)) = rest.split_once('\u{1b}').filter(|_| coloured) {
        shown.push_str(&escaped_lines(before));
        let sequence_len = color_sequence_len(escape).unwrap_or_default();
        match escape.get(..sequence_len).filter(|sequence| !sequence.is_empty()) {
            Some(colour) => {
                shown.push('\u{1b}');
                shown.push_str(colour);
            }
            None => shown.push_str(&escaped_lines("\u{1b}")),
        }
        rest = escape.get(sequence_len..).unwrap_or_default();
    }
    shown.push_str(&escaped_lines(rest));
    Cow::Owned(shown)
}

/// Returns the length of a change of colour or weight after its escape character, if the text
/// begins with one. None of the accepted ones hides text.
fn color_sequence_len(sequence: &str) -> Option<usize> {
    let inner = sequence.strip_prefix('[')?;
    let end = inner.find('m').filter(|end| *end <= 16)?;
    let is_known = |number: &str| {
        number.is_empty()
            || matches!(number.parse(), Ok(0_u8..=4 | 22..=24 | 30..=37 | 39 | 90..=97))
    };
    inner.get(..end)?.split(';').all(is_known).then_some(end + 2)
}

/// Returns the first and last line of a text on [one line](one_line).
///
/// ```
/// assert_eq!(hook_json::text::first_and_last("it failed:\n  at 1\nno luck\n"), "it failed: … no luck");
/// ```
pub fn first_and_last(text: &str) -> String {
    let mut lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
    let first = one_line(lines.next().unwrap_or_default());
    match lines.next_back() {
        None => first.into_owned(),
        Some(last) => format!("{first} … {}", one_line(last)),
    }
}

/// Returns the beginning of a text on [one line](one_line), for a message.
pub fn shortened(text: &str) -> String {
    match text.char_indices().nth(MAX_SHOWN_CHARS) {
        Some((end, _)) => format!("{}…", one_line(text.get(..end).unwrap_or_default())),
        None => one_line(text).into_owned(),
    }
}

/// Returns the longest beginning of a text of at most `most` bytes, in whole characters.
pub fn truncated(text: &str, max_bytes: usize) -> &str {
    let end = (0..=max_bytes.min(text.len())).rev().find(|end| text.is_char_boundary(*end));
    text.get(..end.unwrap_or_default()).unwrap_or_default()
}

/// Returns the beginning of a text, with the number of omitted bytes.
pub fn truncated_with_count(text: &str, max_bytes: usize) -> String {
    let kept = truncated(text, max_bytes);
    match text.len() - kept.len() {
        0 => text.to_owned(),
        more => format!("{kept}… ({more} more bytes)"),
    }
}

/// The first bytes of a program's output on [one line](one_line), with bytes that are not UTF-8 as
/// `\xff` and with the number of omitted bytes.
#[derive(Debug, Clone, Copy)]
pub struct OutputExcerpt<'a> {
    bytes: &'a [u8],
    max_bytes: usize,
}

impl<'a> OutputExcerpt<'a> {
    /// Shows at most `most` bytes.
    pub fn new(bytes: &'a [u8], max_bytes: usize) -> Self {
        Self { bytes, max_bytes }
    }
}

impl fmt::Display for OutputExcerpt<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (shown, cut) = self.bytes.split_at(self.bytes.len().min(self.max_bytes));
        for chunk in shown.utf8_chunks() {
            formatter.write_str(&one_line(chunk.valid()))?;
            for byte in chunk.invalid() {
                write!(formatter, "\\x{byte:02x}")?;
            }
        }
        match cut.len() {
            0 => Ok(()),
            cut => write!(formatter, "… ({cut} more bytes)"),
        }
    }
}

/// Returns equivalent JSON with escapes for hidden characters in strings.
pub fn escaped_json(json: &str) -> Cow<'_, str> {
    escape_hidden(json, |character| is_hidden(character).then_some(JsonEscape(character)))
}

/// A character as one or two JSON escapes, by its UTF-16 units.
struct JsonEscape(char);

impl fmt::Display for JsonEscape {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut units = [0; 2];
        self.0
            .encode_utf16(&mut units)
            .iter()
            .try_for_each(|unit| write!(formatter, "\\u{unit:04x}"))
    }
}

/// Returns `true` if the text has a hidden character.
pub(crate) fn has_hidden(text: &str) -> bool {
    let plain = text.is_ascii() && !text.bytes().any(|byte| byte.is_ascii_control());
    !plain && text.chars().any(is_hidden)
}

fn escape_hidden<E: fmt::Display>(text: &str, escape: impl Fn(char) -> Option<E>) -> Cow<'_, str> {
    match has_hidden(text) {
        true => Cow::Owned(escaped(text, escape)),
        false => Cow::Borrowed(text),
    }
}

/// Returns a text in which some characters are replaced by escapes.
pub(crate) fn escaped<E: fmt::Display>(text: &str, escape: impl Fn(char) -> Option<E>) -> String {
    let mut escaped = String::with_capacity(text.len() + 64);
    for character in text.chars() {
        match escape(character) {
            // Writing to memory cannot fail.
            Some(escape) => drop(write!(escaped, "{escape}")),
            None => escaped.push(character),
        }
    }
    escaped
}

/// Returns `true` for characters that are invisible or reorder others: soft hyphens, zero-width
/// spaces, joiners, directions, line separators, fillers, and characters that can hide a text.
fn is_invisible(character: char) -> bool {
    matches!(
        character,
        '\u{ad}'
            | '\u{34f}'
            | '\u{61c}'
            | '\u{115f}'..='\u{1160}'
            | '\u{17b4}'..='\u{17b5}'
            | '\u{180b}'..='\u{180f}'
            | '\u{200b}'..='\u{200f}'
            | '\u{2028}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}'
            | '\u{3164}'
            // The last two variation selectors only choose between text and emoji.
            | '\u{fe00}'..='\u{fe0d}'
            | '\u{feff}'
            | '\u{ffa0}'
            | '\u{fff9}'..='\u{fffb}'
            | '\u{1d173}'..='\u{1d17a}'
            | '\u{e0000}'..='\u{e0fff}'
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn control_sequences_are_shown_and_not_obeyed() {
        assert_eq!(
            escaped_lines("a\u{1b}[31mb\u{7}\r\n\tc\u{9b}"),
            "a\\u{1b}[31mb\\u{7}\n\tc\\u{9b}"
        );
        assert_eq!(escaped_lines("rm x\rls  "), "rm x\\u{d}ls  ");
        assert_eq!(one_line("a\r\n\tb\u{7f}"), "a\\r\\n\\tb\\u{7f}");
    }

    #[test]
    fn of_all_escapes_only_colours_reach_a_terminal() {
        let painted = "\u{1b}[1m\u{1b}[31ma\nb\u{1b}[0m\t";
        assert_eq!(for_terminal(painted, true), painted);
        assert!(!for_terminal(painted, false).contains('\u{1b}'));
        for hostile in
            ["\u{1b}[8m", "\u{1b}[2J", "\u{1b}]0;x\u{7}", "\u{1b}[31", "\u{1b}", "\u{1b}[1;8m"]
        {
            let shown = for_terminal(hostile, true).into_owned();
            assert!(!shown.contains('\u{1b}'), "{shown:?}");
        }
    }

    #[test]
    fn what_is_not_seen_is_shown() {
        for character in
            "\u{202a}\u{202e}\u{2066}\u{2069}\u{200b}\u{200d}\u{feff}\u{ad}\u{e0041}\u{2028}\u{85}"
                .chars()
        {
            let text = format!("a{character}b");
            assert_eq!(escaped_lines(&text), format!("a{}b", character.escape_unicode()));
            assert_eq!(one_line(&text), escaped_lines(&text));
        }
        for text in ["naïve ⚠\u{fe0f} שלום 日本", " "] {
            assert_eq!(escaped_lines(text), text);
            assert_eq!(one_line(text), text);
        }
    }

    #[test]
    fn output_is_cut_and_what_is_no_text_is_shown() {
        let bytes = b"a\n\xff\xc3";
        assert_eq!(OutputExcerpt::new(bytes, 9).to_string(), "a\\n\\xff\\xc3");
        assert_eq!(OutputExcerpt::new(bytes, 1).to_string(), "a… (3 more bytes)");
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn nothing_hidden_is_left_and_what_is_seen_stays(text in any::<String>()) {
            prop_assert!(!one_line(&text).chars().any(is_hidden));
            prop_assert!(!escaped_lines(&text).chars().any(|it| is_hidden(it) && it != '\n' && it != '\t'));
            prop_assert_eq!(for_terminal(&text, false), escaped_lines(&text));
            let hides = for_terminal(&text, true).contains(|it| is_hidden(it) && !"\n\t\u{1b}".contains(it));
            prop_assert!(!hides);
            if !text.chars().any(is_hidden) {
                prop_assert_eq!(one_line(&text), text.as_str());
                prop_assert_eq!(escaped_lines(&text), text.as_str());
            }
        }

        #[test]
        fn json_means_the_same_with_what_is_hidden_in_escapes(text in any::<String>()) {
            let value = serde_json::json!({ &text: [&text] });
            let written = value.to_string();
            let shown = escaped_json(&written);
            prop_assert!(!shown.chars().any(is_hidden));
            prop_assert_eq!(serde_json::from_str::<serde_json::Value>(&shown).unwrap(), value);
        }
    }
}

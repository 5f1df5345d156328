//! Finding JSON objects in output that is not JSON as a whole (reference/answers.md, "Noise").
//!
//! A script may print a banner, debug lines or a file's content around its answer. One pass finds
//! every complete object, in linear time and without recursion.

use std::ops::Range;

/// The positions at which objects may begin.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum SearchMode {
    /// At the start of a line.
    LineStart,
    /// After other text, too.
    Anywhere,
}

/// Calls `found` with each complete outermost object that begins at such a position, in order. Uses
/// memory of at most about twice the text's length.
pub(crate) fn each_object(text: &[u8], mode: SearchMode, mut found: impl FnMut(&[u8])) {
    // Positions are stored as 32 bits; no sensible limit lets more text through.
    let text = text.get(..u32::MAX as usize).unwrap_or(text);
    let mut scanner = Scanner::default();
    let mut line_start = true;
    for (at, &byte) in text.iter().enumerate() {
        let may_begin = line_start || mode == SearchMode::Anywhere;
        if !scanner.accept(at, byte, may_begin) {
            // The text stops being JSON here. Open objects are lost; complete ones stay.
            scanner.give_up();
            if line_start || byte == b'{' {
                scanner.accept(at, byte, may_begin);
            }
        }
        scanner.complete(&mut |range| found(text.get(range).unwrap_or_default()));
        line_start = byte == b'\n' || (line_start && !is_visible(text, at));
    }
    scanner.give_up();
    scanner.complete(&mut |range| found(text.get(range).unwrap_or_default()));
}

/// Checks whether the byte at `at` is visible. An object after blanks, control characters or broken
/// text still counts as being at the start of its line.
fn is_visible(text: &[u8], at: usize) -> bool {
    match text.get(at..).unwrap_or_default() {
        [b'\0'..=b' ' | 0x7f, ..] => false,
        [0x80..=0xff, ..] => {
            let character = text.get(at..text.len().min(at + 4)).unwrap_or_default();
            let first =
                character.utf8_chunks().next().and_then(|chunk| chunk.valid().chars().next());
            !matches!(first, None | Some('\u{fffd}' | '\u{feff}'))
        }
        _ => true,
    }
}

#[derive(Default)]
struct Scanner {
    /// One entry per open object or array: `true` for an object.
    open: Vec<bool>,
    /// The open objects that began at a searched position.
    starts: Vec<Start>,
    state: State,
    /// Complete objects inside objects that are still open.
    found: Vec<(u32, u32)>,
}

/// The position and depth of an object's first byte.
struct Start {
    at: u32,
    depth: u32,
}

#[derive(Default, Clone, Copy, PartialEq)]
enum State {
    /// Outside of any object.
    #[default]
    Outside,
    /// A key or the closing brace.
    FirstKey,
    /// A key.
    Key,
    /// The colon after a key.
    Colon,
    /// A value or the closing bracket.
    FirstItem,
    /// A value.
    Value,
    /// A comma or the innermost closing bracket.
    CommaOrEnd,
    /// Inside a string: a key or a value.
    String { is_key: bool },
    /// After a backslash in a string.
    Escape { is_key: bool },
    /// In the hexadecimal digits of an escape.
    Unicode { is_key: bool, remaining: u8 },
    /// Inside a number or literal, which the JSON parser checks.
    Literal,
}

impl Scanner {
    fn give_up(&mut self) {
        self.open.clear();
        self.starts.clear();
        self.state = State::Outside;
    }

    /// Accepts the next byte; returns `false` if the text stops being JSON there.
    fn accept(&mut self, at: usize, byte: u8, may_begin: bool) -> bool {
        let blank = matches!(byte, b' ' | b'\t' | b'\r' | b'\n');
        match self.state {
            State::Outside => {
                if byte == b'{' && may_begin {
                    self.begin(at, true, true);
                }
            }
            State::String { is_key } => match byte {
                b'"' if is_key => self.state = State::Colon,
                b'"' => self.state = State::CommaOrEnd,
                b'\\' => self.state = State::Escape { is_key },
                0..0x20 => return false,
                _ => {}
            },
            State::Escape { is_key } => match byte {
                b'u' => self.state = State::Unicode { is_key, remaining: 4 },
                b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't' => {
                    self.state = State::String { is_key };
                }
                _ => return false,
            },
            State::Unicode { is_key, remaining } => {
                if !byte.is_ascii_hexdigit() {
                    return false;
                }
                self.state = match remaining {
                    1 => State::String { is_key },
                    _ => State::Unicode { is_key, remaining: remaining - 1 },
                };
            }
            State::Literal => match byte {
                b',' | b'}' | b']' => return self.after_value(at, byte),
                _ if blank => self.state = State::CommaOrEnd,
                b'0'..=b'9' | b'a'..=b'z' | b'E' | b'+' | b'-' | b'.' => {}
                _ => return false,
            },
            _ if blank => {}
            State::FirstKey if byte == b'}' => self.end(at),
            State::FirstKey | State::Key => match byte {
                b'"' => self.state = State::String { is_key: true },
                _ => return false,
            },
            State::Colon => match byte {
                b':' => self.state = State::Value,
                _ => return false,
            },
            State::FirstItem if byte == b']' => self.end(at),
            State::FirstItem | State::Value => match byte {
                b'{' => self.begin(at, true, may_begin),
                b'[' => self.begin(at, false, false),
                b'"' => self.state = State::String { is_key: false },
                b'-' | b'0'..=b'9' | b't' | b'f' | b'n' => self.state = State::Literal,
                _ => return false,
            },
            State::CommaOrEnd => return self.after_value(at, byte),
        }
        true
    }

    fn after_value(&mut self, at: usize, byte: u8) -> bool {
        match (byte, self.open.last()) {
            (b',', Some(true)) => self.state = State::Key,
            (b',', Some(false)) => self.state = State::Value,
            (b'}', Some(true)) | (b']', Some(false)) => self.end(at),
            _ => return false,
        }
        true
    }

    fn begin(&mut self, at: usize, is_object: bool, is_start: bool) {
        self.open.push(is_object);
        if is_start {
            self.starts.push(Start { at: at as u32, depth: self.open.len() as u32 });
        }
        self.state = if is_object { State::FirstKey } else { State::FirstItem };
    }

    fn end(&mut self, at: usize) {
        if let Some(start) = self.starts.pop_if(|start| start.depth as usize == self.open.len()) {
            // An object inside a complete one is its data, not a separate answer.
            while self.found.pop_if(|(inner, _)| *inner > start.at).is_some() {}
            self.found.push((start.at, at as u32 + 1));
        }
        self.open.pop();
        self.state = if self.open.is_empty() { State::Outside } else { State::CommaOrEnd };
    }

    /// Reports the objects that no open object can still contain.
    fn complete(&mut self, found: &mut impl FnMut(Range<usize>)) {
        if self.open.is_empty() && !self.found.is_empty() {
            for (start, end) in self.found.drain(..) {
                found(start as usize..end as usize);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn found_at(mode: SearchMode, text: impl AsRef<[u8]>) -> Vec<String> {
        let mut found = Vec::new();
        each_object(text.as_ref(), mode, |object| {
            found.push(String::from_utf8_lossy(object).into_owned());
        });
        found
    }

    fn found(text: impl AsRef<[u8]>) -> Vec<String> {
        found_at(SearchMode::LineStart, text)
    }

    #[test]
    fn objects_at_line_starts_are_found_alone() {
        for (text, expected) in [
            ("banner\n{\"a\":1}", vec!["{\"a\":1}"]),
            ("{\"a\":1} trailing", vec!["{\"a\":1}"]),
            ("{\"a\":1}\0\0", vec!["{\"a\":1}"]),
            ("say {\"a\":1}", vec![]),
            ("{\"a\":1}\n{\"b\":[{}]}", vec!["{\"a\":1}", "{\"b\":[{}]}"]),
            ("it's 5\" wide\n{\"a\":1}", vec!["{\"a\":1}"]),
            ("{ \"unfinished\n{\"a\":1}", vec!["{\"a\":1}"]),
            ("{\"a\":\n{\"b\":1}", vec!["{\"b\":1}"]),
            ("{\"a\":\n{\"b\":1}\n} x", vec!["{\"a\":\n{\"b\":1}\n}"]),
            ("{\"a\":{ x }\n}\n{}", vec!["{}"]),
            ("{'decision':'deny'}", vec![]),
            ("\u{fffd}\0 {\"a\":1}!", vec!["{\"a\":1}"]),
            ("{\"a\":\"\\u00e9\\n\"}.", vec!["{\"a\":\"\\u00e9\\n\"}"]),
        ] {
            assert_eq!(found(text), expected, "{text:?}");
        }
    }

    #[test]
    fn objects_behind_other_text_are_found_too() {
        for (text, expected) in [
            ("say {\"a\":1}", vec!["{\"a\":1}"]),
            ("3 of {4} {\"a\":{\"b\":2}} {}", vec!["{\"a\":{\"b\":2}}", "{}"]),
            ("x {\"a\": y {\"b\":1}", vec!["{\"b\":1}"]),
            ("x {\"a\": {\"b\":1}", vec!["{\"b\":1}"]),
            ("[[{\"a\":1}],{\"b\":2}]", vec!["{\"a\":1}", "{\"b\":2}"]),
        ] {
            assert_eq!(found_at(SearchMode::Anywhere, text), expected, "{text:?}");
        }
    }

    #[test]
    fn a_mebibyte_of_braces_is_read_in_one_pass() {
        for unit in ["{", "{\n", "{\"a\":\n", "{}\n", "[{\"a\":[\n", "{\"a\":{\"b\":1},"] {
            let text = unit.repeat((1 << 20) / unit.len());
            found(&text);
            found_at(SearchMode::Anywhere, &text);
        }
    }

    proptest! {
        #[test]
        fn any_object_after_any_other_lines_is_found(
            lines in "([^{\r]|\n){0,80}",
            value in "[a-z \"\\\\]{0,10}",
        ) {
            let object = serde_json::json!({ "decision": value }).to_string();
            let text = format!("{lines}\n{object}\nrest");
            prop_assert_eq!(found(&text), vec![object]);
        }

        #[test]
        fn whatever_is_found_begins_a_line_and_is_an_object(
            text in "[{}\\[\\]\",:\\\\u0a\n\0\u{fffd} ]{0,200}",
        ) {
            for object in found(&text) {
                prop_assert!(object.starts_with("{") && object.ends_with("}"), "{}", object);
                prop_assert!(text.contains(&object));
            }
        }

        #[test]
        fn broken_text_around_an_object_does_not_hide_it(
            before in proptest::collection::vec(0x80_u8.., 0..6),
            after in proptest::collection::vec(any::<u8>(), 0..6),
        ) {
            prop_assume!(before.utf8_chunks().all(|chunk| chunk.valid().is_empty()));
            let text = [&before[..], b"{\"a\":1}", &after[..]].concat();
            prop_assert_eq!(&found(text)[0], "{\"a\":1}");
        }
    }
}

//! Finding JSON objects in output that is not JSON as a whole (protocol.md §3, "Noise").
//!
//! A script may print a banner, debug lines or somebody's file around its answer. Every complete
//! object that begins at the start of a line is found, in one pass: time is linear and nothing
//! recurses, whatever the text.

use std::ops::Range;

/// The ranges of complete objects that begin at the start of a line, outermost only.
pub(super) fn objects_at_line_starts(text: &str) -> Vec<Range<usize>> {
    let mut scanner = Scanner::default();
    let mut line_start = true;
    for (at, byte) in text.bytes().enumerate() {
        if !scanner.accept(at, byte, line_start) {
            // The text stops being JSON here. What was open is lost; what is complete stays.
            scanner.give_up();
            if line_start || byte == b'{' {
                scanner.accept(at, byte, line_start);
            }
        }
        line_start = byte == b'\n' || (line_start && !is_visible(text, at));
    }
    scanner.found
}

/// Whether the byte at `at` is visible: blanks, control characters and what is left of broken
/// text do not push an object away from the start of its line.
fn is_visible(text: &str, at: usize) -> bool {
    let byte = text.as_bytes().get(at).copied().unwrap_or_default();
    let invisible = byte <= b' ' || byte == 0x7f;
    let broken = ["\u{fffd}", "\u{feff}"].iter().any(|sign| {
        (0..3).any(|back| at >= back && text.as_bytes()[at - back..].starts_with(sign.as_bytes()))
    });
    !(invisible || broken)
}

#[derive(Default)]
struct Scanner {
    /// The open objects and arrays, with what may come next in the innermost.
    open: Vec<Open>,
    state: State,
    found: Vec<Range<usize>>,
}

struct Open {
    start: usize,
    is_object: bool,
    at_line_start: bool,
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
    /// A comma or what closes the innermost.
    CommaOrEnd,
    /// Inside a string; which is a key or a value.
    String { is_key: bool },
    /// After a backslash in a string.
    Escape { is_key: bool },
    /// In the hexadecimal digits of an escape.
    Unicode { is_key: bool, left: u8 },
    /// Inside a number or a word; what it says is left to the JSON reader.
    Word,
}

impl Scanner {
    fn give_up(&mut self) {
        self.open.clear();
        self.state = State::Outside;
    }

    /// Takes the next byte; false when the text stops being JSON with it.
    fn accept(&mut self, at: usize, byte: u8, line_start: bool) -> bool {
        let blank = matches!(byte, b' ' | b'\t' | b'\r' | b'\n');
        match self.state {
            State::Outside => {
                if byte == b'{' && line_start {
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
                b'u' => self.state = State::Unicode { is_key, left: 4 },
                b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't' => {
                    self.state = State::String { is_key };
                }
                _ => return false,
            },
            State::Unicode { is_key, left } => {
                if !byte.is_ascii_hexdigit() {
                    return false;
                }
                self.state = match left {
                    1 => State::String { is_key },
                    _ => State::Unicode { is_key, left: left - 1 },
                };
            }
            State::Word => match byte {
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
                b'{' => self.begin(at, true, line_start),
                b'[' => self.begin(at, false, line_start),
                b'"' => self.state = State::String { is_key: false },
                b'-' | b'0'..=b'9' | b't' | b'f' | b'n' => self.state = State::Word,
                _ => return false,
            },
            State::CommaOrEnd => return self.after_value(at, byte),
        }
        true
    }

    fn after_value(&mut self, at: usize, byte: u8) -> bool {
        let Some(innermost) = self.open.last() else { return false };
        match (byte, innermost.is_object) {
            (b',', true) => self.state = State::Key,
            (b',', false) => self.state = State::Value,
            (b'}', true) | (b']', false) => self.end(at),
            _ => return false,
        }
        true
    }

    fn begin(&mut self, start: usize, is_object: bool, at_line_start: bool) {
        self.open.push(Open { start, is_object, at_line_start });
        self.state = if is_object { State::FirstKey } else { State::FirstItem };
    }

    fn end(&mut self, at: usize) {
        if let Some(ended) = self.open.pop()
            && ended.is_object
            && ended.at_line_start
        {
            // What is inside a complete object is its data, not an answer of its own.
            while self.found.last().is_some_and(|inner| inner.start > ended.start) {
                self.found.pop();
            }
            self.found.push(ended.start..at + 1);
        }
        self.state = if self.open.is_empty() { State::Outside } else { State::CommaOrEnd };
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn found(text: &str) -> Vec<&str> {
        objects_at_line_starts(text).into_iter().map(|range| &text[range]).collect()
    }

    #[test]
    fn objects_are_found_at_line_starts_alone() {
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
    fn a_mebibyte_of_braces_is_read_in_one_pass() {
        for unit in ["{", "{\n", "{\"a\":\n", "{}\n", "[{\"a\":[\n"] {
            let text = unit.repeat((1 << 20) / unit.len());
            objects_at_line_starts(&text);
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
        fn any_text_is_scanned_without_panic(text in "[{}\\[\\]\",:\\\\u0a\n\0\u{fffd} ]{0,200}") {
            for range in objects_at_line_starts(&text) {
                prop_assert!(text.get(range).is_some());
            }
        }
    }
}

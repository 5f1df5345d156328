//! The modules' status texts, in one line.

use std::collections::BTreeMap;

use hook_json::text::one_line;
use unicode_width::UnicodeWidthChar;

/// The maximum number of keys, and the maximum length of a text in characters.
const MAX_KEYS: usize = 64;
const MAX_TEXT: usize = 1_024;

/// Texts by key (`ui.setStatus`), shown in one line.
/// ```
/// use hook_bus::module::StatusLine;
///
/// let mut status = StatusLine::new();
/// status.set("b", Some("two\twords\n"));
/// status.set("a", Some("漢字"));
/// assert_eq!(status.render(80), "漢字 two words");
/// assert_eq!(status.render(3), "漢", "wide characters count two");
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct StatusLine {
    texts: BTreeMap<String, String>,
}

impl StatusLine {
    /// Creates an empty status line.
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets or removes the text of a key. Returns `false` if there is no room: there are at most 64
    /// keys.
    pub fn set(&mut self, key: &str, text: Option<&str>) -> bool {
        let Some(text) = text else {
            self.texts.remove(key);
            return true;
        };
        if self.texts.len() >= MAX_KEYS && !self.texts.contains_key(key) {
            return false;
        }
        let text: String = text.chars().take(MAX_TEXT).collect();
        let parts: Vec<&str> =
            text.split([' ', '\t', '\r', '\n']).filter(|part| !part.is_empty()).collect();
        // Control characters are escaped, since they could change the terminal.
        self.texts.insert(key.to_owned(), one_line(&parts.join(" ")).into_owned());
        true
    }

    /// Returns all texts, ordered by key, cut to this number of columns.
    pub fn render(&self, width: usize) -> String {
        let texts: Vec<&str> =
            self.texts.values().map(String::as_str).filter(|text| !text.is_empty()).collect();
        let mut line = String::new();
        let mut used = 0;
        for character in texts.join(" ").chars() {
            used += character.width().unwrap_or(0);
            if used > width {
                break;
            }
            line.push(character);
        }
        line
    }

    /// Checks whether nothing is shown.
    pub fn is_empty(&self) -> bool {
        self.texts.values().all(String::is_empty)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_sorted_cleaned_joined_and_cut() {
        for (texts, width, expected) in [
            (vec![("b", "2"), ("a", "1")], 9, "1 2"),
            (vec![("a", " x \r\n\t y  ")], 9, "x y"),
            (vec![("a", " \t "), ("b", "y")], 9, "y"),
            (vec![("a", "abc"), ("b", "def")], 5, "abc d"),
            (vec![("a", "漢字漢字")], 5, "漢字"),
            (vec![("a", "e\u{301}e\u{301}x")], 2, "e\u{301}e\u{301}"),
            (vec![("a", "\u{1b}[31mred")], 80, r"\u{1b}[31mred"),
            (vec![("a", "x")], 0, ""),
        ] {
            let mut status = StatusLine::new();
            for (key, text) in &texts {
                assert!(status.set(key, Some(text)));
            }
            assert_eq!(status.render(width), expected, "{texts:?}");
        }
    }

    #[test]
    fn a_text_is_replaced_and_taken_away_and_keys_are_bounded() {
        let mut status = StatusLine::new();
        status.set("a", Some("1"));
        status.set("a", Some("2"));
        assert_eq!(status.render(9), "2");
        status.set("a", None);
        assert!(status.is_empty());
        for key in 0..MAX_KEYS {
            assert!(status.set(&key.to_string(), Some("x")));
        }
        assert!(!status.set("one more", Some("x")));
        assert!(status.set("0", Some("y")));
    }
}

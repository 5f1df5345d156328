//! Whether a text is JSON, in as few steps as that takes.
//!
//! Every message and every value that passes through is checked once. `serde_json` could do all of
//! it, and does what is rare: it says where a text stops being JSON, and decides on texts that nest
//! deep.

use super::strings::plain_length_in_json;

/// How many levels of arrays and objects are followed here.
const LEVELS: u32 = u64::BITS;

/// Whether `text` is one JSON value, perhaps with blanks around it. False also where it nests deeper
/// than is followed here.
pub(super) fn is_certainly_json(text: &str) -> bool {
    let mut check = Check { bytes: text.as_bytes(), at: 0, objects: 0, depth: 0 };
    check.whole().is_some()
}

/// How far the text is known to be JSON. Each step is nothing where it is not.
struct Check<'t> {
    bytes: &'t [u8],
    at: usize,
    /// For each open level, the innermost last, whether it is an object.
    objects: u64,
    depth: u32,
}

impl Check<'_> {
    fn whole(&mut self) -> Option<()> {
        loop {
            self.value()?;
            // What may come behind a value.
            loop {
                self.skip_blanks();
                if self.depth == 0 {
                    return (self.at == self.bytes.len()).then_some(());
                }
                match self.next()? {
                    b',' => break,
                    b'}' if self.is_in_object() => self.leave(),
                    b']' if !self.is_in_object() => self.leave(),
                    _ => return None,
                }
            }
            self.skip_blanks();
            if self.is_in_object() {
                self.key()?;
            }
        }
    }

    /// Steps over a value, and into arrays and objects up to the first value that is neither, or to
    /// the end of an empty one.
    fn value(&mut self) -> Option<()> {
        loop {
            self.skip_blanks();
            match self.next()? {
                b'"' => return self.rest_of_string(),
                b'{' => {
                    self.enter(true)?;
                    self.skip_blanks();
                    if self.take(b'}') {
                        self.leave();
                        return Some(());
                    }
                    self.key()?;
                }
                b'[' => {
                    self.enter(false)?;
                    self.skip_blanks();
                    if self.take(b']') {
                        self.leave();
                        return Some(());
                    }
                }
                b't' => return self.word(b"rue"),
                b'f' => return self.word(b"alse"),
                b'n' => return self.word(b"ull"),
                b'-' => {
                    let first = self.next()?;
                    return self.rest_of_number(first);
                }
                first => return self.rest_of_number(first),
            }
        }
    }

    /// Steps over an object's key and the colon behind it.
    fn key(&mut self) -> Option<()> {
        self.take(b'"').then_some(())?;
        self.rest_of_string()?;
        self.skip_blanks();
        self.take(b':').then_some(())
    }

    fn rest_of_string(&mut self) -> Option<()> {
        loop {
            self.at += plain_length_in_json(self.bytes.get(self.at..)?);
            match self.next()? {
                b'"' => return Some(()),
                b'\\' => match self.next()? {
                    b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't' => {}
                    b'u' => {
                        let digits = self.bytes.get(self.at..self.at + 4)?;
                        digits.iter().all(u8::is_ascii_hexdigit).then_some(())?;
                        self.at += 4;
                    }
                    _ => return None,
                },
                // A character below a space.
                _ => return None,
            }
        }
    }

    fn rest_of_number(&mut self, first: u8) -> Option<()> {
        match first {
            b'0' => {}
            b'1'..=b'9' => self.skip_digits(),
            _ => return None,
        }
        if self.take(b'.') {
            self.digits()?;
        }
        if self.take(b'e') || self.take(b'E') {
            let _sign = self.take(b'+') || self.take(b'-');
            self.digits()?;
        }
        Some(())
    }

    /// Steps over digits, of which there must be one.
    fn digits(&mut self) -> Option<()> {
        self.next()?.is_ascii_digit().then(|| self.skip_digits())
    }

    fn skip_digits(&mut self) {
        while let Some(b'0'..=b'9') = self.bytes.get(self.at) {
            self.at += 1;
        }
    }

    fn word(&mut self, rest: &[u8]) -> Option<()> {
        self.bytes.get(self.at..)?.starts_with(rest).then_some(())?;
        self.at += rest.len();
        Some(())
    }

    fn skip_blanks(&mut self) {
        while let Some(b' ' | b'\n' | b'\r' | b'\t') = self.bytes.get(self.at) {
            self.at += 1;
        }
    }

    fn next(&mut self) -> Option<u8> {
        let byte = self.bytes.get(self.at).copied()?;
        self.at += 1;
        Some(byte)
    }

    fn take(&mut self, expected: u8) -> bool {
        let found = self.bytes.get(self.at) == Some(&expected);
        self.at += usize::from(found);
        found
    }

    fn enter(&mut self, object: bool) -> Option<()> {
        (self.depth < LEVELS).then_some(())?;
        self.depth += 1;
        self.objects = self.objects << 1 | u64::from(object);
        Some(())
    }

    fn leave(&mut self) {
        self.depth -= 1;
        self.objects >>= 1;
    }

    fn is_in_object(&self) -> bool {
        self.objects & 1 == 1
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use serde_json::value::RawValue;

    fn is_json(text: &str) -> bool {
        serde_json::from_str::<&RawValue>(text).is_ok()
    }

    #[test]
    fn deep_nesting_is_left_to_others() {
        let nested = |levels: usize| format!("{}{}", "[".repeat(levels), "]".repeat(levels));
        assert!(is_certainly_json(&nested(LEVELS as usize)));
        assert!(!is_certainly_json(&nested(LEVELS as usize + 1)));
        assert!(!is_certainly_json(&"[".repeat(100_000)));
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(2_000) })]

        #[test]
        fn what_is_json_is_what_serde_json_takes_for_it(
            text in prop::collection::vec(
                prop::sample::select(vec![
                    "{", "}", "[", "]", ",", ":", "\"", "\"a\"", "\"a\":", "\\", "\\n", "\\u00e0", "\\u0", "\\x",
                    " ", "\n", "\t", "\r", "\u{b}", "\u{a0}", "\u{e9}", "\u{1f}", "\u{7f}", "true", "false", "null",
                    "nul", "0", "-", "-0", "01", "12", ".", ".5", "e", "E+", "e-7", "1.5e3", "{}", "[]", "\u{feff}",
                ]),
                0..9,
            ),
        ) {
            let text = text.concat();
            prop_assert_eq!(is_certainly_json(&text), is_json(&text), "{}", text);
        }

        #[test]
        fn json_with_one_byte_changed_is_what_serde_json_takes_it_for(
            at in 0_usize..99, byte in prop::sample::select(b"{}[],:\"\\ \n0-.eunatx\x01".to_vec()), inserts in any::<bool>(),
        ) {
            let text = r#" {"a":[1,-0.5e+7,{}, [],true ,null],"long enough for words":"x\u00E9\n","b":{"c":"\\"}} "#;
            let mut bytes = text.as_bytes().to_vec();
            prop_assert!(is_certainly_json(text));
            let at = at.min(bytes.len() - 1);
            if inserts {
                bytes.insert(at, byte);
            } else {
                bytes[at] = byte;
            }
            let text = String::from_utf8(bytes).unwrap();
            prop_assert_eq!(is_certainly_json(&text), is_json(&text), "{}", text);
        }
    }
}

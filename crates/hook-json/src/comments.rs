//! Comments and trailing commas in JSON that people write.

use std::borrow::Cow;

/// The syntax that a file may have beyond JSON.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Comments {
    /// Nothing else.
    None,
    /// Comments, `//` and `/* */`.
    Allowed,
    /// Comments and trailing commas.
    AndTrailingCommas,
}

/// Blanks out anything but JSON, so that positions do not change.
pub fn without_comments(text: &str, comments: Comments) -> Cow<'_, str> {
    if comments == Comments::None {
        return Cow::Borrowed(text);
    }
    let mut bytes = text.as_bytes().to_vec();
    let (mut position, mut in_string) = (0, false);
    // The last byte outside of comments and blanks, and the position of a comma after a value.
    let (mut last, mut comma) = (b'[', None);
    while let Some(byte) = bytes.get(position).copied() {
        let rest = text.as_bytes().get(position..).unwrap_or_default();
        position += match (byte, rest.get(1)) {
            (b'\\', _) if in_string => 2,
            (b'"', _) => {
                in_string = !in_string;
                last = byte;
                1
            }
            _ if in_string => 1,
            (b'/', Some(b'/')) => overwrite(&mut bytes, position, line_length(rest)),
            (b'/', Some(b'*')) => overwrite(&mut bytes, position, comment_length(rest)),
            (byte, _) if byte.is_ascii_whitespace() => 1,
            (byte, _) => {
                match (byte, comma) {
                    (b'}' | b']', Some(comma))
                        if last == b',' && comments == Comments::AndTrailingCommas =>
                    {
                        overwrite(&mut bytes, comma, 1);
                    }
                    _ => comma = (!b"[{,:".contains(&last)).then_some(position),
                }
                last = byte;
                1
            }
        };
    }
    // Only whole comments were replaced, so it is still UTF-8.
    String::from_utf8(bytes).map_or(Cow::Borrowed(text), Cow::Owned)
}

/// Returns the length of the line at the start of a text, whose end is any that editors know.
fn line_length(text: &[u8]) -> usize {
    let is_end = |at: usize| {
        let rest = text.get(at..).unwrap_or_default();
        let is_separator =
            rest.starts_with("\u{2028}".as_bytes()) || rest.starts_with("\u{2029}".as_bytes());
        is_separator || rest.starts_with(b"\n") || rest.starts_with(b"\r")
    };
    (0..text.len()).find(|at| is_end(*at)).unwrap_or(text.len())
}

/// Returns the length of the comment between `/*` and `*/` at the start of a text.
fn comment_length(text: &[u8]) -> usize {
    let end = text.windows(2).skip(2).position(|window| window == b"*/");
    end.map_or(text.len(), |end| end + 4)
}

fn overwrite(bytes: &mut [u8], position: usize, length: usize) -> usize {
    let blanked = bytes.iter_mut().skip(position).take(length).filter(|byte| **byte != b'\n');
    blanked.for_each(|byte| *byte = b' ');
    length
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comments_and_last_commas_become_blanks() {
        for (text, expected) in [
            ("{\"a\": 1} // c", "{\"a\": 1}     "),
            ("[1, // c\r2]", "[1,     \r2]"),
            ("{/* c\n*/\"a\": \"//\",}", "{    \n  \"a\": \"//\" }"),
            ("[1, 2, // c\n]", "[1, 2      \n]"),
            (r#"["\\\"//", 1]"#, r#"["\\\"//", 1]"#),
            ("[1 /* never ends", "[1              "),
            ("[\"é\" /* é */]", "[\"é\"         ]"),
            ("[{\"a\": [1,], }, ]", "[{\"a\": [1 ]  }  ]"),
            // No comma without a value, and one at most.
            ("{,}", "{,}"),
            ("[1,,]", "[1,,]"),
            ("{\"a\":,}", "{\"a\":,}"),
        ] {
            let found = without_comments(text, Comments::AndTrailingCommas);
            assert_eq!(found.len(), text.len(), "{text}");
            assert_eq!(found, expected, "{text}");
        }
        assert_eq!(without_comments("[1,]", Comments::Allowed), "[1,]");
        assert_eq!(without_comments("[1]//", Comments::None), "[1]//");
    }
}

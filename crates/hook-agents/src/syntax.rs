//! Settings that are not plain JSON.

use std::borrow::Cow;

/// The syntax accepted beyond JSON.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Comments {
    /// Nothing else.
    None,
    /// Comments, `//` and `/* */`.
    Allowed,
    /// Comments and trailing commas.
    AndTrailingCommas,
}

/// Blanks out anything but JSON, so that positions do not change.
pub(super) fn without_comments(text: &str, comments: Comments) -> Cow<'_, str> {
    if comments == Comments::None {
        return Cow::Borrowed(text);
    }
    let mut bytes = text.as_bytes().to_vec();
    let (mut position, mut in_string) = (0, false);
    // The position of a comma with only blanks after it so far.
    let mut comma = None;
    while let Some(byte) = bytes.get(position).copied() {
        let next = bytes.get(position + 1).copied();
        let rest = text.as_bytes().get(position..).unwrap_or_default();
        let length = match (byte, next) {
            (b'\\', _) if in_string => 2,
            (b'"', _) => {
                in_string = !in_string;
                comma = None;
                1
            }
            _ if in_string => 1,
            (b'/', Some(b'/')) => overwrite(&mut bytes, position, comment_length(rest, b"\n", 0)),
            (b'/', Some(b'*')) => overwrite(&mut bytes, position, comment_length(rest, b"*/", 2)),
            (b',', _) => {
                comma = Some(position);
                1
            }
            (b'}' | b']', _) => {
                if let Some(comma) =
                    comma.take().filter(|_| comments == Comments::AndTrailingCommas)
                {
                    overwrite(&mut bytes, comma, 1);
                }
                1
            }
            (byte, _) if byte.is_ascii_whitespace() => 1,
            _ => {
                comma = None;
                1
            }
        };
        position += length;
    }
    // Only whole comments were replaced, so it is still UTF-8.
    String::from_utf8(bytes).map_or(Cow::Borrowed(text), Cow::Owned)
}

/// Returns the length of the comment at the start of a text.
fn comment_length(text: &[u8], end: &[u8], extra: usize) -> usize {
    let start = text.windows(end.len()).skip(2).position(|window| window == end);
    start.map_or(text.len(), |start| start + 2 + extra)
}

fn overwrite(bytes: &mut [u8], position: usize, length: usize) -> usize {
    let blanked = bytes.iter_mut().skip(position).take(length).filter(|byte| **byte != b'\n');
    blanked.for_each(|byte| *byte = b' ');
    length
}

/// Converts TOML settings to JSON. Positions are lost.
pub(super) fn toml_to_json(text: &str) -> Result<String, String> {
    let settings: serde_json::Value =
        toml::from_str(text).map_err(|error| error.message().to_owned())?;
    Ok(settings.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comments_and_last_commas_become_blanks() {
        for (text, expected) in [
            ("{\"a\": 1} // c", "{\"a\": 1}     "),
            ("{/* c\n*/\"a\": \"//\",}", "{    \n  \"a\": \"//\" }"),
            ("[1, 2, // c\n]", "[1, 2      \n]"),
            (r#"["\\\"//", 1]"#, r#"["\\\"//", 1]"#),
            ("[1 /* never ends", "[1              "),
            ("[\"é\" /* é */]", "[\"é\"         ]"),
        ] {
            let found = without_comments(text, Comments::AndTrailingCommas);
            assert_eq!(found.len(), text.len(), "{text}");
            assert_eq!(found, expected, "{text}");
        }
        assert_eq!(without_comments("[1,]", Comments::Allowed), "[1,]");
        assert_eq!(without_comments("[1]//", Comments::None), "[1]//");
    }
}

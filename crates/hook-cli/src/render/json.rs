//! JSON for people: the same text, broken into lines.

/// The maximum depth at which lines are broken.
const MAX_DEPTH: usize = 32;

/// Breaks JSON into lines, with two spaces for each level. Numbers and strings stay unchanged, and
/// nesting is unlimited.
pub(super) fn pretty(json: &str) -> String {
    let mut out = String::with_capacity(json.len() * 2);
    let mut depth = 0_usize;
    let mut characters = json.chars().filter(|character| !character.is_ascii_control()).peekable();
    while let Some(character) = characters.next() {
        match character {
            '"' => {
                out.push(character);
                while let Some(inside) = characters.next() {
                    out.push(inside);
                    match inside {
                        '\\' => out.extend(characters.next()),
                        '"' => break,
                        _ => {}
                    }
                }
            }
            '{' | '[' => {
                out.push(character);
                while characters.next_if_eq(&' ').is_some() {}
                match characters.next_if(|next| matches!(next, '}' | ']')) {
                    Some(end) => out.push(end),
                    None => {
                        depth += 1;
                        break_line(&mut out, depth);
                    }
                }
            }
            '}' | ']' => {
                if depth <= MAX_DEPTH {
                    break_line(&mut out, depth.saturating_sub(1));
                }
                depth = depth.saturating_sub(1);
                out.push(character);
            }
            ',' => {
                out.push(character);
                break_line(&mut out, depth);
            }
            ':' => out.push_str(": "),
            ' ' => {}
            other => out.push(other),
        }
    }
    out
}

fn break_line(out: &mut String, depth: usize) {
    if depth <= MAX_DEPTH {
        out.push('\n');
        out.extend(std::iter::repeat_n("  ", depth));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn json_is_broken_into_lines_and_otherwise_kept() {
        for (json, expected) in [
            ("{}", "{}"),
            (r#"{"a":[ ],"b":{ }}"#, "{\n  \"a\": [],\n  \"b\": {}\n}"),
            (
                r#"{"a":[1e007,{"b":"{,:\"]"}]}"#,
                "{\n  \"a\": [\n    1e007,\n    {\n      \"b\": \"{,:\\\"]\"\n    }\n  ]\n}",
            ),
            ("{\n\t\"a\" : \"b  c\"\n}", "{\n  \"a\": \"b  c\"\n}"),
        ] {
            assert_eq!(pretty(json), expected);
        }
    }

    #[test]
    fn what_nests_too_deep_stays_on_its_line() {
        let deep = format!("{}{}", "[".repeat(100_000), "]".repeat(100_000));
        let text = pretty(&deep);
        assert!(text.len() < 3 * deep.len(), "{}", text.len());
        let without_blanks: String = text.chars().filter(|it| !it.is_whitespace()).collect();
        assert_eq!(without_blanks, deep);
    }
}

//! Sets of characters in globs, rewritten so that they do not match `/`, as the library's sets do.

/// Returns the set whose opening bracket was read, without `/` among its members. A set that is
/// unclosed or invalid is returned as it is, so that the library reports the error.
pub(super) fn without_slash(characters: &mut std::str::Chars<'_>) -> String {
    let mut rest = characters.clone();
    let is_negated = matches!(rest.clone().next(), Some('!' | '^'));
    if is_negated {
        rest.next();
    }
    let opening = if is_negated { "[!" } else { "[" };
    let mut content = String::new();
    loop {
        match rest.next() {
            // A bracket at the beginning is a member of the set.
            Some(']') if !content.is_empty() => break,
            Some(character) => content.push(character),
            None => {
                *characters = rest;
                return format!("{opening}{content}");
            }
        }
    }
    *characters = rest;
    let members = ranges(&content).map(|ranges| match is_negated {
        true => ranges.into_iter().chain([('/', '/')]).collect(),
        false => ranges.into_iter().flat_map(split_at_slash).collect(),
    });
    match members {
        Some(members) => to_glob(opening, members),
        None => format!("{opening}{content}]"),
    }
}

/// Returns the ranges of a set as the library reads them; `None` if one is invalid.
fn ranges(content: &str) -> Option<Vec<(char, char)>> {
    let mut ranges: Vec<(char, char)> = Vec::new();
    let mut in_range = false;
    for character in content.chars() {
        match (character, ranges.last_mut()) {
            ('-', Some(_)) if !in_range => in_range = true,
            (_, Some(last)) if in_range => {
                last.1 = character;
                in_range = false;
            }
            _ => ranges.push((character, character)),
        }
    }
    if in_range {
        ranges.push(('-', '-'));
    }
    ranges.iter().all(|(first, last)| first <= last).then_some(ranges)
}

/// Returns a range without `/`: the range itself, or its parts before and after.
fn split_at_slash((first, last): (char, char)) -> impl Iterator<Item = (char, char)> {
    let has_slash = first <= '/' && '/' <= last;
    let whole = (!has_slash).then_some((first, last));
    // `.` and `0` are the neighbors of `/`.
    let before = (has_slash && first < '/').then_some((first, '.'));
    let after = (has_slash && last > '/').then_some(('0', last));
    [whole, before, after].into_iter().flatten()
}

/// Returns the set as a glob. Characters that are special at some positions are put at others.
fn to_glob(opening: &str, mut members: Vec<(char, char)>) -> String {
    // A set with only `/` becomes one that matches nothing: no path contains NUL.
    if members.is_empty() {
        members.push(('\0', '\0'));
    }
    let is_special = |character: char| matches!(character, ']' | '-' | '!' | '^');
    let mut specials: Vec<char> = Vec::new();
    let mut out = String::new();
    for (mut first, mut last) in members {
        while is_special(first) && first < last {
            specials.push(first);
            first = next_char(first);
        }
        while is_special(last) && first < last {
            specials.push(last);
            last = previous_char(last);
        }
        match is_special(first) {
            true => specials.push(first),
            false if first == last => out.push(first),
            false => out.extend([first, '-', last]),
        }
    }
    let has = |character: char| specials.contains(&character);
    let bracket = if has(']') { "]" } else { "" };
    // Neither may be the first member, unless the set has no other.
    let marks: String = ['!', '^'].into_iter().filter(|mark| has(*mark)).collect();
    let hyphen = if has('-') { "-" } else { "" };
    let filler = if bracket.is_empty() && out.is_empty() && opening == "[" { "\0" } else { "" };
    format!("{opening}{bracket}{filler}{out}{marks}{hyphen}]")
}

fn next_char(character: char) -> char {
    char::from_u32(u32::from(character) + 1).unwrap_or(character)
}

fn previous_char(character: char) -> char {
    char::from_u32(u32::from(character) - 1).unwrap_or(character)
}

#[cfg(test)]
mod tests {
    use super::*;
    use globset::GlobBuilder;
    use proptest::prelude::*;

    fn set(text: &str) -> String {
        without_slash(&mut text.chars())
    }

    fn matches(glob: &str, text: &str) -> Option<bool> {
        let glob = GlobBuilder::new(glob).literal_separator(true).build().ok()?;
        Some(glob.compile_matcher().is_match(text))
    }

    #[test]
    fn what_is_read_ends_where_the_set_does() {
        for (text, expected, left) in [
            ("ab]c", "[ab]", "c"),
            ("!]]c", "[!]/]", "c"),
            ("!-a]", "[!a/-]", ""),
            ("ab", "[ab", ""),
            ("!", "[!", ""),
            ("z-a]x", "[z-a]", "x"),
        ] {
            let mut characters = text.chars();
            assert_eq!(without_slash(&mut characters), expected, "{text}");
            assert_eq!(characters.as_str(), left, "{text}");
        }
    }

    proptest! {
        #[test]
        fn a_set_matches_what_it_did_but_for_a_slash(
            content in "[]!^ a-c~+.0-9/-]{1,6}", character in "[]!^ -~]",
        ) {
            let original = format!("[{content}]");
            let own = set(&format!("{content}]"));
            // If a set ends early, the text after it is not checked here.
            if own.ends_with(']') && without_slash_reads_all(&content) {
                let expected = matches(&original, &character);
                let found = matches(&own, &character);
                let slash = character == "/";
                prop_assert_eq!(found, expected.map(|it| it && !slash), "{} {}", original, own);
            }
        }
    }

    fn without_slash_reads_all(content: &str) -> bool {
        let text = format!("{content}]");
        let mut characters = text.chars();
        without_slash(&mut characters);
        characters.as_str().is_empty()
    }
}

//! Sets of characters in globs, made to never match `/`: the library's match it, as ranges do.

/// The set whose bracket was read, without `/` among what it matches; as it stands, where it does
/// not end or is none, so that the library says what is wrong.
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
            // At the beginning, a bracket is one of the characters.
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
        Some(members) => written(opening, members),
        None => format!("{opening}{content}]"),
    }
}

/// The ranges of a set as the library reads them; `None` where one is none.
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

/// A range without `/`: itself, or what is before and behind.
fn split_at_slash((first, last): (char, char)) -> impl Iterator<Item = (char, char)> {
    let has_slash = first <= '/' && '/' <= last;
    let whole = (!has_slash).then_some((first, last));
    // `.` and `0` stand around it.
    let before = (has_slash && first < '/').then_some((first, '.'));
    let behind = (has_slash && last > '/').then_some(('0', last));
    [whole, before, behind].into_iter().flatten()
}

/// The set as a glob. What means something else at some place stands where it does not.
fn written(opening: &str, mut members: Vec<(char, char)>) -> String {
    // Nothing is left of a set that only `/` is in: no path has a NUL in it.
    if members.is_empty() {
        members.push(('\0', '\0'));
    }
    let is_special = |character: char| matches!(character, ']' | '-' | '!' | '^');
    let mut specials: Vec<char> = Vec::new();
    let mut out = String::new();
    for (mut first, mut last) in members {
        while is_special(first) && first < last {
            specials.push(first);
            first = next(first);
        }
        while is_special(last) && first < last {
            specials.push(last);
            last = before(last);
        }
        match is_special(first) {
            true => specials.push(first),
            false if first == last => out.push(first),
            false => out.extend([first, '-', last]),
        }
    }
    let has = |character: char| specials.contains(&character);
    let bracket = if has(']') { "]" } else { "" };
    // Neither stands first, but where nothing else is in the set.
    let marks: String = ['!', '^'].into_iter().filter(|mark| has(*mark)).collect();
    let hyphen = if has('-') { "-" } else { "" };
    let filler = if bracket.is_empty() && out.is_empty() && opening == "[" { "\0" } else { "" };
    format!("{opening}{bracket}{filler}{out}{marks}{hyphen}]")
}

fn next(character: char) -> char {
    char::from_u32(u32::from(character) + 1).unwrap_or(character)
}

fn before(character: char) -> char {
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
            // A set that ends early leaves text behind it, which is not looked at here.
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

//! Shell patterns for paths: `*`, `?`, `[a-z]`, `[!a]`, and a backslash before a literal character.

/// Returns `true` if a relative path matches a pattern, component by component; `**` matches any
/// number of them, and a leading dot needs no explicit match.
pub fn path_matches(pattern: &str, path: &str) -> bool {
    let pattern: Vec<&str> = pattern.split('/').filter(|part| !matches!(*part, "" | ".")).collect();
    let match_component = |pattern: &[&str], component: &str| {
        let wanted: Vec<char> = pattern.first()?.chars().collect();
        glob_matches(&wanted, component).then_some(1)
    };
    matches_items(&pattern, path.split('/'), |part| *part == "**", match_component)
}

/// Returns `true` if a text matches the characters of a pattern.
pub fn glob_matches(pattern: &[char], text: &str) -> bool {
    // Most texts differ at one end already.
    let differs = |wanted: Option<&char>, found: Option<char>| {
        wanted.is_some_and(|wanted| !"*?[]\\".contains(*wanted) && Some(*wanted) != found)
    };
    if differs(pattern.last(), text.chars().next_back())
        || differs(pattern.first(), text.chars().next())
    {
        return false;
    }
    matches_items(pattern, text.chars(), |part| *part == '*', match_character)
}

/// Returns `true` if all items match a pattern, in which a star matches any number of them.
/// `match_one` returns the number of pattern parts that match the next item, if it matches.
fn matches_items<P, T>(
    pattern: &[P],
    mut items: impl Iterator<Item = T> + Clone,
    is_star: impl Fn(&P) -> bool,
    match_one: impl Fn(&[P], T) -> Option<usize>,
) -> bool {
    let mut rest = pattern;
    // What follows the last star, and the items that it does not stand for.
    let mut last_star = None;
    loop {
        if let Some((_, behind)) = rest.split_first().filter(|(first, _)| is_star(first)) {
            last_star = Some((behind, items.clone()));
            rest = behind;
            continue;
        }
        let mut after = items.clone();
        let Some(item) = after.next() else { return rest.is_empty() };
        if let Some(length) = match_one(rest, item) {
            rest = rest.get(length..).unwrap_or_default();
            items = after;
        } else if let Some((behind, left)) = &mut last_star {
            left.next();
            rest = behind;
            items = left.clone();
        } else {
            return false;
        }
    }
}

/// Returns the length of the pattern's first part, if it matches the character.
fn match_character(pattern: &[char], character: char) -> Option<usize> {
    match pattern {
        ['?', ..] => Some(1),
        ['\\', escaped, ..] => (*escaped == character).then_some(2),
        ['[', class @ ..] => match match_class(class, character) {
            Some((is_match, length)) => is_match.then_some(length + 1),
            None => (character == '[').then_some(1),
        },
        [literal, ..] => (*literal == character).then_some(1),
        [] => None,
    }
}

/// Returns whether a character is in the class after a `[`, and the length of the class with its
/// `]`; `None` if there is no class.
fn match_class(class: &[char], character: char) -> Option<(bool, usize)> {
    let negated = matches!(class, ['!' | '^', ..]);
    let mut at = usize::from(negated);
    let start = at;
    let mut found = false;
    loop {
        match class.get(at..)? {
            [']', ..] if at > start => return Some((found != negated, at + 1)),
            // A named or equivalence class: it counts as a match, and so does its negation.
            ['[', kind @ (':' | '.' | '='), rest @ ..] => {
                let end = rest.windows(2).position(|pair| pair == [*kind, ']']);
                let after = end.and_then(|end| {
                    Some(end + rest.iter().skip(end + 2).position(|other| *other == ']')?)
                });
                match after {
                    Some(after) => return Some((true, at + 2 + after + 2 + 1)),
                    None => {
                        found |= character == '[';
                        at += 1;
                    }
                }
            }
            ['\\', escaped, ..] => {
                found |= *escaped == character;
                at += 2;
            }
            [from, '-', to, ..] if *to != ']' => {
                found |= (*from..=*to).contains(&character);
                at += 3;
            }
            [single, ..] => {
                found |= *single == character;
                at += 1;
            }
            [] => return None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn paths_fit_component_by_component() {
        for (pattern, path, expected) in [
            ("README.md", "README.md", true),
            ("./README.md", "README.md", true),
            ("*.md", "docs/a.md", false),
            ("docs/*", "docs/a.md", true),
            ("docs/*", "docs/x/a.md", false),
            ("docs/**", "docs/x/a.md", true),
            ("**/*.md", "a.md", true),
            ("**/*.md", "x/y/a.md", true),
            ("**", ".hooks/x", true),
            ("**/x/**/y", "a/x/b/x/c/y", true),
            ("**/x/y", "a/x/b/x/c/y", false),
            ("", "a", false),
        ] {
            assert_eq!(path_matches(pattern, path), expected, "{pattern} {path}");
        }
    }

    proptest! {
        #[test]
        fn any_pattern_is_read_without_panic(pattern in "[a\\]\\[\\-!\\\\*?:.b]{0,12}", name in "[a-c.\\[\\]]{0,8}") {
            let _ = path_matches(&pattern, &name);
        }

        /// A match in bash is a match here.
        #[cfg(unix)]
        #[test]
        fn what_fits_for_bash_fits(pattern in "[a-c*?\\[\\]!.-]{1,6}", name in "[a-c.]{1,4}") {
            let mut bash = std::process::Command::new("bash");
            let script = "case \"$2\" in $1) exit 0;; *) exit 7;; esac";
            let done = bash.args(["-c", script, "bash", &pattern, &name]).status().unwrap();
            // `case` lets `*` match a leading dot, file names do not.
            prop_assume!(!name.starts_with('.'));
            if done.code() == Some(0) {
                prop_assert!(path_matches(&pattern, &name), "{pattern} {name}");
            }
        }
    }
}

//! Shell patterns for paths: `*`, `?`, `[a-z]`, `[!a]`, and a backslash before a literal character.

/// Returns `true` if a relative path matches a pattern, component by component; `**` matches any
/// number of them, and a leading dot needs no explicit match.
pub fn path_matches(pattern: &str, path: &str) -> bool {
    let pattern: Vec<&str> = pattern.split('/').filter(|part| !matches!(*part, "" | ".")).collect();
    let path: Vec<&str> = path.split('/').collect();
    let match_component = |pattern: &[&str], component: &&str| {
        pattern.first().filter(|wanted| name_matches(wanted, component)).map(|_| 1)
    };
    matches_items(&pattern, &path, |part| *part == "**", match_component)
}

fn name_matches(pattern: &str, name: &str) -> bool {
    let pattern: Vec<char> = pattern.chars().collect();
    let name: Vec<char> = name.chars().collect();
    matches_items(
        &pattern,
        &name,
        |part| *part == '*',
        |pattern, character| match_character(pattern, *character),
    )
}

/// Returns `true` if all items match a pattern, in which a star matches any number of them.
/// `match_one` returns the number of pattern parts that match the next item, if it matches.
fn matches_items<P, T>(
    pattern: &[P],
    items: &[T],
    is_star: impl Fn(&P) -> bool,
    match_one: impl Fn(&[P], &T) -> Option<usize>,
) -> bool {
    // `last`: the position of the last star, and the number of items matched so far.
    let (mut at, mut matched, mut last_star) = (0, 0, None);
    while let Some(item) = items.get(matched) {
        let rest = pattern.get(at..).unwrap_or_default();
        if rest.first().is_some_and(&is_star) {
            last_star = Some((at, matched));
            at += 1;
        } else if let Some(length) = match_one(rest, item) {
            at += length;
            matched += 1;
        } else if let Some((star, taken)) = last_star {
            last_star = Some((star, taken + 1));
            (at, matched) = (star + 1, taken + 1);
        } else {
            return false;
        }
    }
    pattern.get(at..).unwrap_or_default().iter().all(is_star)
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

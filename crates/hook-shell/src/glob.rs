//! Shell patterns for paths: `*`, `?`, `[a-z]`, `[!a]`, and a backslash before a literal character.

/// Returns `true` if a relative path matches a pattern, component by component; `**` matches any
/// number of them, and a leading dot needs no explicit match.
pub fn path_fits(pattern: &str, path: &str) -> bool {
    let pattern: Vec<&str> = pattern.split('/').filter(|it| !matches!(*it, "" | ".")).collect();
    let path: Vec<&str> = path.split('/').collect();
    let one_fits = |pattern: &[&str], component: &&str| {
        pattern.first().filter(|wanted| characters_fit(wanted, component)).map(|_| 1)
    };
    fits(&pattern, &path, |part| *part == "**", one_fits)
}

fn characters_fit(pattern: &str, name: &str) -> bool {
    let pattern: Vec<char> = pattern.chars().collect();
    let name: Vec<char> = name.chars().collect();
    fits(&pattern, &name, |part| *part == '*', |pattern, it| one_fits(pattern, *it))
}

/// Returns `true` if all items match a pattern, in which a star matches any number of them.
/// `one_fits` returns the number of pattern parts that match the next item, if it matches.
fn fits<P, T>(
    pattern: &[P],
    items: &[T],
    is_star: impl Fn(&P) -> bool,
    one_fits: impl Fn(&[P], &T) -> Option<usize>,
) -> bool {
    // `last`: the position of the last star, and the number of items matched so far.
    let (mut at, mut reached, mut last) = (0, 0, None);
    while let Some(item) = items.get(reached) {
        let rest = pattern.get(at..).unwrap_or_default();
        if rest.first().is_some_and(&is_star) {
            last = Some((at, reached));
            at += 1;
        } else if let Some(length) = one_fits(rest, item) {
            at += length;
            reached += 1;
        } else if let Some((star, taken)) = last {
            last = Some((star, taken + 1));
            (at, reached) = (star + 1, taken + 1);
        } else {
            return false;
        }
    }
    pattern.get(at..).unwrap_or_default().iter().all(is_star)
}

/// Returns the length of the pattern's first part, if it matches the character.
fn one_fits(pattern: &[char], character: char) -> Option<usize> {
    match pattern {
        ['?', ..] => Some(1),
        ['\\', escaped, ..] => (*escaped == character).then_some(2),
        ['[', class @ ..] => match class_fits(class, character) {
            Some((fits, length)) => fits.then_some(length + 1),
            None => (character == '[').then_some(1),
        },
        [literal, ..] => (*literal == character).then_some(1),
        [] => None,
    }
}

/// Returns whether a character is in the class after a `[`, and the length of the class with its
/// `]`; `None` if there is no class.
fn class_fits(class: &[char], character: char) -> Option<(bool, usize)> {
    let negated = matches!(class, ['!' | '^', ..]);
    let mut at = usize::from(negated);
    let begin = at;
    let mut found = false;
    loop {
        match class.get(at..)? {
            [']', ..] if at > begin => return Some((found != negated, at + 1)),
            // A named or equivalence class: it counts as a match, and so does its negation.
            ['[', kind @ (':' | '.' | '='), rest @ ..] => {
                let end = rest.windows(2).position(|pair| pair == [*kind, ']']);
                let after = end.and_then(|end| {
                    Some(end + rest.iter().skip(end + 2).position(|it| *it == ']')?)
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
            [only, ..] => {
                found |= *only == character;
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
            assert_eq!(path_fits(pattern, path), expected, "{pattern} {path}");
        }
    }

    proptest! {
        #[test]
        fn any_pattern_is_read_without_panic(pattern in "[a\\]\\[\\-!\\\\*?:.b]{0,12}", name in "[a-c.\\[\\]]{0,8}") {
            let _ = path_fits(&pattern, &name);
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
                prop_assert!(path_fits(&pattern, &name), "{pattern} {name}");
            }
        }
    }
}

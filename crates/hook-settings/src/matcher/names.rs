//! Patterns that consist only of tool names: `Bash`, `write_file|edit`, `^(Write|Edit)$`.

/// Returns the names in a pattern that consists only of names; `None` for any other pattern.
pub(crate) fn names_in(pattern: &str) -> Option<impl Iterator<Item = &str>> {
    let mut inner = pattern.trim();
    for (before, after) in [("^", "$"), ("(?:", ")"), ("(", ")")] {
        inner =
            inner.strip_prefix(before).and_then(|rest| rest.strip_suffix(after)).unwrap_or(inner);
    }
    let is_name = |part: &str| {
        !part.is_empty()
            && part.chars().all(|character| character.is_ascii_alphanumeric() || character == '_')
    };
    inner.split('|').all(|part| is_name(part.trim())).then(|| inner.split('|').map(str::trim))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_found_in_patterns_of_names_alone() {
        let names = |pattern| Some(names_in(pattern)?.collect::<Vec<_>>());
        for (pattern, expected) in [
            ("Bash", Some(vec!["Bash"])),
            ("write_file|edit", Some(vec!["write_file", "edit"])),
            ("^(Write|Edit)$", Some(vec!["Write", "Edit"])),
            ("(?:a | b)", Some(vec!["a", "b"])),
            ("^Write|Edit$", Some(vec!["Write", "Edit"])),
            ("Edit.*", None),
            ("^(?!Bash$)", None),
            ("a||b", None),
            ("mcp__.*", None),
            ("", None),
        ] {
            assert_eq!(names(pattern), expected, "{pattern}");
        }
    }
}

//! Patterns that no tool's name can match, or hardly any, judged by their form alone.

use regex_syntax::hir::{Class, Hir, HirKind, Look};

use hook_protocol::event::input::MAX_TOOL_NAME;

/// The reason for names with spaces or commas, which are allowed but rare.
pub(super) const UNUSUAL: &str =
    "hardly any tool's name has blanks or commas; alternatives are separated by `|`";

/// The reason for slashes at both ends, which delimit patterns in program code.
pub(super) const DELIMITED: &str =
    "slashes around it are part of it, and so are letters behind the last one; leave them out";

/// Returns `true` if a pattern is written as in program code: `/write/i`.
pub(super) fn is_delimited(source: &str) -> bool {
    let Some(rest) = source.strip_prefix('/') else { return false };
    rest.rsplit_once('/').is_some_and(|(pattern, flags)| {
        !pattern.is_empty()
            && flags.len() <= 4
            && flags.bytes().all(|flag| flag.is_ascii_lowercase())
    })
}

/// Returns the reason why a pattern in Rust's syntax matches no name without spaces and commas;
/// `None` if it may match one, or cannot be judged.
pub(super) fn unreachable(pattern: &str) -> Option<&'static str> {
    let pattern = regex_syntax::parse(pattern).ok()?;
    if let Some(reason) = never_matches(&pattern) {
        return Some(reason);
    }
    let properties = pattern.properties();
    let whole = properties.look_set_prefix().contains(Look::Start)
        && properties.look_set_suffix().contains(Look::End);
    if whole && properties.maximum_len() == Some(0) {
        return Some("it matches only an empty name, and no tool has one");
    }
    if properties.minimum_len().is_some_and(|least| least > MAX_TOOL_NAME) {
        return Some("it needs more than the 1 KiB that a tool's name may have");
    }
    None
}

fn never_matches(pattern: &Hir) -> Option<&'static str> {
    match pattern.kind() {
        HirKind::Empty | HirKind::Look(_) => None,
        HirKind::Literal(literal) => {
            let is_unusual =
                literal.0.iter().any(|byte| byte.is_ascii_whitespace() || *byte == b',');
            is_unusual.then_some(UNUSUAL)
        }
        HirKind::Class(class) => {
            let empty = match class {
                Class::Unicode(class) => class.ranges().is_empty(),
                Class::Bytes(class) => class.ranges().is_empty(),
            };
            empty.then_some("it has a set of characters that is empty")
        }
        HirKind::Repetition(repetition) => {
            if repetition.min > 0 {
                never_matches(&repetition.sub)
            } else {
                None
            }
        }
        HirKind::Capture(capture) => never_matches(&capture.sub),
        HirKind::Concat(parts) => {
            parts.iter().find_map(never_matches).or_else(|| misplaced_anchor(parts))
        }
        HirKind::Alternation(parts) => {
            let reasons: Option<Vec<_>> = parts.iter().map(never_matches).collect();
            let reasons = reasons?;
            // The weaker reason holds for all alternatives.
            reasons.iter().find(|reason| **reason == UNUSUAL).or_else(|| reasons.first()).copied()
        }
    }
}

/// Finds a `^` after something, or a `$` before something.
fn misplaced_anchor(parts: &[Hir]) -> Option<&'static str> {
    let is_not_empty = |part: &Hir| part.properties().minimum_len().is_some_and(|least| least > 0);
    let starts = |part: &Hir| part.properties().look_set_prefix().contains(Look::Start);
    let ends = |part: &Hir| part.properties().look_set_suffix().contains(Look::End);
    let pairs = || (1..parts.len()).filter_map(|index| parts.split_at_checked(index));
    if pairs()
        .any(|(before, after)| before.iter().any(is_not_empty) && after.first().is_some_and(starts))
    {
        return Some("`^` is the beginning of the name, and something must come before it");
    }
    if pairs()
        .any(|(before, after)| before.last().is_some_and(ends) && after.iter().any(is_not_empty))
    {
        return Some("`$` is the end of the name, and something must come after it");
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn what_no_name_can_match_is_known() {
        for (pattern, reason) in [
            ("^$", "empty name"),
            ("^(?:)$", "empty name"),
            ("write^", "beginning"),
            ("a(^b)", "beginning"),
            ("$edit", "end"),
            ("(a|b)$c", "end"),
            ("write_file, edit", "blanks or commas"),
            ("(write file)+", "blanks or commas"),
            ("^a b$|c,d", "blanks or commas"),
            ("a^|b c", "blanks or commas"),
            (r"[^\s\S]", "empty"),
        ] {
            assert!(unreachable(pattern).is_some_and(|it| it.contains(reason)), "{pattern}");
        }
        for pattern in [
            "",
            "^",
            "$",
            "^$|a",
            "(^a|b)c",
            "a(b|c$)",
            "(?:^|/)edit$",
            "a|b c",
            "(a b)?c",
            ".*",
            "a*^b",
            "a$b*",
            "^write_file$",
            r"\bedit\b",
            "(?=a)b",
            "[",
        ] {
            assert_eq!(unreachable(pattern), None, "{pattern}");
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn what_is_called_unreachable_matches_no_name(
            pattern in "([a-c., ]|\\^|\\$|a\\*|\\(a\\|\\^\\)|b\\?|\\|){1,8}", name in "[a-c, ]{1,6}",
        ) {
            let odd_name = name.contains([' ', ',']);
            if unreachable(&pattern).is_some_and(|reason| !(odd_name && reason == UNUSUAL)) {
                let compiled = fancy_regex::Regex::new(&pattern).unwrap();
                prop_assert!(!compiled.is_match(&name).unwrap(), "{} matches {}", pattern, name);
            }
        }
    }
}

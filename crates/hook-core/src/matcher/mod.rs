//! Matchers: which tools or triggers a hook is for (protocol.md §2).

mod javascript;
mod reach;

use fancy_regex::{Regex, RegexBuilder};

use crate::event::Matching;
use crate::input::MAX_TOOL_NAME;
use crate::nearest::nearest;
use crate::text::shortened;

/// How much work one match may be before it is given up and counted as a match. A step that looks
/// around may try each copy of what is repeated at each byte of the name, so a pattern with many
/// copies has fewer steps; one without has some 200,000.
const WORK_LIMIT: usize = 200_000_000;

/// A matcher, compiled once when settings are loaded.
#[derive(Debug, Clone)]
pub struct Matcher {
    text: Option<String>,
    rule: Rule,
}

#[derive(Debug, Clone)]
enum Rule {
    Nothing,
    Everything,
    Exactly(String),
    Pattern(Box<Regex>),
}

/// Whether a matcher matches.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum MatchOutcome {
    /// It does not.
    No,
    /// It does.
    Yes,
    /// Matching was given up, which counts as a match: a guard must not be switched off by a name
    /// that is hard to match.
    GaveUp,
}

impl Matcher {
    /// Compiles a matcher, with a warning where a pattern is no regular expression and is compared
    /// literally instead, or where it never matches.
    pub fn compile(text: Option<&str>, matching: Matching) -> (Self, Option<String>) {
        let trimmed = text.unwrap_or_default().trim();
        let (rule, warning) = match matching {
            _ if trimmed.is_empty() || trimmed == "*" => (Rule::Everything, None),
            Matching::Always => (Rule::Everything, None),
            Matching::Exact { field, words } => {
                let warning = (!words.contains(&trimmed)).then(|| {
                    format!(
                        "the matcher `{}` never matches: it is compared exactly with `{field}`, \
                         which is one of {}",
                        shortened(trimmed),
                        words.join(", ")
                    )
                });
                (Rule::Exactly(trimmed.to_owned()), warning)
            }
            Matching::Pattern => match compile_pattern(trimmed) {
                Ok(pattern) => (Rule::Pattern(Box::new(pattern)), None),
                Err(reason) => {
                    let warning = format!(
                        "the matcher `{}` is not a regular expression and is compared literally: \
                         {}",
                        shortened(trimmed),
                        shortened(&reason)
                    );
                    (Rule::Exactly(trimmed.to_owned()), Some(warning))
                }
            },
        };
        (Self { text: text.map(str::to_owned), rule }, warning)
    }

    /// The matcher of a hook that must not run. Nobody asks it, and it costs nothing: a short
    /// pattern may compile to megabytes.
    pub(crate) fn unused(text: Option<&str>) -> Self {
        Self { text: text.map(str::to_owned), rule: Rule::Nothing }
    }

    /// Compares with the event's subject; an event without one is matched by every matcher.
    pub fn matches(&self, subject: Option<&str>) -> MatchOutcome {
        let Some(subject) = subject else { return MatchOutcome::Yes };
        let matched = match &self.rule {
            Rule::Nothing => false,
            Rule::Everything => true,
            Rule::Exactly(text) => text == subject,
            Rule::Pattern(pattern) => match pattern.is_match(subject) {
                Ok(matched) => matched,
                Err(_) => return MatchOutcome::GaveUp,
            },
        };
        if matched { MatchOutcome::Yes } else { MatchOutcome::No }
    }

    /// What to write instead, where a matcher that is compared exactly is none of the words: it may
    /// have been meant as a pattern.
    pub fn hint(&self, matching: Matching) -> Option<String> {
        let (Matching::Exact { field, words }, Rule::Exactly(text)) = (matching, &self.rule) else {
            return None;
        };
        if words.contains(&text.as_str()) {
            return None;
        }
        let pattern = compile_pattern(text).ok();
        let meant = |word: &&&str| {
            pattern.as_ref().is_some_and(|pattern| pattern.is_match(word).unwrap_or_default())
        };
        let meant: Vec<String> =
            words.iter().filter(meant).map(|word| format!("`{word}`")).collect();
        match meant.as_slice() {
            [] => {
                nearest(text, words.iter().copied()).map(|word| format!("did you mean `{word}`?"))
            }
            all if all.len() == words.len() => Some(format!(
                "matchers of `{field}` are no regular expressions; leave the matcher out to match \
                 every {field}"
            )),
            [word] => {
                Some(format!("matchers of `{field}` are no regular expressions; write {word}"))
            }
            some => Some(format!(
                "matchers of `{field}` are no regular expressions; write one definition for each \
                 of {}",
                some.join(", ")
            )),
        }
    }

    /// The matcher as it was written.
    pub fn text(&self) -> Option<&str> {
        self.text.as_deref()
    }
}

pub(crate) use reach::ODD;

/// Why a pattern, although it compiles, can match no tool's name, or hardly any ([`ODD`]); `None`
/// where it may.
pub(crate) fn unreachable(pattern: &str) -> Option<&'static str> {
    reach::unreachable(&javascript::to_rust_pattern(pattern.trim()).ok()?.pattern)
}

fn compile_pattern(source: &str) -> Result<Regex, String> {
    let translated = javascript::to_rust_pattern(source).map_err(|error| error.to_string())?;
    // There are at most some ten thousand copies, and so always some steps.
    let steps = WORK_LIMIT / MAX_TOOL_NAME / translated.copies.max(1);
    RegexBuilder::new(&translated.pattern)
        .backtrack_limit(steps)
        .build()
        .map_err(|error| error.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn tools_match_by_pattern_and_triggers_exactly() {
        let exact = Matching::Exact { field: "source", words: &["resume"] };
        for (text, matching, subject, expected) in [
            (None, Matching::Pattern, "anything", true),
            (Some(""), Matching::Pattern, "anything", true),
            (Some(" * "), Matching::Pattern, "anything", true),
            (Some("write_file|edit"), Matching::Pattern, "multi_edit", true),
            (Some("^edit$"), Matching::Pattern, "multi_edit", false),
            (Some("^(?!mcp_)"), Matching::Pattern, "mcp_git", false),
            (Some("[bad"), Matching::Pattern, "[bad", true),
            (Some("[bad"), Matching::Pattern, "bad", false),
            (Some("startup|resume"), exact, "resume", false),
            (Some(" resume "), exact, "resume", true),
            (Some("[bad"), Matching::Always, "anything", true),
        ] {
            let (matcher, _) = Matcher::compile(text, matching);
            let matched = matcher.matches(Some(subject)) == MatchOutcome::Yes;
            assert_eq!(matched, expected, "{text:?} against {subject}");
        }
    }

    #[test]
    fn a_matcher_that_cannot_do_what_it_seems_to_is_reported() {
        let exact = Matching::Exact { field: "source", words: &["startup", "resume"] };
        let (_, warning) = Matcher::compile(Some("startup|resume"), exact);
        assert!(warning.unwrap().contains("never matches"));
        assert!(Matcher::compile(Some("resume"), exact).1.is_none());
        assert!(Matcher::compile(Some("[bad"), Matching::Pattern).1.is_some());
        assert!(Matcher::compile(Some("good"), Matching::Pattern).1.is_none());
    }

    #[test]
    fn a_pattern_where_words_are_compared_has_a_hint_what_to_write() {
        let exact = Matching::Exact { field: "source", words: &["startup", "resume", "clear"] };
        for (text, matching, hint) in [
            ("startup|resume", exact, Some("one definition for each of `startup`, `resume`")),
            (".*", exact, Some("leave the matcher out to match every source")),
            ("^start", exact, Some("no regular expressions; write `startup`")),
            ("resumed", exact, Some("did you mean `resume`?")),
            ("[", exact, None),
            ("xyzzy", exact, None),
            ("resume", exact, None),
            ("*", exact, None),
            ("startup|resume", Matching::Pattern, None),
            ("startup|resume", Matching::Always, None),
        ] {
            let found = Matcher::compile(Some(text), matching).0.hint(matching);
            match hint {
                Some(hint) => assert!(found.unwrap().ends_with(hint), "{text}"),
                None => assert_eq!(found, None, "{text}"),
            }
        }
        assert_eq!(Matcher::unused(Some(".*")).hint(exact), None);
    }

    #[test]
    fn a_match_that_backtracks_for_ever_counts_as_a_match() {
        let (matcher, _) = Matcher::compile(Some(r"^(?:(a)\1*)+$"), Matching::Pattern);
        assert_eq!(matcher.matches(Some(&format!("{}b", "a".repeat(60)))), MatchOutcome::GaveUp);
    }

    proptest! {
        #[test]
        fn any_matcher_against_any_name_does_not_panic(text in "\\PC{0,30}", name in "\\PC{0,30}") {
            Matcher::compile(Some(&text), Matching::Pattern).0.matches(Some(&name));
        }
    }
}

//! The match of a compiled matcher with an event's subject.

use std::borrow::Cow;

use fancy_regex::Regex;

use super::format_list::format_list;
use crate::{Rule as SettingsRule, TOOL, TOOL_PATTERN};
use hook_protocol::tool::{all_names, is_same_tool, matcher_names};

#[derive(Debug, Clone)]
pub(super) enum Rule {
    Nothing,
    Everything,
    Exactly(String),
    Pattern(Box<TextPattern>),
    Tools(Box<Tools>),
}

/// The reason why a matcher cannot work as intended.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct MatcherProblem {
    /// The rule of settings that it breaks.
    pub rule: SettingsRule,
    /// The problem, and the matcher's behavior because of it.
    pub message: String,
    /// The invalid key, if the matcher is an object.
    pub key: Option<&'static str>,
    /// The index of the invalid item from 0, if the key's value is a list.
    pub item: Option<usize>,
}

/// The result of a match.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum MatchOutcome {
    /// The matcher does not match.
    No,
    /// The matcher matches.
    Yes,
    /// The match was given up, which counts as a match: a name that is hard to match must not
    /// disable a guard.
    GaveUp,
}

/// The text form: a pattern for one of several names.
#[derive(Debug, Clone)]
pub(super) struct TextPattern {
    pub(super) regex: Regex,
    /// `true` if it is compared with the name of a tool, which may have several.
    pub(super) is_tool_name: bool,
    /// The names, if it consists only of tool names and agents have others for the same tools.
    pub(super) names: Vec<String>,
}

impl TextPattern {
    pub(super) fn matches(&self, subject: &str) -> MatchOutcome {
        if !self.is_tool_name {
            return matches_any_name(&self.regex, std::iter::once(Cow::Borrowed(subject)));
        }
        if self.names.iter().any(|name| is_same_tool(name, subject)) {
            return MatchOutcome::Yes;
        }
        matches_any_name(&self.regex, matcher_names(subject))
    }
}

/// The tools that an object form is for.
#[derive(Debug, Clone)]
pub(super) struct Tools {
    /// The names of tools; empty for any tool.
    pub(super) names: Vec<String>,
    pub(super) pattern: Option<(Box<Regex>, String)>,
}

impl Tools {
    pub(super) fn matches(&self, subject: &str) -> MatchOutcome {
        if !self.has_name(subject) {
            return MatchOutcome::No;
        }
        let pattern = self.pattern.as_ref();
        pattern
            .map_or(MatchOutcome::Yes, |(pattern, _)| matches_any_name(pattern, all_names(subject)))
    }

    /// Returns `true` if one of the names is the tool's name in any agent.
    fn has_name(&self, subject: &str) -> bool {
        self.names.is_empty() || self.names.iter().any(|name| is_same_tool(name, subject))
    }

    /// Returns the key that does not match, and its value.
    pub(super) fn unmatched(&self, subject: &str) -> Option<(&'static str, String)> {
        if !self.has_name(subject) {
            return Some((TOOL, format_list(&self.names)));
        }
        let (pattern, written) = self.pattern.as_ref()?;
        let matched = matches_any_name(pattern, all_names(subject));
        (matched == MatchOutcome::No).then(|| (TOOL_PATTERN, written.clone()))
    }
}

/// Matches a pattern with each of a tool's names; one match is enough. A pattern that only excludes
/// tools must match all: a tool excluded by one name is excluded.
pub(super) fn matches_any_name<'n>(
    pattern: &Regex,
    mut names: impl Iterator<Item = Cow<'n, str>>,
) -> MatchOutcome {
    let excludes = is_exclusion(pattern.as_str());
    let found = names.find_map(|name| match pattern.is_match(&*name) {
        Ok(matched) => (matched != excludes).then_some(match excludes {
            true => MatchOutcome::No,
            false => MatchOutcome::Yes,
        }),
        Err(_) => Some(MatchOutcome::GaveUp),
    });
    found.unwrap_or(if excludes { MatchOutcome::Yes } else { MatchOutcome::No })
}

/// Returns `true` if a pattern only excludes names, and matches any other: `^(?!Bash$).*`.
fn is_exclusion(pattern: &str) -> bool {
    let Some(rest) = pattern.strip_prefix("^(?!") else { return false };
    let mut depth = 1_u32;
    let end = rest.char_indices().find(|(_, character)| {
        match character {
            '(' => depth += 1,
            ')' => depth -= 1,
            _ => {}
        }
        depth == 0
    });
    let tail = end.and_then(|(at, _)| rest.get(at + 1..));
    tail.is_some_and(|behind| ["", ".*", ".+", ".*$", ".+$"].contains(&behind))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_that_only_leave_tools_out_are_known() {
        for (pattern, expected) in [
            ("^(?!Bash$)", true),
            ("^(?!(Bash|Read)$).*$", true),
            ("^(?!mcp_)(Edit|Write)$", false),
            ("Bash(?!x)", false),
            ("^(?!a", false),
        ] {
            assert_eq!(is_exclusion(pattern), expected, "{pattern}");
        }
    }
}

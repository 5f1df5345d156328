//! What a compiled matcher says of an event's subject.

use std::borrow::Cow;

use fancy_regex::Regex;

use super::listed::listed;
use crate::settings::{Rule as SettingsRule, TOOL, TOOL_PATTERN};
use crate::tool::{is_same_tool, names_of, text_subjects};

#[derive(Debug, Clone)]
pub(super) enum Rule {
    Nothing,
    Everything,
    Exactly(String),
    Pattern(Box<TextPattern>),
    Tools(Box<Tools>),
}

/// Why a matcher cannot do what it seems to.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct MatcherProblem {
    /// The rule of settings that it breaks.
    pub rule: SettingsRule,
    /// What is wrong, and what the matcher does instead.
    pub message: String,
    /// Of the object form, the key that is wrong.
    pub key: Option<&'static str>,
    /// Where the key's value is a list, which of it is wrong, from 0.
    pub item: Option<usize>,
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

/// The text form, for one of several names.
#[derive(Debug, Clone)]
pub(super) struct TextPattern {
    pub(super) regex: Regex,
    /// Whether it is compared with the name of a tool, which may have several.
    pub(super) is_of_tools: bool,
    /// The names, where it is nothing but names of tools that agents call differently.
    pub(super) names: Vec<String>,
}

impl TextPattern {
    pub(super) fn matches(&self, subject: &str) -> MatchOutcome {
        if !self.is_of_tools {
            return matches_a_name(&self.regex, std::iter::once(Cow::Borrowed(subject)));
        }
        if self.names.iter().any(|name| is_same_tool(name, subject)) {
            return MatchOutcome::Yes;
        }
        matches_a_name(&self.regex, text_subjects(subject))
    }
}

/// Which tools an object form is for.
#[derive(Debug, Clone)]
pub(super) struct Tools {
    /// Of these one; any if there are none.
    pub(super) names: Vec<String>,
    pub(super) pattern: Option<(Box<Regex>, String)>,
}

impl Tools {
    pub(super) fn matches(&self, subject: &str) -> MatchOutcome {
        if !self.has_name(subject) {
            return MatchOutcome::No;
        }
        let pattern = self.pattern.as_ref();
        pattern.map_or(MatchOutcome::Yes, |(pattern, _)| matches_a_name(pattern, names_of(subject)))
    }

    /// Whether one of the names is the tool's in any agent.
    fn has_name(&self, subject: &str) -> bool {
        self.names.is_empty() || self.names.iter().any(|name| is_same_tool(name, subject))
    }

    /// The key that does not match, and what it says.
    pub(super) fn unmatched(&self, subject: &str) -> Option<(&'static str, String)> {
        if !self.has_name(subject) {
            return Some((TOOL, listed(&self.names)));
        }
        let (pattern, written) = self.pattern.as_ref()?;
        let matched = matches_a_name(pattern, names_of(subject));
        (matched == MatchOutcome::No).then(|| (TOOL_PATTERN, written.clone()))
    }
}

/// Whether a pattern matches one of a tool's names. One that only says which tool is left out must match all
/// of them: a tool that is left out by one name is left out.
pub(super) fn matches_a_name<'n>(
    pattern: &Regex,
    mut names: impl Iterator<Item = Cow<'n, str>>,
) -> MatchOutcome {
    let excludes = only_excludes(pattern.as_str());
    let found = names.find_map(|name| match pattern.is_match(&*name) {
        Ok(matched) => (matched != excludes).then_some(match excludes {
            true => MatchOutcome::No,
            false => MatchOutcome::Yes,
        }),
        Err(_) => Some(MatchOutcome::GaveUp),
    });
    found.unwrap_or(if excludes { MatchOutcome::Yes } else { MatchOutcome::No })
}

/// Whether a pattern is a negative lookahead at the beginning and matches anything else: `^(?!Bash$).*`.
fn only_excludes(pattern: &str) -> bool {
    let Some(rest) = pattern.strip_prefix("^(?!") else { return false };
    let mut depth = 1_u32;
    let end = rest.char_indices().find(|(_, it)| {
        match it {
            '(' => depth += 1,
            ')' => depth -= 1,
            _ => {}
        }
        depth == 0
    });
    let behind = end.and_then(|(at, _)| rest.get(at + 1..));
    behind.is_some_and(|behind| ["", ".*", ".+", ".*$", ".+$"].contains(&behind))
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
            assert_eq!(only_excludes(pattern), expected, "{pattern}");
        }
    }
}

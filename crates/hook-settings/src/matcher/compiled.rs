//! A matcher, compiled once when settings are loaded.

use std::path::Path;
use std::sync::Arc;

use super::filter::{Filter, FilterOutcome, Unmatched};
use super::format_list::format_list;
use super::input::{Facts, HostDirectories};
use super::names::names_in;
use super::pattern::{Compiled, RUNS_FOR_EVERYTHING, compile_pattern, consequence, fallback_rule};
use super::rule::{MatchOutcome, MatcherProblem, Rule, TextPattern};
use super::{object, reach};
use crate::language::{Calls, ForeignHook, calls};
use crate::{FailBehavior, MatcherDefinition, Rule as SettingsRule};
use hook_json::text::{nearest, shortened};
use hook_protocol::event::Matching;
use hook_protocol::tool::{ToolKind, native_name};

/// A matcher, compiled once when settings are loaded.
#[derive(Debug, Clone)]
pub struct Matcher {
    definition: Option<Arc<MatcherDefinition>>,
    /// The object form as text.
    object: Option<Box<str>>,
    rule: Rule,
    filter: Option<Arc<Filter>>,
    /// The project in which relative globs begin, if not the host's.
    project: Option<Arc<str>>,
    /// The foreign hook, whose agent's rules count.
    foreign: Option<Arc<ForeignHook>>,
}

impl Matcher {
    /// Compiles a matcher, and returns the problems of one that cannot be used or can match
    /// nothing.
    ///
    /// Such a matcher of a guard matches everything: its author meant to have a guard. For another
    /// hook, a text that is not a regular expression is compared literally, and any other unusable
    /// matcher matches nothing.
    pub fn compile(
        definition: Option<Arc<MatcherDefinition>>,
        matching: Matching,
        fail_behavior: FailBehavior,
    ) -> (Self, Vec<MatcherProblem>) {
        match definition.as_deref() {
            None => (Self { rule: Rule::Everything, ..Self::disabled(None) }, Vec::new()),
            Some(MatcherDefinition::Text(text)) => {
                let (rule, problem) = compile_text(text, matching, fail_behavior);
                (Self { rule, ..Self::disabled(definition) }, problem.into_iter().collect())
            }
            Some(MatcherDefinition::Fields(fields)) => {
                let object::Compiled { rule, filter, problems } =
                    object::compile(fields, matching, fail_behavior);
                (Self { rule, filter, ..Self::disabled(definition) }, problems)
            }
            Some(MatcherDefinition::Unreadable(text)) => {
                let problem = MatcherProblem {
                    rule: SettingsRule::InvalidMatcher,
                    message: format!(
                        "the matcher `{}` cannot be read{}",
                        shortened(text),
                        consequence(fail_behavior)
                    ),
                    key: None,
                    item: None,
                };
                let rule = fallback_rule(fail_behavior);
                (Self { rule, ..Self::disabled(definition) }, vec![problem])
            }
        }
    }

    /// Returns a matcher for a hook that must not run. It is not compiled, since a short pattern
    /// may compile to megabytes.
    pub fn disabled(definition: Option<Arc<MatcherDefinition>>) -> Self {
        let object = match definition.as_deref() {
            Some(MatcherDefinition::Fields(fields)) => Some(fields.to_raw().as_str().into()),
            _ => None,
        };
        let rule = Rule::Nothing;
        Self { definition, object, rule, filter: None, project: None, foreign: None }
    }

    /// Returns the matcher with relative globs that begin in a project, instead of the host's.
    pub fn in_project(self, project: &Path) -> Self {
        let has_paths = self.filter.as_ref().is_some_and(|filter| filter.has_paths());
        let project = has_paths.then(|| HostDirectories::new(project, None).project().into());
        Self { project, ..self }
    }

    /// Returns the matcher of a hook. A text of a foreign hook is compared by the rules of its
    /// agent, and an object is compared here.
    pub fn of(
        definition: Option<Arc<MatcherDefinition>>,
        foreign: Option<&Arc<ForeignHook>>,
        matching: Matching,
        fail_behavior: FailBehavior,
    ) -> (Self, Vec<MatcherProblem>) {
        let is_text = definition.as_deref().is_none_or(|value| value.as_text().is_some());
        let (matcher, problems) = match foreign {
            Some(_) if is_text => {
                (Self { rule: Rule::Everything, ..Self::disabled(definition) }, Vec::new())
            }
            _ => Self::compile(definition, matching, fail_behavior),
        };
        (Self { foreign: foreign.cloned(), ..matcher }, problems)
    }

    /// Returns the kinds of tools that it demands.
    pub fn kinds(&self) -> &[ToolKind] {
        self.filter.as_ref().map_or(&[], |filter| &filter.kinds)
    }

    /// Returns the agent's name for the event, if this is a matcher of a foreign hook.
    pub fn foreign_event(&self) -> Option<&str> {
        self.foreign.as_ref().map(|foreign| &*foreign.event)
    }

    /// Returns `true` if it depends on more of the input than the event's subject.
    pub fn has_conditions(&self) -> bool {
        self.filter.is_some() || self.foreign.is_some()
    }

    /// Checks the input.
    pub fn check(&self, facts: &Facts<'_>) -> FilterOutcome {
        let is_match =
            |foreign: &Arc<ForeignHook>| !matches!(calls(foreign, facts.event()), Calls::None);
        if self.foreign.as_ref().is_some_and(|foreign| !is_match(foreign)) {
            return FilterOutcome::No(Unmatched::Foreign);
        }
        let project = self.project.as_deref();
        self.filter.as_ref().map_or(FilterOutcome::Yes, |filter| filter.check(facts, project))
    }

    /// Returns a part of the object form, shortened.
    pub fn part(&self, part: Unmatched) -> String {
        let Some(MatcherDefinition::Fields(fields)) = self.definition.as_deref() else {
            return String::new();
        };
        match part {
            Unmatched::Kind => format_list(&fields.kinds),
            Unmatched::Path => format_list(&fields.paths),
            Unmatched::Command => shortened(fields.command_pattern.as_deref().unwrap_or_default()),
            Unmatched::Caller(field) => {
                let values = fields.callers().find(|(known, _)| *known == field);
                values.map(|(_, values)| format_list(values)).unwrap_or_default()
            }
            Unmatched::Foreign => String::new(),
        }
    }

    /// Returns the part of the object form that does not match a subject, and its value; `None` if
    /// the matcher is a text.
    pub fn unmatched_tool(&self, subject: &str) -> Option<(&'static str, String)> {
        match &self.rule {
            Rule::Tools(tools) => tools.unmatched(subject),
            _ => None,
        }
    }

    /// Returns `true` if it cannot be used, and so matches nothing.
    pub fn is_unusable(&self) -> bool {
        matches!(self.rule, Rule::Nothing)
    }

    /// Compares with the event's subject. Every usable matcher matches an event without one. The
    /// object form's conditions on the input are not checked.
    pub fn matches(&self, subject: Option<&str>) -> MatchOutcome {
        let Some(subject) = subject else {
            return if self.is_unusable() { MatchOutcome::No } else { MatchOutcome::Yes };
        };
        let matched = match &self.rule {
            Rule::Nothing => false,
            Rule::Everything => true,
            Rule::Exactly(text) => text == subject,
            Rule::Pattern(pattern) => return pattern.matches(subject),
            Rule::Tools(tools) => return tools.matches(subject),
        };
        if matched { MatchOutcome::Yes } else { MatchOutcome::No }
    }

    /// Returns a suggestion if a matcher that is compared exactly is none of the possible values:
    /// it may have been meant as a pattern.
    pub fn hint(&self, matching: Matching) -> Option<String> {
        let Matching::Exact { field, keywords } = matching else { return None };
        let text = match self.definition.as_deref() {
            Some(definition) => definition.as_text()?.trim(),
            None => return None,
        };
        let is_anything = text.is_empty() || text == "*" || matches!(self.rule, Rule::Nothing);
        if is_anything || keywords.contains(&text) {
            return None;
        }
        let compiled = compile_pattern(text).ok();
        let is_meant = |keyword: &&&str| {
            let compiled = compiled.as_ref();
            compiled
                .is_some_and(|candidate| candidate.pattern.is_match(keyword).unwrap_or_default())
        };
        let matching_keywords: Vec<String> =
            keywords.iter().filter(is_meant).map(|keyword| format!("`{keyword}`")).collect();
        match matching_keywords.as_slice() {
            [] => nearest(text, keywords.iter().copied())
                .map(|keyword| format!("did you mean `{keyword}`?")),
            all if all.len() == keywords.len() => Some(format!(
                "matchers of `{field}` are no regular expressions; leave the matcher out to match \
                 every {field}"
            )),
            [keyword] => {
                Some(format!("matchers of `{field}` are no regular expressions; write {keyword}"))
            }
            some => Some(format!(
                "matchers of `{field}` are no regular expressions; write one definition for each \
                 of {}",
                some.join(", ")
            )),
        }
    }

    /// Returns the matcher as it was written.
    pub fn definition(&self) -> Option<&Arc<MatcherDefinition>> {
        self.definition.as_ref()
    }

    /// Returns the matcher as it was written, or the JSON of the object form.
    pub fn text(&self) -> Option<&str> {
        match self.definition.as_deref()? {
            MatcherDefinition::Text(text) | MatcherDefinition::Unreadable(text) => Some(text),
            MatcherDefinition::Fields(_) => self.object.as_deref(),
        }
    }
}

fn compile_text(
    text: &str,
    matching: Matching,
    fail_behavior: FailBehavior,
) -> (Rule, Option<MatcherProblem>) {
    let trimmed = text.trim();
    let (rule, problem) = match matching {
        _ if trimmed.is_empty() || trimmed == "*" => (Rule::Everything, None),
        Matching::Always => (Rule::Everything, None),
        Matching::Exact { field, keywords } => {
            let problem = (!keywords.is_empty() && !keywords.contains(&trimmed)).then(|| {
                let expected = keywords.join(", ");
                let reason =
                    format!("it is compared exactly with `{field}`, which is one of {expected}");
                ("never matches", SettingsRule::MatcherNeverMatches, reason)
            });
            (Rule::Exactly(trimmed.to_owned()), problem)
        }
        Matching::Pattern { .. } => match compile_pattern(trimmed) {
            Ok(Compiled { pattern, unreachable }) => {
                let problem = unreachable.map(|reason| {
                    let verdict = match reason {
                        reach::UNUSUAL | reach::DELIMITED => "probably matches no tool",
                        _ => "can match no tool",
                    };
                    (verdict, SettingsRule::MatcherNeverMatches, reason.to_owned())
                });
                let is_tool_name = matching == Matching::TOOL_NAME;
                let names = names_in(trimmed).filter(|_| is_tool_name);
                let names = names.into_iter().flatten().filter(|name| native_name(name).is_some());
                let names = names.map(str::to_owned).collect();
                (
                    Rule::Pattern(Box::new(TextPattern { regex: pattern, is_tool_name, names })),
                    problem,
                )
            }
            Err(reason) => {
                let verdict = match fail_behavior {
                    FailBehavior::Block => "is not a regular expression",
                    FailBehavior::Continue => {
                        "is not a regular expression and is compared literally"
                    }
                };
                let reason = shortened(&reason);
                let problem = (verdict, SettingsRule::InvalidPattern, reason);
                (Rule::Exactly(trimmed.to_owned()), Some(problem))
            }
        },
    };
    let Some((verdict, violated_rule, reason)) = problem else {
        return (rule, None);
    };
    let mut message = format!("the matcher `{}` {verdict}: {reason}", shortened(trimmed));
    let rule = match fail_behavior {
        FailBehavior::Continue => rule,
        FailBehavior::Block => {
            message.push_str(RUNS_FOR_EVERYTHING);
            Rule::Everything
        }
    };
    (rule, Some(MatcherProblem { rule: violated_rule, message, key: None, item: None }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn compile(
        text: Option<&str>,
        matching: Matching,
        fail_behavior: FailBehavior,
    ) -> (Matcher, Option<MatcherProblem>) {
        let definition = text.map(|text| Arc::new(text.into()));
        let (matcher, problems) = Matcher::compile(definition, matching, fail_behavior);
        (matcher, problems.into_iter().next())
    }

    #[test]
    fn tools_match_by_pattern_and_triggers_exactly() {
        let exact = Matching::Exact { field: "source", keywords: &["resume"] };
        for (text, matching, subject, expected) in [
            (None, Matching::TOOL_NAME, "anything", true),
            (Some(""), Matching::TOOL_NAME, "anything", true),
            (Some(" * "), Matching::TOOL_NAME, "anything", true),
            (Some("write_file|edit"), Matching::TOOL_NAME, "multi_edit", true),
            (Some("^edit$"), Matching::TOOL_NAME, "my_editor", false),
            (Some("^edit$"), Matching::TOOL_NAME, "replace", true),
            (Some("Bash"), Matching::TOOL_NAME, "run_shell_command", true),
            (Some("Bash.*"), Matching::TOOL_NAME, "run_shell_command", false),
            (Some("^(?!mcp_)"), Matching::TOOL_NAME, "mcp_git", false),
            (Some("[bad"), Matching::TOOL_NAME, "[bad", true),
            (Some("[bad"), Matching::TOOL_NAME, "bad", false),
            (Some("startup|resume"), exact, "resume", false),
            (Some(" resume "), exact, "resume", true),
            (Some("[bad"), Matching::Always, "anything", true),
        ] {
            let (matcher, _) = compile(text, matching, FailBehavior::Continue);
            let matched = matcher.matches(Some(subject)) == MatchOutcome::Yes;
            assert_eq!(matched, expected, "{text:?} against {subject}");
        }
    }

    #[test]
    fn a_matcher_of_a_guard_that_can_match_nothing_matches_everything() {
        let exact = Matching::Exact { field: "source", keywords: &["startup", "resume"] };
        for (text, matching, is_broken) in [
            ("write_file|(edit", Matching::TOOL_NAME, true),
            ("[bad", Matching::TOOL_NAME, true),
            ("^$", Matching::TOOL_NAME, true),
            ("write_file, edit", Matching::TOOL_NAME, true),
            ("/write/", Matching::TOOL_NAME, true),
            ("/^(write|edit)$/i", Matching::TOOL_NAME, true),
            ("server/write", Matching::TOOL_NAME, false),
            ("/write", Matching::TOOL_NAME, false),
            ("startup|resume", exact, true),
            ("edit", Matching::TOOL_NAME, false),
            ("resume", exact, false),
        ] {
            for fail_behavior in [FailBehavior::Block, FailBehavior::Continue] {
                let (matcher, problem) = compile(Some(text), matching, fail_behavior);
                assert_eq!(problem.is_some(), is_broken, "{text}");
                let everything = matcher.matches(Some("anything")) == MatchOutcome::Yes;
                let guards = is_broken && fail_behavior == FailBehavior::Block;
                assert_eq!(everything, guards, "{text}");
                let says_so = problem.is_some_and(|it| it.message.contains("runs for everything"));
                assert_eq!(says_so, guards, "{text}");
            }
        }
    }

    #[test]
    fn a_matcher_that_cannot_do_what_it_seems_to_is_reported() {
        let exact = Matching::Exact { field: "source", keywords: &["startup", "resume"] };
        for (text, matching, said) in [
            ("startup|resume", exact, "never matches: it is compared exactly with `source`"),
            ("[bad", Matching::TOOL_NAME, "is compared literally"),
            ("^$", Matching::TOOL_NAME, "can match no tool"),
            ("a, b", Matching::TOOL_NAME, "probably matches no tool"),
        ] {
            let problem = compile(Some(text), matching, FailBehavior::Continue).1;
            assert!(problem.unwrap().message.contains(said), "{text}");
        }
    }

    #[test]
    fn a_pattern_where_words_are_compared_has_a_hint_what_to_write() {
        let exact = Matching::Exact { field: "source", keywords: &["startup", "resume", "clear"] };
        for (text, matching, hint) in [
            ("startup|resume", exact, Some("one definition for each of `startup`, `resume`")),
            (".*", exact, Some("leave the matcher out to match every source")),
            ("^start", exact, Some("no regular expressions; write `startup`")),
            ("resumed", exact, Some("did you mean `resume`?")),
            ("[", exact, None),
            ("xyzzy", exact, None),
            ("resume", exact, None),
            ("*", exact, None),
            ("startup|resume", Matching::TOOL_NAME, None),
            ("startup|resume", Matching::Always, None),
        ] {
            for fail_behavior in [FailBehavior::Block, FailBehavior::Continue] {
                let found = compile(Some(text), matching, fail_behavior).0.hint(matching);
                match hint {
                    Some(hint) => assert!(found.unwrap().ends_with(hint), "{text}"),
                    None => assert_eq!(found, None, "{text}"),
                }
            }
        }
        assert_eq!(Matcher::disabled(Some(Arc::new(".*".into()))).hint(exact), None);
    }

    #[test]
    fn a_match_that_backtracks_for_ever_counts_as_a_match() {
        let (matcher, _) =
            compile(Some("^(?:(?!b)a|a)*$"), Matching::TOOL_NAME, FailBehavior::Continue);
        assert_eq!(matcher.matches(Some(&format!("{}b", "a".repeat(60)))), MatchOutcome::GaveUp);
    }

    proptest! {
        #[test]
        fn any_matcher_against_any_name_does_not_panic(text in "\\PC{0,30}", name in "\\PC{0,30}") {
            compile(Some(&text), Matching::TOOL_NAME, FailBehavior::Continue).0.matches(Some(&name));
        }
    }
}

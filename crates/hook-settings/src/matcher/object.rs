//! The object form of a matcher: names and patterns of tools, and conditions on the input.

use std::sync::Arc;

use super::filter::{CommandPattern, Filter};
use super::globs::PathGlobs;
use super::pattern::{Compiled as CompiledPattern, compile_pattern, consequence, fallback_rule};
use super::rule::{MatchOutcome, MatcherProblem, Rule, Tools, matches_any_name};
use crate::{
    COMMAND_PATTERN, FailBehavior, KIND, MatcherFields, PATH_PATTERN, Rule as SettingsRule, TOOL,
    TOOL_PATTERN,
};
use hook_json::text::{nearest, shortened};
use hook_protocol::event::Matching;
use hook_protocol::event::input::MAX_TOOL_NAME;
use hook_protocol::tool::{ToolKind, all_names};

/// The result of compiling an object form.
pub(super) struct Compiled {
    pub(super) rule: Rule,
    pub(super) filter: Option<Arc<Filter>>,
    pub(super) problems: Vec<MatcherProblem>,
}

pub(super) fn compile(
    fields: &MatcherFields,
    matching: Matching,
    fail_behavior: FailBehavior,
) -> Compiled {
    let mut compiler = Compiler { fail_behavior, problems: Vec::new() };
    let tools = compiler.tools(fields, matching);
    let callers = fields.callers().filter(|(_, values)| !values.is_empty());
    let callers = callers.map(|(field, values)| (field, values.clone())).collect();
    let kinds = compiler.kinds(fields, matching);
    let mut filter = Filter { kinds, callers, ..Filter::default() };
    if !fields.paths.is_empty() {
        match PathGlobs::compile(&fields.paths) {
            Ok(globs) => filter.paths = Some(globs),
            Err((index, reason)) => {
                let written = fields.paths.get(index).map(String::as_str).unwrap_or_default();
                let item = (fields.paths.len() > 1).then_some(index);
                compiler.report(
                    SettingsRule::InvalidMatcher,
                    (PATH_PATTERN, item),
                    written,
                    &format!("cannot be used: {}", shortened(&reason)),
                );
            }
        }
    }
    if let Some(source) = &fields.command_pattern {
        match CommandPattern::compile(source) {
            Ok(pattern) => filter.command = Some(pattern),
            Err(reason) => compiler.report(
                SettingsRule::InvalidMatcher,
                (COMMAND_PATTERN, None),
                source,
                &format!("is not a regular expression: {}", shortened(&reason)),
            ),
        }
    }
    let problems = compiler.problems;
    let is_broken = problems.iter().any(|problem| problem.rule == SettingsRule::InvalidMatcher);
    // A matcher that can match nothing is kept, unless the hook is a guard.
    if is_broken || (!problems.is_empty() && fail_behavior == FailBehavior::Block) {
        return Compiled { rule: fallback_rule(fail_behavior), filter: None, problems };
    }
    let filter = (!filter.is_empty()).then(|| Arc::new(filter));
    Compiled { rule: tools, filter, problems }
}

struct Compiler {
    fail_behavior: FailBehavior,
    problems: Vec<MatcherProblem>,
}

impl Compiler {
    fn report(
        &mut self,
        rule: SettingsRule,
        (key, item): (&'static str, Option<usize>),
        source: &str,
        verdict: &str,
    ) {
        let suffix = match rule {
            // The message already says that it can match nothing.
            SettingsRule::MatcherNeverMatches if self.fail_behavior == FailBehavior::Continue => "",
            _ => consequence(self.fail_behavior),
        };
        let message = format!("the matcher\'s `{key}` `{}` {verdict}{suffix}", shortened(source));
        self.problems.push(MatcherProblem { rule, message, key: Some(key), item });
    }

    fn kinds(&mut self, fields: &MatcherFields, matching: Matching) -> Vec<ToolKind> {
        // `tools` reports that the event is not about a tool.
        let kinds = fields.kinds.iter().filter(|_| matching == Matching::TOOL_NAME).enumerate();
        let kinds = kinds.filter_map(|(index, name)| {
            let kind = ToolKind::from_name(name);
            if kind.is_none() {
                let known = ToolKind::ALL.map(ToolKind::as_str);
                let verdict = match nearest(name, known) {
                    Some(meant) => format!("is no kind of tool; did you mean `{meant}`?"),
                    None => format!("is no kind of tool; known are {}", known.join(", ")),
                };
                let item = (fields.kinds.len() > 1).then_some(index);
                self.report(SettingsRule::InvalidMatcher, (KIND, item), name, &verdict);
            }
            kind
        });
        kinds.collect()
    }

    fn tools(&mut self, fields: &MatcherFields, matching: Matching) -> Rule {
        let invalid = SettingsRule::InvalidMatcher;
        if matching != Matching::TOOL_NAME {
            let keys = [
                (KIND, fields.kinds.first()),
                (TOOL, fields.tools.first()),
                (TOOL_PATTERN, fields.tool_pattern.as_ref()),
            ];
            for (key, written) in keys {
                if let Some(written) = written {
                    let verdict = match matching {
                        Matching::Exact { field, .. } => format!(
                            "cannot be used: the event is about no tool; a matcher for its `{field}` \
                             is a string"
                        ),
                        _ => "cannot be used: the event is about no tool".to_owned(),
                    };
                    self.report(invalid, (key, None), written, &verdict);
                }
            }
            return Rule::Everything;
        }
        for (index, name) in fields.tools.iter().enumerate() {
            let item = (fields.tools.len() > 1).then_some(index);
            if let Some(reason) = unusual_name(name) {
                let never = SettingsRule::MatcherNeverMatches;
                self.report(never, (TOOL, item), name, &format!("matches no tool: {reason}"));
            }
        }
        let pattern = fields.tool_pattern.as_deref().map(str::trim);
        let pattern = pattern.filter(|pattern| !pattern.is_empty() && *pattern != "*");
        let compiled = pattern.and_then(|pattern| match compile_pattern(pattern) {
            Ok(CompiledPattern { pattern: compiled, unreachable }) => {
                let reaches = |name: &String| {
                    matches_any_name(&compiled, all_names(name)) != MatchOutcome::No
                };
                let none = (!fields.tools.is_empty() && !fields.tools.iter().any(reaches))
                    .then_some("it matches no name of `tool`");
                if let Some(reason) = unreachable.or(none) {
                    let never = SettingsRule::MatcherNeverMatches;
                    let verdict = format!("matches no tool: {reason}");
                    self.report(never, (TOOL_PATTERN, None), pattern, &verdict);
                }
                Some((Box::new(compiled), pattern.to_owned()))
            }
            Err(reason) => {
                let verdict = format!("is not a regular expression: {}", shortened(&reason));
                self.report(invalid, (TOOL_PATTERN, None), pattern, &verdict);
                None
            }
        });
        match (fields.tools.is_empty(), compiled) {
            (true, None) => Rule::Everything,
            (_, pattern) => Rule::Tools(Box::new(Tools { names: fields.tools.clone(), pattern })),
        }
    }
}

/// Returns the reason why hardly any tool has that name.
fn unusual_name(name: &str) -> Option<&'static str> {
    let is_of_patterns =
        |character: char| "|*^$()[]\\+?,".contains(character) || character.is_whitespace();
    match name {
        "" => Some("no tool has an empty name"),
        long if long.len() > MAX_TOOL_NAME => {
            Some("it is longer than the 1 KiB that a tool's name may have")
        }
        pattern if pattern.contains(is_of_patterns) => Some(
            "it is compared exactly; a pattern goes under `toolPattern`, several names in a list",
        ),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::MatcherDefinition;
    use crate::matcher::Matcher;

    const EXACT: Matching = Matching::Exact { field: "source", keywords: &["startup"] };

    fn compiled(
        fields: MatcherFields,
        matching: Matching,
        fail_behavior: FailBehavior,
    ) -> (Matcher, Vec<MatcherProblem>) {
        let definition = MatcherDefinition::from(fields);
        Matcher::compile(Some(Arc::new(definition)), matching, fail_behavior)
    }

    #[test]
    fn name_and_pattern_of_a_tool_must_both_match() {
        let new = MatcherFields::new;
        for (fields, subject, unmatched) in [
            (new(), "anything", None),
            (new().tool("edit"), "edit", None),
            (new().tool("edit"), "multi_edit", None),
            (new().tool("edit"), "edits", Some((TOOL, "edit"))),
            (new().tool("Edit"), "Write", Some((TOOL, "Edit"))),
            (new().tool("Bash"), "run_shell_command", None),
            (new().tool("a").tool("b"), "b", None),
            (new().tool("a").tool("b"), "c", Some((TOOL, "a, b"))),
            (new().tool_pattern("edit"), "multi_edit", None),
            (new().tool_pattern("^edit"), "edits_x", None),
            (new().tool_pattern("^edit"), "my_edit", Some((TOOL_PATTERN, "^edit"))),
            (new().tool_pattern("^Bash$"), "run_shell_command", None),
            (
                new().tool_pattern("^(?!Bash$)"),
                "run_shell_command",
                Some((TOOL_PATTERN, "^(?!Bash$)")),
            ),
            (new().tool_pattern("^(?!Bash$)"), "write_file", None),
            (new().tool_pattern("^(?!mcp_)(Edit|Write)$"), "Edit", None),
            (new().tool_pattern("^(?!mcp_)(Edit|Write)$"), "replace", None),
            (new().tool_pattern("*"), "x", None),
            (new().tool("ab").tool("b").tool_pattern("a"), "b", Some((TOOL_PATTERN, "a"))),
        ] {
            let (matcher, problems) = compiled(fields, Matching::TOOL_NAME, FailBehavior::Continue);
            assert_eq!(problems, []);
            let matched = matcher.matches(Some(subject)) == MatchOutcome::Yes;
            assert_eq!(matched, unmatched.is_none(), "{subject}");
            let outcome = matcher.unmatched_tool(subject);
            assert_eq!(outcome, unmatched.map(|(key, text)| (key, text.to_owned())), "{subject}");
        }
    }

    #[test]
    fn a_guard_is_for_everything_where_its_matcher_cannot_be_used() {
        let new = MatcherFields::new;
        let (invalid, never) = (SettingsRule::InvalidMatcher, SettingsRule::MatcherNeverMatches);
        for (fields, matching, rule, key, item, said) in [
            (new().tool_pattern("["), Matching::TOOL_NAME, invalid, TOOL_PATTERN, None, "regular"),
            (new().command_pattern("("), EXACT, invalid, COMMAND_PATTERN, None, "regular"),
            (new().path("{"), Matching::Always, invalid, PATH_PATTERN, None, "cannot be used"),
            (new().path("a").path("b/"), EXACT, invalid, PATH_PATTERN, Some(1), "ends with `/`"),
            (new().tool("x"), EXACT, invalid, TOOL, None, "is a string"),
            (new().tool_pattern("x"), Matching::Always, invalid, TOOL_PATTERN, None, "no tool"),
            (new().tool("a").tool("b|c"), Matching::TOOL_NAME, never, TOOL, Some(1), "toolPattern"),
            (
                new().tool("a").tool_pattern("b"),
                Matching::TOOL_NAME,
                never,
                TOOL_PATTERN,
                None,
                "name",
            ),
        ] {
            for fail_behavior in [FailBehavior::Block, FailBehavior::Continue] {
                let (matcher, problems) = compiled(fields.clone(), matching, fail_behavior);
                let [problem] = problems.as_slice() else { panic!("{problems:?}") };
                assert_eq!((problem.rule, problem.key, problem.item), (rule, Some(key), item));
                assert!(problem.message.contains(said), "{problem:?}");
                let guards = fail_behavior == FailBehavior::Block;
                assert_eq!(problem.message.contains("runs for everything"), guards);
                let everything = matcher.matches(Some("anything")) == MatchOutcome::Yes;
                assert_eq!(everything && !matcher.has_conditions(), guards, "{problem:?}");
            }
        }
    }
}

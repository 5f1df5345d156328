//! Matchers that do not have their apparent effect.

use std::collections::{HashMap, HashSet};
use std::ops::Range;
use std::sync::Arc;

use super::findings::{Finding, Findings, path_of_definition};
use crate::document::parse_root;
use crate::language::Languages;
use crate::matcher::{Matcher, MatcherProblem, names_in};
use crate::matcher_definition::MatcherFields;
use crate::values::language_help;
use crate::{FailBehavior, MatcherDefinition, Rule, SettingsFile, Severity, TOOL};
use hook_json::text::{nearest, shortened};
use hook_protocol::event::input::CallerField;
use hook_protocol::event::{HookEventName, Matching};
use hook_protocol::tool::{is_mcp_tool_name, native_name, nearest_name};

pub(super) fn check(file: &SettingsFile, languages: &Languages, findings: &mut Findings<'_>) {
    // Hooks of one definition share their matcher, and definitions often share theirs.
    let mut seen = HashSet::new();
    let mut known: HashMap<(HookEventName, &MatcherDefinition, FailBehavior), Vec<Problem>> =
        HashMap::new();
    for entry in &file.hooks {
        let (Some(matcher), Some(range)) = (&entry.matcher, entry.spans.get("matcher")) else {
            continue;
        };
        if !seen.insert(range.start) {
            continue;
        }
        let fail_behavior = entry.fail_behavior;
        let problems = known
            .entry((entry.event, matcher, fail_behavior))
            .or_insert_with(|| problems(entry.event, matcher, fail_behavior, languages));
        for problem in problems {
            let (range, path) =
                invalid_part(findings, range, path_of_definition(entry, "matcher"), problem);
            let mut finding = Finding::new(problem.rule, &range, path, &problem.message);
            finding.diagnostic.suggestion = problem.suggestion.map(str::to_owned);
            finding.diagnostic.help.clone_from(&problem.help);
            finding.diagnostic.severity = problem.severity.unwrap_or(finding.diagnostic.severity);
            findings.add(finding);
        }
    }
}

/// Returns the range of the invalid part of a matcher; all of it for the text form.
fn invalid_part(
    findings: &Findings<'_>,
    whole: &Range<usize>,
    path: String,
    problem: &Problem,
) -> (Range<usize>, String) {
    let Some(key) = problem.key else { return (whole.clone(), path) };
    let located = || {
        let matcher = parse_root(findings.text(whole)?).ok()?;
        let mut value = matcher.to_object().ok()?.get(key)?.clone();
        if let Some(item) = problem.item {
            value = value.to_items()?.into_iter().nth(item)?;
        }
        Some(whole.start + value.start()..whole.start + value.start() + value.as_str().len())
    };
    let item = problem.item.map(|item| format!("[{item}]")).unwrap_or_default();
    (located().unwrap_or_else(|| whole.clone()), format!("{path}.{key}{item}"))
}

struct Problem {
    key: Option<&'static str>,
    item: Option<usize>,
    rule: Rule,
    message: String,
    severity: Option<Severity>,
    suggestion: Option<&'static str>,
    help: Option<String>,
}

impl Problem {
    fn new(rule: Rule, message: String) -> Self {
        Self { key: None, item: None, rule, message, severity: None, suggestion: None, help: None }
    }
}

fn problems(
    event: HookEventName,
    matcher: &Arc<MatcherDefinition>,
    fail_behavior: FailBehavior,
    languages: &Languages,
) -> Vec<Problem> {
    match &**matcher {
        MatcherDefinition::Text(text) => {
            let unknown = names_in(text).filter(|_| event.is_tool_event());
            let unknown = unknown.into_iter().flatten().filter_map(|name| unknown_tool(name, None));
            match problem(event, text, matcher, fail_behavior) {
                Some(problem) => vec![problem],
                None => unknown.collect(),
            }
        }
        MatcherDefinition::Fields(fields) => {
            let matching = event.row().matching;
            let found = Matcher::compile(Some(Arc::clone(matcher)), matching, fail_behavior).1;
            let problem = |MatcherProblem { rule, message, key, item, .. }| Problem {
                key,
                item,
                help: Some("fix it, or leave it out to match whatever it is".to_owned()),
                ..Problem::new(rule, message)
            };
            let tools = fields.tools.iter().enumerate().filter(|_| event.is_tool_event());
            let is_list = fields.tools.len() > 1;
            let unknown =
                tools.filter_map(|(item, name)| unknown_tool(name, Some(is_list.then_some(item))));
            let agents = unknown_agents(fields, languages);
            found.into_iter().map(problem).chain(unknown).chain(agents).collect()
        }
        // The reader reported it.
        MatcherDefinition::Unreadable(_) => Vec::new(),
    }
}

/// Reports a tool name that no known agent uses, so the matcher may never match. `item` is the
/// name's index in the object form's list of tools.
fn unknown_tool(name: &str, item: Option<Option<usize>>) -> Option<Problem> {
    let is_name = names_in(name).is_some_and(|mut names| names.all(|other| other == name));
    if !is_name || native_name(name).is_some() || is_mcp_tool_name(name) {
        return None;
    }
    let message = format!("no known agent has a tool `{}`", shortened(name));
    let nearest = nearest_name(name);
    let native = nearest.and_then(native_name).filter(|native| Some(*native) != nearest);
    let help = native.map(|here| format!("it is called `{here}` here; each of its names will do"));
    Some(Problem {
        key: item.map(|_| TOOL),
        item: item.flatten(),
        // A name similar to no other may be a tool of a custom agent.
        severity: nearest.is_none().then_some(Severity::Hint),
        suggestion: nearest,
        help,
        ..Problem::new(Rule::UnknownTool, message)
    })
}

/// Reports names that no known agent has, so the matcher may never match.
fn unknown_agents(fields: &MatcherFields, languages: &Languages) -> impl Iterator<Item = Problem> {
    let agents = fields.callers().find(|(field, _)| *field == CallerField::Agent);
    let agents = agents.map(|(_, agents)| agents.as_slice()).unwrap_or_default();
    let unknown = agents.iter().enumerate().filter(|(_, name)| !languages.has_agent(name));
    unknown.map(|(item, name)| Problem {
        key: Some(CallerField::Agent.as_str()),
        item: (agents.len() > 1).then_some(item),
        severity: Some(Severity::Warning),
        help: Some(language_help(name, languages)),
        ..Problem::new(Rule::UnknownAgent, format!("there is no agent `{}`", shortened(name)))
    })
}

fn problem(
    event: HookEventName,
    text: &str,
    matcher: &Arc<MatcherDefinition>,
    fail_behavior: FailBehavior,
) -> Option<Problem> {
    let trimmed = text.trim();
    if trimmed.is_empty() || trimmed == "*" {
        return None;
    }
    let matching = event.row().matching;
    if matches!(matching, Matching::Always) {
        let message = format!(
            "the matcher `{}` is ignored: {event} has nothing that a matcher is compared with",
            shortened(trimmed)
        );
        return Some(Problem::new(Rule::MatcherIgnored, message));
    }
    let found = Matcher::compile(Some(Arc::clone(matcher)), matching, fail_behavior).1;
    let found = found.into_iter().next()?;
    let (suggestion, help) = match matching {
        Matching::Exact { keywords, .. } => {
            let help = match trimmed.contains(['|', '^', '$', '.', '*', '(', '[', '\\']) {
                true => {
                    "this event takes no regular expression; write one definition for each word"
                }
                false => "write one of these words, or leave the matcher out to match all",
            };
            (nearest(trimmed, keywords.iter().copied()), Some(help.to_owned()))
        }
        _ if found.rule == Rule::InvalidPattern => (None, glob_suggestion(trimmed)),
        _ => {
            let help = "fix the expression, or leave the matcher out to match every tool";
            (None, Some(help.to_owned()))
        }
    };
    Some(Problem { suggestion, help, ..Problem::new(found.rule, found.message) })
}

/// Returns a suggestion to replace a glob such as `*shell`.
fn glob_suggestion(text: &str) -> Option<String> {
    let rest = text.strip_prefix('*')?;
    let plain = |character: char| character.is_alphanumeric() || matches!(character, '_' | '-');
    (!rest.is_empty() && rest.chars().all(plain)).then(|| {
        let rest = shortened(rest);
        format!("write `.*{rest}` for any name with `{rest}` in it, or `{rest}$` for its end")
    })
}

//! Matchers that cannot do what they seem to.

use std::collections::{HashMap, HashSet};

use super::{Finding, Findings, path_of_definition};
use crate::event::{HookEventName, Matching};
use crate::matcher::Matcher;
use crate::nearest::nearest;
use crate::settings::{FailBehavior, Rule, SettingsFile};
use crate::text::shortened;

pub(super) fn check(file: &SettingsFile, findings: &mut Findings<'_>) {
    // Hooks of one definition share their matcher, and definitions often do.
    let mut seen = HashSet::new();
    let mut known: HashMap<(HookEventName, &str, FailBehavior), Option<Problem>> = HashMap::new();
    for entry in &file.hooks {
        let (Some(text), Some(range)) = (&entry.matcher, &entry.spans.matcher) else { continue };
        if !seen.insert(range.start) {
            continue;
        }
        let fail_behavior = entry.fail_behavior;
        let problem = known
            .entry((entry.event, text, fail_behavior))
            .or_insert_with(|| problem(entry.event, text, fail_behavior));
        let Some(problem) = problem else { continue };
        let path = path_of_definition(entry, "matcher");
        let mut finding = Finding::new(problem.rule, range, path, &problem.message);
        finding.diagnostic.suggestion = problem.suggestion.map(str::to_owned);
        finding.diagnostic.remedy.clone_from(&problem.remedy);
        findings.add(finding);
    }
}

struct Problem {
    rule: Rule,
    message: String,
    suggestion: Option<&'static str>,
    remedy: Option<String>,
}

fn problem(event: HookEventName, text: &str, fail_behavior: FailBehavior) -> Option<Problem> {
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
        let rule = Rule::MatcherIgnored;
        return Some(Problem { rule, message, suggestion: None, remedy: None });
    }
    let found = Matcher::compile(Some(text), matching, fail_behavior).1?;
    let (suggestion, remedy) = match matching {
        Matching::Exact { words, .. } => {
            let remedy = match trimmed.contains(['|', '^', '$', '.', '*', '(', '[', '\\']) {
                true => {
                    "this event takes no regular expression; write one definition for each word"
                }
                false => "write one of these words, or leave the matcher out to match all",
            };
            (nearest(trimmed, words.iter().copied()), Some(remedy.to_owned()))
        }
        _ if found.rule == Rule::InvalidPattern => (None, for_glob(trimmed)),
        _ => {
            let remedy = "fix the expression, or leave the matcher out to match every tool";
            (None, Some(remedy.to_owned()))
        }
    };
    Some(Problem { rule: found.rule, message: found.message, suggestion, remedy })
}

/// What to write instead of a pattern of file names, such as `*shell`.
fn for_glob(text: &str) -> Option<String> {
    let rest = text.strip_prefix('*')?;
    let plain = |character: char| character.is_alphanumeric() || matches!(character, '_' | '-');
    (!rest.is_empty() && rest.chars().all(plain)).then(|| {
        let rest = shortened(rest);
        format!("write `.*{rest}` for any name with `{rest}` in it, or `{rest}$` for its end")
    })
}

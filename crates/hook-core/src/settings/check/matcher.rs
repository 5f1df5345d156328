//! Matchers that cannot do what they seem to.

use std::collections::{HashMap, HashSet};

use super::{Finding, Findings, path_of_definition};
use crate::event::{HookEventName, Matching};
use crate::matcher::{Matcher, ODD, unreachable};
use crate::nearest::nearest;
use crate::settings::{Rule, SettingsFile};
use crate::text::shortened;

pub(super) fn check(file: &SettingsFile, findings: &mut Findings<'_>) {
    // Hooks of one definition share their matcher, and definitions often do.
    let mut seen = HashSet::new();
    let mut known: HashMap<(HookEventName, &str), Option<Problem>> = HashMap::new();
    for entry in &file.hooks {
        let (Some(text), Some(range)) = (&entry.matcher, &entry.spans.matcher) else { continue };
        if !seen.insert(range.start) {
            continue;
        }
        let problem =
            known.entry((entry.event, text)).or_insert_with(|| problem(entry.event, text));
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

fn problem(event: HookEventName, text: &str) -> Option<Problem> {
    let trimmed = text.trim();
    if trimmed.is_empty() || trimmed == "*" {
        return None;
    }
    let matching = event.row().matching;
    let of = |rule, message| Problem { rule, message, suggestion: None, remedy: None };
    match matching {
        Matching::Always => {
            let message = format!(
                "the matcher `{}` is ignored: {event} has nothing that a matcher is compared with",
                shortened(trimmed)
            );
            Some(of(Rule::MatcherIgnored, message))
        }
        Matching::Exact { words, .. } => {
            let message = Matcher::compile(Some(text), matching).1?;
            let remedy = match trimmed.contains(['|', '^', '$', '.', '*', '(', '[', '\\']) {
                true => {
                    "this event takes no regular expression; write one definition for each word"
                }
                false => "write one of these words, or leave the matcher out to match all",
            };
            Some(Problem {
                suggestion: nearest(trimmed, words.iter().copied()),
                remedy: Some(remedy.to_owned()),
                ..of(Rule::MatcherNeverMatches, message)
            })
        }
        Matching::Pattern => match Matcher::compile(Some(text), matching).1 {
            Some(message) => {
                Some(Problem { remedy: for_glob(trimmed), ..of(Rule::InvalidPattern, message) })
            }
            None => {
                let reason = unreachable(trimmed)?;
                let verdict = if reason == ODD { "probably matches" } else { "can match" };
                let message =
                    format!("the matcher `{}` {verdict} no tool: {reason}", shortened(trimmed));
                let remedy = "mend the expression, or leave the matcher out to match every tool";
                let remedy = Some(remedy.to_owned());
                Some(Problem { remedy, ..of(Rule::MatcherNeverMatches, message) })
            }
        },
    }
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

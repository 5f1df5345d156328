//! Matching of hooks against their input, by the rules of their agent.

use hook_json::{JsonObject, RawJson};
use hook_protocol::event::Matching;
use hook_settings::FailBehavior;
use hook_settings::language::ForeignHook;
use hook_settings::matcher::{MatchOutcome, Matcher};
use std::collections::HashMap;
use std::sync::{Arc, LazyLock, Mutex, PoisonError};

use super::table::{AgentEvent, Subject};

/// Returns the value that matchers of the event are compared with; `None` if all match.
pub(super) fn subject(event: &AgentEvent, told: &JsonObject) -> Option<String> {
    let text = |name: &str| told.get(name).and_then(RawJson::to_text).unwrap_or_default();
    match event.subject {
        Subject::Nothing => None,
        Subject::Word(word) => Some(word.to_owned()),
        Subject::Field(name) => Some(text(name)),
        Subject::Tool => Some(text(tool_field(event))),
        Subject::FileName(name) => {
            let path = text(name);
            Some(path.rsplit(['/', '\\']).next().unwrap_or_default().to_owned())
        }
    }
}

fn tool_field(event: &AgentEvent) -> &'static str {
    let field = event.fields.iter().find(|(ours, _)| *ours == "tool_name");
    field.map_or("tool_name", |(_, theirs)| theirs)
}

/// Returns the matcher's pattern; `None` if it matches everything.
pub(super) fn pattern(hook: &ForeignHook) -> Option<&str> {
    let text = hook.matcher.as_deref()?.trim();
    (!text.is_empty() && text != "*").then_some(text)
}

/// Plain text instead of native tools: other agents know each tool by one name.
const TEXT: Matching = Matching::Pattern { field: "text" };

/// Searches for an expression in a text. An invalid expression is compared literally.
pub(super) fn found(pattern: &str, subject: &str) -> bool {
    // Other regex dialects write case-insensitivity this way.
    if let Some(pattern) = pattern.strip_prefix("(?i)") {
        return found(&pattern.to_lowercase(), &subject.to_lowercase());
    }
    compiled(pattern).0.matches(Some(subject)) != MatchOutcome::No
}

/// Compiled matchers with their validity, cached because a hook may be compared with many files.
static COMPILED: LazyLock<Mutex<HashMap<String, Compiled>>> = LazyLock::new(Mutex::default);
/// The size of the cache.
const MAX_COMPILED: usize = 256;

type Compiled = Arc<(Matcher, bool)>;

fn compiled(pattern: &str) -> Compiled {
    let mut kept = COMPILED.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(matcher) = kept.get(pattern) {
        return Arc::clone(matcher);
    }
    let definition = Some(Arc::new(pattern.into()));
    let (matcher, problems) = Matcher::compile(definition, TEXT, FailBehavior::Continue);
    if kept.len() == MAX_COMPILED {
        kept.clear();
    }
    let matcher = Arc::new((matcher, problems.is_empty()));
    kept.insert(pattern.to_owned(), Arc::clone(&matcher));
    matcher
}

/// Splits a pattern that only consists of names; `None` if it is an expression.
pub(super) fn names<'p>(
    pattern: &'p str,
    others: &str,
    separators: &[char],
) -> Option<Vec<&'p str>> {
    let plain = |it: char| it.is_ascii_alphanumeric() || it == '_' || others.contains(it);
    pattern
        .chars()
        .all(|it| plain(it) || separators.contains(&it))
        .then(|| pattern.split(separators).map(str::trim).collect())
}

/// Matches like Claude Code: exact names in a list, or an expression.
pub(super) fn claude(event: &AgentEvent, hook: &ForeignHook, told: &JsonObject) -> bool {
    let subject = subject(event, told);
    let matched = match (pattern(hook), &subject) {
        (None, _) | (_, None) => true,
        // The tool's former name counts, too.
        (Some(_), Some(subject)) if subject == "Agent" && is_task(hook) => true,
        (Some(pattern), Some(subject)) => {
            // File names and errors may contain hyphens and blanks.
            let (others, separators): (_, &[char]) = match event.subject {
                Subject::FileName(_) | Subject::Field("error") => ("", &['|']),
                _ => ("- ", &['|', ',']),
            };
            match names(pattern, others, separators) {
                Some(names) => names.contains(&subject.as_str()),
                None => found(pattern, subject),
            }
        }
    };
    matched && hook.condition.as_deref().is_none_or(|rule| super::rule::permits(event, rule, told))
}

/// Checks whether a matcher matches `Task`, the former name of `Agent`.
fn is_task(hook: &ForeignHook) -> bool {
    pattern(hook).is_some_and(|pattern| match names(pattern, "- ", &['|', ',']) {
        Some(names) => names.contains(&"Task"),
        None => found(pattern, "Task"),
    })
}

/// Matches like Gemini CLI: an expression for tools, an exact name for anything else.
pub(super) fn gemini(event: &AgentEvent, hook: &ForeignHook, told: &JsonObject) -> bool {
    match (pattern(hook), subject(event, told)) {
        (None, _) | (_, None) => true,
        // An invalid JavaScript expression is compared literally.
        (Some(pattern), Some(subject))
            if event.subject == Subject::Tool && !pattern.starts_with("(?i)") =>
        {
            found(pattern, &subject)
        }
        (Some(word), Some(subject)) => word == subject,
    }
}

/// Matches like Codex: exact names in a list, or an expression. Some tools have several names.
pub(super) fn codex(event: &AgentEvent, hook: &ForeignHook, told: &JsonObject) -> bool {
    let (Some(pattern), Some(subject)) = (pattern(hook), subject(event, told)) else { return true };
    let mut subjects = vec![subject.as_str()];
    match subject.as_str() {
        "apply_patch" => subjects.extend(["Edit", "Write"]),
        "spawn_agent" => subjects.push("Agent"),
        _ => {}
    }
    match names(pattern, "", &['|']) {
        Some(names) => subjects.iter().any(|subject| names.contains(subject)),
        None => !looks_around(pattern) && subjects.iter().any(|subject| found(pattern, subject)),
    }
}

/// Checks for syntax that Rust's regular expressions lack: Codex drops such hooks.
fn looks_around(pattern: &str) -> bool {
    let digits = |it: &str| it.starts_with(|digit: char| digit.is_ascii_digit() && digit != '0');
    ["(?=", "(?!", "(?<=", "(?<!"].iter().any(|it| pattern.contains(it))
        || pattern.split('\\').skip(1).any(digits)
}

/// Searches for an expression in a text. An invalid expression matches nothing.
pub(super) fn is_found(pattern: &str, subject: &str) -> bool {
    let (matcher, is_expression) = &*compiled(pattern);
    *is_expression && matcher.matches(Some(subject)) == MatchOutcome::Yes
}

/// Checks whether an expression matches the whole text. An invalid one matches nothing.
pub(super) fn is_whole(pattern: &str, subject: &str) -> bool {
    is_found(&format!("^(?:{pattern})$"), subject)
}

/// Matches every hook.
pub(super) fn anything(_: &AgentEvent, _: &ForeignHook, _: &JsonObject) -> bool {
    true
}

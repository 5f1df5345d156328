//! Matching of hooks against their input, by the rules of their agent.

use hook_json::JsonObject;
use hook_protocol::event::Matching;
use hook_settings::FailBehavior;
use hook_settings::language::ForeignHook;
use hook_settings::matcher::{MatchOutcome, Matcher};
use std::collections::HashMap;
use std::sync::{Arc, LazyLock, Mutex, PoisonError};

use super::table::{AgentEvent, Subject};

/// Returns the value that matchers of the event are compared with; `None` if all match.
pub(super) fn subject(event: &AgentEvent, input: &JsonObject) -> Option<String> {
    let field = |name: &str| super::convert::field_at(input, name);
    let text = |name: &str| field(name).and_then(|value| value.to_text()).unwrap_or_default();
    match event.subject {
        Subject::Nothing => None,
        Subject::Constant(constant) => Some(constant.to_owned()),
        Subject::Field(name) => Some(text(name)),
        Subject::Tool => Some(text(tool_field(event))),
        Subject::FileName(name) => {
            let path = text(name);
            Some(path.rsplit(['/', '\\']).next().unwrap_or_default().to_owned())
        }
    }
}

fn tool_field(event: &AgentEvent) -> &'static str {
    let field = event.fields.iter().find(|(native, _)| *native == "tool_name");
    field.map_or("tool_name", |(_, foreign)| foreign)
}

/// Returns the matcher's pattern; `None` if it matches everything.
pub(super) fn pattern(hook: &ForeignHook) -> Option<&str> {
    let text = hook.matcher.as_deref()?.trim();
    (!text.is_empty() && text != "*").then_some(text)
}

/// Plain text instead of native tools: other agents know each tool by one name.
const TEXT: Matching = Matching::Pattern { field: "text" };

/// Searches for an expression in a text. An invalid expression is compared literally.
pub(super) fn is_match_or_literal(pattern: &str, subject: &str) -> bool {
    // Other regex dialects write case-insensitivity this way.
    if let Some(pattern) = pattern.strip_prefix("(?i)") {
        return is_match_or_literal(&pattern.to_lowercase(), &subject.to_lowercase());
    }
    compile(pattern).0.matches(Some(subject)) != MatchOutcome::No
}

/// Compiled matchers with their validity, cached because a hook may be compared with many files.
static COMPILED: LazyLock<Mutex<HashMap<String, Compiled>>> = LazyLock::new(Mutex::default);
/// The size of the cache.
const MAX_COMPILED: usize = 256;

type Compiled = Arc<(Matcher, bool)>;

fn compile(pattern: &str) -> Compiled {
    let mut cache = COMPILED.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(matcher) = cache.get(pattern) {
        return Arc::clone(matcher);
    }
    let definition = Some(Arc::new(pattern.into()));
    let (matcher, problems) = Matcher::compile(definition, TEXT, FailBehavior::Continue);
    if cache.len() == MAX_COMPILED {
        cache.clear();
    }
    let matcher = Arc::new((matcher, problems.is_empty()));
    cache.insert(pattern.to_owned(), Arc::clone(&matcher));
    matcher
}

/// Splits a pattern that only consists of names; `None` if it is an expression.
pub(super) fn names<'p>(
    pattern: &'p str,
    extra: &str,
    separators: &[char],
) -> Option<Vec<&'p str>> {
    let is_name_character = |character: char| {
        character.is_ascii_alphanumeric() || character == '_' || extra.contains(character)
    };
    pattern
        .chars()
        .all(|character| is_name_character(character) || separators.contains(&character))
        .then(|| pattern.split(separators).map(str::trim).collect())
}

/// Matches like Claude Code: exact names in a list, or an expression.
pub(super) fn matches_claude(event: &AgentEvent, hook: &ForeignHook, input: &JsonObject) -> bool {
    let subject = subject(event, input);
    let matched = match (pattern(hook), &subject) {
        (None, _) | (_, None) => true,
        // The tool's former name counts, too.
        (Some(_), Some(subject)) if subject == "Agent" && matches_task(hook) => true,
        (Some(pattern), Some(subject)) => {
            // File names and errors may contain hyphens and blanks.
            let (extra, separators): (_, &[char]) = match event.subject {
                Subject::FileName(_) | Subject::Field("error") => ("", &['|']),
                _ => ("- ", &['|', ',']),
            };
            match names(pattern, extra, separators) {
                Some(names) => names.contains(&subject.as_str()),
                None => is_match_or_literal(pattern, subject),
            }
        }
    };
    matched && hook.condition.as_deref().is_none_or(|rule| super::rule::matches(event, rule, input))
}

/// Checks whether a matcher matches `Task`, the former name of `Agent`.
fn matches_task(hook: &ForeignHook) -> bool {
    pattern(hook).is_some_and(|pattern| match names(pattern, "- ", &['|', ',']) {
        Some(names) => names.contains(&"Task"),
        None => is_match_or_literal(pattern, "Task"),
    })
}

/// Matches like Gemini CLI: an expression for tools, an exact name for anything else.
pub(super) fn matches_gemini(event: &AgentEvent, hook: &ForeignHook, input: &JsonObject) -> bool {
    match (pattern(hook), subject(event, input)) {
        (None, _) | (_, None) => true,
        // An invalid JavaScript expression is compared literally.
        (Some(pattern), Some(subject))
            if event.subject == Subject::Tool && !pattern.starts_with("(?i)") =>
        {
            is_match_or_literal(pattern, &subject)
        }
        (Some(name), Some(subject)) => name == subject,
    }
}

/// Matches like Codex: exact names in a list, or an expression. Some tools have several names.
pub(super) fn matches_codex(event: &AgentEvent, hook: &ForeignHook, input: &JsonObject) -> bool {
    let (Some(pattern), Some(subject)) = (pattern(hook), subject(event, input)) else {
        return true;
    };
    let mut subjects = vec![subject.as_str()];
    match subject.as_str() {
        "apply_patch" => subjects.extend(["Edit", "Write"]),
        "spawn_agent" => subjects.push("Agent"),
        _ => {}
    }
    match names(pattern, "", &['|']) {
        Some(names) => subjects.iter().any(|subject| names.contains(subject)),
        None => {
            !is_unsupported_in_rust(pattern)
                && subjects.iter().any(|subject| is_match_or_literal(pattern, subject))
        }
    }
}

/// Checks for syntax that Rust's regular expressions lack: Codex drops such hooks.
fn is_unsupported_in_rust(pattern: &str) -> bool {
    let is_backreference =
        |rest: &str| rest.starts_with(|digit: char| digit.is_ascii_digit() && digit != '0');
    ["(?=", "(?!", "(?<=", "(?<!"].iter().any(|syntax| pattern.contains(syntax))
        || pattern.split('\\').skip(1).any(is_backreference)
}

/// Searches for an expression in a text. An invalid expression matches nothing.
pub(super) fn is_match(pattern: &str, subject: &str) -> bool {
    let (matcher, is_expression) = &*compile(pattern);
    *is_expression && matcher.matches(Some(subject)) == MatchOutcome::Yes
}

/// Checks whether an expression matches the whole text. An invalid one matches nothing.
pub(super) fn is_full_match(pattern: &str, subject: &str) -> bool {
    is_match(&format!("^(?:{pattern})$"), subject)
}

/// Compares the matcher with the subject, unless one of them is missing or empty.
pub(super) fn matches_raw(
    event: &AgentEvent,
    hook: &ForeignHook,
    input: &JsonObject,
    accepts: impl Fn(&str, &str) -> bool,
) -> bool {
    let pattern = hook.matcher.as_deref().filter(|pattern| !pattern.is_empty());
    match (pattern, subject(event, input)) {
        (Some(pattern), Some(subject)) => accepts(pattern, &subject),
        _ => true,
    }
}

/// Checks whether a pattern with `*` and `?` matches the whole text.
pub(super) fn is_glob_match(pattern: &str, subject: &str) -> bool {
    let mut expression = String::new();
    for character in pattern.chars() {
        match character {
            '*' => expression.push_str(".*"),
            '?' => expression.push('.'),
            _ => {
                if !character.is_alphanumeric() && character != '_' {
                    expression.push('\\');
                }
                expression.push(character);
            }
        }
    }
    is_full_match(&expression, subject)
}

//! What is expected of a response, and what is not as expected.

use std::fmt;

use hook_core::text::shortened;
use hook_core::{FailureCode, PolicyDecision, RawJson};
use serde::Deserialize;
use serde_json::{Number, Value};

use super::error::ScenarioErrorKind;
use crate::message::HookExecutionResponse;

/// What is expected of a response. What is not mentioned may be anything.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct Expectation {
    /// `proceed`, `ask`, `retry`, `block` or `stop`.
    pub decision: Option<String>,
    /// Why.
    pub reason: Option<String>,
    /// How long the caller waits before it tries again, in milliseconds.
    pub retry_after_ms: Option<Number>,
    /// Whether what the user would be asked for is granted.
    pub granted: Option<bool>,
    /// Why the agent stops.
    pub stop_reason: Option<String>,
    /// The message to display.
    pub system_message: Option<String>,
    /// Context for the model.
    pub additional_context: Option<String>,
    /// Whether the output is hidden from the display.
    pub suppress_output: Option<bool>,
    /// The code of the stage that fails.
    pub error: Option<String>,
    /// Whether every hook succeeds.
    pub healthy: Option<bool>,
    /// The names of the hooks that run, in plan order.
    pub hooks: Option<Vec<String>>,
    /// The names of the hooks that are not started, in plan order.
    pub not_started: Option<Vec<String>>,
    /// A part of the merged output.
    pub output: Option<Value>,
    /// A part of the whole response message.
    pub response: Option<Value>,
}

/// One thing that is not as expected.
#[derive(Debug, Clone, PartialEq)]
pub struct Mismatch {
    /// Where in the response, such as `processed.decision`.
    pub path: String,
    /// Where in the scenario's test, such as `expect.decision`; `None` for what every test expects
    /// without saying so.
    pub key: Option<ScenarioKey>,
    /// What was expected.
    pub expected: Value,
    /// What is there; `null` where nothing is.
    pub found: Value,
}

/// A place in a test of a scenario file, such as `expect.output.hooks[1]`.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ScenarioKey(pub(super) Vec<KeyStep>);

/// A step of a [`ScenarioKey`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum KeyStep {
    Field(String),
    Index(usize),
}

impl ScenarioKey {
    /// A key of `expect`, or of the test itself.
    pub(super) fn of(names: &[&str]) -> Self {
        Self(names.iter().map(|name| KeyStep::Field((*name).to_owned())).collect())
    }

    pub(super) fn field(&self, name: &str) -> Self {
        self.with(KeyStep::Field(name.to_owned()))
    }

    fn index(&self, index: usize) -> Self {
        self.with(KeyStep::Index(index))
    }

    fn with(&self, step: KeyStep) -> Self {
        Self(self.0.iter().cloned().chain([step]).collect())
    }
}

impl fmt::Display for ScenarioKey {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (place, step) in self.0.iter().enumerate() {
            match step {
                KeyStep::Field(name) if place == 0 => formatter.write_str(name)?,
                KeyStep::Field(name) => write!(formatter, ".{name}")?,
                KeyStep::Index(index) => write!(formatter, "[{index}]")?,
            }
        }
        Ok(())
    }
}

impl Expectation {
    /// Compares with a response.
    pub fn compare(&self, response: &HookExecutionResponse) -> Vec<Mismatch> {
        let actual = String::from_utf8_lossy(&response.to_json()).into_owned();
        let actual = RawJson::parse(actual).map_or(Value::Null, |raw| value_of(&raw, MAX_DEPTH));
        let mut mismatches = Vec::new();
        let mut expect = |path: &str, key: &str, expected: &Value| {
            let at = At { path: path.to_owned(), key: ScenarioKey::of(&["expect", key]) };
            compare(&at, expected, lookup(&actual, path), &mut mismatches);
        };
        for (key, path, text) in self.texts() {
            if let Some(text) = text {
                expect(path, key, &Value::from(text.as_str()));
            }
        }
        if let Some(suppress) = self.suppress_output {
            expect("processed.suppressOutput", "suppressOutput", &Value::from(suppress));
        }
        if let Some(after) = &self.retry_after_ms {
            expect("processed.retryAfterMs", "retryAfterMs", &Value::from(after.clone()));
        }
        if let Some(healthy) = self.healthy {
            expect("output.success", "healthy", &Value::from(healthy));
        }
        if let Some(output) = &self.output {
            expect("output.finalOutput", "output", output);
        }
        if let Some(whole) = &self.response {
            expect("", "response", whole);
        }
        if !self.expects_failure() && !response.success() {
            mismatches.push(Mismatch {
                path: "success".to_owned(),
                key: None,
                expected: Value::from(true),
                found: Value::from(false),
            });
        }
        // A message says `granted` only where it is so.
        let granted = response.processed.granted;
        if let Some(expected) = self.granted.filter(|expected| *expected != granted) {
            mismatches.push(Mismatch {
                path: "processed.granted".to_owned(),
                key: Some(ScenarioKey::of(&["expect", "granted"])),
                expected: Value::from(expected),
                found: Value::from(granted),
            });
        }
        for (key, expected, found) in [
            (HOOKS, &self.hooks, names_of_hooks(response)),
            (NOT_STARTED, &self.not_started, names_of_not_started(response)),
        ] {
            if let Some(expected) = expected.as_ref().filter(|expected| **expected != found) {
                mismatches.push(Mismatch {
                    path: key.to_owned(),
                    key: Some(ScenarioKey::of(&["expect", key])),
                    expected: Value::from(expected.clone()),
                    found: Value::from(found),
                });
            }
        }
        mismatches
    }

    /// Whether it says itself what became of the stages, so that not all need be completed.
    pub(super) fn expects_failure(&self) -> bool {
        self.error.is_some() || self.response.is_some()
    }

    /// The keys that are compared as texts, with the place of each in a response.
    fn texts(&self) -> [(&'static str, &'static str, &Option<String>); 6] {
        [
            ("decision", "processed.decision", &self.decision),
            ("reason", "processed.reason", &self.reason),
            ("stopReason", "processed.stopReason", &self.stop_reason),
            ("systemMessage", "processed.systemMessage", &self.system_message),
            ("additionalContext", "processed.additionalContext", &self.additional_context),
            ("error", "error.code", &self.error),
        ]
    }

    /// Finds what can never hold: words that no response ever has, expressions that are none.
    pub(super) fn check(&self) -> Result<(), (ScenarioKey, ScenarioErrorKind)> {
        let decisions = PolicyDecision::ALL.map(PolicyDecision::as_str);
        let codes = FailureCode::ALL.map(FailureCode::as_str);
        let words: [(&str, &Option<String>, &[&str]); 2] =
            [("decision", &self.decision, &decisions), ("error", &self.error, &codes)];
        for (field, expected, known) in words {
            if let Some(found) = expected
                && pattern(found).is_none()
                && !known.contains(&found.as_str())
            {
                let found = shortened(found);
                let known = known.join(", ");
                return Err((
                    ScenarioKey::of(&["expect", field]),
                    ScenarioErrorKind::Impossible { field, found, known },
                ));
            }
        }
        for (key, _, text) in self.texts() {
            if let Some(text) = text {
                check_pattern(&ScenarioKey::of(&["expect", key]), text)?;
            }
        }
        for (key, value) in [("output", &self.output), ("response", &self.response)] {
            if let Some(value) = value {
                check_patterns(&ScenarioKey::of(&["expect", key]), value)?;
            }
        }
        Ok(())
    }
}

/// The keys whose names are compared literally.
pub(super) const HOOKS: &str = "hooks";
pub(super) const NOT_STARTED: &str = "notStarted";

/// The names of the hooks that were not started, in plan order.
pub(super) fn names_of_not_started(response: &HookExecutionResponse) -> Vec<&str> {
    response.not_started.iter().map(|it| it.hook.display_name()).collect()
}

/// The names of the hooks that ran, in plan order.
pub(super) fn names_of_hooks(response: &HookExecutionResponse) -> Vec<&str> {
    response.hooks.iter().map(|result| result.hook.display_name()).collect()
}

fn check_patterns(
    key: &ScenarioKey,
    value: &Value,
) -> Result<(), (ScenarioKey, ScenarioErrorKind)> {
    match value {
        Value::String(text) => check_pattern(key, text),
        Value::Array(items) => items
            .iter()
            .enumerate()
            .try_for_each(|(index, item)| check_patterns(&key.index(index), item)),
        Value::Object(fields) => {
            fields.iter().try_for_each(|(name, field)| check_patterns(&key.field(name), field))
        }
        _ => Ok(()),
    }
}

fn check_pattern(key: &ScenarioKey, text: &str) -> Result<(), (ScenarioKey, ScenarioErrorKind)> {
    match pattern(text) {
        Some(Err(error)) => {
            let (pattern, reason) = (shortened(text), error.to_string());
            Err((key.clone(), ScenarioErrorKind::Pattern { pattern, reason }))
        }
        _ => Ok(()),
    }
}

/// How deep a response is looked into.
const MAX_DEPTH: usize = 100;

/// A value by the engine's own reading, which takes what others refuse.
fn value_of(raw: &RawJson, depth: usize) -> Value {
    let Some(depth) = depth.checked_sub(1) else { return Value::Null };
    if let Some(text) = raw.to_text() {
        return Value::from(text);
    }
    if let Some(items) = raw.to_items() {
        return items.iter().map(|item| value_of(item, depth)).collect();
    }
    match raw.to_object() {
        Ok(fields) => {
            fields.iter().map(|(name, field)| (name.to_owned(), value_of(field, depth))).collect()
        }
        Err(_) => serde_json::from_str(raw.as_str()).unwrap_or_default(),
    }
}

fn lookup<'v>(value: &'v Value, path: &str) -> &'v Value {
    path.split('.')
        .filter(|name| !name.is_empty())
        .fold(value, |value, name| value.get(name).unwrap_or(&Value::Null))
}

/// A place in the response, and the one of the expectation of it.
struct At {
    path: String,
    key: ScenarioKey,
}

impl At {
    fn field(&self, name: &str) -> Self {
        let joint = if self.path.is_empty() { "" } else { "." };
        Self { path: format!("{}{joint}{name}", self.path), key: self.key.field(name) }
    }

    fn index(&self, index: usize) -> Self {
        Self { path: format!("{}[{index}]", self.path), key: self.key.index(index) }
    }
}

/// Collects what differs: an object must hold what is expected of it, a text between slashes must
/// match, everything else must be equal.
fn compare(at: &At, expected: &Value, found: &Value, mismatches: &mut Vec<Mismatch>) {
    let matches = match (expected, found) {
        (Value::Object(fields), Value::Object(_)) => {
            for (name, expected) in fields {
                let found = found.get(name).unwrap_or(&Value::Null);
                compare(&at.field(name), expected, found, mismatches);
            }
            return;
        }
        (Value::Array(items), Value::Array(found)) if items.len() == found.len() => {
            for (index, (expected, found)) in items.iter().zip(found).enumerate() {
                compare(&at.index(index), expected, found, mismatches);
            }
            return;
        }
        (Value::String(text), found) => match (pattern(text), found) {
            (Some(Ok(pattern)), Value::String(found)) => pattern.is_match(found).unwrap_or(false),
            (Some(_), _) => false,
            (None, found) => found.as_str() == Some(text),
        },
        (Value::Number(one), Value::Number(other)) => one.as_f64() == other.as_f64(),
        (expected, found) => expected == found,
    };
    if !matches {
        mismatches.push(Mismatch {
            path: at.path.clone(),
            key: Some(at.key.clone()),
            expected: expected.clone(),
            found: found.clone(),
        });
    }
}

/// The expression that a text between slashes is.
fn pattern(text: &str) -> Option<Result<fancy_regex::Regex, fancy_regex::Error>> {
    let inner = text.strip_prefix('/')?.strip_suffix('/')?;
    Some(fancy_regex::Regex::new(inner))
}

/// An expectation that holds for this text alone: itself, unless it would be an expression.
pub(super) fn exactly(text: &str) -> String {
    match pattern(text) {
        None => text.to_owned(),
        Some(_) => format!("/^{}$/", fancy_regex::escape(text)),
    }
}

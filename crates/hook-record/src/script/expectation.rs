//! Expectations of a response, and mismatches.

use std::fmt;

use hook_json::RawJson;
use hook_json::text::shortened;
use hook_protocol::{FailureCode, PolicyDecision};
use serde::Deserialize;
use serde_json::{Number, Value};

use super::error::ScenarioErrorKind;
use hook_bus::HookExecutionResponse;

/// The expectations of a response. Fields left out may have any value.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct Expectation {
    /// The decision: `proceed`, `ask`, `retry`, `block` or `stop`.
    pub decision: Option<String>,
    /// The reason.
    pub reason: Option<String>,
    /// The delay before a retry, in milliseconds.
    pub retry_after_ms: Option<Number>,
    /// `true` if a hook grants the user's permission.
    pub granted: Option<bool>,
    /// The reason to stop the agent.
    pub stop_reason: Option<String>,
    /// The message to display.
    pub system_message: Option<String>,
    /// Context for the model.
    pub additional_context: Option<String>,
    /// `true` if the output is hidden from the display.
    pub suppress_output: Option<bool>,
    /// The error code of the failed stage.
    pub error: Option<String>,
    /// `true` if every hook succeeds.
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

/// A mismatch between an expectation and a response.
#[derive(Debug, Clone, PartialEq)]
pub struct Mismatch {
    /// The path in the response, such as `processed.decision`.
    pub path: String,
    /// The key in the scenario's test, such as `expect.decision`; `None` for the implicit
    /// expectation that no stage fails.
    pub key: Option<ScenarioKey>,
    /// The expected value.
    pub expected: Value,
    /// The value found; `null` if there is none.
    pub found: Value,
}

/// The path of a key in a test of a scenario file, such as `expect.output.hooks[1]`.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ScenarioKey(pub(super) Vec<KeyStep>);

/// A step of a [`ScenarioKey`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum KeyStep {
    Field(String),
    Index(usize),
}

impl ScenarioKey {
    /// Returns the path of a key of `expect`, or of the test itself.
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
        for (position, step) in self.0.iter().enumerate() {
            match step {
                KeyStep::Field(name) if position == 0 => formatter.write_str(name)?,
                KeyStep::Field(name) => write!(formatter, ".{name}")?,
                KeyStep::Index(index) => write!(formatter, "[{index}]")?,
            }
        }
        Ok(())
    }
}

impl Expectation {
    /// Compares the expectations with a response.
    pub fn compare(&self, response: &HookExecutionResponse) -> Vec<Mismatch> {
        let actual = String::from_utf8_lossy(&response.to_json()).into_owned();
        let actual =
            RawJson::parse(actual).map_or(Value::Null, |raw| to_json_value(&raw, MAX_DEPTH));
        let mut mismatches = Vec::new();
        let mut expect = |path: &str, key: &str, expected: &Value| {
            let location =
                Location { path: path.to_owned(), key: ScenarioKey::of(&["expect", key]) };
            compare(&location, expected, lookup(&actual, path), &mut mismatches);
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
        // A message has `granted` only if it is true.
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
            (HOOKS, &self.hooks, hook_names(response)),
            (NOT_STARTED, &self.not_started, not_started_names(response)),
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

    /// Checks whether a stage may fail: then the expectations cover that themselves.
    pub(super) fn expects_failure(&self) -> bool {
        self.error.is_some() || self.response.is_some()
    }

    /// Returns the keys compared as texts, with their paths in a response.
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

    /// Finds expectations that can never be met: unknown values, and invalid expressions.
    pub(super) fn check(&self) -> Result<(), (ScenarioKey, ScenarioErrorKind)> {
        let decisions = PolicyDecision::ALL.map(PolicyDecision::as_str);
        let codes = FailureCode::ALL.map(FailureCode::as_str);
        let enumerations: [(&str, &Option<String>, &[&str]); 2] =
            [("decision", &self.decision, &decisions), ("error", &self.error, &codes)];
        for (field, expected, known) in enumerations {
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

/// Returns the names of the hooks that were not started, in plan order.
pub(super) fn not_started_names(response: &HookExecutionResponse) -> Vec<&str> {
    response.not_started.iter().map(|entry| entry.hook.display_name()).collect()
}

/// Returns the names of the hooks that ran, in plan order.
pub(super) fn hook_names(response: &HookExecutionResponse) -> Vec<&str> {
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

/// The maximum depth of comparing a response.
const MAX_DEPTH: usize = 100;

/// Converts a value with the engine's own parser, which accepts more than `serde_json`.
fn to_json_value(raw: &RawJson, depth: usize) -> Value {
    let Some(depth) = depth.checked_sub(1) else { return Value::Null };
    if let Some(text) = raw.to_text() {
        return Value::from(text);
    }
    if let Some(items) = raw.to_items() {
        return items.iter().map(|item| to_json_value(item, depth)).collect();
    }
    match raw.to_object() {
        Ok(fields) => fields
            .iter()
            .map(|(name, field)| (name.to_owned(), to_json_value(field, depth)))
            .collect(),
        Err(_) => serde_json::from_str(raw.as_str()).unwrap_or_default(),
    }
}

fn lookup<'v>(value: &'v Value, path: &str) -> &'v Value {
    path.split('.')
        .filter(|name| !name.is_empty())
        .fold(value, |value, name| value.get(name).unwrap_or(&Value::Null))
}

/// A path in the response, and the key of its expectation.
struct Location {
    path: String,
    key: ScenarioKey,
}

impl Location {
    fn field(&self, name: &str) -> Self {
        let separator = if self.path.is_empty() { "" } else { "." };
        Self { path: format!("{}{separator}{name}", self.path), key: self.key.field(name) }
    }

    fn index(&self, index: usize) -> Self {
        Self { path: format!("{}[{index}]", self.path), key: self.key.index(index) }
    }
}

/// Collects mismatches: an object must contain the expected fields, a text between slashes must
/// match as an expression, other values must be equal.
fn compare(location: &Location, expected: &Value, found: &Value, mismatches: &mut Vec<Mismatch>) {
    let matches = match (expected, found) {
        (Value::Object(fields), Value::Object(_)) => {
            for (name, expected) in fields {
                let found = found.get(name).unwrap_or(&Value::Null);
                compare(&location.field(name), expected, found, mismatches);
            }
            return;
        }
        (Value::Array(items), Value::Array(found)) if items.len() == found.len() => {
            for (index, (expected, found)) in items.iter().zip(found).enumerate() {
                compare(&location.index(index), expected, found, mismatches);
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
            path: location.path.clone(),
            key: Some(location.key.clone()),
            expected: expected.clone(),
            found: found.clone(),
        });
    }
}

/// Parses a text between slashes as an expression; `None` for other texts.
fn pattern(text: &str) -> Option<Result<fancy_regex::Regex, fancy_regex::Error>> {
    let inner = text.strip_prefix('/')?.strip_suffix('/')?;
    Some(fancy_regex::Regex::new(inner))
}

/// Returns an expectation that only this text meets: the text itself, or an escaped expression.
pub(super) fn literal_pattern(text: &str) -> String {
    match pattern(text) {
        None => text.to_owned(),
        Some(_) => format!("/^{}$/", fancy_regex::escape(text)),
    }
}

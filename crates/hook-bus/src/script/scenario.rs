//! Scenarios: messages with what is expected of their responses, in TOML.
//!
//! ```toml
//! [[test]]
//! name = "rm -rf is blocked"
//! event = "BeforeTool"
//! input = { tool_name = "run_shell_command", tool_input = { command = "rm -rf /" } }
//!
//! [test.expect]
//! decision = "block"
//! reason = "/destructive/"
//! ```
//!
//! A message is an `event` with its `input`, or a whole `message` line as text. A text between two
//! slashes in an expectation is a regular expression; an object is a part of what must be there.
//! The whole format is in docs/scenarios.md.

use hook_core::{FailureCode, JsonObject, RawJson};
use serde::Deserialize;
use serde_json::Value;

use crate::bus::MessageBus;
use crate::message::{CorrelationId, HookExecutionRequest, HookExecutionResponse};

/// A scenario file could not be read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ScenarioError {
    /// It is not TOML of the scenario's shape.
    #[error("not a scenario: {0}")]
    Toml(#[from] Box<toml::de::Error>),
    /// It has no test, so that it would pass whatever the hooks do.
    #[error("the scenario has no [[test]]")]
    Empty,
    /// An expectation can never hold.
    #[error("test {name:?}: `{field}` is never {found:?}; it is one of {known}")]
    Impossible {
        /// The test.
        name: String,
        /// What is expected of.
        field: &'static str,
        /// What is expected.
        found: String,
        /// What it can be.
        known: String,
    },
    /// A test has no message, or more than one.
    #[error("test {name:?} needs either `event` (with `input`) or `message`, and not both")]
    Message {
        /// The test.
        name: String,
    },
    /// A regular expression is none.
    #[error("test {name:?}: {pattern} is not a regular expression: {reason}")]
    Pattern {
        /// The test.
        name: String,
        /// The expression with its slashes.
        pattern: String,
        /// What is wrong with it.
        reason: String,
    },
}

/// Messages with what is expected of their responses, played in order.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Scenario {
    /// The tests.
    #[serde(rename = "test", default)]
    pub tests: Vec<ScenarioTest>,
}

/// One message and what is expected of its response.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct ScenarioTest {
    /// What the test shows.
    pub name: String,
    /// The event to fire.
    event: Option<String>,
    /// Its input; empty by default.
    input: Option<Value>,
    /// A message as one line of JSON, or what claims to be one.
    message: Option<String>,
    /// What is expected; by default only that every stage completed.
    #[serde(default)]
    pub expect: Expectation,
}

/// What is expected of a response. What is not mentioned may be anything.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct Expectation {
    /// `proceed`, `ask`, `block` or `stop`.
    pub decision: Option<String>,
    /// Why.
    pub reason: Option<String>,
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
    /// What was expected.
    pub expected: Value,
    /// What is there; `null` where nothing is.
    pub found: Value,
}

/// How one test went.
#[derive(Debug, Clone)]
pub struct TestReport {
    /// What the test shows.
    pub name: String,
    /// What is not as expected; nothing when it passed.
    pub mismatches: Vec<Mismatch>,
    /// The response.
    pub response: HookExecutionResponse,
}

impl TestReport {
    /// Whether everything is as expected.
    pub fn passed(&self) -> bool {
        self.mismatches.is_empty()
    }
}

impl Scenario {
    /// Reads a scenario.
    ///
    /// # Errors
    /// Says where the text is no scenario.
    pub fn parse(text: &str) -> Result<Self, ScenarioError> {
        let scenario: Self = toml::from_str(text).map_err(Box::new)?;
        if scenario.tests.is_empty() {
            return Err(ScenarioError::Empty);
        }
        for test in &scenario.tests {
            test.check_words()?;
            if test.event.is_some() == test.message.is_some()
                || (test.message.is_some() && test.input.is_some())
            {
                return Err(ScenarioError::Message { name: test.name.clone() });
            }
            for text in test.expect.texts() {
                if let Some(Err(error)) = pattern(text) {
                    return Err(ScenarioError::Pattern {
                        name: test.name.clone(),
                        pattern: text.to_owned(),
                        reason: error.to_string(),
                    });
                }
            }
        }
        Ok(scenario)
    }
}

impl ScenarioTest {
    /// Sends the message and compares the response.
    pub async fn run(&self, bus: &MessageBus) -> TestReport {
        let response = bus.request(self.request()).await;
        let mismatches = self.expect.compare(&response);
        TestReport { name: self.name.clone(), mismatches, response }
    }

    /// Finds words that no response ever has; a pattern may match any.
    fn check_words(&self) -> Result<(), ScenarioError> {
        let decisions = ["proceed", "ask", "block", "stop"];
        let codes = FailureCode::ALL.map(FailureCode::as_str);
        let fields: [(&str, &Option<String>, &[&str]); 2] = [
            ("decision", &self.expect.decision, &decisions),
            ("error", &self.expect.error, &codes),
        ];
        for (field, expected, known) in fields {
            if let Some(found) = expected
                && pattern(found).is_none()
                && !known.contains(&found.as_str())
            {
                return Err(ScenarioError::Impossible {
                    name: self.name.clone(),
                    field,
                    found: found.clone(),
                    known: known.join(", "),
                });
            }
        }
        Ok(())
    }

    fn request(&self) -> HookExecutionRequest {
        if let Some(message) = &self.message {
            return HookExecutionRequest::from_json(message);
        }
        let input = match self.input.as_ref().map(RawJson::from_value) {
            Some(Ok(input)) => input,
            // Deeper than TOML can be written by hand.
            Some(Err(_)) => RawJson::from_bool(false),
            None => JsonObject::new().to_raw().into(),
        };
        let event = self.event.as_deref().unwrap_or_default();
        let request = HookExecutionRequest::unchecked(event, input);
        match CorrelationId::new(self.name.as_str()) {
            Ok(id) => request.with_correlation_id(id),
            // A name too long for an id; the request keeps the one it was made with.
            Err(_) => request,
        }
    }
}

impl Expectation {
    /// Compares with a response.
    pub fn compare(&self, response: &HookExecutionResponse) -> Vec<Mismatch> {
        let actual = String::from_utf8_lossy(&response.to_json()).into_owned();
        let actual = RawJson::parse(actual).map_or(Value::Null, |raw| value_of(&raw, MAX_DEPTH));
        let mut mismatches = Vec::new();
        let mut expect = |path: &str, expected: Value| {
            let found = lookup(&actual, path);
            compare(path, &expected, found, &mut mismatches);
        };
        let texts = [
            ("processed.decision", &self.decision),
            ("processed.reason", &self.reason),
            ("processed.stopReason", &self.stop_reason),
            ("processed.systemMessage", &self.system_message),
            ("processed.additionalContext", &self.additional_context),
            ("error.code", &self.error),
        ];
        for (path, text) in texts {
            if let Some(text) = text {
                expect(path, Value::from(text.as_str()));
            }
        }
        if let Some(suppress) = self.suppress_output {
            expect("processed.suppressOutput", Value::from(suppress));
        }
        if let Some(healthy) = self.healthy {
            expect("output.success", Value::from(healthy));
        }
        if let Some(output) = &self.output {
            expect("output.finalOutput", output.clone());
        }
        if let Some(whole) = &self.response {
            expect("", whole.clone());
        }
        if self.error.is_none() && self.response.is_none() {
            expect("success", Value::from(true));
        }
        if let Some(hooks) = &self.hooks {
            let ran: Vec<&str> =
                response.hooks.iter().map(|result| result.hook.display_name()).collect();
            if *hooks != ran {
                mismatches.push(Mismatch {
                    path: "hooks".to_owned(),
                    expected: Value::from(hooks.clone()),
                    found: Value::from(ran),
                });
            }
        }
        mismatches
    }

    fn texts(&self) -> Vec<&str> {
        let plain = [
            &self.decision,
            &self.reason,
            &self.stop_reason,
            &self.system_message,
            &self.additional_context,
            &self.error,
        ];
        let mut texts: Vec<&str> = plain.into_iter().flatten().map(String::as_str).collect();
        for value in [&self.output, &self.response].into_iter().flatten() {
            collect_texts(value, &mut texts);
        }
        texts
    }
}

fn collect_texts<'v>(value: &'v Value, texts: &mut Vec<&'v str>) {
    match value {
        Value::String(text) => texts.push(text),
        Value::Array(items) => items.iter().for_each(|item| collect_texts(item, texts)),
        Value::Object(fields) => fields.values().for_each(|field| collect_texts(field, texts)),
        _ => {}
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

/// Collects what differs: an object must hold what is expected of it, a text between slashes must
/// match, everything else must be equal.
fn compare(path: &str, expected: &Value, found: &Value, mismatches: &mut Vec<Mismatch>) {
    let matches = match (expected, found) {
        (Value::Object(fields), Value::Object(_)) => {
            for (name, expected) in fields {
                let joint = if path.is_empty() { "" } else { "." };
                let found = found.get(name).unwrap_or(&Value::Null);
                compare(&format!("{path}{joint}{name}"), expected, found, mismatches);
            }
            return;
        }
        (Value::Array(items), Value::Array(found)) if items.len() == found.len() => {
            for (index, (expected, found)) in items.iter().zip(found).enumerate() {
                compare(&format!("{path}[{index}]"), expected, found, mismatches);
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
            path: path.to_owned(),
            expected: expected.clone(),
            found: found.clone(),
        });
    }
}

fn pattern(text: &str) -> Option<Result<fancy_regex::Regex, fancy_regex::Error>> {
    let inner = text.strip_prefix('/')?.strip_suffix('/')?;
    Some(fancy_regex::Regex::new(inner))
}

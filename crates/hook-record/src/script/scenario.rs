//! Scenarios: messages with expectations of their responses, in TOML.
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
//! A message is an `event` with its `input`, or a whole `message` line as text. In an expectation,
//! a text between two slashes is a regular expression; an object lists some of the fields that must
//! be present. The complete format is in docs/scenarios.md.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use hook_json::{JsonObject, RawJson};
use hook_protocol::Events;
use serde::Deserialize;
use serde_json::Value;

use super::document::LocatedDocument;
use super::error::{ScenarioError, ScenarioErrorKind};
use super::expectation::{Expectation, Mismatch, ScenarioKey};
use super::host::{ScriptedHost, ScriptedHostError};
use hook_bus::MessageBus;
use hook_bus::{CorrelationId, HookExecutionRequest, HookExecutionResponse};

/// Messages with expectations of their responses, sent in order.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Scenario {
    /// Allows its tests to run concurrently, for hooks that share no state.
    #[serde(default)]
    pub parallel: bool,
    /// The tests.
    #[serde(rename = "test", default)]
    pub tests: Vec<ScenarioTest>,
}

/// One message with expectations of its response.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct ScenarioTest {
    /// The name of the test.
    pub name: String,
    /// The event to fire.
    event: Option<String>,
    /// Its input; empty by default.
    input: Option<Value>,
    /// A whole message as one line of JSON, possibly invalid.
    message: Option<String>,
    /// The results of host methods that hooks may call; without any there is no host.
    #[serde(default)]
    host: BTreeMap<String, Value>,
    /// The expectations; by default only that every stage completes.
    #[serde(default)]
    pub expect: Expectation,
    /// The line in which it begins, from 1.
    #[serde(skip)]
    pub line: usize,
}

/// The result of one test.
#[derive(Debug, Clone)]
pub struct TestReport {
    /// The name of the test.
    pub name: String,
    /// The mismatches; empty if it passed.
    pub mismatches: Vec<Mismatch>,
    /// The response.
    pub response: HookExecutionResponse,
    /// The time until the response.
    pub duration: Duration,
}

impl TestReport {
    /// Checks whether there are no mismatches.
    pub fn passed(&self) -> bool {
        self.mismatches.is_empty()
    }
}

impl Scenario {
    /// Parses a scenario; `events` are the known events.
    ///
    /// # Errors
    /// The error in the text, and its location.
    pub fn parse(text: &str, events: &Events) -> Result<Self, ScenarioError> {
        let toml_error =
            |error: toml::de::Error| ScenarioError::toml(error.message(), text, error.span());
        let mut scenario: Self = toml::from_str(text).map_err(toml_error)?;
        if scenario.tests.is_empty() {
            return Err(ScenarioError::new(ScenarioErrorKind::Empty, text, None));
        }
        let located = LocatedDocument::parse(text)?;
        for (index, test) in scenario.tests.iter_mut().enumerate() {
            located.check_values(index)?;
            test.check(events).map_err(|(key, kind)| located.error(index, &key, kind))?;
            test.line = located.test_line(index);
        }
        Ok(scenario)
    }
}

impl ScenarioTest {
    /// Sends the message and compares the response.
    pub async fn run(&self, bus: &MessageBus) -> TestReport {
        let started = Instant::now();
        let response = bus.request(self.request()).await;
        let duration = started.elapsed();
        let mismatches = self.expect.compare(&response);
        TestReport { name: self.name.clone(), mismatches, response, duration }
    }

    fn check(&self, events: &Events) -> Result<(), (ScenarioKey, ScenarioErrorKind)> {
        if self.event.is_some() == self.message.is_some()
            || (self.message.is_some() && self.input.is_some())
        {
            let kind = ScenarioErrorKind::Message { name: self.name.clone() };
            return Err((ScenarioKey::of(&["name"]), kind));
        }
        if let Some(event) = &self.event
            && events.from_name(event).is_none()
            && !self.expect.expects_failure()
        {
            let kind = ScenarioErrorKind::UnknownEvent(events.unknown_message(event));
            return Err((ScenarioKey::of(&["event"]), kind));
        }
        if let Err(error) = self.scripted_host() {
            return Err((ScenarioKey::of(&["host"]), error.into()));
        }
        self.expect.check()
    }

    fn scripted_host(&self) -> Result<Option<Arc<ScriptedHost>>, ScriptedHostError> {
        if self.host.is_empty() {
            return Ok(None);
        }
        // It fails only for values nested deeper than anyone writes by hand in TOML.
        let result = |value: &Value| RawJson::from_value(value).unwrap_or_else(|_| RawJson::null());
        let results = self.host.iter().map(|(method, value)| (method.clone(), result(value)));
        ScriptedHost::new(results).map(|host| Some(Arc::new(host)))
    }

    fn request(&self) -> HookExecutionRequest {
        let request = self.message();
        match self.scripted_host() {
            Ok(Some(host)) => request.with_host_services(host),
            // `check` has rejected unknown methods.
            Ok(None) | Err(_) => request,
        }
    }

    fn message(&self) -> HookExecutionRequest {
        if let Some(message) = &self.message {
            return HookExecutionRequest::from_json(message);
        }
        let input = match self.input.as_ref().map(RawJson::from_value) {
            Some(Ok(input)) => input,
            // It fails only for values nested deeper than anyone writes by hand in TOML.
            Some(Err(_)) => RawJson::from_bool(false),
            None => JsonObject::new().to_raw().into(),
        };
        let event = self.event.as_deref().unwrap_or_default();
        let request = HookExecutionRequest::unchecked(event, input);
        match CorrelationId::new(self.name.as_str()) {
            Ok(id) => request.with_correlation_id(id),
            // The name is too long for an id; keep the generated one.
            Err(_) => request,
        }
    }
}

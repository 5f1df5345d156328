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

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use hook_core::{Events, JsonObject, RawJson};
use serde::Deserialize;
use serde_json::Value;

use super::document::Located;
use super::error::{ScenarioError, ScenarioErrorKind};
use super::expectation::{Expectation, Mismatch, ScenarioKey};
use super::host::{ScriptedHost, ScriptedHostError};
use crate::bus::MessageBus;
use crate::message::{CorrelationId, HookExecutionRequest, HookExecutionResponse};

/// Messages with what is expected of their responses, played in order.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Scenario {
    /// Whether its tests may be played side by side, which suits hooks that share nothing.
    #[serde(default)]
    pub parallel: bool,
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
    /// What hooks get that ask their host for something, by methods; without it there is no host.
    #[serde(default)]
    host: BTreeMap<String, Value>,
    /// What is expected; by default only that every stage completed.
    #[serde(default)]
    pub expect: Expectation,
    /// The line it begins in, from 1.
    #[serde(skip)]
    pub line: usize,
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
    /// How long the response took.
    pub duration: Duration,
}

impl TestReport {
    /// Whether everything is as expected.
    pub fn passed(&self) -> bool {
        self.mismatches.is_empty()
    }
}

impl Scenario {
    /// Reads a scenario, whose tests fire these events.
    ///
    /// # Errors
    /// Says why the text is no scenario, and where.
    pub fn parse(text: &str, events: &Events) -> Result<Self, ScenarioError> {
        let not_toml =
            |error: toml::de::Error| ScenarioError::toml(error.message(), text, error.span());
        let mut scenario: Self = toml::from_str(text).map_err(not_toml)?;
        if scenario.tests.is_empty() {
            return Err(ScenarioError::new(ScenarioErrorKind::Empty, text, None));
        }
        let located = Located::parse(text)?;
        for (index, test) in scenario.tests.iter_mut().enumerate() {
            located.check_values(index)?;
            test.check(events).map_err(|(key, kind)| located.error(index, &key, kind))?;
            test.line = located.line_of(index);
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
            let kind = ScenarioErrorKind::UnknownEvent(events.unknown(event));
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
        // Deeper than TOML can be written by hand.
        let result = |value: &Value| RawJson::from_value(value).unwrap_or_else(|_| RawJson::null());
        let results = self.host.iter().map(|(method, value)| (method.clone(), result(value)));
        ScriptedHost::new(results).map(|host| Some(Arc::new(host)))
    }

    fn request(&self) -> HookExecutionRequest {
        let request = self.message();
        match self.scripted_host() {
            Ok(Some(host)) => request.with_host_services(host),
            // Names that are no methods are errors of the file.
            Ok(None) | Err(_) => request,
        }
    }

    fn message(&self) -> HookExecutionRequest {
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

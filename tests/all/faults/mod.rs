//! The fault table of docs/reliability.md: each fault tried on the real engine with real processes,
//! by its number. What must hold for time is asserted against bounds that only a broken
//! engine passes: a verdict that waits for what it must not wait for comes after a minute here.

mod answers;
#[cfg(unix)]
mod clients;
mod clock;
#[cfg(unix)]
mod command;
mod consent;
mod coverage;
mod edits;
mod environment;
mod guards;
mod host;
mod lines;
mod load;
#[cfg(unix)]
mod missed;
mod output;
#[cfg(unix)]
mod sdks;
mod streams;
mod system;
mod threads;
#[cfg(unix)]
mod trees;
#[cfg(target_os = "linux")]
mod wire;

use std::time::Duration;

use hook_bus::{HookExecutionRequest, HookExecutionResponse, HookSystem};
use hook_run::{HookExecutionResult, RunnerLimits};
use hook_tests::{Project, fields};
use serde_json::{Value, json};

/// How long a verdict may take that does not wait for what it must not wait for.
const PROMPT: Duration = Duration::from_secs(20);

/// A project with one hook, for `BeforeAgent`, that is to end by itself.
fn project(command: &str) -> Project {
    project_with(&[json!({"command": command})])
}

/// A project with one hook that is to be ended by its timeout of a second.
fn hanging(command: &str) -> Project {
    project_with(&[json!({"command": command, "timeout": 1_000})])
}

/// A project with several hooks, run at once.
fn project_with(hooks: &[Value]) -> Project {
    let hooks = hooks.iter().map(|hook| {
        let mut entry = json!({"type": "command", "timeout": 60_000});
        for (name, value) in hook.as_object().into_iter().flatten() {
            entry[name] = value.clone();
        }
        entry
    });
    let hooks: Vec<Value> = hooks.collect();
    Project::with_settings(&json!({"hooks": {"BeforeAgent": [{"hooks": hooks}]}}))
}

/// A system that, where it waits for a grace, waits longer than any test does.
fn patient(project: &Project) -> HookSystem {
    let limits = RunnerLimits { grace: Duration::from_secs(120), ..RunnerLimits::default() };
    project.builder().limits(limits).build().unwrap()
}

async fn prompt(system: &HookSystem) -> HookExecutionResponse {
    prompt_with(system, json!({})).await
}

/// Fires `BeforeAgent`, with more in its input.
async fn prompt_with(system: &HookSystem, more: Value) -> HookExecutionResponse {
    let mut input = json!({"prompt": "p"});
    for (name, value) in more.as_object().into_iter().flatten() {
        input[name] = value.clone();
    }
    let request = HookExecutionRequest::new("BeforeAgent", fields(input));
    let response = tokio::time::timeout(PROMPT, system.bus().request(request)).await;
    response.expect("a verdict in time")
}

fn failure(result: &HookExecutionResult) -> String {
    result.failure.as_ref().map(ToString::to_string).unwrap_or_default()
}

fn stdout(result: &HookExecutionResult) -> String {
    String::from_utf8_lossy(&result.process.stdout.bytes).into_owned()
}

/// What the event came to, in one line that tables can be compared with: the decision and the
/// message.
fn answer(response: &HookExecutionResponse) -> (bool, Option<&str>, Option<&str>) {
    let processed = &response.processed;
    (
        processed.is_blocking_decision(),
        processed.reason.as_deref(),
        processed.system_message.as_deref(),
    )
}

const DENIAL: &str = r#"{"decision":"deny","reason":"r"}"#;

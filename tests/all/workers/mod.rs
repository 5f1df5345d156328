//! Workers: hooks that stay alive and answer calls, as real processes.
//!
//! What must hold for time is asserted against bounds that only a broken engine passes.

mod answers;
mod ends;
mod every;
mod faults;
mod life;
mod limits;
mod random;
mod shown;
mod starts;

use std::time::Duration;

use hook_bus::{HookExecutionRequest, HookExecutionResponse, HookSystem};
use hook_run::HookExecutionResult;
use hook_run::WorkerStatus;
use hook_tests::{Project, fields};
use serde_json::{Value, json};

/// How long a verdict may take that does not wait for what it must not wait for.
const PROMPT: Duration = Duration::from_secs(20);

/// What the workers of these tests are made of.
const PRELUDE: &str = r#"
import json, os, signal, subprocess, sys, threading, time

lock = threading.Lock()

def say(**message):
    with lock:
        sys.stdout.write(json.dumps(message) + "\n")
        sys.stdout.flush()

def ready():
    say(type="hook-worker", protocol=1)

def answer(call, **said):
    say(type="hook-answer", callId=call["callId"], **said)

def messages():
    for line in sys.stdin:
        yield json.loads(line)

def calls():
    for message in messages():
        if message["type"] == "hook-call":
            yield message

def tool(call):
    return call["input"].get("tool_name")

def note(name, text):
    with open(name, "a") as file:
        file.write(str(text) + "\n")

note("started", os.getpid())
"#;

/// Writes a worker in Python; gives its entry in settings.
fn worker(project: &Project, body: &str) -> Value {
    project.write("prelude.py", PRELUDE);
    project.write("worker.py", &format!("from prelude import *\n{body}"));
    json!({"type": "worker", "name": "w", "command": "exec python3 -B worker.py"})
}

/// An entry with more in it.
fn with(mut entry: Value, more: &Value) -> Value {
    for (name, value) in more.as_object().into_iter().flatten() {
        entry[name] = value.clone();
    }
    entry
}

/// Writes settings with one hook, for `BeforeTool`.
fn settings(project: &Project, entry: &Value) {
    let settings = json!({"hooks": {"BeforeTool": [{"hooks": [entry]}]}});
    project.write("settings.json", &settings.to_string());
}

/// A project with one worker, for `BeforeTool`.
fn project(body: &str, more: Value) -> Project {
    let project = Project::new();
    let entry = with(worker(&project, body), &more);
    settings(&project, &entry);
    project
}

fn request(tool: &str) -> HookExecutionRequest {
    HookExecutionRequest::new("BeforeTool", fields(json!({"tool_name": tool, "tool_input": {}})))
}

/// Fires `BeforeTool`.
async fn fire(system: &HookSystem, tool: &str) -> HookExecutionResponse {
    let response = tokio::time::timeout(PROMPT, system.bus().request(request(tool))).await;
    response.expect("a verdict in time")
}

fn failure(result: &HookExecutionResult) -> String {
    result.failure.as_ref().map(ToString::to_string).unwrap_or_default()
}

/// Why the one hook of a response failed; empty if it did not.
fn why(response: &HookExecutionResponse) -> String {
    response.hooks.first().map(failure).unwrap_or_default()
}

fn is_blocked(response: &HookExecutionResponse) -> bool {
    response.processed.is_blocking_decision()
}

/// How the worker of the first hook is.
fn status(system: &HookSystem) -> WorkerStatus {
    system.hooks().unwrap()[0].hook.worker_status().unwrap()
}

/// Waits until the worker of the first hook is as it is to be.
async fn until(system: &HookSystem, state: &str) -> WorkerStatus {
    let begun = std::time::Instant::now();
    loop {
        let status = status(system);
        if status.state == state {
            return status;
        }
        assert!(begun.elapsed() < Duration::from_secs(30), "{status:?}");
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

/// Ends the system; nothing is left.
async fn end(project: &Project, system: HookSystem) {
    system.shutdown(Duration::ZERO).await;
    drop(system);
    let left = project.processes();
    project.kill_processes();
    assert_eq!(left, []);
}

/// The processes that a worker was, in order.
fn started(project: &Project) -> Vec<String> {
    project.read("started").lines().map(str::to_owned).collect()
}

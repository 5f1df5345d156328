//! The event table against its specification, and events that somebody declares.

mod declared;
mod merges;
mod table;

use hook_bus::{HookExecutionRequest, HookExecutionResponse, HookSystem};
use hook_json::JsonObject;
use hook_protocol::{HookEventName, HookOutput};
use hook_run::HandlerHook;
use hook_tests::{fields, value};
use serde_json::Value;

/// Fires an event by its name.
async fn fire(system: &HookSystem, event: &str, input: Value) -> HookExecutionResponse {
    system.bus().request(HookExecutionRequest::new(event, fields(input))).await
}

/// A function that gives that answer, as a script would.
fn answering(event: HookEventName, name: &str, answer: Value) -> HandlerHook {
    let answer: JsonObject = fields(answer);
    HandlerHook::inline(event, name, move |_input| {
        Ok(Some(HookOutput::read(answer.clone(), &mut Vec::new())))
    })
}

fn code(response: &HookExecutionResponse) -> Option<&'static str> {
    response.error().map(|failure| failure.code.as_str())
}

fn decision(response: &HookExecutionResponse) -> &'static str {
    response.processed.decision.as_str()
}

/// What was merged, of `hookSpecificOutput`.
fn merged(response: &HookExecutionResponse) -> Value {
    let output = response.processed.aggregated.final_output.as_ref();
    let specific = output.and_then(|output| output.hook_specific_output.as_ref());
    specific.map(|fields| value(fields.to_raw().as_raw())).unwrap_or_default()
}

fn warned(response: &HookExecutionResponse, words: &str) -> bool {
    response.processed.warnings.iter().any(|warning| warning.contains(words))
}

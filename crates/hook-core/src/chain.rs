//! Sequential chaining: what a hook's answer changes in the input of the next one
//! (protocol.md §2). Each event names one of these in its row.

use crate::input::EventPayload;
use crate::json::RawObject;
use crate::output::HookOutput;

/// What of an answer changes the payload, and how.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Chain {
    /// The field of `hookSpecificOutput` that does; an answer without it changes nothing.
    pub(crate) field: Option<&'static str>,
    /// Applies one hook's output to the payload that the next hook gets.
    pub(crate) apply: fn(&mut EventPayload, &HookOutput),
}

pub(crate) const NOTHING: Chain = Chain { field: None, apply: |_, _| {} };
pub(crate) const TOOL_INPUT: Chain = Chain { field: Some("tool_input"), apply: overlay_tool_input };
pub(crate) const LLM_REQUEST: Chain =
    Chain { field: Some("llm_request"), apply: overlay_llm_request };
pub(crate) const LLM_RESPONSE: Chain =
    Chain { field: Some("llm_response"), apply: overlay_llm_response };
pub(crate) const PROMPT: Chain =
    Chain { field: Some("additionalContext"), apply: append_context_to_prompt };

fn overlay_tool_input(payload: &mut EventPayload, output: &HookOutput) {
    if let EventPayload::BeforeTool(input) = payload {
        overlay(&mut input.tool_input, "tool_input", output);
    }
}

fn overlay_llm_request(payload: &mut EventPayload, output: &HookOutput) {
    if let EventPayload::BeforeModel(input) = payload {
        overlay(&mut input.llm_request, "llm_request", output);
    }
}

fn overlay_llm_response(payload: &mut EventPayload, output: &HookOutput) {
    if let EventPayload::AfterModel(input) = payload {
        overlay(&mut input.llm_response, "llm_response", output);
    }
}

fn append_context_to_prompt(payload: &mut EventPayload, output: &HookOutput) {
    if let EventPayload::BeforeAgent(input) = payload
        && let Some(context) = output.additional_context()
    {
        input.prompt.push_str("\n\n");
        input.prompt.push_str(&context);
    }
}

fn overlay(field: &mut RawObject, name: &str, output: &HookOutput) {
    if let Some(changes) = output.specific_object(name) {
        *field = field.overlaid(&changes.fields());
    }
}

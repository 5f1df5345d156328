//! Sequential chaining: what a hook's answer changes in the input of the next one
//! (protocol.md §2). Each event names one of these in its row.

use crate::input::EventPayload;
use crate::json::RawObject;
use crate::output::HookOutput;

/// Applies one hook's output to the payload that the next hook gets.
pub(crate) type Chain = fn(&mut EventPayload, &HookOutput);

pub(crate) fn nothing(_: &mut EventPayload, _: &HookOutput) {}

pub(crate) fn overlay_tool_input(payload: &mut EventPayload, output: &HookOutput) {
    if let EventPayload::BeforeTool(input) = payload {
        overlay(&mut input.tool_input, "tool_input", output);
    }
}

pub(crate) fn overlay_llm_request(payload: &mut EventPayload, output: &HookOutput) {
    if let EventPayload::BeforeModel(input) = payload {
        overlay(&mut input.llm_request, "llm_request", output);
    }
}

pub(crate) fn overlay_llm_response(payload: &mut EventPayload, output: &HookOutput) {
    if let EventPayload::AfterModel(input) = payload {
        overlay(&mut input.llm_response, "llm_response", output);
    }
}

pub(crate) fn append_context_to_prompt(payload: &mut EventPayload, output: &HookOutput) {
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

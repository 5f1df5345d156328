//! Chaining: what a hook's answer changes in the input of the next group (protocol.md §2). Each
//! event names one of these in its row.

use crate::event::EventPayload;
use crate::json::{JsonArray, RawObject};
use crate::output::HookOutput;

/// What of an answer changes the payload, and how.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Chain {
    /// The fields of `hookSpecificOutput` that do; an answer without them changes nothing.
    pub(crate) fields: &'static [&'static str],
    /// Applies one hook's output to the payload that the next hook gets.
    pub(crate) apply: fn(&mut EventPayload, &HookOutput),
}

impl Chain {
    /// Whether an answer says something that may change the payload.
    pub(crate) fn concerns(&self, output: &HookOutput) -> bool {
        self.fields.iter().any(|field| output.specific(field).is_some())
    }
}

pub(crate) const NOTHING: Chain = Chain { fields: &[], apply: |_, _| {} };
pub(crate) const TOOL_INPUT: Chain = Chain { fields: &["tool_input"], apply: overlay_tool_input };
pub(crate) const TOOL_RESPONSE: Chain =
    Chain { fields: &["tool_response"], apply: replace_tool_response };
pub(crate) const MODEL_REQUEST: Chain =
    Chain { fields: &["llm_request", "messages"], apply: change_model_request };
pub(crate) const MODEL_RESPONSE: Chain =
    Chain { fields: &["llm_response"], apply: overlay_llm_response };
pub(crate) const PROMPT: Chain =
    Chain { fields: &["additionalContext"], apply: append_context_to_prompt };

fn overlay_tool_input(payload: &mut EventPayload, output: &HookOutput) {
    if let EventPayload::BeforeTool(input) = payload {
        overlay(&mut input.tool_input, "tool_input", output);
    }
}

fn replace_tool_response(payload: &mut EventPayload, output: &HookOutput) {
    if let EventPayload::AfterTool(input) = payload
        && let Some(response) = output.specific("tool_response")
        && response.kind() == input.tool_response.kind()
    {
        input.tool_response = response.clone();
    }
}

fn change_model_request(payload: &mut EventPayload, output: &HookOutput) {
    if let EventPayload::BeforeModel(input) = payload {
        overlay(&mut input.llm_request, "llm_request", output);
        let messages = output.specific("messages").cloned().map(JsonArray::try_from);
        if let Some(Ok(messages)) = messages {
            input.messages = Some(messages);
        }
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

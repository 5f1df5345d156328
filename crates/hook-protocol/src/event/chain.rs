//! Chaining: the changes that a hook's output makes to the input of the next group
//! (reference/events.md). Each event names one kind of chaining in its row.

use super::output::HookOutput;
use super::row::Chain;
use super::table::EventPayload;
use hook_json::{JsonArray, RawObject};

impl Chain {
    /// Returns the fields of `hookSpecificOutput` that can change the payload.
    pub fn fields(self) -> &'static [&'static str] {
        match self {
            Self::Nothing => &[],
            Self::ToolInput => &["tool_input"],
            Self::ToolResponse => &["tool_response"],
            Self::ModelRequest => &["llm_request", "messages"],
            Self::ModelResponse => &["llm_response"],
            Self::Prompt => &["additionalContext"],
        }
    }

    /// Returns the field whose objects are merged into the payload's, one after the other.
    pub fn overlaid_field(self) -> Option<&'static str> {
        match self {
            Self::ToolInput => Some("tool_input"),
            Self::ModelRequest => Some("llm_request"),
            Self::ModelResponse => Some("llm_response"),
            Self::Nothing | Self::ToolResponse | Self::Prompt => None,
        }
    }

    /// Returns `true` if an output has a field that may change the payload.
    pub fn is_changed_by(self, output: &HookOutput) -> bool {
        self.fields().iter().any(|field| output.specific(field).is_some())
    }
}

impl EventPayload {
    /// Returns the object that hooks' changes are merged into, if the event has one.
    pub fn overlaid_object(&self) -> Option<&RawObject> {
        match self {
            Self::BeforeTool(input) => Some(&input.tool_input),
            Self::BeforeModel(input) => Some(&input.llm_request),
            Self::AfterModel(input) => Some(&input.llm_response),
            _ => None,
        }
    }

    /// Applies one hook's output to the payload for the next hook.
    pub fn apply(&mut self, output: &HookOutput) {
        let chain = self.event().row().chain;
        match (chain, self) {
            (Chain::ToolInput, Self::BeforeTool(input)) => {
                match output.specific_object("tool_input").filter(|_| output.replaces_tool_input())
                {
                    Some(replacement) => input.tool_input = replacement,
                    None => overlay(&mut input.tool_input, "tool_input", output),
                }
            }
            (Chain::ToolResponse, Self::AfterTool(input)) => {
                if let Some(response) = output.specific("tool_response")
                    && response.kind() == input.tool_response.kind()
                {
                    input.tool_response = response.clone();
                }
            }
            (Chain::ModelRequest, Self::BeforeModel(input)) => {
                overlay(&mut input.llm_request, "llm_request", output);
                let messages = output.specific("messages").cloned().map(JsonArray::try_from);
                if let Some(Ok(messages)) = messages {
                    input.messages = Some(messages);
                }
            }
            (Chain::ModelResponse, Self::AfterModel(input)) => {
                overlay(&mut input.llm_response, "llm_response", output);
            }
            (Chain::Prompt, Self::BeforeAgent(input)) => {
                if let Some(context) = output.additional_context() {
                    input.prompt.push_str("\n\n");
                    input.prompt.push_str(&context);
                }
            }
            // Nothing to change: a row never names a part that its payload does not have.
            _ => {}
        }
    }
}

fn overlay(field: &mut RawObject, name: &str, output: &HookOutput) {
    if let Some(changes) = output.specific_object(name) {
        *field = field.merged(&changes.fields());
    }
}

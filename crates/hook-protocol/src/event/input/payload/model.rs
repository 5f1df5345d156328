//! Payloads of events around model calls.

use super::{FieldValue, ModelPayloads, Payload, payload};
use crate::model;
pub(super) use hook_json::field::{Field, FieldKind};
use hook_json::shape::{FieldReader, ShapeError};
use hook_json::{JsonArray, JsonNumber, JsonObject, ObjectWriter, RawObject};

const REQUEST: FieldKind = FieldKind::Model(model::REQUEST);
const RESPONSE: FieldKind = FieldKind::Model(model::RESPONSE);

payload! {
    /// The model is about to be called.
    BeforeModelInput {
        /// The request: in an SDK's format from the caller, in the stable form for hooks.
        llm_request: RawObject [REQUEST],
    }
    optional {
        /// The conversation in the agent's own format, for hooks that need more than the stable
        /// form.
        messages: JsonArray,
        /// The prompt that the call belongs to.
        prompt: String,
        /// The system prompt.
        system_prompt: String,
        /// The available tools.
        tools: JsonArray,
    }
    model: { request: llm_request },
    sample: concat!(
        r#"{"llm_request":{"model":"sample-model","#,
        r#""messages":[{"role":"user","content":"Write a greeting to notes.txt"}]},"#,
        r#""prompt":"Write a greeting to notes.txt"}"#,
    ),
}

payload! {
    /// The model answered.
    AfterModelInput {
        /// The request: in an SDK's format from the caller, in the stable form for hooks.
        llm_request: RawObject [REQUEST],
        /// The complete response, in the same format as the request.
        llm_response: RawObject [RESPONSE],
    }
    optional {
        /// The prompt that the call belongs to.
        prompt: String,
        /// The tools that the model calls.
        tool_calls: JsonArray,
        /// The tokens used by the call: `prompt_tokens`, `completion_tokens`, `total_tokens`.
        usage: RawObject,
        /// The duration of the call, in milliseconds.
        duration_ms: JsonNumber,
    }
    model: { request: llm_request, response: llm_response },
    sample: concat!(
        r#"{"llm_request":{"model":"sample-model","#,
        r#""messages":[{"role":"user","content":"Write a greeting to notes.txt"}]},"#,
        r#""llm_response":{"text":"It is written.","candidates":[{"content":"#,
        r#"{"role":"model","parts":["It is written."]},"finishReason":"STOP"}]},"#,
        r#""prompt":"Write a greeting to notes.txt"}"#,
    ),
}

payload! {
    /// The tools of a model call are about to be chosen.
    BeforeToolSelectionInput {
        /// The request: in an SDK's format from the caller, in the stable form for hooks.
        llm_request: RawObject [REQUEST],
    }
    optional {
        /// The available tools.
        available_tools: JsonArray,
    }
    model: { request: llm_request },
    sample: concat!(
        r#"{"llm_request":{"model":"sample-model","#,
        r#""messages":[{"role":"user","content":"Write a greeting to notes.txt"}],"#,
        r#""toolConfig":{"mode":"AUTO","allowedFunctionNames":["read_file","write_file"]}}}"#,
    ),
}

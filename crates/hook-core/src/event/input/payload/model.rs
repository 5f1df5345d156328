//! Around model calls.

use super::{FieldValue, ModelPayloads, Payload, payload};
use crate::json::field::{Field, Kind};
use crate::json::shape::{FieldReader, ShapeError};
use crate::json::{JsonArray, JsonNumber, JsonObject, ObjectWriter, RawObject};
use crate::model;

const REQUEST: Kind = Kind::Model(model::REQUEST);
const RESPONSE: Kind = Kind::Model(model::RESPONSE);

payload! {
    /// The model is about to be called.
    BeforeModelInput {
        /// The request: an SDK's in what a caller fires, the stable form in what a hook sees.
        llm_request: RawObject [REQUEST],
    }
    optional {
        /// The conversation in the agent's own shape, for hooks that want more than the stable
        /// form.
        messages: JsonArray,
        /// The prompt that the call is for.
        prompt: String,
        /// The system prompt.
        system_prompt: String,
        /// The tools there are.
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
        /// The request: an SDK's in what a caller fires, the stable form in what a hook sees.
        llm_request: RawObject [REQUEST],
        /// The complete response, likewise.
        llm_response: RawObject [RESPONSE],
    }
    optional {
        /// The prompt that the call was for.
        prompt: String,
        /// The tools that the model calls.
        tool_calls: JsonArray,
        /// What the call used: `prompt_tokens`, `completion_tokens`, `total_tokens`.
        usage: RawObject,
        /// How long the call took, in milliseconds.
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
        /// The request: an SDK's in what a caller fires, the stable form in what a hook sees.
        llm_request: RawObject [REQUEST],
    }
    optional {
        /// The tools there are.
        available_tools: JsonArray,
    }
    model: { request: llm_request },
    sample: concat!(
        r#"{"llm_request":{"model":"sample-model","#,
        r#""messages":[{"role":"user","content":"Write a greeting to notes.txt"}],"#,
        r#""toolConfig":{"mode":"AUTO","allowedFunctionNames":["read_file","write_file"]}}}"#,
    ),
}

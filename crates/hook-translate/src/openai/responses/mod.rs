//! The responses API (docs/model-sdks.md).
//!
//! The fields that hooks see, and those that their answers change:
//!
//! | responses API | stable | not shown, and kept as it is |
//! | --- | --- | --- |
//! | `model` | `model` | |
//! | `input`: a string, or messages by `user`, `assistant` (`model`), `system` and `developer` (`system`) of a string or of parts with text | `messages`, one for each with text | calls of tools and their results, reasoning, references, approvals and all other items; images, files, audio, refusals; ids and states |
//! | `temperature`, `max_output_tokens`, `top_p`, `top_k` | `config.temperature`, `maxOutputTokens`, `topP`, `topK` | `instructions`, `previous_response_id` and all other settings |
//! | `tool_choice` | `toolConfig` | `tools`, and what [`tool_choice`] says |
//! | `output[].content` with text, of all messages | `candidates[0].content.parts`; all of it is `text` | reasoning, calls of tools and their results, refusals, annotations |
//! | `status`, `incomplete_details.reason` | `finishReason` in [GenAI's words](super::finish) | `error` |
//! | `usage.input_tokens`, `output_tokens`, `total_tokens` | `usageMetadata` | other counts |
//! | `output_text`, which SDKs add | goes on saying what the output does | |
//!
//! `instructions` are not shown, as GenAI's system instruction is not: they are a setting of the
//! call, not an entry of the conversation.

mod item;
mod output;
mod request;
mod response;
mod stream;

use hook_json::RawObject;

use super::tool_choice::{self, Nesting};
use crate::{TranslateError, Translated};

pub(crate) use request::{from_stable_request, to_stable_request};
pub(crate) use response::{from_stable_response, to_stable_response};
pub(crate) use stream::{from_stable_chunk, join_chunks, to_stable_chunk};

/// Translates a tool config into the stable form.
pub(crate) fn to_stable_tool_config(config: &RawObject) -> Result<RawObject, TranslateError> {
    tool_choice::to_stable(Nesting::Flat, config)
}

/// Translates a stable tool config, applied to `base` if there is one.
pub(crate) fn from_stable_tool_config(
    config: &RawObject,
    base: Option<&RawObject>,
) -> Result<Translated, TranslateError> {
    tool_choice::from_stable(Nesting::Flat, config, base)
}

//! Chat completions (docs/model-sdks.md).
//!
//! The fields that hooks see, and those that their answers change:
//!
//! | chat completions | stable | not shown, and kept as it is |
//! | --- | --- | --- |
//! | `model` | `model` | |
//! | `messages` by `user`, `assistant` (`model`), `system` and `developer` (`system`): a string or parts with text | `messages`, one for each with text | calls of tools, images, audio, files, refusals, names; messages without text; those by `tool` and `function` |
//! | `temperature`, `max_completion_tokens` or `max_tokens`, `top_p`, `top_k` | `config.temperature`, `maxOutputTokens`, `topP`, `topK` | all other settings |
//! | `tool_choice` | `toolConfig` | `tools`, and what [`tool_choice`] says |
//! | `choices[].message.content` | `candidates[].content.parts`; all of the first choice's is `text` | calls of tools, refusals, audio, annotations |
//! | `choices[].finish_reason`, `index` | `finishReason` in [GenAI's words](super::finish), `index` | log probabilities |
//! | `usage.prompt_tokens`, `completion_tokens`, `total_tokens` | `usageMetadata` | other counts |
//! | of a chunk, `choices[].delta` as `message` | the same | the same |

mod choice;
mod message;
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
    tool_choice::to_stable(Nesting::ByType, config)
}

/// Translates a stable tool config, applied to `base` if there is one.
pub(crate) fn from_stable_tool_config(
    config: &RawObject,
    base: Option<&RawObject>,
) -> Result<Translated, TranslateError> {
    tool_choice::from_stable(Nesting::ByType, config, base)
}

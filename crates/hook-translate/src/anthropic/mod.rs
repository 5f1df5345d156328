//! Anthropic's messages API (docs/model-sdks.md).
//!
//! The fields that hooks see, and those that their answers change:
//!
//! | Anthropic | stable | not shown, and kept as it is |
//! | --- | --- | --- |
//! | `model` | `model` | |
//! | `messages[].role`: `assistant`, `system`, else | `messages[].role`: `model`, `system`, `user` | |
//! | `messages[].content`: a string, or blocks of type `text` | `messages`, one for each with text | `tool_use`, `tool_result`, `image`, `document`, `thinking`, `redacted_thinking` and all other blocks; `cache_control` and `citations` of text; messages without text |
//! | `temperature`, `max_tokens`, `top_p`, `top_k` | `config.temperature`, `maxOutputTokens`, `topP`, `topK` | `system`, `tools`, `thinking`, `metadata`, `stream` and all other settings; `stop_sequences`, which `config.stopSequences` replaces |
//! | `tool_choice` | `toolConfig` | `disable_parallel_tool_use` |
//! | `content[]` of type `text` of a response | `candidates[0].content.parts`; all of them as `text` | as for `messages` |
//! | `stop_reason` | `candidates[0].finishReason`, in GenAI's word | `stop_sequence`, `id`, `type`, `role`, `model`, all else |
//! | `usage` | `usageMetadata` | the counts behind the sums |
//!
//! # Decisions
//!
//! - **Thinking** is not shown. It is signed: the API rejects a request in which a block of it was
//!   edited. A message of a request may not end with it either, so thinking before a text that a
//!   hook removed is removed with that text, with a warning.
//! - **Empty text** is rejected by the API too. A text block that loses its text is removed, with a
//!   warning if that also removes `cache_control` or `citations`.
//! - **`system`** is not shown, as with GenAI. The messages have no system role, so a message by
//!   `system` that a hook inserts is appended to `system` as a text block; the text before it stays
//!   unchanged, and so does a cache of it.
//! - **An inserted message** is never placed between a `tool_use` and its `tool_result`, and within
//!   a message nothing is placed before its thinking.
//! - **`tool_choice`** has one name at most: `{mode: "ANY", allowedFunctionNames: ["a"]}` is
//!   `{type: "tool", name: "a"}`. Other restrictions cannot be expressed; the mode is translated,
//!   and a warning says that the names are not. The API accepts a choice only with `tools`, so a
//!   request without tools gets none, with a warning.
//! - **`promptTokenCount`** is everything that the model read: `input_tokens`, and the tokens read
//!   from or written to a cache. `totalTokenCount` is the sum with `output_tokens`.
//! - **`finishReason`** is `stop_reason` with GenAI's names, so that hooks need not know the SDK:
//!   every ordinary end is `STOP`. On the way back both sets of names are understood, and `STOP`
//!   keeps the original ordinary end.
//! - **Without an original**, a response is complete, with a fixed `id` and no tokens used.

mod block;
mod chunk;
mod join;
mod message;
mod messages;
mod request;
mod response;
mod stop_reason;
mod synthetic;
mod system;
mod tool_choice;
mod usage;

pub(crate) use chunk::{from_stable_chunk, to_stable_chunk};
pub(crate) use join::join_chunks;
pub(crate) use request::{from_stable_request, to_stable_request};
pub(crate) use response::{from_stable_response, to_stable_response};
pub(crate) use tool_choice::{from_stable_tool_config, to_stable_tool_config};

//! Anthropic's messages API (protocol.md §7).
//!
//! What hooks see of it, and where what they answer goes:
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
//! - **Thinking** is not shown. It is signed: the API refuses a request in which a block of it was
//!   edited. A message of a request may not end with it either, so thinking that led to nothing but
//!   text that a hook removed goes with that text, with a warning.
//! - **Empty text** is refused by the API too. A text block that loses its text is gone, with a
//!   warning if that takes `cache_control` or `citations` along.
//! - **`system`** is not shown, as with GenAI. There is no system role among the messages, so a
//!   message by `system` that a hook inserts is appended to `system` as a text block; the text
//!   before it stays as it was, and so does a cache of it.
//! - **An inserted message** never stands between a `tool_use` and its `tool_result`, and within a
//!   message nothing comes before its thinking.
//! - **`tool_choice`** holds one name at most: `{mode: "ANY", allowedFunctionNames: ["a"]}` is
//!   `{type: "tool", name: "a"}`. What narrows the choice in another way cannot be expressed; the
//!   mode is carried over, and a warning says that the names are not. The API takes a choice
//!   only with `tools`, so a request without tools gets none, with a warning.
//! - **`promptTokenCount`** is all that the model read: `input_tokens`, and what came from a cache
//!   or went there. `totalTokenCount` is that and `output_tokens`.
//! - **`finishReason`** is `stop_reason` in the words of GenAI, so that hooks need not know the SDK:
//!   every ordinary end is `STOP`. On the way back both kinds of words are understood, and `STOP`
//!   is whatever ordinary end it was.
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

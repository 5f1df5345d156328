//! Google's GenAI SDK, v1 (docs/model-sdks.md).
//!
//! The fields that hooks see, and those that their answers change:
//!
//! | GenAI | stable | not shown, and kept as it is |
//! | --- | --- | --- |
//! | `model` | `model` | |
//! | `contents`: one or a list of strings and contents | `messages`, one for each with text | function calls and responses, inline and file data, code and its results, signatures; contents without text; a part that stands outside of any content |
//! | `config.temperature`, `maxOutputTokens`, `topP`, `topK` | `config` | `systemInstruction`, `tools`, `safetySettings` and all other settings |
//! | `config.toolConfig.functionCallingConfig` | `toolConfig` | other tool settings |
//! | `candidates[].content.parts` with text | `candidates[].content.parts` | as for `contents` |
//! | all of the first candidate's text | `text` | |
//! | `finishReason`, `index`, `safetyRatings[].category` and `.probability` | the same | `blocked` and other judgements, citations, log probabilities |
//! | `usageMetadata.promptTokenCount`, `candidatesTokenCount`, `totalTokenCount` | the same | other counts |
//!
//! A thought is a part with text and `thought: true`. It is shown like other text, as in the
//! recorded conformance cases; the crate's `Portion` describes how an edit may change it.

mod candidate;
mod content;
mod contents;
mod join;
mod parts;
mod request;
mod response;
mod tool_config;

pub(crate) use join::join_chunks;
pub(crate) use request::{from_stable_request, to_stable_request};
pub(crate) use response::{from_stable_response, to_stable_response};
pub(crate) use tool_config::{from_stable_tool_config, to_stable_tool_config};

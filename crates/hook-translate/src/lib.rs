//! Model calls of vendor SDKs, translated to and from the stable form that hook scripts see.
//!
//! A hook for model calls must not depend on the SDK that makes them. So a request or response in
//! an SDK's own JSON is translated to a stable one (docs/model-sdks.md) before hooks run, and their
//! answers are applied to the SDK's JSON afterwards. The stable form is text only; the way back
//! keeps everything that it cannot express.
//!
//! This crate runs no hooks, calls no model, does no I/O and merges no outputs. Every function is
//! pure: JSON text in, JSON text out.
//!
//! # Example
//!
//! ```
//! use hook_json::{RawJson, RawObject};
//! use hook_translate::{Sdk, from_stable_request, to_stable_request};
//!
//! # fn object(text: &str) -> RawObject { RawObject::try_from(RawJson::parse(text).unwrap()).unwrap() }
//! let call = object(
//!     r#"{"model":"gemini-2.5-pro","contents":[{"role":"user","parts":[
//!         {"text":"my key is 1234"},{"inlineData":{"data":"AAAA"}}]}]}"#,
//! );
//!
//! let sdk = Sdk::of_request(None, &call)?;
//! assert_eq!(sdk, Sdk::GenAi);
//! let shown = to_stable_request(sdk, &call)?;
//! assert_eq!(
//!     shown.value.as_str(),
//!     r#"{"model":"gemini-2.5-pro","messages":[{"role":"user","content":"my key is 1234"}],"config":{}}"#,
//! );
//!
//! // A hook answers with another text; the image stays where it was.
//! let answer = object(r#"{"messages":[{"role":"user","content":"my key is ****"}]}"#);
//! let changed = from_stable_request(sdk, &answer, Some(&call))?;
//! assert_eq!(
//!     changed.value.fields().get("contents").unwrap().as_str(),
//!     r#"[{"role":"user","parts":[{"text":"my key is ****"},{"inlineData":{"data":"AAAA"}}]}]"#,
//! );
//! # Ok::<(), hook_translate::TranslateError>(())
//! ```
//!
//! # Map
//!
//! - [`Sdk`] is the form of a payload.
//! - [`to_stable_request`] and [`from_stable_request`], and the same pair for responses and tool
//!   configs, are the six translations. Their callers need not know any SDK.
//! - [`join_chunks`] joins the chunks of a stream to a complete response, [`to_stable_chunk`] and
//!   [`from_stable_chunk`] translate a single one.
//! - [`request_details`] and [`response_details`] return facts of a call other than its text.
//! - [`Translated`] is a result with its [`Warning`]s, [`TranslateError`] the error.
//! - `genai` has the rules of Google's GenAI SDK, v1, `openai` those of OpenAI's two APIs,
//!   `anthropic` those of Anthropic's messages. Another SDK is another module like them.
//! - `stable` has the rules of the stable form itself, `chunk` those that chunks of all SDKs share;
//!   `joined` joins strings that arrive in pieces.
//! - `rewritten` writes the entries of a conversation back into their request, byte for byte around
//!   them.
//! - `align` and `spread` compare a hook's answer with its input: new, edited and removed messages,
//!   and the parts of a message to which a changed text belongs.
//! - `conversation`, `parts`, `alternatives` and `usage` apply the result to the concepts that
//!   every SDK has: entries of a conversation, parts of a message, alternatives of a response,
//!   token counts.
//!
//! # Why text
//!
//! Payloads are read one level at a time as text ([`RawJson`](hook_json::RawJson)), never into a
//! tree. Unchanged content is copied byte for byte, numbers keep their digits, and the arguments of
//! a function call may nest to any depth.

#![cfg_attr(not(test), warn(clippy::disallowed_methods))]

mod align;
mod alternatives;
mod anthropic;
mod chunk;
mod conversation;
pub mod details;
mod distribute;
mod error;
mod genai;
mod joined;
pub mod json;
mod openai;
mod parts;
mod rewritten;
mod sdk;
mod stable;
mod stream;
mod translate;
mod translated;
mod usage;

pub use details::{RequestDetails, ResponseDetails, request_details, response_details};
pub use error::TranslateError;
pub use sdk::Sdk;
pub use stream::{from_stable_chunk, is_chunk, join_chunks, repeats_text, to_stable_chunk};
pub use translate::{
    from_stable_request, from_stable_response, from_stable_tool_config, to_stable_request,
    to_stable_response, to_stable_tool_config,
};
pub use translated::{Translated, Warning};

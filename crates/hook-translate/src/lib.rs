//! Model calls of vendor SDKs, translated to and from the stable form that hook scripts see.
//!
//! A hook that looks at a model call must not depend on the SDK that made it. So a request or a
//! response in an SDK's own JSON becomes a stable one (protocol.md §7) before hooks run, and what
//! they answered is laid onto the SDK's JSON again afterwards. The stable form is text only; the
//! way back keeps everything that it cannot express.
//!
//! What this crate is not: it runs no hook, calls no model, does no I/O and merges no outputs.
//! Every function is pure: JSON text in, JSON text out.
//!
//! # Example
//!
//! ```
//! use hook_core::{RawJson, RawObject};
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
//! - [`Sdk`] says which form a payload has.
//! - [`to_stable_request`] and [`from_stable_request`], and the same pair for responses and tool
//!   configs, are the six translations. Their callers need not know any SDK.
//! - [`join_chunks`] makes the complete response of a stream's chunks, [`to_stable_chunk`] and
//!   [`from_stable_chunk`] translate a single one.
//! - [`request_details`] and [`response_details`] read what a call says beside its text.
//! - [`Translated`] is a result with its [`Warning`]s, [`TranslateError`] what went wrong instead.
//! - `genai` holds the rules of Google's GenAI SDK, v1, `openai` those of OpenAI's two APIs,
//!   `anthropic` those of Anthropic's messages. Another SDK is another module like them.
//! - [`agents`] describes other agents: what their hooks are told and answer, and what they are told themselves.
//! - `stable` holds those of the stable form itself, `chunk` does for streams what no SDK has of its
//!   own, `joined` puts strings that came in pieces together.
//! - `rewritten` puts the entries of a conversation back into their request, byte for byte around
//!   them.
//! - `align` and `spread` compare what a hook answered with what it was shown: which messages are
//!   new, edited or gone, and to which part of a message a changed text belongs.
//! - `conversation`, `parts`, `alternatives` and `usage` lay the result over what every SDK has in a
//!   form of its own: entries of a conversation, parts of a message, alternatives of a response,
//!   token counts.
//!
//! # Why text
//!
//! Payloads are read one level at a time as text ([`RawJson`](hook_core::RawJson)), never into a
//! tree. What a hook did not change is copied byte for byte, numbers keep their digits, and the
//! arguments of a function call may nest as deep as they like.

#![cfg_attr(not(test), warn(clippy::disallowed_methods))]

pub mod agents;
mod align;
mod alternatives;
mod anthropic;
mod chunk;
mod conversation;
mod details;
mod error;
mod genai;
mod joined;
mod json;
mod openai;
mod parts;
mod rewritten;
mod sdk;
mod spread;
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

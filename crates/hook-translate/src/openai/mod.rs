//! OpenAI's two APIs: [`chat`] completions and [`responses`] (docs/model-sdks.md).
//!
//! Shared by both: the text of a message ([`content`]), its role ([`role`]), pairs of calls and
//! answers ([`pairing`]), the [`settings`] and the [`tool_choice`] of a request, and the finish
//! reason ([`finish`]). Each has a table of what hooks see.

pub(crate) mod chat;
mod content;
mod finish;
mod growing;
mod pairing;
mod request;
mod response;
pub(crate) mod responses;
mod role;
mod settings;
mod tool_choice;

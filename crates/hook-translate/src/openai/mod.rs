//! OpenAI's two APIs: [`chat`] completions and [`responses`] (protocol.md §7).
//!
//! Here is what they share: what a message says ([`content`]), who says it ([`role`]), where nothing
//! may be inserted ([`pairing`]), the [`settings`] and the [`tool_choice`] of a request, and why the
//! model stopped ([`finish`]). Each of them says in a table what hooks see.

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

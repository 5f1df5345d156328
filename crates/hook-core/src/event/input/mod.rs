//! What a hook is told: the base fields that every event has, and the event's own payload
//! (protocol.md §2).
//!
//! A request brings a [`RequestInput`]: a payload that has been read and checked, possibly with
//! base fields of its own. [`RequestInput::complete`] fills in the host's and gives the
//! [`EventInput`] that hooks see. Reading is the check: code that holds a payload type holds a
//! valid payload.

mod asked;
pub(crate) mod payload;
mod request;
mod shared;
mod tool;
mod value;
mod words;

pub use super::table::EventPayload;
#[doc(hidden)]
pub use asked::AskedBy;
pub(crate) use payload::Payload;
pub use payload::*;
pub use request::*;
pub use shared::HookInput;
pub(crate) use tool::MAX_TOOL_NAME;
pub use tool::{McpContext, ToolName};
pub use words::{
    CompactionReason, PreCompressTrigger, SessionEndReason, SessionStartSource, SwitchReason,
};

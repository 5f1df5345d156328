//! The input of a hook: the base fields that every event has, and the event's own payload
//! (reference/events.md).
//!
//! A request carries a [`RequestInput`]: a checked payload, possibly with base fields of its own.
//! [`RequestInput::complete`] adds the host's base fields and returns the [`EventInput`] that hooks
//! see. Payloads are checked while they are read, so a value of a payload type is always valid.

mod caller;
mod keywords;
mod original;
pub(crate) mod payload;
mod request;
mod shared;
mod timestamp;
mod tool;
mod value;

pub use super::table::EventPayload;
pub use caller::{CALLER, CallerField};
pub use keywords::{
    CompactionReason, PreCompressTrigger, SessionEndReason, SessionStartSource, SwitchReason,
};
pub use original::OriginalMessage;
pub(crate) use payload::Payload;
pub use payload::*;
pub use request::*;
pub use shared::HookInput;
pub use timestamp::{timestamp, timestamp_before, timestamp_in_seconds};
pub use tool::{MAX_TOOL_NAME, McpContext, ToolName};

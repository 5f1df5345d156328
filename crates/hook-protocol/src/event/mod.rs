//! The event table: one row per event, with everything that the engine needs to know about it.
//!
//! To add an event, add a row to `event/table.rs` and, unless its payload is open, a payload to
//! [`input`]. No other code branches on an event's name (architecture.md, "The event table").
//! Hosts, clients and settings [declare](EventDefinition) further events, which are rows like any
//! other.

mod by_event;
mod chain;
mod declared;
mod foreign_names;
pub mod input;
mod matching;
mod merge_strategy;
pub mod output;
mod row;
mod table;
mod tool_mode;
mod topic;
mod typed;

pub use by_event::ByEvent;
pub use declared::{
    DEFINITION_FIELDS, DeclareError, EVENT_NAME_PATTERN, EventDefinition, Events, MATCHING_FIELDS,
    MAX_DECLARED,
};
pub use matching::Matching;
pub use merge_strategy::MergeStrategy;
pub use row::{EventRow, HookEventName, ModelPayload, WILDCARD};
pub use table::{Event, EventPayload, events};
pub use tool_mode::narrow_tool_config;
pub use topic::Topic;
pub use typed::{TypedAnswer, TypedInput};

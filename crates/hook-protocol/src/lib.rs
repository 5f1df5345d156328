//! The protocol of agent hooks: events, their inputs, the answers of hooks, and failures.
//!
//! [`HookEventName`] names an event, [`RequestInput`] is what a host knows of one, [`HookInput`] is
//! what a hook reads, and [`HookOutput`] is what it answers. Nothing here runs a hook, reads
//! settings or needs an async runtime.
//!
//! # Example
//!
//! ```
//! use hook_json::RawObject;
//! use hook_protocol::{BeforeToolInput, HookEventName, RequestInput, ToolName};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let input = RequestInput::from(BeforeToolInput::new(
//!     ToolName::new("run_shell_command")?,
//!     RawObject::parse(r#"{"command": "ls"}"#)?,
//! ));
//! assert_eq!(input.event(), HookEventName::BeforeTool);
//! # Ok(())
//! # }
//! ```
//!
//! # Map
//!
//! | module | contents |
//! | --- | --- |
//! | [`failure`] | errors |
//! | [`tool`] | tool calls: kinds of tools, and the files that a call names |
//! | [`model`] | the stable form of model requests and responses |
//! | [`event`] | the event table, with one row per event; inputs and outputs |
//! | [`read_back`] | fields and answers parsed from messages |

#![cfg_attr(not(test), warn(clippy::disallowed_methods))]

pub mod event;
pub mod failure;
pub mod model;
pub mod read_back;
pub mod tool;

pub use event::input::*;
pub use event::output::{Decision, HookOutput, PolicyDecision};
pub use event::{Event, EventDefinition, Events, HookEventName, TypedAnswer, TypedInput, events};
pub use failure::{FailureCode, HookFailure};
pub use model::{LlmRequest, LlmResponse, ToolConfig};
pub use tool::ToolKind;

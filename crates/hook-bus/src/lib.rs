//! Every hook execution is a message.
//!
//! A component publishes a [`HookExecutionRequest`] on a [`MessageBus`]. One handler checks it,
//! finds the hooks that listen to its event, runs them and answers with exactly one
//! [`HookExecutionResponse`] of the same correlation id. Subscribers see requests,
//! responses and progress. A [`HookSystem`] is that handler with its settings; its `fire_`
//! functions publish a request and await the response.
//!
//! This crate knows no arguments and no terminals (`hook-cli` does). How hooks run is
//! `hook-core`'s, what vendor SDKs say is `hook-translate`'s.
//!
//! # Example
//!
//! ```
//! use hook_bus::{HookExecutionRequest, HookExecutionResponse, HookSystem};
//! use hook_core::{HandlerHook, HookEventName, HookOutput};
//! use tokio_stream::StreamExt;
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//!
//! let guard = HandlerHook::inline(HookEventName::BeforeTool, "no-shell", |_input| {
//!     Ok(Some(HookOutput::deny("no shell today")))
//! })
//! .matcher("run_shell_command");
//! let system = HookSystem::builder(".").handler(guard).build()?;
//!
//! // An extension listens in.
//! let mut responses = system.bus().subscribe::<HookExecutionResponse>();
//!
//! // A component asks by message.
//! let published = system
//!     .bus()
//!     .publish(HookExecutionRequest::from_json(
//!         r#"{"type": "hook-execution-request", "eventName": "BeforeTool", "correlationId": "c-1",
//!             "input": {"tool_name": "run_shell_command", "tool_input": {"command": "ls"}}}"#,
//!     ))
//!     .await?;
//! let response = published.response().await.unwrap();
//! assert_eq!(response.processed.reason.as_deref(), Some("no shell today"));
//!
//! let heard = responses.next().await.unwrap()?;
//! assert_eq!(heard.correlation_id.as_str(), "c-1");
//! # Ok(())
//! # }
//! ```
//!
//! # Map
//!
//! | module | what it holds |
//! | --- | --- |
//! | [`message`] | requests, responses, progress, and their JSON form |
//! | `bus`, `limits`, `places`, `subscription` | the bus and its bounded queues |
//! | `accepted`, `in_flight` | from acceptance to the one answer |
//! | `event_handler` | the nine stages that a request goes through |
//! | `engine`, `system`, `native`, `fire` | the engine on the bus, and its host's side |
//! | [`triggers`], `host` | what an agent does with the answers, and what it says of itself |
//! | [`schema`] | JSON Schema of the messages |
//! | [`wire`] | JSON lines: reading, serving a client or, over a socket, many, and following what happens |
//! | [`bridge`] | an agent that asks in its own language |
//! | [`live`] | hooks of clients: registered over a connection, called over it, back after it was lost |
//! | [`audit`] | what happened to hooks, as a stream and as a file |
//! | `redaction`, `registrations` | what is left out of both, and which hooks came and went |
//! | [`module`] | modules in Rust: handlers, commands and renderers that come together |
//! | [`recording`] | everything that happens on a bus: written down, read again, and replayed |
//! | [`script`] | driving the bus with scripted messages, and testing hooks with them |
//!
//! # Why no queue between caller and handler
//!
//! A request is served on the caller's task, up to where something must be waited for: a
//! queue and a wake-up would cost more than all the stages before (docs/performance.md).

#![cfg_attr(not(test), warn(clippy::disallowed_methods))]

pub mod audit;
pub mod bridge;
mod bus;
mod fire;
mod handler;
mod host;
pub mod live;
mod log;
pub mod message;
pub mod module;
mod native;
mod private_file;
pub mod recording;
mod redaction;
pub mod schema;
pub mod script;
mod system;
mod token;
pub mod triggers;
pub mod wire;

pub use bus::{
    AlreadyServed, BusClient, BusLimits, Lagged, Message, MessageBus, PublishError,
    PublishedRequest, Subscription, SubscriptionLimits,
};
#[doc(hidden)]
pub use fire::payloads;
pub use handler::{
    DeclaredEvent, Elsewhere, HookEventHandler, InitializeError, NotInitialized, RegisterError,
    RegisteredHook, Registrant, Registration, ServedElsewhere,
};
pub use hook_translate::Sdk;
pub use host::{AgentHost, ApprovalRequest};
pub use message::{
    AnsweringEngine, CorrelationId, EngineCheck, HookExecutionRequest, HookExecutionResponse,
    HookFinished, HookProgress, HookRegistration, HookStarted, JournalEntry, JournalMessage,
    MessageError, RegistrationChange, RequestKey,
};
pub use system::{HookSystem, HookSystemBuilder, HookSystemStatus};

/// The README's example, compiled and run.
#[cfg(doctest)]
#[doc = include_str!("../../../README.md")]
struct Readme;

//! Runs hooks as messages on a bus.
//!
//! A component publishes a [`HookExecutionRequest`] on a [`MessageBus`]. One handler validates it,
//! finds the hooks of its event, runs them and answers with exactly one [`HookExecutionResponse`]
//! of the same correlation id. Subscribers see requests, responses and progress. A [`HookSystem`]
//! is that handler with its settings; its `fire_` functions publish a request and await the
//! response.
//!
//! This crate has no command line and no terminal (see `hook-cli`). `hook-core` runs the hooks,
//! `hook-translate` translates the payloads of model SDKs, `hook-record` records and replays.
//!
//! # Example
//! ```
//! use hook_bus::{HookExecutionRequest, HookExecutionResponse, HookSystem};
//! use hook_run::HandlerHook;
//! use hook_protocol::{HookEventName, HookOutput};
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
//! | module | contents |
//! | --- | --- |
//! | [`message`] | requests, responses, progress, and their JSON form |
//! | `bus` | the bus and its bounded queues; a request from its acceptance to its one answer |
//! | `handler` | the nine stages of a request, and the engine on the bus |
//! | `system`, `native`, `fire` | the API of the engine's host |
//! | [`triggers`], `host`, `client_hooks` | how an agent applies the answers, the agent's own data, and a server's hooks for its client |
//! | [`schema`] | JSON Schema of the messages |
//! | [`wire`] | JSON lines: reading, serving one client or many (over a socket), following events |
//! | [`bridge`] | requests in an agent's own format |
//! | [`live`] | hooks of clients: registered, called and resumed over a connection |
//! | [`audit`] | the audit of hooks, as a stream and as a file |
//! | [`journal`] | all messages as lines, for recordings and followers |
//! | `redaction` | the redaction of audits and recordings |
//! | [`module`] | modules in Rust: sets of handlers, commands and renderers |
//!
//! # Why no queue between caller and handler
//!
//! A request is served on the caller's task until it first has to wait: a queue and a wake-up would
//! cost more than all the stages before (docs/dev/performance.md).

#![cfg_attr(not(test), warn(clippy::disallowed_methods))]

pub mod audit;
pub mod bridge;
mod bus;
mod client_hooks;
mod fire;
mod handler;
mod host;
pub mod journal;
pub mod live;
mod log;
pub mod message;
pub mod module;
mod native;
mod private_file;
mod redaction;
pub mod schema;
mod system;
mod token;
pub mod triggers;
pub mod wire;

pub use bus::{
    AlreadyServed, BusClient, BusLimits, Lagged, Message, MessageBus, PublishError,
    PublishedRequest, Subscription, SubscriptionLimits,
};
pub use fire::payloads;
pub use handler::{
    DeclaredEvent, HookEventHandler, InitializeError, NotInitialized, RegisterError,
    RegisteredHook, Registrant, Registration, RemoteEngines, RemoteServing,
};
pub use hook_core::ProcessedHookResult;
pub use hook_json::{RawJson, RawObject};
pub use hook_protocol::{
    EventDefinition, Events, HookEventName, HookOutput, PolicyDecision, ToolName, events,
};
pub use hook_run::{HandlerHook, HostCall, HostCallError, HostServices};
pub use hook_settings::SettingsSource;
pub use hook_translate::Sdk;
pub use hook_trust::TrustPolicy;
pub use host::{AgentHost, Approval, ApprovalRequest};
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

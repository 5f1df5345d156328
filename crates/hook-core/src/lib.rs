//! What an agent hook is, and how one event runs through the hooks that listen to it.
//!
//! An agent announces what it is about to do, or has done, as one of some forty
//! [events](HookEventName), or of those that are declared beside them. Hooks that listen to it (shell commands from settings, or functions of
//! the host) are [planned](plan), [run] and their answers [merged](engine) into one
//! [`ProcessedHookResult`].
//!
//! This crate is the machinery. It knows no message bus (`hook-bus` does, and is what hosts use),
//! no vendor SDK's JSON (`hook-translate`) and no terminal (`hook-cli`).
//!
//! # Example
//!
//! A guard in process, asked about one tool call:
//!
//! ```
//! # use std::sync::Arc;
//! use hook_core::{
//!     BeforeToolInput, Events, HandlerHook, HookEventName, HookOutput, HookRegistry, HostContext,
//!     Pipeline, RawObject, RequestInput, Runner, RunnerHost, RunnerLimits, RunScope, ToolName,
//!     TrustPolicy,
//! };
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//!
//! let guard = HandlerHook::inline(HookEventName::BeforeTool, "no-shell", |_input| {
//!     Ok(Some(HookOutput::deny("no shell today")))
//! });
//! let runner = Arc::new(Runner::new(RunnerHost {
//!     project: ".".into(),
//!     environment: std::env::vars_os().collect(),
//!     limits: RunnerLimits::default(),
//! })?);
//! let registry = HookRegistry::new(
//!     &[], &[guard], &runner, ".".as_ref(), &TrustPolicy::Nothing, &mut Events::built_in(),
//! );
//! let pipeline = Pipeline::new(Arc::new(registry), runner);
//!
//! let input = RequestInput::from(BeforeToolInput::new(
//!     ToolName::new("run_shell_command")?,
//!     RawObject::empty(),
//! ));
//! let host = HostContext { session_id: "s".into(), cwd: ".".into(), transcript_path: "".into() };
//! let plan = pipeline.registry().plan(&input, &host);
//! let outcome = pipeline.run(&plan, input.complete(&host), &RunScope::default()).await?;
//! assert_eq!(outcome.processed.reason.as_deref(), Some("no shell today"));
//! # Ok(())
//! # }
//! ```
//!
//! # Features
//!
//! `run` (on by default): the rooms [`run`], [`plan`] and [`engine`], which need an async runtime. Without
//! it the others can be used alone, as `hook-translate` does.
//!
//! # Map
//!
//! Each room uses only those above it. Those without a link are for the crates beside this one: what they
//! hold may change at any time.
//!
//! | room | what it holds |
//! | --- | --- |
//! | `files` | reading, writing and finding files |
//! | `text` | text from outside, as people and logs are shown it |
//! | `lines` | reading lines of bytes, with a limit |
//! | [`failure`] | what can go wrong |
//! | [`json`] | JSON that is carried as text, and reading it into types |
//! | `redact` | keeping secrets out of what is written down |
//! | `tool` | tool calls: what a tool is, and the files that a call names |
//! | [`model`] | the stable form of model requests and responses |
//! | [`event`] | the event table: one row per event decides everything about it; inputs and outputs |
//! | `language` | hooks of other agents, which are told and understood as at home |
//! | `shell` | reading shell text |
//! | [`settings`], [`trust`] | which hooks there are and which may run |
//! | `matcher` | which inputs a hook is for |
//! | [`run`] | running hooks: processes, futures, threads, functions |
//! | [`plan`] | which of them an event runs, and why not the others |
//! | `check` | what is wrong with settings, and with what they name |
//! | `schema` | JSON Schema of all that is read and written |
//! | [`engine`] | all of it in order: plan, run, aggregate |

#![cfg_attr(not(test), warn(clippy::disallowed_methods))]
#![cfg_attr(
    not(feature = "run"),
    allow(dead_code, unused_imports, reason = "what only planning and running use")
)]

#[doc(hidden)]
pub mod check;
#[cfg(feature = "run")]
pub mod engine;
pub mod event;
pub mod failure;
#[doc(hidden)]
pub mod files;
mod javascript;
pub mod json;
#[doc(hidden)]
pub mod language;
#[cfg(feature = "run")]
#[doc(hidden)]
pub mod lines;
#[doc(hidden)]
pub mod matcher;
pub mod model;
#[cfg(feature = "run")]
pub mod plan;
#[doc(hidden)]
pub mod redact;
#[cfg(feature = "run")]
pub mod run;
#[doc(hidden)]
pub mod schema;
pub mod settings;
mod shell;
#[doc(hidden)]
pub mod text;
#[doc(hidden)]
pub mod tool;
#[allow(clippy::disallowed_methods, reason = "its callers show its paths")]
pub mod trust;

#[cfg(feature = "run")]
pub use engine::{
    AggregatedHookResult, ErrorReport, FinishedHooks, Guard, NotStarted, Pipeline, PipelineOutcome,
    ProcessedHookResult, StageFailure,
};
pub use event::input::*;
pub use event::output::{Decision, HookOutput, PolicyDecision};
pub use event::{Event, EventDefinition, Events, HookEventName, TypedAnswer, TypedInput, events};
pub use failure::{FailureCode, HookFailure};
pub use json::shape::ShapeError;
pub use json::{
    JsonArray, JsonError, JsonKind, JsonNumber, JsonObject, JsonSlice, JsonText, JsonWalk,
    ObjectWriter, RawJson, RawObject,
};
pub use matcher::MatchInput;
pub use model::{LlmRequest, LlmResponse, ToolConfig};
#[cfg(feature = "run")]
#[doc(hidden)]
pub use plan::NOT_TRUSTED;
#[cfg(feature = "run")]
pub use plan::{ExplainedHook, Explanation, Group, Hook, HookListing, HookRegistry, NotRun, Plan};
#[cfg(feature = "run")]
pub use run::{
    Background, EndSignal, HandlerError, HandlerHook, HandlerResult, HookExecutionResult,
    HookIdentity, HookKind, HookSpec, HookStart, HostCall, HostCallError, HostServices, RunLane,
    RunObserver, RunScope, Runner, RunnerHost, RunnerLimits, TypedResult,
};
pub use settings::{FailBehavior, HookSource, MatcherDefinition, MatcherFields, SettingsSource};
pub use tool::ToolKind;
pub use trust::{TrustPolicy, TrustStore};

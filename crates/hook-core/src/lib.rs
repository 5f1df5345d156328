//! The core of a hook engine: it runs one event of an agent through the hooks that listen to it.
//!
//! An agent announces what it is about to do, or has done, as one of some forty [built-in
//! events](HookEventName) or of a declared one. The engine [plans](plan) which hooks listen to it
//! (shell commands from settings, or functions of the host), [runs](run) them, and [merges](engine)
//! their answers into one [`ProcessedHookResult`].
//!
//! This crate depends on no message bus (`hook-bus` adds one, and is the crate that hosts use), no
//! JSON of vendor SDKs (`hook-translate`) and no terminal (`hook-cli`).
//!
//! # Example
//!
//! An in-process guard that denies one tool call:
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
//! `run` (on by default): the modules [`run`], [`plan`] and [`engine`], which need an async
//! runtime. Without it the other modules still work, as `hook-translate` uses them.
//!
//! # Map
//!
//! Each module uses only those above it. Modules without a link serve the neighbouring crates and
//! may change at any time.
//!
//! | module | contents |
//! | --- | --- |
//! | `files` | reading, writing and finding files |
//! | `text` | showing text of unknown origin to people and in logs |
//! | `lines` | reading lines of bytes, with a limit |
//! | [`failure`] | errors |
//! | [`json`] | JSON kept as text, and reading it into types |
//! | `redact` | keeping secrets out of records and logs |
//! | `tool` | tool calls: kinds of tools, and the files that a call names |
//! | [`model`] | the stable form of model requests and responses |
//! | [`event`] | the event table, with one row per event; inputs and outputs |
//! | `language` | hooks of other agents, run by the rules of those agents |
//! | `shell` | parsing shell commands |
//! | [`settings`], [`trust`] | the configured hooks, and the ones that may run |
//! | `matcher` | matching inputs against a hook's matcher |
//! | [`run`] | running hooks: processes, futures, threads, functions |
//! | [`plan`] | the hooks that an event runs, and the reasons why others do not run |
//! | `check` | diagnostics for settings and for the files that they name |
//! | `schema` | JSON Schemas of everything that is read and written |
//! | [`engine`] | the pipeline: plan, run, aggregate |

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

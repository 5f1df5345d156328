//! The core of a hook engine: it runs one event of an agent through the hooks that listen to it.
//!
//! An agent announces what it is about to do, or has done, as one of some forty [built-in
//! events](hook_protocol::HookEventName) or of a declared one. The engine [plans](plan) which hooks
//! listen to it (shell commands from settings, or functions of the host), runs them
//! ([`hook_run`]), and [merges](engine) their answers into one [`ProcessedHookResult`].
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
//! use hook_core::{HookRegistry, Pipeline};
//! use hook_json::RawObject;
//! use hook_protocol::{
//!     BeforeToolInput, Events, HookEventName, HookOutput, HostContext, RequestInput, ToolName,
//! };
//! use hook_run::{HandlerHook, RunScope, Runner, RunnerHost, RunnerLimits};
//! use hook_settings::Agents;
//! use hook_trust::TrustPolicy;
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//!
//! let guard = HandlerHook::inline(HookEventName::BeforeTool, "no-shell", |_input| {
//!     Ok(Some(HookOutput::deny("no shell today")))
//! });
//! let runner = Arc::new(Runner::new(RunnerHost {
//!     project: ".".into(),
//!     workspace: Vec::new(),
//!     environment: std::env::vars_os().collect(),
//!     limits: RunnerLimits::default(),
//! })?);
//! let registry = HookRegistry::new(
//!     &[],
//!     &[guard],
//!     &runner,
//!     &TrustPolicy::Nothing,
//!     &Agents::known([]),
//!     &mut Events::built_in(),
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
//! # Map
//!
//! | module | contents |
//! | --- | --- |
//! | [`plan`] | the hooks that an event runs, and the reasons why others do not run |
//! | [`engine`] | the pipeline: plan, run, aggregate |

#![cfg_attr(not(test), warn(clippy::disallowed_methods))]

pub mod engine;
pub mod plan;

pub use engine::{
    AggregatedHookResult, ErrorReport, FinishedHooks, Guard, NotStarted, Pipeline, PipelineOutcome,
    ProcessedHookResult, StageFailure,
};
pub use plan::{
    ExplainedHook, Explanation, Group, Hook, HookListing, HookRegistry, NOT_TRUSTED, NotRun, Plan,
};

//! What an agent hook is, and how one event runs through the hooks that listen to it.
//!
//! An agent announces what it is about to do, or has done, as one of some forty
//! [events](HookEventName), or of those that are declared beside them. Hooks that listen to it (shell commands from settings, or functions of
//! the host) are [planned](planner), [run](runner) and their answers [merged](aggregator) into one
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
//!     Aggregator, BeforeToolInput, Events, HandlerHook, HookEventName, HookOutput, HookRegistry,
//!     HostContext, Pipeline, Planner, RawJson, RawObject, RequestInput, Runner, RunnerHost,
//!     RunnerLimits, RunScope, ToolName, TrustPolicy,
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
//! let pipeline = Pipeline::new(Planner::new(Arc::new(registry)), runner, Aggregator);
//!
//! let input = RequestInput::from(BeforeToolInput::new(
//!     ToolName::new("run_shell_command")?,
//!     RawObject::empty(),
//! ));
//! let host = HostContext { session_id: "s".into(), cwd: ".".into(), transcript_path: "".into() };
//! let plan = pipeline.plan(&input, &host);
//! let outcome = pipeline.run(&plan, input.complete(&host), &RunScope::default()).await?;
//! assert_eq!(outcome.processed.reason.as_deref(), Some("no shell today"));
//! # Ok(())
//! # }
//! ```
//!
//! # Map
//!
//! | module | what it holds |
//! | --- | --- |
//! | [`event`] | the event table: one row per event decides everything about it |
//! | [`input`], [`output`], [`model`] | what hooks are told and answer |
//! | [`json`], [`shape`] | JSON that is carried as text, and reading it into types |
//! | [`settings`], [`trust`] | which hooks there are and which may run |
//! | [`check`] | what is wrong with settings, and with what they name |
//! | [`registry`], [`matcher`], [`planner`] | which of them an event runs |
//! | [`explain`] | why it runs them, and why not the others |
//! | [`runner`] | running them: processes, futures, threads, functions |
//! | [`aggregator`], [`processed`] | one answer out of many |
//! | [`pipeline`] | all of it in order |
//! | [`read_back`] | results as messages tell them |
//! | [`schema`] | JSON Schema of all that is read and written |
//! | [`changes`] | what hooks changed of their input, as JSON Patch |
//! | [`redact`] | keeping secrets out of what is written down |
//! | [`failure`] | what can go wrong |
//! | [`regular_file`] | reading regular files, and refusing others at once |
//! | [`text`] | text from outside, as people and logs are shown it |
//! | [`replace`] | replacing a file as a whole |
//! | [`program`] | finding programs as a shell does |

pub mod aggregator;
mod atomic;
mod chain;
pub mod changes;
pub mod check;
pub mod event;
pub mod explain;
pub mod failure;
mod field;
mod identity;
pub mod input;
mod javascript;
pub mod json;
pub mod matcher;
pub mod model;
pub mod nearest;
pub mod output;
pub mod pipeline;
pub mod planner;
pub mod processed;
pub mod program;
pub mod read_back;
pub mod redact;
pub mod registry;
pub mod regular_file;
pub mod replace;
pub mod runner;
pub mod schema;
pub mod settings;
pub mod shape;
mod shell;
pub mod text;
mod tool_mode;
pub mod trust;

pub use aggregator::{AggregatedHookResult, Aggregator, ErrorReport};
pub use event::{Event, EventDefinition, Events, HookEventName, TypedAnswer, TypedInput, events};
pub use explain::{ExplainedHook, Explanation, NotRun};
pub use failure::{FailureCode, HookFailure};
pub use identity::HookIdentity;
pub use input::*;
pub use json::{
    JsonArray, JsonError, JsonKind, JsonNumber, JsonObject, JsonSlice, JsonText, JsonWalk,
    ObjectWriter, RawJson, RawObject,
};
pub use matcher::MatchInput;
pub use model::{LlmRequest, LlmResponse, ToolConfig};
pub use output::{Decision, HookOutput, PolicyDecision};
pub use pipeline::{FinishedHooks, NotStarted, Pipeline, PipelineOutcome};
pub use planner::{Group, Plan, Planner};
pub use processed::{Guard, ProcessedHookResult, StageFailure};
pub use registry::{Hook, HookListing, HookRegistry};
pub use runner::{
    Background, EndSignal, HandlerError, HandlerHook, HandlerResult, HookExecutionResult,
    HookInput, HookKind, HookSpec, HookStart, RunLane, RunObserver, RunScope, Runner, RunnerHost,
    RunnerLimits, TypedResult,
};
pub use settings::{FailBehavior, HookSource, MatcherDefinition, MatcherFields, SettingsSource};
pub use shape::ShapeError;
pub use trust::{TrustPolicy, TrustStore};

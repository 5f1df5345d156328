//! Running hooks: processes, futures and threads on tasks that the engine owns, each with its own
//! deadline; inline handlers on the caller's thread.
//!
//! # Example
//!
//! ```
//! use hook_protocol::{HookEventName, HookOutput};
//! use hook_run::HandlerHook;
//!
//! let guard = HandlerHook::inline(HookEventName::BeforeTool, "no-shell", |_input| {
//!     Ok(Some(HookOutput::deny("no shell today")))
//! })
//! .matcher("run_shell_command");
//! ```
//!
//! # Map
//!
//! | file | contents |
//! | --- | --- |
//! | `identity`, `spec` | the identity of a hook in messages; a hook that is ready to run |
//! | `executor` | the trait of everything that runs a hook |
//! | `command` | commands: program, directory, environment and captured output |
//! | `handler` | functions of the host, also blocking ones |
//! | `live` | long-lived hooks: the session with one, over any transport |
//! | `module` | handlers of modules that are part of the host |
//! | `worker` | long-lived processes of the engine |
//! | `http` | HTTP servers, for hooks of other agents |
//! | `host_service` | host-executed hooks of other agents: a model's verdict, an MCP tool |
//! | `upstream` | fleets of remote engines, which the host knows how to ask |
//! | `rules` | files of rules, which run nothing |
//! | `unavailable` | hooks that cannot run |
//! | `factory` | the factory of executors for hooks of settings |
//! | `answer` | the interpretation of a finished hook's output |
//! | `limits`, `slots`, `nesting` | the limits of hooks: time, concurrency, depth |
//! | `running` | the running command hooks, and the requests that come from inside them |
//! | `tree`, `termination` | the process tree of a hook, and its end after the verdict |
//! | `trust_check` | the last trust check before a run |
//! | `per_file` | one tool call on several files, for a hook that handles one file at a time |
//! | `threads` | threads of the engine |
//! | `session_env` | variables that hooks set for later hooks of the session |
//! | `scope`, `supervise`, `finish`, `result`, `report` | one run, from its queue to its result |
//! | `runner` | the entry point for the engine |

#![cfg_attr(not(test), warn(clippy::disallowed_methods))]

mod answer;
mod command;
mod executor;
mod factory;
mod finish;
mod handler;
mod host_service;
#[cfg(feature = "http")]
mod http;
mod identity;
mod limits;
pub mod lines;
mod live;
mod module;
mod nesting;
mod per_file;
mod read_back;
mod report;
mod result;
mod rules;
mod runner;
mod running;
mod scope;
mod session_env;
mod slots;
mod spec;
mod started;
mod supervise;
mod termination;
mod threads;
mod tree;
mod trust_check;
mod unavailable;
mod upstream;
mod worker;

pub use answer::Answer;
pub use command::RunnerError;
pub use executor::{CommandIdentity, HookExecutor, HookKind, HookStart};
pub use factory::ExecutorFactory;
pub use handler::{HandlerError, HandlerHook, HandlerResult, TypedResult};
pub use identity::HookIdentity;
pub use limits::{RunnerHost, RunnerLimits};
pub use live::{
    CallMessage, CallSession, CallTarget, DroppedAnswers, FailureListener, FromHook, HOST_METHODS,
    HookAnswer, HostCall, HostCallError, HostMethod, HostServices, InvalidMessage, MAX_LIVE_LINE,
    ModuleCommand, ToHook, Transport, WorkerHook, WorkerModule, without_ui,
};
pub use module::{
    CommandContext, ErrorListener, ExecOptions, ExecResult, HookContext, HookUi, ModuleAnswer,
    ModuleErrors, ModuleEvent, ModuleFault, ModuleHandle, ModuleHandler, ModuleReturn, NewSession,
    Notice, SessionChange, SessionManager, SetupEntry, Theme,
};
pub use nesting::Nesting;
pub use report::{Captured, ProcessReport, WorkerHistory};
pub use result::HookExecutionResult;
pub use runner::Runner;
pub use running::RunningHooks;
pub use scope::{Background, RunObserver, RunScope};
pub use session_env::SessionEnv;
pub use slots::FairnessKey;
pub use spec::{HookSpec, MAX_BACKGROUND, TrustCheck, background};
pub use started::{RunnerGone, StartedHook};
pub use tree::EndSignal;
pub use unavailable::undeclared_hooks;
pub use upstream::{Upstream, UpstreamCall, Upstreams};
pub use worker::{Worker, WorkerDeclaration, WorkerStatus};

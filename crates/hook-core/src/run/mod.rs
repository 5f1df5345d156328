//! Running hooks: each process, future or thread on a task that the engine owns, with its own
//! deadline; inline handlers right where they are asked.
//!
//! | file | what it holds |
//! | --- | --- |
//! | `identity`, `spec` | what a hook is called; what is run, without what decided that it runs |
//! | `executor` | what can run a hook: the trait |
//! | `command` | commands: which program, where, with what around it, and what it wrote |
//! | `handler` | functions of the host; those that may block |
//! | `live` | hooks that stay alive and are called: the conversation with one, whoever carries it |
//! | `module` | handlers of modules that are part of the host |
//! | `worker` | processes of the engine's that are called |
//! | `http` | servers that are asked, as hooks of other agents may be |
//! | `hosted` | what the host does for hooks of other agents: a model's verdict, an MCP tool |
//! | `upstream` | fleets of engines elsewhere, which the host knows how to ask |
//! | `unserved` | hooks that cannot run |
//! | `maker` | which of these runs a hook of settings |
//! | `answer` | what a finished hook means |
//! | `limits`, `slots`, `nesting` | what hooks may cost: time, places to run, depth |
//! | `running` | which commands run now, and what is asked for from inside of them |
//! | `tree`, `termination` | all that a process started, and its end after the verdict |
//! | `consent` | the last look at what was trusted |
//! | `per_file` | one call on several files, with which a hook is asked file by file |
//! | `threads` | threads of the engine's own |
//! | `session_env` | variables that hooks set for later ones of the session |
//! | `scope`, `supervise`, `finish`, `result`, `report` | one run, from its queue to its result |
//! | `runner` | all of it, for the engine |

mod answer;
mod command;
mod consent;
mod executor;
mod finish;
mod handler;
mod hosted;
#[cfg(feature = "http")]
mod http;
mod identity;
mod limits;
mod live;
mod maker;
mod module;
mod nesting;
mod per_file;
mod report;
mod result;
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
mod unserved;
mod upstream;
mod worker;

pub use answer::Answer;
pub use command::RunnerError;
pub(crate) use executor::{CommandIdentity, HookExecutor};
pub use executor::{HookKind, HookStart};
pub use handler::{HandlerError, HandlerHook, HandlerResult, TypedResult};
pub use identity::HookIdentity;
pub use limits::{RunnerHost, RunnerLimits};
pub use live::{
    CallSession, CallTarget, Carrier, Dropped, FailureListener, FromHook, HOST_METHODS, HostCall,
    HostCallError, HostMethod, HostServices, MAX_LIVE_LINE, ModuleCommand, Said, ToHook, Told,
    Unreadable, WorkerHook, WorkerModule, without_ui,
};
pub(crate) use maker::ExecutorMaker;
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
pub use slots::RunLane;
pub use spec::HookSpec;
pub(crate) use spec::{MAX_BACKGROUND, TrustCheck, background};
pub use started::RunnerGone;
pub(crate) use started::StartedHook;
pub use tree::EndSignal;
pub(crate) use unserved::undeclared;
pub use upstream::{Upstream, UpstreamCall, Upstreams};
pub use worker::{Declared, Worker, WorkerStatus};

//! The trait of everything that runs a hook. The implementations are in modules beside this file.

use hook_json::{keywords, opaque_debug};
use std::collections::BTreeMap;
use std::fmt;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use futures::future::BoxFuture;

use super::answer::Answer;
use super::report::ProcessReport;
use super::running::RunningHook;
use super::scope::RunScope;
use super::slots::{Slot, SlotQueue};
use super::worker::Worker;
use hook_protocol::event::input::HookInput;
use hook_protocol::failure::HookFailure;
use hook_settings::UpstreamRules;
use hook_settings::language::ForeignHook;

keywords! {
    /// The kind of program that runs a hook.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
    #[non_exhaustive]
    pub enum HookKind {
        /// A shell command in its own process.
        Command = "command",
        /// A file of rules, which runs nothing.
        Rule = "rule",
        /// A long-lived process of the engine, called for each event.
        Worker = "worker",
        /// A handler of a module: a module of the host, or a JavaScript module in a process that it
        /// shares with the other modules of its settings.
        Module = "module",
        /// A hook that a client registered, called over its connection.
        Registered = "registered",
        /// A fleet of remote engines.
        Upstream = "upstream",
        /// A server, which gets an HTTP request; for hooks of other agents only.
        Http = "http",
        /// A verdict of a model; for hooks of other agents only.
        Prompt = "prompt",
        /// A verdict of a model that may use tools; for hooks of other agents only.
        Agent = "agent",
        /// A tool of an MCP server; for hooks of other agents only.
        McpTool = "mcp_tool",
        /// A function of the host, called on the thread that serves the event.
        Inline = "inline",
        /// A future of the host, on its own task.
        Async = "async",
        /// A function of the host that may block, on a thread of the engine.
        Blocking = "blocking",
    }
}

/// The way a hook is started.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum HookStart<'h> {
    /// As a function of the host.
    InProcess,
    /// As a process without a shell (reference/answers.md); through the shell if that is impossible.
    Direct,
    /// Through this shell.
    Shell(&'h Path),
    /// As a request to an HTTP server.
    Posted,
    /// As a call to a process or connection that outlives the event.
    Called,
    /// Not at all: the host lacks this service.
    Missing(&'h str),
}

impl HookStart<'_> {
    /// Returns the name in messages.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::InProcess => "in-process",
            Self::Direct => "direct",
            Self::Shell(_) => "shell",
            Self::Posted => "http",
            Self::Called => "called",
            Self::Missing(_) => "missing",
        }
    }
}

/// The input of one run of an executor.
#[derive(Debug)]
pub struct HookCall {
    pub(crate) input: HookInput,
    pub(crate) timeout: Duration,
    pub(crate) slots: Slots,
    /// The shared state of the runs of the event.
    pub(crate) scope: RunScope,
    /// The trust rank of the hook.
    pub(crate) trust_rank: u8,
}

/// The permits of one run, held until its process is gone or its thread is free.
#[derive(Debug, Default)]
pub(crate) struct Slots {
    /// The permit of the hook's source.
    pub(crate) source: Option<Arc<Slot>>,
    /// The permit of the engine.
    pub(crate) engine: Option<Arc<Slot>>,
    /// The permit of the session that the hook is called in.
    pub(crate) session: Option<Arc<Slot>>,
    /// The entry that identifies requests from the hook's own process.
    pub(crate) running: Option<RunningHook>,
}

impl Slots {
    /// Shares the permits with one more call; they are released when the last of the calls ends.
    fn share(&self) -> Self {
        let Self { source, engine, session, .. } = self;
        Self {
            source: source.clone(),
            engine: engine.clone(),
            session: session.clone(),
            running: None,
        }
    }
}

impl HookCall {
    /// Returns the same call with another input and timeout.
    pub(crate) fn with_input(&self, input: HookInput, timeout: Duration) -> Self {
        let (slots, scope) = (self.slots.share(), self.scope.clone());
        Self { input, timeout, slots, scope, trust_rank: self.trust_rank }
    }

    /// Waits for the call's timeout or cancellation.
    pub(crate) async fn expired(&self) -> HookFailure {
        tokio::select! {
            biased;
            () = self.scope.cancel.cancelled() => HookFailure::Cancelled,
            () = tokio::time::sleep(self.timeout) => HookFailure::TimedOut { after: self.timeout },
        }
    }
}

/// The outcome of one run.
#[derive(Debug, Default)]
pub struct Run {
    pub(crate) answer: Answer,
    pub(crate) process: ProcessReport,
}

impl From<Answer> for Run {
    fn from(answer: Answer) -> Self {
        Self { answer, process: ProcessReport::default() }
    }
}

/// A finished run, or one that must be polled.
#[expect(
    clippy::large_enum_variant,
    reason = "short-lived, and the common inline run must not allocate"
)]
pub enum Execution {
    /// The run is finished.
    Done(Run),
    /// The run must be polled.
    Running(BoxFuture<'static, Run>),
}

opaque_debug!(Execution);

impl Execution {
    /// Waits for the run to end.
    pub(crate) async fn finished(self) -> Run {
        match self {
            Self::Done(run) => run,
            Self::Running(running) => running.await,
        }
    }
}

/// The identity of a settings hook: of two hooks with equal identities, one is redundant.
#[derive(Debug, PartialEq, Eq, Hash)]
pub struct CommandIdentity<'h> {
    /// The command; for a foreign hook, everything that decides what it runs.
    pub(crate) command: &'h str,
    /// The hook's own variables, whose order does not matter.
    pub env: BTreeMap<&'h str, &'h str>,
    /// The project in `HOOK_PROJECT_DIR`.
    pub(crate) project: &'h Path,
    /// The event's name in the other agent, for a foreign hook.
    pub(crate) foreign_event: Option<&'h str>,
    /// `true` for a worker's hook.
    pub(crate) is_worker: bool,
}

/// The permit that a hook needs before its timeout starts.
#[derive(Debug, Clone, Copy)]
pub enum Permits<'e> {
    /// Nothing.
    None,
    /// A slot for a process, or for something equally expensive.
    Process,
    /// A thread for a function that may block.
    Blocking,
    /// One of the concurrent calls of a session.
    Session(&'e SlotQueue),
}

/// Runs the hooks of one kind.
pub trait HookExecutor: fmt::Debug + Send + Sync {
    /// Returns the kind of the hook.
    fn kind(&self) -> HookKind;

    /// Returns the command, or the handler's name: the display name of a hook without a name.
    fn label(&self) -> &str;

    /// Returns the way the hook is started.
    fn start(&self) -> HookStart<'_> {
        HookStart::InProcess
    }

    /// Returns the permit that the hook needs before its timeout starts.
    fn permits(&self) -> Permits<'_> {
        Permits::None
    }

    /// Returns the worker that the hook calls, if any.
    fn worker(&self) -> Option<&Arc<Worker>> {
        None
    }

    /// Returns the identity of what the hook runs; `None` for functions of the host.
    fn identity(&self) -> Option<CommandIdentity<'_>> {
        None
    }

    /// Returns the foreign hook whose formats it uses, if it is one.
    fn foreign(&self) -> Option<&ForeignHook> {
        None
    }

    /// Returns the fleet of engines that the hook represents, if any.
    fn upstream(&self) -> Option<&UpstreamRules> {
        None
    }

    /// Returns what the hook decides about an input, if it runs nothing for that: for each of its rules
    /// that match, the effect and the reason.
    fn preview(&self, _input: &HookInput) -> Vec<String> {
        Vec::new()
    }

    /// Checks whether the hook may run at a depth: the number of command hooks of this engine that
    /// wait for the event. Called before the hook waits for a slot.
    ///
    /// # Errors
    /// Returns an error if hooks are nested too deep.
    fn check_depth(&self, _depth: u32) -> Result<(), HookFailure> {
        Ok(())
    }

    /// Runs the hook. A running future ends soon after the call's timeout or cancellation; the
    /// engine owns whatever it leaves to clean up.
    fn execute(&self, call: HookCall) -> Execution;
}

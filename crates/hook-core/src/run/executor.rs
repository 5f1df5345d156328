//! What can run a hook: one trait, with a few implementations beside this file.

use std::collections::BTreeMap;
use std::fmt;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use futures::future::BoxFuture;
use tokio_util::sync::CancellationToken;

use super::answer::Answer;
use super::live::HostServices;
use super::nesting::Nesting;
use super::report::ProcessReport;
use super::running::RunningHook;
use super::session_env::SessionEnv;
use super::slots::{Slot, SlotQueue};
use super::worker::Worker;
use crate::event::input::HookInput;
use crate::failure::HookFailure;
use crate::language::ForeignHook;
use crate::settings::UpstreamRules;

/// What a hook is run by.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum HookKind {
    /// A shell command in its own process.
    Command,
    /// A server that is asked, by a hook of another agent.
    Http,
    /// A model's verdict, for a hook of another agent.
    Prompt,
    /// The verdict of a model that has tools, for a hook of another agent.
    Agent,
    /// A tool of an MCP server, for a hook of another agent.
    McpTool,
    /// A process of the engine's that stays alive and is called.
    Worker,
    /// A fleet of engines elsewhere.
    Upstream,
    /// A hook of a client, which is called over its connection.
    Registered,
    /// A handler of a module: of one that is part of the host, or of JavaScript, in a process that the
    /// modules of its settings share.
    Module,
    /// A function of the host, called where the event is served.
    Inline,
    /// A future of the host, on a task of its own.
    Async,
    /// A function of the host that may block, on a thread of the engine's.
    Blocking,
}

impl HookKind {
    /// The words for all of them.
    #[doc(hidden)]
    pub const NAMES: [&str; 12] = [
        "command",
        "worker",
        "module",
        "registered",
        "upstream",
        "http",
        "prompt",
        "agent",
        "mcp_tool",
        "inline",
        "async",
        "blocking",
    ];

    /// The word in messages.
    #[doc(hidden)]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Command => "command",
            Self::Http => "http",
            Self::Prompt => "prompt",
            Self::Agent => "agent",
            Self::McpTool => "mcp_tool",
            Self::Worker => "worker",
            Self::Module => "module",
            Self::Upstream => "upstream",
            Self::Registered => "registered",
            Self::Inline => "inline",
            Self::Async => "async",
            Self::Blocking => "blocking",
        }
    }
}

/// How a hook is started.
#[doc(hidden)]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum HookStart<'h> {
    /// As a function of the host.
    InProcess,
    /// As a process without a shell around it (protocol.md §3); where that cannot be, the shell
    /// gets it after all.
    Direct,
    /// By this shell.
    Shell(&'h Path),
    /// As a request to a server.
    Posted,
    /// Not for each event: it stays alive and is called.
    Called,
    /// Not at all, since its host lacks this.
    Missing(&'h str),
}

impl HookStart<'_> {
    /// The word in messages.
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

/// What an executor is given for one run.
pub(crate) struct HookCall {
    pub(crate) input: HookInput,
    pub(crate) timeout: Duration,
    /// Cancelled when the caller is gone.
    pub(crate) cancel: CancellationToken,
    pub(crate) slots: Slots,
    /// How many blocking handlers wait for this one.
    pub(crate) nesting: Nesting,
    /// How many command hooks of this engine wait for this one.
    pub(crate) depth: u32,
    /// What hooks set for later ones of the session, and how far this one is trusted.
    pub(crate) session_env: (SessionEnv, u8),
    /// The request that it is run for, where that is known.
    pub(crate) correlation: Option<Arc<str>>,
    /// How many engines have had the request before this one.
    pub(crate) hops: u32,
    /// What whoever asked does for hooks.
    pub(crate) host: Option<Arc<dyn HostServices>>,
}

/// Permits to run; held until the process is gone or the thread is free.
#[derive(Debug, Default)]
pub(crate) struct Slots {
    /// Of the hook's source.
    pub(crate) of_source: Option<Arc<Slot>>,
    /// Of the engine.
    pub(crate) of_engine: Option<Arc<Slot>>,
    /// Of the conversation that it is called in.
    pub(crate) of_session: Option<Arc<Slot>>,
    /// What tells requests of the process from others.
    pub(crate) running: Option<RunningHook>,
}

impl Slots {
    /// The same permits for one more call, given back when the last of these calls is over.
    fn share(&self) -> Self {
        let Self { of_source, of_engine, of_session, .. } = self;
        Self {
            of_source: of_source.clone(),
            of_engine: of_engine.clone(),
            of_session: of_session.clone(),
            running: None,
        }
    }
}

impl HookCall {
    /// The same call with another input, which may take that long.
    pub(crate) fn with_input(&self, input: HookInput, timeout: Duration) -> Self {
        Self {
            input,
            timeout,
            cancel: self.cancel.clone(),
            slots: self.slots.share(),
            nesting: self.nesting,
            depth: self.depth,
            session_env: self.session_env.clone(),
            correlation: self.correlation.clone(),
            hops: self.hops,
            host: self.host.clone(),
        }
    }
}

/// What came of one run.
#[derive(Debug, Default)]
pub(crate) struct Run {
    pub(crate) answer: Answer,
    pub(crate) process: ProcessReport,
}

impl From<Answer> for Run {
    fn from(answer: Answer) -> Self {
        Self { answer, process: ProcessReport::default() }
    }
}

/// A run that is over already, or one that must be polled.
#[expect(
    clippy::large_enum_variant,
    reason = "short-lived, and the common inline run must not allocate"
)]
pub(crate) enum Execution {
    Done(Run),
    Running(BoxFuture<'static, Run>),
}

impl Execution {
    /// Waits until it is over.
    pub(crate) async fn finished(self) -> Run {
        match self {
            Self::Done(run) => run,
            Self::Running(running) => running.await,
        }
    }
}

/// What a hook of settings runs: the same for two hooks of which one would be superfluous.
#[derive(Debug, PartialEq, Eq, Hash)]
pub(crate) struct CommandIdentity<'h> {
    /// Its command; all that decides what it runs where it is a hook of another agent.
    pub(crate) command: &'h str,
    /// Its own variables; their order means nothing.
    pub(crate) env: BTreeMap<&'h str, &'h str>,
    /// The project that `HOOK_PROJECT_DIR` names.
    pub(crate) project: &'h Path,
    /// What the event is called at home, of a hook of another agent.
    pub(crate) foreign_event: Option<&'h str>,
    /// Whether it is a worker's.
    pub(crate) is_worker: bool,
}

/// What a hook waits for before its time begins.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Permits<'e> {
    /// Nothing.
    None,
    /// A slot for a process, or for what costs as much.
    Process,
    /// A thread for a function that may block.
    Blocking,
    /// One of the calls that may go on in a conversation.
    Session(&'e SlotQueue),
}

/// What runs a hook.
pub(crate) trait HookExecutor: fmt::Debug + Send + Sync {
    fn kind(&self) -> HookKind;

    /// The command, or the handler's name: what the hook is shown as where it has no name.
    fn label(&self) -> &str;

    /// How it is started.
    fn start(&self) -> HookStart<'_> {
        HookStart::InProcess
    }

    /// What it waits for before its time begins.
    fn permits(&self) -> Permits<'_> {
        Permits::None
    }

    /// The worker that it calls, if it calls one.
    fn worker(&self) -> Option<&Arc<Worker>> {
        None
    }

    /// What it runs, if that can be compared; functions of the host cannot.
    fn identity(&self) -> Option<CommandIdentity<'_>> {
        None
    }

    /// Whose words it is told and answers in, if they are not ours.
    fn home(&self) -> Option<&ForeignHook> {
        None
    }

    /// The fleet of engines that it stands for, if it stands for one.
    fn upstream(&self) -> Option<&UpstreamRules> {
        None
    }

    /// Whether the hook may run for an event that so many command hooks of this engine wait for.
    /// Asked before it waits for a slot.
    ///
    /// # Errors
    /// When hooks are nested too deep.
    fn check_depth(&self, _depth: u32) -> Result<(), HookFailure> {
        Ok(())
    }

    /// Runs the hook. A running future must be over soon after the call's timeout or its
    /// cancellation; what it leaves to clean up belongs to the engine.
    fn execute(&self, call: HookCall) -> Execution;
}

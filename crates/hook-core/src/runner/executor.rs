//! What can run a hook: one trait, with a few implementations beside this file.

use std::collections::BTreeMap;
use std::fmt;
use std::ops::Deref;
use std::path::Path;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use futures::future::BoxFuture;
use tokio_util::sync::CancellationToken;

use super::answer::Answer;
use super::blocking::Nesting;
use super::running::RunningHook;
use super::slots::Slot;
use crate::failure::HookFailure;
use crate::input::EventInput;

/// One event's input, shared by all hooks that get the same; a clone is a handle.
///
/// It is serialized at most once, when the first hook needs the text.
#[derive(Clone)]
pub struct HookInput {
    shared: Arc<Shared>,
}

struct Shared {
    input: EventInput,
    json: OnceLock<Vec<u8>>,
}

impl HookInput {
    /// Shares an input.
    pub fn new(input: EventInput) -> Self {
        Self { shared: Arc::new(Shared { input, json: OnceLock::new() }) }
    }

    /// Whether this is a handle of the same input.
    pub(crate) fn is_same(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.shared, &other.shared)
    }

    /// The JSON that a script reads on its standard input.
    pub fn json(&self) -> &[u8] {
        self.shared.json.get_or_init(|| self.shared.input.to_json())
    }
}

impl Deref for HookInput {
    type Target = EventInput;

    fn deref(&self) -> &EventInput {
        &self.shared.input
    }
}

impl fmt::Debug for HookInput {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.shared.input.fmt(formatter)
    }
}

/// What a hook is run by.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum HookKind {
    /// A shell command in its own process.
    Command,
    /// A function of the host, called where the event is served.
    Inline,
    /// A future of the host, on a task of its own.
    Async,
    /// A function of the host that may block, on a thread of the engine's.
    Blocking,
}

impl HookKind {
    /// The word in messages.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Command => "command",
            Self::Inline => "inline",
            Self::Async => "async",
            Self::Blocking => "blocking",
        }
    }
}

/// How a hook is started.
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
}

impl HookStart<'_> {
    /// The word in messages.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::InProcess => "in-process",
            Self::Direct => "direct",
            Self::Shell(_) => "shell",
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
}

/// Permits to run; held until the process is gone or the thread is free.
#[derive(Debug, Default)]
#[expect(dead_code, reason = "they are held, and given back by being dropped")]
pub(crate) struct Slots {
    /// Of the hook's source.
    pub(crate) of_source: Option<Slot>,
    /// Of the engine.
    pub(crate) of_engine: Option<Slot>,
    /// What tells requests of the process from others.
    pub(crate) running: Option<RunningHook>,
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

/// How a hook's process ended and what it wrote.
#[derive(Debug, Clone, Default)]
pub struct ProcessReport {
    /// The exit code, if it exited.
    pub exit_code: Option<i32>,
    /// The signal that ended it.
    pub signal: Option<i32>,
    /// Whether it exited while something it started still held its output open.
    pub leaked: bool,
    /// Standard output, as far as it was kept.
    pub stdout: Captured,
    /// Standard error, as far as it was kept.
    pub stderr: Captured,
}

/// What was kept of a stream.
#[derive(Debug, Clone, Default)]
pub struct Captured {
    /// The bytes kept.
    pub bytes: Vec<u8>,
    /// How many bytes came beyond the limit and were dropped.
    pub dropped: u64,
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

/// What a command hook runs: the same for two hooks of which one would be superfluous.
#[derive(Debug, PartialEq, Eq, Hash)]
pub(crate) struct CommandIdentity<'h> {
    pub(crate) command: &'h str,
    /// Its own variables; their order means nothing.
    pub(crate) env: BTreeMap<&'h str, &'h str>,
    /// The project that `HOOK_PROJECT_DIR` names.
    pub(crate) project: &'h Path,
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

    /// What it runs, if that can be compared; functions of the host cannot.
    fn identity(&self) -> Option<CommandIdentity<'_>> {
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

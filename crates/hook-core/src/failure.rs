//! What can go wrong, twice: a hook that failed, and a stage of the pipeline that could not be
//! completed.

use std::io;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use crate::text::PathText;

/// Why a hook failed. A hook that denied did not fail (architecture.md, invariant 7).
#[derive(Debug, Clone, thiserror::Error)]
#[non_exhaustive]
pub enum HookFailure {
    /// The process could not be started.
    #[error("failed to start {program}: {source}")]
    Spawn {
        /// The program that was to run.
        program: PathBuf,
        /// What the system said.
        source: Arc<io::Error>,
    },
    /// Neither the input's directory nor the project's can be entered.
    #[error("failed to enter the working directory {}: {source}", directory.shown())]
    Directory {
        /// The directory that was tried last.
        directory: PathBuf,
        /// What the system said.
        source: Arc<io::Error>,
    },
    /// The timeout passed.
    #[error("Hook timed out after {}ms", after.as_millis())]
    TimedOut {
        /// The hook's timeout.
        after: Duration,
    },
    /// A signal ended the process.
    #[error("Hook was terminated by signal {}", signal_name(*.number))]
    Signal {
        /// The signal's number.
        number: i32,
    },
    /// The process exited with something other than 0 or 2.
    #[error("Hook exited with code {code}")]
    ExitCode {
        /// The exit code.
        code: i32,
    },
    /// Standard output was longer than the capture limit.
    #[error(
        "output_too_large: the hook wrote more than {limit} bytes to stdout; write less, or raise the output limit"
    )]
    OutputTooLarge {
        /// The limit in bytes.
        limit: usize,
    },
    /// The answer of a hook with `failBehavior: block` does not say what it decided.
    #[error("invalid_answer: {0}")]
    InvalidAnswer(InvalidAnswer),
    /// Talking to the process failed.
    #[error("failed to {attempt}: {source}")]
    Io {
        /// What was attempted.
        attempt: &'static str,
        /// What the system said.
        source: Arc<io::Error>,
    },
    /// The server of a hook of another agent was not asked, or has not answered as it must.
    #[error("the request to {server} failed: {reason}")]
    Request {
        /// The server, without what may be secret in its URL.
        server: String,
        /// What went wrong.
        reason: String,
    },
    /// The hook needs something of its host that this host does not have.
    #[error("it is of type `{kind}`, which needs {service}; this host has none")]
    NoService {
        /// The hook's type.
        kind: &'static str,
        /// What is missing.
        service: &'static str,
    },
    /// A hook that stays alive could not be asked, or did not live to answer.
    #[error("{reason}")]
    Live {
        /// What became of it.
        reason: String,
    },
    /// A hook that stays alive says that it failed.
    #[error("it failed, and says: {message}")]
    Reported {
        /// What it says.
        message: String,
    },
    /// What settings say of a guard cannot be read.
    #[error("its settings cannot be read: {reason}")]
    Unreadable {
        /// Why not.
        reason: String,
    },
    /// A handler in process returned an error.
    #[error("handler failed: {source}")]
    Handler {
        /// The handler's own error.
        source: Arc<dyn std::error::Error + Send + Sync>,
    },
    /// A handler in process panicked.
    #[error("handler panicked: {message}")]
    Panicked {
        /// What it said.
        message: String,
    },
    /// The settings file that has a trusted guard in it cannot be read, or lost it by an error.
    #[error(
        "it is trusted, but missing from the settings file {}, which has errors; the user can fix \
         them, or revoke the trust with `hook trust --revoke`", file.shown()
    )]
    BrokenSettings {
        /// The file.
        file: PathBuf,
    },
    /// The command, or the file it runs, is not what was trusted.
    #[error(
        "it, or a file that it runs, changed since it was trusted or is gone, so it does not run; the \
         user can review the change with `hook trust`"
    )]
    Untrusted,
    /// The copy that it runs from is not what was trusted.
    #[error(
        "the copy that it runs from, {}, was changed or removed since it was trusted, so it does not run; \
         the user can restore it with `hook trust`", copy.shown()
    )]
    TrustedCopy {
        /// The copy.
        copy: PathBuf,
    },
    /// From the input's directory the command names another file than the trusted one, or none.
    #[error(
        "`{script}` is another file, or none, from the working directory {}, so it is not the one \
         that was trusted; write \"$HOOK_PROJECT_DIR\"/{} in the settings, which is the same from \
         everywhere", directory.shown(), script.trim_start_matches("./")
    )]
    UntrustedHere {
        /// The script, as the command names it.
        script: String,
        /// The input's directory.
        directory: PathBuf,
    },
    /// Hooks that fire hooks that fire hooks.
    #[error(
        "hooks are nested too deep: HOOK_DEPTH would be {depth} (a value that is no number counts as \
         too deep); a hook of this engine starts the engine again, or asks the server that runs it"
    )]
    TooDeep {
        /// How deep this hook would be.
        depth: u32,
    },
    /// Too many blocking handlers have not returned in time and hold their threads.
    #[error(
        "{abandoned} threads of blocking handlers that did not return in time still run, so no \
         further handler is started; return in time, use asynchronous handlers, or raise \
         `RunnerLimits::max_abandoned`"
    )]
    ThreadsExhausted {
        /// How many such threads there are.
        abandoned: usize,
    },
    /// Blocking handlers that wait for events whose blocking handlers wait for events.
    #[error(
        "blocking handlers are nested more than {limit} deep; a handler fires an event that runs it \
         again"
    )]
    HandlersTooDeep {
        /// How deep they may be.
        limit: u32,
    },
    /// The caller is gone.
    #[error("cancelled")]
    Cancelled,
    /// The request ended while the hook waited for its turn to be called.
    #[error(
        "it was not called: as many calls of its conversation as there may be ({limit}) waited for \
         their answers until the request ended"
    )]
    NotCalled {
        /// How many calls there may be at once.
        limit: usize,
    },
    /// What a message says of a failure.
    #[error("{message}")]
    Told {
        /// Its text.
        message: String,
        /// Whether the hook was ended by its timeout.
        timed_out: bool,
    },
}

/// Why it cannot be known what a hook decided: its answer is almost JSON, or what decides in it
/// cannot be read (protocol.md §3, "Invalid answers").
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct InvalidAnswer {
    /// What is wrong.
    pub reason: String,
    /// The line and the column of standard output where it is, both from 1, the column in bytes.
    pub position: Option<(usize, usize)>,
    /// How to answer instead.
    pub hint: String,
}

impl InvalidAnswer {
    /// An answer that is wrong for a reason, and how to write it instead.
    #[doc(hidden)]
    pub fn new(reason: impl Into<String>, hint: impl Into<String>) -> Self {
        Self { reason: reason.into(), position: None, hint: hint.into() }
    }
}

impl std::fmt::Display for InvalidAnswer {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str(&self.reason)?;
        if let Some((line, column)) = self.position {
            write!(formatter, " at line {line}, column {column}")?;
        }
        write!(formatter, "; {}", self.hint)
    }
}

impl HookFailure {
    /// Why the hook did not run at all, where that is what the failure means.
    pub fn not_run(&self) -> Option<String> {
        match self {
            Self::Spawn { .. }
            | Self::Directory { .. }
            | Self::NoService { .. }
            | Self::Unreadable { .. }
            | Self::TooDeep { .. } => Some(self.to_string()),
            Self::ExitCode { code: code @ 126 } => {
                Some(format!("exit code {code} says that what it runs cannot be executed"))
            }
            Self::ExitCode { code: code @ 127 } => {
                Some(format!("exit code {code} says that what it runs was not found"))
            }
            _ => None,
        }
    }

    /// Whether the request ended before the hook had.
    #[doc(hidden)]
    pub fn is_cut_off(&self) -> bool {
        matches!(self, Self::Cancelled | Self::NotCalled { .. })
    }

    /// Whether the failure is listed among an event's errors. An odd exit code is not: it is the
    /// script's own way to warn (protocol.md §3).
    pub fn is_error(&self) -> bool {
        !matches!(self, Self::ExitCode { .. })
    }
}

/// The signals that have names in messages.
#[cfg(unix)]
const SIGNALS: [(i32, &str); 19] = {
    use rustix::process::Signal;
    [
        (Signal::HUP.as_raw(), "SIGHUP"),
        (Signal::INT.as_raw(), "SIGINT"),
        (Signal::QUIT.as_raw(), "SIGQUIT"),
        (Signal::ILL.as_raw(), "SIGILL"),
        (Signal::TRAP.as_raw(), "SIGTRAP"),
        (Signal::ABORT.as_raw(), "SIGABRT"),
        (Signal::BUS.as_raw(), "SIGBUS"),
        (Signal::FPE.as_raw(), "SIGFPE"),
        (Signal::KILL.as_raw(), "SIGKILL"),
        (Signal::USR1.as_raw(), "SIGUSR1"),
        (Signal::SEGV.as_raw(), "SIGSEGV"),
        (Signal::USR2.as_raw(), "SIGUSR2"),
        (Signal::PIPE.as_raw(), "SIGPIPE"),
        (Signal::ALARM.as_raw(), "SIGALRM"),
        (Signal::TERM.as_raw(), "SIGTERM"),
        (Signal::XCPU.as_raw(), "SIGXCPU"),
        (Signal::XFSZ.as_raw(), "SIGXFSZ"),
        (Signal::VTALARM.as_raw(), "SIGVTALRM"),
        (Signal::SYS.as_raw(), "SIGSYS"),
    ]
};

/// Here no signal ends a process, and messages of other systems have the numbers of Linux.
#[cfg(not(unix))]
const SIGNALS: [(i32, &str); 19] = [
    (1, "SIGHUP"),
    (2, "SIGINT"),
    (3, "SIGQUIT"),
    (4, "SIGILL"),
    (5, "SIGTRAP"),
    (6, "SIGABRT"),
    (7, "SIGBUS"),
    (8, "SIGFPE"),
    (9, "SIGKILL"),
    (10, "SIGUSR1"),
    (11, "SIGSEGV"),
    (12, "SIGUSR2"),
    (13, "SIGPIPE"),
    (14, "SIGALRM"),
    (15, "SIGTERM"),
    (24, "SIGXCPU"),
    (25, "SIGXFSZ"),
    (26, "SIGVTALRM"),
    (31, "SIGSYS"),
];

/// The name of a signal of this system, such as `SIGKILL`, else its number.
#[doc(hidden)]
pub fn signal_name(number: i32) -> String {
    let known = SIGNALS.iter().find(|(known, _)| *known == number);
    known.map_or_else(|| number.to_string(), |(_, name)| (*name).to_owned())
}

/// The signal of a name that [`signal_name`] gives.
pub(crate) fn signal_number(name: &str) -> Option<i32> {
    let known = SIGNALS.iter().find(|(_, known)| *known == name);
    known.map(|(number, _)| *number).or_else(|| name.parse().ok())
}

/// Where an event's way through the engine ended early (architecture.md, "Data flow").
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum FailureCode {
    /// The request is not an envelope.
    InvalidRequest,
    /// The event has no row in the table.
    UnsupportedEvent,
    /// The payload is not what the event requires.
    InvalidPayload,
    /// The hooks to run could not be determined.
    PlanningFailed,
    /// A model payload could not be brought into the stable form.
    TranslationFailed,
    /// The hooks could not be run.
    ExecutionFailed,
    /// The answers could not be merged.
    AggregationFailed,
    /// Nothing serves the bus.
    NoHandler,
    /// The system is shutting down.
    ShuttingDown,
    /// The caller is gone or asked to stop.
    Cancelled,
    /// The request's own deadline passed.
    DeadlineExceeded,
    /// It was asked of an engine elsewhere, and none answered.
    Unanswered,
    /// There is no async runtime, and the hooks need one.
    NoRuntime,
    /// A panic in the engine or in a handler's wrapping.
    InternalError,
    /// A code in a message that this engine does not know; see
    /// [`StageFailure::code_word`](crate::StageFailure::code_word).
    Other,
}

impl FailureCode {
    /// All codes that an engine gives.
    #[doc(hidden)]
    pub const ALL: [Self; 14] = [
        Self::InvalidRequest,
        Self::UnsupportedEvent,
        Self::InvalidPayload,
        Self::PlanningFailed,
        Self::TranslationFailed,
        Self::ExecutionFailed,
        Self::AggregationFailed,
        Self::NoHandler,
        Self::ShuttingDown,
        Self::Cancelled,
        Self::DeadlineExceeded,
        Self::Unanswered,
        Self::NoRuntime,
        Self::InternalError,
    ];

    /// The code of a word in `error.code`.
    #[doc(hidden)]
    pub fn from_word(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|code| code.as_str() == word)
    }

    /// The word in `error.code`.
    pub fn as_str(self) -> &'static str {
        self.words().0
    }

    /// The stage that failed, in a word.
    #[doc(hidden)]
    pub fn stage(self) -> &'static str {
        self.words().1
    }

    fn words(self) -> (&'static str, &'static str) {
        match self {
            Self::InvalidRequest => ("invalid_request", "envelope"),
            Self::UnsupportedEvent => ("unsupported_event", "route"),
            Self::InvalidPayload => ("invalid_payload", "payload"),
            Self::PlanningFailed => ("planning_failed", "plan"),
            Self::TranslationFailed => ("translation_failed", "translate"),
            Self::ExecutionFailed => ("execution_failed", "run"),
            Self::AggregationFailed => ("aggregation_failed", "aggregate"),
            Self::NoHandler => ("no_handler", "bus"),
            Self::ShuttingDown => ("shutting_down", "bus"),
            Self::Cancelled => ("cancelled", "run"),
            Self::DeadlineExceeded => ("deadline_exceeded", "run"),
            Self::Unanswered => ("unanswered", "bus"),
            Self::NoRuntime => ("no_runtime", "run"),
            Self::InternalError => ("internal_error", "internal"),
            Self::Other => ("other", "other"),
        }
    }
}

/// The text of a panic.
#[doc(hidden)]
pub fn panic_message(payload: &(dyn std::any::Any + Send)) -> String {
    payload
        .downcast_ref::<&str>()
        .map(|text| (*text).to_owned())
        .or_else(|| payload.downcast_ref::<String>().cloned())
        .unwrap_or_else(|| "no message".to_owned())
}

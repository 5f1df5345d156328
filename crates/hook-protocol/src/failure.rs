//! Errors: of a single hook, and of a stage of the pipeline.

use std::io;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use hook_json::text::PathText;

/// The reason why a hook failed. A denial is not a failure (architecture.md, invariant 7).
#[derive(Debug, Clone, thiserror::Error)]
#[non_exhaustive]
pub enum HookFailure {
    /// The process could not be started.
    #[error("failed to start {program}: {source}")]
    Spawn {
        /// The program.
        program: PathBuf,
        /// The system's error.
        source: Arc<io::Error>,
    },
    /// Neither the input's directory nor the project's directory can be entered.
    #[error("failed to enter the working directory {}: {source}", directory.shown())]
    Directory {
        /// The directory that was tried last.
        directory: PathBuf,
        /// The system's error.
        source: Arc<io::Error>,
    },
    /// The hook did not end within its timeout.
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
    /// The process exited with a code other than 0 or 2.
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
    /// The answer of a hook with `failBehavior: block` does not state a decision.
    #[error("invalid_answer: {0}")]
    InvalidAnswer(InvalidAnswer),
    /// Communication with the process failed.
    #[error("failed to {attempt}: {source}")]
    Io {
        /// The attempted operation.
        attempt: &'static str,
        /// The system's error.
        source: Arc<io::Error>,
    },
    /// The server of a foreign HTTP hook was not reached, or sent an invalid reply.
    #[error("the request to {server} failed: {reason}")]
    Request {
        /// The server's URL without the parts that may be secret.
        server: String,
        /// The cause.
        reason: String,
    },
    /// The hook needs a service that this host does not provide.
    #[error("it is of type `{kind}`, which needs {service}; this host has none")]
    NoService {
        /// The hook's type.
        kind: &'static str,
        /// The missing service.
        service: &'static str,
    },
    /// A live hook, such as a worker, could not be called or ended before it answered.
    #[error("{reason}")]
    Live {
        /// The cause.
        reason: String,
    },
    /// A live hook reported that it failed.
    #[error("it failed, and says: {message}")]
    Reported {
        /// The hook's message.
        message: String,
    },
    /// The settings of a guard cannot be read.
    #[error("its settings cannot be read: {reason}")]
    Unreadable {
        /// The cause.
        reason: String,
    },
    /// An in-process handler returned an error.
    #[error("handler failed: {source}")]
    Handler {
        /// The handler's error.
        source: Arc<dyn std::error::Error + Send + Sync>,
    },
    /// An in-process handler panicked.
    #[error("handler panicked: {message}")]
    Panicked {
        /// The panic's message.
        message: String,
    },
    /// The settings file of a trusted guard cannot be read, or an error in it hides the guard.
    #[error(
        "it is trusted, but missing from the settings file {}, which has errors; the user can fix \
         them, or take back the trust in it with `{revoke}`", file.shown()
    )]
    BrokenSettings {
        /// The file.
        file: PathBuf,
        /// The command that takes back the trust.
        revoke: String,
    },
    /// The hook, or a file that its trust covers, differs from what was trusted.
    #[error("{reason}")]
    Untrusted {
        /// The change, and the command that shows it.
        reason: String,
    },
    /// A trusted guard is not in its project's settings any more.
    #[error(
        "it is trusted, but not in the settings of {} any more, and there is no copy that could run; the user \
         can put it back, or agree to its removal with `{review}`", project.shown()
    )]
    NotInSettings {
        /// The project.
        project: PathBuf,
        /// The command that shows that it is gone, and asks.
        review: String,
    },
    /// The trusted copy that the hook runs from was changed or removed.
    #[error(
        "the copy that it runs from, {}, was changed or removed since it was trusted, so it does not run; \
         the user can restore it with `hook trust`; what the hook itself writes there belongs elsewhere, or \
         into its `data`", copy.shown()
    )]
    TrustedCopy {
        /// The copy.
        copy: PathBuf,
    },
    /// From the input's directory, the command names a file other than the trusted one, or no file.
    #[error(
        "`{script}` is another file, or none, from the working directory {}, so it is not the one \
         that was trusted; write \"${variable}\"/{} in the settings, which is the same from \
         everywhere", directory.shown(), script.trim_start_matches("./")
    )]
    UntrustedFromDirectory {
        /// The script, as the command spells it.
        script: String,
        /// The variable that has the project's directory.
        variable: &'static str,
        /// The directory in which it would be started.
        directory: PathBuf,
    },
    /// Hooks that fire events are nested too deep.
    #[error(
        "hooks are nested too deep: HOOK_DEPTH would be {depth} (a value that is no number counts as \
         too deep); a hook of this engine starts the engine again, or asks the server that runs it"
    )]
    TooDeep {
        /// The depth that this hook would run at.
        depth: u32,
    },
    /// Too many blocking handlers missed their timeout and still occupy their threads.
    #[error(
        "{abandoned} threads of blocking handlers that did not return in time still run, so no \
         further handler is started; return in time, use asynchronous handlers, or raise \
         `RunnerLimits::max_abandoned`"
    )]
    ThreadsExhausted {
        /// The number of such threads.
        abandoned: usize,
    },
    /// Blocking handlers that wait for events with blocking handlers are nested too deep.
    #[error(
        "blocking handlers are nested more than {limit} deep; a handler fires an event that runs it \
         again"
    )]
    HandlersTooDeep {
        /// The limit of the nesting.
        limit: u32,
    },
    /// The caller is gone.
    #[error("cancelled")]
    Cancelled,
    /// The request ended while the hook waited for a free call slot.
    #[error(
        "it was not called: as many calls of its conversation as there may be ({limit}) waited for \
         their answers until the request ended"
    )]
    NotCalled {
        /// The maximum number of concurrent calls.
        limit: usize,
    },
    /// A failure that was received as a message.
    #[error("{message}")]
    Received {
        /// The message's text.
        message: String,
        /// `true` if the timeout ended the hook.
        timed_out: bool,
    },
}

/// The reason why a hook's decision is unknown: its answer is malformed JSON, or a deciding field
/// in it cannot be read (reference/answers.md, "Invalid answers").
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct InvalidAnswer {
    /// The problem.
    pub reason: String,
    /// The line and column of the problem in standard output, both from 1, the column in bytes.
    pub position: Option<(usize, usize)>,
    /// A description of a valid answer.
    pub hint: String,
}

impl InvalidAnswer {
    /// Creates an error from its reason and a hint about a valid answer.
    pub fn new(reason: impl Into<String>, hint: impl Into<String>) -> Self {
        Self { reason: reason.into(), position: None, hint: hint.into() }
    }

    /// Sets the line and column of the problem in standard output.
    #[must_use]
    pub fn at(mut self, position: Option<(usize, usize)>) -> Self {
        self.position = position;
        self
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
    /// Returns the reason why the hook did not run at all, if the failure means that.
    pub fn not_run_reason(&self) -> Option<String> {
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

    /// Returns `true` if a hook was not started that was trusted as it was, or that nothing is wrong with: what
    /// it guards is not guarded then.
    pub fn is_missed_start(&self) -> bool {
        match self {
            Self::Untrusted { .. }
            | Self::TrustedCopy { .. }
            | Self::UntrustedFromDirectory { .. }
            | Self::BrokenSettings { .. }
            | Self::NotInSettings { .. }
            | Self::Spawn { .. }
            | Self::Directory { .. }
            | Self::TooDeep { .. } => true,
            Self::TimedOut { .. }
            | Self::Signal { .. }
            | Self::ExitCode { .. }
            | Self::OutputTooLarge { .. }
            | Self::InvalidAnswer(_)
            | Self::Io { .. }
            | Self::Request { .. }
            | Self::NoService { .. }
            | Self::Live { .. }
            | Self::Reported { .. }
            | Self::Unreadable { .. }
            | Self::Handler { .. }
            | Self::Panicked { .. }
            | Self::ThreadsExhausted { .. }
            | Self::HandlersTooDeep { .. }
            | Self::Cancelled
            | Self::NotCalled { .. }
            | Self::Received { .. } => false,
        }
    }

    /// Returns `true` if the request ended before the hook did.
    pub fn is_interrupted(&self) -> bool {
        matches!(self, Self::Cancelled | Self::NotCalled { .. })
    }

    /// Returns `true` if the failure is listed among an event's errors. An unusual exit code is
    /// not: it is a script's way to warn (reference/answers.md).
    pub fn is_error(&self) -> bool {
        !matches!(self, Self::ExitCode { .. })
    }
}

/// The signals that messages name.
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

/// No signal ends a process on this system; messages of other systems carry Linux numbers.
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

/// Returns the name of a signal of this system, such as `SIGKILL`, or its number.
pub fn signal_name(number: i32) -> String {
    let known = SIGNALS.iter().find(|(known, _)| *known == number);
    known.map_or_else(|| number.to_string(), |(_, name)| (*name).to_owned())
}

/// Returns the signal of a name that [`signal_name`] returns.
pub fn signal_number(name: &str) -> Option<i32> {
    let known = SIGNALS.iter().find(|(_, known)| *known == name);
    known.map(|(number, _)| *number).or_else(|| name.parse().ok())
}

/// The stage at which an event ended early in the engine (architecture.md, "Data flow").
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum FailureCode {
    /// The request is not a valid envelope.
    InvalidRequest,
    /// The event is unknown.
    UnsupportedEvent,
    /// The payload does not have the event's shape.
    InvalidPayload,
    /// The hooks to run could not be determined.
    PlanningFailed,
    /// A model payload could not be translated to the stable form.
    TranslationFailed,
    /// The hooks could not be run.
    ExecutionFailed,
    /// The answers could not be merged.
    AggregationFailed,
    /// The bus has no handler.
    NoHandler,
    /// The system is shutting down.
    ShuttingDown,
    /// The caller is gone or cancelled the request.
    Cancelled,
    /// The request's own deadline passed.
    DeadlineExceeded,
    /// The request was sent to a remote engine, and none answered.
    Unanswered,
    /// The hooks need an async runtime, and there is none.
    NoRuntime,
    /// A panic in the engine or around a handler.
    InternalError,
    /// An unknown code in a message; see
    /// `StageFailure::code_name`.
    Other,
}

impl FailureCode {
    /// All codes that an engine reports.
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

    /// Returns the code of a name in `error.code`.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|code| code.as_str() == name)
    }

    /// Returns the code's name in `error.code`.
    pub fn as_str(self) -> &'static str {
        self.names().0
    }

    /// Returns the name of the failed stage.
    pub fn stage(self) -> &'static str {
        self.names().1
    }

    fn names(self) -> (&'static str, &'static str) {
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

/// Returns the message of a panic.
pub fn panic_message(payload: &(dyn std::any::Any + Send)) -> String {
    payload
        .downcast_ref::<&str>()
        .map(|text| (*text).to_owned())
        .or_else(|| payload.downcast_ref::<String>().cloned())
        .unwrap_or_else(|| "no message".to_owned())
}

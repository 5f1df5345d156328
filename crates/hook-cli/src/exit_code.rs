//! Exit codes of the command (docs/exit-codes.md).

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// An exit code of the command.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Status(u8);

/// The exit code if work may proceed.
pub(crate) const PROCEED: Status = Status(0);

/// The exit code if the engine or a test of `hook test` failed, or `hook replay` found a change.
pub(crate) const FAILURE: Status = Status(1);

/// The exit code if a hook blocked, stopped or wants a retry, or asked and got no answer.
pub(crate) const BLOCKED: Status = Status(2);

/// The exit code for an invalid command line (`EX_USAGE`).
pub(crate) const USAGE: Status = Status(64);

/// Returns an exit code that an agent's hook protocol defines.
pub(crate) fn from_agent(code: u8) -> Status {
    Status(code)
}

/// A row of the table of exit codes.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ExitCodeRow {
    /// The code; `None` for the codes of signals.
    status: Option<Status>,
    /// A short description.
    pub(crate) meaning: &'static str,
    /// Further details, possibly empty.
    detail: &'static str,
}

/// All exit codes, as `hook help exit-codes`, `hook --help` and docs/exit-codes.md show them.
pub(crate) const TABLE: [ExitCodeRow; 5] = [
    ExitCodeRow {
        status: Some(PROCEED),
        meaning: "things may go on; the work was done",
        detail: "",
    },
    ExitCodeRow {
        status: Some(FAILURE),
        meaning: "the engine could not do its job, or a test failed",
        detail: "",
    },
    ExitCodeRow {
        status: Some(BLOCKED),
        meaning: "a hook blocked, stopped or wants a retry, or asked and got no answer",
        detail: "",
    },
    ExitCodeRow {
        status: Some(USAGE),
        meaning: "wrong usage",
        detail: "an unknown command, flag, event filter or help topic, a missing argument, \
                 an input that is not a JSON object, `--project` that is a file (1 if there is nothing)",
    },
    ExitCodeRow {
        status: None,
        meaning: "ended by signal n",
        detail: "129 for SIGHUP, 130 for SIGINT, 131 for SIGQUIT, 143 for SIGTERM",
    },
];

/// A category of failures of the command itself, before or after its hooks ran.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Failure {
    /// The command line is invalid.
    Usage,
    /// The event's input is not a JSON object.
    Input,
    /// Standard output was closed.
    ClosedOutput,
    /// Any other failure of something that the command needs.
    Internal,
    /// A bug in the command itself.
    Panic,
}

/// A row of the table of failures.
#[derive(Debug, Clone, Copy)]
pub(crate) struct FailureRow {
    failure: Failure,
    pub(crate) meaning: &'static str,
    /// The code if no decision of a guard can be lost.
    status: Status,
    /// The code if the event has a guard, or may have one.
    guarded: Status,
}

/// The exit codes for failures of the command itself, as docs/exit-codes.md shows them.
pub(crate) const FAILURES: [FailureRow; 5] = [
    FailureRow {
        failure: Failure::Usage,
        meaning: "the command line is wrong, or names no event",
        status: USAGE,
        guarded: USAGE,
    },
    FailureRow {
        failure: Failure::Input,
        meaning: "the event's input is not JSON, or no object",
        status: USAGE,
        guarded: BLOCKED,
    },
    FailureRow {
        failure: Failure::ClosedOutput,
        meaning: "standard output was closed",
        status: PROCEED,
        guarded: PROCEED,
    },
    FailureRow {
        failure: Failure::Internal,
        meaning: "no working directory, home, settings, input, thread, descriptor or room for \
                  output",
        status: FAILURE,
        guarded: BLOCKED,
    },
    FailureRow {
        failure: Failure::Panic,
        meaning: "a mistake in `hook` itself",
        status: FAILURE,
        guarded: BLOCKED,
    },
];

impl FailureRow {
    /// Returns the codes as text, followed by the one for guarded events if it differs.
    pub(crate) fn codes(&self) -> String {
        match self.status == self.guarded {
            true => self.status.0.to_string(),
            false => format!("{} or {}", self.status.0, self.guarded.0),
        }
    }
}

impl Failure {
    /// Returns the exit code, given whether a guard's decision may be lost.
    pub(crate) fn status(self, is_guarded: bool) -> Status {
        let row = FAILURES.iter().find(|row| row.failure == self);
        row.map_or(BLOCKED, |row| if is_guarded { row.guarded } else { row.status })
    }
}

/// The exit policy: whether a failure of the command loses the decision of a guard. A guard is a
/// hook with `failBehavior: block`.
///
/// A command that reports a decision assumes a guard until the event's hooks are known.
#[derive(Debug)]
pub(crate) struct ExitPolicy(Arc<AtomicBool>);

impl ExitPolicy {
    /// Creates the policy of a command that is not known yet.
    pub(crate) fn new() -> Self {
        Self(Arc::new(AtomicBool::new(true)))
    }

    /// Has this policy hold also where the process aborts, as it does without memory or with a full
    /// stack: agents go on after a command that a signal ended.
    #[cfg(unix)]
    pub(crate) fn refuse_when_aborted(&self) {
        let code = BLOCKED.0.into();
        let abort = signal_hook::consts::SIGABRT;
        // Without this handler, a signal ends the process, as before.
        let _ = signal_hook::flag::register_conditional_shutdown(abort, code, Arc::clone(&self.0));
    }

    /// Records whether the event has a guard.
    pub(crate) fn set_guarded(&self, guarded: bool) {
        self.0.store(guarded, Ordering::Relaxed);
    }

    /// Returns `true` if the event has a guard, or may have one.
    pub(crate) fn is_guarded(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

impl ExitCodeRow {
    /// Returns the code as text.
    pub(crate) fn code(&self) -> String {
        match self.status {
            Some(status) => status.0.to_string(),
            None => "128 + n".to_owned(),
        }
    }

    /// Returns the full description.
    pub(crate) fn text(&self) -> String {
        match self.detail {
            "" => self.meaning.to_owned(),
            detail => format!("{}: {detail}", self.meaning),
        }
    }
}

/// Returns the table in short, for the end of `hook --help`.
pub(crate) fn summary() -> String {
    let row = |row: &ExitCodeRow| format!("\n  {:<8} {}", row.code(), row.meaning);
    format!("Exit codes:{}", TABLE.iter().map(row).collect::<String>())
}

/// Returns the exit code of a process that this signal ended, as shells report it.
pub(crate) fn from_signal(number: i32) -> Status {
    Status(128 + u8::try_from(number & 0x7f).unwrap_or_default())
}

impl From<Status> for std::process::ExitCode {
    fn from(status: Status) -> Self {
        status.0.into()
    }
}

impl Status {
    /// Ends the process immediately.
    pub(crate) fn exit(self) -> ! {
        std::process::exit(self.0.into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_documented_tables_are_these() {
        const HEAD: &str = "| code | meaning |\n| --- | --- |\n";
        let row = |row: &ExitCodeRow| format!("| {} | {} |\n", row.code(), row.text());
        let table: String = TABLE.iter().map(row).collect();
        crate::generated::part_is_up_to_date("docs/exit-codes.md", HEAD, &table);

        const FAILURES_HEAD: &str = "| what fails | code | with a guard |\n| --- | --- | --- |\n";
        let row = |row: &FailureRow| {
            format!("| {} | {} | {} |\n", row.meaning, row.status.0, row.guarded.0)
        };
        let table: String = FAILURES.iter().map(row).collect();
        crate::generated::part_is_up_to_date("docs/exit-codes.md", FAILURES_HEAD, &table);
    }

    #[test]
    fn every_failure_has_its_row() {
        use Failure::{ClosedOutput, Input, Internal, Panic, Usage};
        let codes = [Usage, Input, ClosedOutput, Internal, Panic]
            .map(|it| [it.status(false).0, it.status(true).0]);
        assert_eq!(codes, [[64, 64], [64, 2], [0, 0], [1, 2], [1, 2]]);
    }
}

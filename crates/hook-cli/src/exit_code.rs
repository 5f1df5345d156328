//! How the command ends (docs/exit-codes.md).

/// An exit status of the command.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Status(u8);

/// Things may go on.
pub(crate) const PROCEED: Status = Status(0);

/// The engine could not do its job, a test of `hook test` failed, or `hook replay` found a
/// change.
pub(crate) const FAILURE: Status = Status(1);

/// A hook blocked or stopped, or asked and nobody answered.
pub(crate) const BLOCKED: Status = Status(2);

/// The command line is wrong (`EX_USAGE`).
pub(crate) const USAGE: Status = Status(64);

/// Ended by the signal of that number, as shells say it.
pub(crate) fn signalled(number: i32) -> Status {
    Status(128 + u8::try_from(number & 0x7f).unwrap_or_default())
}

impl From<Status> for std::process::ExitCode {
    fn from(status: Status) -> Self {
        status.0.into()
    }
}

impl Status {
    /// Ends the process at once.
    pub(crate) fn exit(self) -> ! {
        std::process::exit(self.0.into())
    }
}

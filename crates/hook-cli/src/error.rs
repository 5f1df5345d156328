//! The errors of commands.

use std::path::{Path, PathBuf};
use std::{fmt, io};

use hook_bus::audit::AuditLogError;
use hook_bus::wire::TailError;
use hook_bus::{AlreadyServed, InitializeError, NotInitialized};
use hook_json::text::{PathText, nearest, shortened};
use hook_record::recording::{RecorderError, RecordingError};
use hook_record::script::{ScenarioError, ScenarioFilesError};
use hook_settings::edit::EditError;
use hook_settings::starter::StarterError;
use hook_trust::{TrustLockError, TrustStoreError};

use crate::exit_code::{Failure, Status};

/// The result of a command or of a part of it.
pub(crate) type Result<T = Status, E = CommandError> = std::result::Result<T, E>;

/// A failure of a command.
#[derive(Debug, thiserror::Error)]
pub(crate) enum CommandError {
    #[error("failed to write to standard output: {0}")]
    Output(#[source] io::Error),
    #[error("failed to give the hooks' answer to standard output: {0}")]
    Answer(#[source] io::Error),
    #[error("failed to start a thread: {0}; the limit of processes (`ulimit -u`) may be reached")]
    Thread(#[source] io::Error),
    #[error("failed to start the async runtime: {0}")]
    Runtime(#[source] io::Error),
    #[error("failed to read {what} {}: {source}", path.shown())]
    Read { what: &'static str, path: PathBuf, source: io::Error },
    #[error("failed to write {what} {}: {source}", path.shown())]
    Write { what: &'static str, path: PathBuf, source: io::Error },
    #[error("failed to read standard input: {0}")]
    Input(#[source] io::Error),
    #[error("failed to determine the working directory: {0}")]
    WorkingDirectory(#[source] io::Error),
    #[error("failed to determine which file this binary is: {0}")]
    OwnBinary(#[source] io::Error),
    #[error("failed to listen for signals: {0}")]
    Signals(#[source] io::Error),
    #[error(transparent)]
    AlreadyServed(#[from] AlreadyServed),
    #[error(transparent)]
    Initialize(#[from] InitializeError),
    #[error(transparent)]
    NotInitialized(#[from] NotInitialized),
    #[error(transparent)]
    ScenarioFiles(#[from] ScenarioFilesError),
    #[error("{}: {source}", path.shown())]
    Recording { path: PathBuf, source: RecordingError },
    #[error("{}:{source}", path.shown())]
    Scenario { path: PathBuf, source: ScenarioError },
    #[error("{what} is not JSON: {source}; {remedy}")]
    NotJson { what: &'static str, source: hook_json::JsonError, remedy: String },
    #[error("{what} is {found}, and not an object; {remedy}")]
    NoObject { what: &'static str, found: hook_json::JsonKind, remedy: String },
    #[cfg(feature = "remote")]
    #[error(transparent)]
    Grpc(#[from] hook_remote::grpc::GrpcError),
    #[cfg(feature = "remote")]
    #[error(transparent)]
    Nats(#[from] hook_remote::nats::NatsError),
    #[cfg(feature = "remote")]
    #[error(transparent)]
    Metrics(#[from] hook_remote::metrics::MetricsError),
    #[error(transparent)]
    UnknownHook(#[from] UnknownHook),
    #[error(transparent)]
    Edit(#[from] EditError),
    #[error(transparent)]
    Starter(#[from] StarterError),
    #[error(transparent)]
    Trust(#[from] TrustStoreError),
    #[error(transparent)]
    TrustLock(#[from] TrustLockError),
    #[error(
        "failed to find the user's settings: neither {} nor XDG_CONFIG_HOME names a folder; set one",
        hook_files::user_folders::HOME
    )]
    NoHome,
    #[error("{0}")]
    Misplaced(String),
    #[error(transparent)]
    Recorder(#[from] RecorderError),
    #[error(transparent)]
    AuditLog(#[from] AuditLogError),
    #[error("failed to read the audit file {0}")]
    AuditFile(io::Error),
    #[error(transparent)]
    Socket(#[from] hook_bus::wire::SocketError),
    #[error(transparent)]
    Tail(#[from] TailError),
    #[error("{0}, unless settings declare it that cannot be read; fix them first")]
    UnreadEvent(String),
    #[error("{0}")]
    Usage(String),
    /// A pack that cannot be added, with the reason.
    #[error("{0}")]
    Pack(String),
}

/// A name that no hook has.
#[derive(Debug)]
pub(crate) struct UnknownHook {
    name: String,
    nearest: Option<String>,
    known: Vec<String>,
    /// `true` if the name was looked up among trust decisions instead of hooks.
    trusted: bool,
}

impl UnknownHook {
    /// Creates the error, given the names that exist.
    pub(crate) fn new<'n>(name: &str, known: impl IntoIterator<Item = &'n str>) -> Self {
        let mut known: Vec<String> = known.into_iter().map(str::to_owned).collect();
        known.sort_unstable();
        known.dedup();
        let nearest = nearest(name, known.iter().map(String::as_str)).map(str::to_owned);
        Self { name: name.to_owned(), nearest, known, trusted: false }
    }

    /// Changes the error to one about names in the trust store.
    pub(crate) fn among_trusted(self) -> Self {
        Self { trusted: true, ..self }
    }
}

impl fmt::Display for UnknownHook {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        const MAX_SHOWN: usize = 20;
        let name = shortened(&self.name);
        match self.trusted {
            true => write!(formatter, "nothing is trusted under the name `{name}`")?,
            false => write!(formatter, "no hook is named `{name}`")?,
        }
        if let Some(nearest) = &self.nearest {
            write!(formatter, "; did you mean `{}`?", shortened(nearest))?;
        }
        if self.known.is_empty() {
            return formatter.write_str(match self.trusted {
                true => ", nor under any other in this project",
                false => "; there are none",
            });
        }
        formatter.write_str("\n  there are:")?;
        for name in self.known.iter().take(MAX_SHOWN) {
            write!(formatter, "\n    {}", shortened(name).replace('\n', " "))?;
        }
        match self.known.len().saturating_sub(MAX_SHOWN) {
            0 => Ok(()),
            more => write!(formatter, "\n    and {more} more; `hook list` shows all"),
        }
    }
}

impl std::error::Error for UnknownHook {}

impl CommandError {
    /// Returns the error for a file that cannot be read.
    pub(crate) fn read(what: &'static str, path: &Path) -> impl Fn(io::Error) -> Self {
        move |source| Self::Read { what, path: path.to_path_buf(), source }
    }

    /// Returns the error for a file that cannot be written.
    pub(crate) fn write(what: &'static str, path: &Path) -> impl Fn(io::Error) -> Self {
        move |source| Self::Write { what, path: path.to_path_buf(), source }
    }

    /// Creates the error for an output file that is also the input.
    pub(crate) fn would_overwrite(what: &str, path: &Path) -> Self {
        Self::Usage(format!(
            "{} is {what} itself, which would be lost; name another file",
            path.shown()
        ))
    }

    /// Returns the category of the failure, which determines the exit code.
    pub(crate) fn failure(&self) -> Failure {
        match self {
            Self::NotJson { .. } | Self::NoObject { .. } => Failure::Input,
            Self::Usage(_) => Failure::Usage,
            Self::Output(error) if error.kind() == io::ErrorKind::BrokenPipe => {
                Failure::ClosedOutput
            }
            _ => Failure::Internal,
        }
    }
}

//! What can keep the command from doing its work.

use std::io;
use std::path::PathBuf;

use hook_bus::recording::RecorderError;
use hook_bus::script::ScenarioError;
use hook_bus::wire::TailError;
use hook_bus::{AlreadyServed, InitializeError, NotInitialized};

use crate::exit_code::{self, Status};

/// Why a command could not do its work.
#[derive(Debug, thiserror::Error)]
pub(crate) enum CommandError {
    #[error("failed to write to standard output: {0}")]
    Output(#[source] io::Error),
    #[error("failed to read {what} {}: {source}", path.display())]
    Read { what: &'static str, path: PathBuf, source: io::Error },
    #[error("failed to read standard input: {0}")]
    Input(#[source] io::Error),
    #[error("failed to determine the working directory: {0}")]
    WorkingDirectory(#[source] io::Error),
    #[error("failed to listen for signals: {0}")]
    Signals(#[source] io::Error),
    #[error(transparent)]
    AlreadyServed(#[from] AlreadyServed),
    #[error(transparent)]
    Initialize(#[from] InitializeError),
    #[error(transparent)]
    NotInitialized(#[from] NotInitialized),
    #[error("{}: {source}", path.display())]
    Scenario { path: PathBuf, source: ScenarioError },
    #[error("--input is not JSON: {0}; give an object, @FILE, or - for standard input")]
    NotJson(#[source] hook_core::JsonError),
    #[error(transparent)]
    Recorder(#[from] RecorderError),
    #[cfg(unix)]
    #[error(transparent)]
    Socket(#[from] hook_bus::wire::SocketError),
    #[error(transparent)]
    Tail(#[from] TailError),
    #[error("{0}")]
    Usage(String),
}

impl CommandError {
    #[cfg(not(unix))]
    pub(crate) fn no_sockets() -> Self {
        Self::Usage("--socket needs Unix sockets, which this system has not; use --stdio".into())
    }

    pub(crate) fn exit_code(&self) -> Status {
        match self {
            Self::NotJson(_) | Self::Usage(_) => exit_code::USAGE,
            _ => exit_code::FAILURE,
        }
    }

    /// Whether nobody reads the output any more, which is no failure.
    pub(crate) fn is_closed_pipe(&self) -> bool {
        matches!(self, Self::Output(error) if error.kind() == io::ErrorKind::BrokenPipe)
    }
}

//! What hooks may cost, and what the engine takes from its host.

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

/// What one hook may cost, and how patient the engine is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunnerLimits {
    /// How long a hook may run that says nothing else, 60 seconds by default.
    pub timeout: Duration,
    /// How many hook processes and requests of `http` hooks may run at once; 0, the default, means four for each core, and at
    /// least eight.
    pub max_concurrent: usize,
    /// How many blocking handlers may run at once, 64 by default; at least one. Each has a thread.
    pub max_blocking: usize,
    /// How many threads of blocking handlers may have outlived their timeout, 256 by default. At
    /// that number blocking handlers fail at once, until some of the threads return.
    pub max_abandoned: usize,
    /// How many bytes of standard output, or of the answer of a hook's server, are kept, 4 MiB by
    /// default. A hook that writes more has failed.
    pub max_stdout: usize,
    /// How many bytes of standard error are kept, 256 KiB by default; the rest is dropped and
    /// counted.
    pub max_stderr: usize,
    /// How long a process has between TERM and KILL, 2 seconds by default.
    pub grace: Duration,
    /// How long after a hook's exit its output may still be held open, 50 ms by default.
    pub exit_patience: Duration,
}

impl Default for RunnerLimits {
    fn default() -> Self {
        Self {
            timeout: Duration::from_secs(60),
            max_concurrent: 0,
            max_blocking: 64,
            max_abandoned: 256,
            max_stdout: 4 * 1024 * 1024,
            max_stderr: 256 * 1024,
            grace: Duration::from_secs(2),
            exit_patience: Duration::from_millis(50),
        }
    }
}

impl RunnerLimits {
    pub(super) fn slots(&self) -> usize {
        let cores = || std::thread::available_parallelism().map_or(1, usize::from);
        match self.max_concurrent {
            0 => (4 * cores()).max(8),
            given => given,
        }
    }
}

/// What the engine takes from the process that hosts it, once, when it is built.
#[derive(Debug, Clone)]
pub struct RunnerHost {
    /// The project's directory.
    pub project: PathBuf,
    /// The environment that hooks inherit, before the rules of settings.
    pub environment: Vec<(OsString, OsString)>,
    /// What one hook may cost.
    pub limits: RunnerLimits,
}

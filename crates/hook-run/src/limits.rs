//! The limits of hooks, and the parts of the host's process that the engine uses.

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

/// The limits of one hook and of the engine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunnerLimits {
    /// The timeout of hooks that set none, 60 seconds by default.
    pub timeout: Duration,
    /// The number of hook processes and requests of `http` hooks that may run at once. 0, the
    /// default, means four per core, but at least eight.
    pub max_concurrent: usize,
    /// The number of blocking handlers that may run at once, 64 by default; at least one.
    pub max_blocking: usize,
    /// The number of threads of blocking handlers that may have outlived their timeout, 256 by
    /// default. At that number, blocking handlers fail at once until some threads return.
    pub max_abandoned: usize,
    /// The bytes kept of standard output, or of an HTTP answer, 4 MiB by default. A hook that
    /// writes more has failed.
    pub max_stdout: usize,
    /// The bytes kept of standard error, 256 KiB by default. The rest is dropped and counted.
    pub max_stderr: usize,
    /// The time between TERM and KILL, 2 seconds by default.
    pub grace: Duration,
    /// The time after a hook's exit during which its output may stay open: 50 ms by default.
    pub drain_timeout: Duration,
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
            drain_timeout: Duration::from_millis(50),
        }
    }
}

impl RunnerLimits {
    pub(super) fn slots(&self) -> usize {
        let cores = || std::thread::available_parallelism().map_or(1, usize::from);
        match self.max_concurrent {
            0 => (4 * cores()).max(8),
            limit => limit,
        }
    }
}

/// The parts of its host's process that the engine reads once, when it is built.
#[derive(Debug, Clone)]
pub struct RunnerHost {
    /// The project's directory.
    pub project: PathBuf,
    /// The other directories that the agent works in, whose projects' hooks run as well.
    pub workspace: Vec<PathBuf>,
    /// The environment that hooks inherit, before the rules of settings apply.
    pub environment: Vec<(OsString, OsString)>,
    /// The limits of hooks.
    pub limits: RunnerLimits,
}

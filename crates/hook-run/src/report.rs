//! The report of a hook's process: exit, output, worker.

use std::fmt;

use hook_json::text::one_line;
use hook_json::{ObjectWriter, RawObject};

/// The exit and the output of a hook's process.
#[derive(Debug, Clone, Default)]
pub struct ProcessReport {
    /// The exit code, if the process exited.
    pub exit_code: Option<i32>,
    /// The signal that ended the process, if one did.
    pub signal: Option<i32>,
    /// `true` if the process exited while something it had started still held its output open.
    pub leaked: bool,
    /// The part of standard output that was kept.
    pub stdout: Captured,
    /// The part of standard error that was kept.
    pub stderr: Captured,
    /// The history of the worker that was called; `None` for one that was never restarted and is
    /// not broken.
    pub worker: Option<WorkerHistory>,
}

/// The history of a worker at the end of a call.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct WorkerHistory {
    /// The worker's state: `stopped`, `starting`, `ready` or `broken`.
    pub state: Box<str>,
    /// The number of restarts.
    pub restarts: u64,
}

/// A description for people.
impl fmt::Display for WorkerHistory {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&one_line(&self.state))?;
        match self.restarts {
            0 => Ok(()),
            1 => formatter.write_str(", started again once"),
            times => write!(formatter, ", started again {times} times"),
        }
    }
}

impl WorkerHistory {
    /// Returns `true` if the worker is not started any more.
    pub fn is_broken(&self) -> bool {
        &*self.state == "broken"
    }

    /// Writes the history as fields of a message.
    pub fn write(&self, object: &mut ObjectWriter<'_>) {
        object.text("state", &self.state);
        object.integer("restarts", self.restarts.into());
    }

    /// Reads the output of [`write`](Self::write); returns `None` for anything else.
    pub fn read_back(object: &RawObject) -> Option<Self> {
        let fields = object.fields();
        let state = fields.get("state")?.to_text()?.into();
        Some(Self { state, restarts: fields.get("restarts")?.to_u64()? })
    }
}

/// The kept part of a stream.
#[derive(Debug, Clone, Default)]
pub struct Captured {
    /// The kept bytes.
    pub bytes: Vec<u8>,
    /// The number of bytes over the limit, which were dropped.
    pub dropped: u64,
}

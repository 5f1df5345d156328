//! What a hook's process left behind.

use std::fmt;

use crate::json::{ObjectWriter, RawObject};
use crate::text::one_line;

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
    /// What is worth knowing of the worker that was called: absent of one that was never started again and
    /// is not broken.
    pub worker: Option<WorkerHistory>,
}

/// What a worker has been through, when a call of it was over.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct WorkerHistory {
    /// In a word: `stopped`, `starting`, `ready` or `broken`.
    pub state: Box<str>,
    /// How often it was started again.
    pub restarts: u64,
}

/// For people.
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
    /// Whether it is started no more.
    pub fn is_broken(&self) -> bool {
        &*self.state == "broken"
    }

    /// As fields of a message.
    #[doc(hidden)]
    pub fn write(&self, object: &mut ObjectWriter<'_>) {
        object.text("state", &self.state);
        object.integer("restarts", self.restarts.into());
    }

    /// Reads what [`write`](Self::write) wrote; `None` of anything else.
    #[doc(hidden)]
    pub fn read_back(object: &RawObject) -> Option<Self> {
        let fields = object.fields();
        let state = fields.get("state")?.to_text()?.into();
        Some(Self { state, restarts: fields.get("restarts")?.to_whole_number()? })
    }
}

/// What was kept of a stream.
#[derive(Debug, Clone, Default)]
pub struct Captured {
    /// The bytes kept.
    pub bytes: Vec<u8>,
    /// How many bytes came beyond the limit and were dropped.
    pub dropped: u64,
}

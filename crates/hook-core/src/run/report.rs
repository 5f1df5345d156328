//! What a hook's process left behind.

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
}

/// What was kept of a stream.
#[derive(Debug, Clone, Default)]
pub struct Captured {
    /// The bytes kept.
    pub bytes: Vec<u8>,
    /// How many bytes came beyond the limit and were dropped.
    pub dropped: u64,
}

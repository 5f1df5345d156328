//! How much one decision may cover.

/// How long the files may be that one decision covers, in bytes, all together: 64 MiB. They are
/// read before each run.
pub(super) const MAX_BYTES: u64 = 64 << 20;

/// How many files one decision may cover.
pub(super) const MAX_FILES: usize = 256;

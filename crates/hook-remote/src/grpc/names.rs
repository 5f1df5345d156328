//! What metadata are called, and how long messages may be.

/// The metadata by which a client says who it is.
pub(super) const CLIENT_ID: &str = "hook-client-id";

/// The metadata by which a client is told, and proves, that hooks are its own.
pub(super) const CLIENT_TOKEN: &str = "hook-client-token";

/// The metadata that says whether a stream is that of a client that was known.
pub(super) const CLIENT_RESUMED: &str = "hook-client-resumed";

/// How long a message of a stream may be, in bytes, in either direction.
pub(super) const MAX_STREAM_MESSAGE: usize = hook_core::run::MAX_LIVE_LINE;

/// How long a request to the bus may be, in bytes.
pub(super) const MAX_REQUEST: usize = hook_core::lines::MAX_LINE;

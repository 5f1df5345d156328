//! Metadata keys and size limits of messages.

/// The metadata key of a client's name.
pub(super) const CLIENT_ID: &str = "hook-client-id";

/// The metadata key of a client's token, which proves that hooks belong to the client.
pub(super) const CLIENT_TOKEN: &str = "hook-client-token";

/// The metadata key that says whether the stream's client was already known.
pub(super) const CLIENT_RESUMED: &str = "hook-client-resumed";

/// The maximum length of a stream message, in bytes, in either direction.
pub(super) const MAX_STREAM_MESSAGE: usize = hook_run::MAX_LIVE_LINE;

/// The maximum length of a request to the bus, in bytes.
pub(super) const MAX_REQUEST: usize = hook_run::lines::MAX_LINE;

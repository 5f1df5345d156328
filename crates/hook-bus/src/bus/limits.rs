//! What a bus may hold, and what a publisher is told when it is full.

use super::subscription::SubscriptionLimits;

/// What a bus may hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BusLimits {
    /// How many published requests may be in flight, 1,024 by default. When they are,
    /// [`MessageBus::publish`](crate::MessageBus::publish) waits; direct requests ([`MessageBus::request`](crate::MessageBus::request)) are bounded by
    /// there being callers.
    pub in_flight: usize,
    /// How many bytes the published requests in flight may hold, about; 256 MiB by default. They
    /// wait as above. A single request may be larger, and is then in flight alone.
    pub in_flight_bytes: usize,
    /// How much a subscriber may leave unread.
    pub subscription: SubscriptionLimits,
}

impl Default for BusLimits {
    fn default() -> Self {
        Self {
            in_flight: 1_024,
            in_flight_bytes: 256 * 1024 * 1024,
            subscription: SubscriptionLimits::default(),
        }
    }
}

/// A request was not accepted, and will not be answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum PublishError {
    /// As many requests are in flight as may be, or as many bytes.
    #[error("the bus is full: as much is in flight as it may hold; publish again later")]
    Full,
    /// There is no async runtime to serve the request on.
    #[error(
        "failed to publish outside of a tokio runtime; call from a task, or enter the runtime first"
    )]
    NoRuntime,
}

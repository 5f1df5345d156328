//! The limits of a bus, and the errors of publishing.

use super::subscription::SubscriptionLimits;

/// The limits of a bus.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BusLimits {
    /// The maximum number of published requests in flight, 1,024 by default. At the limit,
    /// [`MessageBus::publish`](crate::MessageBus::publish) waits. Direct requests
    /// ([`MessageBus::request`](crate::MessageBus::request)) are limited only by the number of
    /// callers.
    pub in_flight: usize,
    /// The approximate maximum size of the published requests in flight, in bytes; 256 MiB by
    /// default. At the limit, publishing waits. A larger single request is in flight alone.
    pub in_flight_bytes: usize,
    /// The limits on a subscriber's unread messages.
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

/// The error of a request that was not accepted, and will not be answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum PublishError {
    /// The number or the size of the requests in flight is at its limit.
    #[error("the bus is full: as much is in flight as it may hold; publish again later")]
    Full,
    /// There is no async runtime to serve the request.
    #[error(
        "failed to publish outside of a tokio runtime; call from a task, or enter the runtime first"
    )]
    NoRuntime,
}

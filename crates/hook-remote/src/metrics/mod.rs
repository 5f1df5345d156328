//! Metrics of an engine in the format of Prometheus (docs/fleet.md).
//!
//! | file | contents |
//! | --- | --- |
//! | `counts` | counters of requests and hooks, from the messages of the bus |
//! | `text` | the metrics as text |
//! | `server` | the HTTP server |

mod counts;
mod server;
mod text;

pub use server::{MetricsError, MetricsServer};

/// The source of an engine's fleet metrics.
pub trait FleetMetrics: std::fmt::Debug + Send + Sync + 'static {
    /// Returns the present metrics, or `None` before the engine serves.
    fn snapshot(&self) -> Option<FleetSnapshot>;
}

/// An engine's fleet metrics at one moment.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct FleetSnapshot {
    /// `true` if the engine takes requests of its fleet.
    pub is_serving: bool,
    /// The number of running requests.
    pub running: u64,
    /// The number of waiting requests.
    pub waiting: u64,
    /// The number of requests since the start, by result.
    pub requests: Vec<(&'static str, u64)>,
    /// The minimum number of lost messages.
    pub lost: u64,
    /// The number of unpublished events.
    pub events_missed: u64,
}

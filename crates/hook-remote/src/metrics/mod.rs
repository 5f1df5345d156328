//! Numbers of an engine for whoever watches it, as Prometheus reads them (docs/fleet.md).
//!
//! | file | what it holds |
//! | --- | --- |
//! | `counted` | what is counted of requests and hooks, of what the bus tells its subscribers |
//! | `text` | the numbers as text |
//! | `server` | the HTTP server |

mod counted;
mod server;
mod text;

pub use server::{MetricsError, MetricsServer};

/// What is known of an engine's part in its fleet.
pub trait FleetNumbers: std::fmt::Debug + Send + Sync + 'static {
    /// How it is now; `None` before it has begun to serve.
    fn now(&self) -> Option<FleetNow>;
}

/// An engine's part in its fleet at one moment.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct FleetNow {
    /// Whether it takes requests of its fleet.
    pub is_serving: bool,
    /// How many requests run.
    pub running: u64,
    /// How many wait.
    pub waiting: u64,
    /// What became of requests since it began, by words for it.
    pub requests: Vec<(&'static str, u64)>,
    /// How many messages were lost, at least.
    pub lost: u64,
    /// How many events were not published.
    pub events_missed: u64,
}

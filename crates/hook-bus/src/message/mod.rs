//! The messages on the bus and their JSON form (reference/messages.md).

mod correlation;
mod engine_check;
pub(crate) mod fields;
mod journal;
pub(crate) mod live_fields;
mod progress;
mod read_back;
mod registration;
mod request;
mod response;
mod trigger_kind;

pub use correlation::{CorrelationId, CorrelationIdTooLong};
pub use engine_check::EngineCheck;
pub use journal::{JournalEntry, JournalMessage};
pub use progress::{HookFinished, HookProgress, HookStarted};
pub use read_back::MessageError;
pub(crate) use registration::ChangeCause;
pub use registration::{HookRegistration, RegistrationChange};
pub use request::HookExecutionRequest;
pub(crate) use request::{Body, Invalid, Named, RequestFields, read_deadline};
pub use response::{AnsweringEngine, HookExecutionResponse};
pub(crate) use trigger_kind::TriggerKind;

/// The `type` of each kind of message in JSON.
pub mod kind {
    /// A request.
    pub const REQUEST: &str = "hook-execution-request";
    /// A response.
    pub const RESPONSE: &str = "hook-execution-response";
    /// A hook started.
    pub const STARTED: &str = "hook-started";
    /// A hook finished.
    pub const FINISHED: &str = "hook-finished";
    /// An entry of an audit, and a client's request for an audit.
    pub(crate) const AUDIT: &str = "hook-audit";
}

/// A key that identifies a request, even among those that share a correlation id.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct RequestKey(u64);

impl RequestKey {
    pub(crate) fn next() -> Self {
        static NEXT: std::sync::atomic::AtomicU64 = std::sync::atomic::AtomicU64::new(0);
        Self(NEXT.fetch_add(1, std::sync::atomic::Ordering::Relaxed))
    }

    /// Returns the number of the request, unique within this process.
    pub fn number(self) -> u64 {
        self.0
    }
}

//! Recordings: every message of an engine with the time at which it came.
//!
//! A recording is JSON lines (protocol.md §6, "Recordings"). [`Recording`] reads one, says what
//! each request's hooks did and when, and sends the requests again: [`RecordedRequest::replay`]
//! compares what comes of them with what was recorded, by [`compare()`].

mod compare;
mod read;
mod replay;
mod request;
mod summary;

pub use compare::{Difference, compare};
pub use read::{Recording, RecordingError, RecordingGap, RecordingHeader};
pub use replay::{Replay, Unreplayable};
pub use request::{RecordedHook, RecordedOutcome, RecordedRequest, RecordedResponse};
pub use summary::{EventTotals, RecordingSummary, SlowHook};

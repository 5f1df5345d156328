//! Recordings: all messages of a bus as JSON lines with times (reference/messages.md, "Recordings").
//!
//! [`Recorder`] writes a recording. [`Recording`] reads one,
//! with the hooks of each request and their times, and sends its requests again:
//! [`RecordedRequest::replay`] compares the new response with the recorded one, by [`compare()`].

mod compare;
mod read;
mod recorder;
mod replay;
mod request;
mod summary;

pub use compare::{Difference, compare};
pub use read::{Recording, RecordingError, RecordingGap, RecordingHeader};
pub use recorder::{Recorder, RecorderError, RecordingSize};
pub use replay::{Replay, Unreplayable};
pub use request::{
    RecordedGroup, RecordedHook, RecordedNotStarted, RecordedOutcome, RecordedRequest,
    RecordedResponse,
};
pub use summary::{EventTotals, RecordingSummary, SlowHook};

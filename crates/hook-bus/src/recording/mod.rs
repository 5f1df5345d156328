//! Recordings: everything that happened on a bus, as JSON lines, each with the time at which it came
//! (protocol.md §6, "Recordings").
//!
//! [`Recorder`] writes one, of the lines that [`RecordingLines`] makes. [`Recording`] reads one, says
//! what each request's hooks did and when, and sends the requests again: [`RecordedRequest::replay`]
//! compares what comes of them with what was recorded, by [`compare()`].

mod compare;
mod read;
mod recorder;
mod replay;
mod request;
mod summary;
mod write;

pub use compare::{Difference, compare};
pub use read::{Recording, RecordingError, RecordingGap, RecordingHeader};
pub use recorder::{Recorded, Recorder, RecorderError};
pub use replay::{Replay, Unreplayable};
pub use request::{
    RecordedGroup, RecordedHook, RecordedNotStarted, RecordedOutcome, RecordedRequest,
    RecordedResponse,
};
pub use summary::{EventTotals, RecordingSummary, SlowHook};
pub use write::RecordingLines;

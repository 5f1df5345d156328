//! Recordings: everything that happened on a bus, as JSON lines (protocol.md §6, "Recordings").
//!
//! [`RecordingLines`] makes the lines, [`Recorder`] writes them into a file.

mod recorder;
mod write;

pub use recorder::{Recorded, Recorder, RecorderError};
pub use write::RecordingLines;

//! The messages of a bus as JSON lines with times: those of a recording, and those that a client
//! follows (reference/messages.md, "Recordings").

mod follow;
mod lines;

pub use follow::JournalFollower;

//! A hook's process and all its descendants, as one tree that can be signalled and killed.
//!
//! `unix` and `windows` implement the same functions for the respective system.

mod process;
mod signal;
#[cfg_attr(not(unix), expect(dead_code, reason = "a job knows by itself whether it runs"))]
mod sweeper;
#[cfg(unix)]
mod unix;
mod until;
#[cfg(windows)]
mod windows;

pub(super) use process::ProcessTree;
pub use signal::EndSignal;
pub(super) use sweeper::Sweeper;
#[cfg(unix)]
pub(super) use unix::{StderrPipe, StdinPipe, StdoutPipe};
#[cfg(windows)]
pub(super) use windows::{StderrPipe, StdinPipe, StdoutPipe};

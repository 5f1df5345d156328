//! A hook's process and everything it started, as one thing that can be told to end and killed.
//!
//! `unix` and `windows` have the same functions: what holds a tree together on that system.

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

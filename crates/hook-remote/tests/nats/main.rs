//! A fleet of engines behind a real broker, through the crate's public functions.
//!
//! They need `nats-server`; where it is not there, each says that it was skipped.

#![cfg(unix)]
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::print_stderr,
    reason = "a test that finds something else fails"
)]

mod answers;
mod away;
mod broker;
mod engine_process;
mod events;
mod fleet;
mod groups;
mod leaving;
mod losses;
mod permissions;
mod places;
mod roll_call;
mod simulation;
mod skipping;
mod support;
mod upstream;

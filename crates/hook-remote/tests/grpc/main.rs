//! Hooks and requests over gRPC: a real server, on loopback and on a Unix socket, and a client that is made
//! of `proto/`.

#![cfg(unix)]
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a test that finds something else fails"
)]

mod answers;
mod bus;
mod coming_back;
mod limits;
mod old_client;
mod places;
mod registering;
mod shutdown;
mod support;

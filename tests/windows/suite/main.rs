//! The command on Windows: `hook.exe`, and hooks that are programs of Windows.
//!
//! `.ci/cross test` builds both for Windows, and runs these tests under wine. On Windows itself:
//! `cargo build -p hook-cli -p hook-windows-tests`, then `cargo test -p hook-windows-tests`.
//!
//! Every path of a test has spaces, `&`, and letters beyond ASCII in it. There is no PowerShell under
//! wine, so hooks are programs, which need no shell.

#![cfg(windows)]
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "in a test, what cannot go on should end it"
)]

mod agents;
mod commands;
mod decisions;
mod ends;
mod folders;
mod place;
mod serve;
mod starts;
mod trust;

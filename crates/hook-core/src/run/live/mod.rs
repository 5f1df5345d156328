//! Hooks that stay alive and answer calls: one conversation, whoever carries it (protocol.md §6,
//! "Live hooks").
//!
//! | file | what it holds |
//! | --- | --- |
//! | `message` | what is said, in both directions |
//! | `session` | the calls of one conversation, and their answers |
//! | `carrier` | the end of it that moves messages: over pipes, a connection, a stream |
//! | `clock` | a hook's time, which stands still while its user is asked |
//! | `host` | what a hook may ask of whoever asked for its event |
//! | `exec` | programs that it has the engine run |
//! | `executor` | a call, from what is told to its answer |

mod carrier;
mod clock;
mod exec;
mod executor;
mod host;
mod message;
mod session;

pub use carrier::Carrier;
pub(in crate::run) use exec::Programs;
pub use executor::CallTarget;
pub(in crate::run) use executor::LiveExecutor;
pub use host::{HostCall, HostCallError, HostServices, without_ui};
pub use message::{FromHook, MAX_LIVE_LINE, Said, ToHook, Told, Unreadable, WorkerHook};
pub use session::CallSession;
pub(in crate::run) use session::{MAX_CALLS, MessagePipe};

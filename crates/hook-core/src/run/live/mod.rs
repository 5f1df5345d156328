//! Hooks that stay alive and answer calls: one conversation, whoever carries it (protocol.md §6,
//! "Live hooks").
//!
//! | file | what it holds |
//! | --- | --- |
//! | `message` | what is said, in both directions |
//! | `session` | the calls of one conversation, and their answers |
//! | `mailbox` | where a call's caller finds its answer, and what is asked of the host |
//! | `carrier` | the end of it that moves messages: over pipes, a connection, a stream |
//! | `clock` | a hook's time, which stands still while its user is asked |
//! | `methods` | what a hook may ask of its host, in a table |
//! | `host` | who does that: whoever asked for its event |
//! | `exec` | programs that it has the engine run |
//! | `executor` | a call, from what is told to its answer |

mod carrier;
mod clock;
mod exec;
mod executor;
mod host;
mod mailbox;
mod message;
mod methods;
mod session;

pub use carrier::Carrier;
pub(in crate::run) use clock::{Clock, Timers};
pub(in crate::run) use exec::Programs;
pub(in crate::run) use executor::LiveExecutor;
pub use executor::{CallTarget, FailureListener};
pub use host::{HostCall, HostCallError, HostServices};
pub(in crate::run) use host::{has_ui, settled};
pub(in crate::run) use message::LIVE_PROTOCOL;
pub use message::{
    FromHook, MAX_LIVE_LINE, ModuleCommand, Said, ToHook, Told, Unreadable, WorkerHook,
    WorkerModule,
};
pub(in crate::run) use methods::is_question;
pub use methods::{HOST_METHODS, HostMethod, without_ui};
pub use session::{CallSession, Dropped};
pub(in crate::run) use session::{MAX_CALLS, MessagePipe};

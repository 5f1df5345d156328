//! Live hooks, which outlive their calls: one session per hook process or client, over any
//! transport (reference/messages.md, "Live hooks").
//!
//! | file | contents |
//! | --- | --- |
//! | `message` | the messages in both directions |
//! | `session` | the calls of one session, and their answers |
//! | `mailbox` | the answer and the host requests of one call |
//! | `transport` | the end that transports messages: over pipes, a connection, a stream |
//! | `clock` | a hook's timeout, which is paused during questions to the user |
//! | `methods` | the table of host methods |
//! | `host` | the host's side of them: the caller of the event |
//! | `exec` | programs that the engine runs for a hook |
//! | `executor` | one call, from input to answer |

mod clock;
mod exec;
mod executor;
mod host;
mod mailbox;
mod message;
mod methods;
mod session;
mod transport;

pub(crate) use clock::{Clock, Timers};
pub(crate) use exec::Programs;
pub(crate) use executor::LiveExecutor;
pub use executor::{CallTarget, FailureListener};
pub use host::{HostCall, HostCallError, HostServices};
pub(crate) use host::{has_ui, with_ui_fallback};
pub(crate) use message::LIVE_PROTOCOL;
pub use message::{
    CallMessage, FromHook, HookAnswer, InvalidMessage, MAX_LIVE_LINE, ModuleCommand, ToHook,
    WorkerHook, WorkerModule,
};
pub(crate) use methods::is_question;
pub use methods::{HOST_METHODS, HostMethod, without_ui};
pub use session::{CallSession, DroppedAnswers};
pub(crate) use session::{MAX_CALLS, MessagePipe};
pub use transport::Transport;

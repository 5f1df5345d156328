//! Handlers that the host gives, of four kinds. The type says which, and what it costs:
//!
//! | kind | runs | pick it for |
//! | --- | --- | --- |
//! | inline | right where the event is served, without a timeout | a decision made at once: it must not block |
//! | async | on a task of its own, until its timeout | anything that awaits |
//! | blocking | on a thread of the engine's, until its timeout | anything that blocks |
//! | registered | elsewhere: it is called over a conversation | what stays alive in another process |

mod blocking;
mod executor;
mod function;
mod hook;

pub(super) use blocking::BlockingHandlers;
pub use function::{HandlerError, HandlerResult};
pub use hook::{HandlerHook, TypedResult};

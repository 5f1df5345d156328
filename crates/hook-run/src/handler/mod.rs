//! Handlers of the host, of four kinds with different costs:
//!
//! | kind | runs | use it for |
//! | --- | --- | --- |
//! | inline | on the serving thread, without a timeout | an immediate decision, without blocking |
//! | async | on its own task, until its timeout | anything that awaits |
//! | blocking | on a thread of the engine, until its timeout | anything that blocks |
//! | registered | in another process, called in a session | a hook that outlives its calls |

mod blocking;
mod executor;
mod function;
mod hook;

pub(super) use blocking::BlockingHandlers;
pub use function::{HandlerError, HandlerResult};
pub use hook::{HandlerHook, TypedResult};

//! Handlers of modules in Rust: told and answering in the words of modules, with a context through which
//! they ask their host.
//!
//! | file | what it holds |
//! | --- | --- |
//! | `asker` | what is asked of the host, for a call or between calls |
//! | `session` | the session, to be read |
//! | `ui` | the user |
//! | `context` | what a handler and a command get beside their event and arguments |
//! | `handler` | what a handler is told, and what it returns |
//! | `errors` | who wants to know of handlers that fail |
//! | `executor` | one call |

mod asker;
mod context;
mod errors;
mod executor;
mod handler;
mod session;
mod ui;

pub use asker::{ExecOptions, ExecResult, ModuleHandle};
pub use context::{CommandContext, HookContext, NewSession, SessionChange, SetupEntry};
pub use errors::{ErrorListener, ModuleErrors, ModuleFault};
pub(in crate::run) use executor::ModuleExecutor;
pub use handler::{ModuleAnswer, ModuleEvent, ModuleHandler, ModuleReturn};
pub use session::SessionManager;
pub use ui::{HookUi, Notice, Theme};

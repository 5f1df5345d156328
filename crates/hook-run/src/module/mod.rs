//! Handlers of Rust modules: input and output in the module format, and a context for requests to
//! the host.
//!
//! | file | contents |
//! | --- | --- |
//! | `host_client` | requests to the host, for a call or between calls |
//! | `session` | the reader of the session |
//! | `ui` | the user interface |
//! | `context` | the contexts of handlers and commands |
//! | `handler` | the input and output of a handler |
//! | `errors` | listeners for failing handlers |
//! | `executor` | one call |

mod context;
mod errors;
mod executor;
mod handler;
mod host_client;
mod session;
mod ui;

pub use context::{CommandContext, HookContext, NewSession, SessionChange, SetupEntry};
pub use errors::{ErrorListener, ModuleErrors, ModuleFault};
pub(crate) use executor::ModuleExecutor;
pub use handler::{ModuleAnswer, ModuleEvent, ModuleHandler, ModuleReturn};
pub use host_client::{ExecOptions, ExecResult, ModuleHandle};
pub use session::SessionManager;
pub use ui::{HookUi, Notice, Theme};

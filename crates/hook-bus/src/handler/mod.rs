//! The handler of the requests of a bus.
//!
//! | file | contents |
//! | --- | --- |
//! | `event_handler` | the nine stages of a request |
//! | `remote` | forwarding requests to remote engines |
//! | `engine` | the engine: built on first use, and again on reload |
//! | `declared`, `registered`, `registrations` | events and hooks added and removed at run time |
//! | `sessions` | values that hooks set for later hooks of their sessions |
//! | `translation` | model payloads of SDKs |
//! | `progress`, `unfinished` | progress of hooks, and hooks left unfinished |
//! | `in_flight` | requests that are not answered yet |

mod declared;
mod engine;
mod event_handler;
mod in_flight;
mod progress;
mod registered;
mod registrations;
mod remote;
mod sessions;
mod translation;
mod unfinished;

pub use declared::DeclaredEvent;
pub(crate) use declared::DeclaredEvents;
pub(crate) use engine::{BuildFailure, Engine, EngineOptions, EngineSlot, Sources};
pub use engine::{InitializeError, NotInitialized};
pub use event_handler::HookEventHandler;
pub(crate) use event_handler::deadline_passed;
pub use registered::{RegisterError, RegisteredHook, Registrant, Registration};
pub(crate) use registrations::{Registrations, effective_hooks};
pub use remote::{RemoteEngines, RemoteServing};

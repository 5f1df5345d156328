//! What serves the requests of a bus.
//!
//! | file | what it holds |
//! | --- | --- |
//! | `event_handler` | the nine stages of a request |
//! | `elsewhere` | serving a bus by asking engines that are somewhere else |
//! | `engine` | the engine behind it: built on first use, and again on reload |
//! | `declared`, `registered`, `registrations` | events and hooks that come and go at run time |
//! | `sessions` | what hooks set for later hooks of their sessions |
//! | `translation` | model payloads in an SDK's form |
//! | `progress`, `unfinished` | what is told of hooks while they run, and when they are cut off |
//! | `in_flight` | requests that are not answered yet |

mod declared;
mod elsewhere;
mod engine;
mod event_handler;
mod in_flight;
mod progress;
mod registered;
mod registrations;
mod sessions;
mod translation;
mod unfinished;

pub use declared::DeclaredEvent;
pub(crate) use declared::DeclaredEvents;
pub use elsewhere::{Elsewhere, ServedElsewhere};
pub(crate) use engine::{Engine, EngineOptions, EngineSlot, Sources, Unbuilt};
pub use engine::{InitializeError, NotInitialized};
pub use event_handler::HookEventHandler;
pub use registered::{RegisterError, RegisteredHook, Registrant, Registration};
pub(crate) use registrations::{Registrations, in_force};

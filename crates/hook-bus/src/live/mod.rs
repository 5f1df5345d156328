//! Hooks of clients: registered over a connection, called over it, and back after it was lost.
//!
//! | file | what it holds |
//! | --- | --- |
//! | `register` | what a client says of a hook, made a hook of the engine |
//! | `clients` | the clients that have hooks, connected or expected back |
//! | `remembered` | guards, written down for the server that comes after this one |
//! | `services` | what a client does for the hooks of its own requests |
//! | `states` | how the workers of a running system are, for others who look |
//! | `modules` | what modules of JavaScript have beside hooks |
//! | `workers` | hooks that workers say they have |
//!
//! Over which kind of connection a client comes is no matter here: [`wire`](crate::wire) carries JSON
//! lines, other crates other things.

mod clients;
pub(crate) mod modules;
mod register;
mod remembered;
mod services;
mod states;
pub(crate) mod workers;

pub use crate::token::is_same_token;
pub use clients::{ListedHook, LiveClients, LiveConnection, RECONNECT_GRACE, UnknownToken};
pub use modules::LoadedModule;
pub use register::{HookRegister, NotRegistered};
pub use remembered::guard_file;
pub use services::{AskedOfClient, ClientServices};
pub use states::{WorkerState, WorkerStates};

//! Hooks of clients: registered, called and resumed over a connection.
//!
//! | file | contents |
//! | --- | --- |
//! | `register` | a client's description of a hook, and its conversion to a hook |
//! | `clients` | the clients with hooks, connected or expected to reconnect |
//! | `saved_guards` | guards saved for the next server |
//! | `services` | a client's services for the hooks of its requests |
//! | `states` | states of a running system's workers, for other processes |
//! | `modules` | commands and renderers of JavaScript modules |
//! | `workers` | hooks declared by workers |
//!
//! The transport of the connection does not matter here: [`wire`](crate::wire) uses JSON lines,
//! other crates use others.

mod clients;
pub(crate) mod modules;
mod register;
mod saved_guards;
mod services;
mod states;
pub(crate) mod workers;

pub use crate::token::is_same_token;
pub use clients::{
    GuardsPresent, ListedHook, LiveClients, LiveConnection, RECONNECT_GRACE, UnknownToken,
};
pub use modules::LoadedModule;
pub use register::{HookRegister, NotRegistered};
pub use saved_guards::guard_file;
pub use services::{ClientCall, ClientServices};
pub use states::{WorkerState, WorkerStates};

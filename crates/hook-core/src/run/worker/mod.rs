//! Workers: processes of the engine's that answer calls until nobody needs them any more (protocol.md
//! §1, "Workers").
//!
//! | file | what it holds |
//! | --- | --- |
//! | `state` | one worker, over all processes that it has had |
//! | `process` | one process of it, from its start to its end |
//! | `input` | its standard input, to which callers write themselves |
//! | `output` | what it writes on standard error |
//! | `modules` | the command of one that loads modules, and the files of the module host |
//! | `pool` | the workers of an engine, so that equal ones are one |

mod input;
mod modules;
mod output;
mod pool;
mod process;
mod state;

pub(in crate::run) use pool::Workers;
pub(in crate::run) use state::ModuleTerms;
pub(in crate::run) use state::WorkerTerms;
pub use state::{Declared, Worker, WorkerStatus};

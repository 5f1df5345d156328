//! Workers: processes of the engine that answer calls until they are not needed any more
//! (reference/settings.md, "Workers").
//!
//! | file | contents |
//! | --- | --- |
//! | `state` | a worker, over all generations of its process |
//! | `process` | one process, from its start to its end |
//! | `input` | its standard input, to which callers write directly |
//! | `output` | its standard error |
//! | `modules` | the command of a worker that loads modules, and the files of the module host |
//! | `pool` | the workers of an engine, where equal ones are shared |

mod input;
mod modules;
mod output;
mod pool;
mod process;
mod state;

pub(crate) use pool::Workers;
pub(crate) use state::{ModuleSpec, WorkerSpec};
pub use state::{Worker, WorkerDeclaration, WorkerStatus};

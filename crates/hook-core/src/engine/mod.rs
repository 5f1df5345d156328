//! The path of an event through the engine: plan, run, aggregate, process.
//!
//! | file | contents |
//! | --- | --- |
//! | `pipeline` | the path itself |
//! | `early_end` | hooks that do not start because of earlier outputs |
//! | `recheck` | second calls of guards, with the input that other hooks changed |
//! | `reconcile` | changes of concurrent hooks, reconciled |
//! | `finished` | results of a plan's hooks |
//! | `aggregate`, `processed` | many outputs merged into one |
//! | `changes` | a hook's changes to its input, for the next hooks and for logs |
//! | `session` | variables that hooks set for their session |
//! | `read_back` | results parsed from messages |

mod aggregate;
mod changes;
mod early_end;
mod finished;
mod pipeline;
mod processed;
pub mod read_back;
mod recheck;
mod reconcile;
mod session;

pub use aggregate::{AggregatedHookResult, ErrorReport};
pub use changes::changes;
pub use early_end::NotStarted;
pub use finished::{FinishedHooks, PipelineOutcome};
pub use pipeline::Pipeline;
pub use processed::{Guard, ProcessedHookResult, StageFailure};
pub use session::session_env;

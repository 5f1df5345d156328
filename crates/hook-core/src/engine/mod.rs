//! The one way an event takes: plan, run, aggregate, process.
//!
//! | file | what it holds |
//! | --- | --- |
//! | `pipeline` | the way itself |
//! | `ended` | which hooks do not start, because of what earlier ones said |
//! | `asked_again` | guards that are asked about what other hooks made of the input |
//! | `settled` | what an answer changes of what those before it left |
//! | `finished` | what the hooks of a plan did |
//! | `aggregate`, `processed` | one answer out of many |
//! | `changes` | what a hook changes of the input, for the next ones and for logs |
//! | `session` | what hooks set for later ones of the session |
//! | `read_back` | results as messages tell them |

mod aggregate;
mod asked_again;
mod changes;
mod ended;
mod finished;
mod pipeline;
mod processed;
#[doc(hidden)]
pub mod read_back;
mod session;
mod settled;

pub use aggregate::{AggregatedHookResult, ErrorReport};
pub use changes::changes;
pub use ended::NotStarted;
pub use finished::{FinishedHooks, PipelineOutcome};
pub use pipeline::Pipeline;
pub use processed::{Guard, ProcessedHookResult, StageFailure};
pub use session::session_env;

//! The registered hooks, and the plan of an event: the hooks it runs, their order, and the reasons.
//!
//! | file | contents |
//! | --- | --- |
//! | `hook` | a registered hook |
//! | `compiled_rules` | the rules of all files, as one index |
//! | `hook_factory`, `trust_decisions` | hooks made from settings, the host and trust |
//! | `wildcard_worker` | workers that declare their hooks themselves |
//! | `switched_off`, `switches` | switches that disable hooks |
//! | `groups`, `selection` | a plan, and the selection of its hooks |
//! | `table` | the enabled hooks, with cached plans |
//! | `explain` | the reasons why hooks run or not |
//! | `notices` | warnings for every caller that fires an event |
//! | `registry` | the registry, for hosts |
//! | `planning` | the plan of a request, from the registry |

mod compiled_rules;
mod explain;
mod groups;
mod hook;
mod hook_factory;
mod notices;
mod planning;
mod registry;
mod selection;
mod shadowed;
mod switched_off;
mod switches;
mod table;
#[allow(clippy::disallowed_methods, reason = "its callers show its paths")]
mod trust_decisions;
mod wildcard_worker;

pub use explain::{ExplainedHook, Explanation, NotRun};
pub use groups::{Group, Plan, PlannedHook};
pub use hook::Hook;
pub use registry::{HookListing, HookRegistry};
pub use switched_off::{Switch, SwitchedOff};
pub use trust_decisions::NOT_TRUSTED;
pub use wildcard_worker::WildcardWorker;

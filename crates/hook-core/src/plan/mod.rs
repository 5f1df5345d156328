//! Which hooks there are, and which of them an event runs, in which order, and why not the others.
//!
//! | file | what it holds |
//! | --- | --- |
//! | `hook` | one registered hook |
//! | `made`, `consent` | hooks made of what settings, the host and trust say |
//! | `every` | workers that say themselves which hooks they have |
//! | `switched_off`, `switches` | who switches hooks off |
//! | `groups`, `selection` | a plan, and how hooks get into it |
//! | `table` | the hooks that are on, with the plans made so far |
//! | `explain` | why each hook runs, or does not |
//! | `notices` | what everybody who fires an event should know |
//! | `registry` | all of it, for hosts |
//! | `planning` | the plan of a request, from the registry |

#[allow(clippy::disallowed_methods, reason = "its callers show its paths")]
mod consent;
mod every;
mod explain;
mod groups;
mod hook;
mod made;
mod notices;
mod planning;
mod registry;
mod selection;
mod shadowed;
mod switched_off;
mod switches;
mod table;

pub use every::OnEvery;
pub use explain::{ExplainedHook, Explanation, NotRun};
pub use groups::{Group, Plan, PlannedHook};
pub use hook::Hook;
pub use notices::NOT_TRUSTED;
pub use registry::{HookListing, HookRegistry};
pub use switched_off::{Switch, SwitchedOff};

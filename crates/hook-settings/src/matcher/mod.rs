//! Matchers: the tools, triggers and inputs that a hook is for (reference/events.md).
//!
//! | module | content |
//! | --- | --- |
//! | `compiled`, `rule`, `pattern` | matchers, their match with the event's subject, and patterns |
//! | `names` | patterns that consist only of tool names |
//! | `object` | the object form: names and patterns of tools |
//! | `filter` | the object form's conditions on the input: paths and commands |
//! | `globs`, `class`, `path` | globs, and the paths that they are compared with |
//! | `input` | the paths and commands of an input |
//! | `reach` | patterns that no name can match |

mod class;
mod compiled;
mod filter;
mod format_list;
mod globs;
mod input;
mod names;
mod object;
mod path;
mod pattern;
mod reach;
mod rule;

pub use compiled::Matcher;
pub use filter::{FilterOutcome, Unmatched};
pub use input::{Facts, HostDirectories, MatchInput};
pub(crate) use names::names_in;
pub use rule::{MatchOutcome, MatcherProblem};

//! Matchers: which tools, triggers and inputs a hook is for (protocol.md §2).
//!
//! | module | what it holds |
//! | --- | --- |
//! | `compiled`, `rule`, `pattern` | a matcher, what it says of the event's subject, and patterns |
//! | `named` | patterns that are nothing but names of tools |
//! | `object` | the object form: names and patterns of tools |
//! | `filter` | what the object form asks of the input: paths and commands |
//! | `globs`, `class`, `path` | globs, and the paths that they are compared with |
//! | `input` | which paths and commands an input has |
//! | `reach` | patterns that no name can match |

mod class;
mod compiled;
mod filter;
mod globs;
mod input;
mod listed;
mod named;
mod object;
mod path;
mod pattern;
mod reach;
mod rule;

pub use compiled::Matcher;
pub(crate) use filter::{FilterOutcome, Unmatched};
pub use input::MatchInput;
pub(crate) use input::{Facts, Surroundings};
pub(crate) use named::names_in;
pub use rule::{MatchOutcome, MatcherProblem};

//! Patterns for the names of tools, and the fallback if a pattern cannot be used.

use fancy_regex::{Regex, RegexBuilder};

use super::reach;
use super::rule::Rule;
use crate::{FailBehavior, javascript};
use hook_protocol::event::input::MAX_TOOL_NAME;

/// The limit on the work of one match, which is then given up and counts as a match. A lookaround
/// step may try each copy of a repetition at each byte of the name, so a pattern with many copies
/// gets fewer steps; one without gets some 200,000.
pub(super) const WORK_LIMIT: usize = 200_000_000;

/// The message about a guard whose matcher cannot work as intended.
pub(super) const RUNS_FOR_EVERYTHING: &str =
    "; the hook runs for everything, since its failBehavior is block";

/// Returns the rule of a hook whose matcher cannot be used at all.
pub(super) fn fallback_rule(fail_behavior: FailBehavior) -> Rule {
    match fail_behavior {
        FailBehavior::Block => Rule::Everything,
        FailBehavior::Continue => Rule::Nothing,
    }
}

/// Returns the fallback of a matcher that cannot be used, for a message.
pub(super) fn consequence(fail_behavior: FailBehavior) -> &'static str {
    match fail_behavior {
        FailBehavior::Block => RUNS_FOR_EVERYTHING,
        FailBehavior::Continue => "; the hook never runs",
    }
}

/// A pattern, and the reason if no tool's name can match it.
pub(super) struct Compiled {
    pub(super) pattern: Regex,
    pub(super) unreachable: Option<&'static str>,
}

pub(super) fn compile_pattern(source: &str) -> Result<Compiled, String> {
    let translated = javascript::to_rust_pattern(source).map_err(|error| error.to_string())?;
    // A pattern has at most some ten thousand copies, so it always has some steps.
    let steps = WORK_LIMIT / MAX_TOOL_NAME / translated.copies.max(1);
    let built = RegexBuilder::new(&translated.pattern).backtrack_limit(steps).build();
    let pattern = built.map_err(|error| error.to_string())?;
    let unreachable = match reach::is_delimited(source) {
        true => Some(reach::DELIMITED),
        false => reach::unreachable(&translated.pattern),
    };
    Ok(Compiled { pattern, unreachable })
}

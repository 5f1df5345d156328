//! Patterns for the names of tools, and what a hook does whose pattern cannot be used.

use fancy_regex::{Regex, RegexBuilder};

use super::reach;
use super::rule::Rule;
use crate::event::input::MAX_TOOL_NAME;
use crate::javascript;
use crate::settings::FailBehavior;

/// How much work one match may be before it is given up and counted as a match. A step that looks
/// around may try each copy of what is repeated at each byte of the name, so a pattern with many
/// copies has fewer steps; one without has some 200,000.
pub(super) const WORK_LIMIT: usize = 200_000_000;

/// What a guard does whose matcher cannot do what it seems to.
pub(super) const FOR_EVERYTHING: &str =
    "; the hook runs for everything, since its failBehavior is block";

/// What a hook does whose matcher cannot be used at all.
pub(super) fn when_broken(fail_behavior: FailBehavior) -> Rule {
    match fail_behavior {
        FailBehavior::Block => Rule::Everything,
        FailBehavior::Continue => Rule::Nothing,
    }
}

/// [`when_broken`], for a message.
pub(super) fn consequence(fail_behavior: FailBehavior) -> &'static str {
    match fail_behavior {
        FailBehavior::Block => FOR_EVERYTHING,
        FailBehavior::Continue => "; the hook never runs",
    }
}

/// A pattern, and why no tool's name can match it, if none can.
pub(super) struct Compiled {
    pub(super) pattern: Regex,
    pub(super) unreachable: Option<&'static str>,
}

pub(super) fn compile_pattern(source: &str) -> Result<Compiled, String> {
    let translated = javascript::to_rust_pattern(source).map_err(|error| error.to_string())?;
    // There are at most some ten thousand copies, and so always some steps.
    let steps = WORK_LIMIT / MAX_TOOL_NAME / translated.copies.max(1);
    let built = RegexBuilder::new(&translated.pattern).backtrack_limit(steps).build();
    let pattern = built.map_err(|error| error.to_string())?;
    let unreachable = match reach::is_slashed(source) {
        true => Some(reach::SLASHED),
        false => reach::unreachable(&translated.pattern),
    };
    Ok(Compiled { pattern, unreachable })
}

//! Decisions: the rules that match a call.

use std::ops::Range;

use crate::file::{Effect, Rule};
use crate::narrowing::InputFields;

/// The outcome for a call.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Decision {
    /// The rules that match, in the order of their files.
    pub matches: Vec<Match>,
}

impl Decision {
    /// Returns what the file of an index decides.
    pub fn of_file(&self, file: usize) -> Self {
        let matches = self.matches.iter().filter(|found| found.file == file);
        Self { matches: matches.cloned().collect() }
    }

    /// Returns the strictest effect; `None` if no rule matches.
    pub fn effect(&self) -> Option<Effect> {
        self.matches.iter().map(|found| found.effect).max()
    }
}

/// A rule that matches a call.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Match {
    /// The index of the rule's file among those of the rules.
    pub file: usize,
    /// The rule, as `FILE:id`; `FILE:opaque` for a command that cannot be read.
    pub rule: String,
    /// The effect.
    pub effect: Effect,
    /// The rule's message, or the reason why the command cannot be read.
    pub message: String,
    /// The part of the command, a path, or the like.
    pub subject: String,
    /// The byte range of the part in the command.
    pub range: Option<Range<usize>>,
}

/// The rules that match so far.
pub(crate) struct Found<'f> {
    pub(crate) matches: Vec<Match>,
    pub(crate) fields: InputFields<'f>,
}

impl Found<'_> {
    pub(crate) fn push(&mut self, new: Match) {
        match self.matches.iter_mut().find(|old| old.file == new.file && old.rule == new.rule) {
            Some(old) if old.effect < new.effect => *old = new,
            Some(_) => {}
            None => self.matches.push(new),
        }
    }

    /// Adds a rule whose subject matches, if it is not narrowed to other inputs.
    pub(crate) fn push_rule(&mut self, rule: &Rule, new: impl FnOnce() -> Match) {
        if rule.narrowing.iter().all(|condition| condition.holds(self.fields)) {
            self.push(new());
        }
    }
}

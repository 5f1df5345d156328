//! Subjects of rules, which may match a call.

use std::collections::BTreeSet;
use std::sync::Arc;

use crate::file::{Rule, RuleFile, Subject};

/// A subject of a rule, with the index of its file.
#[derive(Debug, Clone)]
pub(crate) struct Candidate {
    pub(crate) file: usize,
    pub(crate) rule: Arc<Rule>,
    subject: usize,
}

impl Candidate {
    pub(crate) fn subject(&self) -> Option<&Subject> {
        self.rule.subjects.get(self.subject)
    }
}

impl RuleFile {
    /// Returns the subjects of the rules that are parsed, without those of rules that are named as
    /// `FILE:id`.
    pub(crate) fn candidates(&self, file: usize, excepted: &BTreeSet<String>) -> Vec<Candidate> {
        let is_kept = |rule: &&Arc<Rule>| {
            excepted.is_empty() || !excepted.contains(&format!("{}:{}", self.name, rule.id))
        };
        let of_rule = |rule: &Arc<Rule>| {
            let rule = Arc::clone(rule);
            (0..rule.subjects.len()).map(move |subject| Candidate {
                file,
                rule: Arc::clone(&rule),
                subject,
            })
        };
        self.rules.iter().filter(is_kept).flat_map(of_rule).collect()
    }
}

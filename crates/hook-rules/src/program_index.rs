//! The rules about commands of all files by the program that they are about, so that a program is looked
//! up once. Rules of files that are known to have no mistakes are parsed when a program of theirs is
//! called: of thousands a command needs a few.

use std::collections::{BTreeSet, HashMap};
use std::sync::{Arc, Mutex, PoisonError};

use hook_shell::invocations::Invocation;

use crate::by_name::ByName;
use crate::call::Facts;
use crate::candidate::Candidate;
use crate::file::{RuleFile, ShellRule, Subject};
use crate::words::WordPattern;

/// The maximum number of programs whose rules are remembered.
const MAX_REMEMBERED: usize = 1_000;

/// The rules about commands.
#[derive(Debug, Default)]
pub(crate) struct ProgramIndex {
    /// The rules that are parsed.
    parsed: Vec<Candidate>,
    /// The files with rules that are not, with their indices.
    deferred: Vec<(usize, Arc<RuleFile>)>,
    excepted: BTreeSet<String>,
    by_program: Mutex<HashMap<Box<str>, Arc<ProgramRules>>>,
}

/// The rules about a program.
#[derive(Debug, Default)]
pub(crate) struct ProgramRules {
    /// The rules that want an operand of one of some names, by the name.
    by_operand: ByName<Candidate>,
    others: Vec<Candidate>,
}

impl ProgramIndex {
    pub(crate) fn of(files: &[Arc<RuleFile>], excepted: &BTreeSet<String>) -> Self {
        let deferred = files.iter().enumerate().filter(|(_, file)| file.deferred.is_some());
        let deferred = deferred.map(|(index, file)| (index, Arc::clone(file))).collect();
        Self { deferred, excepted: excepted.clone(), ..Self::default() }
    }

    /// Adds a rule that is parsed.
    pub(crate) fn push(&mut self, candidate: Candidate) {
        self.parsed.push(candidate);
    }

    /// Returns the rules about a program.
    pub(crate) fn about(&self, program: &str) -> Arc<ProgramRules> {
        let known = || self.by_program.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(rules) = known().get(program) {
            return Arc::clone(rules);
        }
        let rules = Arc::new(self.find(program));
        let mut known = known();
        if known.len() >= MAX_REMEMBERED {
            known.clear();
        }
        known.insert(program.into(), Arc::clone(&rules));
        rules
    }

    fn find(&self, program: &str) -> ProgramRules {
        let deferred = self.deferred.iter().filter_map(|(index, file)| {
            Some(file.deferred_about(program)?.candidates(*index, &self.excepted))
        });
        let (mut by_operand, mut others) = (Vec::new(), Vec::new());
        for candidate in self.parsed.iter().cloned().chain(deferred.flatten()) {
            let Some(Subject::Shell(shell)) = candidate.subject() else { continue };
            match shell.operands.iter().find_map(WordPattern::literals) {
                _ if !shell.is_about(program) => {}
                Some(names) => {
                    let named = names.into_iter().map(|name| (name.into(), candidate.clone()));
                    by_operand.extend(named.collect::<Vec<_>>());
                }
                None => others.push(candidate),
            }
        }
        ProgramRules { by_operand: by_operand.into_iter().collect(), others }
    }
}

impl ProgramRules {
    /// Returns the rules that may match an invocation; one that wants several of its operands comes
    /// several times.
    pub(crate) fn candidates<'r>(
        &'r self,
        invocation: &'r Invocation,
        facts: &Facts,
    ) -> impl Iterator<Item = &'r Candidate> {
        let operands = invocation.operands.iter();
        let operands =
            operands.map(|index| invocation.arguments.get(*index).map_or("", |it| &it.text));
        self.by_operand.candidates(operands, !facts.has_unknown).chain(&self.others)
    }
}

impl ShellRule {
    fn is_about(&self, program: &str) -> bool {
        self.programs.is_empty() || self.programs.iter().any(|pattern| pattern.matches(program))
    }
}

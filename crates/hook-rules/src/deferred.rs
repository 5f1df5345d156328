//! Rules about named programs, which are parsed when such a program is called: of thousands a command
//! needs a few.

use std::sync::Arc;

use crate::file::{Effect, Rule, RuleFile, ShellRule, Subject};
use crate::outline::Outline;
use crate::words::WordPattern;

impl RuleFile {
    /// Reads a file that is known to have no mistakes, such as that of an added pack: rules about named
    /// programs are parsed when such a program is called.
    pub fn parse_deferred(name: &str, text: &str) -> Self {
        Self::deferred_from(name, text).unwrap_or_else(|| Self::parse(name, text))
    }

    fn deferred_from(name: &str, text: &str) -> Option<Self> {
        let outline = Outline::of(text).filter(Outline::names_programs)?;
        let mut file = Self::parse(name, &outline.others());
        if !file.problems.is_empty() {
            return None;
        }
        if !outline.sets_opaque {
            file.opaque = outline.denies_commands().then_some(Effect::Ask);
        }
        file.deferred = Some(outline);
        Some(file)
    }

    /// Returns the deferred rules about a program, as a file of its own. If one of them is wrong, it
    /// denies the program.
    pub(crate) fn deferred_about(&self, program: &str) -> Option<Self> {
        let about = self.deferred.as_ref()?.about(program)?;
        let mut file = Self::parse(&self.name, &about);
        file.opaque = self.opaque;
        if let Some(problem) = file.problems.first() {
            let shell = ShellRule {
                programs: vec![WordPattern::Literal(program.to_owned())],
                ..ShellRule::default()
            };
            file.rules.push(Arc::new(Rule {
                id: "unreadable".to_owned(),
                line: 1,
                effect: Effect::Deny,
                message: format!("a rule about `{program}` cannot be read: {}", problem.message),
                subjects: vec![Subject::Shell(Box::new(shell))],
                narrowing: Vec::new(),
            }));
        }
        Some(file)
    }
}

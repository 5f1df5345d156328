//! Trust: hooks of a project run only what its user agreed to (protocol.md §1, "Trust").
//!
//! A decision is bound to a fingerprint of the hook's event, matcher, name, command and variables,
//! and of the file that the command runs if that file is in the project. A change of any of them asks again.
//!
//! [`TrustStore`] keeps the decisions. [`TrustStore::review`] says what would run and what changed since
//! it was trusted, and [`TrustStore::grant_reviewed`] trusts exactly what was shown.

mod fingerprint;
mod review;
mod store;

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

pub use fingerprint::fingerprint;
pub use review::{Change, Review, ReviewedScript, ScriptState, Standing};
pub use store::{Grant, Seen, SeenScript, TrustStore, TrustStoreError};

use crate::failure::HookFailure;
use crate::settings::{Diagnostic, HookEntry, Place, Rule};
use fingerprint::{Content, Keep, Program, fingerprint_of, first_word};

/// Which hooks of a project may run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TrustPolicy {
    /// None.
    Nothing,
    /// All, without asking. Right only where the host has asked in its own way.
    Everything,
    /// Those that the user agreed to, recorded in this store.
    Store(TrustStore),
}

impl TrustPolicy {
    /// Reads what is trusted, with what was wrong with the store.
    pub(crate) fn open(&self, project: &Path) -> (TrustedHooks, Vec<Diagnostic>) {
        match self {
            Self::Nothing => (TrustedHooks::Only(HashMap::new()), Vec::new()),
            Self::Everything => (TrustedHooks::All, Vec::new()),
            Self::Store(store) => match store.granted(project) {
                Ok(granted) => (TrustedHooks::only(granted), Vec::new()),
                Err(error) => {
                    let place = Place::of_file(store.path());
                    let diagnostic = Diagnostic::new(Rule::TrustStore, place, error.to_string());
                    (TrustedHooks::Only(HashMap::new()), vec![diagnostic])
                }
            },
        }
    }
}

/// What a project's user agreed to.
pub(crate) enum TrustedHooks {
    All,
    /// The fingerprints, by what tells hooks apart without looking at a file.
    Only(HashMap<Identity, Vec<String>>),
}

/// Event, name and command.
type Identity = (String, Option<String>, String);

impl TrustedHooks {
    pub(crate) fn decide(&self, entry: &HookEntry, project: &Path) -> Trust {
        let grants = match self {
            Self::All => return Trust::Given,
            Self::Only(grants) => grants,
        };
        // Nothing is hashed for hooks that nobody agreed to anyway.
        let identity = (entry.event.as_str().to_owned(), entry.name.clone(), entry.command.clone());
        let Some(granted) = grants.get(&identity) else {
            return Trust::Missing { changed: false };
        };
        match Granted::find(entry, project, granted) {
            Some(granted) => Trust::Checked(Arc::new(granted)),
            None => Trust::Missing { changed: true },
        }
    }

    fn only(granted: Vec<Grant>) -> Self {
        let mut grants: HashMap<Identity, Vec<String>> = HashMap::new();
        for grant in granted {
            let identity = (grant.event, grant.name, grant.command);
            grants.entry(identity).or_default().push(grant.fingerprint);
        }
        Self::Only(grants)
    }
}

/// Whether one hook may run.
#[derive(Debug)]
pub(crate) enum Trust {
    /// It may.
    Given,
    /// It may, as long as nothing changes.
    Checked(Arc<Granted>),
    /// It may not; either nobody agreed to it, or it is not any more what they agreed to.
    Missing { changed: bool },
}

impl Trust {
    pub(crate) fn is_given(&self) -> bool {
        !matches!(self, Self::Missing { .. })
    }
}

/// A hook that somebody agreed to.
#[derive(Debug)]
pub(crate) struct Granted {
    entry: HookEntry,
    project: PathBuf,
    fingerprint: String,
}

impl Granted {
    fn find(entry: &HookEntry, project: &Path, granted: &[String]) -> Option<Self> {
        let program = Program::of(entry, project, project, Keep::Nothing);
        let fingerprint = fingerprint_of(entry, program.as_ref());
        let known = granted.contains(&fingerprint) && is_covered(program.as_ref());
        known.then(|| Self { entry: entry.clone(), project: project.into(), fingerprint })
    }

    /// Whether the hook, run in that directory, is still the one that was agreed to. Reads the file
    /// that it runs.
    pub(crate) fn still_holds(&self, directory: &Path) -> Result<(), HookFailure> {
        // Where that directory is gone, the hook runs in the project.
        let directory = if directory.is_dir() { directory } else { &self.project };
        if self.holds_in(directory) {
            return Ok(());
        }
        let relative = first_word(&self.entry).filter(|word| Path::new(word).is_relative());
        Err(match relative {
            Some(script) if directory != self.project && self.holds_in(&self.project) => {
                HookFailure::UntrustedHere { script, directory: directory.into() }
            }
            _ => HookFailure::Untrusted,
        })
    }

    fn holds_in(&self, directory: &Path) -> bool {
        let program = Program::of(&self.entry, &self.project, directory, Keep::Nothing);
        is_covered(program.as_ref())
            && fingerprint_of(&self.entry, program.as_ref()) == self.fingerprint
    }
}

fn is_covered(program: Option<&Program>) -> bool {
    !matches!(program, Some(Program { content: Content::TooLong, .. }))
}

#[cfg(test)]
mod tests;

//! Which hooks of a project may run, and what was decided of each.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::earlier;
use super::files::{Keep, Mentioned};
use super::fingerprint::fingerprint_of;
use super::grant::{Grant, SeenFile};
use super::matching::{Match, Matched};
use super::store::TrustStore;
use crate::failure::HookFailure;
use crate::settings::{Diagnostic, FailBehavior, HookEntry, Place, Rule};

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
    /// Whether decisions of the user say what is trusted.
    pub(crate) fn is_of_store(&self) -> bool {
        matches!(self, Self::Store(_))
    }

    /// Reads what is trusted in each of these projects, with what was wrong with the store.
    pub(crate) fn open(&self, projects: &[&Path]) -> (Vec<TrustedHooks>, Option<Diagnostic>) {
        let nothing = || projects.iter().map(|_| TrustedHooks::Only(Vec::new())).collect();
        match self {
            Self::Nothing => (nothing(), None),
            Self::Everything => (projects.iter().map(|_| TrustedHooks::All).collect(), None),
            Self::Store(store) if !projects.is_empty() => match store.granted_in(projects) {
                Ok(granted) => (granted.into_iter().map(TrustedHooks::Only).collect(), None),
                Err(error) => {
                    let place = Place::of_file(store.path());
                    let diagnostic = Diagnostic::new(Rule::TrustStore, place, error.to_string());
                    (nothing(), Some(diagnostic))
                }
            },
            Self::Store(_) => (Vec::new(), None),
        }
    }
}

/// What a project's user agreed to.
pub(crate) enum TrustedHooks {
    /// Every hook.
    All,
    /// These decisions.
    Only(Vec<Grant>),
}

/// What the decisions about a project say of its hooks.
#[derive(Debug)]
pub(crate) struct Decisions {
    /// For each hook, in order.
    pub(crate) trust: Vec<Trust>,
    /// What was trusted and is not among the hooks any more, nor replaced by a later decision. A
    /// hook that is now on another event, or has both another name and another command, is gone.
    pub(crate) gone: Vec<Arc<Grant>>,
}

impl TrustedHooks {
    /// Whether nothing is trusted.
    pub(crate) fn is_empty(&self) -> bool {
        matches!(self, Self::Only(grants) if grants.is_empty())
    }

    /// Looks at all hooks of the project.
    pub(crate) fn decide(&self, entries: &[&HookEntry], project: &Path) -> Decisions {
        let grants = match self {
            Self::All => {
                let trust = entries.iter().map(|_| Trust::Given).collect();
                return Decisions { trust, gone: Vec::new() };
            }
            Self::Only(grants) => grants,
        };
        let matched = Matched::of(entries, grants, project, |index| {
            let entry = entries.get(index)?;
            let covered = Mentioned::by(entry).read(project, project, Keep::Nothing);
            covered.can_be_trusted().then(|| fingerprint_of(entry, &covered))
        });
        let shared = |grant: &Grant| Arc::new(grant.clone());
        let trust = entries.iter().zip(&matched.hooks).map(|(entry, found)| match *found {
            Match::Fits(grant) => {
                let form = match is_weakened(grant, grants) {
                    true => Form::Weakened,
                    false => Form::Current,
                };
                Granted::checked(entry, project, grant, form)
            }
            Match::FitsInPart(grant) => Granted::checked(entry, project, grant, Form::Earlier),
            Match::Was(grant) => Trust::Missing { before: Some(shared(grant)) },
            Match::WasOnAnotherEvent(_) | Match::None => Trust::Missing { before: None },
        });
        Decisions { trust: trust.collect(), gone: matched.gone.into_iter().map(shared).collect() }
    }
}

/// Whether one hook may run.
#[derive(Debug, Clone)]
pub(crate) enum Trust {
    /// It may.
    Given,
    /// It may, as long as nothing changes.
    Checked(Arc<Granted>),
    /// It may not.
    Missing {
        /// The decision about what it was before; `None` if it was never trusted.
        before: Option<Arc<Grant>>,
    },
}

impl Trust {
    /// The files that were agreed to, as they were then, where that has to be looked at: the same for
    /// all hooks that run the same.
    pub(crate) fn files(&self) -> Option<&str> {
        match self {
            Self::Checked(granted) => Some(&granted.files),
            Self::Given | Self::Missing { .. } => None,
        }
    }

    /// The decision that has to hold just before it runs.
    pub(crate) fn granted(&self) -> Option<&Arc<Granted>> {
        match self {
            Self::Checked(granted) => Some(granted),
            Self::Given | Self::Missing { .. } => None,
        }
    }

    pub(crate) fn is_given(&self) -> bool {
        !matches!(self, Self::Missing { .. })
    }

    /// The decision about what it was before it changed.
    pub(crate) fn before(&self) -> Option<&Grant> {
        match self {
            Self::Missing { before } => before.as_deref(),
            _ => None,
        }
    }

    /// What the hook's user should know at every run: that the decision is one of an earlier
    /// version.
    pub(crate) fn warning(&self) -> Option<String> {
        let Self::Checked(granted) = self else { return None };
        let warning = match granted.form {
            Form::Current => return None,
            Form::Weakened => {
                "it blocked when it failed as it was trusted last, and does not as it is now, which \
                 was trusted before; if that is meant, take back its trust with `hook trust \
                 --revoke` and trust it again"
            }
            Form::Earlier => {
                "it was trusted by an earlier version, whose decisions do not cover all that they \
                 cover now; run `hook trust` to review it"
            }
        };
        Some(warning.to_owned())
    }
}

/// Whether a decision that fits is about a hook that was trusted later as a guard, and is none by this
/// one.
fn is_weakened(grant: &Grant, grants: &[Grant]) -> bool {
    let is_guard = |grant: &Grant| grant.fail_behavior() == Some(FailBehavior::Block);
    if !grant.replaced || is_guard(grant) {
        return false;
    }
    let last = grants.iter().rev().find(|it| !it.replaced && it.is_akin_to(grant));
    last.is_some_and(is_guard)
}

/// What a decision is bound to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Form {
    /// As it is made today.
    Current,
    /// The same, but a later decision is about the hook as a guard, which it is not now.
    Weakened,
    /// As the first version made it.
    Earlier,
}

/// A hook that is trusted.
#[derive(Debug)]
pub(crate) struct Granted {
    entry: HookEntry,
    project: PathBuf,
    mentioned: Mentioned,
    fingerprint: String,
    /// The files that it covers, as they were.
    files: String,
    form: Form,
}

impl Granted {
    fn checked(entry: &HookEntry, project: &Path, grant: &Grant, form: Form) -> Trust {
        let fingerprint = grant.fingerprint.clone();
        let files = match &grant.seen {
            Some(seen) => {
                let said = |file: &SeenFile| {
                    let SeenFile { path, target, sha256, executable, .. } = file;
                    format!("{path:?} {target:?} {sha256:?} {executable:?}\n")
                };
                seen.all_files().map(said).collect()
            }
            None => fingerprint.clone(),
        };
        Trust::Checked(Arc::new(Self {
            files,
            entry: entry.clone(),
            mentioned: Mentioned::by(entry),
            project: project.into(),
            fingerprint,
            form,
        }))
    }

    /// Folders of the project's own loader of modules whose files are among those that were agreed to.
    pub(crate) fn loaders(&self) -> Vec<PathBuf> {
        self.mentioned.loaders(&self.project)
    }

    /// Whether the hook, run in that directory, is still the one that was agreed to. Reads the
    /// files that it names.
    pub(crate) fn still_holds(&self, directory: &Path) -> Result<(), HookFailure> {
        // Where that directory is gone, the hook runs in the project.
        let directory = if directory.is_dir() { directory } else { &self.project };
        if self.fingerprint_in(directory).as_ref() == Some(&self.fingerprint) {
            return Ok(());
        }
        if directory == self.project {
            return Err(HookFailure::Untrusted);
        }
        let covered = |directory| self.mentioned.read(&self.project, directory, Keep::Nothing);
        let (there, here) = (covered(&self.project), covered(directory));
        let is_here = |path: &Path| here.files.iter().any(|file| file.path == path);
        let script = there
            .files
            .iter()
            .find_map(|file| file.relative.as_ref().filter(|_| !is_here(&file.path)).cloned());
        let holds = self.fingerprint_in(&self.project).as_ref() == Some(&self.fingerprint);
        Err(match script {
            Some(script) if holds => {
                HookFailure::UntrustedHere { script, directory: directory.into() }
            }
            _ => HookFailure::Untrusted,
        })
    }

    /// The fingerprint of the hook when it is run in a directory; `None` if not all can be covered.
    fn fingerprint_in(&self, directory: &Path) -> Option<String> {
        match self.form {
            Form::Current | Form::Weakened => {
                let covered = self.mentioned.read(&self.project, directory, Keep::Nothing);
                covered.can_be_trusted().then(|| fingerprint_of(&self.entry, &covered))
            }
            Form::Earlier => earlier::fingerprint(&self.entry, &self.project, directory),
        }
    }
}

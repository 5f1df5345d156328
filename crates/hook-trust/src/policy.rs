//! The hooks of a project that may run, and the decision about each.

use std::path::Path;
use std::sync::Arc;

use super::advice::changed_reason;
use super::changes::Summary;
use super::copies::Copies;
use super::fingerprint::fingerprint;
use super::grant::Grant;
use super::granted::{Indexes, TrustedHook};
use super::matching::{Match, Matched};
use super::store::TrustStore;
use hook_settings::{Diagnostic, HookEntry, Location, Rule};

/// The rule by which hooks of a project are trusted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TrustPolicy {
    /// None.
    Nothing,
    /// All of them. Right only where the host asks its user in its own way.
    Everything,
    /// Those that the user agreed to, recorded in this store.
    Store(TrustStore),
}

impl TrustPolicy {
    /// Returns `true` if decisions of the user count.
    pub fn uses_store(&self) -> bool {
        matches!(self, Self::Store(_))
    }

    /// Returns `true` if something of one of these projects is trusted, or may be.
    pub fn knows_any<'p>(&self, mut projects: impl Iterator<Item = &'p Path>) -> bool {
        // If the store cannot be read, its contents are unknown.
        matches!(self, Self::Store(store) if store.knows_any(&mut projects).unwrap_or(true))
    }

    /// Reads what is trusted in each of these projects, with what was wrong with the store.
    pub fn open(&self, projects: &[&Path]) -> (Vec<TrustedHooks>, Option<Diagnostic>) {
        let of_grants = |grants| TrustedHooks::Only(grants, None);
        let nothing = || projects.iter().map(|_| of_grants(Vec::new())).collect();
        match self {
            Self::Nothing => (nothing(), None),
            Self::Everything => (projects.iter().map(|_| TrustedHooks::All).collect(), None),
            Self::Store(store) if !projects.is_empty() => match store.grants_in(projects) {
                Ok(granted) => {
                    let copies = || Some(store.copies().clone());
                    let with_copies = |grants| TrustedHooks::Only(grants, copies());
                    (granted.into_iter().map(with_copies).collect(), None)
                }
                Err(error) => {
                    let location = Location::of_file(store.path());
                    let diagnostic = Diagnostic::new(Rule::TrustStore, location, error.to_string());
                    (nothing(), Some(diagnostic))
                }
            },
            Self::Store(_) => (Vec::new(), None),
        }
    }
}

/// The hooks of a project that its user trusts.
#[derive(Debug)]
pub enum TrustedHooks {
    /// Every hook.
    All,
    /// These decisions, with the copies of what they are about.
    Only(Vec<Grant>, Option<Copies>),
}

/// The trust in a project's hooks.
#[derive(Debug)]
pub struct Decisions {
    /// For each hook, in order.
    pub trust: Vec<Trust>,
    /// Trusted hooks that the project no longer has, and that no later decision replaced. A hook that moved to another
    /// event, or has both another name and another command, is gone.
    pub gone: Vec<Arc<Grant>>,
}

impl TrustedHooks {
    /// Returns `true` if nothing is trusted.
    pub fn is_empty(&self) -> bool {
        matches!(self, Self::Only(grants, _) if grants.is_empty())
    }

    /// Looks at all hooks of the project.
    pub fn decide(&self, entries: &[&HookEntry], project: &Path) -> Decisions {
        let (grants, copies) = match self {
            Self::All => {
                let trust = entries.iter().map(|_| Trust::Always).collect();
                return Decisions { trust, gone: Vec::new() };
            }
            Self::Only(grants, copies) => (grants, copies.as_ref()),
        };
        let matched = Matched::of(entries, grants);
        let shared = |grant: &Grant| Arc::new(grant.clone());
        let mut indexes = Indexes::new_index(project, copies);
        let trust =
            entries.iter().zip(&matched.hooks).map(|(entry, matched_grant)| match *matched_grant {
                Match::Current(grant) => {
                    let trusted = TrustedHook::of(entry, grant, &mut indexes)
                        .map_or_else(|| Err(changed_reason(entry, None)), TrustedHook::verified);
                    match trusted {
                        Ok(granted) => Trust::Checked(Arc::new(granted)),
                        Err(reason) => Trust::changed(shared(grant), &reason),
                    }
                }
                Match::Changed(grant) => {
                    let change = Summary::of_settings(grant, entry);
                    Trust::changed(shared(grant), &changed_reason(entry, change.as_ref()))
                }
                Match::OtherEvent(_) | Match::None => Trust::NEVER,
            });
        Decisions { trust: trust.collect(), gone: matched.gone.into_iter().map(shared).collect() }
    }
}

impl TrustedHooks {
    /// A hook that is not in the settings any more, to be run from its copy; `None` where there is none, or
    /// where a decision does not say all of the hook.
    pub fn removed_hook(&self, grant: &Grant, project: &Path) -> Option<Arc<TrustedHook>> {
        let Self::Only(_, copies) = self else { return None };
        let entry =
            grant.to_entry(project).filter(|entry| fingerprint(entry) == grant.fingerprint)?;
        let mut indexes = Indexes::new_index(project, copies.as_ref());
        let trusted = TrustedHook::of(&entry, grant, &mut indexes)?.verified().ok()?;
        trusted.has_copy().then(|| Arc::new(trusted))
    }
}

/// The trust in one hook.
#[derive(Debug, Clone)]
pub enum Trust {
    /// It may.
    Always,
    /// It may, as long as nothing changes.
    Checked(Arc<TrustedHook>),
    /// It may not.
    Missing {
        /// The decision about what it was before; `None` if it was never trusted.
        before: Option<Arc<Grant>>,
        /// The change since, and what to do about it; `None` if it was never trusted.
        reason: Option<Arc<str>>,
    },
}

impl Trust {
    /// Nothing was decided.
    pub const NEVER: Self = Self::Missing { before: None, reason: None };

    /// A hook that changed since it was trusted.
    pub(crate) fn changed(before: Arc<Grant>, reason: &str) -> Self {
        Self::Missing { before: Some(before), reason: Some(reason.into()) }
    }

    /// The files that were agreed to, as they were then, where that has to be looked at: the same for
    /// all hooks that run the same.
    pub fn files(&self) -> Option<&str> {
        match self {
            Self::Checked(granted) => Some(granted.content_id()),
            Self::Always | Self::Missing { .. } => None,
        }
    }

    /// The decision that has to hold just before it runs.
    pub fn trusted_hook(&self) -> Option<&Arc<TrustedHook>> {
        match self {
            Self::Checked(granted) => Some(granted),
            Self::Always | Self::Missing { .. } => None,
        }
    }

    /// Returns `true` if the hook may run.
    pub fn is_trusted(&self) -> bool {
        !matches!(self, Self::Missing { .. })
    }

    /// The decision about what it was before it changed.
    pub fn before(&self) -> Option<&Grant> {
        match self {
            Self::Missing { before, .. } => before.as_deref(),
            _ => None,
        }
    }

    /// Returns the change since it was trusted, and what to do about it, for a hook that was.
    pub fn changed_reason(&self) -> Option<&Arc<str>> {
        match self {
            Self::Missing { reason, .. } => reason.as_ref(),
            _ => None,
        }
    }

    /// Returns the accepted reasons why not everything that it starts is known.
    pub fn opaque(&self) -> &[String] {
        self.trusted_hook().map_or(&[], |granted| granted.opaque())
    }
}

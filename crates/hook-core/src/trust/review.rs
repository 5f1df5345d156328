//! Looking at hooks before they are trusted.

use std::path::{Path, PathBuf};

use serde_json::Map;

use super::changes::{self, Change};
use super::files::{Keep, Mentioned};
use super::fingerprint::fingerprint_of;
use super::grant::{FORM, Grant, Seen, terms};
use super::matching::{Match, Matched};
use super::reviewed_file::ReviewedFile;
use crate::settings::{HookEntry, MatcherDefinition, WorkerRules};

/// A hook of a project as it was when it was reviewed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Review {
    /// The hook.
    pub entry: HookEntry,
    /// What a decision about it is bound to: to what stands here, whatever becomes of the files.
    pub fingerprint: String,
    /// The files of the project that a decision about it covers.
    pub files: Vec<ReviewedFile>,
    /// Files of the project that it names and that no decision covers, since its `data` takes them
    /// out.
    pub data: Vec<PathBuf>,
    /// Why the files that it may run are not all known, one reason each. A decision about such a
    /// hook has to be made in so many words: see [`accept_opaque`](Self::accept_opaque).
    pub opaque: Vec<String>,
    /// Whether it names more than a decision can cover.
    pub too_much: bool,
    pub(super) opaque_accepted: bool,
    /// What was decided about it before.
    pub standing: Standing,
}

/// What was decided about a hook before.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Standing {
    /// It is trusted.
    Trusted,
    /// Nothing that is known of.
    New,
    /// It was trusted, and is not what it was.
    Changed(Box<Grant>),
    /// It is what it was when it was trusted by an earlier version, whose decisions cover less. It
    /// runs, with a warning.
    Partly(Box<Grant>),
}

impl Review {
    /// Agrees that not every file that the hook may run is known: what it runs may change without
    /// anybody being asked. Without this, an opaque hook is refused by
    /// [`TrustStore::grant_reviewed`](super::TrustStore::grant_reviewed).
    #[doc(hidden)]
    pub fn accept_opaque(&mut self) {
        self.opaque_accepted = true;
    }

    /// Whether a decision is about the hook as it is.
    #[doc(hidden)]
    pub fn fits(&self, grant: &Grant) -> bool {
        match &self.standing {
            Standing::Partly(earlier) => earlier.fingerprint == grant.fingerprint,
            _ => self.fingerprint == grant.fingerprint,
        }
    }

    /// What changed since the hook was trusted; nothing for one that is, or that never was.
    pub fn changes(&self) -> Vec<Change> {
        match &self.standing {
            Standing::Trusted | Standing::New => Vec::new(),
            Standing::Changed(grant) => changes::since(grant, &self.entry, &self.files),
            Standing::Partly(_) => vec![Change::AlsoCovers { what: self.covers_now() }],
        }
    }

    /// How else the hook runs, by the key in settings; what is at its default is left out, and so is what
    /// holds for every hook of its kind. A string is as it is, all else JSON.
    #[doc(hidden)]
    pub fn terms(&self) -> std::collections::BTreeMap<String, String> {
        let entry = &self.entry;
        let mut terms = terms(entry);
        terms.retain(|name, _| match name.as_str() {
            // Nobody declared `*`.
            "startTimeout" => entry
                .worker
                .as_ref()
                .is_none_or(|rules| rules.start_timeout != WorkerRules::default().start_timeout),
            name => !(entry.event.is_every() && name.starts_with("event.")),
        });
        terms
    }

    /// What decisions of the first version did not cover.
    fn covers_now(&self) -> Vec<String> {
        let terms = self.terms().into_iter().map(|(name, value)| format!("{name} {value}"));
        let files = self.files.iter().map(|file| format!("file {}", file.path.display()));
        terms.chain(files).collect()
    }

    /// The fingerprint of the decision whose place a new one takes.
    pub(super) fn replaces(&self) -> Option<&str> {
        match &self.standing {
            Standing::Changed(grant) | Standing::Partly(grant) => Some(&grant.fingerprint),
            Standing::Trusted | Standing::New => None,
        }
    }

    /// The decision to trust it.
    pub(super) fn to_grant(&self) -> Grant {
        let text = self.entry.matcher.as_deref().and_then(MatcherDefinition::as_text);
        Grant {
            fingerprint: self.fingerprint.clone(),
            event: self.entry.event.as_str().to_owned(),
            name: self.entry.name.clone(),
            command: self.entry.command.clone(),
            form: FORM,
            replaced: false,
            seen: Some(Seen {
                at: format!("{:.0}", jiff::Timestamp::now()),
                matcher: text.map(str::to_owned),
                env: self.entry.env.clone(),
                terms: terms(&self.entry),
                script: None,
                files: self.files.iter().map(ReviewedFile::to_seen).collect(),
                unknown: Map::new(),
            }),
            unknown: Map::new(),
        }
    }
}

/// Looks at hooks of a project, of which some were trusted.
pub(super) fn review(project: &Path, entries: &[HookEntry], grants: &[Grant]) -> Vec<Review> {
    let mut reviews: Vec<Review> = entries
        .iter()
        .map(|entry| {
            let covered = Mentioned::by(entry).read(project, project, Keep::Bytes);
            Review {
                entry: entry.clone(),
                fingerprint: fingerprint_of(entry, &covered),
                too_much: !covered.can_be_trusted(),
                data: covered.data,
                opaque: covered.unknown.iter().map(ToString::to_string).collect(),
                opaque_accepted: false,
                files: covered.files.into_iter().map(ReviewedFile::of).collect(),
                standing: Standing::New,
            }
        })
        .collect();
    let fingerprint = |index: usize| reviews.get(index).map(|review| review.fingerprint.clone());
    let matched = Matched::of(&entries.iter().collect::<Vec<_>>(), grants, project, fingerprint);
    for (review, found) in reviews.iter_mut().zip(matched.hooks) {
        review.standing = match found {
            Match::Fits(_) => Standing::Trusted,
            Match::FitsInPart(grant) => Standing::Partly(Box::new(grant.clone())),
            Match::Was(grant) | Match::WasOnAnotherEvent(grant) => {
                Standing::Changed(Box::new(grant.clone()))
            }
            Match::None => Standing::New,
        };
    }
    reviews
}

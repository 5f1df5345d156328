//! Looking at hooks before they are trusted.

use std::path::{Path, PathBuf};
use std::time::SystemTime;

use serde_json::Map;

use super::advice::agent_of;
use super::changes::{self, Change};
use super::contents::Contents;
use super::copies::Copies;
use super::cover::{Cover, Covered};
use super::fingerprint::fingerprint;
use super::grant::{CURRENT_FORM, Grant, Seen, spec};
use super::matching::{Match, Matched};
use super::reviewed_file::ReviewedFile;
use super::tree::Scope;
use hook_protocol::timestamp_in_seconds;
use hook_settings::{
    HookEntry, IN_PROJECT, MatcherDefinition, WorkerRules, agents_of, searched_directories,
};

/// A hook of a project as it was when it was reviewed.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Review {
    /// The hook.
    pub entry: HookEntry,
    /// The fingerprint that a decision about it is bound to, beside its files.
    pub fingerprint: String,
    /// The digest of the folders that a decision about it covers, where it covers any.
    pub digest: Option<String>,
    /// These folders, and files that are covered alone, from the project on.
    pub folders: Vec<PathBuf>,
    /// The files in them.
    pub files: Vec<ReviewedFile>,
    /// Files in them that no decision covers, since its `data` takes them out.
    pub data: Vec<PathBuf>,
    /// Virtual environments in them, of which no decision covers what is installed.
    pub environments: Vec<PathBuf>,
    /// The reasons why not everything that it starts is known. Such a hook needs explicit consent: see
    /// [`accept_opaque`](Self::accept_opaque).
    pub opaque: Vec<String>,
    /// The reason why it runs in place instead of from a copy, if it does.
    pub in_place: Option<String>,
    /// Lines of its files by which they open others, which no decision covers.
    pub loading_lines: Vec<String>,
    /// The number of further such lines.
    pub more_loading_lines: usize,
    /// `true` if it is to block, instead of running from its copy, once its folder changes.
    pub strict: bool,
    /// `true` if the existing decision is strict.
    was_strict: bool,
    pub(super) opaque_accepted: bool,
    /// `true` if the project's own settings have it, or name its agent.
    from_settings: bool,
    pub(super) scope: Scope,
    /// The existing decision about it.
    pub status: TrustStatus,
    /// The files that were trusted, where they differ and are known.
    before: Option<Vec<ReviewedFile>>,
}

/// The existing decision about a hook.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TrustStatus {
    /// It is trusted.
    Trusted,
    /// It was never trusted.
    New,
    /// It was trusted, and is not what it was.
    Changed(Box<Grant>),
}

impl Review {
    fn of(entry: &HookEntry, project: &Path, contents: &Contents<'_>) -> Self {
        let cover = Cover::of(entry, project);
        let mut opaque: Vec<String> =
            cover.command.opaque.iter().map(ToString::to_string).collect();
        let covered = match cover.read(project, contents) {
            Some(Ok(covered)) => Some(covered),
            Some(Err(problem)) => {
                opaque.push(problem);
                None
            }
            None => None,
        };
        opaque.extend(cover.unknown_interpreters(project, project));
        let in_place = covered.as_ref().and_then(|covered| match opaque.is_empty() {
            true => cover.in_place_reason(entry, (project, contents), &covered.listing),
            false => Some("not all that it starts is known".to_owned()),
        });
        if in_place.is_some() && opaque.is_empty() {
            opaque.extend(cover.uncovered_search_paths(project));
            let listing = covered.as_ref().map(|covered| &covered.listing);
            opaque.extend(
                listing.into_iter().flat_map(|it| Cover::uncovered_compiled_files(contents, it)),
            );
        }
        let files = |covered: &Covered| {
            ReviewedFile::read(contents, &covered.listing, &cover.command.named_files(project))
        };
        let (mut loading_lines, more_loading_lines) =
            covered.as_ref().map(|covered| covered.loading_lines(contents)).unwrap_or_default();
        if let (Some(covered), None) = (&covered, &in_place) {
            loading_lines.extend(cover.lines_out_of_copy(
                entry,
                (project, contents),
                &covered.listing,
            ));
            loading_lines.sort();
            loading_lines.dedup();
        }
        let mut files = covered.as_ref().map(files).unwrap_or_default();
        for file in files.iter_mut().filter(|file| file.is_absent()) {
            // Its folder is not there either.
            let started = cover.scope.started.iter().find(|path| path.starts_with(&file.path));
            file.path = started.unwrap_or(&file.path).clone();
        }
        Self {
            entry: entry.clone(),
            fingerprint: fingerprint(entry),
            files,
            loading_lines,
            more_loading_lines,
            digest: covered.as_ref().map(|covered| covered.digest.clone()),
            folders: if covered.is_some() { cover.scope.roots.clone() } else { Vec::new() },
            environments: covered
                .as_ref()
                .map(|covered| covered.listing.environments.clone())
                .unwrap_or_default(),
            data: covered.map(|covered| covered.listing.data).unwrap_or_default(),
            opaque,
            in_place,
            strict: false,
            was_strict: false,
            opaque_accepted: false,
            from_settings: agent_of(entry).is_none_or(|agent| is_named(agent, project)),
            scope: cover.scope,
            status: TrustStatus::New,
            before: None,
        }
    }

    /// Makes a decision about it strict. A hook that runs in place always is.
    pub fn make_strict(&mut self) {
        self.strict |= self.digest.is_some() && self.in_place.is_none();
    }

    /// Returns `true` if the existing decision covers the hook as it is, as strictly as a new one would.
    pub fn is_decided(&self) -> bool {
        self.status == TrustStatus::Trusted && self.strict == self.was_strict
    }

    /// Accepts that not everything that the hook starts is known, and that it may change unnoticed. Without this,
    /// [`TrustStore::grant_reviewed`](super::TrustStore::grant_reviewed) refuses an opaque hook.
    pub fn accept_opaque(&mut self) {
        self.opaque_accepted = true;
    }

    /// Returns `true` if a decision is about the hook as it is.
    pub fn fits(&self, grant: &Grant) -> bool {
        self.fingerprint == grant.fingerprint
            && self.digest == grant.digest
            && self.opaque.is_empty() == grant.opaque.is_empty()
            && !grant.is_outdated()
    }

    /// Returns `true` if the hook goes on running from the copy of that decision, since only its files changed.
    pub fn runs_from_copy_of(&self, grant: &Grant) -> bool {
        let has_copy = grant.digest.is_some() && grant.in_place.is_none() && !grant.strict;
        has_copy && !grant.is_outdated() && self.fingerprint == grant.fingerprint
    }

    /// Returns the changes since the hook was trusted; none if it is, or never was.
    pub fn changes(&self) -> Vec<Change> {
        match &self.status {
            TrustStatus::Trusted | TrustStatus::New => Vec::new(),
            TrustStatus::Changed(grant) => changes::since(
                grant,
                &self.entry,
                (self.before.as_deref(), &self.files),
                (self.digest.as_deref(), &self.opaque),
            ),
        }
    }

    /// Returns the hook's other settings by their key, without defaults and what holds for every hook of its kind. A
    /// string is as it is, all else JSON.
    pub fn spec(&self) -> std::collections::BTreeMap<String, String> {
        let entry = &self.entry;
        let mut spec = spec(entry);
        spec.retain(|name, _| match name.as_str() {
            // `*` has no declaration.
            "startTimeout" => entry
                .worker
                .as_ref()
                .is_none_or(|rules| rules.start_timeout != WorkerRules::default().start_timeout),
            name => !(entry.event.is_wildcard() && name.starts_with("event.")),
        });
        spec
    }

    /// Returns the decision that a new one replaces.
    pub(super) fn replaces(&self) -> Option<&Grant> {
        match &self.status {
            TrustStatus::Changed(grant) => Some(grant),
            TrustStatus::Trusted | TrustStatus::New => None,
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
            form: CURRENT_FORM,
            replaced: false,
            replaces: self.replaces().map(|grant| grant.fingerprint.clone()),
            digest: self.digest.clone(),
            folders: self
                .folders
                .iter()
                .map(|folder| folder.to_string_lossy().into_owned())
                .collect(),
            in_place: self.in_place.clone(),
            opaque: self.opaque.clone(),
            strict: self.strict,
            from_settings: self.entry.foreign.is_some() && self.from_settings,
            in_agent_file: agent_of(&self.entry).is_some(),
            seen: Some(Seen {
                at: timestamp_in_seconds(SystemTime::now()),
                matcher: text.map(str::to_owned),
                env: self.entry.env.clone(),
                terms: spec(&self.entry),
                unknown: Map::new(),
            }),
            unknown: Map::new(),
        }
    }
}

/// Returns `true` if settings of the project, or of one around it, name an agent.
fn is_named(agent: &str, project: &Path) -> bool {
    let folders = searched_directories(project).into_iter();
    let settings = folders.map(|folder| folder.join(IN_PROJECT));
    settings.flat_map(|file| agents_of(&file)).any(|named| named == agent)
}

/// Looks at hooks of a project, of which some were trusted. What these were is looked for among the copies.
pub(super) fn review(
    project: &Path,
    entries: &[HookEntry],
    grants: &[Grant],
    copies: Option<&Copies>,
) -> Vec<Review> {
    let contents = Contents::of(project);
    let of_entry = |entry| Review::of(entry, project, &contents);
    let mut reviews: Vec<Review> = entries.iter().map(of_entry).collect();
    let matched = Matched::of(&entries.iter().collect::<Vec<_>>(), grants);
    for (review, matched_grant) in reviews.iter_mut().zip(matched.hooks) {
        review.status = match matched_grant {
            Match::Current(grant) if review.fits(grant) => {
                (review.strict, review.was_strict) = (grant.strict, grant.strict);
                TrustStatus::Trusted
            }
            Match::Current(grant) | Match::Changed(grant) | Match::OtherEvent(grant) => {
                (review.strict, review.was_strict) = (grant.strict, grant.strict);
                let digest = grant
                    .digest
                    .as_deref()
                    .filter(|digest| review.digest.as_deref() != Some(digest));
                review.before = digest.zip(copies).and_then(|(digest, copies)| {
                    let copy = copies.index(digest, &review.scope);
                    let listing = copy.listing().ok()?;
                    let path = copies.path(digest);
                    Some(ReviewedFile::read(&Contents::of(&path), &listing, &[]))
                });
                TrustStatus::Changed(Box::new(grant.clone()))
            }
            Match::None => TrustStatus::New,
        };
    }
    reviews
}

//! The file in which a user's decisions are kept.

use std::cell::RefCell;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::copies::Copies;
use super::fingerprint::hexadecimal;
use super::grant::Grant;
use super::matching::{Match, Matched};
use super::packs::AgreedPacks;
use super::review::{self, Review, TrustStatus};
use hook_files::absence;
use hook_files::atomic::{self, FileError, NewFile, ReplaceLock, ReplaceOutcome, none_if_missing};
use hook_files::plain_path::former_paths;
use hook_files::regular_file;
use hook_json::text::PathText;
use hook_settings::HookEntry;

/// The trust store could not be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TrustStoreError {
    /// It could not be read or written.
    #[error("failed to {attempt} the trust store {}: {source}", path.shown())]
    Io {
        /// The attempted action.
        attempt: &'static str,
        /// The store.
        path: PathBuf,
        /// The error of the system.
        source: io::Error,
    },
    /// A later version of the engine wrote it.
    #[error(
        "the trust store {} has version {version}, which this version of the engine does not \
         know; use the later one, or another store", path.shown()
    )]
    Newer {
        /// The store.
        path: PathBuf,
        /// Its version.
        version: u32,
    },
    /// It is not a trust store. The next decision sets it aside.
    #[error(
        "the trust store {} is damaged ({source}): no hook of a project is trusted; `hook trust` \
         trusts them again, and then sets the damaged store aside as {}", path.shown(), aside.shown()
    )]
    Damaged {
        /// The store.
        path: PathBuf,
        /// The path to which its contents will be moved.
        aside: PathBuf,
        /// The error in it.
        source: serde_json::Error,
    },
    /// The files of a hook that was to be trusted could not be copied, or changed meanwhile.
    #[error("the hook `{hook}` was not trusted, and nothing else was: failed to copy what it runs to {}: {source}", folder.shown())]
    Copy {
        /// The hook.
        hook: String,
        /// The folder of copies.
        folder: PathBuf,
        /// The error of the system.
        source: io::Error,
    },
    /// No decision of the project has that digest.
    #[error(
        "no decision with the digest `{digest}` is kept for this project (one that is taken back is \
         forgotten); `hook trust --list` shows those that are"
    )]
    UnknownDigest {
        /// The digest.
        digest: String,
    },
    /// The files of a hook that was to be trusted are not all known, and that was not agreed to.
    #[error(
        "the hook `{hook}` was not trusted, and nothing else was: not all that it starts is known \
         ({reasons}); agree to that by itself, or put the command into a script"
    )]
    Opaque {
        /// The hook.
        hook: String,
        /// The reasons why they are not known.
        reasons: String,
    },
}

/// The version of the store's format. What is only added to a [`Grant`] does not change it: other
/// versions ignore fields that they do not know, and keep them.
const VERSION: u32 = 1;

/// The greatest length of the store, in bytes: 64 MiB.
const MAX_STORE: u64 = 64 << 20;

/// The most replaced decisions that are kept of one project.
const MAX_REPLACED: usize = 64;

/// The most attempts of a change while a program writes the store without its lock.
const ATTEMPTS: usize = 8;

/// The file in which a user's decisions are kept, for all projects.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TrustStore {
    path: PathBuf,
    copies: Copies,
}

#[derive(Debug, Default, Serialize, Deserialize)]
struct Contents {
    version: u32,
    projects: BTreeMap<String, Vec<Grant>>,
    /// The packs that the user agreed to, by project.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    packs: BTreeMap<String, AgreedPacks>,
    #[serde(flatten)]
    unknown: Map<String, Value>,
}

/// The fields that every version of the format has.
#[derive(Debug, Deserialize)]
struct Versioned {
    version: u32,
}

impl TrustStore {
    /// The store in that file, which need not exist yet; copies of what is trusted are beside it, in `trusted`.
    pub fn new(path: impl Into<PathBuf>) -> Self {
        let path = path.into();
        let copies = Copies(path.with_file_name("trusted"));
        Self { path, copies }
    }

    /// Sets the folder of copies.
    #[must_use]
    pub fn with_copies(self, folder: impl Into<PathBuf>) -> Self {
        Self { copies: Copies(folder.into()), ..self }
    }

    pub(super) fn copies(&self) -> &Copies {
        &self.copies
    }

    /// Returns the folder of copies.
    pub fn copies_folder(&self) -> &Path {
        &self.copies.0
    }

    /// Returns the store's file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Returns the decisions about a project.
    ///
    /// # Errors
    /// If the store cannot be read, or is damaged. The next decision sets a damaged store aside; reading changes
    /// nothing.
    pub fn grants(&self, project: &Path) -> Result<Vec<Grant>, TrustStoreError> {
        let mut contents = self.read()?;
        let key = contents.key(project);
        let mut grants = contents.projects.remove(&key).unwrap_or_default();
        if key.contains(char::REPLACEMENT_CHARACTER) {
            // The first version kept decisions about several projects under such a key.
            grants.retain(|grant| grant.form > 1);
        }
        Ok(grants)
    }

    /// Returns the decisions about each of several projects; the store is read once.
    pub(crate) fn grants_in(&self, projects: &[&Path]) -> Result<Vec<Vec<Grant>>, TrustStoreError> {
        let contents = self.read()?;
        Ok(contents.in_each(projects, &contents.projects))
    }

    /// Returns the packs that the user agreed to in a project.
    ///
    /// # Errors
    /// As [`grants`](Self::grants).
    pub fn agreed_packs(&self, project: &Path) -> Result<AgreedPacks, TrustStoreError> {
        Ok(self.agreed_packs_in(&[project])?.pop().unwrap_or_default())
    }

    /// Returns the packs that the user agreed to in each of several projects; the store is read once.
    pub(crate) fn agreed_packs_in(
        &self,
        projects: &[&Path],
    ) -> Result<Vec<AgreedPacks>, TrustStoreError> {
        let contents = self.read()?;
        Ok(contents.in_each(projects, &contents.packs))
    }

    /// Returns `true` if there are decisions about one of these projects.
    pub(crate) fn knows_any<'p>(
        &self,
        mut projects: impl Iterator<Item = &'p Path>,
    ) -> Result<bool, TrustStoreError> {
        let contents = self.read()?;
        let is_known = |project: &Path| {
            let key = contents.key(project);
            contents.projects.get(&key).is_some_and(|grants| !grants.is_empty())
                || contents.packs.contains_key(&key)
        };
        Ok(projects.any(is_known))
    }

    /// Returns the digests of a pack that the user agreed to in any project.
    ///
    /// # Errors
    /// As [`grants`](Self::grants).
    pub fn agreed_digests(&self, name: &str) -> Result<HashSet<String>, TrustStoreError> {
        let packs = self.read()?.packs;
        let of_name = packs.values().filter_map(|packs| packs.get(name));
        Ok(of_name.map(|pack| pack.digest.clone()).collect())
    }

    /// Changes the packs that the user agrees to in a project.
    ///
    /// # Errors
    /// When the store cannot be read or written.
    pub fn agree_to_packs(
        &self,
        project: &Path,
        change: impl Fn(&mut AgreedPacks),
    ) -> Result<(), TrustStoreError> {
        self.change(
            || Ok(()),
            |contents| {
                let key = contents.key(project);
                let packs = contents.packs.entry(key.clone()).or_default();
                change(packs);
                if packs.is_empty() {
                    contents.packs.remove(&key);
                }
            },
        )
    }

    /// Reviews hooks of a project as they are now: what they would run, and whether it is trusted. Nothing of them
    /// runs.
    ///
    /// # Errors
    /// As `granted`.
    pub fn review(
        &self,
        project: &Path,
        entries: &[HookEntry],
    ) -> Result<Vec<Review>, TrustStoreError> {
        Ok(review::review(project, entries, &self.grants(project)?, Some(&self.copies)))
    }

    /// Looks at hooks of a project as if nothing was ever trusted, for a store that is damaged.
    pub fn review_untrusted(&self, project: &Path, entries: &[HookEntry]) -> Vec<Review> {
        review::review(project, entries, &[], None)
    }

    /// Trusts hooks of a project as they are now, whatever they are: for a host that asks its user in
    /// its own way. To see what is trusted, use [`review`](Self::review).
    ///
    /// # Errors
    /// If the store cannot be read or written.
    pub fn grant(&self, project: &Path, entries: &[HookEntry]) -> Result<(), TrustStoreError> {
        let granted = self.grants(project).unwrap_or_default();
        let mut reviews = review::review(project, entries, &granted, Some(&self.copies));
        reviews.iter_mut().for_each(Review::accept_opaque);
        self.grant_reviewed(project, &reviews)
    }

    /// Trusts hooks of a project as they were when they were reviewed. One that has changed since
    /// is not trusted.
    ///
    /// # Errors
    /// If the store cannot be read or written, the files of a hook cannot be copied or changed since, or a hook is
    /// opaque and that was not accepted ([`Review::accept_opaque`]). Then nothing is trusted.
    pub fn grant_reviewed<'r>(
        &self,
        project: &Path,
        reviews: impl IntoIterator<Item = &'r Review>,
    ) -> Result<(), TrustStoreError> {
        let reviews: Vec<&Review> = reviews.into_iter().collect();
        let is_refused = |review: &&&Review| !review.opaque.is_empty() && !review.opaque_accepted;
        if let Some(review) = reviews.iter().find(is_refused) {
            return Err(TrustStoreError::Opaque {
                hook: review.entry.display_name().to_owned(),
                reasons: review.opaque.join("; "),
            });
        }
        let grants: Vec<Grant> = reviews.iter().map(|review| review.to_grant()).collect();
        let prepare = || reviews.iter().try_for_each(|review| self.copy(project, review));
        self.change(prepare, |contents| {
            let granted = contents.projects.entry(contents.key(project)).or_default();
            granted.retain(|grant| !grants.iter().any(|new| new.is_equivalent(grant)));
            for (new, review) in grants.iter().zip(&reviews) {
                let replaced = review.replaces().map(|grant| &grant.fingerprint);
                let is_earlier = |grant: &Grant| {
                    Some(&grant.fingerprint) == replaced || grant.fingerprint == new.fingerprint
                };
                // What an earlier version meant by a decision does not come back.
                granted.retain(|grant| !(grant.is_outdated() && is_earlier(grant)));
                for grant in granted.iter_mut() {
                    grant.replaced |= is_earlier(grant);
                    // This is another hook than the one that replaced one like it.
                    if replaced.is_none() && grant.replaces.as_ref() == Some(&new.fingerprint) {
                        grant.replaces = None;
                    }
                }
                if !granted.iter().any(|grant| new.is_equivalent(grant)) {
                    granted.push(new.clone());
                }
            }
            let replaced = granted.iter().filter(|grant| grant.replaced).count();
            let mut surplus = replaced.saturating_sub(MAX_REPLACED);
            granted.retain(|grant| {
                let is_surplus = grant.replaced && surplus > 0;
                surplus -= usize::from(is_surplus);
                !is_surplus
            });
        })
    }

    /// Copies the files of a hook as they were reviewed. One that runs in place has a copy, too, which later shows what
    /// changed.
    fn copy(&self, project: &Path, review: &Review) -> Result<(), TrustStoreError> {
        let Some(digest) = &review.digest else { return Ok(()) };
        let copy = || {
            self.copies.check(project)?;
            let listing =
                review.scope.list(project).map_err(|error| io::Error::other(error.to_string()))?;
            self.copies.make(project, (&review.scope, &listing), digest)
        };
        copy().map_err(|source| TrustStoreError::Copy {
            hook: review.entry.display_name().to_owned(),
            folder: self.copies.0.clone(),
            source,
        })
    }

    /// Returns `true` if a hook is trusted as it is and its copy is missing or changed.
    pub fn has_broken_copy(&self, review: &Review) -> bool {
        let digest = review.digest.as_deref().filter(|_| review.status == TrustStatus::Trusted);
        digest.is_some_and(|digest| !self.copies.is_intact(digest, &review.scope))
    }

    /// Restores missing and changed copies of hooks that are trusted as they are. Returns their number.
    ///
    /// # Errors
    /// If they cannot be copied.
    pub fn restore<'r>(
        &self,
        project: &Path,
        reviews: impl IntoIterator<Item = &'r Review>,
    ) -> Result<usize, TrustStoreError> {
        let reviews = reviews.into_iter();
        let broken: Vec<&Review> = reviews.filter(|review| self.has_broken_copy(review)).collect();
        if !broken.is_empty() {
            let prepare = || broken.iter().try_for_each(|review| self.copy(project, review));
            self.change(prepare, |_| {})?;
        }
        Ok(broken.len())
    }

    /// Trusts again what was trusted before, by the beginning of its digest. Returns the decisions that now count.
    ///
    /// # Errors
    /// If the store cannot be read or written, or nothing with that digest was trusted in the project.
    pub fn reactivate(&self, project: &Path, digest: &str) -> Result<Vec<Grant>, TrustStoreError> {
        let matches_digest = |grant: &Grant| {
            let has_prefix = |found: &String| digest.len() >= 8 && found.starts_with(digest);
            grant.digest.as_ref().is_some_and(has_prefix) && !grant.is_outdated()
        };
        if !self.grants(project)?.iter().any(matches_digest) {
            return Err(TrustStoreError::UnknownDigest { digest: digest.to_owned() });
        }
        let used = RefCell::new(Vec::new());
        self.change(
            || Ok(()),
            |contents| {
                let granted = contents.projects.entry(contents.key(project)).or_default();
                let hooks = hooks_of(granted);
                // Of one hook the latest of them counts.
                let latest: HashMap<usize, usize> = granted
                    .iter()
                    .enumerate()
                    .filter(|(_, grant)| matches_digest(grant))
                    .filter_map(|(index, _)| Some((*hooks.get(index)?, index)))
                    .collect();
                for (index, (grant, hook)) in granted.iter_mut().zip(&hooks).enumerate() {
                    if let Some(selected) = latest.get(hook) {
                        grant.replaced = *selected != index;
                    }
                }
                let mut indexes: Vec<usize> = latest.into_values().collect();
                indexes.sort_unstable();
                let grants = indexes.into_iter().filter_map(|index| granted.get(index).cloned());
                *used.borrow_mut() = grants.collect();
            },
        )?;
        Ok(used.into_inner())
    }

    /// Returns the decisions about guards that are gone: none of these hooks of the project is one of them.
    ///
    /// # Errors
    /// As [`grants`](Self::grants).
    pub fn removed_guards(
        &self,
        project: &Path,
        entries: &[HookEntry],
    ) -> Result<Vec<Grant>, TrustStoreError> {
        let grants = self.grants(project)?;
        let matched = Matched::of(&entries.iter().collect::<Vec<_>>(), &grants);
        // A hook that is now trusted for another event replaces the earlier decision.
        let moved: Vec<&str> = matched.hooks.iter().filter_map(Match::moved).collect();
        let is_removed =
            |grant: &&Grant| grant.may_guard() && !moved.contains(&&*grant.fingerprint);
        Ok(matched.gone.into_iter().filter(is_removed).cloned().collect())
    }

    /// Forgets guards that are gone, and what was decided about them before.
    ///
    /// # Errors
    /// If the store cannot be read or written.
    pub fn forget_removed(&self, project: &Path, removed: &[Grant]) -> Result<(), TrustStoreError> {
        self.change(
            || Ok(()),
            |contents| {
                let key = contents.key(project);
                let Some(granted) = contents.projects.get_mut(&key) else { return };
                let hooks = hooks_of(granted);
                let is_removed = |grant: &Grant| {
                    removed.iter().any(|removed| removed.fingerprint == grant.fingerprint)
                };
                let removed_hooks: HashSet<usize> = hooks
                    .iter()
                    .zip(&*granted)
                    .filter(|(_, grant)| is_removed(grant))
                    .map(|(hook, _)| *hook)
                    .collect();
                let mut of_removed = hooks.iter().map(|hook| removed_hooks.contains(hook));
                granted.retain(|_| !of_removed.next().unwrap_or_default());
                if granted.is_empty() {
                    contents.projects.remove(&key);
                }
            },
        )
    }

    /// Takes back everything that was trusted in a project.
    ///
    /// # Errors
    /// If the store cannot be read or written.
    pub fn revoke(&self, project: &Path) -> Result<(), TrustStoreError> {
        self.change(
            || Ok(()),
            |contents| {
                let key = contents.key(project);
                contents.projects.remove(&key);
                contents.packs.remove(&key);
            },
        )
    }

    /// Takes back the decisions with these fingerprints.
    ///
    /// # Errors
    /// If the store cannot be read or written.
    pub fn revoke_grants(
        &self,
        project: &Path,
        fingerprints: &[String],
    ) -> Result<(), TrustStoreError> {
        let fingerprints: HashSet<&String> = fingerprints.iter().collect();
        self.change(
            || Ok(()),
            |contents| {
                let key = contents.key(project);
                let Some(granted) = contents.projects.get_mut(&key) else { return };
                granted.retain(|grant| !fingerprints.contains(&grant.fingerprint));
                if granted.is_empty() {
                    contents.projects.remove(&key);
                }
            },
        )
    }

    /// Reads the store. Nothing is written.
    fn read(&self) -> Result<Contents, TrustStoreError> {
        match regular_file::read(&self.path, MAX_STORE) {
            Ok(bytes) => self.contents(&bytes),
            Err(_) if absence::is_absent(&self.path) => Ok(Contents::default()),
            Err(source) => Err(self.io("read", source)),
        }
    }

    /// Parses the store.
    fn contents(&self, bytes: &[u8]) -> Result<Contents, TrustStoreError> {
        if let Ok(Versioned { version }) = serde_json::from_slice(bytes)
            && version > VERSION
        {
            return Err(TrustStoreError::Newer { path: self.path.clone(), version });
        }
        serde_json::from_slice(bytes).map_err(|source| {
            let path = self.path.clone();
            TrustStoreError::Damaged { aside: self.free_backup_path(), path, source }
        })
    }

    /// Returns a free path for a damaged store: beside the file itself, not beside a link to it.
    fn free_backup_path(&self) -> PathBuf {
        let real = fs::canonicalize(&self.path).unwrap_or_else(|_| self.path.clone());
        let backup_path = |number: u32| real.with_extension(format!("damaged-{number}.json"));
        (1..)
            .map(backup_path)
            .find(|backup_path| !backup_path.exists())
            .unwrap_or_else(|| backup_path(0))
    }

    /// Replaces the store with a changed one, under its lock. A damaged one is copied aside first. `prepare` runs under
    /// the same lock before; copies that no decision refers to are removed afterwards.
    fn change(
        &self,
        prepare: impl FnOnce() -> Result<(), TrustStoreError>,
        change: impl Fn(&mut Contents),
    ) -> Result<(), TrustStoreError> {
        let io = |failed: FileError| self.io(failed.attempt, failed.source);
        let file = ReplaceLock::acquire(&self.path).map_err(io)?;
        prepare()?;
        for _ in 0..ATTEMPTS {
            let before = none_if_missing(regular_file::read(file.path(), MAX_STORE));
            let before = before.map_err(|source| self.io("read", source))?;
            let read = before.as_deref().map(|bytes| (bytes, self.contents(bytes)));
            let (mut contents, aside) = match read {
                None => (Contents::default(), None),
                Some((bytes, Err(TrustStoreError::Damaged { aside, .. }))) => {
                    let copied = atomic::create(&aside, bytes, NewFile::Private);
                    copied.map_err(|source| self.io("set aside", source))?;
                    (Contents::default(), Some(aside))
                }
                Some((_, read)) => (read?, None),
            };
            contents.version = VERSION;
            change(&mut contents);
            let mut text = serde_json::to_vec_pretty(&contents)
                .map_err(|error| self.io("write", error.into()))?;
            text.extend_from_slice(b"\n");
            match file.replace(before.as_deref(), &text, NewFile::Private).map_err(io)? {
                ReplaceOutcome::Replaced => {
                    let grants = contents.projects.values().flatten();
                    let digests = grants.clone().filter_map(|grant| grant.digest.as_deref());
                    let digests: HashSet<&str> = digests.collect();
                    self.copies.retain(&digests);
                    let fingerprints = grants.map(|grant| &*grant.fingerprint);
                    self.copies.retain_caches(&digests.into_iter().chain(fingerprints).collect());
                    return Ok(());
                }
                ReplaceOutcome::Conflict => {
                    // It was written without the lock: it need not be damaged any more.
                    if let Some(aside) = aside {
                        let _ = fs::remove_file(aside);
                    }
                }
            }
        }
        Err(self.io("write", io::Error::other("something else keeps changing it")))
    }

    fn io(&self, attempt: &'static str, source: io::Error) -> TrustStoreError {
        TrustStoreError::Io { attempt, path: self.path.clone(), source }
    }
}

/// Returns for each decision the hook that it is about, as the index of one decision about it. Decisions with one
/// fingerprint are about one hook, and so is a decision with the one that it replaced.
fn hooks_of(grants: &[Grant]) -> Vec<usize> {
    let mut hooks: Vec<usize> = (0..grants.len()).collect();
    let mut by_fingerprint: HashMap<&str, usize> = HashMap::new();
    for (index, grant) in grants.iter().enumerate() {
        let first = *by_fingerprint.entry(&grant.fingerprint).or_insert(index);
        hooks[index] = first;
    }
    for grant in grants {
        let of = |fingerprint: &str| {
            by_fingerprint.get(fingerprint).and_then(|index| hooks.get(*index)).copied()
        };
        let earlier = grant.replaces.as_deref().and_then(of);
        if let (Some(earlier), Some(own)) = (earlier, of(&grant.fingerprint)) {
            hooks.iter_mut().filter(|hook| **hook == own).for_each(|hook| *hook = earlier);
        }
    }
    hooks
}

impl Contents {
    /// Returns the decisions about each project; none for a further path of the same project.
    fn in_each<T: Clone + Default>(
        &self,
        projects: &[&Path],
        decisions: &BTreeMap<String, T>,
    ) -> Vec<T> {
        let mut known = HashSet::new();
        let mut of_project = |project: &&Path| {
            let key = self.key(project);
            let found = decisions.get(&key).filter(|_| !known.contains(&key)).cloned();
            known.insert(key);
            found.unwrap_or_default()
        };
        projects.iter().map(&mut of_project).collect()
    }

    /// Returns the key of a project: its real path, so that a link to it is the same project. A folder that was
    /// moved away, and is reached through a link now, keeps the decisions about its path.
    fn key(&self, project: &Path) -> String {
        let mut keys = former_paths(project).into_iter().map(|path| text_of(&path));
        let real = keys.next().unwrap_or_default();
        let is_known =
            |key: &String| self.projects.contains_key(key) || self.packs.contains_key(key);
        keys.find(is_known).unwrap_or(real)
    }
}

/// Returns a path as text. One that is no text is written by its bytes, behind a word that no absolute path begins
/// with: two projects never have the same key.
fn text_of(path: &Path) -> String {
    match path.to_str() {
        Some(text) => text.to_owned(),
        None => format!("bytes:{}", hexadecimal(path.as_os_str().as_encoded_bytes())),
    }
}

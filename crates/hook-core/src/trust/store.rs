//! The file in which a user's decisions are kept.

use std::collections::{BTreeMap, HashSet};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::fingerprint::hexadecimal;
use super::grant::Grant;
use super::review::{self, Review};
use super::reviewed_file::FileState;
use crate::files::absence;
use crate::files::atomic::{self, Exclusive, Failed, NewFile, Replaced, absent_is_none};
use crate::files::regular_file;
use crate::settings::HookEntry;

/// The trust store could not be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TrustStoreError {
    /// It could not be read or written.
    #[error("failed to {attempt} the trust store {}: {source}", path.display())]
    Io {
        /// What was attempted.
        attempt: &'static str,
        /// The store.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// A later version of the engine wrote it.
    #[error(
        "the trust store {} has version {version}, which this version of the engine does not \
         know; use the later one, or another store", path.display()
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
         trusts them again, and then sets the damaged store aside as {}", path.display(), aside.display()
    )]
    Damaged {
        /// The store.
        path: PathBuf,
        /// Where its contents will be.
        aside: PathBuf,
        /// What is wrong with it.
        source: serde_json::Error,
    },
    /// A file of a hook that was to be trusted is longer than 64 MiB.
    #[error(
        "the hook `{hook}` cannot be trusted: its file {} is longer than 64 MiB, and would be read \
         before each run; nothing was trusted; start it by a short script", file.display()
    )]
    TooLong {
        /// The hook.
        hook: String,
        /// Its file.
        file: PathBuf,
    },
    /// A hook that was to be trusted names more than a decision can cover.
    #[error(
        "the hook `{hook}` cannot be trusted: its command names more files or directories than are \
         looked at, or is too long; nothing was trusted; start it by a script, and name that alone"
    )]
    TooMuch {
        /// The hook.
        hook: String,
    },
    /// The files of a hook that was to be trusted are not all known, and that was not agreed to.
    #[error(
        "the hook `{hook}` was not trusted, and nothing else was: the files that it may run are not \
         all known ({reasons}); agree to that by itself, or put the command into a script"
    )]
    Opaque {
        /// The hook.
        hook: String,
        /// Why they are not.
        reasons: String,
    },
}

/// The version of the store's format. What is only added to a [`Grant`] does not change it: other
/// versions ignore fields that they do not know, and keep them.
const VERSION: u32 = 1;

/// How long the store may be, in bytes: 64 MiB.
const MAX_STORE: u64 = 64 << 20;

/// How often a change starts over when a program writes the store without its lock.
const ATTEMPTS: usize = 8;

/// The file in which a user's decisions are kept, for all projects.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TrustStore {
    path: PathBuf,
}

#[derive(Debug, Default, Serialize, Deserialize)]
struct Contents {
    version: u32,
    projects: BTreeMap<String, Vec<Grant>>,
    #[serde(flatten)]
    unknown: Map<String, Value>,
}

/// What every version of the format has, whatever else a later one changes.
#[derive(Debug, Deserialize)]
struct Versioned {
    version: u32,
}

impl TrustStore {
    /// The store in that file, which need not exist yet.
    pub fn new(path: impl Into<PathBuf>) -> Self {
        Self { path: path.into() }
    }

    /// The store's file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// What is trusted in a project.
    ///
    /// # Errors
    /// When the store cannot be read, or is damaged. Reading changes nothing about that: the next
    /// decision sets a damaged store aside.
    pub fn granted(&self, project: &Path) -> Result<Vec<Grant>, TrustStoreError> {
        let key = key(project);
        let mut granted = self.read()?.projects.remove(&key).unwrap_or_default();
        if key.contains(char::REPLACEMENT_CHARACTER) {
            // The first version kept decisions about several projects under such a key.
            granted.retain(|grant| !grant.is_of_earlier_form());
        }
        Ok(granted)
    }

    /// What is trusted in each of several projects; the store is read once.
    pub(crate) fn granted_in(
        &self,
        projects: &[&Path],
    ) -> Result<Vec<Vec<Grant>>, TrustStoreError> {
        let granted = self.read()?.projects;
        let of = |project: &&Path| granted.get(&key(project)).cloned().unwrap_or_default();
        Ok(projects.iter().map(of).collect())
    }

    /// Looks at hooks of a project as they are now: what they would run, whether that is trusted,
    /// and what else was. Nothing of them runs.
    ///
    /// # Errors
    /// As [`granted`](Self::granted).
    pub fn review(
        &self,
        project: &Path,
        entries: &[HookEntry],
    ) -> Result<Vec<Review>, TrustStoreError> {
        Ok(review::review(project, entries, &self.granted(project)?))
    }

    /// The same as if nothing was ever trusted, for a store that is damaged.
    #[doc(hidden)]
    pub fn review_anew(&self, project: &Path, entries: &[HookEntry]) -> Vec<Review> {
        review::review(project, entries, &[])
    }

    /// Trusts hooks of a project as they are now, whatever they are: for a host that asks its user in
    /// its own way. To see what is trusted, use [`review`](Self::review).
    ///
    /// # Errors
    /// When the store cannot be read or written.
    pub fn grant(&self, project: &Path, entries: &[HookEntry]) -> Result<(), TrustStoreError> {
        let mut reviews =
            review::review(project, entries, &self.granted(project).unwrap_or_default());
        reviews.iter_mut().for_each(Review::accept_opaque);
        self.grant_reviewed(project, &reviews)
    }

    /// Trusts hooks of a project as they were when they were reviewed. One that has changed since
    /// is not trusted.
    ///
    /// # Errors
    /// When the store cannot be read or written; when the files of a hook are too long or too many
    /// to be covered; when they are not all known and that was not agreed to
    /// ([`Review::accept_opaque`]). Then nothing is trusted.
    pub fn grant_reviewed<'r>(
        &self,
        project: &Path,
        reviews: impl IntoIterator<Item = &'r Review>,
    ) -> Result<(), TrustStoreError> {
        let reviews: Vec<&Review> = reviews.into_iter().collect();
        let too_long = |review: &&Review| {
            let file = review.files.iter().find(|file| file.state == FileState::TooLong)?;
            Some(TrustStoreError::TooLong {
                hook: review.entry.display_name().to_owned(),
                file: file.path.clone(),
            })
        };
        let too_much = |review: &&Review| {
            let hook = review.entry.display_name().to_owned();
            review.too_much.then_some(TrustStoreError::TooMuch { hook })
        };
        let opaque = |review: &&Review| {
            let refused = !review.opaque.is_empty() && !review.opaque_accepted;
            refused.then(|| TrustStoreError::Opaque {
                hook: review.entry.display_name().to_owned(),
                reasons: review.opaque.join("; "),
            })
        };
        let refused = |review: &&Review| {
            too_long(review).or_else(|| too_much(review)).or_else(|| opaque(review))
        };
        if let Some(refused) = reviews.iter().find_map(refused) {
            return Err(refused);
        }
        let mut added = HashSet::new();
        let replaced: HashSet<&str> = reviews.iter().filter_map(|it| it.replaces()).collect();
        let grants: Vec<Grant> = reviews
            .iter()
            .filter(|review| added.insert(review.fingerprint.clone()))
            .map(|review| review.to_grant())
            .collect();
        self.change(|contents| {
            let granted = contents.projects.entry(key(project)).or_default();
            granted.retain(|grant| !added.contains(&grant.fingerprint));
            // A decision that is bound to less must not outlive the one that is bound to more.
            let bound = |grant: &Grant| {
                grant.is_of_earlier_form() && grants.iter().any(|new| new.covers_the_same(grant))
            };
            granted.retain(|grant| !bound(grant));
            for earlier in granted.iter_mut() {
                earlier.replaced |= replaced.contains(&*earlier.fingerprint);
            }
            let again: HashSet<_> = grants.iter().map(Grant::identity).collect();
            for earlier in granted.iter_mut().filter(|grant| again.contains(&grant.identity())) {
                earlier.forget_content();
            }
            granted.extend(grants.iter().cloned());
        })
    }

    /// Takes back everything that was trusted in a project.
    ///
    /// # Errors
    /// When the store cannot be read or written.
    pub fn revoke(&self, project: &Path) -> Result<(), TrustStoreError> {
        self.change(|contents| {
            contents.projects.remove(&key(project));
        })
    }

    /// Takes back the decisions with these fingerprints.
    ///
    /// # Errors
    /// When the store cannot be read or written.
    #[doc(hidden)]
    pub fn revoke_grants(
        &self,
        project: &Path,
        fingerprints: &[String],
    ) -> Result<(), TrustStoreError> {
        let fingerprints: HashSet<&String> = fingerprints.iter().collect();
        self.change(|contents| {
            let key = key(project);
            let Some(granted) = contents.projects.get_mut(&key) else { return };
            granted.retain(|grant| !fingerprints.contains(&grant.fingerprint));
            if granted.is_empty() {
                contents.projects.remove(&key);
            }
        })
    }

    /// What the store says. Nothing is written.
    fn read(&self) -> Result<Contents, TrustStoreError> {
        match regular_file::read(&self.path, MAX_STORE) {
            Ok(bytes) => self.contents(&bytes),
            Err(_) if absence::is_absent(&self.path) => Ok(Contents::default()),
            Err(source) => Err(self.io("read", source)),
        }
    }

    /// What the store's bytes say.
    fn contents(&self, bytes: &[u8]) -> Result<Contents, TrustStoreError> {
        if let Ok(Versioned { version }) = serde_json::from_slice(bytes)
            && version > VERSION
        {
            return Err(TrustStoreError::Newer { path: self.path.clone(), version });
        }
        serde_json::from_slice(bytes).map_err(|source| {
            let path = self.path.clone();
            TrustStoreError::Damaged { aside: self.free_place_aside(), path, source }
        })
    }

    /// Where no earlier damaged store was set aside: beside the file itself, not beside a link.
    fn free_place_aside(&self) -> PathBuf {
        let real = fs::canonicalize(&self.path).unwrap_or_else(|_| self.path.clone());
        let place = |number: u32| real.with_extension(format!("damaged-{number}.json"));
        (1..).map(place).find(|place| !place.exists()).unwrap_or_else(|| place(0))
    }

    /// Changes the store as a whole: under a lock, to a new file that then takes its place. A
    /// damaged one is copied aside before.
    fn change(&self, change: impl Fn(&mut Contents)) -> Result<(), TrustStoreError> {
        let io = |failed: Failed| self.io(failed.attempt, failed.source);
        let file = Exclusive::wait(&self.path).map_err(io)?;
        for _ in 0..ATTEMPTS {
            let before = absent_is_none(regular_file::read(file.path(), MAX_STORE));
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
                Replaced::Done => return Ok(()),
                Replaced::ChangedMeanwhile => {
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

/// A project by its real path, so that a link to it is the same project. A path that is no text is
/// written by its bytes, behind a word that no absolute path begins with: two projects never have
/// the same key.
fn key(project: &Path) -> String {
    let real = fs::canonicalize(project).or_else(|_| std::path::absolute(project));
    let real = real.unwrap_or_else(|_| project.to_path_buf());
    match real.to_str() {
        Some(text) => text.to_owned(),
        None => format!("bytes:{}", hexadecimal(real.as_os_str().as_encoded_bytes())),
    }
}

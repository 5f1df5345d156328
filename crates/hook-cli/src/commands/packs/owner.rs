//! The owner of packs: the user, or a project with everyone who works on it.

use std::collections::{BTreeSet, HashSet};
use std::path::{Path, PathBuf};

use hook_files::atomic::{NewFile, ReplaceLock, ReplaceOutcome, none_if_missing};
use hook_files::{project_file, regular_file};
use hook_json::text::PathText;
use hook_settings::{IN_PROJECT, LockedPack, MAX_PACK_LOCK, PackLock, check_pack_name};
use hook_trust::{PackFiles, PackStore, TrustStore};

use crate::context::Context;
use crate::error::{CommandError, Result};

/// How often a change starts over when a program writes the lock meanwhile.
const ATTEMPTS: usize = 8;

/// The owner of packs, with the lock that names them.
#[derive(Debug)]
pub(super) struct Owner {
    /// The lock.
    path: PathBuf,
    /// The project, if it is the owner.
    project: Option<PathBuf>,
    store: PackStore,
    trust: TrustStore,
    /// The lock of the user, whatever owns these packs.
    user_lock: PathBuf,
}

impl Owner {
    pub(super) fn of(context: &Context, shared: bool) -> Result<Self> {
        let user_lock = PackLock::path(&context.user_file()?);
        let project = shared.then(|| context.project().to_path_buf());
        let path = match &project {
            Some(project) => PackLock::path(&project.join(IN_PROJECT)),
            None => user_lock.clone(),
        };
        Ok(Self {
            path,
            project,
            store: PackStore::of_user().ok_or(CommandError::NoHome)?,
            trust: context.trust_store().ok_or(CommandError::NoHome)?,
            user_lock,
        })
    }

    /// Returns the folder at which relative sources begin.
    pub(super) fn folder(&self) -> Option<&Path> {
        self.project.as_deref()
    }

    pub(super) fn lock_path(&self) -> PathBuf {
        self.path.clone()
    }

    pub(super) fn is_project(&self) -> bool {
        self.project.is_some()
    }

    pub(super) fn lock(&self) -> Result<PackLock> {
        PackLock::read(&self.path).map_err(|error| {
            CommandError::Pack(format!("the lock {} cannot be read: {error}", self.path.shown()))
        })
    }

    /// Returns the files of an added pack; `None` if they are not there as they were added.
    pub(super) fn installed(&self, name: &str, locked: &LockedPack) -> Option<PackFiles> {
        self.store.installed(name, &locked.digest)
    }

    /// Returns `true` if the user agreed to a pack, and its files are as they were added.
    pub(super) fn is_complete(&self, name: &str, locked: &LockedPack) -> Result<bool> {
        let is_agreed = match &self.project {
            Some(project) => {
                let agreed = self.trust.agreed_packs(project)?;
                agreed.get(name).is_some_and(|agreed| agreed.digest == locked.digest)
            }
            None => true,
        };
        Ok(is_agreed && self.store.is_intact(name, &locked.digest))
    }

    /// Copies the files of a pack.
    pub(super) fn copy(&self, name: &str, files: &PackFiles) -> Result<PathBuf> {
        self.check_links()?;
        self.store
            .install(name, files)
            .map_err(|error| CommandError::Pack(format!("failed to copy the pack {name}: {error}")))
    }

    /// Records a pack whose files are copied. Until the lock is written all is as it was before.
    pub(super) fn record(&self, name: &str, locked: &LockedPack) -> Result<()> {
        self.change(|lock| {
            lock.packs.insert(name.to_owned(), locked.clone());
        })?;
        if let Some(project) = &self.project {
            self.trust.agree_to_packs(project, |packs| {
                packs.insert(name.to_owned(), locked.clone());
            })?;
        }
        self.clean(name)
    }

    /// Takes a pack out of the lock. Returns `false` if it is not in it.
    pub(super) fn remove(&self, name: &str) -> Result<bool> {
        // Another text may name another folder, or the rules that only `hook trust` takes out.
        if check_pack_name(name).is_err() {
            return Ok(false);
        }
        let mut is_known = self.lock()?.packs.contains_key(name);
        if is_known {
            self.change(|lock| {
                lock.packs.remove(name);
            })?;
        }
        if let Some(project) = &self.project
            && self.trust.agreed_packs(project)?.contains_key(name)
        {
            is_known = true;
            self.trust.agree_to_packs(project, |packs| {
                packs.remove(name);
            })?;
        }
        is_known |= self.project.is_none() && self.forgotten()?.iter().any(|it| it == name);
        if is_known {
            self.clean(name)?;
        }
        Ok(is_known)
    }

    /// Returns the packs that were added, but that neither the user's lock nor an agreement names any
    /// more: the lock was removed or changed by something else than `hook remove`.
    pub(super) fn forgotten(&self) -> Result<Vec<String>> {
        let lock = self.lock()?;
        let mut forgotten = Vec::new();
        for (name, digests) in self.store.copied() {
            let agreed = self.trust.agreed_digests(&name)?;
            let is_known = |digest: &String| {
                agreed.contains(digest)
                    || lock.packs.get(&name).is_some_and(|locked| locked.digest == *digest)
            };
            if !digests.iter().any(is_known) {
                forgotten.push(name);
            }
        }
        Ok(forgotten)
    }

    /// Removes the copies of a pack that nothing refers to any more.
    pub(super) fn clean(&self, name: &str) -> Result<()> {
        let mut digests: BTreeSet<String> = self.trust.agreed_digests(name)?.into_iter().collect();
        for path in [&self.path, &self.user_lock] {
            // If a lock cannot be read, what it names is unknown, so nothing is removed.
            let Ok(lock) = PackLock::read(path) else { return Ok(()) };
            digests.extend(lock.packs.get(name).map(|locked| locked.digest.clone()));
        }
        let digests: HashSet<&str> = digests.iter().map(String::as_str).collect();
        self.store.retain(name, &digests).map_err(|error| {
            CommandError::Pack(format!("failed to remove old copies of the pack {name}: {error}"))
        })
    }

    fn check_links(&self) -> Result<()> {
        let Some(project) = &self.project else { return Ok(()) };
        project_file::check(project, &self.path)
            .map_err(CommandError::write("the lock of packs", &self.path))
    }

    fn change(&self, change: impl Fn(&mut PackLock)) -> Result<()> {
        self.check_links()?;
        let failed = CommandError::write("the lock of packs", &self.path);
        let file = match ReplaceLock::acquire(&self.path) {
            Ok(file) => file,
            Err(error) => return Err(failed(error.source)),
        };
        for _ in 0..ATTEMPTS {
            let before =
                none_if_missing(regular_file::read(file.path(), MAX_PACK_LOCK)).map_err(&failed)?;
            let mut lock = match &before {
                Some(bytes) => {
                    PackLock::parse(bytes).map_err(|error| failed(std::io::Error::other(error)))?
                }
                None => PackLock::default(),
            };
            change(&mut lock);
            let text = lock.to_text();
            // One that cannot be read again would block every tool.
            PackLock::parse(text.as_bytes())
                .map_err(|error| failed(std::io::Error::other(error)))?;
            match file.replace(before.as_deref(), text.as_bytes(), NewFile::Ordinary) {
                Ok(ReplaceOutcome::Replaced) => return Ok(()),
                Ok(ReplaceOutcome::Conflict) => {}
                Err(error) => return Err(failed(error.source)),
            }
        }
        Err(failed(std::io::Error::other("another program keeps changing it")))
    }
}

//! A hook that is trusted: what it runs, and the last look before it does.

use std::collections::HashMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use super::advice::{agent_of, changed_reason, review_command};
use super::changes::Summary;
use super::command::Command;
use super::copies::Copies;
use super::cover::{Cover, PYTHON_CACHE};
use super::grant::Grant;
use super::index::Index;
use super::tree::{CoverError, Scope};
use hook_json::text::PathText;
use hook_protocol::failure::HookFailure;
use hook_settings::language::{ForeignCommand, ForeignHook, HookDirectory, LaunchContext};
use hook_settings::{HookEntry, Pack};
use hook_shell::PROJECT_DIRECTORY;

/// The warning where a copy runs and the folder in the project is another one by now.
pub const CHANGED_SINCE_TRUSTED: &str =
    "the hooks of this project changed since you trusted them; the trusted ones run";

/// The warning where a copy had files that it was not made with.
pub const REMOVED_FROM_COPY: &str =
    "written into the trusted copy that hooks run from, and removed";

/// The most files that such a warning names.
const MAX_REMOVED: usize = 3;

/// The indexes of a project and its copies, shared by hooks of the same files.
pub(super) struct Indexes<'p> {
    project: &'p Path,
    copies: Option<&'p Copies>,
    in_project: HashMap<Scope, Arc<Index>>,
    copied: HashMap<String, Arc<Index>>,
}

impl<'p> Indexes<'p> {
    pub(super) fn new_index(project: &'p Path, copies: Option<&'p Copies>) -> Self {
        Self { project, copies, in_project: HashMap::new(), copied: HashMap::new() }
    }
}

/// A hook that is trusted.
#[derive(Debug)]
pub struct TrustedHook {
    entry: HookEntry,
    project: PathBuf,
    cover: Cover,
    fingerprint: String,
    digest: Option<String>,
    in_project: Arc<Index>,
    /// The copy that it runs from, if it does.
    copy: Option<(PathBuf, Arc<Index>)>,
    /// The folder in which interpreters cache the compiled files of this digest.
    caches: Option<PathBuf>,
    /// The folder of copies; hooks that run in place have copies, too.
    copies: Option<Copies>,
    is_strict: bool,
    /// The pack that it is part of, and the reason why nothing of that is what it starts.
    pack: Option<(Arc<Pack>, Option<String>)>,
    /// `true` if its warnings were returned before.
    is_warned: AtomicBool,
    opaque: Vec<String>,
}

impl TrustedHook {
    /// A hook that a decision is about; `None` where it is about other folders.
    pub(super) fn of(entry: &HookEntry, grant: &Grant, indexes: &mut Indexes<'_>) -> Option<Self> {
        let mut cover = Cover::of(entry, indexes.project);
        let folders: Vec<PathBuf> = grant.folders.iter().map(PathBuf::from).collect();
        if cover.command.opaque.is_empty()
            && grant.opaque.is_empty()
            && cover.scope.roots != folders
        {
            return None;
        }
        if !cover.command.opaque.is_empty() && grant.opaque.is_empty() {
            return None;
        }
        cover.scope.roots = folders;
        let index_folder = indexes.copies.map(Copies::indexes);
        let new_index =
            || Arc::new(Index::new(indexes.project, &cover.scope, index_folder.as_deref()));
        let in_project = indexes.in_project.entry(cover.scope.clone()).or_insert_with(new_index);
        let in_project = Arc::clone(in_project);
        let copied = grant.digest.as_ref().filter(|_| grant.in_place.is_none());
        let copy = copied.zip(indexes.copies).map(|(digest, copies)| {
            let new_index = || Arc::new(copies.index(digest, &cover.scope));
            let index = indexes.copied.entry(digest.clone()).or_insert_with(new_index);
            (copies.path(digest), Arc::clone(index))
        });
        if copied.is_some() && copy.is_none() {
            return None;
        }
        // Where an interpreter's path leads may have changed.
        let folder = copy.as_ref().map_or(indexes.project, |(path, _)| path);
        if grant.opaque.is_empty()
            && !cover.unknown_interpreters(folder, indexes.project).is_empty()
        {
            return None;
        }
        Some(Self {
            entry: entry.clone(),
            project: indexes.project.to_path_buf(),
            cover,
            fingerprint: grant.fingerprint.clone(),
            digest: grant.digest.clone(),
            in_project,
            copy,
            caches: indexes
                .copies
                .map(|copies| copies.cache(grant.digest.as_deref().unwrap_or(&grant.fingerprint))),
            copies: indexes.copies.cloned(),
            is_strict: grant.strict,
            pack: None,
            is_warned: AtomicBool::new(false),
            opaque: grant.opaque.clone(),
        })
    }

    /// Returns a hook of a pack, which runs where it is as long as the pack's files are what they were.
    pub fn of_pack(entry: &HookEntry, pack: &Arc<Pack>) -> Self {
        let digest = pack.locked.digest.clone();
        let copies = Copies(pack.folder.parent().unwrap_or(Path::new("/")).to_path_buf());
        let mut cover = Cover::of(entry, &pack.folder);
        cover.scope.roots = vec![PathBuf::new()];
        Self {
            entry: entry.clone(),
            project: pack.folder.clone(),
            in_project: Arc::new(copies.index(&digest, &cover.scope)),
            cover,
            fingerprint: String::new(),
            copy: None,
            caches: Some(copies.cache(&digest)),
            copies: None,
            is_strict: true,
            pack: Some((Arc::clone(pack), Command::outside_of_pack(entry, &pack.folder))),
            is_warned: AtomicBool::new(false),
            opaque: Vec::new(),
            digest: Some(digest),
        }
    }

    /// Returns an id of its trusted files: the same hook with other files has another one.
    pub(crate) fn content_id(&self) -> &str {
        self.digest.as_deref().unwrap_or(&self.fingerprint)
    }

    /// Returns the reasons why not everything that it starts is known; empty for most hooks.
    pub(crate) fn opaque(&self) -> &[String] {
        &self.opaque
    }

    /// Compares its folder in the project with what was trusted.
    ///
    /// # Errors
    /// If that changed and the hook does not run from its copy: what changed.
    pub(super) fn verified(self) -> Result<Self, String> {
        // A copy is looked at when it is to run.
        match self.copy.is_some() && !self.is_strict || self.is_unchanged() {
            true => Ok(self),
            false => Err(self.changed_reason()),
        }
    }

    /// Returns `true` if it runs from its copy while its folder in the project differs.
    pub fn has_changed(&self) -> bool {
        self.copy.is_some() && self.differs_for_warning(true)
    }

    /// Returns the failure of each run while its copy is gone or was changed.
    pub fn copy_failure(&self) -> Option<HookFailure> {
        let (path, copy) = self.copy.as_ref()?;
        let is_intact = copy.digest().is_ok_and(|found| self.digest.as_ref() == Some(&found));
        (!is_intact).then(|| HookFailure::TrustedCopy { copy: path.clone() })
    }

    pub(super) fn has_copy(&self) -> bool {
        self.copy.is_some()
    }

    /// The hook.
    pub fn entry(&self) -> &HookEntry {
        &self.entry
    }

    /// Checks that the hook, run in that directory, is still the one that was trusted.
    ///
    /// # Errors
    /// If it is not.
    pub fn verify(&self, directory: &Path) -> Result<(), HookFailure> {
        if self.digest.is_none() {
            return Ok(());
        }
        if let Some(failure) = self.copy_failure() {
            return Err(failure);
        }
        if let Some((copy, _)) = &self.copy {
            if self.entry.module.is_none() && !self.cover.command.is_rewritable(copy) {
                let reason =
                    format!("not all that it starts can be named in its copy {}", copy.shown());
                return Err(HookFailure::Untrusted { reason });
            }
            return match self.is_strict && !self.is_unchanged() {
                true => Err(HookFailure::Untrusted { reason: self.changed_reason() }),
                false => Ok(()),
            };
        }
        if let Some((pack, outside)) = &self.pack {
            if let Some(reason) = outside {
                return Err(HookFailure::Untrusted { reason: reason.clone() });
            }
            let differs = || super::packs::verify_pack(pack).err();
            let is_unchanged = self.is_unchanged();
            let reason = if is_unchanged { None } else { differs() };
            return reason.map_or(Ok(()), |reason| Err(HookFailure::Untrusted { reason }));
        }
        if !self.is_unchanged() {
            return Err(HookFailure::Untrusted { reason: self.changed_reason() });
        }
        // Where that directory is gone, the hook runs in the project.
        let directory = if directory.is_dir() { directory } else { &self.project };
        let directory = self.start_directory(directory);
        match self.cover.command.differs_in(&directory, &self.project) {
            Some(script) => Err(HookFailure::UntrustedFromDirectory {
                script,
                variable: self.project_variable(),
                directory,
            }),
            None => Ok(()),
        }
    }

    /// The directory in which it is started for an event of that directory: its agent decides.
    fn start_directory(&self, event: &Path) -> PathBuf {
        let Some(foreign) = &self.entry.foreign else { return event.to_path_buf() };
        // A command whose directory depends on variables of the host is opaque, and its words are unknown.
        let context = LaunchContext { project: &self.project, directory: event, environment: &[] };
        foreign.language.directory(foreign, &context)
    }

    /// The variable that has the project's directory for it.
    fn project_variable(&self) -> &'static str {
        let [own, ..] = PROJECT_DIRECTORY;
        let Some(foreign) = &self.entry.foreign else { return own };
        let is_project =
            |name: &&str| matches!(foreign.language.variable(name), Some(HookDirectory::Project));
        PROJECT_DIRECTORY.into_iter().find(is_project).unwrap_or(own)
    }

    /// Returns warnings for the user: that the copy runs because the folder in the project differs, and which files
    /// were removed from the copy. They change nothing for this run, which need not wait for them.
    pub fn warnings(&self) -> Vec<String> {
        let Some((_, copy)) = &self.copy else { return Vec::new() };
        let removed = removal_warning(&copy.take_removed());
        // Hooks of the first event share one look.
        let is_first = !self.is_warned.swap(true, Ordering::Relaxed);
        let changed = self.differs_for_warning(is_first).then(|| {
            let command = review_command(agent_of(&self.entry));
            format!("{CHANGED_SINCE_TRUSTED}; `{command}` shows the difference")
        });
        removed.into_iter().chain(changed).collect()
    }

    /// Returns the reason why it does not run: what changed in its folders.
    fn changed_reason(&self) -> String {
        let scope = &self.cover.scope;
        let change =
            self.digest.as_deref().zip(self.copies.as_ref()).and_then(|(digest, copies)| {
                let before = copies.index(digest, scope).listing().ok()?;
                let after = self.in_project.listing().ok()?;
                let copy = copies.path(digest);
                Summary::of_files((&copy, &before), (&self.project, &after), scope)
            });
        changed_reason(&self.entry, change.as_ref())
    }

    /// Returns `true` if its folder in the project is what was trusted.
    fn is_unchanged(&self) -> bool {
        let Some(digest) = &self.digest else { return true };
        self.in_project.digest().is_ok_and(|found| found == *digest)
    }

    /// Returns `true` if its folder in the project is known to differ from what was trusted.
    fn differs_for_warning(&self, may_be_recent: bool) -> bool {
        let found = self.in_project.digest_for_warning(may_be_recent);
        let is_known = found != Err(CoverError::Changing);
        self.digest.is_some() && is_known && found.ok() != self.digest
    }

    /// Returns the folder that its files are in: that of the copy, or the project.
    fn base(&self) -> &Path {
        self.copy.as_ref().map_or(&self.project, |(copy, _)| copy)
    }

    /// Returns its command, with the files of the copy.
    pub fn command(&self) -> String {
        let texts = self.rewrite(&[&self.entry.command], true);
        texts.into_iter().next().unwrap_or_default()
    }

    /// Returns the hook of another agent, with the files of the copy.
    pub fn foreign_hook(&self, foreign: &Arc<ForeignHook>) -> Arc<ForeignHook> {
        if self.copy.is_none() {
            return Arc::clone(foreign);
        }
        let command = match &foreign.command {
            ForeignCommand::Shell { text, shell } => ForeignCommand::Shell {
                text: self.rewrite(&[text], true).into_iter().next().unwrap_or_default(),
                shell: shell.clone(),
            },
            ForeignCommand::Program { program, arguments } => {
                let texts: Vec<&str> =
                    std::iter::once(program).chain(arguments).map(String::as_str).collect();
                let mut texts = self.rewrite(&texts, false).into_iter();
                let program = texts.next().unwrap_or_default();
                ForeignCommand::Program { program, arguments: texts.collect() }
            }
            _ => return Arc::clone(foreign),
        };
        Arc::new(ForeignHook { command, ..(**foreign).clone() })
    }

    fn rewrite(&self, texts: &[&str], is_shell: bool) -> Vec<String> {
        match &self.copy {
            Some((copy, _)) => {
                self.cover.command.rewrite(texts, (copy, &self.cover.scope.roots), is_shell)
            }
            None => texts.iter().map(|text| (*text).to_owned()).collect(),
        }
    }

    /// Returns the file of the module that it is, in the copy if there is one.
    pub fn module(&self) -> Option<PathBuf> {
        Some(self.base().join(self.cover.scope.started.first()?))
    }

    /// Returns the variables that it is given: its folder, and a cache for Python, which then reads no compiled file
    /// beside a script.
    pub fn variables(&self) -> Vec<(OsString, OsString)> {
        let folder = || match &self.pack {
            Some((pack, _)) => ("HOOK_DIR".into(), pack.folder.clone().into()),
            None => ("HOOK_DIR".into(), self.base().join(".hooks").into()),
        };
        let folder = self.entry.foreign.is_none().then(folder);
        let caches = self.caches.as_ref();
        let caches = caches.map(|cache| (PYTHON_CACHE.into(), cache.as_os_str().to_owned()));
        folder.into_iter().chain(caches).collect()
    }
}

/// Returns the warning about files that were removed from a copy, if there were any.
fn removal_warning(removed: &[PathBuf]) -> Option<String> {
    let named: Vec<String> =
        removed.iter().take(MAX_REMOVED).map(|path| format!("`{}`", path.shown())).collect();
    let more = match removed.len().saturating_sub(MAX_REMOVED) {
        0 => String::new(),
        count => format!(" and {count} more"),
    };
    let verb = if removed.len() == 1 { "was" } else { "were" };
    (!removed.is_empty()).then(|| {
        format!(
            "{}{more} {verb} {REMOVED_FROM_COPY}; what a hook writes belongs outside of its folder, or into its \
             `data`",
            named.join(", ")
        )
    })
}

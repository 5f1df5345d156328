//! Trust: hooks of a project run only what its user agreed to (protocol.md §1, "Trust").
//!
//! A decision is bound to a fingerprint of the hook's event, matcher, name, command and variables,
//! and of the file that the command runs if that file is in the project. A change of any of them asks again.

use std::collections::BTreeMap;
use std::fs;
use std::io::{self, Write};
use std::path::{Component, Path, PathBuf};

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::command_line::{first_word, in_project_directory};
use crate::settings::{Diagnostic, HookEntry, Place, Rule};

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
            Self::Nothing => (TrustedHooks::Only(Vec::new()), Vec::new()),
            Self::Everything => (TrustedHooks::All, Vec::new()),
            Self::Store(store) => match store.read() {
                Ok(mut contents) => {
                    let granted = contents.projects.remove(&key(project)).unwrap_or_default();
                    (TrustedHooks::Only(granted), Vec::new())
                }
                Err(error) => {
                    let place = Place::of_file(&store.path);
                    let diagnostic = Diagnostic::new(Rule::TrustStore, place, error.to_string());
                    (TrustedHooks::Only(Vec::new()), vec![diagnostic])
                }
            },
        }
    }
}

/// What a project's user agreed to.
pub(crate) enum TrustedHooks {
    All,
    Only(Vec<Grant>),
}

impl TrustedHooks {
    pub(crate) fn decide(&self, entry: &HookEntry, project: &Path) -> Trust {
        let grants = match self {
            Self::All => return Trust::Given,
            Self::Only(grants) => grants,
        };
        // Nothing is hashed for hooks that nobody agreed to anyway.
        let same_hook = |grant: &&Grant| {
            grant.event == entry.event.as_str()
                && grant.name == entry.name
                && grant.command == entry.command
        };
        let mut granted = grants.iter().filter(same_hook).peekable();
        if granted.peek().is_none() {
            return Trust::Missing;
        }
        let fingerprint = fingerprint(entry, project);
        if granted.any(|grant| grant.fingerprint == fingerprint) {
            Trust::Checked { entry: Box::new(entry.clone()), project: project.into(), fingerprint }
        } else {
            Trust::Missing
        }
    }
}

/// Whether one hook may run.
#[derive(Debug)]
pub(crate) enum Trust {
    /// It may.
    Given,
    /// It may, as long as nothing changes.
    Checked { entry: Box<HookEntry>, project: PathBuf, fingerprint: String },
    /// It may not.
    Missing,
}

impl Trust {
    pub(crate) fn is_given(&self) -> bool {
        !matches!(self, Self::Missing)
    }

    /// Whether the hook, run in that directory, is still the one that was agreed to.
    pub(crate) fn still_holds(&self, directory: &Path) -> bool {
        match self {
            Self::Given => true,
            Self::Checked { entry, project, fingerprint: granted } => {
                // Where that directory is gone, the hook runs in the project.
                let directory = if directory.is_dir() { directory } else { project };
                fingerprint_in(entry, project, directory) == *granted
            }
            Self::Missing => false,
        }
    }
}

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
    /// It is not a trust store.
    #[error(
        "the trust store {} is damaged ({source}); it was set aside as {}, and project hooks must \
         be trusted again", path.display(), aside.display()
    )]
    Damaged {
        /// The store.
        path: PathBuf,
        /// Where its contents are now.
        aside: PathBuf,
        /// What is wrong with it.
        source: serde_json::Error,
    },
}

/// The version of the store's format.
const VERSION: u32 = 1;

/// The file in which a user's decisions are kept, for all projects.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TrustStore {
    path: PathBuf,
}

/// One decision, with what it was made about.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Grant {
    /// The fingerprint of the hook.
    pub fingerprint: String,
    /// Its event.
    pub event: String,
    /// Its name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Its command.
    pub command: String,
}

#[derive(Debug, Default, Serialize, Deserialize)]
struct Contents {
    version: u32,
    projects: BTreeMap<String, Vec<Grant>>,
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
    /// When the store cannot be read, or is damaged (it is set aside then, not destroyed).
    pub fn granted(&self, project: &Path) -> Result<Vec<Grant>, TrustStoreError> {
        Ok(self.read()?.projects.remove(&key(project)).unwrap_or_default())
    }

    /// Trusts hooks of a project as they are now.
    ///
    /// # Errors
    /// When the store cannot be read or written.
    pub fn grant(&self, project: &Path, entries: &[HookEntry]) -> Result<(), TrustStoreError> {
        self.change(|contents| {
            let granted = contents.projects.entry(key(project)).or_default();
            for entry in entries {
                let fingerprint = fingerprint(entry, project);
                granted.retain(|grant| grant.fingerprint != fingerprint);
                granted.push(Grant {
                    fingerprint,
                    event: entry.event.as_str().to_owned(),
                    name: entry.name.clone(),
                    command: entry.command.clone(),
                });
            }
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

    fn read(&self) -> Result<Contents, TrustStoreError> {
        let text = match fs::read(&self.path) {
            Ok(text) => text,
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                return Ok(Contents::default());
            }
            Err(source) => return Err(self.io("read", source)),
        };
        if let Ok(Versioned { version }) = serde_json::from_slice(&text)
            && version > VERSION
        {
            return Err(TrustStoreError::Newer { path: self.path.clone(), version });
        }
        serde_json::from_slice(&text).map_err(|source| {
            let aside = self.free_place_aside();
            match fs::rename(&self.path, &aside) {
                Ok(()) => TrustStoreError::Damaged { path: self.path.clone(), aside, source },
                Err(source) => self.io("set aside", source),
            }
        })
    }

    /// Where no earlier damaged store was set aside.
    fn free_place_aside(&self) -> PathBuf {
        let place = |number: u32| self.path.with_extension(format!("damaged-{number}.json"));
        (1..).map(place).find(|place| !place.exists()).unwrap_or_else(|| place(0))
    }

    /// Changes the store as a whole: under a lock, to a new file that then takes its place.
    fn change(&self, change: impl FnOnce(&mut Contents)) -> Result<(), TrustStoreError> {
        let directory = self.path.parent().unwrap_or(Path::new("."));
        fs::create_dir_all(directory).map_err(|source| self.io("make the folder of", source))?;
        let lock_path = self.path.with_extension("lock");
        let lock = fs::File::create(&lock_path).map_err(|source| self.io("lock", source))?;
        lock.lock().map_err(|source| self.io("lock", source))?;
        let mut contents = match self.read() {
            Err(TrustStoreError::Damaged { .. }) => Contents::default(),
            read => read?,
        };
        contents.version = VERSION;
        change(&mut contents);
        let write = || -> io::Result<()> {
            let mut file = tempfile::NamedTempFile::new_in(directory)?;
            serde_json::to_writer_pretty(&mut file, &contents)?;
            file.write_all(b"\n")?;
            file.as_file().sync_all()?;
            file.persist(&self.path)?;
            Ok(())
        };
        write().map_err(|source| self.io("write", source))
    }

    fn io(&self, attempt: &'static str, source: io::Error) -> TrustStoreError {
        TrustStoreError::Io { attempt, path: self.path.clone(), source }
    }
}

/// A project by its real path, so that a link to it is the same project.
fn key(project: &Path) -> String {
    let real = fs::canonicalize(project).unwrap_or_else(|_| project.to_path_buf());
    real.to_string_lossy().into_owned()
}

/// What a decision is bound to: every field by itself, so that no text can be moved from one to
/// another, and the content of the file that is run.
pub fn fingerprint(entry: &HookEntry, project: &Path) -> String {
    fingerprint_in(entry, project, project)
}

/// The fingerprint of a hook that runs in `directory`, where a relative command may be another
/// file than in the project.
fn fingerprint_in(entry: &HookEntry, project: &Path, directory: &Path) -> String {
    let mut hash = Sha256::new();
    let mut field = |value: Option<&[u8]>| match value {
        None => hash.update([0]),
        Some(bytes) => {
            hash.update([1]);
            hash.update((bytes.len() as u64).to_le_bytes());
            hash.update(bytes);
        }
    };
    field(Some(entry.event.as_str().as_bytes()));
    field(entry.matcher.as_deref().map(str::as_bytes));
    field(entry.name.as_deref().map(str::as_bytes));
    field(Some(entry.command.as_bytes()));
    // Variables can make a trusted command do anything (PATH, LD_PRELOAD).
    for (name, value) in &entry.env {
        field(Some(name.as_bytes()));
        field(Some(value.as_bytes()));
    }
    if let Some(program) = program_in_project(&entry.command, project, directory) {
        // Where it leads and what is there.
        let target = fs::canonicalize(&program).unwrap_or_else(|_| program.clone());
        field(Some(target.to_string_lossy().as_bytes()));
        field(fs::read(&program).ok().as_deref());
    }
    hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect()
}

/// The file that a command's first word names, if the name is one in the project.
fn program_in_project(command: &str, project: &Path, directory: &Path) -> Option<PathBuf> {
    let first = first_word(command)?;
    let named = match in_project_directory(&first) {
        Some(relative) => project.join(relative),
        None => directory.join(&first),
    };
    // By its name, not by where a link leads: what a link of the project leads to is the project's
    // choice, and may change.
    let inside = without_dots(&named).starts_with(without_dots(project))
        || fs::canonicalize(&named).ok()?.starts_with(fs::canonicalize(project).ok()?);
    (inside && named.is_file()).then_some(named)
}

/// A path without `.` and `..`, as it is written.
fn without_dots(path: &Path) -> PathBuf {
    let mut plain = PathBuf::new();
    for component in path.components() {
        match component {
            Component::CurDir => {}
            Component::ParentDir => {
                plain.pop();
            }
            other => plain.push(other),
        }
    }
    plain
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::settings::{HookSource, parse};

    fn entry(command: &str) -> HookEntry {
        let settings = serde_json::json!({"hooks": {"BeforeTool": [
            {"hooks": [{"type": "command", "name": "guard", "command": command}]}]}});
        parse(&settings.to_string(), HookSource::Project, None).hooks.remove(0)
    }

    #[test]
    fn a_changed_script_is_not_trusted_any_more() {
        let project = tempfile::tempdir().unwrap();
        let script = project.path().join("guard.sh");
        fs::write(&script, "exit 0").unwrap();
        let store = TrustStore::new(project.path().join("config/trust.json"));
        for command in [
            "./guard.sh;true",
            "'./guard.sh'|cat",
            "./gua\\rd.sh>log",
            "./guard.sh -v",
            "\"$HOOK_PROJECT_DIR\"/guard.sh",
            "${CLAUDE_PROJECT_DIR}/guard.sh",
        ] {
            fs::write(&script, "exit 0").unwrap();
            let entry = entry(command);
            store.grant(project.path(), std::slice::from_ref(&entry)).unwrap();
            let (trusted, problems) = TrustPolicy::Store(store.clone()).open(project.path());
            assert!(problems.is_empty());
            let trust = trusted.decide(&entry, project.path());
            assert!(trust.is_given() && trust.still_holds(project.path()), "{command}");
            fs::write(&script, "exit 2").unwrap();
            assert!(!trust.still_holds(project.path()), "{command}");
            assert!(!trusted.decide(&entry, project.path()).is_given());
        }
        store.revoke(project.path()).unwrap();
        assert!(store.granted(project.path()).unwrap().is_empty());
    }

    #[test]
    fn a_damaged_store_is_set_aside_and_not_destroyed() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("trust.json");
        fs::write(&path, "{\"version\":1,\"proj").unwrap();
        let (trusted, problems) = TrustPolicy::Store(TrustStore::new(&path)).open(folder.path());
        assert!(!trusted.decide(&entry("true"), folder.path()).is_given());
        assert_eq!(problems.len(), 1);
        let aside = fs::read_to_string(folder.path().join("trust.damaged-1.json")).unwrap();
        assert!(aside.ends_with("proj"));
    }
}

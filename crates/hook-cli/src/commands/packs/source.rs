//! The sources that packs come from, and fetching them.

use std::fs;
use std::path::{Path, PathBuf};

use hook_files::regular_file;
use hook_json::text::{PathText, shortened};
use hook_rules::packs::{PACKS, pack};

use super::git;
use crate::error::{CommandError, Result};

/// The source of a pack that is part of the command, in locks.
pub(super) const BUILT_IN: &str = "built-in";

/// The variable that names the index, and the file of it in its repository.
const INDEX: &str = "HOOK_INDEX";
const INDEX_FILE: &str = "packs.json";
const MAX_INDEX: u64 = 1 << 20;

/// The source of a pack.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Source {
    /// A pack that is part of the command.
    BuiltIn(String),
    /// A folder.
    Folder(PathBuf),
    /// A git repository.
    Git { url: String, revision: Option<String> },
    /// A name in the index.
    Index(String),
}

/// A pack's folder, as fetched.
#[derive(Debug)]
pub(super) struct Fetched {
    pub(super) folder: PathBuf,
    pub(super) commit: Option<String>,
    /// Messages for the user.
    pub(super) notes: Vec<String>,
    /// Removes what was fetched.
    _temporary: Option<tempfile::TempDir>,
}

impl Source {
    /// Parses a source as on the command line. Paths begin at `base`.
    pub(super) fn parse(text: &str, base: &Path) -> Result<Self> {
        let usage = |message: String| CommandError::Usage(message);
        if pack(text).is_some() {
            return Ok(Self::BuiltIn(text.to_owned()));
        }
        if let Some(rest) = text.strip_prefix("github:") {
            let (name, revision) = split_revision(rest);
            let is_repository = name.split('/').filter(|part| !part.is_empty()).count() == 2;
            if !is_repository || name.contains("..") {
                return Err(usage(format!("{text:?} is no repository; write github:OWNER/NAME")));
            }
            let url = format!("https://github.com/{name}");
            return Self::git(url, revision, text);
        }
        if let Some((scheme, rest)) = text.split_once("://") {
            let (authority, path) = rest.split_once('/').unwrap_or((rest, ""));
            let is_allowed = match scheme {
                "https" | "ssh" | "file" => true,
                "http" => git::is_loopback(authority),
                _ => false,
            };
            if !is_allowed {
                return Err(usage(format!(
                    "packs are fetched by https, ssh or file, not by {scheme}"
                )));
            }
            let (path, revision) = split_revision(path);
            return Self::git(format!("{scheme}://{authority}/{path}"), revision, text);
        }
        let is_path = text.contains(['/', '\\']) || text.starts_with('.') || text.starts_with('~');
        if is_path {
            let path = match text.strip_prefix("~/").zip(hook_files::user_folders::home()) {
                Some((rest, home)) => home.join(rest),
                None => base.join(text),
            };
            return Ok(Self::Folder(path));
        }
        match std::env::var_os(INDEX) {
            Some(_) => Ok(Self::Index(text.to_owned())),
            None => {
                let names: Vec<&str> = PACKS.iter().map(|pack| pack.name).collect();
                Err(usage(format!(
                    "there is no pack {:?}; part of hook are {}; others are a folder (./NAME) or a git \
                     repository (https://…, github:OWNER/NAME), or in the index that {INDEX} names",
                    shortened(text),
                    names.join(", ")
                )))
            }
        }
    }

    fn git(url: String, revision: Option<&str>, text: &str) -> Result<Self> {
        if let Some(revision) = revision {
            git::check_revision(revision)
                .map_err(|error| CommandError::Usage(format!("{text:?}: {error}")))?;
        }
        Ok(Self::Git { url, revision: revision.map(str::to_owned) })
    }

    /// Fetches the pack; of a git repository that commit, if given.
    pub(super) async fn fetch(&self, commit: Option<&str>, base: &Path) -> Result<Fetched> {
        match self {
            Self::BuiltIn(name) => built_in(name),
            Self::Folder(folder) => match folder.is_dir() {
                true => Ok(Fetched {
                    folder: folder.clone(),
                    commit: None,
                    notes: Vec::new(),
                    _temporary: None,
                }),
                false => Err(CommandError::Pack(format!("{} is no folder", folder.shown()))),
            },
            Self::Git { url, revision } => {
                let checkout = git::fetch(url, commit.or(revision.as_deref())).await;
                let mut checkout = match (checkout, commit, revision) {
                    // A server may refuse to give a commit that no branch has any more.
                    (Err(error), Some(commit), _) => {
                        let now = git::fetch(url, revision.as_deref()).await;
                        let mut now = now.map_err(|_| CommandError::Pack(error))?;
                        now.notes.push(format!(
                            "{url} does not give the commit {commit} any more; the files of {} are compared by \
                             their digest",
                            now.commit
                        ));
                        now
                    }
                    (checkout, ..) => checkout.map_err(CommandError::Pack)?,
                };
                let notes = std::mem::take(&mut checkout.notes);
                let folder = checkout.folder.path().to_path_buf();
                Ok(Fetched {
                    folder,
                    commit: Some(checkout.commit),
                    notes,
                    _temporary: Some(checkout.folder),
                })
            }
            Self::Index(name) => {
                let source = Self::from_index(name, base).await?;
                Box::pin(source.fetch(commit, base)).await
            }
        }
    }

    /// Looks a name up in the index: a git repository, or a folder, with `packs.json`.
    async fn from_index(name: &str, base: &Path) -> Result<Self> {
        let index = std::env::var(INDEX).unwrap_or_default();
        let repository = Self::parse(&index, base)?;
        if matches!(repository, Self::Index(_) | Self::BuiltIn(_)) {
            return Err(CommandError::Usage(format!("{INDEX} names no folder and no repository")));
        }
        let fetched = Box::pin(repository.fetch(None, base)).await?;
        let path = fetched.folder.join(INDEX_FILE);
        let failed = |error: String| {
            CommandError::Pack(format!("failed to read {INDEX_FILE} of the index {index}: {error}"))
        };
        let bytes =
            regular_file::read(&path, MAX_INDEX).map_err(|error| failed(error.to_string()))?;
        let packs: std::collections::BTreeMap<String, String> =
            serde_json::from_slice(&bytes).map_err(|error| failed(error.to_string()))?;
        let source = packs.get(name).ok_or_else(|| {
            CommandError::Usage(format!(
                "there is no pack {:?}, not even in the index {index}",
                shortened(name)
            ))
        })?;
        match Self::parse(source, base)? {
            found @ Self::Git { .. } => Ok(found),
            _ => Err(failed(format!("the source of {name} is no git repository"))),
        }
    }

    /// Returns `true` if both are one place, whatever revision they name.
    pub(super) fn is_same_repository(&self, other: &Self, base: &Path) -> bool {
        match (self, other) {
            (Self::Git { url, .. }, Self::Git { url: other, .. }) => url == other,
            _ => self.to_text(Some(base)) == other.to_text(Some(base)),
        }
    }

    /// Returns the text for locks.
    pub(super) fn to_text(&self, owner_folder: Option<&Path>) -> String {
        match self {
            Self::BuiltIn(_) => BUILT_IN.to_owned(),
            Self::Git { url, revision: Some(revision) } => format!("{url}@{revision}"),
            Self::Git { url, revision: None } => url.clone(),
            Self::Index(name) => name.clone(),
            Self::Folder(folder) => {
                let real = |path: &Path| fs::canonicalize(path).unwrap_or_else(|_| path.into());
                let folder = real(folder);
                let inside = owner_folder.and_then(|owner| folder.strip_prefix(real(owner)).ok());
                match inside {
                    Some(inside) => format!("./{}", inside.to_string_lossy()),
                    None => folder.to_string_lossy().into_owned(),
                }
            }
        }
    }

    /// Returns the source of a pack in a lock.
    pub(super) fn of_lock(name: &str, source: &str, base: &Path) -> Result<Self> {
        match source {
            BUILT_IN => Ok(Self::BuiltIn(name.to_owned())),
            _ => Self::parse(source, base),
        }
    }
}

/// Splits `PATH@REVISION`.
fn split_revision(path: &str) -> (&str, Option<&str>) {
    match path.split_once('@') {
        Some((path, revision)) => (path, Some(revision)),
        None => (path, None),
    }
}

/// Writes a pack that is part of the command into a folder.
fn built_in(name: &str) -> Result<Fetched> {
    let Some(pack) = pack(name) else {
        return Err(CommandError::Pack(format!("{name} is not part of this version of hook")));
    };
    let folder = tempfile::tempdir().map_err(|source| CommandError::Write {
        what: "the folder of a pack",
        path: std::env::temp_dir(),
        source,
    })?;
    for (path, content) in pack.files() {
        let path = folder.path().join(path);
        let write = || {
            fs::create_dir_all(path.parent().unwrap_or(folder.path()))?;
            fs::write(&path, &*content)?;
            git::make_executable(&path, content.starts_with("#!"))
        };
        write().map_err(CommandError::write("a file of a pack", &path))?;
    }
    Ok(Fetched {
        folder: folder.path().to_path_buf(),
        commit: None,
        notes: Vec::new(),
        _temporary: Some(folder),
    })
}

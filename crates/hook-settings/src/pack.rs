//! Installed packs: the lock that names them, and the folders that they are in.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use hook_files::atomic::none_if_missing;
use hook_files::regular_file;
use hook_json::text::shortened;
use serde::{Deserialize, Serialize};

use super::paths::data_home;

/// The name of a lock. It lies beside the settings that it belongs to.
const LOCK: &str = "packs.lock";

/// The folder of packs, below `$XDG_DATA_HOME`.
const IN_DATA_HOME: &str = "hook/packs";

/// The file of a pack that has its hooks.
pub const PACK_HOOKS: &str = "hooks/hooks.json";

/// The name under which the rules of a project are kept that its user agreed to.
pub const PROJECT_RULES: &str = ".rules";

/// The maximum length of a lock of packs in bytes: 1 MiB.
pub const MAX_PACK_LOCK: u64 = 1 << 20;

/// The maximum number of packs in a lock.
const MAX_PACKS: usize = 100;

/// The packs of a user or of a project, each with the digest of its files.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PackLock {
    /// The packs by name.
    pub packs: BTreeMap<String, LockedPack>,
}

/// A pack in a lock.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct LockedPack {
    /// The source, as `hook add` takes it.
    pub source: String,
    /// The commit, if the source is a git repository.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub commit: Option<String>,
    /// The version that the pack calls itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
    /// The SHA-256 of its files.
    pub digest: String,
    /// The events that its guards listen to; they are blocked if its files are not what they were.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub guards: Vec<String>,
    /// The time at which it was added.
    pub added: String,
}

impl PackLock {
    /// Returns the lock beside a settings file.
    pub fn path(settings: &Path) -> PathBuf {
        settings.with_file_name(LOCK)
    }

    /// Reads a lock. One that is absent is empty.
    ///
    /// # Errors
    /// If it cannot be read, or is no lock.
    pub fn read(path: &Path) -> Result<Self, String> {
        let bytes = none_if_missing(regular_file::read(path, MAX_PACK_LOCK));
        match bytes.map_err(|error| error.to_string())? {
            Some(bytes) => Self::parse(&bytes),
            None => Ok(Self::default()),
        }
    }

    /// Parses a lock.
    ///
    /// # Errors
    /// If it is no lock, or names what cannot be the name of a pack.
    pub fn parse(bytes: &[u8]) -> Result<Self, String> {
        if bytes.len() as u64 > MAX_PACK_LOCK {
            return Err(format!("it is longer than {} KiB", MAX_PACK_LOCK >> 10));
        }
        let lock: Self = serde_json::from_slice(bytes).map_err(|error| error.to_string())?;
        if lock.packs.len() > MAX_PACKS {
            return Err(format!("it has more than {MAX_PACKS} packs"));
        }
        for (name, pack) in &lock.packs {
            check_pack_name(name)?;
            let is_hash = |text: &str, lengths: &[usize]| {
                lengths.contains(&text.len())
                    && text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
            };
            if !is_hash(&pack.digest, &[64]) {
                return Err(format!("the digest of `{name}` is not a SHA-256"));
            }
            if pack.commit.as_deref().is_some_and(|commit| !is_hash(commit, &[40, 64])) {
                return Err(format!("the commit of `{name}` is not the hash of one"));
            }
        }
        Ok(lock)
    }

    /// Returns the text of the file.
    pub fn to_text(&self) -> String {
        serde_json::to_string_pretty(self).unwrap_or_default() + "\n"
    }
}

/// Checks the name of a pack: lowercase letters, digits and hyphens.
///
/// # Errors
/// If it is another text, which might name another folder.
pub fn check_pack_name(name: &str) -> Result<(), String> {
    let is_allowed = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
    match !name.is_empty() && name.len() <= 64 && name.bytes().all(is_allowed) {
        true if !name.starts_with('-') => Ok(()),
        _ => Err(format!(
            "{:?} is no name of a pack; it has lowercase letters, digits and hyphens, at most 64",
            shortened(name)
        )),
    }
}

/// Returns the folder of the user's packs: `NAME/DIGEST/`.
pub fn packs_folder() -> Option<PathBuf> {
    Some(data_home()?.join(IN_DATA_HOME))
}

/// A pack that settings name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pack {
    /// The name.
    pub name: String,
    /// The entry in the lock.
    pub locked: LockedPack,
    /// The folder, which need not exist.
    pub folder: PathBuf,
    /// The project whose lock names it; `None` for the user's own.
    pub project: Option<PathBuf>,
    /// Whether the user agreed to it in this project, and the project's lock names another one by now.
    pub is_replaced: bool,
}

impl Pack {
    /// Creates a pack of a lock.
    pub fn new(name: &str, locked: &LockedPack, project: Option<&Path>) -> Self {
        let folder = packs_folder().unwrap_or_default().join(name).join(&locked.digest);
        Self {
            name: name.to_owned(),
            locked: locked.clone(),
            folder,
            project: project.map(Path::to_path_buf),
            is_replaced: false,
        }
    }

    /// Returns `true` if its folder is the copy that `hook add` makes of a pack without mistakes.
    pub(crate) fn is_added(&self) -> bool {
        let is_copy =
            |packs: PathBuf| self.folder == packs.join(&self.name).join(&self.locked.digest);
        self.name != PROJECT_RULES
            && !self.locked.digest.is_empty()
            && packs_folder().is_some_and(is_copy)
    }

    /// Returns a noun for messages.
    pub fn title(&self) -> String {
        match &*self.name {
            PROJECT_RULES => "the folder of rules".to_owned(),
            name => format!("the pack `{name}`"),
        }
    }
}

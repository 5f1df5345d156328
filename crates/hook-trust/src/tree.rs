//! The files that trust covers: all of some folders, by what is in them.

use std::collections::BTreeMap;
use std::fmt;
use std::fs::{self, Metadata};
use std::io;
use std::path::{Component, Path, PathBuf};

use hook_shell::path_matches;

/// How many files the folders of one hook may have, and how many entries of them are looked at.
const MAX_FILES: usize = 2_000;
const MAX_ENTRIES: usize = 20_000;

/// How long these may be all together, in bytes: 64 MiB.
pub(super) const MAX_BYTES: u64 = 64 << 20;

/// Files right in a hook folder that settings are in: those are compared by themselves.
const SETTINGS_FILES: [&str; 6] = [
    "settings.json",
    "settings.local.json",
    "hooks.json",
    "config.toml",
    "trust.lock",
    "packs.lock",
];

/// What is written by hooks: folders, and the endings of names.
const OUTPUT_FOLDERS: [&str; 7] = ["logs", "log", "cache", ".cache", "tmp", ".tmp", "state"];
const OUTPUT_EXTENSIONS: [&str; 3] = ["log", "pid", "tmp"];

/// What only interpreters write, which are told to keep it elsewhere, and what none of them reads.
const IGNORED_FOLDERS: [&str; 5] =
    ["__pycache__", ".git", ".mypy_cache", ".pytest_cache", ".ruff_cache"];

/// What programs are read from, whatever folder they are in.
const PROGRAM_EXTENSIONS: [&str; 25] = [
    "bash", "cjs", "cts", "dylib", "js", "jsx", "lua", "mjs", "mts", "node", "php", "pl", "pm",
    "py", "pyc", "pyd", "pyo", "pth", "rb", "sh", "so", "ts", "tsx", "wasm", "zsh",
];

/// Folders of installed packages, each with the lock files by which they are known.
const PACKAGE_FOLDERS: [(&str, &[&str]); 3] = [
    (
        "node_modules",
        &[
            "package-lock.json",
            "npm-shrinkwrap.json",
            "yarn.lock",
            "pnpm-lock.yaml",
            "bun.lock",
            "bun.lockb",
        ],
    ),
    (".venv", &["uv.lock", "poetry.lock", "Pipfile.lock", "pdm.lock", "requirements.txt"]),
    ("venv", &["uv.lock", "poetry.lock", "Pipfile.lock", "pdm.lock", "requirements.txt"]),
];

/// Which files are looked at.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) struct Scope {
    /// Folders, and files that are covered alone, from the base on; none of them in another one.
    pub(super) roots: Vec<PathBuf>,
    /// What its hook calls data, as patterns of paths from the base on.
    pub(super) data: Vec<String>,
    /// Files that its command starts, which are no data.
    pub(super) started: Vec<PathBuf>,
}

/// The files there are, from the base on.
#[derive(Debug, Default)]
pub(super) struct Listing {
    pub(super) files: BTreeMap<PathBuf, Entry>,
    /// What its hook's `data` takes out.
    pub(super) data: Vec<PathBuf>,
    /// Folders of installed packages, of which only the lock file counts.
    pub(super) packages: Vec<PathBuf>,
    bytes: u64,
    entries: usize,
}

/// A file, or what stands in its place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Entry {
    File {
        executable: bool,
        stamp: Stamp,
    },
    Link {
        target: PathBuf,
    },
    /// A root that is not there.
    Absent,
}

/// What changes whenever a file does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Stamp {
    pub(super) size: u64,
    inode: u64,
    device: u64,
    mode: u32,
    /// In nanoseconds.
    pub(super) modified: i128,
    pub(super) changed: i128,
}

/// Why files cannot be covered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum CoverError {
    TooMany(PathBuf),
    TooLarge(PathBuf),
    /// A link leads out of the folder.
    LinkOutside(PathBuf),
    /// No file, folder or link.
    Special(PathBuf),
    Unreadable(PathBuf, io::ErrorKind),
}

impl fmt::Display for CoverError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let shown = |path: &PathBuf| match path.as_os_str().is_empty() {
            true => ".".to_owned(),
            false => path.display().to_string(),
        };
        match self {
            Self::TooMany(root) => {
                write!(formatter, "the folder {} has more than {MAX_FILES} files", shown(root))
            }
            Self::TooLarge(root) => {
                write!(formatter, "the files in {} are longer than 64 MiB", shown(root))
            }
            Self::LinkOutside(path) => {
                write!(formatter, "the link {} leads out of its folder", shown(path))
            }
            Self::Special(path) => {
                write!(formatter, "{} is neither a file nor a folder", shown(path))
            }
            Self::Unreadable(path, kind) => {
                write!(formatter, "{} cannot be read ({kind})", shown(path))
            }
        }
    }
}

impl Scope {
    /// Looks at all files, and reads none.
    ///
    /// # Errors
    /// When there are too many, or one that cannot be covered.
    pub(super) fn list(&self, base: &Path) -> Result<Listing, CoverError> {
        let real = fs::canonicalize(base).unwrap_or_else(|_| base.to_path_buf());
        let mut listing = Listing::default();
        for root in &self.roots {
            let path = real.join(root);
            let metadata = match fs::symlink_metadata(&path) {
                Ok(found) => found,
                Err(error) if is_not_found(&error) => {
                    listing.files.insert(root.clone(), Entry::Absent);
                    continue;
                }
                Err(error) => return Err(CoverError::Unreadable(root.clone(), error.kind())),
            };
            if fs::canonicalize(&path).ok().as_deref() != Some(&*path) {
                return Err(CoverError::LinkOutside(root.clone()));
            }
            let walk = Walk { scope: self, base: &real, root };
            match metadata.is_dir() {
                true => walk.folder(root, &mut listing, false)?,
                false => walk.entry(root, &metadata, &mut listing, false)?,
            }
        }
        Ok(listing)
    }
}

struct Walk<'w> {
    scope: &'w Scope,
    base: &'w Path,
    root: &'w Path,
}

impl Walk<'_> {
    fn folder(
        &self,
        folder: &Path,
        listing: &mut Listing,
        is_written: bool,
    ) -> Result<(), CoverError> {
        let unreadable =
            |error: io::Error| CoverError::Unreadable(folder.to_path_buf(), error.kind());
        for entry in fs::read_dir(self.base.join(folder)).map_err(unreadable)? {
            let entry = entry.map_err(unreadable)?;
            listing.entries += 1;
            if listing.entries > MAX_ENTRIES {
                return Err(CoverError::TooMany(self.root.to_path_buf()));
            }
            let path = folder.join(entry.file_name());
            let metadata = match entry.metadata() {
                Ok(found) => found,
                // It went away just now.
                Err(error) if is_not_found(&error) => continue,
                Err(error) => return Err(CoverError::Unreadable(path, error.kind())),
            };
            let name = entry.file_name();
            let name = name.to_string_lossy();
            let is_named = |names: &[&str]| names.contains(&&*name);
            if !metadata.is_dir() {
                let is_settings =
                    folder == self.root && is_hook_folder(folder) && is_named(&SETTINGS_FILES)
                        || folder.ends_with(".github/hooks") && name.ends_with(".json");
                if !is_settings {
                    self.entry(&path, &metadata, listing, is_written)?;
                }
            } else if path.ends_with(".hooks/rules") && folder == self.root
                || is_named(&IGNORED_FOLDERS)
            {
                // Rules are compared by themselves.
            } else if self.is_package_folder(folder, &name) {
                listing.packages.push(path);
            } else {
                self.folder(&path, listing, is_written || is_named(&OUTPUT_FOLDERS))?;
            }
        }
        Ok(())
    }

    fn is_package_folder(&self, folder: &Path, name: &str) -> bool {
        let has_lock = |lock: &&str| self.base.join(folder).join(lock).is_file();
        PACKAGE_FOLDERS.iter().any(|(known, locks)| *known == name && locks.iter().any(&has_lock))
    }

    fn entry(
        &self,
        path: &Path,
        found: &Metadata,
        listing: &mut Listing,
        is_written: bool,
    ) -> Result<(), CoverError> {
        let entry = if found.is_symlink() {
            Entry::Link { target: self.target(path)? }
        } else if found.is_file() {
            let is_started = self.scope.started.iter().any(|started| started == path);
            if !is_started && !is_program(path, found) {
                let ending = path.extension().and_then(|it| it.to_str()).unwrap_or_default();
                if is_written || OUTPUT_EXTENSIONS.contains(&ending) {
                    return Ok(());
                }
                let text = path.to_str();
                let is_data = |text| self.scope.data.iter().any(|data| path_matches(data, text));
                if text.is_some_and(is_data) && !self.has_shebang(path) {
                    listing.data.push(path.to_path_buf());
                    return Ok(());
                }
            }
            listing.bytes += found.len();
            if listing.bytes > MAX_BYTES {
                return Err(CoverError::TooLarge(self.root.to_path_buf()));
            }
            Entry::File { executable: is_executable(found), stamp: Stamp::of(found) }
        } else {
            return Err(CoverError::Special(path.to_path_buf()));
        };
        if listing.files.len() == MAX_FILES {
            return Err(CoverError::TooMany(self.root.to_path_buf()));
        }
        listing.files.insert(path.to_path_buf(), entry);
        Ok(())
    }

    /// What a link says, where that is in its own folder.
    fn target(&self, path: &Path) -> Result<PathBuf, CoverError> {
        let link_outside = || CoverError::LinkOutside(path.to_path_buf());
        let full = self.base.join(path);
        let target = fs::read_link(&full).map_err(|_| link_outside())?;
        let target_path = fs::canonicalize(&full).map_err(|_| link_outside())?;
        let is_inside = target_path.starts_with(self.base.join(self.root)) && target_path.is_file();
        // What is in a folder of packages is known by the lock file alone; and what begins at the root of the
        // file system would lead out of a copy.
        let is_excluded = |part: Component<'_>| {
            PACKAGE_FOLDERS.iter().any(|(name, _)| part.as_os_str() == *name)
                || IGNORED_FOLDERS.iter().any(|name| part.as_os_str() == *name)
        };
        match is_inside && target.is_relative() && !target_path.components().any(is_excluded) {
            true => Ok(target),
            false => Err(link_outside()),
        }
    }

    fn has_shebang(&self, path: &Path) -> bool {
        let mut start = [0; 2];
        let file = hook_files::regular_file::open(&self.base.join(path));
        let read = file.and_then(|mut file| io::Read::read_exact(&mut file, &mut start));
        read.is_ok() && &start == b"#!"
    }
}

/// Whether a folder is one that an agent keeps hooks in, beside its settings.
fn is_hook_folder(folder: &Path) -> bool {
    let first = folder.components().next().map(|part| part.as_os_str().to_string_lossy());
    first.is_some_and(|name| name.starts_with('.'))
}

/// Whether a file is one that interpreters load by its name, or the system starts.
fn is_program(path: &Path, metadata: &Metadata) -> bool {
    let ending = path.extension().and_then(|it| it.to_str()).unwrap_or_default();
    is_executable(metadata)
        || PROGRAM_EXTENSIONS.contains(&&*ending.to_ascii_lowercase())
        || path.file_name().is_some_and(|name| name == "package.json")
}

#[cfg(unix)]
fn is_executable(metadata: &Metadata) -> bool {
    std::os::unix::fs::PermissionsExt::mode(&metadata.permissions()) & 0o111 != 0
}

#[cfg(not(unix))]
fn is_executable(_: &Metadata) -> bool {
    false
}

impl Stamp {
    /// All of it, in bytes.
    pub(super) fn bytes(&self) -> [u8; 60] {
        let mut bytes = [0; 60];
        let parts = [self.size, self.inode, self.device].map(u64::to_le_bytes);
        let times = [self.modified, self.changed].map(i128::to_le_bytes);
        let mode = self.mode.to_le_bytes();
        let all = parts.iter().flatten().chain(&mode).chain(times.iter().flatten());
        bytes.iter_mut().zip(all).for_each(|(to, from)| *to = *from);
        bytes
    }

    #[cfg(unix)]
    pub(super) fn of(found: &Metadata) -> Self {
        use std::os::unix::fs::MetadataExt;
        let nanoseconds =
            |seconds: i64, rest: i64| i128::from(seconds) * 1_000_000_000 + i128::from(rest);
        Self {
            size: found.len(),
            inode: found.ino(),
            device: found.dev(),
            mode: found.mode(),
            modified: nanoseconds(found.mtime(), found.mtime_nsec()),
            changed: nanoseconds(found.ctime(), found.ctime_nsec()),
        }
    }

    #[cfg(not(unix))]
    pub(super) fn of(found: &Metadata) -> Self {
        let since = |time: io::Result<std::time::SystemTime>| {
            let time = time.ok().and_then(|it| it.duration_since(std::time::UNIX_EPOCH).ok());
            time.map_or(0, |it| it.as_nanos() as i128)
        };
        let (modified, changed) = (since(found.modified()), since(found.created()));
        Self { size: found.len(), inode: 0, device: 0, mode: 0, modified, changed }
    }
}

pub(super) fn is_not_found(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory)
}

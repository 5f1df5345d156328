//! The files that trust covers: all of some folders, by what is in them.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::fs::{self, Metadata};
use std::io;
use std::path::{Component, Path, PathBuf};

use hook_shell::path_matches;

/// How deep folders may be nested.
pub(super) const MAX_DEPTH: usize = 64;

/// How many files the folders of one hook may have, and how many entries of them are looked at.
const MAX_FILES: usize = 2_000;
const MAX_ENTRIES: usize = 20_000;

/// How long these may be all together, in bytes: 64 MiB.
pub(super) const MAX_BYTES: u64 = 64 << 20;

/// The same bounds of installed packages: there are more of them.
const MAX_PACKAGE_FILES: usize = 20_000;
const MAX_PACKAGE_ENTRIES: usize = 60_000;
pub(super) const MAX_PACKAGE_BYTES: u64 = 512 << 20;

/// Settings right in `.hooks`, and in the folder of another agent: those are compared by themselves.
const SETTINGS_FILES: [&str; 4] =
    ["settings.json", "settings.local.json", "trust.lock", "packs.lock"];

/// Rules of a project, which need no trust and are compared by themselves.
const RULES_FOLDER: &str = ".hooks/rules";
const FOREIGN_SETTINGS_FILES: [&str; 4] =
    ["settings.json", "settings.local.json", "hooks.json", "config.toml"];

/// Folders that hooks write to.
const OUTPUT_FOLDERS: [&str; 10] = [
    ".cache",
    ".mypy_cache",
    ".pytest_cache",
    ".ruff_cache",
    ".tmp",
    "cache",
    "log",
    "logs",
    "state",
    "tmp",
];

/// What hooks write there, beside files without an ending and rotated ones: nothing loads such files unless it
/// names them.
const OUTPUT_EXTENSIONS: [&str; 20] = [
    "cache",
    "csv",
    "db",
    "db-journal",
    "db-shm",
    "db-wal",
    "err",
    "json",
    "jsonl",
    "lock",
    "log",
    "md",
    "ndjson",
    "out",
    "pid",
    "sqlite",
    "sqlite3",
    "tag",
    "tmp",
    "txt",
];

/// What hooks write wherever they are.
const LOG_EXTENSIONS: [&str; 3] = ["log", "pid", "tmp"];

/// What no hook can call data: programs are read from it by name, whatever folder it is in.
const PROGRAM_EXTENSIONS: [&str; 33] = [
    "al", "bash", "bundle", "cjs", "cts", "dll", "dylib", "fish", "ix", "js", "jsx", "ksh", "lua",
    "mjs", "mts", "node", "ph", "php", "pl", "pm", "pmc", "py", "pyc", "pyd", "pyo", "pth", "rb",
    "sh", "so", "ts", "tsx", "wasm", "zsh",
];

/// The folder of installed packages of Node, which may be larger than others.
const PACKAGES_FOLDER: &str = "node_modules";

/// Virtual environments of Python, the file by which they are known, and what is installed in them.
const ENVIRONMENTS: [&str; 2] = [".venv", "venv"];
const ENVIRONMENT_FILE: &str = "pyvenv.cfg";
const ENVIRONMENT_CONTENT: [&str; 10] =
    ["Include", "Lib", "Scripts", "bin", "etc", "include", "lib", "lib64", "man", "share"];

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
    /// Virtual environments, of which what is installed is left out.
    pub(super) environments: Vec<PathBuf>,
    /// What hooks wrote, in folders that have nothing else.
    outputs: Vec<(PathBuf, Metadata)>,
    /// Where links lead, from the base on.
    targets: BTreeSet<PathBuf>,
    own: Amount,
    packages: Amount,
}

/// How much was looked at.
#[derive(Debug, Default)]
struct Amount {
    files: usize,
    entries: usize,
    bytes: u64,
}

impl Listing {
    /// The amount that a path is part of, and its bounds.
    fn amount(&mut self, path: &Path) -> (&mut Amount, Amount) {
        let (files, entries, bytes) = match is_of_packages(path) {
            true => (MAX_PACKAGE_FILES, MAX_PACKAGE_ENTRIES, MAX_PACKAGE_BYTES),
            false => (MAX_FILES, MAX_ENTRIES, MAX_BYTES),
        };
        let amount = if is_of_packages(path) { &mut self.packages } else { &mut self.own };
        (amount, Amount { files, entries, bytes })
    }
}

/// Whether a path is one of installed packages, whose contents are covered and not shown.
pub(super) fn is_of_packages(path: &Path) -> bool {
    path.components().any(|part| part.as_os_str() == PACKAGES_FOLDER)
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
    /// Folders are nested too deeply.
    TooDeep(PathBuf),
    /// A link leads out of the folder.
    LinkOutside(PathBuf),
    /// A link leads to what is left out.
    LinkUncovered(PathBuf),
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
                write!(
                    formatter,
                    "the folder {} has more than {MAX_FILES} files, or {MAX_PACKAGE_FILES} of packages",
                    shown(root)
                )
            }
            Self::TooLarge(root) => {
                write!(
                    formatter,
                    "the files in {} are longer than 64 MiB, or its packages than 512 MiB",
                    shown(root)
                )
            }
            Self::TooDeep(root) => {
                write!(
                    formatter,
                    "folders below {} are nested more than {MAX_DEPTH} deep",
                    shown(root)
                )
            }
            Self::LinkOutside(path) => {
                write!(formatter, "the link {} leads out of its folder, or to nothing", shown(path))
            }
            Self::LinkUncovered(path) => write!(
                formatter,
                "the link {} leads to what trust leaves out; put the file itself there",
                shown(path)
            ),
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
                false => walk.entry(root, &metadata, &mut listing, None)?,
            }
            walk.targets(&mut listing)?;
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
        is_output: bool,
    ) -> Result<(), CoverError> {
        let unreadable =
            |error: io::Error| CoverError::Unreadable(folder.to_path_buf(), error.kind());
        if folder.components().count() > MAX_DEPTH {
            return Err(CoverError::TooDeep(self.root.to_path_buf()));
        }
        let is_environment = self.is_environment(folder);
        if is_environment {
            listing.environments.push(folder.to_path_buf());
        }
        for entry in fs::read_dir(self.base.join(folder)).map_err(unreadable)? {
            let entry = entry.map_err(unreadable)?;
            let path = folder.join(entry.file_name());
            let (amount, bounds) = listing.amount(&path);
            amount.entries += 1;
            if amount.entries > bounds.entries {
                return Err(CoverError::TooMany(self.root.to_path_buf()));
            }
            let metadata = match entry.metadata() {
                Ok(found) => found,
                // It went away just now.
                Err(error) if is_not_found(&error) => continue,
                Err(error) => return Err(CoverError::Unreadable(path, error.kind())),
            };
            if is_left_out(&path, is_environment) {
                continue;
            }
            if !metadata.is_dir() {
                let left_out = if self.is_settings(&path) {
                    Some(LeftOut::Settings)
                } else if is_output_file(&path, &metadata, is_output) {
                    Some(LeftOut::Output)
                } else {
                    None
                };
                self.entry(&path, &metadata, listing, left_out)?;
            } else if is_output || is_of_packages(&path) || !is_output_folder(&path) {
                self.folder(&path, listing, is_output)?;
            } else {
                let covered = listing.files.len();
                self.folder(&path, listing, true)?;
                if listing.files.len() > covered {
                    // What lies beside a program may be loaded in its place.
                    self.cover_outputs(&path, listing)?;
                }
            }
        }
        Ok(())
    }

    /// Covers what hooks wrote in a folder.
    fn cover_outputs(&self, folder: &Path, listing: &mut Listing) -> Result<(), CoverError> {
        let outputs = std::mem::take(&mut listing.outputs);
        let (covered, others) = outputs.into_iter().partition(|(path, _)| path.starts_with(folder));
        listing.outputs = others;
        let covered: Vec<(PathBuf, Metadata)> = covered;
        covered.iter().try_for_each(|(path, found)| self.add(path, found, listing))
    }

    /// Covers what links lead to, also where it would be left out.
    fn targets(&self, listing: &mut Listing) -> Result<(), CoverError> {
        for target in std::mem::take(&mut listing.targets) {
            let below_root = target.strip_prefix(self.root).unwrap_or(&target).components().count();
            let folders = target.ancestors().take(below_root + 1);
            if let Some(folder) = folders.filter(|folder| is_output_folder(folder)).last() {
                self.cover_outputs(folder, listing)?;
            }
            let full = self.base.join(&target);
            if let Ok(found) = fs::symlink_metadata(&full)
                && found.is_file()
                && !listing.files.contains_key(&target)
            {
                listing.data.retain(|data| *data != target);
                self.add(&target, &found, listing)?;
            }
        }
        Ok(())
    }

    fn is_environment(&self, folder: &Path) -> bool {
        let is_named =
            folder.file_name().is_some_and(|name| ENVIRONMENTS.iter().any(|known| name == *known));
        let file = || fs::symlink_metadata(self.base.join(folder).join(ENVIRONMENT_FILE));
        is_named && file().is_ok_and(|found| found.is_file())
    }

    /// Whether a file has settings, which are compared by themselves.
    fn is_settings(&self, path: &Path) -> bool {
        let (Some(folder), Some(name)) = (path.parent(), path.file_name()) else { return false };
        if folder == Path::new(RULES_FOLDER) {
            return self.root != folder
                && path.extension().is_some_and(|extension| extension == "toml");
        }
        if folder == Path::new(".github/hooks") {
            return path.extension().is_some_and(|extension| extension == "json");
        }
        let is_named = |names: &[&str]| names.iter().any(|known| name == *known);
        folder == self.root
            && folder.components().count() == 1
            && match folder == Path::new(".hooks") {
                true => is_named(&SETTINGS_FILES),
                false => {
                    folder.to_string_lossy().starts_with('.') && is_named(&FOREIGN_SETTINGS_FILES)
                }
            }
    }

    fn entry(
        &self,
        path: &Path,
        found: &Metadata,
        listing: &mut Listing,
        left_out: Option<LeftOut>,
    ) -> Result<(), CoverError> {
        let is_started = self.scope.started.iter().any(|started| started == path);
        if found.is_file() && !is_started {
            match left_out {
                Some(LeftOut::Settings) => return Ok(()),
                Some(LeftOut::Output) => {
                    listing.outputs.push((path.to_path_buf(), found.clone()));
                    return Ok(());
                }
                None => {}
            }
            let text = path.to_str().filter(|_| !is_program(path, found));
            let is_data = |text| self.scope.data.iter().any(|data| path_matches(data, text));
            if text.is_some_and(is_data) && !self.has_shebang(path) {
                listing.data.push(path.to_path_buf());
                return Ok(());
            }
        }
        self.add(path, found, listing)
    }

    fn add(&self, path: &Path, found: &Metadata, listing: &mut Listing) -> Result<(), CoverError> {
        let entry = if found.is_symlink() {
            let (target, leads_to) = self.target(path)?;
            listing.targets.insert(leads_to);
            Entry::Link { target }
        } else if found.is_file() {
            Entry::File { executable: is_executable(found), stamp: Stamp::of(found) }
        } else {
            return Err(CoverError::Special(path.to_path_buf()));
        };
        let (amount, bounds) = listing.amount(path);
        amount.bytes += if found.is_file() { found.len() } else { 0 };
        if amount.bytes > bounds.bytes {
            return Err(CoverError::TooLarge(self.root.to_path_buf()));
        }
        if amount.files == bounds.files {
            return Err(CoverError::TooMany(self.root.to_path_buf()));
        }
        amount.files += 1;
        listing.files.insert(path.to_path_buf(), entry);
        Ok(())
    }

    /// What a link says, and the path to which it leads from the base on, where all of its way is in its own
    /// folder: then each link on it is covered, too.
    fn target(&self, path: &Path) -> Result<(PathBuf, PathBuf), CoverError> {
        let link_outside = || CoverError::LinkOutside(path.to_path_buf());
        let target = fs::read_link(self.base.join(path)).map_err(|_| link_outside())?;
        let mut way = path.parent().map(Path::to_path_buf).unwrap_or_default();
        let mut is_up = true;
        for part in target.components() {
            match part {
                Component::CurDir => {}
                // Behind a name `..` is where that leads, which may be another link.
                Component::ParentDir if is_up && way != self.root => {
                    way.pop();
                }
                Component::Normal(name) => {
                    is_up = false;
                    way.push(name);
                }
                _ => return Err(link_outside()),
            }
        }
        let real = fs::canonicalize(self.base.join(path)).map_err(|_| link_outside())?;
        let real = real.strip_prefix(self.base).map_err(|_| link_outside())?;
        let is_inside = |path: &Path| path.starts_with(self.root) && path != self.root;
        if !is_inside(&way) || !is_inside(real) {
            return Err(link_outside());
        }
        let is_excluded = |path: &Path| {
            path.ancestors().any(|part| {
                part.starts_with(self.root)
                    && is_left_out(part, part.parent().is_some_and(|it| self.is_environment(it)))
            })
        };
        match is_excluded(&way) || is_excluded(real) {
            true => Err(CoverError::LinkUncovered(path.to_path_buf())),
            false => Ok((target, real.to_path_buf())),
        }
    }

    fn has_shebang(&self, path: &Path) -> bool {
        let mut start = [0; 2];
        let file = hook_files::regular_file::open(&self.base.join(path));
        let read = file.and_then(|mut file| io::Read::read_exact(&mut file, &mut start));
        read.is_ok() && &start == b"#!"
    }
}

/// Why a file is left out unless something starts it or leads to it.
enum LeftOut {
    Settings,
    Output,
}

/// Whether nothing looks into a path: the files of git, what is installed in a virtual environment, and what
/// python compiled, which it is told to look for elsewhere.
fn is_left_out(path: &Path, is_in_environment: bool) -> bool {
    let Some(name) = path.file_name().map(|name| name.to_string_lossy()) else { return false };
    let is_compiled = || {
        // `NAME.cpython-312.pyc`, and while it is written with a number behind it: no module has such a name.
        let in_cache = path.parent().is_some_and(|folder| folder.ends_with("__pycache__"));
        let (stem, number) = name.rsplit_once(".pyc").unwrap_or_default();
        in_cache
            && stem.contains('.')
            && number.chars().all(|character| character == '.' || character.is_ascii_digit())
    };
    name == ".git" || is_in_environment && ENVIRONMENT_CONTENT.contains(&&*name) || is_compiled()
}

pub(super) fn is_output_folder(path: &Path) -> bool {
    path.file_name().is_some_and(|name| OUTPUT_FOLDERS.iter().any(|known| name == *known))
}

/// Whether a file is one that hooks write, and that nothing loads by searching for it.
pub(super) fn is_output_file(path: &Path, metadata: &Metadata, in_output_folder: bool) -> bool {
    if !metadata.is_file() || is_program(path, metadata) || is_of_packages(path) {
        return false;
    }
    let ending = ending(path);
    let is_number = !ending.is_empty() && ending.bytes().all(|byte| byte.is_ascii_digit());
    let is_rotated_log = || self::ending(&path.with_extension("")) == "log";
    LOG_EXTENSIONS.contains(&&*ending)
        || is_number && (in_output_folder || is_rotated_log())
        || in_output_folder && (ending.is_empty() || OUTPUT_EXTENSIONS.contains(&&*ending))
}

/// The ending of a name, in small letters.
fn ending(path: &Path) -> String {
    let extension = path.extension().unwrap_or_default();
    extension.to_string_lossy().to_ascii_lowercase()
}

/// Whether a file is one that interpreters load by its name, or the system starts.
fn is_program(path: &Path, metadata: &Metadata) -> bool {
    is_executable(metadata)
        || PROGRAM_EXTENSIONS.contains(&&*ending(path))
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

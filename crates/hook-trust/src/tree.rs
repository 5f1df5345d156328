//! The files that trust covers: all of some folders, by what is in them.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsStr;
use std::fmt;
use std::fs::{self, Metadata};
use std::io;
use std::path::{Component, Path, PathBuf};

use super::parallel;
use hook_json::text::PathText;
use hook_shell::path_matches;

/// The greatest depth of nested folders.
pub(super) const MAX_DEPTH: usize = 64;

/// The most files in the folders of one hook, and the most entries of them that are looked at.
const MAX_FILES: usize = 2_000;
const MAX_ENTRIES: usize = 20_000;

/// The greatest length of all these files together, in bytes: 64 MiB.
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

/// The folder of Copilot's hooks, in which every JSON file has settings.
const COPILOT_HOOKS: &str = ".github/hooks";

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

/// Extensions of output that hooks write there, beside files without an extension and rotated ones: nothing loads such
/// files unless it names them.
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

/// Extensions of output that hooks write in any folder.
const LOG_EXTENSIONS: [&str; 3] = ["log", "pid", "tmp"];

/// Extensions that are never data: interpreters load such files by name, in any folder.
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

/// The files to look at.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) struct Scope {
    /// Folders, and files that are covered alone, from the base on; none of them in another one.
    pub(super) roots: Vec<PathBuf>,
    /// The hook's `data`, as patterns of paths from the base on.
    pub(super) data: Vec<String>,
    /// Files that its command starts, which are no data.
    pub(super) started: Vec<PathBuf>,
}

/// The files there are, from the base on.
#[derive(Debug, Default)]
pub(super) struct Listing {
    pub(super) files: BTreeMap<PathBuf, Entry>,
    /// Files that the hook's `data` excludes.
    pub(super) data: Vec<PathBuf>,
    /// Virtual environments, of which what is installed is left out.
    pub(super) environments: Vec<PathBuf>,
    /// Output of hooks, in folders that contain nothing else.
    outputs: Vec<(PathBuf, Metadata)>,
    /// Files found since `files` was built: building it once is faster than inserting each.
    found: Vec<(PathBuf, Entry)>,
    /// The targets of links, from the base on.
    targets: BTreeSet<PathBuf>,
    own: Amount,
    packages: Amount,
}

/// The amount of files that were looked at.
#[derive(Debug, Default)]
struct Amount {
    files: usize,
    entries: usize,
    bytes: u64,
}

impl Listing {
    /// Moves the files found to `files`.
    fn take_found(&mut self) {
        let found = std::mem::take(&mut self.found);
        match self.files.is_empty() {
            true => self.files = found.into_iter().collect(),
            false => self.files.extend(found),
        }
    }

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

/// Returns `true` if a path belongs to installed packages, whose contents are covered and not shown.
pub(super) fn is_of_packages(path: &Path) -> bool {
    path.components().any(|part| part.as_os_str() == PACKAGES_FOLDER)
}

/// A file, or what is found instead of one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Entry {
    File(Stamp),
    Link {
        target: PathBuf,
    },
    /// A root that is not there.
    Absent,
}

/// The metadata by which a changed file is noticed.
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

/// The reason why files cannot be covered.
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
    /// Large files are changing right now, so a warning about them waits.
    Changing,
}

impl fmt::Display for CoverError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let shown = |path: &PathBuf| match path.as_os_str().is_empty() {
            true => ".".to_owned(),
            false => path.shown().to_string(),
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
            Self::Changing => write!(formatter, "its files are changing right now"),
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
    /// If there are too many, or one cannot be covered.
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
            listing.take_found();
            walk.targets(&mut listing)?;
            listing.take_found();
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
        let mut entries = Vec::new();
        for entry in fs::read_dir(self.base.join(folder)).map_err(unreadable)? {
            let entry = entry.map_err(unreadable)?;
            let name = entry.file_name();
            let (amount, bounds) = listing.amount(&folder.join(&name));
            amount.entries += 1;
            if amount.entries > bounds.entries {
                return Err(CoverError::TooMany(self.root.to_path_buf()));
            }
            entries.push((name, entry));
        }
        // Names are compared much faster than paths, and paths in order are sorted at once.
        entries.sort_unstable_by(|(one, _), (other, _)| one.cmp(other));
        let may_have_settings = folder == self.root || folder == Path::new(COPILOT_HOOKS);
        let found = parallel::map(&entries, |(_, entry)| entry.metadata());
        for ((name, _), found) in entries.into_iter().zip(found) {
            let path = folder.join(name);
            let metadata = match found {
                Ok(found) => found,
                // It went away just now.
                Err(error) if is_not_found(&error) => continue,
                Err(error) => return Err(CoverError::Unreadable(path, error.kind())),
            };
            if is_left_out(&path, is_environment) {
                continue;
            }
            if !metadata.is_dir() {
                let left_out = if may_have_settings && self.is_settings(&path) {
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
                let covered = listing.found.len();
                self.folder(&path, listing, true)?;
                if listing.found.len() > covered {
                    // A file beside a program may be loaded instead of it.
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

    /// Returns `true` if a file contains settings, which are compared separately.
    fn is_settings(&self, path: &Path) -> bool {
        let (Some(folder), Some(name)) = (path.parent(), path.file_name()) else { return false };
        if folder == Path::new(RULES_FOLDER) {
            return self.root != folder
                && path.extension().is_some_and(|extension| extension == "toml");
        }
        if folder == Path::new(COPILOT_HOOKS) {
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
            let is_named = |text| self.scope.data.iter().any(|data| path_matches(data, text));
            let is_data = || path.to_str().is_some_and(is_named);
            if is_data() && !is_program(path, found) && !self.has_shebang(path) {
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
            Entry::File(Stamp::of(found))
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
        listing.found.push((path.to_path_buf(), entry));
        Ok(())
    }

    /// Returns the text of a link and the path that it leads to, from the base on, if all of the way is inside its own
    /// folder: then every link on it is covered, too.
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

/// The reason why a file is left out unless it is started, or a link leads to it.
enum LeftOut {
    Settings,
    Output,
}

/// Returns `true` if a path is never covered: the files of git, packages of a virtual environment, and compiled files
/// of Python, which uses another cache.
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
    name == ".git"
        || is_in_environment && ENVIRONMENT_CONTENT.contains(&&*name)
        || name.contains(".pyc") && is_compiled()
}

pub(super) fn is_output_folder(path: &Path) -> bool {
    path.file_name().is_some_and(|name| OUTPUT_FOLDERS.iter().any(|known| name == *known))
}

/// Returns `true` if a file is output of hooks that no interpreter finds by searching.
pub(super) fn is_output_file(path: &Path, metadata: &Metadata, in_output_folder: bool) -> bool {
    if !metadata.is_file() || is_program(path, metadata) || is_of_packages(path) {
        return false;
    }
    let extension = path.extension().unwrap_or_default();
    let bytes = extension.as_encoded_bytes();
    let is_number = !bytes.is_empty() && bytes.iter().all(u8::is_ascii_digit);
    let is_rotated_log = || {
        path.with_extension("").extension().is_some_and(|extension| is_one_of(extension, &["log"]))
    };
    is_one_of(extension, &LOG_EXTENSIONS)
        || is_number && (in_output_folder || is_rotated_log())
        || in_output_folder && (bytes.is_empty() || is_one_of(extension, &OUTPUT_EXTENSIONS))
}

/// Returns `true` if an extension is one of these, in any case of its letters.
fn is_one_of(extension: &OsStr, known: &[&str]) -> bool {
    known.iter().any(|known| extension.eq_ignore_ascii_case(known))
}

/// Returns `true` if interpreters load the file by its name, or the system can start it.
fn is_program(path: &Path, metadata: &Metadata) -> bool {
    Stamp::of(metadata).is_executable()
        || path.extension().is_some_and(|extension| is_one_of(extension, &PROGRAM_EXTENSIONS))
        || path.file_name().is_some_and(|name| name == "package.json")
}

impl Stamp {
    /// Returns `true` if somebody may execute the file; `false` on systems without such a permission.
    pub(super) fn is_executable(&self) -> bool {
        self.mode & 0o111 != 0
    }

    /// Returns all of it, in bytes.
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

//! Finding the files of a project that names lead to. Every name is looked for from every directory
//! that is named as well, since a command may enter it (`cd hooks && ./x`) or search it (`PATH=hooks
//! x`).

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::fs;
use std::path::{Path, PathBuf};

use super::paths::{is_inside, key, path_of, without_dots};
use crate::files::regular_file;
use crate::shell::{Names, Unknown, Use, is_pattern, name_fits};

/// How many directories a command may name, and how many paths are looked at for it.
const MAX_DIRECTORIES: usize = 256;
const MAX_LOOKS: usize = 50_000;

/// The longest name that is looked for, in bytes.
const MAX_NAME: usize = 4_096;

/// Files that an interpreter runs when it is given a directory.
const ENTRY_FILES: [&str; 8] = [
    "__main__.py",
    "__init__.py",
    "index.js",
    "index.mjs",
    "index.cjs",
    "index.ts",
    "index.tsx",
    "package.json",
];

/// What an interpreter adds to a name.
const EXTENSIONS: [&str; 10] = ["cjs", "js", "json", "mjs", "node", "php", "pl", "py", "rb", "ts"];

/// How much of a `package.json` is read, in bytes.
const MAX_PACKAGE: u64 = 1 << 20;

#[derive(Debug)]
pub(super) struct Lookup<'p> {
    project: &'p Path,
    real_project: PathBuf,
    directories: Vec<PathBuf>,
    known: HashSet<PathBuf>,
    looks: usize,
    /// The files, each by what tells it apart.
    pub(super) found: BTreeMap<(PathBuf, PathBuf), Found>,
    pub(super) unknown: BTreeSet<Unknown>,
    pub(super) too_much: bool,
}

/// A file that a name leads to.
#[derive(Debug)]
pub(super) struct Found {
    pub(super) path: PathBuf,
    /// The relative name for it, if it has one.
    pub(super) relative: Option<String>,
    /// What the command does with it at most.
    pub(super) used: Use,
}

/// How a command names a file.
#[derive(Debug, Clone, Copy)]
struct By<'n> {
    /// The name, if it is a relative path.
    relative: Option<&'n str>,
    used: Use,
}

impl<'p> Lookup<'p> {
    pub(super) fn new(project: &'p Path, directory: &Path) -> Self {
        Self {
            project,
            real_project: fs::canonicalize(project).unwrap_or_else(|_| without_dots(project)),
            directories: vec![directory.to_path_buf()],
            known: HashSet::from([without_dots(directory)]),
            looks: 0,
            found: BTreeMap::new(),
            unknown: BTreeSet::new(),
            too_much: false,
        }
    }

    /// Looks for all names.
    pub(super) fn add(&mut self, names: &Names) {
        let mut done = 0;
        // Directories that are found are looked in, too.
        while let Some(directory) = self.directories.get(done).cloned() {
            done += 1;
            for (name, used) in &names.names {
                if self.looks > MAX_LOOKS {
                    self.too_much = true;
                    return;
                }
                self.look(name, *used, &directory, names);
            }
        }
        for script in &names.main_scripts {
            self.say_if_unknown(script);
        }
    }

    fn look(&mut self, name: &str, used: Use, directory: &Path, names: &Names) {
        self.looks += 1;
        if name.len() > MAX_NAME {
            return;
        }
        // A name that begins elsewhere is the same from everywhere.
        let path = path_of(name, self.project, directory);
        let is_relative = path_of(name, self.project, Path::new("")).is_relative();
        if !is_relative && Some(directory) != self.directories.first().map(PathBuf::as_path) {
            return;
        }
        let by = By { relative: is_relative.then_some(name), used };
        let mut paths = Vec::new();
        if is_pattern(name) {
            self.fitting(&path, directory, &mut paths);
        }
        paths.push(path);
        for path in paths {
            let is_script = names.scripts.contains(name);
            self.take(&path, by);
            if is_script {
                self.take_as_script(&path, by);
            }
        }
    }

    /// Takes what is at a path: a file, or a directory to look in.
    fn take(&mut self, path: &Path, by: By<'_>) -> bool {
        self.looks += 1;
        let Ok(metadata) = fs::metadata(path) else {
            // A link that leads nowhere will lead somewhere once that is made.
            let is_link = fs::symlink_metadata(path).is_ok_and(|it| it.is_symlink());
            if is_link && is_inside(path, self.project) {
                self.found(path, by);
            }
            return is_link;
        };
        if metadata.is_dir() {
            let plain = without_dots(path);
            if self.leads_to_project(&plain) && self.known.insert(plain) {
                if self.directories.len() == MAX_DIRECTORIES {
                    self.too_much = true;
                    return true;
                }
                self.directories.push(path.to_path_buf());
            }
            return true;
        }
        if is_inside(path, self.project) {
            self.found(path, by);
        }
        true
    }

    fn found(&mut self, path: &Path, by: By<'_>) {
        let found = self.found.entry(key(path, self.project)).or_insert_with(|| Found {
            path: path.to_path_buf(),
            relative: by.relative.map(str::to_owned),
            used: by.used,
        });
        found.used = by.used.max(found.used);
    }

    /// Whether there can be files of the project below a directory.
    fn leads_to_project(&self, directory: &Path) -> bool {
        let project = without_dots(self.project);
        let is_related = |directory: &Path, project: &Path| {
            directory.starts_with(project) || project.starts_with(directory)
        };
        is_related(directory, &project)
            || fs::canonicalize(directory).is_ok_and(|real| is_related(&real, &self.real_project))
    }

    /// Takes what an interpreter runs that is given a path.
    fn take_as_script(&mut self, path: &Path, by: By<'_>) {
        if path.is_file() {
            return;
        }
        for extension in EXTENSIONS {
            let mut longer = path.as_os_str().to_owned();
            longer.push(".");
            longer.push(extension);
            self.take(Path::new(&longer), by);
        }
        if !path.is_dir() || !is_inside(path, self.project) {
            return;
        }
        for name in ENTRY_FILES {
            self.take(&path.join(name), by);
        }
        let package = path.join("package.json");
        let main = match package.exists().then(|| main_of(&package)) {
            Some(Err(())) => {
                let shown = key(&package, self.project).0.display().to_string();
                self.unknown.insert(Unknown::Directory(shown));
                None
            }
            Some(Ok(main)) => main,
            None => None,
        };
        if let Some(main) = main {
            let main = path.join(main);
            self.take(&main, by);
            if !main.is_dir() {
                self.take_as_script(&main, by);
            }
            for name in ENTRY_FILES {
                self.take(&main.join(name), by);
            }
        }
    }

    /// Says so of a directory that is run, and of which it is not known how.
    fn say_if_unknown(&mut self, script: &str) {
        for directory in self.directories.clone() {
            let path = path_of(script, self.project, &directory);
            let is_known = || ENTRY_FILES.iter().any(|name| path.join(name).is_file());
            if path.is_dir() && is_inside(&path, self.project) && !is_known() {
                let shown = key(&path, self.project).0.display().to_string();
                let shown = if shown.is_empty() { ".".to_owned() } else { shown };
                self.unknown.insert(Unknown::Directory(shown));
            }
        }
    }

    /// Paths that fit a pattern, as far as they can be in the project.
    fn fitting(&mut self, pattern: &Path, directory: &Path, fitting: &mut Vec<PathBuf>) {
        // Where the name begins is no pattern, whatever the directory is called.
        let begins = [directory, self.project];
        let literal = begins.into_iter().find(|begin| pattern.starts_with(begin));
        let literal = literal.unwrap_or(Path::new(""));
        let Ok(rest) = pattern.strip_prefix(literal) else { return };
        let mut paths = vec![literal.to_path_buf()];
        for component in rest.components() {
            let name = component.as_os_str().to_string_lossy();
            if !is_pattern(&name) {
                for path in &mut paths {
                    path.push(component);
                }
                continue;
            }
            let mut next = Vec::new();
            for path in &paths {
                self.entries(path, &name, &mut next);
            }
            paths = next;
        }
        fitting.extend(paths);
    }

    /// What in a directory fits a pattern.
    fn entries(&mut self, directory: &Path, pattern: &str, fitting: &mut Vec<PathBuf>) {
        if !self.leads_to_project(&without_dots(directory)) {
            return;
        }
        for entry in fs::read_dir(directory).into_iter().flatten().flatten() {
            self.looks += 1;
            if self.looks > MAX_LOOKS {
                self.too_much = true;
                return;
            }
            if name_fits(pattern, &entry.file_name().to_string_lossy()) {
                fitting.push(directory.join(entry.file_name()));
            }
        }
    }
}

/// Where the main file of a package is, if its description says so and can be read.
fn main_of(package: &Path) -> Result<Option<String>, ()> {
    let bytes = regular_file::read(package, MAX_PACKAGE).map_err(|_| ())?;
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(&bytes);
    // Of several values the last counts, as it does for node.
    let package: serde_json::Value = serde_json::from_slice(bytes).map_err(|_| ())?;
    Ok(package.get("main").and_then(|main| main.as_str()).map(str::to_owned))
}

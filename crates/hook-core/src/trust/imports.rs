//! The files of a project that a module loads: itself, and what it imports, at any depth.
//!
//! What is written down in plain words is followed, as Node would look for it: from where a file really is. A
//! text in quotes that is a path to a file of the project counts as imported, wherever it stands. Whatever
//! else that is known to load code, or leads to what is not looked into, makes the module opaque; a name that
//! is put together when it runs is not seen.

mod loads;
mod tokens;

use std::collections::{BTreeSet, VecDeque};
use std::fs;
use std::path::{Path, PathBuf};

use super::limits::{MAX_BYTES, MAX_FILES};
use super::paths::{is_inside, same_path, without_dots};
use crate::files::regular_file;
use crate::shell::Unknown;
use loads::Loads;

/// What a module may be imported without.
const EXTENSIONS: [&str; 12] =
    ["ts", "mts", "cts", "tsx", "js", "mjs", "cjs", "jsx", "json", "node", "wasm", "d.ts"];

/// What is looked into for further imports.
const SCRIPTS: [&str; 8] = ["ts", "mts", "cts", "tsx", "js", "mjs", "cjs", "jsx"];

/// What is run only where types are taken out first.
const TYPED: [&str; 4] = ["ts", "mts", "cts", "tsx"];

/// How many different paths and names all files together may have.
const MAX_NAMES: usize = 2_000;

/// How long a `package.json` may be whose names are looked at, in bytes.
const MAX_PACKAGE: u64 = 1 << 20;

/// How many reasons are kept why others may be loaded.
const MAX_REASONS: usize = 32;

/// Names of packages that lead to ours, and to no file.
const OURS: [&str; 5] = [
    "@oh-my-pi/pi-coding-agent",
    "@oh-my-pi/pi-coding-agent/hooks",
    "@mariozechner/pi-coding-agent",
    "@mariozechner/pi-coding-agent/hooks",
    "hook-sdk/hooks",
];

/// Modules of Node that load no file: of any other it is not known.
const PLAIN: &[&str] = &[
    "assert",
    "async_hooks",
    "buffer",
    "child_process",
    "console",
    "constants",
    "crypto",
    "dgram",
    "diagnostics_channel",
    "dns",
    "domain",
    "events",
    "fs",
    "http",
    "http2",
    "https",
    "net",
    "os",
    "path",
    "perf_hooks",
    "process",
    "punycode",
    "querystring",
    "readline",
    "stream",
    "string_decoder",
    "sys",
    "timers",
    "tls",
    "tty",
    "url",
    "util",
    "v8",
    "zlib",
];

/// Modules of Node by which other files can be loaded, past what is looked at.
const LOADERS: &[&str] = &[
    "cluster",
    "inspector",
    "module",
    "repl",
    "sea",
    "test",
    "trace_events",
    "vm",
    "wasi",
    "worker_threads",
];

/// The package that takes types out.
const LOADER: &str = "jiti";

/// What a module loads.
#[derive(Debug, Default)]
pub(super) struct Imports {
    /// All files: the module first.
    pub(super) files: Vec<PathBuf>,
    /// Why others may be loaded.
    pub(super) unknown: BTreeSet<Unknown>,
    /// There are more than a decision covers.
    pub(super) too_much: bool,
}

impl Imports {
    /// Follows what a module of a project imports.
    pub(super) fn of(module: &Path, project: &Path) -> Self {
        let mut imports = Self::default();
        let mut known = BTreeSet::new();
        let mut left = VecDeque::from([module.to_path_buf()]);
        let mut is_typed = false;
        let mut names = 0;
        while let Some(path) = left.pop_front() {
            if !known.insert(without_dots(&path)) {
                continue;
            }
            if imports.files.len() == MAX_FILES {
                imports.too_much = true;
                return imports;
            }
            is_typed |= has_extension(&path, &TYPED);
            imports.files.push(path.clone());
            if has_extension(&path, &SCRIPTS) {
                left.extend(imports.look_into(&path, project, &mut names));
            }
        }
        if is_typed {
            for folder in loaders(module, project) {
                imports.add_all_of(&folder, project, &mut known);
            }
        }
        imports
    }

    fn doubt(&mut self, file: &str, why: String) {
        if self.unknown.len() < MAX_REASONS {
            self.unknown.insert(Unknown::Import { file: file.to_owned(), why });
        }
    }

    /// The files of the project that a file may import.
    fn look_into(&mut self, path: &Path, project: &Path, names: &mut usize) -> Vec<PathBuf> {
        // What cannot be read is covered as that.
        let Ok(bytes) = regular_file::read(path, MAX_BYTES) else { return Vec::new() };
        let text = String::from_utf8_lossy(&bytes);
        let shown = shown(path, project);
        if has_extension(path, &["tsx", "jsx"]) {
            self.doubt(&shown, "files with JSX are not looked into".to_owned());
            return Vec::new();
        }
        // Node begins where a file really is, other loaders where it was found.
        let mut places = vec![path.to_path_buf()];
        if let Ok(real) = fs::canonicalize(path)
            && !same_path(&real, path)
        {
            if !is_inside(&real, project) {
                self.doubt(&shown, "it is a link to a file outside of the project".to_owned());
            }
            places.push(real);
        }
        let loads = Loads::of(&text);
        for why in loads.unknown {
            self.doubt(&shown, why);
        }
        *names += loads.named.len() + loads.paths.len();
        if *names > MAX_NAMES {
            self.doubt(
                &shown,
                format!("there are more than {MAX_NAMES} paths and names of imports"),
            );
            return Vec::new();
        }
        let mut found = Vec::new();
        for place in &places {
            let folder = place.parent().unwrap_or(project);
            // It says what a file is: a module, or CommonJS.
            found.extend(package_file(folder, project));
            for specifier in &loads.paths {
                // What is read instead of imported begins where the process runs.
                for base in [folder, project] {
                    let named = base.join(specifier);
                    let candidates = candidates(&named).filter(|path| path.is_file());
                    found.extend(candidates.filter(|path| is_inside(path, project)));
                }
            }
            for specifier in &loads.named {
                if let Some(why) = why_unknown(specifier, folder, project) {
                    self.doubt(&shown, why);
                }
            }
        }
        // The real file beside the name by which it was found.
        found.extend(places.into_iter().skip(1).filter(|it| is_inside(it, project)));
        found
    }

    /// Adds all files of a package.
    fn add_all_of(&mut self, folder: &Path, project: &Path, known: &mut BTreeSet<PathBuf>) {
        let Ok(entries) = fs::read_dir(folder) else {
            self.doubt(&shown(folder, project), "the folder cannot be read".to_owned());
            return;
        };
        let mut paths: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
        paths.sort();
        for path in paths {
            if path.is_dir() {
                let is_link = fs::symlink_metadata(&path).is_ok_and(|it| it.is_symlink());
                match is_link {
                    true => {
                        let why = "the files of a linked folder are not looked into".to_owned();
                        self.doubt(&shown(&path, project), why);
                    }
                    false => self.add_all_of(&path, project, known),
                }
            } else if known.insert(without_dots(&path)) {
                if self.files.len() >= MAX_FILES {
                    self.too_much = true;
                    return;
                }
                self.files.push(path);
            }
        }
    }
}

/// A path as it is shown: from the project's directory on.
fn shown(path: &Path, project: &Path) -> String {
    let plain = without_dots(path);
    plain.strip_prefix(without_dots(project)).unwrap_or(&plain).display().to_string()
}

/// The `package.json` that counts for the files of a folder, if it is the project's.
fn package_file(folder: &Path, project: &Path) -> Option<PathBuf> {
    let around = folder.ancestors().take_while(|it| is_inside(it, project));
    around.map(|it| it.join("package.json")).find(|it| it.is_file())
}

/// Where the project keeps the package by which a module may be loaded, as Node would look for it.
pub(super) fn loaders(module: &Path, project: &Path) -> Vec<PathBuf> {
    let from_module = module.ancestors().skip(1).take_while(|folder| is_inside(folder, project));
    let mut folders: Vec<PathBuf> = from_module.map(Path::to_path_buf).collect();
    folders.push(project.to_path_buf());
    let mut found: Vec<PathBuf> = folders
        .iter()
        .map(|it| it.join("node_modules").join(LOADER))
        .filter(|it| it.is_dir())
        .collect();
    found.dedup();
    found
}

fn has_extension(path: &Path, extensions: &[&str]) -> bool {
    path.extension().and_then(|it| it.to_str()).is_some_and(|it| extensions.contains(&it))
}

/// Whether a text may be the path of a file.
fn is_path(specifier: &str) -> bool {
    specifier.starts_with(['.', '/'])
}

/// What a path in an import may lead to.
fn candidates(named: &Path) -> impl Iterator<Item = PathBuf> {
    let with = |extension: &str| {
        let mut longer = named.as_os_str().to_owned();
        longer.push(".");
        longer.push(extension);
        PathBuf::from(longer)
    };
    let mut all = vec![named.to_path_buf()];
    all.extend(EXTENSIONS.map(with));
    // What is written as what it becomes.
    all.extend(TYPED.map(|extension| named.with_extension(extension)));
    all.extend(EXTENSIONS.map(|extension| named.join(format!("index.{extension}"))));
    all.push(named.join("package.json"));
    all.into_iter()
}

/// Why what an import leads to is not known, if it is not.
fn why_unknown(specifier: &str, folder: &Path, project: &Path) -> Option<String> {
    let shown = crate::text::shortened(specifier);
    if OURS.contains(&specifier) {
        return None;
    }
    let is_plain = |it: char| it.is_alphanumeric() || "/._-@ +~^=,()[]".contains(it);
    let bare = specifier.strip_prefix("node:").unwrap_or(specifier);
    if !bare.chars().all(is_plain) {
        return Some(format!("`{shown}` leads to what only running it can tell"));
    }
    if is_path(specifier) {
        let named = folder.join(specifier);
        let is_decided = named.is_dir() && named.join("package.json").exists();
        let why =
            || format!("what `{shown}` leads to is for the package.json of that folder to say");
        return is_decided.then(why);
    }
    let module = bare.split('/').next().unwrap_or_default();
    if LOADERS.contains(&module) {
        return Some(format!("`{shown}` can load files that are not written down"));
    }
    if PLAIN.contains(&module) {
        return None;
    }
    if specifier.starts_with("node:") {
        return Some(format!("it is not known what `{shown}` can load"));
    }
    let mut parts = specifier.split('/');
    let package = match (parts.next(), parts.next()) {
        (Some(scope), Some(name)) if scope.starts_with('@') => format!("{scope}/{name}"),
        (Some(name), _) => name.to_owned(),
        (None, _) => return None,
    };
    is_of_project(&package, folder, project)
        .then(|| format!("the files of the package `{shown}` in the project are not looked into"))
}

/// Whether a package is one of the project: installed in it, or the one that the file is part of.
fn is_of_project(package: &str, folder: &Path, project: &Path) -> bool {
    let around = folder.ancestors().take_while(|it| is_inside(it, project));
    let is_installed =
        around.chain([project]).any(|it| it.join("node_modules").join(package).exists());
    // As it may be written there, the name can have escapes.
    let is_named = |path: PathBuf| match regular_file::read(&path, MAX_PACKAGE) {
        Ok(bytes) => {
            let text = String::from_utf8_lossy(&bytes);
            text.contains(&format!("\"{package}\"")) || text.contains('\\')
        }
        Err(_) => true,
    };
    is_installed || package_file(folder, project).is_some_and(is_named)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_imports_are_plain_ones() {
        let nowhere = Path::new("/nowhere");
        for specifier in
            ["./a.mjs", "../lib/b", "fs", "node:fs/promises", "left-pad", "hook-sdk/hooks"]
        {
            assert_eq!(why_unknown(specifier, nowhere, nowhere), None, "{specifier}");
        }
        for specifier in [
            "./%61.mjs",
            ".\\a.mjs",
            "./a.mjs?x",
            "./a.mjs#x",
            "#a",
            "file:///a",
            "data:text/javascript,1",
            "vm",
            "node:module",
            "node:inspector/promises",
            "worker_threads",
            "node:new-one",
        ] {
            assert!(why_unknown(specifier, nowhere, nowhere).is_some(), "{specifier}");
        }
    }
}

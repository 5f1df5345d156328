//! The files of a project that a module loads: itself, and what it imports, at any depth.
//!
//! The text is not parsed. A text in quotes that is a path to a file of the project counts as imported,
//! wherever it stands, so nothing that is written down is missed. What is not written down makes the
//! module opaque: an import whose file only running it can tell.

use std::collections::{BTreeSet, VecDeque};
use std::fs;
use std::path::{Path, PathBuf};

use super::files::{MAX_BYTES, MAX_FILES};
use super::paths::{is_inside, without_dots};
use crate::files::regular_file;
use crate::shell::Unknown;

/// What a module may be imported without.
const EXTENSIONS: [&str; 12] =
    ["ts", "mts", "cts", "tsx", "js", "mjs", "cjs", "jsx", "json", "node", "wasm", "d.ts"];

/// What is looked into for further imports.
const SCRIPTS: [&str; 8] = ["ts", "mts", "cts", "tsx", "js", "mjs", "cjs", "jsx"];

/// What is run only where types are taken out first.
const TYPED: [&str; 4] = ["ts", "mts", "cts", "tsx"];

/// How long a path in quotes may be, in bytes.
const MAX_SPECIFIER: usize = 1_024;

/// Names of packages that lead to ours, and to no file.
const OURS: [&str; 5] = [
    "@oh-my-pi/pi-coding-agent",
    "@oh-my-pi/pi-coding-agent/hooks",
    "@mariozechner/pi-coding-agent",
    "@mariozechner/pi-coding-agent/hooks",
    "hook-sdk/hooks",
];

/// Modules of Node by which other files can be loaded, past what is looked at.
const LOADERS: [&str; 4] = ["module", "vm", "worker_threads", "cluster"];

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
                left.extend(imports.look_into(&path, project));
            }
        }
        if is_typed {
            for folder in loaders(module, project) {
                imports.add_all_of(&folder, &mut known);
            }
        }
        imports
    }

    /// The files of the project that a file may import.
    fn look_into(&mut self, path: &Path, project: &Path) -> Vec<PathBuf> {
        // What cannot be read is covered as that.
        let Ok(bytes) = regular_file::read(path, MAX_BYTES) else { return Vec::new() };
        let text = String::from_utf8_lossy(&bytes);
        let folder = path.parent().unwrap_or(project);
        let shown = without_dots(path);
        let shown =
            shown.strip_prefix(without_dots(project)).unwrap_or(&shown).display().to_string();
        let mut found = Vec::new();
        for specifier in quoted_texts(&text).filter(|it| is_path(it)) {
            let named = folder.join(specifier.split(['?', '#']).next().unwrap_or_default());
            let candidates = candidates(&named).filter(|path| path.is_file());
            found.extend(candidates.filter(|path| is_inside(path, project)));
        }
        for import in import_places(&text) {
            let why = match import {
                Import::Of(specifier) => why_unknown(specifier, folder, project),
                Import::Computed(what) => {
                    Some(format!("`{what}` names what only running it can tell"))
                }
            };
            if let Some(why) = why {
                self.unknown.insert(Unknown::Import { file: shown.clone(), why });
            }
        }
        found
    }

    /// Adds all files of a package.
    fn add_all_of(&mut self, folder: &Path, known: &mut BTreeSet<PathBuf>) {
        let Ok(entries) = fs::read_dir(folder) else { return };
        let mut paths: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
        paths.sort();
        for path in paths {
            if path.is_dir() {
                let is_link = fs::symlink_metadata(&path).is_ok_and(|it| it.is_symlink());
                if !is_link {
                    self.add_all_of(&path, known);
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

/// Every text between two quotes of one kind on a line, whatever the quotes are: where a text begins is not
/// known, so each quote may begin one.
fn quoted_texts(text: &str) -> impl Iterator<Item = &str> {
    text.char_indices().filter(|(_, it)| matches!(it, '"' | '\'' | '`')).filter_map(
        |(at, quote)| {
            let rest = text.get(at + 1..)?;
            let end =
                rest.bytes().take(MAX_SPECIFIER).position(|it| it == quote as u8 || it == b'\n')?;
            rest.get(..end).filter(|_| rest.as_bytes().get(end) == Some(&(quote as u8)))
        },
    )
}

/// Something that loads another file.
#[derive(Debug, PartialEq, Eq)]
enum Import<'t> {
    /// By this name.
    Of(&'t str),
    /// By a name that is made when it runs.
    Computed(&'static str),
}

/// Words that load, and how they are shown.
const WORDS: [(&str, &str); 8] = [
    ("import", "import(…)"),
    ("from", "from"),
    ("require", "require(…)"),
    ("eval", "eval(…)"),
    ("Function", "Function(…)"),
    ("createRequire", "createRequire"),
    ("getBuiltinModule", "getBuiltinModule"),
    ("dlopen", "dlopen"),
];

fn import_places(text: &str) -> Vec<Import<'_>> {
    let is_name = |it: char| it.is_alphanumeric() || matches!(it, '_' | '$');
    let mut found = Vec::new();
    for (word, shown) in WORDS {
        for (at, _) in text.match_indices(word) {
            let before = text.get(..at).and_then(|it| it.chars().next_back());
            let rest = text.get(at + word.len()..).unwrap_or_default();
            if before.is_some_and(is_name) || rest.starts_with(is_name) {
                continue;
            }
            // What is looked at behind a word has an end, or the look at a long text would have none.
            let Some(behind) = without_blanks(head(rest)) else {
                found.push(Import::Computed(shown));
                continue;
            };
            let import = match word {
                "import" | "require" => match behind.strip_prefix('(') {
                    Some(inside) => {
                        let literal = literal_argument(inside);
                        Some(literal.map_or(Import::Computed(shown), Import::Of))
                    }
                    // The function itself is given to something.
                    None if word == "require" && is_alias(text.get(..at).unwrap_or_default()) => {
                        Some(Import::Computed("require"))
                    }
                    None => literal(behind).map(|(specifier, _)| Import::Of(specifier)),
                },
                "from" => literal(behind).map(|(specifier, _)| Import::Of(specifier)),
                "eval" | "Function" => behind.starts_with('(').then_some(Import::Computed(shown)),
                _ => Some(Import::Computed(shown)),
            };
            found.extend(import);
        }
    }
    found
}

/// Whether what comes behind this text is a value, and no word of a sentence.
fn is_alias(before: &str) -> bool {
    before.trim_end().ends_with(['=', '(', ',', '[', ':', '?'])
}

/// The one literal between parentheses, or the first of several arguments.
fn literal_argument(inside: &str) -> Option<&str> {
    let (specifier, behind) = literal(without_blanks(inside)?)?;
    without_blanks(behind)?.starts_with([')', ',']).then_some(specifier)
}

/// A text in quotes at the beginning, and what is behind it; none with something in it that is no plain
/// text.
fn literal(text: &str) -> Option<(&str, &str)> {
    let quote = text.chars().next().filter(|it| matches!(it, '"' | '\'' | '`'))?;
    let (inside, behind) = text.get(1..)?.split_once(quote)?;
    let is_made = inside.contains(['\\', '\n']) || quote == '`' && inside.contains("${");
    (!is_made).then_some((inside, behind))
}

/// How much is looked at behind a word that loads something, in bytes.
const MAX_BEHIND: usize = 4_096;

/// The beginning of a text.
fn head(text: &str) -> &str {
    let mut end = text.len().min(MAX_BEHIND);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    text.get(..end).unwrap_or_default()
}

/// A text without the blanks and comments that it begins with; `None` for a comment without an end.
fn without_blanks(mut text: &str) -> Option<&str> {
    loop {
        text = text.trim_start();
        let comment = match text.get(..2) {
            Some("/*") => text.split_once("*/"),
            Some("//") => text.split_once('\n'),
            _ => return Some(text),
        };
        (_, text) = comment?;
    }
}

/// Why what an import leads to is not known, if it is not.
fn why_unknown(specifier: &str, folder: &Path, project: &Path) -> Option<String> {
    if is_path(specifier) || OURS.contains(&specifier) {
        return None;
    }
    let shown = crate::text::shortened(specifier);
    let bare = specifier.strip_prefix("node:").unwrap_or(specifier);
    if LOADERS.contains(&bare) {
        return Some(format!("`{shown}` can load files that are not written down"));
    }
    if specifier.starts_with("node:") {
        return None;
    }
    if specifier.starts_with('#') || specifier.contains(':') {
        return Some(format!("`{shown}` leads to what only running it can tell"));
    }
    let mut parts = specifier.split('/');
    let package = match (parts.next(), parts.next()) {
        (Some(scope), Some(name)) if scope.starts_with('@') => format!("{scope}/{name}"),
        (Some(name), _) => name.to_owned(),
        (None, _) => return None,
    };
    let around = folder.ancestors().take_while(|it| is_inside(it, project));
    let is_in_project =
        around.chain([project]).any(|it| it.join("node_modules").join(&package).exists());
    is_in_project
        .then(|| format!("the files of the package `{shown}` in the project are not looked into"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn imports_are_found_where_they_are_written_down() {
        for (text, expected) in [
            ("import x from './a'", vec![Import::Of("./a")]),
            ("import{x}from\"b\"", vec![Import::Of("b")]),
            ("export * from /* y */ 'c'", vec![Import::Of("c")]),
            ("import './d'", vec![Import::Of("./d")]),
            ("await import(`./e`)", vec![Import::Of("./e")]),
            ("import(name)", vec![Import::Computed("import(…)")]),
            ("import('./' + name)", vec![Import::Computed("import(…)")]),
            ("import(`./${name}`)", vec![Import::Computed("import(…)")]),
            ("require('./\\x61')", vec![Import::Computed("require(…)")]),
            ("const load = require;", vec![Import::Computed("require")]),
            ("// we require a lock, and import from them", vec![]),
            ("important(1); fromage('x'); eval.x", vec![]),
            ("import.meta.url", vec![]),
            ("eval (text)", vec![Import::Computed("eval(…)")]),
            ("export * from /* y", vec![Import::Computed("from")]),
        ] {
            assert_eq!(import_places(text), expected, "{text}");
        }
    }

    #[test]
    fn a_path_counts_wherever_it_stands() {
        let text = "it's \"./a\" or './b', and `./c`";
        let found: Vec<&str> = quoted_texts(text).filter(|it| is_path(it)).collect();
        assert_eq!(found, ["./a", "./b", "./c"]);
    }

    proptest! {
        #[test]
        fn any_text_is_looked_into_without_panic(text in "(import|from|require|[\"'`(){}$./*é \n\\\\a]){0,60}") {
            import_places(&text);
            quoted_texts(&text).count();
        }
    }
}

//! The folders that trust in a hook covers: those of the files that it starts.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};

use super::command::{Command, is_plain_interpreter};
use super::contents::Contents;
use super::index::digest;
use super::tree::{Entry, Listing, Scope, Stamp};
use hook_files::regular_file;
use hook_json::text::PathText;
use hook_settings::HookEntry;
use hook_shell::invocations::{Invocation, Surroundings, read};
use hook_shell::{interpreter, searches_parent_folders, searches_script_folder};

/// The folder of native hooks.
const HOOKS_FOLDER: &str = ".hooks";

/// The longest file that is searched for what it opens, in bytes.
const MAX_SEARCHED: u64 = 1 << 20;

/// The surroundings of scripts: only paths that they name themselves count.
const NOWHERE: Surroundings<'_> = Surroundings { cwd: "/", project: "/", home: "/" };

/// The variable that keeps Python from reading compiled files beside a script.
pub(super) const PYTHON_CACHE: &str = "PYTHONPYCACHEPREFIX";

/// The most bytes of a program that are read for its first line.
const MAX_FIRST_LINE: u64 = 64 << 10;

/// The most lines that are listed of those in a hook's files that open other files.
const MAX_LINES: usize = 20;

/// The files that trust in a hook covers.
#[derive(Debug, Clone)]
pub(super) struct Cover {
    pub(super) command: Command,
    pub(super) scope: Scope,
}

/// The files of a cover as they were when they were read.
#[derive(Debug)]
pub(super) struct Covered {
    pub(super) listing: Listing,
    pub(super) digest: String,
}

impl Cover {
    /// Reads the command of a hook of that project.
    pub(super) fn of(entry: &HookEntry, project: &Path) -> Self {
        let command = Command::of(entry, project);
        let files = match command.opaque.is_empty() {
            true => command.started.clone(),
            // As far as they are known.
            false => command.named_files(project),
        };
        let started = command.started.clone();
        Self {
            scope: Scope { roots: covered_roots(&files), data: entry.data.clone(), started },
            command,
        }
    }

    /// Reads the files; `None` where the command names none of the project.
    ///
    /// # Errors
    /// The reason why they cannot be covered.
    pub(super) fn read(
        &self,
        project: &Path,
        contents: &Contents<'_>,
    ) -> Option<Result<Covered, String>> {
        if self.scope.roots.is_empty() {
            return None;
        }
        let read = || {
            let listing = self.scope.list(project)?;
            let hash_of = |path: &Path, stamp: &Stamp| {
                contents.read(path, stamp).map(|content| content.sha256.clone())
            };
            let digest = digest(&listing, hash_of)?;
            Ok::<_, super::tree::CoverError>(Covered { listing, digest })
        };
        let read = read().map_err(|problem| problem.to_string());
        Some(read.and_then(|covered| {
            let is_left_out = |path: &&PathBuf| {
                !covered.listing.files.contains_key(*path)
                    && fs::symlink_metadata(project.join(path)).is_ok()
            };
            match self.scope.started.iter().find(is_left_out) {
                None => Ok(covered),
                Some(path) => Err(format!(
                    "{} is started, and is not among the files that trust covers; start a file that no link \
                     leads to, outside of `__pycache__` and virtual environments",
                    path.shown()
                )),
            }
        }))
    }

    /// Scripts below that folder whose first line may start or load more than the script, each with that line.
    pub(super) fn unknown_interpreters(&self, folder: &Path, project: &Path) -> Vec<String> {
        let started = self.scope.started.iter().filter_map(|path| {
            let line = match first_line(&folder.join(path)) {
                FirstLine::None => return None,
                FirstLine::Unknown => {
                    let path = path.shown();
                    return Some(format!(
                        "the first line of {path} is too long or no UTF-8, so what it starts is not known"
                    ));
                }
                FirstLine::Interpreter(line) => line,
            };
            // These read options there, and pass it over for a later one where it names something else.
            let mut readers = self.command.interpreters_of(path).filter_map(|program| {
                ["perl", "ruby"].into_iter().find(|name| program_name(program).starts_with(name))
            });
            let is_plain = is_plain_interpreter(&line, project)
                && readers.all(|reader| line.contains(reader));
            let line = || hook_json::text::shortened(&line);
            (!is_plain).then(|| {
                format!("{} begins with `#!{}`, which may run anything", path.shown(), line())
            })
        });
        started.collect()
    }

    /// Returns the reasons why scripts in the project's root are not all that their interpreters load: modules are
    /// looked for beside a script that runs in place.
    pub(super) fn uncovered_search_paths(&self, project: &Path) -> Vec<String> {
        let is_in_root = |path: &&PathBuf| path.components().count() == 1;
        let started = self.scope.started.iter().filter(is_in_root).filter_map(|path| {
            let line = first_line(&project.join(path));
            let mut programs = self.command.interpreters_of(path).chain(line.words());
            let program = programs.find(|program| searches_script_folder(program))?;
            Some(format!(
                "`{}` looks for modules beside {}, which is anywhere in the project; put it into a folder \
                 of its own",
                program_name(program),
                path.shown()
            ))
        });
        started.collect()
    }

    /// Returns the reasons why Python reads compiled files beside scripts that run in place, which are not covered: a
    /// shell script takes the engine's variables away from it.
    pub(super) fn uncovered_compiled_files(
        contents: &Contents<'_>,
        listing: &Listing,
    ) -> impl Iterator<Item = String> {
        let of_shell = |language: ScriptLanguage, text: &str| match language {
            ScriptLanguage::Shell => lines_without_cache(text),
            ScriptLanguage::Hash | ScriptLanguage::Slash => BTreeSet::new(),
        };
        let (lines, _) = matching_lines(contents, listing, of_shell);
        lines.into_iter().map(|line| {
            format!(
                "{line} has python read compiled files beside its script, which are not covered"
            )
        })
    }

    /// Returns `true` if one of its interpreters looks for modules in the parent folders of a script.
    fn searches_parents(&self, project: &Path) -> bool {
        let mut started = self.scope.started.iter().map(|path| project.join(path));
        self.command.searches_parents
            || started.any(|path| first_line(&path).words().any(searches_parent_folders))
    }

    /// Lines of its files that name their folder by its path in the project.
    fn lines_naming_folder(&self, contents: &Contents<'_>, listing: &Listing) -> Vec<String> {
        // A file that is covered alone has no folder of its own.
        let is_folder = |root: &&PathBuf| !listing.files.contains_key(*root);
        let roots: Vec<&PathBuf> = self.scope.roots.iter().filter(is_folder).collect();
        let names_it = |line: &str| roots.iter().any(|root| names_folder(line, root));
        matching_lines(contents, listing, |language, text| language.lines(text, names_it)).0
    }

    /// Lines by which a program that runs from a copy may open its files in the project, which are not covered.
    pub(super) fn lines_out_of_copy(
        &self,
        entry: &HookEntry,
        (project, contents): (&Path, &Contents<'_>),
        listing: &Listing,
    ) -> Vec<String> {
        match entry.foreign.is_none() && self.searches_parents(project) {
            true => self.lines_naming_folder(contents, listing),
            false => Vec::new(),
        }
    }

    /// Returns the reason why a hook runs in place instead of from a copy, if it does. A hook whose interpreter looks
    /// for modules in parent folders never does, since those belong to the project.
    pub(super) fn in_place_reason(
        &self,
        entry: &HookEntry,
        (project, contents): (&Path, &Contents<'_>),
        listing: &Listing,
    ) -> Option<String> {
        if self.searches_parents(project) {
            return None;
        }
        if entry.foreign.is_some() {
            let reason = "hooks of other agents find their project by their own path";
            return Some(reason.to_owned());
        }
        let line = self.lines_naming_folder(contents, listing).into_iter().next()?;
        Some(format!(
            "to have it run from a copy, write \"$HOOK_DIR\" for the path of its folder, as here: {line}"
        ))
    }
}

impl Covered {
    /// The first lines of its files by which they open others, and how many more there are: what those are
    /// is not covered.
    pub(super) fn loading_lines(&self, contents: &Contents<'_>) -> (Vec<String>, usize) {
        matching_lines(contents, &self.listing, ScriptLanguage::opening_lines)
    }
}

/// The syntax of a file's comments, and of the calls that open other files.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ScriptLanguage {
    /// Shells, and unknown languages.
    Shell,
    /// Python, Ruby and Perl.
    Hash,
    /// JavaScript, TypeScript and PHP.
    Slash,
}

impl ScriptLanguage {
    fn of(path: &Path, text: &str) -> Self {
        let extension = path.extension().and_then(|extension| extension.to_str());
        let line = text.lines().next().filter(|line| line.starts_with("#!")).unwrap_or_default();
        let is_of = |names: &[&str]| names.iter().any(|name| line.contains(name));
        match extension.unwrap_or_default() {
            "js" | "mjs" | "cjs" | "jsx" | "ts" | "mts" | "cts" | "tsx" | "php" => Self::Slash,
            "py" | "pyw" | "rb" | "pl" | "pm" => Self::Hash,
            _ if is_of(&["node", "deno", "bun", "tsx", "php"]) => Self::Slash,
            _ if is_of(&["python", "pypy", "ruby", "perl"]) => Self::Hash,
            _ => Self::Shell,
        }
    }

    /// The line without the comment that it is, if it is nothing else.
    fn code(self, line: &str) -> Option<&str> {
        let code = line.trim_start();
        match self {
            Self::Shell | Self::Hash => (!code.starts_with('#')).then_some(code),
            Self::Slash => {
                // Code may stand behind the end of a comment.
                let code = match code.rsplit_once("*/") {
                    Some((_, rest)) => rest.trim_start(),
                    None if code.starts_with("/*") || code.starts_with("* ") => return None,
                    None => code,
                };
                (!code.starts_with("//") && !code.is_empty()).then_some(code)
            }
        }
    }

    /// The numbers of the lines of code that match, from 0.
    fn lines(self, text: &str, is_match: impl Fn(&str) -> bool) -> BTreeSet<usize> {
        let lines = text.lines().enumerate();
        lines
            .filter(|(_, line)| self.code(line).is_some_and(&is_match))
            .map(|(number, _)| number)
            .collect()
    }

    /// The numbers of the lines that open files by a path, or start something that does so.
    fn opening_lines(self, text: &str) -> BTreeSet<usize> {
        let mut lines = self.lines(text, |line| self.opens(line));
        if self == Self::Shell {
            lines.extend(lines_opening_in_shell(text));
        }
        lines
    }

    /// Returns `true` if a line opens files by their path, or starts a program that does.
    fn opens(self, line: &str) -> bool {
        const PROGRAMS: [&str; 9] =
            ["make ", "npx ", "npm ", "pnpm ", "yarn ", "uv run", "bunx ", "cargo ", "just "];
        const EVERYWHERE: [&str; 5] = ["_PROJECT_DIR", "getcwd", "process.cwd", "eval(", "eval "];
        // In other languages a program's name alone starts nothing; the function that starts it is listed.
        const COMMANDS: [&str; 3] = ["`", "%x", "qx"];
        const HASH: [&str; 18] = [
            "importlib",
            "runpy",
            "exec(",
            "execfile(",
            "__import__",
            "sys.path",
            "site.addsitedir",
            "subprocess",
            "os.system",
            "os.exec",
            "os.popen",
            "popen(",
            "require_relative",
            "$LOAD_PATH",
            "load ",
            "do \"",
            "use lib",
            "system(",
        ];
        const SLASH: [&str; 10] = [
            "__dirname",
            "import.meta.",
            "child_process",
            "createRequire",
            "exec(",
            "execSync(",
            "execFile",
            "spawn",
            "new Function(",
            "vm.",
        ];
        let has = |patterns: &[&str]| patterns.iter().any(|pattern| line.contains(pattern));
        has(&EVERYWHERE)
            || self != Self::Shell && has(&["PWD"])
            || self != Self::Shell && has(&PROGRAMS) && has(&COMMANDS)
            || match self {
                Self::Shell => has_variable(line, "PWD"),
                Self::Hash => has(&HASH),
                Self::Slash => has(&SLASH) || loads_by_path(line),
            }
    }
}

/// Returns `true` if a line of a shell script uses a variable, with an unescaped `$`.
fn has_variable(line: &str, name: &str) -> bool {
    line.match_indices(name).any(|(at, _)| {
        let before = line.get(..at).unwrap_or_default();
        let before = before.strip_suffix('{').unwrap_or(before);
        before.strip_suffix('$').is_some_and(|before| !before.ends_with('\\'))
    })
}

/// The numbers of the lines of a shell's script that source a file, start one by its path, give one to an
/// interpreter, or start a program that runs what a project's file says.
fn lines_opening_in_shell(text: &str) -> impl Iterator<Item = usize> {
    const RUNNERS: [&str; 10] =
        ["make", "npx", "npm", "pnpm", "yarn", "uv", "bunx", "cargo", "just", "task"];
    const SYSTEM: [&str; 5] = ["/bin/", "/usr/", "/dev/", "/opt/", "/tmp/"];
    let reading = read(text, &NOWHERE);
    let opens = |invocation: &Invocation| {
        let (called, program) = (invocation.called.text.as_str(), invocation.program());
        matches!(called, "." | "source")
            || RUNNERS.contains(&program)
            || called.contains('/') && !SYSTEM.iter().any(|folder| called.starts_with(folder))
            || interpreter(program).is_some()
                && invocation.operands().any(|script| script.text != "-")
    };
    let opened = reading.invocations.iter().filter(|invocation| opens(invocation));
    let ranges = opened.map(|invocation| &invocation.range);
    let ranges = ranges.chain(reading.opaque.iter().map(|opaque| &opaque.range));
    ranges.map(|range| line_of(text, range.start)).collect::<BTreeSet<usize>>().into_iter()
}

/// The numbers of the lines of a shell's script that start Python without the engine's variables.
fn lines_without_cache(text: &str) -> BTreeSet<usize> {
    let drops = |invocation: &&Invocation| {
        let mut words = invocation.arguments.iter().map(|argument| argument.text.as_str());
        let ignores = |word: &str| {
            word.strip_prefix('-').is_some_and(|cluster| {
                cluster.bytes().all(|letter| letter.is_ascii_alphabetic())
                    && cluster.contains(['E', 'I'])
            })
        };
        match invocation.program() {
            "env" => words.any(|word| {
                matches!(word, "-" | "-i" | "--ignore-environment") || word.contains(PYTHON_CACHE)
            }),
            "unset" | "export" | "declare" => words.any(|word| word.contains(PYTHON_CACHE)),
            program => {
                searches_script_folder(program)
                    && !is_isolated_code(words.clone())
                    && words.any(ignores)
            }
        }
    };
    let sets = |invocation: &&Invocation| {
        invocation.variables.iter().any(|(name, _)| name == PYTHON_CACHE)
    };
    let reading = read(text, &NOWHERE);
    let dropped =
        reading.invocations.iter().filter(|invocation| drops(invocation) || sets(invocation));
    dropped.map(|invocation| line_of(text, invocation.range.start)).collect()
}

/// Returns `true` if Python runs code of its command line in isolation (`-I -c`), where it looks for modules in no
/// folder of a script.
fn is_isolated_code<'a>(words: impl Iterator<Item = &'a str>) -> bool {
    let mut is_isolated = false;
    for word in words {
        let cluster = word.strip_prefix('-').unwrap_or_default();
        is_isolated |= cluster.contains('I');
        if cluster.is_empty() || cluster.ends_with('c') {
            return is_isolated && !cluster.is_empty();
        }
    }
    false
}

fn line_of(text: &str, at: usize) -> usize {
    text.get(..at).unwrap_or_default().matches('\n').count()
}

/// Returns `true` if a line of JavaScript imports a file by its path.
fn loads_by_path(line: &str) -> bool {
    let is_loading = ["import", "export", "require", "from"].iter().any(|word| line.contains(word));
    let by_path = ["\"./", "'./", "`./", "\"../", "'../", "`../", "\"/", "'/", "`/", "${"];
    let is_computed = ["import(", "require("].iter().any(|call| {
        let argument = line.split_once(call).map(|(_, argument)| argument.trim_start());
        argument.is_some_and(|argument| !argument.starts_with(['"', '\'', '`']))
    });
    is_loading && by_path.iter().any(|path| line.contains(path)) || is_computed
}

/// The first line of a program.
enum FirstLine {
    /// Nothing that the system or an interpreter reads.
    None,
    /// The text after `#!`.
    Interpreter(String),
    /// It cannot be read as text.
    Unknown,
}

impl FirstLine {
    fn words(&self) -> impl Iterator<Item = &str> {
        let line = match self {
            Self::Interpreter(line) => line,
            Self::None | Self::Unknown => "",
        };
        line.split_whitespace()
    }
}

/// The first line of a program, read as each of its readers does: the system takes some bytes of it, perl and ruby
/// the whole, behind a byte order mark, and perl also behind blanks and a colon.
fn first_line(path: &Path) -> FirstLine {
    let mut buffer = Vec::new();
    let read = regular_file::open(path);
    let read = read.and_then(|file| file.take(MAX_FIRST_LINE).read_to_end(&mut buffer));
    if read.is_err() {
        return FirstLine::None;
    }
    let is_utf_16 =
        matches!(&*buffer, [0xfe, 0xff, ..] | [0xff, 0xfe, ..] | [0, _, ..] | [_, 0, ..]);
    if is_utf_16 {
        return FirstLine::Unknown;
    }
    let text = buffer.strip_prefix(b"\xef\xbb\xbf").unwrap_or(&buffer).trim_ascii_start();
    let text = text.strip_prefix(b":").unwrap_or(text).trim_ascii_start();
    let Some(text) = text.strip_prefix(b"#!") else {
        // It begins behind more blanks than were read.
        let is_blank = text.is_empty() && buffer.len() as u64 == MAX_FIRST_LINE;
        return if is_blank { FirstLine::Unknown } else { FirstLine::None };
    };
    let line = text.split(|byte| *byte == b'\n').next().unwrap_or_default();
    let is_whole = line.len() < text.len() || (buffer.len() as u64) < MAX_FIRST_LINE;
    match std::str::from_utf8(line) {
        Ok(line) if is_whole && !line.contains('\0') => FirstLine::Interpreter(line.to_owned()),
        _ => FirstLine::Unknown,
    }
}

/// The name of a program without its folder.
fn program_name(program: &str) -> &str {
    program.rsplit('/').next().unwrap_or(program)
}

/// The first lines of programs that are such, each with where it stands, and how many more there are.
fn matching_lines(
    contents: &Contents<'_>,
    listing: &Listing,
    matching: impl Fn(ScriptLanguage, &str) -> BTreeSet<usize>,
) -> (Vec<String>, usize) {
    let (mut found, mut more) = (Vec::new(), 0);
    for (path, entry) in &listing.files {
        let Entry::File(stamp) = entry else { continue };
        let is_text = |path: &Path| {
            let extension =
                path.extension().and_then(|extension| extension.to_str()).unwrap_or_default();
            !["md", "txt", "json", "jsonl", "yaml", "yml", "toml"].contains(&extension)
        };
        if stamp.size > MAX_SEARCHED || !is_text(path) {
            continue;
        }
        let Ok(content) = contents.read(path, stamp) else { continue };
        let text = match &content.bytes {
            Some(bytes) => String::from_utf8_lossy(bytes),
            None => match regular_file::read(&contents.base.join(path), MAX_SEARCHED) {
                Ok(bytes) => Cow::Owned(String::from_utf8_lossy(&bytes).into_owned()),
                Err(_) => continue,
            },
        };
        let language = ScriptLanguage::of(path, &text);
        let numbers = matching(language, &text);
        for (number, line) in text.lines().enumerate() {
            if numbers.contains(&number) {
                let code = line.trim_start();
                if found.len() == MAX_LINES {
                    more += 1;
                    continue;
                }
                let shown = hook_json::text::shortened(code);
                found.push(format!("{}:{}: {shown}", path.shown(), number + 1));
            }
        }
    }
    (found, more)
}

/// Returns `true` if a line names a folder by its path in the project.
fn names_folder(line: &str, root: &Path) -> bool {
    let Some(root) = root.to_str() else { return false };
    line.match_indices(root).any(|(index, _)| {
        let is_name_character =
            |character: char| character.is_alphanumeric() || "_-".contains(character);
        let before = line.get(..index).unwrap_or_default().chars().next_back();
        let after = line.get(index + root.len()..).unwrap_or_default().chars().next();
        !before.is_some_and(|character| is_name_character(character) || character == '.')
            && !after.is_some_and(|character| is_name_character(character) || character == '.')
    })
}

/// The folders of files, none of which is in another one.
fn covered_roots(files: &[PathBuf]) -> Vec<PathBuf> {
    let mut roots: Vec<PathBuf> = files.iter().map(|file| covered_root(file)).collect();
    roots.sort();
    roots.dedup();
    let all = roots.clone();
    roots.retain(|root| !all.iter().any(|other| other != root && root.starts_with(other)));
    roots
}

/// Returns the folder that is covered with a file: `.hooks`, the folder of an agent's hooks, or its own. A file in
/// the project's root is covered alone.
fn covered_root(file: &Path) -> PathBuf {
    let mut parts = file.components().map(|part| part.as_os_str());
    let (first, second, third) = (parts.next(), parts.next(), parts.next());
    let first_name = first.map(|name| name.to_string_lossy()).unwrap_or_default();
    match (first, second, third) {
        (Some(first), Some(_), _) if first == HOOKS_FOLDER => first.into(),
        (Some(first), Some(second), Some(_))
            if first_name.starts_with('.') && second == "hooks" =>
        {
            Path::new(first).join(second)
        }
        (Some(_), Some(_), _) => file.parent().map(Path::to_path_buf).unwrap_or_default(),
        _ => file.to_path_buf(),
    }
}

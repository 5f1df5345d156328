//! Programs of other languages in arguments and here-documents: a small list of calls, found by
//! their names and the strings in their parentheses.

use super::argument::Argument;
use super::awk::by_awk;
use super::invocation::Invocation;
use super::paths::Access;
use super::program::{Language, OptionValue};
use super::started::Started;
use super::tokens::{call_strings, is_computed, is_name, is_unknown_path, string};

/// The use that a function makes of its strings.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Call {
    /// One string is a shell text, several are a program with arguments.
    Runs,
    /// The first string is a file that is read, or written if another string is a mode that writes.
    Opens,
    Reads,
    Writes,
    /// Strings are files that are written if the program has a method that writes, else read.
    Names,
}

impl Call {
    /// Returns what the function of a name does.
    fn of(name: &str) -> Option<Self> {
        Some(match name {
            "Path" => Self::Names,
            "Popen"
            | "call"
            | "capture2"
            | "capture3"
            | "check_call"
            | "check_output"
            | "create_subprocess_shell"
            | "exec"
            | "execFile"
            | "execFileSync"
            | "execSync"
            | "execl"
            | "execlp"
            | "execv"
            | "execve"
            | "execvp"
            | "getoutput"
            | "getstatusoutput"
            | "passthru"
            | "popen"
            | "proc_open"
            | "run"
            | "shell_exec"
            | "spawn"
            | "spawnSync"
            | "system" => Self::Runs,
            "appendFile" | "appendFileSync" | "chmod" | "chmodSync" | "chown" | "chownSync"
            | "copy" | "copy2" | "copyFile" | "copyFileSync" | "copyfile" | "copytree" | "cp"
            | "cpSync" | "cp_r" | "cp_rf" | "createWriteStream" | "delete" | "emptyDir"
            | "ensureDir" | "file_put_contents" | "ftruncate" | "glob" | "link" | "linkSync"
            | "ln_s" | "ln_sf" | "makedirs" | "mkdirSync" | "mkdir_p" | "move"
            | "move_uploaded_file" | "mv" | "openat" | "outputFile" | "outputFileSync"
            | "remove" | "removeSync" | "remove_tree" | "removedirs" | "rename" | "renameSync"
            | "renames" | "replace" | "rm" | "rmSync" | "rm_f" | "rm_r" | "rm_rf" | "rmdir"
            | "rmdirSync" | "rmdirs" | "rmtree" | "symlink" | "symlinkSync" | "sysopen"
            | "truncate" | "truncateSync" | "unlink" | "unlinkSync" | "utime" | "utimesSync"
            | "write" | "writeFile" | "writeFileSync" | "writeTextFile" | "writeTextFileSync"
            | "writev" => Self::Writes,
            "createReadStream" | "file_get_contents" | "opendir" | "read" | "readFile"
            | "readFileSync" | "readTextFile" | "readTextFileSync" | "readdirSync" | "readfile"
            | "readlines" | "slurp" => Self::Reads,
            "fopen" | "open" | "openSync" => Self::Opens,
            _ => return None,
        })
    }
}

/// The maximum length of a program that is read.
const MAX_PROGRAM: usize = 256 << 10;

/// Returns what the programs in an invocation's arguments and input do.
pub(super) fn texts(invocation: &Invocation) -> Vec<Started> {
    let mut effects = Vec::new();
    let Some(language) = invocation.known.language else { return effects };
    let name = invocation.program();
    if matches!(name, "awk" | "gawk" | "mawk") {
        return by_awk(invocation.operand(0));
    }
    let mut programs = invocation.values(OptionValue::Code);
    // Clusters such as `-ne` of perl and ruby.
    if programs.is_empty() && matches!(name, "perl" | "ruby") {
        let mut texts = invocation.texts();
        let is_cluster =
            |text: &str| text.len() > 2 && text.starts_with('-') && text.ends_with(['e', 'E']);
        if texts.any(is_cluster) {
            programs.extend(texts.next());
        }
    }
    if name == "deno" && invocation.operand(0) == "eval" {
        programs.push(invocation.operand(1));
    }
    if programs.is_empty() && invocation.reads_program() {
        programs.extend(invocation.input.text());
    }
    for program in programs {
        if program.len() <= MAX_PROGRAM {
            read(program, language, &mut effects);
            // A program that begins in the home directory may use any file there.
            const HOMES: [&str; 7] =
                ["Path.home", "expanduser", "homedir", "HOME", "getpwuid", "Dir.home", "/proc/"];
            let is_file = |effect: &Started| matches!(effect, Started::File(_, Access::Write));
            if HOMES.iter().any(|home| program.contains(home))
                && (effects.iter().any(is_file) || writes_by_method(program))
            {
                effects.push(Started::unknown_program());
            }
        } else {
            effects.push(Started::unknown_program());
        }
    }
    effects
}

fn read(program: &str, language: Language, effects: &mut Vec<Started>) {
    let Language { has_hash, has_slashes, has_backticks } = language;
    let mut rest = program;
    while let Some(character) = rest.chars().next() {
        if has_hash && character == '#' || has_slashes && rest.starts_with("//") {
            rest = rest.split_once('\n').map_or("", |(_, rest)| rest);
        } else if has_slashes && rest.starts_with("/*") {
            rest = rest.split_once("*/").map_or("", |(_, rest)| rest);
        } else if character == '`' && has_backticks {
            let (text, after) = string(rest);
            effects.push(Started::Text(text));
            rest = after;
        } else if "\"'`".contains(character) {
            let (text, after) = string(rest);
            mention(&text, program, effects);
            rest = after;
        } else if has_backticks && (rest.starts_with("qx") || rest.starts_with("%x")) {
            let after = rest.get(2..).unwrap_or_default();
            if let Some(open) = after.chars().next().filter(|open| "({[/!|".contains(*open)) {
                let close = match open {
                    '(' => ')',
                    '{' => '}',
                    '[' => ']',
                    other => other,
                };
                let text =
                    after.get(1..).unwrap_or_default().split(close).next().unwrap_or_default();
                effects.push(Started::text(text));
            }
            rest = after;
        } else if is_name(character) {
            let length = rest.find(|character| !is_name(character)).unwrap_or(rest.len());
            let (name, after) = rest.split_at(length);
            rest = after;
            if let Some(call) = Call::of(name) {
                effects_of(call, name, program, after, effects);
            }
        } else {
            rest = rest.get(character.len_utf8()..).unwrap_or_default();
        }
    }
}

/// Adds what a call does with the strings behind its name.
fn effects_of(call: Call, name: &str, program: &str, after: &str, effects: &mut Vec<Started>) {
    let Some(found) = call_strings(after) else { return };
    // `Path('x').write_text(…)`, `open('x').read()`: the string is before the name.
    match call {
        Call::Runs => {
            // `/x/.exec("y")` and the like run no programs.
            const MODULES: [&str; 9] = [
                "subprocess",
                "child_process",
                "system",
                "os.",
                "execa",
                "Open3",
                "$exec",
                "shelljs",
                "zx",
            ];
            let begin = program.len().saturating_sub(after.len() + name.len());
            let is_method = program.get(..begin).is_some_and(|before| before.ends_with('.'));
            let may_run = !matches!(name, "run" | "call" | "exec")
                || MODULES.iter().any(|module| program.contains(module))
                || program
                    .match_indices("require(")
                    .any(|(at, call)| program.get(at + call.len() - 1..).is_some_and(is_computed))
                || name == "exec" && !is_method;
            match found.as_slice() {
                _ if !may_run => {}
                _ if is_computed(after) => effects.push(Started::unknown_program()),
                [] => {}
                [text] => effects.push(Started::text(text)),
                words => {
                    effects.push(Started::Program(words.iter().map(Argument::plain).collect()))
                }
            }
        }
        Call::Opens | Call::Reads | Call::Writes if !is_of_files(name, program, after) => {}
        Call::Opens => {
            let is_mode = |text: &String| {
                text.len() <= 3 && text.contains(['r', 'w', 'a', 'x', '+', '>', '<', '|'])
            };
            let modes: String = found.iter().filter(|text| is_mode(text)).cloned().collect();
            let path = found.iter().find(|text| !is_mode(text));
            // Perl has the mode in front of the path, or in it.
            let path = path.map(|path| path.trim_start_matches(['>', '<', '+', ' ']));
            let is_in_path = found.iter().any(|text| text.starts_with(['>', '+']));
            if modes.contains('|') || path.is_some_and(|path| path.starts_with('|')) {
                effects.push(Started::unknown_program());
            }
            let writes = is_in_path
                || modes.contains(['w', 'a', 'x', '+', '>'])
                || ["O_WRONLY", "O_RDWR", "O_CREAT", "O_TRUNC"]
                    .iter()
                    .any(|flag| after.split(')').next().unwrap_or_default().contains(flag));
            let access = if writes { Access::Write } else { Access::Read };
            effects.extend(path.map(|path| Started::File(path.to_owned(), access)));
            // Perl names a handle first.
            let first = after.trim_start_matches([' ', '(']);
            let is_handle = first.starts_with("my ")
                || first.starts_with(|first: char| first.is_ascii_uppercase());
            if is_unknown_path(after, if is_handle { 3 } else { 1 }, program) {
                effects.push(Started::unknown_program());
            }
        }
        Call::Names => {
            let writes = writes_by_method(program);
            let access = if writes { Access::Write } else { Access::Read };
            effects.extend(found.into_iter().map(|path| Started::File(path, access)));
            if writes && is_unknown_path(after, 8, program) {
                effects.push(Started::unknown_program());
            }
        }
        Call::Reads | Call::Writes => {
            let access = if call == Call::Reads { Access::Read } else { Access::Write };
            // Other strings are contents and encodings.
            let moves = ["rename", "cp", "mv", "move", "copy", "unlink", "rm", "replace"]
                .iter()
                .any(|begin| name.starts_with(begin));
            let count = if moves { usize::MAX } else { 1 };
            effects.extend(found.into_iter().take(count).map(|path| Started::File(path, access)));
            if is_unknown_path(after, count, program) {
                effects.push(Started::unknown_program());
            }
        }
    }
}

/// Returns `true` if a program has a method that writes the file of its object.
fn writes_by_method(program: &str) -> bool {
    const WRITERS: [&str; 12] = [
        ".unlink(",
        ".write_text(",
        ".write_bytes(",
        ".rmdir(",
        ".rename(",
        ".replace(",
        ".touch(",
        ".open('w",
        ".open(\"w",
        ".open('a",
        ".open(\"a",
        ".symlink_to(",
    ];
    WRITERS.iter().any(|method| program.contains(method))
}

/// Returns `true` if a function is one of files: names of other things need a module that is one of
/// files.
fn is_of_files(name: &str, program: &str, after: &str) -> bool {
    const OTHERS: [&str; 17] = [
        "call", "chmod", "copy", "delete", "glob", "link", "move", "open", "read", "remove",
        "replace", "rename", "truncate", "write", "slurp", "symlink", "unlink",
    ];
    if !OTHERS.contains(&name) {
        return true;
    }
    const MODULES: [&str; 14] = [
        "os",
        "shutil",
        "fs",
        "fsp",
        "promises",
        "File",
        "FileUtils",
        "Deno",
        "Bun",
        "Dir",
        "IO",
        "glob",
        "io",
        "codecs",
    ];
    let begin = program.len().saturating_sub(after.len() + name.len());
    let before = program.get(..begin).unwrap_or_default();
    match before.strip_suffix('.').or_else(|| before.strip_suffix("::")) {
        Some(object) => {
            let module = object.rsplit(|character: char| !is_name(character)).next();
            module.is_some_and(|module| MODULES.contains(&module))
        }
        // A bare `read` or `write` gets a handle; the others may be imported.
        None => !matches!(name, "read" | "write" | "call" | "delete"),
    }
}

/// Adds a string that may be the name of a file, whatever is done with it.
fn mention(text: &str, program: &str, effects: &mut Vec<Started>) {
    const MAX_MENTIONS: usize = 500;
    let is_name = !text.is_empty()
        && text.len() < 4_000
        && !text.contains(['\n', '\t', '(', ')', '|', '^', '\\'])
        && (!text.contains(['*', '?', '[']) || program.contains("glob"));
    match effects.len() {
        ..MAX_MENTIONS if is_name => effects.push(Started::File(text.to_owned(), Access::Unknown)),
        MAX_MENTIONS if is_name => effects.push(Started::unknown_program()),
        _ => {}
    }
}

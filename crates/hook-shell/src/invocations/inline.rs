//! Programs of other languages in arguments and here-documents: a small list of calls, found by
//! their names and the strings in their parentheses.

use super::{Access, Input, Invocation, starters};

/// An effect of a call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Effect {
    /// A shell text is run.
    Shell(String),
    /// A program is run.
    Program(Vec<String>),
    /// A file is used.
    File(String, Access),
    /// Something that only running it can tell.
    Unknown,
}

/// The comments of a language.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Comments {
    Hash,
    Slashes,
    Both,
}

/// Interpreters: the name, options with a program, its comments, and whether backticks run a text.
const INTERPRETERS: &[(&str, &[&str], Comments, bool)] = &[
    ("awk", &[], Comments::Hash, false),
    ("bun", &["-e", "--eval", "-p", "--print"], Comments::Slashes, false),
    ("deno", &["eval"], Comments::Slashes, false),
    ("gawk", &[], Comments::Hash, false),
    ("ipython", &["-c"], Comments::Hash, false),
    ("lua", &["-e"], Comments::Hash, false),
    ("mawk", &[], Comments::Hash, false),
    ("node", &["-e", "--eval", "-p", "--print", "-pe"], Comments::Slashes, false),
    ("nodejs", &["-e", "--eval", "-p", "--print", "-pe"], Comments::Slashes, false),
    ("perl", &["-e", "-E"], Comments::Hash, true),
    ("php", &["-r"], Comments::Both, true),
    ("pypy", &["-c"], Comments::Hash, false),
    ("pypy3", &["-c"], Comments::Hash, false),
    ("python", &["-c"], Comments::Hash, false),
    ("python2", &["-c"], Comments::Hash, false),
    ("python3", &["-c"], Comments::Hash, false),
    ("ruby", &["-e"], Comments::Hash, true),
    ("ts-node", &["-e", "--eval", "-p", "--print"], Comments::Slashes, false),
    ("tsx", &["-e", "--eval", "-p", "--print"], Comments::Slashes, false),
];

/// What a function does with its strings.
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

const CALLS: &[(&str, Call)] = &[
    ("Path", Call::Names),
    ("Popen", Call::Runs),
    ("appendFile", Call::Writes),
    ("appendFileSync", Call::Writes),
    ("call", Call::Runs),
    ("capture2", Call::Runs),
    ("capture3", Call::Runs),
    ("check_call", Call::Runs),
    ("check_output", Call::Runs),
    ("chmod", Call::Writes),
    ("chmodSync", Call::Writes),
    ("chown", Call::Writes),
    ("chownSync", Call::Writes),
    ("copy", Call::Writes),
    ("copy2", Call::Writes),
    ("copyFile", Call::Writes),
    ("copyFileSync", Call::Writes),
    ("copyfile", Call::Writes),
    ("copytree", Call::Writes),
    ("cp", Call::Writes),
    ("cpSync", Call::Writes),
    ("cp_r", Call::Writes),
    ("cp_rf", Call::Writes),
    ("createReadStream", Call::Reads),
    ("createWriteStream", Call::Writes),
    ("create_subprocess_shell", Call::Runs),
    ("delete", Call::Writes),
    ("emptyDir", Call::Writes),
    ("ensureDir", Call::Writes),
    ("exec", Call::Runs),
    ("execFile", Call::Runs),
    ("execFileSync", Call::Runs),
    ("execSync", Call::Runs),
    ("execl", Call::Runs),
    ("execlp", Call::Runs),
    ("execv", Call::Runs),
    ("execve", Call::Runs),
    ("execvp", Call::Runs),
    ("file_get_contents", Call::Reads),
    ("file_put_contents", Call::Writes),
    ("fopen", Call::Opens),
    ("ftruncate", Call::Writes),
    ("getoutput", Call::Runs),
    ("getstatusoutput", Call::Runs),
    ("glob", Call::Writes),
    ("link", Call::Writes),
    ("linkSync", Call::Writes),
    ("ln_s", Call::Writes),
    ("ln_sf", Call::Writes),
    ("makedirs", Call::Writes),
    ("mkdirSync", Call::Writes),
    ("mkdir_p", Call::Writes),
    ("move", Call::Writes),
    ("move_uploaded_file", Call::Writes),
    ("mv", Call::Writes),
    ("open", Call::Opens),
    ("openSync", Call::Opens),
    ("openat", Call::Writes),
    ("opendir", Call::Reads),
    ("outputFile", Call::Writes),
    ("outputFileSync", Call::Writes),
    ("passthru", Call::Runs),
    ("popen", Call::Runs),
    ("proc_open", Call::Runs),
    ("read", Call::Reads),
    ("readFile", Call::Reads),
    ("readFileSync", Call::Reads),
    ("readTextFile", Call::Reads),
    ("readTextFileSync", Call::Reads),
    ("readdirSync", Call::Reads),
    ("readfile", Call::Reads),
    ("readlines", Call::Reads),
    ("remove", Call::Writes),
    ("removeSync", Call::Writes),
    ("remove_tree", Call::Writes),
    ("removedirs", Call::Writes),
    ("rename", Call::Writes),
    ("renameSync", Call::Writes),
    ("renames", Call::Writes),
    ("replace", Call::Writes),
    ("rm", Call::Writes),
    ("rmSync", Call::Writes),
    ("rm_f", Call::Writes),
    ("rm_r", Call::Writes),
    ("rm_rf", Call::Writes),
    ("rmdir", Call::Writes),
    ("rmdirSync", Call::Writes),
    ("rmdirs", Call::Writes),
    ("rmtree", Call::Writes),
    ("run", Call::Runs),
    ("shell_exec", Call::Runs),
    ("slurp", Call::Reads),
    ("spawn", Call::Runs),
    ("spawnSync", Call::Runs),
    ("symlink", Call::Writes),
    ("symlinkSync", Call::Writes),
    ("sysopen", Call::Writes),
    ("system", Call::Runs),
    ("truncate", Call::Writes),
    ("truncateSync", Call::Writes),
    ("unlink", Call::Writes),
    ("unlinkSync", Call::Writes),
    ("utime", Call::Writes),
    ("utimesSync", Call::Writes),
    ("write", Call::Writes),
    ("writeFile", Call::Writes),
    ("writeFileSync", Call::Writes),
    ("writeTextFile", Call::Writes),
    ("writeTextFileSync", Call::Writes),
    ("writev", Call::Writes),
];

/// The maximum length of a program that is read.
const MAX_PROGRAM: usize = 256 << 10;

/// Returns what the programs in an invocation's arguments and input do.
pub(super) fn texts(invocation: &Invocation) -> Vec<Effect> {
    let name = invocation.program();
    let name = match name.strip_prefix("python3.") {
        Some(_) => "python3",
        None => name,
    };
    let Some((_, options, comments, has_backticks)) =
        INTERPRETERS.iter().find(|(known, ..)| *known == name)
    else {
        return Vec::new();
    };
    let arguments = &invocation.arguments;
    let mut effects = Vec::new();
    if options.is_empty() {
        let program = starters::operands(name, arguments).into_iter().next();
        if let Some(program) = program {
            effects.extend(run_by_awk(&program.text).into_iter().map(Effect::Shell));
            effects.extend(
                redirected_by_awk(&program.text, '>').map(|path| Effect::File(path, Access::Write)),
            );
            effects.extend(
                redirected_by_awk(&program.text, '<').map(|path| Effect::File(path, Access::Read)),
            );
            if has_computed_awk(&program.text) {
                effects.push(Effect::Unknown);
            }
        }
        return effects;
    }
    let mut programs = starters::option_values(arguments, options);
    // Clusters such as `-ne` of perl and ruby.
    if programs.is_empty() && matches!(name, "perl" | "ruby") {
        let index = arguments.iter().position(|argument| {
            argument.text.len() > 2
                && argument.text.starts_with('-')
                && argument.text.ends_with(['e', 'E'])
        });
        programs.extend(
            index.and_then(|index| arguments.get(index + 1)).map(|program| program.text.as_str()),
        );
    }
    if name == "deno" && arguments.first().is_some_and(|argument| argument.text == "eval") {
        programs.extend(arguments.get(1).map(|program| program.text.as_str()));
    }
    if programs.is_empty()
        && starters::operands(name, arguments).first().is_none_or(|script| script.text == "-")
        && let Input::Text(text) = &invocation.input
    {
        programs.push(text);
    }
    for program in programs {
        if program.len() <= MAX_PROGRAM {
            read(program, *comments, *has_backticks, &mut effects);
            // A program that begins in the home directory may use any file there.
            const HOMES: [&str; 7] =
                ["Path.home", "expanduser", "homedir", "HOME", "getpwuid", "Dir.home", "/proc/"];
            let is_file = |effect: &Effect| matches!(effect, Effect::File(_, Access::Write));
            if HOMES.iter().any(|home| program.contains(home))
                && (effects.iter().any(is_file) || writes_by_method(program))
            {
                effects.push(Effect::Unknown);
            }
        } else {
            effects.push(Effect::Unknown);
        }
    }
    effects
}

/// Returns the shell texts that a program of awk runs: `system("…")`, `"…" | getline`, `print | "…"`.
fn run_by_awk(program: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut rest = program;
    while let Some(at) = rest.find('"') {
        let (before, quoted) = rest.split_at(at);
        let (text, after) = string(quoted);
        let before = before.trim_end();
        let is_piped = |side: &str, other: &str| side == "|" && other != "|";
        let left = before.get(before.len().saturating_sub(2)..).unwrap_or_default();
        let gets = is_piped(
            left.get(left.len().saturating_sub(1)..).unwrap_or_default(),
            left.get(..1).filter(|_| left.len() == 2).unwrap_or_default(),
        );
        let behind = after.trim_start();
        let puts =
            is_piped(behind.get(..1).unwrap_or_default(), behind.get(1..2).unwrap_or_default());
        if gets || puts || before.ends_with("system(") || before.ends_with("system (") {
            found.push(text);
        }
        rest = after;
    }
    found
}

/// Returns the files of redirections in a program of awk: `print > "…"`, `getline < "…"`.
fn redirected_by_awk(program: &str, sign: char) -> impl Iterator<Item = String> {
    let behind = program.split(sign).skip(1).map(|rest| rest.trim_start_matches([' ', '(']));
    behind.filter(|rest| rest.starts_with('"')).map(|rest| string(rest).0)
}

/// Returns `true` if a program of awk runs a computed text, or writes to a computed file.
fn has_computed_awk(program: &str) -> bool {
    let mut calls = program.split("system").skip(1).map(str::trim_start);
    let runs = calls.any(|rest| {
        rest.strip_prefix('(').is_some_and(|rest| {
            let behind = rest.trim_start();
            !behind.starts_with('"') || !string(behind).1.trim_start().starts_with(')')
        })
    });
    // `print > f`; a comparison stands in parentheses or in a condition.
    let statements = program.split([';', '{', '}', '\n']).map(str::trim_start);
    let mut outputs = statements.filter(|it| it.starts_with("print"));
    runs || outputs.any(|statement| {
        let mut open = 0_usize;
        let mut rest = statement;
        while let Some(character) = rest.chars().next() {
            let behind = rest.get(character.len_utf8()..).unwrap_or_default();
            match character {
                '"' => {
                    rest = string(rest).1;
                    continue;
                }
                '(' => open += 1,
                ')' => open = open.saturating_sub(1),
                '>' | '|' if open == 0 => {
                    let target = behind.trim_start_matches(['>', '&']).trim_start();
                    return !target.starts_with('"');
                }
                _ => {}
            }
            rest = behind;
        }
        false
    })
}

/// Returns the string at the start of a text, without its quotes, and the rest.
fn string(text: &str) -> (String, &str) {
    let mut characters = text.char_indices();
    let Some((_, quote)) = characters.next() else { return (String::new(), "") };
    // Python's three quotes.
    let triple: String = std::iter::repeat_n(quote, 3).collect();
    if let Some(inside) = text.strip_prefix(triple.as_str()) {
        return match inside.split_once(triple.as_str()) {
            Some((string, rest)) => (string.to_owned(), rest),
            None => (inside.to_owned(), ""),
        };
    }
    let mut string = String::new();
    while let Some((at, character)) = characters.next() {
        match character {
            _ if character == quote => {
                return (string, text.get(at + character.len_utf8()..).unwrap_or_default());
            }
            '\\' => match characters.next() {
                Some((_, 'n')) => string.push('\n'),
                Some((_, 't')) => string.push('\t'),
                Some((_, escaped)) => string.push(escaped),
                None => {}
            },
            _ => string.push(character),
        }
    }
    (string, "")
}

fn read(program: &str, comments: Comments, has_backticks: bool, effects: &mut Vec<Effect>) {
    let is_name = |character: char| character.is_alphanumeric() || character == '_';
    let mut rest = program;
    while let Some(character) = rest.chars().next() {
        let hash = comments != Comments::Slashes && character == '#';
        let slashes = comments != Comments::Hash && rest.starts_with("//");
        if hash || slashes {
            rest = rest.split_once('\n').map_or("", |(_, rest)| rest);
        } else if comments != Comments::Hash && rest.starts_with("/*") {
            rest = rest.split_once("*/").map_or("", |(_, rest)| rest);
        } else if character == '`' && has_backticks {
            let (text, after) = string(rest);
            effects.push(Effect::Shell(text));
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
                effects.push(Effect::Shell(text.to_owned()));
            }
            rest = after;
        } else if is_name(character) {
            let length = rest.find(|character| !is_name(character)).unwrap_or(rest.len());
            let (name, after) = rest.split_at(length);
            rest = after;
            let call = CALLS
                .binary_search_by(|(known, _)| (*known).cmp(name))
                .ok()
                .and_then(|index| CALLS.get(index));
            if let Some((_, call)) = call {
                effects_of(*call, name, program, after, effects);
            }
        } else {
            rest = rest.get(character.len_utf8()..).unwrap_or_default();
        }
    }
}

/// Adds what a call does with the strings behind its name.
fn effects_of(call: Call, name: &str, program: &str, after: &str, effects: &mut Vec<Effect>) {
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
                _ if is_computed(after) => effects.push(Effect::Unknown),
                [] => {}
                [text] => effects.push(Effect::Shell(text.clone())),
                words => effects.push(Effect::Program(words.to_vec())),
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
                effects.push(Effect::Unknown);
            }
            let writes = is_in_path
                || modes.contains(['w', 'a', 'x', '+', '>'])
                || ["O_WRONLY", "O_RDWR", "O_CREAT", "O_TRUNC"]
                    .iter()
                    .any(|flag| after.split(')').next().unwrap_or_default().contains(flag));
            let access = if writes { Access::Write } else { Access::Read };
            effects.extend(path.map(|path| Effect::File(path.to_owned(), access)));
            // Perl names a handle first.
            let first = after.trim_start_matches([' ', '(']);
            let is_handle = first.starts_with("my ")
                || first.starts_with(|first: char| first.is_ascii_uppercase());
            if is_unknown_path(after, if is_handle { 3 } else { 1 }, program) {
                effects.push(Effect::Unknown);
            }
        }
        Call::Names => {
            let writes = writes_by_method(program);
            let access = if writes { Access::Write } else { Access::Read };
            effects.extend(found.into_iter().map(|path| Effect::File(path, access)));
            if writes && is_unknown_path(after, 8, program) {
                effects.push(Effect::Unknown);
            }
        }
        Call::Reads | Call::Writes => {
            let access = if call == Call::Reads { Access::Read } else { Access::Write };
            // Other strings are contents and encodings.
            let moves = ["rename", "cp", "mv", "move", "copy", "unlink", "rm", "replace"]
                .iter()
                .any(|begin| name.starts_with(begin));
            let count = if moves { 8 } else { 1 };
            effects.extend(found.into_iter().take(count).map(|path| Effect::File(path, access)));
            if is_unknown_path(after, count, program) {
                effects.push(Effect::Unknown);
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
            let is_name = |character: char| character.is_alphanumeric() || character == '_';
            let module = object.rsplit(|character: char| !is_name(character)).next();
            module.is_some_and(|module| MODULES.contains(&module))
        }
        // A bare `read` or `write` gets a handle; the others may be imported.
        None => !matches!(name, "read" | "write" | "call" | "delete"),
    }
}

/// Adds a string that may be the name of a file, whatever is done with it.
fn mention(text: &str, program: &str, effects: &mut Vec<Effect>) {
    const MAX_MENTIONS: usize = 500;
    let is_name = !text.is_empty()
        && text.len() < 4_000
        && !text.contains(['\n', '\t', '(', ')', '|', '^', '\\'])
        && (!text.contains(['*', '?', '[']) || program.contains("glob"));
    if is_name && effects.len() < MAX_MENTIONS {
        effects.push(Effect::File(text.to_owned(), Access::Unknown));
    }
}

/// Returns `true` if one of the first arguments of a call is computed, so that it may be any path.
fn is_unknown_path(after: &str, count: usize, program: &str) -> bool {
    let arguments = after.trim_start_matches(' ');
    let inside = arguments.strip_prefix('(').unwrap_or(arguments);
    let mut open = 0_usize;
    let mut begin = 0_usize;
    let mut at = 0_usize;
    let mut left = count;
    while let Some(rest) = inside.get(at..) {
        let Some(character) = rest.chars().next().filter(|_| at < 4_000) else { break };
        match character {
            '"' | '\'' | '`' => {
                at = inside.len() - string(rest).1.len();
                continue;
            }
            '(' | '[' | '{' => open += 1,
            ')' | ']' | '}' if open > 0 => open -= 1,
            ')' | ';' | '\n' | '}' | ']' if open == 0 => break,
            ',' if open == 0 => {
                if is_computed_path(inside.get(begin..at).unwrap_or_default(), program) {
                    return true;
                }
                begin = at + 1;
                left -= 1;
                if left == 0 {
                    return false;
                }
            }
            _ => {}
        }
        at += character.len_utf8();
    }
    is_computed_path(inside.get(begin..at).unwrap_or_default(), program)
}

/// Returns `true` if an argument is more than strings, which are seen as they are, names that stand
/// for those, and the program's own arguments.
fn is_computed_path(argument: &str, program: &str) -> bool {
    const KNOWN: [&str; 24] = [
        "sys",
        "argv",
        "process",
        "ARGV",
        "my",
        "local",
        "Path",
        "pathlib",
        "str",
        "None",
        "True",
        "False",
        "null",
        "true",
        "false",
        "recursive",
        "ignore_errors",
        "exist_ok",
        "force",
        "r",
        "b",
        "f",
        "glob",
        "iglob",
    ];
    let argument = argument.trim();
    let is_handle = argument.starts_with("my ")
        || !argument.is_empty() && argument.bytes().all(|byte| byte.is_ascii_uppercase());
    let mut rest = if is_handle { "" } else { argument };
    while let Some(character) = rest.chars().next() {
        match character {
            '"' | '\'' | '`' => {
                let (text, behind) = string(rest);
                // `"${x}"`, `"#{x}"` and `f"{x}"` are computed.
                let is_formatted = text.contains(['{', '$']) && !text.contains("*{");
                if is_formatted {
                    return true;
                }
                rest = behind;
                continue;
            }
            '+' | '%' | '/' => return true,
            _ if character.is_alphabetic() || character == '_' => {
                let end = rest.find(|found: char| !(found.is_alphanumeric() || found == '_'));
                let (name, behind) = rest.split_at(end.unwrap_or(rest.len()));
                if !KNOWN.contains(&name) && !is_string(name, program) {
                    return true;
                }
                rest = behind;
                continue;
            }
            _ => {}
        }
        rest = rest.get(character.len_utf8()..).unwrap_or_default();
    }
    false
}

/// Returns `true` if a name of a program only stands for strings and file handles: `p = "…"`,
/// `for p in ["…"]`, `for p in glob("…")`.
fn is_string(name: &str, program: &str) -> bool {
    let is_name = |character: char| character.is_alphanumeric() || character == '_';
    let mut is_assigned = false;
    for (at, _) in program.match_indices(name).take(200) {
        let before = program.get(..at).unwrap_or_default();
        let behind = program.get(at + name.len()..).unwrap_or_default();
        if before.ends_with(is_name) || behind.starts_with(is_name) {
            continue;
        }
        let behind = behind.trim_start();
        let value = match behind.strip_prefix('=').filter(|value| !value.starts_with(['=', '~'])) {
            Some(value) => value,
            None => match behind.strip_prefix("in ").or_else(|| behind.strip_prefix("of ")) {
                Some(value) => value.split([':', '\n']).next().unwrap_or_default(),
                None => continue,
            },
        };
        let value = value.split(['\n', ';']).next().unwrap_or_default();
        // Another name would have to be looked up in turn.
        let mut rest = value;
        while let Some(character) = rest.chars().next() {
            if "\"'`".contains(character) {
                let (text, behind) = string(rest);
                if text.contains(['{', '$']) {
                    return false;
                }
                rest = behind;
                continue;
            }
            if "+%/".contains(character) {
                return false;
            }
            if is_name(character) && !character.is_ascii_digit() {
                let end = rest.find(|found: char| !is_name(found)).unwrap_or(rest.len());
                let (word, behind) = rest.split_at(end);
                const WORDS: [&str; 16] = [
                    "glob",
                    "iglob",
                    "sys",
                    "argv",
                    "process",
                    "ARGV",
                    "Path",
                    "pathlib",
                    "rglob",
                    "recursive",
                    "True",
                    "sorted",
                    "list",
                    "str",
                    "shift",
                    "b",
                ];
                if !WORDS.contains(&word) {
                    return false;
                }
                rest = behind;
                continue;
            }
            rest = rest.get(character.len_utf8()..).unwrap_or_default();
        }
        is_assigned = true;
    }
    is_assigned
}

/// Returns `true` if the arguments of a call are more than strings, lists of them and named options.
fn is_computed(after: &str) -> bool {
    let trimmed = after.trim_start_matches(' ');
    let mut rest = trimmed;
    let mut open = 0_usize;
    let mut looked = 0_usize;
    while let Some(character) = rest.chars().next() {
        looked += 1;
        if looked > 4_000 {
            return true;
        }
        match character {
            '"' | '\'' | '`' => {
                rest = string(rest).1;
                continue;
            }
            '(' | '[' | '{' => open += 1,
            ')' | ']' | '}' => {
                open = open.saturating_sub(1);
                if open == 0 {
                    return false;
                }
            }
            '+' | '%' | '$' => return true,
            ';' | '\n' if open == 0 => return false,
            _ if character.is_alphabetic() => {
                let end = rest.find(|character: char| {
                    !(character.is_alphanumeric() || "_.".contains(character))
                });
                let (name, behind) = rest.split_at(end.unwrap_or(rest.len()));
                let is_option = behind.trim_start().starts_with(['=', ':']);
                let is_constant =
                    ["True", "False", "None", "true", "false", "null", "qw", "subprocess.PIPE"]
                        .contains(&name);
                if !is_option && !is_constant {
                    return true;
                }
                rest = behind;
                continue;
            }
            _ => {}
        }
        rest = rest.get(character.len_utf8()..).unwrap_or_default();
    }
    false
}

/// Returns the strings between the parentheses that begin a text, or behind a blank.
fn call_strings(after: &str) -> Option<Vec<String>> {
    let trimmed = after.trim_start_matches(' ');
    let is_call = trimmed.starts_with('(');
    // Perl and Ruby need no parentheses.
    let is_value = trimmed.starts_with(['"', '\'', 'g', '$', '@'])
        || ["q(", "q{", "q/", "qq", "qw", "my "].iter().any(|begin| trimmed.starts_with(begin));
    let is_bare = after.starts_with(' ') && is_value;
    if !is_call && !is_bare {
        return None;
    }
    let mut open = 0_usize;
    let mut found = Vec::new();
    let mut rest = trimmed;
    let mut looked = 0_usize;
    while let Some(character) = rest.chars().next() {
        looked += 1;
        if looked > 4_000 {
            break;
        }
        match character {
            '"' | '\'' | '`' => {
                let (text, after) = string(rest);
                found.push(text);
                rest = after;
                continue;
            }
            '(' | '[' | '{' => open += 1,
            ')' | ']' | '}' => {
                open = open.saturating_sub(1);
                if open == 0 && is_call {
                    break;
                }
            }
            ';' | '\n' if open == 0 => break,
            _ => {}
        }
        rest = rest.get(character.len_utf8()..).unwrap_or_default();
    }
    Some(found)
}

#[cfg(test)]
pub(super) fn is_sorted() -> bool {
    CALLS.is_sorted_by_key(|(name, _)| *name)
}

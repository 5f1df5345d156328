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
];

/// What a function does with its strings.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Call {
    /// One string is a shell text, several are a program with arguments.
    Runs,
    /// Strings are files that are read, or written if another string is a mode that writes.
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
    ("copy", Call::Writes),
    ("copyfile", Call::Writes),
    ("cp", Call::Writes),
    ("createReadStream", Call::Reads),
    ("createWriteStream", Call::Writes),
    ("create_subprocess_shell", Call::Runs),
    ("delete", Call::Writes),
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
    ("getoutput", Call::Runs),
    ("getstatusoutput", Call::Runs),
    ("glob", Call::Writes),
    ("move", Call::Writes),
    ("mv", Call::Writes),
    ("open", Call::Opens),
    ("openSync", Call::Opens),
    ("passthru", Call::Runs),
    ("popen", Call::Runs),
    ("proc_open", Call::Runs),
    ("read", Call::Reads),
    ("readFile", Call::Reads),
    ("readFileSync", Call::Reads),
    ("readfile", Call::Reads),
    ("readlines", Call::Reads),
    ("remove", Call::Writes),
    ("removedirs", Call::Writes),
    ("rename", Call::Writes),
    ("renameSync", Call::Writes),
    ("replace", Call::Writes),
    ("rm", Call::Writes),
    ("rmSync", Call::Writes),
    ("rm_f", Call::Writes),
    ("rm_r", Call::Writes),
    ("rm_rf", Call::Writes),
    ("rmdir", Call::Writes),
    ("rmdirSync", Call::Writes),
    ("rmtree", Call::Writes),
    ("run", Call::Runs),
    ("shell_exec", Call::Runs),
    ("spawn", Call::Runs),
    ("spawnSync", Call::Runs),
    ("system", Call::Runs),
    ("unlink", Call::Writes),
    ("unlinkSync", Call::Writes),
    ("write", Call::Writes),
    ("writeFile", Call::Writes),
    ("writeFileSync", Call::Writes),
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
                written_by_awk(&program.text).map(|path| Effect::File(path, Access::Write)),
            );
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

/// Returns the files that a program of awk writes: `print > "…"`.
fn written_by_awk(program: &str) -> impl Iterator<Item = String> {
    let behind = program.split('>').skip(1).map(str::trim_start);
    behind.filter(|rest| rest.starts_with('"')).map(|rest| string(rest).0)
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
            rest = string(rest).1;
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
            // `re.call("x")` and the like run no programs.
            let may_run = !matches!(name, "run" | "call" | "exec")
                || [
                    "subprocess",
                    "child_process",
                    "system",
                    "os.",
                    "execa",
                    "Open3",
                    "$exec",
                    "require",
                ]
                .iter()
                .any(|module| program.contains(module))
                || name == "exec";
            match found.as_slice() {
                _ if !may_run => {}
                _ if is_computed(after) => effects.push(Effect::Unknown),
                [] => {}
                [text] => effects.push(Effect::Shell(text.clone())),
                words => effects.push(Effect::Program(words.to_vec())),
            }
        }
        Call::Opens => {
            if let Some((path, modes)) = found.split_first() {
                let writes = modes
                    .iter()
                    .any(|mode| mode.len() <= 3 && mode.contains(['w', 'a', 'x', '+', '>']));
                effects.push(Effect::File(
                    path.clone(),
                    if writes { Access::Write } else { Access::Read },
                ));
            }
        }
        Call::Names => {
            const WRITERS: [&str; 8] = [
                ".unlink(",
                ".write_text(",
                ".write_bytes(",
                ".rmdir(",
                ".rename(",
                ".replace(",
                ".touch(",
                ".open('w",
            ];
            let writes = WRITERS.iter().any(|method| program.contains(method));
            let access = if writes { Access::Write } else { Access::Read };
            effects.extend(found.into_iter().map(|path| Effect::File(path, access)));
        }
        Call::Reads | Call::Writes => {
            let access = if call == Call::Reads { Access::Read } else { Access::Write };
            // `"a".replace("b", "c")`: no files.
            // Other strings are contents and encodings.
            let moves = ["rename", "cp", "mv", "move", "copy", "unlink", "rm"]
                .iter()
                .any(|begin| name.starts_with(begin));
            let count = if moves { found.len() } else { 1 };
            let paths = found.into_iter().take(count).filter(|text| {
                !matches!(
                    name,
                    "replace" | "copy" | "delete" | "write" | "read" | "glob" | "move" | "remove"
                ) || text.contains('/')
                    || text.starts_with('.')
            });
            effects.extend(paths.map(|path| Effect::File(path, access)));
        }
    }
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
    let is_bare = after.starts_with(' ') && trimmed.starts_with(['"', '\'', 'g']);
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

//! Programs of other languages in arguments and here-documents: a small list of calls, found by
//! their names and the strings in their parentheses.

use super::argument::Argument;
use super::argument::UNKNOWN;
use super::awk::by_awk;
use super::invocation::Invocation;
use super::paths::Access;
use super::program::{Language, OptionValue};
use super::started::Started;
use super::tokens::{self, Token, is_call, is_handle, is_name, string};
use super::values::{OWN_ARGUMENT, Values};

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
            | "execute"
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
            | "ensureDir" | "file_put_contents" | "ftruncate" | "link" | "linkSync" | "ln_s"
            | "ln_sf" | "makedirs" | "mkdirSync" | "mkdir_p" | "move" | "move_uploaded_file"
            | "mv" | "openat" | "outputFile" | "outputFileSync" | "remove" | "removeSync"
            | "remove_tree" | "removedirs" | "rename" | "renameSync" | "renames" | "replace"
            | "rm" | "rmSync" | "rm_f" | "rm_r" | "rm_rf" | "rmdir" | "rmdirSync" | "rmdirs"
            | "rmtree" | "symlink" | "symlinkSync" | "sysopen" | "truncate" | "truncateSync"
            | "unlink" | "unlinkSync" | "utime" | "utimesSync" | "write" | "writeFile"
            | "writeFileSync" | "writeTextFile" | "writeTextFileSync" | "writev" => Self::Writes,
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
    if name == "sqlite3" {
        programs.extend(invocation.operands().skip(1).map(|operand| operand.text.as_str()));
    }
    if programs.is_empty() && (invocation.reads_program() || !language.has_calls) {
        programs.extend(invocation.input.text());
    }
    for program in programs {
        let is_known = program.chars().any(|character| character != UNKNOWN);
        if program.len() <= MAX_PROGRAM && (is_known || program.is_empty()) {
            read(program, language, &mut effects);
            // What methods write below the home directory may be any file there.
            const HOMES: [&str; 7] =
                ["Path.home", "expanduser", "homedir", "HOME", "getpwuid", "Dir.home", "/proc/"];
            if HOMES.iter().any(|home| program.contains(home)) && writes_by_method(program) {
                effects.push(Started::unknown_program());
            }
        } else {
            effects.push(Started::unknown_program());
        }
    }
    effects
}

fn read(program: &str, language: Language, effects: &mut Vec<Started>) {
    let Language { has_hash, has_slashes, has_backticks, has_calls } = language;
    let mut values = Values::of(program, language);
    let mut rest = program;
    while let Some(character) = rest.chars().next() {
        if has_hash && character == '#' || has_slashes && rest.starts_with("//") {
            rest = rest.split_once('\n').map_or("", |(_, rest)| rest);
        } else if has_slashes && rest.starts_with("/*") {
            rest = rest.split_once("*/").map_or("", |(_, rest)| rest);
        } else if character == '`' && has_backticks || has_slashes && rest.starts_with("$`") {
            // Bun's shell is a template.
            rest = rest.trim_start_matches('$');
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
            if let Some(call) = Call::of(name).filter(|_| has_calls) {
                effects_of(call, name, after, &mut values, effects);
            }
        } else {
            rest = rest.get(character.len_utf8()..).unwrap_or_default();
        }
    }
}

/// Adds what a call does with the arguments behind its name.
fn effects_of(
    call: Call,
    name: &str,
    after: &str,
    values: &mut Values<'_>,
    effects: &mut Vec<Started>,
) {
    if !is_call(after, values.language.has_backticks) {
        return;
    }
    let program = values.program;
    let begin = program.len().saturating_sub(after.len() + name.len());
    let is_method = program.get(..begin).is_some_and(|before| before.ends_with('.'));
    let is_of_files = call == Call::Names || is_of_files(name, program, after);
    let Some(mut arguments) = tokens::arguments(after) else {
        return effects.push(Started::unknown_program());
    };
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
            let computes_module = || {
                program.match_indices("require(").any(|(at, call)| {
                    let name = program.get(at + call.len()..).and_then(tokens::arguments);
                    !name.is_some_and(|name| matches!(name.concat().as_slice(), [Token::Text(_)]))
                })
            };
            let is_of_os = || program.get(..begin).is_some_and(|before| before.ends_with("os."));
            let may_run = !matches!(name, "run" | "call" | "exec" | "execute")
                || name == "execute" && is_of_os()
                || name != "execute" && MODULES.iter().any(|module| program.contains(module))
                || name == "exec" && !is_method
                || computes_module();
            if may_run {
                effects.extend(run(&arguments, values));
            }
        }
        Call::Opens | Call::Reads | Call::Writes if !is_of_files => {}
        Call::Opens => {
            let is_mode = |text: &str| {
                text.len() <= 3 && text.contains(['r', 'w', 'a', 'x', '+', '>', '<', '|'])
            };
            let texts = arguments.iter().skip(1).filter_map(|argument| match argument.as_slice() {
                [Token::Text(text)]
                | [Token::Name("mode"), Token::Sign('='), Token::Text(text)] => Some(text.as_str()),
                _ => None,
            });
            let modes: String = texts.filter(|text| is_mode(text)).collect();
            // Perl names a handle first, and has the mode in front of the path, or in it.
            arguments.retain(|argument| match argument.as_slice() {
                [Token::Text(text)] => !is_mode(text),
                argument => is_method || !values.language.has_backticks || !is_handle(argument),
            });
            arguments.truncate(1);
            let paths = values.of_arguments(&arguments).concat();
            let is_in_path = paths.iter().any(|text| text.starts_with(['>', '+']));
            // Without a mode, Perl runs a path that begins or ends with `|`.
            let may_run = |path: &String| {
                let is_unknown = modes.is_empty() && !is_method && path.starts_with(UNKNOWN);
                path.starts_with('|') || is_unknown && values.language.has_backticks
            };
            if modes.contains('|') || paths.iter().any(may_run) {
                effects.push(Started::unknown_program());
            }
            let writes = is_in_path
                || modes.contains(['w', 'a', 'x', '+', '>'])
                || ["O_WRONLY", "O_RDWR", "O_CREAT", "O_TRUNC"]
                    .iter()
                    .any(|flag| after.split(')').next().unwrap_or_default().contains(flag));
            let access = if writes { Access::Write } else { Access::Read };
            let paths = paths.iter().map(|path| path.trim_start_matches(['>', '<', '+', ' ']));
            effects.extend(paths.filter_map(|path| of_file(path, access)));
        }
        Call::Names => {
            let writes = writes_by_method(program);
            let access = if writes { Access::Write } else { Access::Read };
            let paths = values.of_arguments(&arguments).concat();
            effects.extend(paths.iter().filter_map(|path| of_file(path, access)));
        }
        Call::Reads | Call::Writes => {
            let access = if call == Call::Reads { Access::Read } else { Access::Write };
            // Other arguments are contents and encodings.
            let moves = ["rename", "cp", "mv", "move", "copy", "unlink", "rm", "replace"]
                .iter()
                .any(|begin| name.starts_with(begin));
            if !moves {
                arguments.truncate(1);
            }
            let paths = values.of_arguments(&arguments).concat();
            effects.extend(paths.iter().filter_map(|path| of_file(path, access)));
        }
    }
}

/// Returns the use of a file by its path, of which a part may be unknown.
fn of_file(path: &str, access: Access) -> Option<Started> {
    match path {
        OWN_ARGUMENT => None,
        _ if path.starts_with(UNKNOWN) && access == Access::Write => {
            Some(Started::unknown_program())
        }
        _ => Some(Started::File(path.to_owned(), access)),
    }
}

/// Returns what a call that runs a program starts: a text, or a list of words.
fn run(arguments: &[Vec<Token<'_>>], values: &mut Values<'_>) -> Option<Started> {
    let (first, rest) = arguments.split_first().filter(|(first, _)| !first.is_empty())?;
    let mut words = match values.list(first) {
        Some(words) => words,
        None => match values.of_expression(first).as_slice() {
            [value] => vec![value.clone()],
            _ => vec![UNKNOWN.to_string()],
        },
    };
    let is_list = first.first() == Some(&Token::Sign('['));
    for argument in rest {
        match argument.as_slice() {
            [Token::Text(text)] => words.push(text.clone()),
            argument => words.extend(values.list(argument).unwrap_or_default()),
        }
    }
    Some(match words.as_slice() {
        [] => return None,
        [program, ..] if program.starts_with(UNKNOWN) => Started::unknown_program(),
        [text] if !is_list && text.contains(UNKNOWN) => Started::unknown_program(),
        [text] if !is_list => Started::text(text),
        words => Started::Program(words.iter().map(Argument::plain).collect()),
    })
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
    const OTHERS: [&str; 16] = [
        "call", "chmod", "copy", "delete", "link", "move", "open", "read", "remove", "replace",
        "rename", "truncate", "write", "slurp", "symlink", "unlink",
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

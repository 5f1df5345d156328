//! Programs of other languages in arguments and here-documents: a small list of calls, found by their
//! names.
//!
//! | module | contents |
//! | --- | --- |
//! | `arguments` | the arguments of calls |
//! | `awk` | programs of awk |
//! | `assignments` | what programs assign to their names |
//! | `processes` | calls that run programs |
//! | `tokens` | strings, names and signs |
//! | `values` | values of expressions, as far as they are known |

mod arguments;
mod assignments;
mod awk;
mod processes;
mod tokens;
mod values;

use self::arguments::{CallArguments, is_flag, is_option};
use self::awk::by_awk;
use self::tokens::{Token, is_call, is_handle, is_name, string};
use self::values::{OWN_ARGUMENT, Values};
use super::argument::UNKNOWN;
use super::invocation::Invocation;
use super::paths::Access;
use super::program::{Language, OptionValue};
use super::started::Started;

/// The use that a function makes of its arguments.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Call {
    /// One argument is a shell text, several are a program with its arguments.
    Runs,
    /// The first argument is a file that is read, or written if the next one is a mode that may write.
    Opens,
    Reads,
    Writes,
    /// The arguments are parts of a path, which is written if the program has a method that writes, else read.
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
            | "capture2e"
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
            | "execle"
            | "execlp"
            | "execv"
            | "execve"
            | "execvp"
            | "execvpe"
            | "getoutput"
            | "getstatusoutput"
            | "open3"
            | "passthru"
            | "pcntl_exec"
            | "popen"
            | "popen3"
            | "posix_spawn"
            | "posix_spawnp"
            | "proc_open"
            | "run"
            | "shell_exec"
            | "spawn"
            | "spawnSync"
            | "spawnl"
            | "spawnle"
            | "spawnlp"
            | "spawnv"
            | "spawnve"
            | "spawnvp"
            | "system" => Self::Runs,
            "WriteStream" | "appendFile" | "appendFileSync" | "binwrite" | "chmod"
            | "chmodSync" | "chmod_R" | "chown" | "chownSync" | "chown_R" | "copy" | "copy2"
            | "copyFile" | "copyFileSync" | "copy_stream" | "copyfile" | "copytree" | "cp"
            | "cpSync" | "cp_r" | "cp_rf" | "createWriteStream" | "delete" | "emptyDir"
            | "ensureDir" | "extractall" | "file_put_contents" | "ftruncate" | "install"
            | "link" | "linkSync" | "ln_s" | "ln_sf" | "makedirs" | "mkdir" | "mkdirSync"
            | "mkdir_p" | "move" | "move_uploaded_file" | "mv" | "openat" | "outputFile"
            | "outputFileSync" | "remove" | "removeSync" | "remove_dir" | "remove_entry"
            | "remove_tree" | "removedirs" | "rename" | "renameSync" | "renames" | "replace"
            | "rm" | "rmSync" | "rm_f" | "rm_r" | "rm_rf" | "rmdir" | "rmdirSync" | "rmdirs"
            | "rmtree" | "symlink" | "symlinkSync" | "sysopen" | "touch" | "truncate"
            | "truncateSync" | "unlink" | "unlinkSync" | "unpack_archive" | "urlretrieve"
            | "utime" | "utimesSync" | "write" | "writeFile" | "writeFileSync"
            | "writeTextFile" | "writeTextFileSync" | "writev" => Self::Writes,
            "createReadStream" | "file_get_contents" | "opendir" | "read" | "readFile"
            | "readFileSync" | "readTextFile" | "readTextFileSync" | "readdirSync" | "readfile"
            | "readlines" | "slurp" => Self::Reads,
            "fopen" | "open" | "openSync" => Self::Opens,
            _ => return None,
        })
    }
}

/// The beginnings of functions of which all arguments are files.
const MOVES: [&str; 13] = [
    "rename",
    "cp",
    "mv",
    "move",
    "copy",
    "unlink",
    "rm",
    "replace",
    "link",
    "ln_",
    "symlink",
    "unpack",
    "urlretrieve",
];

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
            read(program, language, 0, &mut effects);
        } else {
            effects.push(Started::unknown_program());
        }
    }
    let operands: Vec<&str> = invocation.operands().map(|operand| operand.text.as_str()).collect();
    let of_operands = |effect: Started| match effect {
        Started::File(path, access) if path == OWN_ARGUMENT => {
            operands.iter().map(|path| Started::File((*path).to_owned(), access)).collect()
        }
        effect => vec![effect],
    };
    effects.into_iter().flat_map(of_operands).collect()
}

/// The depth of programs within strings that is read.
const MAX_DEPTH: usize = 3;

fn read(program: &str, language: Language, depth: usize, effects: &mut Vec<Started>) {
    let Language { has_hash, has_slashes, has_backticks, has_calls } = language;
    let mut values = Values::of(program, language);
    let mut mentions = Mentions::of(program);
    let mut rest = program;
    while let Some(character) = rest.chars().next() {
        let before = program.get(..program.len() - rest.len()).unwrap_or_default();
        // Perl's `$#a` and `s#a#b#` are no comments.
        let is_comment = || {
            !has_backticks
                || before.ends_with([' ', '\t', '\n', ';', '{', '}', '(', ')'])
                || before.is_empty()
        };
        if has_hash && character == '#' && is_comment() || has_slashes && rest.starts_with("//") {
            rest = rest.split_once('\n').map_or("", |(_, rest)| rest);
        } else if has_slashes && rest.starts_with("/*") {
            rest = rest.split_once("*/").map_or("", |(_, rest)| rest);
        } else if has_slashes && character == '/' && is_begin_of_value(before) {
            rest = behind_regex(rest);
        } else if character == '`' && has_backticks || has_slashes && rest.starts_with("$`") {
            // Bun's shell is a template.
            rest = rest.trim_start_matches('$');
            let (text, after) = string(rest);
            effects.push(Started::Text(text));
            rest = after;
        } else if "\"'`".contains(character) {
            let (text, after) = string(rest);
            mentions.add(&text, effects);
            // `f"{call()}"`
            for inside in text.split('{').skip(1).filter(|_| has_calls && text.contains('(')) {
                match depth < MAX_DEPTH && values.charge(inside.len()) {
                    true => read(inside, language, depth + 1, effects),
                    false => effects.push(Started::unknown_program()),
                }
            }
            rest = after;
        } else if has_backticks && (rest.starts_with("qx") || rest.starts_with("%x")) {
            let after = rest.get(2..).unwrap_or_default();
            let open = after.chars().next().filter(|open| "({[/!|<\"".contains(*open));
            let close = open.map(|open| match open {
                '(' => ')',
                '{' => '}',
                '[' => ']',
                '<' => '>',
                other => other,
            });
            let text = close.and_then(|close| after.get(1..)?.split_once(close));
            if let Some((text, _)) = text {
                effects.push(Started::text(text));
            } else if close.is_some() {
                // It has no end.
                effects.push(Started::unknown_program());
                break;
            }
            rest = text.map_or(after, |(_, rest)| rest);
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
    if !values.charge(0) || depth == 0 && reaches_elsewhere(&values, effects) {
        effects.push(Started::unknown_program());
    }
}

/// Returns `true` if a program with these effects may use other files than the paths in it name: below the home directory
/// by methods, or from another directory.
fn reaches_elsewhere(values: &Values<'_>, effects: &[Started]) -> bool {
    const HOMES: [&str; 7] =
        ["Path.home", "expanduser", "homedir", "HOME", "getpwuid", "Dir.home", "/proc/"];
    let is_effect =
        |effect: &Started| !matches!(effect, Started::File(_, Access::Unknown | Access::Read));
    let program = values.program;
    HOMES.iter().any(|home| program.contains(home)) && values.writes_by_method()
        || program.contains("chdir") && effects.iter().any(is_effect)
}

/// Returns `true` if a value may begin behind a text of JavaScript, so that `/` begins a regular expression.
fn is_begin_of_value(before: &str) -> bool {
    let before = before.trim_end_matches([' ', '\t']);
    before.is_empty()
        || before.ends_with(|last| "(,=:[!&|?{};\n+".contains(last))
        || before.ends_with("return")
}

/// Returns what is behind the regular expression at the start of a text.
fn behind_regex(text: &str) -> &str {
    let (mut is_escaped, mut is_in_class) = (false, false);
    for (at, character) in text.char_indices().skip(1) {
        match character {
            '\n' => break,
            _ if is_escaped => is_escaped = false,
            '\\' => is_escaped = true,
            '[' => is_in_class = true,
            ']' => is_in_class = false,
            '/' if !is_in_class => return text.get(at + 1..).unwrap_or_default(),
            _ => {}
        }
    }
    text.get(1..).unwrap_or_default()
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
    if !matches!(call, Call::Names | Call::Runs) && !is_of_files(name, after, values) {
        return;
    }
    // What is behind the bound of the program is not read.
    if !values.charge(0) {
        return;
    }
    let (arguments, length) = tokens::arguments(after);
    let has_budget = values.charge(length);
    let Some(arguments) = arguments.filter(|_| has_budget) else {
        return effects.push(Started::unknown_program());
    };
    let given = CallArguments::of(arguments);
    if given.is_open && call != Call::Names {
        return effects.push(Started::unknown_program());
    }
    match call {
        Call::Runs => {
            let before = program.get(..begin).unwrap_or_default();
            if may_run(name, before, is_method, values) {
                effects.extend(processes::run(name, given, values));
            }
        }
        Call::Opens => {
            let text = after.get(..length).unwrap_or_default();
            opens(given, text, is_method, values, effects);
        }
        Call::Names => {
            let writes = given.is_open || values.writes_by_method();
            let access = if writes { Access::Write } else { Access::Read };
            let paths = values.joined(&given.positional);
            effects.extend(paths.iter().filter_map(|path| of_file(path, access)));
        }
        Call::Reads | Call::Writes => {
            let access = if call == Call::Reads { Access::Read } else { Access::Write };
            // Other arguments are contents and encodings.
            let moves = MOVES.iter().any(|begin| name.starts_with(begin));
            let count = if moves { usize::MAX } else { 1 };
            let rest = given.positional.iter().skip(1).filter(|argument| !is_option(argument));
            let positional = given.positional.first().into_iter().chain(rest).take(count);
            let named = given.named.iter().map(|(_, value)| value).filter(|value| !is_flag(value));
            for argument in positional.chain(named) {
                let paths = values.of_expression(argument);
                effects.extend(paths.iter().filter_map(|path| of_file(path, access)));
            }
        }
    }
}

/// Adds what a call that opens a file does. A mode that is not known may write.
fn opens(
    mut given: CallArguments<'_>,
    text: &str,
    is_method: bool,
    values: &mut Values<'_>,
    effects: &mut Vec<Started>,
) {
    // Perl names a handle first, and has the mode in front of the path, or in it.
    let is_perl = values.language.has_backticks && !is_method;
    if is_perl && given.positional.first().is_some_and(|first| is_handle(first)) {
        given.positional.remove(0);
        if given.positional.len() > 1 {
            given.positional.swap(0, 1);
        }
    }
    let named = |names: &[&str]| {
        given.named.iter().find(|(name, _)| names.contains(name)).map(|(_, value)| value)
    };
    let Some(path) = named(&["file", "path", "name"]).or(given.positional.first()) else { return };
    let is_by_name = named(&["file", "path", "name"]).is_some();
    let mode = named(&["mode", "flags"]).or(given.positional.get(usize::from(!is_by_name)));
    let flags = ["O_WRONLY", "O_RDWR", "O_CREAT", "O_TRUNC", "O_APPEND"];
    let mode = match mode.map(Vec::as_slice) {
        None => "",
        Some([Token::Text(mode)]) => mode.as_str(),
        Some(_)
            if text.contains("O_RDONLY")
                && !text.contains(['|', '+'])
                && !flags.iter().any(|it| text.contains(it)) =>
        {
            "r"
        }
        Some(_) => "w",
    };
    for path in values.of_expression(path) {
        // Without a mode, Perl runs a path that begins or ends with `|`.
        let may_run = is_perl && mode.is_empty() && path.starts_with(UNKNOWN);
        if mode.contains('|') || path.starts_with('|') || path.ends_with('|') || may_run {
            effects.push(Started::unknown_program());
        }
        let writes = mode.contains(['w', 'a', 'x', '+', '>']) || path.starts_with(['>', '+']);
        let access = if writes { Access::Write } else { Access::Read };
        effects.extend(of_file(path.trim_start_matches(['>', '<', '+', ' ']), access));
    }
}

/// Returns the use of a file by its path, of which a part may be unknown.
fn of_file(path: &str, access: Access) -> Option<Started> {
    match path {
        _ if path.starts_with(UNKNOWN) && path != OWN_ARGUMENT && access == Access::Write => {
            Some(Started::unknown_program())
        }
        _ => Some(Started::File(path.to_owned(), access)),
    }
}

/// Returns `true` if a function that may be one of other things runs programs here: `/x/.exec("y")` and the like do not.
fn may_run(name: &str, before: &str, is_method: bool, values: &mut Values<'_>) -> bool {
    match name {
        "execute" => before.ends_with("os."),
        "exec" if !is_method => true,
        "run" | "call" | "exec" => values.runs_programs(),
        _ => true,
    }
}

/// Returns `true` if a function is one of files: names of other things need a module that is one of
/// files.
fn is_of_files(name: &str, after: &str, values: &mut Values<'_>) -> bool {
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
    let program = values.program;
    let begin = program.len().saturating_sub(after.len() + name.len());
    let before = program.get(..begin).unwrap_or_default();
    match before.strip_suffix('.').or_else(|| before.strip_suffix("::")) {
        // `require("fs").unlink(…)`
        Some(object) if object.ends_with(')') => object
            .rsplit_once('(')
            .is_some_and(|(_, module)| MODULES.iter().any(|it| module.contains(it))),
        Some(object) => {
            let module = object.rsplit(|character: char| !is_name(character)).next();
            module.is_some_and(|module| {
                let is_name = !module.is_empty() && module.len() < 32;
                MODULES.contains(&module) || is_name && values.names_module(module)
            })
        }
        // A bare `read` or `write` gets a handle; the others may be imported.
        None => !matches!(name, "read" | "write" | "call" | "delete"),
    }
}

/// The strings of a program that may be names of files, whatever is done with them.
struct Mentions {
    count: usize,
    /// `true` if the program expands patterns.
    has_globs: bool,
}

impl Mentions {
    fn of(program: &str) -> Self {
        Self { count: 0, has_globs: program.contains("glob") }
    }

    fn add(&mut self, text: &str, effects: &mut Vec<Started>) {
        const MAX_MENTIONS: usize = 500;
        let is_name = !text.is_empty()
            && text.len() < 4_000
            && !text.contains(['\n', '\t', '(', ')', '|', '^', '\\'])
            && (!text.contains(['*', '?', '[']) || self.has_globs);
        if !is_name {
            return;
        }
        self.count += 1;
        match self.count {
            ..MAX_MENTIONS => effects.push(Started::File(text.to_owned(), Access::Unknown)),
            MAX_MENTIONS => effects.push(Started::unknown_program()),
            _ => {}
        }
    }
}

//! What is known of programs and of the shell's own words: tables.

/// Programs that run the script which is their first argument.
const INTERPRETERS: [&str; 19] = [
    "ash", "bash", "bun", "dash", "deno", "ksh", "lua", "node", "nodejs", "perl", "php", "pypy",
    "python", "rbash", "ruby", "sh", "ts-node", "tsx", "zsh",
];

/// Those among them that read the language of the shell.
const SHELL_INTERPRETERS: [&str; 7] = ["ash", "bash", "dash", "ksh", "rbash", "sh", "zsh"];

/// Options of shells that are set by name, as in `bash -o pipefail`. None of them makes a shell run
/// anything else.
const SHELL_OPTIONS: [&str; 9] = [
    "errexit",
    "errtrace",
    "functrace",
    "noclobber",
    "noglob",
    "nounset",
    "pipefail",
    "posix",
    "xtrace",
];

/// Programs that open no file which their words name, and start nothing.
const OPENS_NOTHING: [&str; 19] = [
    ":", "[", "[[", "break", "continue", "echo", "exit", "false", "kill", "printf", "pwd",
    "return", "shift", "sleep", "test", "true", "ulimit", "umask", "wait",
];

/// Programs that open files, and start nothing.
const ONLY_READS: [&str; 21] = [
    "cat",
    "cmp",
    "curl",
    "cut",
    "date",
    "diff",
    "egrep",
    "fgrep",
    "grep",
    "head",
    "logger",
    "ls",
    "notify-send",
    "say",
    "tail",
    "terminal-notifier",
    "tr",
    "type",
    "uniq",
    "wc",
    "which",
];

/// Words after which a command begins.
const KEYWORDS: [&str; 13] =
    ["!", "do", "done", "elif", "else", "fi", "if", "then", "until", "while", "{", "}", "time"];

/// Modules of python that run what their words name.
const MODULES_THAT_RUN_OTHERS: [&str; 16] = [
    "cProfile",
    "code",
    "compileall",
    "coverage",
    "doctest",
    "ensurepip",
    "inspect",
    "pdb",
    "pip",
    "profile",
    "runpy",
    "timeit",
    "trace",
    "unittest",
    "venv",
    "zipapp",
];

/// Programs that start the program which is behind them.
const WRAPPERS: [(&str, Wrapper); 8] = [
    ("builtin", Wrapper::Plain),
    ("command", Wrapper::Command),
    ("env", Wrapper::Env),
    ("exec", Wrapper::Plain),
    ("nice", Wrapper::Nice),
    ("nohup", Wrapper::Plain),
    ("setsid", Wrapper::Plain),
    ("timeout", Wrapper::Timeout),
];

/// Other programs that start what is among their words, read it as code, or make files of it that
/// may be started.
const STARTERS: [&str; 34] = [
    "busybox",
    "chroot",
    "cp",
    "doas",
    "entr",
    "eval",
    "fish",
    "flock",
    "hyperfine",
    "install",
    "ionice",
    "ln",
    "mv",
    "nsenter",
    "parallel",
    "rsync",
    "runuser",
    "script",
    "sed",
    "ssh",
    "stdbuf",
    "strace",
    "su",
    "sudo",
    "systemd-run",
    "tar",
    "taskset",
    "toybox",
    "trap",
    "unshare",
    "unzip",
    "watch",
    "xargs",
    "xonsh",
];

/// Options by which programs are given code or the name of a program.
const CODE_OPTIONS: [&str; 6] = ["-c", "-e", "-x", "--command", "--eval", "--exec"];

/// Programs that run what files of the project say that are not named: scripts of a package, rules
/// of a makefile.
const TASK_RUNNERS: [&str; 68] = [
    "ant",
    "bats",
    "bazel",
    "bmake",
    "bundle",
    "bunx",
    "cargo",
    "composer",
    "ctest",
    "devbox",
    "doit",
    "dotnet",
    "fab",
    "flask",
    "gmake",
    "go",
    "gradle",
    "grunt",
    "gulp",
    "hatch",
    "husky",
    "invoke",
    "java",
    "jest",
    "just",
    "lefthook",
    "lein",
    "lint-staged",
    "mage",
    "make",
    "meson",
    "mise",
    "mix",
    "mocha",
    "mvn",
    "ninja",
    "nox",
    "npm",
    "npx",
    "nx",
    "pdm",
    "phpunit",
    "pipenv",
    "pixi",
    "pnpm",
    "poetry",
    "pre-commit",
    "prove",
    "pydoc",
    "pydoc3",
    "pytest",
    "rails",
    "rake",
    "remake",
    "rspec",
    "run-parts",
    "rye",
    "sbt",
    "scons",
    "swift",
    "task",
    "tox",
    "turbo",
    "unittest",
    "uv",
    "uvx",
    "vitest",
    "yarn",
];

/// Programs whose language can start others.
const AWKS: [&str; 4] = ["awk", "gawk", "mawk", "nawk"];

/// Long options of interpreters that say nothing of what they run.
const PLAIN_LONG_OPTIONS: [&str; 4] =
    ["--", "--enable-source-maps", "--experimental-strip-types", "--no-warnings"];

/// Interpreters that also run tasks which a file of the project names, and the word before a script.
const INTERPRETERS_WITH_TASKS: [&str; 2] = ["bun", "deno"];
const RUN: &str = "run";

/// What awk's language starts programs and reads files with.
const STARTS_IN_AWK: [&str; 5] = ["system", "getline", "|", "@", "ARG"];

/// What bash would not look for as a program: `compgen -b -k`, as far as it is made of plain
/// characters.
const SHELL_WORDS: [&str; 77] = [
    ".",
    ":",
    "alias",
    "bg",
    "bind",
    "break",
    "builtin",
    "caller",
    "case",
    "cd",
    "command",
    "compgen",
    "complete",
    "compopt",
    "continue",
    "coproc",
    "declare",
    "dirs",
    "disown",
    "do",
    "done",
    "echo",
    "elif",
    "else",
    "enable",
    "esac",
    "eval",
    "exec",
    "exit",
    "export",
    "false",
    "fc",
    "fg",
    "fi",
    "for",
    "function",
    "getopts",
    "hash",
    "help",
    "history",
    "if",
    "in",
    "jobs",
    "kill",
    "let",
    "local",
    "logout",
    "mapfile",
    "popd",
    "printf",
    "pushd",
    "pwd",
    "read",
    "readarray",
    "readonly",
    "return",
    "select",
    "set",
    "shift",
    "shopt",
    "source",
    "suspend",
    "test",
    "then",
    "time",
    "times",
    "trap",
    "true",
    "type",
    "typeset",
    "ulimit",
    "umask",
    "unalias",
    "unset",
    "until",
    "wait",
    "while",
];

/// What a program does with its words.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Role {
    /// A command begins behind it: `if`.
    Keyword,
    /// It starts the program behind it: `timeout 5 x`.
    Wrapper(Wrapper),
    /// It opens no file and starts nothing: `exit 2`, `[ -n "$x" ]`.
    OpensNothing,
    /// It opens files and starts nothing: `grep x y`.
    OnlyReads,
    Jq,
    Awk,
    /// The shell runs the file behind it: `.`.
    Source,
    Cd,
    Export,
    Set,
    /// It runs what files say that are not named: `make`.
    TaskRunner,
    /// Anything else.
    Other,
}

/// What stands between a program and the one that it starts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Wrapper {
    /// Nothing.
    Plain,
    /// Nothing; with `-v` or `-V` it only says where the program is.
    Command,
    /// Variables that are set for it.
    Env,
    /// `-n` and a number, or nothing.
    Nice,
    /// A time.
    Timeout,
}

/// What the program of that name does with its words.
pub(super) fn role(word: &str) -> Role {
    let name = base_name(word);
    let wrapper = || WRAPPERS.iter().find(|(known, _)| *known == name);
    match word {
        _ if KEYWORDS.contains(&word) => Role::Keyword,
        _ if OPENS_NOTHING.contains(&word) => Role::OpensNothing,
        "." | "source" => Role::Source,
        "cd" => Role::Cd,
        "export" => Role::Export,
        "set" => Role::Set,
        _ if ONLY_READS.contains(&name) => Role::OnlyReads,
        _ if name == "jq" => Role::Jq,
        _ if AWKS.contains(&name) => Role::Awk,
        _ if TASK_RUNNERS.contains(&name) => Role::TaskRunner,
        _ => wrapper().map_or(Role::Other, |(_, wrapper)| Role::Wrapper(*wrapper)),
    }
}

/// Whether a program of that name may start others, so that it matters what it is given.
pub(crate) fn starts_others(name: &str) -> bool {
    interpreter(name).is_some()
        || STARTERS.contains(&base_name(name))
        || matches!(role(name), Role::TaskRunner | Role::Wrapper(_))
}

/// Whether python runs what the words behind a module say, or what is in files that are not named.
pub(super) fn runs_modules(module: &str) -> bool {
    let root = module.split('.').next().unwrap_or(module);
    MODULES_THAT_RUN_OTHERS.contains(&root) || TASK_RUNNERS.contains(&root)
}

/// Whether a word of a program that is not known may make it run code, or a program that is not
/// named by its path.
pub(super) fn may_run_code(word: &str) -> bool {
    starts_others(word)
        || CODE_OPTIONS.contains(&word)
        || CODE_OPTIONS.iter().any(|it| it.starts_with("--") && word.starts_with(it))
        || ["-exec", "-ok"].iter().any(|it| word.starts_with(it))
}

/// Whether bash itself knows what to do with this word, if a command begins with it.
pub(crate) fn is_shell_word(word: &str) -> bool {
    SHELL_WORDS.contains(&word) || matches!(word, "[" | "[[" | "{" | "}" | "!")
}

/// The name of the interpreter that a word starts, if it is one that runs the script which is its
/// first argument.
pub(crate) fn interpreter(word: &str) -> Option<&str> {
    let name = base_name(word);
    INTERPRETERS.contains(&without_version(name)).then_some(name)
}

/// Whether an interpreter reads the language of the shell.
pub(super) fn is_shell(interpreter: &str) -> bool {
    SHELL_INTERPRETERS.contains(&without_version(interpreter))
}

/// What an option of an interpreter means for what it runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Switch {
    /// Nothing.
    Plain,
    /// The next word is an option of the shell, by its name.
    OptionByName,
    /// The next word is the name of a module.
    Module,
    /// It is not known, or makes it run something else.
    Unknown,
}

/// What an option of an interpreter means for what it runs.
pub(super) fn switch(interpreter: &str, option: &str) -> Switch {
    let is_python = interpreter.starts_with("py");
    let letters = match interpreter {
        _ if is_shell(interpreter) => "abcefhklmnprtuvxBCEHPT",
        _ if is_python => "bBdEIOqsSuv",
        _ => "w",
    };
    let are_plain = |cluster: &str| cluster.chars().all(|letter| letters.contains(letter));
    let cluster = option.trim_start_matches(['-', '+']);
    match option {
        _ if PLAIN_LONG_OPTIONS.contains(&option) => Switch::Plain,
        "-m" if is_python => Switch::Module,
        _ if option.starts_with("--") => Switch::Unknown,
        _ if are_plain(cluster) => Switch::Plain,
        _ if is_shell(interpreter) && cluster.strip_suffix('o').is_some_and(are_plain) => {
            Switch::OptionByName
        }
        _ => Switch::Unknown,
    }
}

/// Whether an interpreter takes a word for the name of a task or command of its own: `bun build`.
pub(super) fn is_task(interpreter: &str, word: &str) -> bool {
    INTERPRETERS_WITH_TASKS.contains(&interpreter) && !word.contains(['.', '/'])
}

/// Whether a word of an interpreter only says that a script comes: `deno run x.ts`.
pub(super) fn precedes_script(interpreter: &str, word: &str) -> bool {
    INTERPRETERS_WITH_TASKS.contains(&interpreter) && word == RUN
}

/// Whether an option of a shell that is set by its name changes nothing of what it runs.
pub(super) fn is_plain_shell_option(name: &str) -> bool {
    SHELL_OPTIONS.contains(&name)
}

/// Whether awk may start programs by that code.
pub(super) fn starts_in_awk(code: &str) -> bool {
    STARTS_IN_AWK.iter().any(|it| code.contains(it))
}

/// The name of a program, without where it is.
pub(super) fn base_name(word: &str) -> &str {
    word.rsplit('/').next().unwrap_or(word)
}

/// `python` for `python3.12`, `lua` for `lua5.4`, `perl` for `perl5.36-x86_64-linux-gnu`.
fn without_version(name: &str) -> &str {
    name.split(|it: char| it.is_ascii_digit()).next().unwrap_or(name).trim_end_matches('-')
}

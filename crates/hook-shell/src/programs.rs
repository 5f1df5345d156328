//! Tables of known programs and of the shell's own words.

/// Programs that run a script, their first argument.
const INTERPRETERS: [&str; 19] = [
    "ash", "bash", "bun", "dash", "deno", "ksh", "lua", "node", "nodejs", "perl", "php", "pypy",
    "python", "rbash", "ruby", "sh", "ts-node", "tsx", "zsh",
];

/// Interpreters under common names with a version.
const VERSIONED_INTERPRETERS: [&str; 13] = [
    "pypy3",
    "python2",
    "python3",
    "python3.8",
    "python3.9",
    "python3.10",
    "python3.11",
    "python3.12",
    "python3.13",
    "python3.14",
    "python3.15",
    "lua5.4",
    "perl5",
];

/// Programs that start the program in their arguments.
const STARTERS: [&str; 3] = ["env", "nice", "timeout"];

/// Interpreters that load only their script, its own imports and installed files, with the letters
/// of options that do not change this. Other interpreters load files depending on their directory.
const PLAIN_INTERPRETERS: [(&str, &str); 13] = [
    ("ash", "efuvx"),
    ("bash", "efuvx"),
    ("dash", "efuvx"),
    ("ksh", "efuvx"),
    ("sh", "efuvx"),
    ("zsh", "efuvx"),
    ("node", ""),
    ("nodejs", ""),
    ("perl", "wT"),
    ("php", ""),
    ("pypy", "bBOqsSu"),
    ("python", "bBOqsSu"),
    ("ruby", "w"),
];

/// Programs that search for modules in the script's folder and its parents.
const PARENT_SEARCHERS: [&str; 7] = ["bun", "deno", "node", "nodejs", "ts-node", "tsx", "npx"];

/// Shells that accept names of options after `-o`.
const SHELLS: [&str; 6] = ["ash", "bash", "dash", "ksh", "sh", "zsh"];
const SHELL_OPTIONS: [&str; 6] =
    ["errexit", "noclobber", "noglob", "nounset", "pipefail", "xtrace"];

/// Long options of interpreters that do not affect what they run.
const PLAIN_LONG_OPTIONS: [&str; 6] = [
    "--enable-source-maps",
    "--experimental-strip-types",
    "--no-warnings",
    "--noprofile",
    "--norc",
    "--posix",
];

/// Programs that only read their input and the given files, without starting or loading anything.
const FILTERS: [(&str, FilterRule); 29] = [
    (":", FilterRule::Any),
    ("[", FilterRule::NoEvaluation),
    ("basename", FilterRule::Any),
    ("cat", FilterRule::Any),
    ("cmp", FilterRule::Any),
    ("command", FilterRule::OnlyQuery),
    ("cut", FilterRule::Any),
    ("date", FilterRule::Any),
    ("diff", FilterRule::Any),
    ("dirname", FilterRule::Any),
    ("echo", FilterRule::Any),
    ("egrep", FilterRule::Any),
    ("exit", FilterRule::Any),
    ("false", FilterRule::Any),
    ("fgrep", FilterRule::Any),
    ("grep", FilterRule::Any),
    ("head", FilterRule::Any),
    ("jq", FilterRule::Jq),
    ("ls", FilterRule::Any),
    ("pwd", FilterRule::Any),
    ("sha256sum", FilterRule::Any),
    ("sleep", FilterRule::Any),
    ("sort", FilterRule::Sort),
    ("tail", FilterRule::Any),
    ("test", FilterRule::NoEvaluation),
    ("tr", FilterRule::Any),
    ("true", FilterRule::Any),
    ("uniq", FilterRule::Uniq),
    ("wc", FilterRule::Any),
];

/// Variables that a command may set without affecting what runs.
const HARMLESS_VARIABLES: [&str; 14] = [
    "CI",
    "DEBUG",
    "FORCE_COLOR",
    "LANG",
    "NODE_ENV",
    "NODE_NO_WARNINGS",
    "NO_COLOR",
    "PYTHONDONTWRITEBYTECODE",
    "PYTHONIOENCODING",
    "PYTHONUNBUFFERED",
    "PYTHONUTF8",
    "TERM",
    "TZ",
    "VERBOSE",
];

/// Builtins and keywords, which bash does not search as programs: `compgen -b -k`, those of plain
/// characters.
const BUILTINS_AND_KEYWORDS: &str = ". : alias bg bind break builtin caller case cd command compgen complete compopt continue \
    coproc declare dirs disown do done echo elif else enable esac eval exec exit export false fc \
    fg fi for function getopts hash help history if in jobs kill let local logout mapfile popd \
    printf pushd pwd read readarray readonly return select set shift shopt source suspend test \
    then time times trap true type typeset ulimit umask unalias unset until wait while [ [[ { } \
    !";

/// The words that a filter may be given.
#[derive(Debug, Clone, Copy)]
enum FilterRule {
    Any,
    /// No words in which the shell evaluates an index.
    NoEvaluation,
    /// Only a query for the path of a program.
    OnlyQuery,
    /// No words that load a program or modules.
    Jq,
    /// No words that start another program or name a file to write.
    Sort,
    /// No more than the file to read: the next is written.
    Uniq,
}

/// Returns `true` if the program starts and loads nothing when given these words.
pub fn is_filter(program: &str, words: &[&str]) -> bool {
    let is_plain_name = !program.contains('/')
        || ["/bin/", "/usr/bin/"]
            .iter()
            .any(|folder| program.strip_prefix(folder) == Some(base_name(program)));
    let rule = FILTERS.iter().find(|(name, _)| *name == base_name(program));
    let Some((_, rule)) = rule.filter(|_| is_plain_name) else { return false };
    let no_word = |is_bad: &dyn Fn(&str) -> bool| !words.iter().any(|word| is_bad(word));
    match rule {
        FilterRule::Any => true,
        FilterRule::NoEvaluation => {
            no_word(&|word| word.starts_with("-v") || word.contains("$(") || word.contains('`'))
        }
        FilterRule::OnlyQuery => words.len() == 2 && matches!(words.first(), Some(&("-v" | "-V"))),
        FilterRule::Jq => no_word(&|word| {
            let is_cluster = word.starts_with('-') && !word.starts_with("--");
            word.contains("include")
                || word.contains("import")
                || word.starts_with("--lib")
                || word.starts_with("--from")
                || word.starts_with("--run")
                || is_cluster && word.contains(['L', 'f'])
        }),
        // Long options may be shortened: `--compress-program`, `--output`.
        FilterRule::Sort => no_word(&|word| {
            let is_cluster = word.starts_with('-') && !word.starts_with("--");
            word.starts_with("--c")
                && !matches!(
                    word,
                    "--check" | "--check=quiet" | "--check=silent" | "--check=diagnose-first"
                )
                || word.starts_with("--o")
                || is_cluster && word.contains('o')
        }),
        FilterRule::Uniq => {
            let is_operand = |word: &&&str| **word == "-" || !word.starts_with(['-', '+']);
            words.iter().filter(is_operand).count() <= 1
        }
    }
}

/// Returns the number of words before an interpreter's script, if its options are harmless and it
/// reads only that script; `None` for any other program.
pub fn options_before_script(program: &str, words: &[&str]) -> Option<usize> {
    let name = without_version(base_name(program));
    let (_, letters) = PLAIN_INTERPRETERS.iter().find(|(known, _)| *known == name)?;
    let is_shell = SHELLS.contains(&name);
    let mut at = 0;
    while let Some(option) = words.get(at).filter(|word| word.starts_with(['-', '+'])) {
        let cluster = option.strip_prefix('-')?;
        let are_plain = |cluster: &str| {
            !cluster.is_empty() && cluster.chars().all(|letter| letters.contains(letter))
        };
        at += 1;
        if PLAIN_LONG_OPTIONS.contains(option) || are_plain(cluster) {
            continue;
        }
        let letters_before_o = cluster.strip_suffix('o').filter(|_| is_shell)?;
        if !(letters_before_o.is_empty() || are_plain(letters_before_o))
            || !SHELL_OPTIONS.contains(words.get(at)?)
        {
            return None;
        }
        at += 1;
    }
    words.get(at).map(|_| at)
}

/// Returns the number of words between a program that starts another one and that one; `None` for
/// any other program, and if its options are unknown.
pub fn words_before_program(program: &str, words: &[&str]) -> Option<usize> {
    let is_duration = |text: &str| {
        let number = text.trim_end_matches(['s', 'm', 'h', 'd']);
        !number.is_empty()
            && number.chars().all(|character| character.is_ascii_digit() || character == '.')
    };
    let skipped = match (program, words) {
        ("timeout", [time, ..]) if is_duration(time) => 1,
        ("nice", ["-n", level, ..]) if is_duration(level) => 2,
        ("nice", [next, ..]) if !next.starts_with('-') => 0,
        _ => return None,
    };
    words.get(skipped).map(|_| skipped)
}

/// Returns `true` if a command may set the variable without affecting what runs.
pub fn is_harmless_variable(name: &str) -> bool {
    HARMLESS_VARIABLES.contains(&name) || name.starts_with("LC_")
}

/// Returns `true` if a program searches the script's folder and its parents for modules.
pub fn searches_parent_folders(program: &str) -> bool {
    PARENT_SEARCHERS.contains(&without_version(base_name(program)))
}

/// Returns `true` if a program searches the script's folder for modules before all others.
pub fn searches_script_folder(program: &str) -> bool {
    ["pypy", "python"].contains(&without_version(base_name(program)))
}

/// Returns `true` if the word is a builtin or keyword of bash.
pub fn is_builtin_or_keyword(word: &str) -> bool {
    BUILTINS_AND_KEYWORDS.split(' ').any(|known| known == word)
}

/// Returns the name of the interpreter that a word starts, if it runs the script in its first
/// argument.
pub fn interpreter(word: &str) -> Option<&str> {
    let name = base_name(word);
    INTERPRETERS.contains(&without_version(name)).then_some(name)
}

/// Returns `true` if a transparent command may start a program of that name, whatever its version: such a
/// program must not be a project's.
pub fn is_started_program(name: &str) -> bool {
    // Perl's version is followed by its platform.
    let is_version = |rest: &str| {
        rest.chars().all(|character| character.is_ascii_digit() || matches!(character, '.' | '-'))
            || name.starts_with("perl")
    };
    let version = || name.strip_prefix(without_version(name));
    // Builtins, too: `timeout 5 test` starts a program.
    let is_filter = || FILTERS.iter().any(|(known, _)| *known == name);
    STARTERS.contains(&name)
        || is_filter()
        || interpreter(name) == Some(name) && version().is_some_and(is_version)
}

/// Names of programs that a transparent command starts, with the common versions of interpreters.
pub fn started_programs() -> impl Iterator<Item = &'static str> {
    let filters = FILTERS.iter().map(|(name, _)| *name);
    INTERPRETERS.into_iter().chain(VERSIONED_INTERPRETERS).chain(STARTERS).chain(filters)
}

/// Returns the name of a program without its folder.
pub(super) fn base_name(word: &str) -> &str {
    word.rsplit('/').next().unwrap_or(word)
}

/// Removes a version: `python3.12` gives `python`, `perl5.36-x86_64-linux-gnu` `perl`. Other names,
/// such as `python3-coverage`, are those of other programs.
fn without_version(name: &str) -> &str {
    let Some(at) = name.find(|character: char| character.is_ascii_digit()) else { return name };
    let (program, version) = name.split_at(at);
    let program = program.trim_end_matches('-');
    let (version, architecture) = version.split_once('-').unwrap_or((version, ""));
    let is_version = version.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.');
    let is_architecture =
        architecture.is_empty() || program == "perl" && architecture.contains("linux");
    if is_version && is_architecture { program } else { name }
}

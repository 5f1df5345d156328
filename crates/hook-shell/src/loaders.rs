//! Environment variables that determine what programs load, and so what a hook does.

/// Variables of shells, interpreters, loaders and common programs; a name may end in `*`.
const LOADERS: [&str; 60] = [
    "AWKLIBPATH",
    "AWKPATH",
    "BASH*",
    "BUNDLE_*",
    "BUN_*",
    "CLASSPATH",
    "COPROC",
    "CURL_HOME",
    "DENO_*",
    "DIRSTACK",
    "DYLD_*",
    "ENV",
    "EPOCHREALTIME",
    "EPOCHSECONDS",
    "EUID",
    "FUNCNAME",
    "GCONV_PATH",
    "GIT_*",
    "GLIBC_TUNABLES",
    "GLOBIGNORE",
    "GROUPS",
    "HOME",
    "IFS",
    "JAVA_TOOL_OPTIONS",
    "JDK_JAVA_OPTIONS",
    "LD_*",
    "LINENO",
    "LUA_*",
    "MAPFILE",
    "NODE_*",
    "NPM_CONFIG_*",
    "OLDPWD",
    "OPENSSL_CONF",
    "OPENSSL_ENGINES",
    "OPENSSL_MODULES",
    "OPTARG",
    "OPTERR",
    "OPTIND",
    "PERL*",
    "PHPRC",
    "PHP_INI_SCAN_DIR",
    "PIPESTATUS",
    "PPID",
    "PROMPT_COMMAND",
    "PS4",
    "PWD",
    "PYTHON*",
    "RANDOM",
    "REPLY",
    "RUBY*",
    "SECONDS",
    "SHELLOPTS",
    "SRANDOM",
    "TS_NODE_*",
    "UID",
    "XDG_*",
    "ZDOTDIR",
    "_",
    "_JAVA_OPTIONS",
    "npm_config_*",
];

/// Exceptions: variables that match [`LOADERS`] but load nothing.
const NON_LOADERS: [&str; 10] = [
    "GIT_AUTHOR_*",
    "GIT_COMMITTER_*",
    "GIT_TERMINAL_PROMPT",
    "NODE_ENV",
    "NODE_NO_WARNINGS",
    "PYTHONDONTWRITEBYTECODE",
    "PYTHONHASHSEED",
    "PYTHONIOENCODING",
    "PYTHONUNBUFFERED",
    "PYTHONUTF8",
];

/// Loaders that every process inherits from its user, or that a shell sets itself.
const INHERITED_LOADERS: [&str; 6] = ["HOME", "OLDPWD", "PWD", "UID", "XDG_*", "_"];

/// Returns `true` if the variable determines what other programs load.
pub fn is_loader(variable: &str) -> bool {
    matches_any(variable, &LOADERS) && !matches_any(variable, &NON_LOADERS)
}

/// Returns `true` if hooks do not inherit the variable from the host.
pub fn is_not_inherited(variable: &str) -> bool {
    is_loader(variable) && !matches_any(variable, &INHERITED_LOADERS)
}

/// Returns `true` if a project must not set the variable for its hooks.
pub fn is_forbidden_in_project(variable: &str) -> bool {
    variable == "PATH" || is_loader(variable)
}

/// Returns `true` if a name matches one of the patterns, which may end in `*`.
pub fn matches_any<S: AsRef<str>>(name: &str, patterns: &[S]) -> bool {
    patterns.iter().any(|pattern| {
        let pattern = pattern.as_ref();
        match pattern.strip_suffix('*') {
            Some(prefix) => name.starts_with(prefix),
            None => name == pattern,
        }
    })
}

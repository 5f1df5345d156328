//! Environment variables that determine what programs load, and so what a hook does.

/// Loaders that hooks do not inherit, and that neither projects nor hooks set; a name may end in `*`.
const LOADERS: [&str; 75] = [
    "AWKLIBPATH",
    "AWKPATH",
    "BASH*",
    "BUNDLE_*",
    "BUN_*",
    "CDPATH",
    "CLASSPATH",
    "COPROC",
    "CORECLR_*",
    "COR_*",
    "CURL_HOME",
    "DENO_*",
    "DIRSTACK",
    "DOTNET_ADDITIONAL_DEPS",
    "DOTNET_SHARED_STORE",
    "DOTNET_STARTUP_HOOKS",
    "DYLD_*",
    "EMACSLOADPATH",
    "ENV",
    "EPOCHREALTIME",
    "EPOCHSECONDS",
    "ERL_*",
    "EUID",
    "FPATH",
    "FUNCNAME",
    "GCONV_PATH",
    "GIT_*",
    "GLIBC_TUNABLES",
    "GLOBIGNORE",
    "GNUMAKEFLAGS",
    "GROUPS",
    "GUILE_*",
    "IFS",
    "JAVA_TOOL_OPTIONS",
    "JDK_JAVA_OPTIONS",
    "LANGUAGE",
    "LD_*",
    "LINENO",
    "LUA_*",
    "MAKEFILES",
    "MAKEFLAGS",
    "MAPFILE",
    "MFLAGS",
    "MONO_*",
    "NODE_*",
    "NPM_CONFIG_*",
    "NULLCMD",
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
    "PYTHON*",
    "RANDOM",
    "READNULLCMD",
    "REPLY",
    "RUBY*",
    "SECONDS",
    "SHELLOPTS",
    "SRANDOM",
    "TAR_OPTIONS",
    "TCLLIBPATH",
    "TEXTDOMAIN*",
    "TS_NODE_*",
    "ZDOTDIR",
    "_JAVA_OPTIONS",
    "npm_config_*",
];

/// Loaders that hooks inherit: every process has them from its user, they locate a user's tools, or a
/// shell sets them itself. Neither projects nor hooks set them.
const USER_LOADERS: [&str; 101] = [
    "ANSIBLE_*",
    "AWS_CONFIG_FILE",
    "AWS_SHARED_CREDENTIALS_FILE",
    "BROWSER",
    "CARGO",
    "CARGO_BUILD_*",
    "CARGO_HOME",
    "CARGO_TARGET_*",
    "CLOUDSDK_CONFIG",
    "CLOUDSDK_PYTHON*",
    "COMPOSER_*",
    "CONDA_EXE",
    "CONDA_PYTHON_EXE",
    "COREPACK_HOME",
    "COREPACK_NPM_REGISTRY",
    "COREPACK_ROOT",
    "DOCKER_CONFIG",
    "DOTNET_ROOT*",
    "EDITOR",
    "EXINIT",
    "FZF_DEFAULT_*",
    "GEM_HOME",
    "GEM_PATH",
    "GH_BROWSER",
    "GH_CONFIG_DIR",
    "GH_EDITOR",
    "GH_PAGER",
    "GIO_EXTRA_MODULES",
    "GIO_MODULE_DIR",
    "GNUPGHOME",
    "GOENV",
    "GOFLAGS",
    "GOROOT",
    "GOTOOLCHAIN",
    "GRADLE_*",
    "GST_PLUGIN_*",
    "GTK*",
    "HELM_PLUGINS",
    "HGRCPATH",
    "HOME",
    "INPUTRC",
    "JAVA_HOME",
    "JULIA_DEPOT_PATH",
    "JULIA_LOAD_PATH",
    "JULIA_PROJECT",
    "KUBECONFIG",
    "LESS*",
    "LOCPATH",
    "MAGICK_*",
    "MANPAGER",
    "MAVEN_*",
    "MYPYPATH",
    "NIX_PATH",
    "NLSPATH",
    "NVIM*",
    "OCAMLPATH",
    "OLDPWD",
    "PAGER",
    "PGSYSCONFDIR",
    "PIP_*",
    "POETRY_*",
    "PSModulePath",
    "PSQL*",
    "PWD",
    "PYENV_*",
    "PYTEST_ADDOPTS",
    "PYTEST_PLUGINS",
    "QT_PLUGIN_PATH",
    "QT_QPA_PLATFORM_PLUGIN_PATH",
    "RIPGREP_CONFIG_PATH",
    "RSYNC_RSH",
    "RUSTC",
    "RUSTC_*",
    "RUSTDOC",
    "RUSTFLAGS",
    "RUSTUP_*",
    "R_ENVIRON*",
    "R_HOME",
    "R_LIBS*",
    "R_PROFILE*",
    "SHELL",
    "SSH_ASKPASS",
    "SSH_PKCS11_HELPER",
    "SSH_SK_HELPER",
    "SSH_SK_PROVIDER",
    "SUDO_ASKPASS",
    "SVN_SSH",
    "SYSTEMD_EDITOR",
    "SYSTEMD_PAGER",
    "TERMINFO",
    "TERMINFO_DIRS",
    "TF_CLI_CONFIG_FILE",
    "TF_PLUGIN_CACHE_DIR",
    "UID",
    "UV_*",
    "VIM*",
    "VISUAL",
    "WGETRC",
    "XDG_*",
    "YARN_*",
    "_",
];

/// Exceptions: variables that match a loader but load nothing.
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

/// Returns `true` if the variable determines what other programs load.
pub fn is_loader(variable: &str) -> bool {
    (matches_any(variable, &LOADERS) || matches_any(variable, &USER_LOADERS))
        && !matches_any(variable, &NON_LOADERS)
}

/// Returns `true` if hooks do not inherit the variable from the host.
pub fn is_not_inherited(variable: &str) -> bool {
    is_loader(variable) && !matches_any(variable, &USER_LOADERS)
}

/// Returns `true` if a project must not set the variable for its hooks.
pub fn is_forbidden_in_project(variable: &str) -> bool {
    is_same_name(variable, "PATH") || is_loader(variable)
}

/// Returns `true` if both are the name of one variable: Windows tells no cases apart.
pub fn is_same_name(one: &str, other: &str) -> bool {
    if cfg!(windows) { one.eq_ignore_ascii_case(other) } else { one == other }
}

/// Returns `true` if a name matches one of the patterns, which may end in `*`.
pub fn matches_any<S: AsRef<str>>(name: &str, patterns: &[S]) -> bool {
    patterns.iter().any(|pattern| {
        let pattern = pattern.as_ref();
        match pattern.strip_suffix('*') {
            Some(prefix) => {
                name.get(..prefix.len()).is_some_and(|begin| is_same_name(begin, prefix))
            }
            None => is_same_name(name, pattern),
        }
    })
}

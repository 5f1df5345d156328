//! Commands that need no shell: started directly, at two thirds of the cost, with what bash would
//! give them.
//!
//! A command is such a one if it consists of plain words (`[A-Za-z0-9_@%+:,./=-]`, parted by blanks)
//! of which the first is neither an assignment, a job (`%…`), a builtin nor a keyword, and if no
//! variable in the hook's environment means something to bash itself. Arguments, exit, streams,
//! directory and variables are the same as by way of bash, but for `SHLVL` and `_`, and for
//! bash's own complaint about a locale that is not installed. Where the program is not found or
//! cannot be executed, bash gets the command after all, and says so in its own words.

use std::ffi::{OsStr, OsString};
#[cfg(unix)]
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::environment::is_executable;

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

/// Variables, beside all that begin with `BASH`, by which bash works differently or whose value it
/// changes before it starts a program.
const SHELL_VARIABLES: [&str; 20] = [
    "COMP_WORDBREAKS",
    "DIRSTACK",
    "EPOCHREALTIME",
    "EPOCHSECONDS",
    "EUID",
    "EXECIGNORE",
    "FUNCNAME",
    "GROUPS",
    "HISTCMD",
    "IFS",
    "LINENO",
    "OPTERR",
    "OPTIND",
    "POSIXLY_CORRECT",
    "PPID",
    "PS4",
    "RANDOM",
    "SECONDS",
    "SHELLOPTS",
    "SRANDOM",
];

/// Variables that bash drops before it starts a program, where nobody sits at a terminal.
const DROPPED: [&str; 2] = ["PS1", "PS2"];

/// A command that needs no shell, with what of its environment decides how it starts.
#[derive(Debug)]
pub(super) struct DirectCommand {
    words: Vec<String>,
    search_path: Option<OsString>,
    working_directory: Option<PathBuf>,
    previous_directory: Option<PathBuf>,
}

impl DirectCommand {
    /// Reads a command, for hooks with these variables; `None` if it needs a shell.
    pub(super) fn new<'a>(
        command: &str,
        variables: impl IntoIterator<Item = (&'a OsStr, &'a OsStr)>,
    ) -> Option<Self> {
        let mut direct = Self {
            words: words(command)?,
            search_path: None,
            working_directory: None,
            previous_directory: None,
        };
        for (name, value) in variables {
            // No variable of bash's has other characters in its name.
            match name.to_str().unwrap_or_default() {
                "PATH" => direct.search_path = Some(value.to_owned()),
                "PWD" => direct.working_directory = Some(value.into()),
                "OLDPWD" => direct.previous_directory = Some(value.into()),
                name if name.starts_with("BASH") || SHELL_VARIABLES.contains(&name) => return None,
                _ => {}
            }
        }
        Some(direct)
    }

    /// The process to start in a directory with these variables; `None` if bash is to say why it
    /// cannot be.
    #[cfg(unix)]
    pub(super) fn process<'a>(
        &self,
        directory: &Path,
        variables: impl IntoIterator<Item = (&'a OsStr, &'a OsStr)>,
    ) -> Option<Command> {
        let (name, arguments) = self.words.split_first()?;
        let mut process = Command::new(self.program(name)?);
        process.arg0(name).args(arguments).current_dir(directory).env_clear().envs(variables);
        for name in DROPPED {
            process.env_remove(name);
        }
        process.env("PWD", self.working_directory(directory)?);
        if self.previous_directory.as_ref().is_some_and(|old| !directory.join(old).is_dir()) {
            process.env_remove("OLDPWD");
        }
        Some(process)
    }

    /// Elsewhere than on Unix there is no bash to be equal to.
    #[cfg(not(unix))]
    pub(super) fn process<'a>(
        &self,
        _directory: &Path,
        _variables: impl IntoIterator<Item = (&'a OsStr, &'a OsStr)>,
    ) -> Option<Command> {
        None
    }

    /// The file that a command's first word means.
    fn program(&self, name: &str) -> Option<PathBuf> {
        if name.contains('/') {
            return Some(name.into());
        }
        std::env::split_paths(self.search_path.as_ref()?)
            // What is relative or begins with a tilde is bash's to make sense of.
            .take_while(|folder| folder.is_absolute())
            .map(|folder| folder.join(name))
            .find(|candidate| is_executable(candidate))
    }

    /// `PWD` as bash sets it: what it was if that is the directory, which keeps the way through
    /// symbolic links, else the directory's real path.
    fn working_directory(&self, directory: &Path) -> Option<PathBuf> {
        match &self.working_directory {
            Some(inherited) if inherited.is_absolute() && is_same(inherited, directory) => {
                Some(inherited.clone())
            }
            _ => directory.canonicalize().ok(),
        }
    }
}

/// The words of a command that is plain, or nothing.
fn words(command: &str) -> Option<Vec<String>> {
    let words: Vec<String> = command
        .trim_matches([' ', '\t', '\n'])
        .split([' ', '\t'])
        .filter(|word| !word.is_empty())
        .map(str::to_owned)
        .collect();
    let first = words.first()?;
    let plain = words.iter().flat_map(|word| word.bytes()).all(is_plain);
    let program =
        !first.contains('=') && !first.starts_with('%') && !SHELL_WORDS.contains(&first.as_str());
    (plain && program).then_some(words)
}

fn is_plain(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"_@%+:,./=-".contains(&byte)
}

#[cfg(unix)]
fn is_same(one: &Path, other: &Path) -> bool {
    use std::os::unix::fs::MetadataExt;
    let identity = |path: &Path| path.metadata().map(|file| (file.dev(), file.ino())).ok();
    identity(one).is_some_and(|one| Some(one) == identity(other))
}

#[cfg(not(unix))]
fn is_same(one: &Path, other: &Path) -> bool {
    one == other
}

#[cfg(all(test, unix))]
mod tests {
    use std::collections::BTreeMap;
    use std::process::Output;
    use std::sync::OnceLock;

    use proptest::prelude::*;
    use proptest::sample::select;

    use super::*;

    #[test]
    fn only_plain_words_that_name_a_program_are_direct() {
        for command in [
            "guard",
            "./guard --flag",
            " /a/b-c_d.sh\t-x  a=b,c:d@e%f+g\n",
            "1",
            "-x",
            "+a",
            "@",
            "a%",
        ] {
            assert!(words(command).is_some(), "{command:?}");
        }
        for command in [
            "", " ", "a b\nc", "a; b", "a 'b'", "a \"b\"", "a $B", "a*", "a ~", "a {b,c}", "a=b c",
            "a+=b", "%1", "echo x", ". a", ": x", "time a", "a # b", "a é", "a\u{a0}b", "a\rb",
            "!a", "a | b", "a &", "a > b", "[ a ]", "a\\b", "a `b`", "a ? b", "a ^b",
        ] {
            assert!(words(command).is_none(), "{command:?}");
        }
    }

    #[test]
    fn no_word_of_the_shells_is_taken_for_a_program() {
        let known = Command::new("bash").args(["-c", "compgen -b -k"]).output().unwrap();
        for word in String::from_utf8(known.stdout).unwrap().lines() {
            assert!(words(word).is_none(), "{word}");
        }
    }

    #[test]
    fn variables_that_mean_something_to_bash_need_bash() {
        let with =
            |name: &str| DirectCommand::new("a", [(OsStr::new(name), OsStr::new("1"))]).is_some();
        for name in ["BASH_ENV", "BASH_FUNC_a%%", "SHELLOPTS", "EXECIGNORE", "POSIXLY_CORRECT"] {
            assert!(!with(name), "{name}");
        }
        assert!(with("PS1") && with("SHELL") && with("LC_ALL"));
    }

    type Variables = BTreeMap<OsString, OsString>;

    fn by_bash(command: &str, variables: &Variables, directory: &Path) -> Output {
        Command::new("/bin/bash")
            .args(["-c", command])
            .current_dir(directory)
            .env_clear()
            .envs(variables)
            .output()
            .unwrap()
    }

    /// As the runner does, `None` where it would ask bash.
    fn directly(command: &str, variables: &Variables, directory: &Path) -> Option<Output> {
        let pairs = variables.iter().map(|(name, value)| (name.as_os_str(), value.as_os_str()));
        let mut process = DirectCommand::new(command, pairs.clone())?.process(directory, pairs)?;
        process.output().ok()
    }

    /// What a program can see, but for what is documented to differ.
    fn seen(output: Output) -> (Option<i32>, Vec<String>, String) {
        let lines = String::from_utf8_lossy(&output.stdout).into_owned();
        let mut lines: Vec<String> = lines
            .split(['\n', '\0'])
            .filter(|line| !line.starts_with("SHLVL=") && !line.starts_with("_="))
            .map(str::to_owned)
            .collect();
        lines.sort();
        (output.status.code(), lines, String::from_utf8_lossy(&output.stderr).into_owned())
    }

    fn folder() -> tempfile::TempDir {
        use std::os::unix::fs::{PermissionsExt, symlink};
        let folder = tempfile::tempdir().unwrap();
        // A copy of a shell would change nothing: the file is written by another process, since
        // a file that is open for writing here may not be executed by a test beside this one.
        let write = |name: &str, mode: u32, text: &str| {
            let path = folder.path().join(name);
            let script = "cat > \"$0\" && chmod \"$1\" \"$0\"";
            let mut child = Command::new("/bin/sh")
                .args(["-c", script])
                .arg(&path)
                .arg(format!("{mode:o}"))
                .stdin(std::process::Stdio::piped())
                .spawn()
                .unwrap();
            use std::io::Write;
            child.stdin.take().unwrap().write_all(text.as_bytes()).unwrap();
            assert!(child.wait().unwrap().success());
            assert_eq!(path.metadata().unwrap().permissions().mode() & 0o777, mode);
        };
        std::fs::create_dir(folder.path().join("real")).unwrap();
        symlink("real", folder.path().join("link")).unwrap();
        let tell = "echo \"$0\" $# \"$@\"; pwd; env -0; echo oops >&2; exit 3";
        for place in ["", "real/"] {
            write(&format!("{place}tell"), 0o755, &format!("#!/bin/sh\n{tell}\n"));
        }
        write("tell.sh", 0o755, &format!("{tell}\n"));
        write("lost", 0o755, "#!/no/such/interpreter\n");
        write("closed", 0o644, "#!/bin/sh\n");
        write("die", 0o755, "#!/bin/sh\nkill -9 $$\n");
        folder
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 200, ..ProptestConfig::default() })]

        #[test]
        fn a_direct_start_gives_what_bash_gives(
            program in select(vec!["tell", "./tell", "./tell.sh", "tell.sh", "../tell", "env", "/usr/bin/env", "./lost", "./closed", "closed", "./die", "real", "./real", "no-such-program", "ls", "basename", "//bin/../bin/ls", "@", "+x", "a:b", "-x", "5", ".."]),
            arguments in proptest::collection::vec("[A-Z0-9_@%+:,./=-]{1,6}", 0..4),
            blanks in "[ \t]{1,2}",
            directory in select(vec![".", "real", "link"]),
            path in select(vec!["/usr/bin:/bin", "HERE:/usr/bin:/bin", "/nowhere:/usr/bin:/bin", "real:/usr/bin:/bin", ":/usr/bin:/bin", ""]),
            variables in proptest::collection::btree_map(
                select(vec!["PS1", "PS2", "PS4", "IFS", "OLDPWD", "PWD", "OPTIND", "UID", "HOME", "SHELL", "TERM", "COLUMNS", "a-b", "x.y", "_x", "BASH_FUNC_tell%%", "EXECIGNORE", "LANG", "SECONDS", "TMOUT", "CDPATH"]),
                select(vec!["HERE", "HERE/link", "HERE/real/../real", "/", "C", "5", "", ".", "() { echo forged; }", "* a\tb"]),
                0..5,
            ),
        ) {
            static FOLDER: OnceLock<tempfile::TempDir> = OnceLock::new();
            let folder = FOLDER.get_or_init(folder);
            let here = folder.path().canonicalize().unwrap();
            let place = |text: &str| OsString::from(text.replace("HERE", here.to_str().unwrap()));
            let mut variables: Variables =
                variables.iter().map(|(name, value)| (name.into(), place(value))).collect();
            variables.insert("PATH".into(), place(path));
            let directory = here.join(directory);
            let command = std::iter::once(program.to_string())
                .chain(arguments)
                .collect::<Vec<_>>()
                .join(&blanks);
            if let Some(output) = directly(&command, &variables, &directory) {
                prop_assert_eq!(seen(output), seen(by_bash(&command, &variables, &directory)));
            }
        }
    }
}

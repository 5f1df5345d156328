//! Direct starts compared with bash.

use std::collections::BTreeMap;
use std::process::{ExitStatus, Output};
use std::sync::OnceLock;

use proptest::prelude::*;
use proptest::sample::select;

use super::*;
use hook_shell::plain_words as words;

#[test]
fn only_plain_words_that_name_a_program_are_direct() {
    for command in
        ["guard", "./guard --flag", " /a/b-c_d.sh\t-x  a=b,c:d@e%f+g\n", "1", "-x", "+a", "@", "a%"]
    {
        assert!(words(command).is_some(), "{command:?}");
    }
    for command in [
        "", " ", "a b\nc", "a; b", "a 'b'", "a \"b\"", "a $B", "a*", "a ~", "a {b,c}", "a=b c",
        "a+=b", "%1", "echo x", ". a", ": x", "time a", "a # b", "a é", "a\u{a0}b", "a\rb", "!a",
        "a | b", "a &", "a > b", "[ a ]", "a\\b", "a `b`", "a ? b", "a ^b",
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
    let with = |name: &str| {
        DirectCommand::new("a", Path::new("/"), [(OsStr::new(name), OsStr::new("1"))]).is_some()
    };
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

/// Starts a command like the runner; `None` if that would use bash.
fn directly(command: &str, variables: &Variables, directory: &Path) -> Option<Output> {
    let pairs = variables.iter().map(|(name, value)| (name.as_os_str(), value.as_os_str()));
    let mut process =
        DirectCommand::new(command, directory, pairs.clone())?.process(directory, pairs)?;
    process.output().ok()
}

/// The visible environment of a program, except for documented differences.
fn seen(output: Output) -> (ExitStatus, Vec<String>, String) {
    let lines = String::from_utf8_lossy(&output.stdout).into_owned();
    let mut lines: Vec<String> = lines
        .split(['\n', '\0'])
        .filter(|line| !line.starts_with("SHLVL=") && !line.starts_with("_="))
        .map(str::to_owned)
        .collect();
    lines.sort();
    (output.status, lines, String::from_utf8_lossy(&output.stderr).into_owned())
}

fn folder() -> tempfile::TempDir {
    use std::os::unix::fs::{PermissionsExt, symlink};
    let folder = tempfile::tempdir().unwrap();
    // Written by another process: a file that this process has open for writing cannot be
    // executed, and processes that parallel tests start inherit it for a moment.
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

const PROGRAMS: [&str; 23] = [
    "tell",
    "./tell",
    "./tell.sh",
    "tell.sh",
    "../tell",
    "env",
    "/usr/bin/env",
    "./lost",
    "./closed",
    "closed",
    "./die",
    "real",
    "./real",
    "no-such-program",
    "ls",
    "basename",
    "//bin/../bin/ls",
    "@",
    "+x",
    "a:b",
    "-x",
    "5",
    "..",
];
const DIRECTORIES: [&str; 3] = [".", "real", "link"];
const PATHS: [&str; 6] = [
    "/usr/bin:/bin",
    "HERE:/usr/bin:/bin",
    "/nowhere:/usr/bin:/bin",
    "real:/usr/bin:/bin",
    ":/usr/bin:/bin",
    "",
];
const VARIABLES: [&str; 21] = [
    "PS1",
    "PS2",
    "PS4",
    "IFS",
    "OLDPWD",
    "PWD",
    "OPTIND",
    "UID",
    "HOME",
    "SHELL",
    "TERM",
    "COLUMNS",
    "a-b",
    "x.y",
    "_x",
    "BASH_FUNC_tell%%",
    "EXECIGNORE",
    "LANG",
    "SECONDS",
    "TMOUT",
    "CDPATH",
];
const VALUES: [&str; 10] = [
    "HERE",
    "HERE/link",
    "HERE/real/../real",
    "/",
    "C",
    "5",
    "",
    ".",
    "() { echo forged; }",
    "* a\tb",
];

proptest! {
    #[test]
    fn a_direct_start_gives_what_bash_gives(
        program in select(&PROGRAMS[..]),
        arguments in proptest::collection::vec("[A-Z0-9_@%+:,./=-]{1,6}", 0..4),
        blanks in "[ \t]{1,2}",
        directory in select(&DIRECTORIES[..]),
        path in select(&PATHS[..]),
        variables in proptest::collection::btree_map(
            select(&VARIABLES[..]),
            select(&VALUES[..]),
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

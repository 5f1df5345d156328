//! Compares what is read of generated texts with what a real bash starts for them.

use std::os::unix::fs::PermissionsExt;

use super::*;

/// Names of programs and functions, and what may expand to one.
const PROGRAMS: [&str; 12] = [
    "p1",
    "p2",
    "p3",
    "f",
    "g",
    "$x",
    "${x:-p3}",
    "\"${a[@]}\"",
    "\"$@\"",
    "$1",
    "command p1",
    "sh -c p2",
];

/// Words.
const WORDS: [&str; 26] = [
    "v",
    "$x",
    "\"$x\"",
    "${x:-p2}",
    "${x-q}",
    "${x:+r}",
    "${x+r}",
    "${x:=s}",
    "$1",
    "\"$@\"",
    "$(p2 i)",
    "$(echo o)",
    "$'\\x{61}b'",
    "${x%b}",
    "${x#a}",
    "$((n+1))",
    "\"${a[@]}\"",
    "$a",
    "~",
    "{a,$x}",
    "$HOME",
    "${y:-$x}",
    "w",
    "p1",
    "'a b'",
    "''",
];

/// Commands, in which `p1` to `p3` are programs, and `PROGRAM` and `WORD` stand for others.
const COMMANDS: [&str; 126] = [
    "p1 a 'b c'",
    "p1 $(p2 x)",
    "x=v; p1 $x",
    "p1 \"$(p2 'q')\"",
    "for i in a b; do p1 $i; done",
    "p1 <<E\n$(p2 z)\nE\n",
    "sh -c 'p1 a'",
    "env A=1 p1 a",
    "p1 | p2",
    "f() { p1 \"$1\"; }; f x",
    "p1 {a,b}c",
    "eval p1 a",
    "echo `p1 k`",
    "! p1",
    "$'p\\x31' a",
    "p\\1 a",
    "'p1' b",
    "x=p1; $x a",
    "echo 'a b' | xargs p1",
    "p1 > /dev/null",
    "[[ -n $(p1) ]]",
    "echo $((1+$(p2;echo 1)))",
    "nice p1 n",
    "timeout 5 p1 t",
    "command p1 c",
    "p1 # p2",
    "p1 \\\n a",
    "${x_unset:-p1} a",
    "bash <<'E'\np1 q\nE\n",
    "echo p1 s | sh",
    "set -- u v; p1 \"$1\" \"$@\"",
    "p1 \"a\"'b'\\ c$''",
    "PROGRAM WORD WORD",
    "x=WORD",
    "y=$x",
    "x=",
    "unset x",
    "unset -f f",
    "unset -f p1",
    "x+=b",
    "a=(p1 w)",
    "a=(1 # '\n) ; p2 c; b=(2 # '\n)",
    "a+=(z)",
    "a[1]=$x",
    "a[n]=1",
    "cd d1",
    "cd ..",
    "cd nope",
    "cd ~",
    "cd",
    "cd -",
    "pushd d2",
    "popd",
    "pushd -n /",
    "env cd d1",
    "command cd d2",
    "builtin cd d1",
    "cd d1 || exit",
    "cd d2 && p1 in",
    "HOME=/ cd",
    "HOME=$x",
    "CDPATH=d1 cd d2",
    "OLDPWD=d1; p1 $OLDPWD",
    "shift",
    "shift 2",
    "set -- u v",
    "set -- p1 $x",
    "set -e",
    "set +e",
    "set q",
    "x=w p1 $x",
    "x=w eval 'p1 $x'",
    "env x=w bash -c 'p1 $x'",
    "x=w bash -c 'p1 $x'",
    "export x",
    "export x=e",
    "bash -c 'p2 $x $1' _ $x",
    "let 'n=n+1'",
    "let 'a[$(p2 l)]=1'",
    "declare 'a[$(p2 d)]=1'",
    "test -v 'a[$(p2 t)]'",
    "m='a[$(p2 m)]'",
    ": $((m))",
    "((m))",
    "[[ m -eq 1 ]]",
    ": $((n++)); p1 $n",
    "m='$(p3 p)'",
    ": \"${m@P}\"",
    ": ${!m}",
    ": ${a[m]}",
    "trap 'p3 $x' EXIT",
    "trap 'cd d1' DEBUG",
    "read x <<< w",
    "printf -v x w",
    "exit",
    "break",
    "continue",
    "return",
    "return 1",
    "eval \"p1 $x\"",
    "local x=l",
    "IFS=a",
    "IFS=$'\\n'",
    "p1 $\\\nx",
    "p1 $x\\\ny",
    "p1 ${\\\nx}",
    "p\\\n1 k",
    "!\\\n p1",
    "p1 a &\\\n& p2",
    "p1 \"$\\\nx\"",
    "coproc\\\n p1",
    "p1 $'\\x{61}b' $'\\u0061'",
    "declare -n r=x; r=n; p1 $r",
    "[[ -e <(p2 c) ]]",
    "[[ x == @(x|y) ]] && p2 g",
    "p1 <(p3 s)",
    ": ${x:=d}",
    "(( 1 )) || p2",
    "((p1 a); p2 b)",
    "$((p1 a); p2)",
    "p1 \"$x\" $y $1 \"$@\" $#",
    "false",
    "true",
    ": $((1/0)); x=z",
    "local x=l; x=m",
    "readonly y",
];

/// Commands of other commands `{}`.
const GROUPS: [&str; 31] = [
    "{}\n{}",
    "{}\n{}\n{}",
    "{ {}\n} && { {}\n}",
    "{ {}\n} || { {}\n}",
    "if {}\nthen {}\nelse {}\nfi",
    "if {}\nthen {}\nfi",
    "if ! {}\nthen {}\nfi",
    "for x in a b; do {}\n{}\ndone",
    "for x in $x; do {}\ndone",
    "for i in 1 2; do {}\np1 $x\ndone",
    "n=0; while [ $((n++)) -lt 2 ]; do {}\n{}\ndone",
    "while {}\ndo {}\nbreak\ndone",
    "until {}\ndo {}\nbreak\n{}\ndone",
    "for ((k=0;k<2;k++)); do {}\ndone",
    "f() { {}\n}",
    "f() { {}\n}\nf k l",
    "p1() { {}\n}",
    "g() { {}\nreturn\n{}\n}",
    "f() { {}\n}\n{}\nf k",
    "({}\n)",
    "{ {}\n}",
    "{ {}\n} &\nwait",
    "{ {}\n} | { {}\n}",
    "! { {}\n}",
    "case $x in v) {}\n;; *) {}\n;; esac",
    "case $x in v) {}\n;& w) {}\n;; esac",
    "x=$({}\n); p1",
    "p1 \"$({}\n)\"",
    "[[ -e <({}\n) ]]",
    "eval '{}'",
    "bash -c '{}'",
];

/// Replaces each placeholder of a template by the next text.
fn filled(template: &str, placeholder: &str, mut texts: impl Iterator<Item = String>) -> String {
    let mut out = String::new();
    let mut pieces = template.split(placeholder);
    out.push_str(pieces.next().unwrap_or_default());
    for piece in pieces {
        out.push_str(&texts.next().unwrap_or_default());
        out.push_str(piece);
    }
    out
}

fn command() -> impl Strategy<Value = String> {
    let words = prop::collection::vec(prop::sample::select(&WORDS[..]), 2);
    (prop::sample::select(&COMMANDS[..]), prop::sample::select(&PROGRAMS[..]), words).prop_map(
        |(template, program, words)| {
            let words = words.into_iter().map(str::to_owned);
            filled(&template.replace("PROGRAM", program), "WORD", words)
        },
    )
}

fn text() -> impl Strategy<Value = String> {
    let nested = command().prop_recursive(3, 16, 3, |inner| {
        let inner = prop::collection::vec(inner, 3);
        (prop::sample::select(&GROUPS[..]), inner).prop_map(|(template, inner)| {
            // Quotes do not nest.
            let is_quoted = template.contains("'{}'");
            let inner = inner.into_iter().map(move |text| match is_quoted {
                true => text.replace('\'', "'\\''"),
                false => text,
            });
            filled(template, "{}", inner)
        })
    });
    prop::collection::vec(nested, 1..6)
        .prop_map(|commands| commands.join("\n") + "\np1 \"$x\" $y; f; p2 $1")
}

/// Returns `true` if a read word may be a real one.
fn may_be(read: &str, real: &str) -> bool {
    match read.split_once(UNKNOWN) {
        None => read == real,
        Some((before, rest)) => {
            real.starts_with(before) && rest.split(UNKNOWN).all(|part| real.contains(part))
        }
    }
}

/// A folder with programs that log how they are started, and folders to change to.
struct Stage {
    root: std::path::PathBuf,
    /// The number of texts that ran. Each has a log, as jobs in the background may outlive it.
    runs: std::cell::Cell<usize>,
}

impl Stage {
    fn new() -> Self {
        let root = std::env::temp_dir().join(format!("hook-shell-{}", std::process::id()));
        for folder in ["bin", "home/d1", "work/d1/d1", "work/d1/d2", "work/d2"] {
            std::fs::create_dir_all(root.join(folder)).unwrap();
        }
        let root = root.canonicalize().unwrap();
        for name in ["p1", "p2", "p3"] {
            let stub = root.join("bin").join(name);
            let script = "#!/bin/sh\nIFS=$(printf '\\037')\n\
                printf '%s\\n' \"$PWD$IFS${0##*/}$IFS$*\" >> \"$LOG\"\n";
            std::fs::write(&stub, script).unwrap();
            std::fs::set_permissions(&stub, std::fs::Permissions::from_mode(0o755)).unwrap();
        }
        Self { root, runs: std::cell::Cell::new(0) }
    }

    fn path(&self, name: &str) -> String {
        self.root.join(name).to_string_lossy().into_owned()
    }

    /// Runs a text, and returns what it starts: the working directory, the program and its arguments.
    fn run(&self, text: &str) -> Vec<Vec<String>> {
        self.runs.set(self.runs.get() + 1);
        let log_file = self.path(&format!("log{}", self.runs.get()));
        std::fs::write(&log_file, "").unwrap();
        std::process::Command::new("timeout")
            .args(["5", "bash", "--norc", "--noprofile", "-c"])
            .arg(format!("FUNCNEST=8; {text}"))
            .env_clear()
            .env("PATH", format!("{}:/usr/bin:/bin", self.path("bin")))
            .env("LOG", &log_file)
            .env("HOME", self.path("home"))
            .stdin(std::process::Stdio::null())
            .stdout(std::process::Stdio::null())
            .stderr(std::process::Stdio::null())
            .current_dir(self.root.join("work"))
            .status()
            .unwrap();
        let log = String::from_utf8_lossy(&std::fs::read(&log_file).unwrap()).into_owned();
        // A line end in an argument divides a line.
        let lines = log.lines().filter(|line| line.starts_with('/')).take(200);
        let lines = lines.map(|line| line.split('\u{1f}').map(str::to_owned).collect());
        lines.filter(|line: &Vec<String>| line.len() > 2).collect()
    }
}

impl Drop for Stage {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.root);
    }
}

/// Returns `true` if an invocation that was read may be a real one.
fn is_that(read: &Invocation, real: &[String]) -> bool {
    let [cwd, program, arguments @ ..] = real else { return false };
    let given: Vec<&str> = read.arguments.iter().map(|argument| argument.text.as_str()).collect();
    let given: Vec<&str> = given.into_iter().filter(|word| !word.is_empty()).collect();
    let real: Vec<&String> = arguments.iter().filter(|word| !word.is_empty()).collect();
    // Something unknown may be several words, or none.
    let has_list = given.iter().any(|word| word.chars().all(|character| character == UNKNOWN));
    let fits = given.len() == real.len()
        && given.iter().zip(&real).all(|(given, real)| may_be(given, real));
    read.program() == program
        && read.cwd.as_ref().is_none_or(|read| may_be(read, cwd))
        && (fits || has_list)
}

/// Whatever bash starts for a text is among what was read, or the text is opaque.
#[test]
fn what_bash_starts_was_read() {
    let stage = Stage::new();
    let (work, home) = (stage.path("work"), stage.path("home"));
    let surroundings = Surroundings { cwd: &work, project: &work, home: &home };
    let opaque = std::cell::Cell::new(0_usize);
    let cases = std::cell::Cell::new(0_usize);
    let config = ProptestConfig { failure_persistence: None, ..ProptestConfig::default() };
    proptest!(config, |(text in text())| {
        let reading = read(&text, &surroundings);
        cases.set(cases.get() + 1);
        if !reading.opaque.is_empty() {
            opaque.set(opaque.get() + 1);
            return Ok(());
        }
        for real in stage.run(&text) {
            let is_read = reading.invocations.iter().any(|read| is_that(read, &real));
            let read: Vec<_> = reading.invocations.iter().map(|read| {
                (read.cwd.clone(), read.program().to_owned(), read.arguments.iter().map(|argument| argument.text.clone()).collect::<Vec<_>>())
            }).collect();
            prop_assert!(is_read, "bash ran {real:?} of\n{text}\nread: {read:#?}");
        }
    });
    // Enough of the texts are compared.
    assert!(opaque.get() * 10 < cases.get() * 9, "{} of {} are opaque", opaque.get(), cases.get());
}

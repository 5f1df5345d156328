//! What a shell makes of a command, beside what consent to it covers.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use hook_settings::HookSource;
use hook_settings::parse;
use hook_tests::Project;
use hook_trust::TrustStore;
use proptest::prelude::*;
use proptest::sample::select;
use serde_json::json;

use super::check;

/// The scripts of the project. Each writes its path into a file.
const SCRIPTS: &[&str] = &["g.sh", "h.sh", "x", "0", "sub/g.sh", "sub/h.sh", "sub/x"];

/// Where scripts write their paths, from the project's directory on.
const MARKS: &str = "marks";

/// How a command begins that may run a script.
const BEGINS: &[&str] = &[
    "",
    "",
    "./",
    "bash ",
    "sh ",
    "bash -eu ",
    "bash -euo pipefail ",
    "bash -o ",
    "bash -c ",
    "sh -c '",
    "bash -c \"",
    ". ./",
    "source ",
    "exec ",
    "env ",
    "env -i ",
    "env -S '",
    "timeout 5 ",
    "nice -n 1 ",
    "cd sub && ./",
    "cd sub; ",
    "PATH=. ",
    "PATH=sub:$PATH; ",
    "export PATH=sub:$PATH; ",
    "x=g; ",
    "x=sub; ",
    "read x < x; ",
    "for x in g h; do ",
    "if ",
    "! ",
    "{ ",
    "( ",
    "command ",
    "builtin . ./",
    "echo a && ",
    "true; ",
    "false || ",
    "cat x | ",
    "cat g.sh | ",
    "echo ./g.sh | ",
    "unset x; ",
    "printf -v x g; ",
    "printf -v PATH sub; ",
    "$HOOK_PROJECT_DIR/",
    "\"$HOOK_PROJECT_DIR\"/",
    "${HOOK_PROJECT_DIR}/sub/",
    "$PWD/",
    "/$PWD/",
    "bash //\"$PWD\"/",
    "x=$PWD; bash /$x/",
    "/$HOOK_PROJECT_DIR/",
    "~+/",
    "eval ",
    "trap ./g.sh EXIT; ",
    "set -- g.sh; ",
    "IFS=u; ",
    "BASH_ENV=h.sh ",
    "test -n \"$x\" && ",
    "[ $# -eq 0 ] && ",
    "command -v bash; ",
    "time ",
    "nohup ",
    "xargs ",
    "source 2>&1 ",
    ". &> out ",
    ". >| out ",
    "(( 1 )); ",
    "f=g; let f; ",
    "set -o ",
    "export 'x=g'; ",
    "(",
    "f() { ./g.sh; }; f ",
    "busybox sh ",
    "tee < ",
    "bash < ",
    "bash <<< ",
];

/// What may come then.
const PIECES: &[&str] = &[
    "g.sh",
    "g.sh",
    "h.sh",
    "./g.sh",
    "./h.sh",
    "sub/g.sh",
    "sub/h.sh",
    "sub/",
    "sub",
    "x",
    "$x",
    "${x}",
    "$x.sh",
    "$#",
    "$?",
    "$0",
    "$1",
    "$@",
    "$-",
    "'",
    "\"",
    "\\",
    "'g.sh'",
    "\"h.sh\"",
    "g",
    "h",
    ".sh",
    ".s?",
    "*",
    "?",
    "[gh]",
    "{g,h}",
    "{g..h}",
    "$'g",
    "\\x2esh'",
    "$\"g\"",
    "''",
    "\"\"",
    " ",
    " ",
    " ",
    "; ",
    " && ",
    " || ",
    " | ",
    " & ",
    "\n",
    "\\\n",
    " # ",
    " < ",
    " > out ",
    " 2>&1 ",
    " <<< ",
    " 3< ",
    " &> ",
    " >| ",
    " >& ",
    ">\\\n& ",
    "; done",
    "; then ",
    "; fi",
    "; }",
    " )",
    "$(",
    ")",
    "`",
    "=",
    "PATH=",
    "x=",
    "bash ",
    "bash",
    "sh",
    ". ",
    "./",
    "../",
    "/",
    "~",
    "-",
    "--",
    " -- ",
    "-c ",
    "-s ",
    "/dev/stdin",
    "/dev/fd/3",
    "$PWD/",
    "/$PWD/",
    "bash //\"$PWD\"/",
    "x=$PWD; bash /$x/",
    "/$HOOK_PROJECT_DIR/",
    "$HOOK_PROJECT_DIR/",
    "${x:-g.sh}",
    "${x#y}",
    "a b",
    "echo ",
    "!",
    "@(g).sh",
    "0",
];

fn commands() -> impl Strategy<Value = String> {
    let begins = prop::collection::vec(select(BEGINS), 1..4);
    let pieces = prop::collection::vec(select(PIECES), 0..5);
    (begins, pieces).prop_map(|(begins, pieces)| begins.concat() + &pieces.concat())
}

struct Fixture {
    project: Project,
    store: TrustStore,
}

impl Fixture {
    fn new() -> Self {
        let project = Project::new();
        let store = TrustStore::new(project.home().join("trust.json"));
        Self { project, store }
    }

    fn write_scripts(&self) {
        for script in SCRIPTS {
            let text =
                format!("#!/bin/sh\nprintf '%s\\n' {script} >> \"$HOOK_PROJECT_DIR\"/{MARKS}\n");
            // One that still runs cannot be written to, but replaced.
            let _ = fs::remove_file(self.project.path().join(script));
            let path = self.project.write(script, &text);
            fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
        }
        self.project.write(MARKS, "");
    }

    /// The files that consent to a command covers, unless more may run.
    fn covered(&self, command: &str) -> Option<Vec<PathBuf>> {
        let settings = json!({"hooks": {"SessionEnd": [{"hooks": [
            {"type": "command", "command": command}]}]}});
        let entry = parse(&settings.to_string(), HookSource::Project, None).hooks.pop()?;
        let review = self.store.review(&self.project.path(), &[entry]).unwrap().remove(0);
        let is_known = review.opaque.is_empty();
        is_known.then(|| review.files.into_iter().map(|file| file.path).collect())
    }

    /// The scripts that run where bash is given a command.
    fn run(&self, command: &str) -> Vec<String> {
        let project = self.project.path();
        // Whatever it starts in the background has ended, too, once nothing has descriptor 9 open.
        let waits = "bash -c \"$1\" 9>&1 >/dev/null 2>&1 </dev/null | cat";
        let mut bash = Command::new("timeout");
        bash.args(["-k", "1", "5", "sh", "-c", waits, "sh", command]);
        bash.current_dir(&project).env_clear();
        bash.envs([("PATH", "/usr/bin:/bin"), ("HOME", "/"), ("USER", "g")]);
        bash.env("HOOK_PROJECT_DIR", &project);
        bash.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        bash.status().unwrap();
        self.project.read(MARKS).lines().map(str::to_owned).collect()
    }
}

/// Whatever script a command runs is one that consent to it covers, unless it is said that not all
/// are known.
#[test]
fn whatever_script_a_command_runs_is_covered() {
    let fixture = Fixture::new();
    check(512, commands(), |command| {
        fixture.write_scripts();
        let Some(covered) = fixture.covered(&command) else { return Ok(()) };
        for script in fixture.run(&command) {
            let is_covered = covered.iter().any(|path| path.to_str() == Some(&script));
            prop_assert!(is_covered, "{command:?} runs {script}; covered: {covered:?}");
        }
        Ok(())
    });
}

//! Consent: what a project's user agreed to runs, and nothing else.

use std::path::Path;

use hook_bus::{HookExecutionRequest, HookExecutionResponse, HookSystem};
use hook_core::settings::{HookEntry, load};
use hook_core::trust::{Change, Review, Standing, TrustStoreError};
use hook_core::{HookSource, SettingsSource, TrustPolicy, TrustStore};
use hook_tests::{Project, fields};
use serde_json::{Value, json};

/// A project whose hooks have to be trusted, with a trust store beside it.
struct Consent {
    project: Project,
    store: TrustStore,
}

impl Consent {
    fn new(settings: &Value) -> Self {
        let project = Project::with_settings(settings);
        let store = TrustStore::new(project.home().join("trust.json"));
        Self { project, store }
    }

    fn source(&self) -> SettingsSource {
        SettingsSource::optional(HookSource::Project, self.project.settings())
    }

    fn entries(&self) -> Vec<HookEntry> {
        load(&self.source()).unwrap().hooks
    }

    fn trust(&self) {
        self.store.grant(&self.project.path(), &self.entries()).unwrap();
    }

    fn system(&self) -> HookSystem {
        let system = HookSystem::builder(self.project.path()).settings(self.source());
        system.trust(TrustPolicy::Store(self.store.clone())).build().unwrap()
    }

    /// Whether the hook may run, and whether it is said to have changed since it was trusted.
    async fn standing(&self) -> (bool, bool) {
        let system = self.system();
        system.initialize().await.unwrap();
        let hook = &system.hooks().unwrap()[0];
        (hook.trusted, hook.hook.changed_since_trusted())
    }

    async fn fire_in(&self, directory: &Path) -> HookExecutionResponse {
        let system = self.system();
        let input = json!({"prompt": "p", "cwd": directory});
        let request = HookExecutionRequest::new("BeforeAgent", fields(input));
        system.bus().request(request).await
    }

    async fn fire(&self) -> HookExecutionResponse {
        self.fire_in(&self.project.path()).await
    }
}

const TRUSTED: (bool, bool) = (true, false);
const CHANGED: (bool, bool) = (false, true);

/// Settings with one hook for `BeforeAgent`.
fn settings(hook: &Value) -> Value {
    let mut entry = json!({"type": "command", "name": "guard", "timeout": 60_000});
    for (name, value) in hook.as_object().into_iter().flatten() {
        entry[name] = value.clone();
    }
    json!({"hooks": {"BeforeAgent": [{"hooks": [entry]}]}})
}

#[tokio::test(flavor = "multi_thread")]
async fn fault_38_whatever_weakens_a_trusted_hook_is_asked_about() {
    let base = json!({
        "hooksConfig": {"defaultTimeout": 5000, "maxConcurrent": 4,
            "environment": {"deny": ["A"], "allow": ["B"]}},
        "hooks": {"BeforeTool": [{"matcher": "shell", "hooks": [
            {"type": "command", "name": "guard", "command": "exit 2", "failBehavior": "block",
                "env": {"MODE": "strict"}}]}]}});
    let consent = Consent::new(&base);
    consent.trust();
    assert_eq!(consent.standing().await, TRUSTED);
    let weaker: &[(&str, Value)] = &[
        ("/hooks/BeforeTool/0/hooks/0/timeout", json!(1)),
        ("/hooks/BeforeTool/0/hooks/0/failBehavior", json!("continue")),
        ("/hooks/BeforeTool/0/hooks/0/env", json!({"MODE": "lax"})),
        ("/hooks/BeforeTool/0/hooks/0/command", json!("exit 0")),
        ("/hooks/BeforeTool/0/hooks/0/name", json!("other")),
        ("/hooks/BeforeTool/0/matcher", json!("nothing")),
        ("/hooks/BeforeTool/0/sequential", json!(true)),
        ("/hooksConfig/defaultTimeout", json!(1)),
        ("/hooksConfig/maxConcurrent", json!(1)),
        ("/hooksConfig/enabled", json!(false)),
        ("/hooksConfig/disabled", json!(["guard"])),
        ("/hooksConfig/environment/deny", json!(["A", "PATH"])),
        ("/hooksConfig/environment/allow", json!(["B", "BASH_ENV"])),
    ];
    for (place, value) in weaker {
        let mut changed = base.clone();
        let (object, key) = place.rsplit_once('/').unwrap();
        changed.pointer_mut(object).unwrap()[key] = value.clone();
        consent.project.write("settings.json", &changed.to_string());
        assert_eq!(consent.standing().await, CHANGED, "{place}");
        let review = consent.store.review(&consent.project.path(), &consent.entries()).unwrap();
        assert_eq!(review[0].changes().len(), 1, "{place}: {:?}", review[0].changes());
    }
    // What changes nothing for the hook asks nobody.
    let mut same = base.clone();
    same["hooksConfig"]["disabled"] = json!(["another"]);
    same["hooksConfig"]["failBehavior"] = json!("block");
    same["hooks"]["BeforeTool"][0]["hooks"][0]["description"] = json!("a guard");
    consent.project.write("settings.json", &same.to_string());
    assert_eq!(consent.standing().await, TRUSTED);
}

/// The fingerprint that the first version gave the hook below: a SHA-256 of event, matcher, name,
/// command and the number of variables, each behind its length.
const EARLIER: &str = "b5721ed87325b5a45b9c0462788b6805f11920bcfe1311b998f7a44dec173597";

/// A store as the first version wrote it.
fn earlier_store(consent: &Consent, fingerprint: &str) {
    let project = consent.project.path();
    let contents = json!({"version": 1, "projects": {project.to_str().unwrap(): [
        {"fingerprint": fingerprint, "event": "BeforeAgent", "name": "guard", "command": "exit 2",
            "seen": {"at": "2026-11-22T03:48:06Z"}}]}});
    std::fs::write(consent.store.path(), contents.to_string()).unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn fault_38_a_hook_that_an_earlier_version_trusted_runs_on_and_is_asked_about() {
    let consent = Consent::new(&settings(&json!({"command": "exit 2", "failBehavior": "block"})));
    earlier_store(&consent, EARLIER);
    let response = consent.fire().await;
    assert!(response.processed.is_blocking_decision());
    let warnings = format!("{:?}", response.hooks[0].warnings);
    assert!(warnings.contains("trusted by an earlier version"), "{warnings}");
    let reviews = consent.store.review(&consent.project.path(), &consent.entries()).unwrap();
    let changes = format!("{:?}", reviews[0].changes());
    assert!(changes.contains("AlsoCovers") && changes.contains("failBehavior block"), "{changes}");

    // The decision made now takes its place: what it does not cover cannot be changed any more.
    consent.store.grant_reviewed(&consent.project.path(), &reviews).unwrap();
    assert!(consent.fire().await.hooks[0].warnings.is_empty());
    assert_eq!(consent.store.granted(&consent.project.path()).unwrap().len(), 1);
    let weaker = settings(&json!({"command": "exit 2", "failBehavior": "continue"}));
    consent.project.write("settings.json", &weaker.to_string());
    assert_eq!(consent.standing().await, CHANGED);
}

/// Commands whose files are all known, with those of them that exist.
const COMMANDS: &[(&str, &[&str])] = &[
    ("./g.sh", &["g.sh"]),
    ("bash g.sh", &["g.sh"]),
    ("bash -eu -- g.sh", &["g.sh"]),
    ("bash \"$HOOK_PROJECT_DIR\"/g.sh", &["g.sh"]),
    ("bash ${CLAUDE_PROJECT_DIR}/hooks/x.py", &["hooks/x.py"]),
    ("python3 hooks/x.py --level 3", &["hooks/x.py"]),
    ("node hooks/x.mjs", &["hooks/x.mjs"]),
    ("node hooks/x", &["hooks/x.mjs", "hooks/x.py"]),
    ("python3 -m hooks.x", &["hooks/x.mjs", "hooks/x.py"]),
    ("python3 -m pack", &["pack/__main__.py"]),
    ("node web", &["web/lib/start.js", "web/package.json"]),
    ("./g.s?", &["g.sh"]),
    ("bash hooks/[x]*", &["hooks/x.mjs", "hooks/x.py"]),
    ("bash {g,h}.sh", &["g.sh", "h.sh"]),
    ("PATH=. g.sh", &["g.sh"]),
    ("export PATH=hooks:$PATH; x.py", &["hooks/x.py"]),
    ("$PWD/g.sh", &["g.sh"]),
    ("bash -c 'source g.sh'", &["g.sh"]),
    ("bash -c \"bash -c 'exec ./g.sh'\"", &["g.sh"]),
    ("sh -c \"exec ./g.sh\"", &["g.sh"]),
    ("env X=1 ./g.sh", &["g.sh"]),
    ("X=1 exec ./g.sh", &["g.sh"]),
    (". ./g.sh && ./h.sh", &["g.sh", "h.sh"]),
    ("D=hooks; bash $D/x.py", &["hooks/x.py"]),
    ("bash g$NOTHING.sh; NOTHING=h", &["g.sh"]),
    ("cd hooks && ./x.py", &["hooks/x.py"]),
    ("cd hooks; cd ..; ./g.sh", &["g.sh"]),
    ("bash < g.sh >> h.sh; true", &["g.sh"]),
    ("if ./g.sh; then exit 2; fi # don't ./h.sh", &["g.sh"]),
    ("prettier --config=h.sh README.md", &["README.md", "h.sh"]),
    ("bash g\\\n.sh", &["g.sh"]),
    (". 2>&1 g.sh", &["g.sh"]),
    ("source &>/dev/null g.sh", &["g.sh"]),
    (". >| out g.sh", &["g.sh"]),
    (". >\\\n& out g.sh", &["g.sh"]),
    ("bash -c \". 2>&1 g.sh\"", &["g.sh"]),
    ("eslint 2>&1 g.sh", &["g.sh"]),
    ("timeout 5 nice -n 3 ./g.sh --language python", &["g.sh"]),
    ("set -euo pipefail; bash g.sh || exit 2", &["g.sh"]),
    ("prettier --write .", &[]),
    ("notify-send 'Claude Code' 'all done'", &[]),
    ("curl -H \"Content-Type: application/json\" -d done http://localhost", &[]),
    ("./g.sh \"$SOMETHING\"", &["g.sh"]),
    ("bash -euo pipefail g.sh", &["g.sh"]),
    ("node --no-warnings hooks/x.mjs", &["hooks/x.mjs"]),
    ("deno run hooks/x.mjs", &["hooks/x.mjs"]),
    ("awk '{print $1}' README.md", &["README.md"]),
    ("git diff HEAD~1 -- README.md", &["README.md"]),
    ("grep -q 'foo$' README.md", &["README.md"]),
    ("command -v jq >/dev/null || exit 0; jq . README.md", &["README.md"]),
    ("command -v python3; ./g.sh --language python", &["g.sh"]),
    ("./g.sh; code=$?; [ $code -eq 0 ] || echo \"$USER: $code\"; exit $code", &["g.sh"]),
    ("[ -n \"$CI\" ] && exit 0; ./g.sh", &["g.sh"]),
    ("exit 2", &[]),
];

const FILES: &[&str] = &[
    "g.sh",
    "h.sh",
    "README.md",
    "hooks/x.py",
    "hooks/x.mjs",
    "pack/__main__.py",
    "web/lib/start.js",
];

/// A project with those files, and one hook.
fn with_files(hook: &Value) -> Consent {
    let consent = Consent::new(&settings(hook));
    for file in FILES {
        consent.project.write(file, "#!/bin/sh\nexit 0\n");
    }
    consent.project.write("web/package.json", r#"{"main": "lib/start"}"#);
    #[cfg(unix)]
    for (target, name) in [("/bin/bash", "shell"), ("/usr/bin/env", "runner")] {
        std::os::unix::fs::symlink(target, consent.project.path().join(name)).unwrap();
    }
    consent
}

fn review(consent: &Consent) -> Review {
    let reviews = consent.store.review(&consent.project.path(), &consent.entries()).unwrap();
    reviews.into_iter().next().unwrap()
}

fn paths(review: &Review) -> Vec<&str> {
    review.files.iter().map(|file| file.path.to_str().unwrap()).collect()
}

#[test]
fn fault_39_every_file_of_the_project_that_a_command_names_is_covered() {
    for (command, files) in COMMANDS {
        let consent = with_files(&json!({"command": command}));
        let shown = review(&consent);
        let (mut found, mut expected) = (paths(&shown), files.to_vec());
        found.sort_unstable();
        expected.sort_unstable();
        // A redirected input may be a program.
        let opaque = shown.opaque.iter().filter(|why| !why.contains("runs what it reads"));
        assert_eq!(opaque.collect::<Vec<_>>(), Vec::<&String>::new(), "{command}");
        // An entry file that does not exist is looked for beside the one that does.
        assert_eq!(found, expected, "{command}");
        for file in *files {
            let consent = with_files(&json!({"command": command}));
            consent.trust();
            assert_eq!(review(&consent).standing, Standing::Trusted, "{command}");
            consent.project.write(file, "rm -rf ~\n");
            let changed = review(&consent);
            assert!(matches!(changed.standing, Standing::Changed(_)), "{command}: {file}");
            let named = changed.changes().iter().any(
                |change| matches!(change, Change::File { path, .. } if path.to_str() == Some(file)),
            );
            assert!(named, "{command}: {:?}", changed.changes());
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn fault_39_a_file_that_changes_after_the_start_is_not_run() {
    let consent = with_files(&json!({"command": "bash g.sh", "failBehavior": "block"}));
    consent.trust();
    let system = consent.system();
    let fire = async |directory: &Path| {
        let input = fields(json!({"prompt": "p", "cwd": directory}));
        system.bus().request(HookExecutionRequest::new("BeforeAgent", input)).await
    };
    let project = consent.project.path();
    assert!(!fire(&project).await.processed.is_blocking_decision());
    // From elsewhere the name is another file, or none.
    let there = fire(&project.join("hooks")).await;
    assert!(there.processed.is_blocking_decision());
    let reason = there.processed.reason.unwrap();
    assert!(reason.contains("`g.sh` is another file, or none"), "{reason}");
    consent.project.write("g.sh", "#!/bin/sh\ntouch ran\n");
    assert!(fire(&project).await.processed.is_blocking_decision());
    assert!(!project.join("ran").exists());
    // A file that comes into being counts as well.
    consent.project.write("g.sh", "#!/bin/sh\nexit 0\n");
    assert!(!fire(&project).await.processed.is_blocking_decision());
    std::fs::remove_file(project.join("g.sh")).unwrap();
    assert!(fire(&project).await.processed.is_blocking_decision());
}

#[test]
fn fault_39_files_that_are_data_are_left_out_and_that_is_asked_about_itself() {
    let hook = |data: &Value| json!({"command": "./g.sh README.md hooks/x.py", "data": data});
    let consent = with_files(&hook(&json!(["*.md", "hooks/**"])));
    let shown = review(&consent);
    assert_eq!(paths(&shown), ["g.sh"]);
    assert_eq!(shown.data, [Path::new("README.md"), Path::new("hooks/x.py")]);
    consent.trust();
    consent.project.write("README.md", "other");
    assert_eq!(review(&consent).standing, Standing::Trusted);
    // What the command begins with is run, whatever is said of it.
    let all = settings(&hook(&json!(["**"])));
    consent.project.write("settings.json", &all.to_string());
    let changed = review(&consent);
    assert!(matches!(changed.standing, Standing::Changed(_)));
    assert!(format!("{:?}", changed.changes()).contains("\"data\""), "{:?}", changed.changes());
    assert_eq!(paths(&changed), ["g.sh"]);
}

#[test]
fn fault_39_what_a_command_starts_is_no_data() {
    for (command, files) in [
        ("$PWD/g.sh README.md", &["g.sh"][..]),
        ("bash g.sh README.md", &["g.sh"]),
        ("cat README.md && ./g.sh", &["g.sh"]),
        ("timeout 5 ./g.sh", &["g.sh"]),
        (". ./g.sh", &["g.sh"]),
        ("bash -c './g.sh'", &["g.sh"]),
        ("python3 -m hooks.x", &["hooks/x.mjs", "hooks/x.py"]),
        ("jq -nf g.sh", &["g.sh"]),
        ("jq --from-file g.sh", &["g.sh"]),
        ("taskset 1 ./g.sh", &["g.sh"]),
        ("doas ./g.sh README.md", &["README.md", "g.sh"]),
        ("exec -a x ./g.sh", &["g.sh"]),
        ("command -p ./g.sh", &["g.sh"]),
        ("time -p ./g.sh", &["g.sh"]),
        ("tar --to-command=./g.sh", &["g.sh"]),
        ("prettier --check plain.txt", &[]),
    ] {
        let consent = with_files(&json!({"command": command, "data": ["**"]}));
        consent.project.write("plain.txt", "words\n");
        assert_eq!(paths(&review(&consent)), files, "{command}");
    }
}

#[test]
fn fault_39_a_module_that_comes_into_being_is_asked_about() {
    for file in ["json.py", "json/__init__.py", "json/tool.py", "json/tool/__main__.py"] {
        let consent = with_files(&json!({"command": "python3 -m json.tool README.md"}));
        consent.trust();
        assert_eq!(review(&consent).standing, Standing::Trusted);
        consent.project.write(file, "import os\n");
        assert!(matches!(review(&consent).standing, Standing::Changed(_)), "{file}");
    }
}

#[test]
fn fault_39_a_command_whose_files_are_not_all_known_needs_its_own_yes() {
    for command in [
        "bash $(ls *.sh | head -1)",
        "bash `echo g.sh`",
        "bash \"$(echo g.sh)\"",
        "bash $SOMETHING/g.sh",
        "bash \"$1\"",
        "bash ${X%.txt}.sh",
        "eval \"$HOOK\"",
        "bash -c 'eval x'",
        "cat <<E\n$x\nE",
        "for f in g h; do bash $f.sh; done",
        "x=g.sh; read x; bash $x",
        "x=g; x+=.sh; bash $x",
        "python3 -c 'import json'",
        "node -e 'require(\"./hooks/x\")'",
        "cat g.sh | sh",
        "source <(cat g.sh)",
        "bash $'g\\x2esh'",
        "python3 hooks",
        "ls | xargs bash",
        "find . -name '*.sh' -exec bash {} ;",
        "make check",
        "IFS=x; A=g.shx; bash $A",
        "$'./g\\x2esh'",
        "bash $\"./g.sh\"",
        "cd sub; bash ~-/g.sh",
        "bash -O extglob -c './@(g).sh'",
        "bash -o pipefail < g.sh",
        "bash - < g.sh",
        "bash 2>/dev/null < g.sh",
        "bash <<< ./g.sh",
        "cat g.sh | bash 2>&1",
        ". /dev/stdin < g.sh",
        "cd sub; unset PATH; one",
        "read -r PATH <<< sub; one",
        "run-parts hooks.d",
        "python3 -Bm hooks.guard",
        "python3 -W ignore -m hooks.guard",
        "python3 -X utf8 -c 'import hooks.guard'",
        "node -r ./x.js -e 'require(\"./m\")'",
        ". 2>&1 g.sh $(x)",
        "date >> \"/tmp/logs-$(python3 -m hooks.guard)\" || exit 2",
        "echo x > \"/tmp/o`bash h.sh`\"",
        "f=g; echo x > \"$((f=2))\"; bash $f.sh",
        "PY=python3; $PY -m hooks.guard",
        "{python3,-m,hooks.guard}",
        "/usr/bin/pytho[n]3 -m hooks.guard.x",
        "M=make; $M x",
        "/usr/bin/mak[e]",
        "e=eval; $e '. ./$(echo h).sh'",
        "/bin/bas[h] -c '. ./g.sh'",
        ".venv/bin/python -c 'import g'",
        "\"$HOOK_PROJECT_DIR\"/.venv/bin/python hooks",
        "(( # )); bash ./h.sh",
        "(( 1 #x )) ; . ./h.sh",
        "f=g; export \"f=h\"; bash $f.sh",
        "f=g; env 'f=h' bash -c 'bash $f.sh'",
        "f=g; printf -vf %s h; bash $f.sh",
        "f=g; read -af <<< h; bash $f.sh",
        "f=g; read {f,y} <<< h; bash $f.sh",
        "f=g; read 'f[0]' <<< h; bash $f.sh",
        "x=f; f=g; read $x <<< h; bash $f.sh",
        "a=(h); bash $a.sh",
        "a=g; a[0]=h; bash $a.sh",
        "f=1; let f++; bash $f.sh",
        "f=1; ((f++)); bash $f.sh",
        "f=1; let f*=2; bash $f.sh",
        "for ((f=1;1;f++)); do bash $f.sh; done",
        "exec {f}<g.sh; bash $f.sh",
        "_=g; : h; bash $_.sh",
        "REPLY=g; bash $REPLY.sh",
        "set -o history\n. ./g.sh\nfc -s g=h",
        "export 'PYTHONPATH=hooks'; python3 hooks/x.py",
        "env 'PYTHONPATH=hooks' python3 hooks/x.py",
        "x=PYTHONPATH; export $x=hooks; python3 hooks/x.py",
        "export 'IFS=x'; y=bashxh.sh; $y",
        "read -r IFS <<< x; y=bashxh.sh; $y",
        "printf -vPATH hooks:/bin; h.sh",
        "export {PATH=hooks:/bin,Y=1}; h.sh",
        "unset P{ATH,X}; h.sh",
        "HOME=. bash -lc 'exit 2'",
        "HOME=$HOOK_PROJECT_DIR git status",
        "XDG_CONFIG_HOME=. git status",
        "HOME=hooks; . ~/h.sh",
        "function f { ./h.sh; }; f",
        "f() { ./h.sh; }; f",
        "coproc ./h.sh",
        "hash -p hooks/h.sh g; g",
        "b=bash; $b h.sh",
        "cat h.sh | rbash",
        "rbash -c './$(echo h).sh'",
        "git -c alias.x='!./h.sh' x",
        "jq -L hooks -rn 'include \"guard\"; check'",
        "gawk -f guard",
        "java -cp hooks Guard",
        "go run ./hooks",
        "gmake check",
        "/usr/bin/find . -name x -exec sh {} +",
        "grep -h . -r hooks | bash //dev/stdin",
        "env '-Sbash\\_./h.sh'",
        "env -S 'bash h.sh'",
        "test -v 'x[$(./$(echo h).sh)]'",
        "[[ 'a[$(./h.sh)]' -eq 0 ]]",
        "PS4='$(./h.sh)'; set -x; :",
        "compgen -W '$(./h.sh)'",
        "awk 'BEGIN{f=\"h\" \".txt\"; ARGV[1]=f}'",
        "sudo -u x bash g.sh",
        "flock g.sh -c './h.sh'",
        "some-tool --eval x",
        "some-tool 'a $(b)'",
        "trap ./g.sh EXIT",
        "case x in x) ./g.sh;; esac",
        "python3 *",
        "bash {-c,./g.sh}",
        "x='-c y'; python3 $x",
        "set -- g.sh; bash \"$1\"",
        "bash >\\\n&2 g$(x).sh",
        "python3 -m unittest",
        "python3 -m unittest discover hooks",
        "ln -s hooks out; bash out/x.py; rm out",
        "cp -r hooks out; bash out/x.py",
        "java Guard",
        "java hooks.Guard",
        "./runner -S x",
        "grep -rhs touch | bash /./dev/stdin",
        "grep -rhs touch | bash ../../../../../dev/stdin",
        "bash /d[e]v/stdin < g.sh",
        "python3 -m runpy hooks.x",
        "python3 -m cProfile -m hooks.x",
        "f=h; while ! [ -e $f.sh ]; do f=${f}h; done; bash $f.sh",
        "GLOBIGNORE=zzz; bash hooks/*.sh",
        "OPTIND=g; . ./$OPTIND.sh",
        "GROUPS=g; . ./$GROUPS.sh",
        "grep -rhs touch | sed e",
        "perl5.36-x86_64-linux-gnu -I. -Mh -V",
        "prove -r t",
        "ZDOTDIR=hooks zsh g.sh",
        "./g.s? -m hooks.x",
        "cat g.sh | ./shell",
        "./shell -c ./g.sh",
        "./g$#",
        "./g$?",
        "bash g$$",
        "n=$?; bash g$n.sh",
        "bash \"g$UID.sh\"",
        "bash g$EUID.sh",
        "./g.sh$''; bash h$''.sh",
        "bash ~root/g.sh",
        "x=~-/g.sh; bash $x",
        "base64 -d < g.sh | timeout 5 bash",
        "cat g.sh | nice -n 1 bash",
        "cat g.sh | busybox sh",
        "cat g.sh | /usr/bin/env bash",
        "cat g.sh | ../../../bin/bash",
        "cat g.sh | nodejs",
        "nodejs -e 'x'",
        "timeout 60 make check",
        "nice -n 5 npm test",
        "bun build",
        "deno task check",
        "printf -v PATH %s hooks; x.py",
        "n=PATH; printf -v \"$n\" hooks; x.py",
        "n=PATH; export \"$n=hooks\"; x.py",
        "for PATH in hooks; do x.py; done",
        "PATH=$SOMETHING:$PATH x.py",
        "PATH=g; ./$PATH",
        "PYTHONPATH=hooks python3 -m json.tool",
        "NODE_OPTIONS='--import data:x' node hooks/x.mjs",
        "LD_PRELOAD=./x.so g",
        "GIT_CONFIG_COUNT=1 git status",
        "BASH_ENV=g bash h.sh",
        "awk 'BEGIN { system(\"sh g\" \".sh\") }'",
        "python3 -i hooks/x.py < g.sh",
        "bash /dev/fd/3 3< g.sh",
        "cd \"$SOMETHING\" && ./g.sh",
        "/$PWD/g.sh",
        "//\"$PWD\"/g.sh",
        "bash /$PWD/g.sh",
        "d=$PWD; bash /$d/g.sh",
        "cat file://$GEMINI_CWD/g.sh",
    ] {
        let consent = with_files(&json!({"command": command}));
        let mut shown = review(&consent);
        assert!(!shown.opaque.is_empty(), "{command}");
        let refused = consent.store.grant_reviewed(&consent.project.path(), [&shown]);
        assert!(matches!(refused, Err(TrustStoreError::Opaque { .. })), "{command}: {refused:?}");
        assert_eq!(review(&consent).standing, Standing::New);
        shown.accept_opaque();
        consent.store.grant_reviewed(&consent.project.path(), [&shown]).unwrap();
        assert_eq!(review(&consent).standing, Standing::Trusted, "{command}");
    }
}

#[test]
fn fault_39_a_long_command_is_read_in_linear_time() {
    // Each would take minutes if every word were compared with every other.
    for word in ["a ", "if ", "a=b ", "awk ", "env ", "$x ", "a;", "{a,b} ", "'a b' ", "> a ", "~"]
    {
        let consent = with_files(&json!({"command": format!("x {}", word.repeat(60_000))}));
        let started = std::time::Instant::now();
        let _ = review(&consent);
        assert!(started.elapsed() < super::PROMPT, "{word}: {:?}", started.elapsed());
    }
}

#[test]
fn fault_39_more_files_than_a_decision_covers_are_refused() {
    let consent = Consent::new(&settings(&json!({"command": "bash hooks/*"})));
    for number in 0..=256 {
        consent.project.write(&format!("hooks/{number}.sh"), "");
    }
    let shown = review(&consent);
    assert!(shown.too_much);
    let refused = consent.store.grant_reviewed(&consent.project.path(), [&shown]);
    assert!(matches!(refused, Err(TrustStoreError::TooMuch { .. })), "{refused:?}");
}

#[cfg(unix)]
#[test]
fn fault_40_projects_whose_paths_are_no_text_share_no_decision() {
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt;
    let folder = Project::new();
    let store = TrustStore::new(folder.home().join("trust.json"));
    let text = settings(&json!({"command": "exit 0"})).to_string();
    let projects: Vec<_> = [&b"p\xff"[..], b"p\xfe", "p\u{fffd}".as_bytes()]
        .map(|name| folder.path().join(OsStr::from_bytes(name)))
        .to_vec();
    let entries = hook_core::settings::parse(&text, HookSource::Project, None).hooks;
    for project in &projects {
        std::fs::create_dir(project).unwrap();
    }
    store.grant(&projects[0], &entries).unwrap();
    let standing = |project: &Path| store.review(project, &entries).unwrap().remove(0).standing;
    assert_eq!(standing(&projects[0]), Standing::Trusted);
    assert_eq!(standing(&projects[1]), Standing::New);
    assert_eq!(standing(&projects[2]), Standing::New);
    assert_eq!(store.granted(&projects[0]).unwrap().len(), 1);
    store.revoke(&projects[1]).unwrap();
    assert_eq!(standing(&projects[0]), Standing::Trusted);
    store.revoke(&projects[0]).unwrap();
    assert_eq!(standing(&projects[0]), Standing::New);
}

#[cfg(unix)]
#[tokio::test(flavor = "multi_thread")]
async fn fault_40_a_trust_store_that_is_no_regular_file_is_refused_at_once() {
    let consent = Consent::new(&settings(&json!({"command": "exit 0"})));
    let made = std::process::Command::new("mkfifo").arg(consent.store.path()).status().unwrap();
    assert!(made.success());
    let (store, project) = (consent.store.clone(), consent.project.path());
    let entries = consent.entries();
    let refused = tokio::task::spawn_blocking(move || {
        (store.granted(&project).unwrap_err(), store.grant(&project, &entries).unwrap_err())
    });
    let (read, written) = tokio::time::timeout(super::PROMPT, refused).await.unwrap().unwrap();
    assert!(read.to_string().contains("a FIFO"), "{read}");
    assert!(written.to_string().contains("a FIFO"), "{written}");
    let response = tokio::time::timeout(super::PROMPT, consent.fire()).await.unwrap();
    let warnings = format!("{:?}", response.processed.warnings);
    assert!(warnings.contains("a FIFO"), "{warnings}");
}

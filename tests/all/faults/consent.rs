//! Consent: what a project's user agreed to runs, and nothing else.

use std::path::Path;

use hook_bus::{HookExecutionRequest, HookExecutionResponse, HookSystem};
use hook_settings::{HookEntry, load};
use hook_settings::{HookSource, SettingsSource};
use hook_tests::{Project, fields};
use hook_trust::{Change, Review, TrustStatus, TrustStoreError};
use hook_trust::{TrustPolicy, TrustStore};
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

#[tokio::test(flavor = "multi_thread")]
async fn fault_85_a_guard_that_an_earlier_version_trusted_blocks_until_it_is_asked_about_once() {
    let consent = Consent::new(&settings(&json!({"command": "true", "failBehavior": "block"})));
    let project = consent.project.path();
    for form in [json!(null), json!(2)] {
        let contents = json!({"version": 1, "projects": {project.to_str().unwrap(): [
            {"fingerprint": "b5721ed8", "event": "BeforeAgent", "name": "guard", "command": "true",
                "form": form.as_u64().unwrap_or(0),
                "seen": {"at": "2026-11-22T03:48:06Z", "terms": {"failBehavior": "block"}}}]}});
        std::fs::write(consent.store.path(), contents.to_string()).unwrap();
        let response = consent.fire().await;
        assert!(response.processed.is_blocking_decision(), "{form}");
        let reviews = consent.store.review(&project, &consent.entries()).unwrap();
        assert!(reviews[0].changes().contains(&Change::Version), "{:?}", reviews[0].changes());
        // The decision made now takes its place, and nobody is asked again.
        consent.store.grant_reviewed(&project, &reviews).unwrap();
        assert!(!consent.fire().await.processed.is_blocking_decision(), "{form}");
        assert_eq!(consent.store.grants(&project).unwrap().len(), 1);
        assert_eq!(review(&consent).status, TrustStatus::Trusted);
    }
}

/// Commands of which all is known that they start, with the folders that this makes.
const TRANSPARENT: &[(&str, &[&str])] = &[
    ("./g.sh", &["g.sh"]),
    ("bash g.sh", &["g.sh"]),
    ("bash -eu \"$HOOK_PROJECT_DIR\"/g.sh", &["g.sh"]),
    ("bash -euo pipefail g.sh", &["g.sh"]),
    ("bash g\\\n.sh", &["g.sh"]),
    ("$PWD/g.sh", &["g.sh"]),
    ("/usr/bin/env -", &[]),
    ("./g.sh \"a b\" 'c'", &["g.sh"]),
    ("bash ${CLAUDE_PROJECT_DIR}/hooks/x.py", &["hooks"]),
    ("python3 -u hooks/x.py --level 3", &["hooks"]),
    ("node hooks/x.mjs", &["hooks"]),
    ("node --no-warnings hooks/x.mjs", &["hooks"]),
    ("timeout 5 nice -n 3 ./g.sh --language python", &["g.sh"]),
    ("./g.sh && python3 hooks/x.py || exit 2", &["g.sh", "hooks"]),
    ("jq -r .tool_name | ./g.sh 2>/dev/null", &["g.sh"]),
    ("\"${CLAUDE_PROJECT_DIR:-$(pwd)}\"/.hooks/deep/a.sh", &[".hooks"]),
    ("\"$HOOK_DIR\"/a.sh", &[".hooks"]),
    (".claude/hooks/lib/a.sh", &[".claude/hooks"]),
    ("LC_ALL=C NO_COLOR=1 ./g.sh", &["g.sh"]),
    ("exit 2", &[]),
    ("echo no >&2; exit 2", &[]),
    ("cat >/dev/null 2>&1", &[]),
    ("jq . README.md", &[]),
    ("grep -q 'foo$' README.md", &[]),
    ("command -v jq >/dev/null || exit 0; jq .x", &[]),
];

const FILES: &[&str] = &[
    "g.sh",
    "h.sh",
    "README.md",
    "hooks/x.py",
    "hooks/x.mjs",
    "hooks/lib/y.py",
    ".hooks/a.sh",
    ".hooks/deep/a.sh",
    ".claude/hooks/a.sh",
    ".claude/hooks/lib/a.sh",
    "pack/__main__.py",
];

/// A project with those files, and one hook.
fn with_files(hook: &Value) -> Consent {
    let consent = Consent::new(&settings(hook));
    for file in FILES {
        consent.project.write(file, "#!/bin/sh\nexit 0\n");
    }
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
fn fault_82_the_whole_folder_of_what_a_command_starts_is_covered() {
    for (command, folders) in TRANSPARENT {
        let consent = with_files(&json!({"command": command}));
        let shown = review(&consent);
        let found: Vec<&str> = shown.folders.iter().map(|it| it.to_str().unwrap()).collect();
        if command.contains("env") {
            assert!(!shown.opaque.is_empty(), "{command}");
            continue;
        }
        assert_eq!(shown.opaque, Vec::<String>::new(), "{command}");
        assert_eq!(found, *folders, "{command}");
        consent.trust();
        assert_eq!(review(&consent).status, TrustStatus::Trusted, "{command}");
        for folder in *folders {
            // A file that comes into being counts as well as one that changes.
            let is_file = consent.project.path().join(folder).is_file();
            let file = if is_file { (*folder).to_owned() } else { format!("{folder}/new/z.pyc") };
            consent.project.write(&file, "rm -rf ~\n");
            let changed = review(&consent);
            assert!(matches!(changed.status, TrustStatus::Changed(_)), "{command}: {file}");
            let changes = format!("{:?}", changed.changes());
            assert!(changes.contains(&*file), "{command}: {changes}");
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn fault_84_where_a_folder_changed_the_trusted_copy_guards_on_from_every_directory() {
    let consent = with_files(&json!({"command": "bash .hooks/a.sh", "failBehavior": "block"}));
    consent.project.write(".hooks/a.sh", ". \"$(dirname \"$0\")\"/deep/a.sh; exit 2\n");
    consent.project.write(".hooks/deep/a.sh", "true\n");
    consent.trust();
    let system = consent.system();
    let fire = async |directory: &Path| {
        let input = fields(json!({"prompt": "p", "cwd": directory}));
        system.bus().request(HookExecutionRequest::new("BeforeAgent", input)).await
    };
    let project = consent.project.path();
    let guards = |response: &HookExecutionResponse| {
        let why = response.processed.reason.clone().unwrap_or_default();
        response.processed.is_blocking_decision() && why.is_empty()
            || response.hooks[0].failure.is_none() && response.processed.is_blocking_decision()
    };
    for directory in [&project, &project.join("hooks")] {
        let response = fire(directory).await;
        assert!(guards(&response) && response.hooks[0].warnings.is_empty(), "{response:?}");
    }
    type Change = fn(&Project);
    let changes: [Change; 4] = [
        |project| drop(project.write(".hooks/a.sh", "touch ran\n")),
        |project| drop(project.write(".hooks/deep/a.sh", "touch ran\n")),
        |project| drop(project.write(".hooks/new.sh", "")),
        |project| std::fs::remove_dir_all(project.path().join(".hooks")).unwrap(),
    ];
    for change in changes {
        change(&consent.project);
        for running in [true, false] {
            let response = match running {
                true => fire(&project).await,
                false => consent.fire().await,
            };
            assert!(guards(&response), "{response:?}");
            let warnings = format!("{:?}", response.hooks[0].warnings);
            assert!(warnings.contains("changed since you trusted them"), "{warnings}");
        }
        assert!(!project.join("ran").exists());
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn fault_84_a_strict_guard_blocks_where_its_folder_changed() {
    let consent = with_files(&json!({"command": "bash .hooks/a.sh", "failBehavior": "block"}));
    let mut shown = review(&consent);
    shown.strict = true;
    consent.store.grant_reviewed(&consent.project.path(), [&shown]).unwrap();
    let system = consent.system();
    let request = || {
        let input = fields(json!({"prompt": "p", "cwd": consent.project.path()}));
        HookExecutionRequest::new("BeforeAgent", input)
    };
    assert!(!system.bus().request(request()).await.processed.is_blocking_decision());
    consent.project.write(".hooks/new.sh", "");
    for response in [system.bus().request(request()).await, consent.fire().await] {
        let reason = response.processed.reason.unwrap_or_default();
        assert!(reason.contains("changed since it was trusted"), "{reason}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn fault_84_a_folder_that_names_itself_in_the_project_runs_in_place_and_says_which_line() {
    let consent = with_files(&json!({"command": ".hooks/a.sh", "failBehavior": "block"}));
    consent.project.write(
        ".hooks/deep/a.sh",
        "#!/bin/sh\n# .hooks is fine in a comment\n. \"$HOOK_PROJECT_DIR/.hooks/lib.sh\"\n",
    );
    consent.project.write(".hooks/a.sh", "#!/bin/sh\necho \"$0\" >&2\n");
    let script = consent.project.path().join(".hooks/a.sh");
    std::fs::set_permissions(script, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    let shown = review(&consent);
    let why = shown.in_place.clone().unwrap_or_default();
    assert!(why.contains(": .hooks/deep/a.sh:3: ") && why.contains("HOOK_DIR"), "{why}");
    consent.trust();
    let response = consent.fire().await;
    assert!(!response.processed.is_blocking_decision(), "{response:?}");
    let told = &response.hooks[0].process.stderr;
    assert_eq!(told.bytes, b".hooks/a.sh\n");
    // From elsewhere the name is another file, or none.
    let there = consent.fire_in(&consent.project.path().join("hooks")).await;
    let reason = there.processed.reason.unwrap_or_default();
    assert!(reason.contains("`.hooks/a.sh` is another file, or none"), "{reason}");
    consent.project.write(".hooks/new.sh", "");
    assert!(consent.fire().await.processed.is_blocking_decision());
}

#[tokio::test(flavor = "multi_thread")]
async fn fault_85_an_older_commit_with_a_weaker_guard_changes_nothing_until_it_is_meant() {
    let consent = with_files(&json!({"command": "bash .hooks/a.sh", "failBehavior": "block"}));
    consent.trust();
    let weaker = review(&consent).digest.unwrap();
    consent.project.write(".hooks/a.sh", "exit 2\n");
    consent.trust();
    assert!(consent.fire().await.processed.is_blocking_decision());
    // The checkout of the commit before.
    consent.project.write(".hooks/a.sh", "#!/bin/sh\nexit 0\n");
    assert_eq!(review(&consent).digest.as_ref(), Some(&weaker));
    let response = consent.fire().await;
    assert!(response.processed.is_blocking_decision(), "{response:?}");
    assert!(response.hooks[0].failure.is_none(), "the trusted copy decides");
    let unknown = consent.store.reactivate(&consent.project.path(), "0000000000");
    assert!(matches!(unknown, Err(TrustStoreError::UnknownDigest { .. })), "{unknown:?}");
    consent.store.reactivate(&consent.project.path(), &weaker[..12]).unwrap();
    let response = consent.fire().await;
    assert!(!response.processed.is_blocking_decision(), "{response:?}");
    assert!(response.hooks[0].warnings.is_empty());
}

#[test]
fn fault_82_data_and_what_hooks_write_are_left_out_and_programs_never_are() {
    let hook = json!({"command": ".hooks/a.sh", "data": [".hooks/**"]});
    let consent = with_files(&hook);
    for (file, text) in [
        (".hooks/words.txt", "words"),
        (".hooks/calls.log", "x"),
        (".hooks/logs/a.txt", "x"),
        (".hooks/tmp/a.py", "import os"),
        (".hooks/__pycache__/a.cpython-312.pyc", "x"),
        (".hooks/run", "#!/bin/sh"),
        (".hooks/lib.mjs", ""),
        (".hooks/settings.local.json", "{}"),
    ] {
        consent.project.write(file, text);
    }
    let shown = review(&consent);
    let covered =
        [".hooks/a.sh", ".hooks/deep/a.sh", ".hooks/lib.mjs", ".hooks/run", ".hooks/tmp/a.py"];
    assert_eq!(paths(&shown), covered);
    assert_eq!(shown.data, [Path::new(".hooks/words.txt")]);
    consent.trust();
    for left_out in [".hooks/words.txt", ".hooks/calls.log", ".hooks/logs/b.txt"] {
        consent.project.write(left_out, "other");
        assert_eq!(review(&consent).status, TrustStatus::Trusted, "{left_out}");
    }
    // That it is data is agreed to, too.
    let other = json!({"command": ".hooks/a.sh", "data": [".hooks/*"]});
    consent.project.write("settings.json", &settings(&other).to_string());
    let changed = review(&consent);
    assert!(matches!(changed.status, TrustStatus::Changed(_)));
    assert!(format!("{:?}", changed.changes()).contains("\"data\""), "{:?}", changed.changes());
}

#[test]
fn fault_83_a_command_that_may_start_more_than_its_folder_needs_its_own_yes() {
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
        assert_eq!(review(&consent).status, TrustStatus::New);
        shown.accept_opaque();
        consent.store.grant_reviewed(&consent.project.path(), [&shown]).unwrap();
        assert_eq!(review(&consent).status, TrustStatus::Trusted, "{command}");
    }
}

#[test]
fn fault_83_a_long_command_is_read_in_linear_time() {
    // Each would take minutes if every word were compared with every other.
    for word in ["a ", "if ", "a=b ", "awk ", "env ", "$x ", "a;", "{a,b} ", "'a b' ", "> a ", "~"]
    {
        let consent = with_files(&json!({"command": format!("x {}", word.repeat(60_000))}));
        let started = std::time::Instant::now();
        let _ = review(&consent);
        assert!(started.elapsed() < super::PROMPT, "{word}: {:?}", started.elapsed());
    }
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
    let entries = hook_settings::parse(&text, HookSource::Project, None).hooks;
    for project in &projects {
        std::fs::create_dir(project).unwrap();
    }
    store.grant(&projects[0], &entries).unwrap();
    let standing = |project: &Path| store.review(project, &entries).unwrap().remove(0).status;
    assert_eq!(standing(&projects[0]), TrustStatus::Trusted);
    assert_eq!(standing(&projects[1]), TrustStatus::New);
    assert_eq!(standing(&projects[2]), TrustStatus::New);
    assert_eq!(store.grants(&projects[0]).unwrap().len(), 1);
    store.revoke(&projects[1]).unwrap();
    assert_eq!(standing(&projects[0]), TrustStatus::Trusted);
    store.revoke(&projects[0]).unwrap();
    assert_eq!(standing(&projects[0]), TrustStatus::New);
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
        (store.grants(&project).unwrap_err(), store.grant(&project, &entries).unwrap_err())
    });
    let (read, written) = tokio::time::timeout(super::PROMPT, refused).await.unwrap().unwrap();
    assert!(read.to_string().contains("a FIFO"), "{read}");
    assert!(written.to_string().contains("a FIFO"), "{written}");
    let response = tokio::time::timeout(super::PROMPT, consent.fire()).await.unwrap();
    let warnings = format!("{:?}", response.processed.warnings);
    assert!(warnings.contains("a FIFO"), "{warnings}");
}

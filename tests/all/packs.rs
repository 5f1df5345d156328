//! Packs from the command itself, from folders and from git repositories.

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use hook_tests::{Finished, Hook, Project, hook_binary};
use serde_json::{Value, json};

fn run(project: &Project, arguments: &[&str]) -> Finished {
    Hook::new(project, arguments).run()
}

fn fire(project: &Project, input: &Value) -> Value {
    let input = json!({ "tool_input": input }).to_string();
    let tool = if input.contains("file_path") { "write_file" } else { "run_shell_command" };
    let arguments = ["fire", "BeforeTool", "--tool", tool, "--json", "--input", &input];
    run(project, &arguments).lines()[0]["processed"].clone()
}

fn of_command(project: &Project, command: &str) -> String {
    fire(project, &json!({ "command": command }))["decision"].as_str().unwrap().to_owned()
}

/// The decision about writing what the hook of the template refuses.
fn of_write(project: &Project) -> String {
    let input = json!({ "file_path": "a.rs", "content": "// DO NOT EDIT" });
    fire(project, &input)["decision"].as_str().unwrap().to_owned()
}

/// Writes the template of a pack into the project's parent.
fn template(project: &Project, name: &str) -> PathBuf {
    let written = run(project, &["pack", "new", name]);
    assert_eq!(written.status, 0, "{written:?}");
    project.path().join(name)
}

fn git(folder: &Path, arguments: &[&str]) -> String {
    let identity = ["-c", "user.name=a", "-c", "user.email=a@b", "-c", "init.defaultBranch=main"];
    let output = Command::new("git")
        .args(identity)
        .args(arguments)
        .current_dir(folder)
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .output()
        .unwrap();
    assert!(output.status.success(), "{arguments:?}: {output:?}");
    String::from_utf8(output.stdout).unwrap().trim().to_owned()
}

/// A repository with the template of a pack, with the tag `v1`, beside the project.
fn repository(project: &Project) -> (PathBuf, String) {
    let folder = project.home().join("guards-repository");
    fs::rename(template(project, "guards"), &folder).unwrap();
    git(&folder, &["init", "--quiet"]);
    commit(&folder, "v1");
    let url = format!("file://{}", folder.display());
    (folder, url)
}

fn commit(repository: &Path, tag: &str) -> String {
    git(repository, &["add", "--all"]);
    git(repository, &["commit", "--quiet", "--message", "x"]);
    git(repository, &["tag", "--force", tag]);
    git(repository, &["rev-parse", "HEAD"])
}

const NO_DEPLOYS: &str = "[[rule]]\nid = \"deploy\"\nshell = { program = \"make\", args = [\"deploy\"] }\ndeny = \"no\"\n";

/// Rules that refuse nothing that the tests do.
const WEAKER: &str = "[[rule]]\nid = \"x\"\nread = [\"never\"]\nask = \"x\"\n";

fn lock(project: &Project) -> Value {
    serde_json::from_str(&project.read(".hooks/packs.lock")).unwrap()
}

/// The copies of a pack.
fn copies(project: &Project, name: &str) -> Vec<PathBuf> {
    let folder = project.home().join(".local/share/hook/packs").join(name);
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    entries
        .map(|entry| entry.path())
        .filter(|path| path.is_dir() && !path.ends_with("index"))
        .collect()
}

fn edit(path: &Path, text: &str) {
    let mut permissions = fs::metadata(path).unwrap().permissions();
    std::os::unix::fs::PermissionsExt::set_mode(&mut permissions, 0o600);
    fs::set_permissions(path, permissions).unwrap();
    fs::write(path, text).unwrap();
}

#[test]
fn a_template_passes_its_tests_and_is_added_from_its_folder_after_a_yes() {
    let project = Project::new();
    template(&project, "guards");
    let checked = run(&project, &["pack", "check", "guards"]);
    assert_eq!(checked.status, 0, "{checked:?}");
    let shown = run(&project, &["add", "./guards"]);
    assert_eq!(shown.status, 1, "{shown:?}");
    for part in [
        "BeforeTool",
        "$HOOK_DIR/scripts/writes.sh",
        "blocks if it fails",
        "guards.toml:deploy",
        "DO NOT EDIT",
    ] {
        assert!(shown.stdout.contains(part), "{part}: {shown:?}");
    }
    assert!(copies(&project, "guards").is_empty());
    assert_eq!(of_write(&project), "proceed");
    let added = run(&project, &["add", "./guards", "--yes"]);
    assert_eq!(added.status, 0, "{added:?}");
    assert_eq!(of_write(&project), "block");
    assert_eq!(of_command(&project, "make deploy"), "block");
    // Only the copy runs.
    fs::remove_dir_all(project.path().join("guards")).unwrap();
    assert_eq!(of_write(&project), "block");
    assert_eq!(run(&project, &["remove", "guards"]).status, 0);
    assert_eq!(of_write(&project), "proceed");
    assert!(copies(&project, "guards").is_empty());
    assert_eq!(run(&project, &["remove", "guards"]).status, 1);
}

#[test]
fn a_pack_that_changed_on_disk_does_not_run_and_blocks() {
    let project = Project::new();
    template(&project, "guards");
    assert_eq!(run(&project, &["add", "./guards", "--yes"]).status, 0);
    let [copy] = copies(&project, "guards").try_into().unwrap();
    for (file, text) in [
        ("scripts/writes.sh", "exit 0\n"),
        ("hooks/hooks.json", "{}"),
        ("rules/guards.toml", "[[rule]]\nid = \"x\"\nread = [\"never\"]\nask = \"x\"\n"),
    ] {
        edit(&copy.join(file), text);
        assert_eq!(of_command(&project, "ls"), "block", "{file}");
        let checked = run(&project, &["check"]);
        assert_eq!(checked.status, 1, "{file}: {checked:?}");
        assert!(checked.stdout.contains("pack-changed"), "{file}: {checked:?}");
        let restored = run(&project, &["add"]);
        assert_eq!(restored.status, 0, "{file}: {restored:?}");
        assert_eq!(of_command(&project, "ls"), "proceed", "{file}");
    }
    fs::rename(&copy, project.home().join("elsewhere")).unwrap();
    assert_eq!(of_command(&project, "ls"), "block");
    assert!(run(&project, &["packs"]).stdout.contains("changed or gone"));
}

#[test]
fn a_lock_that_cannot_be_read_blocks() {
    let project = Project::new();
    for text in ["{", r#"{"packs": {"../x": {"source": "s", "digest": "d", "added": "now"}}}"#] {
        project.write(".hooks/packs.lock", text);
        assert_eq!(of_command(&project, "ls"), "block", "{text}");
        assert_eq!(run(&project, &["check"]).status, 1, "{text}");
        assert_eq!(run(&project, &["trust", "--check"]).status, 1, "{text}");
    }
}

#[test]
fn a_forged_lock_adds_nothing_and_takes_nothing_out() {
    let project = Project::new();
    template(&project, "guards");
    assert_eq!(run(&project, &["add", "./guards", "--shared", "--yes"]).status, 0);
    let real = lock(&project)["packs"]["guards"].clone();
    let mut forged = real.clone();
    forged["digest"] = json!("0".repeat(64));
    forged["guards"] = json!([]);
    let of_hook = json!({ "source": "built-in", "digest": real["digest"], "added": "now" });
    for (name, locked) in
        [("guards", forged), ("git-safety", real.clone()), ("guards", of_hook.clone())]
    {
        let text = json!({ "packs": { name: locked } }).to_string();
        project.write(".hooks/packs.lock", &text);
        assert_eq!(of_write(&project), "block", "{text}");
        let added = run(&project, &["add", "--yes"]);
        if locked["digest"] != real["digest"] || name != "guards" {
            assert_eq!(added.status, 1, "{text}: {added:?}");
        }
        assert!(copies(&project, "git-safety").is_empty(), "{text}");
        assert_eq!(of_write(&project), "block", "{text}");
    }
}

#[test]
fn a_pack_that_no_lock_names_any_more_is_said() {
    let project = Project::new();
    assert_eq!(run(&project, &["add", "git-safety"]).status, 0);
    let checked = run(&project, &["check"]);
    assert!(!checked.stdout.contains("git-safety"), "{checked:?}");
    fs::remove_file(project.home().join(".config/hooks/packs.lock")).unwrap();
    for command in ["check", "doctor"] {
        let shown = run(&project, &[command]);
        assert!(shown.stdout.contains("the pack git-safety was added"), "{shown:?}");
    }
    assert_eq!(run(&project, &["remove", "git-safety"]).status, 0);
    let checked = run(&project, &["check"]);
    assert!(!checked.stdout.contains("git-safety"), "{checked:?}");
    assert_eq!(run(&project, &["remove", "git-safety"]).status, 1);
}

#[test]
fn packs_are_listed_with_what_they_refused() {
    let project = Project::new();
    run(&project, &["add", "git-safety", "secrets"]);
    for command in ["git reset --hard", "git push --force", "git status", "cat .env"] {
        let event = json!({
            "hook_event_name": "PreToolUse", "session_id": "s", "cwd": project.path(),
            "tool_name": "Bash", "tool_input": { "command": command },
        });
        Hook::new(&project, &["bridge", "claude", "PreToolUse"]).stdin(event.to_string()).run();
    }
    let listed = run(&project, &["packs", "--json"]).lines()[0]["packs"].clone();
    let refusals = |name: &str| {
        let packs = listed.as_array().unwrap();
        packs.iter().find(|pack| pack["pack"] == name).unwrap()["refusals"].clone()
    };
    assert_eq!(refusals("git-safety"), 2, "{listed}");
    assert_eq!(refusals("secrets"), 1, "{listed}");
    assert_eq!(refusals("cloud"), 0, "{listed}");
    let listed = run(&project, &["packs"]);
    assert!(listed.stdout.contains("refused or asked 2 times, last on 20"), "{listed:?}");
}

#[test]
fn colleagues_get_the_same_bytes_from_a_lock() {
    let project = Project::new();
    let (repository, url) = repository(&project);
    let added = run(&project, &["add", &format!("{url}@v1"), "--shared", "--yes"]);
    assert_eq!(added.status, 0, "{added:?}");
    let first = lock(&project)["packs"]["guards"].clone();
    assert_eq!(first["source"], format!("{url}@v1"));
    assert_eq!(first["guards"], json!(["BeforeTool"]));

    let colleague = Project::new();
    colleague.write(".hooks/packs.lock", &project.read(".hooks/packs.lock"));
    assert_eq!(of_write(&colleague), "proceed");
    let fired = run(&colleague, &["fire", "SessionEnd", "--json"]);
    let warnings = fired.lines()[0]["warnings"].to_string();
    assert!(warnings.contains("`hook add` shows what it does"), "{fired:?}");
    assert_eq!(run(&colleague, &["trust", "--check"]).status, 1);
    assert_eq!(run(&colleague, &["add"]).status, 1);

    // Tag and branch have moved meanwhile; the commit is what counts.
    fs::write(repository.join("README.md"), "new\n").unwrap();
    commit(&repository, "v1");
    let added = run(&colleague, &["add", "--yes"]);
    assert_eq!(added.status, 0, "{added:?}");
    assert_eq!(of_write(&colleague), "block");
    assert_eq!(run(&colleague, &["trust", "--check"]).status, 0);
    let names = |project: &Project| copies(project, "guards")[0].file_name().unwrap().to_owned();
    assert_eq!(names(&project), names(&colleague));

    // A branch that was forced, and a commit that nothing has any more: the digest wins.
    let stranger = Project::new();
    stranger.write(".hooks/packs.lock", &project.read(".hooks/packs.lock"));
    fs::write(repository.join("README.md"), "newer\n").unwrap();
    git(&repository, &["add", "--all"]);
    git(&repository, &["commit", "--quiet", "--amend", "--message", "y"]);
    git(&repository, &["update-ref", "-d", "refs/tags/v1"]);
    git(&repository, &["checkout", "--quiet", "--orphan", "other"]);
    git(&repository, &["commit", "--quiet", "--message", "z"]);
    git(&repository, &["branch", "-D", "main"]);
    git(&repository, &["tag", "--force", "v1"]);
    git(&repository, &["reflog", "expire", "--expire=now", "--all"]);
    git(&repository, &["gc", "--quiet", "--prune=now"]);
    let refused = run(&stranger, &["add", "--yes"]);
    assert_eq!(refused.status, 1, "{refused:?}");
    assert!(refused.stderr.contains("the lock counts"), "{refused:?}");
    assert!(copies(&stranger, "guards").is_empty());
}

#[test]
fn an_update_shows_the_difference_and_asks() {
    let project = Project::new();
    let (repository, url) = repository(&project);
    assert_eq!(run(&project, &["add", &format!("{url}@v1"), "--yes"]).status, 0);
    let same = run(&project, &["update"]);
    assert_eq!(same.status, 0, "{same:?}");
    assert!(same.stdout.contains("up to date"), "{same:?}");
    let rules = repository.join("rules/guards.toml");
    let text = fs::read_to_string(&rules).unwrap();
    fs::write(&rules, text.replace("deny =", "ask =").replace("\"deny\"", "\"ask\"")).unwrap();
    fs::write(repository.join("scripts/new.sh"), "#!/bin/sh\n").unwrap();
    commit(&repository, "v1");
    let shown = run(&project, &["update"]);
    assert_eq!(shown.status, 1, "{shown:?}");
    for part in
        ["-deny = ", "+ask = ", "guards.toml:deploy is gone, or does less", "scripts/new.sh"]
    {
        assert!(shown.stdout.contains(part), "{part}: {shown:?}");
    }
    assert!(shown.stderr.contains("by now"), "the moved tag: {shown:?}");
    assert_eq!(of_command(&project, "make deploy"), "block");
    assert_eq!(run(&project, &["update", "guards", "--yes"]).status, 0);
    assert_eq!(of_command(&project, "make deploy"), "ask");
    assert_eq!(copies(&project, "guards").len(), 1, "the old copy is removed");
}

#[test]
fn what_a_user_agreed_to_in_a_project_holds_until_they_agree_to_less() {
    let project = Project::new();
    template(&project, "guards");
    assert_eq!(run(&project, &["add", "./guards", "--shared", "--yes"]).status, 0);
    let text = project.read(".hooks/packs.lock");
    fs::remove_file(project.path().join(".hooks/packs.lock")).unwrap();
    assert_eq!(of_write(&project), "block");
    project.write(".hooks/packs.lock", &text);
    assert_eq!(run(&project, &["remove", "guards", "--shared"]).status, 0);
    assert_eq!(of_write(&project), "proceed");
}

#[test]
fn a_rule_of_a_project_that_was_agreed_to_is_taken_out_only_after_a_yes() {
    let project = Project::new();
    let rule = "[[rule]]\nid = \"deploy\"\nshell = { program = \"make\", args = [\"deploy\"] }\n";
    let file = ".hooks/rules/team.toml";
    project.write(file, &format!("{rule}deny = \"no\"\n"));
    assert_eq!(run(&project, &["trust"]).status, 0);
    for weaker in [
        format!("{rule}ask = \"no\"\n"),
        "[[rule]]\nid = \"x\"\nread = [\"x\"]\nask = \"x\"\n".to_owned(),
    ] {
        project.write(file, &weaker);
        assert_eq!(of_command(&project, "make deploy"), "block", "{weaker}");
        let asked = run(&project, &["trust"]);
        assert_eq!(asked.status, 1, "{asked:?}");
        assert!(asked.stderr.contains("team.toml:deploy"), "{asked:?}");
    }
    fs::remove_dir_all(project.path().join(".hooks/rules")).unwrap();
    assert_eq!(of_command(&project, "make deploy"), "block");
    assert_eq!(run(&project, &["trust", "--yes"]).status, 0);
    assert_eq!(of_command(&project, "make deploy"), "proceed");
}

#[test]
fn only_the_name_of_a_pack_is_removed() {
    let project = Project::new();
    template(&project, "guards");
    assert_eq!(run(&project, &["add", "./guards", "--yes"]).status, 0);
    project.write(".hooks/rules/team.toml", NO_DEPLOYS);
    assert_eq!(run(&project, &["trust", "--yes"]).status, 0);
    let data = project.home().join(".local/share/hook");
    let digest = "a".repeat(64);
    for kept in [format!("trusted/{digest}/file"), "trusted/cache/file".to_owned()] {
        fs::create_dir_all(data.join(&kept)).unwrap();
    }
    let absolute = data.join("trusted").display().to_string();
    for name in ["../trusted", &absolute, "../../..", ".rules", "other", ""] {
        for shared in [&[][..], &["--shared"]] {
            let removed = run(&project, &[&["remove", name], shared].concat());
            assert_eq!(removed.status, 1, "{name}: {removed:?}");
        }
    }
    assert!(data.join("trusted").join(&digest).join("file").is_dir());
    assert!(data.join("trusted/cache/file").is_dir());
    assert_eq!(copies(&project, "guards").len(), 1);
    // The rules that were agreed to are taken out by `hook trust` alone.
    project.write(".hooks/rules/team.toml", WEAKER);
    assert_eq!(of_command(&project, "make deploy"), "block");
}

#[test]
fn what_was_agreed_to_around_a_project_holds_when_its_folder_is_gone() {
    let project = Project::new();
    template(&project, "guards");
    assert_eq!(run(&project, &["add", "./guards", "--shared", "--yes"]).status, 0);
    fs::create_dir_all(project.path().join("inner")).unwrap();
    let fired = || {
        let input = json!({ "tool_input": { "command": "make deploy" } }).to_string();
        let hook = Hook::new(&project, &["fire", "BeforeTool", "--json", "--input", &input]);
        hook.directory("inner").run().lines()[0]["processed"]["decision"].clone()
    };
    assert_eq!(fired(), "block");
    fs::remove_dir_all(project.path().join(".hooks")).unwrap();
    assert_eq!(fired(), "block");
}

#[test]
fn a_changed_pack_blocks_each_event_of_its_rules_and_guards() {
    let project = Project::new();
    let folder = template(&project, "guards");
    edit(
        &folder.join("rules/guards.toml"),
        "[[rule]]\nid = \"p\"\nprompt = \"secret\"\ndeny = \"no\"\n[[rule.test]]\nprompt = \"secret\"\nexpect = \"deny\"\n",
    );
    fs::remove_dir_all(folder.join("tests")).unwrap();
    let added = run(&project, &["add", "./guards", "--yes"]);
    assert_eq!(added.status, 0, "{added:?}");
    let of_prompt = || {
        let fired =
            run(&project, &["fire", "BeforeAgent", "--json", "--input", r#"{"prompt": "hello"}"#]);
        fired.lines()[0]["processed"]["decision"].as_str().unwrap().to_owned()
    };
    assert_eq!(of_prompt(), "proceed");
    let [copy] = copies(&project, "guards").try_into().unwrap();
    edit(&copy.join("rules/guards.toml"), "");
    assert_eq!(of_prompt(), "block");
}

#[test]
fn a_pack_of_another_place_is_no_update() {
    let project = Project::new();
    for (folder, name) in [("a@1", "first"), ("a@2", "second")] {
        let of = project.path().join(folder);
        fs::create_dir_all(&of).unwrap();
        fs::rename(template(&project, "guards"), of.join("guards")).unwrap();
        edit(&of.join("guards/README.md"), name);
    }
    assert_eq!(run(&project, &["add", "./a@1/guards", "--yes"]).status, 0);
    let other = run(&project, &["add", "./a@2/guards", "--yes"]);
    assert_eq!(other.status, 1, "{other:?}");
    assert!(other.stderr.contains("there is a pack guards already"), "{other:?}");
}

#[test]
fn a_yes_to_one_hook_is_none_to_rules_that_are_gone() {
    let project = Project::new();
    project.write(".hooks/rules/team.toml", NO_DEPLOYS);
    project.write(".hooks/hooks/guard.sh", "#!/bin/sh\n");
    project.write(
        ".hooks/settings.json",
        r#"{"hooks": {"BeforeTool": [{"hooks": [{"type": "command", "name": "guard",
            "command": "sh \"$HOOK_DIR\"/hooks/guard.sh"}]}]}}"#,
    );
    assert_eq!(run(&project, &["trust", "--yes"]).status, 0);
    project.write(".hooks/rules/team.toml", WEAKER);
    let _ = run(&project, &["trust", "guard", "--yes"]);
    assert_eq!(of_command(&project, "make deploy"), "block");
    // What was agreed to is not known where its copy is gone, and a run that asks no one agrees to nothing.
    let [copy] = copies(&project, ".rules").try_into().unwrap();
    fs::remove_dir_all(copy).unwrap();
    let asked = run(&project, &["trust"]);
    assert_eq!(asked.status, 1, "{asked:?}");
    assert!(asked.stderr.contains("whose copy is gone or changed"), "{asked:?}");
    assert_eq!(of_command(&project, "ls"), "block");
    assert_eq!(run(&project, &["trust", "--yes"]).status, 0);
    assert_eq!(of_command(&project, "ls"), "proceed");
}

#[cfg(unix)]
#[test]
fn rules_that_cannot_be_copied_keep_no_hook_from_being_trusted() {
    let project = Project::new();
    let shared = project.home().join("team.toml");
    fs::write(&shared, NO_DEPLOYS).unwrap();
    fs::create_dir_all(project.path().join(".hooks/rules")).unwrap();
    std::os::unix::fs::symlink(&shared, project.path().join(".hooks/rules/team.toml")).unwrap();
    project.write(
        ".hooks/settings.json",
        r#"{"hooks": {"BeforeTool": [{"hooks": [{"type": "command", "name": "guard", "command": "exit 2"}]}]}}"#,
    );
    let trusted = run(&project, &["trust", "--yes", "--opaque"]);
    assert_eq!(trusted.status, 1, "{trusted:?}");
    assert_eq!(of_command(&project, "ls"), "block");
    assert!(trusted.stdout.contains("trusted guard"), "{trusted:?}");
}

#[test]
fn a_pack_starts_no_file_of_the_project() {
    let project = Project::new();
    let pack = template(&project, "guards");
    assert_eq!(run(&project, &["add", "./guards", "--yes"]).status, 0);
    let lock = project.home().join(".config/hooks/packs.lock");
    let locked = fs::read_to_string(&lock).unwrap();
    let [good] = copies(&project, "guards").try_into().unwrap();
    let digest_of_good = good.file_name().unwrap().to_str().unwrap().to_owned();
    project.write("scripts/check.sh", "exit 0\n");
    fs::write(pack.join("scripts/check.sh"), "exit 2\n").unwrap();
    for command in [
        "bash scripts/check.sh",
        "scripts/check.sh",
        "true; timeout 5 ./scripts/check.sh",
        "bash \"$HOOK_PROJECT_DIR\"/scripts/check.sh",
        "sh $PWD/scripts/check.sh",
        "bash -l scripts/check.sh",
    ] {
        let hooks = json!({"hooks": {"BeforeTool": [{"hooks": [{"type": "command", "name": "guard",
            "command": command, "failBehavior": "block"}]}]}});
        fs::write(pack.join("hooks/hooks.json"), hooks.to_string()).unwrap();
        let checked = run(&project, &["pack", "check", "guards", "--json"]);
        assert_eq!(checked.status, 1, "{command}: {checked:?}");
        let why = "`scripts/check.sh` is a file of the project";
        assert!(checked.stderr.contains(why), "{command}: {checked:?}");
        // One that an earlier version added does not run, either.
        let checked = checked.lines();
        let digest = checked[0]["digest"].as_str().unwrap();
        let copied =
            Command::new("cp").arg("-R").arg(&pack).arg(good.with_file_name(digest)).status();
        assert!(copied.unwrap().success());
        fs::write(&lock, locked.replace(&digest_of_good, digest)).unwrap();
        let fired = fire(&project, &json!({"command": "ls"}));
        assert_eq!(fired["decision"], "block", "{command}: {fired}");
        assert!(fired["reason"].to_string().contains(why), "{command}: {fired}");
    }
    let hooks = json!({"hooks": {"BeforeTool": [{"hooks": [{"type": "command", "name": "guard",
        "command": "sh \"$HOOK_DIR\"/scripts/check.sh \"$HOOK_PROJECT_DIR\"/scripts/check.sh"}]}]}});
    fs::write(pack.join("hooks/hooks.json"), hooks.to_string()).unwrap();
    let checked = run(&project, &["pack", "check", "guards"]);
    assert!(!checked.stderr.contains("is a file of the project"), "{checked:?}");
}

#[test]
fn what_cannot_be_a_pack_is_refused_with_the_reason() {
    let project = Project::new();
    type Break = fn(&Path);
    let cases: [(&str, Break); 8] = [
        (".plugin/plugin.json", |pack| fs::remove_file(pack.join(".plugin/plugin.json")).unwrap()),
        ("leads out of its folder", |pack| {
            std::os::unix::fs::symlink("/etc/passwd", pack.join("link")).unwrap();
        }),
        ("needs hook", |pack| {
            let manifest = r#"{"name": "guards", "engines": {"hook": ">=99.0.0"}}"#;
            fs::write(pack.join(".plugin/plugin.json"), manifest).unwrap();
        }),
        ("no name of a pack", |pack| {
            fs::write(pack.join(".plugin/plugin.json"), r#"{"name": "../guards"}"#).unwrap();
        }),
        ("part of hook", |pack| {
            fs::write(pack.join(".plugin/plugin.json"), r#"{"name": "secrets"}"#).unwrap();
        }),
        ("is expected", |pack| {
            let rules = pack.join("rules/guards.toml");
            let text = fs::read_to_string(&rules).unwrap();
            fs::write(&rules, text.replace("expect = \"pass\"", "expect = \"deny\"")).unwrap();
        }),
        ("the tests of the pack guards failed", |pack| {
            fs::write(pack.join("scripts/writes.sh"), "exit 0\n").unwrap();
        }),
        ("more than 2000 files", |pack| {
            (0..2_001).for_each(|index| fs::write(pack.join(format!("f{index}.sh")), "").unwrap());
        }),
    ];
    for (message, break_pack) in cases {
        let pack = template(&project, "guards");
        break_pack(&pack);
        let refused = run(&project, &["add", "./guards", "--yes"]);
        assert_eq!(refused.status, 1, "{message}: {refused:?}");
        assert!(refused.stderr.contains(message), "{message}: {refused:?}");
        assert!(copies(&project, "guards").is_empty(), "{message}");
        assert!(!project.home().join(".config/hooks/packs.lock").exists(), "{message}");
        fs::remove_dir_all(&pack).unwrap();
    }
}

#[test]
fn a_name_that_is_taken_is_refused() {
    let project = Project::new();
    let first = template(&project, "guards");
    assert_eq!(run(&project, &["add", "./guards", "--yes"]).status, 0);
    fs::rename(&first, project.path().join("others")).unwrap();
    let refused = run(&project, &["add", "./others", "--yes"]);
    assert_eq!(refused.status, 1, "{refused:?}");
    assert!(refused.stderr.contains("already"), "{refused:?}");
}

#[test]
fn sources_that_are_none_are_refused() {
    let project = Project::new();
    for (source, status, message) in [
        ("http://example.com/x", 64, "https, ssh or file"),
        ("ext::sh -c touch% made", 64, "there is no pack"),
        ("ext://sh", 64, "https, ssh or file"),
        ("github:one", 64, "github:OWNER/NAME"),
        ("https://git.example/x@--upload-pack=touch", 64, "no tag and no commit"),
        ("./nothing", 1, "no folder"),
        ("file:///nothing/there@v1", 1, "failed to fetch"),
        ("http://127.0.0.1:9/x", 1, "failed to fetch"),
    ] {
        let refused = run(&project, &["add", source, "--yes"]);
        assert_eq!(refused.status, status, "{source}: {refused:?}");
        assert!(refused.stderr.contains(message), "{source}: {refused:?}");
    }
    assert!(!project.path().join("made").exists());
}

#[test]
fn a_repository_s_hooks_filters_and_submodules_are_not_used() {
    let project = Project::new();
    let (repository, url) = repository(&project);
    let made = project.home().join("made");
    let program = project.home().join("filter.sh");
    fs::write(&program, format!("touch {}\ncat\n", made.display())).unwrap();
    fs::write(repository.join(".gitattributes"), "*.md filter=evil\n").unwrap();
    git(&repository, &["config", "filter.evil.smudge", &format!("sh {}", program.display())]);
    let config = project.home().join(".gitconfig");
    fs::write(&config, format!("[filter \"evil\"]\n\tsmudge = sh {}\n", program.display()))
        .unwrap();
    let hook = repository.join(".git/hooks/post-checkout");
    fs::write(&hook, format!("#!/bin/sh\ntouch {}\n", made.display())).unwrap();
    commit(&repository, "v2");
    let submodule = format!("160000,{},sub", "1".repeat(40));
    git(&repository, &["update-index", "--add", "--cacheinfo", &submodule]);
    git(&repository, &["commit", "--quiet", "--message", "y"]);
    let head = git(&repository, &["rev-parse", "HEAD"]);
    let added = run(&project, &["add", &format!("{url}@{head}"), "--yes"]);
    assert_eq!(added.status, 0, "{added:?}");
    assert!(added.stderr.contains("sub is a repository of its own"), "{added:?}");
    assert!(!made.exists());
}

#[test]
fn a_repository_that_is_too_large_is_not_fetched() {
    let project = Project::new();
    let (repository, url) = repository(&project);
    // What no compression makes smaller.
    let noise = Command::new("head").args(["-c", "90M", "/dev/urandom"]).output().unwrap().stdout;
    fs::write(repository.join("large.bin"), noise).unwrap();
    commit(&repository, "v2");
    let refused = run(&project, &["add", &format!("{url}@v2"), "--yes"]);
    assert_eq!(refused.status, 1, "{refused:?}");
    assert!(refused.stderr.contains("64 MiB"), "{refused:?}");
}

#[test]
fn names_come_from_an_index() {
    let project = Project::new();
    let (_, url) = repository(&project);
    let index = project.home().join("index");
    fs::create_dir(&index).unwrap();
    fs::write(index.join("packs.json"), json!({ "team": format!("{url}@v1") }).to_string())
        .unwrap();
    let add = |name: &str| {
        Hook::new(&project, &["add", name, "--yes"])
            .env("HOOK_INDEX", index.to_str().unwrap())
            .run()
    };
    assert_eq!(add("other").status, 64);
    let added = add("team");
    assert_eq!(added.status, 0, "{added:?}");
    assert_eq!(of_write(&project), "block");
}

/// As `/tmp` is on most machines: all users write to it, and no one removes another's files.
#[test]
fn a_pack_is_checked_where_all_users_have_temporary_files() {
    let project = Project::new();
    template(&project, "guards");
    let temporary = project.home().join("tmp");
    fs::create_dir(&temporary).unwrap();
    for (mode, status) in [(0o1777, 0), (0o777, 1)] {
        let permissions = std::os::unix::fs::PermissionsExt::from_mode(mode);
        fs::set_permissions(&temporary, permissions).unwrap();
        let checked = Hook::new(&project, &["pack", "check", "guards"])
            .env("TMPDIR", temporary.to_str().unwrap())
            .run();
        assert_eq!(checked.status, status, "{mode:o}: {checked:?}");
    }
}

#[test]
fn a_kill_leaves_the_old_or_the_new_state() {
    let project = Project::new();
    let pack = template(&project, "guards");
    assert_eq!(run(&project, &["add", "./guards", "--yes"]).status, 0);
    for round in 0..12_u64 {
        fs::write(pack.join("README.md"), format!("{round}\n")).unwrap();
        let mut child = project
            .command(hook_binary())
            .args(["update", "--yes"])
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        std::thread::sleep(std::time::Duration::from_millis(round * 12));
        child.kill().unwrap();
        child.wait().unwrap();
        assert_eq!(of_write(&project), "block", "{round}");
        assert_eq!(of_command(&project, "ls"), "proceed", "{round}");
    }
    assert_eq!(run(&project, &["update", "--yes"]).status, 0);
    assert_eq!(copies(&project, "guards").len(), 1);
}

#[test]
fn format_on_edit_uses_the_formatter_of_the_project() {
    let project = Project::new();
    let script = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../crates/hook-rules/packs/format-on-edit/scripts/format.sh"
    );
    let programs = project.home().join("programs");
    fs::create_dir_all(&programs).unwrap();
    let program = |path: &Path, name: &str| {
        let text = format!("#!/bin/sh\nfor last; do :; done\necho {name} >> \"$last\"\n");
        fs::create_dir_all(path).unwrap();
        fs::write(path.join(name), text).unwrap();
        let permissions = std::os::unix::fs::PermissionsExt::from_mode(0o755);
        fs::set_permissions(path.join(name), permissions).unwrap();
    };
    for name in [
        "rustfmt",
        "gofmt",
        "ruff",
        "black",
        "biome",
        "deno",
        "prettier",
        "clang-format",
        "shfmt",
        "nixfmt",
    ] {
        program(&programs, name);
    }
    let path = format!("{}:/usr/bin:/bin", programs.display());
    // Settings, the file that was written, and who formats it.
    for (settings, content, file, formatter) in [
        ("Cargo.toml", "edition = \"2024\"", "src/a.rs", "rustfmt"),
        ("none", "", "src/a.rs", ""),
        ("none", "", "a.go", "gofmt"),
        ("none", "", "vendor/a.go", ""),
        ("pyproject.toml", "[tool.ruff]", "a.py", "ruff"),
        ("pyproject.toml", "[tool.black]", "deep/er/a.py", "black"),
        ("pyproject.toml", "[tool.ruff.lint]", "a.pyi", "ruff"),
        ("ruff.toml", "", "a.py", "ruff"),
        ("none", "", "a.py", ""),
        ("biome.json", "{}", "a.ts", "biome"),
        ("deno.json", "{}", "a.tsx", "deno"),
        (".prettierrc", "", "a.css", "prettier"),
        ("package.json", "{\"prettier\": {}}", "web/a.md", "prettier"),
        ("package.json", "{}", "a.js", ""),
        ("prettier.config.mjs", "", "a.yaml", "prettier"),
        ("prettier.config.mjs", "", "node_modules/x/a.js", ""),
        (".clang-format", "", "a.cpp", "clang-format"),
        ("none", "", "a.c", ""),
        (".editorconfig", "", "a.sh", "shfmt"),
        ("none", "", "a.sh", ""),
        ("none", "", "a.nix", "nixfmt"),
        ("none", "", "a.txt", ""),
    ] {
        let folder = project.home().join("work");
        let _ = fs::remove_dir_all(&folder);
        let written = folder.join(file);
        fs::create_dir_all(written.parent().unwrap()).unwrap();
        fs::write(folder.join(settings), content).unwrap();
        fs::write(&written, "x\n").unwrap();
        let input = json!({ "files": [{ "path": written, "access": "write" }, { "path": "/etc/hosts", "access": "write" }] });
        let input_file = project.home().join("input.json");
        fs::write(&input_file, input.to_string()).unwrap();
        let output = Command::new("sh")
            .arg(script)
            .stdin(fs::File::open(&input_file).unwrap())
            .env("PATH", &path)
            .env("HOOK_PROJECT_DIR", &folder)
            .output()
            .unwrap();
        let expected =
            if formatter.is_empty() { "x\n".to_owned() } else { format!("x\n{formatter}\n") };
        assert_eq!(
            fs::read_to_string(&written).unwrap(),
            expected,
            "{settings} {file}: {output:?}"
        );
        let told = String::from_utf8(output.stdout).unwrap();
        assert_eq!(told.contains(file), !formatter.is_empty(), "{settings} {file}: {told}");
        if !formatter.is_empty() {
            serde_json::from_str::<Value>(&told).unwrap();
        }
    }
    // One in the project's own packages goes before one on PATH.
    let folder = project.home().join("work");
    program(&folder.join("node_modules/.bin"), "prettier");
    fs::write(folder.join(".prettierrc"), "").unwrap();
}

#[test]
fn the_packs_with_hooks_are_added_and_run() {
    let project = Project::new();
    let added = run(&project, &["add", "format-on-edit", "notify"]);
    assert_eq!(added.status, 0, "{added:?}");
    let terminal = project.home().join("terminal");
    fs::write(&terminal, "").unwrap();
    let fired = Hook::new(&project, &["fire", "Notification"])
        .env("HOOK_NOTIFY_TTY", terminal.to_str().unwrap())
        .run();
    assert_eq!(fired.status, 0, "{fired:?}");
    let listed = run(&project, &["list", "--json"]).stdout;
    for name in ["format-on-edit", "notify-waiting", "notify-done"] {
        assert!(listed.contains(name), "{name}: {listed}");
    }
    project.write("a.go", "x\n");
    let fired = run(
        &project,
        &[
            "fire",
            "AfterTool",
            "--tool",
            "write_file",
            "--input",
            r#"{"tool_input": {"file_path": "a.go"}, "tool_response": "ok"}"#,
        ],
    );
    assert_eq!(fired.status, 0, "{fired:?}");
}

/// Serves the repositories in a folder over http on this machine, each request by `git http-backend`.
/// Returns the URL.
fn serve(root: PathBuf) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            // A client may be gone meanwhile.
            let _ = answer(stream, &root);
        }
    });
    url
}

/// Answers a request, as a server does that calls a program of CGI.
fn answer(mut stream: TcpStream, root: &Path) -> std::io::Result<()> {
    let mut reader = BufReader::new(stream.try_clone()?);
    let mut line = String::new();
    reader.read_line(&mut line)?;
    let mut words = line.split(' ');
    let (method, target) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
    let (path, query) = target.split_once('?').unwrap_or((target, ""));
    let mut backend = Command::new("git");
    backend
        .arg("http-backend")
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .env("GIT_PROJECT_ROOT", root)
        .env("GIT_HTTP_EXPORT_ALL", "1")
        .env("REQUEST_METHOD", method)
        .env("PATH_INFO", path)
        .env("QUERY_STRING", query);
    let mut length = 0;
    loop {
        let mut header = String::new();
        reader.read_line(&mut header)?;
        let Some((name, value)) = header.trim().split_once(": ") else { break };
        match &*name.to_lowercase() {
            "content-length" => length = value.parse().unwrap(),
            "content-type" => _ = backend.env("CONTENT_TYPE", value),
            "content-encoding" => _ = backend.env("HTTP_CONTENT_ENCODING", value),
            "git-protocol" => _ = backend.env("GIT_PROTOCOL", value),
            _ => {}
        }
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body)?;
    backend.env("CONTENT_LENGTH", length.to_string());
    let mut child = backend.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
    child.stdin.take().unwrap().write_all(&body)?;
    let output = child.wait_with_output()?.stdout;
    let status = output.strip_prefix(b"Status: ").map_or(&b"200 OK"[..], |rest| {
        rest.split(|byte| *byte == b'\r').next().unwrap_or_default()
    });
    stream.write_all(&[b"HTTP/1.1 ", status, b"\r\nConnection: close\r\n"].concat())?;
    stream.write_all(&output)
}

#[test]
fn a_server_on_this_machine_gives_tags_and_commits_and_what_moved_is_shown() {
    let project = Project::new();
    let (repository, _) = repository(&project);
    let first = git(&repository, &["rev-parse", "HEAD"]);
    let url = format!("{}/guards-repository/.git", serve(project.home()));
    let added = run(&project, &["add", &format!("{url}@v1"), "--shared", "--yes"]);
    assert_eq!(added.status, 0, "{added:?}");
    assert_eq!(lock(&project)["packs"]["guards"]["commit"], first);

    let by_commit = Project::new();
    let added = run(&by_commit, &["add", &format!("{url}@{first}"), "--yes"]);
    assert_eq!(added.status, 0, "{added:?}");
    assert_eq!(of_write(&by_commit), "block");

    // The tag moves: the lock's commit counts, and an update shows the move.
    fs::write(repository.join("README.md"), "new\n").unwrap();
    let second = commit(&repository, "v1");
    let colleague = Project::new();
    colleague.write(".hooks/packs.lock", &project.read(".hooks/packs.lock"));
    let added = run(&colleague, &["add", "--yes"]);
    assert_eq!(added.status, 0, "{added:?}");
    assert_eq!(lock(&colleague), lock(&project));
    let shown = run(&project, &["update", "--shared"]);
    assert_eq!(shown.status, 1, "{shown:?}");
    assert!(shown.stderr.contains(&second), "{shown:?}");

    // The branch is forced, and nothing has the commit any more.
    git(&repository, &["checkout", "--quiet", "--orphan", "other"]);
    git(&repository, &["commit", "--quiet", "--message", "z"]);
    git(&repository, &["branch", "-D", "main"]);
    git(&repository, &["tag", "--force", "v1"]);
    git(&repository, &["reflog", "expire", "--expire=now", "--all"]);
    git(&repository, &["gc", "--quiet", "--prune=now"]);
    let stranger = Project::new();
    stranger.write(".hooks/packs.lock", &project.read(".hooks/packs.lock"));
    let refused = run(&stranger, &["add", "--yes"]);
    assert_eq!(refused.status, 1, "{refused:?}");
    assert!(refused.stderr.contains(&first), "{refused:?}");
    assert!(copies(&stranger, "guards").is_empty());
}

#[test]
fn ssh_is_the_user_s_program_and_not_one_of_a_variable() {
    let project = Project::new();
    let (repository, _) = repository(&project);
    let made = project.home().join("made");
    let programs = project.home().join("programs");
    fs::create_dir(&programs).unwrap();
    let ssh = programs.join("ssh");
    let add = |script: &str| {
        fs::write(&ssh, script).unwrap();
        let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
        fs::set_permissions(&ssh, mode).unwrap();
        let path = format!("{}:{}", programs.display(), std::env::var("PATH").unwrap());
        let url = format!("ssh://git.example{}@v1", repository.display());
        Hook::new(&project, &["add", &url, "--yes"])
            .env("PATH", &path)
            .env("GIT_SSH_COMMAND", &format!("touch {}", made.display()))
            .env("GIT_SSH", "/nothing/there")
            .run()
    };
    let refused = add("#!/bin/sh\necho 'Host key verification failed.' >&2\nexit 255\n");
    assert_eq!(refused.status, 1, "{refused:?}");
    assert!(refused.stderr.contains("Host key verification failed"), "{refused:?}");
    // The last argument is the command of the other machine.
    let added = add("#!/bin/sh\nfor command; do :; done\nexec sh -c \"$command\"\n");
    assert_eq!(added.status, 0, "{added:?}");
    assert!(!made.exists());
    assert_eq!(of_write(&project), "block");
}

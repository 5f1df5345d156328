//! `hook doctor`.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};

use hook_tests::{Hook, Project, workspace};
use serde_json::json;

/// A project whose PATH has a shell, and what else is named.
fn project(programs: &[&str]) -> Project {
    let project = Project::new();
    for name in programs {
        let folder = project.home().join("bin");
        fs::create_dir_all(&folder).unwrap();
        symlink("/bin/bash", folder.join(name)).unwrap();
    }
    project
}

fn doctor(project: &Project, arguments: &[&str]) -> hook_tests::Finished {
    let path = project.home().join("bin");
    let mut finished = Hook::new(project, &[&["doctor"], arguments].concat())
        .env("PATH", &path.display().to_string())
        .run();
    // Not the same for everybody who runs the tests.
    let binary = hook_tests::hook_binary().display().to_string();
    finished.stdout = finished.stdout.replace(&binary, "/bin/hook");
    finished
}

fn settings(command: &str) -> String {
    json!({"hooks": {"BeforeTool": [{"hooks": [
        {"type": "command", "name": "guard", "command": command}]}]}})
    .to_string()
}

#[test]
fn a_healthy_home_is_said_to_be_one() {
    let project = project(&["bash", "sh", "python3"]);
    let finished = doctor(&project, &[]);
    insta::assert_snapshot!(finished.shown(&project), @"
    status: 0
    ----- stdout -----
    Shells and interpreters
      ✓ shell: [HOME]/bin/bash, which runs the commands of hooks
      ✓ sh: [HOME]/bin/sh
      ✓ python3: [HOME]/bin/python3
      - node: not in PATH; hooks written in it would fail

    Settings, in run order
      - project [PROJECT]/.hooks/settings.json: not there
      - user [HOME]/.config/hooks/settings.json: not there
      - system /etc/hooks/settings.json: not there

    Trust
      - trust store [HOME]/.config/hooks/trust.json: not there yet; `hook trust` makes it

    Duplicates
      no hook is defined twice

    Hooks of other agents
      none found

    Agents that ask
      none is connected; `hook connect` does it

    Installation
      ✓ hook 0.1.0: /bin/hook, installed from an archive; to update: run install.sh of the newer version

    there are no hooks; `hook init` writes a first guard
    ----- stderr -----
    ");
}

#[test]
fn what_is_not_as_it_should_be_is_said_with_its_cure() {
    let project = project(&["bash"]);
    project.write(".hooks/settings.json", &settings("./guard.sh"));
    let home = project.home().join(".config/hooks");
    fs::create_dir_all(&home).unwrap();
    fs::write(home.join("settings.json"), settings("./guard.sh")).unwrap();
    fs::write(home.join("trust.json"), "{\"version\":1,\"projects\":{}}").unwrap();
    fs::set_permissions(home.join("trust.json"), fs::Permissions::from_mode(0o666)).unwrap();
    project.write(".gemini/settings.json", &settings("true"));
    project.write(".claude/settings.json", &settings("true"));
    let finished = doctor(&project, &[]);
    insta::assert_snapshot!(finished.shown(&project), @r#"
    status: 1
    ----- stdout -----
    Shells and interpreters
      ✓ shell: [HOME]/bin/bash, which runs the commands of hooks
      - sh: not in PATH; hooks written in it would fail
      - python3: not in PATH; hooks written in it would fail
      - node: not in PATH; hooks written in it would fail

    Settings, in run order
      ✗ project [PROJECT]/.hooks/settings.json: 1 hook, 1 error, 0 warnings
        → `hook check` shows each with its line
      ✗ user [HOME]/.config/hooks/settings.json: 1 hook, 1 error, 1 warning
        → `hook check` shows each with its line
      - system /etc/hooks/settings.json: not there

    Trust
      ✗ trust store [HOME]/.config/hooks/trust.json: anybody on this machine can write it, and with it trust hooks in your name
        → chmod go-w [HOME]/.config/hooks/trust.json
      ! project [PROJECT]: 1 of 1 hook not trusted, so not run
        → `hook trust` shows what would run and asks

    Duplicates
      ! [HOME]/.config/hooks/settings.json:1:78: the hook `guard` is defined already at [PROJECT]/.hooks/settings.json:1:35, for the same event and matcher; it runs once
        → remove one of them

    Hooks of other agents
      - Claude Code [PROJECT]/.claude/settings.json: no hooks of its own
      ! Gemini CLI [PROJECT]/.gemini/settings.json: 1 hook that no other agent runs
        → write "agents": ["gemini"] into hooksConfig, or give --agent gemini
      ! Gemini CLI [PROJECT]/.gemini/settings.json: you have never reviewed its hook of BeforeTool: guard
        → Gemini CLI runs it itself; `hook trust --agent gemini` shows it

    Agents that ask
      none is connected; `hook connect` does it

    Installation
      ✓ hook 0.1.0: /bin/hook, installed from an archive; to update: run install.sh of the newer version

    3 problems, 4 warnings
    ----- stderr -----
    "#);
    let lines = doctor(&project, &["--json"]).lines();
    assert_eq!(lines[0]["section"], "Shells and interpreters");
    let bad: Vec<_> = lines.iter().filter(|line| line["health"] == "bad").collect();
    assert_eq!(bad.len(), 3);
    assert!(bad[2]["fix"].as_str().unwrap().starts_with("chmod go-w "), "{bad:?}");
}

#[test]
fn a_guard_with_two_matchers_is_no_duplicate() {
    let project = project(&["bash"]);
    let guard = json!({"type": "command", "name": "guard", "command": "true"});
    let settings = json!({"hooks": {"BeforeTool": [
        {"matcher": "shell", "hooks": [guard]}, {"matcher": "write", "hooks": [guard]}]}});
    project.write(".hooks/settings.json", &settings.to_string());
    let finished = doctor(&project, &[]);
    let none = "Duplicates\n  no hook is defined twice\n";
    assert!(finished.stdout.contains(none), "{finished:?}");
}

#[test]
fn who_else_can_write_a_trusted_file_or_its_folder_is_said() {
    let project = project(&["bash"]);
    let home = project.home().join(".config/hooks");
    fs::create_dir_all(&home).unwrap();
    let store = home.join("trust.json");
    fs::write(&store, "{\"version\":1,\"projects\":{}}").unwrap();
    for (file, folder, health, fix) in [
        (0o600, 0o700, "good", None),
        (0o620, 0o700, "odd", Some(format!("chmod go-w {}", store.display()))),
        (0o600, 0o707, "bad", Some(format!("chmod go-w {}", home.display()))),
        (0o600, 0o1777, "good", None),
        (0o622, 0o770, "bad", Some(format!("chmod go-w {} {}", store.display(), home.display()))),
    ] {
        fs::set_permissions(&store, fs::Permissions::from_mode(file)).unwrap();
        fs::set_permissions(&home, fs::Permissions::from_mode(folder)).unwrap();
        let lines = doctor(&project, &["--json"]).lines();
        let found = lines.iter().find(|line| line["section"] == "Trust").unwrap();
        assert_eq!(found["health"], health, "{file:o} {folder:o} {found}");
        assert_eq!(found.get("fix").and_then(|it| it.as_str()), fix.as_deref());
    }
}

#[test]
fn settings_that_are_not_json_are_bad() {
    let project = project(&["bash", "node"]);
    project.write(".hooks/settings.json", "{\n  \"hooks\": nonsense\n}");
    let finished = doctor(&project, &[]);
    insta::assert_snapshot!(finished.shown(&project), @"
    status: 1
    ----- stdout -----
    Shells and interpreters
      ✓ shell: [HOME]/bin/bash, which runs the commands of hooks
      - sh: not in PATH; hooks written in it would fail
      - python3: not in PATH; hooks written in it would fail
      ✓ node: [HOME]/bin/node

    Settings, in run order
      ✗ project [PROJECT]/.hooks/settings.json: 0 hooks, 1 error, 0 warnings
        → `hook check` shows each with its line
      - user [HOME]/.config/hooks/settings.json: not there
      - system /etc/hooks/settings.json: not there

    Trust
      - trust store [HOME]/.config/hooks/trust.json: not there yet; `hook trust` makes it

    Duplicates
      no hook is defined twice

    Hooks of other agents
      none found

    Agents that ask
      none is connected; `hook connect` does it

    Installation
      ✓ hook 0.1.0: /bin/hook, installed from an archive; to update: run install.sh of the newer version

    1 problem
    ----- stderr -----
    ");
}

#[test]
fn the_slowest_hooks_of_a_recording_are_named() {
    let project = project(&["bash"]);
    let recording = workspace().join("docs/examples/agent-session/session.hookrec");
    let lines = doctor(&project, &["--json", "--recording", recording.to_str().unwrap()]).lines();
    let slow: Vec<_> = lines
        .iter()
        .filter(|line| line["section"] == "Slowest hooks of the recording")
        .map(|line| line["detail"].as_str().unwrap())
        .collect();
    assert_eq!(slow.len(), 5);
    let took = |detail: &str| detail.split_once(" ms for ").unwrap().0.parse::<u32>().unwrap();
    assert!(slow.is_sorted_by_key(|detail| std::cmp::Reverse(took(detail))), "{slow:?}");
    let missing = doctor(&project, &["--recording", "none.hookrec"]);
    assert_eq!(missing.status, 1);
    assert!(missing.stderr.contains("failed to read the recording none.hookrec"), "{missing:?}");
}

#[test]
fn one_hook_in_the_files_of_two_agents_is_named() {
    let project = project(&["bash"]);
    project.write(".claude/hooks/guard.sh", "exit 2\n");
    let claude = json!({"hooks": {"PreToolUse": [{"hooks": [{"type": "command",
        "command": "\"$CLAUDE_PROJECT_DIR\"/.claude/hooks/guard.sh"}]}]}});
    project.write(".claude/settings.json", &claude.to_string());
    let cursor = json!({"version": 1, "hooks": {"preToolUse": [
        {"command": "./.claude/hooks/guard.sh"}]}});
    project.write(".cursor/hooks.json", &cursor.to_string());
    let found = doctor(&project, &[]);
    let line = found.stdout.lines().find(|line| line.contains("where both count, it runs twice"));
    let line = line.unwrap_or_else(|| panic!("{found:?}"));
    assert!(line.contains(".claude/settings.json and in "), "{line}");
    assert!(line.contains(".cursor/hooks.json"), "{line}");
}

//! `hook doctor`.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};

use hook_tests::{Hook, Project, workspace};
use serde_json::json;

/// A project whose PATH has a shell, and what else is named.
fn project(programs: &[&str]) -> Project {
    let project = Project::new();
    for name in programs {
        let file = project.write(&format!("bin/{name}"), "");
        fs::remove_file(&file).unwrap();
        symlink("/bin/bash", file).unwrap();
    }
    project
}

fn doctor(project: &Project, arguments: &[&str]) -> hook_tests::Finished {
    let path = project.path().join("bin");
    Hook::new(project, &[&["doctor"], arguments].concat())
        .env("PATH", &path.display().to_string())
        .run()
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
    insta::assert_snapshot!(finished.shown(&project), @r#"
status: 0
----- stdout -----
Shells and interpreters
  ✓ shell: [PROJECT]/bin/bash, which runs the commands of hooks
  ✓ sh: [PROJECT]/bin/sh
  ✓ python3: [PROJECT]/bin/python3
  - node: not in PATH; hooks written in it would fail

Settings, in run order
  - project [PROJECT]/.hooks/settings.json: not there
  - user [HOME]/.config/hooks/settings.json: not there
  - system /etc/hooks/settings.json: not there

Trust
  - trust store [HOME]/.config/hooks/trust.json: not there yet; `hook trust` makes it

Duplicates
  no hook stands in two places

Settings of other agents
  none found

everything is as it should be
----- stderr -----
"#);
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
  ✓ shell: [PROJECT]/bin/bash, which runs the commands of hooks
  - sh: not in PATH; hooks written in it would fail
  - python3: not in PATH; hooks written in it would fail
  - node: not in PATH; hooks written in it would fail

Settings, in run order
  ✓ project [PROJECT]/.hooks/settings.json: 1 hook
  ✓ user [HOME]/.config/hooks/settings.json: 1 hook
  - system /etc/hooks/settings.json: not there

Trust
  ✗ trust store [HOME]/.config/hooks/trust.json: anybody on this machine can write it, and with it trust hooks in your name
    → chmod go-w [HOME]/.config/hooks/trust.json
  ! project [PROJECT]: 1 of 1 hook not trusted, so not run
    → `hook trust` shows what would run and asks

Duplicates
  ! BeforeTool guard: runs once, and stands in project [PROJECT]/.hooks/settings.json:1:35 and in user [HOME]/.config/hooks/settings.json:1:35
    → remove all but one

Settings of other agents
  ✓ Gemini CLI [PROJECT]/.gemini/settings.json: 1 hook can be used as they are
    → name the file: --settings [PROJECT]/.gemini/settings.json
  - Claude Code [PROJECT]/.claude/settings.json: its hooks are written in a way that is not read yet

bad: 1, odd: 2
----- stderr -----
"#);
    let lines = doctor(&project, &["--json"]).lines();
    assert_eq!(lines[0]["section"], "Shells and interpreters");
    let bad: Vec<_> = lines.iter().filter(|line| line["health"] == "bad").collect();
    assert_eq!(bad.len(), 1);
    assert!(bad[0]["mend"].as_str().unwrap().starts_with("chmod go-w "), "{bad:?}");
}

#[test]
fn settings_that_are_not_json_are_bad() {
    let project = project(&["bash", "node"]);
    project.write(".hooks/settings.json", "{\n  \"hooks\": nonsense\n}");
    let finished = doctor(&project, &[]);
    insta::assert_snapshot!(finished.shown(&project), @r#"
status: 1
----- stdout -----
Shells and interpreters
  ✓ shell: [PROJECT]/bin/bash, which runs the commands of hooks
  - sh: not in PATH; hooks written in it would fail
  - python3: not in PATH; hooks written in it would fail
  ✓ node: [PROJECT]/bin/node

Settings, in run order
  ✗ project [PROJECT]/.hooks/settings.json: 0 hooks, 1 error, 0 warnings
    → `hook check` shows each with its line
  - user [HOME]/.config/hooks/settings.json: not there
  - system /etc/hooks/settings.json: not there

Trust
  - trust store [HOME]/.config/hooks/trust.json: not there yet; `hook trust` makes it

Duplicates
  no hook stands in two places

Settings of other agents
  none found

bad: 1, odd: 0
----- stderr -----
"#);
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

//! `hook list`: every hook that is found, in columns, and why one is off.

use hook_tests::{Hook, Project};
use serde_json::json;

fn project() -> Project {
    let project = Project::with_settings(&json!({
    "hooksConfig": {"disabled": ["off"]},
    "hooks": {
        "BeforeTool": [
            {"matcher": "write_file|edit", "hooks": [
                {"type": "command", "name": "guard", "command": "true", "description": "Keeps the agent out of /etc"},
                {"type": "command", "name": "off", "command": "false"}]},
            {"matcher": "日本", "hooks": [{"type": "command", "name": "幅広い", "command": "true"}]},
            {"hooks": [{"type": "command",
                "command": "a command that is longer than any name that somebody would give a hook"},
                {"type": "command", "command": "one line\nand \u{1b}[31manother"}]},
        ],
        "SessionEnd": [{"matcher": "exit", "hooks": [{"type": "command", "command": "short"}]}],
    }}));
    project.write(
        "all-off.json",
        &json!({"hooksConfig": {"enabled": false}, "hooks": {"SessionEnd": [
            {"hooks": [{"type": "command", "name": "sleeper", "command": "true"}]}]}})
        .to_string(),
    );
    project
}

#[test]
fn hooks_stand_in_columns_with_why_they_are_off() {
    let project = project();
    let list = ["list", "--settings=settings.json", "--settings=all-off.json"];
    insta::assert_snapshot!(Hook::new(&project, &list).run().shown(&project), @r"
    status: 0
    ----- stdout -----
    BeforeTool
      ✓ guard       write_file|edit  explicit settings.json:1:98
          Keeps the agent out of /etc
      - off         write_file|edit  explicit settings.json:1:193
          off by `disabled` in the explicit settings, settings.json
      ✓ 幅広い      日本             explicit settings.json:1:270
      ✓ a command that is longer than any name that somebody would give a hook  *                explicit settings.json:1:331
      ✓ one line …  *                explicit settings.json:1:433
    SessionEnd
      ✓ short       exit             explicit settings.json:1:540
      - sleeper     *                explicit all-off.json:1:67
          off by `enabled: false` in the explicit settings, all-off.json
    ----- stderr -----
    ");
}

#[test]
fn a_hook_of_the_project_that_is_not_trusted_is_said_to_be_so() {
    let project = Project::new();
    project.write(
        ".hooks/settings.json",
        r#"{"hooks": {"SessionEnd": [{"hooks": [{"type": "command", "command": "true"}]}]}}"#,
    );
    insta::assert_snapshot!(Hook::new(&project, &["list"]).run().shown(&project), @r"
    status: 0
    ----- stdout -----
    SessionEnd
      ! true  *  project [PROJECT]/.hooks/settings.json:1:38
          it is the project's, and not trusted
    ----- stderr -----
    warning: 1 hook is not trusted and will not run, in the project [PROJECT]; `hook trust` shows what would run and asks
    ");
}

#[test]
fn where_there_is_none_it_says_where_it_looked() {
    let project = project();
    let none = Hook::new(&project, &["list"]).run();
    insta::assert_snapshot!(none.shown(&project), @r"
    status: 0
    ----- stdout -----
    no hooks found
    looked for:
      project  is not there  [PROJECT]/.hooks/settings.json
      user     is not there  [HOME]/.config/hooks/settings.json
      system   is not there  /etc/hooks/settings.json
    ----- stderr -----
    ");
    let of_event =
        Hook::new(&project, &["list", "--event=PreCompress", "--settings=settings.json"]).run();
    insta::assert_snapshot!(of_event.shown(&project), @r"
    status: 0
    ----- stdout -----
    no hook listens to PreCompress
    looked for:
      explicit  is there  settings.json
    ----- stderr -----
    ");
}

#[test]
fn json_says_where_a_hook_was_switched_off() {
    let project = project();
    let list = ["list", "--json", "--settings=settings.json", "--settings=all-off.json"];
    let lines = Hook::new(&project, &list).run().lines();
    assert_eq!(
        lines[0],
        json!({"event": "BeforeTool", "name": "guard", "type": "command", "command": "true",
            "description": "Keeps the agent out of /etc", "matcher": "write_file|edit",
            "priority": 100, "sequential": false, "async": false, "source": "explicit", "file": "settings.json",
            "line": lines[0]["line"], "column": lines[0]["column"], "timeout": 60_000,
            "timeoutFrom": "engine", "failBehavior": "continue", "start": "shell",
            "enabled": true, "trusted": true})
    );
    let off = |name: &str| {
        let hook = lines.iter().find(|line| line["name"] == name).unwrap();
        json!([hook["disabledBy"], hook["disabledIn"], hook["disabledSetting"]])
    };
    let (disabled, enabled) = ("hooksConfig.disabled", "hooksConfig.enabled");
    assert_eq!(
        off("off"),
        json!(["`disabled` in the explicit settings", "settings.json", disabled])
    );
    assert_eq!(
        off("sleeper"),
        json!(["`enabled: false` in the explicit settings", "all-off.json", enabled])
    );
}

#[test]
fn colours_move_no_column() {
    let project = project();
    let list = ["list", "--settings=settings.json", "--color"];
    let shown = |when| Hook::new(&project, &[&list[..], &[when]].concat()).run().stdout;
    let coloured = shown("always");
    assert!(coloured.contains("\u{1b}[32m✓"), "{coloured}");
    let codes = fancy_regex::Regex::new("\u{1b}\\[[0-9;]*m").unwrap();
    assert_eq!(codes.replace_all(&coloured, ""), shown("never"));
}

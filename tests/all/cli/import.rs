//! `hook import`: an agent's hooks, written once into settings of ours.

use std::fs;

use hook_tests::{Finished, Hook, Project};
use serde_json::{Value, json};

fn run(project: &Project, arguments: &[&str]) -> Finished {
    Hook::new(project, arguments).env("CLAUDE_CONFIG_DIR", "").env("CODEX_HOME", "").run()
}

fn of_user(project: &Project, path: &str, text: &str) {
    let path = project.home().join(path);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}

fn groups(event: &str, matcher: &str, command: &str) -> Value {
    json!({"hooks": {event: [{"matcher": matcher, "hooks": [
        {"type": "command", "command": command, "timeout": 30}]}]}})
}

const SHELL: [&str; 4] = ["fire", "BeforeTool", "--tool", "run_shell_command"];

#[test]
fn imported_hooks_run_unchanged_where_they_belong() {
    let project = Project::new();
    of_user(&project, ".claude/settings.json", &groups("PreToolUse", "Bash", "exit 2").to_string());
    project.write(".claude/settings.json", &groups("PreToolUse", "Write", "exit 2").to_string());
    assert_eq!(run(&project, &SHELL).status, 0);

    let dry = run(&project, &["import", "claude", "--dry-run"]);
    assert_eq!(dry.status, 0, "{dry:?}");
    assert!(dry.stdout.contains("+") && dry.stdout.contains("would import 1 hook"), "{dry:?}");
    assert!(!project.path().join(".hooks").exists());

    let before = "{\n\t\"mine\": [1,  2],\n\t\"hooks\": {\n\t\t\"SessionEnd\": []\n\t}\n}\n";
    of_user(&project, ".config/hooks/settings.json", before);
    let imported = run(&project, &["import", "claude"]);
    assert_eq!(imported.status, 0, "{imported:?}");
    assert_eq!(
        imported.stdout.matches("imported 1 hook of Claude Code").count(),
        2,
        "{imported:?}"
    );
    assert!(imported.stderr.contains("`hook trust`"), "{imported:?}");
    let user = fs::read_to_string(project.home().join(".config/hooks/settings.json")).unwrap();
    assert!(user.starts_with("{\n\t\"mine\": [1,  2],\n\t\"hooks\": {\n\t\t\"SessionEnd\": [],\n\t\t\"PreToolUse\": [\n"), "{user}");
    assert!(user.contains("\"language\": \"claude\""), "{user}");
    assert_eq!(run(&project, &SHELL).status, 2, "{:?}", run(&project, &SHELL));
    let write = || run(&project, &["fire", "BeforeTool", "--tool", "write_file"]);
    assert!(write().stderr.contains("not trusted"), "{:?}", write());
    assert_eq!(run(&project, &["trust", "--yes"]).status, 0);
    assert_eq!(write().status, 2);
    // Once more changes nothing; a hook that is new comes alone.
    let again = run(&project, &["import", "claude"]);
    assert_eq!(again.stdout.matches("1 hook there already").count(), 2, "{again:?}");
    let unchanged = fs::read_to_string(project.home().join(".config/hooks/settings.json")).unwrap();
    assert_eq!(unchanged, user);
    let mut more = groups("PreToolUse", "Bash", "exit 2");
    let hooks = more["hooks"]["PreToolUse"][0]["hooks"].as_array_mut().unwrap();
    hooks.push(json!({"type": "command", "command": "true"}));
    of_user(&project, ".claude/settings.json", &more.to_string());
    let one = run(&project, &["import", "claude", "--scope", "user"]);
    assert!(one.stdout.contains("imported 1 hook of"), "{one:?}");
    // Read from both places, it runs once; and that is said.
    let both = run(&project, &["import", "claude", "--agent", "claude"]);
    assert_eq!(both.status, 0, "{both:?}");
    let checked = run(&project, &["check", "--agent", "claude"]);
    assert!(checked.stdout.contains("is defined already"), "{checked:?}");
}

#[test]
fn what_is_lost_is_said_with_its_place_and_entries_of_connect_stay() {
    let project = Project::new();
    assert_eq!(run(&project, &["connect", "claude", "--events", "PreToolUse"]).status, 0);
    let path = project.home().join(".claude/settings.json");
    let mut settings: Value = serde_json::from_str(&fs::read_to_string(&path).unwrap()).unwrap();
    settings["hooks"]["WorktreeCreate"] =
        json!([{"hooks": [{"type": "command", "command": "echo /tmp/x"}]}]);
    settings["hooks"]["Stop"] = json!([{"hooks": [{"type": "prompt", "prompt": "done?"}]}]);
    settings["hooks"]["PreToolUse"].as_array_mut().unwrap().push(json!({"hooks": [
        {"type": "frob"}, {"type": "command", "command": "true", "onFailure": "block"}]}));
    fs::write(&path, serde_json::to_string_pretty(&settings).unwrap()).unwrap();
    let imported = run(&project, &["import", "claude", "--rewrite"]);
    assert_eq!(imported.status, 0, "{imported:?}");
    for said in [
        "WorktreeCreate: no other agent asks about it",
        "needs a model (`model.ask`)",
        "has no hooks of type `frob`",
    ] {
        let line = imported.stdout.lines().find(|line| line.contains(said)).unwrap_or_default();
        assert!(
            line.starts_with("lost: ") && line.contains("settings.json:"),
            "{said}: {imported:?}"
        );
    }
    assert!(imported.stderr.contains("runs twice"), "{imported:?}");
    let ours = fs::read_to_string(project.home().join(".config/hooks/settings.json")).unwrap();
    assert!(!ours.contains(" bridge claude"), "{ours}");
    assert!(ours.contains("\"failBehavior\": \"block\"") && !ours.contains("onFailure"), "{ours}");
    let listed = run(&project, &["list", "--json"]);
    assert!(listed.stdout.contains(r#""failBehavior":"block""#), "{listed:?}");
}

#[test]
fn a_plugin_goes_on_running_from_its_own_folder() {
    let project = Project::new();
    let plugin = ".claude/plugins/guard";
    of_user(&project, &format!("{plugin}/guard.sh"), "exit 2");
    let hooks = groups("PreToolUse", "Bash", "sh \"${CLAUDE_PLUGIN_ROOT}/guard.sh\"");
    of_user(&project, &format!("{plugin}/hooks/hooks.json"), &hooks.to_string());
    assert_eq!(run(&project, &["import", "claude"]).status, 0);
    let blocked = run(&project, &SHELL);
    assert_eq!(blocked.status, 2, "{blocked:?}");
}

#[test]
fn a_named_file_goes_where_it_is_told_and_flat_hooks_into_lists() {
    let project = Project::new();
    let cursor = json!({"version": 1, "hooks": {"beforeShellExecution": [
        {"command": "exit 2", "matcher": "rm"}, {"command": "exit 0"}]}});
    project.write("theirs.json", &cursor.to_string());
    let arguments =
        ["import", "cursor", "--settings", "theirs.json", "--to", "ours.json", "--json"];
    let imported = run(&project, &arguments);
    assert_eq!(imported.status, 0, "{imported:?}");
    let said: Value = serde_json::from_str(&imported.stdout).unwrap();
    assert_eq!((&said["files"][0]["added"], &said["agent"]), (&json!(2), &json!("cursor")));
    let input = json!({"tool_name": "run_shell_command", "tool_input": {"command": "rm x"}});
    let input = input.to_string();
    let fire = ["fire", "BeforeTool", "--settings", "ours.json", "--input", &input];
    assert_eq!(run(&project, &fire).status, 2, "{:?}", run(&project, &fire));
    let missing = run(&project, &["import", "cursor", "--settings", "none.json"]);
    assert_eq!(missing.status, 1, "{missing:?}");
    let none = run(&project, &["import", "gemini"]);
    assert!(
        none.status == 0 && none.stdout.contains("no hooks of Gemini CLI are found"),
        "{none:?}"
    );
}

/// Hooks of a project must not become the user's, which need no trust.
#[cfg(unix)]
#[test]
fn no_link_is_followed_out_of_the_project() {
    let project = Project::new();
    of_user(&project, ".config/hooks/settings.json", "{}\n");
    project.write(".claude/settings.json", &groups("PreToolUse", "", "exit 2").to_string());
    fs::create_dir_all(project.path().join(".hooks")).unwrap();
    let user = project.home().join(".config/hooks/settings.json");
    std::os::unix::fs::symlink(&user, project.path().join(".hooks/settings.json")).unwrap();
    let refused = run(&project, &["import", "claude"]);
    assert!(refused.status == 64 && refused.stderr.contains("is a link"), "{refused:?}");
    assert_eq!(fs::read_to_string(user).unwrap(), "{}\n");
}

/// Where one file cannot be edited, no other is written; where that shows only when it is written, those that
/// are written already are named.
#[test]
fn all_files_are_looked_at_before_the_first_is_written() {
    let project = Project::new();
    of_user(&project, ".claude/settings.json", &groups("PreToolUse", "Bash", "exit 2").to_string());
    project.write(".claude/settings.json", &groups("PreToolUse", "Write", "exit 2").to_string());
    let ours = [
        project.path().join(".hooks/settings.json"),
        project.home().join(".config/hooks/settings.json"),
    ];
    for (broken, other) in [(0, 1), (1, 0)] {
        fs::create_dir_all(ours[broken].parent().unwrap()).unwrap();
        fs::write(&ours[broken], "[").unwrap();
        let failed = run(&project, &["import", "claude"]);
        assert_ne!(failed.status, 0, "{failed:?}");
        assert!(!ours[other].exists(), "{failed:?}");
        fs::remove_file(&ours[broken]).unwrap();
    }
    for (broken, other) in [(0, 1), (1, 0)] {
        let lock = ours[broken].with_file_name("settings.json.lock");
        fs::create_dir_all(&lock).unwrap();
        let failed = run(&project, &["import", "claude"]);
        assert_ne!(failed.status, 0, "{failed:?}");
        let named = format!("{} is written already", ours[other].display());
        assert_eq!(failed.stderr.contains(&named), ours[other].exists(), "{failed:?}");
        fs::remove_dir(&lock).unwrap();
        let _ = fs::remove_file(&ours[other]);
    }
}

#[test]
fn comments_of_either_file_are_no_obstacle_and_ours_stay() {
    let project = Project::new();
    let theirs = groups("BeforeTool", "write_file", "exit 2").to_string();
    project.write(".gemini/settings.json", &format!("// theirs\n{theirs}"));
    project.write(".hooks/settings.json", "{ // ours\n  \"hooks\": {}, /* all */\n}\n");
    let imported = run(&project, &["import", "gemini"]);
    assert_eq!(imported.status, 0, "{imported:?}");
    assert!(imported.stdout.contains("imported 1 hook of"), "{imported:?}");
    let settings = project.read(".hooks/settings.json");
    assert!(settings.starts_with("{ // ours\n  \"hooks\": {\n"), "{settings}");
    assert!(settings.ends_with("  }, /* all */\n}\n"), "{settings}");
}

#[test]
fn hooks_of_every_form_and_syntax_are_imported() {
    let hook = json!({"type": "command", "command": "exit 2"});
    let group = json!([{"hooks": [hook]}]);
    let said = r#"echo '{"decision": "deny", "reason": "no"}'"#;
    let says = json!([{"hooks": [{"type": "command", "command": said}]}]);
    let in_groups = json!({"hooks": {"PreToolUse": group}}).to_string();
    for (agent, path, text) in [
        ("droid", ".factory/hooks.json", json!({"PreToolUse": group}).to_string()),
        ("droid", ".factory/settings.json", in_groups),
        (
            "antigravity",
            ".gemini/config/hooks.json",
            json!({"a": {"PreToolUse": says}}).to_string(),
        ),
        (
            "kimi",
            ".kimi-code/config.toml",
            "[[hooks]]\nevent = \"PreToolUse\"\ncommand = \"exit 2\"".into(),
        ),
        (
            "kiro",
            ".kiro/hooks/a.json",
            json!({"version": "v1",
            "hooks": [{"trigger": "PreToolUse", "action": hook}]})
            .to_string(),
        ),
        (
            "vibe",
            ".vibe/hooks.toml",
            "[[hooks]]\ntype = \"pre_tool\"\ncommand = \"exit 1\"\nstrict = true".into(),
        ),
        (
            "hermes",
            ".hermes/config.yaml",
            r#"hooks: {pre_tool_call: [{command: "echo '{\"decision\": \"block\"}'"}]}"#.into(),
        ),
    ] {
        let project = Project::new();
        of_user(&project, path, &text);
        let imported = run(&project, &["import", agent]);
        assert!(imported.stdout.contains("imported 1 hook of"), "{agent}: {imported:?}");
        assert!(!imported.stdout.contains("lost"), "{agent}: {imported:?}");
        let checked = run(&project, &["check"]);
        assert_eq!(checked.status, 0, "{agent}: {checked:?}");
        let fired = run(&project, &SHELL);
        assert_eq!(fired.status, 2, "{agent}: {fired:?}");
        let again = run(&project, &["import", agent]);
        assert!(again.stdout.contains("1 hook there already"), "{agent}: {again:?}");
    }
    let project = Project::new();
    of_user(&project, ".hermes/config.yaml", "hooks:\n  - ]\n");
    let broken = run(&project, &["import", "hermes"]);
    assert!(broken.stdout.contains(".hermes/config.yaml:2: not YAML"), "{broken:?}");
}

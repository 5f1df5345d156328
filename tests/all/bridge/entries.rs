//! Entries of `hook connect` are no hooks, whoever reads the file that they stand in.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use hook_tests::{Finished, Hook, Project};
use serde_json::{Value, json};

/// A program called `hook` that only writes down that it ran.
fn other_hook(project: &Project) -> String {
    let folder = project.home().join("other bin");
    fs::create_dir_all(&folder).unwrap();
    let path = folder.join("hook");
    fs::write(&path, "#!/bin/sh\necho ran >> \"$HOME/entries\"\n").unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
    format!("'{}'", path.display())
}

/// Settings of Claude Code with entries of several forms, and a hook of the user's.
fn claudes(project: &Project) -> Value {
    let binary = other_hook(project);
    let hook = |command: String| json!({"type": "command", "command": command});
    json!({"hooks": {"PreToolUse": [
        {"hooks": [hook(format!("{binary} bridge claude PreToolUse"))]},
        {"hooks": [hook(format!("[ -x {binary} ] || exit 0; exec {binary} bridge claude PreToolUse"))]},
        {"hooks": [hook("echo mine >> \"$HOME/mine\"".to_owned()), hook(format!("{binary} bridge cursor preToolUse"))]},
        {"hooks": [json!({"type": "command", "command": binary.trim_matches('\''),
            "args": ["bridge", "claude", "PreToolUse"]})]},
    ]}})
}

fn write(project: &Project, path: &str, value: &Value) {
    let path = project.home().join(path);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, value.to_string()).unwrap();
}

fn of_gemini(project: &Project) -> String {
    json!({"session_id": "s", "cwd": project.path(), "hook_event_name": "BeforeTool",
        "tool_name": "run_shell_command", "tool_input": {"command": "ls"}})
    .to_string()
}

fn run(project: &Project, arguments: &[&str], sent: &str) -> Finished {
    let hook = Hook::new(project, arguments).env("CLAUDE_CONFIG_DIR", "");
    hook.stdin(sent.to_owned()).run()
}

fn lines(project: &Project, name: &str) -> usize {
    fs::read_to_string(project.home().join(name)).unwrap_or_default().lines().count()
}

#[test]
fn fault_59_entries_of_connect_are_never_run_as_hooks() {
    // By `agents`, on the command line, named, and in settings of ours.
    for way in 0..4 {
        let project = Project::new();
        let theirs = claudes(&project);
        write(&project, ".claude/settings.json", &theirs);
        let path = project.home().join(".claude/settings.json").display().to_string();
        let agents = json!({"hooksConfig": {"agents": ["claude", "cursor"]}});
        let mut in_ours = theirs["hooks"].clone();
        for group in in_ours["PreToolUse"].as_array_mut().unwrap() {
            group["language"] = json!("claude");
        }
        let (arguments, ours) = match way {
            0 => (vec!["bridge", "gemini", "BeforeTool"], Some(agents)),
            1 => (vec!["bridge", "gemini", "BeforeTool", "--agent", "claude"], None),
            2 => (
                vec!["fire", "BeforeTool", "--settings", &*path, "--tool", "run_shell_command"],
                None,
            ),
            _ => (vec!["bridge", "gemini", "BeforeTool"], Some(json!({"hooks": in_ours}))),
        };
        if let Some(ours) = ours {
            write(&project, ".config/hooks/settings.json", &ours);
        }
        let finished = run(&project, &arguments, &of_gemini(&project));
        assert_eq!(finished.status, 0, "{way}: {finished:?}");
        assert_eq!((lines(&project, "entries"), lines(&project, "mine")), (0, 1), "{way}");
    }
    // And none is imported.
    let project = Project::new();
    write(&project, ".claude/settings.json", &claudes(&project));
    let imported = run(&project, &["import", "claude", "--scope", "user"], "");
    assert_eq!(imported.status, 0, "{imported:?}");
    let ours = fs::read_to_string(project.home().join(".config/hooks/settings.json")).unwrap();
    assert!(ours.contains("echo mine") && !ours.contains("bridge"), "{ours}");
}

#[test]
fn fault_59_two_connected_agents_whose_hooks_run_everywhere_run_a_hook_once() {
    let project = Project::new();
    let mine = json!({"hooks": {"PreToolUse": [{"hooks": [
        {"type": "command", "command": "echo mine >> \"$HOME/mine\""}]}]}});
    write(&project, ".claude/settings.json", &mine);
    let agents = json!({"hooksConfig": {"agents": ["claude", "gemini", "cursor"]}});
    write(&project, ".config/hooks/settings.json", &agents);
    for agent in ["claude", "gemini", "cursor"] {
        let connected = run(&project, &["connect", agent], "");
        assert_eq!(connected.status, 0, "{connected:?}");
    }
    let finished = run(&project, &["bridge", "gemini", "BeforeTool"], &of_gemini(&project));
    assert_eq!((finished.status, lines(&project, "mine")), (0, 1), "{finished:?}");
}

#[test]
fn fault_59_doctor_counts_entries_apart() {
    let project = Project::new();
    write(&project, ".claude/settings.json", &claudes(&project));
    let said = run(&project, &["doctor"], "").stdout;
    assert!(
        said.contains("1 hook that no other agent runs; 4 entries of `hook connect`"),
        "{said}"
    );
    let agents = json!({"hooksConfig": {"agents": ["claude"]}});
    write(&project, ".config/hooks/settings.json", &agents);
    let said = run(&project, &["doctor"], "").stdout;
    assert!(said.contains("1 hook, run here as there; 4 entries of `hook connect`"), "{said}");
}

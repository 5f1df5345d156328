//! `hook connect` and `hook disconnect`: an agent's settings with our entries, and without them.

use std::fs;

use hook_tests::{Finished, Hook, Project};
use serde_json::{Value, json};

fn run(project: &Project, arguments: &[&str]) -> Finished {
    let hook = Hook::new(project, arguments);
    let unset =
        ["CLAUDE_CONFIG_DIR", "CODEX_HOME", "COPILOT_HOME", "LLXPRT_CONFIG_HOME", "QWEN_HOME"];
    unset.iter().fold(hook, |hook, name| hook.env(name, "")).run()
}

/// Where it has the user's settings on this system.
const LLXPRT: &str = if cfg!(target_os = "macos") {
    "Library/Preferences/llxprt-code/settings.json"
} else {
    ".config/llxprt-code/settings.json"
};

const AGENTS: [(&str, &str, &str); 7] = [
    ("claude", ".claude/settings.json", ".claude/settings.local.json"),
    ("gemini", ".gemini/settings.json", ".gemini/settings.json"),
    ("llxprt", LLXPRT, ".llxprt/settings.json"),
    ("qwen", ".qwen/settings.json", ".qwen/settings.json"),
    ("codex", ".codex/hooks.json", ".codex/hooks.json"),
    ("cursor", ".cursor/hooks.json", ".cursor/hooks.json"),
    ("copilot", ".copilot/hooks/hook.json", ".github/hooks/hook.json"),
];

#[test]
fn what_is_connected_is_disconnected_to_the_byte() {
    for (agent, of_user, _) in AGENTS {
        let project = Project::new();
        let path = project.home().join(of_user);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        let before = "{\n\t\"version\": 1,\n\t\"mine\": [1,  2],\n\t\"hooks\": { }\n}\n";
        fs::write(&path, before).unwrap();
        let connected = run(&project, &["connect", agent]);
        assert_eq!(connected.status, 0, "{connected:?}");
        let text = fs::read_to_string(&path).unwrap();
        assert!(text.contains(&format!(" bridge {agent} ")) && text.contains("[1,  2]"), "{text}");
        let again = run(&project, &["connect", agent]);
        assert!(again.stdout.contains("already"), "{again:?}");
        assert_eq!(fs::read_to_string(&path).unwrap(), text);
        let listed = run(&project, &["connect", "--list"]);
        assert!(listed.stdout.contains(&format!("{agent:<8} user ")), "{listed:?}");
        assert_eq!(run(&project, &["disconnect", agent]).status, 0);
        assert_eq!(fs::read_to_string(&path).unwrap(), before, "{agent}");
        let listed = run(&project, &["connect", "--list"]);
        assert!(listed.stdout.ends_with("`hook connect AGENT` does it\n"), "{listed:?}");
    }
}

#[test]
fn a_file_that_was_made_is_gone_again_and_all_can_be_taken_out_at_once() {
    let project = Project::new();
    for (agent, of_user, in_project) in AGENTS {
        assert_eq!(run(&project, &["connect", agent]).status, 0);
        assert_eq!(run(&project, &["connect", agent, "--scope", "project"]).status, 0);
        assert!(project.home().join(of_user).exists(), "{agent}");
        assert!(project.path().join(in_project).exists(), "{agent}");
    }
    let all = run(&project, &["disconnect", "--all"]);
    assert_eq!(all.stdout.lines().count(), 2 * AGENTS.len(), "{all:?}");
    for (agent, of_user, in_project) in AGENTS {
        assert!(!project.home().join(of_user).exists(), "{agent}");
        assert!(!project.path().join(in_project).exists(), "{agent}");
    }
}

#[test]
fn a_dry_run_shows_the_change_and_makes_none() {
    let project = Project::new();
    let shown = run(&project, &["connect", "claude", "--events", "PreToolUse", "--dry-run"]);
    assert!(shown.stdout.contains("bridge claude PreToolUse"), "{shown:?}");
    assert!(!shown.stdout.contains("PostToolUse"));
    assert!(!project.home().join(".claude").join("settings.json").exists());
}

#[test]
fn what_cannot_be_edited_is_left_alone() {
    let project = Project::new();
    let path = project.home().join(".claude/settings.json");
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    for (text, said) in [
        ("{\"hooks\": []}", "`hooks` is an array"),
        ("// mine\n{}", "not JSON"),
        ("{\"hooks\": {\"PreToolUse\": 1}}", "`PreToolUse` is a number"),
    ] {
        fs::write(&path, text).unwrap();
        let refused = run(&project, &["connect", "claude"]);
        assert_eq!(refused.status, 1, "{refused:?}");
        assert!(refused.stderr.contains(said), "{}", refused.stderr);
        assert_eq!(fs::read_to_string(&path).unwrap(), text);
    }
    for (arguments, said) in [
        (&["connect", "vscode"][..], "no settings file of its own"),
        (&["connect", "claude", "--events", "Nothing"], "it has PreToolUse"),
        (&["connect", "clude"], "did you mean claude?"),
        (&["connect"], "required"),
    ] {
        let refused = run(&project, arguments);
        assert_eq!(refused.status, 64, "{refused:?}");
        assert!(refused.stderr.contains(said), "{}", refused.stderr);
    }
}

/// A link could lead to a file of somebody else.
#[test]
fn no_link_is_followed_out_of_the_project() {
    let project = Project::new();
    let outside = project.home().join("outside.json");
    fs::write(&outside, "{}\n").unwrap();
    fs::create_dir(project.path().join(".claude")).unwrap();
    let link = project.path().join(".claude/settings.local.json");
    std::os::unix::fs::symlink(&outside, &link).unwrap();
    let refused = run(&project, &["connect", "claude", "--scope", "project"]);
    assert!(refused.status == 64 && refused.stderr.contains("is a link"), "{refused:?}");
    assert_eq!(fs::read_to_string(&outside).unwrap(), "{}\n");
}

#[test]
fn a_hook_of_the_users_stays_whatever_it_is_called() {
    let project = Project::new();
    let path = project.home().join(".claude/settings.json");
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    let hook = |command: &str| json!({"type": "command", "command": command});
    for group in [
        json!({"hooks": [hook("mine"), hook("/bin/hook bridge claude PreToolUse")]}),
        json!({"hooks": [hook("/bin/mytool bridge claude PreToolUse")]}),
        json!({"hooks": [hook("cd x && ./wrapper.sh bridge claude PreToolUse")]}),
    ] {
        let before = json!({"hooks": {"PreToolUse": [group]}}).to_string();
        fs::write(&path, &before).unwrap();
        run(&project, &["disconnect", "claude"]);
        assert_eq!(fs::read_to_string(&path).unwrap(), before);
    }
    // One file that cannot be edited keeps no other.
    fs::write(&path, "{bad").unwrap();
    run(&project, &["connect", "gemini"]);
    let all = run(&project, &["disconnect", "--all"]);
    assert!(all.status == 1 && all.stdout.contains("disconnected Gemini CLI"), "{all:?}");
}

#[test]
fn an_entry_of_another_binary_is_noticed_and_replaced() {
    let project = Project::new();
    assert_eq!(run(&project, &["connect", "gemini"]).status, 0);
    let path = project.home().join(".gemini/settings.json");
    let text = fs::read_to_string(&path).unwrap();
    let binary = hook_tests::hook_binary().display().to_string();
    fs::write(&path, text.replace(&binary, "/old/place/hook")).unwrap();
    let listed = run(&project, &["connect", "--list"]);
    assert!(listed.stdout.contains("/old/place/hook, which is not there"), "{listed:?}");
    let doctor = run(&project, &["doctor"]);
    assert!(doctor.status == 1 && doctor.stdout.contains("hook connect gemini"), "{doctor:?}");
    fs::write(&path, text.replace(&binary, &project.write("hook", "").display().to_string()))
        .unwrap();
    let listed = run(&project, &["connect", "--list"]);
    assert!(listed.stdout.contains("calls another binary"), "{listed:?}");
    assert_eq!(run(&project, &["connect", "gemini"]).status, 0);
    assert_eq!(fs::read_to_string(&path).unwrap(), text);
}

/// An agent that runs what was written asks our hooks.
#[test]
fn what_is_written_works() {
    let project = Project::new();
    let settings = json!({"hooks": {"BeforeTool": [{"hooks": [
        {"type": "command", "command": "echo no >&2; exit 2"}]}]}});
    let folder = project.home().join(".config/hooks");
    fs::create_dir_all(&folder).unwrap();
    fs::write(folder.join("settings.json"), settings.to_string()).unwrap();
    for scope in ["user", "project"] {
        assert_eq!(run(&project, &["connect", "claude", "--scope", scope]).status, 0);
        let path = match scope {
            "user" => project.home().join(".claude/settings.json"),
            _ => project.path().join(".claude/settings.local.json"),
        };
        let written: Value = serde_json::from_str(&fs::read_to_string(path).unwrap()).unwrap();
        let command = &written["hooks"]["PreToolUse"][0]["hooks"][0]["command"];
        project.write(
            "event.json",
            &json!({"session_id": "s", "cwd": project.path(),
            "hook_event_name": "PreToolUse", "tool_name": "Bash", "tool_input": {"command": "ls"}})
            .to_string(),
        );
        let script = format!("{} < event.json > answer.json", command.as_str().unwrap());
        let mut shell = std::process::Command::new("/bin/sh");
        shell.args(["-c", &script]).current_dir(project.path());
        shell.env("HOME", project.home()).env("XDG_CONFIG_HOME", project.home().join(".config"));
        assert!(shell.status().unwrap().success(), "{script}");
        let answer: Value = serde_json::from_str(&project.read("answer.json")).unwrap();
        assert_eq!(answer["hookSpecificOutput"]["permissionDecision"], "deny", "{scope}");
        // Where the binary is not there, nobody is blocked, and it is said.
        if scope == "project" {
            let binary = hook_tests::hook_binary().display().to_string();
            let gone = script.replace(&binary, "/nowhere/hook");
            let output = std::process::Command::new("/bin/sh")
                .args(["-c", &gone])
                .current_dir(project.path())
                .output()
                .unwrap();
            assert!(output.status.success());
            assert!(String::from_utf8_lossy(&output.stderr).contains("not installed"));
        }
    }
}

#[test]
fn what_hooks_of_ours_lose_in_the_agent_is_said() {
    let project = Project::new();
    let hooks = |count: usize| {
        let hook = json!({"type": "command", "command": "true"});
        json!([{"hooks": vec![hook; count]}])
    };
    let settings = json!({"hooks": {"PermissionRequest": hooks(1), "BeforeTool": hooks(2),
        "AfterTool": hooks(1)}});
    project.write(".hooks/settings.json", &settings.to_string());
    let said = run(&project, &["connect", "gemini", "--dry-run", "--events", "BeforeTool"]).stderr;
    assert!(
        said.contains("PermissionRequest: Gemini CLI never asks; 1 hook will not run there"),
        "{said}"
    );
    assert!(said.contains("AfterTool: not connected; 1 hook will not run there"), "{said}");
    assert!(
        said.contains("BeforeTool: Gemini CLI does not obey at its BeforeTool: context"),
        "{said}"
    );
    assert_eq!(run(&Project::new(), &["connect", "gemini", "--dry-run"]).stderr, "");
}

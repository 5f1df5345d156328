//! Whose allow is one elsewhere: silence is no approval.

use std::fs;

use hook_tests::{Hook, Project};
use serde_json::{Value, json};

use super::answer;

/// What agents send that are about to run a command, and the event.
fn shell(agent: &str, project: &Project) -> (&'static str, Value) {
    let call = json!({"command": "ls"});
    let claudes = |tool: &str| {
        json!({"session_id": "s", "cwd": project.path(), "hook_event_name": "PreToolUse",
            "tool_name": tool, "tool_input": call})
    };
    match agent {
        "copilot" => (
            "preToolUse",
            json!({"sessionId": "s", "timestamp": 1, "cwd": project.path(), "toolName": "bash",
                "toolArgs": call}),
        ),
        "vscode" => (
            "PreToolUse",
            json!({"sessionId": "s", "hookEventName": "PreToolUse", "cwd": project.path(),
                "tool_name": "run_in_terminal", "tool_input": call}),
        ),
        _ => ("PreToolUse", claudes("Bash")),
    }
}

/// Agents whose allow lifts a prompt.
const OBEYING: [&str; 3] = ["claude", "copilot", "vscode"];

/// Whether an agent is told to spare its user a question by a hook that prints that.
fn is_spared(project: &Project, agent: &str) -> bool {
    let (event, sent) = shell(agent, project);
    let finished = Hook::new(project, &["bridge", agent, event]).stdin(sent.to_string()).run();
    assert_eq!(finished.status, 0, "{finished:?}");
    answer(&finished).to_string().contains(r#""allow""#)
}

/// A project whose user has a hook of that language, `native` for ours, that prints that.
fn of_user(language: &str, event: &str, printed: &str) -> Project {
    let project = Project::new();
    let folder = project.home().join(".config/hooks");
    fs::create_dir_all(&folder).unwrap();
    fs::write(folder.join("settings.json"), settings(language, event, printed)).unwrap();
    project
}

fn settings(language: &str, event: &str, printed: &str) -> String {
    let hook = json!({"type": "command", "command": format!("echo '{printed}'")});
    let mut group = json!({"hooks": [hook]});
    if language != "native" {
        group["language"] = json!(language);
    }
    json!({"hooks": {event: [group]}}).to_string()
}

const PERMITS: &str =
    r#"{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"allow"}}"#;

#[test]
fn fault_56_an_allow_without_objections_lifts_no_prompt() {
    for agent in OBEYING {
        for (language, event, printed) in [
            ("native", "BeforeTool", r#"{"decision":"allow"}"#),
            ("native", "BeforeTool", r#"{"decision":"approve"}"#),
            ("native", "BeforeTool", "Logged"),
            ("gemini", "BeforeTool", r#"{"decision":"allow"}"#),
            ("gemini", "BeforeTool", "Logged"),
            ("llxprt", "BeforeTool", r#"{"decision":"allow"}"#),
            ("llxprt", "BeforeTool", r#"{"decision":"ask"}"#),
            ("cursor", "preToolUse", r#"{"permission":"allow"}"#),
            ("cursor", "beforeShellExecution", r#"{"permission":"allow"}"#),
        ] {
            let project = of_user(language, event, printed);
            assert!(!is_spared(&project, agent), "{language} {printed} in {agent}");
        }
    }
}

#[test]
fn fault_56_an_allow_that_means_it_is_one_of_the_users_alone() {
    for agent in OBEYING {
        for (language, event) in [("native", "BeforeTool"), ("claude", "PreToolUse")] {
            // What an agent reads by itself is not in settings of ours.
            assert!(is_spared(&of_user(language, event, PERMITS), agent), "{language} in {agent}");
            let project = Project::new();
            project.write(".hooks/settings.json", &settings(language, event, PERMITS));
            let trusted = Hook::new(&project, &["trust", "--yes"]).run();
            assert_eq!(trusted.status, 0, "{trusted:?}");
            assert!(!is_spared(&project, agent), "{language} of a project in {agent}");
        }
    }
}

#[test]
fn fault_56_an_allow_of_a_permission_request_answers_it() {
    let asked = |project: &Project| {
        let sent = json!({"session_id": "s", "cwd": project.path(),
            "hook_event_name": "PermissionRequest", "tool_name": "Bash",
            "tool_input": {"command": "ls"}});
        let bridge = Hook::new(project, &["bridge", "claude", "PermissionRequest"]);
        answer(&bridge.stdin(sent.to_string()).run())
    };
    let allow = r#"{"decision":"allow"}"#;
    let project = of_user("native", "PermissionRequest", allow);
    let said = asked(&project);
    assert_eq!(said["hookSpecificOutput"]["decision"]["behavior"], "allow", "{said}");
    let project = Project::new();
    project.write(".hooks/settings.json", &settings("native", "PermissionRequest", allow));
    assert_eq!(Hook::new(&project, &["trust", "--yes"]).run().status, 0);
    assert_eq!(asked(&project), Value::Null);
}

/// An approval is one of what the hook was sent.
#[test]
fn fault_56_an_allow_approves_no_arguments_that_another_hook_changes() {
    let change = r#"{"hookSpecificOutput":{"tool_input":{"command":"rm -r build"}}}"#;
    for agent in OBEYING {
        let project = of_user("native", "BeforeTool", PERMITS);
        project.write(".hooks/settings.json", &settings("native", "BeforeTool", change));
        let trusted = Hook::new(&project, &["trust", "--yes"]).run();
        assert_eq!(trusted.status, 0, "{trusted:?}");
        assert!(!is_spared(&project, agent), "{agent}");
    }
}

//! Hooks of one agent find in another what they find at home, and where they cannot run that is said.

use std::fs;

use hook_tests::{Finished, Hook, Project};
use serde_json::{Value, json};

use super::answer;

/// A project whose user has these hooks.
fn of_user(hooks: &Value) -> Project {
    let project = Project::new();
    let folder = project.home().join(".config/hooks");
    fs::create_dir_all(&folder).unwrap();
    fs::write(folder.join("settings.json"), json!({"hooks": hooks}).to_string()).unwrap();
    project
}

/// A hook of a language that runs that.
fn hook(language: &str, event: &str, command: &str) -> Value {
    json!({event: [{"language": language, "hooks": [{"type": "command", "command": command}]}]})
}

/// What Claude Code sends.
fn of_claude(project: &Project, event: &str, fields: &Value) -> String {
    let mut sent = json!({"session_id": "s", "transcript_path": "", "cwd": project.path(),
        "hook_event_name": event});
    for (name, value) in fields.as_object().unwrap() {
        sent[name] = value.clone();
    }
    sent.to_string()
}

fn ask_as_claude(project: &Project, event: &str, fields: &Value) -> Finished {
    let sent = of_claude(project, event, fields);
    Hook::new(project, &["bridge", "claude", event]).stdin(sent).run()
}

#[test]
fn fault_60_a_file_of_cursors_outside_of_project_and_home_runs_in_its_own_folder() {
    let project = Project::new();
    let outside = project.path().parent().unwrap().join("downloads");
    fs::create_dir_all(outside.join("hooks")).unwrap();
    let deny = r#"printf '{"permission":"deny","agent_message":"from %s"}' "${PWD##*/}""#;
    fs::write(outside.join("hooks/x.sh"), deny).unwrap();
    let theirs = json!({"version": 1, "hooks": {"beforeShellExecution": [
        {"command": "sh ./hooks/x.sh"}]}});
    fs::write(outside.join("hooks.json"), theirs.to_string()).unwrap();
    let sent = json!({"conversation_id": "c", "hook_event_name": "beforeShellExecution",
        "command": "rm -rf /", "cwd": project.path(), "workspace_roots": [project.path()]});
    let path = outside.join("hooks.json").display().to_string();
    let arguments = ["bridge", "cursor", "beforeShellExecution", "--settings", &path];
    let finished = Hook::new(&project, &arguments).stdin(sent.to_string()).run();
    let expected = json!({"permission": "deny", "agent_message": "from downloads"});
    assert_eq!(answer(&finished), expected, "{finished:?}");
}

#[test]
fn fault_60_a_guard_that_could_not_run_is_said_to_the_user_in_the_agent() {
    let call = json!({"tool_name": "Bash", "tool_input": {"command": "rm -rf /"}});
    for (language, event, command, said) in [
        ("cursor", "preToolUse", "./gone.sh", "exit code 127 says that what it runs was not found"),
        ("llxprt", "BeforeTool", "./gone.sh", "exit code 127"),
        ("qwen", "PreToolUse", "./gone.sh", "exit code 127"),
        (
            "codex",
            "PreToolUse",
            "./plain.txt",
            "exit code 126 says that what it runs cannot be executed",
        ),
    ] {
        let project = of_user(&hook(language, event, command));
        project.write("plain.txt", "no program");
        let finished = ask_as_claude(&project, "PreToolUse", &call);
        let message = answer(&finished)["systemMessage"].as_str().unwrap_or_default().to_owned();
        assert!(message.contains(command) && message.contains(said), "{language}: {finished:?}");
    }
    // Ours too, whether it lets things go on or not.
    for (behavior, place) in
        [("continue", "/systemMessage"), ("block", "/hookSpecificOutput/permissionDecisionReason")]
    {
        let hooks = json!({"BeforeTool": [{"hooks": [{"type": "command", "command": "./gone.sh",
            "failBehavior": behavior}]}]});
        let finished = ask_as_claude(&of_user(&hooks), "PreToolUse", &call);
        let answered = answer(&finished);
        let said = answered.pointer(place).and_then(Value::as_str).unwrap_or_default();
        let expected = "./gone.sh did not run: exit code 127 says that what it runs was not found";
        assert!(said.contains(expected), "{behavior}: {finished:?}");
    }
}

/// What a hook of Cursor is told when Claude Code asks.
fn told(event: &str, asked: &str, fields: &Value) -> Value {
    let project = of_user(&hook("cursor", event, "cat > \"$HOME/told\""));
    project.write("notes.txt", "some text\n");
    let text = fields.to_string().replace("/PROJECT", &project.path().display().to_string());
    let finished = ask_as_claude(&project, asked, &serde_json::from_str(&text).unwrap());
    assert_eq!(finished.status, 0, "{finished:?}");
    let told = fs::read_to_string(project.home().join("told"));
    serde_json::from_str(&told.unwrap_or_else(|_| panic!("{event} was not asked: {finished:?}")))
        .unwrap()
}

#[test]
fn fault_61_cursors_hooks_are_told_what_cursor_tells_them() {
    let shell = json!({"tool_name": "Bash", "tool_input": {"command": "ls"}, "duration_ms": 5,
        "tool_response": {"stdout": "a\nb", "stderr": "c", "interrupted": false}});
    let server = json!({"tool_name": "mcp__git__push", "tool_input": {"to": "x"},
        "tool_response": {"ok": true}});
    let edited = json!({"tool_name": "Edit", "tool_response": {}, "tool_input":
        {"file_path": "/PROJECT/notes.txt", "old_string": "a", "new_string": "b"}});
    let written = json!({"tool_name": "Write", "tool_response": {}, "tool_input":
        {"file_path": "/PROJECT/notes.txt", "content": "new"}});
    let read = json!({"tool_name": "Read", "tool_input": {"file_path": "/PROJECT/notes.txt"}});
    let end = |active: bool| json!({"stop_hook_active": active});
    let subagent = json!({"stop_hook_active": false, "agent_id": "a", "agent_type": "t"});
    let failed = json!({"tool_name": "Bash", "tool_input": {"command": "ls"}, "error": "no"});
    for (event, asked, sent, expected) in [
        (
            "beforeReadFile",
            "PreToolUse",
            &read,
            json!({"content": "some text\n", "attachments": []}),
        ),
        ("beforeShellExecution", "PreToolUse", &shell, json!({"command": "ls", "sandbox": false})),
        (
            "beforeMCPExecution",
            "PreToolUse",
            &server,
            json!({"tool_input": "{\"to\":\"x\"}", "mcp_server_name": "git"}),
        ),
        (
            "afterShellExecution",
            "PostToolUse",
            &shell,
            json!({"output": "a\nb\nc", "duration": 5, "sandbox": false}),
        ),
        (
            "postToolUse",
            "PostToolUse",
            &server,
            json!({"tool_output": "{\"ok\":true}", "tool_input": {"to": "x"}}),
        ),
        (
            "afterMCPExecution",
            "PostToolUse",
            &server,
            json!({"result_json": "{\"ok\":true}", "tool_input": "{\"to\":\"x\"}"}),
        ),
        (
            "afterFileEdit",
            "PostToolUse",
            &edited,
            json!({"edits": [{"old_string": "a", "new_string": "b"}]}),
        ),
        (
            "afterFileEdit",
            "PostToolUse",
            &written,
            json!({"edits": [{"old_string": "", "new_string": "new"}]}),
        ),
        (
            "postToolUseFailure",
            "PostToolUseFailure",
            &failed,
            json!({"error_message": "no", "failure_type": "error", "is_interrupt": false}),
        ),
        (
            "beforeSubmitPrompt",
            "UserPromptSubmit",
            &json!({"prompt": "p"}),
            json!({"prompt": "p", "attachments": []}),
        ),
        ("stop", "Stop", &end(false), json!({"status": "completed", "loop_count": 0})),
        ("stop", "Stop", &end(true), json!({"status": "completed", "loop_count": 1})),
        (
            "subagentStop",
            "SubagentStop",
            &subagent,
            json!({"status": "completed", "loop_count": 0}),
        ),
        (
            "sessionStart",
            "SessionStart",
            &json!({"source": "startup"}),
            json!({"session_id": "s", "conversation_id": "s", "is_background_agent": false}),
        ),
        (
            "sessionEnd",
            "SessionEnd",
            &json!({"reason": "prompt_input_exit"}),
            json!({"session_id": "s", "reason": "user_close"}),
        ),
    ] {
        let told = told(event, asked, sent);
        for (name, value) in expected.as_object().unwrap() {
            assert_eq!(&told[name], value, "{event} {name}: {told}");
        }
    }
}

#[test]
fn fault_61_of_a_large_file_a_hook_is_told_a_part_and_a_pipe_is_not_waited_for() {
    let script = "wc -c > \"$HOME/told\"";
    let project = of_user(&hook("cursor", "beforeReadFile", script));
    project.write("large.txt", &"x".repeat(3 << 20));
    let made = std::process::Command::new("mkfifo").arg(project.path().join("pipe")).status();
    assert!(made.unwrap().success());
    for (name, range) in [("large.txt", 1 << 20..2 << 20), ("pipe", 1..1000), ("gone", 1..1000)] {
        let sent =
            json!({"tool_name": "Read", "tool_input": {"file_path": project.path().join(name)}});
        let finished = ask_as_claude(&project, "PreToolUse", &sent);
        assert_eq!(finished.status, 0, "{finished:?}");
        let told = fs::read_to_string(project.home().join("told")).unwrap();
        assert!(range.contains(&told.trim().parse::<i32>().unwrap()), "{name}: {told}");
    }
}

#[test]
fn fault_61_claudes_hooks_at_the_start_of_a_session_have_a_file_for_variables() {
    let script = "printf 'export A=1\\nB=\"two words\"\\n. ./x\\n' >> \"$CLAUDE_ENV_FILE\"; \
                  echo \"$CLAUDE_ENV_FILE\" > \"$HOME/path\"";
    let project = of_user(&hook("claude", "SessionStart", script));
    let sent = json!({"conversation_id": "c", "hook_event_name": "sessionStart", "session_id": "c",
        "workspace_roots": [project.path()]});
    let ask = Hook::new(&project, &["bridge", "cursor", "sessionStart"]).stdin(sent.to_string());
    let finished = ask.env("CLAUDE_ENV_FILE", "").run();
    assert_eq!(answer(&finished)["env"], json!({"A": "1", "B": "two words"}), "{finished:?}");
    assert!(finished.stderr.contains("line 3"), "{finished:?}");
    let path = fs::read_to_string(project.home().join("path")).unwrap();
    assert!(!std::path::Path::new(path.trim()).exists(), "{path}");
}

//! Cursor's.

use hook_tests::Project;
use serde_json::{Value, json};

use super::{assert_at_home, case, play, runs};

fn base() -> Value {
    json!({"conversation_id": "c", "generation_id": "g", "model": "m", "hook_event_name": "",
        "cursor_version": "2.1.0", "workspace_roots": ["/PROJECT"], "user_email": "u@example.org",
        "transcript_path": null})
}

fn shell() -> Value {
    json!({"command": "rm -r build", "cwd": "/PROJECT"})
}

fn tool() -> Value {
    json!({"tool_name": "Shell", "tool_input": {"command": "ls"}, "tool_use_id": "u", "cwd": "/PROJECT"})
}

#[test]
fn exit_codes_and_output_mean_what_they_mean_at_home() {
    let denied = |reason: &str| json!({"permission": "deny", "user_message": reason, "agent_message": reason});
    play(
        "cursor",
        &base(),
        false,
        vec![
            case("beforeShellExecution", shell(), "exit 0", json!(null)),
            case("beforeShellExecution", shell(), "echo no >&2; exit 2", denied("no")),
            case("beforeShellExecution", shell(), "echo no >&2; exit 1", json!(null)),
            case("beforeShellExecution", shell(), "echo no object", json!(null)),
            case(
                "beforeShellExecution",
                shell(),
                r#"echo '{"permission":"deny","user_message":"u","agent_message":"a"}'"#,
                json!({"permission": "deny", "user_message": "u", "agent_message": "a"}),
            ),
            case(
                "beforeShellExecution",
                shell(),
                r#"echo '{"permission":"ask","user_message":"u"}'"#,
                json!({"permission": "ask", "user_message": "u"}),
            ),
            case(
                "beforeShellExecution",
                shell(),
                r#"echo '{"permission":"allow"}'"#,
                json!({"permission": "allow"}),
            ),
            // Before a tool, nobody is asked.
            case("preToolUse", tool(), r#"echo '{"permission":"ask"}'"#, json!(null)),
            case(
                "preToolUse",
                tool(),
                r#"echo '{"permission":"allow","updated_input":{"command":"pwd"}}'"#,
                json!({"permission": "allow", "updated_input": {"command": "pwd"}}),
            ),
            case(
                "beforeMCPExecution",
                json!({"tool_name": "push", "tool_input": "{\"a\":1}", "url": "http://x"}),
                r#"echo '{"permission":"deny","agent_message":"a"}'"#,
                json!({"permission": "deny", "agent_message": "a"}),
            ),
            case(
                "beforeReadFile",
                json!({"file_path": "/PROJECT/.env", "content": "K=1", "attachments": []}),
                r#"echo '{"permission":"deny"}'"#,
                denied("blocked by a hook"),
            ),
            case(
                "beforeSubmitPrompt",
                json!({"prompt": "p", "attachments": []}),
                r#"echo '{"continue":false,"user_message":"no"}'"#,
                json!({"continue": false, "user_message": "no"}),
            ),
            case(
                "stop",
                json!({"status": "completed", "loop_count": 0}),
                r#"echo '{"followup_message":"more"}'"#,
                json!({"followup_message": "more"}),
            ),
            case(
                "postToolUse",
                json!({"tool_name": "Shell", "tool_input": {}, "tool_output": "\"x\"", "duration": 3}),
                r#"echo '{"additional_context":"c"}'"#,
                json!({"additional_context": "c"}),
            ),
            case(
                "sessionStart",
                json!({"session_id": "s", "is_background_agent": false}),
                r#"echo '{"env":{"A":"1"},"additional_context":"c"}'"#,
                json!({"env": {"A": "1"}, "additional_context": "c"}),
            ),
            case(
                "subagentStart",
                json!({"subagent_id": "a", "subagent_type": "explore", "task": "t"}),
                r#"echo '{"permission":"ask"}'"#,
                denied("blocked by a hook"),
            ),
            // What is only told changes nothing.
            case(
                "afterFileEdit",
                json!({"file_path": "/PROJECT/a", "edits": [{"old_string": "a", "new_string": "b"}]}),
                "exit 2",
                json!(null),
            ),
            case("afterAgentResponse", json!({"text": "t"}), "exit 2", json!(null)),
        ],
    );
}

#[test]
fn matchers_are_expressions_for_what_the_event_is_about() {
    for (event, said, matcher, expected) in [
        ("beforeShellExecution", shell(), "curl|rm ", true),
        ("beforeShellExecution", shell(), "^curl", false),
        ("preToolUse", tool(), "Shell", true),
        ("preToolUse", tool(), "Write", false),
        ("beforeReadFile", json!({"file_path": "/a", "content": ""}), "Read", true),
        ("beforeReadFile", json!({"file_path": "/a", "content": ""}), "TabRead", false),
        ("stop", json!({"status": "completed", "loop_count": 0}), "Stop", true),
    ] {
        assert_eq!(
            runs("cursor", &base(), false, event, &said, matcher),
            expected,
            "{event} {matcher}"
        );
    }
}

#[test]
fn a_hook_is_told_what_it_is_told_at_home() {
    let events = [
        ("beforeShellExecution", shell()),
        ("preToolUse", tool()),
        (
            "beforeMCPExecution",
            json!({"tool_name": "push", "tool_input": "{\"a\":1}", "command": "x"}),
        ),
        ("beforeReadFile", json!({"file_path": "/PROJECT/a", "content": "c", "attachments": []})),
        ("afterFileEdit", json!({"file_path": "/PROJECT/a", "edits": []})),
        ("afterShellExecution", json!({"command": "ls", "output": "o", "duration": 3})),
        ("stop", json!({"status": "aborted", "loop_count": 2})),
        ("sessionEnd", json!({"session_id": "s", "reason": "completed", "duration_ms": 5})),
        ("afterAgentThought", json!({"text": "t"})),
    ];
    assert_at_home(
        "cursor",
        &base(),
        false,
        &events,
        &["CURSOR_PROJECT_DIR", "CLAUDE_PROJECT_DIR"],
    );
}

/// Cursor runs what is written in Claude Code's form as its own: under Claude's names of events and tools,
/// in groups, and answered in Claude's words.
#[test]
fn groups_in_claudes_form_are_run_as_cursor_runs_them() {
    let denial = json!({"hookSpecificOutput": {"hookEventName": "PreToolUse",
        "permissionDecision": "deny", "permissionDecisionReason": "no"}});
    let goes_on = json!({"decision": "block", "reason": "tests fail"});
    let nested = json!({"hookSpecificOutput": {"decision": "block", "reason": "tests fail"}});
    let prompt = json!({"continue": false, "user_message": "no"});
    let says = |answer: &Value| format!("echo '{answer}'");
    let edit =
        json!({"tool_name": "Write", "tool_input": {"file_path": "/PROJECT/a"}, "cwd": "/PROJECT"});
    let stop = json!({"status": "completed", "loop_count": 7});
    let project = Project::new();
    for (claudes, event, said, matcher, script, expected) in [
        ("PreToolUse", "preToolUse", tool(), Some("Bash"), says(&denial), "deny"),
        ("PreToolUse", "preToolUse", tool(), Some("Shell"), says(&denial), "deny"),
        ("PreToolUse", "preToolUse", tool(), Some("^Bash$"), "echo no >&2; exit 2".into(), "deny"),
        ("PreToolUse", "preToolUse", tool(), Some("Edit|Write"), says(&denial), ""),
        ("PreToolUse", "preToolUse", edit.clone(), Some("Edit"), says(&denial), "deny"),
        // Cursor has no such tool, and passes the group over.
        ("PreToolUse", "preToolUse", tool(), Some("Bash|Glob"), says(&denial), ""),
        // It asks about that in another event.
        ("PreToolUse", "beforeShellExecution", shell(), None, says(&denial), ""),
        (
            "UserPromptSubmit",
            "beforeSubmitPrompt",
            json!({"prompt": "p"}),
            None,
            says(&prompt),
            "no",
        ),
        // No limit holds for how often it goes on.
        ("Stop", "stop", stop.clone(), None, says(&goes_on), "tests fail"),
        ("Stop", "stop", stop.clone(), None, says(&nested), "tests fail"),
        ("Notification", "stop", stop, None, says(&goes_on), ""),
    ] {
        let said = super::with(&base(), event, &said, &project);
        let hook = json!({"type": "command", "command": script});
        let settings = super::settings(claudes, hook, matcher, true);
        let finished = super::bridge(&project, "cursor", &settings, event, &said);
        let about = format!("{claudes} {matcher:?}: {finished:?}");
        assert_eq!(finished.status, 0, "{about}");
        match expected {
            "" => assert_eq!(finished.stdout, "", "{about}"),
            expected => assert!(finished.stdout.contains(expected), "{about}"),
        }
    }
}

#[test]
fn what_is_told_of_claudes_form_is_what_cursor_says() {
    let project = Project::new();
    let said = super::with(&base(), "preToolUse", &tool(), &project);
    let hook = json!({"type": "command", "command": "cat > seen"});
    let settings = super::settings("PreToolUse", hook, Some("Bash"), true);
    let finished = super::bridge(&project, "cursor", &settings, "preToolUse", &said);
    assert_eq!(finished.status, 0, "{finished:?}");
    assert_eq!(serde_json::from_str::<Value>(&project.read("seen")).unwrap(), said);
}

//! Those of VS Code's own agent.

use serde_json::{Value, json};

use super::{assert_at_home, case, play, runs};

fn base() -> Value {
    json!({"timestamp": "2026-11-22T07:37:35.716Z", "cwd": "/PROJECT", "sessionId": "s",
        "hookEventName": "", "transcript_path": "/t"})
}

fn call() -> Value {
    json!({"tool_name": "editFiles", "tool_input": {"files": ["a"]}, "tool_use_id": "u"})
}

#[test]
fn exit_codes_and_output_mean_what_they_mean_at_home() {
    let denied = |reason: &str| {
        json!({"hookSpecificOutput": {"hookEventName": "PreToolUse",
            "permissionDecision": "deny", "permissionDecisionReason": reason}})
    };
    play(
        "vscode",
        &base(),
        false,
        vec![
            case("PreToolUse", call(), "exit 0", json!(null)),
            case("PreToolUse", call(), "echo no >&2; exit 2", denied("no")),
            case("PreToolUse", call(), "echo no >&2; exit 1", json!(null)),
            // The event need not be named.
            case(
                "PreToolUse",
                call(),
                r#"echo '{"hookSpecificOutput":{"permissionDecision":"deny","permissionDecisionReason":"r"}}'"#,
                denied("r"),
            ),
            case(
                "Stop",
                json!({"stop_hook_active": false}),
                r#"echo '{"hookSpecificOutput":{"hookEventName":"Stop","decision":"block","reason":"more"}}'"#,
                json!({"hookSpecificOutput": {"hookEventName": "Stop", "decision": "block", "reason": "more"}}),
            ),
            case(
                "PostToolUse",
                json!({"tool_name": "t", "tool_input": {}, "tool_response": "x"}),
                r#"echo '{"decision":"block","reason":"bad"}'"#,
                json!({"decision": "block", "reason": "bad"}),
            ),
            case(
                "SessionStart",
                json!({"source": "new"}),
                r#"echo '{"hookSpecificOutput":{"hookEventName":"SessionStart","additionalContext":"c"}}'"#,
                json!({"hookSpecificOutput": {"hookEventName": "SessionStart", "additionalContext": "c"}}),
            ),
        ],
    );
}

/// What is written for Copilot CLI names a command for each shell, which VS Code reads as one for each system.
#[cfg(target_os = "linux")]
#[test]
fn commands_of_copilots_form_run() {
    let project = hook_tests::Project::new();
    let said = super::with(&base(), "PreToolUse", &call(), &project);
    for (key, denies) in [("bash", true), ("powershell", false)] {
        let hook = json!({"type": "command", key: "echo no >&2; exit 2"});
        let settings = super::settings("preToolUse", hook, None, false);
        let finished = super::bridge(&project, "vscode", &settings, "PreToolUse", &said);
        assert_eq!(finished.stdout.contains("deny"), denies, "{key}: {finished:?}");
    }
}

#[test]
fn a_name_in_another_case_is_the_same_event() {
    let project = hook_tests::Project::new();
    let said = super::with(&base(), "PreToolUse", &call(), &project);
    let theirs =
        json!({"hooks": {"preToolUse": [{"type": "command", "command": "echo no >&2; exit 2"}]}});
    let finished = super::bridge(&project, "vscode", &theirs, "PreToolUse", &said);
    let specific = &super::answer(&finished)["hookSpecificOutput"];
    assert_eq!(specific["permissionDecision"], "deny", "{finished:?}");
}

#[test]
fn matchers_are_passed_over() {
    assert!(runs("vscode", &base(), false, "PreToolUse", &call(), "nothing of the kind"));
    assert!(runs("vscode", &base(), true, "PreToolUse", &call(), "Bash"));
}

#[test]
fn a_hook_is_told_what_it_is_told_at_home() {
    let events = [("PreToolUse", call()), ("SessionStart", json!({"source": "new"}))];
    assert_at_home("vscode", &base(), false, &events, &[]);
}

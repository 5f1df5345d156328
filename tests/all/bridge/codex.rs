//! Codex CLI's.

use serde_json::{Value, json};

use super::{assert_at_home, case, play, runs};

fn base() -> Value {
    json!({"session_id": "s", "turn_id": "t", "transcript_path": null, "cwd": "/PROJECT",
        "hook_event_name": "", "model": "m", "permission_mode": "default"})
}

fn shell() -> Value {
    json!({"tool_name": "Bash", "tool_input": {"command": "ls"}, "tool_use_id": "u"})
}

#[test]
fn exit_codes_and_output_mean_what_they_mean_at_home() {
    let denied = |reason: &str| {
        json!({"hookSpecificOutput": {"hookEventName": "PreToolUse",
            "permissionDecision": "deny", "permissionDecisionReason": reason}})
    };
    let context = |event: &str, text: &str| json!({"hookSpecificOutput": {"hookEventName": event, "additionalContext": text}});
    play(
        "codex",
        &base(),
        true,
        vec![
            case("PreToolUse", shell(), "exit 0", json!(null)),
            case("PreToolUse", shell(), "echo no >&2; exit 2", denied("no")),
            // Without a word it is a failed run.
            case("PreToolUse", shell(), "exit 2", json!(null)),
            case("PreToolUse", shell(), "echo no >&2; exit 1", json!(null)),
            case("PreToolUse", shell(), "echo plain", json!(null)),
            case(
                "PreToolUse",
                shell(),
                r#"echo '{"decision":"block","reason":"old"}'"#,
                denied("old"),
            ),
            case(
                "PreToolUse",
                shell(),
                r#"echo '{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"deny","permissionDecisionReason":"r"}}'"#,
                denied("r"),
            ),
            // A denial needs a reason, and nothing may be there that is not known.
            case(
                "PreToolUse",
                shell(),
                r#"echo '{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"deny"}}'"#,
                json!(null),
            ),
            case(
                "PreToolUse",
                shell(),
                r#"echo '{"decision":"block","reason":"r","note":1}'"#,
                json!(null),
            ),
            case(
                "PreToolUse",
                shell(),
                r#"echo '{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"ask"}}'"#,
                json!(null),
            ),
            case("PreToolUse", shell(), r#"echo '{"continue":false}'"#, json!(null)),
            case(
                "PreToolUse",
                shell(),
                r#"echo '{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"allow","updatedInput":{"command":"pwd"}}}'"#,
                json!({"hookSpecificOutput": {"hookEventName": "PreToolUse",
                "permissionDecision": "allow", "updatedInput": {"command": "pwd"}}}),
            ),
            case(
                "UserPromptSubmit",
                json!({"prompt": "p"}),
                "echo more",
                context("UserPromptSubmit", "more"),
            ),
            case(
                "SessionStart",
                json!({"source": "clear"}),
                "echo more",
                context("SessionStart", "more"),
            ),
            case(
                "SessionStart",
                json!({"source": "startup"}),
                r#"echo '{"continue":false,"stopReason":"no"}'"#,
                json!({"continue": false, "stopReason": "no"}),
            ),
            case(
                "Stop",
                json!({"stop_hook_active": false, "last_assistant_message": null}),
                r#"echo '{"decision":"block","reason":"go on"}'"#,
                json!({"decision": "block", "reason": "go on"}),
            ),
            case("Stop", json!({"stop_hook_active": false}), "echo plain", json!(null)),
            case(
                "PostToolUse",
                json!({"tool_name": "Bash", "tool_input": {"command": "ls"}, "tool_response": "out"}),
                r#"echo '{"decision":"block","reason":"bad"}'"#,
                json!({"decision": "block", "reason": "bad"}),
            ),
            case(
                "PermissionRequest",
                json!({"tool_name": "Bash", "tool_input": {"command": "ls"}}),
                r#"echo '{"hookSpecificOutput":{"hookEventName":"PermissionRequest","decision":{"behavior":"allow"}}}'"#,
                json!({"hookSpecificOutput": {"hookEventName": "PermissionRequest", "decision": {"behavior": "allow"}}}),
            ),
            case(
                "Interrupt",
                json!({}),
                r#"echo '{"systemMessage":"bye"}'"#,
                json!({"systemMessage": "bye"}),
            ),
        ],
    );
}

#[test]
fn matchers_are_lists_of_names_or_expressions() {
    let patch = json!({"tool_name": "apply_patch", "tool_input": {"command": "*** Begin Patch"}});
    for (event, said, matcher, expected) in [
        ("PreToolUse", shell(), "Bash", true),
        ("PreToolUse", shell(), "Edit|Bash", true),
        ("PreToolUse", shell(), "Bas", false),
        ("PreToolUse", shell(), "^Ba", true),
        ("PreToolUse", shell(), "(?i)bash", true),
        ("PreToolUse", patch.clone(), "Edit|Write", true),
        ("PreToolUse", patch, "Bash", false),
        ("SessionStart", json!({"source": "resume"}), "startup|resume", true),
    ] {
        assert_eq!(
            runs("codex", &base(), true, event, &said, matcher),
            expected,
            "{event} {matcher}"
        );
    }
}

#[test]
fn a_hook_is_told_what_it_is_told_at_home() {
    let events = [
        ("PreToolUse", shell()),
        ("SessionStart", json!({"source": "compact"})),
        ("SessionEnd", json!({"reason": "other"})),
        ("Stop", json!({"stop_hook_active": true, "last_assistant_message": null})),
    ];
    assert_at_home("codex", &base(), true, &events, &[]);
}

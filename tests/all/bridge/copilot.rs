//! Copilot CLI's.

use serde_json::{Value, json};

use super::{assert_at_home, case, play, runs};

fn own() -> Value {
    json!({"sessionId": "s", "timestamp": 1_795_332_885_098_u64, "cwd": "/PROJECT"})
}

fn claudes() -> Value {
    json!({"hook_event_name": "", "session_id": "s", "timestamp": "2026-11-22T07:37:35.716Z",
        "cwd": "/PROJECT"})
}

fn call() -> Value {
    json!({"toolName": "bash", "toolArgs": {"command": "ls"}})
}

#[test]
fn exit_codes_and_output_mean_what_they_mean_at_home() {
    let denied =
        |reason: &str| json!({"permissionDecision": "deny", "permissionDecisionReason": reason});
    play(
        "copilot",
        &own(),
        false,
        vec![
            case("preToolUse", call(), "exit 0", json!(null)),
            case("preToolUse", call(), "echo no >&2; exit 2", denied("no")),
            // Any failure denies.
            case("preToolUse", call(), "echo no >&2; exit 1", denied("no")),
            case("preToolUse", call(), "exit 1", denied("the hook failed with exit code 1")),
            case("preToolUse", call(), "echo plain", json!(null)),
            case(
                "preToolUse",
                call(),
                r#"echo '{"permissionDecision":"deny","permissionDecisionReason":"r"}'"#,
                denied("r"),
            ),
            case(
                "preToolUse",
                call(),
                r#"echo '{"type":"progress","message":"m"}'; echo '{"permissionDecision":"deny","permissionDecisionReason":"r"}'"#,
                denied("r"),
            ),
            // Its own form is read at the top alone.
            case(
                "preToolUse",
                call(),
                r#"echo '{"hookSpecificOutput":{"permissionDecision":"deny","permissionDecisionReason":"r"}}'"#,
                json!(null),
            ),
            case(
                "preToolUse",
                call(),
                r#"echo '{"permissionDecision":"allow","modifiedArgs":{"command":"pwd"}}'"#,
                json!({"permissionDecision": "allow", "modifiedArgs": {"command": "pwd"}}),
            ),
            case(
                "postToolUse",
                json!({"toolName": "bash", "toolArgs": {}, "toolResult": {"resultType": "success", "textResultForLlm": "x"}}),
                r#"echo '{"additionalContext":"c","modifiedResult":{"resultType":"success","textResultForLlm":"y"}}'"#,
                json!({"additionalContext": "c", "modifiedResult": {"resultType": "success", "textResultForLlm": "y"}}),
            ),
            case(
                "agentStop",
                json!({"stopReason": "end_turn"}),
                r#"echo '{"decision":"block","reason":"more"}'"#,
                json!({"decision": "block", "reason": "more"}),
            ),
            case("agentStop", json!({}), "echo no >&2; exit 2", json!(null)),
            case(
                "permissionRequest",
                call(),
                r#"echo '{"behavior":"deny","message":"m"}'"#,
                json!({"behavior": "deny", "message": "m"}),
            ),
            case(
                "sessionStart",
                json!({"source": "new"}),
                r#"echo '{"additionalContext":"c"}'"#,
                json!({"additionalContext": "c"}),
            ),
            case("userPromptSubmitted", json!({"prompt": "p"}), "echo no >&2; exit 2", json!(null)),
            case(
                "userPromptSubmitted",
                json!({"prompt": "p"}),
                r#"echo '{"handled":true,"responseContent":"not here"}'"#,
                json!({"handled": true, "responseContent": "not here"}),
            ),
            case(
                "postToolUseFailure",
                json!({"toolName": "bash", "toolArgs": {}, "error": "e"}),
                "echo try again; exit 2",
                json!({"additionalContext": "try again"}),
            ),
            case(
                "userPromptSubmitted",
                json!({"prompt": "p"}),
                r#"echo '{"additionalContext":"c"}'"#,
                json!({"additionalContext": "c"}),
            ),
        ],
    );
    play(
        "copilot",
        &claudes(),
        false,
        vec![
            case(
                "PreToolUse",
                json!({"tool_name": "Bash", "tool_input": {"command": "ls"}}),
                r#"echo '{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"deny","permissionDecisionReason":"r"}}'"#,
                denied("r"),
            ),
            // What is told in Claude's form may be answered in it.
            case(
                "SessionStart",
                json!({"source": "startup"}),
                r#"echo '{"hookSpecificOutput":{"hookEventName":"SessionStart","additionalContext":"c"}}'"#,
                json!({"additionalContext": "c"}),
            ),
        ],
    );
    let specific =
        r#"echo '{"hookSpecificOutput":{"hookEventName":"sessionStart","additionalContext":"c"}}'"#;
    let start = case("sessionStart", json!({"source": "new"}), specific, json!(null));
    play("copilot", &own(), false, vec![start]);
}

#[test]
fn matchers_are_for_the_whole_name() {
    let bash = json!({"tool_name": "Bash", "tool_input": {"command": "ls"}});
    for (base, event, said, matcher, expected) in [
        (own(), "preToolUse", call(), "bash", true),
        (own(), "preToolUse", call(), "bas", false),
        (own(), "preToolUse", call(), "b.*", true),
        (own(), "preToolUse", call(), "view|bash", true),
        (own(), "preToolUse", call(), "(", false),
        (claudes(), "PreToolUse", bash.clone(), "Edit|Bash", true),
        (claudes(), "PreToolUse", bash.clone(), "view|bash", true),
        (claudes(), "PreToolUse", bash.clone(), "Ba", false),
        (claudes(), "PreToolUse", bash, "**", true),
    ] {
        assert_eq!(
            runs("copilot", &base, false, event, &said, matcher),
            expected,
            "{event} {matcher}"
        );
    }
}

#[test]
fn a_hook_is_told_what_it_is_told_at_home() {
    let events = [
        ("preToolUse", call()),
        ("sessionEnd", json!({"reason": "complete"})),
        ("userPromptSubmitted", json!({"prompt": "p"})),
        ("errorOccurred", json!({"error": {"message": "m"}})),
    ];
    assert_at_home("copilot", &own(), false, &events, &["COPILOT_PROJECT_DIR"]);
    let events = [
        ("PreToolUse", json!({"tool_name": "Bash", "tool_input": {"command": "ls"}})),
        ("Stop", json!({"stop_reason": "end_turn"})),
    ];
    assert_at_home("copilot", &claudes(), false, &events, &["COPILOT_PROJECT_DIR"]);
}

//! Claude Code's.

use hook_tests::{Hook, Project};
use serde_json::{Value, json};

use super::{answer, assert_at_home, bridge, case, play, runs, settings, with};

fn base() -> Value {
    json!({"session_id": "s", "transcript_path": "/t.jsonl", "cwd": "/PROJECT",
        "permission_mode": "default", "hook_event_name": ""})
}

fn shell() -> Value {
    json!({"tool_name": "Bash", "tool_input": {"command": "ls -l"}, "tool_use_id": "u1"})
}

fn specific(event: &str, fields: Value) -> Value {
    let mut specific = json!({"hookEventName": event});
    for (name, value) in fields.as_object().unwrap() {
        specific[name] = value.clone();
    }
    json!({"hookSpecificOutput": specific})
}

fn denied(reason: &str) -> Value {
    specific(
        "PreToolUse",
        json!({"permissionDecision": "deny", "permissionDecisionReason": reason}),
    )
}

#[test]
fn exit_codes_and_output_mean_what_they_mean_at_home() {
    let context = |event, text: &str| specific(event, json!({"additionalContext": text}));
    play(
        "claude",
        &base(),
        true,
        vec![
            case("PreToolUse", shell(), "exit 0", json!(null)),
            case("PreToolUse", shell(), "echo plain text", json!(null)),
            case("PreToolUse", shell(), "exit 1", json!(null)),
            // Its user is told, as there.
            case(
                "PreToolUse",
                shell(),
                "exit 127",
                json!({"systemMessage": "hook exit 127 did not run: exit code 127 says that what it runs was not found"}),
            ),
            case("PreToolUse", shell(), "echo no >&2; exit 2", denied("no")),
            case(
                "PreToolUse",
                shell(),
                r#"echo '{"decision":"block","reason":"json"}'; echo err >&2; exit 2"#,
                denied("json"),
            ),
            // Whatever the object allows, exit 2 denies.
            case(
                "PreToolUse",
                shell(),
                r#"echo '{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"allow"}}'; echo err >&2; exit 2"#,
                denied("err"),
            ),
            // An object counts on any exit code.
            case(
                "PreToolUse",
                shell(),
                r#"echo '{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"deny","permissionDecisionReason":"r"}}'; exit 1"#,
                denied("r"),
            ),
            // Text around it makes it text.
            case(
                "PreToolUse",
                shell(),
                r#"echo banner; echo '{"decision":"block","reason":"r"}'"#,
                json!(null),
            ),
            // The event has to be its own.
            case(
                "PreToolUse",
                shell(),
                r#"echo '{"hookSpecificOutput":{"permissionDecision":"deny","permissionDecisionReason":"r"}}'"#,
                json!(null),
            ),
            case(
                "PreToolUse",
                shell(),
                r#"echo '{"decision":"block","reason":"old"}'"#,
                denied("old"),
            ),
            case(
                "PreToolUse",
                shell(),
                r#"echo '{"decision":"approve","reason":"old"}'"#,
                specific("PreToolUse", json!({"permissionDecision": "allow"})),
            ),
            case(
                "PreToolUse",
                shell(),
                r#"echo '{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"ask","permissionDecisionReason":"sure?"}}'"#,
                specific(
                    "PreToolUse",
                    json!({"permissionDecision": "ask", "permissionDecisionReason": "sure?"}),
                ),
            ),
            case(
                "PreToolUse",
                shell(),
                r#"echo '{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"allow","updatedInput":{"command":"ls"},"additionalContext":"c"}}'"#,
                specific(
                    "PreToolUse",
                    json!({"permissionDecision": "allow", "updatedInput": {"command": "ls"}, "additionalContext": "c"}),
                ),
            ),
            case(
                "UserPromptSubmit",
                json!({"prompt": "p"}),
                "echo more",
                context("UserPromptSubmit", "more"),
            ),
            case(
                "UserPromptSubmit",
                json!({"prompt": "p"}),
                "echo no >&2; exit 2",
                json!({"decision": "block", "reason": "no"}),
            ),
            case(
                "SessionStart",
                json!({"source": "compact"}),
                "echo more",
                context("SessionStart", "more"),
            ),
            case(
                "SessionStart",
                json!({"source": "startup"}),
                "echo said >&2; exit 2",
                json!({"systemMessage": "said"}),
            ),
            case(
                "PostToolUse",
                json!({"tool_name": "Bash", "tool_input": {}, "tool_response": {"stdout": "x"}}),
                "echo bad >&2; exit 2",
                json!({"decision": "block", "reason": "bad"}),
            ),
            case(
                "Stop",
                json!({"stop_hook_active": false, "last_assistant_message": "done"}),
                r#"echo '{"decision":"block","reason":"go on"}'"#,
                json!({"decision": "block", "reason": "go on"}),
            ),
            case("Stop", json!({"stop_hook_active": false}), "echo plain", json!(null)),
            case(
                "PermissionRequest",
                shell(),
                r#"echo '{"hookSpecificOutput":{"hookEventName":"PermissionRequest","decision":{"behavior":"allow","updatedInput":{"command":"q"}}}}'"#,
                specific(
                    "PermissionRequest",
                    json!({"decision": {"behavior": "allow", "updatedInput": {"command": "q"}}}),
                ),
            ),
            case(
                "WorktreeCreate",
                json!({"name": "w"}),
                "echo log; echo /tmp/wt",
                json!("/tmp/wt"),
            ),
            case(
                "SubagentStop",
                json!({"agent_id": "a", "agent_type": "Explore", "stop_hook_active": false}),
                "echo more >&2; exit 2",
                json!({"decision": "block", "reason": "more"}),
            ),
            case("PermissionRequest", shell(), "echo no >&2; exit 2", json!(null)),
            case(
                "PermissionRequest",
                shell(),
                r#"echo '{"hookSpecificOutput":{"hookEventName":"PermissionRequest","decision":{"behavior":"allow"}}}'"#,
                specific("PermissionRequest", json!({"decision": {"behavior": "allow"}})),
            ),
            case(
                "PermissionRequest",
                shell(),
                r#"echo '{"hookSpecificOutput":{"hookEventName":"PermissionRequest","decision":{"behavior":"deny","message":"m"}}}'"#,
                specific(
                    "PermissionRequest",
                    json!({"decision": {"behavior": "deny", "message": "m"}}),
                ),
            ),
            case(
                "ConfigChange",
                json!({"source": "user_settings"}),
                "echo no >&2; exit 2",
                json!({"decision": "block", "reason": "no"}),
            ),
            case("Notification", json!({"message": "m"}), "echo no >&2; exit 2", json!(null)),
            case(
                "PreCompact",
                json!({"trigger": "auto"}),
                "exit 2",
                json!({"decision": "block",
            "reason": "the hook blocks, and does not say why"}),
            ),
            case(
                "UserPromptSubmit",
                json!({"prompt": "p"}),
                r#"echo '{"continue":false,"stopReason":"enough"}'"#,
                json!({"continue": false, "stopReason": "enough"}),
            ),
            case(
                "SessionStart",
                json!({"source": "startup"}),
                r#"echo '{"hookSpecificOutput":{"hookEventName":"SessionStart","sessionTitle":"t","watchPaths":["a"]}}'"#,
                specific("SessionStart", json!({"sessionTitle": "t", "watchPaths": ["a"]})),
            ),
        ],
    );
}

#[test]
fn matchers_are_lists_of_names_or_expressions() {
    for (event, said, matcher, expected) in [
        ("PreToolUse", shell(), "Bash", true),
        ("PreToolUse", shell(), "", true),
        ("PreToolUse", shell(), "*", true),
        ("PreToolUse", shell(), "Edit|Bash", true),
        ("PreToolUse", shell(), "Edit, Bash", true),
        ("PreToolUse", shell(), "Bas", false),
        ("PreToolUse", shell(), "^Ba", true),
        ("PreToolUse", shell(), "bash", false),
        ("PreToolUse", json!({"tool_name": "MultiEdit", "tool_input": {}}), "Edit", false),
        (
            "PreToolUse",
            json!({"tool_name": "mcp__git__push", "tool_input": {}}),
            "mcp__.*__push",
            true,
        ),
        (
            "PreToolUse",
            json!({"tool_name": "mcp__my-git__push", "tool_input": {}}),
            "mcp__my-git__push",
            true,
        ),
        ("SessionStart", json!({"source": "resume"}), "startup|resume", true),
        ("SessionStart", json!({"source": "compact"}), "startup|resume", false),
        ("SessionEnd", json!({"reason": "logout"}), "logout", true),
        ("Stop", json!({"stop_hook_active": false}), "nothing", true),
        ("UserPromptSubmit", json!({"prompt": "p"}), "nothing", true),
        ("FileChanged", json!({"file_path": "/a/.env", "event": "change"}), ".env", true),
        (
            "Notification",
            json!({"message": "m", "notification_type": "idle_prompt"}),
            "idle_prompt",
            true,
        ),
    ] {
        assert_eq!(
            runs("claude", &base(), true, event, &said, matcher),
            expected,
            "{event} {matcher}"
        );
    }
}

#[test]
fn a_hook_is_told_what_it_is_told_at_home() {
    let events = [
        ("PreToolUse", shell()),
        ("PostToolUseFailure", json!({"tool_name": "Bash", "tool_input": {}, "error": "e"})),
        ("SessionStart", json!({"source": "fork", "model": "m"})),
        ("SessionEnd", json!({"reason": "prompt_input_exit"})),
        ("PostToolBatch", json!({"tool_calls": []})),
        ("InstructionsLoaded", json!({"file_path": "/a", "load_reason": "startup"})),
        ("WorktreeRemove", json!({"worktree_path": "/w"})),
    ];
    assert_at_home("claude", &base(), true, &events, &["CLAUDE_PROJECT_DIR"]);
}

#[test]
fn a_plugin_finds_itself_and_a_list_of_words_is_no_shell_text() {
    let project = Project::new();
    project.write("plugin/say.sh", "#!/bin/sh\necho \"$1\" >&2; exit 2\n");
    let said = with(&base(), "PreToolUse", &shell(), &project);
    for hook in [
        json!({"type": "command", "command": "sh ${CLAUDE_PLUGIN_ROOT}/say.sh 'a b'"}),
        json!({"type": "command", "command": "sh \"$CLAUDE_PLUGIN_ROOT\"/say.sh 'a b'"}),
        json!({"type": "command", "command": "sh", "args": ["${CLAUDE_PLUGIN_ROOT}/say.sh", "a b"]}),
    ] {
        let theirs = settings("PreToolUse", hook.clone(), None, true);
        project.write("theirs.json", &theirs.to_string());
        let plugin = project.path().join("plugin").display().to_string();
        let arguments = ["bridge", "claude", "--settings", "theirs.json", "--plugin-root", &plugin];
        let finished = Hook::new(&project, &arguments).stdin(said.to_string()).run();
        assert_eq!(answer(&finished), denied("a b"), "{hook}: {finished:?}");
    }
}

#[test]
fn a_failure_blocks_where_the_hook_says_so() {
    let project = Project::new();
    let said = with(&base(), "PreToolUse", &shell(), &project);
    for (command, blocks) in [("exit 1", true), ("exit 0", false), ("/nowhere/x", true)] {
        let hook = json!({"type": "command", "command": command, "onFailure": "block"});
        let theirs = settings("PreToolUse", hook, None, true);
        let finished = bridge(&project, "claude", &theirs, "PreToolUse", &said);
        let decision = &answer(&finished)["hookSpecificOutput"]["permissionDecision"];
        assert_eq!(decision == "deny", blocks, "{command}: {finished:?}");
    }
    let hook =
        json!({"type": "command", "command": "sleep 60", "timeout": 0.2, "onFailure": "block"});
    let theirs = settings("PreToolUse", hook, None, true);
    let finished = bridge(&project, "claude", &theirs, "PreToolUse", &said);
    assert_eq!(answer(&finished)["hookSpecificOutput"]["permissionDecision"], "deny");
}

#[test]
fn a_condition_is_a_permission_rule() {
    let project = Project::new();
    let said = with(&base(), "PreToolUse", &shell(), &project);
    for (rule, expected) in
        [("Bash(ls *)", true), ("Bash(git *)", false), ("Edit", false), ("Bash", true)]
    {
        let hook = json!({"type": "command", "if": rule, "command": "echo no >&2; exit 2"});
        let theirs = settings("PreToolUse", hook, None, true);
        let finished = bridge(&project, "claude", &theirs, "PreToolUse", &said);
        assert_eq!(answer(&finished) == denied("no"), expected, "{rule}: {finished:?}");
    }
}

#[test]
fn the_strictest_of_several_decides_and_all_context_is_kept() {
    let project = Project::new();
    let said = with(&base(), "PreToolUse", &shell(), &project);
    let hook = |answer: Value| {
        let answer = specific("PreToolUse", answer);
        json!({"type": "command", "command": format!("echo '{answer}'")})
    };
    let theirs = json!({"hooks": {"PreToolUse": [
        {"hooks": [hook(json!({"permissionDecision": "allow", "additionalContext": "one"}))]},
        {"hooks": [hook(json!({"permissionDecision": "deny", "permissionDecisionReason": "no"}))]},
        {"hooks": [hook(json!({"permissionDecision": "ask", "additionalContext": "two"}))]},
    ]}});
    let finished = bridge(&project, "claude", &theirs, "PreToolUse", &said);
    let specific = &answer(&finished)["hookSpecificOutput"];
    assert_eq!(
        (&specific["permissionDecision"], &specific["permissionDecisionReason"]),
        (&json!("deny"), &json!("no"))
    );
    assert_eq!(specific["additionalContext"], "one\ntwo");
}

#[test]
fn what_does_nothing_at_home_does_nothing_here() {
    let project = Project::new();
    let said = with(&base(), "PreToolUse", &shell(), &project);
    let hook = json!({"type": "command", "command": "exit 2"});
    for theirs in [
        json!({"hooks": {"preToolUse": [{"hooks": [hook]}]}}),
        json!({"hooks": {"PreToolUse": [hook]}}),
        json!({"hooks": {"PreToolUse": [{"matcher": "Bash"}]}}),
        json!({"PreToolUse": [{"hooks": [hook]}]}),
        json!({"disableAllHooks": true, "hooks": {"PreToolUse": [{"hooks": [hook]}]}}),
    ] {
        let finished = bridge(&project, "claude", &theirs, "PreToolUse", &said);
        assert_eq!((answer(&finished), finished.status), (json!(null), 0), "{theirs}");
    }
    // A bad one costs no other.
    let theirs = json!({"hooks": {"PreToolUse": [{"hooks": [
        {"type": "prompt", "prompt": "is it good?"}, {"command": "exit 0"}, 7, hook]}]}});
    let finished = bridge(&project, "claude", &theirs, "PreToolUse", &said);
    assert_eq!(answer(&finished)["hookSpecificOutput"]["permissionDecision"], "deny");
    assert!(finished.stderr.contains("needs a model"), "{}", finished.stderr);
}

/// A change of the model waits for nobody at home: a hook that takes too long blocks it, and only there.
#[test]
fn a_hook_that_takes_too_long_blocks_a_change_of_the_model() {
    let project = Project::new();
    let hook = json!({"type": "command", "command": "sleep 60", "timeout": 0.2});
    let models = json!({"from_model": "a", "to_model": "b"});
    for (event, said, blocks) in [("PreModelSwitch", models, true), ("PreToolUse", shell(), false)]
    {
        let said = with(&base(), event, &said, &project);
        let theirs = settings(event, hook.clone(), None, true);
        let finished = bridge(&project, "claude", &theirs, event, &said);
        assert_eq!(finished.stdout.contains("deny"), blocks, "{event}: {finished:?}");
    }
}

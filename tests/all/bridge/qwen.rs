//! Qwen Code's, as it was seen to behave.

use hook_tests::{Finished, Hook, Project};
use serde_json::{Value, json};

use super::{answer, assert_at_home, bridge, case, play, runs, settings, with};

fn base() -> Value {
    json!({"session_id": "9e604582", "transcript_path": "/PROJECT/chats/9e604582.jsonl", "cwd": "/PROJECT",
        "hook_event_name": "", "timestamp": "2026-11-22T07:40:21.887Z", "permission_mode": "yolo"})
}

fn shell() -> Value {
    json!({"prompt_id": "9e604582########0", "tool_name": "run_shell_command",
        "tool_input": {"command": "ls", "description": "scripted"},
        "tool_use_id": "toolu_1795333221886_ewiilsqqg", "tool_call_id": "call_1"})
}

fn ran() -> Value {
    let mut ran = shell();
    ran["tool_response"] = json!({"llmContent": "Output: hello", "returnDisplay": "hello"});
    ran["duration_ms"] = json!(123);
    ran
}

fn decided(word: &str, reason: &str) -> Value {
    json!({"hookSpecificOutput": {"hookEventName": "PreToolUse", "permissionDecision": word,
        "permissionDecisionReason": reason}})
}

#[test]
fn exit_codes_and_output_before_a_tool_mean_what_they_mean_at_home() {
    let warned = |text: &str| json!({"systemMessage": text});
    play(
        "qwen",
        &base(),
        true,
        vec![
            case("PreToolUse", shell(), "exit 0", json!({})),
            case(
                "PreToolUse",
                shell(),
                r#"echo '{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"deny","permissionDecisionReason":"r"}}'"#,
                decided("deny", "r"),
            ),
            case(
                "PreToolUse",
                shell(),
                r#"echo '{"decision":"block","reason":"old"}'"#,
                decided("deny", "old"),
            ),
            case("PreToolUse", shell(), "echo no >&2; exit 2", decided("deny", "no")),
            // Exit 2 reads standard error alone; without a word it is nothing.
            case("PreToolUse", shell(), r#"echo '{"decision":"deny"}'; exit 2"#, json!({})),
            case(
                "PreToolUse",
                shell(),
                r#"echo '{"decision":"deny","reason":"there"}' >&2; exit 2"#,
                decided("deny", "there"),
            ),
            // On other codes an object counts as it does on 0.
            case(
                "PreToolUse",
                shell(),
                r#"echo '{"decision":"deny","reason":"one"}'; exit 1"#,
                decided("deny", "one"),
            ),
            case("PreToolUse", shell(), "echo no >&2; exit 1", warned("Warning: no")),
            case("PreToolUse", shell(), "echo '{broken'", json!({})),
            case(
                "PreToolUse",
                shell(),
                r#"echo '{"decision":"ask","reason":"sure?"}'"#,
                decided("ask", "sure?"),
            ),
            // A stop before a tool refuses the tool, and nothing more.
            case(
                "PreToolUse",
                shell(),
                r#"echo '{"continue":false,"stopReason":"enough"}'"#,
                decided("deny", "enough"),
            ),
            // Neither other arguments nor context are heard.
            case(
                "PreToolUse",
                shell(),
                r#"echo '{"hookSpecificOutput":{"hookEventName":"PreToolUse","updatedInput":{"command":"pwd"},"additionalContext":"c"}}'"#,
                json!({}),
            ),
        ],
    );
}

#[test]
fn other_events_hear_what_they_hear_at_home() {
    let context = |event: &str, text: &str| json!({"hookSpecificOutput": {"hookEventName": event, "additionalContext": text}});
    let prompt = json!({"prompt": "p", "prompt_id": "9e604582########0"});
    let stop = json!({"stop_hook_active": false, "last_assistant_message": "m", "background_tasks": [],
        "crons": [], "context_usage": 5e-05, "context_limit": 200_000, "input_tokens": 10});
    play(
        "qwen",
        &base(),
        true,
        vec![
            case(
                "PostToolUse",
                ran(),
                r#"echo '{"hookSpecificOutput":{"hookEventName":"PostToolUse","additionalContext":"more"}}'"#,
                context("PostToolUse", "more"),
            ),
            // A block is not heard there, a stop takes the place of the result.
            case("PostToolUse", ran(), r#"echo '{"decision":"block","reason":"bad"}'"#, json!({})),
            case("PostToolUse", ran(), "echo bad >&2; exit 2", json!({})),
            case(
                "PostToolUse",
                ran(),
                r#"echo '{"continue":false,"stopReason":"bad"}'"#,
                json!({"continue": false, "stopReason": "bad"}),
            ),
            case(
                "UserPromptSubmit",
                prompt.clone(),
                "echo more",
                context("UserPromptSubmit", "more"),
            ),
            case(
                "UserPromptSubmit",
                prompt.clone(),
                "echo no >&2; exit 2",
                json!({"decision": "block", "reason": "no"}),
            ),
            // What is on standard error is no context.
            case("UserPromptSubmit", prompt, "echo note >&2", json!({"systemMessage": "note"})),
            case(
                "SessionStart",
                json!({"source": "startup", "model": "m"}),
                "echo more",
                context("SessionStart", "more"),
            ),
            case(
                "Stop",
                stop.clone(),
                r#"echo '{"decision":"block","reason":"go on"}'"#,
                json!({"decision": "block", "reason": "go on"}),
            ),
            // To stop is to go on, too.
            case(
                "Stop",
                stop,
                r#"echo '{"continue":false,"stopReason":"go on"}'"#,
                json!({"decision": "block", "reason": "go on"}),
            ),
            case(
                "TodoCreated",
                json!({"todo_id": "1", "todo_content": "x", "todo_status": "pending",
                    "all_todos": [], "phase": "validation"}),
                r#"echo '{"decision":"deny","reason":"no todos"}'"#,
                json!({"decision": "block", "reason": "no todos"}),
            ),
        ],
    );
}

#[test]
fn matchers_are_names_lists_and_expressions() {
    let source = json!({"source": "startup"});
    for (event, said, matcher, expected) in [
        ("PreToolUse", shell(), "run_shell_command", true),
        ("PreToolUse", shell(), "shell", true),
        ("PreToolUse", shell(), "Bash", true),
        ("PreToolUse", shell(), "Write | Bash", true),
        ("PreToolUse", shell(), "Write|Edit", false),
        ("PreToolUse", shell(), "^(Bash)$", false),
        ("PreToolUse", shell(), "^run_", true),
        ("PreToolUse", shell(), "write|run_.*|", true),
        ("PreToolUse", shell(), "|", false),
        ("PreToolUse", shell(), "x|*", true),
        // One that is no expression is for nothing.
        ("PreToolUse", shell(), "run_[", false),
        ("PreToolUse", shell(), ".*", true),
        ("SessionStart", source.clone(), "startup|resume", true),
        ("SessionStart", source, "resume", false),
        ("UserPromptSubmit", json!({"prompt": "p"}), "nothing", true),
    ] {
        assert_eq!(runs("qwen", &base(), true, event, &said, matcher), expected, "{matcher}");
    }
}

#[test]
fn a_hook_is_told_what_it_is_told_at_home() {
    let events = [
        ("PreToolUse", shell()),
        ("PostToolUse", ran()),
        ("UserPromptSubmit", json!({"prompt_id": "9e604582########0", "prompt": ""})),
        (
            "Notification",
            json!({"message": "Successfully authenticated with openai",
                "notification_type": "auth_success", "title": "Authentication successful"}),
        ),
        ("Stop", json!({"stop_hook_active": false, "last_assistant_message": "m", "crons": []})),
    ];
    let own =
        ["QWEN_PROJECT_DIR", "GEMINI_PROJECT_DIR", "CLAUDE_PROJECT_DIR", "QWEN_CODE_SESSION_ID"];
    assert_at_home("qwen", &base(), true, &events, &own);
}

/// What an agent that asks has set is there, and a command is the shell's alone.
#[test]
fn the_projects_directory_is_left_to_the_shell() {
    let project = Project::new();
    let folder = project.path().join("with blank");
    std::fs::create_dir(&folder).unwrap();
    std::fs::write(folder.join("g.sh"), "echo no >&2; exit 2").unwrap();
    let said = with(&base(), "PreToolUse", &shell(), &project);
    for name in ["QWEN_PROJECT_DIR", "CLAUDE_PROJECT_DIR"] {
        let command = format!("bash \"${name}/g.sh\"");
        let theirs =
            settings("PreToolUse", json!({"type": "command", "command": command}), None, true);
        project.write("theirs.json", &theirs.to_string());
        let arguments = ["bridge", "qwen", "--settings", "theirs.json"];
        let bridged = Hook::new(&project, &arguments).env(name, &folder.display().to_string());
        let finished = bridged.stdin(said.to_string()).run();
        assert_eq!(answer(&finished), decided("deny", "no"), "{name}: {finished:?}");
    }
}

#[test]
fn timeouts_are_seconds_and_large_ones_milliseconds() {
    let project = Project::new();
    let said = with(&base(), "PreToolUse", &shell(), &project);
    for (timeout, shown) in [(json!(0.2), "200ms"), (json!(1_000), "1000ms")] {
        let command = "sleep 60; echo no >&2; exit 2";
        let hook = json!({"type": "command", "command": command, "timeout": timeout});
        let theirs = settings("PreToolUse", hook, None, true);
        let finished = bridge(&project, "qwen", &theirs, "PreToolUse", &said);
        assert_eq!(answer(&finished), json!({}));
        let said = format!("timed out after {shown}");
        assert!(finished.stderr.contains(&said), "{timeout}: {}", finished.stderr);
    }
}

/// Asks hooks of ours on Qwen's behalf.
fn asked(hook: &Value, our_event: &str, event: &str, said: &Value) -> Finished {
    let project = Project::new();
    let hooks = json!({"hooks": {our_event: [{"hooks": [hook]}]}});
    let folder = project.home().join(".config/hooks");
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(folder.join("settings.json"), hooks.to_string()).unwrap();
    let said = with(&base(), event, said, &project);
    Hook::new(&project, &["bridge", "qwen"]).stdin(said.to_string()).run()
}

#[test]
fn what_it_cannot_be_told_is_stricter_or_said() {
    let say = |text: &str| json!({"type": "command", "command": format!("echo '{text}'")});
    // A block after a tool is not heard: the result is replaced, as the model is to be told.
    let blocked = say(r#"{"decision":"block","reason":"bad"}"#);
    let finished = asked(&blocked, "AfterTool", "PostToolUse", &ran());
    assert_eq!(answer(&finished), json!({"continue": false, "stopReason": "bad"}), "{finished:?}");
    // A stop would make it go on.
    let stop = say(r#"{"continue":false,"stopReason":"enough"}"#);
    let turn = json!({"stop_hook_active": false, "last_assistant_message": "m"});
    let finished = asked(&stop, "AfterAgent", "Stop", &turn);
    assert_eq!(answer(&finished), json!({}), "{finished:?}");
    let finished = asked(&stop, "BeforeTool", "PreToolUse", &shell());
    assert_eq!(answer(&finished), decided("deny", "enough"), "{finished:?}");
    assert!(finished.stderr.contains("Qwen Code ignores a stop before a tool"), "{finished:?}");
    // Other arguments are said for those that hear them one day, and that they are not heard.
    let change = say(r#"{"hookSpecificOutput":{"tool_input":{"command":"pwd"}}}"#);
    let finished = asked(&change, "BeforeTool", "PreToolUse", &shell());
    let specific = &answer(&finished)["hookSpecificOutput"];
    assert_eq!(specific["updatedInput"]["command"], "pwd", "{finished:?}");
    assert!(finished.stderr.contains("Qwen Code ignores changed arguments"), "{finished:?}");
    // A retry is a denial.
    let retry = say(r#"{"decision":"retry","reason":"later"}"#);
    let finished = asked(&retry, "BeforeTool", "PreToolUse", &shell());
    assert_eq!(answer(&finished), decided("deny", "later"), "{finished:?}");
}

#[test]
fn a_guard_of_ours_knows_its_tools_by_our_names() {
    let guard = json!({"type": "command",
        "command": "grep -q '\"tool_name\":\"replace\"' && { echo no >&2; exit 2; }; exit 0"});
    let edit = json!({"tool_name": "edit", "tool_use_id": "u",
        "tool_input": {"file_path": "/a", "old_string": "a", "new_string": "b"}});
    let finished = asked(&guard, "BeforeTool", "PreToolUse", &edit);
    assert_eq!(answer(&finished), decided("deny", "no"), "{finished:?}");
}

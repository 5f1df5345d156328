//! Gemini CLI's.

use hook_tests::{Hook, Project};
use serde_json::{Value, json};

use super::{answer, assert_at_home, bridge, case, play, runs, settings, with};

fn base() -> Value {
    json!({"session_id": "s", "transcript_path": "", "cwd": "/PROJECT", "hook_event_name": "",
        "timestamp": "2026-11-22T07:24:30.782Z"})
}

fn shell() -> Value {
    json!({"tool_name": "run_shell_command", "tool_input": {"command": "ls"}})
}

#[test]
fn exit_codes_and_output_mean_what_they_mean_at_home() {
    let denied = |reason: &str| json!({"decision": "deny", "reason": reason});
    play(
        "gemini",
        &base(),
        true,
        vec![
            case("BeforeTool", shell(), "exit 0", json!({})),
            case("BeforeTool", shell(), r#"echo '{"decision":"deny","reason":"r"}'"#, denied("r")),
            // On any exit code, and on standard error where nothing else is printed.
            case(
                "BeforeTool",
                shell(),
                r#"echo '{"decision":"deny","reason":"r"}' >&2; exit 1"#,
                denied("r"),
            ),
            case("BeforeTool", shell(), "echo no >&2; exit 2", denied("no")),
            case("BeforeTool", shell(), "echo out; echo no >&2; exit 2", denied("out")),
            case("BeforeTool", shell(), "echo no >&2; exit 3", denied("no")),
            case("BeforeTool", shell(), "exit 2", json!({})),
            case(
                "BeforeTool",
                shell(),
                "echo careful",
                json!({"decision": "allow", "systemMessage": "careful"}),
            ),
            case(
                "BeforeTool",
                shell(),
                "echo careful; exit 1",
                json!({"systemMessage": "Warning: careful"}),
            ),
            // Text before an object makes all of it text.
            case(
                "BeforeTool",
                shell(),
                r#"printf 'x {"decision":"deny"}'"#,
                json!({"decision": "allow", "systemMessage": "x {\"decision\":\"deny\"}"}),
            ),
            case(
                "BeforeTool",
                shell(),
                r#"echo '"{\"decision\":\"deny\",\"reason\":\"twice\"}"'"#,
                denied("twice"),
            ),
            case(
                "BeforeTool",
                shell(),
                r#"echo '{"hookSpecificOutput":{"tool_input":{"command":"pwd"}}}'"#,
                json!({"hookSpecificOutput": {"hookEventName": "BeforeTool", "tool_input": {"command": "pwd"}}}),
            ),
            case(
                "AfterAgent",
                json!({"prompt": "p", "prompt_response": "r", "stop_hook_active": false}),
                r#"echo '{"decision":"block","reason":"again"}'"#,
                denied("again"),
            ),
            case(
                "BeforeAgent",
                json!({"prompt": "p"}),
                r#"echo '{"hookSpecificOutput":{"additionalContext":"c"}}'"#,
                json!({"hookSpecificOutput": {"hookEventName": "BeforeAgent", "additionalContext": "c"}}),
            ),
            case(
                "AfterTool",
                json!({"tool_name": "t", "tool_input": {}, "tool_response": {"llmContent": "x"}}),
                r#"echo '{"continue":false,"stopReason":"enough"}'"#,
                json!({"continue": false, "stopReason": "enough", "decision": "deny", "reason": "enough"}),
            ),
        ],
    );
}

#[test]
fn matchers_are_expressions_for_tools_and_words_elsewhere() {
    for (event, said, matcher, expected) in [
        ("BeforeTool", shell(), "shell", true),
        ("BeforeTool", shell(), "write_file|run_.*", true),
        ("BeforeTool", shell(), "Shell", false),
        ("BeforeTool", shell(), "*", true),
        ("SessionStart", json!({"source": "startup"}), "startup", true),
        ("SessionStart", json!({"source": "startup"}), "startup|resume", false),
        ("BeforeAgent", json!({"prompt": "p"}), "nothing", true),
    ] {
        assert_eq!(
            runs("gemini", &base(), true, event, &said, matcher),
            expected,
            "{event} {matcher}"
        );
    }
}

#[test]
fn a_hook_is_told_what_it_is_told_at_home() {
    let events = [
        ("BeforeTool", shell()),
        (
            "AfterTool",
            json!({"tool_name": "t", "tool_input": {}, "tool_response": {"llmContent": "x"}}),
        ),
        ("SessionEnd", json!({"reason": "exit"})),
        (
            "BeforeModel",
            json!({"llm_request": {"model": "m", "messages": [{"role": "user", "content": "c"}], "config": {}}}),
        ),
    ];
    let own = ["GEMINI_PROJECT_DIR", "GEMINI_SESSION_ID", "CLAUDE_PROJECT_DIR"];
    assert_at_home("gemini", &base(), true, &events, &own);
}

#[test]
fn what_is_switched_off_at_home_does_not_run() {
    let project = Project::new();
    let said = with(&base(), "BeforeTool", &shell(), &project);
    let hook = json!({"type": "command", "name": "x", "command": "echo no; exit 2"});
    for (config, runs) in [
        (json!({"enabled": false}), false),
        (json!({"disabled": ["x"]}), false),
        (json!({"disabled": ["echo no; exit 2"]}), false),
        (json!({"disabled": ["y"]}), true),
    ] {
        let mut theirs = settings("BeforeTool", hook.clone(), None, true);
        theirs["hooksConfig"] = config.clone();
        let finished = bridge(&project, "gemini", &theirs, "BeforeTool", &said);
        assert_eq!(answer(&finished)["decision"] == "deny", runs, "{config}: {finished:?}");
    }
}

#[test]
fn the_projects_directory_is_quoted() {
    let project = Project::new();
    let folder = project.path().join("with blank");
    std::fs::create_dir(&folder).unwrap();
    std::fs::write(folder.join("g.sh"), "echo no >&2; exit 2").unwrap();
    let mut said = with(&base(), "BeforeTool", &shell(), &project);
    said["cwd"] = json!(folder);
    let hook = json!({"type": "command", "command": "sh $GEMINI_PROJECT_DIR/g.sh"});
    let theirs = settings("BeforeTool", hook, None, true);
    let finished = bridge(&project, "gemini", &theirs, "BeforeTool", &said);
    assert_eq!(answer(&finished), json!({"decision": "deny", "reason": "no"}), "{finished:?}");
}

#[test]
fn timeouts_are_milliseconds() {
    let project = Project::new();
    let said = with(&base(), "BeforeTool", &shell(), &project);
    let hook = json!({"type": "command", "command": "sleep 60; echo no; exit 2", "timeout": 200});
    let finished =
        bridge(&project, "gemini", &settings("BeforeTool", hook, None, true), "BeforeTool", &said);
    assert_eq!(answer(&finished), json!({}));
    assert!(finished.stderr.contains("timed out after 200ms"), "{}", finished.stderr);
}

#[test]
fn an_extensions_hooks_find_its_folder() {
    let project = Project::new();
    project.write("ext with blank/g.sh", "echo no >&2; exit 2");
    let said = with(&base(), "BeforeTool", &shell(), &project);
    let command = "sh \"${extensionPath}${/}g.sh\" \"${workspacePath}\"";
    let theirs = settings("BeforeTool", json!({"type": "command", "command": command}), None, true);
    let hooks = project.write("ext with blank/hooks/hooks.json", &theirs.to_string());
    let root = project.path().join("ext with blank").display().to_string();
    let hooks = hooks.display().to_string();
    let arguments = ["bridge", "gemini", "--settings", &hooks, "--plugin-root", &root];
    let finished = Hook::new(&project, &arguments).stdin(said.to_string()).run();
    assert_eq!(answer(&finished), json!({"decision": "deny", "reason": "no"}), "{finished:?}");
}

/// Found by the name of the agent, its file is read by its rules, and not as ours.
#[test]
fn files_that_are_found_are_read_by_its_rules() {
    let project = Project::new();
    let hooks = |source: &str, command: &str| json!([{"matcher": source, "hooks": [{"type": "command", "command": command}]}]);
    let theirs = json!({"hooks": {"BeforeTool": hooks("shell", "echo no >&2; exit 3"),
        "SessionStart": hooks("startup|resume", "touch ran")}});
    let folder = project.home().join(".gemini");
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(folder.join("settings.json"), theirs.to_string()).unwrap();
    let fire = |arguments: &[&str]| {
        Hook::new(&project, &[&["fire", "--agent", "gemini"], arguments].concat()).run()
    };
    let tool = ["BeforeTool", "--tool", "run_shell_command", "--input", r#"{"tool_input":{}}"#];
    let denied = fire(&tool);
    assert_eq!(denied.status, 2, "any code but 0 and 1 denies: {denied:?}");
    fire(&["SessionStart", "--input", r#"{"source":"startup"}"#]);
    assert!(!project.path().join("ran").exists(), "a word, and no expression");
}

/// Gemini CLI takes standard error for the answer where standard output is empty.
#[test]
fn an_event_that_it_does_not_have_is_answered_with_nothing() {
    let project = Project::new();
    let said = with(&base(), "PostToolUse", &shell(), &project);
    let finished =
        Hook::new(&project, &["bridge", "gemini", "PostToolUse"]).stdin(said.to_string()).run();
    assert_eq!((finished.status, answer(&finished)), (0, json!({})), "{finished:?}");
}

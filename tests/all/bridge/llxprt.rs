//! llxprt's: what differs from Gemini CLI's.

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
    let warned = |text: &str| json!({"systemMessage": text});
    play(
        "llxprt",
        &base(),
        true,
        vec![
            case("BeforeTool", shell(), "exit 0", json!({})),
            case("BeforeTool", shell(), r#"echo '{"decision":"deny","reason":"r"}'"#, denied("r")),
            // An object counts on exit 0 only, and only on standard output.
            case("BeforeTool", shell(), r#"echo '{"decision":"deny"}'; exit 1"#, json!({})),
            case("BeforeTool", shell(), r#"echo '{"decision":"deny"}' >&2"#, json!({})),
            case("BeforeTool", shell(), "echo out; echo no >&2; exit 2", denied("no")),
            // A denial without a word is one.
            case(
                "BeforeTool",
                shell(),
                "exit 2",
                denied("Hook exited with code 2 without an error message"),
            ),
            case("BeforeTool", shell(), "echo no >&2; exit 3", warned("Warning: no")),
            case(
                "BeforeTool",
                shell(),
                "echo careful",
                json!({"decision": "allow", "systemMessage": "careful"}),
            ),
            case(
                "BeforeTool",
                shell(),
                r#"echo '{"hookSpecificOutput":{"permissionDecision":"block","permissionDecisionReason":"p"}}'"#,
                denied("p"),
            ),
            // To ask is to allow there.
            case(
                "BeforeTool",
                shell(),
                r#"echo '{"decision":"ask"}'"#,
                json!({"decision": "allow"}),
            ),
        ],
    );
}

#[test]
fn matchers_are_gemini_clis() {
    for (event, said, matcher, expected) in [
        ("BeforeTool", shell(), "shell", true),
        ("SessionStart", json!({"source": "startup"}), "startup|resume", false),
    ] {
        assert_eq!(runs("llxprt", &base(), true, event, &said, matcher), expected, "{matcher}");
    }
}

#[test]
fn a_hook_is_told_what_it_is_told_at_home() {
    let events = [("BeforeTool", shell()), ("SessionStart", json!({"source": "compress"}))];
    assert_at_home("llxprt", &base(), true, &events, &["LLXPRT_PROJECT_DIR"]);
}

#[test]
fn what_is_switched_off_at_home_does_not_run() {
    let project = Project::new();
    let said = with(&base(), "BeforeTool", &shell(), &project);
    for (switch, runs) in [
        (json!({"hooksConfig": {"enabled": false}}), false),
        (json!({"tools": {"enableHooks": false}}), false),
        (json!({"tools": {"enableHooks": true}}), true),
    ] {
        let hook = json!({"type": "command", "command": "echo no >&2; exit 2"});
        let mut theirs = settings("BeforeTool", hook, None, true);
        for (name, value) in switch.as_object().unwrap() {
            theirs[name] = value.clone();
        }
        let finished = bridge(&project, "llxprt", &theirs, "BeforeTool", &said);
        assert_eq!(answer(&finished)["decision"] == "deny", runs, "{switch}: {finished:?}");
    }
}

/// It would let happen what is to be asked about, and its tools have names of their own.
#[test]
fn hooks_of_ours_guard_it() {
    let project = Project::new();
    let ask = r#"grep -q grep_search && echo '{"decision":"ask","reason":"sure?"}'; exit 0"#;
    let hooks =
        json!({"hooks": {"BeforeTool": [{"hooks": [{"type": "command", "command": ask}]}]}});
    let folder = project.home().join(".config/hooks");
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(folder.join("settings.json"), hooks.to_string()).unwrap();
    let call = json!({"tool_name": "search_file_content", "tool_input": {"pattern": "x"}});
    let said = with(&base(), "BeforeTool", &call, &project);
    let finished = Hook::new(&project, &["bridge", "llxprt"]).stdin(said.to_string()).run();
    assert_eq!(answer(&finished), json!({"decision": "deny", "reason": "sure?"}), "{finished:?}");
}

//! Who calls: `caller` in the input of hooks, and matchers about it (reference/events.md).

use std::fs;

use hook_tests::{Finished, Hook, Project};
use serde_json::{Value, json};

/// A project whose user has one hook of tool calls with this matcher; it notes its input and refuses.
fn with_hook(matcher: &Value, fail_behavior: &str) -> Project {
    let project = Project::new();
    let folder = project.home().join(".config/hooks");
    fs::create_dir_all(&folder).unwrap();
    let hook = json!({"type": "command", "failBehavior": fail_behavior,
        "command": "cat > \"$HOME/input\"; echo refused >&2; exit 2"});
    let settings = json!({"hooks": {"BeforeTool": [{"matcher": matcher, "hooks": [hook]}]}});
    fs::write(folder.join("settings.json"), settings.to_string()).unwrap();
    project
}

/// A tool call as an agent makes it, with further fields.
fn call(project: &Project, agent: &str, more: &Value) -> Finished {
    let mut input = json!({"session_id": "s", "cwd": project.path(), "hook_event_name": "PreToolUse",
        "tool_name": "Bash", "tool_input": {"command": "ls"}, "tool_use_id": "t"});
    input.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    Hook::new(project, &["bridge", agent, "PreToolUse"]).stdin(input.to_string()).run()
}

#[test]
fn a_hook_reads_who_calls_and_an_agent_cannot_say_it_is_another() {
    for (agent, more, expected) in [
        (
            "claude",
            json!({"permission_mode": "plan", "prompt_id": "p", "agent_type": "reviewer", "caller": {"agent": "x"}}),
            json!({"agent": "claude", "subagent": "reviewer", "permissionMode": "plan"}),
        ),
        (
            "codex",
            json!({"permission_mode": "default", "turn_id": "t", "model": "gpt-5.5"}),
            json!({"agent": "codex", "subagent": "", "permissionMode": "default", "model": "gpt-5.5"}),
        ),
        // A version that may not name sub-agents says nothing of them.
        ("claude", json!({}), json!({"agent": "claude"})),
        ("qwen", json!({"model": {"id": "q"}}), json!({"agent": "qwen", "model": "q"})),
    ] {
        let project = with_hook(&json!("*"), "continue");
        call(&project, agent, &more);
        let input = fs::read_to_string(project.home().join("input")).unwrap();
        let input: Value = serde_json::from_str(&input).unwrap();
        assert_eq!(input["caller"], expected, "{agent} {more}");
    }
}

#[test]
fn a_matcher_asks_for_the_agent_its_sub_agent_its_mode_and_its_model() {
    let more = json!({"permission_mode": "acceptEdits", "turn_id": "t", "agent_type": "reviewer",
        "model": "gpt-5.5-codex"});
    for (matcher, matches) in [
        (json!({"agent": "codex"}), true),
        (json!({"agent": ["claude", "codex"]}), true),
        (json!({"agent": "claude"}), false),
        (json!({"subagent": "reviewer", "kind": "shell"}), true),
        (json!({"subagent": ""}), false),
        (json!({"permissionMode": "accept*"}), true),
        (json!({"permissionMode": "plan"}), false),
        (json!({"model": "gpt-*-codex"}), true),
        (json!({"model": "*5.5"}), false),
        (json!({"agent": "codex", "model": "*", "kind": "web"}), false),
    ] {
        let project = with_hook(&matcher, "block");
        let finished = call(&project, "codex", &more);
        assert_eq!(finished.stdout.contains("refused"), matches, "{matcher}: {finished:?}");
        assert!(!finished.stderr.contains("counts as a match"), "{matcher}: {finished:?}");
    }
}

#[test]
fn a_guard_about_what_the_agent_does_not_say_is_asked_and_that_is_said() {
    for key in ["subagent", "permissionMode", "model"] {
        let project = with_hook(&json!({key: "never"}), "block");
        let finished = call(&project, "claude", &json!({}));
        let all = format!("{}{}", finished.stdout, finished.stderr);
        assert!(all.contains("refused"), "{key}: {finished:?}");
        assert!(
            finished.stderr.contains(&format!("`{key}`, which counts as a match")),
            "{key}: {finished:?}"
        );
    }
}

#[test]
fn check_knows_the_keys_and_explain_names_the_one_that_does_not_match() {
    let project =
        with_hook(&json!({"agent": "claude", "permissionMode": ["plan", "default"]}), "block");
    let checked = Hook::new(&project, &["check"]).run();
    assert_eq!(checked.status, 0, "{checked:?}");
    let wrong = with_hook(&json!({"agents": "claude"}), "block");
    let checked = Hook::new(&wrong, &["check"]).run();
    assert!(checked.stdout.contains("agent"), "{checked:?}");
    assert_eq!(checked.status, 1, "{checked:?}");
    let input =
        json!({"tool_name": "x", "tool_input": {}, "caller": {"agent": "codex"}}).to_string();
    let explained = Hook::new(&project, &["explain", "BeforeTool", "--input", &input]).run();
    assert!(
        explained.stdout.contains("its agent `claude` does not match: the caller is `codex`"),
        "{explained:?}"
    );
}

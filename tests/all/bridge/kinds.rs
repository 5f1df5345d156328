//! Kinds of hooks that need what this host does not have, or that their home does not run.

use hook_tests::{Hook, Project};
use serde_json::{Value, json};

use super::{answer, bridge, settings};

/// What each agent says of a call of a tool.
fn said(agent: &str, project: &Project) -> (&'static str, Value) {
    let cwd = project.path();
    let input = json!({"command": "ls"});
    match agent {
        "claude" => (
            "PreToolUse",
            json!({"session_id": "s", "cwd": cwd, "hook_event_name": "PreToolUse",
            "tool_name": "Bash", "tool_input": input}),
        ),
        "codex" => (
            "PreToolUse",
            json!({"session_id": "s", "cwd": cwd, "hook_event_name": "PreToolUse", "transcript_path": null,
            "tool_name": "Bash", "tool_input": input}),
        ),
        "cursor" => (
            "preToolUse",
            json!({"conversation_id": "c", "workspace_roots": [cwd], "hook_event_name": "preToolUse",
            "tool_name": "Shell", "tool_input": input}),
        ),
        _ => (
            "preToolUse",
            json!({"sessionId": "s", "timestamp": 1, "cwd": cwd, "toolName": "bash", "toolArgs": input}),
        ),
    }
}

#[test]
fn what_needs_a_service_fails_and_says_which() {
    let project = Project::new();
    let prompt = json!({"type": "prompt", "prompt": "Is this safe? $ARGUMENTS"});
    let agent = json!({"type": "agent", "prompt": "Look at it", "model": "m"});
    let tool = json!({"type": "mcp_tool", "server": "s", "tool": "scan", "input": {"a": "${b}"}});
    for (home, hook, key, word, service) in [
        ("claude", &prompt, "onFailure", "block", "model.ask"),
        ("claude", &agent, "onFailure", "block", "model.ask"),
        ("claude", &tool, "onFailure", "block", "mcp.call"),
        ("cursor", &prompt, "failClosed", "true", "model.ask"),
    ] {
        let in_groups = home != "cursor";
        let (event, said) = said(home, &project);
        let theirs = settings(event, hook.clone(), None, in_groups);
        let finished = bridge(&project, home, &theirs, event, &said);
        let heard = answer(&finished);
        assert!(heard["permissionDecision"].is_null(), "{home} {hook}: {finished:?}");
        assert!(finished.stderr.contains("did not run"), "{home} {hook}: {finished:?}");
        assert!(finished.stderr.contains(service), "{home} {hook}: {finished:?}");

        let mut guard = hook.clone();
        guard[key] = if word == "true" { json!(true) } else { json!(word) };
        let theirs = settings(event, guard, None, in_groups);
        let finished = bridge(&project, home, &theirs, event, &said);
        let denies = finished.stdout.contains("deny") && finished.stdout.contains(service);
        assert!(denies, "{home} {hook}: {finished:?}");
    }
}

/// What `hook check` finds in an agent's file: of each its rule and its message.
fn found(path: &str, settings: &Value) -> Vec<(String, String)> {
    let project = Project::new();
    project.write(path, &settings.to_string());
    let finished = Hook::new(&project, &["check", path, "--json"]).run();
    let text = |line: &Value, name: &str| line[name].as_str().unwrap_or_default().to_owned();
    let lines = finished.lines();
    lines.iter().map(|line| (text(line, "rule"), text(line, "message"))).collect()
}

#[test]
fn check_says_beforehand_what_a_hook_cannot_do_here() {
    let prompt = json!({"type": "prompt", "prompt": "p"});
    let blocking = json!({"type": "prompt", "prompt": "p", "onFailure": "block"});
    let tool = json!({"type": "mcp_tool", "server": "s", "tool": "t"});
    let rewake = json!({"type": "command", "command": "true", "asyncRewake": true});
    let http = json!({"type": "http", "url": "https://hooks.example.com/"});
    let claude = ".claude/settings.json";
    for (path, event, hook, rule, part) in [
        (claude, "PreToolUse", &prompt, "foreign-lost", "things go on as if it had said nothing"),
        (claude, "PreToolUse", &blocking, "foreign-lost", "blocks what it is asked about"),
        (claude, "PreToolUse", &tool, "foreign-lost", "an MCP client (`mcp.call`)"),
        (claude, "PreToolUse", &rewake, "foreign-lost", "does not wake Claude Code"),
        (claude, "PreToolUse", &http, "", ""),
        (claude, "Setup", &http, "foreign-unused", "runs no hooks of type `http` at Setup"),
        (claude, "SessionStart", &http, "foreign-unused", "`http` at SessionStart"),
        (claude, "SessionStart", &tool, "foreign-lost", "mcp.call"),
        (claude, "Setup", &tool, "foreign-unused", "`mcp_tool` at Setup"),
        (claude, "Notification", &prompt, "foreign-unused", "`prompt` at Notification"),
        (
            claude,
            "PermissionRequest",
            &json!({"type": "agent", "prompt": "p"}),
            "foreign-unused",
            "`agent` at PermissionRequest",
        ),
        (claude, "PermissionRequest", &prompt, "foreign-lost", "model.ask"),
        (
            claude,
            "PreToolUse",
            &json!({"type": "wasm"}),
            "foreign-skipped",
            "no hooks of type `wasm`",
        ),
        (claude, "PreToolUse", &json!({"type": "http"}), "foreign-skipped", "has no `url`"),
        (claude, "PreToolUse", &json!({"type": "prompt"}), "foreign-skipped", "has no `prompt`"),
        (
            claude,
            "PreToolUse",
            &json!({"type": "http", "url": "https://a.b/", "headers": ["x"]}),
            "foreign-skipped",
            "`headers`",
        ),
        (
            claude,
            "PreToolUse",
            &json!({"type": "mcp_tool", "server": "s", "tool": "t", "input": 1}),
            "foreign-skipped",
            "`input`",
        ),
        (".codex/hooks.json", "PreToolUse", &prompt, "foreign-unused", "`prompt` at PreToolUse"),
        (".codex/hooks.json", "SessionEnd", &tool, "foreign-unused", "`mcp_tool` at SessionEnd"),
        (".codex/hooks.json", "Stop", &tool, "foreign-lost", "mcp.call"),
        (".cursor/hooks.json", "preToolUse", &prompt, "foreign-lost", "model.ask"),
        (".cursor/hooks.json", "preToolUse", &http, "foreign-skipped", "no hooks of type `http`"),
        (".github/hooks/h.json", "preToolUse", &prompt, "foreign-unused", "`prompt` at preToolUse"),
        (".github/hooks/h.json", "sessionStart", &prompt, "foreign-lost", "in the user's place"),
        (".github/hooks/h.json", "preToolUse", &http, "", ""),
    ] {
        let in_groups = path.starts_with(".cl") || path.starts_with(".co");
        let found = found(path, &settings(event, hook.clone(), None, in_groups));
        match rule {
            "" => assert_eq!(found, [], "{path} {event} {hook}"),
            rule => {
                assert_eq!(found.len(), 1, "{path} {event} {hook}: {found:?}");
                assert_eq!(found[0].0, rule, "{path} {event} {hook}: {found:?}");
                assert!(found[0].1.contains(part), "{path} {event} {hook}: {found:?}");
            }
        }
    }
}

#[test]
fn what_the_home_does_not_run_does_nothing_here() {
    let project = Project::new();
    let prompt = json!({"type": "prompt", "prompt": "p", "onFailure": "block", "failClosed": true});
    for home in ["codex", "copilot"] {
        let (event, said) = said(home, &project);
        let theirs = settings(event, prompt.clone(), None, home == "codex");
        let finished = bridge(&project, home, &theirs, event, &said);
        assert_eq!((finished.status, &*finished.stdout), (0, ""), "{home}: {finished:?}");
    }
}

#[test]
fn a_hook_that_would_wake_its_agent_runs_in_the_background() {
    let project = Project::new();
    // It ends only after the answer.
    let script = "cat > /dev/null; until [ -e go ]; do sleep 0.01; done; echo woken > ran; exit 2";
    let hook = json!({"type": "command", "command": script, "asyncRewake": true});
    let (event, said) = said("claude", &project);
    let theirs = settings(event, hook, None, true);
    let finished = bridge(&project, "claude", &theirs, event, &said);
    assert_eq!((finished.status, &*finished.stdout), (0, ""), "{finished:?}");
    assert_eq!(project.read("ran"), "");
    project.write("go", "");
    super::until(|| (project.read("ran") == "woken\n").then_some(()));
}

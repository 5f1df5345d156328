//! The command itself, and hooks of ours that an agent asks.

use hook_tests::{Hook, Project};
use serde_json::{Value, json};

use super::answer;

fn of_claude(project: &Project, command: &str) -> String {
    json!({"session_id": "s", "transcript_path": "", "cwd": project.path(),
        "hook_event_name": "PreToolUse", "tool_name": "Bash", "tool_input": {"command": command}})
    .to_string()
}

/// A hook of the user's, in our own form.
fn guarded(hook: &Value) -> Project {
    let project = Project::new();
    let settings =
        json!({"hooks": {"BeforeTool": [{"matcher": "run_shell_command", "hooks": [hook]}]}});
    let folder = project.home().join(".config/hooks");
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(folder.join("settings.json"), settings.to_string()).unwrap();
    project
}

#[test]
fn a_hook_of_ours_guards_every_agent() {
    let script = r#"grep -q '"tool_name":"run_shell_command","tool_input":{"command":"rm' && { echo no >&2; exit 2; }; exit 0"#;
    let project = guarded(&json!({"type": "command", "command": script}));
    let cwd = project.path();
    let input = json!({"command": "rm -r x"});
    for (agent, event, said, denied) in [
        (
            "claude",
            "PreToolUse",
            json!({"session_id": "s", "cwd": cwd, "hook_event_name": "PreToolUse", "tool_name": "Bash", "tool_input": input}),
            json!({"hookSpecificOutput": {"hookEventName": "PreToolUse", "permissionDecision": "deny", "permissionDecisionReason": "no"}}),
        ),
        (
            "codex",
            "PreToolUse",
            json!({"session_id": "s", "cwd": cwd, "hook_event_name": "PreToolUse", "transcript_path": null, "tool_name": "Bash", "tool_input": input}),
            json!({"hookSpecificOutput": {"hookEventName": "PreToolUse", "permissionDecision": "deny", "permissionDecisionReason": "no"}}),
        ),
        (
            "gemini",
            "BeforeTool",
            json!({"session_id": "s", "cwd": cwd, "hook_event_name": "BeforeTool", "tool_name": "run_shell_command", "tool_input": input}),
            json!({"decision": "deny", "reason": "no"}),
        ),
        (
            "cursor",
            "beforeShellExecution",
            json!({"conversation_id": "c", "workspace_roots": [cwd], "hook_event_name": "beforeShellExecution", "command": "rm -r x"}),
            json!({"permission": "deny", "user_message": "no", "agent_message": "no"}),
        ),
        (
            "copilot",
            "preToolUse",
            json!({"sessionId": "s", "cwd": cwd, "timestamp": 1, "toolName": "bash", "toolArgs": input}),
            json!({"permissionDecision": "deny", "permissionDecisionReason": "no"}),
        ),
        (
            "vscode",
            "PreToolUse",
            json!({"sessionId": "s", "cwd": cwd, "hookEventName": "PreToolUse", "tool_name": "run_in_terminal", "tool_input": input}),
            json!({"hookSpecificOutput": {"hookEventName": "PreToolUse", "permissionDecision": "deny", "permissionDecisionReason": "no"}}),
        ),
    ] {
        let finished = Hook::new(&project, &["bridge", agent, event]).stdin(said.to_string()).run();
        assert_eq!(answer(&finished), denied, "{agent}: {finished:?}");
        let harmless = said.to_string().replace("rm -r x", "ls");
        let finished = Hook::new(&project, &["bridge", agent, event]).stdin(harmless).run();
        let said = answer(&finished);
        assert!(said.is_null() || said == json!({}), "{agent}: {finished:?}");
    }
}

#[test]
fn a_change_of_ours_is_laid_over_the_agents_arguments() {
    let script = r#"echo '{"hookSpecificOutput":{"tool_input":{"command":"ls -l"}}}'"#;
    let project = guarded(&json!({"type": "command", "command": script}));
    let said = json!({"session_id": "s", "cwd": project.path(), "hook_event_name": "PreToolUse",
        "tool_name": "Bash", "tool_input": {"command": "ls", "timeout": 5}});
    let finished = Hook::new(&project, &["bridge", "claude"]).stdin(said.to_string()).run();
    let specific = &answer(&finished)["hookSpecificOutput"];
    assert_eq!(specific["updatedInput"], json!({"command": "ls -l", "timeout": 5}), "{finished:?}");
    assert!(specific.get("permissionDecision").is_none(), "{specific}");
}

/// What an agent cannot be told becomes the next stricter thing that it can.
#[test]
fn an_ask_of_ours_is_refused_where_an_agent_would_run_the_tool() {
    let hook =
        json!({"type": "command", "command": r#"echo '{"decision":"ask","reason":"sure?"}'"#});
    let project = guarded(&hook);
    let said = json!({"session_id": "s", "cwd": project.path(), "hook_event_name": "PreToolUse",
        "transcript_path": null, "tool_name": "Bash", "tool_input": {"command": "ls"}});
    for (agent, decision) in [("codex", "deny"), ("claude", "ask")] {
        let finished = Hook::new(&project, &["bridge", agent]).stdin(said.to_string()).run();
        let specific = &answer(&finished)["hookSpecificOutput"];
        assert_eq!(specific["permissionDecision"], decision, "{agent}: {finished:?}");
    }
}

#[test]
fn a_guard_that_cannot_be_asked_denies_in_the_agents_language() {
    let guard = json!({"type": "command", "command": "/nowhere/guard", "failBehavior": "block"});
    let project = guarded(&guard);
    let finished =
        Hook::new(&project, &["bridge", "claude"]).stdin(of_claude(&project, "ls")).run();
    let specific = &answer(&finished)["hookSpecificOutput"];
    assert_eq!(specific["permissionDecision"], "deny", "{finished:?}");
    // Its settings cannot be read.
    std::fs::write(project.home().join(".config/hooks/settings.json"), "{").unwrap();
    let finished =
        Hook::new(&project, &["bridge", "claude"]).stdin(of_claude(&project, "ls")).run();
    let specific = &answer(&finished)["hookSpecificOutput"];
    assert_eq!(specific["permissionDecision"], "deny", "{finished:?}");
}

/// Hooks of one agent's file and ours meet: the strictest decides.
#[test]
fn a_settings_file_that_is_broken_is_said_and_runs_nothing_as_at_home() {
    let project = Project::new();
    project.write("theirs.json", "{\"hooks\": ");
    let arguments = ["bridge", "claude", "--settings", "theirs.json"];
    let finished = Hook::new(&project, &arguments).stdin(of_claude(&project, "ls")).run();
    assert!(finished.stderr.contains("not JSON"), "{finished:?}");
    assert_eq!((finished.status, &*finished.stdout), (0, ""));
}

/// A guard is not asked about something else than what was said.
#[test]
fn what_is_said_otherwise_than_it_must_be_is_denied_where_there_is_a_guard() {
    let guard = json!({"type": "command", "failBehavior": "block",
        "command": "grep -q 'rm -r' && { echo no >&2; exit 2; }; exit 0"});
    let project = Project::new();
    let settings = json!({"hooks": {"BeforeTool": [{"hooks": [guard]}],
        "PermissionRequest": [{"hooks": [guard]}], "BeforeAgent": [{"hooks": [guard]}]}});
    let folder = project.home().join(".config/hooks");
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(folder.join("settings.json"), settings.to_string()).unwrap();
    let input = json!({"command": "rm -r x"});
    for (agent, event, said) in [
        ("claude", "PreToolUse", json!({"tool_input": input})),
        ("claude", "PreToolUse", json!({"tool_name": ["Bash"], "tool_input": input})),
        ("claude", "PreToolUse", json!({"tool_name": "Bash", "tool_input": "rm -r x"})),
        ("claude", "PreToolUse", json!({"tool_name": "Bash", "tool_input": ["rm -r x"]})),
        ("claude", "UserPromptSubmit", json!({"prompt": [{"text": "rm -r x"}]})),
        ("claude", "PermissionRequest", json!({"tool_name": "Bash", "tool_input": input})),
        ("copilot", "permissionRequest", json!({"toolName": "bash", "toolInput": input})),
        ("copilot", "preToolUse", json!({"tool_name": "Bash", "tool_input": input})),
    ] {
        let finished = Hook::new(&project, &["bridge", agent, event]).stdin(said.to_string()).run();
        let said_no = ["deny", "block"].iter().any(|word| finished.stdout.contains(word));
        assert!(said_no, "{agent} {said}: {finished:?}");
    }
}

/// The project is where the agent works, wherever its hooks are started.
#[test]
fn hooks_are_those_of_the_project_that_the_agent_says() {
    let project = Project::new();
    let settings = json!({"hooks": {"BeforeTool": [{"hooks": [
        {"type": "command", "command": "echo no >&2; exit 2"}]}]}});
    project.write(".hooks/settings.json", &settings.to_string());
    assert_eq!(Hook::new(&project, &["trust", "--yes"]).run().status, 0);
    let sub = project.path().join("sub");
    std::fs::create_dir(&sub).unwrap();
    let elsewhere = Project::new();
    let said = json!({"session_id": "s", "cwd": sub, "hook_event_name": "PreToolUse",
        "tool_name": "Bash", "tool_input": {"command": "ls"}});
    let cursor = json!({"conversation_id": "c", "workspace_roots": [project.path()],
        "hook_event_name": "preToolUse", "tool_name": "Shell", "tool_input": {"command": "ls"}});
    for (agent, said, variable) in [
        ("claude", &said, None),
        ("cursor", &cursor, None),
        (
            "claude",
            &json!({"session_id": "s",
            "cwd": elsewhere.path(), "hook_event_name": "PreToolUse", "tool_name": "Bash",
            "tool_input": {}}),
            Some("CLAUDE_PROJECT_DIR"),
        ),
    ] {
        let home = project.home().display().to_string();
        let config = project.home().join(".config").display().to_string();
        let mut hook = Hook::new(&elsewhere, &["bridge", agent])
            .env("HOME", &home)
            .env("XDG_CONFIG_HOME", &config);
        if let Some(variable) = variable {
            hook = hook.env(variable, &project.path().display().to_string());
        }
        let finished = hook.stdin(said.to_string()).run();
        assert!(finished.stdout.contains("deny"), "{agent} {said}: {finished:?}");
    }
}

/// To block the end of a turn is to go on: not because settings are broken.
#[test]
fn broken_settings_make_no_agent_go_on_for_ever() {
    let project = guarded(&json!({"type": "command", "command": "true"}));
    std::fs::write(project.home().join(".config/hooks/settings.json"), "{").unwrap();
    let said = json!({"session_id": "s", "cwd": project.path(), "hook_event_name": "Stop",
        "transcript_path": null, "stop_hook_active": false});
    for agent in ["claude", "codex"] {
        let finished = Hook::new(&project, &["bridge", agent]).stdin(said.to_string()).run();
        assert_eq!(finished.stdout, "", "{agent}: {finished:?}");
        assert!(finished.stderr.contains("not JSON"), "{finished:?}");
    }
}

/// What an agent has no word for is replaced, or said where the user looks.
#[test]
fn a_denial_that_an_agent_cannot_be_told_is_not_lost_without_a_word() {
    let project = Project::new();
    let deny = json!([{"hooks": [{"type": "command", "command": "echo no >&2; exit 2"}]}]);
    let settings = json!({"hooks": {"AfterTool": deny, "BeforeAgent": deny}});
    let folder = project.home().join(".config/hooks");
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(folder.join("settings.json"), settings.to_string()).unwrap();
    let said = json!({"sessionId": "s", "cwd": project.path(), "timestamp": 1, "toolName": "bash",
        "toolArgs": {}, "toolResult": {"resultType": "success", "textResultForLlm": "x"}, "prompt": "p"});
    let run = |event: &str| {
        Hook::new(&project, &["bridge", "copilot", event]).stdin(said.to_string()).run()
    };
    let replaced = json!({"resultType": "failure", "textResultForLlm": "no"});
    assert_eq!(answer(&run("postToolUse"))["modifiedResult"], replaced);
    let prompt = run("userPromptSubmitted");
    assert_eq!(answer(&prompt), json!({"handled": true, "responseContent": "no"}));
    let done = json!({"session_id": "s", "cwd": project.path(), "hook_event_name": "PostToolUse",
        "tool_name": "Bash", "tool_input": {}, "tool_response": "x"});
    let done = Hook::new(&project, &["bridge", "abacus", "PostToolUse"]).stdin(done.to_string());
    let done = done.run();
    assert!(done.stderr.contains("which AbacusAI Desktop cannot be told there: no"), "{done:?}");
}

#[test]
fn what_it_cannot_understand_is_said() {
    let project = Project::new();
    for (arguments, stdin, status, said) in [
        (&["bridge", "claud"][..], "{}", 64, "did you mean claude?"),
        (&["bridge", "claude"], "{}", 64, "does not name its event"),
        (&["bridge", "claude"], "[]", 64, "and not an object"),
        (&["bridge", "claude"], "nonsense", 64, "not JSON"),
        (&["bridge", "claude", "PreToolUse", "--settings", "none.json"], "{}", 1, "none.json"),
        (&["bridge", "claude", "Nonsense"], "{}", 0, "no event `Nonsense`"),
    ] {
        let finished = Hook::new(&project, arguments).stdin(stdin).run();
        assert!(finished.stderr.contains(said), "{arguments:?}: {finished:?}");
        assert!(finished.status == status || finished.status == 2, "{arguments:?}: {finished:?}");
        // What may have a guard is refused, at the top level for whoever reads that alone.
        let is_refused = finished.status == 2 && finished.stdout.contains(r#""decision":"block""#);
        assert!(finished.stdout.is_empty() || is_refused, "{arguments:?}: {finished:?}");
    }
    // On a terminal it does not wait.
    let (status, shown) = Hook::new(&project, &["bridge", "claude"]).on_terminal().finish();
    assert_ne!(status, 0);
    assert!(shown.contains("Claude Code starts `hook bridge claude`"), "{shown}");
}

/// A file that stands where an agent keeps its own is read as that agent's by every command.
#[test]
fn another_agents_file_is_tried_listed_and_explained() {
    let project = Project::new();
    let theirs = json!({"hooks": {"PreToolUse": [{"matcher": "Bash", "hooks": [
        {"type": "command", "command": "cat > told.json; echo no >&2; exit 2"}]}],
        "PostToolUseFailure": [{"hooks": [{"type": "command", "command": "true"}]}]}});
    let path = project.write(".claude/settings.json", &theirs.to_string());
    let settings = format!("--settings={}", path.display());
    let run = |arguments: &[&str]| {
        let arguments: Vec<&str> = arguments.iter().copied().chain([&*settings]).collect();
        Hook::new(&project, &arguments).run()
    };
    let input = r#"{"tool_input":{"command":"ls"}}"#;
    let fired = run(&["fire", "BeforeTool", "--tool", "run_shell_command", "--input", input]);
    assert_eq!(fired.status, 2, "{fired:?}");
    let told: Value = serde_json::from_str(&project.read("told.json")).unwrap();
    let of_call = (&told["hook_event_name"], &told["tool_name"], &told["tool_input"]["command"]);
    assert_eq!(of_call, (&json!("PreToolUse"), &json!("Bash"), &json!("ls")));
    assert!(run(&["list"]).stdout.contains("Bash"));
    let explained = run(&["explain", "BeforeTool", "--tool", "write_file"]);
    let why = "its matcher `Bash` does not match the tool_name `write_file`";
    assert!(explained.stdout.contains(why), "{}", explained.stdout);
    let checked = Hook::new(&project, &["check", &path.display().to_string()]).run();
    assert_eq!(checked.status, 0, "{checked:?}");
}

#[test]
fn an_async_hook_outlives_the_bridge_and_delays_nothing() {
    let project = Project::new();
    let theirs = json!({"hooks": {"PreToolUse": [{"hooks": [
        {"type": "command", "command": "sleep 0.3; touch \"$CLAUDE_PROJECT_DIR/done\"", "async": true}]}]}});
    project.write("theirs.json", &theirs.to_string());
    let arguments = ["bridge", "claude", "--settings", "theirs.json"];
    let finished = Hook::new(&project, &arguments).stdin(of_claude(&project, "ls")).run();
    assert_eq!((finished.status, &*finished.stdout), (0, ""), "{finished:?}");
    let begun = std::time::Instant::now();
    while !project.path().join("done").exists() {
        assert!(begun.elapsed() < std::time::Duration::from_secs(30));
        std::thread::sleep(std::time::Duration::from_millis(10));
    }
}

/// A script that reads lines reads nothing of a line without an end.
#[test]
fn what_stands_behind_the_agents_words_reaches_its_own_hooks() {
    let project = Project::new();
    let hook = json!({"type": "command", "command": "cat > told"});
    let settings = json!({"hooks": {"PreToolUse": [{"hooks": [hook]}]}});
    project.write("theirs.json", &settings.to_string());
    for ending in ["\n", "", "\r\n"] {
        let said = of_claude(&project, "ls") + ending;
        let arguments = ["bridge", "claude", "PreToolUse", "--settings", "theirs.json"];
        assert_eq!(Hook::new(&project, &arguments).stdin(said.clone()).run().status, 0);
        assert_eq!(project.read("told"), said);
    }
}

#[test]
fn an_answer_that_nobody_reads_is_a_refusal_by_exit_code() {
    let project = guarded(&json!({"type": "command", "failBehavior": "block",
        "command": "echo '{\"decision\":\"deny\"}'"}));
    let input = of_claude(&project, "ls");
    for arguments in [
        &["bridge", "claude", "PreToolUse"][..],
        &["fire", "BeforeTool", "--as-hook", "--input", &input],
    ] {
        let (reader, writer) = std::io::pipe().unwrap();
        drop(reader);
        let mut command = project.command(hook_tests::hook_binary());
        let mut child = command
            .args(arguments)
            .stdin(std::process::Stdio::piped())
            .stdout(writer)
            .stderr(std::process::Stdio::piped())
            .spawn()
            .unwrap();
        // `fire` does not read it.
        let _ = std::io::Write::write_all(&mut child.stdin.take().unwrap(), input.as_bytes());
        let ended = child.wait_with_output().unwrap();
        assert_eq!(ended.status.code(), Some(2), "{arguments:?} {ended:?}");
    }
}

//! Agents that files define: those of a user, and those that are part of the program.

use std::fs;

use hook_tests::{Finished, Hook, Project};
use serde_json::{Value, json};

/// An agent that there is not, in Claude Code's manner, with words of its own.
const MINE: &str = concat!("\n", include_str!("agent_definitions/mine.toml"));

fn run(project: &Project, arguments: &[&str]) -> Finished {
    Hook::new(project, arguments).run()
}

fn bridge(project: &Project, agent: &str, event: &str, input: &Value) -> Finished {
    Hook::new(project, &["bridge", agent, event]).stdin(input.to_string()).run()
}

fn user_file(project: &Project, path: &str, text: &str) {
    let path = project.home().join(path);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}

/// Gives the user one hook for an event.
fn user_hook(project: &Project, event: &str, matcher: &str, command: &str) {
    let hook = json!({"type": "command", "command": command, "failBehavior": "block"});
    let settings = json!({"hooks": {event: [{"matcher": matcher, "hooks": [hook]}]}});
    user_file(project, ".config/hooks/settings.json", &settings.to_string());
}

fn call_of_mine(project: &Project) -> Value {
    json!({"sessionId": "s", "folder": project.path(), "hookEventName": "beforeTool",
        "toolName": "sh", "toolInput": {"line": "rm -r build"}, "news": {"of": "version 8"}})
}

fn json_of(finished: &Finished) -> Value {
    serde_json::from_str(finished.stdout.trim()).unwrap_or_else(|_| panic!("{finished:?}"))
}

#[test]
fn a_made_up_agent_takes_one_file() {
    let project = Project::new();
    user_hook(&project, "BeforeTool", "run_shell_command", "echo not that >&2; exit 2");
    let file = project.write("mine.toml", MINE);
    let file = file.to_str().unwrap();

    let checked = run(&project, &["agents", "check", file]);
    assert_eq!((checked.status, checked.stderr.as_str()), (0, ""), "{checked:?}");
    assert!(checked.stdout.contains("Mine, 3 events"), "{checked:?}");

    let connected = run(&project, &["connect", "--agent-file", file]);
    assert_eq!(connected.status, 0, "{connected:?}");
    assert!(connected.stderr.contains("restart Mine"), "{connected:?}");
    let copy = project.home().join(".config/hooks/agents/mine.toml");
    assert_eq!(fs::read_to_string(copy).unwrap(), MINE);
    let settings = fs::read_to_string(project.home().join(".mine/hooks.json")).unwrap();
    let entry = &serde_json::from_str::<Value>(&settings).unwrap()["beforeTool"][0]["hooks"][0];
    assert!(entry["command"].as_str().unwrap().ends_with("bridge mine beforeTool"), "{entry}");
    assert_eq!(entry["limit"], 120_000, "{entry}");
    assert_eq!(entry["label"], "hook at beforeTool", "{entry}");
    assert_eq!(entry["strict"], true, "{entry}");

    let listed = run(&project, &["connect", "--list"]);
    assert!(listed.stdout.contains("mine     user     2 of 3 events"), "{listed:?}");
    let agents = run(&project, &["agents"]);
    assert!(agents.stdout.contains("7.1 read 2026-11-26"), "{agents:?}");

    let denied = bridge(&project, "mine", "beforeTool", &call_of_mine(&project));
    assert_eq!(denied.status, 0, "{denied:?}");
    assert_eq!(json_of(&denied), json!({"verdict": "no", "why": "not that"}));

    let disconnected = run(&project, &["disconnect", "mine"]);
    assert_eq!(disconnected.status, 0, "{disconnected:?}");
    assert!(!project.home().join(".mine/hooks.json").exists());
}

#[test]
fn answers_are_rendered_in_the_forms_of_the_file() {
    let project = Project::new();
    user_file(&project, ".config/hooks/agents/mine.toml", MINE);
    let answers = |event: &str, native: &str, matcher: &str, answer: &Value, input: &Value| {
        user_hook(&project, native, matcher, &format!("printf '%s' '{answer}'"));
        bridge(&project, "mine", event, input)
    };
    let call = call_of_mine(&project);
    let changed = json!({"hookSpecificOutput": {"tool_input": {"command": "ls"}}});
    let finished = answers("beforeTool", "BeforeTool", "", &changed, &call);
    assert_eq!(json_of(&finished), json!({"call": {"arguments": {"line": "ls"}}}));

    let ask = json!({"decision": "ask", "reason": "sure?"});
    let finished = answers("beforeTool", "BeforeTool", "", &ask, &call);
    assert_eq!(json_of(&finished), json!({"verdict": "no", "why": "sure?"}));

    let prompt = json!({"sessionId": "s", "folder": project.path(), "prompt": "go"});
    let context = json!({"hookSpecificOutput": {"additionalContext": "it rains"}});
    let finished = answers("promptSent", "BeforeAgent", "", &context, &prompt);
    assert_eq!((finished.status, finished.stdout.trim()), (0, "it rains"));
    let denial = json!({"decision": "deny", "reason": "not now"});
    let finished = answers("promptSent", "BeforeAgent", "", &denial, &prompt);
    assert_eq!((finished.status, finished.stderr.trim()), (2, "not now"), "{finished:?}");
}

#[test]
fn a_denial_by_an_exit_code_of_its_own_is_one_where_nothing_can_be_read() {
    let project = Project::new();
    let own = MINE.replace("deny = \"exit 2\"\nexit_2 = \"denies\"", "deny = { exit = 3 }");
    user_file(&project, ".config/hooks/agents/mine.toml", &own);
    let nonsense = Hook::new(&project, &["bridge", "mine", "promptSent"]).stdin("nonsense").run();
    assert_eq!(nonsense.status, 3, "{nonsense:?}");
    assert!(nonsense.stderr.contains("not JSON"), "{nonsense:?}");
    // So does the entry, where `hook` is gone.
    assert_eq!(run(&project, &["connect", "mine", "--no-server"]).status, 0);
    let settings = fs::read_to_string(project.home().join(".mine/hooks.json")).unwrap();
    let settings: Value = serde_json::from_str(&settings).unwrap();
    let entry = settings["promptSent"][0]["hooks"][0]["command"].as_str().unwrap();
    assert!(entry.contains("exit 3") && !entry.contains("exit 2"), "{entry}");
}

#[test]
fn an_agent_with_settings_in_yaml_is_connected_and_read() {
    let project = Project::new();
    let yaml =
        "folder = \".mine\"\nuser = [\"a.yml\"]\nproject = [\".mine/a.yml\"]\nform = \"flat\"";
    let own = MINE.replace("hooks.json", "a.yml").replace(
        "folder = \".mine\"\nuser = [\"a.yml\"]\nproject = [\".mine/a.yml\"]\nbare = [\"a.yml\"]",
        yaml,
    );
    let file = project.write("mine.toml", &own);
    let connected = run(&project, &["connect", "--agent-file", file.to_str().unwrap()]);
    assert_eq!(connected.status, 0, "{connected:?}");
    let path = project.home().join(".mine/a.yml");
    let settings = fs::read_to_string(&path).unwrap();
    assert!(
        settings.contains("  beforeTool: [{") && !settings.contains("/bin/sh -c"),
        "{settings}"
    );
    // Those of the user and ours: ours are no hooks.
    let mixed = format!("{settings}  turnStop:\n    - command: touch stopped\n");
    fs::write(&path, mixed).unwrap();
    let doctor = run(&project, &["doctor"]);
    assert!(doctor.stdout.contains("1 hook that no other agent runs"), "{doctor:?}");
    let turn =
        json!({"prompt": "p", "prompt_response": "r", "stop_hook_active": false}).to_string();
    let fired = run(&project, &["fire", "AfterAgent", "--agent", "mine", "--input", &turn]);
    assert!(fired.status == 0 && project.path().join("stopped").exists(), "{fired:?}");
}

#[test]
fn hooks_in_the_files_of_such_an_agent_run_for_others() {
    let project = Project::new();
    user_file(&project, ".config/hooks/agents/mine.toml", MINE);
    let settings = json!({"hooksConfig": {"agents": ["mine"]}}).to_string();
    user_file(&project, ".config/hooks/settings.json", &settings);
    let command =
        r#"grep -q '"line":"rm' && echo '{"verdict": "no", "why": "mine says no"}'; true"#;
    let hook = json!({"type": "command", "command": command});
    let hooks = json!({"beforeTool": [{"matcher": "sh", "hooks": [hook]}]}).to_string();
    user_file(&project, ".mine/hooks.json", &hooks);
    let call = json!({"session_id": "s", "cwd": project.path(), "hook_event_name": "PreToolUse",
        "tool_name": "Bash", "tool_input": {"command": "rm -r build"}});
    let denied = bridge(&project, "claude", "PreToolUse", &call);
    let specific = &json_of(&denied)["hookSpecificOutput"];
    assert_eq!(specific["permissionDecision"], "deny", "{denied:?}");
    assert_eq!(specific["permissionDecisionReason"], "mine says no", "{denied:?}");
}

#[test]
fn a_broken_file_fails_closed_and_switches_no_other_agent_off() {
    let project = Project::new();
    user_hook(&project, "BeforeTool", "", "exit 0");
    user_file(&project, ".config/hooks/agents/mine.toml", &MINE.replace("title", "titel"));
    user_file(&project, ".config/hooks/agents/other.toml", &MINE.replace("mine", "other"));
    let broken = bridge(&project, "mine", "beforeTool", &call_of_mine(&project));
    assert_eq!(broken.status, 2, "{broken:?}");
    assert!(broken.stderr.contains("mine.toml:3:1"), "{broken:?}");
    assert_eq!(json_of(&broken)["decision"], "block", "{broken:?}");
    // The end of a turn is not refused: it would go on for ever.
    assert_eq!(bridge(&project, "mine", "turnStop", &json!({})).status, 1);
    let other = bridge(&project, "other", "beforeTool", &call_of_mine(&project));
    assert_eq!((other.status, other.stdout.as_str()), (0, ""), "{other:?}");
    let listed = run(&project, &["agents"]);
    assert!(listed.stderr.contains("mine.toml:3:1"), "{listed:?}");
    assert!(listed.stdout.contains("claude") && listed.stdout.contains("other"), "{listed:?}");
}

#[test]
fn mistakes_have_their_place_and_what_is_allowed() {
    let project = Project::new();
    let twice = format!("{MINE}\n[[event]]\nname = \"turnStop\"\n");
    for (text, place, message) in [
        (MINE.replace("title", "titel"), "3:1", "did you mean `title`?"),
        (MINE.replace("claude-like", "claud-like"), "4:10", "expected `claude-like`"),
        (twice, "55:8", "the event `turnStop` stands twice"),
        (MINE.replace("\"BeforeAgent\"", "\"BeforeAgnt\""), "44:10", "did you mean `BeforeAgent`?"),
        (MINE.replace("\"{input}\"", "\"{inptu}\""), "40:9", "`{input}`"),
        (MINE.replace("deny = \"exit 2\"", "deny = \"exit2\""), "45:8", "`exit 2`"),
        (format!("{MINE}\n[[event]]\nname = \"session_end\"\n"), "55:8", "by `native`"),
        (MINE.replace("\".mine\"", "\"../x\""), "11:10", "without `..`"),
        (MINE.replace("name = \"mine\"", "name = \"claude\""), "1:1", "part of `hook`"),
        (MINE.replace("file = \"hooks.json\"", "file = \"hooks.toml\""), "22:8", "`event_key`"),
        (
            MINE.replace("file = \"hooks.json\"", "file = \"hooks.yaml\""),
            "22:8",
            "`form = \"flat\"`",
        ),
        ("name = [".to_owned(), "1:9", ""),
    ] {
        let file = project.write("mine.toml", &text);
        let checked = run(&project, &["agents", "check", file.to_str().unwrap()]);
        assert_eq!(checked.status, 1, "{checked:?}");
        assert!(checked.stderr.contains(&format!("mine.toml:{place}: ")), "{checked:?}");
        assert!(checked.stderr.contains(message), "{checked:?}");
        let connected = run(&project, &["connect", "--agent-file", file.to_str().unwrap()]);
        assert_ne!(connected.status, 0, "{connected:?}");
        assert!(!project.home().join(".config/hooks/agents").exists(), "{connected:?}");
    }
}

#[test]
fn a_new_file_is_right_as_it_is() {
    let project = Project::new();
    let made = run(&project, &["agents", "new", "mine"]);
    assert_eq!(made.status, 0, "{made:?}");
    let file = project.write("mine.toml", &made.stdout);
    let checked = run(&project, &["agents", "check", file.to_str().unwrap()]);
    assert_eq!(checked.status, 0, "{checked:?}");
    for name in ["claude", "droid", "My Agent", ""] {
        assert_ne!(run(&project, &["agents", "new", name]).status, 0, "{name}");
    }
}

/// The agents whose files are part of the program: the file of the user, and what the file has
/// beside entries.
const SHIPPED: [(&str, &str, &str); 17] = [
    ("abacus", ".abacusai/config.json", "{\"a\": 1}\n"),
    ("antigravity", ".gemini/config/hooks.json", "{\n  \"mine\": {\"Stop\": []}\n}\n"),
    ("auggie", ".augment/settings.json", "{\"a\": 1}\n"),
    ("crush", ".config/crush/crush.json", "{\"lsp\": {},\n \"hooks\": { }}\n"),
    ("cortex", ".snowflake/cortex/settings.json", "{}\n"),
    ("deepagents", ".deepagents/hooks.json", "{\"hooks\": { }}\n"),
    ("devin", ".config/devin/config.json", "{\"a\": 1}\n"),
    ("droid", ".factory/hooks.json", "{\n  \"Stop\": []\n}\n"),
    ("kimi", ".kimi-code/config.toml", "default_model = 'm' # mine\n\n[models.m]\nsize = 1"),
    ("goose", ".agents/plugins/hook/hooks/hooks.json", "{}\n"),
    ("grok", ".grok/hooks/hook.json", "{ }"),
    ("junie", ".junie/config.json", "{\"model\": \"m\"}"),
    ("openhands", ".openhands/hooks.json", "{}"),
    ("kiro", ".kiro/hooks/hook.json", "{\"version\": \"v1\", \"hooks\": [\n]}\n"),
    ("qoder", ".qoder/settings.json", "{\"a\": [1,  2]}\n"),
    ("vibe", ".vibe/hooks.toml", "[[hooks]]\nname = \"a\"\ntype = \"pre_tool\"\ncommand = \"b\"\n"),
    ("windsurf", ".codeium/windsurf/hooks.json", "{\"hooks\": {\"post_read_code\": []}}\n"),
];

#[test]
fn what_is_connected_is_disconnected_to_the_byte() {
    for (agent, file, before) in SHIPPED {
        let project = Project::new();
        user_hook(&project, "SessionEnd", "", "true");
        user_file(&project, file, before);
        let path = project.home().join(file);
        let connected = run(&project, &["connect", agent]);
        assert_eq!(connected.status, 0, "{connected:?}");
        let text = fs::read_to_string(&path).unwrap();
        assert!(text.contains(&format!(" bridge {agent} ")), "{text}");
        let again = run(&project, &["connect", agent]);
        assert!(again.stdout.contains("already"), "{again:?}");
        let listed = run(&project, &["connect", "--list"]);
        assert!(listed.stdout.contains(&format!("{agent:<8} user ")), "{listed:?}");
        assert_eq!(run(&project, &["disconnect", agent]).status, 0);
        assert_eq!(fs::read_to_string(&path).unwrap(), before, "{agent}");
    }
}

#[test]
fn a_refusal_is_said_as_each_agent_was_seen_to_obey() {
    for (agent, event, input, expected) in [
        (
            "droid",
            "PreToolUse",
            json!({"session_id": "s", "hook_event_name": "PreToolUse", "tool_name": "Execute",
                "tool_input": {"command": "rm -r build", "riskLevel": "low"}}),
            json!({"hookSpecificOutput": {"hookEventName": "PreToolUse",
                "permissionDecision": "deny", "permissionDecisionReason": "no"}}),
        ),
        (
            "kimi",
            "PreToolUse",
            json!({"session_id": "s", "hook_event_name": "PreToolUse", "tool_name": "Bash",
                "tool_input": {"command": "rm -r build"}, "tool_call_id": "c"}),
            json!({"hookSpecificOutput": {"hookEventName": "PreToolUse",
                "permissionDecision": "deny", "permissionDecisionReason": "no"}}),
        ),
        (
            "vibe",
            "pre_tool",
            json!({"session_id": "s", "hook_event_name": "pre_tool",
                "tool_name": "file_system.bash", "tool_input": {"command": "rm -r build"}}),
            json!({"decision": "deny", "reason": "no"}),
        ),
        (
            "openhands",
            "pre_tool_use",
            json!({"session_id": "s", "event_type": "PreToolUse", "tool_name": "terminal",
                "tool_input": {"command": "rm -r build", "kind": "TerminalAction"}}),
            json!({"decision": "deny", "reason": "no"}),
        ),
        (
            "hermes",
            "pre_tool_call",
            json!({"session_id": "s", "hook_event_name": "pre_tool_call", "tool_name": "terminal",
                "tool_input": {"command": "rm -r build"}, "extra": {"tool_call_id": "c"}}),
            json!({"decision": "block", "reason": "no"}),
        ),
    ] {
        let project = Project::new();
        let command = "grep -q '\"command\":\"rm -r build\"' && echo no >&2 && exit 2; exit 0";
        user_hook(&project, "BeforeTool", "run_shell_command", command);
        let mut input = input;
        let folder = if agent == "openhands" { "working_dir" } else { "cwd" };
        input[folder] = json!(project.path());
        let denied = bridge(&project, agent, event, &input);
        assert_eq!((denied.status, json_of(&denied)), (0, expected), "{agent}: {denied:?}");
    }
}

#[test]
fn an_agent_that_takes_silence_for_a_failure_hears_that_nothing_is_said() {
    let project = Project::new();
    let call = |command: &str| {
        json!({"conversationId": "s", "workspacePaths": [project.path()], "stepIdx": 1,
            "toolCall": {"name": "run_command", "args": {"CommandLine": command}}})
    };
    let guard = "grep -q '\"command\":\"rm' && echo no >&2 && exit 2; exit 0";
    user_hook(&project, "BeforeTool", "run_shell_command", guard);
    let silent = bridge(&project, "antigravity", "PreToolUse", &call("ls"));
    assert_eq!(json_of(&silent), json!({"decision": "allow"}));
    let denied = bridge(&project, "antigravity", "PreToolUse", &call("rm -r build"));
    assert_eq!(json_of(&denied), json!({"decision": "deny", "reason": "no"}));
    user_hook(&project, "BeforeTool", "", r#"echo '{"decision": "ask", "reason": "sure?"}'"#);
    let asked = bridge(&project, "antigravity", "PreToolUse", &call("ls"));
    assert_eq!(json_of(&asked), json!({"decision": "force_ask", "reason": "sure?"}));
    let changed = r#"echo '{"hookSpecificOutput": {"tool_input": {"command": "pwd"}}}'"#;
    user_hook(&project, "BeforeTool", "", changed);
    let changed = bridge(&project, "antigravity", "PreToolUse", &call("ls"));
    let expected = json!({"decision": "allow", "overwrite": {"CommandLine": "pwd"}});
    assert_eq!(json_of(&changed), expected);
}

#[test]
fn grok_is_refused_by_its_words_and_its_exit_code() {
    let project = Project::new();
    user_hook(&project, "BeforeTool", "run_shell_command", "echo no >&2; exit 2");
    let call = json!({"hookEventName": "pre_tool_use", "sessionId": "s", "cwd": project.path(),
        "workspaceRoot": project.path(), "toolName": "run_terminal_cmd",
        "toolInput": {"command": "rm -rf /"}});
    let denied = bridge(&project, "grok", "PreToolUse", &call);
    assert_eq!(json_of(&denied), json!({"decision": "deny", "reason": "no"}));
    assert_eq!((denied.status, denied.stderr.trim()), (2, "no"), "{denied:?}");
}

#[test]
fn what_only_exit_codes_say_is_said_by_them() {
    let project = Project::new();
    let windsurf = |event: &str, tool_info: &Value| {
        let said = json!({"agent_action_name": event, "trajectory_id": "t", "execution_id": "e",
            "timestamp": "2026-11-27T03:00:00Z", "model_name": "m", "tool_info": tool_info});
        bridge(&project, "windsurf", event, &said)
    };
    let refused = |finished: &Finished| {
        assert_eq!((finished.status, finished.stderr.trim()), (2, "no"), "{finished:?}");
    };
    let guard = |native: &str, matcher: &str, text: &str| {
        let command = format!("grep -qF '{text}' && echo no >&2 && exit 2; exit 0");
        user_hook(&project, native, matcher, &command);
    };
    guard("BeforeTool", "run_shell_command", r#""tool_input":{"command":"rm -r build""#);
    refused(&windsurf("pre_run_command", &json!({"command_line": "rm -r build", "cwd": "/p"})));
    let allowed = windsurf("pre_run_command", &json!({"command_line": "ls", "cwd": "/p"}));
    assert_eq!((allowed.status, allowed.stdout.as_str()), (0, ""), "{allowed:?}");
    guard("BeforeTool", "replace|write_file", r#""file_path":"/p/.env""#);
    let edits = json!([{"old_string": "a", "new_string": "b"}]);
    refused(&windsurf("pre_write_code", &json!({"file_path": "/p/.env", "edits": edits})));
    guard("BeforeTool", "mcp_github_.*", r#""tool_input":{"owner":"o"}"#);
    refused(&windsurf(
        "pre_mcp_tool_use",
        &json!({"mcp_server_name": "github", "mcp_tool_name": "create_issue",
            "mcp_tool_arguments": {"owner": "o"}}),
    ));
    guard("BeforeAgent", "", r#""prompt":"forget it""#);
    refused(&windsurf("pre_user_prompt", &json!({"user_prompt": "forget it"})));

    let kiro = |event: &str, fields: &Value| {
        let mut said = json!({"hook_event_name": event, "session_id": "s", "cwd": project.path()});
        said.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
        bridge(&project, "kiro", event, &said)
    };
    guard("BeforeTool", "run_shell_command", r#""command":"rm -r build""#);
    let call = json!({"tool_name": "shell", "tool_input": {"command": "rm -r build"}});
    refused(&kiro("PreToolUse", &call));
    let context = r#"echo '{"hookSpecificOutput": {"additionalContext": "it rains"}}'"#;
    user_hook(&project, "BeforeAgent", "", context);
    let told = kiro("UserPromptSubmit", &json!({"prompt": "go"}));
    assert_eq!((told.status, told.stdout.trim()), (0, "it rains"), "{told:?}");
}

#[test]
fn what_the_forms_of_crush_mean_is_read_and_written() {
    let project = Project::new();
    let call = json!({"event": "PreToolUse", "session_id": "s", "cwd": project.path(),
        "tool_name": "bash", "tool_input": {"command": "rm -r build", "description": "d"}});
    let answer = |hook: &str| {
        user_hook(&project, "BeforeTool", "run_shell_command", hook);
        bridge(&project, "crush", "PreToolUse", &call)
    };
    let denied = answer("echo no >&2; exit 2");
    assert_eq!(json_of(&denied), json!({"decision": "deny", "reason": "no"}));
    let changed = answer(r#"echo '{"hookSpecificOutput": {"tool_input": {"command": "pwd"}}}'"#);
    let expected = json!({"command": "pwd", "description": "d"});
    assert_eq!(json_of(&changed), json!({"updated_input": expected}), "{changed:?}");
    let stopped = answer(r#"echo '{"continue": false, "stopReason": "enough"}'"#);
    assert_eq!(json_of(&stopped)["halt"], true, "{stopped:?}");
    assert_eq!(json_of(&stopped)["reason"], "enough", "{stopped:?}");

    // Its own hooks run for another agent: a code ends the turn, and the arguments that an answer lacks stay.
    let settings = json!({"hooksConfig": {"agents": ["crush"]}}).to_string();
    user_file(&project, ".config/hooks/settings.json", &settings);
    let crush_hook = |command: &str| {
        let hooks = json!({"hooks": {"PreToolUse": [{"matcher": "^bash$", "command": command}]}});
        user_file(&project, ".config/crush/crush.json", &hooks.to_string());
        let call = json!({"session_id": "s", "cwd": project.path(), "hook_event_name": "PreToolUse",
            "tool_name": "Bash", "tool_input": {"command": "ls", "description": "d"}});
        json_of(&bridge(&project, "claude", "PreToolUse", &call))
    };
    let stopped = crush_hook("echo enough >&2; exit 49");
    assert_eq!((&stopped["continue"], &stopped["stopReason"]), (&json!(false), &json!("enough")));
    let merged = crush_hook(r#"echo '{"updated_input": {"command": "pwd"}}'"#);
    assert_eq!(merged["hookSpecificOutput"]["updatedInput"], expected, "{merged}");
}

#[test]
fn hooks_of_kiro_run_for_others() {
    let project = Project::new();
    let settings = json!({"hooksConfig": {"agents": ["kiro"]}}).to_string();
    user_file(&project, ".config/hooks/settings.json", &settings);
    let denied = |hook: &Value| {
        let hooks = json!({"version": "v1", "hooks": [hook]}).to_string();
        user_file(&project, ".kiro/hooks/mine.json", &hooks);
        let call = json!({"session_id": "s", "cwd": project.path(), "hook_event_name": "PreToolUse",
            "tool_name": "Bash", "tool_input": {"command": "ls"}});
        bridge(&project, "claude", "PreToolUse", &call).stdout.contains("\"deny\"")
    };
    let action = json!({"type": "command", "command": "echo no >&2; exit 2"});
    let hook =
        json!({"name": "a", "trigger": "PreToolUse", "matcher": "shell|bash", "action": action});
    assert!(denied(&hook));
    let with = |key: &str, value: Value| {
        let mut hook = hook.clone();
        hook[key] = value;
        hook
    };
    assert!(!denied(&with("enabled", json!(false))));
    assert!(!denied(&with("action", json!({"type": "agent", "prompt": "say no"}))));
    assert!(!denied(&with("trigger", json!("PostToolUse"))));
    assert!(!denied(&with("matcher", json!("fs_write"))));
}

/// What Cline 3.0.65 sends before a tool.
fn call_of_cline(project: &Project) -> Value {
    json!({"clineVersion": "", "timestamp": "2026-11-23T21:13:19.171Z", "taskId": "conv_1",
        "workspaceRoots": [project.path()], "userId": "u", "agent_id": "agent_1",
        "parent_agent_id": null, "hookName": "tool_call", "iteration": 1,
        "tool_call": {"id": "call_1", "name": "run_commands",
            "input": {"commands": ["rm -r build", "ls"]}},
        "preToolUse": {"toolName": "run_commands",
            "parameters": {"commands": "[\"rm -r build\",\"ls\"]"}}})
}

#[test]
fn cline_hears_a_refusal_and_other_arguments() {
    let project = Project::new();
    let guard = r#"grep -q 'rm -r build' && echo no >&2 && exit 2; exit 0"#;
    user_hook(&project, "BeforeTool", "run_shell_command", guard);
    let refused = json!({"cancel": true, "errorMessage": "no"});
    let denied = bridge(&project, "cline", "PreToolUse", &call_of_cline(&project));
    assert_eq!((denied.status, json_of(&denied)), (0, refused.clone()), "{denied:?}");
    // Its extension for VS Code sends the second form alone, with text for each argument.
    let mut in_editor = call_of_cline(&project);
    in_editor["hookName"] = json!("PreToolUse");
    in_editor.as_object_mut().unwrap().remove("tool_call");
    in_editor["preToolUse"] =
        json!({"toolName": "execute_command", "parameters": {"command": "rm -r build"}});
    let denied = bridge(&project, "cline", "PreToolUse", &in_editor);
    assert_eq!(json_of(&denied), refused, "{denied:?}");
    let change = r#"echo '{"hookSpecificOutput": {"tool_input": {"commands": ["pwd"]}}}'"#;
    user_hook(&project, "BeforeTool", "run_shell_command", change);
    let changed = bridge(&project, "cline", "PreToolUse", &call_of_cline(&project));
    assert_eq!(json_of(&changed), json!({"overrideInput": {"commands": ["pwd"]}}), "{changed:?}");
    user_hook(&project, "BeforeTool", "", r#"echo '{"decision": "ask", "reason": "sure?"}'"#);
    let asked = bridge(&project, "cline", "PreToolUse", &call_of_cline(&project));
    assert_eq!(json_of(&asked), json!({"cancel": true, "errorMessage": "sure?"}), "{asked:?}");
}

#[cfg(unix)]
#[test]
fn scripts_are_written_for_cline_and_a_script_of_the_user_stays() {
    use std::os::unix::fs::PermissionsExt;

    let project = Project::new();
    user_hook(&project, "BeforeTool", "", "echo no >&2; exit 2");
    let folder = project.home().join(".cline/hooks");
    let text = |event: &str| fs::read_to_string(folder.join(event));
    let connected = run(&project, &["connect", "cline"]);
    assert_eq!(connected.status, 0, "{connected:?}");
    assert!(text("PreToolUse").unwrap().starts_with("#!/bin/sh\n"), "{connected:?}");
    // Its answer to this event is lost, and no hook listens to it.
    assert!(text("TaskStart").is_err(), "{connected:?}");
    let mode = fs::metadata(folder.join("PreToolUse")).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o755);
    let input = project.write("call.json", &call_of_cline(&project).to_string());
    let mut script = project.command(folder.join("PreToolUse"));
    let asked = script.stdin(fs::File::open(input).unwrap()).output().unwrap();
    let answer: Value = serde_json::from_slice(&asked.stdout).unwrap();
    assert_eq!(answer, json!({"cancel": true, "errorMessage": "no"}), "{asked:?}");
    let listed = run(&project, &["connect", "--list"]);
    assert!(listed.stdout.contains("cline    user "), "{listed:?}");
    assert!(run(&project, &["connect", "cline"]).stdout.contains("already"));

    let mine = "#!/bin/sh\ncat > /tmp/log\n";
    user_file(&project, ".cline/hooks/PostToolUse", mine);
    let connected = run(&project, &["connect", "cline"]);
    assert!(connected.stderr.contains("PostToolUse is yours"), "{connected:?}");
    assert!(connected.stderr.contains("bridge cline PostToolUse"), "{connected:?}");
    assert_eq!(text("PostToolUse").unwrap(), mine);
    assert_eq!(run(&project, &["connect", "cline", "--events", "PreToolUse"]).status, 0);
    assert!(text("PreToolUse").is_ok() && text("UserPromptSubmit").is_err());
    let disconnected = run(&project, &["disconnect", "cline"]);
    assert_eq!(disconnected.status, 0, "{disconnected:?}");
    assert!(text("PreToolUse").is_err(), "{disconnected:?}");
    assert_eq!(text("PostToolUse").unwrap(), mine);
    let again = run(&project, &["disconnect", "cline"]);
    assert!(again.stdout.contains("already"), "{again:?}");
}

/// Connects an agent with these hooks, and returns what its plugin does: the agent, the plugin's file, and a script that
/// plays the agent.
fn played(
    project: &Project,
    hooks: &Value,
    (agent, plugin, script): (&str, &str, &str),
    arguments: &[&str],
) -> Value {
    user_file(project, ".config/hooks/settings.json", &json!({"hooks": hooks}).to_string());
    let connected = run(project, &["connect", agent]);
    assert_eq!(connected.status, 0, "{connected:?}");
    let plugin = fs::read_to_string(project.home().join(plugin)).unwrap();
    project.write("hook.mjs", &plugin);
    project.write("agent.mjs", script);
    let played = project.command("node").arg("agent.mjs").args(arguments).output().unwrap();
    serde_json::from_slice(&played.stdout)
        .unwrap_or_else(|_| panic!("{}", String::from_utf8_lossy(&played.stderr)))
}

/// opencode as far as its plugin needs it.
const OPENCODE: &str = r#"
import plugin from "./hook.mjs";
const told = [];
const client = { session: { prompt: async (said) => told.push(said.body.parts[0].text) } };
const hooks = await plugin.server({ client, directory: process.cwd() });
const caught = async (name, input, output) => {
  try { await hooks[name](input, output); return output; } catch (error) { return { thrown: error.message }; }
};
const call = { tool: "bash", sessionID: "s", callID: "c" };
const args = { command: process.argv[2], description: "x" };
const before = await caught("tool.execute.before", call, { args });
const after = await caught("tool.execute.after", { ...call, args }, { title: "", output: "done", metadata: {} });
const parts = [{ id: "prt_1", type: "text", text: "go", messageID: "m", sessionID: "s" }];
const message = await caught("chat.message", { sessionID: "s" }, { message: {}, parts });
await hooks.event({ event: { type: "session.created", properties: { info: { id: "s" } } } });
await hooks.event({ event: { type: "session.updated", properties: {} } });
console.log(JSON.stringify({ before, same: before.args === args, after, texts: parts.map((part) => part.text), message, told }));
"#;

#[test]
fn the_plugin_of_opencode_does_what_hooks_answer() {
    if !crate::modules_js::has_node() {
        return;
    }
    let project = Project::new();
    let play = |hooks: &Value, command: &str| {
        played(
            &project,
            hooks,
            ("opencode", ".config/opencode/plugins/hook.js", OPENCODE),
            &[command],
        )
    };
    let hook = |command: &str| json!([{"hooks": [{"type": "command", "command": command}]}]);
    let refused = play(
        &json!({
            "BeforeTool": hook("grep -q '\"command\":\"rm' && echo no >&2 && exit 2; exit 0"),
            "AfterTool": hook("echo secret >&2; exit 2"),
            "BeforeAgent": hook("echo not now >&2; exit 2"),
        }),
        "rm -r build",
    );
    assert_eq!(refused["before"], json!({"thrown": "no"}));
    assert_eq!(refused["after"]["output"], "secret");
    assert_eq!(refused["message"], json!({"thrown": "not now"}));
    let context = |text: &str| {
        hook(&format!(r#"echo '{{"hookSpecificOutput": {{"additionalContext": "{text}"}}}}'"#))
    };
    let changed = r#"echo '{"hookSpecificOutput": {"tool_input": {"command": "pwd"}}}'"#;
    let told = play(
        &json!({
            "BeforeTool": hook(changed),
            "AfterTool": context("after"),
            "BeforeAgent": context("with the prompt"),
            "SessionStart": context("at the start"),
        }),
        "ls",
    );
    assert_eq!(told["before"]["args"]["command"], "pwd");
    // A new object would be ignored.
    assert_eq!(told["same"], true);
    assert_eq!(told["after"]["output"], "done\nafter");
    assert_eq!(told["texts"], json!(["go", "with the prompt"]));
    assert_eq!(told["told"], json!(["at the start"]));
}

/// Amp as far as its plugin needs it. The first argument is the command of a call, the second one how a user answers.
const AMP: &str = r#"
import plugin from "./hook.mjs";
const [command, consent] = process.argv.slice(2);
const handlers = {};
let cancelled = false;
const amp = {
  system: { workspaceRoot: { path: process.cwd() } },
  helpers: { filePathFromURI: (uri) => uri.path },
  on: (name, handler) => { handlers[name] = handler; },
};
plugin(amp);
const thread = { id: "T-1" };
const ctx = {
  thread: { cancel: async () => { cancelled = true; } },
  ui: { confirm: async () => { if (consent === "none") throw new Error("no user"); return consent === "yes"; } },
};
await handlers["session.start"]({ thread }, ctx);
const start = await handlers["agent.start"]({ thread, message: "go", id: "m" }, ctx);
const of = { toolUseID: "toolu_1", tool: "Bash", input: { cmd: command, cwd: "." }, thread };
const call = await handlers["tool.call"](of, ctx);
const result = await handlers["tool.result"]({ ...of, output: "done", status: "done" }, ctx) ?? null;
const ends = [];
const messages = [{ role: "assistant", content: [{ type: "text", text: "finished" }] }];
for (let count = 0; count < 10; count++)
  ends.push(await handlers["agent.end"]({ thread, message: "go", id: "m", status: "done", messages }, ctx) ?? null);
console.log(JSON.stringify({ cancelled, start, call, result, ends }));
"#;

#[test]
fn the_plugin_of_amp_does_what_hooks_answer() {
    if !crate::modules_js::has_node() {
        return;
    }
    let project = Project::new();
    let play = |hooks: &Value, arguments: &[&str]| {
        played(&project, hooks, ("amp", ".config/amp/plugins/hook.ts", AMP), arguments)
    };
    let hook = |command: &str| json!([{"hooks": [{"type": "command", "command": command}]}]);
    let refused = play(
        &json!({
            "BeforeTool": hook("grep -q '\"command\":\"rm' && echo no >&2 && exit 2; exit 0"),
            "AfterTool": hook("echo secret >&2; exit 2"),
            "BeforeAgent": hook("echo not now >&2; exit 2"),
            "AfterAgent": hook("grep -q finished && echo go on >&2 && exit 2; exit 0"),
        }),
        &["rm -r build"],
    );
    assert_eq!(refused["call"], json!({"action": "reject-and-continue", "message": "no"}));
    // A refused call has no result of its own.
    assert_eq!(refused["result"], Value::Null);
    assert_eq!((&refused["cancelled"], &refused["start"]), (&json!(true), &json!({})));
    let ends = refused["ends"].as_array().unwrap();
    let goes_on = json!({"action": "continue", "userMessage": "go on", "maxContinuations": 8});
    assert_eq!((&ends[0], &ends[7], &ends[8]), (&goes_on, &goes_on, &Value::Null));

    let context = |text: &str| {
        hook(&format!(r#"echo '{{"hookSpecificOutput": {{"additionalContext": "{text}"}}}}'"#))
    };
    let told = play(
        &json!({
            "BeforeTool": hook(r#"echo '{"hookSpecificOutput": {"tool_input": {"command": "pwd"}}}'"#),
            "AfterTool": context("after"),
            "BeforeAgent": context("with the prompt"),
            "SessionStart": context("at the start"),
        }),
        &["ls"],
    );
    assert_eq!(told["call"], json!({"action": "modify", "input": {"cmd": "pwd", "cwd": "."}}));
    assert_eq!(told["result"], json!({"status": "done", "output": "done\nafter"}));
    let message = json!({"content": "at the start\nwith the prompt", "display": false});
    assert_eq!(told["start"], json!({"message": message}));
    assert_eq!(told["ends"][0], Value::Null);

    let asks = json!({"BeforeTool": hook(r#"echo '{"decision": "ask", "reason": "sure?"}'"#)});
    let allowed = json!({"action": "allow"});
    let rejected = json!({"action": "reject-and-continue", "message": "sure?"});
    for (consent, expected) in [("yes", &allowed), ("no", &rejected), ("none", &rejected)] {
        assert_eq!(&play(&asks, &["ls", consent])["call"], expected, "{consent}");
    }
    let secret = json!({"AfterTool": hook("echo secret >&2; exit 2")});
    let replaced = json!({"status": "error", "error": "secret", "output": "secret"});
    let played = play(&secret, &["ls"]);
    assert_eq!((&played["call"], &played["result"]), (&allowed, &replaced));
    let failed = json!({"BeforeTool": [{"hooks": [{"type": "command", "command": "exit 1",
        "failBehavior": "block"}]}]});
    assert_eq!(play(&failed, &["ls"])["call"]["action"], "reject-and-continue");
}

#[cfg(unix)]
#[test]
fn an_older_version_is_said_with_what_it_lacks() {
    use std::os::unix::fs::PermissionsExt;

    let project = Project::new();
    user_file(&project, "bin/crush", "#!/bin/sh\necho crush version v0.80.1\n");
    let folder = project.home().join("bin");
    fs::set_permissions(folder.join("crush"), fs::Permissions::from_mode(0o755)).unwrap();
    let path = format!("{}:{}", folder.display(), std::env::var("PATH").unwrap());
    let run = |arguments: &[&str]| Hook::new(&project, arguments).env("PATH", &path).run();
    user_hook(&project, "AfterTool", "", "exit 0");
    let connected = run(&["connect", "crush"]);
    let lacks = "Crush 0.80.1 is older than 0.99.0, which is the first that has PostToolUse";
    assert!(connected.stderr.contains(lacks), "{connected:?}");
    // What is read was not seen to be obeyed.
    assert!(!connected.stderr.contains("was checked"), "{connected:?}");
    let doctor = run(&["doctor"]);
    assert!(doctor.stdout.contains(lacks), "{doctor:?}");
}

//! Agents that files define: those of a user, and those that are part of the program.

use std::fs;

use hook_tests::{Finished, Hook, Project};
use serde_json::{Value, json};

/// An agent that there is not, in Claude Code's manner, with words of its own.
const MINE: &str = r#"
name = "mine"
title = "Mine"
family = "claude-like"
checked = { version = "7.1", date = "2026-11-26", by = "reading" }
casing = "camel"
matchers = "exact-or-expression"
never_asks = ["It asks nothing about its own notes."]

[files]
folder = ".mine"
user = ["hooks.json"]
project = [".mine/hooks.json"]
bare = ["hooks.json"]

[timeout]
key = "limit"
unit = "milliseconds"
default = 5000

[connect]
file = "hooks.json"
project = ".mine/hooks.json"
next_step = "restart Mine"
fields = { label = "hook at {event}" }
fail_closed = { strict = true }

[fields]
cwd = "folder"

[[tool]]
native = "run_shell_command"
name = "sh"
arguments = { command = "line" }

[[event]]
name = "beforeTool"
native = "BeforeTool"
deny = { verdict = "no", why = "{reason}" }
input = { call = { arguments = "{input}" } }

[[event]]
name = "promptSent"
native = "BeforeAgent"
deny = "exit 2"
exit_2 = "denies"
context = "text"

[[event]]
name = "turnStop"
native = "AfterAgent"
deny = { verdict = "no", why = "{reason}" }
"#;

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

    let page = hook_agents::render_page(&hook_agents::read_agent(MINE).unwrap());
    assert!(page.contains("Checked against Mine 7.1, which was read on 2026-11-26."), "{page}");
    assert!(
        page.contains("| `beforeTool` | yes | denied | denied | yes | lost | lost |"),
        "{page}"
    );
    assert!(page.contains("It asks nothing about its own notes."), "{page}");
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
const SHIPPED: [(&str, &str, &str); 13] = [
    ("antigravity", ".gemini/config/hooks.json", "{\n  \"mine\": {\"Stop\": []}\n}\n"),
    ("auggie", ".augment/settings.json", "{\"a\": 1}\n"),
    ("cortex", ".snowflake/cortex/settings.json", "{}\n"),
    ("deepagents", ".deepagents/hooks.json", "{\"hooks\": { }}\n"),
    ("devin", ".config/devin/config.json", "{\"a\": 1}\n"),
    ("droid", ".factory/hooks.json", "{\n  \"Stop\": []\n}\n"),
    ("kimi", ".kimi-code/config.toml", "default_model = 'm' # mine\n\n[models.m]\nsize = 1"),
    ("goose", ".agents/plugins/hook/hooks/hooks.json", "{}\n"),
    ("grok", ".grok/hooks/hook.json", "{ }"),
    ("junie", ".junie/config.json", "{\"model\": \"m\"}"),
    ("openhands", ".openhands/hooks.json", "{}"),
    ("qoder", ".qoder/settings.json", "{\"a\": [1,  2]}\n"),
    ("vibe", ".vibe/hooks.toml", "[[hooks]]\nname = \"a\"\ntype = \"pre_tool\"\ncommand = \"b\"\n"),
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
    let play = |hooks: &Value, command: &str| -> Value {
        let settings = json!({"hooks": hooks}).to_string();
        user_file(&project, ".config/hooks/settings.json", &settings);
        let connected = run(&project, &["connect", "opencode"]);
        assert_eq!(connected.status, 0, "{connected:?}");
        let plugin = project.home().join(".config/opencode/plugins/hook.js");
        project.write("hook.mjs", &fs::read_to_string(plugin).unwrap());
        project.write("opencode.mjs", OPENCODE);
        let played = project.command("node").args(["opencode.mjs", command]).output().unwrap();
        serde_json::from_slice(&played.stdout)
            .unwrap_or_else(|_| panic!("{}", String::from_utf8_lossy(&played.stderr)))
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

//! pi's and oh-my-pi's: an extension of ours asks, and hooks may be written in their words.

use std::fs;

use hook_tests::{Finished, Hook, Project};
use serde_json::{Value, json};

use super::{answer, bridge, settings, with};
use crate::modules_js::has_node;

fn base() -> Value {
    json!({"type": "", "session_id": "s", "transcript_path": "", "cwd": "/PROJECT"})
}

fn call() -> Value {
    json!({"toolName": "bash", "toolCallId": "call_1", "input": {"command": "rm -r x"}})
}

fn ran() -> Value {
    let mut ran = call();
    ran["content"] = json!([{"type": "text", "text": "hello\n"}]);
    ran["isError"] = json!(false);
    ran
}

/// Asks hooks of ours on its behalf.
fn asked(agent: &str, script: &str, our_event: &str, event: &str, said: &Value) -> Finished {
    let project = Project::new();
    let hooks =
        json!({"hooks": {our_event: [{"hooks": [{"type": "command", "command": script}]}]}});
    let folder = project.home().join(".config/hooks");
    fs::create_dir_all(&folder).unwrap();
    fs::write(folder.join("settings.json"), hooks.to_string()).unwrap();
    let said = with(&base(), event, said, &project);
    Hook::new(&project, &["bridge", agent, event]).stdin(said.to_string()).run()
}

#[test]
fn hooks_of_ours_are_obeyed_in_their_words() {
    let end = json!({"prompt": "p", "last_assistant_message": "m", "stop_hook_active": false});
    let no = "echo no >&2; exit 2";
    for (agent, script, our_event, event, said, expected) in [
        ("pi", no, "BeforeTool", "tool_call", call(), json!({"block": true, "reason": "no"})),
        ("omp", no, "BeforeTool", "tool_call", call(), json!({"block": true, "reason": "no"})),
        (
            "pi",
            r#"echo '{"decision":"ask","reason":"sure?"}'"#,
            "BeforeTool",
            "tool_call",
            call(),
            json!({"block": true, "reason": "sure?", "ask": true}),
        ),
        (
            "pi",
            r#"grep -q '"tool_name":"run_shell_command"' && echo '{"hookSpecificOutput":{"tool_input":{"command":"ls"}}}'"#,
            "BeforeTool",
            "tool_call",
            call(),
            json!({"input": {"command": "ls"}}),
        ),
        (
            "pi",
            no,
            "AfterTool",
            "tool_result",
            ran(),
            json!({"content": [{"type": "text", "text": "no"}], "isError": true}),
        ),
        (
            "omp",
            r#"echo '{"hookSpecificOutput":{"additionalContext":"c"}}'"#,
            "AfterTool",
            "tool_result",
            ran(),
            json!({"context": "c"}),
        ),
        (
            "pi",
            no,
            "BeforeAgent",
            "input",
            json!({"text": "p"}),
            json!({"action": "handled", "reason": "no"}),
        ),
        (
            "omp",
            r#"echo '{"hookSpecificOutput":{"additionalContext":"c"}}'"#,
            "BeforeAgent",
            "before_agent_start",
            json!({"prompt": "p"}),
            json!({"context": "c"}),
        ),
        (
            "pi",
            no,
            "AfterAgent",
            "agent_end",
            end.clone(),
            json!({"decision": "block", "reason": "no"}),
        ),
        (
            "omp",
            no,
            "AfterAgent",
            "session_stop",
            end.clone(),
            json!({"decision": "block", "reason": "no"}),
        ),
        (
            "omp",
            r#"echo '{"continue":false,"stopReason":"enough"}'"#,
            "AfterAgent",
            "session_stop",
            end,
            json!({"abort": true}),
        ),
        ("pi", no, "PreCompress", "session_before_compact", json!({}), json!({"cancel": true})),
    ] {
        let finished = asked(agent, script, our_event, event, &said);
        assert_eq!(answer(&finished), expected, "{agent} {event} {script}: {finished:?}");
        assert_eq!(finished.status, 0, "{finished:?}");
    }
}

/// Hooks in their words, which a file has whose language is theirs.
#[test]
fn hooks_in_their_words_are_told_and_understood() {
    let project = Project::new();
    for (event, said, script, expected) in [
        (
            "tool_call",
            call(),
            r#"echo '{"block":true,"reason":"r"}'"#,
            json!({"block": true, "reason": "r"}),
        ),
        (
            "tool_call",
            call(),
            r#"echo '{"block":true}'"#,
            json!({"block": true, "reason": "Tool execution was blocked by a hook"}),
        ),
        // One that fails has thrown.
        ("tool_call", call(), "echo boom >&2; exit 1", json!({"block": true, "reason": "boom"})),
        ("tool_result", ran(), "echo boom >&2; exit 1", Value::Null),
        (
            "before_agent_start",
            json!({"prompt": "p"}),
            r#"echo '{"message":{"customType":"x","content":"c","display":true}}'"#,
            json!({"context": "c"}),
        ),
        ("session_before_compact", json!({}), r#"echo '{"cancel":true}'"#, json!({"cancel": true})),
    ] {
        let said = with(&base(), event, &said, &project);
        let hook = json!({"type": "command", "command": format!("cat > told; {script}")});
        let finished = bridge(&project, "omp", &settings(event, hook, None, true), event, &said);
        assert_eq!(answer(&finished), expected, "{event} {script}: {finished:?}");
        assert_eq!(project.read("told"), said.to_string(), "byte for byte");
    }
}

#[test]
fn the_extension_is_written_and_taken_away_again() {
    for (agent, file) in
        [("pi", ".pi/agent/extensions/hook.ts"), ("omp", ".omp/agent/extensions/hook.ts")]
    {
        let project = Project::new();
        let run = |arguments: &[&str]| {
            Hook::new(&project, arguments).env("PI_CODING_AGENT_DIR", "").run()
        };
        let path = project.home().join(file);
        assert_eq!(run(&["connect", agent]).status, 0);
        let text = fs::read_to_string(&path).unwrap();
        assert!(text.contains(&format!(" bridge {agent} tool_call\"")), "{text}");
        let listed = run(&["connect", "--list"]).stdout;
        assert!(listed.contains(agent) && !listed.contains("another binary"), "{listed}");
        // One that was changed is left to the user.
        fs::write(&path, text.replace("refused", "ignored")).unwrap();
        let refused = run(&["disconnect", agent]);
        assert_ne!(refused.status, 0, "{refused:?}");
        assert!(path.exists() && refused.stderr.contains("not as `hook connect` writes it"));
        assert_eq!(run(&["connect", agent]).status, 0);
        assert_eq!(fs::read_to_string(&path).unwrap(), text);
        assert_eq!(run(&["disconnect", agent]).status, 0);
        assert!(!path.exists());
        // What is somebody else's stays.
        fs::write(&path, "export default function () {}\n").unwrap();
        assert_ne!(run(&["connect", agent]).status, 0);
        assert_ne!(run(&["disconnect", agent]).status, 0);
        assert_eq!(fs::read_to_string(&path).unwrap(), "export default function () {}\n");
    }
}

/// A worker that asks the user, takes that back, and answers with what the user's editor has then.
const HESITANT: &str = r#"
import json, sys
def say(**message): print(json.dumps(message), flush=True)
def got(): return json.loads(sys.stdin.readline()).get("result")
say(type="hook-worker", protocol=1)
call = json.loads(sys.stdin.readline())["callId"]
def ask(id, method, params): say(type="hook-host-call", hostCallId=id, callId=call, method=method, params=params)
ask("q", "ui.confirm", {"title": "Sure?", "message": ""})
ask("shown", "ui.getEditorText", {})
assert got() == "Sure? is shown"
ask("back", "cancel", {"hostCallId": "q"})
assert got() is True
ask("after", "ui.getEditorText", {})
say(type="hook-answer", callId=call, output={"decision": "deny", "reason": got()})
sys.stdin.read()
"#;

/// pi as far as the extension needs it: its user looks at questions, and answers none.
const PI: &str = r#"
import extension from "./hook.mjs";
const handlers = {};
extension({ on: (event, handler) => (handlers[event] = handler), registerCommand() {} });
let text = "";
const ui = {
  confirm: (title, _, { signal }) => new Promise((resolve) => {
    text = `${title} is shown`;
    signal.addEventListener("abort", () => resolve((text = `${title} is taken back`)));
  }),
  getEditorText: () => text,
  notify: (text) => console.error(text),
};
const call = { toolName: "bash", toolCallId: "1", input: { command: "ls" } };
const answer = await handlers.tool_call(call, { hasUI: true, ui, cwd: process.cwd() });
console.log(JSON.stringify(answer));
"#;

#[test]
fn a_question_that_a_hook_takes_back_is_taken_back_from_its_user() {
    if !has_node() {
        return;
    }
    let project = Project::new();
    let run = Hook::new(&project, &["connect", "pi"]).env("PI_CODING_AGENT_DIR", "").run();
    assert_eq!(run.status, 0, "{run:?}");
    let extension = fs::read_to_string(project.home().join(".pi/agent/extensions/hook.ts"));
    project.write("hook.mjs", &extension.unwrap());
    project.write("pi.mjs", PI);
    let worker = project.write("worker.py", HESITANT);
    let hook = json!({"type": "worker", "failBehavior": "block",
        "command": format!("exec python3 -B {}", worker.display())});
    let folder = project.home().join(".config/hooks");
    fs::create_dir_all(&folder).unwrap();
    let settings = json!({"hooks": {"BeforeTool": [{"hooks": [hook]}]}});
    fs::write(folder.join("settings.json"), settings.to_string()).unwrap();
    let played = project.command("node").arg("pi.mjs").output().unwrap();
    let said: Value = serde_json::from_slice(&played.stdout).unwrap_or_default();
    let expected = json!({"block": true, "reason": "Sure? is taken back"});
    assert_eq!(said, expected, "{}", String::from_utf8_lossy(&played.stderr));
}

//! The examples of docs/examples/modules, played by the binary.

use std::fs;
use std::io::Write;
use std::path::PathBuf;
use std::process::Stdio;

use hook_tests::{Hook, Project, example, request, workspace};
use serde_json::{Value, json};

use super::host::conversation;
use super::{has_node, jiti, shell, verdict};

const EXAMPLES: [&str; 4] = ["guard.ts", "redact.ts", "context.ts", "handoff.ts"];

fn with_examples() -> Project {
    let project = Project::new();
    let entries: Vec<Value> = EXAMPLES
        .iter()
        .map(|name| {
            let text =
                fs::read_to_string(workspace().join("docs/examples/modules").join(name)).unwrap();
            project.write(name, &text);
            json!({"type": "module", "path": name})
        })
        .collect();
    project.write("settings.json", &json!({"hooks": {"*": [{"hooks": entries}]}}).to_string());
    project
}

#[test]
fn what_they_load_is_known() {
    for name in EXAMPLES {
        let project = Project::new();
        let text = fs::read_to_string(workspace().join("docs/examples/modules").join(name));
        project.write(&format!(".hooks/modules/{name}"), &text.unwrap());
        let trusted = Hook::new(&project, &["trust", "--yes"]).run();
        assert_eq!(trusted.status, 0, "{name}: {trusted:?}");
    }
}

/// The responses to requests of a script.
fn played(project: &Project, requests: &[Value]) -> Option<Vec<Value>> {
    let jiti = jiti().filter(|_| has_node())?;
    let script: String = requests.iter().map(|it| format!("{it}\n")).collect();
    project.write("script.jsonl", &script);
    let arguments = ["run", "script.jsonl", "--json", "--settings", "settings.json"];
    let finished = Hook::new(project, &arguments).env("NODE_PATH", jiti.to_str().unwrap()).run();
    let answered = requests.iter().filter(|it| it["type"] != "hook-host-results").count();
    assert_eq!(finished.lines().len(), answered, "{finished:?}");
    Some(finished.lines())
}

#[test]
fn rm_rf_is_blocked_where_nobody_can_be_asked() {
    let project = with_examples();
    let requests =
        ["rm -rf /x", "ls"].map(|command| request("BeforeTool", &shell(command), command));
    let Some(responses) = played(&project, &requests) else { return };
    assert_eq!(verdict(&responses[0]), ("block", "rm -rf blocked (no UI)"), "{}", responses[0]);
    assert_eq!(verdict(&responses[1]).0, "proceed", "{}", responses[1]);
}

#[test]
fn a_guard_that_asks_is_tested_with_each_answer() {
    let project = with_examples();
    let Some(jiti) = jiti().filter(|_| has_node()) else { return };
    let test = |host: &str, expect: &str| {
        format!(
            "[[test]]\nname = \"{expect}\"\nevent = 'BeforeTool'\n{host}\nexpect = {{ {expect} }}\n\
            input = {{ tool_name = 'run_shell_command', tool_input = {{ command = 'rm -rf x' }} }}\n"
        )
    };
    let tests = [
        test("", "reason = 'rm -rf blocked (no UI)'"),
        test("host = { 'ui.confirm' = false }", "reason = 'user denied command'"),
        test("host = { 'ui.confirm' = true }", "decision = 'proceed'"),
    ];
    project.write("guard.toml", &tests.concat());
    let hook = |arguments: &[&str]| {
        Hook::new(&project, arguments).env("NODE_PATH", jiti.to_str().unwrap()).run()
    };
    let tested = hook(&["test", "--settings", "settings.json", "guard.toml"]);
    assert!(tested.status == 0 && tested.stdout.contains("3 passed"), "{tested:?}");
    project.write("wrong.toml", &test("host = { 'ui.confrim' = true }", "decision = 'proceed'"));
    let wrong = hook(&["test", "--settings", "settings.json", "wrong.toml"]);
    assert_eq!(wrong.status, 1);
    assert!(
        wrong.stderr.contains("wrong.toml:4:") && wrong.stderr.contains("ui.confirm,"),
        "{wrong:?}"
    );
}

#[test]
fn keys_are_taken_out_of_what_is_read() {
    let project = with_examples();
    let input = json!({"tool_name": "read_file", "tool_input": {"file_path": "a"},
        "tool_response": {"content": [{"type": "text", "text": "API_KEY=abc rest"}]}});
    let Some(responses) = played(&project, &[request("AfterTool", &input, "c")]) else { return };
    let shown =
        responses[0]["output"]["finalOutput"]["hookSpecificOutput"]["tool_response"].to_string();
    assert!(shown.contains("API_KEY=[REDACTED] rest"), "{}", responses[0]);
}

#[test]
fn messages_for_debugging_are_left_out() {
    let project = with_examples();
    let input = json!({"llm_request": {"model": "m", "messages": []}, "messages": [
        {"role": "custom", "customType": "debug-only", "content": "d"}, {"role": "user", "content": "u"}]});
    let Some(responses) = played(&project, &[request("BeforeModel", &input, "c")]) else { return };
    let left = &responses[0]["output"]["finalOutput"]["hookSpecificOutput"]["messages"];
    assert_eq!(left, &json!([{"role": "user", "content": "u"}]), "{}", responses[0]);
}

#[test]
fn handoff_begins_a_session() {
    let project = with_examples();
    let command = request("Command", &json!({"command_name": "handoff", "arguments": ""}), "c");
    let host = |cancelled: bool| {
        let results = json!({"session.get": {"sessionFile": "/s.jsonl"},
            "session.waitForIdle": null, "session.new": {"cancelled": cancelled}});
        json!({"type": "hook-host-results", "results": results})
    };
    // Without a session there is nothing to hand over; what the agent says of its own holds from there on.
    let script = [command.clone(), host(false), command.clone(), host(true), command];
    let Some(responses) = played(&project, &script) else { return };
    let succeeded: Vec<&Value> =
        responses.iter().map(|response| &response["output"]["success"]).collect();
    assert_eq!(succeeded, [false, true, true], "{responses:?}");
    let said = responses[0]["output"]["errors"].to_string();
    assert!(said.contains("the host does not offer `session.waitForIdle`"), "{said}");
    for (wrong, said) in [
        (r#"{"ui.confrim": true}"#, "hosts have no method"),
        (r#"{"ui.confirm": "yes"}"#, "the result of `ui.confirm` is a boolean"),
        (r#"{"ui.confirm": true, "ui.confirm": false}"#, "`ui.confirm` stands there twice"),
        ("5", "`results` must be an object"),
    ] {
        let line = format!("\n{{\"type\": \"hook-host-results\", \"results\": {wrong}}}\n");
        project.write("script.jsonl", &line);
        let played = Hook::new(&project, &["run", "script.jsonl"]).run();
        let said = format!("line 2: hook-host-results: {said}");
        assert!(played.status == 1 && played.stderr.contains(&said), "{played:?}");
    }
}

#[tokio::test]
async fn what_handoff_asks_for_is_a_session_with_a_message() {
    let project = with_examples();
    let Some(jiti) = jiti().filter(|_| has_node()) else { return };
    let settings = fs::read_to_string(project.settings()).unwrap();
    let mut settings: Value = serde_json::from_str(&settings).unwrap();
    for entry in settings["hooks"]["*"][0]["hooks"].as_array_mut().unwrap() {
        entry["env"] = json!({"NODE_PATH": jiti});
    }
    project.write("settings.json", &settings.to_string());
    let command = json!({"command_name": "handoff", "arguments": ""});
    let services = json!({"session.get": {"sessionFile": "/s.jsonl"}, "session.waitForIdle": null,
        "session.new": {"cancelled": false}});
    let (response, asked) =
        conversation(&project, &services, &request("Command", &command, "c-1")).await;
    assert_eq!(response["output"]["success"], json!(true), "{response}");
    let methods: Vec<&Value> = asked.iter().map(|it| &it["method"]).collect();
    assert_eq!(methods, ["session.get", "session.waitForIdle", "session.new"]);
    let params = &asked[2]["params"];
    assert_eq!(params["parentSession"], "/s.jsonl");
    assert_eq!(
        params["setup"][0]["message"]["content"][0]["text"],
        "Continue from prior session summary."
    );
}

/// What the example agent says to a user who gives that answer.
fn agent_says(answer: &str, modules: &[PathBuf]) -> Option<String> {
    let jiti = jiti().filter(|_| has_node())?;
    let project = Project::new();
    let mut agent = project.command(example("modules"));
    agent.args(modules).env("NODE_PATH", jiti).stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut agent = agent.stderr(Stdio::piped()).spawn().unwrap();
    agent.stdin.take().unwrap().write_all(answer.as_bytes()).unwrap();
    let ended = agent.wait_with_output().unwrap();
    let said = String::from_utf8_lossy(&ended.stdout).into_owned();
    assert!(ended.status.success(), "{said}{}", String::from_utf8_lossy(&ended.stderr));
    Some(said)
}

#[test]
fn the_example_agent_has_them_too() {
    for (answer, tool) in [("n\n", "user denied command"), ("y\n", "done")] {
        let Some(said) = agent_says(answer, &[]) else { return };
        for part in [
            "guard.ts tool_call asks: Dangerous command: Allow: rm -rf build [y/N]",
            &format!("the model gets: Text(\"{tool}\")"),
            "the model gets: Text(\"API_KEY=[REDACTED] and more\")",
            "The model is asked:\n  user: Clean up, then look at the settings.\n\n",
            "The model is asked:\n  user: Continue from prior session summary.\n  user: And now?\n",
        ] {
            assert!(said.contains(part), "{part}\nis not in\n{said}");
        }
    }
}

#[test]
fn a_module_may_keep_the_example_agent_in_its_session() {
    let project = Project::new();
    let stays = "export default (pi) => {
        pi.on('session_before_switch', (event) => ({ cancel: event.reason === 'new' }));
        pi.registerCommand('handoff', { handler: async (_, ctx) =>
          `cancelled: ${(await ctx.newSession({})).cancelled}` });
    }";
    let stays = project.write("stays.mjs", stays);
    let Some(said) = agent_says("", &[stays]) else { return };
    assert!(said.contains("You: /handoff\n  cancelled: true\n"), "{said}");
    assert!(!said.contains("a new session begins"), "{said}");
}

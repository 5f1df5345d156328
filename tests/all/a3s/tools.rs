//! A tool is meant by any of its names.

use hook_protocol::{HookEventName, HookOutput};
use hook_run::HandlerHook;
use hook_settings::MatcherFields;
use serde_json::{Value, json};

use super::{Client, answered, by_worker, decision, fire, system_with};

fn call(tool: &str) -> Value {
    json!({"tool_name": tool, "tool_input": {"command": "rm -rf /"}})
}

fn denies() -> Value {
    json!({"action": "block", "reason": "no"})
}

/// What names the shell in the words of each vocabulary.
fn matchers() -> Vec<Value> {
    let names = ["Bash", "run_shell_command", "run_in_terminal", "shell"];
    let named = names.map(|name| json!({"tool": name}));
    let patterns = ["^Bash$", "^run_shell_command$"].map(|name| json!({"toolPattern": name}));
    named.into_iter().chain(patterns).collect()
}

const CALLED: [&str; 4] = ["Bash", "run_shell_command", "bash", "run_in_terminal"];
const OTHERS: [&str; 3] = ["write_file", "Write", "BashOutput"];

#[tokio::test]
async fn a_tool_of_a_registered_hook_is_meant_by_any_of_its_names() {
    for (vocabulary, event) in
        [("a3s", "PreToolUse"), ("native", "BeforeTool"), ("claude", "PreToolUse")]
    {
        for matcher in matchers() {
            let hook = json!({"eventName": event, "vocabulary": vocabulary, "matcher": matcher});
            let (_project, system) = system_with(json!({"hooks": {}})).await;
            let mut clients = [Client::new(&system, hook.clone(), denies())];
            for tool in CALLED {
                let (_, response) = answered(&system, &mut clients, "BeforeTool", call(tool)).await;
                assert_eq!(decision(&response), "block", "{hook} {tool}");
            }
            for tool in OTHERS {
                let response = fire(&system, "BeforeTool", call(tool)).await;
                assert_eq!(response["hooks"], json!([]), "{hook} {tool}");
            }
        }
    }
}

#[tokio::test]
async fn a_tool_of_a_workers_hook_is_meant_by_any_of_its_names() {
    for (vocabulary, event) in [("a3s", "PreToolUse"), ("native", "BeforeTool")] {
        let hook =
            json!({"eventName": event, "vocabulary": vocabulary, "matcher": {"tool": "Bash"}});
        for (tool, expected) in
            [("Bash", "block"), ("run_shell_command", "block"), ("write_file", "proceed")]
        {
            let response = by_worker(hook.clone(), &denies(), "BeforeTool", &call(tool)).await;
            assert_eq!(decision(&response), expected, "{vocabulary} {tool}: {response}");
        }
    }
}

#[tokio::test]
async fn a_tool_of_settings_and_of_the_host_is_meant_by_any_of_its_names() {
    let command = json!({"type": "command", "command": "exit 2"});
    for matcher in matchers() {
        let ours = json!({"BeforeTool": [{"matcher": matcher, "hooks": [command]}]});
        let theirs = |language: &str| {
            let definition = json!({"language": language, "matcher": matcher, "hooks": [command]});
            json!({"PreToolUse": [definition]})
        };
        for hooks in [ours, theirs("a3s"), theirs("claude")] {
            let (_project, system) = system_with(json!({"hooks": hooks})).await;
            for tool in CALLED {
                let response = fire(&system, "BeforeTool", call(tool)).await;
                assert_eq!(decision(&response), "block", "{hooks} {tool}");
            }
            for tool in OTHERS {
                let response = fire(&system, "BeforeTool", call(tool)).await;
                assert_eq!(decision(&response), "proceed", "{hooks} {tool}");
            }
        }
    }
    let guard = HandlerHook::inline(HookEventName::BeforeTool, "guard", |_| {
        Ok(Some(HookOutput::deny("no")))
    });
    let project = hook_tests::Project::new();
    let guard = guard.matcher(MatcherFields::new().tool("Bash"));
    let system = project.builder().handler(guard).build().unwrap();
    for tool in CALLED {
        assert_eq!(decision(&fire(&system, "BeforeTool", call(tool)).await), "block", "{tool}");
    }
}

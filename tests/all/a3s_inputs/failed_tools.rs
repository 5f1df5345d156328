//! A tool that failed looks failed, whatever says so and whatever the hook's words are.

use hook_tests::{Hook, Project};
use serde_json::{Value, json};

use super::{of_user, sent, written};

/// Inputs of AfterTool, and whether the tool failed.
fn results() -> Vec<(Value, bool)> {
    let ran = |tool: &str, more: Value| {
        let mut input = json!({"tool_name": tool, "tool_input": {}, "tool_response": "out"});
        for (name, value) in more.as_object().unwrap() {
            input[name] = value.clone();
        }
        input
    };
    let shell = |more| ran("run_shell_command", more);
    vec![
        (shell(json!({})), false),
        (shell(json!({"is_error": true})), true),
        (shell(json!({"exit_code": 1})), true),
        (shell(json!({"exit_code": 0})), false),
        (shell(json!({"exit_code": -1, "tool_response": {"llmContent": "x"}})), true),
        // The agent knows better what its tool's code means.
        (shell(json!({"exit_code": 1, "is_error": false})), true),
        (shell(json!({"tool_response": {"stdout": "", "exitCode": 2}})), true),
        (ran("Bash", json!({"exit_code": 1})), true),
        (ran("read_file", json!({"exit_code": 1})), false),
        (
            ran(
                "read_file",
                json!({"tool_response": {"llmContent": "x", "error": "no such file"}}),
            ),
            true,
        ),
        (ran("read_file", json!({"tool_response": {"error": {"message": "m"}}})), true),
        (ran("read_file", json!({"tool_response": {"error": null}})), false),
        (ran("read_file", json!({"tool_response": {"error": ""}})), false),
        (ran("read_file", json!({"tool_response": {"error": false}})), false),
        (ran("mcp_a_b", json!({"tool_response": {"content": [], "isError": true}})), true),
    ]
}

#[tokio::test]
async fn a_failed_tool_looks_failed_in_the_words_of_every_registered_hook() {
    let system = Project::new().system();
    for (input, failed) in results() {
        let ran = || ("AfterTool", input.clone());
        let told = sent(&system, ("a3s", "PostToolUse"), ran()).await;
        assert_eq!(told["result"]["success"], !failed, "a3s {input}: {told}");
        let told = sent(&system, ("omp", "tool_result"), ran()).await;
        assert_eq!(told["isError"], failed, "omp {input}: {told}");
        let told = sent(&system, ("native", "AfterTool"), ran()).await;
        assert_eq!(told["is_error"] == true, failed, "native {input}: {told}");
    }
}

#[test]
fn a_failed_tool_looks_failed_to_commands_in_settings() {
    for (input, failed) in results() {
        let hook = |command: &str| json!({"type": "command", "command": command});
        let settings = json!({"hooks": {
            "AfterTool": [{"hooks": [hook("cat > native")]}],
            "PostToolUse": [
                {"language": "a3s", "hooks": [hook("cat > a3s")]},
                {"language": "claude", "hooks": [hook("touch claude")]},
            ],
        }});
        let project = Project::with_settings(&settings);
        let text = input.to_string();
        let fire = ["fire", "AfterTool", "--input", &text, "--settings", "settings.json"];
        let finished = Hook::new(&project, &fire).run();
        assert_eq!(finished.status, 0, "{finished:?}");
        let read = |file: &str| serde_json::from_str::<Value>(&project.read(file)).unwrap();
        assert_eq!(read("native")["is_error"] == true, failed, "{input}");
        assert_eq!(read("a3s")["result"]["success"], !failed, "{input}");
        // Claude Code has another event for what failed.
        assert_eq!(project.path().join("claude").exists(), !failed, "{input}");
    }
}

#[test]
fn a_failed_tool_of_an_agent_looks_failed_through_the_bridge() {
    for (agent, event, said) in [
        (
            "gemini",
            "AfterTool",
            json!({"hook_event_name": "AfterTool", "tool_name": "run_shell_command",
            "tool_input": {"command": "false"}, "tool_response": {"llmContent": "x", "error": "exit 1"}}),
        ),
        (
            "a3s",
            "PostToolUse",
            json!({"eventType": "PostToolUse", "tool": "Bash", "args": {},
            "result": {"output": "x", "exitCode": 1}}),
        ),
        (
            "a3s",
            "PostToolUse",
            json!({"eventType": "PostToolUse", "tool": "Read", "args": {},
            "result": {"success": false, "output": "x"}}),
        ),
    ] {
        let hook = json!({"type": "command", "command": "cat > \"$HOME/told\""});
        let project = of_user(&json!({"AfterTool": [{"hooks": [hook]}]}));
        let finished = Hook::new(&project, &["bridge", agent, event]).stdin(said.to_string()).run();
        assert_eq!(finished.status, 0, "{finished:?}");
        let told = written(&project, "told");
        assert_eq!(told["is_error"], true, "{agent}: {told}");
    }
}

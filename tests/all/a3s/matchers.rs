//! Matchers that are objects, of definitions in settings that are in an agent's language.

use hook_tests::{Hook, Project};
use serde_json::{Value, json};

use super::{Client, answered, decision, fire, system_with};

fn definition(language: &str, matcher: &Value, behavior: &str) -> Value {
    json!({"language": language, "matcher": matcher, "hooks": [
        {"type": "command", "command": "echo no >&2; exit 2", "failBehavior": behavior}]})
}

fn call(tool: &str, input: Value) -> Value {
    json!({"tool_name": tool, "tool_input": input})
}

#[tokio::test]
async fn a_matcher_object_in_an_agents_language_matches_as_it_does_over_the_wire() {
    let matcher = json!({"tool": ["Edit", "mcp__files__put"], "pathPattern": "*.env"});
    let by_pattern = json!({"toolPattern": "^(Edit|mcp_files_put)$", "pathPattern": "*.env"});
    let by_kind = json!({"kind": "shell", "commandPattern": "^rm"});
    let calls = [
        (call("replace", json!({"file_path": "a.env", "old_string": "", "new_string": "x"})), 0),
        (call("mcp_files_put", json!({"path": "a.env"})), 0),
        (call("replace", json!({"file_path": "a.txt", "old_string": "", "new_string": "x"})), 2),
        (call("write_file", json!({"file_path": "a.env", "content": "x"})), 2),
        (call("run_shell_command", json!({"command": "rm x"})), 1),
        (call("run_shell_command", json!({"command": "ls"})), 2),
    ];
    for (matcher, group) in [(matcher, 0), (by_pattern, 0), (by_kind, 1)] {
        for language in ["a3s", "claude"] {
            let definition = definition(language, &matcher, "continue");
            let own = {
                let mut hook = definition["hooks"][0].clone();
                hook["language"] = json!(language);
                json!({"matcher": matcher, "hooks": [hook]})
            };
            let registered = json!({"vocabulary": language, "matcher": matcher});
            for definition in [definition, own] {
                let (_project, system) =
                    system_with(json!({"hooks": {"PreToolUse": [definition]}})).await;
                let (_other, over_wire) = system_with(json!({"hooks": {}})).await;
                let block = json!({"action": "block"});
                let mut clients = [Client::new(&over_wire, registered.clone(), block)];
                for (input, wanted) in &calls {
                    let matches = *wanted == group;
                    let expected = if matches { "block" } else { "proceed" };
                    let response = fire(&system, "BeforeTool", input.clone()).await;
                    assert_eq!(decision(&response), expected, "{language} {matcher} {input}");
                    let response = match matches {
                        true => {
                            answered(&over_wire, &mut clients, "BeforeTool", input.clone()).await.1
                        }
                        false => fire(&over_wire, "BeforeTool", input.clone()).await,
                    };
                    assert_eq!(decision(&response), expected, "{language} {matcher} {input}");
                }
            }
        }
    }
}

#[tokio::test]
async fn a_matcher_in_an_agents_language_that_cannot_be_used_is_said_and_a_guard_runs_for_all() {
    for (matcher, said) in [
        (json!({"tol": "Bash"}), "did you mean `tool`"),
        (json!({"toolPattern": "("}), "is not a regular expression"),
        (json!({"pathPattern": "[a"}), "cannot be used"),
        (json!(["Bash"]), "a string or an object"),
        (json!(7), "a string or an object"),
    ] {
        for language in ["a3s", "claude"] {
            for (behavior, expected) in [("block", "block"), ("continue", "proceed")] {
                let definition = definition(language, &matcher, behavior);
                let settings = json!({"hooks": {"PreToolUse": [definition]}});
                let project = Project::with_settings(&settings);
                let checked = Hook::new(&project, &["check", "settings.json"]).run();
                assert!(checked.stdout.contains(said), "{matcher} {checked:?}");
                assert!(!checked.stdout.contains("no problems"), "{matcher} {checked:?}");
                let input = call("run_shell_command", json!({"command": "ls"}));
                let response = fire(&project.system(), "BeforeTool", input).await;
                assert_eq!(decision(&response), expected, "{language} {matcher} {response}");
            }
        }
    }
}

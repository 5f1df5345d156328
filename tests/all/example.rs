//! The example session of docs/examples/agent-session, as the README's first command plays it.

use std::process::Command;

use hook_tests::{hook_binary, json, workspace};
use serde_json::Value;

/// What each line of the session leads to: the decision, or the code of the stage that failed.
const EXPECTED: [&str; 24] = [
    "proceed",
    "proceed",
    "proceed",
    "proceed",
    "proceed",
    "proceed",
    "proceed",
    "proceed",
    "block",
    "block",
    "proceed",
    "proceed",
    "ask",
    "proceed",
    "unsupported_event",
    "invalid_payload",
    "invalid_payload",
    "proceed",
    "block",
    "proceed",
    "proceed",
    "stop",
    "proceed",
    "proceed",
];

fn play() -> Vec<Value> {
    let example = "docs/examples/agent-session";
    let output = Command::new(hook_binary())
        .current_dir(workspace())
        .args(["run", "--project", example, "--settings"])
        .arg(format!("{example}/.hooks/settings.json"))
        .arg(format!("{example}/session.jsonl"))
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8(output.stdout).unwrap();
    text.lines().map(|line| json(line.as_bytes())).collect()
}

#[test]
fn the_example_session_goes_as_its_readme_says() {
    let responses = play();
    let outcomes: Vec<&str> = responses
        .iter()
        .map(|response| {
            let code = response["error"]["code"].as_str();
            code.or(response["processed"]["decision"].as_str()).unwrap_or("nothing")
        })
        .collect();
    assert_eq!(outcomes, EXPECTED);
    let by_id =
        |id: &str| responses.iter().find(|response| response["correlationId"] == id).unwrap();
    let text = |response: &Value| response.to_string();
    // The secret never reaches the other side.
    for id in
        ["04-secret-in-genai-request", "05-secret-in-genai-response", "21-secret-in-stable-request"]
    {
        assert!(text(by_id(id)).contains("[secret removed]"), "{id}");
    }
    let changed = by_id("11-changed-path");
    assert_eq!(
        changed["output"]["finalOutput"]["hookSpecificOutput"]["tool_input"]["file_path"],
        "notes/plan.txt"
    );
    assert_eq!(by_id("14-failing-hook")["output"]["success"], false);
    assert_eq!(by_id("17-invalid-and-guarded")["processed"]["decision"], "block");
    let all_events = hook_core::HookEventName::all()
        .filter(|event| responses.iter().any(|response| response["eventName"] == event.as_str()))
        .count();
    assert_eq!(all_events, hook_core::HookEventName::COUNT);
}

//! The examples: the session of docs/examples/agent-session, as the README's first command plays it,
//! and the agent of `hook-bus`.

use std::process::Stdio;

use hook_tests::{Project, example, hook_binary, json, workspace};
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
    let output = Project::new()
        .command(hook_binary())
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
    let all_events = hook_protocol::HookEventName::all()
        .filter(|event| responses.iter().any(|response| response["eventName"] == event.as_str()))
        .count();
    assert_eq!(all_events, 11, "as many as the session has");
}

/// Runs the example agent in a home of its own; nobody answers it.
fn agent(arguments: &[&str]) -> std::process::Output {
    let project = Project::new();
    let mut agent = project.command(example("agent"));
    agent.args(arguments).stdin(Stdio::null()).output().unwrap()
}

#[test]
fn the_example_agent_runs_no_hook_of_a_project_unasked() {
    let agent = agent(&[]);
    let said = String::from_utf8_lossy(&agent.stdout);
    assert!(agent.status.success(), "{said}{}", String::from_utf8_lossy(&agent.stderr));
    assert!(said.contains("guard-shell.py") && said.contains("Run them? [y/N]"), "{said}");
    assert!(said.ends_with("Without its hooks this agent does nothing.\n"), "{said}");
}

#[test]
fn the_example_agent_does_what_its_hooks_say() {
    let agent = agent(&["--yes"]);
    let said = String::from_utf8_lossy(&agent.stdout);
    assert!(agent.status.success(), "{said}{}", String::from_utf8_lossy(&agent.stderr));
    for line in [
        "    Plan the work in src/. My settings: api_key=[secret removed]",
        "    [System] scrub-secrets: 1 removed",
        "  the model gets: guard-shell: not run, a forced push rewrites history others may have; use \
         --force-with-lease or ask first.",
        "  the model gets: wrote notes/plan.txt",
        "    trim-whitespace: notes/plan.txt changed on disk, blanks removed at 2 line end(s).",
        "  you are asked: ask-outside: /etc/motd is outside the project; write it anyway?",
        "Model: The plan is written. TODO: the tests of setup are still missing.",
        "Model: The setup uses TOKEN=[secret removed]; done otherwise.",
        "The turn ends: Done",
    ] {
        assert!(said.lines().any(|said| said == line), "{line}\nis not in\n{said}");
    }
}

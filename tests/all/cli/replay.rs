//! `hook replay`: a recording's requests through the settings of now.

use hook_tests::{Finished, Hook, Project};
use serde_json::{Value, json};

use super::recorded::{Recorded, session};

const SETTINGS: &str = "--settings=settings.json";

/// Hooks that decide by the tool's name.
fn settings(reason: &str, path: &str) -> Value {
    let modify = json!({"hookSpecificOutput": {"tool_input": {"path": path}}}).to_string();
    json!({"hooks": {"BeforeTool": [
        {"matcher": "shell", "hooks": [{"type": "command", "name": "guard",
            "command": format!("echo '{reason}' >&2; exit 2")}]},
        {"matcher": "write", "hooks": [{"type": "command", "name": "tidy",
            "command": format!("echo '{modify}'")}]},
    ]}})
}

fn scripted(requests: &[(&str, Value)]) -> String {
    let line = |(index, (event, input)): (usize, &(&str, Value))| {
        json!({"type": "hook-execution-request", "eventName": event, "input": input,
            "correlationId": format!("c-{index}"), "deadlineMs": 60_000})
        .to_string()
    };
    requests.iter().enumerate().map(line).collect::<Vec<_>>().join("\n")
}

/// Plays requests with the project's settings, and writes down what came of them as a recorder does.
fn recorded(project: &Project, requests: &[(&str, Value)]) {
    let script = scripted(requests);
    let responses = Hook::new(project, &["run", "-", SETTINGS]).stdin(script.clone()).run().lines();
    let mut recording = Recorded::new();
    for (index, (request, response)) in script.lines().zip(&responses).enumerate() {
        let (number, at) = (index as u64 + 10, index as u64 * 1_000);
        let request: Value = serde_json::from_str(request).unwrap();
        recording = recording.message(at, number, &request).message(at + 500, number, response);
    }
    project.write("session.hookrec", &recording.text());
}

fn tool(name: &str) -> (&'static str, Value) {
    ("BeforeTool", json!({"tool_name": name, "tool_input": {"path": "./a"}}))
}

fn session_of_a_project() -> Project {
    let project = Project::with_settings(&settings("not today", "a"));
    recorded(
        &project,
        &[
            ("SessionStart", json!({"source": "startup"})),
            tool("shell"),
            tool("write"),
            tool("read"),
            ("BeforeTool", json!({"tool_name": 7})),
        ],
    );
    project
}

fn replayed(project: &Project, arguments: &[&str]) -> Finished {
    Hook::new(project, &[&["replay", "session.hookrec", SETTINGS], arguments].concat()).run()
}

#[test]
fn nothing_changed_is_success() {
    let project = session_of_a_project();
    insta::assert_snapshot!(replayed(&project, &[]).shown(&project), @r"
    status: 0
    ----- stdout -----
    same    SessionStart startup c-0
    same    BeforeTool shell c-1
    same    BeforeTool write c-2
    same    BeforeTool read c-3
    same    BeforeTool c-4
    5 requests: 5 same, 0 changed
    ----- stderr -----
    ");
}

#[test]
fn what_changed_is_shown_and_ends_with_1() {
    let project = session_of_a_project();
    let mut changed = settings("never again", "b");
    changed["hooks"]["BeforeTool"][1]["hooks"][0]["name"] = json!("tidier");
    changed["hooks"]["SessionStart"] = json!([{"hooks": [{"type": "command", "name": "greets", "command": "echo Hello; exit 1"}]}]);
    project.write("settings.json", &changed.to_string());
    insta::assert_snapshot!(replayed(&project, &[]).shown(&project), @r"
    status: 1
    ----- stdout -----
    changed SessionStart startup c-0
      hook
        + greets
    changed BeforeTool shell c-1
      reason
        - not today
        + never again
    changed BeforeTool write c-2
      finalOutput.hookSpecificOutput.tool_input.path
        - a
        + b
      hook
        - tidy
      hook
        + tidier
    same    BeforeTool read c-3
    same    BeforeTool c-4
    5 requests: 2 same, 3 changed
    ----- stderr -----
    ");

    let only = replayed(&project, &["--event", "SessionStart"]);
    assert_eq!(only.status, 1);
    assert!(only.stdout.ends_with("1 request: 0 same, 1 changed\n"), "{}", only.stdout);
    let none = replayed(&project, &["--event", "SessionEnd"]);
    assert_eq!((none.status, none.stdout.as_str()), (0, "0 requests: 0 same, 0 changed\n"));
    let unknown = replayed(&project, &["--event", "BeforeTools"]);
    assert_eq!(unknown.status, 64);
    assert!(unknown.stderr.contains("BeforeTool"), "{}", unknown.stderr);
}

#[test]
fn a_guard_that_is_gone_is_a_change() {
    let project = session_of_a_project();
    project.write("settings.json", "{}");
    let finished = replayed(&project, &["--json"]);
    assert_eq!(finished.status, 1);
    let lines = finished.lines();
    let outcomes: Vec<_> = lines.iter().map(|line| line["outcome"].as_str().unwrap()).collect();
    assert_eq!(outcomes, ["same", "changed", "changed", "same", "same"]);
    insta::assert_snapshot!(serde_json::to_string_pretty(&lines[1]["differences"]).unwrap(), @r#"
    [
      {
        "kind": "value",
        "path": "decision",
        "before": "block",
        "now": "proceed"
      },
      {
        "kind": "value",
        "path": "reason",
        "before": "not today"
      },
      {
        "kind": "hook-removed",
        "hook": "guard"
      }
    ]
    "#);
    let others = ["request", "correlationId", "eventName", "subject"].map(|name| &lines[1][name]);
    assert_eq!(others, [&json!(11), &json!("c-1"), &json!("BeforeTool"), &json!("shell")]);
    assert_eq!(lines[1]["response"]["processed"]["decision"], "proceed");
}

#[test]
fn what_cannot_be_compared_is_skipped_and_said() {
    let project = Project::with_settings(&json!({}));
    let cut_off = json!({"type": "hook-execution-response", "correlationId": "c-7",
        "success": false, "error": {"code": "shutting_down", "message": "the end"}});
    let recording = session()
        .request(1_100_000, 7, "BeforeAgent", &json!({"prompt": "hello"}))
        .message(1_200_000, 7, &cut_off)
        .decided(1_300_000, 8, "BeforeAgent", ("proceed", Value::Null), &[]);
    project.write("session.hookrec", &recording.text());
    let finished = replayed(&project, &[]);
    let skipped: Vec<&str> =
        finished.stdout.lines().skip_while(|line| !line.contains("c-4")).collect();
    insta::assert_snapshot!(skipped.join("\n"), @r"
    changed BeforeTool read c-4
      hook
        - hasty
    skipped not a request
      what was sent was no request
    skipped BeforeAgent c-6
      the recording has no response to compare with
    skipped BeforeAgent c-7
      it was cut off when it was recorded
    skipped BeforeAgent
      the recording misses its request
    8 requests: 1 same, 3 changed, 4 skipped
    ");
    // A skipped request was not fired, and says why in JSON too.
    let lines = replayed(&project, &["--json"]).lines();
    assert_eq!(lines[4]["why"], "what was sent was no request");
    assert_eq!(lines[4].get("response"), None);
}

#[test]
fn a_recorded_deadline_applies_again() {
    let project = Project::with_hook("BeforeAgent", "exec sleep 1000");
    let request = json!({"type": "hook-execution-request", "eventName": "BeforeAgent",
        "input": {"prompt": "hello"}, "deadlineMs": 200});
    let recording = Recorded::new().message(0, 0, &request).decided(
        10,
        0,
        "BeforeAgent",
        ("proceed", Value::Null),
        &[],
    );
    project.write("session.hookrec", &recording.text());
    let finished = replayed(&project, &["--json"]);
    assert_eq!(finished.status, 1);
    assert_eq!(finished.lines()[0]["response"]["error"]["code"], "deadline_exceeded");
}

#[test]
fn a_folder_that_is_gone_is_a_warning_of_the_hook() {
    let project = Project::with_hook("BeforeAgent", "true");
    let input = json!({"prompt": "hello", "cwd": project.path().join("here")});
    std::fs::create_dir(project.path().join("here")).unwrap();
    recorded(&project, &[("BeforeAgent", input)]);
    assert_eq!(replayed(&project, &[]).status, 0);
    std::fs::remove_dir(project.path().join("here")).unwrap();
    let finished = replayed(&project, &[]);
    assert_eq!(finished.status, 1);
    insta::assert_snapshot!(finished.shown(&project), @r"
    status: 1
    ----- stdout -----
    changed BeforeAgent c-0
      warning
        + true: the working directory [PROJECT]/here cannot be entered (No such file or directory (os error 2)); the hook runs in the project directory [PROJECT]
    1 request: 0 same, 1 changed
    ----- stderr -----
    ");
}

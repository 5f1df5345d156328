//! `hook fire --json` prints one response, whatever is wrong.

use hook_tests::{Hook, Project};
use serde_json::{Value, json};

/// The only line that is printed, and how the command ends.
fn fired(project: &Project, arguments: &[&str]) -> (Value, i32) {
    let finished = Hook::new(project, &[&["fire", "--json"], arguments].concat()).run();
    assert_eq!(finished.stdout.lines().count(), 1, "{arguments:?}: {finished:?}");
    (finished.lines().remove(0), finished.status)
}

fn assert_failed(response: &Value, code: &str, says: &str) {
    assert_eq!(response["type"], "hook-execution-response", "{response}");
    assert_eq!(response["success"], false, "{response}");
    assert_eq!(response["error"]["code"], code, "{response}");
    assert!(response["error"]["message"].as_str().unwrap().contains(says), "{response}");
    assert_eq!(response["correlationId"].as_str().map(str::len), Some(36), "{response}");
}

#[test]
fn fire_prints_one_response_whatever_is_wrong() {
    let project = Project::with_settings(&json!({}));
    project.write("broken.json", "{");
    let settings = ["BeforeTool", "--settings", "settings.json"];
    for (arguments, code, says, event) in [
        (&["--input", "{bad"][..], "invalid_payload", "--input is not JSON", true),
        (&["--input", "[]"], "invalid_payload", "and not an object", true),
        (&["--input", "-"], "invalid_payload", "standard input is not JSON", true),
        (&["--input", "@missing.json"], "planning_failed", "missing.json", true),
        (&["--settings", "missing.json"], "planning_failed", "missing.json", true),
        (&["--project", "/no/such/folder"], "planning_failed", "/no/such/folder", true),
        (&["--settings", "broken.json", "--strict"], "planning_failed", "broken.json", true),
        (&["--no-such-flag"], "invalid_request", "--no-such-flag", false),
    ] {
        let (response, status) = fired(&project, &[&settings, arguments].concat());
        assert_failed(&response, code, says);
        let named = event.then(|| json!("BeforeTool"));
        assert_eq!(response.get("eventName"), named.as_ref(), "{response}");
        // The decision is that of the exit code.
        let blocks = response["processed"]["decision"] == "block";
        assert_eq!(blocks, status == 2, "{arguments:?} {status}: {response}");
        assert_ne!(status, 0, "{arguments:?}");
    }
    let (response, status) = fired(&project, &["NoSuchEvent"]);
    assert_failed(&response, "unsupported_event", "NoSuchEvent");
    assert_eq!(status, 64);
    let (response, status) =
        fired(&project, &[&settings[..], &["--input", r#"{"tool_name":7}"#]].concat());
    assert_failed(&response, "invalid_payload", "tool_name");
    assert_eq!(status, 1);
}

#[test]
fn an_input_that_cannot_be_read_blocks_where_the_event_has_a_guard() {
    let project = Project::with_settings(&json!({"hooks": {"BeforeTool": [{"hooks": [
        {"type": "command", "command": "true", "failBehavior": "block"}]}]}}));
    let arguments = ["BeforeTool", "--settings", "settings.json", "--input", "{bad"];
    let (response, status) = fired(&project, &arguments);
    assert_failed(&response, "invalid_payload", "is not JSON");
    assert_eq!((&response["processed"]["decision"], status), (&json!("block"), 2));
}

#[test]
fn what_is_asked_for_as_text_prints_no_response() {
    let project = Project::new();
    let finished = Hook::new(&project, &["fire", "BeforeTool", "--input", "{bad"]).run();
    assert_eq!((finished.stdout.as_str(), finished.status), ("", 64), "{finished:?}");
}

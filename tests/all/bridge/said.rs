//! What the user sees of calls: in the log, and in the agent.

use hook_tests::{Finished, Hook, Project};
use serde_json::{Value, json};

fn write_user_settings(project: &Project, text: &str) {
    let folder = project.home().join(".config/hooks");
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(folder.join("settings.json"), text).unwrap();
}

fn claude(project: &Project, session: &str) -> Finished {
    let input = json!({"session_id": session, "transcript_path": "/t", "cwd": project.path(),
        "hook_event_name": "PreToolUse", "tool_name": "Bash", "tool_input": {"command": "ls"}});
    Hook::new(project, &["bridge", "claude"]).stdin(input.to_string()).run()
}

fn logged(project: &Project) -> Vec<Value> {
    Hook::new(project, &["log", "--json"]).run().lines()
}

#[test]
fn the_log_says_what_the_agent_was_told() {
    let project = Project::new();
    // A guard may be among the hooks that cannot be read.
    write_user_settings(&project, r#"{"hooks": {"BeforeTool": [{"failBehavior": "block" "#);
    let refused = claude(&project, "s");
    assert!(refused.stdout.contains("\"permissionDecision\":\"deny\""), "{refused:?}");
    let last = logged(&project).pop().unwrap();
    assert_eq!(last["decision"], "block", "{last}");
    // What is no call is refused, too.
    let unread = Hook::new(&project, &["bridge", "claude", "PreToolUse"]).stdin("nonsense").run();
    assert_eq!(unread.status, 2, "{unread:?}");
    let last = logged(&project).pop().unwrap();
    assert_eq!((&last["decision"], &last["event"]), (&json!("block"), &json!("PreToolUse")));
    // An event about which nothing can be refused goes on, whatever hooks say.
    let stops = json!({"hooks": {"SessionEnd": [{"hooks": [
        {"type": "command", "command": "echo no >&2; exit 2"}]}]}});
    write_user_settings(&project, &stops.to_string());
    let input = json!({"session_id": "s", "transcript_path": "/t", "cwd": project.path(),
        "hook_event_name": "SessionEnd", "reason": "exit"});
    let ended = Hook::new(&project, &["bridge", "claude"]).stdin(input.to_string()).run();
    assert_eq!(ended.status, 0, "{ended:?}");
    assert_eq!(logged(&project).pop().unwrap()["decision"], "proceed");
}

#[test]
fn hooks_that_were_never_trusted_are_said_to_the_user_once_in_a_session() {
    let project = Project::new();
    let hooks = json!({"hooks": {"BeforeTool": [{"hooks": [
        {"type": "command", "command": "exit 2", "name": "own"}]}]}});
    project.write(".hooks/settings.json", &hooks.to_string());
    let is_told = |session: &str| {
        let finished = claude(&project, session);
        assert_eq!(finished.status, 0, "{finished:?}");
        let answer: Value = serde_json::from_str(&finished.stdout).unwrap_or_default();
        answer["systemMessage"].as_str().unwrap_or_default().contains("not trusted")
    };
    assert!(is_told("one"));
    assert!(!is_told("one"));
    assert!(is_told("two"));
    assert!(!is_told("one") && !is_told("two"));
}

#[test]
fn calls_are_not_written_down_where_the_user_does_not_want_it() {
    let project = Project::new();
    write_user_settings(&project, r#"{"hooksConfig": {"log": "off"}}"#);
    claude(&project, "s");
    Hook::new(&project, &["bridge", "claude", "PreToolUse"]).stdin("nonsense").run();
    assert!(!project.home().join(".local/state/hook/bridge.jsonl").exists());
    // That is not the project's to say.
    write_user_settings(&project, "{}");
    project.write(".hooks/settings.json", r#"{"hooksConfig": {"log": "off"}}"#);
    claude(&project, "s");
    assert_eq!(logged(&project).len(), 1);
}

//! Hooks that ask the user at the terminal.

use hook_tests::{Hook, Project};
use serde_json::json;

const FIRE: [&str; 5] = ["fire", "BeforeTool", "--tool", "shell", "--settings=settings.json"];

/// A worker that asks `method` with these parameters, as Python has them, so many times, and says what
/// it got in its reason.
fn asking(method: &str, params: &str, times: usize) -> Project {
    let project = Project::new();
    let worker = format!(
        r#"
import json, sys
def say(**message): print(json.dumps(message), flush=True)
say(type="hook-worker", protocol=1)
for line in sys.stdin:
    call = json.loads(line)
    if call["type"] != "hook-call": continue
    got = []
    for number in range({times}):
        say(type="hook-host-call", hostCallId=str(number), callId=call["callId"], method="{method}", params={params})
        got.append(json.loads(sys.stdin.readline()).get("result"))
    reason = json.dumps({{"got": got, "hasUI": call.get("hasUI", False)}})
    say(type="hook-answer", callId=call["callId"], output={{"decision": "deny", "reason": reason}})
"#
    );
    project.write("worker.py", &worker);
    let hook = json!({"type": "worker", "name": "asker", "command": "exec python3 -B worker.py"});
    let settings = json!({"hooks": {"BeforeTool": [{"hooks": [hook]}]}});
    project.write("settings.json", &settings.to_string());
    project
}

fn without_colour(project: &Project, arguments: &[&str]) -> Hook {
    Hook::new(project, &[&FIRE, arguments].concat()).env("NO_COLOR", "1")
}

#[test]
fn a_user_is_asked_and_the_hook_gets_the_answer() {
    const CONFIRM: &str = r#"{"title": "Dangerous", "message": "Allow: rm -rf /"}"#;
    const SELECT: &str = r#"{"title": "Which", "options": ["red", "green"]}"#;
    const INPUT: &str = r#"{"title": "Why", "placeholder": "a reason"}"#;
    for (method, params, prompt, typed, got) in [
        ("ui.confirm", CONFIRM, "[y/N] ", "y", "true"),
        ("ui.confirm", CONFIRM, "[y/N] ", "n", "false"),
        ("ui.confirm", CONFIRM, "[y/N] ", "", "false"),
        ("ui.select", SELECT, "1 to 2", "2", r#""green""#),
        ("ui.select", SELECT, "1 to 2", "", "null"),
        ("ui.input", INPUT, "(a reason) > ", "since I say so", r#""since I say so""#),
    ] {
        let project = asking(method, params, 1);
        let mut terminal = without_colour(&project, &[]).on_terminal();
        terminal.wait_for(prompt);
        terminal.types(typed);
        let (status, shown) = terminal.finish();
        assert_eq!(status, 2, "{shown}");
        let expected = format!(r#"{{"got": [{got}], "hasUI": true}}"#);
        assert!(shown.contains(&expected), "{method} {typed:?}: {shown}");
    }
}

#[test]
fn what_is_no_answer_is_asked_again_and_what_was_typed_before_is_none() {
    let project = asking("ui.confirm", r#"{"title": str(number), "message": ""}"#, 2);
    let mut terminal = without_colour(&project, &[]).on_terminal();
    terminal.wait_for("asks: 0");
    terminal.wait_for("[y/N] ");
    // The second line is there before the second question is.
    terminal.types("y\ny");
    terminal.wait_for("asks: 1");
    terminal.types("perhaps");
    terminal.types("n");
    let (_, shown) = terminal.finish();
    assert!(shown.contains(r#""got": [true, false]"#), "{shown}");
    assert_eq!(shown.matches("asks: 1").count(), 2, "{shown}");
}

#[test]
fn nobody_is_asked_without_a_terminal_or_a_wish_for_it() {
    let project = asking("ui.confirm", r#"{"title": "t", "message": "m"}"#, 1);
    let none = r#"{"got": [false], "hasUI": false}"#;
    let shown = without_colour(&project, &[]).run().stdout;
    assert!(shown.contains(none), "{shown}");
    let (_, shown) = without_colour(&project, &["--no-ui"]).on_terminal().finish();
    assert!(shown.contains(none) && !shown.contains("[y/N]"), "{shown}");
}

#[test]
fn a_hook_may_notify_and_say_how_it_stands() {
    let notify = asking("ui.notify", r#"{"message": "look\u001b[2J", "type": "warning"}"#, 1);
    let (_, shown) = without_colour(&notify, &[]).on_terminal().finish();
    assert!(shown.contains("warning: asker: look\\u{1b}[2J"), "{shown:?}");
    let status = asking("ui.setStatus", r#"{"key": "k", "text": "two\twords"}"#, 1);
    let (_, shown) = without_colour(&status, &[]).on_terminal().finish();
    assert!(shown.contains("two words"), "{shown:?}");
}

#[test]
fn a_script_is_played_with_the_user_but_for_one_that_is_typed() {
    let project = asking("ui.confirm", r#"{"title": "t", "message": "m"}"#, 1);
    let request = json!({"type": "hook-execution-request", "eventName": "BeforeTool",
        "input": {"tool_name": "shell", "tool_input": {}}});
    project.write("script.jsonl", &format!("{request}\n"));
    let run = ["run", "--settings=settings.json", "script.jsonl"];
    let mut terminal = Hook::new(&project, &run).env("NO_COLOR", "1").on_terminal();
    terminal.wait_for("[y/N] ");
    terminal.types("y");
    let (_, shown) = terminal.finish();
    assert!(shown.contains(r#""got": [true]"#), "{shown}");
}

#[test]
fn a_question_that_nobody_waits_for_is_taken_back_on_the_terminal() {
    let project = asking("ui.confirm", r#"{"title": "t", "message": "m"}"#, 1);
    let worker = project.read("worker.py").replace("got.append(", "sys.exit(3); got.append(");
    project.write("worker.py", &worker);
    let (_, shown) = without_colour(&project, &[]).on_terminal().finish();
    let after = shown.split("[y/N] ").nth(1).unwrap_or_else(|| panic!("{shown}"));
    assert!(after.trim_start().starts_with("(the hook does not wait for the answer"), "{shown}");
}

//! What commands say of workers: nothing is started by looking, and nothing false is said.

use hook_tests::Hook;
use serde_json::{Value, json};

use super::{end, fire, project, settings, with, worker};

#[test]
fn lists_and_explanations_show_what_it_is() {
    let project = project("ready()", json!({"start": "eager", "timeout": 5_000}));
    for command in ["list", "explain"] {
        let event = if command == "list" { vec![] } else { vec!["BeforeTool"] };
        let arguments = [&[command, "--settings=settings.json"][..], &event].concat();
        let shown = Hook::new(&project, &arguments).run();
        assert_eq!(shown.status, 0, "{shown:?}");
        let part = match command {
            "list" => "worker: stays alive and answers calls\n",
            _ => "timeout 5 s (its own); calls its worker; if it fails, things go on",
        };
        assert!(shown.stdout.contains(part), "{}", shown.stdout);
        let lines = Hook::new(&project, &[&arguments[..], &["--json"]].concat()).run().lines();
        let line = lines.iter().find(|line| line["name"] == "w").unwrap();
        assert_eq!((&line["type"], &line["start"]), (&json!("worker"), &json!("called")), "{line}");
        assert_eq!(line.get("worker"), None, "what another process did is not known");
    }
    for command in ["doctor", "check"] {
        let arguments = [command, "--settings=settings.json"];
        let shown = Hook::new(&project, &arguments).run();
        assert_eq!(shown.status, 0, "{shown:?}");
    }
    assert!(!project.path().join("started").exists(), "nothing was started");
}

#[test]
fn doctor_and_check_miss_its_program() {
    let project = hook_tests::Project::new();
    let missing = json!({"type": "worker", "name": "w", "command": "$HOOK_PROJECT_DIR/none.py"});
    settings(&project, &missing);
    let checked = Hook::new(&project, &["check", "--json", "settings.json"]).run();
    assert_eq!(checked.lines()[0]["rule"], "script-missing", "{checked:?}");
    let doctor = Hook::new(&project, &["doctor", "--settings=settings.json"]).run();
    assert_eq!(doctor.status, 1, "{doctor:?}");
}

/// What is known of one that this process runs.
#[tokio::test]
async fn its_status_says_how_it_is() {
    let project = project(
        "
ready()
for call in calls():
    if tool(call) == 'die': sys.exit(3)
    answer(call)
",
        json!({}),
    );
    let system = project.system();
    system.initialize().await.unwrap();
    let shown = || super::status(&system).to_string();
    assert_eq!(shown(), "");
    fire(&system, "t").await;
    let process = super::status(&system).process.unwrap();
    assert_eq!(shown(), format!("ready, process {process}"));
    fire(&system, "die").await;
    assert_eq!(shown(), "stopped; the last failure: it exited with code 3");
    fire(&system, "t").await;
    let process = super::status(&system).process.unwrap();
    let expected = format!(
        "ready, process {process}, started again once; the last failure: it exited with code 3"
    );
    assert_eq!(shown(), expected);
    end(&project, system).await;
}

#[test]
fn a_recording_and_its_trace_have_its_calls() {
    let project = project(
        "ready()\nfor call in calls(): answer(call, action='block', reason='r')",
        json!({}),
    );
    let request = json!({"type": "hook-execution-request", "eventName": "BeforeTool",
        "input": {"tool_name": "t", "tool_input": {}}});
    let serve = ["serve", "--stdio", "--record=recording", "--settings=settings.json"];
    let served = Hook::new(&project, &serve).stdin(format!("{request}\n{request}\n")).run();
    assert_eq!(served.status, 0, "{served:?}");
    let hooks: Vec<Value> =
        served.lines().iter().filter_map(|it| it["hooks"].get(0).cloned()).collect();
    let kinds: Vec<&Value> = hooks.iter().map(|hook| &hook["type"]).collect();
    assert_eq!(kinds, ["worker", "worker"]);
    let trace = Hook::new(&project, &["trace", "recording"]).run();
    assert_eq!(trace.status, 0, "{trace:?}");
    assert!(trace.stdout.contains("w ") && trace.stdout.contains("r"), "{}", trace.stdout);
    assert_eq!(project.processes(), []);
}

/// Settings are read with the keys of a worker, and say where those mean nothing.
#[test]
fn its_keys_are_checked() {
    let project = hook_tests::Project::new();
    let entry = worker(&project, "");
    for (more, rule) in [
        (json!({"start": "early"}), "wrong-type"),
        (json!({"startTimeout": 0}), "invalid-timeout"),
        (json!({"idleTimeout": "long"}), "invalid-timeout"),
        (json!({"idleTimeout": 30}), "timeout-in-seconds"),
        (json!({"type": "command", "start": "eager"}), "unknown-key"),
    ] {
        settings(&project, &with(entry.clone(), &more));
        let checked = Hook::new(&project, &["check", "--json", "settings.json"]).run();
        let rules: Vec<Value> = checked.lines().iter().map(|line| line["rule"].clone()).collect();
        assert!(rules.contains(&json!(rule)), "{more}: {checked:?}");
    }
}

//! Hooks that nothing waits for (`async`).

use std::time::Duration;

use futures::FutureExt;
use hook_bus::message::HookProgress;
use hook_bus::{HookExecutionRequest, HookSystem};
use hook_protocol::events::BeforeAgent;
use hook_protocol::{BeforeAgentInput, PolicyDecision};
use hook_run::HandlerHook;
use hook_settings::FailBehavior;
use hook_tests::{Hook, Project, fields, json};
use serde_json::{Value, json};
use tokio_stream::StreamExt;

fn project(hook: &Value) -> Project {
    Project::with_settings(&json!({"hooks": {"BeforeAgent": [{"hooks": [hook]}]}}))
}

fn in_background(command: &str) -> Value {
    json!({"type": "command", "name": "later", "command": command, "async": true})
}

async fn fire(system: &HookSystem) -> Value {
    let request = HookExecutionRequest::new("BeforeAgent", fields(json!({"prompt": "p"})));
    json(&system.bus().request(request).await.to_json())
}

#[tokio::test]
async fn the_event_goes_on_and_the_answer_counts_for_nothing() {
    // It waits for what is made after the response.
    let project =
        project(&in_background("until [ -e go ]; do sleep 0.01; done; echo no >&2; exit 2"));
    let system = project.system();
    let mut progress = system.bus().subscribe::<HookProgress>();
    let response = fire(&system).await;
    assert_eq!(response["processed"]["decision"], "proceed");
    assert_eq!((&response["hooks"], &response["output"]["totalDuration"]), (&json!([]), &json!(0)));
    assert_eq!(response.get("warnings"), None);
    assert!(progress.next().await.unwrap().is_ok(), "it has started");
    assert!(progress.next().now_or_never().is_none(), "and runs");
    project.write("go", "");
    let finished = progress.next().await.unwrap().unwrap();
    let finished = json(&finished.to_json());
    assert_eq!(
        (&finished["type"], &finished["hook"]["exitCode"]),
        (&json!("hook-finished"), &json!(2))
    );
}

#[tokio::test]
async fn eight_runs_go_on_at_once_and_one_more_is_dropped_and_said() {
    let project = project(&in_background("until [ -e go ]; do sleep 0.01; done"));
    let system = project.system();
    for _ in 0..8 {
        assert_eq!(fire(&system).await.get("warnings"), None);
    }
    let ninth = fire(&system).await;
    let said = ninth["warnings"][0].as_str().unwrap();
    assert!(said.starts_with("hook later: 8 runs of it still go on"), "{said}");
    project.write("go", "");
    system.clean_up().await;
    assert_eq!(fire(&system).await.get("warnings"), None);
    system.shutdown(Duration::from_secs(10)).await;
}

#[test]
fn a_command_waits_for_them_at_its_end() {
    let project = project(&in_background("sleep 0.3; touch done"));
    let request = json!({"type": "hook-execution-request", "eventName": "BeforeAgent",
        "input": {"prompt": "p"}});
    project.write("script.jsonl", &format!("{request}\n"));
    for (arguments, stdin) in [
        (vec!["run", "script.jsonl"], String::new()),
        (vec!["serve", "--stdio"], format!("{request}\n")),
    ] {
        let _ = std::fs::remove_file(project.path().join("done"));
        let arguments = [&arguments[..], &["--settings", "settings.json"]].concat();
        let finished = Hook::new(&project, &arguments).stdin(stdin).run();
        assert_eq!(finished.status, 0, "{finished:?}");
        assert!(project.path().join("done").exists(), "{arguments:?}");
        assert!(!finished.stderr.contains("async"), "{}", finished.stderr);
    }
}

#[test]
fn what_ended_the_plan_before_them_keeps_them_from_running() {
    let project = Project::with_settings(&json!({"hooks": {"BeforeAgent": [
        {"priority": 1, "hooks": [{"type": "command", "name": "no", "command": "exit 2"}]},
        {"hooks": [in_background("touch ran")]},
        {"priority": 0, "hooks": [{"type": "command", "name": "first", "async": true,
            "command": "touch first"}]},
    ]}}));
    let fire =
        ["fire", "BeforeAgent", "--settings", "settings.json", "--input", r#"{"prompt":"p"}"#];
    let finished = Hook::new(&project, &fire).run();
    assert_eq!(finished.status, 2, "{finished:?}");
    for part in ["- later  not started, because of `no`", "↗ first  async, goes on by itself"] {
        assert!(finished.stdout.contains(part), "{part} in {}", finished.stdout);
    }
    let begun = std::time::Instant::now();
    while !project.path().join("first").exists() {
        assert!(begun.elapsed() < Duration::from_secs(30));
        std::thread::sleep(Duration::from_millis(10));
    }
    // The process that runs them is over once it has ended the other.
    while !project.processes().is_empty() {
        assert!(begun.elapsed() < Duration::from_secs(30));
        std::thread::sleep(Duration::from_millis(10));
    }
    assert!(!project.path().join("ran").exists());
}

/// The process that runs the rest knows what was ended by name.
#[test]
fn two_of_one_name_are_told_apart_or_said() {
    let settings = json!({"hooks": {"BeforeAgent": [
        {"priority": 1, "hooks": [in_background("touch first")]},
        {"priority": 2, "hooks": [{"type": "command", "name": "no", "command": "exit 2"}]},
        {"priority": 3, "hooks": [in_background("touch last")]},
    ]}});
    let project = Project::with_settings(&settings);
    let fire =
        ["fire", "BeforeAgent", "--settings", "settings.json", "--input", r#"{"prompt":"p"}"#];
    let finished = Hook::new(&project, &fire).run();
    assert!(finished.stderr.contains("`later` of BeforeAgent was not started"), "{finished:?}");
    assert!(!finished.stdout.contains("goes on by itself"), "{finished:?}");
}

#[test]
fn a_recording_has_them_and_a_trace_shows_them() {
    let project = project(&in_background("sleep 0.2; echo done"));
    let request = json!({"type": "hook-execution-request", "eventName": "BeforeAgent",
        "input": {"prompt": "p"}});
    let serve = ["serve", "--stdio", "--record=recording", "--settings=settings.json"];
    let served = Hook::new(&project, &serve).stdin(format!("{request}\n")).run();
    assert_eq!(served.status, 0, "{served:?}");
    let recorded = project.read("recording");
    let kinds: Vec<&str> = ["hook-execution-response", "hook-finished"]
        .into_iter()
        .filter(|kind| recorded.contains(&format!("\"{kind}\"")))
        .collect();
    assert_eq!(kinds.len(), 2, "{recorded}");
    let response = recorded.find("\"hook-execution-response\"");
    assert!(response < recorded.find("\"hook-finished\""), "{recorded}");
    let trace = Hook::new(&project, &["trace", "recording"]).run();
    assert!(trace.stdout.contains("later"), "{}", trace.stdout);
}

#[tokio::test]
async fn the_end_of_the_system_ends_them() {
    let project = project(&in_background("touch started; sleep 1000"));
    let system = project.system();
    fire(&system).await;
    project.appears("started").await;
    system.shutdown(Duration::ZERO).await;
    assert_eq!(system.ended_in_background(), 1);
    project.assert_nothing_runs().await;
}

#[tokio::test]
async fn a_guard_is_waited_for_whatever_it_says() {
    let guard = json!({"type": "command", "name": "guard", "command": "exit 2", "async": true,
        "failBehavior": "block"});
    let project = project(&guard);
    assert_eq!(fire(&project.system()).await["processed"]["decision"], "block");
    let checked = Hook::new(&project, &["check", "--settings=settings.json", "--json"]).run();
    let found = checked.lines();
    assert_eq!(found[0]["rule"], "async-guard");
    assert!(found[0]["line"].is_number());
    let handler = HandlerHook::on::<BeforeAgent>("guard", |_, answer| {
        answer.deny("no");
        Ok(())
    })
    .background(true);
    let system = HookSystem::builder(".")
        .handler(handler.clone().fail_behavior(FailBehavior::Block))
        .build()
        .unwrap();
    let asked = system.fire_before_agent(BeforeAgentInput::new("p")).await;
    assert_eq!(asked.decision, PolicyDecision::Block);
    let system = HookSystem::builder(".").handler(handler).build().unwrap();
    let asked = system.fire_before_agent(BeforeAgentInput::new("p")).await;
    assert_eq!(asked.decision, PolicyDecision::Proceed);
}

#[test]
fn check_says_that_it_cannot_block() {
    let project = project(&in_background("true"));
    let checked = Hook::new(&project, &["check", "--settings=settings.json", "--json"]).run();
    assert_eq!(checked.lines()[0]["rule"], "async-cannot-block");
}

#[test]
fn fire_does_not_wait_and_the_hook_outlives_it() {
    let command = "cat > told; until [ -e go ]; do sleep 0.01; done; touch done";
    let project = project(&in_background(command));
    let fire = [
        "fire",
        "BeforeAgent",
        "--settings=settings.json",
        "--json",
        "--input",
        r#"{"prompt":"hi"}"#,
    ];
    let fired = Hook::new(&project, &fire).run();
    assert_eq!(fired.lines()[0]["hooks"], json!([]));
    assert!(!project.path().join("done").exists(), "it is still at work");
    project.write("go", "");
    let runtime = tokio::runtime::Runtime::new().unwrap();
    runtime.block_on(project.appears("done"));
    let told: Value = serde_json::from_str(&project.read("told")).unwrap();
    assert_eq!(told["prompt"], "hi");
}

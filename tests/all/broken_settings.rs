//! Settings that cannot be read any more, and had a guard in them, at every way to ask (invariant 10).

use hook_bus::HookExecutionRequest;
use hook_protocol::{HookEventName, PolicyDecision};
use hook_tests::{Hook, Project, Served, fields, json, request};
use serde_json::{Value, json};

/// A user's settings with one comma too few, as people write them.
const BROKEN: &str = r#"{"hooks": {"BeforeTool": [{"hooks": [
    {"type": "command", "command": "true" "failBehavior" : "block"}]}]}}"#;

/// What is decided about an event by `fire`, `run`, `serve` and the library, and why.
async fn decided(project: &Project, event: HookEventName) -> Vec<(&'static str, Value, Value)> {
    let input = hook_tests::value(event.sample_input().as_raw());
    let asked = request(event.as_str(), &input, "c");
    let of = |way, response: &Value| {
        let processed = &response["processed"];
        (way, processed["decision"].clone(), processed["reason"].clone())
    };
    let text = input.to_string();
    let fire = ["fire", event.as_str(), "--json", "--settings", "settings.json", "--input", &text];
    let fired = Hook::new(project, &fire).run();
    project.write("session.jsonl", &format!("{asked}\n"));
    let ran =
        Hook::new(project, &["run", "--json", "--settings", "settings.json", "session.jsonl"])
            .run();
    let mut served = Served::start(project).await;
    let of_server = served.ask(&asked).await;
    let by_library = project
        .system()
        .bus()
        .request(HookExecutionRequest::new(event.as_str(), fields(input)))
        .await;
    vec![
        of("fire", &fired.lines()[0]),
        of("run", &ran.lines()[0]),
        of("serve", &of_server),
        of("library", &json(&by_library.to_json())),
    ]
}

#[tokio::test]
async fn broken_settings_with_a_guard_block_alike_at_every_way_to_ask() {
    for settings in [BROKEN, &BROKEN[..BROKEN.len() - 6]] {
        let project = Project::new();
        project.write("settings.json", settings);
        for event in
            [HookEventName::BeforeTool, HookEventName::AfterTool, HookEventName::BeforeAgent]
        {
            let all = decided(&project, event).await;
            for (way, decision, reason) in &all {
                assert_eq!(decision, "block", "{way} {event}: {all:?}");
                let reason = reason.as_str().unwrap();
                assert!(
                    reason.contains("a hook with `failBehavior: block` is missing"),
                    "{way}: {reason}"
                );
            }
        }
    }
}

#[tokio::test]
async fn broken_settings_with_a_guard_block_what_could_not_be_asked_at_all() {
    let project = Project::new();
    project.write("settings.json", BROKEN);
    let request = HookExecutionRequest::new("BeforeTool", fields(json!({"tool_name": 7})));
    let response = project.system().bus().request(request).await;
    assert!(!response.success());
    assert_eq!(response.processed.decision, PolicyDecision::Block);
}

#[tokio::test]
async fn broken_settings_without_a_guard_cost_a_host_no_more_than_their_hooks() {
    for settings in ["{", r#"{"hooks": {"failBehavior": "continue" "x"}}"#] {
        let project = Project::new();
        project.write("settings.json", settings);
        let input = fields(json!({"prompt": "p"}));
        let request = HookExecutionRequest::new("BeforeAgent", input);
        let response = project.system().bus().request(request).await;
        assert_eq!(response.processed.decision, PolicyDecision::Proceed, "{settings}");
        assert!(response.processed.warnings[0].contains("none of its hooks run"));
    }
}

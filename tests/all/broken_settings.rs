//! Settings that cannot be read, and may have a guard in them, at every way to ask (invariant 10).

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
async fn broken_settings_block_alike_at_every_way_to_ask() {
    for settings in [BROKEN, &BROKEN[..BROKEN.len() - 6], "", "{", "[]"] {
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
                    reason.contains("a hook with `failBehavior: block` may be missing"),
                    "{way}: {reason}"
                );
            }
        }
    }
}

#[tokio::test]
async fn broken_settings_block_what_could_not_be_asked_at_all() {
    let project = Project::new();
    project.write("settings.json", BROKEN);
    let request = HookExecutionRequest::new("BeforeTool", fields(json!({"tool_name": 7})));
    let response = project.system().bus().request(request).await;
    assert!(!response.success());
    assert_eq!(response.processed.decision, PolicyDecision::Block);
}

/// A block at the end of a turn would make the agent go on.
#[tokio::test]
async fn broken_settings_do_not_keep_a_turn_from_ending() {
    let project = Project::new();
    project.write("settings.json", BROKEN);
    for (way, decision, _) in decided(&project, HookEventName::AfterAgent).await {
        assert_eq!(decision, "proceed", "{way}");
    }
}

/// A guard with a mistake in each place where it, or what is around it, is skipped then.
const SKIPPED: [&str; 9] = [
    r#"{"hooks": {"BeforeTool": [{"hooks": [GUARD]}], "BeforeTool": []}}"#,
    r#"{"hooks": {"BeforeTool": [{"hooks": [GUARD]}], "BeforeTool": null}}"#,
    r#"{"hooks": {"BeforeTool": [{"hooks": [GUARD]}]}, "hooks": {}}"#,
    r#"{"hook": {"BeforeTool": [{"hooks": [GUARD]}]}}"#,
    r#"{"hooks": {"BeforeTool": {"hooks": [GUARD]}}}"#,
    r#"{"hooks": {"BeforeTool": [{"hook": [GUARD]}]}}"#,
    r#"{"hooks": {"BeforeTool": [{"hooks": [GUARD], "hooks": []}]}}"#,
    r#"{"hooks": {"BeforeTool": [GUARD]}}"#,
    r#"{"hooks": {"BeforeTool": [{"hooks": [{"type": "comand", "command": "echo no >&2; exit 2", "failBehavior": "block"}]}]}}"#,
];
const GUARD: &str =
    r#"{"type": "command", "command": "echo no >&2; exit 2", "failBehavior": "block"}"#;

async fn about_a_tool(system: &hook_bus::HookSystem) -> (PolicyDecision, Option<String>, String) {
    let input = hook_tests::value(HookEventName::BeforeTool.sample_input().as_raw());
    let response =
        system.bus().request(HookExecutionRequest::new("BeforeTool", fields(input))).await;
    let processed = response.processed;
    (processed.decision, processed.reason.clone(), format!("{:?}", processed.warnings))
}

#[tokio::test]
async fn fault_103_a_guard_that_is_skipped_blocks_its_event_at_a_start() {
    for settings in SKIPPED {
        let project = Project::new();
        project.write("settings.json", &settings.replace("GUARD", GUARD));
        let system = project.system();
        let (decision, reason, warnings) = about_a_tool(&system).await;
        assert_eq!(decision, PolicyDecision::Block, "{settings}");
        let reason = reason.unwrap_or_default();
        assert!(reason.contains("a guard that is skipped: "), "{settings}: {reason}");
        assert_ne!(warnings, "[]", "{settings}");
        let prompt = HookExecutionRequest::new("BeforeAgent", fields(json!({"prompt": "p"})));
        let other = system.bus().request(prompt).await;
        assert_eq!(other.processed.decision, PolicyDecision::Proceed, "{settings}");
        project.write(
            "settings.json",
            &settings.replace("GUARD", GUARD).replace("\"block\"", "\"continue\""),
        );
        let (decision, ..) = about_a_tool(&project.system()).await;
        assert_eq!(decision, PolicyDecision::Proceed, "{settings}");
    }
}

#[tokio::test]
async fn fault_103_a_guard_that_a_mistake_takes_away_goes_on_after_a_reload() {
    for settings in SKIPPED.into_iter().chain([r#"{"hooks": {"BeforeTool": {}}}"#]) {
        let project = Project::new();
        let right = r#"{"hooks": {"BeforeTool": [{"hooks": [GUARD]}]}}"#.replace("GUARD", GUARD);
        project.write("settings.json", &right);
        let system = project.system();
        assert_eq!(about_a_tool(&system).await.1.as_deref(), Some("no"));
        project.write("settings.json", &settings.replace("GUARD", GUARD));
        for _ in 0..2 {
            system.reload().await.unwrap();
            let (decision, reason, warnings) = about_a_tool(&system).await;
            assert_eq!(decision, PolicyDecision::Block, "{settings}");
            assert_eq!(reason.as_deref(), Some("no"), "{settings}");
            assert!(warnings.contains("stays in force"), "{settings}: {warnings}");
        }
        // What is taken out without a mistake is gone.
        project.write("settings.json", r#"{"hooks": {}}"#);
        system.reload().await.unwrap();
        assert_eq!(about_a_tool(&system).await.0, PolicyDecision::Proceed, "{settings}");
    }
}

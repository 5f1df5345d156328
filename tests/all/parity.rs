//! Invariant 10: a typed fire, a published JSON message and the binary give equal results for
//! equal inputs.

use hook_bus::HookExecutionRequest;
use hook_core::ProcessedHookResult;
use hook_json::ObjectWriter;
use hook_protocol::{HookEventName, RequestInput};
use hook_tests::{Hook, Project, fields, json, object};
use proptest::prelude::*;
use serde_json::{Value, json};

/// A project with hooks for every event: one that gives back what it was told, one that decides,
/// one that fails.
fn project() -> Project {
    let hook =
        |name: &str, command: &str| json!({"type": "command", "name": name, "command": command});
    let hooks = json!([{"hooks": [
        hook("echo", "cat"),
        hook("decide", r#"echo '{"decision":"deny","reason":"r","systemMessage":"s",
            "hookSpecificOutput":{"additionalContext":"c"}}'"#),
        hook("fail", "echo oops >&2; exit 3"),
    ]}]);
    let all: serde_json::Map<String, Value> =
        HookEventName::all().map(|event| (event.to_string(), hooks.clone())).collect();
    Project::with_settings(&json!({"hooks": all}))
}

fn model_request() -> impl Strategy<Value = Value> {
    prop_oneof![
        ".{0,20}".prop_map(|text| json!({"model": "m", "contents": text})),
        ".{0,20}".prop_map(|text| json!({
            "model": "m",
            "contents": [{"role": "user", "parts": [{"text": text}, {"functionCall": {"name": "f"}}]}],
            "config": {"temperature": 0.5},
        })),
        ".{0,20}".prop_map(|text| json!({"messages": [{"role": "user", "content": text}]})),
    ]
}

fn input() -> impl Strategy<Value = (HookEventName, Value)> {
    let text = ".{1,30}";
    prop_oneof![
        (text, text).prop_map(|(name, path)| (
            HookEventName::BeforeTool,
            json!({"tool_name": name, "tool_input": {"path": path}, "later": [1.50, null]})
        )),
        (text, any::<i64>()).prop_map(|(name, number)| (
            HookEventName::AfterTool,
            json!({"tool_name": name, "tool_input": {}, "tool_response": {"n": number}})
        )),
        text.prop_map(|text| (HookEventName::BeforeAgent, json!({"prompt": text}))),
        (text, any::<bool>()).prop_map(|(text, active)| (
            HookEventName::AfterAgent,
            json!({"prompt": text, "prompt_response": text, "stop_hook_active": active})
        )),
        prop::sample::select(vec!["startup", "resume", "clear", "compress", "boot"])
            .prop_map(|word| (HookEventName::SessionStart, json!({"source": word}))),
        prop::sample::select(vec!["exit", "clear", "logout", "prompt_input_exit", "other"])
            .prop_map(|word| (HookEventName::SessionEnd, json!({"reason": word}))),
        prop::sample::select(vec!["manual", "auto"])
            .prop_map(|word| (HookEventName::PreCompress, json!({"trigger": word}))),
        model_request()
            .prop_map(|request| (HookEventName::BeforeModel, json!({"llm_request": request}))),
        (model_request(), text).prop_map(|(request, text)| {
            let parts = match request.get("contents") {
                Some(_) => json!([{"text": text}]),
                None => json!([text]),
            };
            let response = json!({"candidates": [{"content": {"role": "model", "parts": parts}}]});
            (HookEventName::AfterModel, json!({"llm_request": request, "llm_response": response}))
        }),
        model_request().prop_map(|request| (
            HookEventName::BeforeToolSelection,
            json!({"llm_request": request, "available_tools": []})
        )),
        text.prop_map(|text| (HookEventName::Notification, json!({"message": text}))),
    ]
}

/// Without what differs from run to run.
fn normalized(mut message: Value) -> Value {
    fn strip(value: &mut Value) {
        match value {
            Value::Object(fields) => {
                for name in ["duration", "queued", "totalDuration", "correlationId"] {
                    fields.remove(name);
                }
                fields.values_mut().for_each(strip);
            }
            Value::Array(items) => items.iter_mut().for_each(strip),
            _ => {}
        }
    }
    strip(&mut message);
    message
}

/// The part of a response that a fire function gives.
fn fired(result: &ProcessedHookResult) -> Value {
    json(&ObjectWriter::line(|out| {
        out.object("output", |out| result.aggregated.write(out));
        out.object("processed", |out| result.write(out));
    }))
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn invariant_10_all_paths_give_equal_results((event, mut input) in input()) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let project = project();
        let system = project.system();
        let base = json!({"session_id": "s", "cwd": project.path(), "timestamp": "t"});
        input.as_object_mut().unwrap().extend(base.as_object().unwrap().clone());

        let message = json!({"type": "hook-execution-request", "eventName": event.as_str(), "input": input});
        let published = runtime.block_on(async {
            let request = HookExecutionRequest::from_json(&message.to_string());
            system.bus().publish(request).await.unwrap().response().await.unwrap()
        });
        let published = normalized(json(&published.to_json()));

        let binary = Hook::new(&project, &[
            "fire", event.as_str(), "--json", "--settings", "settings.json",
            "--input", &input.to_string(),
        ]).run();
        prop_assert_eq!(&normalized(json(binary.stdout.as_bytes())), &published);

        match RequestInput::read(event, fields(input)) {
            Ok(typed) => {
                let direct = runtime.block_on(system.fire(typed));
                let direct = normalized(fired(&direct));
                prop_assert_eq!(&direct["output"], &published["output"]);
                prop_assert_eq!(&direct["processed"], &published["processed"]);
            }
            // What cannot be typed is refused at the door.
            Err(_) => prop_assert_eq!(&published["error"]["code"], "invalid_payload"),
        }
    }
}

#[test]
fn a_typed_request_and_its_json_form_are_the_same_request() {
    let typed = HookExecutionRequest::typed(hook_protocol::BeforeToolInput::new(
        hook_protocol::ToolName::new("write_file").unwrap(),
        object(json!({"path": "a"})),
    ));
    let text = String::from_utf8(typed.to_json()).unwrap();
    assert_eq!(HookExecutionRequest::from_json(&text).to_json(), typed.to_json());
}

//! Changes of model calls under the names that other designs have for them.

use hook_json::RawJson;
use hook_protocol::{HookEventName, HookOutput};
use hook_run::HandlerHook;
use hook_settings::FailBehavior;
use hook_tests::{Hook, Project};
use serde_json::{Value, json};

use super::{by_client, by_command, by_worker, decision, fire, warnings};

fn request() -> Value {
    json!({"model": "m", "messages": [{"role": "user", "content": "secret"}]})
}

fn input(event: &str) -> Value {
    let mut input = json!({"sdk": "stable", "llm_request": request()});
    if event == "AfterModel" {
        input["llm_response"] = json!({"text": "secret"});
    }
    input
}

/// What a hook of ours answers, in each way that an answer comes.
async fn each_way(event: &str, guards: bool, output: &Value) -> Vec<(&'static str, Value)> {
    let input = input(event);
    let behavior = if guards { "block" } else { "continue" };
    let hook = json!({"eventName": event, "vocabulary": "native",
        "config": {"failBehavior": behavior, "timeout": 60_000}});
    let said = json!({"output": output});
    let read = |output: &Value| {
        let fields = RawJson::parse(output.to_string()).unwrap().to_object().unwrap();
        let specific = fields.get("hookSpecificOutput").unwrap().to_object().unwrap();
        HookOutput { hook_specific_output: Some(specific), ..HookOutput::default() }
    };
    let given = read(output);
    let name = HookEventName::from_name(event).unwrap();
    let handler = HandlerHook::inline(name, "hook", move |_| Ok(Some(given.clone())));
    let failing = if guards { FailBehavior::Block } else { FailBehavior::Continue };
    let project = hook_tests::Project::new();
    let system = project.builder().handler(handler.fail_behavior(failing)).build().unwrap();
    vec![
        ("command", by_command((None, event), guards, output, event, &input).await),
        ("worker", by_worker(hook.clone(), &said, event, &input).await),
        ("client", by_client(hook, &said, event, &input).await),
        ("handler", fire(&system, event, input.clone()).await),
    ]
}

#[tokio::test]
async fn a_change_under_an_older_name_of_a_request_or_response_counts() {
    let messages = json!([{"role": "user", "content": "[redacted]"}]);
    for (event, older, name, change) in [
        ("BeforeModel", "model_request", "llm_request", json!({"messages": messages})),
        ("AfterModel", "model_response", "llm_response", json!({"text": "[redacted]"})),
    ] {
        for guards in [true, false] {
            let output = json!({"hookSpecificOutput": {older: change}});
            for (way, response) in each_way(event, guards, &output).await {
                assert_eq!(decision(&response), "proceed", "{way} {response}");
                assert_eq!(
                    response["processed"]["modified"],
                    json!({name: change}),
                    "{way} {response}"
                );
                assert_eq!(response["hooks"][0]["success"], true, "{way} {response}");
            }
        }
    }
}

#[tokio::test]
async fn a_change_of_a_model_call_under_an_unknown_name_is_an_invalid_answer() {
    let change = json!({"messages": []});
    let both = json!({"llm_request": change, "model_request": {"model": "other"}});
    for (event, specific) in [
        ("BeforeModel", json!({"request": change})),
        ("BeforeModel", json!({"modelRequest": change})),
        ("BeforeModel", json!({"model_request": 7})),
        ("BeforeModel", json!({"model_request": {"contents": []}})),
        ("BeforeModel", both),
        ("AfterModel", json!({"response": {"text": "x"}})),
        ("AfterModel", json!({"model_response": {"text": 7}})),
        ("AfterModel", json!({"model_response": {"content": [], "text": "x"}})),
        ("BeforeToolSelection", json!({"tools": []})),
    ] {
        let output = json!({"hookSpecificOutput": specific});
        for (way, response) in each_way(event, true, &output).await {
            assert_eq!(decision(&response), "block", "{event} {way} {specific}: {response}");
            let error = response["hooks"][0]["error"].as_str().unwrap();
            assert!(error.contains("hookSpecificOutput"), "{way} {error}");
        }
        for (way, response) in each_way(event, false, &output).await {
            assert_eq!(decision(&response), "proceed", "{event} {way} {specific}: {response}");
            assert_ne!(warnings(&response), "", "{event} {way} {specific}: {response}");
        }
    }
}

/// An engine that asks another one warns and blocks for its own hooks, and not for what the other let pass.
#[test]
fn what_is_unknown_in_an_answer_of_another_engines_hook_is_no_fault_of_a_guard_that_asks_it() {
    let redacted = json!([{"role": "user", "content": "[redacted]"}]);
    let answer =
        json!({"hookSpecificOutput": {"mine": 1, "model_request": {"messages": redacted}}});
    let inner = Project::new();
    let printed = inner.write("answer", &answer.to_string());
    let inner_hook = json!({"type": "command", "command": format!("cat {}", printed.display())});
    let settings = json!({"hooks": {"BeforeModel": [{"hooks": [inner_hook]}]}});
    inner.write("settings.json", &settings.to_string());
    let command = format!(
        "{} fire BeforeModel --as-hook --settings {} --input -",
        hook_tests::hook_binary().display(),
        inner.settings().display()
    );
    let outer = Project::with_settings(&json!({"hooks": {"BeforeModel": [{"hooks": [
        {"type": "command", "command": command, "failBehavior": "block"}]}]}}));
    let input = input("BeforeModel").to_string();
    let arguments =
        ["fire", "BeforeModel", "--json", "--settings=settings.json", "--input", &input];
    let fired = Hook::new(&outer, &arguments).run();
    assert_eq!(fired.status, 0, "{fired:?}");
    let modified = &fired.lines()[0]["processed"]["modified"];
    assert_eq!(modified, &json!({"llm_request": {"messages": redacted}}), "{fired:?}");
}

//! The recorded cases of tests/conformance, with real processes (docs/reference).

use futures::{StreamExt, stream};
use hook_bus::HookExecutionRequest;
use hook_protocol::{HookEventName, RequestInput, ToolKind};
use hook_tests::{Project, fields, host, json, workspace};
use serde_json::{Value, json};

/// Cases that are believed wrong, with the reason.
const WRONG: &[(&str, &str)] = &[
    (
        "s1001-224",
        "a denial followed by a comma is a denial: reference/answers.md, \"Noise\", departs from the \
         recorded engine, which took the whole for plain text",
    ),
    ("s1001-69", "fault 34: `DENY` is a denial"),
    ("s1001-240", "fault 34: `DENY` is a denial"),
];

fn cases() -> Vec<Value> {
    let path = workspace().join("tests/conformance/pipeline.jsonl");
    let text = std::fs::read_to_string(path).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[tokio::test]
async fn pipeline_cases_give_the_recorded_answers() {
    let cases = cases();
    assert_eq!(cases.len(), 209);
    let differences: Vec<String> =
        stream::iter(&cases).map(differences).buffer_unordered(8).concat().await;
    assert!(differences.is_empty(), "{} differ:\n{}", differences.len(), differences.join("\n"));
}

async fn differences(case: &Value) -> Vec<String> {
    let id = case["id"].as_str().unwrap();
    if WRONG.iter().any(|(wrong, _)| *wrong == id) {
        return Vec::new();
    }
    let project = Project::with_settings(&case["settings"]);
    let system = project.system();
    let event = HookEventName::from_name(case["event"].as_str().unwrap()).unwrap();
    let input = fields(case["input"].clone());
    let request = HookExecutionRequest::new(event.as_str(), input.clone());
    let response = system.bus().request(request).await;
    let plan = system.registry().unwrap().plan(&RequestInput::read(event, input).unwrap(), &host());
    let mut found = json(&response.to_json());
    without_what_is_added(&mut found);
    let errors: Vec<&Value> =
        found["output"]["errors"].as_array().unwrap().iter().map(|e| &e["message"]).collect();
    let found = json!({
        "matched": response.hooks.len(),
        "sequential": plan.groups.len() > 1 || plan.hooks.iter().any(|it| it.hook.sequential),
        "aggregated": {
            "success": found["output"]["success"],
            "finalOutput": found["output"]["finalOutput"],
            "allOutputs": found["output"]["allOutputs"],
            "errors": errors,
        }
    });
    let expected = &case["expected"];
    if same(&found, expected) {
        return Vec::new();
    }
    vec![format!("{id} {event}\n  expected {expected}\n  found    {found}")]
}

/// Takes out of texts, in which hooks repeat their input, what the recorded engine did not send: the prompt
/// is the last field there, and whether a tool failed stands by itself.
fn without_what_is_added(value: &mut Value) {
    match value {
        Value::Object(fields) => fields.values_mut().for_each(without_what_is_added),
        Value::Array(items) => items.iter_mut().for_each(without_what_is_added),
        Value::String(text) => {
            if let Some((before, prompt)) = text.split_once(r#","prompt":"#)
                && before.contains(r#""llm_request":"#)
            {
                let end = prompt.rfind('}').map_or("", |at| &prompt[at..]);
                *text = format!("{before}{end}");
            }
            for added in [r#""files":[],"#, r#""filesComplete":false,"#, r#""is_error":true,"#] {
                *text = text.replace(added, "");
            }
            for kind in ToolKind::ALL {
                *text = text.replace(&format!(r#""kind":"{kind}","#), "");
            }
        }
        _ => {}
    }
}

/// Equal as JSON values; an absent field and one with no value are the same.
fn same(one: &Value, other: &Value) -> bool {
    match (one, other) {
        (Value::Object(fields), Value::Object(others)) => {
            fields.keys().chain(others.keys()).all(|name| same(&one[name], &other[name]))
        }
        (Value::Array(items), Value::Array(others)) => {
            items.len() == others.len() && items.iter().zip(others).all(|(a, b)| same(a, b))
        }
        (Value::Number(number), Value::Number(other)) => number.as_f64() == other.as_f64(),
        (one, other) => one == other,
    }
}

//! The recorded answers of the engine that the protocol comes from, `tests/conformance`.

#![expect(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

use hook_json::{RawJson, RawObject};
use hook_translate::{
    Sdk, TranslateError, Translated, from_stable_request, from_stable_response,
    from_stable_tool_config, to_stable_request, to_stable_response, to_stable_tool_config,
};
use serde_json::{Value, json};

const CASES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/conformance/translate.jsonl");

/// Cases believed wrong: their id and the reason.
const WRONG: [(&str, &str); 0] = [];

#[test]
fn genai_gives_the_recorded_answers() {
    let cases = std::fs::read_to_string(CASES).unwrap();
    let cases: Vec<Value> = cases.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(cases.len(), 111);

    let mut failures = Vec::new();
    for case in &cases {
        let id = case["id"].as_str().unwrap();
        if WRONG.iter().any(|(wrong, _)| *wrong == id) {
            continue;
        }
        let answer = match translate(case) {
            Ok(translated) => {
                assert_eq!(translated.warnings, [], "{id}");
                comparable(&serde_json::from_str(translated.value.as_str()).unwrap())
            }
            Err(error) => json!(error.to_string()),
        };
        let expected = comparable(&case["expected"]);
        if answer != expected {
            failures.push(format!("{id}\n  expected {expected}\n  found    {answer}"));
        }
    }
    assert!(failures.is_empty(), "{} failed:\n{}", failures.len(), failures.join("\n"));
}

fn translate(case: &Value) -> Result<Translated, TranslateError> {
    let (sdk, value) = (Sdk::GenAi, object(&case["value"]));
    let base = case.get("base").map(object);
    match case["op"].as_str().unwrap() {
        "toHookLLMRequest" => to_stable_request(sdk, &value),
        "fromHookLLMRequest" => from_stable_request(sdk, &value, base.as_ref()),
        "toHookLLMResponse" => to_stable_response(sdk, &value),
        "fromHookLLMResponse" => from_stable_response(sdk, &value, base.as_ref()),
        "toHookToolConfig" => to_stable_tool_config(sdk, &value),
        "fromHookToolConfig" => from_stable_tool_config(sdk, &value, base.as_ref()),
        other => panic!("unknown op {other}"),
    }
}

fn object(value: &Value) -> RawObject {
    RawObject::try_from(RawJson::parse(value.to_string()).unwrap()).unwrap()
}

/// The value without fields that are null, and with all numbers as fractions.
fn comparable(value: &Value) -> Value {
    match value {
        Value::Object(fields) => fields
            .iter()
            .filter(|(_, value)| !value.is_null())
            .map(|(name, value)| (name.clone(), comparable(value)))
            .collect(),
        Value::Array(items) => items.iter().map(comparable).collect(),
        Value::Number(number) => json!(number.as_f64()),
        other => other.clone(),
    }
}

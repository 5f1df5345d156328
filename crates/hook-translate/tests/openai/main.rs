//! OpenAI's two APIs: what hooks see of a payload, and what their answers change in it.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

#[path = "../common"]
mod common {
    pub(crate) mod generate;
    pub(crate) mod json;
}

mod chat;
mod generated;
mod responses;
mod round_trip;
mod stream;
mod tool_choice;

use hook_core::RawObject;
use hook_translate::{
    Sdk, Translated, from_stable_request, from_stable_response, to_stable_request,
    to_stable_response,
};
use serde_json::{Value, json};

use common::json::{object, value};

fn warnings(translated: &Translated) -> Vec<String> {
    translated.warnings.iter().map(ToString::to_string).collect()
}

/// A request as hooks see it.
fn shown(sdk: Sdk, request: &Value) -> Value {
    value(&to_stable_request(sdk, &object(request)).unwrap().value)
}

fn shown_response(sdk: Sdk, response: &Value) -> Value {
    value(&to_stable_response(sdk, &object(response)).unwrap().value)
}

/// A request with what a hook gave over it.
fn laid(sdk: Sdk, base: &Value, given: &Value) -> (Value, Vec<String>) {
    let changed = from_stable_request(sdk, &object(given), Some(&object(base))).unwrap();
    (value(&changed.value), warnings(&changed))
}

fn laid_response(sdk: Sdk, base: &Value, given: &Value) -> (Value, Vec<String>) {
    let changed = from_stable_response(sdk, &object(given), Some(&object(base))).unwrap();
    (value(&changed.value), warnings(&changed))
}

/// A stable request of messages that are written as `role: text`.
fn messages(written: &[&str]) -> Value {
    let message = |message: &&str| {
        let (role, content) = message.split_once(": ").unwrap();
        json!({ "role": role, "content": content })
    };
    json!({ "messages": written.iter().map(message).collect::<Vec<_>>() })
}

fn error(result: Result<Translated, hook_translate::TranslateError>) -> String {
    result.unwrap_err().to_string()
}

fn unchanged(sdk: Sdk, request: &RawObject) -> RawObject {
    let shown = to_stable_request(sdk, request).unwrap().value;
    from_stable_request(sdk, &shown, Some(request)).unwrap().value
}

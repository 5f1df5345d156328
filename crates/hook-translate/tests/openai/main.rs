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

use hook_json::RawObject;
use hook_translate::{
    Sdk, Translated, from_stable_request, from_stable_response, to_stable_request,
    to_stable_response,
};
use serde_json::{Value, json};

use common::json::{object, raw, value};

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

/// A request that is edited in one way after the other.
struct Sample {
    sdk: Sdk,
    request: fn() -> Value,
    /// Where its conversation is.
    conversation: &'static str,
    /// What hooks see of that.
    shown: [&'static str; 5],
}

impl Sample {
    /// A hook that changes nothing gives back the bytes, of this request and of these.
    fn assert_keeps_bytes(&self, texts: &[&str]) {
        let whole = format!("{:#}", (self.request)());
        for text in texts.iter().copied().chain([&*whole]) {
            let request = raw(text);
            assert_eq!(unchanged(self.sdk, &request).as_str(), request.as_str());
        }
    }

    /// An edited message changes its text and nothing else: which, to what, and the field's new text.
    fn assert_edits(&self, edits: [(usize, &str, &str, &str); 4]) {
        for (at, edited, field, text) in edits {
            let mut given = self.shown;
            given[at] = edited;
            let mut expected = (self.request)();
            *expected.pointer_mut(field).unwrap() = json!(text);
            let laid = laid(self.sdk, &(self.request)(), &messages(&given));
            assert_eq!(laid, (expected, vec![]), "{edited}");
        }
    }

    /// A new message becomes an entry where it parts nothing: where it is, its role, where that is.
    fn assert_inserts(&self, entry: fn(&str) -> Value, inserted: [(usize, &str, usize); 5]) {
        for (at, role, expected_at) in inserted {
            let mut given = self.shown.to_vec();
            let new = format!("{role}: be brief");
            given.insert(at, &new);
            let role = match role {
                "system" => "developer",
                "model" => "assistant",
                other => other,
            };
            let mut expected = (self.request)();
            let entries = expected[self.conversation].as_array_mut().unwrap();
            entries.insert(expected_at, entry(role));
            let laid = laid(self.sdk, &(self.request)(), &messages(&given));
            assert_eq!(laid.0, expected, "at {at}");
        }
    }
}

/// Answers that say nothing of a response change nothing in it.
fn assert_keeps_response(sdk: Sdk, response: &Value) {
    for nothing in [json!({}), json!({ "candidates": [] }), shown_response(sdk, response)] {
        assert_eq!(laid_response(sdk, response, &nothing), (response.clone(), vec![]));
    }
}

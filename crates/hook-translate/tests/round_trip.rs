//! Properties of going to the stable form and back, over generated GenAI payloads.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use hook_json::{RawJson, RawObject};
use hook_translate::{
    Sdk, from_stable_request, from_stable_response, from_stable_tool_config, to_stable_request,
    to_stable_response, to_stable_tool_config,
};
use proptest::prelude::*;
use proptest::sample::{Index, select};
use serde_json::{Map, Value, json};

mod common {
    pub(crate) mod generate;
    pub(crate) mod json;
}

use common::generate::{
    anything, cases, changed, changes, fields, items, message, text, without_empty,
};
use common::json::{object, raw, value};

const GENAI: Sdk = Sdk::GenAi;

fn text_part(thoughts: bool) -> BoxedStrategy<Value> {
    let plain = text().prop_map(|text| json!({ "text": text }));
    let signed = text().prop_map(|text| json!({ "thoughtSignature": "c2ln", "text": text }));
    if !thoughts {
        return prop_oneof![5 => plain, 1 => signed].boxed();
    }
    let thought = text().prop_map(|text| json!({ "text": text, "thought": true }));
    prop_oneof![5 => plain, 1 => signed, 3 => thought].boxed()
}

fn other_part() -> impl Strategy<Value = Value> {
    select(vec![
        json!({ "functionCall": { "name": "f", "args": { "a": [1.50, { "b": null }] } } }),
        json!({ "functionResponse": { "name": "f", "response": { "text": "done" } } }),
        json!({ "inlineData": { "mimeType": "image/png", "data": "AAAA" } }),
        json!({ "later": "kind" }),
    ])
}

fn part(thoughts: bool) -> impl Strategy<Value = Value> {
    prop_oneof![3 => text_part(thoughts), 2 => other_part()]
}

fn content(thoughts: bool) -> impl Strategy<Value = Value> {
    let role = select(vec!["user", "model", "system", "function"]);
    let list = prop::collection::vec(part(thoughts), 0..5).prop_map(Value::from);
    let parts = prop_oneof![4 => list, 1 => part(thoughts)];
    (role, parts).prop_map(|(role, parts)| json!({ "role": role, "later": 1, "parts": parts }))
}

fn contents(thoughts: bool) -> impl Strategy<Value = Value> {
    let item = || {
        prop_oneof![
            6 => content(thoughts),
            1 => text().prop_map(Value::from),
            1 => other_part(),
            1 => Just(json!(null)),
        ]
    };
    let strings = prop::collection::vec(text(), 0..4).prop_map(|texts| json!(texts));
    prop_oneof![
        6 => prop::collection::vec(item(), 0..7).prop_map(Value::from),
        1 => strings,
        1 => item(),
    ]
}

fn request(thoughts: bool) -> impl Strategy<Value = Value> {
    let calling =
        json!({ "functionCallingConfig": { "mode": "ANY", "allowedFunctionNames": ["a"] } });
    let config = fields(vec![
        ("temperature", vec![json!(1), json!(1.0), json!(null)]),
        ("topK", vec![json!(40)]),
        ("tools", vec![json!([{ "functionDeclarations": [] }])]),
        ("toolConfig", vec![json!({}), calling]),
    ]);
    let model = prop::option::of(Just(json!("m")));
    (model, prop::option::of(contents(thoughts)), prop::option::of(config)).prop_map(
        |(model, contents, config)| {
            let mut request = Map::new();
            request.extend(model.map(|model| ("model".to_owned(), model)));
            request.extend(contents.map(|contents| ("contents".to_owned(), contents)));
            request.insert("later".to_owned(), json!({ "messages": [] }));
            request.extend(config.map(|config| ("config".to_owned(), config)));
            Value::Object(request)
        },
    )
}

fn candidate(thoughts: bool) -> impl Strategy<Value = Value> {
    let rest = fields(vec![
        ("finishReason", vec![json!("STOP"), json!("SAFETY")]),
        ("index", vec![json!(0), json!(1), json!(2)]),
        (
            "safetyRatings",
            vec![json!([{ "category": "c", "probability": "LOW", "blocked": true }])],
        ),
        ("later", vec![json!([])]),
    ]);
    let parts = prop::collection::vec(part(thoughts), 0..5);
    (rest, prop::option::of(parts)).prop_map(|(mut candidate, parts)| {
        if let Some(parts) = parts {
            candidate["content"] = json!({ "parts": parts, "role": "model" });
        }
        candidate
    })
}

/// A response of at least so many candidates.
fn response(thoughts: bool, least: usize) -> impl Strategy<Value = Value> {
    let rest = fields(vec![
        ("usageMetadata", vec![json!({ "totalTokenCount": 1.0, "thoughtsTokenCount": 2 })]),
        ("text", vec![json!("said")]),
        ("responseId", vec![json!("r")]),
    ]);
    let candidates = prop::collection::vec(candidate(thoughts), least..4);
    (rest, any::<bool>(), candidates).prop_map(move |(mut response, absent, candidates)| {
        if !absent || least > 0 {
            response["candidates"] = json!(candidates);
        }
        response
    })
}

fn all_parts(contents: &Value) -> Vec<Value> {
    let parts = |content: Value| match content.get("parts") {
        Some(parts) => items(parts),
        None => vec![content],
    };
    items(contents).into_iter().flat_map(parts).collect()
}

fn is_thought(part: &Value) -> bool {
    part.get("thought") == Some(&json!(true))
}

/// What no hook may lose: parts without text, and thoughts, as far as they are not their text.
fn lasting(parts: Vec<Value>) -> Vec<Value> {
    parts
        .into_iter()
        .filter(|part| part.is_object() && (part.get("text").is_none() || is_thought(part)))
        .map(|mut part| {
            part.as_object_mut().unwrap().remove("text");
            part
        })
        .collect()
}

fn shown_messages(request: &Value) -> Vec<Value> {
    let shown = to_stable_request(GENAI, &object(request)).unwrap();
    items(&value(&shown.value)["messages"])
}

fn laid(request: &Value, messages: &[Value]) -> Value {
    let given = object(&json!({ "messages": messages }));
    value(&from_stable_request(GENAI, &given, Some(&object(request))).unwrap().value)
}

proptest! {
    #![proptest_config(cases(1_000))]

    #[test]
    fn an_unchanged_request_keeps_its_bytes(request in request(true), pretty: bool) {
        let text = if pretty { format!("{request:#}") } else { request.to_string() };
        let base = raw(&text);
        let shown = to_stable_request(GENAI, &base).unwrap().value;
        let same = from_stable_request(GENAI, &shown, Some(&base)).unwrap();
        prop_assert_eq!(same.value.as_str(), base.as_str());
        prop_assert_eq!(same.warnings, []);
        // What is shown is a stable request.
        prop_assert_eq!(to_stable_request(Sdk::Stable, &shown).unwrap().value, shown);
    }

    #[test]
    fn an_unchanged_response_keeps_its_bytes(response in response(true, 0), pretty: bool) {
        let text = if pretty { format!("{response:#}") } else { response.to_string() };
        let original = raw(&text);
        let shown = to_stable_response(GENAI, &original).unwrap().value;
        let same = from_stable_response(GENAI, &shown, Some(&original)).unwrap();
        prop_assert_eq!(same.value.as_str(), original.as_str());
        prop_assert_eq!(same.warnings, []);
        prop_assert_eq!(to_stable_response(Sdk::Stable, &shown).unwrap().value, shown);
    }

    #[test]
    fn an_unchanged_tool_config_keeps_its_bytes(request in request(false)) {
        let base = object(&request["config"].get("toolConfig").cloned().unwrap_or(json!({})));
        let shown = to_stable_tool_config(GENAI, &base).unwrap().value;
        let same = from_stable_tool_config(GENAI, &shown, Some(&base)).unwrap().value;
        prop_assert_eq!(same, base);
    }

    #[test]
    fn of_one_edited_message_exactly_the_text_differs(
        request in request(true), at: Index, new in "[x-z]{1,8}",
    ) {
        let messages = shown_messages(&request);
        if messages.is_empty() {
            return Ok(());
        }
        let at = at.index(messages.len());
        // A text of which a thought may already say all is no edit.
        if messages[at]["content"].as_str().unwrap().contains(&new) {
            return Ok(());
        }
        let mut edited = messages.clone();
        edited[at]["content"] = json!(new);
        let after = laid(&request, &edited);

        let (mut rest_before, mut rest_after) = (request.clone(), after.clone());
        let (before, after) = (rest_before["contents"].take(), rest_after["contents"].take());
        prop_assert_eq!(rest_before, rest_after);
        prop_assert_eq!(before.is_array(), after.is_array());
        let (before, after) = (items(&before), items(&after));
        prop_assert_eq!(before.len(), after.len());
        let has_message =
            |item: &usize| !shown_messages(&json!({ "contents": [before[*item]] })).is_empty();
        let item = (0..before.len()).filter(has_message).nth(at).unwrap();
        for other in (0..before.len()).filter(|&other| other != item) {
            prop_assert_eq!(&before[other], &after[other]);
        }
        // Thoughts that the new text has left out are still there; all other text is the new one.
        let parts = all_parts(&after[item]);
        let plain: Vec<String> = parts
            .iter()
            .filter(|part| !is_thought(part))
            .filter_map(|part| Some(part.get("text").unwrap_or(part).as_str()?.to_owned()))
            .collect();
        let thoughts = |parts: &[Value]| {
            parts.iter().filter(|part| is_thought(part)).cloned().collect::<Vec<_>>()
        };
        let before_parts = all_parts(&before[item]);
        if thoughts(&before_parts) == thoughts(&parts) {
            prop_assert_eq!(plain.concat(), new);
        } else {
            // The message was nothing but thoughts, so the edit is theirs.
            let is_plain = |part: &Value| {
                !is_thought(part) && part.get("text").is_some_and(|text| text != "")
            };
            prop_assert!(!before_parts.iter().any(is_plain));
        }
        prop_assert_eq!(lasting(before_parts), lasting(parts));
        for field in ["role", "later"] {
            prop_assert_eq!(before[item].get(field), after[item].get(field));
        }
    }

    #[test]
    fn what_a_hook_wrote_is_what_is_said(request in request(false), changes in changes()) {
        let messages = changed(&shown_messages(&request), &changes);
        let after = laid(&request, &messages);
        let (mut said, mut given) =
            (shown_messages(&after), without_empty(&messages, Some("content")));
        // What answers a function call stays behind the call, also where a message came between.
        let answers = |part: &Value| part.get("functionResponse").is_some();
        if all_parts(&request["contents"]).iter().any(answers) {
            said.sort_by_key(Value::to_string);
            given.sort_by_key(Value::to_string);
        }
        prop_assert_eq!(said, given);
    }

    #[test]
    fn nothing_but_text_is_lost_or_reordered(request in request(true), changes in changes()) {
        let messages = changed(&shown_messages(&request), &changes);
        let after = laid(&request, &messages);
        let parts = |request: &Value| lasting(all_parts(&request["contents"]));
        prop_assert_eq!(parts(&request), parts(&after));
    }

    #[test]
    fn unrelated_messages_lose_nothing_either(
        request in request(true), messages in prop::collection::vec(message(), 0..6),
    ) {
        let after = laid(&request, &messages);
        let parts = |request: &Value| lasting(all_parts(&request["contents"]));
        prop_assert_eq!(parts(&request), parts(&after));
    }

    #[test]
    fn a_response_says_what_a_hook_wrote(
        response in response(false, 1), at: Index, texts in prop::collection::vec(text(), 0..4),
    ) {
        let original = object(&response);
        let mut given = value(&to_stable_response(GENAI, &original).unwrap().value);
        let count = items(&given["candidates"]).len();
        let at = at.index(count);
        given["candidates"][at]["content"]["parts"] = json!(texts);
        let after = from_stable_response(GENAI, &object(&given), Some(&original)).unwrap().value;
        let shown = value(&to_stable_response(GENAI, &after).unwrap().value);
        for index in 0..count {
            let parts = |response: &Value| {
                let parts = items(&response["candidates"][index]["content"]["parts"]);
                without_empty(&parts, None)
            };
            prop_assert_eq!(parts(&shown), parts(&given));
        }
        let after = value(&after);
        for (before, after) in items(&response["candidates"]).iter().zip(items(&after["candidates"])) {
            prop_assert_eq!(lasting(all_parts(&before["content"])), lasting(all_parts(&after["content"])));
        }
    }

    #[test]
    fn a_response_loses_no_thought(
        response in response(true, 0), text in text(), texts in prop::collection::vec(text(), 0..4),
    ) {
        let original = object(&response);
        for given in [json!({ "text": text }), json!({ "candidates": [{ "content": { "parts": texts } }] })] {
            let after = from_stable_response(GENAI, &object(&given), Some(&original)).unwrap().value;
            let parts = |response: &Value| {
                lasting(all_parts(&response["candidates"][0]["content"]))
            };
            prop_assert_eq!(parts(&response), parts(&value(&after)));
        }
    }
}

/// The fields that the translator knows, and words that are values of some.
const NAMES: [&str; 25] = [
    "user",
    "ANY",
    "model",
    "contents",
    "config",
    "role",
    "parts",
    "text",
    "thought",
    "functionCall",
    "functionResponse",
    "toolConfig",
    "functionCallingConfig",
    "mode",
    "allowedFunctionNames",
    "candidates",
    "content",
    "finishReason",
    "index",
    "safetyRatings",
    "category",
    "usageMetadata",
    "totalTokenCount",
    "messages",
    "topK",
];

proptest! {
    #![proptest_config(cases(3_000))]

    #[test]
    fn nothing_panics(
        contents in anything(&NAMES), config in anything(&NAMES), candidates in anything(&NAMES),
        given in anything(&NAMES),
    ) {
        let base = object(&json!({
            "contents": contents, "config": config, "candidates": [candidates],
            "functionCallingConfig": config,
        }));
        let given = RawObject::try_from(RawJson::parse(given.to_string()).unwrap())
            .unwrap_or_else(|_| RawObject::empty());
        for sdk in [GENAI, Sdk::Stable] {
            for value in [&base, &given] {
                let _ = Sdk::of_request(None, value);
                let _ = to_stable_request(sdk, value);
                let _ = to_stable_response(sdk, value);
                let _ = to_stable_tool_config(sdk, value);
                for base in [None, Some(&base)] {
                    let _ = from_stable_request(sdk, value, base);
                    let _ = from_stable_response(sdk, value, base);
                    let _ = from_stable_tool_config(sdk, value, base);
                }
            }
        }
    }
}

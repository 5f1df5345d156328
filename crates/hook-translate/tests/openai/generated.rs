//! Generated payloads of both APIs, and what of them no hook may lose.

use hook_translate::Sdk;
use proptest::prelude::*;
use proptest::sample::select;
use serde_json::{Value, json};

use crate::common::generate::{fields, items, text};

pub(crate) const APIS: [Sdk; 2] = [Sdk::OpenAiChat, Sdk::OpenAiResponses];

/// The field that holds the conversation.
pub(crate) fn conversation(sdk: Sdk) -> &'static str {
    if sdk == Sdk::OpenAiChat { "messages" } else { "input" }
}

fn text_type(sdk: Sdk, role: &str) -> &'static str {
    match (sdk, role) {
        (Sdk::OpenAiChat, _) => "text",
        (_, "assistant") => "output_text",
        _ => "input_text",
    }
}

fn part(kind: &'static str) -> impl Strategy<Value = Value> {
    let plain = text().prop_map(move |text| json!({ "type": kind, "text": text }));
    let more = text().prop_map(
        move |text| json!({ "type": kind, "annotations": [{ "url": "u" }], "text": text }),
    );
    let other = select(vec![
        json!({ "type": "image_url", "image_url": { "url": "data:,", "n": 1.50 } }),
        json!({ "type": "input_image", "image_url": "data:," }),
        json!({ "type": "refusal", "refusal": "no" }),
        json!({ "type": "later", "text": "kept" }),
    ]);
    prop_oneof![4 => plain, 1 => more, 3 => other]
}

fn content(kind: &'static str) -> impl Strategy<Value = Value> {
    let parts = prop::collection::vec(part(kind), 0..5).prop_map(Value::from);
    prop_oneof![3 => text().prop_map(Value::from), 3 => parts, 1 => Just(json!(null))]
}

/// A message that somebody says; of the responses API, one of the forms that it has.
fn said(sdk: Sdk) -> impl Strategy<Value = Vec<Value>> {
    let roles = select(vec!["user", "assistant", "system", "developer"]);
    (roles, any::<bool>()).prop_flat_map(move |(role, typed)| {
        content(text_type(sdk, role)).prop_map(move |content| {
            let mut message = json!({ "role": role, "later": 1, "content": content });
            if sdk == Sdk::OpenAiResponses && typed {
                message["type"] = json!("message");
            }
            vec![message]
        })
    })
}

/// A turn in which the model calls tools, at most so many, with their results.
fn called(sdk: Sdk) -> impl Strategy<Value = Vec<Value>> {
    let count = 1_usize..3;
    // Ids may come again later in the conversation.
    (count, 0..2_usize, content(text_type(sdk, "assistant")), any::<bool>()).prop_map(
        move |(count, first, content, reasons)| {
            let ids: Vec<String> =
                (first..first + count).map(|number| format!("call_{number}")).collect();
            let mut turn = Vec::new();
            if sdk == Sdk::OpenAiChat {
                let call = |id: &String| json!({ "id": id, "function": { "arguments": "{}" } });
                let calls: Vec<Value> = ids.iter().map(call).collect();
                turn.push(json!({ "role": "assistant", "content": content, "tool_calls": calls }));
                turn.extend(
                    ids.iter()
                        .map(|id| json!({ "role": "tool", "tool_call_id": id, "content": "r" })),
                );
                return turn;
            }
            if reasons {
                turn.push(json!({ "type": "reasoning", "id": "rs", "summary": [] }));
            }
            turn.push(
                json!({ "type": "message", "role": "assistant", "content": content, "id": "msg" }),
            );
            turn.extend(ids.iter().map(|id| json!({ "type": "function_call", "call_id": id })));
            turn.extend(ids.iter().map(|id| {
                json!({ "type": "function_call_output", "call_id": id, "output": [{ "text": 1 }] })
            }));
            turn
        },
    )
}

fn other(sdk: Sdk) -> impl Strategy<Value = Vec<Value>> {
    let others = match sdk {
        Sdk::OpenAiChat => vec![json!(null), json!({ "role": "assistant", "refusal": "no" })],
        _ => vec![
            json!(null),
            json!({ "type": "item_reference", "id": "msg" }),
            json!({ "type": "web_search_call", "id": "ws", "status": "completed" }),
            json!({ "type": "later", "content": [{ "text": 1 }] }),
        ],
    };
    select(others).prop_map(|other| vec![other])
}

fn entries(sdk: Sdk) -> impl Strategy<Value = Value> {
    let turn = prop_oneof![4 => said(sdk), 2 => called(sdk), 1 => other(sdk)];
    prop::collection::vec(turn, 0..7).prop_map(|turns| Value::from(turns.concat()))
}

pub(crate) fn request(sdk: Sdk) -> BoxedStrategy<Value> {
    let choice = match sdk {
        Sdk::OpenAiChat => json!({ "type": "function", "function": { "name": "f" } }),
        _ => json!({ "type": "allowed_tools", "mode": "auto", "tools": [{ "type": "mcp" }] }),
    };
    let rest = fields(vec![
        ("model", vec![json!("m")]),
        ("temperature", vec![json!(1), json!(1.0), json!(null)]),
        ("max_tokens", vec![json!(7)]),
        ("max_output_tokens", vec![json!(8)]),
        ("top_p", vec![json!(0.5)]),
        ("instructions", vec![json!("be kind")]),
        ("tools", vec![json!([{ "type": "function" }])]),
        ("tool_choice", vec![json!("auto"), json!("later"), choice]),
    ]);
    let list = entries(sdk);
    let conversation_of = match sdk {
        Sdk::OpenAiChat => list.boxed(),
        _ => prop_oneof![6 => list, 1 => text().prop_map(Value::from)].boxed(),
    };
    (rest, prop::option::of(conversation_of))
        .prop_map(move |(mut request, entries)| {
            if let Some(entries) = entries {
                request[conversation(sdk)] = entries;
            }
            request
        })
        .boxed()
}

fn choice() -> impl Strategy<Value = Value> {
    let rest = fields(vec![
        ("finish_reason", vec![json!("stop"), json!("tool_calls"), json!("later"), json!(null)]),
        ("index", vec![json!(0), json!(1), json!(2)]),
        ("logprobs", vec![json!(null)]),
    ]);
    let message = fields(vec![
        ("role", vec![json!("assistant")]),
        ("refusal", vec![json!(null), json!("no")]),
        ("tool_calls", vec![json!([{ "id": "a" }])]),
    ]);
    (rest, message, prop::option::of(content("text"))).prop_map(
        |(mut choice, mut message, content)| {
            if let Some(content) = content {
                message["content"] = content;
            }
            choice["message"] = message;
            choice
        },
    )
}

/// A response with at least one alternative.
pub(crate) fn response(sdk: Sdk) -> BoxedStrategy<Value> {
    let rest = fields(vec![
        ("id", vec![json!("r")]),
        ("status", vec![json!("completed"), json!("incomplete")]),
        ("incomplete_details", vec![json!(null), json!({ "reason": "content_filter" })]),
        ("output_text", vec![json!("said")]),
        ("usage", vec![json!({ "total_tokens": 1.0, "later": 2 }), json!(null)]),
    ]);
    let (field, list) = match sdk {
        Sdk::OpenAiChat => ("choices", prop::collection::vec(choice(), 1..4).boxed()),
        _ => {
            let message = content("output_text").prop_map(|content| {
                json!({ "type": "message", "id": "m", "role": "assistant", "content": content })
            });
            let other = select(vec![
                json!({ "type": "reasoning", "id": "rs", "summary": [{ "text": "hm" }] }),
                json!({ "type": "function_call", "arguments": "{}" }),
            ]);
            ("output", prop::collection::vec(prop_oneof![message, other], 1..5).boxed())
        }
    };
    (rest, list)
        .prop_map(move |(mut response, list)| {
            response[field] = json!(list);
            response
        })
        .boxed()
}

/// Whether a part is text that hooks see.
pub(crate) fn is_text(part: &Value) -> bool {
    ["text", "input_text", "output_text"].iter().any(|kind| part["type"] == *kind)
}

/// All text of a content.
pub(crate) fn text_of(content: &Value) -> String {
    match content {
        Value::Array(parts) => parts
            .iter()
            .filter(|part| is_text(part))
            .filter_map(|part| part["text"].as_str())
            .collect(),
        other => other.as_str().unwrap_or_default().to_owned(),
    }
}

/// What of a list of messages and items no hook may lose: all but messages that only say
/// something, and their text.
pub(crate) fn lasting(list: &Value) -> Vec<Value> {
    let mut lasting = Vec::new();
    for entry in items(list).iter().filter(|entry| entry.is_object()) {
        let role = entry["role"].as_str();
        let is_message = entry["type"].is_null() || entry["type"] == "message";
        if !is_message || role == Some("tool") {
            lasting.push(entry.clone());
            continue;
        }
        for field in ["tool_calls", "refusal"] {
            lasting.extend(entry.get(field).cloned());
        }
        let parts = entry["content"].as_array().cloned().unwrap_or_default();
        lasting.extend(parts.into_iter().filter(|part| !is_text(part)));
    }
    lasting
}

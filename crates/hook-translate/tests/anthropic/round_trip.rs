//! Properties of going to the stable form and back, over generated payloads.

use hook_json::{RawJson, RawObject};
use hook_translate::{
    Sdk, from_stable_chunk, from_stable_request, from_stable_response, from_stable_tool_config,
    join_chunks, to_stable_chunk, to_stable_request, to_stable_response, to_stable_tool_config,
};
use proptest::prelude::*;
use proptest::sample::{Index, select};
use serde_json::{Value, json};

use crate::ANTHROPIC;
use crate::generate::{
    anything, cases, changed, changes, fields, items, message, text, without_empty,
};
use crate::json::{object, raw, value};

fn text_block() -> impl Strategy<Value = Value> {
    let rest = fields(vec![
        ("cache_control", vec![json!({ "type": "ephemeral" })]),
        ("citations", vec![json!(null), json!([{ "type": "page_location", "cited_text": "a" }])]),
    ]);
    (text(), rest).prop_map(|(text, mut block)| {
        block["text"] = json!(text);
        block["type"] = json!("text");
        block
    })
}

fn other_block() -> impl Strategy<Value = Value> {
    select(vec![
        json!({ "type": "tool_use", "id": "t", "name": "f", "input": { "a": [1.50, { "text": null }] } }),
        json!({ "type": "tool_result", "tool_use_id": "t", "content": [{ "type": "text", "text": "done" }] }),
        json!({ "type": "tool_result", "tool_use_id": "t", "content": "done", "is_error": true }),
        json!({ "type": "image", "source": { "type": "url", "url": "u" } }),
        json!({ "type": "document", "title": "t", "source": { "type": "text", "data": "a" } }),
        json!({ "type": "later", "text": "kind" }),
    ])
}

fn thinking() -> impl Strategy<Value = Value> {
    select(vec![
        json!({ "type": "thinking", "thinking": "hm", "signature": "c2ln" }),
        json!({ "type": "redacted_thinking", "data": "ZGF0YQ==" }),
    ])
}

fn blocks(most: usize) -> impl Strategy<Value = Vec<Value>> {
    let block = prop_oneof![4 => text_block(), 2 => other_block(), 1 => thinking()];
    prop::collection::vec(block, 0..most)
}

fn request() -> impl Strategy<Value = Value> {
    let content = prop_oneof![
        3 => blocks(5).prop_map(Value::from),
        2 => text().prop_map(Value::from),
    ];
    let message = (select(vec!["user", "assistant"]), content)
        .prop_map(|(role, content)| json!({ "role": role, "later": 1, "content": content }));
    let rest = fields(vec![
        ("model", vec![json!("m")]),
        ("max_tokens", vec![json!(1024), json!(1e3)]),
        ("temperature", vec![json!(1), json!(1.0), json!(null)]),
        ("system", vec![json!("s"), json!([{ "type": "text", "text": "s" }])]),
        ("tools", vec![json!([{ "name": "f" }])]),
        ("tool_choice", vec![json!({ "type": "auto" }), json!({ "type": "tool", "name": "f" })]),
        ("thinking", vec![json!({ "type": "enabled" })]),
    ]);
    (rest, prop::collection::vec(message, 0..7)).prop_map(|(mut request, messages)| {
        request["messages"] = json!(messages);
        request
    })
}

fn response() -> impl Strategy<Value = Value> {
    let rest = fields(vec![
        ("id", vec![json!("msg_1")]),
        ("stop_reason", vec![json!("end_turn"), json!("tool_use"), json!(null)]),
        (
            "usage",
            vec![json!({ "input_tokens": 1, "cache_read_input_tokens": 2, "output_tokens": 3.0 })],
        ),
    ]);
    (rest, blocks(6)).prop_map(|(mut response, blocks)| {
        response["content"] = json!(blocks);
        response
    })
}

fn all_blocks(request: &Value) -> Vec<Value> {
    items(&request["messages"]).iter().flat_map(|message| items(&message["content"])).collect()
}

fn is_text(block: &Value) -> bool {
    block.is_string() || block["type"] == "text"
}

fn is_thinking(block: &Value) -> bool {
    block["type"].as_str().is_some_and(|kind| kind.ends_with("thinking"))
}

/// What no hook may lose.
fn lasting(blocks: Vec<Value>) -> Vec<Value> {
    blocks.into_iter().filter(|block| !is_text(block) && !is_thinking(block)).collect()
}

fn shown_messages(request: &Value) -> Vec<Value> {
    items(&value(&to_stable_request(ANTHROPIC, &object(request)).unwrap().value)["messages"])
}

fn laid(request: &Value, messages: &[Value]) -> Value {
    let given = object(&json!({ "messages": messages }));
    value(&from_stable_request(ANTHROPIC, &given, Some(&object(request))).unwrap().value)
}

/// The messages with results of tools directly follow what they followed before.
fn results_follow_as_before(before: &Value, after: &Value) -> bool {
    let lasting_of = |message: &Value| lasting(items(&message["content"]));
    let pairs = |request: &Value| {
        let messages = items(&request["messages"]);
        let answers = |message: &Value| {
            lasting_of(message).iter().any(|block| block["type"] == "tool_result")
        };
        let calls =
            |message: &Value| lasting_of(message).iter().any(|block| block["type"] == "tool_use");
        (1..messages.len())
            .filter(|&index| answers(&messages[index]) && calls(&messages[index - 1]))
            .map(|index| (lasting_of(&messages[index - 1]), lasting_of(&messages[index])))
            .collect::<Vec<_>>()
    };
    pairs(before).iter().all(|pair| pairs(after).contains(pair))
}

proptest! {
    #![proptest_config(cases(1_000))]

    #[test]
    fn an_unchanged_request_keeps_its_bytes(request in request(), pretty: bool) {
        let text = if pretty { format!("{request:#}") } else { request.to_string() };
        let base = raw(&text);
        let shown = to_stable_request(ANTHROPIC, &base).unwrap().value;
        let same = from_stable_request(ANTHROPIC, &shown, Some(&base)).unwrap();
        prop_assert_eq!(same.value.as_str(), base.as_str());
        prop_assert_eq!(same.warnings, []);
        prop_assert_eq!(to_stable_request(Sdk::Stable, &shown).unwrap().value, shown);
    }

    #[test]
    fn an_unchanged_response_keeps_its_bytes(response in response(), pretty: bool) {
        let text = if pretty { format!("{response:#}") } else { response.to_string() };
        let original = raw(&text);
        let shown = to_stable_response(ANTHROPIC, &original).unwrap().value;
        let same = from_stable_response(ANTHROPIC, &shown, Some(&original)).unwrap();
        prop_assert_eq!(same.value.as_str(), original.as_str());
        prop_assert_eq!(same.warnings, []);
        prop_assert_eq!(to_stable_response(Sdk::Stable, &shown).unwrap().value, shown);
    }

    #[test]
    fn of_one_edited_message_exactly_the_text_differs(
        request in request(), at: Index, new in "[x-z]{1,8}",
    ) {
        let shown = shown_messages(&request);
        prop_assume!(!shown.is_empty());
        let at = at.index(shown.len());
        let mut edited = shown.clone();
        edited[at]["content"] = json!(new);
        let after = laid(&request, &edited);

        let (mut rest_before, mut rest_after) = (request.clone(), after.clone());
        let (before, after) = (rest_before["messages"].take(), rest_after["messages"].take());
        prop_assert_eq!(rest_before, rest_after);
        let (before, after) = (items(&before), items(&after));
        prop_assert_eq!(before.len(), after.len());
        let has_message =
            |item: &usize| !shown_messages(&json!({ "messages": [before[*item]] })).is_empty();
        let item = (0..before.len()).filter(has_message).nth(at).unwrap();
        for other in (0..before.len()).filter(|&other| other != item) {
            prop_assert_eq!(&before[other], &after[other]);
        }
        let (mut old, mut now) = (before[item].clone(), after[item].clone());
        let (old_content, now_content) = (items(&old["content"].take()), items(&now["content"].take()));
        prop_assert_eq!(old, now);
        let said: String = now_content
            .iter()
            .filter_map(|block| if is_text(block) { block.get("text").unwrap_or(block).as_str() } else { None })
            .collect();
        prop_assert_eq!(said, new);
        prop_assert_eq!(lasting(old_content), lasting(now_content));
    }

    #[test]
    fn nothing_but_text_is_lost_or_reordered(request in request(), changes in changes()) {
        let after = laid(&request, &changed(&shown_messages(&request), &changes));
        prop_assert_eq!(lasting(all_blocks(&request)), lasting(all_blocks(&after)));
        prop_assert!(results_follow_as_before(&request, &after));
        // What was empty before may stay; no hook makes an empty block.
        let is_empty = |block: &Value| *block == json!("") || is_text(block) && block["text"] == "";
        let empty = |request| all_blocks(request).into_iter().filter(is_empty).count();
        prop_assert!(empty(&after) <= empty(&request));
        // Of thinking, only what led to text that is gone; and none is new or changed.
        let mut thinking = all_blocks(&request).into_iter().filter(is_thinking);
        for block in all_blocks(&after).into_iter().filter(is_thinking) {
            prop_assert!(thinking.any(|other| other == block));
        }
    }

    #[test]
    fn unrelated_messages_lose_nothing_either(
        request in request(), messages in prop::collection::vec(message(), 0..6),
    ) {
        let after = laid(&request, &messages);
        prop_assert_eq!(lasting(all_blocks(&request)), lasting(all_blocks(&after)));
        prop_assert!(results_follow_as_before(&request, &after));
    }

    #[test]
    fn what_a_hook_wrote_is_what_is_said(request in request(), changes in changes()) {
        let messages = changed(&shown_messages(&request), &changes);
        let after = laid(&request, &messages);
        let (system, mut given): (Vec<Value>, Vec<Value>) =
            without_empty(&messages, Some("content")).into_iter().partition(|message| message["role"] == "system");
        let mut said = shown_messages(&after);
        // A result stays behind its call, also where a message came between.
        if all_blocks(&request).iter().any(|block| block["type"] == "tool_result") {
            said.sort_by_key(Value::to_string);
            given.sort_by_key(Value::to_string);
        }
        prop_assert_eq!(said, given);
        let texts = |system: &Value| -> Vec<Value> {
            items(system).iter().map(|block| block.get("text").unwrap_or(block).clone()).collect()
        };
        let mut expected = texts(&request["system"]);
        expected.extend(system.iter().map(|message| message["content"].clone()));
        prop_assert_eq!(texts(&after["system"]), expected);
    }

    #[test]
    fn a_response_says_what_a_hook_wrote(
        response in response(), texts in prop::collection::vec(text(), 0..4), all in text(),
    ) {
        let original = object(&response);
        for given in [
            json!({ "candidates": [{ "content": { "parts": texts } }] }),
            json!({ "text": all }),
        ] {
            let after = from_stable_response(ANTHROPIC, &object(&given), Some(&original)).unwrap().value;
            let shown = value(&to_stable_response(ANTHROPIC, &after).unwrap().value);
            if given.get("text").is_some() {
                prop_assert_eq!(shown.get("text").and_then(Value::as_str).unwrap_or(""), &all);
            } else {
                let parts = &shown["candidates"][0]["content"]["parts"];
                prop_assert_eq!(
                    without_empty(&items(parts), None),
                    without_empty(&items(&json!(texts)), None)
                );
            }
            let others = |response: &Value| -> Vec<Value> {
                items(&response["content"]).into_iter().filter(|block| !is_text(block)).collect()
            };
            prop_assert_eq!(others(&response), others(&value(&after)));
        }
    }
}

const NAMES: &[&str] = &[
    "model",
    "messages",
    "role",
    "content",
    "type",
    "text",
    "tool_result",
    "thinking",
    "system",
    "tools",
    "tool_choice",
    "name",
    "auto",
    "tool",
    "user",
    "assistant",
    "usage",
    "input_tokens",
    "output_tokens",
    "stop_reason",
    "delta",
    "index",
    "message",
    "content_block",
    "message_start",
    "content_block_start",
    "content_block_delta",
    "message_delta",
    "error",
    "text_delta",
    "input_json_delta",
    "partial_json",
    "citations_delta",
    "citation",
    "candidates",
    "parts",
    "contents",
    "toolConfig",
    "mode",
    "ANY",
    "allowedFunctionNames",
    "config",
    "topK",
    "usageMetadata",
    "finishReason",
    "safetyRatings",
];

fn any_object() -> impl Strategy<Value = RawObject> {
    anything(NAMES).prop_map(|value| {
        RawObject::try_from(RawJson::parse(value.to_string()).unwrap())
            .unwrap_or_else(|_| RawObject::empty())
    })
}

proptest! {
    #![proptest_config(cases(3_000))]

    #[test]
    fn nothing_panics(
        messages in anything(NAMES), response in anything(NAMES), given in any_object(),
        chunks in prop::collection::vec(any_object(), 0..5),
    ) {
        let base = object(&json!({
            "messages": [messages], "system": messages, "tools": [1], "tool_choice": response,
            "content": [response], "usage": messages,
        }));
        for value in [&base, &given] {
            let _ = to_stable_request(ANTHROPIC, value);
            let _ = to_stable_response(ANTHROPIC, value);
            let _ = to_stable_tool_config(ANTHROPIC, value);
            for base in [None, Some(&base)] {
                let _ = from_stable_request(ANTHROPIC, value, base);
                let _ = from_stable_response(ANTHROPIC, value, base);
                let _ = from_stable_tool_config(ANTHROPIC, value, base);
            }
        }
        for sdk in [ANTHROPIC, Sdk::GenAi, Sdk::Stable] {
            let _ = join_chunks(sdk, &chunks);
            for chunk in &chunks {
                let _ = to_stable_chunk(sdk, chunk);
                let _ = from_stable_chunk(sdk, &given, chunk);
            }
        }
    }
}

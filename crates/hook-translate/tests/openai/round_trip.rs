//! Properties of going to the stable form and back, over generated payloads of both APIs.

use hook_json::{RawJson, RawObject};
use hook_translate::{
    Sdk, from_stable_chunk, from_stable_request, from_stable_response, from_stable_tool_config,
    join_chunks, to_stable_chunk, to_stable_request, to_stable_response, to_stable_tool_config,
};
use proptest::prelude::*;
use proptest::sample::{Index, select};
use serde_json::{Value, json};

use crate::common::generate::{
    anything, cases, changed, changes, items, message, text, without_empty,
};
use crate::common::json::{object, raw, value};
use crate::generated::{APIS, conversation, is_text, lasting, request, response, text_of};
use crate::{laid, laid_response, shown, shown_response};

fn of_either(generated: fn(Sdk) -> BoxedStrategy<Value>) -> impl Strategy<Value = (Sdk, Value)> {
    select(APIS.to_vec())
        .prop_flat_map(move |sdk| generated(sdk).prop_map(move |payload| (sdk, payload)))
}

fn messages_of(sdk: Sdk, request: &Value) -> Vec<Value> {
    items(&shown(sdk, request)["messages"])
}

fn laid_messages(sdk: Sdk, request: &Value, messages: &[Value]) -> Value {
    laid(sdk, request, &json!({ "messages": messages })).0
}

/// For each result of a tool, what stands from its call to it.
fn spans(list: &Value) -> Vec<Vec<Value>> {
    let entries = items(list);
    let has_id = |entry: &Value, id: &Value| {
        let is_call = entry["type"] == "function_call" && entry["call_id"] == *id;
        is_call || items(&entry["tool_calls"]).iter().any(|call| call["id"] == *id)
    };
    let mut spans = Vec::new();
    for (index, entry) in entries.iter().enumerate() {
        let id = match (&entry["tool_call_id"], &entry["call_id"]) {
            (Value::Null, id) if entry["type"] == "function_call_output" => id,
            (id, _) => id,
        };
        if id.is_null() {
            continue;
        }
        let call = entries[..index].iter().rposition(|entry| has_id(entry, id)).unwrap();
        spans.push(entries[call + 1..=index].to_vec());
    }
    spans
}

proptest! {
    #![proptest_config(cases(1_000))]

    #[test]
    fn an_unchanged_request_keeps_its_bytes((sdk, request) in of_either(request), pretty: bool) {
        let text = if pretty { format!("{request:#}") } else { request.to_string() };
        let base = raw(&text);
        let shown = to_stable_request(sdk, &base).unwrap().value;
        let same = from_stable_request(sdk, &shown, Some(&base)).unwrap();
        prop_assert_eq!(same.value.as_str(), base.as_str());
        prop_assert_eq!(same.warnings, []);
        // What is shown is a stable request.
        prop_assert_eq!(to_stable_request(Sdk::Stable, &shown).unwrap().value, shown);
    }

    #[test]
    fn an_unchanged_response_keeps_its_bytes((sdk, response) in of_either(response), pretty: bool) {
        let text = if pretty { format!("{response:#}") } else { response.to_string() };
        let original = raw(&text);
        let shown = to_stable_response(sdk, &original).unwrap().value;
        let same = from_stable_response(sdk, &shown, Some(&original)).unwrap();
        prop_assert_eq!(same.value.as_str(), original.as_str());
        prop_assert_eq!(same.warnings, []);
        prop_assert_eq!(to_stable_response(Sdk::Stable, &shown).unwrap().value, shown);
    }

    #[test]
    fn of_one_edited_message_exactly_the_text_differs(
        (sdk, request) in of_either(request), at: Index, new in "[x-z]{1,8}",
    ) {
        let messages = messages_of(sdk, &request);
        if messages.is_empty() {
            return Ok(());
        }
        let at = at.index(messages.len());
        let mut edited = messages.clone();
        edited[at]["content"] = json!(new);
        let after = laid_messages(sdk, &request, &edited);

        let field = conversation(sdk);
        let (mut rest_before, mut rest_after) = (request.clone(), after.clone());
        let (before, after) = (rest_before[field].take(), rest_after[field].take());
        prop_assert_eq!(rest_before, rest_after);
        prop_assert_eq!(before.is_array(), after.is_array());
        let (before, after) = (items(&before), items(&after));
        prop_assert_eq!(before.len(), after.len());
        let has_message = |entry: &usize| {
            !messages_of(sdk, &json!({ field: [before[*entry]] })).is_empty()
        };
        if before[0].is_string() {
            prop_assert_eq!(&after[0], &json!(new));
            return Ok(());
        }
        let entry = (0..before.len()).filter(has_message).nth(at).unwrap();
        for other in (0..before.len()).filter(|&other| other != entry) {
            prop_assert_eq!(&before[other], &after[other]);
        }
        let (before, after) = (&before[entry], &after[entry]);
        prop_assert_eq!(text_of(&after["content"]), new);
        prop_assert_eq!(before["content"].is_array(), after["content"].is_array());
        let rest = |entry: &Value| {
            let parts = entry["content"].as_array().cloned().unwrap_or_default();
            let parts: Vec<Value> = parts.into_iter().filter(|part| !is_text(part)).collect();
            let mut entry = entry.clone();
            entry["content"] = json!(parts);
            entry
        };
        prop_assert_eq!(rest(before), rest(after));
    }

    #[test]
    fn what_a_hook_wrote_is_what_is_said(
        (sdk, request) in of_either(request), changes in changes(),
    ) {
        let messages = changed(&messages_of(sdk, &request), &changes);
        let after = laid_messages(sdk, &request, &messages);
        prop_assert_eq!(messages_of(sdk, &after), without_empty(&messages, Some("content")));
    }

    #[test]
    fn nothing_but_text_is_lost_or_reordered(
        (sdk, request) in of_either(request), changes in changes(),
        unrelated in prop::option::of(prop::collection::vec(message(), 0..6)),
    ) {
        let changed = || changed(&messages_of(sdk, &request), &changes);
        let messages = unrelated.unwrap_or_else(changed);
        let after = laid_messages(sdk, &request, &messages);
        let field = conversation(sdk);
        prop_assert_eq!(lasting(&request[field]), lasting(&after[field]));
        prop_assert_eq!(spans(&request[field]), spans(&after[field]));
        // What reasoning led to still follows it.
        let entries = items(&after[field]);
        let leads = |entry: &Value| entry["type"] == "reasoning";
        for at in entries.iter().enumerate().filter(|(_, entry)| leads(entry)).map(|(at, _)| at) {
            prop_assert_eq!(&entries[at + 1]["id"], &json!("msg"));
        }
    }

    #[test]
    fn a_response_says_what_a_hook_wrote(
        (sdk, response) in of_either(response), at: Index, texts in prop::collection::vec(text(), 0..4),
    ) {
        let mut given = shown_response(sdk, &response);
        let count = items(&given["candidates"]).len();
        let at = at.index(count);
        given["candidates"][at]["content"]["parts"] = json!(texts);
        let (after, _) = laid_response(sdk, &response, &given);
        let shown = shown_response(sdk, &after);
        for index in 0..count {
            let said = |response: &Value| {
                let parts = items(&response["candidates"][index]["content"]["parts"]);
                parts.iter().filter_map(Value::as_str).collect::<String>()
            };
            prop_assert_eq!(said(&shown), said(&given));
        }
        let lasting = |response: &Value| match sdk {
            Sdk::OpenAiChat => {
                let message = |choice: &Value| lasting(&json!([choice["message"]]));
                items(&response["choices"]).iter().map(message).collect::<Vec<_>>()
            }
            _ => vec![lasting(&response["output"])],
        };
        prop_assert_eq!(lasting(&response), lasting(&after));

        let (after, _) = laid_response(sdk, &response, &json!({ "text": texts.concat() }));
        let shown = shown_response(sdk, &after)["text"].clone();
        prop_assert_eq!(shown.as_str().unwrap_or_default(), texts.concat());
    }

    #[test]
    fn a_text_comes_through_a_stream_whole(texts in prop::collection::vec(text(), 0..6)) {
        let chat = |text: &String| {
            object(&json!({ "choices": [{ "index": 0, "delta": { "content": text } }] }))
        };
        let event = |text: &String| {
            object(&json!({ "type": "response.output_text.delta", "delta": text }))
        };
        let chunks = [
            (Sdk::OpenAiChat, texts.iter().map(chat).collect::<Vec<_>>()),
            (Sdk::OpenAiResponses, texts.iter().map(event).collect()),
        ];
        for (sdk, chunks) in chunks {
            let joined = join_chunks(sdk, &chunks).unwrap().value;
            let shown = value(&to_stable_response(sdk, &joined).unwrap().value);
            prop_assert_eq!(shown["text"].as_str().unwrap_or_default(), texts.concat());
            for (chunk, text) in chunks.iter().zip(&texts) {
                let shown = to_stable_chunk(sdk, chunk).unwrap();
                prop_assert_eq!(shown.is_some(), !text.is_empty());
                let Some(shown) = shown else { continue };
                prop_assert_eq!(&value(&shown.value)["text"], &json!(text));
                let same = from_stable_chunk(sdk, &shown.value, chunk).unwrap();
                prop_assert_eq!(&same.value, chunk);
            }
        }
    }
}

/// The fields that the translators know, and words that are values of some.
const NAMES: [&str; 52] = [
    "model",
    "messages",
    "input",
    "role",
    "content",
    "type",
    "text",
    "tool_calls",
    "tool_call_id",
    "id",
    "call_id",
    "tool_choice",
    "allowed_tools",
    "tools",
    "function",
    "custom",
    "name",
    "mode",
    "temperature",
    "top_k",
    "choices",
    "message",
    "delta",
    "finish_reason",
    "index",
    "usage",
    "total_tokens",
    "output",
    "output_text",
    "status",
    "incomplete_details",
    "reason",
    "response",
    "item",
    "part",
    "output_index",
    "content_index",
    "arguments",
    "candidates",
    "parts",
    "finishReason",
    "config",
    "toolConfig",
    "allowedFunctionNames",
    "assistant",
    "user",
    "ANY",
    "reasoning",
    "function_call",
    "function_call_output",
    "item_reference",
    "error",
];

const EVENTS: [&str; 9] = [
    "response.created",
    "response.completed",
    "response.output_item.added",
    "response.output_item.done",
    "response.content_part.added",
    "response.output_text.delta",
    "response.output_text.done",
    "response.function_call_arguments.delta",
    "error",
];

proptest! {
    #![proptest_config(cases(500))]

    #[test]
    fn nothing_panics(
        conversation in anything(&NAMES), choice in anything(&NAMES), list in anything(&NAMES),
        given in anything(&NAMES), rest in anything(&NAMES), event in select(&EVENTS),
    ) {
        let base = object(&json!({
            "messages": conversation, "input": conversation, "tool_choice": choice, "tools": list,
            "choices": list, "output": list, "usage": rest, "status": "incomplete",
            "incomplete_details": rest,
        }));
        let deeper = object(&json!({
            "messages": [conversation], "input": [conversation], "choices": [{ "message": list, "delta": list }],
            "output": [list], "tool_choice": { "type": "allowed_tools", "allowed_tools": choice },
        }));
        let chunk = object(&json!({
            "choices": [{ "index": 0, "delta": conversation, "logprobs": rest }],
            "type": event, "response": choice, "item": list, "part": list, "delta": "a", "text": "b",
        }));
        let given = RawObject::try_from(RawJson::parse(given.to_string()).unwrap())
            .unwrap_or_else(|_| RawObject::empty());
        for sdk in APIS {
            for value in [&base, &deeper, &chunk, &given] {
                let _ = to_stable_request(sdk, value);
                let _ = to_stable_response(sdk, value);
                let _ = to_stable_tool_config(sdk, value);
                let _ = to_stable_chunk(sdk, value);
                let _ = join_chunks(sdk, &[value.clone(), chunk.clone(), value.clone()]);
                for base in [&base, &deeper, &chunk] {
                    let _ = from_stable_chunk(sdk, value, base);
                    for base in [None, Some(base)] {
                        let _ = from_stable_request(sdk, value, base);
                        let _ = from_stable_response(sdk, value, base);
                        let _ = from_stable_tool_config(sdk, value, base);
                    }
                }
            }
        }
    }
}

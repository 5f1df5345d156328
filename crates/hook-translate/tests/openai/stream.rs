//! Responses that come in chunks.

use hook_json::RawObject;
use hook_translate::{Sdk, from_stable_chunk, join_chunks, to_stable_chunk};
use serde_json::{Value, json};

use crate::common::json::{object, value};
use crate::warnings;

const CHAT: Sdk = Sdk::OpenAiChat;
const RESPONSES: Sdk = Sdk::OpenAiResponses;

fn joined(sdk: Sdk, chunks: &[Value]) -> (Value, Vec<String>) {
    let chunks: Vec<RawObject> = chunks.iter().map(object).collect();
    let joined = join_chunks(sdk, &chunks).unwrap();
    (value(&joined.value), warnings(&joined))
}

fn chunk(choices: Value, usage: Value) -> Value {
    json!({
        "id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 1741569952,
        "model": "gpt-4.1", "system_fingerprint": "fp_1", "choices": choices, "usage": usage,
        "obfuscation": "xxxx",
    })
}

fn delta(index: u64, delta: Value, reason: Value) -> Value {
    json!([{ "index": index, "delta": delta, "logprobs": null, "finish_reason": reason }])
}

/// The stream of a response with two choices, of which the second calls tools.
fn chunks() -> Vec<Value> {
    let call = |index: u64, call: Value| {
        let mut call = call;
        call["index"] = json!(index);
        json!({ "tool_calls": [call] })
    };
    let choices = [
        delta(1, json!({ "role": "assistant", "content": null, "refusal": null }), json!(null)),
        delta(0, json!({ "role": "assistant", "content": "", "refusal": null }), json!(null)),
        delta(0, json!({ "content": "Hel" }), json!(null)),
        delta(
            1,
            call(
                0,
                json!({ "id": "call_1", "type": "function", "function": { "name": "f", "arguments": "" } }),
            ),
            json!(null),
        ),
        delta(0, json!({ "content": "lo" }), json!(null)),
        delta(1, call(0, json!({ "function": { "arguments": "{\"a\"" } })), json!(null)),
        delta(
            1,
            call(
                1,
                json!({ "id": "call_2", "type": "function", "function": { "name": "g", "arguments": "{}" } }),
            ),
            json!(null),
        ),
        delta(1, call(0, json!({ "function": { "arguments": ":1}" } })), json!(null)),
        delta(0, json!({ "content": "" }), json!("stop")),
        delta(1, json!({}), json!("tool_calls")),
    ];
    let mut chunks: Vec<Value> =
        choices.into_iter().map(|choices| chunk(choices, json!(null))).collect();
    let usage = json!({ "prompt_tokens": 1, "completion_tokens": 2, "total_tokens": 3, "completion_tokens_details": { "reasoning_tokens": 0 } });
    chunks.push(chunk(json!([]), usage));
    chunks
}

#[test]
fn chunks_of_a_chat_join_to_the_complete_response() {
    assert_eq!(
        joined(CHAT, &chunks()),
        (
            json!({
                "id": "chatcmpl-1", "object": "chat.completion", "created": 1741569952,
                "model": "gpt-4.1", "system_fingerprint": "fp_1",
                "choices": [
                    {
                        "index": 0, "logprobs": null, "finish_reason": "stop",
                        "message": { "role": "assistant", "content": "Hello", "refusal": null },
                    },
                    {
                        "index": 1, "logprobs": null, "finish_reason": "tool_calls",
                        "message": {
                            "role": "assistant", "content": null, "refusal": null,
                            "tool_calls": [
                                { "id": "call_1", "type": "function", "function": { "name": "f", "arguments": "{\"a\":1}" } },
                                { "id": "call_2", "type": "function", "function": { "name": "g", "arguments": "{}" } },
                            ],
                        },
                    },
                ],
                "usage": { "prompt_tokens": 1, "completion_tokens": 2, "total_tokens": 3, "completion_tokens_details": { "reasoning_tokens": 0 } },
            }),
            vec![],
        ),
    );
}

#[test]
fn refusals_audio_log_probabilities_and_unknown_deltas_join_too() {
    let token =
        |token: &str| json!({ "content": [{ "token": token, "logprob": -0.5 }], "refusal": null });
    let piece = |delta: Value, logprobs: Value| {
        chunk(
            json!([{ "index": 0, "delta": delta, "logprobs": logprobs, "finish_reason": null }]),
            json!(null),
        )
    };
    let (joined, warnings) = joined(
        CHAT,
        &[
            piece(json!({ "refusal": "I ", "reasoning_content": "hm" }), token("I")),
            piece(
                json!({ "refusal": "can't.", "reasoning_content": "m", "audio": { "id": "a", "data": "AA", "transcript": "x" } }),
                token(" can't"),
            ),
            piece(
                json!({ "audio": { "data": "BB", "transcript": "y", "expires_at": 1 }, "annotations": [{ "n": 1 }] }),
                json!(null),
            ),
            piece(json!({ "annotations": [{ "n": 2 }] }), json!(null)),
        ],
    );
    assert_eq!(
        joined["choices"][0],
        json!({
            "index": 0, "finish_reason": null,
            "message": {
                "role": "assistant", "content": null, "refusal": "I can't.", "reasoning_content": "hmm",
                "audio": { "id": "a", "data": "AABB", "transcript": "xy", "expires_at": 1 },
                "annotations": [{ "n": 1 }, { "n": 2 }],
            },
            "logprobs": { "content": [{ "token": "I", "logprob": -0.5 }, { "token": " can't", "logprob": -0.5 }], "refusal": null },
        }),
    );
    assert_eq!(
        warnings,
        ["field `choices[0].finish_reason`: the stream ended before this choice did"],
    );
}

#[test]
fn a_chunk_of_a_chat_shows_its_text() {
    let shown: Vec<Option<Value>> = chunks()
        .iter()
        .map(|chunk| {
            to_stable_chunk(CHAT, &object(chunk)).unwrap().map(|shown| value(&shown.value))
        })
        .collect();
    let text = |text: &str| {
        Some(json!({
            "text": text,
            "candidates": [{ "content": { "role": "model", "parts": [text] }, "index": 0 }],
        }))
    };
    let (none, hel, lo) = (None, text("Hel"), text("lo"));
    assert_eq!(shown[1..5], [none.clone(), hel, none.clone(), lo]);
    assert!(shown[5..].iter().all(Option::is_none));
}

#[test]
fn a_chunk_of_a_chat_changes_in_its_text() {
    let base = chunks()[2].clone();
    let mut expected = base.clone();
    for (text, expected_text) in [("****", "****"), ("", ""), ("Hel", "Hel")] {
        expected["choices"][0]["delta"]["content"] = json!(expected_text);
        let parts = json!({ "candidates": [{ "content": { "parts": [text] }, "index": 0 }] });
        for answer in [json!({ "text": text }), parts] {
            let changed = from_stable_chunk(CHAT, &object(&answer), &object(&base)).unwrap();
            assert_eq!(value(&changed.value), expected, "{answer}");
            assert_eq!(changed.warnings, []);
        }
    }
    let same = from_stable_chunk(CHAT, &object(&json!({})), &object(&base)).unwrap();
    assert_eq!(same.value, object(&base));
    let silent = object(&chunks()[3]);
    let same = from_stable_chunk(CHAT, &object(&json!({ "text": "x" })), &silent).unwrap();
    assert_eq!(same.value, silent);
    assert_eq!(
        warnings(&same),
        ["field `text`: the chunk shows no text that could be changed; it is ignored"],
    );
}

/// The events of a response, without its last.
fn events() -> Vec<Value> {
    let about = |kind: &str, rest: Value| {
        let mut event = json!({ "type": format!("response.{kind}"), "sequence_number": 1 });
        event.as_object_mut().unwrap().extend(rest.as_object().unwrap().clone());
        event
    };
    let start = json!({ "id": "resp_1", "object": "response", "status": "in_progress", "output": [], "model": "gpt-5" });
    let delta = |kind: &str, item: u64, field: &str, at: u64, text: &str| {
        about(kind, json!({ "item_id": "x", "output_index": item, field: at, "delta": text }))
    };
    vec![
        about("created", json!({ "response": start })),
        about("in_progress", json!({ "response": start })),
        about(
            "output_item.added",
            json!({ "output_index": 0, "item": { "type": "reasoning", "id": "rs_1", "summary": [] } }),
        ),
        about(
            "reasoning_summary_part.added",
            json!({ "output_index": 0, "summary_index": 0, "part": { "type": "summary_text", "text": "" } }),
        ),
        delta("reasoning_summary_text.delta", 0, "summary_index", 0, "Th"),
        delta("reasoning_summary_text.delta", 0, "summary_index", 0, "ink"),
        about(
            "output_item.added",
            json!({ "output_index": 1, "item": { "type": "message", "id": "msg_1", "role": "assistant", "status": "in_progress", "content": [] } }),
        ),
        about(
            "content_part.added",
            json!({ "output_index": 1, "content_index": 0, "part": { "type": "output_text", "text": "", "annotations": [] } }),
        ),
        delta("output_text.delta", 1, "content_index", 0, "Hel"),
        delta("output_text.delta", 1, "content_index", 0, "lo"),
        about(
            "output_text.done",
            json!({ "output_index": 1, "content_index": 0, "text": "Hello" }),
        ),
        about(
            "content_part.added",
            json!({ "output_index": 1, "content_index": 1, "part": { "type": "refusal", "refusal": "" } }),
        ),
        delta("refusal.delta", 1, "content_index", 1, "No."),
        about(
            "output_item.added",
            json!({ "output_index": 2, "item": { "type": "function_call", "id": "fc_1", "call_id": "call_1", "name": "f", "arguments": "" } }),
        ),
        delta("function_call_arguments.delta", 2, "later", 0, "{\"a\""),
        delta("function_call_arguments.delta", 2, "later", 0, ":1}"),
        about(
            "output_item.added",
            json!({ "output_index": 3, "item": { "type": "custom_tool_call", "id": "ctc_1", "input": "" } }),
        ),
        delta("custom_tool_call_input.delta", 3, "later", 0, "ab"),
        about(
            "output_item.done",
            json!({ "output_index": 3, "item": { "type": "custom_tool_call", "id": "ctc_1", "input": "abc" } }),
        ),
    ]
}

fn output() -> Value {
    json!([
        { "type": "reasoning", "id": "rs_1", "summary": [{ "type": "summary_text", "text": "Think" }] },
        { "type": "message", "id": "msg_1", "role": "assistant", "status": "in_progress", "content": [
            { "type": "output_text", "text": "Hello", "annotations": [] },
            { "type": "refusal", "refusal": "No." },
        ] },
        { "type": "function_call", "id": "fc_1", "call_id": "call_1", "name": "f", "arguments": "{\"a\":1}" },
        { "type": "custom_tool_call", "id": "ctc_1", "input": "abc" },
    ])
}

#[test]
fn the_last_event_carries_the_complete_response() {
    for last in ["completed", "incomplete", "failed"] {
        let response = json!({ "id": "resp_1", "status": last, "output": [{ "type": "later" }] });
        let mut events = events();
        events.push(json!({ "type": format!("response.{last}"), "response": response }));
        assert_eq!(joined(RESPONSES, &events), (response, vec![]));
    }
}

#[test]
fn a_stream_that_ended_early_is_joined_from_its_events() {
    let (response, warnings) = joined(RESPONSES, &events());
    assert_eq!(
        response,
        json!({ "id": "resp_1", "object": "response", "status": "in_progress", "output": output(), "model": "gpt-5" }),
    );
    assert_eq!(
        warnings,
        ["field `response`: the stream ended before the response did; this is what came of it"],
    );
    let mut events = events();
    events.push(json!({ "type": "error", "code": "server_error", "message": "sorry", "param": null, "sequence_number": 9 }));
    let (response, _) = joined(RESPONSES, &events);
    assert_eq!(response["status"], "failed");
    assert_eq!(response["error"]["message"], "sorry");
}

#[test]
fn an_event_shows_and_changes_new_text_only() {
    let shown = |event: &Value| {
        let shown = to_stable_chunk(RESPONSES, &object(event)).unwrap();
        shown.map(|shown| value(&shown.value))
    };
    let events = events();
    for (index, event) in events.iter().enumerate() {
        assert_eq!(shown(event).is_some(), [8, 9].contains(&index), "{event}");
    }
    assert_eq!(
        shown(&events[8]),
        Some(
            json!({ "text": "Hel", "candidates": [{ "content": { "role": "model", "parts": ["Hel"] } }] })
        ),
    );
    let mut expected = events[8].clone();
    expected["delta"] = json!("****");
    for answer in [
        json!({ "text": "****" }),
        json!({ "text": "****", "candidates": [{ "content": { "parts": ["Hel"] } }] }),
        json!({ "text": "Hel", "candidates": [{ "content": { "parts": ["**", "**"] } }] }),
    ] {
        let changed = from_stable_chunk(RESPONSES, &object(&answer), &object(&events[8])).unwrap();
        assert_eq!((value(&changed.value), changed.warnings), (expected.clone(), vec![]));
    }
    let silent = object(&events[10]);
    let same = from_stable_chunk(RESPONSES, &object(&json!({ "text": "x" })), &silent).unwrap();
    assert_eq!((&same.value, same.warnings.len()), (&silent, 1));
}

#[test]
fn errors_name_the_chunk() {
    let error = |sdk: Sdk, chunks: &[Value]| {
        let chunks: Vec<RawObject> = chunks.iter().map(object).collect();
        join_chunks(sdk, &chunks).unwrap_err().to_string()
    };
    for (sdk, chunk, expected) in [
        (
            CHAT,
            json!({ "choices": [{ "index": 0, "delta": [] }] }),
            "field `chunks[1].choices[0].delta`: expected an object, found an array",
        ),
        (
            CHAT,
            json!({ "choices": [{ "delta": {} }] }),
            "field `chunks[1].choices[0].index`: expected a number, found nothing",
        ),
        (
            RESPONSES,
            json!({ "type": 1 }),
            "field `chunks[1].type`: expected a string, found a number",
        ),
        (
            RESPONSES,
            json!({ "type": "response.output_text.delta", "delta": "a", "output_index": -1 }),
            "field `chunks[1].output_index`: expected a whole number, found -1",
        ),
    ] {
        assert_eq!(error(sdk, &[json!({}), chunk]), expected);
    }
    assert!(to_stable_chunk(CHAT, &object(&json!({ "choices": 1 }))).is_err());
}

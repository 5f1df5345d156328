//! Responses that come in chunks.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

#[path = "common/json.rs"]
mod json;

use hook_json::RawObject;
use hook_translate::{
    Sdk, Translated, from_stable_chunk, join_chunks, to_stable_chunk, to_stable_response,
};
use json::{object, raw, value};
use serde_json::{Value, json};

fn joined(sdk: Sdk, chunks: &[Value]) -> (Value, Vec<String>) {
    let chunks: Vec<RawObject> = chunks.iter().map(object).collect();
    let joined = join_chunks(sdk, &chunks).unwrap();
    (value(&joined.value), warnings(&joined))
}

fn warnings(translated: &Translated) -> Vec<String> {
    translated.warnings.iter().map(ToString::to_string).collect()
}

/// What a chunk shows, and what comes of answering it with a text.
fn answered(sdk: Sdk, chunk: &Value, answer: &Value) -> (Option<String>, Value, Vec<String>) {
    let chunk = object(chunk);
    let shown = to_stable_chunk(sdk, &chunk).unwrap();
    if let Some(shown) = &shown {
        // An unchanged answer keeps the bytes.
        let same = from_stable_chunk(sdk, &shown.value, &chunk).unwrap();
        assert_eq!((same.value, same.warnings), (chunk.clone(), vec![]));
    }
    let text = shown.map(|shown| value(&shown.value)["text"].as_str().unwrap().to_owned());
    let changed = from_stable_chunk(sdk, &object(answer), &chunk).unwrap();
    (text, value(&changed.value), warnings(&changed))
}

/// The complete response, and the events that it comes in.
fn anthropic() -> (Value, Vec<Value>) {
    let citation = |number: u32| json!({ "type": "page_location", "cited_text": "one", "start_page_number": number });
    let whole = json!({
        "id": "msg_1", "type": "message", "role": "assistant", "model": "claude-sonnet-4-5",
        "content": [
            { "type": "thinking", "thinking": "they want\nthe time", "signature": "c2ln" },
            { "type": "redacted_thinking", "data": "ZGF0YQ==" },
            { "type": "text", "text": "it is \"one\" 😀" },
            { "citations": [citation(1), citation(2)], "type": "text", "text": "one" },
            { "type": "tool_use", "id": "toolu_1", "name": "time", "input": { "zone": ["a", 1.50] } },
            { "type": "tool_use", "id": "toolu_2", "name": "now", "input": {} },
        ],
        "stop_reason": "tool_use", "stop_sequence": null,
        "usage": { "input_tokens": 25, "cache_read_input_tokens": 7, "output_tokens": 89 },
    });
    let start = |index: u32, block: Value| json!({ "type": "content_block_start", "index": index, "content_block": block });
    let delta = |index: u32, delta: Value| json!({ "type": "content_block_delta", "index": index, "delta": delta });
    let text = |index: u32, text: &str| delta(index, json!({ "type": "text_delta", "text": text }));
    let input = |index: u32, text: &str| {
        delta(index, json!({ "type": "input_json_delta", "partial_json": text }))
    };
    let stop = |index: u32| json!({ "type": "content_block_stop", "index": index });
    let mut message = whole.clone();
    message["content"] = json!([]);
    message["stop_reason"] = json!(null);
    message["usage"]["output_tokens"] = json!(1);
    let events = vec![
        json!({ "type": "message_start", "message": message }),
        start(0, json!({ "type": "thinking", "thinking": "", "signature": "" })),
        json!({ "type": "ping" }),
        delta(0, json!({ "type": "thinking_delta", "thinking": "they want\n" })),
        delta(0, json!({ "type": "thinking_delta", "thinking": "the time" })),
        delta(0, json!({ "type": "signature_delta", "signature": "c2ln" })),
        stop(0),
        start(1, whole["content"][1].clone()),
        stop(1),
        start(2, json!({ "type": "text", "text": "" })),
        text(2, "it is \"on"),
        text(2, "e\" 😀"),
        stop(2),
        start(3, json!({ "citations": [], "type": "text", "text": "" })),
        delta(3, json!({ "type": "citations_delta", "citation": citation(1) })),
        text(3, "one"),
        delta(3, json!({ "type": "citations_delta", "citation": citation(2) })),
        stop(3),
        start(4, json!({ "type": "tool_use", "id": "toolu_1", "name": "time", "input": {} })),
        input(4, ""),
        input(4, "{\"zone\": [\"a"),
        input(4, "\", 1.50]}"),
        stop(4),
        start(5, json!({ "type": "tool_use", "id": "toolu_2", "name": "now", "input": {} })),
        input(5, ""),
        stop(5),
        json!({
            "type": "message_delta", "delta": { "stop_reason": "tool_use", "stop_sequence": null },
            "usage": { "input_tokens": null, "output_tokens": 89 },
        }),
        json!({ "type": "message_stop" }),
    ];
    (whole, events)
}

#[test]
fn events_of_anthropic_make_the_complete_response() {
    let (whole, events) = anthropic();
    assert_eq!(joined(Sdk::Anthropic, &events), (whole, vec![]));
}

#[test]
fn a_character_cut_in_two_is_whole_again() {
    let events = [
        r#"{"type":"message_start","message":{"content":[]}}"#,
        r#"{"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}"#,
        r#"{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"a\ud83d"}}"#,
        r#"{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"\ude00b"}}"#,
        r#"{"type":"message_stop"}"#,
    ];
    let whole = join_chunks(Sdk::Anthropic, &events.map(raw)).unwrap().value;
    let shown = to_stable_response(Sdk::Anthropic, &whole).unwrap().value;
    assert_eq!(value(&shown)["text"], "a😀b");
}

#[test]
fn a_stream_that_broke_off_is_what_came() {
    let (mut whole, events) = anthropic();
    let error = json!({ "type": "error", "error": { "type": "overloaded_error", "message": "m" } });
    let mut broken = events[..21].to_vec();
    broken.push(json!({ "type": "later" }));
    let (response, said) = joined(Sdk::Anthropic, &broken);
    whole["content"].as_array_mut().unwrap().truncate(5);
    whole["content"][4]["input"] = json!({});
    whole["stop_reason"] = json!(null);
    whole["usage"]["output_tokens"] = json!(1);
    assert_eq!(response, whole);
    assert_eq!(
        said,
        [
            "field `chunks[21].type`: not a kind of event of this sdk; it is left out",
            "field `chunks`: the stream ends before its message does; the response is what came until then",
            "field `content[4].input`: the stream gave no complete JSON for it; it is left as it began",
        ],
    );
    let (_, said) = joined(Sdk::Anthropic, &[events[0].clone(), error.clone()]);
    assert_eq!(
        said,
        [
            "field `chunks[1].error`: the stream broke off with this error; the response is what came before it"
        ],
    );
    assert_eq!(joined(Sdk::Anthropic, std::slice::from_ref(&error)), (error, vec![]));
}

#[test]
fn an_event_of_anthropic_is_changed_in_its_text() {
    let (_, events) = anthropic();
    let answer = json!({ "candidates": [{ "content": { "parts": ["****"] } }] });
    for (at, shown) in [(10, "it is \"on"), (15, "one")] {
        let mut expected = events[at].clone();
        expected["delta"]["text"] = json!("****");
        for answer in [&answer, &json!({ "text": "****" })] {
            let changed = answered(Sdk::Anthropic, &events[at], answer);
            assert_eq!(changed, (Some(shown.to_owned()), expected.clone(), vec![]));
        }
    }
    let block = json!({ "type": "content_block_start", "index": 0, "content_block": { "type": "text", "text": "a" } });
    let (shown, changed, _) = answered(Sdk::Anthropic, &block, &json!({ "text": "" }));
    assert_eq!((shown.as_deref(), &changed["content_block"]["text"]), (Some("a"), &json!("")));
    for at in [0, 1, 2, 3, 5, 6, 14, 20, 26, 27] {
        let (shown, changed, said) = answered(Sdk::Anthropic, &events[at], &answer);
        assert_eq!((shown, changed), (None, events[at].clone()));
        assert_eq!(
            said,
            ["field `text`: the chunk shows no text that could be changed; it is ignored"],
        );
    }
}

#[test]
fn a_chunk_can_change_in_its_text_only() {
    let answer = json!({
        "candidates": [{ "content": { "parts": ["b"] }, "finishReason": "SAFETY" }, {}],
        "usageMetadata": { "totalTokenCount": 1 },
    });
    for (sdk, chunk, changed) in [
        (
            Sdk::Anthropic,
            json!({ "type": "content_block_delta", "index": 0, "delta": { "type": "text_delta", "text": "a" } }),
            json!({ "type": "content_block_delta", "index": 0, "delta": { "type": "text_delta", "text": "b" } }),
        ),
        (
            Sdk::GenAi,
            json!({ "candidates": [{ "content": { "role": "model", "parts": [{ "text": "a" }] } }] }),
            json!({ "candidates": [{ "content": { "role": "model", "parts": [{ "text": "b" }] } }] }),
        ),
        (
            Sdk::Stable,
            json!({ "text": "a", "candidates": [{ "x": 1, "content": { "parts": ["a"] } }] }),
            json!({ "text": "b", "candidates": [{ "x": 1, "content": { "parts": ["b"] } }] }),
        ),
    ] {
        let found = from_stable_chunk(sdk, &object(&answer), &object(&chunk)).unwrap();
        assert_eq!(value(&found.value), changed);
        let said = warnings(&found);
        let places: Vec<&str> = said.iter().map(|said| said.split('`').nth(1).unwrap()).collect();
        assert_eq!(places, ["candidates[0].finishReason", "candidates[1]", "usageMetadata"]);
    }
}

fn genai_chunk(parts: Value, rest: Value) -> Value {
    let mut candidate = json!({ "content": { "role": "model", "parts": parts }, "index": 0 });
    candidate.as_object_mut().unwrap().extend(rest.as_object().unwrap().clone());
    json!({ "candidates": [candidate], "modelVersion": "m", "responseId": "r" })
}

#[test]
fn chunks_of_genai_make_the_complete_response() {
    let thought = |text: &str| json!({ "text": text, "thought": true });
    let text = |text: &str| json!({ "text": text });
    let call = json!({ "functionCall": { "name": "f", "args": { "a": 1.50 } } });
    let signed = json!({ "text": "", "thoughtSignature": "c2ln" });
    let mut chunks = vec![
        genai_chunk(json!([thought("h")]), json!({})),
        genai_chunk(json!([thought("m"), text("it ")]), json!({ "finishReason": null })),
        genai_chunk(json!(text("is ")), json!({ "safetyRatings": [{ "category": "c" }] })),
        genai_chunk(json!([call, text("one")]), json!({ "finishReason": "STOP" })),
        genai_chunk(json!([signed]), json!({})),
    ];
    chunks[1]["usageMetadata"] = json!({ "totalTokenCount": 1 });
    chunks[4]["usageMetadata"] = json!({ "totalTokenCount": 9, "thoughtsTokenCount": 2 });
    // Another candidate, by its index.
    let other = |text: &str| json!({ "content": { "parts": [{ "text": text }] }, "index": 1 });
    chunks[0]["candidates"].as_array_mut().unwrap().insert(0, other("x"));
    chunks[2]["candidates"].as_array_mut().unwrap().push(other("y"));
    let mut whole = genai_chunk(
        json!([thought("hm"), text("it is "), call, text("one"), signed]),
        json!({ "safetyRatings": [{ "category": "c" }], "finishReason": "STOP" }),
    );
    whole["candidates"].as_array_mut().unwrap().insert(0, other("xy"));
    whole["usageMetadata"] = json!({ "totalTokenCount": 9, "thoughtsTokenCount": 2 });
    assert_eq!(joined(Sdk::GenAi, &chunks), (whole, vec![]));
    assert_eq!(joined(Sdk::GenAi, &chunks[..1]), (chunks[0].clone(), vec![]));
    assert_eq!(joined(Sdk::GenAi, &[]), (json!({}), vec![]));
}

#[test]
fn a_chunk_of_genai_is_changed_in_its_text() {
    let call = json!({ "functionCall": { "name": "f" } });
    let chunk = genai_chunk(
        json!([{ "text": "my " }, call, { "text": "key" }]),
        json!({ "finishReason": "STOP" }),
    );
    let mut expected = chunk.clone();
    expected["candidates"][0]["content"]["parts"][2]["text"] = json!("****");
    for answer in [
        json!({ "text": "my ****" }),
        json!({ "candidates": [{ "content": { "parts": ["my ", "****"] }, "index": 0 }] }),
        json!({ "candidates": [{ "content": { "parts": ["my ", "****"] } }] }),
    ] {
        let changed = answered(Sdk::GenAi, &chunk, &answer);
        assert_eq!(changed, (Some("my key".to_owned()), expected.clone(), vec![]));
    }
    // A candidate that the answer leaves out loses its text, and no more.
    let (_, changed, _) = answered(Sdk::GenAi, &chunk, &json!({ "candidates": [] }));
    let mut expected = chunk.clone();
    expected["candidates"][0]["content"]["parts"] = json!([call]);
    assert_eq!(changed, expected);
    let without = genai_chunk(json!([call]), json!({}));
    let (shown, changed, _) = answered(Sdk::GenAi, &without, &json!({ "text": "a" }));
    assert_eq!((shown, changed), (None, without));
}

#[test]
fn chunks_of_the_stable_form_are_joined_and_changed_too() {
    let chunk = |text: &str| json!({ "text": text, "candidates": [{ "content": { "role": "model", "parts": [text] } }] });
    let mut last = chunk("b");
    last["candidates"][0]["finishReason"] = json!("STOP");
    last["usageMetadata"] = json!({ "totalTokenCount": 2 });
    let mut whole = last.clone();
    whole["text"] = json!("ab");
    whole["candidates"][0]["content"]["parts"] = json!(["ab"]);
    assert_eq!(joined(Sdk::Stable, &[chunk("a"), last.clone()]), (whole, vec![]));
    assert_eq!(joined(Sdk::Stable, &[]), (json!({ "candidates": [] }), vec![]));

    let changed = |text: &str| {
        let mut changed = last.clone();
        changed["text"] = json!(text);
        changed["candidates"][0]["content"]["parts"] = json!([text]);
        changed
    };
    for answer in
        [json!({ "text": "c" }), json!({ "candidates": [{ "content": { "parts": ["c"] } }] })]
    {
        let found = answered(Sdk::Stable, &last, &answer);
        assert_eq!(found, (Some("b".to_owned()), changed("c"), vec![]));
    }
    let text = json!({ "text": "a" });
    let found = answered(Sdk::Stable, &text, &json!({ "text": "c" }));
    assert_eq!(found, (Some("a".to_owned()), json!({ "text": "c" }), vec![]));
}

#[test]
fn errors_name_the_path() {
    let start = r#"{"type":"message_start","message":{}}"#;
    for (sdk, chunks, expected) in [
        (Sdk::Anthropic, vec![], "field `chunks`: expected a message_start event, found none"),
        (Sdk::Anthropic, vec!["{}"], "field `chunks[0].type`: expected a string, found nothing"),
        (
            Sdk::Anthropic,
            vec![start, r#"{"type":"content_block_delta","index":3,"delta":{}}"#],
            "field `chunks[1].index`: expected the index of a block that has started, found 3",
        ),
        (
            Sdk::Anthropic,
            vec![
                r#"{"type":"content_block_start","index":0,"content_block":{}}"#,
                r#"{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":1}}"#,
            ],
            "field `chunks[1].delta.text`: expected a string, found a number",
        ),
        (
            Sdk::GenAi,
            vec!["{}", r#"{"candidates":[{"content":{"parts":[{},1]}}]}"#],
            "field `chunks[1].candidates[0].content.parts[1]`: expected an object, found a number",
        ),
        (
            Sdk::GenAi,
            vec!["{}", r#"{"candidates":[{"content":{"parts":[{"text":1}]}}]}"#],
            "field `chunks[1].candidates[0].content.parts[0].text`: expected a string, found a number",
        ),
        (
            Sdk::Stable,
            vec![r#"{"candidates":[{"content":{"parts":[1]}}]}"#],
            "field `chunks[0].candidates[0].content.parts[0]`: expected a string, found a number",
        ),
    ] {
        let chunks: Vec<RawObject> = chunks.into_iter().map(raw).collect();
        assert_eq!(join_chunks(sdk, &chunks).unwrap_err().to_string(), expected);
    }
}

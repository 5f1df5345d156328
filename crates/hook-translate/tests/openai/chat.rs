//! Chat completions, case by case.

use hook_translate::{Sdk, from_stable_response, to_stable_request, to_stable_response};
use serde_json::{Value, json};

use crate::common::json::{object, raw, value};
use crate::{
    Sample, assert_keeps_response, error, laid, laid_response, messages, shown, shown_response,
};

const CHAT: Sdk = Sdk::OpenAiChat;

/// A request of an agent that has used two tools at once.
fn request() -> Value {
    json!({
        "model": "gpt-4.1", "temperature": 0.20, "max_completion_tokens": 1024, "stream": false,
        "messages": [
            { "role": "developer", "content": "You are a helpful assistant." },
            { "role": "user", "name": "ann", "content": [
                { "type": "text", "text": "What is on this picture, and what is the weather in Rome?" },
                { "type": "image_url", "image_url": { "url": "data:image/png;base64,AAAA", "detail": "high" } },
                { "type": "input_audio", "input_audio": { "data": "UklGRg==", "format": "wav" } },
                { "type": "file", "file": { "file_id": "file-1" } },
            ] },
            { "role": "assistant", "content": "Let me look.", "refusal": null, "annotations": [], "tool_calls": [
                { "id": "call_1", "type": "function", "function": { "name": "weather", "arguments": "{\"city\": \"Rome\"}" } },
                { "id": "call_2", "type": "custom", "custom": { "name": "look", "input": "picture" } },
            ] },
            { "role": "tool", "tool_call_id": "call_1", "content": "{\"sky\":\"clear\"}" },
            { "role": "tool", "tool_call_id": "call_2", "content": [{ "type": "text", "text": "a cat" }] },
            { "role": "assistant", "content": [
                { "type": "text", "text": "A cat. " },
                { "type": "text", "text": "The sky is clear." },
            ], "audio": { "id": "audio_1" } },
            { "role": "assistant", "content": [{ "type": "refusal", "refusal": "I can't say more." }] },
            { "role": "user", "content": "Thanks." },
        ],
        "tools": [
            { "type": "function", "function": { "name": "weather", "parameters": {} } },
            { "type": "custom", "custom": { "name": "look" } },
        ],
        "tool_choice": "auto",
    })
}

const SAMPLE: Sample = Sample {
    sdk: CHAT,
    request,
    conversation: "messages",
    shown: [
        "system: You are a helpful assistant.",
        "user: What is on this picture, and what is the weather in Rome?",
        "model: Let me look.",
        "model: A cat. The sky is clear.",
        "user: Thanks.",
    ],
};

#[test]
fn hooks_see_what_is_said() {
    let mut expected = messages(&SAMPLE.shown);
    expected["model"] = json!("gpt-4.1");
    expected["config"] = json!({ "temperature": 0.2, "maxOutputTokens": 1024 });
    expected["toolConfig"] = json!({ "mode": "AUTO" });
    assert_eq!(shown(CHAT, &request()), expected);
}

#[test]
fn a_hook_that_changes_nothing_gives_back_the_bytes() {
    SAMPLE.assert_keeps_bytes(&[
        "{ \"messages\" : [ ] , \"temperature\":1.0e0 }",
        "{}",
        "{\"messages\":[null,{\"role\":\"user\",\"content\":\"\\ud800\"}]}",
        "{\"messages\":null,\"tool_choice\":null,\"model\":null}",
    ]);
}

#[test]
fn an_edited_message_changes_its_text_and_nothing_else() {
    SAMPLE.assert_edits([
        (0, "system: Be brief.", "/messages/0/content", "Be brief."),
        (1, "user: What is ****?", "/messages/1/content/0/text", "What is ****?"),
        (2, "model: Wait.", "/messages/2/content", "Wait."),
        (3, "model: A cat. The sky is ****.", "/messages/5/content/1/text", "The sky is ****."),
    ]);
}

#[test]
fn a_removed_message_loses_its_text() {
    let mut expected = request();
    let entries = expected["messages"].as_array_mut().unwrap();
    entries[5]["content"] = json!(null);
    entries[2]["content"] = json!(null);
    entries[1]["content"].as_array_mut().unwrap().remove(0);
    entries.remove(7);
    entries.remove(0);
    assert_eq!(laid(CHAT, &request(), &messages(&[])), (expected, vec![]));
}

#[test]
fn a_new_message_does_not_part_a_call_from_its_results() {
    SAMPLE.assert_inserts(
        |role| json!({ "role": role, "content": "be brief" }),
        [(0, "system", 0), (2, "user", 2), (3, "user", 5), (4, "model", 7), (5, "user", 8)],
    );
}

#[test]
fn results_stay_behind_their_call_even_where_a_message_stands_between() {
    let base = json!({ "messages": [
        { "role": "assistant", "content": "see", "tool_calls": [{ "id": "a" }, { "id": "b" }] },
        { "role": "tool", "tool_call_id": "a", "content": "1" },
        { "role": "user", "content": "well?" },
        { "role": "tool", "tool_call_id": "b", "content": "2" },
        { "role": "user", "content": "so" },
    ] });
    let given = messages(&["model: see", "system: new", "user: well?", "user: so"]);
    let mut expected = base.clone();
    let new = json!({ "role": "system", "content": "new" });
    expected["messages"].as_array_mut().unwrap().insert(4, new);
    assert_eq!(laid(CHAT, &base, &given).0, expected);

    // What begins with results is the rest of a longer conversation.
    let base = json!({ "messages": [
        { "role": "function", "name": "f", "content": "1" }, { "role": "user", "content": "so" },
    ] });
    let laid = laid(CHAT, &base, &messages(&["system: new", "user: so"])).0;
    assert_eq!(laid["messages"][1]["content"], "new");
}

#[test]
fn single_fields_override_only_where_given() {
    let base = json!({
        "model": "m", "max_tokens": 10, "messages": [], "tools": [], "top_k": 3, "seed": 1,
    });
    let given = json!({
        "model": "n", "surprise": 1,
        "config": { "maxOutputTokens": 20, "topP": 0.5, "topK": 4, "temperature": null, "seed": 2 },
        "toolConfig": { "mode": "NONE" },
    });
    let (changed, warnings) = laid(CHAT, &base, &given);
    assert_eq!(
        changed,
        json!({
            "model": "n", "max_tokens": 20, "messages": [], "tools": [], "top_k": 4, "seed": 1,
            "top_p": 0.5, "tool_choice": "none",
        }),
    );
    assert_eq!(
        warnings,
        [
            "field `surprise`: not a field of a stable request; it is ignored",
            "field `config.seed`: not a setting that a hook can change in a request of this sdk; it is ignored",
        ],
    );
    let given = json!({ "config": { "maxOutputTokens": 20, "topK": 4 } });
    let (changed, warnings) = laid(CHAT, &json!({}), &given);
    assert_eq!(changed, json!({ "max_completion_tokens": 20 }));
    assert_eq!(warnings.len(), 1);
}

#[test]
fn without_a_base_a_request_is_built() {
    let mut given = messages(&["system: s", "user: u", "model: m"]);
    given["config"] = json!({ "temperature": 0 });
    given["toolConfig"] = json!({ "mode": "ANY", "allowedFunctionNames": ["f"] });
    let built = hook_translate::from_stable_request(CHAT, &object(&given), None).unwrap();
    assert_eq!(
        value(&built.value),
        json!({
            "messages": [
                { "role": "system", "content": "s" },
                { "role": "user", "content": "u" },
                { "role": "assistant", "content": "m" },
            ],
            "temperature": 0,
            "tool_choice": { "type": "function", "function": { "name": "f" } },
        }),
    );
}

/// A response with two choices.
fn response() -> Value {
    json!({
        "id": "chatcmpl-1", "object": "chat.completion", "created": 1741569952, "model": "gpt-4.1",
        "choices": [
            {
                "index": 0,
                "message": {
                    "role": "assistant", "content": "The key is 1234.", "refusal": null, "annotations": [],
                    "tool_calls": [{ "id": "call_1", "type": "function", "function": { "name": "f", "arguments": "{}" } }],
                },
                "logprobs": null, "finish_reason": "tool_calls",
            },
            {
                "index": 1,
                "message": { "role": "assistant", "content": null, "refusal": "No." },
                "logprobs": null, "finish_reason": "content_filter",
            },
        ],
        "usage": {
            "prompt_tokens": 19, "completion_tokens": 10, "total_tokens": 29,
            "completion_tokens_details": { "reasoning_tokens": 4 },
        },
        "service_tier": "default", "system_fingerprint": "fp_1",
    })
}

#[test]
fn a_response_is_shown_as_text() {
    assert_eq!(
        shown_response(CHAT, &response()),
        json!({
            "text": "The key is 1234.",
            "candidates": [
                { "content": { "role": "model", "parts": ["The key is 1234."] }, "finishReason": "STOP", "index": 0 },
                { "content": { "role": "model", "parts": [] }, "finishReason": "SAFETY", "index": 1 },
            ],
            "usageMetadata": { "promptTokenCount": 19, "candidatesTokenCount": 10, "totalTokenCount": 29 },
        }),
    );
}

#[test]
fn a_hooks_text_goes_back_to_where_it_came_from() {
    let mut expected = response();
    expected["choices"][0]["message"]["content"] = json!("The key is ****.");
    let mut whole = shown_response(CHAT, &response());
    whole["candidates"][0]["content"]["parts"] = json!(["The key is ****."]);
    let text = json!({ "text": "The key is ****." });
    let from_struct = json!({ "text": "The key is ****.", "candidates": [] });
    let two = json!({ "candidates": [
        { "content": { "parts": ["The key ", "is ****."] } }, { "index": 1 },
    ] });
    for given in [whole, text, from_struct, two] {
        assert_eq!(laid_response(CHAT, &response(), &given), (expected.clone(), vec![]), "{given}");
    }
    assert_keeps_response(CHAT, &response());
    expected["choices"][0]["message"]["content"] = json!(null);
    assert_eq!(laid_response(CHAT, &response(), &json!({ "text": "" })).0, expected);
}

#[test]
fn what_else_a_response_says_is_laid_over() {
    let mut base = response();
    base["choices"][0]["logprobs"] = json!({ "content": [{ "token": "The" }] });
    let mut given = shown_response(CHAT, &base);
    given["candidates"][0]["content"]["parts"] = json!(["No."]);
    given["candidates"][0]["finishReason"] = json!("MAX_TOKENS");
    given["candidates"][0]["safetyRatings"] = json!([{ "category": "c" }]);
    given["usageMetadata"]["totalTokenCount"] = json!(30);
    given["candidates"].as_array_mut().unwrap().pop();
    let (changed, warnings) = laid_response(CHAT, &base, &given);
    let mut expected = base;
    expected["choices"][0]["message"]["content"] = json!("No.");
    expected["choices"][0]["finish_reason"] = json!("length");
    expected["usage"]["total_tokens"] = json!(30);
    expected["choices"].as_array_mut().unwrap().pop();
    assert_eq!(changed, expected);
    assert_eq!(
        warnings,
        [
            "field `candidates[0].safetyRatings`: responses of this sdk have none; it is ignored",
            "field `choices[0].logprobs`: the hook changed the text; the log probabilities still spell the old one",
            "field `choices[1]`: the hook's response leaves out this candidate, with what it holds beside text",
        ],
    );
}

#[test]
fn a_synthetic_response_is_complete() {
    let given = json!({ "text": "no", "usageMetadata": { "promptTokenCount": 3, "candidatesTokenCount": 4.0 } });
    let synthetic = from_stable_response(CHAT, &object(&given), None).unwrap();
    assert_eq!(
        value(&synthetic.value),
        json!({
            "id": "chatcmpl-hook", "object": "chat.completion", "created": 0, "model": "hook",
            "choices": [{
                "index": 0, "message": { "role": "assistant", "content": "no", "refusal": null },
                "logprobs": null, "finish_reason": "stop",
            }],
            "usage": { "prompt_tokens": 3, "completion_tokens": 4.0, "total_tokens": 7 },
        }),
    );
    let given = json!({ "text": "a", "candidates": [
        { "content": { "parts": ["a", "b"] }, "finishReason": "SAFETY" }, { "index": 4 },
    ] });
    let synthetic = value(&from_stable_response(CHAT, &object(&given), None).unwrap().value);
    assert_eq!(synthetic["choices"][0]["message"]["content"], "ab");
    assert_eq!(synthetic["choices"][0]["finish_reason"], "content_filter");
    assert_eq!(synthetic["choices"][1]["index"], 4);
}

#[test]
fn errors_name_the_path() {
    let request = |text: &str| error(to_stable_request(CHAT, &raw(text)));
    let response = |text: &str| error(to_stable_response(CHAT, &raw(text)));
    for (error, expected) in [
        (
            request(
                r#"{"messages":[{},{},{},{"role":"user","content":[{"type":"text","text":1}]}]}"#,
            ),
            "field `messages[3].content[0].text`: expected a string, found a number",
        ),
        (request(r#"{"messages":"hi"}"#), "field `messages`: expected an array, found a string"),
        (
            request(r#"{"messages":["hi"]}"#),
            "field `messages[0]`: expected an object, found a string",
        ),
        (
            request(r#"{"messages":[{"role":1}]}"#),
            "field `messages[0].role`: expected a string, found a number",
        ),
        (
            request(r#"{"messages":[{"role":"user","content":["hi"]}]}"#),
            "field `messages[0].content[0]`: expected an object, found a string",
        ),
        (
            request(r#"{"messages":[{"role":"user","content":{}}]}"#),
            "field `messages[0].content`: expected a string or an array, found an object",
        ),
        (
            request(r#"{"tool_choice":{"type":"function","function":{"name":1}}}"#),
            "field `tool_choice.function.name`: expected a string, found a number",
        ),
        (
            response(r#"{"choices":[{"message":{"content":[{},{"text":1}]}}]}"#),
            "field `choices[0].message.content[1].text`: expected a string, found a number",
        ),
        (
            response(r#"{"choices":[{"finish_reason":1}]}"#),
            "field `choices[0].finish_reason`: expected a string, found a number",
        ),
        (
            response(r#"{"usage":{"total_tokens":"1"}}"#),
            "field `usage.total_tokens`: expected a number, found a string",
        ),
    ] {
        assert_eq!(error, expected);
    }
}

#[test]
fn a_long_conversation_changes_where_it_was_edited() {
    let entry = |number: usize| match number % 4 {
        0 => json!({ "role": "user", "content": format!("question {number}") }),
        1 => {
            json!({ "role": "assistant", "content": null, "tool_calls": [{ "id": format!("call_{number}") }] })
        }
        2 => {
            json!({ "role": "tool", "tool_call_id": format!("call_{}", number - 1), "content": "done" })
        }
        _ => json!({ "role": "assistant", "content": format!("answer {number}") }),
    };
    let base = json!({ "messages": (0..40_000).map(entry).collect::<Vec<_>>() });
    let mut given = shown(CHAT, &base);
    let mut expected = base.clone();
    for (message, entry) in [(1, 3), (19_998, 39_996)] {
        given["messages"][message]["content"] = json!("****");
        expected["messages"][entry]["content"] = json!("****");
    }
    assert_eq!(laid(CHAT, &base, &given).0, expected);
}

//! The responses API, case by case.

use hook_translate::{
    Sdk, from_stable_request, from_stable_response, to_stable_request, to_stable_response,
};
use serde_json::{Value, json};

use crate::common::json::{object, raw, value};
use crate::{
    Sample, assert_keeps_response, error, laid, laid_response, messages, shown, shown_response,
};

const RESPONSES: Sdk = Sdk::OpenAiResponses;

/// A request of an agent that has reasoned and used two tools.
fn request() -> Value {
    json!({
        "model": "gpt-5", "instructions": "You are a helpful assistant.", "max_output_tokens": 512,
        "input": [
            { "role": "developer", "content": "Be kind." },
            { "type": "message", "role": "user", "content": [
                { "type": "input_text", "text": "What is on this picture?" },
                { "type": "input_image", "image_url": "data:image/png;base64,AAAA", "detail": "auto" },
                { "type": "input_file", "file_id": "file-1" },
            ] },
            { "type": "reasoning", "id": "rs_1", "summary": [{ "type": "summary_text", "text": "They ask." }], "encrypted_content": "gAAA" },
            { "type": "message", "id": "msg_1", "role": "assistant", "status": "completed", "content": [
                { "type": "output_text", "text": "Let me look.", "annotations": [], "logprobs": [] },
            ] },
            { "type": "function_call", "id": "fc_1", "call_id": "call_1", "name": "look", "arguments": "{ }", "status": "completed" },
            { "type": "custom_tool_call", "id": "ctc_1", "call_id": "call_2", "name": "tell", "input": "x" },
            { "type": "custom_tool_call_output", "call_id": "call_2", "output": "y" },
            { "type": "function_call_output", "call_id": "call_1", "output": "a cat" },
            { "type": "item_reference", "id": "msg_2" },
            { "type": "reasoning", "id": "rs_2", "summary": [] },
            { "type": "message", "id": "msg_3", "role": "assistant", "status": "completed", "content": [
                { "type": "output_text", "text": "A cat.", "annotations": [] },
                { "type": "refusal", "refusal": "I can't say whose." },
            ] },
            { "role": "user", "content": "Thanks." },
        ],
        "tools": [{ "type": "function", "name": "look", "parameters": {} }],
        "tool_choice": { "type": "function", "name": "look" },
        "include": ["reasoning.encrypted_content"], "store": false, "reasoning": { "effort": "low" },
    })
}

const SAMPLE: Sample = Sample {
    sdk: RESPONSES,
    request,
    conversation: "input",
    shown: [
        "system: Be kind.",
        "user: What is on this picture?",
        "model: Let me look.",
        "model: A cat.",
        "user: Thanks.",
    ],
};

#[test]
fn hooks_see_what_is_said() {
    let mut expected = messages(&SAMPLE.shown);
    expected["model"] = json!("gpt-5");
    expected["config"] = json!({ "maxOutputTokens": 512 });
    expected["toolConfig"] = json!({ "mode": "ANY", "allowedFunctionNames": ["look"] });
    assert_eq!(shown(RESPONSES, &request()), expected);
}

#[test]
fn a_hook_that_changes_nothing_gives_back_the_bytes() {
    SAMPLE.assert_keeps_bytes(&[
        "{ \"input\" : \"hi\" }",
        "{ \"input\" : \"\" }",
        "{ \"input\" : [ ] }",
        "{\"prompt\":{\"id\":\"pmpt_1\"},\"previous_response_id\":\"resp_1\"}",
        "{\"input\":[null,{\"id\":\"msg_1\"},{\"type\":\"later\",\"text\":1}]}",
    ]);
}

#[test]
fn an_edited_message_changes_its_text_and_nothing_else() {
    SAMPLE.assert_edits([
        (0, "system: Be brief.", "/input/0/content", "Be brief."),
        (1, "user: What is ****?", "/input/1/content/0/text", "What is ****?"),
        (2, "model: Wait.", "/input/3/content/0/text", "Wait."),
        (3, "model: A ****.", "/input/10/content/0/text", "A ****."),
    ]);
}

#[test]
fn a_removed_message_loses_its_text_and_reasoning_keeps_what_it_led_to() {
    let mut expected = request();
    let items = expected["input"].as_array_mut().unwrap();
    items.remove(11);
    items[10]["content"].as_array_mut().unwrap().remove(0);
    items[3]["content"] = json!([
        { "type": "output_text", "text": "", "annotations": [], "logprobs": [] },
    ]);
    items[1]["content"].as_array_mut().unwrap().remove(0);
    items.remove(0);
    assert_eq!(laid(RESPONSES, &request(), &messages(&[])), (expected, vec![]));
}

#[test]
fn a_new_message_parts_nothing_that_belongs_together() {
    SAMPLE.assert_inserts(
        |role| json!({ "type": "message", "role": role, "content": "be brief" }),
        [(0, "system", 0), (2, "user", 2), (3, "user", 9), (4, "model", 11), (5, "user", 12)],
    );
    // The call is in the response before.
    let base = json!({ "previous_response_id": "resp_1", "input": [
        { "type": "function_call_output", "call_id": "call_1", "output": "1" },
        { "role": "user", "content": "so" },
    ] });
    let laid = laid(RESPONSES, &base, &messages(&["system: new", "user: so"])).0;
    assert_eq!(laid["input"][1]["content"], "new");
}

#[test]
fn an_input_keeps_its_form() {
    let message =
        |role: &str, text: &str| json!({ "type": "message", "role": role, "content": text });
    for (input, given, expected) in [
        (json!("a"), ["user: b"].as_slice(), json!("b")),
        (json!("a"), &[], json!([])),
        (
            json!("a"),
            &["system: s", "user: a"],
            json!([message("system", "s"), message("user", "a")]),
        ),
        (
            json!("a"),
            &["user: a", "model: m"],
            json!([message("user", "a"), message("assistant", "m")]),
        ),
        (json!(null), &["user: a"], json!([message("user", "a")])),
        (json!([]), &["user: a"], json!([message("user", "a")])),
    ] {
        let laid = laid(RESPONSES, &json!({ "input": input }), &messages(given)).0;
        assert_eq!(laid["input"], expected, "{input} with {given:?}");
    }
}

#[test]
fn single_fields_override_only_where_given() {
    let base = json!({
        "model": "m", "instructions": "i", "input": "a", "max_output_tokens": 10, "tools": [],
    });
    let given = json!({
        "model": "n", "config": { "maxOutputTokens": 20, "instructions": "x", "topK": 1 },
        "toolConfig": { "mode": "AUTO" },
    });
    let (changed, warnings) = laid(RESPONSES, &base, &given);
    assert_eq!(
        changed,
        json!({
            "model": "n", "instructions": "i", "input": "a", "max_output_tokens": 20,
            "tools": [], "tool_choice": "auto",
        }),
    );
    assert_eq!(warnings.len(), 2, "{warnings:?}");

    let built = from_stable_request(RESPONSES, &object(&messages(&["user: u"])), None).unwrap();
    assert_eq!(
        value(&built.value),
        json!({ "input": [{ "type": "message", "role": "user", "content": "u" }] }),
    );
}

fn response() -> Value {
    json!({
        "id": "resp_1", "object": "response", "created_at": 1741476542, "status": "completed",
        "error": null, "incomplete_details": null, "model": "gpt-5",
        "output": [
            { "type": "reasoning", "id": "rs_1", "summary": [{ "type": "summary_text", "text": "1234?" }] },
            { "type": "message", "id": "msg_1", "status": "completed", "role": "assistant", "content": [
                { "type": "output_text", "text": "The key ", "annotations": [] },
                { "type": "output_text", "text": "is 1234.", "annotations": [] },
            ] },
            { "type": "function_call", "id": "fc_1", "call_id": "call_1", "name": "f", "arguments": "{}" },
            { "type": "message", "id": "msg_2", "status": "completed", "role": "assistant", "content": [
                { "type": "refusal", "refusal": "No more." },
                { "type": "output_text", "text": "Bye.", "annotations": [] },
            ] },
        ],
        "usage": {
            "input_tokens": 36, "input_tokens_details": { "cached_tokens": 0 },
            "output_tokens": 87, "output_tokens_details": { "reasoning_tokens": 7 }, "total_tokens": 123,
        },
        "output_text": "The key is 1234.Bye.",
    })
}

#[test]
fn a_response_is_shown_as_text() {
    assert_eq!(
        shown_response(RESPONSES, &response()),
        json!({
            "text": "The key is 1234.Bye.",
            "candidates": [{
                "content": { "role": "model", "parts": ["The key ", "is 1234.", "Bye."] },
                "finishReason": "STOP",
            }],
            "usageMetadata": { "promptTokenCount": 36, "candidatesTokenCount": 87, "totalTokenCount": 123 },
        }),
    );
}

#[test]
fn a_hooks_text_goes_back_to_where_it_came_from() {
    let parts = |texts: Value| {
        let mut given = shown_response(RESPONSES, &response());
        given["candidates"][0]["content"]["parts"] = texts;
        laid_response(RESPONSES, &response(), &given).0
    };
    let mut expected = response();
    expected["output"][1]["content"][1]["text"] = json!("is ****.");
    expected["output_text"] = json!("The key is ****.Bye.");
    assert_eq!(parts(json!(["The key ", "is ****.", "Bye."])), expected);
    for given in [
        json!({ "text": "The key is ****.Bye." }),
        json!({ "text": "The key is ****.Bye.", "candidates": [] }),
    ] {
        assert_eq!(laid_response(RESPONSES, &response(), &given), (expected.clone(), vec![]));
    }

    let mut expected = response();
    expected["output"][1]["content"] = json!([
        { "type": "output_text", "text": "No comment.", "annotations": [] },
    ]);
    expected["output"][3]["content"].as_array_mut().unwrap().pop();
    expected["output_text"] = json!("No comment.");
    assert_eq!(parts(json!(["No comment."])), expected);

    expected["output"][1]["content"][0]["text"] = json!("");
    expected["output"][1]["content"][0]["text"] = json!("");
    expected["output_text"] = json!("");
    let (emptied, _) = laid_response(RESPONSES, &response(), &json!({ "text": "" }));
    let mut with_text = expected.clone();
    with_text["output"][1]["content"][0]["text"] = json!("");
    assert_eq!(emptied, with_text);

    assert_keeps_response(RESPONSES, &response());
}

#[test]
fn a_response_without_a_message_gets_one() {
    let base = json!({ "output": [
        { "type": "reasoning", "id": "rs_1", "summary": [] },
        { "type": "function_call", "call_id": "call_1", "name": "f", "arguments": "{}" },
    ] });
    let mut expected = base.clone();
    expected["output"].as_array_mut().unwrap().push(json!({
        "id": "msg_hook", "type": "message", "status": "completed", "role": "assistant",
        "content": [{ "type": "output_text", "text": "hi", "annotations": [] }],
    }));
    assert_eq!(laid_response(RESPONSES, &base, &json!({ "text": "hi" })).0, expected);
}

#[test]
fn why_the_model_stopped_is_told_in_stable_words() {
    for (status, reason, word) in [
        ("completed", None, "STOP"),
        ("incomplete", Some("max_output_tokens"), "MAX_TOKENS"),
        ("incomplete", Some("content_filter"), "SAFETY"),
        ("incomplete", Some("later"), "later"),
        ("failed", None, "failed"),
    ] {
        let details = reason.map(|reason| json!({ "reason": reason }));
        let base = json!({ "status": status, "incomplete_details": details, "output": [] });
        let shown = shown_response(RESPONSES, &base);
        assert_eq!(shown["candidates"][0]["finishReason"], word);
        let other = json!({ "status": "queued", "incomplete_details": null, "output": [] });
        let given = json!({ "candidates": [{ "finishReason": word }] });
        assert_eq!(laid_response(RESPONSES, &other, &given).0, base);
    }
}

#[test]
fn a_synthetic_response_is_complete() {
    let given = json!({ "text": "no", "usageMetadata": { "totalTokenCount": 3 } });
    let synthetic = value(&from_stable_response(RESPONSES, &object(&given), None).unwrap().value);
    for (field, expected) in [
        ("id", json!("resp_hook")),
        ("object", json!("response")),
        ("status", json!("completed")),
        ("model", json!("hook")),
        ("usage", json!({ "input_tokens": 0, "output_tokens": 0, "total_tokens": 3 })),
        (
            "output",
            json!([{
                "id": "msg_hook", "type": "message", "status": "completed", "role": "assistant",
                "content": [{ "type": "output_text", "text": "no", "annotations": [] }],
            }]),
        ),
    ] {
        assert_eq!(synthetic[field], expected, "{field}");
    }
    let given = json!({ "candidates": [{ "content": { "parts": ["a"] }, "finishReason": "MAX_TOKENS" }, {}] });
    let synthetic = from_stable_response(RESPONSES, &object(&given), None).unwrap();
    assert_eq!(synthetic.warnings.len(), 1);
    let synthetic = value(&synthetic.value);
    assert_eq!(synthetic["incomplete_details"], json!({ "reason": "max_output_tokens" }));
    assert_eq!(synthetic["output"][0]["status"], "incomplete");
}

#[test]
fn errors_name_the_path() {
    let request = |text: &str| error(to_stable_request(RESPONSES, &raw(text)));
    let response = |text: &str| error(to_stable_response(RESPONSES, &raw(text)));
    for (error, expected) in [
        (
            request(
                r#"{"input":[{},{"role":"user","content":[{},{"type":"input_text","text":1}]}]}"#,
            ),
            "field `input[1].content[1].text`: expected a string, found a number",
        ),
        (
            request(r#"{"input":{}}"#),
            "field `input`: expected a string or an array, found an object",
        ),
        (request(r#"{"input":["a"]}"#), "field `input[0]`: expected an object, found a string"),
        (
            request(r#"{"input":[{"type":1}]}"#),
            "field `input[0].type`: expected a string, found a number",
        ),
        (
            request(
                r#"{"tool_choice":{"type":"allowed_tools","tools":[{"type":"function","name":1}]}}"#,
            ),
            "field `tool_choice.tools[0].name`: expected a string, found a number",
        ),
        (
            response(r#"{"output":[{"type":"message","content":[{"text":1}]}]}"#),
            "field `output[0].content[0].text`: expected a string, found a number",
        ),
        (
            response(r#"{"incomplete_details":{"reason":1}}"#),
            "field `incomplete_details.reason`: expected a string, found a number",
        ),
        (
            response(r#"{"usage":{"input_tokens":"1"}}"#),
            "field `usage.input_tokens`: expected a number, found a string",
        ),
    ] {
        assert_eq!(error, expected);
    }
}

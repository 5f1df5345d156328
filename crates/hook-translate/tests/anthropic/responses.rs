//! What a hook's answer changes in a response.

use hook_translate::{from_stable_response, to_stable_response};
use serde_json::{Value, json};

use crate::json::{object, raw, value};
use crate::{ANTHROPIC, warnings};

/// A response that thinks, cites and calls a tool.
fn answer() -> Value {
    json!({
        "id": "msg_1", "type": "message", "role": "assistant", "model": "claude-sonnet-4-5",
        "content": [
            { "type": "thinking", "thinking": "hm", "signature": "c2ln" },
            { "type": "text", "text": "the time is " },
            { "type": "text", "text": "one", "citations": [{ "type": "char_location", "cited_text": "one" }] },
            { "type": "tool_use", "id": "toolu_1", "name": "time", "input": {} },
        ],
        "stop_reason": "tool_use", "stop_sequence": null,
        "usage": {
            "input_tokens": 3, "cache_creation_input_tokens": 10, "cache_read_input_tokens": 100,
            "output_tokens": 7, "service_tier": "standard",
        },
    })
}

fn shown() -> Value {
    value(&to_stable_response(ANTHROPIC, &object(&answer())).unwrap().value)
}

fn laid(given: &Value) -> (Value, Vec<String>) {
    let changed =
        from_stable_response(ANTHROPIC, &object(given), Some(&object(&answer()))).unwrap();
    (value(&changed.value), warnings(&changed))
}

/// The response with what a change did to it.
fn expected(change: impl Fn(&mut Value)) -> Value {
    let mut expected = answer();
    change(&mut expected);
    expected
}

#[test]
fn a_response_is_shown_as_text() {
    assert_eq!(
        shown(),
        json!({
            "text": "the time is one",
            "candidates": [{
                "content": { "role": "model", "parts": ["the time is ", "one"] },
                "finishReason": "STOP",
            }],
            "usageMetadata": { "promptTokenCount": 113, "candidatesTokenCount": 7, "totalTokenCount": 120 },
        }),
    );
    let error = raw(r#"{"type":"error","error":{"type":"overloaded_error","message":"m"}}"#);
    let shown = to_stable_response(ANTHROPIC, &error).unwrap().value;
    assert_eq!(shown.as_str(), r#"{"candidates":[]}"#);
    let same = from_stable_response(ANTHROPIC, &shown, Some(&error)).unwrap();
    assert_eq!(same.value, error);
}

#[test]
fn a_hooks_text_goes_back_to_where_it_came_from() {
    let edited = expected(|answer| answer["content"][2]["text"] = json!("two"));
    let mut parts = shown();
    parts["candidates"][0]["content"]["parts"][1] = json!("two");
    let mut text = shown();
    text["text"] = json!("the time is two");
    for given in [parts, text, json!({ "text": "the time is two" })] {
        assert_eq!(laid(&given), (edited.clone(), vec![]), "{given}");
    }

    let (longer, _) =
        laid(&json!({ "candidates": [{ "content": { "parts": ["the time is ", "one", "!"] } }] }));
    assert_eq!(
        longer,
        expected(|answer| {
            answer["content"]
                .as_array_mut()
                .unwrap()
                .insert(3, json!({ "type": "text", "text": "!" }));
        })
    );
}

#[test]
fn a_response_that_loses_its_text_keeps_the_rest() {
    let without = expected(|answer| {
        answer["content"].as_array_mut().unwrap().drain(1..3);
    });
    for given in [
        json!({ "text": "" }),
        json!({ "candidates": [] }),
        json!({ "candidates": [{ "content": { "parts": [] } }] }),
        json!({ "candidates": [{ "content": { "parts": [""] } }] }),
    ] {
        let (changed, said) = laid(&given);
        assert_eq!(changed, without, "{given}");
        assert_eq!(
            said,
            ["field `content[2]`: the hook's text leaves out this block; \
                 what it says beside its text is gone with it"],
        );
    }
}

#[test]
fn a_text_where_there_was_none_comes_after_the_thinking() {
    let thinking = json!({ "type": "thinking", "thinking": "hm", "signature": "c2ln" });
    let call = json!({ "type": "tool_use", "id": "toolu_1", "name": "time", "input": {} });
    let original = object(&json!({ "content": [thinking, call] }));
    for given in
        [json!({ "text": "no" }), json!({ "candidates": [{ "content": { "parts": ["no"] } }] })]
    {
        let changed = from_stable_response(ANTHROPIC, &object(&given), Some(&original)).unwrap();
        let text = json!({ "type": "text", "text": "no" });
        assert_eq!(value(&changed.value), json!({ "content": [thinking, text, call] }));
    }
}

#[test]
fn a_finish_reason_is_understood_in_either_word() {
    for (given, reason) in [
        ("STOP", "tool_use"),
        ("tool_use", "tool_use"),
        ("MAX_TOKENS", "max_tokens"),
        ("SAFETY", "refusal"),
        ("end_turn", "end_turn"),
    ] {
        let (changed, said) = laid(&json!({ "candidates": [{ "finishReason": given }] }));
        assert_eq!(changed, expected(|answer| answer["stop_reason"] = json!(reason)), "{given}");
        assert_eq!(said, Vec::<String>::new());
    }
    let (changed, said) = laid(&json!({ "candidates": [{ "finishReason": "OTHER" }] }));
    assert_eq!(changed["stop_reason"], "OTHER");
    assert_eq!(
        said,
        ["field `candidates[0].finishReason`: not a word of this sdk; it is given on as written"],
    );
}

#[test]
fn what_has_no_place_is_said() {
    let mut given = shown();
    given["candidates"].as_array_mut().unwrap().push(json!({}));
    given["candidates"][0]["safetyRatings"] = json!([]);
    given["usageMetadata"] = json!({ "promptTokenCount": 114, "candidatesTokenCount": 8 });
    let (changed, said) = laid(&given);
    assert_eq!(
        changed,
        expected(|answer| {
            answer["usage"]["input_tokens"] = json!(4);
            answer["usage"]["output_tokens"] = json!(8);
        })
    );
    assert_eq!(
        said,
        [
            "field `candidates[1]`: the sdk's response has one candidate; this one is ignored",
            "field `candidates[0].safetyRatings`: the sdk's response has no safety ratings; they are ignored",
        ],
    );
    let (changed, said) =
        laid(&json!({ "usageMetadata": { "promptTokenCount": 2, "totalTokenCount": 1 } }));
    assert_eq!(changed, answer());
    assert_eq!(said.len(), 2, "{said:?}");
}

#[test]
fn without_an_original_a_response_is_complete() {
    let built = |given: Value| {
        value(&from_stable_response(ANTHROPIC, &object(&given), None).unwrap().value)
    };
    let complete = |content: Value, reason: &str, usage: Value| {
        json!({
            "id": "msg_hook", "type": "message", "role": "assistant", "model": "hook",
            "content": content, "stop_reason": reason, "stop_sequence": null, "usage": usage,
        })
    };
    let nothing = json!({ "input_tokens": 0, "output_tokens": 0 });
    let text = |text: &str| json!({ "type": "text", "text": text });
    assert_eq!(
        built(json!({ "text": "no" })),
        complete(json!([text("no")]), "end_turn", nothing.clone())
    );
    assert_eq!(
        built(json!({
            "text": "x", "candidates": [{ "content": { "parts": ["a", "", "b"] }, "finishReason": "SAFETY" }],
            "usageMetadata": { "promptTokenCount": 1 },
        })),
        complete(
            json!([text("a"), text("b")]),
            "refusal",
            json!({ "input_tokens": 1, "output_tokens": 0 })
        ),
    );
    assert_eq!(built(json!({})), complete(json!([]), "end_turn", nothing));
}

#[test]
fn errors_name_the_path() {
    for (response, expected) in [
        (r#"{"content":"a"}"#, "field `content`: expected an array, found a string"),
        (
            r#"{"content":[{"type":"text","text":[]}]}"#,
            "field `content[0].text`: expected a string, found an array",
        ),
        (
            r#"{"usage":{"output_tokens":"1"}}"#,
            "field `usage.output_tokens`: expected a number, found a string",
        ),
        (r#"{"stop_reason":1}"#, "field `stop_reason`: expected a string, found a number"),
    ] {
        let error = to_stable_response(ANTHROPIC, &raw(response)).unwrap_err().to_string();
        assert_eq!(error, expected);
    }
}

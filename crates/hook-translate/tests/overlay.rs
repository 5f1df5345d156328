//! What a hook's answer changes in the SDK's own payload, case by case.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use hook_translate::{
    Sdk, Translated, from_stable_request, from_stable_response, from_stable_tool_config,
    to_stable_request, to_stable_response, to_stable_tool_config,
};
use serde_json::{Value, json};

mod common {
    pub(crate) mod json;
}

use common::json::{object, raw, value};

const GENAI: Sdk = Sdk::GenAi;

fn warnings(translated: &Translated) -> Vec<String> {
    translated.warnings.iter().map(ToString::to_string).collect()
}

/// The contents that come of laying messages over contents. Messages are written as `role: text`.
fn laid(contents: Value, messages: &[&str]) -> Value {
    let base = object(&json!({ "contents": contents }));
    let message = |message: &&str| {
        let (role, content) = message.split_once(": ").unwrap();
        json!({ "role": role, "content": content })
    };
    let messages: Vec<Value> = messages.iter().map(message).collect();
    let changed =
        from_stable_request(GENAI, &object(&json!({ "messages": messages })), Some(&base));
    value(&changed.unwrap().value)["contents"].clone()
}

fn say(role: &str, text: &str) -> Value {
    json!({ "role": role, "parts": [{ "text": text }] })
}

/// A conversation in which the model calls a tool.
fn tool_call() -> Value {
    json!([
        say("user", "what is the time?"),
        { "role": "model", "parts": [
            { "text": "let me see", "thoughtSignature": "c2ln" },
            { "functionCall": { "name": "time", "args": {} } },
        ] },
        { "role": "user", "parts": [{ "functionResponse": { "name": "time", "response": { "t": 1 } } }] },
        say("model", "it is one"),
        say("user", "thanks"),
    ])
}

#[test]
fn an_edited_message_changes_its_text_and_nothing_else() {
    let mut expected = tool_call();
    expected[1]["parts"][0]["text"] = json!("wait");
    let messages = ["user: what is the time?", "model: wait", "model: it is one", "user: thanks"];
    assert_eq!(laid(tool_call(), &messages), expected);
}

#[test]
fn a_removed_message_leaves_what_is_not_text() {
    let mut expected = tool_call();
    // A part that says more than its text keeps the rest.
    expected[1]["parts"][0]["text"] = json!("");
    expected.as_array_mut().unwrap().remove(0);
    assert_eq!(laid(tool_call(), &["model: it is one", "user: thanks"]), expected);

    let calls = json!([expected[0], expected[1]]);
    assert_eq!(laid(tool_call(), &[]), calls);
}

#[test]
fn a_new_message_does_not_part_a_call_from_its_response() {
    let old = ["user: what is the time?", "model: let me see", "model: it is one", "user: thanks"];
    for (at, role, expected_at) in
        [(0, "system", 0), (1, "user", 1), (2, "user", 3), (4, "user", 5)]
    {
        let new = format!("{role}: be brief");
        let mut messages = old.to_vec();
        messages.insert(at, &new);
        let mut expected = tool_call();
        expected.as_array_mut().unwrap().insert(expected_at, say(role, "be brief"));
        assert_eq!(laid(tool_call(), &messages), expected, "at {at}");
    }
    // There is no message after the call to go by, and none before the response.
    let contents = json!([
        { "role": "model", "parts": [{ "text": "see" }, { "functionCall": { "name": "f" } }] },
        { "role": "user", "parts": [{ "functionResponse": { "name": "f" } }, { "text": "done" }] },
    ]);
    let laid_after = laid(contents.clone(), &["model: see", "user: done", "user: go on"]);
    assert_eq!(laid_after, json!([contents[0], contents[1], say("user", "go on")]));
    // Where both have text, there is no place between them.
    let laid_between = laid(contents.clone(), &["model: see", "user: go on", "user: done"]);
    assert_eq!(laid_between, json!([contents[0], contents[1], say("user", "go on")]));
}

#[test]
fn a_message_of_another_role_replaces_the_text_and_keeps_the_call() {
    let laid = laid(
        tool_call(),
        &["user: what is the time?", "user: look it up", "model: it is one", "user: thanks"],
    );
    let mut expected = tool_call();
    expected[1]["parts"][0]["text"] = json!("");
    expected.as_array_mut().unwrap().insert(1, say("user", "look it up"));
    assert_eq!(laid, expected);
}

#[test]
fn contents_keep_their_form() {
    let single = json!({ "role": "user", "parts": { "text": "a" }, "later": 1 });
    for (contents, messages, expected) in [
        (json!("a"), ["user: b"].as_slice(), json!("b")),
        (json!("a"), &[], json!([])),
        (json!("a"), &["user: a", "user: b"], json!(["a", "b"])),
        (json!("a"), &["system: s", "user: a"], json!([say("system", "s"), say("user", "a")])),
        (json!("a"), &["system: s", "user: b"], json!([say("system", "s"), say("user", "b")])),
        (
            json!(["a", { "text": "p" }]),
            &["user: a", "user: b"],
            json!(["a", { "text": "p" }, "b"]),
        ),
        (json!([{ "text": "p" }]), &["model: m"], json!([say("user", "p"), say("model", "m")])),
        (
            single.clone(),
            &["user: b"],
            json!({ "role": "user", "parts": { "text": "b" }, "later": 1 }),
        ),
        (single.clone(), &["user: a", "model: b"], json!([single, say("model", "b")])),
        (json!(null), &["user: a"], json!([say("user", "a")])),
        (json!([]), &["user: a"], json!([say("user", "a")])),
        (json!([null, "a"]), &["user: a", "user: "], json!([null, "a"])),
    ] {
        assert_eq!(laid(contents.clone(), messages), expected, "{contents} with {messages:?}");
    }
}

#[test]
fn thoughts_stay() {
    let thought =
        json!({ "text": "they want the time", "thought": true, "thoughtSignature": "c2ln" });
    let content = |text: &str| json!({ "role": "model", "parts": [thought, { "text": text }] });
    let contents = json!([content("it is one")]);
    // A thought is shown like other text, as pipeline case s1001-20 has recorded it.
    let shown = to_stable_request(GENAI, &object(&json!({ "contents": contents }))).unwrap();
    assert_eq!(value(&shown.value)["messages"][0]["content"], "they want the timeit is one");

    let edited = laid(contents.clone(), &["model: they want the timeit is two"]);
    assert_eq!(edited, json!([content("it is two")]));
    let replaced = laid(contents.clone(), &["model: no comment"]);
    assert_eq!(replaced, json!([content("no comment")]));
    let removed = laid(contents.clone(), &[]);
    assert_eq!(removed, json!([{ "role": "model", "parts": [thought] }]));

    // What was taken out of a thought does not come back.
    let mut expected = json!([content("it is one")]);
    expected[0]["parts"][0]["text"] = json!("they want the ****");
    let redacted = laid(contents.clone(), &["model: they want the ****it is one"]);
    assert_eq!(redacted, expected);
    expected[0]["parts"] = json!([thought, { "text": "they want the ****it is ****" }]);
    expected[0]["parts"][0]["text"] = json!("");
    assert_eq!(laid(contents.clone(), &["model: they want the ****it is ****"]), expected);

    let base = object(&json!({ "contents": contents }));
    let changed = from_stable_request(GENAI, &object(&json!({ "messages": [] })), Some(&base));
    assert_eq!(
        warnings(&changed.unwrap()),
        [
            "field `contents[0].parts[0]`: the hook's text leaves out this thought of the model; it is kept"
        ],
    );
}

#[test]
fn single_fields_override_only_where_given() {
    let base = json!({
        "model": "m", "contents": "hi", "abortSignal": {},
        "config": {
            "temperature": 1.0, "topK": 3, "tools": [{}], "systemInstruction": "s",
            "toolConfig": {
                "functionCallingConfig": { "mode": "ANY", "allowedFunctionNames": ["a"], "x": 1 },
                "retrievalConfig": {},
            },
        },
    });
    let given = json!({
        "model": "n", "surprise": 1,
        "config": { "topK": 4, "stopSequences": ["x"], "topP": null, "tools": [] },
        "toolConfig": { "allowedFunctionNames": ["b"] },
    });
    let changed = from_stable_request(GENAI, &object(&given), Some(&object(&base))).unwrap();
    let mut expected = base.clone();
    expected["model"] = json!("n");
    expected["config"]["topK"] = json!(4);
    expected["config"]["stopSequences"] = json!(["x"]);
    expected["config"]["toolConfig"]["functionCallingConfig"]["allowedFunctionNames"] =
        json!(["b"]);
    assert_eq!(value(&changed.value), expected);
    assert_eq!(
        warnings(&changed),
        [
            "field `surprise`: not a field of a stable request; it is ignored",
            "field `config.tools`: not a setting that a hook can change; it is ignored",
        ],
    );

    let shown = value(&to_stable_request(GENAI, &object(&base)).unwrap().value);
    assert_eq!(shown["toolConfig"], json!({ "mode": "ANY", "allowedFunctionNames": ["a"] }));
}

#[test]
fn a_request_that_gives_nothing_gives_back_the_base() {
    for text in [
        "{ \"contents\" : [ \"a\" ], \"config\" : null }",
        "{}",
        "{\"model\":\"\\ud800\",\"contents\":{\"parts\":[{\"text\":\"\\ud800\"}]}}",
    ] {
        let base = raw(text);
        for given in [json!({}), json!({ "config": {}, "toolConfig": {}, "messages": null })] {
            let same = from_stable_request(GENAI, &object(&given), Some(&base)).unwrap();
            assert_eq!(same.value.as_str(), text);
        }
        let shown = to_stable_request(GENAI, &base).unwrap().value;
        let same = from_stable_request(GENAI, &shown, Some(&base)).unwrap();
        assert_eq!(same.value.as_str(), text);
    }
}

#[test]
fn without_a_base_a_request_is_built() {
    let given = json!({
        "messages": [{ "role": "system", "content": "s" }], "toolConfig": { "mode": "AUTO" },
    });
    let built = from_stable_request(GENAI, &object(&given), None).unwrap();
    assert_eq!(
        value(&built.value),
        json!({
            "contents": [say("system", "s")],
            "config": { "toolConfig": { "functionCallingConfig": { "mode": "AUTO" } } },
        }),
    );
}

#[test]
fn no_calling_means_no_names() {
    let base = json!({ "functionCallingConfig": { "mode": "ANY", "allowedFunctionNames": ["a"] } });
    let given = json!({ "mode": "NONE" });
    let changed = from_stable_tool_config(GENAI, &object(&given), Some(&object(&base))).unwrap();
    assert_eq!(value(&changed.value), json!({ "functionCallingConfig": { "mode": "NONE" } }));
}

/// A response with two candidates.
fn answer() -> Value {
    json!({
        "candidates": [
            {
                "content": { "role": "model", "parts": [
                    { "text": "hm", "thought": true },
                    { "text": "the time is " },
                    { "functionCall": { "name": "time" } },
                    { "text": "one" },
                ] },
                "finishReason": "STOP", "index": 0, "avgLogprobs": -0.5,
                "safetyRatings": [{ "category": "c", "probability": "LOW", "blocked": false, "score": 1 }],
            },
            { "content": { "parts": [{ "text": "no" }, { "inlineData": {} }] }, "index": 1 },
        ],
        "usageMetadata": { "promptTokenCount": 1, "thoughtsTokenCount": 7 },
        "responseId": "r",
    })
}

fn shown_answer() -> Value {
    value(&to_stable_response(GENAI, &object(&answer())).unwrap().value)
}

fn laid_answer(given: &Value) -> (Value, Vec<String>) {
    let changed = from_stable_response(GENAI, &object(given), Some(&object(&answer()))).unwrap();
    (value(&changed.value), warnings(&changed))
}

#[test]
fn a_response_is_shown_as_text() {
    assert_eq!(
        shown_answer(),
        json!({
            "text": "hmthe time is one",
            "candidates": [
                {
                    "content": { "role": "model", "parts": ["hm", "the time is ", "one"] },
                    "finishReason": "STOP", "index": 0,
                    "safetyRatings": [{ "category": "c", "probability": "LOW" }],
                },
                { "content": { "role": "model", "parts": ["no"] }, "index": 1 },
            ],
            "usageMetadata": { "promptTokenCount": 1 },
        }),
    );
}

#[test]
fn a_hooks_parts_go_back_to_where_they_came_from() {
    let parts = |texts: Value| {
        let mut given = shown_answer();
        given["candidates"][0]["content"]["parts"] = texts;
        laid_answer(&given)
    };
    let expected = |change: &dyn Fn(&mut Vec<Value>)| {
        let mut expected = answer();
        change(expected["candidates"][0]["content"]["parts"].as_array_mut().unwrap());
        expected
    };
    let (edited, _) = parts(json!(["hm", "the time is ", "****"]));
    assert_eq!(edited, expected(&|parts| parts[3]["text"] = json!("****")));
    let (longer, _) = parts(json!(["hm", "the time is ", "one", "!"]));
    assert_eq!(longer, expected(&|parts| parts.push(json!({ "text": "!" }))));
    let (replaced, warnings) = parts(json!(["no comment"]));
    assert_eq!(
        replaced,
        expected(&|parts| {
            parts[1]["text"] = json!("no comment");
            parts.truncate(3);
        }),
    );
    assert_eq!(warnings.len(), 1, "{warnings:?}");
}

#[test]
fn a_hooks_text_alone_is_that_of_the_first_candidate() {
    let mut expected = answer();
    expected["candidates"][0]["content"]["parts"][3]["text"] = json!("two");
    for given in [json!({ "text": "hmthe time is two" }), {
        let mut given = shown_answer();
        given["text"] = json!("hmthe time is two");
        given
    }] {
        assert_eq!(laid_answer(&given).0, expected, "{given}");
    }
    let (changed, _) = laid_answer(&json!({ "text": "" }));
    assert_eq!(
        changed["candidates"][0]["content"]["parts"],
        json!([{ "text": "hm", "thought": true }, { "functionCall": { "name": "time" } }]),
    );

    let synthetic = from_stable_response(GENAI, &object(&json!({ "text": "no" })), None).unwrap();
    assert_eq!(
        value(&synthetic.value),
        json!({ "text": "no", "candidates": [{ "content": { "role": "model", "parts": [{ "text": "no" }] } }] }),
    );
}

#[test]
fn what_else_a_response_says_is_laid_over() {
    let mut given = shown_answer();
    given["candidates"][0]["finishReason"] = json!("SAFETY");
    given["candidates"][0]["safetyRatings"] = json!([
        { "category": "c", "probability": "HIGH", "blocked": true },
        { "category": "d", "probability": "LOW" },
    ]);
    given["usageMetadata"]["totalTokenCount"] = json!(9);
    let mut expected = answer();
    expected["candidates"][0]["finishReason"] = json!("SAFETY");
    expected["candidates"][0]["safetyRatings"] = json!([
        { "category": "c", "probability": "HIGH", "blocked": true, "score": 1 },
        { "category": "d", "probability": "LOW" },
    ]);
    expected["usageMetadata"]["totalTokenCount"] = json!(9);
    assert_eq!(laid_answer(&given), (expected, vec![]));
}

#[test]
fn candidates_go_by_their_index() {
    let mut given = shown_answer();
    given["candidates"].as_array_mut().unwrap().remove(0);
    given["candidates"][0]["content"]["parts"] = json!(["yes"]);
    let (changed, warnings) = laid_answer(&given);
    let mut expected = answer();
    expected["candidates"].as_array_mut().unwrap().remove(0);
    expected["candidates"][0]["content"]["parts"][0]["text"] = json!("yes");
    expected["candidates"][0]["content"]["role"] = json!("model");
    assert_eq!(changed, expected);
    assert_eq!(
        warnings,
        [
            "field `candidates[0]`: the hook's response leaves out this candidate, with what it holds beside text"
        ],
    );
}

#[test]
fn a_text_beside_the_candidates_goes_on_telling_the_same() {
    let original = json!({
        "text": "a", "candidates": [{ "content": { "role": "model", "parts": [{ "text": "a" }] } }],
    });
    let given = json!({ "candidates": [{ "content": { "role": "model", "parts": ["b"] } }] });
    let changed = from_stable_response(GENAI, &object(&given), Some(&object(&original))).unwrap();
    assert_eq!(
        value(&changed.value),
        json!({ "text": "b", "candidates": [{ "content": { "role": "model", "parts": [{ "text": "b" }] } }] }),
    );
}

#[test]
fn errors_name_the_path() {
    let request = |text: &str| to_stable_request(GENAI, &raw(text)).unwrap_err().to_string();
    let response = |text: &str| to_stable_response(GENAI, &raw(text)).unwrap_err().to_string();
    for (error, expected) in [
        (
            request(r#"{"contents":["a","b",{"role":"user","parts":[{"text":1}]}]}"#),
            "field `contents[2].parts[0].text`: expected a string, found a number",
        ),
        (
            request(r#"{"contents":{"parts":{"text":[]}}}"#),
            "field `contents.parts.text`: expected a string, found an array",
        ),
        (
            request(r#"{"contents":[{"parts":["a"]}]}"#),
            "field `contents[0].parts[0]`: expected an object, found a string",
        ),
        (
            request(r#"{"contents":[[]]}"#),
            "field `contents[0]`: expected a string or an object, found an array",
        ),
        (
            request(r#"{"contents":1}"#),
            "field `contents`: expected a string, an object or an array, found a number",
        ),
        (
            request(r#"{"config":{"toolConfig":{"functionCallingConfig":{"mode":1}}}}"#),
            "field `config.toolConfig.functionCallingConfig.mode`: expected a string, found a number",
        ),
        (
            response(r#"{"candidates":[{"content":{"parts":[{},{"text":1}]}}]}"#),
            "field `candidates[0].content.parts[1].text`: expected a string, found a number",
        ),
        (
            response(r#"{"candidates":[{"safetyRatings":[{"category":1}]}]}"#),
            "field `candidates[0].safetyRatings[0].category`: expected a string, found a number",
        ),
        (
            response(r#"{"usageMetadata":{"totalTokenCount":"1"}}"#),
            "field `usageMetadata.totalTokenCount`: expected a number, found a string",
        ),
    ] {
        assert_eq!(error, expected);
    }
}

#[test]
fn the_stable_form_is_checked_and_given_back() {
    let text = r#"{ "messages": [{"content":"a","role":"user","x":1}] }"#;
    let stable = raw(text);
    assert_eq!(to_stable_request(Sdk::Stable, &stable).unwrap().value.as_str(), text);
    assert_eq!(from_stable_request(Sdk::Stable, &stable, None).unwrap().value.as_str(), text);
    let wrong = raw(r#"{"messages":[{"role":"tool","content":"a"}]}"#);
    let error = to_stable_request(Sdk::Stable, &wrong).unwrap_err().to_string();
    assert!(error.contains("messages[0].role"), "{error}");

    for text in [r#"{"text":"a","candidates":[]}"#, "{}"] {
        let response = raw(text);
        assert_eq!(to_stable_response(Sdk::Stable, &response).unwrap().value, response);
        assert_eq!(from_stable_response(Sdk::Stable, &response, None).unwrap().value, response);
    }
    let config = raw(r#"{"mode":"ANY"}"#);
    assert_eq!(to_stable_tool_config(Sdk::Stable, &config).unwrap().value, config);
    assert_eq!(from_stable_tool_config(Sdk::Stable, &config, None).unwrap().value, config);
}

#[test]
fn arguments_may_nest_as_deep_as_they_like() {
    let deep = format!("{}{}", "[".repeat(100_000), "]".repeat(100_000));
    let contents = |text: &str| {
        format!(
            r#"{{"contents":[{{"role":"model","parts":[{{"text":"{text}"}},{{"functionCall":{{"args":{{"deep":{deep}}}}}}}]}}]}}"#
        )
    };
    let base = raw(&contents("a"));
    assert_eq!(to_stable_request(GENAI, &base).unwrap().value.fields().len(), 2);
    let given = object(&json!({ "messages": [{ "role": "model", "content": "b" }] }));
    let changed = from_stable_request(GENAI, &given, Some(&base)).unwrap();
    assert_eq!(changed.value.as_str(), contents("b"));
}

#[test]
fn a_long_conversation_changes_where_it_was_edited() {
    let number = 20_000;
    let texts: Vec<String> = (0..number).map(|number| format!("message number {number}")).collect();
    let contents: Vec<Value> = texts.iter().map(|text| say("user", text)).collect();
    let mut messages: Vec<Value> =
        texts.iter().map(|text| json!({ "role": "user", "content": text })).collect();
    let mut expected = json!({ "contents": contents });
    let base = object(&expected);
    for edited in [1, number - 2] {
        messages[edited]["content"] = json!("****");
        expected["contents"][edited] = say("user", "****");
    }
    let given = object(&json!({ "messages": messages }));
    let changed = from_stable_request(GENAI, &given, Some(&base)).unwrap();
    assert_eq!(value(&changed.value), expected);
}

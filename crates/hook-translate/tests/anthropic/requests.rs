//! What a hook's answer changes in a request.

use hook_json::RawObject;
use hook_translate::{from_stable_request, to_stable_request};
use serde_json::{Value, json};

use crate::json::{object, raw, value};
use crate::{ANTHROPIC, warnings};

/// A request in which the model thinks and calls a tool.
fn tool_call() -> Value {
    json!({
        "model": "claude-sonnet-4-5", "max_tokens": 1024, "temperature": 1.0, "stream": true,
        "system": [{ "type": "text", "text": "be kind", "cache_control": { "type": "ephemeral" } }],
        "thinking": { "type": "enabled", "budget_tokens": 2000 },
        "tools": [{ "name": "time", "input_schema": { "type": "object" } }],
        "messages": [
            { "role": "user", "content": [
                { "type": "image", "source": { "type": "base64", "media_type": "image/png", "data": "AAAA" } },
                { "type": "document", "source": { "type": "text", "data": "d" }, "citations": { "enabled": true } },
                { "type": "text", "text": "what is the time?", "cache_control": { "type": "ephemeral" } },
            ] },
            { "role": "assistant", "content": [
                { "type": "thinking", "thinking": "they want the time", "signature": "c2ln" },
                { "type": "redacted_thinking", "data": "ZGF0YQ==" },
                { "type": "text", "text": "let me see" },
                { "type": "tool_use", "id": "toolu_1", "name": "time", "input": { "zone": [1.50] } },
            ] },
            { "role": "user", "content": [
                { "type": "tool_result", "tool_use_id": "toolu_1", "content": [{ "type": "text", "text": "one" }] },
            ] },
            { "role": "assistant", "content": "it is one" },
            { "role": "user", "content": "thanks" },
        ],
    })
}

const SHOWN: [&str; 4] =
    ["user: what is the time?", "model: let me see", "model: it is one", "user: thanks"];

/// Lays messages, written as `role: text`, over a request.
fn laid(base: &Value, messages: &[&str]) -> (Value, Vec<String>) {
    let message = |message: &&str| {
        let (role, content) = message.split_once(": ").unwrap();
        json!({ "role": role, "content": content })
    };
    let messages: Vec<Value> = messages.iter().map(message).collect();
    let given = object(&json!({ "messages": messages }));
    let changed = from_stable_request(ANTHROPIC, &given, Some(&object(base))).unwrap();
    (value(&changed.value), warnings(&changed))
}

fn say(role: &str, text: &str) -> Value {
    json!({ "role": role, "content": text })
}

#[test]
fn a_request_is_shown_as_text() {
    let mut request = tool_call();
    request["top_p"] = json!(0.5);
    request["top_k"] = json!(3);
    request["tool_choice"] = json!({ "type": "tool", "name": "time" });
    let shown = to_stable_request(ANTHROPIC, &object(&request)).unwrap();
    assert_eq!(
        value(&shown.value),
        json!({
            "model": "claude-sonnet-4-5",
            "messages": [
                say("user", "what is the time?"), say("model", "let me see"),
                say("model", "it is one"), say("user", "thanks"),
            ],
            "config": { "temperature": 1.0, "maxOutputTokens": 1024, "topP": 0.5, "topK": 3 },
            "toolConfig": { "mode": "ANY", "allowedFunctionNames": ["time"] },
        }),
    );
}

#[test]
fn an_edited_message_changes_its_text_and_nothing_else() {
    for (at, place) in [
        (0, "/messages/0/content/2/text"),
        (1, "/messages/1/content/2/text"),
        (2, "/messages/3/content"),
        (3, "/messages/4/content"),
    ] {
        let mut messages = SHOWN.to_vec();
        let (role, _) = messages[at].split_once(": ").unwrap();
        let edited = format!("{role}: wait");
        messages[at] = &edited;
        let mut expected = tool_call();
        *expected.pointer_mut(place).unwrap() = json!("wait");
        assert_eq!(laid(&tool_call(), &messages), (expected, vec![]), "{place}");
    }
}

#[test]
fn what_is_not_edited_keeps_its_bytes() {
    let text = "{ \"messages\": [ {\"role\":\"user\", \"content\":\"a\"}, \
                {\"content\":[ {\"type\":\"tool_use\",\"input\":{\"n\":1.50e3,\"n\":\"\\ud800\"}} ,\
                {\"text\":\"b\" ,\"type\":\"text\"}],\"role\":\"assistant\"}] ,\"system\":\"s\" }";
    let base = raw(text);
    for given in [
        "{}",
        r#"{"messages":null,"config":{},"toolConfig":{}}"#,
        r#"{"messages":[{"role":"user","content":"a"},{"role":"model","content":"b"}]}"#,
    ] {
        let same = from_stable_request(ANTHROPIC, &raw(given), Some(&base)).unwrap();
        assert_eq!(same.value.as_str(), text, "{given}");
    }
    let given =
        raw(r#"{"messages":[{"role":"user","content":"a"},{"role":"model","content":"c"}]}"#);
    let changed = from_stable_request(ANTHROPIC, &given, Some(&base)).unwrap().value;
    assert_eq!(
        changed.as_str(),
        "{ \"messages\": [ {\"role\":\"user\", \"content\":\"a\"}, \
         {\"content\":[{\"type\":\"tool_use\",\"input\":{\"n\":1.50e3,\"n\":\"\\ud800\"}},\
         {\"text\":\"c\",\"type\":\"text\"}],\"role\":\"assistant\"}] ,\"system\":\"s\" }",
    );
}

#[test]
fn a_removed_message_leaves_what_is_not_text() {
    let (changed, said) = laid(&tool_call(), &["model: it is one", "user: thanks"]);
    let mut expected = tool_call();
    expected["messages"][0]["content"].as_array_mut().unwrap().remove(2);
    expected["messages"][1]["content"].as_array_mut().unwrap().remove(2);
    assert_eq!(changed, expected);
    assert_eq!(
        said,
        ["field `messages[0].content[2]`: the hook's text leaves out this block; \
             what it says beside its text is gone with it"],
    );

    let (changed, _) = laid(&tool_call(), &[]);
    expected["messages"].as_array_mut().unwrap().truncate(3);
    assert_eq!(changed, expected);
}

#[test]
fn thinking_that_led_to_nothing_but_removed_text_goes_with_it() {
    let thinking = json!({ "type": "thinking", "thinking": "hm", "signature": "c2ln" });
    let base = json!({ "messages": [
        say("user", "a"),
        { "role": "assistant", "content": [thinking, { "type": "text", "text": "b" }] },
        { "role": "assistant", "content": [thinking] },
        say("user", "c"),
    ] });
    let (changed, said) = laid(&base, &["user: a", "user: c"]);
    // What ended with thinking before is left as it is.
    assert_eq!(
        changed,
        json!({ "messages": [
        say("user", "a"), { "role": "assistant", "content": [thinking] }, say("user", "c"),
    ] })
    );
    assert_eq!(
        said,
        ["field `messages[1].content[0]`: the hook's text leaves out what this thinking led to; \
             it is gone with that"],
    );
}

#[test]
fn a_new_message_does_not_part_a_call_from_its_result() {
    for (at, role, own_role, expected_at) in [
        (0, "user", "user", 0),
        (1, "user", "user", 1),
        (2, "user", "user", 3),
        (2, "model", "assistant", 3),
        (4, "user", "user", 5),
    ] {
        let new = format!("{role}: be brief");
        let mut messages = SHOWN.to_vec();
        messages.insert(at, &new);
        let mut expected = tool_call();
        let list = expected["messages"].as_array_mut().unwrap();
        list.insert(expected_at, say(own_role, "be brief"));
        assert_eq!(laid(&tool_call(), &messages), (expected, vec![]), "at {at}");
    }

    // Where both have text, there is no place between them.
    let base = json!({ "messages": [
        { "role": "assistant", "content": [{ "type": "text", "text": "see" }, { "type": "tool_use", "id": "t" }] },
        { "role": "user", "content": [{ "type": "tool_result", "tool_use_id": "t" }, { "type": "text", "text": "done" }] },
    ] });
    let mut expected = base.clone();
    expected["messages"].as_array_mut().unwrap().push(say("user", "go on"));
    assert_eq!(laid(&base, &["model: see", "user: go on", "user: done"]), (expected, vec![]));
}

#[test]
fn a_message_by_system_is_appended_to_the_system_prompt() {
    let block = |text: &str| json!({ "type": "text", "text": text });
    let cached = json!({ "type": "text", "text": "s", "cache_control": { "type": "ephemeral" } });
    for (system, expected) in [
        (json!(null), json!([block("be brief"), block("and kind")])),
        (json!(""), json!([block("be brief"), block("and kind")])),
        (json!("s"), json!([block("s"), block("be brief"), block("and kind")])),
        (json!([cached]), json!([cached, block("be brief"), block("and kind")])),
    ] {
        let messages = json!([say("user", "a")]);
        let base = json!({ "system": system, "messages": messages });
        let (changed, said) =
            laid(&base, &["system: be brief", "user: a", "system: and kind", "system: "]);
        assert_eq!(changed, json!({ "system": expected, "messages": messages }));
        assert_eq!(said, Vec::<String>::new());
    }
    let base = object(&json!({ "system": 1, "messages": [] }));
    let given = object(&json!({ "messages": [say("system", "s")] }));
    let error = from_stable_request(ANTHROPIC, &given, Some(&base)).unwrap_err().to_string();
    assert_eq!(error, "field `system`: expected a string or an array, found a number");
}

#[test]
fn where_the_system_speaks_in_the_conversation_a_new_one_does_too() {
    let base = json!({ "messages": [say("system", "s"), say("user", "a")] });
    let (changed, _) = laid(&base, &["system: t", "user: a", "system: u"]);
    assert_eq!(
        changed,
        json!({ "messages": [say("system", "t"), say("user", "a"), say("system", "u")] }),
    );
}

#[test]
fn single_settings_override_only_where_given() {
    let base = json!({ "model": "m", "max_tokens": 5, "temperature": 1.0, "messages": [], "x": 1 });
    let given = json!({
        "model": "n", "surprise": 1,
        "config": { "maxOutputTokens": 7, "topK": 2, "topP": null, "temperature": 1.0,
            "stopSequences": ["x"], "tools": [] },
    });
    let changed = from_stable_request(ANTHROPIC, &object(&given), Some(&object(&base))).unwrap();
    assert_eq!(
        value(&changed.value),
        json!({
            "model": "n", "max_tokens": 7, "temperature": 1.0, "messages": [], "x": 1, "top_k": 2,
            "stop_sequences": ["x"],
        }),
    );
    assert_eq!(
        warnings(&changed),
        [
            "field `surprise`: not a field of a stable request; it is ignored",
            "field `config.tools`: not a setting that a hook can change here; it is ignored",
        ],
    );
}

#[test]
fn without_a_base_a_request_is_built() {
    let given = json!({
        "model": "m", "config": { "maxOutputTokens": 9 }, "toolConfig": { "mode": "AUTO" },
        "messages": [say("system", "s"), say("user", "a"), say("model", "b")],
    });
    let built = from_stable_request(ANTHROPIC, &object(&given), None).unwrap();
    assert_eq!(
        value(&built.value),
        json!({
            "model": "m", "max_tokens": 9, "tool_choice": { "type": "auto" },
            "system": [{ "type": "text", "text": "s" }],
            "messages": [say("user", "a"), say("assistant", "b")],
        }),
    );
    let nothing = from_stable_request(ANTHROPIC, &RawObject::empty(), None).unwrap();
    assert_eq!(nothing.value.as_str(), r#"{"messages":[]}"#);
}

#[test]
fn errors_name_the_path() {
    for (request, expected) in [
        (r#"{"messages":1}"#, "field `messages`: expected an array, found a number"),
        (r#"{"messages":["a"]}"#, "field `messages[0]`: expected an object, found a string"),
        (
            r#"{"messages":[{"role":"user","content":{}}]}"#,
            "field `messages[0].content`: expected a string or an array, found an object",
        ),
        (
            r#"{"messages":[{"role":1}]}"#,
            "field `messages[0].role`: expected a string, found a number",
        ),
        (
            r#"{"messages":[{},{},{},{"content":[{"type":"text","text":1}]}]}"#,
            "field `messages[3].content[0].text`: expected a string, found a number",
        ),
        (
            r#"{"messages":[{"content":[{},2]}]}"#,
            "field `messages[0].content[1]`: expected an object, found a number",
        ),
        (
            r#"{"tool_choice":{"type":1}}"#,
            "field `tool_choice.type`: expected a string, found a number",
        ),
        (r#"{"model":{}}"#, "field `model`: expected a string, found an object"),
    ] {
        let request = raw(request);
        let error = to_stable_request(ANTHROPIC, &request).unwrap_err().to_string();
        assert_eq!(error, expected);
        let given = raw(r#"{"messages":[],"toolConfig":{"mode":"ANY"}}"#);
        let error = from_stable_request(ANTHROPIC, &given, Some(&request)).unwrap_err().to_string();
        assert_eq!(error, expected);
    }
}

#[test]
fn arguments_may_nest_as_deep_as_they_like() {
    let deep = format!("{}{}", "[".repeat(100_000), "]".repeat(100_000));
    let request = |text: &str| {
        format!(
            r#"{{"messages":[{{"role":"assistant","content":[{{"type":"text","text":"{text}"}},{{"type":"tool_use","input":{{"deep":{deep}}}}}]}}]}}"#
        )
    };
    let given = object(&json!({ "messages": [say("model", "b")] }));
    let changed = from_stable_request(ANTHROPIC, &given, Some(&raw(&request("a")))).unwrap();
    assert_eq!(changed.value.as_str(), request("b"));
}

#[test]
fn a_long_conversation_changes_where_it_was_edited() {
    let number = 20_000;
    let texts: Vec<String> = (0..number).map(|number| format!("message number {number}")).collect();
    let mut messages: Vec<Value> = texts.iter().map(|text| say("user", text)).collect();
    let base = object(&json!({ "messages": messages }));
    for edited in [1, number - 2] {
        messages[edited]["content"] = json!("****");
    }
    let given = object(&json!({ "messages": messages }));
    let changed = from_stable_request(ANTHROPIC, &given, Some(&base)).unwrap();
    assert_eq!(value(&changed.value), json!({ "messages": messages }));
}

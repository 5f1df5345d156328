//! `modified`: what it changes, and what becomes of a change that cannot be made.

use serde_json::{Value, json};

use super::{by_client, by_command, by_worker, decision, hook, warnings};

fn tool() -> Value {
    json!({"tool_name": "run_shell_command", "tool_input": {"command": "ls", "timeout": 5}})
}

fn after_tool(response: Value) -> Value {
    let mut input = tool();
    input["tool_response"] = response;
    input["exit_code"] = json!(0);
    input
}

fn before_model(more: Value) -> Value {
    let mut input = json!({"sdk": "stable", "prompt": "hi", "llm_request": {"model": "m", "messages": [
        {"role": "system", "content": "be nice"},
        {"role": "user", "content": "earlier"},
        {"role": "model", "content": "hello"},
        {"role": "user", "content": "hi"},
        {"role": "user", "content": "a tool said so"}]}});
    for (name, value) in more.as_object().unwrap() {
        input[name] = value.clone();
    }
    input
}

fn after_model() -> Value {
    json!({"sdk": "stable", "llm_request": {"model": "m", "messages": []},
        "llm_response": {"text": "a secret", "candidates": [
            {"content": {"role": "model", "parts": ["a ", "secret"]}, "finishReason": "STOP", "index": 0},
            {"content": {"role": "model", "parts": ["other"]}, "index": 1}]},
        "usage": {"total_tokens": 3}})
}

/// What comes of a change by a client, a worker and a command in settings.
async fn each_way(
    (theirs, ours): (&str, &str),
    guards: bool,
    answer: &Value,
    input: &Value,
) -> Vec<(&'static str, Value)> {
    let hook = hook(theirs, guards);
    let mut of_worker = hook.clone();
    of_worker["vocabulary"] = json!("a3s");
    vec![
        ("client", by_client(hook, answer, ours, input).await),
        ("worker", by_worker(of_worker, answer, ours, input).await),
        ("command", by_command((Some("a3s"), theirs), guards, answer, ours, input).await),
    ]
}

fn modified(changes: Value) -> Value {
    json!({"action": "continue", "modified": changes})
}

#[tokio::test]
async fn modified_arguments_that_are_no_object_are_a_failure_and_a_guards_block() {
    let before = ("PreToolUse", "BeforeTool");
    for changes in [
        json!({"args": 7}),
        json!({"args": "ls"}),
        json!({"args": ["ls"]}),
        json!("args"),
        json!([]),
    ] {
        let answer = modified(changes.clone());
        for (way, response) in each_way(before, true, &answer, &tool()).await {
            assert_eq!(decision(&response), "block", "{way} {changes}: {response}");
            let error = response["hooks"][0]["error"].as_str().unwrap();
            assert!(error.contains("`modified"), "{way} {error}");
        }
        for (way, response) in each_way(before, false, &answer, &tool()).await {
            assert_eq!(decision(&response), "proceed", "{way} {changes}: {response}");
            assert!(warnings(&response).contains("`modified"), "{way} {changes}: {response}");
            assert_eq!(response["processed"].get("modified"), None, "{way} {response}");
        }
        // A denial is one, whatever stands beside it.
        let denial = json!({"action": "block", "reason": "no", "modified": changes});
        for guards in [true, false] {
            for (way, response) in each_way(before, guards, &denial, &tool()).await {
                assert_eq!(decision(&response), "block", "{way} {changes}: {response}");
                assert_eq!(response["processed"]["reason"], "no", "{way} {response}");
            }
        }
    }
}

#[tokio::test]
async fn modified_prompts_take_the_place_of_those_of_the_call() {
    let start = ("GenerateStart", "BeforeModel");
    let conversation = |system: Option<&str>, prompt: &str| {
        let system = system.map(|text| json!({"role": "system", "content": text}));
        let rest = [
            json!({"role": "user", "content": "earlier"}),
            json!({"role": "model", "content": "hello"}),
            json!({"role": "user", "content": prompt}),
            json!({"role": "user", "content": "a tool said so"}),
        ];
        json!(system.into_iter().chain(rest).collect::<Vec<_>>())
    };
    let without_system = |told: Option<&str>| {
        let mut input = before_model(json!({}));
        input["llm_request"]["messages"].as_array_mut().unwrap().remove(0);
        if let Some(told) = told {
            input["system_prompt"] = json!(told);
        }
        input
    };
    for (input, changes, messages) in [
        (
            before_model(json!({})),
            json!({"prompt": "hi\n\nIt is Monday."}),
            conversation(Some("be nice"), "hi\n\nIt is Monday."),
        ),
        (
            before_model(json!({})),
            json!({"systemPrompt": "be brief", "prompt": "hm"}),
            conversation(Some("be brief"), "hm"),
        ),
        // Where there is no system prompt, it is one; where one stands elsewhere, it is added to.
        (
            without_system(None),
            json!({"systemPrompt": "be brief"}),
            conversation(Some("be brief"), "hi"),
        ),
        (
            without_system(Some("be nice")),
            json!({"systemPrompt": "be nice\nbe brief"}),
            conversation(Some("be brief"), "hi"),
        ),
    ] {
        let answer = modified(changes.clone());
        for (way, response) in each_way(start, true, &answer, &input).await {
            assert_eq!(decision(&response), "proceed", "{way} {changes}: {response}");
            let expected = json!({"llm_request": {"messages": messages}});
            assert_eq!(response["processed"]["modified"], expected, "{way} {changes}");
        }
    }
}

#[tokio::test]
async fn a_modified_response_or_result_takes_the_place_of_what_there_was() {
    let end = ("GenerateEnd", "AfterModel");
    let text = "a [redacted]";
    let whole = json!({"text": text, "usage": {"total_tokens": 3}});
    for changes in [json!({"response": text}), json!({"response": whole})] {
        for (way, response) in each_way(end, true, &modified(changes.clone()), &after_model()).await
        {
            assert_eq!(decision(&response), "proceed", "{way} {changes}: {response}");
            let candidates = json!([
                {"content": {"role": "model", "parts": [text]}, "finishReason": "STOP", "index": 0},
                {"content": {"role": "model", "parts": ["other"]}, "index": 1}]);
            let expected = json!({"llm_response": {"text": text, "candidates": candidates}});
            assert_eq!(response["processed"]["modified"], expected, "{way} {changes}");
        }
    }
    let post = ("PostToolUse", "AfterTool");
    for (told, changes, expected) in [
        (json!("secret"), json!({"result": "[redacted]"}), json!("[redacted]")),
        (
            json!("secret"),
            json!({"result": {"success": true, "output": "[redacted]", "exitCode": 0}}),
            json!("[redacted]"),
        ),
        (
            json!({"llmContent": "secret", "returnDisplay": "d"}),
            json!({"result": {"output": "[redacted]"}}),
            json!({"llmContent": "[redacted]", "returnDisplay": "d"}),
        ),
        (json!({"n": 1}), json!({"result": "{\"n\":2}"}), json!({"n": 2})),
    ] {
        for (way, response) in
            each_way(post, true, &modified(changes.clone()), &after_tool(told)).await
        {
            assert_eq!(decision(&response), "proceed", "{way} {changes}: {response}");
            let given = &response["output"]["finalOutput"]["hookSpecificOutput"]["tool_response"];
            assert_eq!(given, &expected, "{way} {changes}: {response}");
        }
    }
}

#[tokio::test]
async fn a_modification_that_the_engine_cannot_make_is_an_invalid_answer() {
    let before = ("PreToolUse", "BeforeTool");
    let start = ("GenerateStart", "BeforeModel");
    let end = ("GenerateEnd", "AfterModel");
    let post = ("PostToolUse", "AfterTool");
    let elsewhere = {
        let mut input = before_model(json!({"system_prompt": "be nice"}));
        input["llm_request"]["messages"].as_array_mut().unwrap().remove(0);
        input
    };
    for (events, input, changes, said) in [
        (before, tool(), json!({"prompt": "p"}), "`modified.prompt` changes nothing on PreToolUse"),
        (before, tool(), json!({"arguments": {}}), "`modified.arguments` changes nothing"),
        (post, after_tool(json!("x")), json!({"args": {}}), "`modified.args` changes nothing"),
        (start, before_model(json!({})), json!({"prompt": 7}), "`modified.prompt` is no text"),
        (
            start,
            before_model(json!({"prompt": "is not there"})),
            json!({"prompt": "p"}),
            "no message",
        ),
        (start, elsewhere, json!({"systemPrompt": "be evil"}), "outside of the conversation"),
        (end, after_model(), json!({"response": 7}), "`modified.response`"),
        (end, after_model(), json!({"response": {"usage": {}}}), "`modified.response"),
        (end, after_model(), json!({"response": {"text": "x", "toolCalls": [1]}}), "toolCalls"),
        (post, after_tool(json!("x")), json!({"result": {"success": true}}), "`modified.result`"),
        (
            post,
            after_tool(json!("x")),
            json!({"result": {"output": "y", "success": false}}),
            "success",
        ),
        (post, after_tool(json!({"n": 1})), json!({"result": "y"}), "`modified.result`"),
    ] {
        let answer = modified(changes.clone());
        for (way, response) in each_way(events, true, &answer, &input).await {
            assert_eq!(decision(&response), "block", "{way} {changes}: {response}");
            let error = response["hooks"][0]["error"].as_str().unwrap();
            assert!(error.contains(said), "{way} {changes}: {error}");
        }
        for (way, response) in each_way(events, false, &answer, &input).await {
            assert_eq!(decision(&response), "proceed", "{way} {changes}: {response}");
            assert!(warnings(&response).contains(said), "{way} {changes}: {response}");
        }
    }
}

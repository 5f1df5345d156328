//! What an agent does with its hooks' answers (reference/answers.md), every branch with a real script.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use futures::stream;
use hook_bus::triggers::{
    AfterModelDecision, BeforeAgentDecision, BeforeModelDecision, ChunkHooks, ModelCall,
    ModelCallResult, ModelChunk, ModelVerdict, ToolCall, ToolContent, ToolResult, ToolVerdict,
    TurnEnd, call_model_with_hooks, execute_tool_with_hooks, fire_after_agent_hook,
    fire_after_model_hook, fire_before_agent_hook, fire_before_model_hook,
    fire_before_tool_selection_hook, fire_notification_hook, fire_pre_compress_hook,
    fire_session_end_hook, fire_session_start_hook,
};
use hook_bus::{AgentHost, HookExecutionResponse, HookSystem, MessageBus, Sdk};
use hook_json::RawObject;
use hook_protocol::{
    NotificationInput, PreCompressTrigger, SessionEndReason, SessionStartSource, ToolName,
};
use hook_tests::{Project, object, value};
use serde_json::{Value, json};
use tokio_stream::StreamExt;

/// An agent with one hook: that output for that event.
fn saying(event: &str, output: &Value) -> (Project, AgentHost) {
    let project = Project::with_hook(event, "cat > told; cat output");
    project.write("output", &output.to_string());
    let host = AgentHost::new(project.builder());
    (project, host)
}

/// An agent with one hook: that command for that event.
fn doing(event: &str, command: &str) -> (Project, AgentHost) {
    let project = Project::with_hook(event, command);
    let host = AgentHost::new(project.builder());
    (project, host)
}

fn told(project: &Project) -> Value {
    serde_json::from_str(&project.read("told")).unwrap_or_default()
}

fn call() -> ToolCall {
    ToolCall::new(ToolName::new("write_file").unwrap(), object(json!({"path": "a", "mode": 1})))
}

/// Calls a tool that says what it was called with; how often it ran.
async fn run_tool(host: &AgentHost) -> (ToolResult, usize) {
    let runs = AtomicUsize::new(0);
    let result = execute_tool_with_hooks(host, call(), async |input: RawObject| {
        runs.fetch_add(1, Ordering::Relaxed);
        ToolResult::text(format!("wrote {}", input.as_str()))
    })
    .await;
    (result, runs.into_inner())
}

fn text(result: &ToolResult) -> &str {
    match &result.llm_content {
        ToolContent::Text(text) => text,
        ToolContent::Parts(_) => panic!("{result:?}"),
    }
}

const WROTE: &str = r#"wrote {"path":"a","mode":1}"#;

#[tokio::test]
async fn without_hooks_no_system_is_built_and_everything_goes_on() {
    let bus = MessageBus::new();
    let host = AgentHost::new(HookSystem::builder(".").bus(bus.clone())).hooks_enabled(false);
    assert_eq!(text(&run_tool(&host).await.0), WROTE);
    assert!(host.hook_system().is_none());
    // The bus has no handler: another system can still attach.
    assert!(HookSystem::builder(".").bus(bus).build().is_ok());
}

#[tokio::test]
async fn a_host_builds_its_hook_system_once_and_knows_its_session() {
    let project = Project::with_hook("BeforeTool", "cat > told");
    let host =
        AgentHost::new(project.builder().session_id("s-1").transcript_path("/tmp/transcript.json"));
    let first: *const HookSystem = host.hook_system().unwrap();
    run_tool(&host).await;
    assert!(std::ptr::eq(first, host.hook_system().unwrap()));
    assert_eq!(host.session_id(), "s-1");
    assert_eq!(host.working_directory(), project.path().to_str().unwrap());
    assert_eq!(told(&project)["transcript_path"], host.transcript_path());
}

#[tokio::test]
async fn a_blocked_tool_never_runs_and_the_model_learns_why() {
    for (project, host) in [
        saying("BeforeTool", &json!({"decision": "block", "reason": "no"})),
        doing("BeforeTool", "echo no >&2; exit 2"),
    ] {
        let (result, runs) = run_tool(&host).await;
        assert_eq!((text(&result), runs), ("no", 0));
        assert_eq!(result.verdict, ToolVerdict::Blocked { reason: "no".into() });
        assert_eq!(result.error.as_deref(), Some("no"));
        drop(project);
    }
}

#[tokio::test]
async fn a_stop_before_a_tool_stops_and_one_after_it_too() {
    let output = json!({"continue": false, "stopReason": "enough"});
    for (event, ran) in [("BeforeTool", false), ("AfterTool", true)] {
        let (_project, host) = saying(event, &output);
        let (result, runs) = run_tool(&host).await;
        assert_eq!(runs, usize::from(ran));
        assert_eq!(result.verdict, ToolVerdict::Stopped { reason: "enough".into(), ran });
        assert_eq!(text(&result), "enough");
    }
}

#[tokio::test]
async fn who_confirms_decides_what_a_hook_asks_about() {
    let ask = json!({"decision": "ask", "reason": "sure?"});
    let (_project, host) = saying("BeforeTool", &ask);
    let (result, runs) = run_tool(&host).await;
    assert_eq!((text(&result), runs), ("needs confirmation: sure?", 0));
    for answer in [true, false] {
        let (_project, host) = saying("BeforeTool", &ask);
        let host = host.approver(move |request| async move {
            assert_eq!((&*request.subject, &*request.reason), ("write_file", "sure?"));
            answer
        });
        let (result, runs) = run_tool(&host).await;
        assert_eq!(runs, usize::from(answer));
        assert_eq!(text(&result), if answer { WROTE } else { "not confirmed: sure?" });
    }
}

#[tokio::test]
async fn what_a_hook_asks_about_elsewhere_is_a_block_where_nobody_confirms() {
    let ask = json!({"decision": "ask", "reason": "sure?"});
    let reason = "needs confirmation: sure?".to_owned();
    let (_project, host) = saying("AfterTool", &ask);
    let (result, runs) = run_tool(&host).await;
    assert_eq!((result.verdict, runs), (ToolVerdict::Replaced { reason: reason.clone() }, 1));
    for (event, called) in [("BeforeModel", false), ("AfterModel", true)] {
        let (_project, host) = saying(event, &ask);
        let (_, result, _) = run_model(&host, ChunkHooks::Complete).await;
        let verdict = ModelVerdict::Blocked { reason: reason.clone(), called };
        assert_eq!(result.verdict, verdict, "{event}");
        let (_project, host) = saying(event, &ask);
        let host = host.approver(|_request| async { true });
        let (_, result, _) = run_model(&host, ChunkHooks::Complete).await;
        assert_eq!(result.verdict, ModelVerdict::Called, "{event}");
    }
}

#[tokio::test]
async fn a_tool_runs_with_the_input_that_hooks_left_and_after_hooks_see_that() {
    let project = Project::with_settings(&json!({"hooks": {
        "BeforeTool": [{"hooks": [{"type": "command", "command":
            r#"echo '{"hookSpecificOutput":{"tool_input":{"path":"safe"}}}'"#}]}],
        "AfterTool": [{"hooks": [{"type": "command", "command": "cat > told"}]}]}}));
    let host = AgentHost::new(project.builder());
    let (result, _) = run_tool(&host).await;
    assert_eq!(text(&result), r#"wrote {"path":"safe","mode":1}"#);
    assert_eq!(result.verdict, ToolVerdict::Ran);
    let told = told(&project);
    assert_eq!(told["tool_input"], json!({"path": "safe", "mode": 1}));
    assert_eq!(told["tool_response"], json!({"llmContent": text(&result)}));
}

#[tokio::test]
async fn after_a_tool_context_and_messages_are_appended_and_the_display_suppressed() {
    let project = Project::with_settings(&json!({"hooks": {
        "BeforeTool": [{"hooks": [{"type": "command", "command":
            r#"echo '{"systemMessage":"before"}'"#}]}],
        "AfterTool": [{"hooks": [{"type": "command", "command":
            r#"echo '{"systemMessage":"after","suppressOutput":true,
               "hookSpecificOutput":{"additionalContext":"mind the gap"}}'"#}]}]}}));
    let host = AgentHost::new(project.builder());
    let (result, _) = run_tool(&host).await;
    assert_eq!(
        text(&result),
        format!("{WROTE}\n\n[System] before\n\nmind the gap\n\n[System] after")
    );
    assert!(result.suppress_display, "and the model sees it all the same");
    assert_eq!(result.message_for_user.as_deref(), Some("before"));
}

#[tokio::test]
async fn what_is_suppressed_before_a_tool_hides_its_result_from_the_display() {
    for event in ["BeforeTool", "AfterTool"] {
        let (_project, host) =
            saying(event, &json!({"systemMessage": "m", "suppressOutput": true}));
        let (result, runs) = run_tool(&host).await;
        assert!(result.suppress_display && result.message_for_user.is_none(), "{event}");
        assert_eq!((text(&result), runs), (&*format!("{WROTE}\n\n[System] m"), 1), "{event}");
    }
    // Whatever is said after it.
    let project = Project::with_settings(&json!({"hooks": {
        "BeforeTool": [{"hooks": [{"type": "command", "command": r#"echo '{"suppressOutput":true}'"#}]}],
        "AfterTool": [{"hooks": [{"type": "command", "command": r#"echo '{"suppressOutput":false}'"#}]}]}}));
    assert!(run_tool(&AgentHost::new(project.builder())).await.0.suppress_display);
    // And what the agent itself does not display stays so.
    let (_project, host) = saying("BeforeTool", &json!({"systemMessage": "m"}));
    let result = execute_tool_with_hooks(&host, call(), async |_input| {
        let mut result = ToolResult::of(ToolContent::Text("hidden".to_owned()));
        result.suppress_display = true;
        result
    });
    assert!(result.await.suppress_display);
}

#[tokio::test]
async fn a_block_after_a_tool_puts_the_reason_in_place_of_the_result() {
    let (_project, host) =
        saying("AfterTool", &json!({"decision": "block", "reason": "secret inside"}));
    let (result, runs) = run_tool(&host).await;
    assert_eq!((text(&result), runs), ("secret inside", 1));
    assert_eq!(result.verdict, ToolVerdict::Replaced { reason: "secret inside".into() });
}

#[tokio::test]
async fn text_joins_a_result_of_parts_as_a_part_of_its_own() {
    let context = json!({"hookSpecificOutput": {"additionalContext": "mind the gap"}});
    for (part, appended) in [
        (json!({"inlineData": {"data": "AA"}}), json!({"text": "mind the gap"})),
        (json!({"type": "image"}), json!({"type": "text", "text": "mind the gap"})),
    ] {
        let (_project, host) = saying("AfterTool", &context);
        let result = execute_tool_with_hooks(&host, call(), async |_input| {
            ToolResult::of(ToolContent::Parts(vec![object(part.clone()).into()]))
        });
        let ToolContent::Parts(parts) = result.await.llm_content else { panic!() };
        let parts: Vec<Value> = parts.iter().map(value).collect();
        assert_eq!(parts, [part, appended]);
    }
}

#[tokio::test]
async fn what_hooks_tell_the_model_is_cut_to_sixteen_kibibytes_and_that_is_said() {
    let script = r#"python3 -c 'import json; print(json.dumps({"hookSpecificOutput": {"additionalContext": "x" * 100000}}))'"#;
    let (_project, host) = doing("AfterTool", script);
    let (result, _) = run_tool(&host).await;
    let added = &text(&result)[WROTE.len()..];
    assert!((16 * 1024..17 * 1024).contains(&added.len()), "{}", added.len());
    assert!(added.ends_with("[83616 more bytes of hooks were cut]"), "{}", &added[16_300..]);
}

#[tokio::test]
async fn a_failing_hook_changes_nothing_unless_it_blocks_on_failure() {
    let (_project, host) = doing("BeforeTool", "kill -KILL $$");
    let mut responses = host.hook_system().unwrap().bus().subscribe::<HookExecutionResponse>();
    assert_eq!(text(&run_tool(&host).await.0), WROTE);
    let response = responses.next().await.unwrap().unwrap();
    assert!(!response.processed.aggregated.errors.is_empty(), "it is on the bus");

    let project = Project::with_settings(&json!({"hooks": {"BeforeTool": [{"hooks": [
        {"type": "command", "command": "kill -KILL $$", "failBehavior": "block"}]}]}}));
    let (result, runs) = run_tool(&AgentHost::new(project.builder())).await;
    assert_eq!(runs, 0);
    assert!(matches!(result.verdict, ToolVerdict::Blocked { .. }));
}

fn genai() -> RawObject {
    object(json!({"model": "m", "contents": [
        {"role": "user", "parts": [{"text": "my key is 1234"}, {"inlineData": {"data": "AA"}}]}],
        "config": {"tools": [{"functionDeclarations": [{"name": "a"}, {"name": "b"}]}]}}))
}

fn model_call() -> ModelCall {
    ModelCall::new(Sdk::GenAi, genai())
}

fn says(text: &str) -> RawObject {
    object(json!({"candidates": [{"content": {"role": "model", "parts": [{"text": text}]}}]}))
}

fn text_of(response: &RawObject) -> String {
    let response = value(response.as_raw());
    let parts = response["candidates"][0]["content"]["parts"].as_array().cloned();
    parts.unwrap_or_default().iter().filter_map(|part| part["text"].as_str()).collect()
}

/// Calls a model that answers in two chunks; what was displayed, the result, and the request the
/// model got.
async fn run_model(
    host: &AgentHost,
    hooks: ChunkHooks,
) -> (Vec<ModelChunk>, ModelCallResult, Option<Value>) {
    let mut asked = None;
    let mut answer = call_model_with_hooks(host, model_call(), hooks, |request| {
        asked = Some(value(request.as_raw()));
        let chunks = stream::iter([Ok(says("the key ")), Ok(says("is 1234"))]);
        async { Ok::<_, String>(chunks) }
    })
    .await;
    let mut displayed = Vec::new();
    while let Some(chunk) = answer.next().await {
        displayed.push(chunk.unwrap());
    }
    let result = answer.finish().await.unwrap();
    (displayed, result, asked)
}

#[tokio::test]
async fn a_model_call_without_hooks_passes_through() {
    let host = AgentHost::new(HookSystem::builder("."));
    let (displayed, result, asked) = run_model(&host, ChunkHooks::Complete).await;
    assert_eq!(asked, Some(value(genai().as_raw())));
    assert_eq!(displayed.len(), 2);
    assert_eq!(text_of(&result.response.unwrap()), "the key is 1234");
    assert_eq!(result.verdict, ModelVerdict::Called);
}

#[tokio::test]
async fn a_blocked_model_is_not_called_and_a_synthetic_response_takes_its_place() {
    let answer = json!({"candidates": [{"content": {"role": "model", "parts": ["from a hook"]}}]});
    for (output, expected, verdict) in [
        (
            json!({"decision": "block", "reason": "no"}),
            "no",
            ModelVerdict::Blocked { reason: "no".into(), called: false },
        ),
        (
            json!({"decision": "block", "reason": "no",
                "hookSpecificOutput": {"llm_response": answer}}),
            "from a hook",
            ModelVerdict::Blocked { reason: "no".into(), called: false },
        ),
        (
            json!({"continue": false, "stopReason": "enough"}),
            "enough",
            ModelVerdict::Stopped { reason: "enough".into(), called: false },
        ),
        (
            json!({"hookSpecificOutput": {"llm_response": answer}}),
            "from a hook",
            ModelVerdict::Answered,
        ),
    ] {
        let (_project, host) = saying("BeforeModel", &output);
        let (displayed, result, asked) = run_model(&host, ChunkHooks::Complete).await;
        assert_eq!(asked, None, "{output}");
        let response = result.response.unwrap();
        assert_eq!(text_of(&response), expected);
        assert_eq!(displayed, [ModelChunk::Complete(response)]);
        assert_eq!(result.verdict, verdict);
    }
}

#[tokio::test]
async fn the_model_sees_the_request_that_hooks_left_and_what_they_say() {
    let (project, host) = saying(
        "BeforeModel",
        &json!({"systemMessage": "be brief", "hookSpecificOutput": {"llm_request": {
            "model": "other", "messages": [{"role": "user", "content": "my key is ****"}]}}}),
    );
    let (_, result, asked) = run_model(&host, ChunkHooks::Complete).await;
    assert_eq!(
        told(&project)["llm_request"]["messages"],
        json!([{"role": "user", "content": "my key is 1234"}])
    );
    let asked = asked.unwrap();
    assert_eq!(asked["model"], "other");
    assert_eq!(
        asked["contents"],
        json!([
            {"role": "user", "parts": [{"text": "my key is ****"}, {"inlineData": {"data": "AA"}}]},
            {"role": "user", "parts": [{"text": "[System] be brief"}]}])
    );
    assert_eq!(asked["config"], value(genai().as_raw())["config"]);
    assert_eq!(result.for_user.as_deref(), Some("be brief"));
}

#[tokio::test]
async fn hooks_narrow_the_tools_that_a_model_may_call() {
    let any = json!({"hookSpecificOutput": {"toolConfig": {
        "mode": "ANY", "allowedFunctionNames": ["a"]}}});
    for (output, expected, withheld) in [
        (any, json!({"mode": "ANY", "allowedFunctionNames": ["a"]}), None),
        (json!({"decision": "block", "reason": "no"}), json!({"mode": "NONE"}), Some("no")),
    ] {
        let (_project, host) = saying("BeforeToolSelection", &output);
        let (_, result, asked) = run_model(&host, ChunkHooks::Complete).await;
        assert_eq!(result.tools_withheld.as_deref(), withheld);
        let config = &asked.unwrap()["config"];
        assert_eq!(config["toolConfig"]["functionCallingConfig"], expected);
        assert_eq!(config["tools"], value(genai().as_raw())["config"]["tools"]);
    }
    let (_project, host) =
        saying("BeforeToolSelection", &json!({"continue": false, "stopReason": "enough"}));
    let (_, result, asked) = run_model(&host, ChunkHooks::Complete).await;
    assert_eq!(asked, None);
    assert_eq!(result.verdict, ModelVerdict::Stopped { reason: "enough".into(), called: false });
    let selection = fire_before_tool_selection_hook(&host, &model_call()).await;
    assert_eq!((selection.tool_config, selection.stop), (None, Some("enough".into())));
}

/// Puts stars for digits in the first candidate's text.
const REDACT: &str = r#"python3 -c '
import json, re, sys
told = json.load(sys.stdin)
open("seen", "a").write(json.dumps(told.get("chunk_index")) + "\n")
parts = told["llm_response"]["candidates"][0]["content"]["parts"]
parts = [re.sub("[0-9]", "*", part) for part in parts]
print(json.dumps({"hookSpecificOutput": {"llm_response": {
    "candidates": [{"content": {"role": "model", "parts": parts}}]}}}))'"#;

#[tokio::test]
async fn a_complete_answer_is_redacted_and_its_chunks_were_passed_on() {
    let (project, host) = doing("AfterModel", REDACT);
    let (displayed, result, _) = run_model(&host, ChunkHooks::Complete).await;
    assert_eq!(
        displayed,
        [ModelChunk::Chunk(says("the key ")), ModelChunk::Chunk(says("is 1234"))]
    );
    assert_eq!(text_of(&result.response.unwrap()), "the key is ****");
    assert_eq!(project.read("seen"), "null\n", "it ran once");
}

#[tokio::test]
async fn each_chunk_is_redacted_before_display_where_that_is_asked_for() {
    let (project, host) = doing("AfterModel", REDACT);
    let (displayed, result, _) = run_model(&host, ChunkHooks::Each).await;
    assert_eq!(
        displayed,
        [ModelChunk::Chunk(says("the key ")), ModelChunk::Chunk(says("is ****"))]
    );
    assert_eq!(text_of(&result.response.unwrap()), "the key is ****");
    assert_eq!(project.read("seen"), "0\n1\nnull\n", "for each chunk, and for all of it");
}

/// Each SDK's request, and the chunks in which it says `key 1234`.
fn streams() -> Vec<(Sdk, Value, Vec<Value>)> {
    let messages = json!([{"role": "user", "content": "Hi"}]);
    let delta = |text: &str| {
        json!({"id": "c", "object": "chat.completion.chunk", "created": 1, "model": "m",
            "choices": [{"index": 0, "delta": {"role": "assistant", "content": text}}]})
    };
    let item = json!({"type": "message", "id": "i", "role": "assistant", "status": "completed",
        "content": [{"type": "output_text", "text": "key 1234", "annotations": []}]});
    let event = |text: &str| {
        json!({"type": "response.output_text.delta", "item_id": "i", "output_index": 0,
            "content_index": 0, "delta": text})
    };
    let block = |text: &str| {
        json!({"type": "content_block_delta", "index": 0,
            "delta": {"type": "text_delta", "text": text}})
    };
    let stable = |text: &str| json!({"candidates": [{"content": {"role": "model", "parts": [text]}, "index": 0}]});
    vec![
        (
            Sdk::Stable,
            json!({"model": "m", "messages": messages, "config": {"topP": 1}}),
            vec![stable("key "), stable("1234")],
        ),
        (
            Sdk::GenAi,
            json!({"model": "m", "contents": "Hi"}),
            ["key ", "1234"].map(|text| value(says(text).as_raw())).to_vec(),
        ),
        (
            Sdk::OpenAiChat,
            json!({"model": "m", "messages": messages}),
            vec![
                delta("key "),
                delta("1234"),
                json!({"id": "c", "object": "chat.completion.chunk", "created": 1, "model": "m",
                    "choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]}),
            ],
        ),
        (
            Sdk::OpenAiResponses,
            json!({"model": "m", "input": "Hi"}),
            vec![
                event("key "),
                event("1234"),
                json!({"type": "response.completed", "response": {"id": "r", "object": "response",
                    "status": "completed", "output": [item]}}),
            ],
        ),
        (
            Sdk::Anthropic,
            json!({"model": "m", "max_tokens": 9, "messages": messages}),
            vec![
                json!({"type": "message_start", "message": {"id": "a", "type": "message",
                    "role": "assistant", "model": "m", "content": [], "stop_reason": null,
                    "usage": {"input_tokens": 1, "output_tokens": 1}}}),
                json!({"type": "content_block_start", "index": 0,
                    "content_block": {"type": "text", "text": ""}}),
                block("key "),
                block("1234"),
                json!({"type": "content_block_stop", "index": 0}),
                json!({"type": "message_delta", "delta": {"stop_reason": "end_turn"},
                    "usage": {"output_tokens": 4}}),
                json!({"type": "message_stop"}),
            ],
        ),
    ]
}

#[tokio::test]
async fn the_streams_of_every_sdk_are_redacted_chunk_by_chunk_and_as_a_whole() {
    for (sdk, request, chunks) in streams() {
        let (_project, host) = doing("AfterModel", REDACT);
        for hooks in [ChunkHooks::Complete, ChunkHooks::Each] {
            let call = ModelCall::new(sdk, object(request.clone()));
            let mut answer = call_model_with_hooks(&host, call, hooks, async |_request| {
                let chunks = chunks.clone().into_iter().map(|chunk| Ok(object(chunk)));
                Ok::<_, String>(stream::iter(chunks))
            })
            .await;
            let mut displayed = Vec::new();
            while let Some(chunk) = answer.next().await {
                let ModelChunk::Chunk(chunk) = chunk.unwrap() else {
                    panic!("nothing was blocked")
                };
                displayed.push(value(chunk.as_raw()));
            }
            let result = answer.finish().await.unwrap();
            assert_eq!(result.warnings, [""; 0], "{sdk}");
            let response = result.response.unwrap().as_str().to_owned();
            assert!(response.contains("key ****") && !response.contains("1234"), "{response}");
            let displayed = Value::from(displayed).to_string();
            match hooks {
                ChunkHooks::Complete => assert_eq!(displayed, json!(chunks).to_string()),
                ChunkHooks::Each => {
                    assert!(
                        displayed.contains("****") && !displayed.contains("1234"),
                        "{displayed}"
                    );
                }
            }
        }
    }
}

#[tokio::test]
async fn requests_of_every_sdk_get_what_hooks_say() {
    for (sdk, request, _) in streams() {
        let output = json!({"decision": "block", "reason": "not today"});
        let (_project, host) = saying("BeforeModel", &output);
        let call = ModelCall::new(sdk, object(request.clone()));
        let before = fire_before_model_hook(&host, &call).await;
        let BeforeModelDecision::Block { response, .. } = before.decision else { panic!("{sdk}") };
        assert!(response.as_str().contains("not today"), "{response:?}");

        let (_project, host) = saying("BeforeModel", &json!({"systemMessage": "be brief"}));
        let before = fire_before_model_hook(&host, &call).await;
        let BeforeModelDecision::Call { request } = before.decision else { panic!("{sdk}") };
        let said = request.as_str();
        assert!(said.contains("Hi") && said.contains("[System] be brief"), "{said}");
        assert!(said.contains(r#""model":"m""#), "{said}");
    }
}

#[tokio::test]
async fn a_call_that_does_not_stream_is_a_stream_of_one() {
    let text = "key 1234";
    for (sdk, response) in [
        (Sdk::GenAi, value(says(text).as_raw())),
        (
            Sdk::OpenAiChat,
            json!({"id": "c", "object": "chat.completion", "created": 1, "model": "m", "choices": [
                {"index": 0, "message": {"role": "assistant", "content": text},
                    "finish_reason": "stop"}]}),
        ),
        (
            Sdk::OpenAiResponses,
            json!({"id": "r", "object": "response", "status": "completed", "output": [
                {"type": "message", "id": "i", "role": "assistant", "status": "completed",
                    "content": [{"type": "output_text", "text": text, "annotations": []}]}]}),
        ),
        (
            Sdk::Anthropic,
            json!({"id": "a", "type": "message", "role": "assistant", "model": "m",
                "content": [{"type": "text", "text": text}], "stop_reason": "end_turn",
                "usage": {"input_tokens": 1, "output_tokens": 1}}),
        ),
    ] {
        let (_, request, _) = streams().into_iter().find(|stream| stream.0 == sdk).unwrap();
        let (_project, host) = doing("AfterModel", REDACT);
        let call = ModelCall::new(sdk, object(request));
        let chunks = stream::iter([Ok::<_, String>(object(response.clone()))]);
        let mut answer =
            call_model_with_hooks(&host, call, ChunkHooks::Each, async |_| Ok(chunks)).await;
        let Some(Ok(ModelChunk::Chunk(displayed))) = answer.next().await else { panic!("{sdk}") };
        let expected = response.to_string().replace("1234", "****");
        assert_eq!(displayed.as_str(), expected);
        assert_eq!(answer.finish().await.unwrap().response.unwrap().as_str(), expected);
    }
}

#[tokio::test]
async fn what_hooks_repeat_for_each_chunk_is_said_once() {
    let says_both = json!({"systemMessage": "be brief",
        "hookSpecificOutput": {"additionalContext": "one\n\ntwo"}});
    let (_project, host) = saying("AfterModel", &says_both);
    let (_, result, _) = run_model(&host, ChunkHooks::Each).await;
    assert_eq!(result.for_next_request.as_deref(), Some("one\n\ntwo\n\n[System] be brief"));
    assert_eq!(result.for_user.as_deref(), Some("be brief"));
}

#[tokio::test]
async fn who_stops_waiting_for_a_chunk_gets_it_the_next_time() {
    let (project, host) =
        doing("AfterModel", "touch looking; while ! [ -e go ]; do sleep 0.02; done");
    let chunks = stream::iter([Ok::<_, String>(says("the key "))]);
    let mut answer =
        call_model_with_hooks(&host, model_call(), ChunkHooks::Each, async |_| Ok(chunks)).await;
    tokio::select! {
        chunk = answer.next() => panic!("{chunk:?} came before its hook was done"),
        () = project.appears("looking") => {}
    }
    project.write("go", "");
    assert_eq!(answer.next().await, Some(Ok(ModelChunk::Chunk(says("the key ")))));
    assert_eq!(answer.next().await, None);
    assert_eq!(text_of(&answer.finish().await.unwrap().response.unwrap()), "the key ");
}

#[tokio::test]
async fn a_call_that_fails_is_an_error_of_the_stream() {
    let host = AgentHost::new(HookSystem::builder("."));
    let fails = async |_| Err::<stream::Empty<Result<RawObject, _>>, _>("no route to the model");
    let mut answer = call_model_with_hooks(&host, model_call(), ChunkHooks::Complete, fails).await;
    assert_eq!(answer.next().await, Some(Err("no route to the model")));
    assert_eq!(answer.finish().await.unwrap().verdict, ModelVerdict::Interrupted);
}

#[tokio::test]
async fn a_redaction_may_be_text_alone_and_survives_what_later_hooks_say() {
    let hook = |output: Value| json!({"type": "command", "command": format!("echo '{output}'")});
    let project = Project::with_settings(&json!({"hooks": {"AfterModel": [{"hooks": [
        hook(json!({"hookSpecificOutput": {"llm_response": {"text": "the key is ****"}}})),
        hook(json!({"hookSpecificOutput": {"llm_response": {
            "usageMetadata": {"totalTokenCount": 3}}}}))]}]}}));
    let (_, result, _) = run_model(&AgentHost::new(project.builder()), ChunkHooks::Complete).await;
    assert_eq!(text_of(&result.response.unwrap()), "the key is ****");
}

#[tokio::test]
async fn a_selection_guard_that_cannot_run_keeps_the_model_from_being_called() {
    let project = Project::with_settings(&json!({"hooks": {"BeforeToolSelection": [{"hooks": [
        {"type": "command", "command": "true", "failBehavior": "block"}]}]}}));
    let host = AgentHost::new(project.builder());
    let body =
        object(json!({"model": "m", "contents": [{"role": "user", "parts": [{"text": 7}]}]}));
    let call = ModelCall::new(Sdk::GenAi, body);
    let answer = call_model_with_hooks(&host, call, ChunkHooks::Complete, async |_request| {
        Ok(stream::iter([Ok::<_, String>(says("never"))]))
    });
    let result = answer.await.finish().await.unwrap();
    assert!(matches!(result.verdict, ModelVerdict::Blocked { called: false, .. }), "{result:?}");
}

#[tokio::test]
async fn an_answer_can_be_blocked_or_stop_the_agent() {
    let blocks = json!({"decision": "block", "reason": "no", "systemMessage": "tell the model"});
    for hooks in [ChunkHooks::Complete, ChunkHooks::Each] {
        let (_project, host) = saying("AfterModel", &blocks);
        let (displayed, result, _) = run_model(&host, hooks).await;
        assert_eq!(result.verdict, ModelVerdict::Blocked { reason: "no".into(), called: true });
        let response = result.response.unwrap();
        assert_eq!(text_of(&response), "no");
        match hooks {
            ChunkHooks::Complete => assert_eq!(displayed.len(), 2, "they were passed on before"),
            ChunkHooks::Each => assert_eq!(displayed, [ModelChunk::Complete(response)]),
        }
        assert_eq!(result.for_next_request.as_deref(), Some("[System] tell the model"));
    }
    let (_project, host) = saying("AfterModel", &json!({"continue": false, "stopReason": "stop"}));
    let (_, result, _) = run_model(&host, ChunkHooks::Complete).await;
    assert_eq!(result.verdict, ModelVerdict::Stopped { reason: "stop".into(), called: true });
    assert_eq!(text_of(&result.response.unwrap()), "the key is 1234");
    let after = fire_after_model_hook(&host, &model_call(), &says("x")).await;
    assert_eq!(after.decision, AfterModelDecision::Stop { reason: "stop".into() });
}

#[tokio::test]
async fn an_error_of_the_stream_is_passed_on_and_nothing_is_made_of_a_torn_answer() {
    let (project, host) = doing("AfterModel", REDACT);
    let torn = || stream::iter([Ok(says("the key ")), Err("connection lost")]);
    let mut answer =
        call_model_with_hooks(&host, model_call(), ChunkHooks::Complete, async |_| Ok(torn()))
            .await;
    assert!(answer.next().await.unwrap().is_ok());
    assert_eq!(answer.next().await, Some(Err("connection lost")));
    let result = answer.finish().await.unwrap();
    assert_eq!((result.response, result.verdict), (None, ModelVerdict::Interrupted));
    let answer =
        call_model_with_hooks(&host, model_call(), ChunkHooks::Complete, async |_| Ok(torn()))
            .await;
    assert_eq!(answer.finish().await.unwrap_err(), "connection lost");
    assert_eq!(project.read("seen"), "");
}

#[tokio::test]
async fn a_malformed_body_is_a_failed_translation_and_the_call_goes_on_unmodified() {
    let (project, host) = doing("BeforeModel", "touch ran; echo '{\"decision\":\"block\"}'");
    let mut responses = host.hook_system().unwrap().bus().subscribe::<HookExecutionResponse>();
    let body =
        object(json!({"model": "m", "contents": [{"role": "user", "parts": [{"text": 7}]}]}));
    let call = ModelCall::new(Sdk::GenAi, body.clone());
    let before = fire_before_model_hook(&host, &call).await;
    assert_eq!(before.decision, BeforeModelDecision::Call { request: body });
    assert!(!project.path().join("ran").exists());
    let response = responses.next().await.unwrap().unwrap();
    let failure = response.error().unwrap();
    assert_eq!(failure.code.as_str(), "translation_failed");
    assert!(failure.message.contains("contents[0].parts[0].text"), "{failure}");
}

#[tokio::test]
async fn what_a_hook_makes_of_a_request_and_cannot_be_used_changes_nothing() {
    let (_project, host) = saying(
        "BeforeModel",
        &json!({"hookSpecificOutput": {"llm_request": {"messages": "not a list"}}}),
    );
    let before = fire_before_model_hook(&host, &model_call()).await;
    assert_eq!(before.decision, BeforeModelDecision::Call { request: genai() });
    assert!(before.warnings[0].contains("messages"), "{:?}", before.warnings);
    let (_project, host) = saying(
        "BeforeModel",
        &json!({"hookSpecificOutput": {"llm_response": {"candidates": "not a list"}}}),
    );
    let before = fire_before_model_hook(&host, &model_call()).await;
    assert_eq!(before.decision, BeforeModelDecision::Call { request: genai() });
    assert!(before.warnings[0].contains("candidates"), "{:?}", before.warnings);
}

#[tokio::test]
async fn a_prompt_gets_context_or_is_refused() {
    let proceed = |prompt: &str| BeforeAgentDecision::Proceed { prompt: prompt.into() };
    for (output, expected) in [
        (json!({}), proceed("p")),
        (
            json!({"hookSpecificOutput": {"additionalContext": "mind"}, "systemMessage": "m"}),
            proceed("p\n\nmind\n\n[System] m"),
        ),
        (
            json!({"decision": "block", "reason": "no"}),
            BeforeAgentDecision::Refuse { reason: "no".into() },
        ),
        (
            json!({"decision": "ask", "reason": "sure?"}),
            BeforeAgentDecision::Refuse { reason: "needs confirmation: sure?".into() },
        ),
        (
            json!({"continue": false, "stopReason": "enough"}),
            BeforeAgentDecision::Stop { reason: "enough".into() },
        ),
    ] {
        let (_project, host) = saying("BeforeAgent", &output);
        assert_eq!(fire_before_agent_hook(&host, "p").await.decision, expected, "{output}");
    }
}

#[tokio::test]
async fn no_hook_makes_an_agent_go_on_for_ever() {
    let (project, host) =
        saying("AfterAgent", &json!({"decision": "block", "reason": "do the rest"}));
    let host = host.max_continuations(2);
    let go_on = TurnEnd::Continue { prompt: "do the rest".into() };
    let cap = TurnEnd::LimitReached { reason: "do the rest".into(), continuations: 2 };
    for (expected, active) in
        [(go_on.clone(), false), (go_on.clone(), true), (cap, true), (go_on.clone(), false)]
    {
        assert_eq!(fire_after_agent_hook(&host, ("p", "r")).await.end, expected);
        assert_eq!(told(&project)["stop_hook_active"], active);
        // What the agent goes on with is no prompt of the user's, in whatever words.
        fire_before_agent_hook(&host, "A hook says: do the rest").await;
    }
    // A prompt of the user's is.
    fire_before_agent_hook(&host, "something else").await;
    assert_eq!(fire_after_agent_hook(&host, ("p", "r")).await.end, go_on);
    assert_eq!(told(&project)["stop_hook_active"], false);
}

#[tokio::test]
async fn a_turn_ends_as_its_hooks_say() {
    for (output, end, clear_context) in [
        (json!({}), TurnEnd::Done, false),
        (json!({"hookSpecificOutput": {"clearContext": true}}), TurnEnd::Done, true),
        (
            json!({"continue": false, "stopReason": "enough"}),
            TurnEnd::Stop { reason: "enough".into() },
            false,
        ),
    ] {
        let (_project, host) = saying("AfterAgent", &output);
        let result = fire_after_agent_hook(&host, ("p", "r")).await;
        assert_eq!((result.end, result.clear_context), (end, clear_context), "{output}");
    }
}

#[tokio::test]
async fn a_session_is_told_from_its_start_to_its_end() {
    let output = json!({"systemMessage": "m", "hookSpecificOutput": {"additionalContext": "c"}});
    let notification = NotificationInput::new("m");
    for event in ["SessionStart", "SessionEnd", "PreCompress", "Notification"] {
        let (project, host) = saying(event, &output);
        let result = match event {
            "SessionStart" => fire_session_start_hook(&host, SessionStartSource::Startup).await,
            "SessionEnd" => fire_session_end_hook(&host, SessionEndReason::Exit).await,
            "PreCompress" => fire_pre_compress_hook(&host, PreCompressTrigger::Auto).await,
            _ => fire_notification_hook(&host, notification.clone()).await,
        };
        assert_eq!(told(&project)["hook_event_name"], event);
        assert_eq!(result.advice.for_model.as_deref(), Some("c\n\n[System] m"), "{event}");
        assert_eq!(result.stop, None);
    }
}

#[tokio::test]
async fn hosts_that_share_a_bus_do_not_share_hooks() {
    let bus = MessageBus::new();
    let (project, _) = doing("BeforeTool", "exit 2");
    let first = AgentHost::new(project.builder().bus(bus.clone()));
    let second = AgentHost::new(HookSystem::builder(".").bus(bus));
    assert_eq!(run_tool(&first).await.1, 0);
    assert!(second.build().is_err(), "the bus has its handler");
    assert_eq!(run_tool(&second).await.1, 1);
}

#[tokio::test]
async fn trigger_functions_run_on_tasks_of_their_own() {
    let (_project, host) = saying("BeforeTool", &json!({"decision": "block", "reason": "no"}));
    let host = Arc::new(host);
    let spawned = tokio::spawn({
        let host = Arc::clone(&host);
        async move {
            execute_tool_with_hooks(&host, call(), |_| async { ToolResult::text("ran") }).await
        }
    });
    assert_eq!(text(&spawned.await.unwrap()), "no");
    let answer = tokio::spawn(async move {
        let chunks = async |_: RawObject| Ok(stream::iter([Ok::<_, String>(says("x"))]));
        let answer = call_model_with_hooks(&host, model_call(), ChunkHooks::Each, chunks).await;
        answer.finish().await.unwrap()
    });
    assert_eq!(answer.await.unwrap().verdict, ModelVerdict::Called);
}

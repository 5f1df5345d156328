//! Model calls: prompts, tools, calls and tokens are read from the payload of each SDK.

use std::sync::{Arc, Mutex};

use futures::stream;
use hook_bus::triggers::{ChunkHooks, ModelCall, call_model_with_hooks};
use hook_bus::{AgentHost, Sdk};
use hook_protocol::HookEventName;
use hook_run::HandlerHook;
use hook_tests::{Project, object};
use serde_json::{Value, json};

use super::sent;

struct Call {
    sdk: &'static str,
    request: Value,
    response: Value,
    /// Its answer as a stream.
    chunks: Vec<Value>,
}

const ARGUMENTS: &str = r#"{"command":"ls"}"#;

/// One call of a model with each SDK: a system prompt, a conversation, two tools, and an answer that calls one.
fn calls() -> Vec<Call> {
    let arguments: Value = serde_json::from_str(ARGUMENTS).unwrap();
    let genai = json!({
        "candidates": [{"content": {"role": "model", "parts": [
            {"text": "I look."},
            {"functionCall": {"id": "c", "name": "run_shell_command", "args": arguments}}]},
            "finishReason": "STOP"}],
        "usageMetadata": {"promptTokenCount": 5, "candidatesTokenCount": 2, "totalTokenCount": 7}});
    let call = json!({"id": "c", "type": "function",
        "function": {"name": "run_shell_command", "arguments": ARGUMENTS}});
    vec![
        Call {
            sdk: "genai",
            request: json!({"model": "m", "contents": [
                {"role": "user", "parts": [{"text": "before"}]},
                {"role": "model", "parts": [{"text": "yes"}]},
                {"role": "user", "parts": [{"text": "list it"}]},
                {"role": "user", "parts": [{"functionResponse": {"name": "x", "response": {}}}]}],
                "config": {"temperature": 0.5,
                    "systemInstruction": {"parts": [{"text": "Be"}, {"text": "brief."}]},
                    "tools": [{"functionDeclarations": [{"name": "run_shell_command"}]}, {"googleSearch": {}}]}}),
            response: genai.clone(),
            chunks: vec![genai],
        },
        Call {
            sdk: "openai-chat",
            request: json!({"model": "m", "temperature": 0.5, "messages": [
                {"role": "system", "content": "Be"}, {"role": "developer", "content": "brief."},
                {"role": "user", "content": "before"},
                {"role": "assistant", "content": "yes"},
                {"role": "user", "content": [{"type": "text", "text": "list it"}]},
                {"role": "tool", "tool_call_id": "x", "content": "out"}],
                "tools": [{"type": "function", "function": {"name": "run_shell_command"}},
                    {"type": "custom", "custom": {"name": "googleSearch"}}]}),
            response: json!({"object": "chat.completion", "choices": [{"index": 0, "finish_reason": "tool_calls",
                "message": {"role": "assistant", "content": "I look.", "tool_calls": [call]}}],
                "usage": {"prompt_tokens": 5, "completion_tokens": 2, "total_tokens": 7}}),
            chunks: vec![
                json!({"object": "chat.completion.chunk", "choices": [{"index": 0,
                    "delta": {"role": "assistant", "content": "I look."}}]}),
                json!({"object": "chat.completion.chunk", "choices": [{"index": 0, "delta": {"tool_calls": [
                    {"index": 0, "id": "c", "type": "function",
                        "function": {"name": "run_shell_command", "arguments": "{\"command\""}}]}}]}),
                json!({"object": "chat.completion.chunk", "choices": [{"index": 0, "finish_reason": "tool_calls",
                    "delta": {"tool_calls": [{"index": 0, "function": {"arguments": ":\"ls\"}"}}]}}]}),
                json!({"object": "chat.completion.chunk", "choices": [],
                    "usage": {"prompt_tokens": 5, "completion_tokens": 2, "total_tokens": 7}}),
            ],
        },
        Call {
            sdk: "openai-responses",
            request: json!({"model": "m", "temperature": 0.5, "instructions": "Be\n\nbrief.", "input": [
                {"role": "user", "content": "before"}, {"role": "user", "content": "list it"},
                {"type": "function_call_output", "call_id": "x", "output": "out"}],
                "tools": [{"type": "function", "name": "run_shell_command"}, {"type": "googleSearch"}]}),
            response: json!({"object": "response", "status": "completed", "output": [
                {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "I look."}]},
                {"type": "function_call", "call_id": "c", "name": "run_shell_command", "arguments": ARGUMENTS}],
                "usage": {"input_tokens": 5, "output_tokens": 2, "total_tokens": 7}}),
            chunks: Vec::new(),
        },
        Call {
            sdk: "anthropic",
            request: json!({"model": "m", "temperature": 0.5, "max_tokens": 9,
                "system": [{"type": "text", "text": "Be"}, {"type": "text", "text": "brief."}],
                "messages": [{"role": "user", "content": "before"},
                    {"role": "user", "content": [{"type": "text", "text": "list it"}]},
                    {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "x", "content": "out"}]}],
                "tools": [{"name": "run_shell_command"}, {"name": "googleSearch"}]}),
            response: json!({"type": "message", "role": "assistant", "stop_reason": "tool_use", "content": [
                {"type": "text", "text": "I look."},
                {"type": "tool_use", "id": "c", "name": "run_shell_command", "input": arguments}],
                "usage": {"input_tokens": 5, "output_tokens": 2}}),
            chunks: Vec::new(),
        },
    ]
}

fn usage() -> Value {
    json!({"prompt_tokens": 5, "completion_tokens": 2, "total_tokens": 7})
}

#[tokio::test]
async fn generation_events_have_what_each_sdk_says_of_a_call() {
    let system = Project::new().system();
    for Call { sdk, request, response, .. } in calls() {
        let start = json!({"sdk": sdk, "llm_request": request});
        let mut end = start.clone();
        end["llm_response"] = response;
        let told = sent(&system, ("native", "BeforeModel"), ("BeforeModel", start.clone())).await;
        assert_eq!(told["prompt"], "list it", "{sdk}");
        assert_eq!(told["system_prompt"], "Be\n\nbrief.", "{sdk}");
        assert_eq!(told["tools"], json!(["run_shell_command", "googleSearch"]), "{sdk}");
        let told = sent(&system, ("a3s", "GenerateStart"), ("BeforeModel", start)).await;
        assert_eq!(
            (&told["prompt"], &told["systemPrompt"]),
            (&json!("list it"), &json!("Be\n\nbrief."))
        );
        assert_eq!(told["tools"], json!(["Bash", "googleSearch"]), "{sdk}");
        assert_eq!(
            (&told["model"]["name"], &told["model"]["temperature"]),
            (&json!("m"), &json!(0.5))
        );

        let told = sent(&system, ("native", "AfterModel"), ("AfterModel", end.clone())).await;
        let call = json!({"tool_name": "run_shell_command", "tool_input": {"command": "ls"}, "tool_call_id": "c"});
        assert_eq!((&told["prompt"], &told["usage"]), (&json!("list it"), &usage()), "{sdk}");
        assert_eq!(told["tool_calls"], json!([call]), "{sdk}");
        let told = sent(&system, ("a3s", "GenerateEnd"), ("AfterModel", end)).await;
        let call = json!({"id": "c", "name": "Bash", "args": {"command": "ls"}});
        let expected = json!({"text": "I look.", "toolCalls": [call], "usage": usage()});
        assert_eq!((&told["response"], &told["prompt"]), (&expected, &json!("list it")), "{sdk}");
        assert_eq!(told["model"]["name"], "m", "{sdk}");
    }
}

#[tokio::test]
async fn what_the_agent_says_itself_of_a_call_counts_before_its_payload() {
    let system = Project::new().system();
    let Call { sdk, request, response, .. } = calls().swap_remove(1);
    let own = json!({"prompt": "p", "system_prompt": "s", "tools": [{"name": "t"}], "usage": {"total_tokens": 1},
        "tool_calls": [], "duration_ms": 3});
    let mut input = json!({"sdk": sdk, "llm_request": request});
    for name in ["prompt", "system_prompt", "tools"] {
        input[name] = own[name].clone();
    }
    let told = sent(&system, ("a3s", "GenerateStart"), ("BeforeModel", input.clone())).await;
    assert_eq!((&told["prompt"], &told["systemPrompt"]), (&json!("p"), &json!("s")));
    assert_eq!(told["tools"], json!(["t"]));
    for name in ["usage", "tool_calls", "duration_ms"] {
        input[name] = own[name].clone();
    }
    input["llm_response"] = response;
    let told = sent(&system, ("a3s", "GenerateEnd"), ("AfterModel", input)).await;
    let expected =
        json!({"text": "I look.", "toolCalls": [], "usage": {"total_tokens": 1}, "duration": 3});
    assert_eq!(told["response"], expected);
}

#[tokio::test]
async fn what_has_another_form_is_left_out_and_not_made_up() {
    let system = Project::new().system();
    for (request, response) in [
        (json!({"model": "m", "messages": []}), json!({"choices": []})),
        (
            json!({"messages": [], "tools": [7, null, {}]}),
            json!({"choices": [{"message": {"tool_calls": [7, {}]}}]}),
        ),
    ] {
        let input = json!({"sdk": "openai-chat", "llm_request": request, "llm_response": response});
        let told = sent(&system, ("native", "AfterModel"), ("AfterModel", input)).await;
        for name in ["prompt", "usage", "duration_ms"] {
            assert_eq!(told.get(name), None, "{told}");
        }
        assert_eq!(told["tool_calls"], json!([]), "{told}");
    }
}

#[tokio::test(start_paused = true)]
async fn the_triggers_say_how_long_a_call_took_and_what_it_used() {
    for Call { sdk, request, chunks, .. } in
        calls().into_iter().filter(|call| !call.chunks.is_empty())
    {
        let told = Arc::new(Mutex::new(Vec::new()));
        let hook = |event: HookEventName| {
            let told = Arc::clone(&told);
            HandlerHook::inline(event, event.as_str(), move |input| {
                told.lock()
                    .unwrap()
                    .push(serde_json::from_str::<Value>(input.to_raw().as_str()).unwrap());
                Ok(None)
            })
        };
        let builder = Project::new().builder();
        let builder = builder
            .handler(hook(HookEventName::BeforeModel))
            .handler(hook(HookEventName::AfterModel));
        let host = AgentHost::new(builder);
        let call = ModelCall::new(Sdk::from_name(sdk).unwrap(), object(request));
        let chunks: Vec<_> =
            chunks.into_iter().map(|chunk| Ok::<_, std::io::Error>(object(chunk))).collect();
        let provider = async |_request| {
            tokio::time::sleep(std::time::Duration::from_millis(1500)).await;
            Ok(stream::iter(chunks))
        };
        let answer = call_model_with_hooks(&host, call, ChunkHooks::Complete, provider).await;
        answer.finish().await.unwrap();
        let told = told.lock().unwrap();
        assert_eq!(
            (&told[0]["prompt"], &told[0]["system_prompt"]),
            (&json!("list it"), &json!("Be\n\nbrief."))
        );
        assert_eq!((&told[1]["duration_ms"], &told[1]["usage"]), (&json!(1500), &usage()), "{sdk}");
        assert_eq!(told[1]["tool_calls"][0]["tool_input"], json!({"command": "ls"}), "{sdk}");
    }
}

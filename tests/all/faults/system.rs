//! The hook system and its host: a system that is gone, not attached or not built, settings that a
//! reload finds broken, messages too large to wait, chunks of an SDK over JSON.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use hook_bus::triggers::{
    BeforeAgentDecision, ChunkHooks, ModelCall, ModelVerdict, ToolCall, ToolResult, ToolVerdict,
    call_model_with_hooks, execute_tool_with_hooks, fire_before_agent_hook,
};
use hook_bus::{
    AgentHost, HookExecutionRequest, HookExecutionResponse, HookSystem, HookSystemBuilder,
    InitializeError, MessageBus, Sdk, SubscriptionLimits,
};
use hook_core::ProcessedHookResult;
use hook_json::RawObject;
use hook_protocol::{BeforeAgentInput, FailureCode, HookEventName, PolicyDecision, ToolName};
use hook_run::HandlerHook;
use hook_settings::{FailBehavior, SettingsSource};
use hook_tests::{Hook, Project, Served, fields, object, value};
use serde_json::{Value, json};
use tokio_stream::StreamExt;

use super::PROMPT;

/// A guard of BeforeTool, which would let everything pass, with that `failBehavior`.
fn guarded(fail_behavior: &str) -> Project {
    Project::with_settings(&guard(fail_behavior))
}

fn guard(fail_behavior: &str) -> Value {
    json!({"hooks": {"BeforeTool": [{"hooks": [
        {"type": "command", "name": "guard", "command": "true", "failBehavior": fail_behavior}]}]}})
}

/// Calls a tool, and says whether it ran, why it was blocked, and what the agent is told.
async fn call_tool(host: &AgentHost) -> (bool, Option<String>, Vec<String>) {
    let call = ToolCall::new(ToolName::new("edit").unwrap(), RawObject::empty());
    let tool = execute_tool_with_hooks(host, call, async |_| ToolResult::text("ran")).await;
    match tool.verdict {
        ToolVerdict::Ran => (true, None, tool.warnings),
        ToolVerdict::Blocked { reason } => (false, Some(reason), tool.warnings),
        other => panic!("{other:?}"),
    }
}

/// Asserts that the host blocks tools if its guard says so, and prompts never, and says why.
async fn assert_fails_as_its_guard_says(host: &AgentHost, fail_behavior: &str, cause: &str) {
    let (ran, reason, warnings) = call_tool(host).await;
    assert_eq!(ran, fail_behavior == "continue", "{reason:?}");
    if let Some(reason) = reason {
        assert!(reason.starts_with("hook guard could not run"), "{reason}");
    }
    assert!(warnings.iter().any(|warning| warning.contains(cause)), "{warnings:?}");
    let prompted = fire_before_agent_hook(host, "p").await;
    assert!(matches!(prompted.decision, BeforeAgentDecision::Proceed { .. }));
    assert!(prompted.warnings.iter().any(|it| it.contains(cause)), "{:?}", prompted.warnings);
}

#[tokio::test]
async fn fault_45_after_dispose_a_host_fails_as_its_guards_say() {
    for fail_behavior in ["block", "continue"] {
        for was_used in [true, false] {
            let project = guarded(fail_behavior);
            let host = AgentHost::new(project.builder());
            if was_used {
                assert!(call_tool(&host).await.0, "the guard lets it pass");
            }
            host.hook_system().unwrap().dispose();
            assert_fails_as_its_guard_says(&host, fail_behavior, "disposed of").await;
            // Whoever serves the bus now is not this host's guard.
            let bus = host.hook_system().unwrap().bus().clone();
            let _other = HookSystem::builder(project.path()).bus(bus).build().unwrap();
            assert_fails_as_its_guard_says(&host, fail_behavior, "another hook system").await;
        }
    }
}

#[tokio::test]
async fn fault_45_on_a_bus_that_another_system_serves_a_host_fails_as_its_guards_say() {
    let bus = MessageBus::new();
    let _other = HookSystem::builder(".").bus(bus.clone()).build().unwrap();
    for fail_behavior in ["block", "continue"] {
        let project = guarded(fail_behavior);
        let host = AgentHost::new(project.builder().bus(bus.clone()));
        assert!(host.build().is_err());
        assert_fails_as_its_guard_says(&host, fail_behavior, "another hook system").await;
    }
    let handler = HandlerHook::inline(HookEventName::BeforeTool, "guard", |_| Ok(None))
        .fail_behavior(FailBehavior::Block);
    let host = AgentHost::new(HookSystem::builder(".").handler(handler).bus(bus));
    assert_fails_as_its_guard_says(&host, "block", "another hook system").await;
}

#[tokio::test]
async fn fault_45_with_an_engine_that_cannot_be_built_a_host_blocks_and_says_why() {
    let project = guarded("continue");
    project.write("broken.json", "{");
    let broken = SettingsSource::explicit(project.path().join("broken.json"));
    let host = AgentHost::new(project.builder().settings(broken).strict());
    let (ran, reason, warnings) = call_tool(&host).await;
    assert!(!ran && reason.unwrap().contains("may be a guard"));
    assert!(warnings.iter().any(|it| it.contains("broken.json")), "{warnings:?}");

    let call = ModelCall::new(Sdk::GenAi, object(json!({"model": "m", "contents": "Hi"})));
    let provider = async |_| Ok::<_, std::io::Error>(futures::stream::empty());
    let answer = call_model_with_hooks(&host, call, ChunkHooks::Complete, provider).await;
    let result = answer.finish().await.unwrap();
    assert!(matches!(result.verdict, ModelVerdict::Blocked { called: false, .. }), "{result:?}");
    assert!(result.warnings.iter().any(|it| it.contains("broken.json")), "{:?}", result.warnings);
}

#[test]
fn fault_45_in_a_process_that_is_not_fit_to_run_hooks_a_host_fails_as_its_guards_say() {
    for (fail_behavior, verdict) in
        [("block", "Blocked { reason: \"hook guard could not run"), ("continue", "Ran")]
    {
        let project = guarded(fail_behavior);
        let agent = std::process::Command::new("env")
            .arg("--ignore-signal=CHLD")
            .arg(env!("CARGO_BIN_EXE_unfit"))
            .arg(project.settings())
            .output()
            .unwrap();
        let said = String::from_utf8_lossy(&agent.stdout);
        assert!(said.starts_with(verdict), "{said}{}", String::from_utf8_lossy(&agent.stderr));
        assert!(said.contains("hooks could not be asked") && said.contains("SIGCHLD"), "{said}");
    }
}

fn tool_request() -> HookExecutionRequest {
    HookExecutionRequest::new("BeforeTool", fields(json!({"tool_name": "edit", "tool_input": {}})))
}

async fn ask_about_tool(system: &HookSystem) -> HookExecutionResponse {
    system.bus().request(tool_request()).await
}

/// A guard that blocks, in a file of its own.
fn denying() -> Value {
    json!({"hooks": {"BeforeTool": [{"hooks": [
        {"type": "command", "name": "guard", "command": "echo no >&2; exit 2"}]}]}})
}

#[tokio::test]
async fn fault_46_of_a_file_that_a_reload_finds_broken_the_last_version_stays_in_force() {
    for broken in ["{", "", "[]", "\"hooks\"", "{\"hooks\": {]}", "TOO LONG", "DIRECTORY"] {
        let project = Project::with_settings(&denying());
        let system = project.system();
        assert!(ask_about_tool(&system).await.processed.is_blocking_decision());
        match broken {
            "TOO LONG" => drop(project.write("settings.json", &" ".repeat(17 * 1024 * 1024))),
            "DIRECTORY" => {
                std::fs::remove_file(project.settings()).unwrap();
                std::fs::create_dir(project.settings()).unwrap();
            }
            text => drop(project.write("settings.json", text)),
        }
        // Again and again, until it is fixed.
        for _ in 0..2 {
            system.reload().await.unwrap();
            let response = ask_about_tool(&system).await;
            assert_eq!(response.processed.reason.as_deref(), Some("no"), "{broken:?}");
            let warnings = &response.processed.warnings;
            assert!(warnings[0].contains("stays in force"), "{broken:?}: {warnings:?}");
            let other = HookExecutionRequest::new("BeforeAgent", fields(json!({"prompt": "p"})));
            let other = system.bus().request(other).await.processed.warnings;
            assert_eq!(&other[..], &warnings[..other.len()], "in every response");
            assert!(!other.iter().any(|it| it.contains("none of its hooks run")), "{other:?}");
        }
        if broken == "DIRECTORY" {
            std::fs::remove_dir(project.settings()).unwrap();
        }
        project.write("settings.json", r#"{"hooks": {}}"#);
        system.reload().await.unwrap();
        let response = ask_about_tool(&system).await;
        assert_eq!(response.processed, ProcessedHookResult::empty_success(), "{broken:?}");
    }
}

#[tokio::test]
async fn fault_46_a_file_that_is_gone_is_gone() {
    let project = Project::with_settings(&denying());
    let system = project.system();
    assert!(ask_about_tool(&system).await.processed.is_blocking_decision());
    std::fs::remove_file(project.settings()).unwrap();
    system.reload().await.unwrap();
    // A file that was named must be there: a guard may have been in it.
    let processed = ask_about_tool(&system).await.processed;
    let reason = processed.reason.unwrap_or_default();
    assert!(
        processed.decision == PolicyDecision::Block && reason.contains("failed to read"),
        "{reason}"
    );
    // What was read before it was gone does not come back with a file that is broken.
    project.write("settings.json", "{");
    system.reload().await.unwrap();
    let processed = ask_about_tool(&system).await.processed;
    assert_eq!(processed.decision, PolicyDecision::Block);
    assert!(
        processed.reason.as_deref().is_some_and(|it| it.contains("may be missing")),
        "{processed:?}"
    );
}

#[tokio::test]
async fn fault_46_a_strict_system_does_not_start_with_broken_or_missing_settings() {
    let unknown = json!({"hooks": {"BeforTool": []}}).to_string();
    for (name, text) in
        [("broken.json", Some("{")), ("missing.json", None), ("event.json", Some(&*unknown))]
    {
        let project = guarded("block");
        if let Some(text) = text {
            project.write(name, text);
        }
        project.write("other.json", "nonsense");
        let builder = |strict: bool| -> HookSystemBuilder {
            let builder = project
                .builder()
                .settings(SettingsSource::explicit(project.path().join(name)))
                .settings(SettingsSource::explicit(project.path().join("other.json")));
            if strict { builder.strict() } else { builder }
        };
        let lenient = builder(false).build().unwrap();
        lenient.initialize().await.unwrap();
        assert!(ask_about_tool(&lenient).await.success());

        let strict = builder(true).build().unwrap();
        let error = strict.initialize().await.unwrap_err();
        assert!(matches!(&error, InitializeError::Strict { problems } if problems.len() == 2));
        let message = error.to_string();
        assert!(message.contains(name) && message.contains("other.json"), "{message}");
        assert!(!message.contains('\n'), "{message}");
        // The known guard blocks its event, and one that could not be read may be of any event.
        let tool = ask_about_tool(&strict).await;
        assert_eq!(tool.error().unwrap().code, FailureCode::PlanningFailed);
        let reason = tool.processed.reason.as_deref().unwrap();
        assert!(reason.starts_with("hook guard could not run"), "{reason}");
        let prompt = strict.fire_before_agent(BeforeAgentInput::new("p")).await;
        assert_eq!(prompt.decision, PolicyDecision::Block);

        // It starts once they are fixed.
        project.write(name, "{}");
        project.write("other.json", "{}");
        strict.reload().await.unwrap();
        assert_eq!(ask_about_tool(&strict).await.processed.decision, PolicyDecision::Proceed);
        // Afterwards an error of any kind leaves what was in force.
        project.write("settings.json", &unknown);
        strict.reload().await.unwrap();
        let kept = ask_about_tool(&strict).await;
        assert_eq!(kept.hooks.len(), 1);
        assert!(kept.processed.warnings[0].contains("stays in force"));
    }
}

#[test]
fn fault_46_a_strict_command_does_not_start_with_broken_or_missing_settings() {
    let project = guarded("block");
    project.write("broken.json", "{\n  \"hooks\": 7,\n,}");
    let settings = ["--settings", "settings.json", "--settings", "broken.json"];
    let lenient = Hook::new(&project, &[&["fire", "BeforeTool"][..], &settings].concat()).run();
    assert!(lenient.stderr.contains("broken.json:3"), "{}", lenient.stderr);
    for command in [&["serve", "--stdio"][..], &["fire", "BeforeTool"], &["run", "none.jsonl"]] {
        let strict = Hook::new(&project, &[command, &settings, &["--strict"]].concat()).run();
        assert_ne!(strict.status, 0, "{command:?}");
        assert!(strict.stderr.contains("broken.json:3"), "{command:?}: {}", strict.stderr);
        assert_eq!(strict.stdout, "", "{command:?}");
    }
}

#[test]
fn fault_46_of_many_errors_a_strict_command_names_a_few() {
    let misspelt: String = (0..50).map(|number| format!("\"x{number}\": [],\n")).collect();
    let project = Project::new();
    let settings = format!("{{\"hooks\": {{{misspelt}\"SessionEnd\": []}}}}");
    project.write("settings.json", &settings);
    let strict = Hook::new(&project, &["list", "--settings=settings.json", "--strict"]).run();
    assert_eq!(strict.status, 1, "{strict:?}");
    assert_eq!(strict.stderr.matches("settings.json:").count(), 3, "{}", strict.stderr);
    assert!(strict.stderr.contains("and 47 more, which `hook check` lists"), "{}", strict.stderr);
}

#[tokio::test]
async fn fault_46_a_server_keeps_a_guard_whose_file_a_reload_finds_broken() {
    let project = Project::with_settings(&denying());
    let mut served = Served::start(&project).await;
    let ask = hook_tests::request("BeforeTool", &json!({"tool_name": "t", "tool_input": {}}), "c");
    assert_eq!(served.ask(&ask).await["processed"]["decision"], "block");
    project.write("settings.json", "{");
    let reloaded = served.ask(&json!({"type": "hook-reload"})).await;
    assert!(reloaded["warnings"].to_string().contains("stays in force"), "{reloaded}");
    let response = served.ask(&ask).await;
    assert_eq!(response["processed"]["decision"], "block", "{response}");
    assert!(response["warnings"].to_string().contains("stays in force"), "{response}");
}

/// A request whose text is that long.
fn prompt_of(bytes: usize) -> HookExecutionRequest {
    HookExecutionRequest::new("BeforeAgent", fields(json!({"prompt": "p".repeat(bytes)})))
}

#[tokio::test]
async fn fault_43_a_message_larger_than_the_allowance_is_delivered_when_nothing_else_waits() {
    let system = HookSystem::builder(".").build().unwrap();
    let limits = SubscriptionLimits { messages: 100, bytes: 64 * 1024 };
    let mut requests = system.bus().subscribe_with::<HookExecutionRequest>(limits);
    let large = || prompt_of(1024 * 1024);
    let small = || prompt_of(1);
    let next = async |requests: &mut hook_bus::Subscription<HookExecutionRequest>| {
        let next = tokio::time::timeout(PROMPT, requests.next()).await;
        next.expect("a message in time").expect("the bus lives")
    };
    // It reaches one that is idle, also when others come behind it.
    for request in [large(), small(), small()] {
        system.bus().request(request).await;
    }
    let sizes = async |requests: &mut _| next(requests).await.unwrap().to_json().len();
    assert!(sizes(&mut requests).await > 1024 * 1024);
    assert!(sizes(&mut requests).await < 1024);
    // Behind another it is dropped, and neither the other one nor the reader is blamed.
    for request in [large(), small(), large()] {
        system.bus().request(request).await;
    }
    assert!(sizes(&mut requests).await < 1024);
    let lagged = next(&mut requests).await.unwrap_err();
    assert_eq!((lagged.missed(), lagged.too_large()), (1, 1));
    assert!(lagged.to_string().contains("larger than"), "{lagged}");
    assert!(sizes(&mut requests).await < 1024);
    let lagged = next(&mut requests).await.unwrap_err();
    assert_eq!((lagged.missed(), lagged.too_large()), (1, 1));
    // Slowness is told apart from it, and both are counted.
    for request in std::iter::repeat_with(small).take(150).chain([large()]) {
        system.bus().request(request).await;
    }
    let slow = next(&mut requests).await.unwrap_err();
    assert_eq!((slow.missed(), slow.too_large()), (51, 0));
    assert!(slow.to_string().contains("did not read them in time"), "{slow}");
    for _ in 0..99 {
        assert!(sizes(&mut requests).await < 1024);
    }
    assert_eq!(next(&mut requests).await.unwrap_err().too_large(), 1);
}

const SECRET: &str = "hunter2";

/// For each SDK a request, a chunk that shows the secret, and one that shows nothing.
fn chunks() -> Vec<(Sdk, Value, Value, Option<Value>)> {
    let messages = json!([{"role": "user", "content": "Hi"}]);
    let openai = |choice: Value| json!({"object": "chat.completion.chunk", "choices": [choice]});
    vec![
        (
            Sdk::OpenAiChat,
            json!({"model": "m", "messages": messages}),
            openai(json!({"index": 0, "delta": {"content": SECRET}})),
            Some(openai(json!({"index": 0, "delta": {}, "finish_reason": "stop"}))),
        ),
        (
            Sdk::OpenAiResponses,
            json!({"model": "m", "input": "Hi"}),
            json!({"type": "response.output_text.delta", "item_id": "i", "output_index": 0,
                "content_index": 0, "delta": SECRET}),
            Some(json!({"type": "response.created", "response": {"id": "r"}})),
        ),
        (
            Sdk::Anthropic,
            json!({"model": "m", "max_tokens": 9, "messages": messages}),
            json!({"type": "content_block_delta", "index": 0,
                "delta": {"type": "text_delta", "text": SECRET}}),
            Some(json!({"type": "ping"})),
        ),
        (
            Sdk::GenAi,
            json!({"model": "m", "contents": "Hi"}),
            json!({"candidates": [{"content": {"role": "model", "parts": [{"text": SECRET}]}}]}),
            None,
        ),
        (
            Sdk::Stable,
            json!({"model": "m", "messages": messages}),
            json!({"candidates": [{"content": {"role": "model", "parts": [SECRET]}}]}),
            None,
        ),
    ]
}

fn after_model(sdk: Sdk, request: &Value, response: &Value, more: Value) -> HookExecutionRequest {
    let mut input = json!({"sdk": sdk.as_str(), "llm_request": request, "llm_response": response});
    for (name, value) in more.as_object().into_iter().flatten() {
        input[name] = value.clone();
    }
    HookExecutionRequest::new("AfterModel", fields(input))
}

#[tokio::test]
async fn fault_49_a_chunk_of_every_sdk_reaches_after_model_hooks_with_its_text() {
    let project = Project::with_hook("AfterModel", "cat > told; echo '{}'");
    let system = project.system();
    for (sdk, request, chunk, silent) in chunks() {
        for more in [json!({}), json!({"chunk": true})] {
            let asked = after_model(sdk, &request, &chunk, more.clone());
            let response = system.bus().request(asked).await;
            assert!(response.success(), "{sdk} {more}: {:?}", response.error());
            let told: Value = serde_json::from_str(&project.read("told")).unwrap();
            let shown = &told["llm_response"];
            let text =
                shown["text"].as_str().or(shown["candidates"][0]["content"]["parts"][0].as_str());
            assert_eq!(text, Some(SECRET), "{sdk} {more}: {told}");
            std::fs::remove_file(project.path().join("told")).unwrap();
        }
        // What displays nothing is shown to no hook.
        if let Some(silent) = silent {
            let response =
                system.bus().request(after_model(sdk, &request, &silent, json!({}))).await;
            assert!(response.success() && response.hooks.is_empty(), "{sdk}: {response:?}");
        }
    }
}

#[tokio::test]
async fn fault_49_what_is_no_chunk_fails_and_never_reaches_hooks_without_its_text() {
    let project = Project::with_settings(&json!({"hooks": {"AfterModel": [{"hooks": [
        {"type": "command", "name": "redact", "command": "touch ran", "failBehavior": "block"}]}]}}));
    let system = project.system();
    let secret = json!({"text": SECRET, "content": SECRET, "delta": SECRET});
    for (sdk, request, chunk, _) in chunks() {
        if matches!(sdk, Sdk::GenAi | Sdk::Stable) {
            continue;
        }
        // Not of this SDK, of another one, and no word that says so.
        let other = chunks().into_iter().find(|(other, ..)| *other != sdk).map(|(_, _, it, _)| it);
        for (response, more) in [
            (secret.clone(), json!({"chunk": true})),
            (other.unwrap(), json!({"chunk": true})),
            (chunk.clone(), json!({"chunk": "yes"})),
        ] {
            let asked = after_model(sdk, &request, &response, more);
            let answer = system.bus().request(asked).await;
            let failure = answer.error().unwrap_or_else(|| panic!("{sdk}: {response}"));
            assert_eq!(failure.code, FailureCode::TranslationFailed, "{sdk}: {response}");
            assert!(answer.processed.is_blocking_decision(), "{sdk}: {response}");
        }
    }
    // The end of a stream that holds all of its text once more.
    let completed = json!({"type": "response.completed", "response": {"object": "response",
        "output": [{"type": "message", "role": "assistant",
            "content": [{"type": "output_text", "text": SECRET}]}]}});
    let request = json!({"model": "m", "input": "Hi"});
    let asked = after_model(Sdk::OpenAiResponses, &request, &completed, json!({}));
    let answer = system.bus().request(asked).await;
    assert_eq!(answer.error().unwrap().code, FailureCode::TranslationFailed);
    assert!(answer.error().unwrap().message.contains("complete response"));
    assert!(!project.path().join("ran").exists());
}

#[tokio::test]
async fn fault_49_what_hooks_answer_to_a_chunk_can_be_laid_back() {
    let project = Project::with_hook(
        "AfterModel",
        r#"echo '{"hookSpecificOutput":{"llm_response":{"text":"[removed]"}}}'"#,
    );
    let system = project.system();
    for (sdk, request, chunk, _) in chunks() {
        let response =
            system.bus().request(after_model(sdk, &request, &chunk, json!({"chunk": true}))).await;
        let output = response.processed.aggregated.final_output.as_ref().unwrap();
        let answer = value(output.to_raw().as_raw())["hookSpecificOutput"]["llm_response"].clone();
        let answer = object(answer);
        let laid = hook_translate::from_stable_chunk(sdk, &answer, &object(chunk.clone())).unwrap();
        let laid = value(laid.value.as_raw()).to_string();
        assert!(laid.contains("[removed]") && !laid.contains(SECRET), "{sdk}: {laid}");
    }
}

/// An error that cannot be told.
#[derive(Debug)]
struct Unspeakable;

impl fmt::Display for Unspeakable {
    fn fmt(&self, _: &mut fmt::Formatter<'_>) -> fmt::Result {
        panic!("this error cannot be told")
    }
}

impl std::error::Error for Unspeakable {}

/// Fires BeforeAgent with one handler that fails in a way that breaks the engine around it, and gives
/// the code.
async fn broken_by(handler: HandlerHook) -> (FailureCode, PolicyDecision) {
    let system = HookSystem::builder(".").handler(handler).build().unwrap();
    let result = system.fire_before_agent(BeforeAgentInput::new("p")).await;
    (result.failure.unwrap().code, result.decision)
}

fn inline() -> HandlerHook {
    let event = HookEventName::BeforeAgent;
    HandlerHook::inline(event, "unspeakable", |_| Err(Box::new(Unspeakable) as _))
}

#[tokio::test]
async fn a_stage_that_breaks_ends_as_a_failure_with_its_own_code() {
    let event = HookEventName::BeforeAgent;
    let task = || {
        HandlerHook::asynchronous(event, "unspeakable", |_| async {
            Err(Box::new(Unspeakable) as _)
        })
    };
    // Merging the answers panics.
    let proceed = PolicyDecision::Proceed;
    assert_eq!(broken_by(inline()).await, (FailureCode::AggregationFailed, proceed));
    assert_eq!(broken_by(task()).await, (FailureCode::AggregationFailed, proceed));
    // The task of a hook panics, and where it is the caller's own, the engine does.
    let block = FailBehavior::Block;
    let denied = PolicyDecision::Block;
    assert_eq!(
        broken_by(task().fail_behavior(block)).await,
        (FailureCode::ExecutionFailed, denied)
    );
    assert_eq!(
        broken_by(inline().fail_behavior(block)).await,
        (FailureCode::InternalError, denied)
    );
}

#[test]
fn a_guard_of_a_plan_that_cannot_be_merged_blocks() {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let event = HookEventName::BeforeAgent;
    let guard =
        HandlerHook::inline(event, "guard", |_| Ok(None)).fail_behavior(FailBehavior::Block);
    let system = HookSystem::builder(".").handler(inline()).handler(guard).build().unwrap();
    let fire = system.fire_before_agent(BeforeAgentInput::new("p"));
    let result = runtime.block_on(fire);
    assert_eq!(result.failure.unwrap().code, FailureCode::AggregationFailed);
    assert!(result.reason.unwrap().starts_with("hook guard could not run"));
}

/// Waits for a future on this thread, with no runtime around it.
fn block_on<F: Future>(future: F) -> F::Output {
    struct Unpark(std::thread::Thread);
    impl std::task::Wake for Unpark {
        fn wake(self: Arc<Self>) {
            self.0.unpark();
        }
    }
    let waker = Arc::new(Unpark(std::thread::current())).into();
    let mut context = std::task::Context::from_waker(&waker);
    let mut future = std::pin::pin!(future);
    loop {
        match future.as_mut().poll(&mut context) {
            std::task::Poll::Ready(done) => return done,
            std::task::Poll::Pending => std::thread::park_timeout(PROMPT),
        }
    }
}

#[test]
fn without_a_runtime_inline_hooks_run_and_others_fail_by_name() {
    let fire = |handler: HandlerHook| {
        let system = HookSystem::builder(".").handler(handler).build().unwrap();
        let input = BeforeAgentInput::new("p");
        // Twice: before the settings were read, and after.
        block_on(system.fire_before_agent(input.clone()));
        let deadline = HookExecutionRequest::typed(input).with_deadline(Duration::from_secs(60));
        block_on(system.bus().request(deadline)).processed
    };
    let event = HookEventName::BeforeAgent;
    let inline = fire(HandlerHook::inline(event, "inline", |_| {
        Ok(Some(hook_protocol::HookOutput::deny("no")))
    }));
    assert_eq!((inline.failure, inline.reason.as_deref()), (None, Some("no")));
    for fail_behavior in [FailBehavior::Continue, FailBehavior::Block] {
        let task = HandlerHook::asynchronous(event, "task", |_| async { Ok(None) });
        let result = fire(task.fail_behavior(fail_behavior));
        let failure = result.failure.unwrap();
        assert_eq!((failure.code.as_str(), failure.code.stage()), ("no_runtime", "run"));
        assert!(failure.message.contains("tokio runtime"), "{failure}");
        let blocks = fail_behavior == FailBehavior::Block;
        assert_eq!(result.decision == PolicyDecision::Block, blocks);
    }
}

/// The statuses of a tool call, in a word each.
#[tokio::test]
async fn a_blocked_call_ends_idle_and_published_as_any_other() {
    use std::sync::Mutex;

    use hook_bus::triggers::ToolStatus;

    let seen = Arc::new(Mutex::new(Vec::new()));
    let watched = |command: &str| {
        let project = Project::with_hook("BeforeTool", command);
        let seen = Arc::clone(&seen);
        let host = AgentHost::new(project.builder()).tool_observer(move |call, status| {
            let word = match status {
                ToolStatus::Asking => "asking".to_owned(),
                ToolStatus::Running { input } => format!("running {}", input.as_str()),
                ToolStatus::Idle { result } => format!(
                    "idle {:?} {:?}",
                    result.llm_content,
                    result.return_display.as_deref().unwrap_or_default()
                ),
                ToolStatus::Cancelled => "cancelled".to_owned(),
                other => panic!("{other:?}"),
            };
            seen.lock().unwrap().push(format!("{}: {word}", call.name));
        });
        (project, host)
    };
    let (_project, host) = watched("echo no >&2; exit 2");
    assert!(!call_tool(&host).await.0);
    let expected =
        ["edit: asking", r#"edit: idle Text("no") "blocked by a hook: no""#].map(String::from);
    assert_eq!(std::mem::take(&mut *seen.lock().unwrap()), expected);

    let (_project, host) = watched("true");
    assert!(call_tool(&host).await.0);
    let expected =
        ["edit: asking", "edit: running {}", r#"edit: idle Text("ran") """#].map(String::from);
    assert_eq!(std::mem::take(&mut *seen.lock().unwrap()), expected);

    // A call that nobody waits for any more is not left as running.
    let (_project, host) = watched("true");
    let call = ToolCall::new(ToolName::new("edit").unwrap(), RawObject::empty());
    let mut never =
        Box::pin(execute_tool_with_hooks(&host, call, async |_| futures::future::pending().await));
    let begun = || seen.lock().unwrap().len() == 2;
    while !begun() {
        tokio::select! {
            _ = &mut never => panic!("it never ends"),
            () = tokio::time::sleep(Duration::from_millis(1)) => {}
        }
    }
    drop(never);
    let last = seen.lock().unwrap().last().cloned();
    assert_eq!(last.as_deref(), Some("edit: cancelled"));
}

//! What is wrong is told at every door: settings that cannot be read, hooks that are not trusted,
//! hooks that failed (reference/answers.md, "ProcessedHookResult").

use futures::stream;
use hook_bus::triggers::{
    ChunkHooks, ModelCall, ToolCall, ToolResult, ToolVerdict, call_model_with_hooks,
    execute_tool_with_hooks, fire_after_agent_hook, fire_after_model_hook, fire_before_agent_hook,
    fire_notification_hook, fire_pre_compress_hook, fire_session_end_hook, fire_session_start_hook,
};
use hook_bus::{AgentHost, HookExecutionRequest, HookSystem, HookSystemBuilder, Sdk};
use hook_json::RawObject;
use hook_protocol::{
    BeforeToolInput, HookEventName, NotificationInput, PreCompressTrigger, SessionEndReason,
    SessionStartSource, ToolName,
};
use hook_settings::SettingsSource;
use hook_tests::{Hook, Project, Served, fields, json, object, request};
use serde_json::{Value, json};

const BROKEN: &str = "broken.json";

/// A project in which for each event one file is missing, one hook is not trusted, and one fails.
fn troubled() -> Project {
    let hooks = |command: &str| {
        let definition = json!([{"hooks": [{"type": "command", "name": "n", "command": command}]}]);
        let events = HookEventName::all();
        let events = events.map(|event| (event.as_str().to_owned(), definition.clone()));
        json!({"hooks": events.collect::<serde_json::Map<_, _>>()})
    };
    let project = Project::with_settings(&hooks("exit 3"));
    project.write(BROKEN, "{");
    project.write(".hooks/settings.json", &hooks("touch untrusted").to_string());
    project
}

fn builder(project: &Project) -> HookSystemBuilder {
    project
        .builder()
        .settings(SettingsSource::explicit(project.path().join(BROKEN)))
        .native_settings(None)
}

/// Each of the three is there, once.
fn assert_all(warnings: &[impl AsRef<str>], door: &str) {
    for part in [BROKEN, "not trusted", "hook n: Hook exited with code 3"] {
        let found = warnings.iter().filter(|warning| warning.as_ref().contains(part)).count();
        let warnings: Vec<&str> = warnings.iter().map(AsRef::as_ref).collect();
        assert_eq!(found, 1, "{door}: {part} in {warnings:?}");
    }
}

fn texts(response: &Value) -> Vec<String> {
    let warnings = response["warnings"].as_array().into_iter().flatten();
    warnings.map(|text| text.as_str().unwrap_or_default().to_owned()).collect()
}

fn tool_input() -> BeforeToolInput {
    BeforeToolInput::new(ToolName::new("edit").unwrap(), RawObject::empty())
}

#[tokio::test]
async fn a_typed_fire_and_a_message_tell_the_same_warnings() {
    let project = troubled();
    let system = builder(&project).build().unwrap();
    let typed = system.fire_before_tool(tool_input()).await;
    assert_all(&typed.warnings, "fire");

    let input = json!({"tool_name": "edit", "tool_input": {}});
    let request = HookExecutionRequest::new("BeforeTool", fields(input));
    let response = system.bus().publish(request).await.unwrap().response().await.unwrap();
    assert_eq!(response.processed.warnings, typed.warnings);
    assert_eq!(texts(&json(&response.to_json())), typed.warnings);
}

#[tokio::test]
async fn every_trigger_tells_the_warnings() {
    let project = troubled();
    let host = AgentHost::new(builder(&project));
    let call = ToolCall::new(ToolName::new("edit").unwrap(), RawObject::empty());
    let tool = execute_tool_with_hooks(&host, call, async |_| ToolResult::text("ran")).await;
    let ToolVerdict::Blocked { reason } = &tool.verdict else { panic!("{:?}", tool.verdict) };
    assert!(reason.contains("`failBehavior: block` may be missing"), "{reason}");
    assert_all(&tool.warnings, "execute_tool_with_hooks");
    assert_all(&fire_before_agent_hook(&host, "p").await.warnings, "before agent");
    assert_all(&fire_after_agent_hook(&host, ("p", "r")).await.warnings, "after agent");
    let start = fire_session_start_hook(&host, SessionStartSource::Startup).await;
    assert_all(&start.warnings, "session start");
    let end = fire_session_end_hook(&host, SessionEndReason::Exit).await;
    assert_all(&end.warnings, "session end");
    let compress = fire_pre_compress_hook(&host, PreCompressTrigger::Auto).await;
    assert_all(&compress.warnings, "pre compress");
    let notification = NotificationInput::new("m");
    let notified = fire_notification_hook(&host, notification).await;
    assert_all(&notified.warnings, "notification");

    let model_request = object(json!({"model": "m", "contents": "Hi"}));
    let response =
        object(json!({"candidates": [{"content": {"role": "model", "parts": [{"text": "a"}]}}]}));
    let call = ModelCall::new(Sdk::GenAi, model_request);
    let after = fire_after_model_hook(&host, &call, &response).await;
    assert_all(&after.warnings, "after model");
    let provider = async |_| Ok::<_, std::io::Error>(stream::iter([Ok(response)]));
    let answer = call_model_with_hooks(&host, call, ChunkHooks::Each, provider).await;
    assert_all(&answer.finish().await.unwrap().warnings, "call_model_with_hooks");
}

#[tokio::test]
async fn serve_fire_and_run_tell_the_warnings() {
    let project = troubled();
    let asked = request("BeforeTool", &json!({"tool_name": "edit", "tool_input": {}}), "c");
    // Named files leave the project's own out, so there are two causes here.
    let assert_some = |response: &Value, door: &str| {
        let warnings = texts(response);
        let failed = warnings.iter().filter(|it| it.contains("hook n: Hook exited with code 3"));
        assert_eq!(failed.count(), 1, "{door}: {response}");
    };
    let mut served = Served::start(&project).await;
    assert_some(&served.ask(&asked).await, "serve");

    let named = ["--settings", "settings.json", "--settings", BROKEN];
    let fire = [&["fire", "BeforeTool", "--json"][..], &named].concat();
    let fired = Hook::new(&project, &fire).run().lines().remove(0);
    assert_some(&fired, "fire --json");
    assert!(texts(&fired).iter().any(|it| it.contains(BROKEN)), "{fired}");

    project.write("session.jsonl", &format!("{asked}\n"));
    let run = [&["run", "--json", "session.jsonl"][..], &named].concat();
    let ran = Hook::new(&project, &run).run();
    let response = ran.lines().into_iter().find(|it| it["correlationId"] == "c").unwrap();
    assert_some(&response, "run");
    assert!(texts(&response).iter().any(|it| it.contains(BROKEN)), "{response}");
}

#[tokio::test]
async fn a_native_system_reads_the_project_and_runs_nothing_of_it_unasked() {
    let project = troubled();
    let system = HookSystem::native(project.path()).build().unwrap();
    let fired = system.fire_before_tool(tool_input()).await;
    assert!(fired.warnings.iter().any(|it| it.contains("not trusted")), "{:?}", fired.warnings);
    assert!(!project.path().join("untrusted").exists());
    // A file that the project gets later is found when settings are read again.
    let bare = Project::new();
    let system = HookSystem::native(bare.path()).build().unwrap();
    system.initialize().await.unwrap();
    let before = system.status().total_hooks;
    bare.write(".hooks/settings.json", &project.read(".hooks/settings.json"));
    system.reload().await.unwrap();
    assert_eq!(system.status().total_hooks, before + HookEventName::COUNT);
}

#[tokio::test]
async fn a_guard_that_times_out_is_as_visible_as_a_missing_script() {
    for (command, timeout, said) in [
        ("sleep 1000", 200, "hook guard: Hook timed out after 200ms"),
        ("./missing.sh", 60_000, "hook guard: Hook exited with code 127"),
    ] {
        let project = Project::with_settings(&json!({"hooks": {"BeforeTool": [{"hooks": [
            {"type": "command", "name": "guard", "command": command, "timeout": timeout}]}]}}));
        let host = AgentHost::new(project.builder());
        let call = ToolCall::new(ToolName::new("edit").unwrap(), RawObject::empty());
        let tool = execute_tool_with_hooks(&host, call, async |_| ToolResult::text("ran")).await;
        assert_eq!(tool.verdict, ToolVerdict::Ran, "{command}");
        assert!(tool.warnings.contains(&said.to_owned()), "{command}: {:?}", tool.warnings);
    }
}

//! A tool call with modules around it.

use std::sync::{Arc, Mutex};

use futures::FutureExt;
use hook_bus::AgentHost;
use hook_bus::HookProgress;
use hook_bus::module::ModuleApi;
use hook_bus::triggers::{ToolCall, ToolContent, ToolResult, ToolVerdict, execute_tool_with_hooks};
use hook_json::RawObject;
use hook_protocol::ToolName;
use hook_run::ModuleAnswer;
use hook_tests::{Project, fields};
use serde_json::{Value, json};
use tokio_stream::StreamExt;

use super::Made;

type Told = Arc<Mutex<Vec<Value>>>;

/// A tool call whose handlers return that, and what the handler of its result was told.
async fn called(
    before: Value,
    after: Value,
    gives: fn() -> ToolResult,
) -> (ToolResult, Vec<Value>, usize) {
    let told = Told::default();
    let module = Made("m", |api: &mut ModuleApi| {
        let answer = |answer: &Value| {
            (!answer.is_null()).then(|| ModuleAnswer::from(fields(answer.clone())))
        };
        let (before, after, told) = (before.clone(), after.clone(), Arc::clone(&told));
        api.on("tool_call", move |_event, _ctx| {
            let answer = answer(&before);
            async move { Ok(answer) }
        });
        api.on("tool_result", move |event, _ctx| {
            told.lock().unwrap().push(serde_json::from_str(event.to_raw().as_str()).unwrap());
            let answer = answer(&after);
            async move { Ok(answer) }
        });
    });
    let host = AgentHost::new(Project::new().builder().module(module).unwrap());
    let mut call = ToolCall::new(ToolName::new("read_file").unwrap(), RawObject::empty());
    call.id = Some("c-1".to_owned());
    let runs = Mutex::new(0);
    let result = execute_tool_with_hooks(&host, call, async |_input| {
        *runs.lock().unwrap() += 1;
        gives()
    })
    .await;
    let runs = *runs.lock().unwrap();
    let told = told.lock().unwrap().clone();
    (result, told, runs)
}

fn good() -> ToolResult {
    ToolResult::text("API_KEY=secret")
}

fn bad() -> ToolResult {
    ToolResult::failed("no such file")
}

fn text(text: &str) -> Value {
    json!([{"type": "text", "text": text}])
}

#[tokio::test]
async fn a_block_is_the_tools_error_and_the_tool_does_not_run() {
    for (before, reason) in [
        (json!({"block": true, "reason": "policy"}), "policy"),
        (json!({"block": true}), "Tool execution was blocked by a hook"),
    ] {
        let (result, told, runs) = called(before, Value::Null, good).await;
        assert_eq!(result.verdict, ToolVerdict::Blocked { reason: reason.to_owned() });
        assert_eq!(result.error.as_deref(), Some(reason));
        assert_eq!((told.len(), runs), (0, 0));
    }
}

#[tokio::test]
async fn what_a_handler_makes_of_a_result_replaces_it() {
    let (result, told, runs) =
        called(Value::Null, json!({"content": text("redacted")}), good).await;
    assert_eq!(result.llm_content, ToolContent::Text("redacted".to_owned()));
    assert_eq!((result.verdict, runs), (ToolVerdict::Ran, 1));
    assert_eq!(
        (&told[0]["toolName"], &told[0]["toolCallId"], &told[0]["isError"], &told[0]["content"]),
        (&json!("read"), &json!("c-1"), &json!(false), &text("API_KEY=secret"))
    );
}

#[tokio::test]
async fn the_error_of_a_tool_goes_on_whatever_handlers_return() {
    let (result, told, runs) = called(Value::Null, json!({"content": text("fine")}), bad).await;
    assert_eq!(result.error.as_deref(), Some("no such file"));
    assert_eq!(result.llm_content, ToolContent::Text("no such file".to_owned()));
    assert_eq!((&told[0]["isError"], &told[0]["content"]), (&json!(true), &text("no such file")));
    assert_eq!((told.len(), runs), (1, 1));
    assert!(
        result.warnings.iter().any(|it| it.contains("changes nothing")),
        "{:?}",
        result.warnings
    );
}

/// A call of a tool of a host with these modules.
async fn call(host: &AgentHost, gives: fn() -> ToolResult) -> (ToolResult, usize) {
    let call = ToolCall::new(ToolName::new("read_file").unwrap(), RawObject::empty());
    let runs = Mutex::new(0);
    let result = execute_tool_with_hooks(host, call, async |_input| {
        *runs.lock().unwrap() += 1;
        gives()
    })
    .await;
    let runs = *runs.lock().unwrap();
    (result, runs)
}

#[tokio::test]
async fn a_handler_that_fails_blocks_the_tool_with_its_error() {
    let fails = Made("fails", |api: &mut ModuleApi| {
        api.on("tool_call", |_event, _ctx| async { Err("the list is gone".into()) });
    });
    let panics = Made("panics", |api: &mut ModuleApi| {
        api.on("tool_call", |_event, _ctx| async { panic!("the list is gone") });
    });
    for builder in [
        Project::new().builder().module(fails).unwrap(),
        Project::new().builder().module(panics).unwrap(),
    ] {
        let (result, runs) = call(&AgentHost::new(builder), good).await;
        let ToolVerdict::Blocked { reason } = &result.verdict else { panic!("{result:?}") };
        assert!(reason.contains("the list is gone"), "{result:?}");
        assert_eq!((result.error.as_ref(), runs), (Some(reason), 0));
    }
}

#[tokio::test]
async fn a_tool_that_fails_is_a_tool_error_and_a_result_whose_answers_change_nothing() {
    let told = Told::default();
    let hears = Arc::clone(&told);
    let module = Made("m", move |api: &mut ModuleApi| {
        let hears = Arc::clone(&hears);
        api.on("tool_result", move |event, _ctx| {
            hears.lock().unwrap().push(serde_json::from_str(event.to_raw().as_str()).unwrap());
            let answer =
                fields(json!({"content": text("fine"), "details": {"d": 1}, "isError": false}));
            async move { Ok(Some(ModuleAnswer::from(answer))) }
        });
    });
    let project = Project::with_hook("ToolError", "cat > error.json");
    let host = AgentHost::new(project.builder().module(module).unwrap());
    let (result, runs) = call(&host, bad).await;
    let heard: Value = serde_json::from_str(&project.read("error.json")).unwrap();
    assert_eq!(
        (&heard["hook_event_name"], &heard["error"]),
        (&json!("ToolError"), &json!("no such file"))
    );
    let told = told.lock().unwrap();
    assert_eq!((told.len(), &told[0]["isError"]), (1, &json!(true)));
    // What the tool said goes on.
    let original = bad();
    assert_eq!((&result.error, &result.llm_content), (&original.error, &original.llm_content));
    assert_eq!((result.metadata, result.verdict, runs), (original.metadata, ToolVerdict::Ran, 1));
}

#[tokio::test]
async fn where_nobody_listens_nothing_is_emitted_and_the_result_is_the_tools_own() {
    for (event, is_heard) in [("agent_start", false), ("tool_call", true)] {
        let module = Made("m", |api: &mut ModuleApi| {
            api.on(event, |_event, _ctx| async { Ok(None) });
        });
        let host = AgentHost::new(Project::new().builder().module(module).unwrap());
        let mut progress = host.hook_system().unwrap().bus().subscribe::<HookProgress>();
        for gives in [good, bad] {
            let (result, runs) = call(&host, gives).await;
            assert_eq!((result, runs), (gives(), 1));
        }
        assert_eq!(progress.next().now_or_never().is_some(), is_heard, "{event}");
    }
}

//! A tool call with modules around it.

use std::sync::{Arc, Mutex};

use hook_bus::AgentHost;
use hook_bus::module::ModuleApi;
use hook_bus::triggers::{ToolCall, ToolContent, ToolResult, ToolVerdict, execute_tool_with_hooks};
use hook_core::run::ModuleAnswer;
use hook_core::{RawObject, ToolName};
use hook_tests::{Project, fields};
use serde_json::{Value, json};

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

//! What several handlers of one event come to: the table of docs/modules.md, row by row.

use std::sync::{Arc, Mutex};

use hook_bus::HookSystem;
use hook_bus::module::ModuleApi;
use hook_run::ModuleAnswer;
use hook_tests::{Project, fields};
use serde_json::{Value, json};

use super::{Made, fire};

/// What a handler does.
#[derive(Clone)]
pub(crate) enum Does {
    Returns(Value),
    Throws(&'static str),
    Panics,
    /// Puts one more in front of the messages that it is told.
    AddsMessage(&'static str),
}

use Does::{AddsMessage, Panics, Returns, Throws};

/// What each handler was told, in the order of calls.
type Told = Arc<Mutex<Vec<Value>>>;

fn handlers(api: &mut ModuleApi, event: &str, does: &[Does], told: &Told) {
    for does in does {
        let (does, told) = (does.clone(), Arc::clone(told));
        api.on(event, move |event, _ctx| {
            let does = does.clone();
            told.lock().unwrap().push(serde_json::from_str(event.to_raw().as_str()).unwrap());
            async move {
                match does {
                    Returns(Value::Null) => Ok(None),
                    Returns(answer) => Ok(Some(ModuleAnswer::from(fields(answer)))),
                    Throws(error) => Err(error.into()),
                    Panics => panic!("it panicked"),
                    AddsMessage(text) => {
                        let message = json!({"role": "user", "content": text}).to_string();
                        let mut messages = vec![hook_json::RawJson::parse(message).unwrap()];
                        messages.extend(event.items("messages"));
                        Ok(Some(ModuleAnswer::messages(&messages)))
                    }
                }
            }
        });
    }
}

/// A system with these handlers, the first in a module of its own.
fn system(event: &'static str, does: &[Does], told: &Told) -> HookSystem {
    let (first, rest) = does.split_at(1);
    let builder = Project::new().builder();
    let builder = builder.module(Made("first", |api: &mut ModuleApi| {
        handlers(api, event, first, told);
    }));
    let builder = builder.unwrap().module(Made("second", |api: &mut ModuleApi| {
        handlers(api, event, rest, told);
    }));
    builder.unwrap().build().unwrap()
}

fn text(text: &str) -> Value {
    json!([{"type": "text", "text": text}])
}

/// Our event, and an input of it.
pub(crate) fn input(event: &str) -> (&'static str, Value) {
    match event {
        "tool_call" => (
            "BeforeTool",
            json!({"tool_name": "run_shell_command", "tool_input": {"command": "ls"}}),
        ),
        "tool_result" => (
            "AfterTool",
            json!({"tool_name": "read_file", "tool_input": {"file_path": "a"},
                "tool_response": {"content": text("o"), "details": 0}}),
        ),
        "context" => (
            "BeforeModel",
            json!({"llm_request": {"model": "m", "messages": []}, "sdk": "stable",
                "messages": [{"role": "user", "content": "hi"}]}),
        ),
        "before_agent_start" => ("BeforeAgent", json!({"prompt": "p"})),
        "session_before_switch" => ("BeforeSessionSwitch", json!({"reason": "new"})),
        "session_before_branch" => ("BeforeSessionBranch", json!({"entry_id": "e"})),
        "session_before_compact" => ("PreCompress", json!({"trigger": "auto"})),
        "session_before_tree" => ("BeforeSessionTree", json!({"preparation": {}})),
        "session.compacting" => ("Compacting", json!({"messages": []})),
        "agent_start" => ("AgentStart", json!({})),
        "turn_end" => ("TurnEnd", json!({"turn_index": 0, "message": {}, "tool_results": []})),
        other => panic!("no input for {other}"),
    }
}

/// A rule: what handlers of an event do, how many of them are called, and a part of the response.
pub(crate) struct Row(
    pub(crate) &'static str,
    pub(crate) Vec<Does>,
    pub(crate) usize,
    pub(crate) &'static str,
    pub(crate) Value,
);

const MERGED: &str = "/output/finalOutput/hookSpecificOutput";

pub(crate) fn rows() -> Vec<Row> {
    let block = |reason: &str| Returns(json!({"block": true, "reason": reason}));
    let message = |text: &str| json!({"customType": text, "content": text, "display": true});
    let reason = "/processed/reason";
    let decision = "/processed/decision";
    vec![
        // The first block ends it; what does not block decides nothing.
        Row(
            "tool_call",
            vec![Returns(json!({"block": false, "reason": "a"})), block("b"), block("c")],
            2,
            reason,
            json!("b"),
        ),
        Row("tool_call", vec![block("a"), Returns(json!({"block": false}))], 1, reason, json!("a")),
        Row(
            "tool_call",
            vec![Returns(json!({"block": false})), Returns(Value::Null)],
            2,
            decision,
            json!("proceed"),
        ),
        Row(
            "tool_call",
            vec![Returns(json!({"block": true})), Panics],
            1,
            reason,
            json!("Tool execution was blocked by a hook"),
        ),
        // One that throws blocks, with its error as reason.
        Row("tool_call", vec![Throws("boom"), block("b")], 1, reason, json!("boom")),
        Row("tool_call", vec![Panics, block("b")], 1, decision, json!("block")),
        Row(
            "tool_call",
            vec![Returns(json!({"block": "yes"})), block("b")],
            1,
            decision,
            json!("block"),
        ),
        // The last override wins, and nothing ends it.
        Row(
            "tool_result",
            vec![Returns(json!({"content": text("1")})), Returns(json!({"content": text("2")}))],
            2,
            MERGED,
            json!({"tool_response": {"content": text("2"), "details": 0}}),
        ),
        Row(
            "tool_result",
            vec![
                Returns(json!({"content": text("1")})),
                Returns(json!({"details": 2})),
                Returns(Value::Null),
            ],
            3,
            MERGED,
            json!({"tool_response": {"content": text("1"), "details": 2}}),
        ),
        Row(
            "tool_result",
            vec![Throws("boom"), Returns(json!({"content": text("2")}))],
            2,
            MERGED,
            json!({"tool_response": {"content": text("2"), "details": 0}}),
        ),
        // `isError` is not applied.
        Row(
            "tool_result",
            vec![Returns(json!({"isError": true})), Returns(Value::Null)],
            2,
            decision,
            json!("proceed"),
        ),
        // Each gets what the one before it returned.
        Row(
            "context",
            vec![AddsMessage("1"), AddsMessage("2")],
            2,
            "/output/finalOutput/hookSpecificOutput/messages",
            json!([{"role": "user", "content": "2"}, {"role": "user", "content": "1"}, {"role": "user", "content": "hi"}]),
        ),
        // The first message is kept, and all run.
        Row(
            "before_agent_start",
            vec![
                Returns(Value::Null),
                Returns(json!({"message": message("1")})),
                Returns(json!({"message": message("2")})),
            ],
            3,
            "/output/finalOutput/hookSpecificOutput/message",
            message("1"),
        ),
        // The latest result counts, and to cancel ends it at once.
        Row(
            "session_before_switch",
            vec![Returns(json!({"cancel": true})), Returns(json!({"cancel": false}))],
            1,
            decision,
            json!("block"),
        ),
        Row(
            "session_before_switch",
            vec![Returns(json!({"cancel": false})), Returns(json!({}))],
            2,
            decision,
            json!("proceed"),
        ),
        Row(
            "session_before_branch",
            vec![
                Returns(json!({"skipConversationRestore": true})),
                Returns(json!({"skipConversationRestore": false})),
            ],
            2,
            "/output/finalOutput/hookSpecificOutput/skipConversationRestore",
            json!(false),
        ),
        Row(
            "session_before_branch",
            vec![Returns(json!({"cancel": true})), Throws("boom")],
            1,
            decision,
            json!("block"),
        ),
        Row(
            "session_before_compact",
            vec![
                Returns(json!({"compaction": {"summary": "1"}})),
                Returns(json!({"compaction": {"summary": "2"}})),
            ],
            2,
            "/output/finalOutput/hookSpecificOutput/compaction",
            json!({"summary": "2"}),
        ),
        Row(
            "session_before_compact",
            vec![Returns(json!({"cancel": true})), Throws("boom")],
            1,
            decision,
            json!("block"),
        ),
        Row(
            "session_before_tree",
            vec![
                Returns(json!({"summary": {"summary": "1"}})),
                Returns(json!({"summary": {"summary": "2"}})),
            ],
            2,
            "/output/finalOutput/hookSpecificOutput/summary",
            json!({"summary": "2"}),
        ),
        Row(
            "session_before_tree",
            vec![
                Returns(json!({"summary": {"summary": "1"}})),
                Returns(json!({"cancel": true})),
                Throws("boom"),
            ],
            2,
            decision,
            json!("block"),
        ),
        Row(
            "session_before_branch",
            vec![Returns(json!({"skipConversationRestore": true})), Returns(json!({}))],
            2,
            MERGED,
            json!({}),
        ),
        Row(
            "session_before_compact",
            vec![
                Returns(json!({"compaction": {"summary": "1"}})),
                Returns(json!({"cancel": false})),
                Returns(Value::Null),
            ],
            3,
            MERGED,
            json!({}),
        ),
        Row(
            "session_before_tree",
            vec![Returns(json!({"summary": {"summary": "1"}})), Returns(json!({}))],
            2,
            MERGED,
            json!({}),
        ),
        // The latest result wins, as a whole.
        Row(
            "session.compacting",
            vec![Returns(json!({"context": ["1"]})), Returns(json!({}))],
            2,
            MERGED,
            json!({}),
        ),
        Row(
            "session.compacting",
            vec![Returns(json!({"context": ["1"]})), Returns(json!({"prompt": "2"}))],
            2,
            MERGED,
            json!({"prompt": "2"}),
        ),
        // Results of all others are ignored, and one that fails stops nothing.
        Row(
            "turn_end",
            vec![Returns(json!({"block": true, "cancel": true})), Returns(json!({"x": 1}))],
            2,
            decision,
            json!("proceed"),
        ),
        Row(
            "agent_start",
            vec![Throws("boom"), Panics, Returns(Value::Null)],
            3,
            decision,
            json!("proceed"),
        ),
    ]
}

#[tokio::test]
async fn each_rule_of_the_table_holds() {
    for Row(event, does, calls, pointer, expected) in rows() {
        let told = Told::default();
        let system = system(event, &does, &told);
        let (ours, input) = input(event);
        let response = fire(&system, ours, input).await;
        assert_eq!(response.pointer(pointer), Some(&expected), "{event}: {response}");
        assert_eq!(told.lock().unwrap().len(), calls, "{event}: {response}");
    }
}

#[tokio::test]
async fn an_error_elsewhere_than_before_a_tool_is_told_and_things_go_on() {
    for (event, errors) in
        [("agent_start", vec!["boom"]), ("tool_result", vec!["boom"]), ("tool_call", vec![])]
    {
        let told = Told::default();
        let system = system(event, &[Throws("boom"), Returns(Value::Null)], &told);
        let heard = Arc::new(Mutex::new(Vec::new()));
        let hears = Arc::clone(&heard);
        let listener =
            system.modules().on_error(move |fault| hears.lock().unwrap().push(fault.clone()));
        let (ours, input) = input(event);
        let response = fire(&system, ours, input.clone()).await;
        let faults = heard.lock().unwrap().clone();
        let said: Vec<_> = faults.iter().map(|it| &*it.error).collect();
        assert_eq!(said, errors, "{event}");
        for fault in &faults {
            assert_eq!((&*fault.hook_path, &*fault.event), ("first", event));
            assert!(response["warnings"].to_string().contains("boom"), "{response}");
        }
        drop(listener);
        fire(&system, ours, input).await;
        assert_eq!(heard.lock().unwrap().len(), errors.len(), "nobody listens any more");
    }
}

#[tokio::test]
async fn modules_run_in_their_order_behind_other_hooks_of_their_priority() {
    let told = Told::default();
    let system = system("tool_call", &[Returns(Value::Null), Returns(Value::Null)], &told);
    let (ours, input) = input("tool_call");
    let response = fire(&system, ours, input).await;
    let names: Vec<&str> = response["hooks"]
        .as_array()
        .unwrap()
        .iter()
        .map(|it| it["name"].as_str().unwrap())
        .collect();
    assert_eq!(names, ["first:tool_call", "second:tool_call"]);
    assert_eq!(response["hooks"][0]["type"], "module");
}

#[test]
fn a_handler_for_what_is_no_event_keeps_a_module_from_being_loaded() {
    let module = Made("m", |api: &mut ModuleApi| {
        api.on("tool_cal", |_event, _ctx| async { Ok(None) });
    });
    let error = Project::new().builder().module(module).unwrap_err();
    let said = error.to_string();
    assert!(said.contains("\"tool_cal\"") && said.contains("session.compacting"), "{said}");
}

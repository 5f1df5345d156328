//! Messages that are read back: what was written is read as it was, and what was damaged since is
//! refused, or read as something that can be written again.

use std::time::Duration;

use futures::StreamExt;
use hook_bus::{
    HookExecutionRequest, HookExecutionResponse, HookProgress, HookSystem, HookSystemBuilder,
    MessageError,
};
use hook_json::RawJson;
use hook_protocol::{HookEventName, HookInput, HookOutput};
use hook_run::{HandlerHook, HandlerResult};
use hook_settings::FailBehavior;
use hook_tests::{Project, fields};
use proptest::prelude::*;
use proptest::sample::select;
use serde_json::{Value, json};

use super::generate::{Bytes, Tree, altered, bytes, damaged, lines_of};
use super::{LONGEST_MESSAGE, VERY_DEEP, check, runtime};

const WORDS: &[&str] = &[
    "type",
    "hook-execution-response",
    "hook-started",
    "hook-finished",
    "correlationId",
    "eventName",
    "success",
    "output",
    "processed",
    "hooks",
    "hook",
    "notStarted",
    "error",
    "decision",
    "retryAfterMs",
    "block",
    "duration",
    "exitCode",
    "signal",
    "SIGKILL",
    "timedOut",
    "warnings",
    "extension",
    "stdout",
];

const HOOKS: usize = 4;

/// What hooks answer, by what the request says: an answer, a failure (a string), or nothing.
fn answer(index: usize, input: &HookInput) -> HandlerResult {
    let input = input.to_raw().fields();
    let tool_input = input.get("tool_input").and_then(|input| input.to_object().ok());
    let answers = tool_input.and_then(|input| input.get("answers")?.to_items());
    let Some(said) = answers.and_then(|answers| answers.get(index).cloned()) else {
        return Ok(None);
    };
    match said.to_object() {
        Ok(fields) => Ok(Some(HookOutput::read(fields, &mut Vec::new()))),
        Err(_) => match said.to_text() {
            Some(failure) => Err(failure.into()),
            None => Ok(None),
        },
    }
}

fn system() -> HookSystem {
    let event = HookEventName::BeforeTool;
    let hooks = [
        HandlerHook::inline(event, "first\u{1b}[31m", |input| answer(0, input)).priority(1),
        HandlerHook::inline(event, "guard", |input| answer(1, input))
            .fail_behavior(FailBehavior::Block),
        HandlerHook::asynchronous(event, "beside", async |input| answer(2, &input)),
        HandlerHook::blocking(event, "last", |input| answer(3, input)).priority(200),
    ];
    hooks.into_iter().fold(HookSystem::builder("."), HookSystemBuilder::handler).build().unwrap()
}

fn said() -> impl Strategy<Value = Tree> {
    let answers = [
        json!(null),
        json!("it failed\nbadly"),
        json!({"decision": "deny", "reason": "r\u{2028}"}),
        json!({"decision": "ask", "unknown": [1, {"a": null}], "suppressOutput": true}),
        json!({"decision": "retry", "retryAfterMs": 1500, "reason": "later"}),
        json!({"continue": false, "stopReason": "s", "systemMessage": "m"}),
        json!({"decision": "maybe", "skipRemaining": true}),
        json!({"hookSpecificOutput": {"tool_input": {"path": "/b"}, "additionalContext": "c"}}),
        json!({"hookSpecificOutput": {"permissionDecision": "deny", "permissionDecisionReason": "p"}}),
    ];
    let trees: Vec<Tree> = answers.iter().map(Into::into).collect();
    prop_oneof![3 => select(trees.clone()), 1 => altered(trees, WORDS)]
}

/// A request with the answers that it will get, or one that a stage fails for.
fn request() -> impl Strategy<Value = String> {
    let answers = prop::collection::vec(said(), HOOKS);
    let asked = (answers, any::<bool>(), any::<bool>());
    let served = asked.prop_map(|(answers, streams, inputs)| {
        let answers: Vec<String> = answers.iter().map(ToString::to_string).collect();
        format!(
            r#"{{"type":"hook-execution-request","eventName":"BeforeTool","correlationId":"c",
            "streams":{streams},"inputs":{inputs},
            "input":{{"tool_name":"t","tool_input":{{"path":"/a","answers":[{}]}}}}}}"#,
            answers.join(",")
        )
    });
    let refused = select(vec![
        json!({"type": "hook-execution-request", "eventName": "BeforeTool", "input": {}}),
        json!({"type": "hook-execution-request", "eventName": "BeforeLunch", "input": {}}),
        json!({"type": "hook-execution-request", "eventName": "SessionEnd", "input": {"reason": "exit"}}),
        json!({"type": "hook-execution-request"}),
    ]);
    prop_oneof![6 => served, 1 => refused.prop_map(|request| request.to_string())]
}

/// Whether a response survives being written and read, and with it what a caller acts on.
fn survives(response: &HookExecutionResponse) -> Result<(), TestCaseError> {
    for line in [response.to_json(), response.to_json_with_streams()] {
        let read = HookExecutionResponse::from_json(&line);
        let read = read.map_err(|error| TestCaseError::fail(error.to_string()))?;
        let text = String::from_utf8_lossy(&line);
        let has_streams = read.streams || read.hooks.is_empty();
        let again = if has_streams { read.to_json_with_streams() } else { read.to_json() };
        prop_assert_eq!(String::from_utf8_lossy(&again), text);
        prop_assert_eq!(&read.correlation_id, &response.correlation_id);
        prop_assert_eq!(read.event_name(), response.event_name());
        let (now, before) = (&read.processed, &response.processed);
        prop_assert_eq!((now.decision, &now.reason), (before.decision, &before.reason));
        prop_assert_eq!(now.retry_after, before.retry_after);
        prop_assert_eq!(now.aggregated.all_outputs.len(), before.aggregated.all_outputs.len());
        for (now, before) in read.hooks.iter().zip(&response.hooks) {
            prop_assert_eq!(&now.hook, &before.hook);
            prop_assert_eq!(now.timed_out(), before.timed_out());
        }
        prop_assert_eq!(&read.not_started, &response.not_started);
    }
    prop_assert_eq!(&HookExecutionResponse::from_json(response.to_json()).unwrap(), response);
    Ok(())
}

fn progress_survives(progress: &HookProgress) -> Result<(), TestCaseError> {
    for line in [progress.to_json(), progress.to_json_with_streams()] {
        let read = HookProgress::from_json(&line);
        let read = read.map_err(|error| TestCaseError::fail(error.to_string()))?;
        prop_assert!(read.request().is_none());
        let is_started = matches!(read, HookProgress::Started(_));
        prop_assert_eq!(is_started, matches!(progress, HookProgress::Started(_)));
        prop_assert!(read.to_json() == line || read.to_json_with_streams() == line);
    }
    prop_assert_eq!(&HookProgress::from_json(progress.to_json_with_streams()).unwrap(), progress);
    Ok(())
}

#[test]
fn what_is_written_is_read_as_it_was() {
    let runtime = runtime();
    let system = system();
    let mut heard = {
        let _inside = runtime.enter();
        system.bus().subscribe::<HookProgress>()
    };
    check(200, request(), |text| {
        let request = HookExecutionRequest::from_json(&text);
        if request.envelope_error().is_none() {
            let line = String::from_utf8(request.to_json()).unwrap();
            prop_assert_eq!(&HookExecutionRequest::from_json(&line), &request);
        }
        let response = runtime.block_on(system.bus().request(request));
        survives(&response)
    });
    drop(system);
    let told = runtime.block_on(async {
        let mut told = Vec::new();
        while let Some(message) = heard.next().await {
            told.extend(message);
        }
        told
    });
    assert!(!told.is_empty());
    for progress in told.iter().take(200) {
        progress_survives(progress).unwrap();
    }
}

#[tokio::test]
async fn how_processes_end_is_read_as_it_was() {
    let hook =
        |name: &str, command: &str| json!({"type": "command", "name": name, "command": command});
    let mut slow = hook("slow", "sleep 1000");
    slow["timeout"] = json!(200);
    let mut strict = hook("strict", "exit 7");
    strict["failBehavior"] = json!("block");
    let hooks = [
        hook("fine", r#"echo '{"systemMessage": "é"}'; printf '\377' >&2"#),
        hook("odd", "exit 3"),
        hook("killed", "kill -KILL $$"),
        hook("loud", "head -c 300000 /dev/zero >&2"),
        slow,
        strict,
    ];
    let late = json!({"priority": 200, "hooks": [hook("late", "true")]});
    let project =
        Project::with_settings(&json!({"hooks": {"BeforeTool": [{"hooks": hooks}, late]}}));
    let system = project.system();
    let request = HookExecutionRequest::new(
        "BeforeTool",
        fields(json!({"tool_name": "t", "tool_input": {"a": 1}})),
    );
    let response = system.bus().request(request.with_streams().with_inputs()).await;
    survives(&response).unwrap();
    let read = HookExecutionResponse::from_json(response.to_json()).unwrap();
    let ends: Vec<_> = read
        .hooks
        .iter()
        .map(|result| {
            let process = &result.process;
            let truncated = process.stdout.dropped + process.stderr.dropped > 0;
            (result.hook.display_name(), process.exit_code, process.signal, truncated)
        })
        .collect();
    assert_eq!(
        ends,
        [
            ("fine", Some(0), None, false),
            ("odd", Some(3), None, false),
            ("killed", None, Some(9), false),
            ("loud", Some(0), None, true),
            ("slow", None, ends[4].2, false),
            ("strict", Some(7), None, false),
        ]
    );
    assert!(read.hooks[4].timed_out() && read.hooks[0].input.is_some());
    assert_eq!(read.not_started[0].hook.display_name(), "late");
    assert_eq!(&*read.not_started[0].ended_by, "strict");
}

/// Messages of the example's recording, each as its own line.
fn recorded() -> Vec<Value> {
    let lines = lines_of("docs/examples/agent-session/session.hookrec").into_iter();
    let messages = lines.map(|mut line| line["message"].take());
    let mut messages: Vec<Value> = messages.filter(|it| it["type"].is_string()).collect();
    messages.retain(|it| it["type"] != "hook-execution-request");
    messages.push(
        json!({"type": "hook-execution-response", "correlationId": "c", "success": false,
        "error": {"code": "of_later", "message": "m", "details": {"n": 1}},
        "processed": {"decision": "block", "suppressOutput": false, "shouldStop": false}}),
    );
    // What is damaged should be small, so that damages meet.
    messages.retain(|it| it.to_string().len() < 4_000);
    messages
}

#[test]
fn what_was_damaged_is_refused_by_its_field_or_can_be_written_again() {
    let messages = recorded();
    let trees = messages.iter().map(Into::into).collect();
    let texts = messages.iter().map(|message| message.to_string().into_bytes()).collect();
    let line = prop_oneof![
        1 => bytes(WORDS),
        3 => altered(trees, WORDS).prop_map(|tree: Tree| Bytes(tree.to_string().into_bytes())),
        3 => damaged(texts),
    ];
    check(2_000, line, |Bytes(line)| {
        let refused = |error: MessageError| {
            let text = error.to_string();
            prop_assert!(text.len() < LONGEST_MESSAGE, "{text}");
            prop_assert!(!text.contains(['\n', '\u{1b}']), "{text:?}");
            Ok(())
        };
        match HookExecutionResponse::from_json(&line) {
            Ok(read) => {
                let again = HookExecutionResponse::from_json(read.to_json());
                prop_assert_eq!(&again.unwrap(), &read);
            }
            Err(error) => refused(error)?,
        }
        match HookProgress::from_json(&line) {
            Ok(read) => {
                let again = HookProgress::from_json(read.to_json_with_streams());
                prop_assert_eq!(&again.unwrap(), &read);
            }
            Err(error) => refused(error)?,
        }
        Ok(())
    });
}

#[test]
fn every_recorded_message_is_read() {
    for message in recorded() {
        let line = message.to_string();
        match message["type"].as_str().unwrap() {
            "hook-execution-response" => {
                HookExecutionResponse::from_json(&line).unwrap();
            }
            _ => {
                HookProgress::from_json(&line).unwrap();
            }
        }
    }
}

#[test]
fn an_error_names_the_field_and_what_was_expected() {
    let response = |change: fn(&mut Value)| {
        let mut message = json!({"type": "hook-execution-response", "correlationId": "c",
            "eventName": "Later", "success": true,
            "output": {"success": true, "allOutputs": [{}], "errors": [], "totalDuration": 1.5},
            "processed": {"decision": "proceed", "suppressOutput": false, "shouldStop": false},
            "hooks": [{"name": "n", "type": "quantum", "source": "cloud", "success": true,
                "duration": 1.5, "queued": 0, "warnings": []}]});
        change(&mut message);
        HookExecutionResponse::from_json(message.to_string())
    };
    let read = response(|_| {}).unwrap();
    assert_eq!((read.event, read.event_name()), (None, Some("Later")));
    assert_eq!(read.hooks[0].duration, Duration::from_micros(1_500));
    assert_eq!((read.hooks[0].hook.kind(), read.hooks[0].hook.event_name()), ("quantum", "Later"));
    type Change = fn(&mut Value);
    let changes: [(Change, &str); 9] = [
        (|it| it["type"] = json!("hook-hello"), "type"),
        (|it| it["correlationId"] = json!("c".repeat(257)), "correlationId"),
        (|it| it["success"] = json!(false), "error"),
        (|it| it["error"] = json!({"code": "cancelled", "message": "m"}), "error"),
        (|it| it["processed"]["decision"] = json!("perhaps"), "processed.decision"),
        (|it| it["output"]["allOutputs"][0] = json!(7), "output.allOutputs[0]"),
        (|it| it["hooks"][0]["duration"] = json!(-1), "hooks[0].duration"),
        (|it| it["hooks"][0]["exitCode"] = json!(1e30), "hooks[0].exitCode"),
        (|it| it["hooks"][0]["timedOut"] = json!(true), "hooks[0].error"),
    ];
    for (change, field) in changes {
        assert_eq!(response(change).unwrap_err().field(), Some(field));
    }
    let twice = r#"{"type":"hook-execution-response","success":true,"success":false}"#;
    assert_eq!(HookExecutionResponse::from_json(twice).unwrap_err().field(), Some("success"));
    assert_eq!(HookExecutionResponse::from_json("nonsense").unwrap_err().field(), None);
}

#[test]
fn what_nests_very_deep_is_read_without_recursion() {
    let deep = format!("{}{}", "[".repeat(VERY_DEEP), "]".repeat(VERY_DEEP));
    let deep = RawJson::parse(deep).unwrap();
    let line = format!(
        r#"{{"type":"hook-finished","correlationId":"c","eventName":"E","later":{deep},"hook":
        {{"name":"n","type":"command","source":"user","success":true,"duration":0,"queued":0,"input":{{"a":{deep}}}}}}}"#
    );
    let read = HookProgress::from_json(&line).unwrap();
    assert!(matches!(read, HookProgress::Finished(read) if read.result.input.is_some()));
}

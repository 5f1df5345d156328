//! Messages: lines from clients, and the requests in them.

use std::collections::HashSet;

use hook_bus::wire::{ClientEnd, Line, LineReader, serve_client};
use hook_bus::{HookExecutionRequest, HookSystem, HookSystemBuilder};
use hook_json::RawJson;
use hook_protocol::{FailureCode, HookEventName, HookInput, HookOutput};
use hook_run::{HandlerHook, HandlerResult};
use hook_settings::FailBehavior;
use hook_tests::json;
use proptest::prelude::*;
use serde_json::Value;
use tokio::io::{AsyncReadExt, AsyncWriteExt, duplex};
use tokio_util::sync::CancellationToken;

use super::generate::{
    Bytes, Tree, altered, bytes, damaged, example_requests, object, recorded_cases,
};
use super::{LONGEST_MESSAGE, VERY_DEEP, check, runtime};

/// What tells the server something and is not answered is left out: other tests have it.
const WORDS: &[&str] = &[
    "type",
    "hook-execution-request",
    "hook-execution-response",
    "hook-hello",
    "eventName",
    "input",
    "payload",
    "correlationId",
    "deadlineMs",
    "streams",
    "inputs",
    "BeforeTool",
    "before_agent",
    "SessionEnd",
    "AfterModel",
    "BeforeLunch",
    "tool_name",
    "tool_input",
    "prompt",
    "reason",
    "exit",
    "llm_request",
    "llm_response",
    "messages",
    "contents",
    "sdk",
    "session_id",
    "cwd",
];

/// A request that is right for each event that there is, and more.
fn valid_requests() -> Vec<Value> {
    let recorded = recorded_cases().into_iter().step_by(10).map(|case| {
        serde_json::json!({"type": "hook-execution-request", "eventName": case["event"],
            "input": case["input"], "correlationId": case["id"], "deadlineMs": 60_000, "streams": true})
    });
    example_requests().into_iter().chain(recorded).collect()
}

fn any_line() -> impl Strategy<Value = Bytes> {
    let valid = valid_requests();
    let trees = valid.iter().map(Into::into).collect();
    let texts = valid.iter().map(|request| request.to_string().into_bytes()).collect();
    let of_text = |tree: Tree| Bytes(tree.to_string().into_bytes());
    let line = prop_oneof![
        2 => bytes(WORDS),
        2 => object(WORDS).prop_map(of_text),
        4 => altered(trees, WORDS).prop_map(of_text),
        3 => damaged(texts),
    ];
    line.prop_map(|mut line| {
        line.0.iter_mut().filter(|byte| **byte == b'\n').for_each(|byte| *byte = b' ');
        line
    })
}

/// A line's text, as any reader would have it.
fn text_of(line: &[u8]) -> String {
    let text = String::from_utf8_lossy(line);
    text.trim_start_matches('\u{feff}').trim().to_owned()
}

/// A system with a hook for every event, of each kind that needs no process.
fn system() -> HookSystem {
    system_of(|hook| hook)
}

fn system_of(changed: impl Fn(HandlerHook) -> HandlerHook) -> HookSystem {
    fn answer(input: &HookInput) -> HandlerResult {
        let event = input.to_raw().fields().get("hook_event_name").and_then(RawJson::to_text);
        assert_eq!(event.as_deref(), Some(input.event().as_str()));
        Ok(Some(HookOutput::deny("no").with_additional_context("c")))
    }
    let hook = |(index, event)| match index % 3 {
        0 => HandlerHook::inline(event, "answers", answer),
        1 => HandlerHook::asynchronous(event, "answers", async |input| answer(&input)),
        _ => HandlerHook::blocking(event, "answers", answer),
    };
    let hooks = HookEventName::all().enumerate().map(hook).map(changed);
    hooks.fold(HookSystem::builder("."), HookSystemBuilder::handler).build().unwrap()
}

/// What a client hears that sends these bytes.
async fn served(system: &HookSystem, sent: &[u8]) -> (Vec<Value>, ClientEnd) {
    let (mut to_server, server_in) = duplex(4 * 1024);
    let (server_out, mut from_server) = duplex(4 * 1024);
    let stop = CancellationToken::new();
    let mut heard = String::new();
    let send = async move {
        to_server.write_all(sent).await.unwrap();
        drop(to_server);
    };
    let serve = serve_client(system, server_in, server_out, &stop);
    let (end, _, ()) = tokio::join!(serve, from_server.read_to_string(&mut heard), send);
    let parse = |line| serde_json::from_str(line).unwrap();
    (heard.lines().map(parse).collect(), end.unwrap())
}

#[test]
fn every_line_that_is_not_blank_gets_one_response_and_serving_goes_on() {
    let runtime = runtime();
    let system = system();
    runtime.block_on(system.initialize()).unwrap();
    let codes: HashSet<&str> = FailureCode::ALL.map(FailureCode::as_str).into();
    check(150, prop::collection::vec(any_line(), 0..12), |lines| {
        let mut sent = lines.iter().map(|line| &line.0[..]).collect::<Vec<_>>().join(&b'\n');
        sent.extend_from_slice(
            b"\n{\"type\":\"hook-execution-request\",\"eventName\":\"SessionEnd\",\
              \"input\":{\"reason\":\"exit\"},\"correlationId\":\"the last\"}",
        );
        let (heard, end) = runtime.block_on(served(&system, &sent));
        prop_assert_eq!(end, ClientEnd::Finished);
        let (hello, responses) = heard.split_first().unwrap();
        prop_assert_eq!(&hello["type"], "hook-hello");

        let texts: Vec<String> = sent.split(|byte| *byte == b'\n').map(text_of).collect();
        let blank = |text: &&String| text.is_empty();
        prop_assert_eq!(responses.len(), texts.iter().filter(|text| !blank(text)).count());
        let mut places = HashSet::new();
        for response in responses {
            prop_assert_eq!(&response["type"], "hook-execution-response");
            prop_assert!(response["correlationId"].is_string());
            if response["success"] == true {
                prop_assert_eq!(&response["hooks"][0]["name"], "answers");
                continue;
            }
            let code = response["error"]["code"].as_str().unwrap();
            prop_assert!(codes.contains(code) && code != "internal_error", "{}", response);
            if code == "invalid_request" {
                let line = response["error"]["details"]["line"].as_u64().unwrap();
                let text = texts.get(line as usize - 1);
                prop_assert!(text.is_some_and(|text| !text.is_empty()), "line {line}");
                prop_assert!(places.insert(line), "line {line} is answered twice");
            }
        }
        let last = responses.iter().find(|response| response["correlationId"] == "the last");
        prop_assert!(last.is_some_and(|last| last["success"] == true), "{:?}", last);
        Ok(())
    });
}

/// A trigger that is right for each kind that there is.
fn valid_triggers() -> Vec<Value> {
    let request = serde_json::json!({"model": "m", "contents": "Hi"});
    [
        ("tool", serde_json::json!({"tool_name": "t", "tool_input": {}, "suggestions": []})),
        ("model", serde_json::json!({"sdk": "genai", "request": request, "chunks": "each"})),
        ("prompt", serde_json::json!({"prompt": "p"})),
        ("turn-end", serde_json::json!({"prompt": "p", "prompt_response": "r"})),
        ("session-start", serde_json::json!({"source": "startup"})),
        ("session-end", serde_json::json!({"reason": "exit"})),
        ("pre-compress", serde_json::json!({"trigger": "auto"})),
        ("notification", serde_json::json!({"message": "m"})),
    ]
    .map(|(trigger, call)| {
        serde_json::json!({"type": "hook-trigger", "triggerId": "t", "trigger": trigger,
            "call": call, "session": {"session_id": "s", "maxContinuations": 2},
            "deadlineMs": 60_000})
    })
    .into()
}

#[test]
fn every_trigger_gets_one_result_or_is_refused_and_none_that_a_hook_denies_goes_on() {
    const WORDS: &[&str] = &[
        "type",
        "hook-trigger",
        "hook-trigger-chunk",
        "hook-trigger-cancel",
        "triggerId",
        "trigger",
        "call",
        "chunk",
        "tool",
        "model",
        "prompt",
        "turn-end",
        "session",
        "session_id",
        "maxContinuations",
        "deadlineMs",
        "runToken",
        "tool_name",
        "tool_input",
        "request",
        "llm_request",
        "sdk",
        "chunks",
        "each",
        "context",
        "contents",
        "t",
    ];
    let runtime = runtime();
    let system = system_of(|hook| hook.fail_behavior(FailBehavior::Block));
    runtime.block_on(system.initialize()).unwrap();
    let trees = valid_triggers().iter().map(Into::into).collect();
    let texts: Vec<Vec<u8>> =
        valid_triggers().iter().map(|trigger| trigger.to_string().into_bytes()).collect();
    let line = prop_oneof![
        4 => altered(trees, WORDS).prop_map(|tree| tree.to_string().into_bytes()),
        1 => damaged(texts).prop_map(|bytes| bytes.0),
    ];
    check(600, line, |line| {
        let line: Vec<u8> = line.into_iter().filter(|byte| *byte != b'\n').collect();
        prop_assume!(!text_of(&line).is_empty());
        let (heard, end) = runtime.block_on(served(&system, &line));
        prop_assert_eq!(end, ClientEnd::Finished);
        let read: Option<Value> = serde_json::from_str(&text_of(&line)).ok();
        let kind = read.as_ref().and_then(|read| read["type"].as_str()).unwrap_or_default();
        let answers = ["hook-trigger-result", "hook-error", "hook-execution-response"];
        let is_answer = |message: &&Value| answers.iter().any(|kind| message["type"] == *kind);
        let results: Vec<&Value> = heard.iter().filter(is_answer).collect();
        if kind == "hook-trigger" {
            prop_assert_eq!(results.len(), 1, "{:?}", heard);
        }
        for message in heard {
            // All hooks deny, so that no tool runs and no model is called.
            prop_assert!(message["type"] != "hook-host-call", "{}", message);
            let outcome = &message["result"]["outcome"];
            for passed in ["ran", "called", "proceed", "done"] {
                prop_assert!(outcome != passed, "{}", message);
            }
        }
        Ok(())
    });
}

#[test]
fn an_id_is_echoed_with_every_response_whatever_else_is_wrong() {
    let runtime = runtime();
    let system = system();
    let trees = valid_requests().iter().map(Into::into).collect();
    let request = prop_oneof![object(WORDS), altered(trees, WORDS)];
    check(600, request, |request| {
        let text = request.to_string();
        let asked = HookExecutionRequest::from_json(&text);
        let id = request.get("correlationId").cloned();
        let given = id.and_then(|id| serde_json::from_str::<String>(&id.to_string()).ok());
        if let Some(given) = given.filter(|given| given.len() <= 256) {
            prop_assert_eq!(asked.correlation_id().as_str(), given);
        }
        // What is a request is the same one when it is written and read again.
        let again = HookExecutionRequest::from_json(&String::from_utf8(asked.to_json()).unwrap());
        prop_assert_eq!(json(&again.to_json()), json(&asked.to_json()));
        prop_assert_eq!(again.event(), asked.event());

        let id = asked.correlation_id().clone();
        let event = asked.event();
        let response = runtime.block_on(system.bus().request(asked));
        prop_assert_eq!(&response.correlation_id, &id);
        let message = response.error().map_or("", |error| error.message.as_str());
        prop_assert!(message.len() < LONGEST_MESSAGE, "{message}");
        if response.error().is_none_or(|error| error.code != FailureCode::InvalidRequest) {
            prop_assert_eq!(response.event, event);
        }
        prop_assert!(json(&response.to_json()).is_object());
        Ok(())
    });
}

#[test]
fn lines_are_the_same_however_their_bytes_arrive() {
    let runtime = runtime();
    let sent = prop::collection::vec(prop_oneof![3 => any_line(), 1 => bytes(WORDS)], 0..8);
    check(300, (sent, 1..200_usize), |(sent, piece)| {
        let bytes = sent.iter().map(|line| &line.0[..]).collect::<Vec<_>>().join(&b'\n');
        let lines = runtime.block_on(async {
            let (mut writer, reader) = duplex(piece);
            let mut reader = LineReader::new(reader);
            let read = async {
                let mut lines = Vec::new();
                while let Some(line) = reader.next().await.unwrap() {
                    lines.push(line);
                }
                lines
            };
            let write = async move { writer.write_all(&bytes).await.unwrap() };
            tokio::join!(read, write).0
        });
        let bytes = sent.iter().map(|line| &line.0[..]).collect::<Vec<_>>().join(&b'\n');
        let expected: Vec<Line> = bytes
            .split(|byte| *byte == b'\n')
            .enumerate()
            .map(|(index, line)| Line::Text { number: index + 1, text: text_of(line) })
            .filter(|line| !matches!(line, Line::Text { text, .. } if text.is_empty()))
            .collect();
        prop_assert_eq!(lines, expected);
        Ok(())
    });
}

#[test]
fn very_deep_lines_are_answered_like_others() {
    let deep = "[".repeat(VERY_DEEP);
    let closed = format!("{deep}{}", "]".repeat(VERY_DEEP));
    let request = |fields: &str| {
        format!(r#"{{"type":"hook-execution-request","eventName":"BeforeTool",{fields}}}"#)
    };
    let sent = [
        deep.clone(),
        closed.clone(),
        "{\"a\":".repeat(VERY_DEEP),
        format!(r#"{{"type":{closed}}}"#),
        request(&format!(r#""input":{closed}"#)),
        request(&format!(r#""input":{{"tool_name":{closed}}}"#)),
        request(&format!(
            r#""input":{{"tool_name":"t","tool_input":{{"a":{closed}}},"b":{closed}}}"#
        )),
    ];
    let runtime = runtime();
    let system = HookSystem::builder(".").build().unwrap();
    let (heard, _) = runtime.block_on(served(&system, sent.join("\n").as_bytes()));
    let mut codes: Vec<&str> = heard[1..]
        .iter()
        .map(|response| response["error"]["code"].as_str().unwrap_or("none"))
        .collect();
    codes.sort_unstable();
    let mut expected = vec!["invalid_request"; 5];
    expected.extend(["invalid_payload", "none"]);
    expected.sort_unstable();
    assert_eq!(codes, expected);
}

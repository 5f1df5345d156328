//! What an answer means.

use hook_remote::grpc::proto::hooks::{HookAction, HookResponse, RegisterHookRequest};
use serde_json::{Value, json};

use crate::support::{
    OpenStream, Server, action, answer_to, block, decision, guard, pre_tool_use, within,
};

async fn with(register: RegisterHookRequest) -> (Server, OpenStream) {
    let server = Server::unix().await;
    let mut hooks = server.hooks().await;
    server.register(&mut hooks, register, &[]).await.unwrap();
    let stream = server.stream(&mut hooks, &[]).await.unwrap();
    (server, stream)
}

/// What comes of a tool call that is answered so.
async fn answered(register: RegisterHookRequest, response: HookResponse) -> Value {
    let (server, mut stream) = with(register).await;
    let asked = server.before_tool("ls");
    stream.answer_next(response).await;
    let response = within(asked).await.unwrap();
    server.end().await;
    response
}

#[tokio::test]
async fn actions_are_what_they_say() {
    let modified = json!({"args": {"command": "ls -l"}}).to_string().into_bytes();
    let modified = HookResponse { modified: Some(modified), ..action(HookAction::Continue) };
    let response = answered(pre_tool_use("h"), modified).await;
    assert_eq!(decision(&response), "proceed");
    assert_eq!(response["processed"]["modified"]["tool_input"]["command"], "ls -l", "{response}");

    let retry = HookResponse { retry_delay_ms: Some(250), ..action(HookAction::Retry) };
    let response = answered(pre_tool_use("h"), retry).await;
    assert_eq!(decision(&response), "retry", "{response}");
    assert_eq!(response["processed"]["retryAfterMs"], 250, "{response}");

    let response = answered(pre_tool_use("h"), action(HookAction::Skip)).await;
    assert_eq!(decision(&response), "proceed");
    assert_eq!(response["output"]["success"], true, "{response}");
}

#[tokio::test]
async fn an_output_wins_over_the_action_and_is_in_the_hooks_own_words() {
    let output = json!({"action": "block", "reason": "by output"}).to_string().into_bytes();
    let both = HookResponse { output: Some(output), ..action(HookAction::Continue) };
    let response = answered(pre_tool_use("h"), both).await;
    assert_eq!(response["processed"]["reason"], "by output", "{response}");

    let native = RegisterHookRequest {
        vocabulary: "native".to_owned(),
        event_type: "BeforeTool".to_owned(),
        ..pre_tool_use("h")
    };
    let output = json!({"decision": "deny", "reason": "ours"}).to_string().into_bytes();
    let ours = HookResponse { output: Some(output), ..HookResponse::default() };
    assert_eq!(answered(native.clone(), ours).await["processed"]["reason"], "ours");
    // An action counts in any words.
    assert_eq!(decision(&answered(native, block("no")).await), "block");
    let claude = RegisterHookRequest { vocabulary: "claude".to_owned(), ..pre_tool_use("h") };
    let response = answered(claude.clone(), block("no")).await;
    assert_eq!((decision(&response), &response["processed"]["reason"]), ("block", &json!("no")));
    let response = answered(claude, action(HookAction::Continue)).await;
    assert_eq!(decision(&response), "proceed");
    assert_eq!(response["output"]["success"], true, "{response}");
}

#[tokio::test]
async fn an_answer_that_means_nothing_is_a_failure_and_a_guard_blocks() {
    let json = |text: &str| Some(text.as_bytes().to_vec());
    let strange = [
        HookResponse { output: json("[]"), ..HookResponse::default() },
        HookResponse { modified: json("{"), ..HookResponse::default() },
        HookResponse { action: 7, ..HookResponse::default() },
        HookResponse { error: Some("it broke".to_owned()), ..HookResponse::default() },
        HookResponse { retry_delay_ms: Some(-1), ..action(HookAction::Retry) },
        HookResponse { host_call: json("no"), ..HookResponse::default() },
    ];
    for response in strange {
        let blocked = answered(guard("g", 60_000), response.clone()).await;
        assert_eq!(decision(&blocked), "block", "{response:?}: {blocked}");
        let let_through = answered(pre_tool_use("h"), response).await;
        assert_eq!(decision(&let_through), "proceed");
        assert_eq!(let_through["output"]["success"], false, "{let_through}");
    }
}

#[tokio::test]
async fn the_answer_to_one_call_does_not_go_to_another() {
    let (server, mut stream) = with(guard("g", 60_000)).await;
    let asked = server.before_tool("ls");
    let event = stream.event().await;
    // To no call there is, to another hook's, and then twice.
    let none = HookResponse { call_id: "4711".to_owned(), ..action(HookAction::Continue) };
    stream.answer(none).await;
    stream.answer(answer_to(&event, block("first"))).await;
    stream.answer(answer_to(&event, action(HookAction::Continue))).await;
    let response = within(asked).await.unwrap();
    assert_eq!(response["processed"]["reason"], "first", "{response}");

    let asked = server.before_tool("ls");
    let event = stream.event().await;
    let other = HookResponse { hook_id: "other".to_owned(), ..action(HookAction::Continue) };
    stream.answer(HookResponse { call_id: event.call_id, ..other }).await;
    assert_eq!(decision(&within(asked).await.unwrap()), "block");
    server.end().await;
}

#[tokio::test]
async fn an_answer_without_a_call_answers_the_oldest_of_its_hook() {
    let (server, mut stream) = with(pre_tool_use("h")).await;
    let first = server.before_tool("first");
    stream.event().await;
    let second = server.before_tool("second");
    stream.event().await;
    for reason in ["one", "two"] {
        stream.answer(HookResponse { hook_id: "h".to_owned(), ..block(reason) }).await;
    }
    assert_eq!(within(first).await.unwrap()["processed"]["reason"], "one");
    assert_eq!(within(second).await.unwrap()["processed"]["reason"], "two");
    server.end().await;
}

#[tokio::test]
async fn a_late_answer_without_a_call_is_not_taken_for_the_next_call() {
    let (server, mut stream) = with(guard("g", 200)).await;
    let late = server.before_tool("first");
    stream.event().await;
    assert_eq!(decision(&within(late).await.unwrap()), "block");

    let asked = server.before_tool("second");
    while stream.event().await.cancelled {}
    let hook_id = || "g".to_owned();
    stream.answer(HookResponse { hook_id: hook_id(), ..action(HookAction::Continue) }).await;
    stream.answer(HookResponse { hook_id: hook_id(), ..block("second") }).await;
    assert_eq!(within(asked).await.unwrap()["processed"]["reason"], "second");
    server.end().await;
}

#[tokio::test]
async fn a_handler_that_never_answers_is_timed_out_and_told_so() {
    let (server, mut stream) = with(guard("g", 200)).await;
    let asked = server.before_tool("ls");
    let event = stream.event().await;
    let response = within(asked).await.unwrap();
    assert_eq!(decision(&response), "block", "{response}");
    let cancelled = stream.event().await;
    assert!(cancelled.cancelled);
    assert_eq!((cancelled.call_id, cancelled.hook_id), (event.call_id, event.hook_id));
    server.end().await;
}

#[tokio::test]
async fn over_tcp_no_hook_has_programs_run_and_over_a_socket_it_may() {
    for server in [Server::unix().await, Server::tcp().await] {
        let mut hooks = server.hooks().await;
        server.register(&mut hooks, pre_tool_use("h"), &[]).await.unwrap();
        let mut stream = server.stream(&mut hooks, &[]).await.unwrap();
        let asked = server.before_tool("ls");
        let event = stream.event().await;
        let params = json!({"command": "echo", "args": ["ran"]});
        let call = json!({"type": "hook-host-call", "hostCallId": "1", "method": "exec", "params": params});
        let host_call = Some(call.to_string().into_bytes());
        let call = HookResponse { host_call, ..HookResponse::default() };
        stream.answer(answer_to(&event, call)).await;
        let result = stream.event().await.host_result.unwrap();
        let result: Value = serde_json::from_slice(&result).unwrap();
        match server.place.starts_with("unix:") {
            true => assert_eq!(result["result"]["stdout"], "ran\n", "{result}"),
            false => assert_eq!(result["error"]["code"], "unsupported", "{result}"),
        }
        stream.answer(answer_to(&event, action(HookAction::Continue))).await;
        assert_eq!(decision(&within(asked).await.unwrap()), "proceed");
        server.end().await;
    }
}

#[tokio::test]
async fn a_hook_may_ask_the_host_and_gets_what_there_is_without_one() {
    let (server, mut stream) = with(pre_tool_use("h")).await;
    let asked = server.before_tool("ls");
    let event = stream.event().await;
    for (method, said) in [
        ("ui.confirm", json!({"result": false})),
        ("tool.execute", json!({"error": {"code": "unsupported"}})),
    ] {
        let call = json!({"type": "hook-host-call", "hostCallId": "1", "method": method});
        let host_call = Some(call.to_string().into_bytes());
        let call = HookResponse { host_call, ..HookResponse::default() };
        stream.answer(answer_to(&event, call)).await;
        let result = stream.event().await.host_result.unwrap();
        let result: Value = serde_json::from_slice(&result).unwrap();
        assert_eq!(
            (&result["type"], &result["hostCallId"]),
            (&json!("hook-host-result"), &json!("1"))
        );
        match said.get("result") {
            Some(said) => assert_eq!(&result["result"], said),
            None => assert_eq!(result["error"]["code"], said["error"]["code"], "{result}"),
        }
    }
    stream.answer(answer_to(&event, action(HookAction::Continue))).await;
    assert_eq!(decision(&within(asked).await.unwrap()), "proceed");
    server.end().await;
}

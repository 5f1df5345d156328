//! The end of a server, whatever goes on.

use std::time::Duration;

use hook_remote::grpc::proto::hook_bus::HookExecutionRequest;
use hook_remote::grpc::proto::hooks::HookAction;
use serde_json::Value;
use tonic::Code;

use crate::support::{
    Server, action, answer_to, before_tool, decision, guard, pre_tool_use, within,
};

#[tokio::test]
async fn calls_that_wait_are_still_answered_and_then_the_stream_is_told() {
    let server = Server::tcp().await;
    let mut hooks = server.hooks().await;
    server.register(&mut hooks, guard("g", 60_000), &[]).await.unwrap();
    let mut stream = server.stream(&mut hooks, &[]).await.unwrap();
    let mut bus = server.bus().await;
    let json = before_tool("ls", "c-1").to_string().into_bytes();
    let call = server.call(HookExecutionRequest { json }, &[]);
    let asked = tokio::spawn(async move { bus.request(call).await });
    let event = stream.event().await;
    server.stop.cancel();
    stream.answer(answer_to(&event, action(HookAction::Continue))).await;
    let response = within(asked).await.unwrap().unwrap().into_inner();
    let response: Value = serde_json::from_slice(&response.json).unwrap();
    assert_eq!(decision(&response), "proceed", "{response}");
    let status = stream.end().await.unwrap_err();
    assert_eq!(status.code(), Code::Unavailable);
    assert!(status.message().contains("shutdown"), "{status}");
    within(server.served).await.unwrap();
}

#[tokio::test]
async fn calls_that_nobody_answers_fail_closed_and_nothing_hangs() {
    let server = Server::unix().await;
    let mut hooks = server.hooks().await;
    server.register(&mut hooks, guard("g", 600_000), &[]).await.unwrap();
    let mut stream = server.stream(&mut hooks, &[]).await.unwrap();
    let asked = server.before_tool("ls");
    stream.event().await;
    server.stop.cancel();
    within(server.system.shutdown(Duration::from_millis(100))).await;
    let response = within(asked).await.unwrap();
    assert_eq!(decision(&response), "block", "{response}");
    assert_eq!(stream.end().await.unwrap_err().code(), Code::Unavailable);
    within(server.served).await.unwrap();
}

#[tokio::test]
async fn a_client_that_does_not_read_does_not_hold_up_the_end() {
    let server = Server::tcp().await;
    let mut hooks = server.hooks().await;
    server.register(&mut hooks, pre_tool_use("h"), &[]).await.unwrap();
    let stream = server.stream(&mut hooks, &[]).await.unwrap();
    let asked: Vec<_> = (0..32).map(|_| server.before_tool(&"x".repeat(1 << 20))).collect();
    tokio::task::yield_now().await;
    server.end().await;
    for asked in asked {
        within(asked).await.unwrap();
    }
    drop(stream);
}

#[tokio::test]
async fn one_that_is_not_served_any_more_ends_its_clients() {
    let server = Server::unix().await;
    let mut hooks = server.hooks().await;
    server.register(&mut hooks, guard("g", 60_000), &[]).await.unwrap();
    let mut stream = server.stream(&mut hooks, &[]).await.unwrap();
    let asked = server.before_tool("ls");
    stream.event().await;
    server.served.abort();
    stream.end().await.unwrap_err();
    let asked = tokio::time::timeout(Duration::from_secs(1), asked).await;
    // It waits for its client to come back, or has failed.
    if let Ok(response) = asked {
        assert_eq!(decision(&response.unwrap()), "block");
    }
}

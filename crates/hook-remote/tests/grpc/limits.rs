//! What is too large, or too many.

use hook_remote::grpc::proto::hook_bus::HookExecutionRequest;
use hook_remote::grpc::proto::hooks::HookResponse;
use hook_run::lines::MAX_LINE;
use serde_json::Value;
use tonic::Code;

use crate::support::{Server, answer_to, before_tool, decision, guard, pre_tool_use, within};

#[tokio::test]
async fn a_request_of_100_mb_is_refused() {
    for server in [Server::tcp().await, Server::unix().await] {
        let mut bus = server.bus().await;
        let json = before_tool(&"x".repeat(100_000_000), "c").to_string().into_bytes();
        let status = within(bus.request(server.call(HookExecutionRequest { json }, &[]))).await;
        let status = status.unwrap_err();
        assert_eq!(status.code(), Code::OutOfRange, "{status}");
        assert!(status.message().contains(&MAX_LINE.to_string()), "{status}");
        // The connection goes on.
        let json = before_tool("ls", "c-9").to_string().into_bytes();
        let response = within(bus.request(server.call(HookExecutionRequest { json }, &[]))).await;
        let response: Value = serde_json::from_slice(&response.unwrap().into_inner().json).unwrap();
        assert_eq!(response["correlationId"], "c-9");
        server.end().await;
    }
}

/// How many bytes a payload has that is larger than one may be: a little, and very much.
const TOO_LARGE: [usize; 2] = [5 << 20, 100_000_000];

#[tokio::test]
async fn an_answer_over_4_mib_ends_the_stream_and_guards_block_at_once() {
    for length in TOO_LARGE {
        for server in [Server::tcp().await, Server::unix().await] {
            let mut hooks = server.hooks().await;
            server.register(&mut hooks, guard("g", 600_000), &[]).await.unwrap();
            let mut stream = server.stream(&mut hooks, &[]).await.unwrap();
            let asked = server.before_tool("ls");
            let event = stream.event().await;
            let output = Some(vec![b' '; length]);
            let large = HookResponse { output, ..HookResponse::default() };
            stream.answer(answer_to(&event, large)).await;
            let response = within(asked).await.unwrap();
            assert_eq!(decision(&response), "block", "{response}");
            assert!(response.to_string().contains("4194304"), "{response}");
            assert_eq!(stream.end().await.unwrap_err().code(), Code::OutOfRange);
            // Its hook is called over its next stream.
            let mut stream = server.stream(&mut hooks, &[]).await.unwrap();
            let asked = server.before_tool("ls");
            let event = stream.event().await;
            stream.answer(answer_to(&event, HookResponse::default())).await;
            assert_eq!(decision(&within(asked).await.unwrap()), "proceed");
            server.end().await;
        }
    }
}

#[tokio::test]
async fn an_event_over_4_mib_fails_and_a_guard_blocks_at_once() {
    let server = Server::unix().await;
    let mut hooks = server.hooks().await;
    server.register(&mut hooks, guard("g", 600_000), &[]).await.unwrap();
    let _stream = server.stream(&mut hooks, &[]).await.unwrap();
    for length in TOO_LARGE {
        let response = within(server.before_tool(&"x".repeat(length))).await.unwrap();
        assert_eq!(decision(&response), "block");
        assert!(response["hooks"].to_string().contains("4194304"));
    }
    server.end().await;
}

#[tokio::test]
async fn one_connection_too_many_is_closed_and_the_others_go_on() {
    let place = |folder: std::path::PathBuf| format!("unix:{}", folder.join("s").display());
    let server = Server::with(place, |server| server.max_connections(1)).await;
    let mut hooks = server.hooks().await;
    server.register(&mut hooks, pre_tool_use("h"), &[]).await.unwrap();
    let endpoint = tonic::transport::Endpoint::from_shared(server.place.clone()).unwrap();
    if let Ok(channel) = within(endpoint.connect()).await {
        let mut other = crate::support::Hooks::new(channel);
        within(server.register(&mut other, pre_tool_use("x"), &[])).await.unwrap_err();
    }
    server.register(&mut hooks, pre_tool_use("again"), &[]).await.unwrap();
    server.end().await;
}

#[tokio::test]
async fn one_client_with_hooks_too_many_is_refused() {
    let server = Server::unix().await;
    let mut hooks = server.hooks().await;
    let mut streams = Vec::new();
    for number in 0..64 {
        let id = format!("c-{number}");
        streams.push(server.stream(&mut hooks, &[("hook-client-id", &*id)]).await.unwrap());
    }
    let status = server.stream(&mut hooks, &[("hook-client-id", "more")]).await.err().unwrap();
    assert_eq!(status.code(), Code::ResourceExhausted);
    // One that goes makes room for another.
    drop(streams.pop());
    for _ in 0..100_000 {
        if server.stream(&mut hooks, &[("hook-client-id", "more")]).await.is_ok() {
            return server.end().await;
        }
    }
    panic!("there is no room");
}

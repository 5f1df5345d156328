//! Asking for an event's hooks, following, and the services of every gRPC server.

use hook_protocol::{HookEventName, HookOutput};
use hook_remote::grpc::proto::hook_bus::{FollowRequest, HookExecutionRequest};
use hook_run::HandlerHook;
use serde_json::{Value, json};
use tonic::Code;
use tonic_health::pb::HealthCheckRequest;
use tonic_health::pb::health_client::HealthClient;
use tonic_reflection::pb::v1::ServerReflectionRequest;
use tonic_reflection::pb::v1::server_reflection_client::ServerReflectionClient;
use tonic_reflection::pb::v1::server_reflection_request::MessageRequest;
use tonic_reflection::pb::v1::server_reflection_response::MessageResponse;

use crate::support::{Server, before_tool, decision, guard, within};

fn asks(json: impl ToString) -> HookExecutionRequest {
    HookExecutionRequest { json: json.to_string().into_bytes() }
}

fn refusing() -> HandlerHook {
    HandlerHook::inline(HookEventName::BeforeTool, "no-shell", |_input| {
        Ok(Some(HookOutput::deny("no shell today")))
    })
}

#[tokio::test]
async fn a_request_has_one_response_with_its_id() {
    let server = Server::tcp().await;
    let _hook = server.system.register(refusing()).unwrap();
    let mut bus = server.bus().await;
    let response = bus.request(server.call(asks(before_tool("ls", "c-7")), &[])).await.unwrap();
    let response: Value = serde_json::from_slice(&response.into_inner().json).unwrap();
    assert_eq!((&response["correlationId"], decision(&response)), (&json!("c-7"), "block"));

    // What is none is answered as well.
    for wrong in ["", "[]", "{\"type\":\"hook-execution-request\"}", "\u{0}"] {
        let response = bus.request(server.call(asks(wrong), &[])).await.unwrap();
        let response: Value = serde_json::from_slice(&response.into_inner().json).unwrap();
        assert_eq!(response["success"], false, "{wrong:?}: {response}");
    }
    server.end().await;
}

#[tokio::test]
async fn a_client_that_goes_away_ends_its_request() {
    let server = Server::unix().await;
    let mut hooks = server.hooks().await;
    server.register(&mut hooks, guard("g", 600_000), &[]).await.unwrap();
    let mut stream = server.stream(&mut hooks, &[]).await.unwrap();
    let mut bus = server.bus().await;
    let call = server.call(asks(before_tool("ls", "c-1")), &[]);
    let asking = tokio::spawn(async move { bus.request(call).await });
    let event = stream.event().await;
    asking.abort();
    let cancelled = stream.event().await;
    assert!(cancelled.cancelled);
    assert_eq!(cancelled.call_id, event.call_id);
    server.end().await;
}

#[tokio::test]
async fn a_follower_is_told_everything_until_the_end() {
    let server = Server::unix().await;
    let mut bus = server.bus().await;
    let followed = bus.follow(server.call(FollowRequest {}, &[])).await.unwrap();
    let mut lines = followed.into_inner();
    let mut next = async || {
        let message = within(lines.message()).await.unwrap()?;
        Some(serde_json::from_slice::<Value>(&message.json).unwrap())
    };
    let first = next().await.unwrap();
    assert!(first.get("version").or(first.get("type")).is_some(), "{first}");
    bus.request(server.call(asks(before_tool("ls", "c-3")), &[])).await.unwrap();
    let request = next().await.unwrap();
    assert_eq!(request["message"]["type"], "hook-execution-request", "{request}");
    let response = next().await.unwrap();
    assert_eq!(response["message"]["correlationId"], "c-3", "{response}");
    server.end().await;
    assert!(next().await.is_none());
}

#[tokio::test]
async fn health_and_reflection_say_what_there_is() {
    let server = Server::tcp().await;
    let mut health = HealthClient::new(server.channel().await);
    for service in ["", "HookService", "hook.v1.HookBus"] {
        let asked = HealthCheckRequest { service: service.to_owned() };
        let said = health.check(server.call(asked, &[])).await.unwrap().into_inner();
        assert_eq!(said.status, 1, "{service}");
    }
    let asked = HealthCheckRequest { service: "HookService".to_owned() };
    let watched = health.watch(server.call(asked, &[])).await.unwrap();
    let mut watched = watched.into_inner();
    assert_eq!(within(watched.message()).await.unwrap().unwrap().status, 1);

    let mut reflection = ServerReflectionClient::new(server.channel().await);
    let asked = ServerReflectionRequest {
        host: String::new(),
        message_request: Some(MessageRequest::ListServices(String::new())),
    };
    let asked = futures::stream::iter([asked]);
    let said = reflection.server_reflection_info(server.call(asked, &[])).await.unwrap();
    let said = within(said.into_inner().message()).await.unwrap().unwrap();
    let Some(MessageResponse::ListServicesResponse(listed)) = said.message_response else {
        panic!("{said:?}");
    };
    let mut names: Vec<_> = listed.service.into_iter().map(|service| service.name).collect();
    names.sort();
    assert!(names.contains(&"HookService".to_owned()), "{names:?}");
    assert!(names.contains(&"hook.v1.HookBus".to_owned()), "{names:?}");
    server.end().await;
    // Who watches hears of the end, and the stream ends.
    let last = async {
        loop {
            match watched.message().await {
                Ok(Some(_)) => {}
                Ok(None) => return Code::Ok,
                Err(status) => return status.code(),
            }
        }
    };
    assert_eq!(within(last).await, Code::Unavailable);
}

/// The response's own health is not the connection's.
#[tokio::test]
async fn calls_on_one_connection_do_not_wait_for_each_other() {
    let server = Server::unix().await;
    let mut hooks = server.hooks().await;
    server.register(&mut hooks, guard("g", 600_000), &[]).await.unwrap();
    let mut stream = server.stream(&mut hooks, &[]).await.unwrap();
    let mut bus = server.bus().await;
    let mut second = bus.clone();
    let waits = server.call(asks(before_tool("ls", "c-1")), &[]);
    let asking = tokio::spawn(async move { bus.request(waits).await });
    let event = stream.event().await;
    let other = json!({"type": "hook-execution-request", "eventName": "SessionEnd",
        "input": {"reason": "exit"}, "correlationId": "c-2"});
    within(second.request(server.call(asks(other), &[]))).await.unwrap();
    stream.answer(crate::support::answer_to(&event, crate::support::block("no"))).await;
    within(asking).await.unwrap().unwrap();
    server.end().await;
}

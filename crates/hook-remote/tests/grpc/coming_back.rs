//! A client that loses its connection, and what its hooks do meanwhile.

use std::time::Duration;

use hook_bus::live::RECONNECT_GRACE;
use hook_remote::grpc::proto::hooks::{HookAction, ListHooksRequest};
use tonic::Code;

use crate::support::{Server, action, answer_to, block, decision, guard, pre_tool_use, within};

const ID: [(&str, &str); 1] = [("hook-client-id", "c")];

#[tokio::test]
async fn with_its_token_a_client_gets_its_hooks_and_waiting_calls_back() {
    let server = Server::tcp().await;
    let mut hooks = server.hooks().await;
    server.register(&mut hooks, guard("g", 60_000), &ID).await.unwrap();
    let mut stream = server.stream(&mut hooks, &ID).await.unwrap();
    assert!(!stream.token.is_empty());
    let token = stream.token.clone();
    let asked = server.before_tool("ls");
    let first = stream.event().await;
    // It dies in mid-call.
    drop((stream, hooks));
    server.until_lost("c").await;
    let meanwhile = within(server.before_tool("ls")).await.unwrap();
    assert_eq!(decision(&meanwhile), "block", "{meanwhile}");

    let mut hooks = server.hooks().await;
    let metadata = [("hook-client-id", "c"), ("hook-client-token", &*token)];
    let mut stream = server.stream(&mut hooks, &metadata).await.unwrap();
    assert!(stream.resumed);
    assert_eq!(stream.token, token);
    let again = stream.event().await;
    assert_eq!((&again.call_id, &again.payload), (&first.call_id, &first.payload));
    stream.answer(answer_to(&again, action(HookAction::Continue))).await;
    assert_eq!(decision(&within(asked).await.unwrap()), "proceed");
    let listed = hooks.list_hooks(server.call(ListHooksRequest::default(), &ID)).await.unwrap();
    assert!(listed.into_inner().hooks[0].own);
    server.end().await;
}

#[tokio::test]
async fn without_the_token_nothing_comes_back() {
    let server = Server::tcp().await;
    let mut hooks = server.hooks().await;
    server.register(&mut hooks, pre_tool_use("h"), &ID).await.unwrap();
    let stream = server.stream(&mut hooks, &ID).await.unwrap();
    // While it is there, its name is taken.
    let mut other = server.hooks().await;
    let status = server.stream(&mut other, &ID).await.err().unwrap();
    assert_eq!(status.code(), Code::AlreadyExists);
    let wrong = [("hook-client-id", "c"), ("hook-client-token", "wrong")];
    let status = server.stream(&mut other, &wrong).await.err().unwrap();
    assert_eq!(status.code(), Code::AlreadyExists);
    // And over its own connection a second stream needs the token, too.
    let status = server.stream(&mut hooks, &ID).await.err().unwrap();
    assert_eq!(status.code(), Code::AlreadyExists);

    let token = stream.token.clone();
    drop((stream, hooks));
    server.until_lost("c").await;
    let stream = server.stream(&mut other, &wrong).await.unwrap();
    assert!(!stream.resumed);
    assert_ne!(stream.token, token);
    let listed = other.list_hooks(server.call(ListHooksRequest::default(), &ID)).await.unwrap();
    assert!(!listed.into_inner().hooks[0].own);
    server.end().await;
}

#[tokio::test]
async fn the_token_takes_a_stream_over_that_is_still_there() {
    let server = Server::unix().await;
    let mut hooks = server.hooks().await;
    server.register(&mut hooks, pre_tool_use("h"), &[]).await.unwrap();
    let mut first = server.stream(&mut hooks, &[]).await.unwrap();
    let token = first.token.clone();
    let mut other = server.hooks().await;
    let mut second = server.stream(&mut other, &[("hook-client-token", &*token)]).await.unwrap();
    assert!(second.resumed);
    assert_eq!(first.end().await.unwrap_err().code(), Code::Aborted);
    let asked = server.before_tool("ls");
    second.answer_next(block("by the second")).await;
    assert_eq!(within(asked).await.unwrap()["processed"]["reason"], "by the second");
    server.end().await;
}

/// Lets the time pass in which clients may come back.
async fn after_the_grace() {
    tokio::time::pause();
    tokio::time::advance(RECONNECT_GRACE + Duration::from_secs(1)).await;
    tokio::time::resume();
}

#[tokio::test]
async fn after_the_grace_a_client_is_forgotten_and_its_guard_is_missed() {
    let server = Server::unix().await;
    let mut hooks = server.hooks().await;
    server.register(&mut hooks, guard("g", 60_000), &ID).await.unwrap();
    let stream = server.stream(&mut hooks, &ID).await.unwrap();
    let token = stream.token.clone();
    drop((stream, hooks));
    server.until_lost("c").await;
    after_the_grace().await;
    let response = loop {
        let response = within(server.before_tool("ls")).await.unwrap();
        if decision(&response) == "proceed" {
            break response;
        }
    };
    assert!(response["warnings"].to_string().contains('g'), "{response}");

    let mut hooks = server.hooks().await;
    let stream = server.stream(&mut hooks, &[("hook-client-token", &*token)]).await.unwrap();
    assert!(!stream.resumed);
    server.end().await;
}

#[tokio::test]
async fn a_client_that_never_opens_a_stream_is_forgotten_after_the_grace() {
    let server = Server::unix().await;
    let mut hooks = server.hooks().await;
    server.register(&mut hooks, pre_tool_use("h"), &ID).await.unwrap();
    after_the_grace().await;
    for _ in 0..10_000 {
        let call = server.call(ListHooksRequest::default(), &[]);
        if hooks.list_hooks(call).await.unwrap().into_inner().hooks.is_empty() {
            return server.end().await;
        }
    }
    panic!("it is still there");
}

#[tokio::test]
async fn a_peer_that_does_not_answer_any_more_is_noticed() {
    let every = Duration::from_millis(100);
    let server = Server::with(|_| "127.0.0.1:0".to_owned(), |server| server.keepalive(every)).await;
    // Between it and the server is somebody who hands nothing on any more at some time.
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let between = format!("http://{}", listener.local_addr().unwrap());
    let to = server.place.clone();
    let (silence, silenced) = tokio::sync::oneshot::channel::<()>();
    let between_both = tokio::spawn(async move {
        let (mut near, _) = listener.accept().await.unwrap();
        let mut far = tokio::net::TcpStream::connect(to).await.unwrap();
        tokio::select! {
            _ = tokio::io::copy_bidirectional(&mut near, &mut far) => {}
            _ = silenced => {}
        }
        // Still open, on both sides.
        (near, far)
    });
    let endpoint = tonic::transport::Endpoint::from_shared(between).unwrap();
    let mut hooks = crate::support::Hooks::new(endpoint.connect().await.unwrap());
    server.register(&mut hooks, guard("g", 60_000), &ID).await.unwrap();
    let stream = server.stream(&mut hooks, &ID).await.unwrap();
    silence.send(()).unwrap();
    let open = between_both.await.unwrap();
    server.until_lost("c").await;
    drop((stream, open));
    server.end().await;
}

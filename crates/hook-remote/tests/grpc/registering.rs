//! The four calls, and what a registration says.

use hook_remote::grpc::proto::hooks::{
    HookAction, HookConfig, HookMatcher, ListHooksRequest, RegisterHookRequest,
    UnregisterHookRequest,
};
use serde_json::Value;
use tonic::Code;

use crate::support::{
    Server, action, answer_to, before_tool, block, decision, guard, pre_tool_use, request_of,
    within,
};

#[tokio::test]
async fn a_hook_is_registered_called_listed_and_unregistered() {
    let server = Server::unix().await;
    let mut hooks = server.hooks().await;
    let (id, token) = server.register(&mut hooks, pre_tool_use(""), &[]).await.unwrap();
    assert!(id.starts_with("h-"), "{id}");

    let mut stream = server.stream(&mut hooks, &[]).await.unwrap();
    assert_eq!(stream.token, token);
    let asked = server.before_tool("rm -rf /");
    let event = stream.answer_next(block("no")).await;
    let response = within(asked).await.unwrap();
    assert_eq!(decision(&response), "block", "{response}");
    assert_eq!(response["processed"]["reason"], "no");

    // What it was told, in the words of a3s.
    assert_eq!((event.hook_id.as_str(), event.event_type.as_str()), (&*id, "PreToolUse"));
    assert_eq!(event.correlation_id, "c-1");
    assert!(event.deadline_ms > 0 && event.timestamp > 1_700_000_000_000);
    assert_eq!(event.metadata, b"{}");
    let payload: Value = serde_json::from_slice(&event.payload).unwrap();
    assert_eq!(payload["tool"], "Bash");
    assert_eq!(payload["args"]["command"], "rm -rf /");
    assert_eq!(payload["sessionId"], Value::from(event.session_id));

    let listed = hooks.list_hooks(server.call(ListHooksRequest::default(), &[])).await.unwrap();
    let listed = listed.into_inner().hooks;
    assert_eq!(listed.len(), 1);
    assert_eq!((listed[0].hook_id.as_str(), listed[0].own), (&*id, true));
    assert_eq!(listed[0].vocabulary, "a3s");
    let config = listed[0].config.clone().unwrap();
    assert_eq!((config.priority, &*config.fail_behavior), (100, "continue"));

    let gone = UnregisterHookRequest { hook_id: id, client_id: String::new() };
    let unregister = |hooks: &mut crate::support::Hooks| {
        let (mut hooks, call) = (hooks.clone(), server.call(gone.clone(), &[]));
        async move { hooks.unregister_hook(call).await.unwrap().into_inner().removed }
    };
    assert!(unregister(&mut hooks).await);
    assert!(!unregister(&mut hooks).await);
    let response = within(server.before_tool("rm -rf /")).await.unwrap();
    assert_eq!(decision(&response), "proceed");
    server.end().await;
}

#[tokio::test]
async fn only_what_a_matcher_matches_is_asked() {
    let server = Server::tcp().await;
    let mut hooks = server.hooks().await;
    let matcher = HookMatcher {
        tool: Some("Bash".to_owned()),
        command_pattern: Some(r"rm\s+-rf".to_owned()),
        path_pattern: None,
    };
    let register = RegisterHookRequest { matcher: Some(matcher.clone()), ..pre_tool_use("h") };
    server.register(&mut hooks, register, &[]).await.unwrap();
    let mut stream = server.stream(&mut hooks, &[]).await.unwrap();

    let response = within(server.before_tool("ls")).await.unwrap();
    assert_eq!(response["hooks"].as_array().unwrap().len(), 0);
    let asked = server.before_tool("rm  -rf x");
    stream.answer_next(block("no")).await;
    assert_eq!(decision(&within(asked).await.unwrap()), "block");

    let listed = hooks.list_hooks(server.call(ListHooksRequest::default(), &[])).await.unwrap();
    assert_eq!(listed.into_inner().hooks[0].matcher, Some(matcher));
    server.end().await;
}

#[tokio::test]
async fn a_lower_priority_is_first_and_zero_is_the_default() {
    let server = Server::unix().await;
    let mut hooks = server.hooks().await;
    for (id, priority) in [("default", 0), ("last", 200), ("first", 10)] {
        let config = HookConfig { priority, ..HookConfig::default() };
        let register = RegisterHookRequest { config: Some(config), ..pre_tool_use(id) };
        server.register(&mut hooks, register, &[]).await.unwrap();
    }
    let mut stream = server.stream(&mut hooks, &[]).await.unwrap();
    let asked = server.before_tool("ls");
    let mut order = Vec::new();
    for _ in 0..3 {
        order.push(stream.answer_next(action(HookAction::Continue)).await.hook_id);
    }
    assert_eq!(order, ["first", "default", "last"]);
    within(asked).await.unwrap();
    server.end().await;
}

#[tokio::test]
async fn what_is_wrong_with_a_registration_is_said() {
    let server = Server::unix().await;
    let mut hooks = server.hooks().await;
    let with = |event_type: &str, vocabulary: &str, config: HookConfig| RegisterHookRequest {
        event_type: event_type.to_owned(),
        vocabulary: vocabulary.to_owned(),
        config: Some(config),
        ..pre_tool_use("x")
    };
    let default = HookConfig::default;
    let empty_matcher = RegisterHookRequest {
        matcher: Some(HookMatcher { tool: Some(String::new()), ..HookMatcher::default() }),
        ..pre_tool_use("x")
    };
    let wrong = [
        (with("PreToolUsed", "", default()), "PreToolUse"),
        (with("PreToolUse", "klingon", default()), "vocabulary"),
        (with("PreToolUse", "", HookConfig { timeout_ms: -1, ..default() }), "timeout"),
        (with("PreToolUse", "", HookConfig { fail_behavior: "stop".into(), ..default() }), "block"),
        (empty_matcher, "matcher.tool"),
    ];
    for (register, said) in wrong {
        let status = server.register(&mut hooks, register, &[]).await.unwrap_err();
        assert_eq!(status.code(), Code::InvalidArgument);
        assert!(status.message().contains(said), "{status}");
    }
    server.register(&mut hooks, pre_tool_use("x"), &[]).await.unwrap();
    let status = server.register(&mut hooks, pre_tool_use("x"), &[]).await.unwrap_err();
    assert_eq!(status.code(), Code::AlreadyExists);
    for number in 0..9 {
        let register = pre_tool_use(&format!("n-{number}"));
        server.register(&mut hooks, register, &[]).await.unwrap();
    }
    let status = server.register(&mut hooks, pre_tool_use("one more"), &[]).await.unwrap_err();
    assert_eq!(status.code(), Code::ResourceExhausted);
    server.end().await;
}

#[tokio::test]
async fn before_the_stream_is_open_calls_fail_at_once() {
    let server = Server::unix().await;
    let mut hooks = server.hooks().await;
    server.register(&mut hooks, guard("g", 60_000), &[]).await.unwrap();
    let response = within(server.before_tool("ls")).await.unwrap();
    assert_eq!(decision(&response), "block", "{response}");
    assert!(response.to_string().contains("not connected at present"), "{response}");

    let mut stream = server.stream(&mut hooks, &[]).await.unwrap();
    let asked = server.before_tool("ls");
    stream.answer_next(action(HookAction::Continue)).await;
    assert_eq!(decision(&within(asked).await.unwrap()), "proceed");
    server.end().await;
}

#[tokio::test]
async fn clients_are_told_apart_by_their_ids_and_their_hooks_are_their_own() {
    let server = Server::tcp().await;
    let (mut one, mut other) = (server.hooks().await, server.hooks().await);
    let id = |id: &'static str| [("hook-client-id", id)];
    server.register(&mut one, pre_tool_use("same"), &id("one")).await.unwrap();
    let by_field = RegisterHookRequest { client_id: "other".to_owned(), ..pre_tool_use("same") };
    server.register(&mut other, by_field, &[]).await.unwrap();
    let mut first = server.stream(&mut one, &id("one")).await.unwrap();
    let mut second = server.stream(&mut other, &id("other")).await.unwrap();

    // Each is asked once, over its own stream.
    let asked = tokio::spawn({
        let (system, request) = (server.system.clone(), before_tool("ls", "c-2"));
        async move { system.bus().request(request_of(&request)).await }
    });
    let event = first.event().await;
    first.answer(answer_to(&event, action(HookAction::Continue))).await;
    second.answer_next(action(HookAction::Continue)).await;
    assert_eq!(within(asked).await.unwrap().hooks.len(), 2);

    // What is another's cannot be unregistered, whatever name is said.
    let theirs = UnregisterHookRequest { hook_id: "same".to_owned(), client_id: "one".to_owned() };
    let removed = other.unregister_hook(server.call(theirs, &[])).await.unwrap();
    assert!(!removed.into_inner().removed);
    // And nothing is registered under another's name.
    let status = server.register(&mut other, pre_tool_use("mine"), &id("one")).await.unwrap_err();
    assert_eq!(status.code(), Code::AlreadyExists);
    server.end().await;
}

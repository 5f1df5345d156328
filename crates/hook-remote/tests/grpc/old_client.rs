//! A client made of the first version's `.proto`, which knows of nothing newer.

#[allow(
    missing_docs,
    unreachable_pub,
    unused_imports,
    dead_code,
    clippy::all,
    clippy::allow_attributes_without_reason,
    reason = "generated; the .proto says it all"
)]
#[rustfmt::skip]
mod seed {
    include!("../seed/generated/hooks.rs");
}

use seed::hook_service_client::HookServiceClient;
use seed::{
    HookAction, HookConfig, HookMatcher, HookResponse, ListHooksRequest, RegisterHookRequest,
    UnregisterHookRequest,
};
use tokio::sync::mpsc;

use crate::support::{Server, decision, sent, within};

#[tokio::test]
async fn it_registers_answers_and_unregisters() {
    let server = Server::tcp().await;
    let mut hooks = HookServiceClient::new(server.channel().await);
    let register = RegisterHookRequest {
        event_type: "PreToolUse".to_owned(),
        matcher: Some(HookMatcher { tool: Some("Bash".to_owned()), ..HookMatcher::default() }),
        config: Some(HookConfig { timeout_ms: 300, ..HookConfig::default() }),
    };
    let registered = hooks.register_hook(server.call(register, &[])).await.unwrap();
    let hook_id = registered.into_inner().hook_id;
    let (answers, received) = mpsc::channel(8);
    let opened = hooks.hook_stream(server.call(sent(received), &[])).await.unwrap();
    let mut events = opened.into_inner();

    let asked = server.before_tool("rm");
    let event = within(events.message()).await.unwrap().unwrap();
    assert_eq!((&event.hook_id, &*event.event_type), (&hook_id, "PreToolUse"));
    let answer = |action: HookAction| HookResponse {
        hook_id: hook_id.clone(),
        action: action.into(),
        ..HookResponse::default()
    };
    let block = HookResponse { reason: Some("no".to_owned()), ..answer(HookAction::Block) };
    answers.send(block).await.unwrap();
    assert_eq!(decision(&within(asked).await.unwrap()), "block");

    // It is told of no cancellation, which it would take for an event, and what comes too late is not
    // taken for the answer to the next.
    assert_eq!(decision(&within(server.before_tool("slow")).await.unwrap()), "proceed");
    let slow = within(events.message()).await.unwrap().unwrap();
    assert!(String::from_utf8_lossy(&slow.payload).contains("slow"));
    let asked = server.before_tool("next");
    let next = within(events.message()).await.unwrap().unwrap();
    assert!(String::from_utf8_lossy(&next.payload).contains("next"));
    answers.send(answer(HookAction::Continue)).await.unwrap();
    answers.send(answer(HookAction::Block)).await.unwrap();
    assert_eq!(decision(&within(asked).await.unwrap()), "block");

    hooks.list_hooks(server.call(ListHooksRequest {}, &[])).await.unwrap();
    let gone = UnregisterHookRequest { hook_id: hook_id.clone() };
    hooks.unregister_hook(server.call(gone, &[])).await.unwrap();
    assert!(server.system.registrations().is_empty());
    server.end().await;
}

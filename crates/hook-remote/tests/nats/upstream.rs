//! `hooksConfig.upstream`: an engine here that asks a fleet behind its own hooks.

use std::sync::Arc;
use std::time::Duration;

use hook_bus::{HookSystem, HookSystemBuilder};
use hook_core::{
    BeforeToolInput, HandlerHook, HookEventName, HookOutput, PolicyDecision, RawObject,
    SettingsSource,
};
use hook_remote::nats::NatsUpstreams;
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::broker::Broker;
use crate::support::{Engine, Seen, guard};

/// An engine with this `upstream`, and what its settings are in.
fn builder(upstream: &Value) -> (HookSystemBuilder, TempDir) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("settings.json");
    std::fs::write(&path, json!({"hooksConfig": {"upstream": upstream}}).to_string()).unwrap();
    let builder = HookSystem::builder(folder.path()).settings(SettingsSource::explicit(path));
    (builder.upstreams(Arc::new(NatsUpstreams::default())), folder)
}

fn input(tool: &str) -> BeforeToolInput {
    BeforeToolInput::new(hook_core::ToolName::new(tool).unwrap(), RawObject::empty())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_fleet_is_asked_behind_the_hooks_here() {
    let Some(broker) = Broker::start() else { return };
    let seen = Seen::default();
    let told = HandlerHook::inline(HookEventName::BeforeTool, "told", |input| {
        let text = String::from_utf8_lossy(input.json()).into_owned();
        let is_changed = text.contains("changed here");
        Ok(is_changed.then(|| HookOutput::allow().with_additional_context("the fleet has seen it")))
    });
    let _engine = Engine::join(&broker, vec![guard(&seen), told]).await;
    let (builder, _folder) = builder(&json!({"nats": broker.url(), "events": ["BeforeTool"]}));
    let here = HandlerHook::inline(HookEventName::BeforeTool, "here", |input| {
        Ok(match input.payload.match_subject() {
            Some("mine") => Some(HookOutput::deny("not here")),
            Some("change") => {
                let changed = RawObject::parse(r#"{"text":"changed here"}"#).unwrap();
                Some(HookOutput::allow().with_specific("tool_input", changed))
            }
            _ => None,
        })
    });
    let system = builder.handler(here).build().unwrap();
    let result = system.fire_before_tool(input("forbidden")).await;
    assert_eq!(result.reason.as_deref(), Some("not that"), "{result:?}");
    let result = system.fire_before_tool(input("read_file")).await;
    assert_eq!(result.decision, PolicyDecision::Proceed, "{result:?}");
    assert_eq!(seen.runs(), 2);
    let result = system.fire_before_tool(input("mine")).await;
    assert_eq!((result.reason.as_deref(), seen.runs()), (Some("not here"), 2));
    let result = system.fire_before_tool(input("change")).await;
    assert_eq!(result.additional_context.as_deref(), Some("the fleet has seen it"), "{result:?}");
    let hooks = system.hooks().unwrap();
    let upstream = hooks.iter().find(|listing| listing.hook.display_name() == "upstream").unwrap();
    assert_eq!(upstream.hook.identity.kind(), "upstream");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_fleet_that_is_away_blocks_unless_settings_say_otherwise() {
    let Some(mut broker) = Broker::start() else { return };
    broker.kill();
    for (word, decision) in
        [(None, PolicyDecision::Block), (Some("continue"), PolicyDecision::Proceed)]
    {
        let mut upstream = json!({"nats": broker.url(), "events": ["BeforeTool"], "timeout": 200});
        if let Some(word) = word {
            upstream["failBehavior"] = word.into();
        }
        let (builder, _folder) = builder(&upstream);
        let system = builder.build().unwrap();
        let result = system.fire_before_tool(input("read_file")).await;
        assert_eq!(result.decision, decision, "{result:?}");
        assert!(result.warnings.iter().any(|text| text.contains("upstream")), "{result:?}");
    }
}

#[tokio::test]
async fn what_cannot_be_asked_as_it_is_written_blocks() {
    for (upstream, expected) in [
        (json!("nats://127.0.0.1"), "expected an object"),
        (json!({"events": ["BeforeTool"]}), "`nats` is missing"),
        (json!({"nats": "nats://127.0.0.1"}), "`events` is missing"),
        (json!({"nats": "nats://127.0.0.1", "events": ["BeforeTol"]}), "did you mean `BeforeTool`"),
        (
            json!({"nats": "nats://127.0.0.1", "events": ["BeforeTool"], "credential": "x"}),
            "unknown key",
        ),
        (json!({"nats": 1, "events": ["BeforeTool"]}), "expected a string"),
        (json!({"nats": "nats://192.0.2.1", "events": ["BeforeTool"]}), "can be read on the way"),
    ] {
        let (builder, _folder) = builder(&upstream);
        let system = builder.build().unwrap();
        let result = tokio::time::timeout(
            Duration::from_secs(20),
            system.fire_before_tool(input("read_file")),
        );
        let result = result.await.unwrap();
        assert_eq!(result.decision, PolicyDecision::Block, "{upstream}");
        let said = format!("{:?} {:?}", result.reason, system.diagnostics().unwrap());
        assert!(said.contains(expected), "{upstream}: {said}");
    }
}

#[tokio::test]
async fn a_build_that_knows_no_fleets_asks_none_and_blocks() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("settings.json");
    let upstream = json!({"nats": "nats://127.0.0.1", "events": ["BeforeTool"]});
    std::fs::write(&path, json!({"hooksConfig": {"upstream": upstream}}).to_string()).unwrap();
    let system = HookSystem::builder(folder.path()).settings(SettingsSource::explicit(path));
    let result = system.build().unwrap().fire_before_tool(input("read_file")).await;
    assert_eq!(result.decision, PolicyDecision::Block);
    assert!(result.reason.unwrap().contains("a way to fleets of engines"));
}

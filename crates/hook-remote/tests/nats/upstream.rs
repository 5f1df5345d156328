//! `hooksConfig.upstream`: an engine here that asks a fleet behind its own hooks.

use std::fs::Permissions;
use std::os::unix::fs::PermissionsExt;
use std::sync::Arc;
use std::time::Duration;

use hook_bus::{HookSystem, HookSystemBuilder};
use hook_json::RawObject;
use hook_protocol::{BeforeToolInput, HookEventName, HookOutput, PolicyDecision};
use hook_remote::nats::{NatsBus, NatsEngine, NatsOptions, NatsUpstreams};
use hook_run::HandlerHook;
use hook_settings::SettingsSource;
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio_util::sync::CancellationToken;

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
    BeforeToolInput::new(hook_protocol::ToolName::new(tool).unwrap(), RawObject::empty())
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
async fn what_the_fleet_changes_asks_stops_or_wants_again_counts_here() {
    let Some(broker) = Broker::start() else { return };
    let there = HandlerHook::inline(HookEventName::BeforeTool, "there", |input| {
        Ok(match input.payload.match_subject() {
            Some("change") => {
                let changed = RawObject::parse(r#"{"text":"changed there"}"#).unwrap();
                Some(HookOutput::allow().with_specific("tool_input", changed))
            }
            Some("ask") => Some(HookOutput::ask("are you sure")),
            Some("stop") => Some(HookOutput::stop("enough")),
            Some("retry") => Some(HookOutput::retry("not yet", Duration::from_millis(250))),
            _ => None,
        })
    });
    let _engine = Engine::join(&broker, vec![there]).await;
    let (builder, _folder) = builder(&json!({"nats": broker.url(), "events": ["BeforeTool"]}));
    let system = builder.build().unwrap();
    let result = system.fire_before_tool(input("change")).await;
    assert_eq!(result.decision, PolicyDecision::Proceed);
    let changed = format!("{:?}", result.modified.unwrap().get("tool_input"));
    assert!(changed.contains("changed there"), "{changed}");
    for (tool, decision, reason) in [
        ("ask", PolicyDecision::Ask, "are you sure"),
        ("stop", PolicyDecision::Stop, "enough"),
        ("retry", PolicyDecision::Retry, "not yet"),
    ] {
        let result = system.fire_before_tool(input(tool)).await;
        assert_eq!(result.decision, decision, "{tool}: {result:?}");
        let said = result.reason.as_deref().or(result.stop_reason.as_deref());
        assert_eq!(said, Some(reason), "{tool}: {result:?}");
        let after = (tool == "retry").then_some(Duration::from_millis(250));
        assert_eq!(result.retry_after, after, "{tool}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_engine_joins_the_fleet_that_its_settings_ask() {
    let Some(broker) = Broker::start() else { return };
    let other_name = format!("nats://127.0.0.1:1,nats://localhost:{}", broker.port);
    for (nats, subject, is_own) in [
        (broker.url(), "hooks", true),
        (other_name, "hooks", true),
        (broker.url(), "other", false),
        ("nats://127.0.0.1:1".to_owned(), "hooks", false),
    ] {
        let upstream = json!({"nats": nats, "subject": subject, "events": ["BeforeTool"]});
        let (builder, _folder) = builder(&upstream);
        let system = Arc::new(builder.build().unwrap());
        system.initialize().await.unwrap();
        let engine = NatsEngine::new(&NatsOptions::new(broker.url())).unwrap();
        let (told, mut news) = tokio::sync::mpsc::channel::<String>(64);
        let stop = CancellationToken::new();
        let joined = async {
            // What is refused says nothing.
            while !is_own && !news.recv().await.unwrap().contains("serving") {}
            stop.cancel();
        };
        let (served, ()) = tokio::join!(engine.serve(&system, &stop, &told), joined);
        match served {
            Ok(()) => assert!(!is_own, "{nats}"),
            Err(error) => {
                assert!(is_own && error.to_string().contains("ask itself"), "{nats}: {error}");
            }
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn fleets_that_ask_each_other_in_a_circle_are_asked_a_few_times_and_block() {
    let Some(broker) = Broker::start() else { return };
    let seen = Seen::default();
    let mut serving = Vec::new();
    for (own, other) in [("one", "two"), ("two", "one")] {
        let upstream = json!({"nats": broker.url(), "subject": other, "events": ["BeforeTool"]});
        let (builder, folder) = builder(&upstream);
        let system = Arc::new(builder.handler(guard(&seen)).build().unwrap());
        system.initialize().await.unwrap();
        let options = NatsOptions::new(broker.url()).subject(own);
        let engine = NatsEngine::new(&options).unwrap();
        let (told, mut news) = tokio::sync::mpsc::channel(64);
        let stop = CancellationToken::new();
        let stopped = stop.clone();
        let served = tokio::spawn(async move { engine.serve(&system, &stopped, &told).await });
        while !news.recv().await.unwrap().contains("serving") {}
        serving.push((served, stop, folder));
    }
    let bus = NatsBus::with(NatsOptions::new(broker.url()).subject("one")).unwrap();
    // Requests under one correlation id are counted each for itself.
    let id = || hook_bus::CorrelationId::new("the same").unwrap();
    let ask = || bus.request(crate::support::call("read_file").with_correlation_id(id()));
    let (one, other) = tokio::join!(ask(), ask());
    for answer in [one, other] {
        assert_eq!(answer.processed.decision, PolicyDecision::Block, "{answer:?}");
        assert!(format!("{answer:?}").contains("in a circle"), "{answer:?}");
    }
    assert_eq!(seen.runs(), 8, "four engines had each of them");
    for (served, stop, _folder) in serving {
        stop.cancel();
        served.await.unwrap().unwrap();
    }
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

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_fleet_is_asked_once_its_credentials_are_put_right() {
    let Some(broker) = Broker::start() else { return };
    let _engine = Engine::join(&broker, vec![guard(&Seen::default())]).await;
    let file = broker.path("agent.nk");
    std::fs::write(&file, nkeys::KeyPair::new_user().seed().unwrap()).unwrap();
    std::fs::set_permissions(&file, Permissions::from_mode(0o644)).unwrap();
    let upstream = json!({"nats": broker.url(), "credentials": file, "events": ["BeforeTool"]});
    let (builder, _folder) = builder(&upstream);
    let system = builder.build().unwrap();
    let result = system.fire_before_tool(input("read_file")).await;
    assert_eq!(result.decision, PolicyDecision::Block, "{result:?}");
    std::fs::set_permissions(&file, Permissions::from_mode(0o600)).unwrap();
    let result = system.fire_before_tool(input("read_file")).await;
    assert_eq!(result.decision, PolicyDecision::Proceed, "{result:?}");
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

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn fault_100_a_request_that_nests_too_deep_for_a_fleet_is_refused() {
    let Some(broker) = Broker::start() else { return };
    let seen = Seen::default();
    let _engine = Engine::join(&broker, vec![guard(&seen)]).await;
    let (builder, _folder) = builder(&json!({"nats": broker.url(), "events": ["BeforeTool"]}));
    let system = builder.build().unwrap();
    for (levels, expected) in [(90, PolicyDecision::Proceed), (150, PolicyDecision::Block)] {
        let deep = format!(r#"{{"a":{}1{}}}"#, "[".repeat(levels), "]".repeat(levels));
        let tool = hook_protocol::ToolName::new("read_file").unwrap();
        let input = BeforeToolInput::new(tool, RawObject::parse(deep).unwrap());
        let result = system.fire_before_tool(input).await;
        assert_eq!(result.decision, expected, "{levels}: {result:?}");
        let is_said = format!("{result:?}").contains("`tool_input` would nest deeper");
        assert_eq!(is_said, levels > 100, "{result:?}");
    }
    assert_eq!(seen.runs(), 1);
}

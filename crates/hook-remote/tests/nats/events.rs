//! What happens in engines, seen elsewhere.

use std::time::Duration;

use futures::StreamExt;
use hook_bus::{BusLimits, HookExecutionResponse, HookProgress, SubscriptionLimits};
use hook_protocol::{HookEventName, HookOutput};
use hook_remote::nats::NatsOptions;
use hook_run::HandlerHook;

use crate::broker::Broker;
use crate::support::{Engine, Seen, asker, call, guard};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn subscribers_elsewhere_see_responses_and_progress() {
    let Some(mut broker) = Broker::start() else { return };
    let seen = Seen::default();
    let options = NatsOptions::new(broker.url());
    let mut engine = Engine::begin(&options, vec![guard(&seen)], |engine| engine.events(true));
    engine.hears("serving").await;
    let (bus, extension) = (asker(&broker), asker(&broker));
    let mut responses = extension.subscribe::<HookExecutionResponse>().await.unwrap();
    let mut progress = extension.subscribe::<HookProgress>().await.unwrap();
    for round in 0..2 {
        let heard = loop {
            let answer = bus.request(call("forbidden")).await;
            let heard = tokio::time::timeout(Duration::from_secs(2), responses.next()).await;
            // One that is not back yet is not told what happens meanwhile.
            let Ok(heard) = heard else { continue };
            let heard = heard.unwrap().unwrap();
            if heard.correlation_id == answer.correlation_id {
                break heard;
            }
        };
        assert_eq!(heard.processed.reason.as_deref(), Some("not that"));
        assert!(matches!(*progress.next().await.unwrap().unwrap(), HookProgress::Started(_)));
        assert!(matches!(*progress.next().await.unwrap().unwrap(), HookProgress::Finished(_)));
        if round == 0 {
            broker.restart();
            engine.hears("again").await;
        }
    }
    engine.leave().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_not_published_is_counted_and_said() {
    let Some(mut broker) = Broker::start() else { return };
    let seen = Seen::default();
    let options = NatsOptions::new(broker.url());
    // No more than this waits for a broker that is away.
    let subscription = SubscriptionLimits { messages: 4, ..SubscriptionLimits::default() };
    let limits = BusLimits { subscription, ..BusLimits::default() };
    let hooks = vec![guard(&seen)];
    let mut engine = Engine::with_limits(&options, hooks, limits, |engine| engine.events(true));
    engine.hears("serving").await;
    let status = async |broker: &Broker| {
        let engines = asker(broker).engines(Duration::from_millis(500)).await.unwrap();
        engines.into_iter().next()
    };
    assert_eq!(status(&broker).await.unwrap().events_missed, 0);
    broker.kill();
    engine.hears("away").await;
    for _ in 0..100 {
        assert!(engine.system.bus().request(call("forbidden")).await.success());
    }
    broker.restart();
    engine.hears("again").await;
    let missed = loop {
        // One that is not back yet is not heard.
        let Some(status) = status(&broker).await else { continue };
        if status.events_missed > 0 {
            break status.events_missed;
        }
    };
    // How many the library keeps for a broker that is away is its own.
    assert!(missed <= 300, "{missed} of 300");
    engine.leave().await;
}

/// What an engine says of events that it did not publish.
async fn missed(broker: &Broker) -> impl Future<Output = serde_json::Value> + use<> {
    let spy = async_nats::connect(broker.url()).await.unwrap();
    let mut said = spy.subscribe("hooks.events._").await.unwrap();
    spy.flush().await.unwrap();
    async move {
        let message = tokio::time::timeout(Duration::from_secs(20), said.next()).await;
        serde_json::from_slice(&message.expect("it is said").unwrap().payload).unwrap()
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn who_follows_is_told_of_what_is_too_large_to_be_published() {
    let Some(broker) = Broker::start_with("max_payload: 64KB\n") else { return };
    let talks = HandlerHook::inline(HookEventName::BeforeTool, "talks", |_| {
        Ok(Some(HookOutput::allow().with_additional_context(&"x".repeat(70_000))))
    });
    let options = NatsOptions::new(broker.url());
    let mut engine = Engine::begin(&options, vec![talks], |engine| engine.events(true));
    engine.hears("serving").await;
    let missed = missed(&broker).await;
    assert!(engine.system.bus().request(call("read_file")).await.success());
    let expected = serde_json::json!({"type": "hook-lagged", "missed": 1, "tooLarge": 1});
    assert_eq!(missed.await, expected);
    engine.leave().await;
}

// On one thread, so that nothing is published before all has happened.
#[tokio::test]
async fn who_follows_is_told_of_what_came_too_fast_to_be_published() {
    let Some(broker) = Broker::start() else { return };
    let seen = Seen::default();
    let options = NatsOptions::new(broker.url());
    let subscription = SubscriptionLimits { messages: 4, ..SubscriptionLimits::default() };
    let limits = BusLimits { subscription, ..BusLimits::default() };
    let hooks = vec![guard(&seen)];
    let mut engine = Engine::with_limits(&options, hooks, limits, |engine| engine.events(true));
    engine.hears("serving").await;
    let missed = missed(&broker).await;
    let asked = (0..100).map(|_| engine.system.bus().request(call("read_file")));
    futures::future::join_all(asked).await;
    let said = missed.await;
    assert_eq!((&said["type"], said.get("tooLarge")), (&"hook-lagged".into(), None), "{said}");
    assert!(said["missed"].as_u64().unwrap() > 0, "{said}");
    engine.leave().await;
}

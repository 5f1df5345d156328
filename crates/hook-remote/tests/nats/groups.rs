//! Engines of two queue groups under one subject: each group would get every request.

use std::time::Duration;

use futures::StreamExt;
use futures::future::join_all;
use hook_remote::nats::{NatsEngine, NatsError, NatsOptions};

use crate::broker::Broker;
use crate::support::{Engine, Seen, asker, call, guard};

fn blue(engine: NatsEngine) -> NatsEngine {
    engine.queue_group("blue").unwrap()
}

async fn refused(engine: Engine) -> NatsError {
    let ended = tokio::time::timeout(Duration::from_secs(20), engine.served).await;
    ended.expect("it serves").unwrap().unwrap_err()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_engine_of_another_group_does_not_join() {
    let Some(broker) = Broker::start() else { return };
    let options = NatsOptions::new(broker.url());
    let seen = Seen::default();
    let guarding = Engine::join(&broker, vec![guard(&seen)]).await;
    let empty = Engine::begin(&options, Vec::new(), blue);
    let error = refused(empty).await;
    assert!(matches!(&error, NatsError::OtherGroup { other, .. } if other == "engines"));
    let said = error.to_string();
    assert!(said.contains("hooks.request.*") && said.contains("`blue`"), "{said}");
    let bus = asker(&broker);
    for answer in join_all((0..20).map(|_| bus.request(call("forbidden")))).await {
        assert_eq!(answer.processed.reason.as_deref(), Some("not that"), "{answer:?}");
    }
    assert_eq!(seen.runs(), 20);

    // The group of the first is that of the subject, whatever its name is; elsewhere is another.
    let elsewhere = Engine::begin(&options.clone().subject("elsewhere"), Vec::new(), blue);
    guarding.leave().await;
    let mut empty = Engine::begin(&options, Vec::new(), blue);
    empty.hears("serving").await;
    assert!(bus.request(call("forbidden")).await.success());
    let engine = Engine::begin(&options, Vec::new(), |engine| engine);
    assert!(matches!(refused(engine).await, NatsError::OtherGroup { .. }));
    empty.leave().await;
    elsewhere.leave().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_engine_that_serves_stays_whatever_is_said_of_others() {
    let Some(broker) = Broker::start() else { return };
    let other = async_nats::connect(broker.url()).await.unwrap();
    let mut asked = other.subscribe("hooks.engines").await.unwrap();
    other.flush().await.unwrap();
    // Where nobody answers it joins.
    let mut engine = Engine::join(&broker, vec![guard(&Seen::default())]).await;
    let reply = asked.next().await.unwrap().reply.expect("it asks who is there");
    let status = r#"{"type":"hook-engine","id":"other","version":"1","state":"serving","queueGroup":"blue"}"#;
    for subject in [reply, "hooks.engines".into()] {
        other.publish(subject, status.into()).await.unwrap();
    }
    // Its next word of itself comes after it has heard that.
    let bus = asker(&broker);
    while bus.engines(Duration::from_millis(500)).await.unwrap().is_empty() {}
    let answer = bus.request(call("forbidden")).await;
    assert_eq!(answer.processed.reason.as_deref(), Some("not that"), "{answer:?}");
    while let Ok(said) = engine.news.try_recv() {
        assert!(!said.contains("trying again"), "{said}");
    }
    engine.leave().await;
}

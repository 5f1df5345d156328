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

/// What an engine of the group `blue` says of itself that has served for so long.
fn status(serving: u64) -> String {
    format!(
        r#"{{"type":"hook-engine","id":"other","version":"1","state":"serving","queueGroup":"blue","servingMs":{serving}}}"#
    )
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn of_two_groups_that_meet_the_one_that_was_there_first_stays() {
    let Some(broker) = Broker::start() else { return };
    let seen = Seen::default();
    let mut engine = Engine::join(&broker, vec![guard(&seen)]).await;
    let bus = asker(&broker);
    // As when a broker was in two parts.
    let other = async_nats::connect(broker.url()).await.unwrap();
    let mut asked = other.subscribe("hooks.engines").await.unwrap();
    other.flush().await.unwrap();
    let mut is_asked = async || {
        let next = async {
            loop {
                let message = asked.next().await.unwrap();
                if let Some(reply) = message.reply {
                    return reply;
                }
            }
        };
        tokio::time::timeout(Duration::from_secs(20), next).await.expect("it asks who is there")
    };
    // Whoever may say something under the subject of the engines moves nobody by it.
    other.publish("hooks.engines", status(3_600_000).into()).await.unwrap();
    let reply = is_asked().await;
    let answer = bus.request(call("forbidden")).await;
    assert_eq!(answer.processed.reason.as_deref(), Some("not that"), "{answer:?}");
    assert!(engine.news.try_recv().is_err());
    // One that answers as an engine does has been there for longer.
    other.publish(reply, status(3_600_000).into()).await.unwrap();
    let said = engine.hears("engines of the group `blue` serve").await;
    assert!(said.contains("trying again in"), "{said}");
    let again = is_asked().await;
    assert_eq!(bus.request(call("forbidden")).await.error().unwrap().code.as_str(), "no_handler");
    other.publish(again, status(3_600_000).into()).await.unwrap();
    engine.hears("trying again in").await;
    // Once it is gone there is one group again.
    drop(asked);
    drop(other);
    engine.hears("serving").await;
    engine.leave().await;
}

//! Brokers that are not there yet, or go away.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use futures::future::join_all;
use hook_protocol::PolicyDecision;
use hook_remote::nats::{NatsBus, NatsOptions};

use crate::broker::Broker;
use crate::support::{Engine, Seen, asker, call, guard, slow};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_broker_that_comes_later_is_waited_for() {
    let Some(mut broker) = Broker::start() else { return };
    broker.kill();
    let seen = Seen::default();
    let options = NatsOptions::new(broker.url());
    let mut engine = Engine::begin(&options, vec![guard(&seen)], |engine| engine);
    let said = engine.hears("cannot be reached").await;
    assert!(said.contains(&broker.url()), "{said}");

    let bus = asker(&broker);
    let answer = bus.request(call("read_file").with_deadline(Duration::from_millis(200))).await;
    let error = answer.error().unwrap();
    assert_eq!(error.code.as_str(), "deadline_exceeded");
    assert!(error.message.contains("no connection to nats://"), "{error}");
    assert_eq!(answer.processed.decision, PolicyDecision::Block);

    let asked = bus.request(call("forbidden"));
    let come = async {
        broker.restart();
        engine.hears("serving").await;
    };
    // Which of both is there first is not known; one that waited asks nobody.
    let (answer, ()) = tokio::join!(asked, come);
    assert_eq!(answer.processed.decision, PolicyDecision::Block);
    let answer = bus.request(call("forbidden")).await;
    assert_eq!(answer.processed.reason.as_deref(), Some("not that"), "{answer:?}");
    engine.leave().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_broker_that_is_restarted_loses_no_request() {
    let Some(mut broker) = Broker::start() else { return };
    let seen = Seen::default();
    let hooks = || vec![slow(&seen, Duration::from_millis(10))];
    let engines = [Engine::join(&broker, hooks()).await, Engine::join(&broker, hooks()).await];
    let bus = asker(&broker);
    let is_over = AtomicBool::new(false);
    let all = join_all((0..20).map(async |_| {
        let mut answers = Vec::new();
        while !is_over.load(Ordering::Relaxed) {
            answers.push(bus.request(call("read_file")).await);
        }
        answers
    }));
    let restart = async {
        while seen.runs() < 100 {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
        broker.restart();
        let before = seen.runs();
        let again = async {
            while seen.runs() < before + 100 {
                tokio::time::sleep(Duration::from_millis(1)).await;
            }
        };
        tokio::time::timeout(Duration::from_secs(60), again).await.expect("they come back");
        is_over.store(true, Ordering::Relaxed);
    };
    let (answers, ()) = tokio::join!(all, restart);
    let answers: Vec<_> = answers.into_iter().flatten().collect();
    let failed: Vec<_> = answers.iter().filter(|answer| !answer.success()).collect();
    assert!(failed.is_empty(), "{} are lost, such as {:?}", failed.len(), failed[0]);
    let there = bus.engines(Duration::from_secs(1)).await.unwrap();
    assert_eq!(there.len(), 2);
    for engine in engines {
        engine.leave().await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn requests_to_a_broker_that_goes_away_fail_in_time() {
    let Some(mut broker) = Broker::start() else { return };
    let seen = Seen::default();
    let mut engine = Engine::join(&broker, vec![guard(&seen)]).await;
    let bus = asker(&broker);
    assert!(bus.request(call("read_file")).await.success());
    broker.kill();
    engine.hears("is away").await;
    let begun = Instant::now();
    let answer = bus.request(call("read_file").with_deadline(Duration::from_millis(300))).await;
    assert!(begun.elapsed() < Duration::from_secs(20));
    assert_eq!(answer.error().unwrap().code.as_str(), "deadline_exceeded", "{answer:?}");
    assert_eq!(answer.processed.decision, PolicyDecision::Block);
    broker.restart();
    engine.hears("again").await;
    assert!(bus.request(call("read_file")).await.success());
    engine.leave().await;
}

#[tokio::test]
async fn a_bus_that_is_closed_answers_what_comes_later() {
    let Some(broker) = Broker::start() else { return };
    let bus = NatsBus::with(NatsOptions::new(broker.url())).unwrap();
    let same = bus.bus().clone();
    bus.close(Duration::ZERO).await;
    let answer = same.request(call("read_file")).await;
    assert_eq!(answer.error().unwrap().code.as_str(), "no_handler");
}

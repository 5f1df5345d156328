//! Which engines there are, and who else listens where that is asked.

use std::time::{Duration, Instant};

use futures::StreamExt;
use hook_bus::HookExecutionResponse;
use hook_remote::nats::{NatsBus, NatsOptions};

use crate::broker::Broker;
use crate::support::{Engine, Seen, asker, call, slow};

/// A broker where one may do this.
fn with_permissions(permissions: &str) -> Option<Broker> {
    Broker::start_with(&format!(
        "authorization {{ default_permissions: {{ {permissions} }}, users: [ {{ user: a, password: a }} ] }}\nno_auth_user: a\n"
    ))
}

fn engine(id: usize) -> String {
    format!(r#"{{"type":"hook-engine","id":"{id}","version":"1.0.0"}}"#)
}

// On one thread, so that all have answered before any answer is read.
#[tokio::test]
async fn all_engines_are_heard_that_answer_at_once() {
    const ENGINES: usize = 1_000;
    let Some(broker) = Broker::start() else { return };
    let fleet = async_nats::connect(broker.url()).await.unwrap();
    let mut asked = fleet.subscribe("hooks.engines").await.unwrap();
    fleet.flush().await.unwrap();
    let answering = async {
        let reply = asked.next().await.unwrap().reply.unwrap();
        for id in 0..ENGINES {
            fleet.publish(reply.clone(), engine(id).into()).await.unwrap();
        }
    };
    let bus = asker(&broker);
    let (engines, ()) = tokio::join!(bus.engines(Duration::from_secs(3)), answering);
    assert_eq!(engines.unwrap().len(), ENGINES);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_refusal_of_something_else_ends_no_roll_call() {
    let Some(broker) = with_permissions(
        r#"publish: { allow: ["hooks.engines", "hooks.reply.>"] }, subscribe: ">""#,
    ) else {
        return;
    };
    let fleet = async_nats::connect(broker.url()).await.unwrap();
    let mut asked = fleet.subscribe("hooks.engines").await.unwrap();
    fleet.flush().await.unwrap();
    let bus = asker(&broker);
    let meanwhile = async {
        let reply = asked.next().await.unwrap().reply.unwrap();
        let answer = bus.request(call("read_file")).await;
        assert!(answer.error().unwrap().message.contains("does not let this asker ask"));
        fleet.publish(reply, engine(1).into()).await.unwrap();
    };
    let (engines, ()) = tokio::join!(bus.engines(Duration::from_secs(3)), meanwhile);
    assert_eq!(engines.unwrap().len(), 1);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn one_who_may_not_ask_which_engines_there_are_may_follow_them() {
    let Some(broker) = with_permissions(r#"publish: { deny: ["hooks.engines"] }, subscribe: ">""#)
    else {
        return;
    };
    let bus = NatsBus::with(NatsOptions::new(broker.url())).unwrap();
    let error = bus.engines(Duration::from_secs(20)).await.unwrap_err();
    assert!(error.message.contains("does not let this asker ask"), "{error}");
    let begun = Instant::now();
    bus.subscribe::<HookExecutionResponse>().await.unwrap();
    assert!(begun.elapsed() < Duration::from_millis(1_900), "the refusal is an answer");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_monitor_that_answers_nothing_keeps_nobody_from_following() {
    let Some(broker) = Broker::start() else { return };
    let monitor = async_nats::connect(broker.url()).await.unwrap();
    let _asked = monitor.subscribe("hooks.engines").await.unwrap();
    monitor.flush().await.unwrap();
    let bus =
        NatsBus::with(NatsOptions::new(broker.url()).deadline(Duration::from_secs(5))).unwrap();
    bus.subscribe::<HookExecutionResponse>().await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn engines_say_unasked_how_they_are_and_that_they_leave() {
    let Some(broker) = Broker::start() else { return };
    let spy = async_nats::connect(broker.url()).await.unwrap();
    let mut said = spy.subscribe("hooks.engines").await.unwrap();
    spy.flush().await.unwrap();
    let seen = Seen::default();
    let engine = Engine::join(&broker, vec![slow(&seen, Duration::from_secs(1))]).await;
    let mut state = async |patience: Duration| {
        let message = tokio::time::timeout(patience, said.next()).await.ok()?.unwrap();
        let said: serde_json::Value = serde_json::from_slice(&message.payload).ok()?;
        assert_eq!(said["type"], "hook-engine", "{said}");
        Some((said["state"].as_str().unwrap().to_owned(), said["running"].as_u64().unwrap()))
    };
    // What it says at its beginning, and then every 10 seconds.
    while state(Duration::from_secs(4)).await.is_some() {}
    assert_eq!(state(Duration::from_secs(30)).await, Some(("serving".to_owned(), 0)));
    let bus = asker(&broker);
    let asked = bus.request(call("read_file"));
    let leave = async {
        while seen.runs() == 0 {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
        engine.leave().await;
    };
    let (answer, ()) = tokio::join!(asked, leave);
    assert!(answer.success(), "{answer:?}");
    let leaving = loop {
        let said = state(Duration::from_secs(20)).await;
        if said.as_ref().is_none_or(|(state, _)| state != "serving") {
            break said;
        }
    };
    assert_eq!(leaving, Some(("draining".to_owned(), 1)));
    assert_eq!(state(Duration::from_secs(20)).await, Some(("ended".to_owned(), 0)));
}

//! What happens in engines, seen elsewhere.

use std::time::Duration;

use futures::StreamExt;
use hook_bus::{HookExecutionResponse, HookProgress};
use hook_remote::nats::NatsOptions;

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

//! Askers that end while engines work for them.

use std::time::Duration;

use futures::{FutureExt, StreamExt};

use crate::broker::Broker;
use crate::support::{Engine, Seen, asker, call, slow};

/// How often it is tried: an engine may be told by chance.
const ROUNDS: usize = 12;

// On one thread, so that an asker that ends has not told engines of its requests before.
#[tokio::test]
async fn engines_are_told_of_what_an_asker_had_asked_that_ends() {
    let Some(broker) = Broker::start() else { return };
    let seen = Seen::default();
    let _engine = Engine::join(&broker, vec![slow(&seen, Duration::from_secs(60))]).await;
    let spy = async_nats::connect(broker.url()).await.unwrap();
    let mut cancels = spy.subscribe("hooks.cancel").await.unwrap();
    spy.flush().await.unwrap();
    for round in 1..=ROUNDS {
        let bus = asker(&broker);
        let mut asked = bus.request(call("read_file")).boxed();
        let is_running = async {
            while seen.runs() < round {
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
        };
        tokio::select! {
            answer = &mut asked => panic!("it cannot be over: {answer:?}"),
            () = is_running => {}
        }
        drop(asked);
        if round % 2 == 0 {
            bus.close(Duration::ZERO).await;
        } else {
            drop(bus);
        }
        let cancel = tokio::time::timeout(Duration::from_secs(5), cancels.next()).await;
        let cancel = cancel.expect("engines are told").unwrap();
        let text = String::from_utf8_lossy(&cancel.payload);
        assert!(text.contains("hook-cancel"), "{text}");
    }
}

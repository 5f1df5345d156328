//! Several engines: each request is served by one of them.

use std::time::Duration;

use futures::future::join_all;

use crate::broker::Broker;
use crate::engine_process::EngineProcess;
use crate::support::{Engine, Seen, asker, call, call_with, guard, slow};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn three_engines_answer_a_thousand_requests_each_once() {
    let Some(broker) = Broker::start() else { return };
    let seen: Vec<Seen> = (0..3).map(|_| Seen::default()).collect();
    let mut engines = Vec::new();
    for seen in &seen {
        engines.push(Engine::join(&broker, vec![guard(seen)]).await);
    }
    let bus = asker(&broker);
    let asked = (0..1_000).map(|number| {
        let tool = if number % 10 == 0 { "forbidden" } else { "read_file" };
        bus.request(call(tool))
    });
    let answers = join_all(asked).await;
    assert!(answers.iter().all(|answer| answer.success()), "{:?}", answers[0]);
    let denied = answers.iter().filter(|answer| answer.processed.is_blocking_decision()).count();
    assert_eq!(denied, 100);
    let runs: Vec<usize> = seen.iter().map(Seen::runs).collect();
    assert_eq!(runs.iter().sum::<usize>(), 1_000);
    assert!(runs.iter().all(|runs| *runs > 100), "not spread: {runs:?}");
    // What was in the input before is no key of this library's.
    assert_eq!(seen.iter().map(Seen::keys).sum::<usize>(), 1_000);
    assert!(answers.iter().all(|answer| answer.engine.is_some()));
    for engine in engines {
        engine.leave().await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_engine_that_leaves_under_load_loses_no_request() {
    let Some(broker) = Broker::start() else { return };
    let seen = Seen::default();
    let hook = || vec![slow(&seen, Duration::from_millis(30))];
    let leaving = Engine::join(&broker, hook()).await;
    let staying = Engine::join(&broker, hook()).await;
    let bus = asker(&broker);
    let all = join_all((0..400).map(async |number| {
        tokio::time::sleep(Duration::from_millis(number)).await;
        bus.request(call("read_file")).await
    }));
    let leave = async {
        // Once it is at work.
        while seen.runs() < 50 {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
        leaving.leave().await;
    };
    let (answers, ()) = tokio::join!(all, leave);
    let failed: Vec<_> = answers.iter().filter(|answer| !answer.success()).collect();
    assert!(failed.is_empty(), "{failed:?}");
    assert_eq!((seen.keys(), seen.runs()), (400, 400));
    staying.leave().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_flood_costs_an_engine_no_more_memory_than_it_has_room_for() {
    let Some(broker) = Broker::start() else { return };
    let engine = EngineProcess::join(&broker.url(), None);
    let bus = asker(&broker);
    // 200 MB altogether, of which it takes a hundred requests at a time.
    let asked = (0..10_000).map(|_| bus.request(call_with("read_file", 20_000)));
    let answers = join_all(asked).await;
    let failed: Vec<_> = answers.iter().filter_map(|answer| answer.error()).collect();
    assert!(failed.is_empty(), "{} failed, such as {:?}", failed.len(), failed[0]);
    #[cfg(target_os = "linux")]
    {
        let most = engine.most_memory();
        assert!(most < 150 * 1_024, "it has had {most} KiB");
    }
    drop(engine);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn large_requests_of_many_askers_cost_an_engine_what_it_has_room_for() {
    const ASKERS: usize = 4;
    let Some(broker) = Broker::start() else { return };
    let engine = EngineProcess::join_with_default_limits(&broker.url());
    let buses: Vec<_> = (0..ASKERS).map(|_| asker(&broker)).collect();
    // 180 MB altogether, of which each asker has 8 MiB at the engine.
    let asked = (0..200).map(|number| buses[number % ASKERS].request(call_with("a", 900_000)));
    let answers = join_all(asked).await;
    let failed: Vec<_> = answers.iter().filter_map(|answer| answer.error()).collect();
    assert!(failed.is_empty(), "{} failed, such as {:?}", failed.len(), failed[0]);
    #[cfg(target_os = "linux")]
    {
        let most = engine.most_memory();
        assert!(most < 300 * 1_024, "it has had {most} KiB");
    }
    drop(engine);
}

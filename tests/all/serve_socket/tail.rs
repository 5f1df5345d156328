//! Following what happens: everything, in order, and at nobody's cost.

use std::collections::BTreeMap;

use futures::future::join_all;
use hook_tests::{Project, SocketClient, SocketServed};
use rustix::process::Signal;
use serde_json::{Value, json};

use super::prompt;

/// A client that is told everything, and what begins it.
async fn following(served: &SocketServed) -> (SocketClient, Value) {
    let mut client = served.client().await;
    let first = client.ask(&json!({"type": "hook-tail"})).await;
    (client, first)
}

#[tokio::test]
async fn whoever_follows_is_told_everything_of_all_clients_in_order() {
    const CLIENTS: usize = 5;
    let project = Project::with_hook("BeforeAgent", "echo said; echo louder >&2; exit 2");
    let served = SocketServed::start(&project, &[]).await;
    let (mut tail, first) = following(&served).await;
    assert_eq!((&first["type"], &first["version"]), (&json!("hook-recording"), &json!(1)));
    assert_eq!(first["project"], project.path().to_str().unwrap());
    let ask = async |client: usize| {
        let mut connection = served.client().await;
        connection.ask(&prompt(&format!("of {client}"), "same")).await
    };
    join_all((0..CLIENTS).map(ask)).await;

    let mut by_request: BTreeMap<u64, Vec<Value>> = BTreeMap::new();
    let mut last = 0;
    for _ in 0..4 * CLIENTS {
        let line = tail.receive().await;
        let at = line["at"].as_u64().unwrap();
        assert!(at >= last, "time does not go back");
        last = at;
        let request = line["request"].as_u64().unwrap();
        by_request.entry(request).or_default().push(line["message"].clone());
    }
    assert_eq!(by_request.len(), CLIENTS, "ids may be shared, requests are not");
    for messages in by_request.values() {
        let kinds: Vec<_> = messages.iter().map(|message| message["type"].as_str()).collect();
        assert_eq!(
            kinds,
            [
                Some("hook-execution-request"),
                Some("hook-started"),
                Some("hook-finished"),
                Some("hook-execution-response")
            ]
        );
        // What hooks wrote is told, whether their request asked for it or not.
        for hook in [&messages[2]["hook"], &messages[3]["hooks"][0]] {
            assert_eq!((&hook["stdout"], &hook["stderr"]), (&json!("said\n"), &json!("louder\n")));
        }
    }
}

#[tokio::test]
async fn what_is_no_request_is_told_by_its_answer() {
    let project = Project::with_hook("BeforeAgent", "true");
    let served = SocketServed::start(&project, &[]).await;
    let (mut tail, _) = following(&served).await;
    served.client().await.ask(&json!("nonsense")).await;
    let line = tail.receive().await;
    assert_eq!(line["message"]["error"]["code"], "invalid_request");
    // Asking twice changes nothing.
    tail.send("{\"type\":\"hook-tail\"}\n").await;
    served.client().await.ask(&json!("nonsense")).await;
    assert_eq!(tail.receive().await["message"]["error"]["code"], "invalid_request");
}

#[tokio::test]
async fn one_that_never_reads_delays_no_answer_and_is_told_what_it_missed() {
    const REQUESTS: u64 = 40;
    // Blanks: much to hold, and nothing to merge.
    let project = Project::with_hook("BeforeAgent", "head -c 2000000 /dev/zero | tr '\\0' ' '");
    let served = SocketServed::start(&project, &[]).await;
    let (mut tail, _) = following(&served).await;
    let before = served.holdings().resident;
    let mut client = served.client().await;
    for turn in 0..REQUESTS {
        assert_eq!(client.ask(&prompt("x", &turn.to_string())).await["success"], true);
    }
    let grown = served.holdings().resident.saturating_sub(before);
    assert!(grown < 150 * 1024, "{grown} KiB are held for one that does not read");
    let (mut told, mut missed) = (0, 0);
    while told + missed < 4 * REQUESTS {
        let line = tail.receive().await;
        match line["missed"].as_u64() {
            Some(count) => missed += count,
            None => told += 1,
        }
    }
    assert!(missed > 0 && told > 0, "{missed} missed, {told} told");
    assert_eq!(told + missed, 4 * REQUESTS);
}

#[tokio::test]
async fn one_that_follows_does_not_keep_the_server() {
    let project = Project::with_hook("BeforeAgent", "true");
    let served = SocketServed::start(&project, &[]).await;
    let (mut tail, _) = following(&served).await;
    served.signal(Signal::TERM);
    assert_eq!(tail.receive().await, json!(null));
    assert_eq!(served.ended().await.0.code(), Some(128 + 15));
}

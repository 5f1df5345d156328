//! Many clients at once: each gets its own, and none can harm another.

use std::sync::Arc;
use std::time::{Duration, Instant};

use futures::future::join_all;
use hook_bus::wire::SocketServer;
use hook_tests::{Project, SocketClient, SocketServed};
use rustix::process::Signal;
use serde_json::json;
use tokio::io::AsyncWriteExt;
use tokio_util::sync::CancellationToken;

use super::prompt;

#[tokio::test]
async fn twenty_clients_with_the_same_ids_each_get_their_own() {
    let project = Project::with_hook("BeforeAgent", "cat");
    let served = &SocketServed::start(&project, &[]).await;
    let play = async |client: usize| {
        let mut connection = served.client().await;
        for turn in 0..5 {
            let text = format!("turn {turn} of client {client}");
            connection.send(format!("{}\n", prompt(&text, &format!("id-{turn}")))).await;
        }
        for _ in 0..5 {
            let response = connection.receive().await;
            let turn = response["correlationId"].as_str().unwrap().replace("id-", "turn ");
            let echoed = &response["output"]["allOutputs"][0]["prompt"];
            assert_eq!(*echoed, format!("{turn} of client {client}"));
        }
        // Its own five, and nobody else's.
        connection.writer.shutdown().await.unwrap();
        assert_eq!(connection.receive().await, json!(null));
    };
    join_all((0..20).map(play)).await;
}

#[tokio::test]
async fn a_client_that_vanishes_takes_its_hooks_along_and_nothing_else() {
    let project = Project::with_hook(
        "BeforeAgent",
        "if grep -q endless; then touch running; sleep 1000; else echo '{}'; fi",
    );
    let served = SocketServed::start(&project, &[]).await;
    let mut good = served.client().await;
    let mut vanishing = served.client().await;
    vanishing.send(format!("{}\n", prompt("endless", "a"))).await;
    project.appears("running").await;
    drop(vanishing);
    project.assert_nothing_runs().await;
    assert_eq!(good.ask(&prompt("short", "a")).await["success"], true);
}

#[tokio::test]
async fn a_client_that_only_has_nothing_more_to_say_is_still_answered() {
    let project = Project::with_hook("BeforeAgent", "sleep 0.3; echo '{}'");
    let served = SocketServed::start(&project, &[]).await;
    let mut client = served.client().await;
    client.send(format!("{}\n", prompt("a", "last"))).await;
    client.writer.shutdown().await.unwrap();
    let response = client.receive().await;
    assert_eq!((&response["correlationId"], &response["success"]), (&json!("last"), &json!(true)));
    assert_eq!(client.receive().await, json!(null));
}

#[tokio::test]
async fn clients_that_flood_and_never_read_do_not_hold_up_another() {
    let project = Project::with_hook("BeforeAgent", "cat");
    let served = SocketServed::start(&project, &[]).await;
    let flood = async |line: String| {
        let mut client = served.client().await;
        let lines = line.repeat(1_000);
        // As much as the server takes; it is over when it takes no more.
        let patience = Duration::from_millis(500);
        while tokio::time::timeout(patience, client.writer.write_all(lines.as_bytes()))
            .await
            .is_ok_and(|written| written.is_ok())
        {}
        client
    };
    let requests = format!("{}\n", prompt(&"x".repeat(10_000), "flood"));
    let flooding = tokio::join!(flood("nonsense\n".to_owned()), flood(requests));
    let mut good = served.client().await;
    for turn in 0..20 {
        let response = good.ask(&prompt("good", &turn.to_string())).await;
        assert_eq!(response["correlationId"], turn.to_string());
    }
    // What each of both leaves unread, and what of it waits for its turn, is bounded.
    let resident = served.holdings().resident;
    assert!(resident < 700 * 1024, "{resident} KiB");
    drop(flooding);
    project.assert_nothing_runs().await;
    assert_eq!(good.ask(&prompt("good", "last")).await["correlationId"], "last");
}

#[tokio::test]
async fn what_clients_leave_unfinished_is_bounded_over_all_of_them() {
    const CLIENTS: usize = 12;
    let project = Project::with_hook("BeforeAgent", "exit 2");
    let served = SocketServed::start(&project, &[]).await;
    let half = |id: usize| {
        let text = "x".repeat(40 << 20);
        let kind = r#""type":"hook-execution-request","eventName":"BeforeAgent""#;
        format!(r#"{{{kind},"correlationId":"{id}","input":{{"prompt":"{text}"#)
    };
    let mut clients = Vec::new();
    for id in 0..CLIENTS {
        let mut client = served.client().await;
        client.send(half(id)).await;
        clients.push(client);
    }
    let mut good = served.client().await;
    assert_eq!(good.ask(&prompt("good", "good")).await["processed"]["decision"], "block");
    let resident = served.holdings().resident;
    assert!(resident < 300 * 1024, "{resident} KiB");
    let (mut served_lines, mut refused) = (0, 0);
    for client in &mut clients {
        client.send("\"}}\n").await;
        let response = client.receive().await;
        match response["error"]["message"].as_str() {
            None => served_lines += 1,
            Some(message) => {
                assert_eq!(response["error"]["code"], "invalid_request");
                assert!(message.contains("of other clients"), "{message}");
                refused += 1;
            }
        }
        assert_eq!(client.ask(&prompt("again", "again")).await["correlationId"], "again");
    }
    assert!(served_lines >= 3 && served_lines + refused == CLIENTS, "{served_lines} {refused}");
    // Room that was held is there again.
    let mut last = served.client().await;
    last.send(half(99)).await;
    last.send("\"}}\n").await;
    assert_eq!(last.receive().await["correlationId"], "99");
}

#[tokio::test]
async fn one_client_too_many_is_told_so() {
    let project = Project::with_hook("BeforeAgent", "true");
    let system = Arc::new(project.system());
    let server = SocketServer::bind(project.home().join("hook.sock")).await.unwrap();
    let socket = server.path().to_owned();
    let stop = CancellationToken::new();
    let connect = async || {
        let mut client = SocketClient::connect(&socket).await;
        (client.receive().await, client)
    };
    let play = async {
        let (first, first_client) = connect().await;
        let (second, _second_client) = connect().await;
        assert_eq!((&first["type"], &second["type"]), (&json!("hook-hello"), &json!("hook-hello")));
        let (third, mut third_client) = connect().await;
        assert_eq!(
            third,
            json!({"type": "hook-refused", "message":
                "this server has 2 clients already, as many as it serves; try again later"})
        );
        assert_eq!(third_client.receive().await, json!(null), "and it is sent away");
        // Its place is free once the server has seen it go.
        drop(first_client);
        while connect().await.0["type"] != "hook-hello" {}
        stop.cancel();
    };
    tokio::join!(server.max_clients(2).serve(&system, &stop), play);
    assert!(!socket.exists());
}

#[tokio::test]
async fn a_signal_ends_the_server_with_everything_answered() {
    let project = Project::with_hook("BeforeAgent", "touch running; exec sleep 1000");
    let served = SocketServed::start(&project, &[]).await;
    let socket = served.socket().to_owned();
    let mut clients = join_all((0..5).map(|_| served.client())).await;
    for client in &mut clients {
        for id in ["a", "b"] {
            client.send(format!("{}\n", prompt("x", id))).await;
        }
        // What comes behind has been read, too.
        client.send("nonsense\n").await;
        assert_eq!(client.receive().await["error"]["code"], "invalid_request");
    }
    project.appears("running").await;
    served.signal(Signal::TERM);
    for client in &mut clients {
        let mut answered = Vec::new();
        for _ in 0..2 {
            let response = client.receive().await;
            assert_eq!(response["error"]["code"], "shutting_down");
            answered.push(response["correlationId"].as_str().unwrap().to_owned());
        }
        answered.sort_unstable();
        assert_eq!(answered, ["a", "b"]);
        assert_eq!(client.receive().await, json!(null));
    }
    let (status, said) = served.ended().await;
    assert_eq!((status.code(), said.as_str()), (Some(128 + 15), ""));
    assert!(!socket.exists());
    project.assert_nothing_runs().await;
}

#[tokio::test]
async fn a_hangup_reads_the_settings_anew() {
    let project = Project::with_hook("BeforeAgent", "exit 2");
    let served = SocketServed::start(&project, &[]).await;
    let mut client = served.client().await;
    assert_eq!(client.ask(&prompt("a", "a")).await["processed"]["decision"], "block");
    project.write("settings.json", "{\"hooks\": {\"SessoinEnd\": []}}");
    served.signal(Signal::HUP);
    let mut served = served;
    assert!(served.says().await.contains("SessoinEnd"));
    assert_eq!(client.ask(&prompt("a", "b")).await["processed"]["decision"], "proceed");
}

#[tokio::test]
async fn without_descriptors_nobody_is_let_in_and_nothing_spins() {
    let project = Project::with_hook("BeforeAgent", "true");
    // A client takes two; so either nothing or one is left, which is not enough.
    for limit in [40, 41] {
        crowded(&project, &format!("ulimit -n {limit}")).await;
    }
}

async fn crowded(project: &Project, limited: &str) {
    let served = SocketServed::start_after(project, limited, &[]).await;
    let mut crowd = join_all((0..40).map(|_| served.stranger())).await;
    // The first of them are let in, and are all that can be.
    for client in &mut crowd[..12] {
        assert_eq!(client.receive().await["type"], "hook-hello");
    }
    served.rests().await;
    drop(crowd);
    let mut client = served.client().await;
    assert_eq!(client.ask(&prompt("a", "a")).await["correlationId"], "a");
}

#[tokio::test]
async fn nothing_is_left_of_clients_that_came_and_went() {
    let project = Project::with_hook("BeforeAgent", "true");
    let served = SocketServed::start(&project, &[]).await;
    let come_and_go = async |times: usize| {
        for turn in 0..times {
            let mut client = served.client().await;
            if turn % 2 == 0 {
                client.send("{\"type\":\"hook-subscribe\"}\n{\"type\":\"hook-tail\"}\n").await;
            }
            client.send("{\"half\": ").await;
        }
    };
    // One that stays, so that what it holds counts on both sides.
    let mut staying = served.client().await;
    assert_eq!(staying.ask(&prompt("a", "a")).await["correlationId"], "a");
    let before = served.holdings();
    come_and_go(300).await;
    let begun = Instant::now();
    while served.holdings().descriptors > before.descriptors {
        assert!(begun.elapsed() < Duration::from_secs(60), "{before:?} {:?}", served.holdings());
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    let after = served.holdings();
    assert!(after.threads <= before.threads + 1, "{before:?} {after:?}");
    let grown = after.resident.saturating_sub(before.resident);
    assert!(grown < 16 * 1024, "memory has grown by {grown} KiB: {before:?} {after:?}");
    assert_eq!(staying.ask(&prompt("a", "b")).await["correlationId"], "b");
}

//! `hook serve --stdio`: many requests in flight, progress, cancel, reload, hostile clients.

use std::collections::BTreeMap;
use std::time::Duration;

use hook_bus::wire::{ClientEnd, serve_client};
use hook_bus::{BusLimits, HookExecutionRequest, HookExecutionResponse, HookSystem, MessageBus};
use hook_protocol::HookEventName;
use hook_run::HandlerHook;
use hook_tests::{Hook, Project, fields, json};
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader, DuplexStream, duplex};
use tokio_util::sync::CancellationToken;

const PATIENCE: Duration = Duration::from_secs(60);

fn request(event: &str, input: &Value, id: &str) -> String {
    let message = json!({"type": "hook-execution-request", "eventName": event, "input": input,
        "correlationId": id});
    format!("{message}\n")
}

fn session_end(id: &str) -> String {
    request("SessionEnd", &json!({"reason": "exit"}), id)
}

/// A client on the other end of a served connection.
struct Client {
    to_server: DuplexStream,
    from_server: BufReader<DuplexStream>,
}

impl Client {
    async fn send(&mut self, text: &str) {
        self.to_server.write_all(text.as_bytes()).await.unwrap();
    }

    async fn receive(&mut self) -> Value {
        let mut line = String::new();
        let read = tokio::time::timeout(PATIENCE, self.from_server.read_line(&mut line)).await;
        read.expect("an answer in time").unwrap();
        json(line.as_bytes())
    }
}

/// Serves one client while the test plays it.
async fn with_client<T>(
    system: &HookSystem,
    play: impl AsyncFnOnce(Client) -> T,
) -> (T, ClientEnd) {
    let (to_server, server_in) = duplex(64 * 1024);
    let (server_out, from_server) = duplex(64 * 1024);
    let stop = CancellationToken::new();
    let client = Client { to_server, from_server: BufReader::new(from_server) };
    let served = serve_client(system, server_in, server_out, &stop);
    let (played, served) = tokio::join!(play(client), served);
    (played, served.unwrap())
}

#[test]
fn the_binary_serves_until_its_input_ends_and_everything_is_answered() {
    let project =
        Project::with_hook("SessionEnd", "sleep 0.2; echo '{\"systemMessage\":\"late\"}'");
    let lines = [session_end("a"), "nonsense\n".to_owned(), session_end("b")].concat();
    let finished =
        Hook::new(&project, &["serve", "--stdio", "--settings=settings.json"]).stdin(lines).run();
    assert_eq!(finished.status, 0, "{finished:?}");
    let lines = finished.lines();
    assert_eq!(lines[0]["type"], "hook-hello");
    assert_eq!(lines[0]["protocol"], 1);
    // Answered as they complete: the malformed line first, though it came second.
    assert_eq!(lines[1]["error"]["code"], "invalid_request");
    assert_eq!(lines[1]["error"]["details"]["line"], 2);
    let mut rest: Vec<_> = lines[2..].iter().map(|line| line["correlationId"].as_str()).collect();
    rest.sort_unstable();
    assert_eq!(rest, [Some("a"), Some("b")]);
}

#[tokio::test]
async fn progress_is_told_to_those_who_ask() {
    let project = Project::with_hook("SessionEnd", "exit 3");
    let system = project.system();
    with_client(&system, async |mut client| {
        assert_eq!(client.receive().await["type"], "hook-hello");
        client.send(&session_end("quiet")).await;
        assert_eq!(client.receive().await["type"], "hook-execution-response");
        client.send("{\"type\":\"hook-subscribe\"}\n").await;
        client.send(&session_end("loud")).await;
        let (started, finished, response) =
            (client.receive().await, client.receive().await, client.receive().await);
        assert_eq!(started["type"], "hook-started");
        assert_eq!(started["hook"]["name"], "exit 3");
        assert_eq!(finished["type"], "hook-finished");
        assert_eq!(finished["hook"]["exitCode"], 3);
        assert_eq!(response["type"], "hook-execution-response");
        for message in [started, finished, response] {
            assert_eq!(message["correlationId"], "loud");
        }
    })
    .await;
}

#[tokio::test]
async fn progress_of_a_request_that_is_answered_at_once_is_told_too() {
    let guard = HandlerHook::inline(HookEventName::SessionEnd, "guard", |_| Ok(None));
    let system = Project::new().builder().handler(guard).build().unwrap();
    system.initialize().await.unwrap();
    with_client(&system, async |mut client| {
        client.receive().await;
        client.send("{\"type\":\"hook-subscribe\"}\n").await;
        client.send(&session_end("loud")).await;
        for kind in ["hook-started", "hook-finished", "hook-execution-response"] {
            let message = client.receive().await;
            assert_eq!(
                (&message["type"], &message["correlationId"]),
                (&json!(kind), &json!("loud"))
            );
        }
    })
    .await;
}

#[tokio::test]
async fn a_request_can_be_cancelled() {
    let project = Project::with_hook("SessionEnd", "sleep 1000");
    let system = project.system();
    with_client(&system, async |mut client| {
        client.receive().await;
        client.send("{\"type\":\"hook-subscribe\"}\n").await;
        client.send(&session_end("endless")).await;
        assert_eq!(client.receive().await["type"], "hook-started");
        client.send("{\"type\":\"hook-cancel\",\"correlationId\":\"somebody else's\"}\n").await;
        client.send("{\"type\":\"hook-cancel\",\"correlationId\":\"endless\"}\n").await;
        loop {
            let message = client.receive().await;
            if message["type"] == "hook-execution-response" {
                assert_eq!(message["error"]["code"], "cancelled");
                break;
            }
        }
        client.send("{\"type\":\"hook-cancel\"}\n").await;
        assert_eq!(client.receive().await["error"]["code"], "invalid_request");
    })
    .await;
}

#[tokio::test]
async fn cancelled_requests_are_all_answered_cancelled_also_behind_a_full_bus() {
    const COUNT: usize = 40;
    let project = Project::with_hook("SessionEnd", "sleep 1000");
    let bus = MessageBus::with_limits(BusLimits { in_flight: 4, ..BusLimits::default() });
    let system = project.builder().bus(bus).build().unwrap();
    with_client(&system, async |mut client| {
        client.receive().await;
        for _ in 0..COUNT {
            client.send(&session_end("endless")).await;
        }
        client.send("{\"type\":\"hook-cancel\",\"correlationId\":\"endless\"}\n").await;
        for _ in 0..COUNT {
            assert_eq!(client.receive().await["error"]["code"], "cancelled");
        }
    })
    .await;
}

#[tokio::test]
async fn progress_comes_in_the_order_in_which_it_happened() {
    let project = Project::with_settings(&json!({"hooks": {"SessionEnd": [{"sequential": true,
        "hooks": [{"type": "command", "name": "a", "command": "true"},
                  {"type": "command", "name": "b", "command": "true"}]}]}}));
    let system = project.system();
    with_client(&system, async |mut client| {
        client.receive().await;
        client.send("{\"type\":\"hook-subscribe\"}\n").await;
        client.send(&session_end("x")).await;
        let mut seen = Vec::new();
        for _ in 0..4 {
            let message = client.receive().await;
            let kind = message["type"].as_str().unwrap().to_owned();
            seen.push((kind, message["hook"]["name"].as_str().unwrap().to_owned()));
        }
        let seen: Vec<_> = seen.iter().map(|(kind, name)| (kind.as_str(), name.as_str())).collect();
        assert_eq!(
            seen,
            [
                ("hook-started", "a"),
                ("hook-finished", "a"),
                ("hook-started", "b"),
                ("hook-finished", "b")
            ]
        );
    })
    .await;
}

#[tokio::test]
async fn what_a_hook_wrote_is_told_to_those_who_ask() {
    let project = Project::with_hook("SessionEnd", "echo out; echo err >&2");
    let system = project.system();
    with_client(&system, async |mut client| {
        client.receive().await;
        for (streams, stdout) in [("", json!(null)), (r#","streams":true"#, json!("out\n"))] {
            client.send(&format!(
                r#"{{"type":"hook-execution-request","eventName":"SessionEnd","input":{{"reason":"exit"}}{streams}}}"#
            )).await;
            client.send("\n").await;
            assert_eq!(client.receive().await["hooks"][0]["stdout"], stdout);
        }
    })
    .await;
}

#[tokio::test]
async fn what_a_hook_was_told_is_told_to_those_who_ask() {
    let project = Project::with_hook("SessionEnd", "true");
    let system = project.system();
    with_client(&system, async |mut client| {
        client.receive().await;
        for (inputs, reason) in [("", json!(null)), (r#","inputs":true"#, json!("exit"))] {
            client.send(&format!(
                r#"{{"type":"hook-execution-request","eventName":"SessionEnd","input":{{"reason":"exit"}}{inputs}}}"#
            )).await;
            client.send("\n").await;
            assert_eq!(client.receive().await["hooks"][0]["input"]["reason"], reason);
        }
    })
    .await;
}

/// What hooks were told is as long as the input times the hooks: a response of ten would be too long
/// for a line.
#[tokio::test]
async fn no_more_of_what_hooks_were_told_is_told_than_a_message_has_room_for() {
    let hook = |number| json!({"type": "command", "command": format!("cat >/dev/null # {number}")});
    let hooks: Vec<_> = (0..10).map(hook).collect();
    let settings = json!({"hooks": {"SessionEnd": [{"sequential": true, "hooks": hooks}]}});
    let project = Project::with_settings(&settings);
    let system = project.system();
    let input = json!({"reason": "exit", "long": "x".repeat(7 << 20)});
    let request = HookExecutionRequest::new("SessionEnd", fields(input)).with_inputs();
    let response: HookExecutionResponse = system.bus().request(request).await;
    assert_eq!(response.hooks.len(), 10, "{:?}", response.error());
    let (told, left_out) = response.hooks.split_at(9);
    assert!(told.iter().all(|it| it.input.is_some() && it.warnings.is_empty()));
    assert!(left_out[0].success && left_out[0].input.is_none());
    assert!(left_out[0].warnings[0].contains("64 MiB"), "{:?}", left_out[0].warnings);
}

#[tokio::test]
async fn settings_are_read_anew_when_asked() {
    let project = Project::with_hook("SessionEnd", "exit 2");
    let system = project.system();
    with_client(&system, async |mut client| {
        client.receive().await;
        client.send(&session_end("before")).await;
        assert_eq!(client.receive().await["processed"]["decision"], "block");
        project.write("settings.json", "{\"hooks\": {\"SessoinEnd\": []}}");
        client.send("{\"type\":\"hook-reload\"}\n").await;
        let reloaded = client.receive().await;
        assert_eq!(reloaded["type"], "hook-reloaded");
        assert_eq!((&reloaded["success"], &reloaded["totalHooks"]), (&json!(true), &json!(0)));
        assert!(reloaded["warnings"][0].as_str().unwrap().contains("SessionEnd"), "{reloaded}");
        client.send(&session_end("after")).await;
        assert_eq!(client.receive().await["processed"]["decision"], "proceed");
    })
    .await;
}

#[tokio::test]
async fn fault_25_clients_that_share_an_id_each_get_their_own_response() {
    let project = Project::with_hook("BeforeAgent", "cat");
    let system = project.system();
    let play = async |text: &str| {
        with_client(&system, async |mut client| {
            client.receive().await;
            client.send(&request("BeforeAgent", &json!({"prompt": text}), "same")).await;
            client.receive().await["output"]["allOutputs"][0]["prompt"].clone()
        })
        .await
        .0
    };
    let (one, other) = tokio::join!(play("one"), play("other"));
    assert_eq!((one, other), (json!("one"), json!("other")));
}

#[tokio::test]
async fn ten_thousand_requests_at_once_are_all_answered() {
    const COUNT: usize = 10_000;
    let system = HookSystem::builder(".").build().unwrap();
    with_client(&system, async |client| {
        let Client { mut to_server, mut from_server } = client;
        // Nothing is read before everything is sent.
        for index in 0..COUNT {
            to_server.write_all(session_end(&index.to_string()).as_bytes()).await.unwrap();
        }
        drop(to_server);
        let mut text = String::new();
        from_server.read_to_string(&mut text).await.unwrap();
        let answered: BTreeMap<String, usize> =
            text.lines().skip(1).fold(BTreeMap::new(), |mut counts, line| {
                let id = json(line.as_bytes())["correlationId"].as_str().unwrap().to_owned();
                *counts.entry(id).or_default() += 1;
                counts
            });
        assert_eq!(answered.len(), COUNT);
        assert!(answered.values().all(|count| *count == 1));
    })
    .await;
}

#[tokio::test]
async fn a_client_that_vanishes_in_mid_line_ends_its_own_requests_only() {
    let project = Project::with_hook("SessionEnd", "sleep 1000");
    let system = project.system();
    let ((), end) = with_client(&system, async |mut client| {
        client.receive().await;
        client.send(&session_end("endless")).await;
        while system.status().in_flight == 0 {
            tokio::task::yield_now().await;
        }
        client.send("{\"type\":\"hook-exec").await;
    })
    .await;
    assert_eq!(end, ClientEnd::Gone);
    // The system serves the next client.
    let ((), end) = with_client(&system, async |mut client| {
        assert_eq!(client.receive().await["type"], "hook-hello");
        client.send("{}\n").await;
        assert_eq!(client.receive().await["error"]["code"], "invalid_request");
        drop(client.to_server);
        assert_eq!(client.from_server.read_line(&mut String::new()).await.unwrap(), 0);
    })
    .await;
    assert_eq!(end, ClientEnd::Finished);
}

#[tokio::test]
async fn a_client_that_reads_nothing_does_not_keep_the_server_from_stopping() {
    let system = Project::new().system();
    let stop = CancellationToken::new();
    let requests: String = (0..100)
        .map(|number| request("SessionEnd", &json!({"reason": "exit"}), &number.to_string()))
        .collect();
    // Less room than one answer needs, and nobody who reads.
    let (writer, _unread) = duplex(16);
    let served = serve_client(&system, requests.as_bytes(), writer, &stop);
    stop.cancel();
    let ended = tokio::time::timeout(PATIENCE, served).await;
    assert_eq!(ended.unwrap().unwrap(), ClientEnd::Gone);
}

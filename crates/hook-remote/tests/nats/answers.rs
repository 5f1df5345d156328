//! What an engine makes of what it is asked, and how it says who it is.

use std::time::Duration;

use hook_protocol::PolicyDecision;
use serde_json::{Value, json};

use crate::broker::Broker;
use crate::support::{Engine, Seen, asker, guard};

/// A client that is answered where engines answer.
async fn connected(broker: &Broker) -> async_nats::Client {
    let options = async_nats::ConnectOptions::new().custom_inbox_prefix("hooks.reply._");
    options.connect(broker.url()).await.unwrap()
}

async fn ask(broker: &Broker, subject: &str, request: &Value) -> Value {
    let client = connected(broker).await;
    let asked = client.request(subject.to_owned(), request.to_string().into());
    let answer = tokio::time::timeout(Duration::from_secs(20), asked).await.unwrap().unwrap();
    serde_json::from_slice(&answer.payload).unwrap()
}

fn request(more: &Value) -> Value {
    let mut request = json!({
        "type": "hook-execution-request", "eventName": "BeforeTool", "correlationId": "c-1",
        "input": {"tool_name": "forbidden", "tool_input": {}},
    });
    for (name, value) in more.as_object().unwrap() {
        request[name] = value.clone();
    }
    request
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_newer_asker_is_served_and_another_protocol_refused() {
    let Some(broker) = Broker::start() else { return };
    let _engine = Engine::join(&broker, vec![guard(&Seen::default())]).await;
    let newer = request(&json!({"protocol": 1, "version": "99.0.0", "mood": "new"}));
    let answer = ask(&broker, "hooks.request.BeforeTool", &newer).await;
    assert_eq!(answer["processed"]["reason"], "not that", "{answer}");
    assert_eq!(answer["protocol"], 1);
    assert_eq!(answer["engine"]["version"], env!("CARGO_PKG_VERSION"));
    // As tools of the broker ask, who say nothing of it.
    let answer = ask(&broker, "hooks.request.BeforeTool", &request(&json!({}))).await;
    assert_eq!(answer["processed"]["decision"], "block", "{answer}");

    let other = request(&json!({"protocol": 2, "version": "99.0.0"}));
    let answer = ask(&broker, "hooks.request.BeforeTool", &other).await;
    assert_eq!(answer["error"]["code"], "invalid_request");
    assert_eq!(answer["correlationId"], "c-1");
    let message = answer["error"]["message"].as_str().unwrap();
    assert!(message.contains("it speaks protocol 2 (version 99.0.0)"), "{message}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn whoever_may_ask_about_one_event_asks_about_no_other() {
    let Some(broker) = Broker::start() else { return };
    let seen = Seen::default();
    let _engine = Engine::join(&broker, vec![guard(&seen)]).await;
    let answer = ask(&broker, "hooks.request.Notification", &request(&json!({}))).await;
    assert_eq!(answer["error"]["code"], "invalid_request", "{answer}");
    let message = answer["error"]["message"].as_str().unwrap();
    assert!(message.contains("is about `BeforeTool`, and was sent under"), "{message}");
    assert_eq!(seen.runs(), 0);
    for (subject, text) in [("hooks.request.x", "nonsense"), ("hooks.request._", "[]")] {
        let client = connected(&broker).await;
        let answer = client.request(subject, text.into()).await.unwrap();
        let answer: Value = serde_json::from_slice(&answer.payload).unwrap();
        assert_eq!(answer["error"]["code"], "invalid_request", "{answer}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn engines_say_which_settings_they_have() {
    let Some(broker) = Broker::start() else { return };
    let folder = tempfile::tempdir().unwrap();
    let system = |command: &str| {
        let path = folder.path().join(format!("{command}.json"));
        let settings = json!({"hooks": {"BeforeTool": [
            {"hooks": [{"type": "command", "command": command}]},
        ]}});
        std::fs::write(&path, settings.to_string()).unwrap();
        let builder = hook_bus::HookSystem::builder(folder.path()).hash_settings();
        builder.settings(hook_settings::SettingsSource::explicit(path)).build().unwrap()
    };
    let bus = asker(&broker);
    let mut hashes = Vec::new();
    for command in ["true", "false", "true"] {
        let system = std::sync::Arc::new(system(command));
        system.initialize().await.unwrap();
        let options = hook_remote::nats::NatsOptions::new(broker.url());
        let engine = hook_remote::nats::NatsEngine::new(&options).unwrap();
        let stop = tokio_util::sync::CancellationToken::new();
        let (told, mut news) = tokio::sync::mpsc::channel(8);
        let serve = engine.serve(&system, &stop, &told);
        let ask = async {
            while !news.recv().await.unwrap().contains("serving") {}
            let answer = bus.request(crate::support::call("read_file")).await;
            assert!(answer.success(), "{answer:?}");
            let status = bus.engines(Duration::from_millis(300)).await.unwrap();
            let hash = answer.engine.unwrap().settings_hash.clone().unwrap();
            assert_eq!(status[0].settings_hash.as_deref(), Some(&*hash));
            assert_eq!((status[0].total_hooks, status[0].state.as_str()), (1, "serving"));
            stop.cancel();
            hash
        };
        let (served, hash) = tokio::join!(serve, ask);
        served.unwrap();
        hashes.push(hash);
    }
    assert_ne!(hashes[0], hashes[1]);
    assert_eq!(hashes[0], hashes[2]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn tools_of_the_broker_see_engines_as_a_service() {
    let Some(broker) = Broker::start() else { return };
    let engine = Engine::join(&broker, vec![guard(&Seen::default())]).await;
    let bus = asker(&broker);
    let answer = bus.request(crate::support::call("forbidden")).await;
    assert_eq!(answer.processed.decision, PolicyDecision::Block);
    let id = answer.engine.unwrap().id.clone();
    for (subject, kind) in [
        ("$SRV.PING".to_owned(), "ping"),
        ("$SRV.PING.hook-engine".to_owned(), "ping"),
        (format!("$SRV.INFO.hook-engine.{id}"), "info"),
        ("$SRV.STATS".to_owned(), "stats"),
    ] {
        let answer = ask(&broker, &subject, &json!({})).await;
        assert_eq!(answer["type"], format!("io.nats.micro.v1.{kind}_response"));
        assert_eq!((&answer["name"], &answer["id"]), (&json!("hook-engine"), &json!(id)));
        assert_eq!(answer["metadata"]["subject"], "hooks.request.*");
        if kind == "ping" {
            continue;
        }
        let endpoint = &answer["endpoints"][0];
        assert_eq!(endpoint["subject"], "hooks.request.*");
        assert_eq!(endpoint["queue_group"], "engines");
        if kind == "stats" {
            assert_eq!(
                (&endpoint["num_requests"], &endpoint["num_errors"]),
                (&json!(1), &json!(0))
            );
            assert_eq!(endpoint["data"]["state"], "serving");
        }
    }
    engine.leave().await;
}

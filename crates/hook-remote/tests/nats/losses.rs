//! Engines that are lost, fall silent, or have no room.

use std::collections::HashMap;
use std::pin::pin;
use std::time::{Duration, Instant};

use futures::future::join_all;
use futures::{FutureExt, StreamExt};
use hook_bus::{BusLimits, HookExecutionRequest};
use hook_protocol::{HookEventName, PolicyDecision};
use hook_remote::nats::{NatsBus, NatsOptions};
use hook_run::HandlerHook;
use hook_settings::FailBehavior;

use crate::broker::Broker;
use crate::engine_process::EngineProcess;
use crate::support::{Engine, Seen, asker, call, guard, slow};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_an_engine_that_is_killed_had_taken_is_asked_again() {
    let Some(broker) = Broker::start() else { return };
    let log = broker.path("log");
    // Each line is a key, and the engine that runs it. One that is killed while it says the input says no key.
    let hook = format!(
        r#"key=$(sed -n 's/.*"idempotencyKey":"\([^"]*\)".*/\1/p'); [ -z "$key" ] || echo "$key $PPID" >>{}; sleep 0.2"#,
        log.display()
    );
    let settings = serde_json::json!({"hooks": {"BeforeTool": [{"hooks": [
        {"type": "command", "command": hook, "failBehavior": "block"},
    ]}]}});
    let path = broker.path("settings.json");
    std::fs::write(&path, settings.to_string()).unwrap();
    let mut engines: Vec<_> =
        (0..3).map(|_| EngineProcess::join(&broker.url(), Some(&path))).collect();
    let bus = asker(&broker);
    let ran = || {
        let text = std::fs::read_to_string(&log).unwrap_or_default();
        let mut ran: HashMap<String, Vec<u32>> = HashMap::new();
        for line in text.lines() {
            let (key, engine) = line.split_once(' ').unwrap();
            ran.entry(key.to_owned()).or_default().push(engine.parse().unwrap());
        }
        ran
    };
    let all = join_all(
        (0..60).map(|_| bus.request(call("read_file").with_deadline(Duration::from_secs(60)))),
    );
    let kill = async {
        while ran().len() < 10 {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        engines[0].kill();
    };
    let (answers, ()) = tokio::join!(all, kill);
    let failed: Vec<_> = answers.iter().filter(|answer| !answer.success()).collect();
    assert!(failed.is_empty(), "{} are lost, such as {:?}", failed.len(), failed[0]);
    assert!(answers.iter().all(|answer| answer.processed.decision == PolicyDecision::Proceed));
    let ran = ran();
    assert_eq!(ran.len(), 60, "under one key on both attempts");
    // What ran twice is what the one that was killed had begun.
    let alive = [engines[1].id(), engines[2].id()];
    for (key, by) in &ran {
        let of_the_living = by.iter().filter(|engine| alive.contains(engine)).count();
        assert!(of_the_living <= 1 && by.len() <= 2, "{key}: {by:?}, {alive:?} live");
    }
    let all: Vec<u32> = ran.values().flatten().copied().collect();
    assert!(alive.iter().all(|engine| all.contains(engine)), "hooks name their engines: {all:?}");
    assert!(all.iter().any(|engine| !alive.contains(engine)), "one that ran some was killed");
}

#[tokio::test]
async fn where_nobody_serves_that_is_said_at_once_and_blocks() {
    let Some(broker) = Broker::start() else { return };
    let bus = asker(&broker);
    let begun = Instant::now();
    let answer = bus.request(call("read_file")).await;
    assert!(begun.elapsed() < Duration::from_secs(10));
    assert_eq!(answer.error().unwrap().code.as_str(), "no_handler");
    assert_eq!(answer.processed.decision, PolicyDecision::Block);

    let open = NatsOptions::new(broker.url()).fail_behavior(FailBehavior::Continue);
    let bus = NatsBus::with(open).unwrap();
    let answer = bus.request(call("read_file")).await;
    assert_eq!(answer.error().unwrap().code.as_str(), "no_handler");
    assert_eq!(answer.processed.decision, PolicyDecision::Proceed);
}

#[tokio::test]
async fn what_cannot_be_asked_at_all_is_answered_here() {
    let Some(broker) = Broker::start() else { return };
    let bus = asker(&broker);
    let answer = bus.request(HookExecutionRequest::from_json("{}")).await;
    assert_eq!(answer.error().unwrap().code.as_str(), "invalid_request");
    assert_eq!(answer.processed.decision, PolicyDecision::Block);
    let answer = bus.request(HookExecutionRequest::unchecked("a.>", hook_json::RawObject::empty()));
    assert_eq!(answer.await.error().unwrap().code.as_str(), "no_handler");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_hook_that_takes_longer_than_silence_may_last_runs_once() {
    let Some(broker) = Broker::start() else { return };
    let seen = Seen::default();
    let _engine = Engine::join(&broker, vec![slow(&seen, Duration::from_secs(6))]).await;
    let bus = asker(&broker);
    let answer = bus.request(call("read_file").with_deadline(Duration::from_secs(20))).await;
    assert!(answer.success(), "{answer:?}");
    assert_eq!(seen.runs(), 1);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_fleet_without_room_is_asked_again_until_there_is_some() {
    let Some(broker) = Broker::start() else { return };
    let seen = Seen::default();
    let limits = BusLimits { in_flight: 2, ..BusLimits::default() };
    let options = NatsOptions::new(broker.url());
    let hooks = vec![slow(&seen, Duration::from_millis(20))];
    let mut engine = Engine::with_limits(&options, hooks, limits, |engine| engine.waiting(2));
    engine.hears("serving").await;
    let bus = asker(&broker);
    let answers = join_all((0..100).map(|_| bus.request(call("read_file")))).await;
    assert!(answers.iter().all(|answer| answer.success()));
    assert_eq!((seen.keys(), seen.runs()), (100, 100));
    let status = bus.engines(Duration::from_millis(500)).await.unwrap();
    assert!(status[0].busy > 0, "{status:?}");

    // Past the deadline nothing is asked any more.
    let full = slow(&seen, Duration::from_secs(60));
    engine.leave().await;
    let mut engine = Engine::with_limits(&options, vec![full], limits, |engine| engine.waiting(0));
    engine.hears("serving").await;
    let held = (0..2).map(|_| bus.request(call("read_file")));
    let held = join_all(held);
    let late = async {
        while engine.system.status().in_flight < 2 {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        bus.request(call("read_file").with_deadline(Duration::from_millis(300))).await
    };
    tokio::select! {
        answer = late => {
            let error = answer.error().unwrap();
            assert_eq!(error.code.as_str(), "deadline_exceeded");
            assert!(error.message.contains("no engine had room"), "{error}");
            assert_eq!(answer.processed.decision, PolicyDecision::Block);
        }
        _ = held => panic!("they cannot be over"),
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn so_many_requests_of_one_asker_are_at_the_fleet_and_others_wait_in_their_time() {
    const PLACES: usize = 1_024;
    let Some(broker) = Broker::start() else { return };
    let mut heard = stranger(&broker, None).await;
    let bus = asker(&broker);
    let held = join_all((0..PLACES + 50).map(|_| bus.request(call("read_file"))));
    let late = async {
        for _ in 0..PLACES {
            heard.next().await.unwrap();
        }
        let late = bus.request(call("read_file").with_deadline(Duration::from_millis(300))).await;
        assert!(heard.next().now_or_never().is_none(), "no more are there");
        late
    };
    tokio::select! {
        late = late => {
            let error = late.error().unwrap();
            assert_eq!(error.code.as_str(), "deadline_exceeded");
            assert!(error.message.contains("others of this asker were still at the fleet"), "{error}");
            assert_eq!(late.processed.decision, PolicyDecision::Block);
        }
        _ = held => panic!("they cannot be over"),
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn hooks_end_with_whoever_waited_for_them() {
    let Some(broker) = Broker::start() else { return };
    let seen = Seen::default();
    let engine = Engine::join(&broker, vec![slow(&seen, Duration::from_secs(1_000))]).await;
    let bus = asker(&broker);
    let begun = async {
        while engine.system.status().in_flight == 0 {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
    };
    tokio::select! {
        _ = bus.request(call("read_file").with_deadline(Duration::from_secs(900))) => {
            panic!("it cannot be over")
        }
        () = begun => {}
    }
    let over = async {
        while engine.system.status().in_flight > 0 {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
    };
    tokio::time::timeout(Duration::from_secs(30), over).await.unwrap();
    engine.leave().await;
}

/// An engine that takes requests and says nothing, or something else.
async fn stranger(broker: &Broker, says: Option<&'static str>) -> async_nats::Subscriber {
    let client = async_nats::connect(broker.url()).await.unwrap();
    let (mut requests, heard) = {
        let queue = || client.queue_subscribe("hooks.request.*", "engines".to_owned());
        (queue().await.unwrap(), client.subscribe("hooks.request.*").await.unwrap())
    };
    client.flush().await.unwrap();
    tokio::spawn(async move {
        while let Some(request) = requests.next().await {
            if let (Some(says), Some(reply)) = (says, request.reply) {
                client.publish(reply, says.into()).await.unwrap();
            }
        }
    });
    heard
}

/// All requests that were sent until now: what is asked here comes after them.
async fn sent(bus: &NatsBus, heard: &mut async_nats::Subscriber) -> Vec<serde_json::Value> {
    let last = HookExecutionRequest::unchecked("Notification", hook_json::RawObject::empty());
    let heard = async {
        let mut sent = Vec::new();
        loop {
            let payload = heard.next().await.unwrap().payload;
            let request: serde_json::Value = serde_json::from_slice(&payload).unwrap();
            if request["eventName"] == "Notification" {
                return sent;
            }
            sent.push(request);
        }
    };
    let asked = bus.request(last.with_deadline(Duration::from_secs(20)));
    match futures::future::select(pin!(heard), pin!(asked)).await {
        futures::future::Either::Left((sent, _)) => sent,
        futures::future::Either::Right((answer, _)) => panic!("it is not heard of: {answer:?}"),
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn both_attempts_are_one_request_and_tell_what_is_left_of_its_time() {
    let Some(broker) = Broker::start() else { return };
    let mut heard = stranger(&broker, None).await;
    let bus = asker(&broker);
    let asked = call("read_file").with_deadline(Duration::from_secs(20));
    let id = asked.correlation_id().to_string();
    let answer = bus.request(asked).await;
    let error = answer.error().unwrap();
    assert_eq!(error.code.as_str(), "unanswered");
    assert!(error.message.contains("said anything for 5000 ms; it was asked again"), "{error}");
    assert_eq!(answer.processed.decision, PolicyDecision::Block);
    let sent = sent(&bus, &mut heard).await;
    let [first, second] = &sent[..] else { panic!("asked again once: {sent:?}") };
    assert!(first["correlationId"] == *id && second["correlationId"] == *id, "{sent:?}");
    let key = |sent: &serde_json::Value| sent["input"]["idempotencyKey"].clone();
    assert_eq!(key(first), key(second));
    assert_ne!(key(first), "forged");
    // No clock of another machine matters.
    let left = |sent: &serde_json::Value| sent["deadlineMs"].as_u64().unwrap();
    assert!(left(first) <= 20_000 && left(second) <= 15_000, "{sent:?}");
    assert!(first.get("deadline").is_none() && first["input"].get("timestamp").is_none());
}

/// A frozen engine stays in its group until the broker takes its connection for lost.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_a_frozen_engine_leaves_unanswered_blocks() {
    let Some(broker) = Broker::start() else { return };
    let frozen = EngineProcess::join(&broker.url(), None);
    frozen.signal("-STOP");
    let bus = asker(&broker);
    let ask = || bus.request(call("read_file").with_deadline(Duration::from_secs(20)));
    let answer = ask().await;
    assert_eq!(answer.error().unwrap().code.as_str(), "unanswered", "{answer:?}");
    assert_eq!(answer.processed.decision, PolicyDecision::Block);

    // Beside others it has its share of both attempts.
    let seen = Seen::default();
    let mut engines = Vec::new();
    for _ in 0..3 {
        engines.push(Engine::join(&broker, vec![guard(&seen)]).await);
    }
    let answers = join_all((0..200).map(|_| ask())).await;
    for answer in &answers {
        let (code, decision) =
            (answer.error().map(|error| error.code.as_str()), answer.processed.decision);
        assert!(
            matches!(
                (code, decision),
                (None, PolicyDecision::Proceed) | (Some("unanswered"), PolicyDecision::Block)
            ),
            "{answer:?}"
        );
    }
    // Who is awake ran what it answered, and nothing twice.
    let answered = answers.iter().filter(|answer| answer.success()).count();
    assert_eq!((seen.keys(), seen.runs()), (answered, answered));
    frozen.signal("-CONT");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_frozen_engine_is_out_of_its_group_once_the_broker_notices() {
    let Some(broker) = Broker::start_with("ping_interval: \"1s\"\nping_max: 1\n") else { return };
    let frozen = EngineProcess::join(&broker.url(), None);
    frozen.signal("-STOP");
    let bus = asker(&broker);
    loop {
        let answer = bus.request(call("read_file").with_deadline(Duration::from_secs(20))).await;
        assert_eq!(answer.processed.decision, PolicyDecision::Block);
        match answer.error().unwrap().code.as_str() {
            "no_handler" => break,
            code => assert_eq!(code, "unanswered"),
        }
    }
    frozen.signal("-CONT");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_engine_that_has_a_request_keeps_it_whoever_is_busy() {
    let Some(broker) = Broker::start() else { return };
    let mut heard = stranger(&broker, None).await;
    let engine = async_nats::connect(broker.url()).await.unwrap();
    let mut asked = engine.subscribe("hooks.request.BeforeTool").await.unwrap();
    engine.flush().await.unwrap();
    let bus = asker(&broker);
    let request = call("read_file").with_deadline(Duration::from_secs(20));
    let id = request.correlation_id().to_string();
    let answering = async {
        let reply = asked.next().await.unwrap().reply.unwrap();
        let working = format!(r#"{{"type":"hook-working","correlationId":"{id}"}}"#);
        for line in [working, r#"{"type":"hook-busy"}"#.to_owned(), response(&id)] {
            engine.publish(reply.clone(), line.into()).await.unwrap();
        }
    };
    let (answer, ()) = tokio::join!(bus.request(request), answering);
    assert!(answer.success(), "{answer:?}");
    assert_eq!(sent(&bus, &mut heard).await.len(), 1);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_engine_that_is_full_says_of_what_it_has_that_it_is_at_work() {
    let Some(broker) = Broker::start() else { return };
    let seen = Seen::default();
    let limits = BusLimits { in_flight: 1, ..BusLimits::default() };
    let hooks = vec![slow(&seen, Duration::from_secs(60))];
    let options = NatsOptions::new(broker.url());
    let mut engine = Engine::with_limits(&options, hooks, limits, |engine| engine.waiting(0));
    engine.hears("serving").await;
    let client = async_nats::connect(broker.url()).await.unwrap();
    let mut answers = client.subscribe("hooks.reply.a.*.*").await.unwrap();
    for reply in ["1", "1", "2"] {
        let request = format!(
            r#"{{"type":"hook-execution-request","correlationId":"{reply}","eventName":"BeforeTool","input":{{}}}}"#
        );
        let reply = format!("hooks.reply.a.b.{reply}");
        client.publish_with_reply("hooks.request.BeforeTool", reply, request.into()).await.unwrap();
    }
    let said = async {
        let mut said = Vec::new();
        loop {
            let message = answers.next().await.unwrap();
            let request = message.subject.rsplit('.').next().unwrap().to_owned();
            let is_last = request == "2";
            let line: serde_json::Value = serde_json::from_slice(&message.payload).unwrap();
            said.push((request, line["type"].as_str().unwrap().to_owned()));
            if is_last {
                return said;
            }
        }
    };
    let said = tokio::time::timeout(Duration::from_secs(20), said).await.unwrap();
    let expected = |request: &str, kind: &str| (request.to_owned(), kind.to_owned());
    assert_eq!(said.first(), Some(&expected("1", "hook-working")), "{said:?}");
    assert_eq!(said.last(), Some(&expected("2", "hook-busy")), "{said:?}");
    assert!(!said.contains(&expected("1", "hook-busy")), "{said:?}");
}

/// What an engine answers that lets the event of that request go on.
fn response(id: &str) -> String {
    let response = serde_json::json!({
        "type": "hook-execution-response", "correlationId": id, "eventName": "BeforeTool",
        "success": true, "protocol": 1, "warnings": [], "hooks": [],
        "output": {"success": true, "allOutputs": [], "errors": [], "totalDuration": 0},
        "processed": {"decision": "proceed", "shouldStop": false, "suppressOutput": false},
    });
    response.to_string()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_engine_that_fell_silent_is_told_once_another_has_answered() {
    let Some(broker) = Broker::start() else { return };
    let mut heard = stranger(&broker, None).await;
    let spy = async_nats::connect(broker.url()).await.unwrap();
    let mut cancels = spy.subscribe("hooks.cancel").await.unwrap();
    spy.flush().await.unwrap();
    let bus = asker(&broker);
    let asked = call("read_file").with_deadline(Duration::from_secs(20));
    let (id, asked) = (asked.correlation_id().to_string(), bus.request(asked));
    let answering = async {
        let reply = heard.next().await.unwrap().reply.unwrap();
        // Another has it on the second attempt.
        let again = heard.next().await.unwrap();
        assert_eq!(again.reply.as_ref(), Some(&reply));
        spy.publish(reply.clone(), response(&id).into()).await.unwrap();
        reply
    };
    let (answer, reply) = tokio::join!(asked, answering);
    assert!(answer.success(), "{answer:?}");
    let told = tokio::time::timeout(Duration::from_secs(20), cancels.next()).await;
    let told: serde_json::Value = serde_json::from_slice(&told.unwrap().unwrap().payload).unwrap();
    assert_eq!(told, serde_json::json!({"type": "hook-cancel", "reply": reply.as_str()}));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_request_with_little_time_is_asked_once() {
    let Some(broker) = Broker::start() else { return };
    let mut heard = stranger(&broker, None).await;
    let bus = asker(&broker);
    assert!(bus.engines(Duration::from_millis(1)).await.is_ok(), "it is connected");
    // An engine says after 20 ms, and no sooner, that it is at work.
    let id = loop {
        let asked = call("read_file").with_deadline(Duration::from_millis(40));
        let id = asked.correlation_id().to_string();
        let answer = bus.request(asked).await;
        let error = answer.error().unwrap();
        assert_eq!(error.code.as_str(), "deadline_exceeded", "{answer:?}");
        assert_eq!(answer.processed.decision, PolicyDecision::Block);
        // On a machine that has no time for it, it may not have been sent.
        if error.message.contains("no engine had answered it") {
            break id;
        }
    };
    let sent = sent(&bus, &mut heard).await;
    assert_eq!(sent.iter().filter(|sent| sent["correlationId"] == *id).count(), 1, "{sent:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_contradicts_itself_or_its_request_blocks() {
    let Some(broker) = Broker::start() else { return };
    let seen = Seen::default();
    let engine = Engine::join(&broker, vec![guard(&seen)]).await;
    let bus = asker(&broker);
    // What an engine says, as it stands in its response.
    let denied = bus.request(call("forbidden")).await;
    let denied = String::from_utf8(denied.to_json()).unwrap();
    engine.leave().await;
    let denied: serde_json::Value = serde_json::from_str(&denied).unwrap();
    let failure = serde_json::json!({"code": "unknown_event", "message": "what is that"});
    let changed = |path: &str, value: serde_json::Value| {
        let mut response = denied.clone();
        *response.pointer_mut(path).unwrap() = value;
        response
    };
    let failed = |leave_out: &[&str]| {
        let mut response = changed("/success", false.into());
        let fields = response.as_object_mut().unwrap();
        fields.insert("error".to_owned(), failure.clone());
        fields.remove("output");
        fields["processed"]["decision"] = "proceed".into();
        fields["hooks"] = serde_json::json!([]);
        leave_out.iter().for_each(|name| drop(fields.remove(*name)));
        response
    };
    let mut silent = changed("/processed/decision", "proceed".into());
    silent["hooks"] = serde_json::json!([]);
    for (response, expected) in [
        (changed("/processed/decision", "proceed".into()), "a hook of it wants `block`"),
        (silent, "a hook of it wants `block`"),
        (changed("/processed/shouldStop", true.into()), "`shouldStop` true"),
        (changed("/eventName", "AfterTool".into()), "about the event `AfterTool`"),
        (changed("/eventName", serde_json::Value::Null), "does not name its event"),
        (changed("/correlationId", "other".into()), "another request, `other`"),
        (changed("/success", false.into()), "`error`"),
        (failed(&["eventName"]), "what is that"),
        (failed(&["processed"]), "what is that"),
    ] {
        let Some(broker) = Broker::start() else { return };
        let id = hook_bus::CorrelationId::new("asked").unwrap();
        let mut response = response;
        if response["correlationId"] != "other" {
            response["correlationId"] = "asked".into();
        }
        let _heard = stranger(&broker, Some(response.to_string().leak())).await;
        let answer = asker(&broker).request(call("read_file").with_correlation_id(id)).await;
        let error = answer.error().unwrap_or_else(|| panic!("{expected}: {answer:?}"));
        assert!(error.message.contains(expected), "{expected}: {error}");
        assert_eq!(answer.processed.decision, PolicyDecision::Block, "{expected}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_lost_because_too_much_came_is_counted_and_its_askers_are_answered() {
    let Some(broker) = Broker::start() else { return };
    let seen = Seen::default();
    let limits = BusLimits { in_flight: 1, ..BusLimits::default() };
    let options = NatsOptions::new(broker.url());
    let hooks = vec![guard(&seen)];
    let change = |engine: hook_remote::nats::NatsEngine| engine.unread(1).waiting(0);
    let mut engine = Engine::with_limits(&options, hooks, limits, change);
    engine.hears("serving").await;
    let flood = async_nats::connect(broker.url()).await.unwrap();
    let bus = asker(&broker);
    let status = loop {
        for _ in 0..20_000 {
            flood
                .publish_with_reply("hooks.request.BeforeTool", "hooks.reply._.nobody", "{}".into())
                .await
                .unwrap();
        }
        flood.flush().await.unwrap();
        let status = bus.engines(Duration::from_millis(500)).await.unwrap();
        if status.first().is_some_and(|status| status.lost > 0) {
            break status;
        }
    };
    assert_eq!(status[0].state, "serving");
    // Amid more of it, whoever asks is answered, one way or the other.
    let flooding = tokio::spawn(async move {
        loop {
            flood
                .publish_with_reply("hooks.request.BeforeTool", "hooks.reply._.nobody", "{}".into())
                .await
                .unwrap();
        }
    });
    let deadline = Duration::from_secs(2);
    let asked = (0..20).map(|_| bus.request(call("forbidden").with_deadline(deadline)));
    for answer in join_all(asked).await {
        let code = answer.error().map(|error| error.code.as_str());
        assert!(matches!(code, None | Some("unanswered" | "deadline_exceeded")), "{answer:?}");
        assert_eq!(answer.processed.decision, PolicyDecision::Block);
    }
    flooding.abort();
    engine.leave().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_no_response_blocks_and_is_said() {
    for (says, expected) in [
        ("nonsense", "it is no JSON object"),
        (r#"{"type":"hook-hello"}"#, "field `type`"),
        (
            r#"{"type":"hook-execution-response","correlationId":"other","success":true,"output":{}}"#,
            "",
        ),
        (r#"{"type":"hook-execution-response","protocol":2}"#, "it speaks protocol 2"),
    ] {
        let Some(broker) = Broker::start() else { return };
        let _heard = stranger(&broker, Some(says)).await;
        let answer = asker(&broker).request(call("read_file")).await;
        let error = answer.error().unwrap();
        assert_eq!(error.code.as_str(), "unanswered");
        assert!(
            error.message.contains("no response") && error.message.contains(expected),
            "{error}"
        );
        assert_eq!(answer.processed.decision, PolicyDecision::Block);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_larger_than_a_message_may_be_is_refused_with_what_it_is() {
    let Some(broker) = Broker::start_with("max_payload: 64KB\n") else { return };
    let seen = Seen::default();
    let talks = HandlerHook::inline(HookEventName::BeforeTool, "talks", |_| {
        Ok(Some(hook_protocol::HookOutput::allow().with_additional_context(&"x".repeat(70_000))))
    })
    .matcher("talkative");
    let _engine = Engine::join(&broker, vec![guard(&seen), talks]).await;
    let bus = asker(&broker);
    let answer = bus.request(crate::support::call_with("read_file", 70_000)).await;
    let error = answer.error().unwrap();
    assert_eq!(error.code.as_str(), "invalid_request");
    assert!(error.message.contains("room for 65536"), "{error}");
    assert_eq!(error.details.get("maxPayload").unwrap().as_str(), "65536");
    assert_eq!(answer.processed.decision, PolicyDecision::Block);
    assert_eq!(seen.runs(), 0);

    // A response is not cut either, and what was not heard is no consent.
    let answer = bus.request(call("talkative")).await;
    let error = answer.error().unwrap();
    assert_eq!(error.code.as_str(), "unanswered");
    assert!(error.message.contains("has room for 65536"), "{error}");
    assert_eq!(answer.processed.decision, PolicyDecision::Block);
}

//! A broker that lets agents only ask and engines only answer: the one of docs/fleet.md.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use futures::StreamExt;
use hook_protocol::{HookEventName, PolicyDecision};
use hook_remote::nats::{NatsBus, NatsOptions};
use hook_run::HandlerHook;
use nkeys::KeyPair;

use crate::broker::Broker;
use crate::support::{Engine, Seen, call, guard};

/// The settings in the documentation, with these users.
fn settings(engine: &KeyPair, agents: [&KeyPair; 2], operator: &KeyPair) -> String {
    let settings = include_str!("../../../../docs/examples/fleet/fleet.conf");
    // The broker would look through all subjects of open replies at each request.
    assert!(!settings.contains("allow_responses"), "{settings}");
    let [one, other] = agents;
    let settings = settings.replace("UENGINE", &engine.public_key());
    let settings = settings.replace("UOPERATOR", &operator.public_key());
    let settings = settings.replace("UAGENT1", &one.public_key());
    settings.replace("UAGENT2", &other.public_key())
}

fn credentials(broker: &Broker, name: &str, pair: &KeyPair) -> PathBuf {
    let path = broker.path(name);
    fs::write(&path, pair.seed().unwrap()).unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).unwrap();
    path
}

/// A user who tries what it may not do.
struct Spy {
    client: async_nats::Client,
    denials: tokio::sync::mpsc::Receiver<String>,
}

impl Spy {
    async fn connect(broker: &Broker, user: &KeyPair) -> Self {
        let (denied, denials) = tokio::sync::mpsc::channel(16);
        let options = async_nats::ConnectOptions::new().nkey(user.seed().unwrap());
        let options = options.event_callback(move |event| {
            let _ = denied.try_send(event.to_string());
            async {}
        });
        Self { client: options.connect(broker.url()).await.unwrap(), denials }
    }

    async fn may_not_read(&mut self, subject: &str) {
        let _subscription = self.client.subscribe(subject.to_owned()).await.unwrap();
        self.is_denied("Permissions Violation for Subscription", subject).await;
    }

    async fn may_not_say(&mut self, subject: &str) {
        self.client.publish(subject.to_owned(), "{}".into()).await.unwrap();
        self.is_denied("Permissions Violation for Publish", subject).await;
    }

    async fn is_denied(&mut self, what: &str, subject: &str) {
        self.client.flush().await.unwrap();
        let denied = async {
            loop {
                let text = self.denials.recv().await.unwrap();
                if text.contains(what) {
                    return text;
                }
            }
        };
        let denied = tokio::time::timeout(Duration::from_secs(20), denied).await;
        let denied = denied.unwrap_or_else(|_| panic!("{subject} is not denied"));
        assert!(denied.contains(&format!("\"{subject}\"")), "{subject}: {denied}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn agents_only_ask_and_engines_only_answer() {
    let [engine_key, one_key, other_key, operator] = [(); 4].map(|()| KeyPair::new_user());
    let settings = settings(&engine_key, [&one_key, &other_key], &operator);
    let Some(broker) = Broker::start_with(&settings) else { return };
    let engine_file = credentials(&broker, "engine.nk", &engine_key);
    let one_file = credentials(&broker, "one.nk", &one_key);
    let operator_file = credentials(&broker, "operator.nk", &operator);
    let at =
        |file: &PathBuf| NatsOptions::new(broker.url()).subject("acme.hooks").credentials(file);
    let seen = Seen::default();
    let engine = |engine: hook_remote::nats::NatsEngine| engine.events(true);
    let mut engine = Engine::begin(&at(&engine_file), vec![guard(&seen)], engine);
    engine.hears("serving").await;

    // What they are for.
    let bus = NatsBus::with(at(&one_file)).unwrap();
    let answer = bus.request(call("forbidden")).await;
    assert_eq!(answer.processed.reason.as_deref(), Some("not that"), "{answer:?}");
    let refused = bus.engines(Duration::from_millis(500)).await.unwrap_err().to_string();
    assert!(refused.contains("does not let this asker ask"), "{refused}");
    let looking = NatsBus::with(at(&operator_file)).unwrap();
    assert_eq!(looking.engines(Duration::from_millis(500)).await.unwrap().len(), 1);
    let answer = looking.request(call("read_file")).await;
    assert!(answer.error().unwrap().message.contains("does not let this asker ask"));

    // An engine asks nobody.
    let asker = NatsBus::with(at(&engine_file)).unwrap();
    let answer = asker.request(call("read_file").with_deadline(Duration::from_secs(20))).await;
    let error = answer.error().unwrap();
    assert_eq!(error.code.as_str(), "unanswered");
    assert!(error.message.contains("does not let this asker ask"), "{error}");
    assert_eq!(answer.processed.decision, PolicyDecision::Block);

    // An agent asks in no other tenant's name, serves nobody, and reads nobody's replies.
    let elsewhere = NatsOptions::new(broker.url()).subject("other.hooks").credentials(&one_file);
    let answer = NatsBus::with(elsewhere).unwrap().request(call("read_file")).await;
    // It may neither ask there nor hear; whichever the broker says first is the answer.
    assert!(answer.error().unwrap().message.contains("does not let this asker"));
    assert_eq!(answer.processed.decision, PolicyDecision::Block);
    let mut spy = Spy::connect(&broker, &other_key).await;
    let public = one_key.public_key();
    for subject in [
        format!("acme.hooks.reply.{public}.>"),
        "acme.hooks.reply.>".to_owned(),
        "acme.hooks.reply.*.*.*".to_owned(),
        "_INBOX.>".to_owned(),
        ">".to_owned(),
        "acme.hooks.request.*".to_owned(),
        "acme.hooks.cancel".to_owned(),
    ] {
        spy.may_not_read(&subject).await;
    }
    // It forges no reply, to itself or to another, and says nothing in an engine's name.
    for subject in [
        format!("acme.hooks.reply.{public}.asker.request"),
        format!("acme.hooks.reply.{}.asker.request", other_key.public_key()),
        "acme.hooks.events.BeforeTool".to_owned(),
    ] {
        spy.may_not_say(&subject).await;
    }
    // An engine says what it has to say where replies are, and nowhere else: whoever asks may name any
    // subject for its reply.
    let mut spy = Spy::connect(&broker, &engine_key).await;
    for subject in ["acme.hooks.request.BeforeTool", "acme.hooks.cancel", "_INBOX.a", "elsewhere"] {
        spy.may_not_say(subject).await;
    }
    spy.may_not_read(&format!("acme.hooks.reply.{public}.>")).await;
    spy.may_not_read("acme.hooks.request.*").await;
    engine.leave().await;
}

/// A broker slows down with what it remembers of each request. What this prints is in docs/fleet.md.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "it measures; see `cargo test -p hook-remote --features nats --release -- --ignored last_thousands`"]
async fn the_last_thousands_of_many_requests_are_as_fast_as_the_first() {
    const ROUND: usize = 10_000;
    let [engine_key, one_key, other_key, operator_key] = [(); 4].map(|()| KeyPair::new_user());
    let settings = settings(&engine_key, [&one_key, &other_key], &operator_key);
    let Some(broker) = Broker::start_with(&settings) else { return };
    let at = |name: &str, pair: &KeyPair| {
        let file = credentials(&broker, name, pair);
        NatsOptions::new(broker.url()).subject("acme.hooks").credentials(file)
    };
    let options = at("engine.nk", &engine_key);
    let mut engine = Engine::begin(&options, vec![guard(&Seen::default())], |engine| engine);
    engine.hears("serving").await;
    let bus = NatsBus::with(at("one.nk", &one_key)).unwrap();
    let mut rates = Vec::new();
    for _ in 0..6 {
        let begun = std::time::Instant::now();
        let asked = (0..ROUND).map(|_| bus.request(call("read_file")));
        let mut answers = futures::stream::iter(asked).buffer_unordered(64);
        while let Some(answer) = answers.next().await {
            assert!(answer.success(), "{answer:?}");
        }
        rates.push(ROUND as f64 / begun.elapsed().as_secs_f64());
    }
    eprintln!("requests a second, of {ROUND} each: {rates:.0?}");
    assert!(rates[5] > rates[0] / 3.0, "{rates:.0?}");
    engine.leave().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_stranger_is_not_let_in() {
    let [engine_key, one_key, other_key, operator, stranger] =
        [(); 5].map(|()| KeyPair::new_user());
    let settings = settings(&engine_key, [&one_key, &other_key], &operator);
    let Some(broker) = Broker::start_with(&settings) else { return };
    let file = credentials(&broker, "stranger.nk", &stranger);
    let options = NatsOptions::new(broker.url()).credentials(&file);
    let answer = NatsBus::with(options.clone()).unwrap().request(call("read_file")).await;
    let error = answer.error().unwrap();
    assert_eq!(error.code.as_str(), "unanswered");
    assert!(error.message.contains("refuses the connection"), "{error}");
    assert_eq!(answer.processed.decision, PolicyDecision::Block);
    let engine = Engine::begin(&options, Vec::new(), |engine| engine);
    let refused = engine.served.await.unwrap().unwrap_err().to_string();
    assert!(refused.contains("refuses the connection"), "{refused}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn fault_67_an_engine_answers_below_the_subject_of_replies_and_nowhere_else() {
    let Some(broker) = Broker::start() else { return };
    let seen = Seen::default();
    let engine = Engine::join(&broker, vec![guard(&seen)]).await;
    let client = async_nats::connect(broker.url()).await.unwrap();
    let mut all = client.subscribe(">").await.unwrap();
    let request = r#"{"type":"hook-execution-request","correlationId":"c","eventName":"BeforeTool","input":{"tool_name":"forbidden","tool_input":{}}}"#;
    let elsewhere = [
        "elsewhere",
        "_INBOX.a.b",
        "hooks.engines",
        "hooks.cancel",
        "hooks.events.BeforeTool",
        "hooks.request.BeforeTool",
        "hooks.reply",
        "hooks.reply.a",
        "other.reply.a.b",
        "$JS.API.STREAM.DELETE.jobs",
    ];
    for reply in elsewhere {
        for (subject, text) in
            [("hooks.request.BeforeTool", request), ("hooks.engines", ""), ("$SRV.PING", "")]
        {
            client.publish_with_reply(subject, reply, text.into()).await.unwrap();
        }
    }
    client
        .publish_with_reply("hooks.request.BeforeTool", "hooks.reply.a.b", request.into())
        .await
        .unwrap();
    client.publish_with_reply("$SRV.PING", "hooks.reply.a.c", "".into()).await.unwrap();
    let mut answered = Vec::new();
    loop {
        let message = tokio::time::timeout(Duration::from_secs(30), all.next()).await;
        let message = message.expect("an answer").unwrap();
        let (subject, text) = (message.subject.as_str(), String::from_utf8_lossy(&message.payload));
        if text.contains(r#""state":"ended""#) {
            break;
        }
        // What is asked here, and what the engine says unasked of how it is.
        if message.reply.is_some() || subject == "hooks.engines" && text.contains("hook-engine") {
            continue;
        }
        assert!(subject.starts_with("hooks.reply.a."), "{subject}: {text}");
        answered.push(subject.to_owned());
        if answered.len() == 2 {
            // It finishes first whatever else it has taken.
            engine.stop.cancel();
        }
    }
    assert_eq!(answered.len(), 2, "{answered:?}");
    assert_eq!(seen.runs(), 1, "only one of them was served");
}

/// A broker that knows this user alone, who may subscribe to these subjects.
fn settings_of(user: &KeyPair, subjects: &str) -> String {
    let public = user.public_key();
    format!(
        "accounts {{ A {{ users = [ {{ nkey: {public}, permissions: {{ publish: \">\", subscribe: {{ \
         allow: [{subjects}] }} }} }} ] }} }}"
    )
}

const ALL: &str = r#"">""#;
const NO_REQUESTS: &str = r#""hooks.cancel", "hooks.engines", "$SRV.>", "hooks.reply.>""#;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_engine_that_may_take_no_requests_says_so_and_ends() {
    let key = KeyPair::new_user();
    let Some(broker) = Broker::start_with(&settings_of(&key, NO_REQUESTS)) else { return };
    let options = NatsOptions::new(broker.url()).credentials(credentials(&broker, "e.nk", &key));
    let mut engine = Engine::begin(&options, Vec::new(), |engine| engine);
    let refused = (&mut engine.served).await.unwrap().unwrap_err().to_string();
    assert!(refused.contains("does not let this engine take requests"), "{refused}");
    assert!(refused.contains("Permissions Violation for Subscription"), "{refused}");
    while let Ok(said) = engine.news.try_recv() {
        assert!(!said.contains("serving"), "{said}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_asker_that_may_not_read_its_replies_is_told_so_at_once() {
    let (engine_key, key) = (KeyPair::new_user(), KeyPair::new_user());
    let [engine_is, asker_is] = [&engine_key, &key].map(KeyPair::public_key);
    let settings = |replies: &str| {
        format!(
            r#"accounts {{ A {{ users = [ {{ nkey: {engine_is} }}, {{ nkey: {asker_is}, permissions: {{
            publish: ">", subscribe: {{ allow: ["{replies}"] }} }} }} ] }} }}"#
        )
    };
    let Some(broker) = Broker::start_with(&settings("_INBOX.>")) else { return };
    let at = |name: &str, key| {
        NatsOptions::new(broker.url()).credentials(credentials(&broker, name, key))
    };
    let options = at("e.nk", &engine_key);
    let mut engine = Engine::begin(&options, vec![guard(&Seen::default())], |engine| engine);
    engine.hears("serving").await;
    let bus = NatsBus::with(at("a.nk", &key)).unwrap();
    // At once, without asking twice: each would take 10 seconds.
    let begun = std::time::Instant::now();
    for _ in 0..2 {
        let answer = bus.request(call("forbidden")).await;
        let error = answer.error().unwrap();
        assert_eq!(error.code.as_str(), "unanswered");
        assert!(error.message.contains("does not let this asker hear"), "{error}");
        assert!(error.message.contains("Permissions Violation for Subscription"), "{error}");
        assert_eq!(answer.processed.decision, PolicyDecision::Block);
    }
    let error = bus.engines(Duration::from_secs(20)).await.unwrap_err();
    assert!(error.message.contains("does not let this asker hear"), "{error}");
    assert!(begun.elapsed() < Duration::from_secs(9), "{:?}", begun.elapsed());

    // It tries again after a time.
    broker.reload(&settings(&format!("hooks.reply.{asker_is}.>")));
    let heard = async {
        while bus.request(call("forbidden")).await.processed.reason.as_deref() != Some("not that") {
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    };
    tokio::time::timeout(Duration::from_secs(30), heard).await.unwrap();
    engine.leave().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_engine_that_may_take_no_requests_any_more_says_so_and_tries_on() {
    let key = KeyPair::new_user();
    let Some(broker) = Broker::start_with(&settings_of(&key, ALL)) else { return };
    let options = NatsOptions::new(broker.url()).credentials(credentials(&broker, "e.nk", &key));
    let seen = Seen::default();
    let mut engine = Engine::begin(&options, vec![guard(&seen)], |engine| engine);
    engine.hears("serving").await;
    broker.reload(&settings_of(&key, NO_REQUESTS));
    let said = engine.hears("does not let this engine take requests").await;
    assert!(said.contains("trying again in"), "{said}");
    broker.reload(&settings_of(&key, ALL));
    engine.hears("serving").await;
    let bus = NatsBus::with(options).unwrap();
    assert_eq!(bus.request(call("forbidden")).await.processed.reason.as_deref(), Some("not that"));
    engine.leave().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_engine_that_nobody_may_hear_of_serves_all_the_same_and_says_so() {
    let key = KeyPair::new_user();
    let only_requests = r#""hooks.request.*", "hooks.reply.other""#;
    let Some(broker) = Broker::start_with(&settings_of(&key, only_requests)) else { return };
    let options = NatsOptions::new(broker.url()).credentials(credentials(&broker, "e.nk", &key));
    let mut engine = Engine::begin(&options, Vec::new(), |engine| engine);
    engine.hears("does not let this engine hear all").await;
    engine.hears("serving").await;
    engine.leave().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_engine_that_ends_while_it_joins_again_finishes_what_it_has_taken() {
    let key = KeyPair::new_user();
    let Some(broker) = Broker::start_with(&settings_of(&key, ALL)) else { return };
    let options = NatsOptions::new(broker.url()).credentials(credentials(&broker, "e.nk", &key));
    let (begun, mut begins) = tokio::sync::mpsc::channel(1);
    let (go_on, may_go_on) = tokio::sync::watch::channel(false);
    let is_finished = Arc::new(AtomicBool::new(false));
    let hook = HandlerHook::asynchronous(HookEventName::BeforeTool, "held", {
        let is_finished = Arc::clone(&is_finished);
        move |_| {
            let (begun, mut may_go_on) = (begun.clone(), may_go_on.clone());
            let is_finished = Arc::clone(&is_finished);
            async move {
                let _ = begun.try_send(());
                let _ = may_go_on.wait_for(|may| *may).await;
                is_finished.store(true, Ordering::Relaxed);
                Ok(None)
            }
        }
    });
    let mut engine = Engine::begin(&options, vec![hook], |engine| engine);
    engine.hears("serving").await;
    let bus = NatsBus::with(options).unwrap();
    let _asked = bus.publish(call("read_file")).await.unwrap();
    begins.recv().await.unwrap();
    broker.reload(&settings_of(&key, NO_REQUESTS));
    engine.hears("trying again in").await;
    // It tries to join again within a second, and hears nothing of that for five.
    broker.signal("-STOP");
    tokio::time::sleep(Duration::from_millis(1_500)).await;
    engine.stop.cancel();
    let ended = tokio::time::timeout(Duration::from_secs(1), &mut engine.served).await;
    assert!(ended.is_err(), "it has ended with a request: {ended:?}");
    broker.signal("-CONT");
    go_on.send_replace(true);
    engine.served.await.unwrap().unwrap();
    assert!(is_finished.load(Ordering::Relaxed));
}

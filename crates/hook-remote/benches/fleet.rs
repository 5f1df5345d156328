//! What a fleet costs, beside the limit of each piece of work measured by turns with it
//! (docs/dev/performance.md): `cargo bench -p hook-remote --features nats --bench fleet`. It needs
//! `nats-server`.

#![allow(
    missing_docs,
    dead_code,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a benchmark that cannot go on should end, its output is the point, and it uses a part of what \
              it shares"
)]

#[path = "../tests/nats/broker.rs"]
mod broker;
#[path = "../../hook-cli/benches/limits/turns.rs"]
mod turns;

use std::collections::HashMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use broker::Broker;
use futures::StreamExt;
use futures::future::join_all;
use hook_bus::{HookExecutionRequest, HookSystem};
use hook_json::RawObject;
use hook_protocol::{HookEventName, HookOutput};
use hook_remote::nats::{NatsBus, NatsEngine, NatsOptions};
use hook_run::HandlerHook;
use hook_settings::SettingsSource;
use tokio::runtime::{Builder, Runtime};
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;
use turns::{Figures, Request, Side};

/// How many requests are at the engines at once where their throughput is measured.
const AT_ONCE: usize = 64;

fn main() {
    let request = Request::read();
    let Some(broker) = Broker::start() else { return };
    let runtime = Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    println!("| # | work | limit | ours | ratio (median) | 10 % to 90 % |");
    println!("| --- | --- | --- | --- | --- | --- |");
    if request.wants("P16") {
        one_request(&request, &broker, &runtime);
    }
    if request.wants("P17") {
        two_engines(&request, &broker, &runtime);
    }
}

fn row(name: &str, work: &str, figures: &Figures) {
    let Figures { limit, ours, low, high } = figures;
    println!(
        "| {name} | {work} | {:.1} µs | {:.1} µs | {:.2} | {low:.2} to {high:.2} |",
        limit / 1e3,
        ours / 1e3,
        ours / limit
    );
}

/// An engine that serves until the token is cancelled.
fn join(
    runtime: &Runtime,
    options: &NatsOptions,
    change: impl FnOnce(hook_bus::HookSystemBuilder) -> hook_bus::HookSystemBuilder,
) -> CancellationToken {
    let folder = std::env::temp_dir();
    let stop = CancellationToken::new();
    let _inside = runtime.enter();
    let system = Arc::new(change(HookSystem::builder(folder)).build().unwrap());
    let engine = NatsEngine::new(options).unwrap();
    let (told, mut news) = mpsc::channel(64);
    let stopped = stop.clone();
    runtime.spawn(async move {
        system.initialize().await.unwrap();
        engine.serve(&system, &stopped, &told).await.unwrap();
    });
    runtime.block_on(async { while !news.recv().await.unwrap().contains("serving") {} });
    stop
}

fn call() -> HookExecutionRequest {
    let input = r#"{"tool_name":"read_file","tool_input":{"path":"notes.txt"}}"#;
    HookExecutionRequest::unchecked("BeforeTool", RawObject::parse(input).unwrap())
}

fn one_request(request: &Request, broker: &Broker, runtime: &Runtime) {
    let allow =
        HandlerHook::inline(HookEventName::BeforeTool, "allow", |_| Ok(Some(HookOutput::allow())));
    let options = NatsOptions::new(broker.url());
    let stop = join(runtime, &options, |builder| builder.handler(allow));
    // What goes over the broker, there and back.
    let (bus, asked, answer) = runtime.block_on(async {
        let spy = async_nats::connect(broker.url()).await.unwrap();
        let mut asked = spy.subscribe("hooks.request.*").await.unwrap();
        let mut answered = spy.subscribe("hooks.reply.>").await.unwrap();
        spy.flush().await.unwrap();
        let bus = NatsBus::with(options.clone()).unwrap();
        let response = bus.request(call()).await;
        assert!(response.success(), "{response:?}");
        (bus, asked.next().await.unwrap().payload, answered.next().await.unwrap().payload)
    });
    println!("<!-- {} bytes there, {} back -->", asked.len(), answer.len());
    // The same bytes by two clients of their own, with a subject as long.
    let asker = runtime.block_on(async {
        let server = async_nats::connect(broker.url()).await.unwrap();
        let mut requests =
            server.queue_subscribe("bares.request.*", "engines".to_owned()).await.unwrap();
        server.flush().await.unwrap();
        tokio::spawn(async move {
            while let Some(message) = requests.next().await {
                server.publish(message.reply.unwrap(), answer.clone()).await.unwrap();
            }
        });
        async_nats::connect(broker.url()).await.unwrap()
    });
    let mut bare = || {
        let asked = asker.request("bares.request.BeforeTool", asked.clone());
        let _ = runtime.block_on(async { asked.await.unwrap() });
    };
    let mut ours = || {
        let response = runtime.block_on(bus.request(call()));
        assert!(response.success());
    };
    let length = Duration::from_secs(10);
    let figures = request.measure(length, Side::of(&mut bare), Side::of(&mut ours));
    row("P16", "an inline handler through NATS and back", &figures);
    stop.cancel();
}

fn two_engines(request: &Request, broker: &Broker, runtime: &Runtime) {
    let settings = broker.path("settings.json");
    let hook = r#"{"hooks":{"BeforeTool":[{"hooks":[{"type":"command","command":"cat >/dev/null; echo '{}'"}]}]}}"#;
    std::fs::write(&settings, hook).unwrap();
    let seen: Arc<Mutex<HashMap<String, usize>>> = Arc::default();
    let mut stops = Vec::new();
    let buses = [("one", 1), ("two", 2)].map(|(subject, engines)| {
        let options = NatsOptions::new(broker.url()).subject(subject);
        for _ in 0..engines {
            let source = SettingsSource::explicit(&settings);
            stops.push(join(runtime, &options, |builder| builder.settings(source)));
        }
        let _inside = runtime.enter();
        NatsBus::with(options).unwrap()
    });
    let ask = |bus: &NatsBus| {
        let answers = runtime.block_on(join_all((0..AT_ONCE).map(|_| bus.request(call()))));
        let mut seen = seen.lock().unwrap();
        for answer in answers {
            assert!(answer.success(), "{answer:?}");
            *seen.entry(answer.engine.unwrap().id.clone()).or_default() += 1;
        }
    };
    let [one, two] = &buses;
    let (mut by_one, mut by_two) = (|| ask(one), || ask(two));
    let length = Duration::from_secs(20);
    let limit = Side::batch(AT_ONCE, &mut by_one);
    let figures = request.measure(length, limit, Side::batch(AT_ONCE, &mut by_two));
    row("P17", "command hooks by two engines, each request, beside one engine", &figures);
    let mut counts: Vec<usize> = seen.lock().unwrap().values().copied().collect();
    counts.sort_unstable();
    if let [one, other, _] = counts[..] {
        let all = (one + other) as f64;
        println!(
            "\nthroughput {:.2} × that of one engine; spread {:.0}:{:.0}",
            figures.limit / figures.ours,
            other as f64 / all * 100.0,
            one as f64 / all * 100.0
        );
    }
    stops.iter().for_each(CancellationToken::cancel);
}

//! Engines and requests of tests.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use hook_bus::{BusLimits, HookExecutionRequest, HookSystem, MessageBus};
use hook_json::{RawJson, RawObject};
use hook_protocol::{HookEventName, HookOutput};
use hook_remote::nats::{NatsBus, NatsEngine, NatsOptions};
use hook_run::HandlerHook;
use tempfile::TempDir;
use tokio::sync::mpsc;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

use crate::broker::Broker;

/// How often each `idempotencyKey` was seen by hooks.
#[derive(Debug, Clone, Default)]
pub(crate) struct Seen(Arc<Mutex<HashMap<String, usize>>>);

impl Seen {
    pub(crate) fn note(&self, key: Option<&RawJson>) {
        let key = key.and_then(RawJson::to_text).unwrap_or_default();
        *self.0.lock().unwrap().entry(key).or_default() += 1;
    }

    pub(crate) fn keys(&self) -> usize {
        self.0.lock().unwrap().len()
    }

    pub(crate) fn runs(&self) -> usize {
        self.0.lock().unwrap().values().sum()
    }
}

/// A guard that denies `forbidden`, and notes what it has seen.
pub(crate) fn guard(seen: &Seen) -> HandlerHook {
    let seen = seen.clone();
    HandlerHook::inline(HookEventName::BeforeTool, "guard", move |input| {
        seen.note(input.extra.get("idempotencyKey"));
        let is_forbidden = input.payload.match_subject() == Some("forbidden");
        Ok(is_forbidden.then(|| HookOutput::deny("not that")))
    })
}

/// A hook that takes so long.
pub(crate) fn slow(seen: &Seen, takes: Duration) -> HandlerHook {
    let seen = seen.clone();
    HandlerHook::asynchronous(HookEventName::BeforeTool, "slow", move |input| {
        seen.note(input.extra.get("idempotencyKey"));
        async move {
            tokio::time::sleep(takes).await;
            Ok(None)
        }
    })
}

/// An engine in this process.
pub(crate) struct Engine {
    pub(crate) system: Arc<HookSystem>,
    pub(crate) stop: CancellationToken,
    pub(crate) news: mpsc::Receiver<String>,
    pub(crate) served: JoinHandle<Result<(), hook_remote::nats::NatsError>>,
    _folder: TempDir,
}

impl Engine {
    /// One that is in the group.
    pub(crate) async fn join(broker: &Broker, hooks: Vec<HandlerHook>) -> Self {
        let mut engine = Self::begin(&NatsOptions::new(broker.url()), hooks, |engine| engine);
        engine.hears("serving").await;
        engine
    }

    pub(crate) fn begin(
        options: &NatsOptions,
        hooks: Vec<HandlerHook>,
        change: impl FnOnce(NatsEngine) -> NatsEngine,
    ) -> Self {
        Self::with_limits(options, hooks, BusLimits::default(), change)
    }

    pub(crate) fn with_limits(
        options: &NatsOptions,
        hooks: Vec<HandlerHook>,
        limits: BusLimits,
        change: impl FnOnce(NatsEngine) -> NatsEngine,
    ) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let builder = HookSystem::builder(folder.path()).bus(MessageBus::with_limits(limits));
        let is_empty = hooks.is_empty();
        let builder = hooks.into_iter().fold(builder, hook_bus::HookSystemBuilder::handler);
        let system = Arc::new(builder.hash_settings().build().unwrap());
        let engine = change(NatsEngine::new(options).unwrap().may_be_empty(is_empty));
        let (stop, (told, news)) = (CancellationToken::new(), mpsc::channel(64));
        let served = tokio::spawn({
            let (system, stop) = (Arc::clone(&system), stop.clone());
            async move { engine.serve(&system, &stop, &told).await }
        });
        Self { system, stop, news, served, _folder: folder }
    }

    /// Waits until it says something with that word in it.
    pub(crate) async fn hears(&mut self, word: &str) -> String {
        let mut said = Vec::new();
        let heard = async {
            loop {
                let Some(text) = self.news.recv().await else { panic!("it ended: {said:?}") };
                if text.contains(word) {
                    return text;
                }
                said.push(text);
            }
        };
        tokio::time::timeout(Duration::from_secs(30), heard).await.expect("nothing is said")
    }

    /// Leaves the group, and waits for the end.
    pub(crate) async fn leave(self) {
        self.stop.cancel();
        self.served.await.unwrap().unwrap();
    }
}

/// A bus at that broker.
pub(crate) fn asker(broker: &Broker) -> NatsBus {
    NatsBus::connect(broker.url()).unwrap()
}

/// A request to call that tool, with a text of so many bytes.
pub(crate) fn call_with(tool: &str, bytes: usize) -> HookExecutionRequest {
    let input = format!(
        r#"{{"tool_name":"{tool}","tool_input":{{"text":"{}"}},"idempotencyKey":"forged"}}"#,
        "x".repeat(bytes)
    );
    HookExecutionRequest::unchecked("BeforeTool", RawObject::parse(input).unwrap())
}

pub(crate) fn call(tool: &str) -> HookExecutionRequest {
    call_with(tool, 1)
}

//! An agent with one blocking handler, in a process of its own so that its threads can be counted
//! (reliability.md, fault 42). Its argument says what happens; it prints what it saw as JSON.

use std::collections::HashSet;
use std::error::Error;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex};
use std::time::Duration;

use futures::future::join_all;
use hook_bus::{HookExecutionRequest, HookExecutionResponse, HookSystem};
use hook_protocol::{BeforeAgentInput, HookEventName, HookOutput};
use hook_run::HandlerHook;
use hook_settings::FailBehavior;
#[cfg(unix)]
use hook_settings::SettingsSource;
#[cfg(unix)]
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use serde_json::{Value, json};

/// Where handlers wait until they may go on.
#[derive(Default)]
struct Gate {
    open: Mutex<bool>,
    opened: Condvar,
    waiting: AtomicUsize,
}

impl Gate {
    fn pass(&self) -> Result<(), Box<dyn Error + Send + Sync>> {
        self.waiting.fetch_add(1, Ordering::SeqCst);
        let open = self.open.lock().map_err(|_| "poisoned")?;
        let passed = self.opened.wait_while(open, |open| !*open).map_err(|_| "poisoned")?;
        drop(passed);
        self.waiting.fetch_sub(1, Ordering::SeqCst);
        Ok(())
    }

    fn open(&self) {
        if let Ok(mut open) = self.open.lock() {
            *open = true;
        }
        self.opened.notify_all();
    }
}

fn system(
    timeout: Duration,
    handler: impl Fn() -> Result<(), Box<dyn Error + Send + Sync>> + Send + Sync + 'static,
) -> Result<HookSystem, Box<dyn Error>> {
    let guard = HandlerHook::blocking(HookEventName::BeforeAgent, "guard", move |_| {
        handler()?;
        Ok(Some(HookOutput::allow()))
    });
    let guard = guard.timeout(timeout).fail_behavior(FailBehavior::Block);
    Ok(HookSystem::builder(".").handler(guard).build()?)
}

async fn fire(system: &HookSystem) -> HookExecutionResponse {
    let input = BeforeAgentInput::new(String::new());
    system.bus().request(HookExecutionRequest::typed(input)).await
}

/// How many of the responses have which failure, and what they came to.
fn summary(responses: &[HookExecutionResponse]) -> Value {
    let count = |holds: &dyn Fn(&HookExecutionResponse) -> bool| {
        responses.iter().filter(|response| holds(response)).count()
    };
    let failed = |with: &str| {
        count(&|response| {
            let failure = response.hooks.first().and_then(|hook| hook.failure.as_ref());
            failure.is_some_and(|failure| failure.to_string().contains(with))
        })
    };
    json!({
        "answered": count(&|response| response.hooks.first().is_some_and(|hook| hook.success)),
        "queued": count(&|response| {
            response.hooks.first().is_some_and(|hook| hook.queued > Duration::from_millis(1))
        }),
        "timedOut": failed("timed out"),
        "exhausted": failed("threads of blocking handlers"),
        "notStarted": failed("start a thread"),
        "blocked": count(&|response| response.processed.is_blocking_decision()),
    })
}

fn threads() -> usize {
    std::fs::read_dir("/proc/self/task").into_iter().flatten().count()
}

/// Ten thousand at once.
async fn flood() -> Result<Value, Box<dyn Error>> {
    let gate = Arc::new(Gate::default());
    let (of_handler, most) = (Arc::clone(&gate), Arc::new(AtomicUsize::new(0)));
    let seen = Arc::clone(&most);
    let system = Arc::new(system(Duration::from_secs(600), move || {
        of_handler.pass()?;
        seen.fetch_max(threads(), Ordering::SeqCst);
        Ok(())
    })?);
    system.initialize_blocking().await?;
    let before = threads();
    let fired: Vec<_> = (0..10_000)
        .map(|_| {
            let system = Arc::clone(&system);
            tokio::spawn(async move { fire(&system).await })
        })
        .collect();
    while system.status().in_flight < 10_000 || gate.waiting.load(Ordering::SeqCst) < 64 {
        tokio::task::yield_now().await;
    }
    let most_waiting = gate.waiting.load(Ordering::SeqCst);
    gate.open();
    let mut responses = Vec::new();
    for fired in fired {
        responses.push(fired.await?);
    }
    let grown = most.load(Ordering::SeqCst).saturating_sub(before);
    Ok(json!({"running": most_waiting, "moreThreads": grown, "responses": summary(&responses)}))
}

/// None returns in time; then all do.
async fn stuck() -> Result<Value, Box<dyn Error>> {
    let gate = Arc::new(Gate::default());
    let of_handler = Arc::clone(&gate);
    let system = system(Duration::from_secs(1), move || of_handler.pass())?;
    system.initialize_blocking().await?;
    let before = threads();
    let responses = join_all((0..600).map(|_| fire(&system))).await;
    let abandoned = system.status().abandoned_threads;
    let at_once = fire(&system).await;
    let grown = threads().saturating_sub(before);
    gate.open();
    while system.status().abandoned_threads > 0 {
        tokio::task::yield_now().await;
    }
    let after = fire(&system).await;
    Ok(json!({
        "responses": summary(&responses), "abandoned": abandoned, "moreThreads": grown,
        "atOnce": summary(&[at_once]), "afterwards": summary(&[after]),
    }))
}

/// No thread can be had; then they can. Beside the program there are settings with a guard.
#[cfg(unix)]
async fn starved() -> Result<Value, Box<dyn Error>> {
    let system = system(Duration::from_secs(60), || Ok(()))?;
    system.initialize_blocking().await?;
    let had = getrlimit(Resource::Nproc);
    setrlimit(Resource::Nproc, Rlimit { current: Some(1), maximum: had.maximum })?;
    let mut responses = Vec::new();
    for _ in 0..3 {
        responses.push(fire(&system).await);
    }
    // Settings are read on a thread, at the first use and by a reload.
    let reloaded = system.reload().await.err().map(|error| error.to_string());
    let handler = self::system(Duration::from_secs(60), || Ok(()))?;
    let settings = std::env::current_exe()?.with_file_name("settings.json");
    let source = SettingsSource::explicit(&settings);
    let read_later = HookSystem::builder(".").settings(source).build()?;
    let unread = [fire(&handler).await, fire(&read_later).await, fire(&read_later).await];
    let current = Some(had.maximum.map_or(4_096, |maximum| maximum.min(4_096)));
    setrlimit(Resource::Nproc, Rlimit { current, maximum: had.maximum })?;
    let after = fire(&system).await;
    let read_later = fire(&read_later).await;
    Ok(json!({"responses": summary(&responses), "reloaded": reloaded,
        "unread": summary(&unread), "readLater": summary(&[read_later]),
        "afterwards": summary(&[after])}))
}

/// One after the other; then the system goes.
async fn sequence() -> Result<Value, Box<dyn Error>> {
    let ids = Arc::new(Mutex::new(HashSet::new()));
    let seen = Arc::clone(&ids);
    let system = system(Duration::from_secs(60), move || {
        seen.lock().map_err(|_| "poisoned")?.insert(std::thread::current().id());
        Ok(())
    })?;
    system.initialize_blocking().await?;
    let before = threads();
    let mut responses = Vec::new();
    for _ in 0..1_000 {
        responses.push(fire(&system).await);
    }
    drop(system);
    while threads() > before {
        tokio::task::yield_now().await;
    }
    let distinct = ids.lock().map_err(|_| "poisoned")?.len();
    Ok(json!({"threads": distinct, "responses": summary(&responses)}))
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let report = match std::env::args().nth(1).as_deref() {
        Some("flood") => flood().await?,
        Some("stuck") => stuck().await?,
        #[cfg(unix)]
        Some("starved") => starved().await?,
        Some("sequence") => sequence().await?,
        other => return Err(format!("not a way to misbehave: {other:?}").into()),
    };
    std::io::Write::write_all(&mut std::io::stdout(), report.to_string().as_bytes())?;
    Ok(())
}

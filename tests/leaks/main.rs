//! After many events of every kind, nothing is left: no zombie, no descriptor, thread or task more
//! than before, and no more memory. In a process of its own, since these belong to a process.
//!
//! `LEAK_EVENTS=10000 cargo test --package hook-tests --test leaks` is the long form.

#![cfg(unix)]
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "in a test, what cannot go on should end it"
)]

use std::panic::resume_unwind;
use std::time::{Duration, Instant};

use hook_bus::{HookExecutionRequest, HookSystem};
use hook_protocol::{HookEventName, HookOutput};
use hook_run::HandlerHook;
use hook_tests::{Holdings, Project, fields};
use serde_json::json;

const WARM_UP: usize = 200;
const MEMORY_GROWTH_KIBIBYTES: u64 = 8 * 1024;

/// One hook for each way a hook can go, told apart by the tool that the event is for.
fn system(project: &Project) -> HookSystem {
    let event = HookEventName::BeforeTool;
    let answer = || Ok(Some(HookOutput::allow()));
    project
        .builder()
        .handler(HandlerHook::inline(event, "inline", move |_| answer()).matcher("^inline$"))
        .handler(
            HandlerHook::asynchronous(event, "async", move |_| async move { answer() })
                .matcher("^async$"),
        )
        .handler(HandlerHook::blocking(event, "blocking", move |_| answer()).matcher("^blocking$"))
        .handler(
            HandlerHook::blocking(event, "panics", |_| resume_unwind(Box::new(())))
                .matcher("^panics$"),
        )
        .build()
        .unwrap()
}

fn project() -> Project {
    let hook = |tool: &str, command: &str, timeout: u64| {
        json!({"matcher": format!("^{tool}$"), "hooks": [
            {"type": "command", "command": command, "timeout": timeout}]})
    };
    Project::with_settings(&json!({"hooks": {"BeforeTool": [
        hook("shell", "cat >/dev/null; echo '{}'", 60_000),
        hook("direct", "/bin/cat", 60_000),
        hook("denies", "echo no >&2; exit 2", 60_000),
        hook("dies", "kill -KILL $$", 60_000),
        hook("lost", "no-such-program", 60_000),
        hook("hangs", "sleep 1000; true", 30),
        hook("dropped", "sleep 1000; true", 60_000),
    ]}}))
}

const TOOLS: [&str; 16] = [
    "shell", "direct", "denies", "dies", "lost", "hangs", "dropped", "inline", "async", "blocking",
    "panics", "nothing", "shell", "direct", "shell", "direct",
];

/// Fires events of all kinds, a few at a time, and waits until everything about them is over.
async fn fire(system: &HookSystem, events: usize) {
    let one = async |index: usize| {
        let tool = TOOLS[index % TOOLS.len()];
        let input = fields(json!({"tool_name": tool, "tool_input": {"index": index}}));
        let request = system.bus().request(HookExecutionRequest::new("BeforeTool", input));
        let patience = match tool {
            "dropped" => Duration::from_millis(5),
            _ => Duration::from_secs(60),
        };
        let answered = tokio::time::timeout(patience, request).await;
        assert_eq!(answered.is_err(), tool == "dropped", "{tool}");
    };
    let mut index = 0;
    while index < events {
        let until = (index + 8).min(events);
        futures::future::join_all((index..until).map(one)).await;
        index = until;
    }
    system.clean_up().await;
}

fn alive_tasks() -> usize {
    tokio::runtime::Handle::current().metrics().num_alive_tasks()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nothing_is_left_after_many_events() {
    let events = std::env::var("LEAK_EVENTS").map_or(800, |events| events.parse().unwrap());
    let project = project();
    let system = system(&project);
    let own = std::process::id();
    fire(&system, WARM_UP).await;
    let before = Holdings::of(own);
    let tasks = alive_tasks();
    fire(&system, events).await;
    project.assert_nothing_runs().await;

    // Threads of the runtime and of handlers that are through take a moment to end.
    let begun = Instant::now();
    let after = loop {
        let after = Holdings::of(own);
        let gone = after.threads <= before.threads && alive_tasks() <= tasks;
        if gone || begun.elapsed() > Duration::from_secs(30) {
            break after;
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    };
    assert_eq!(after.zombies, 0);
    assert_eq!(after.descriptors, before.descriptors);
    assert!(after.threads <= before.threads, "{before:?} {after:?}");
    assert!(alive_tasks() <= tasks, "{} tasks, {tasks} before", alive_tasks());
    assert_eq!((system.status().in_flight, system.status().abandoned_threads), (0, 0));
    let grown = after.resident.saturating_sub(before.resident);
    assert!(
        grown < MEMORY_GROWTH_KIBIBYTES,
        "memory has grown by {grown} KiB: {before:?} {after:?}"
    );
}

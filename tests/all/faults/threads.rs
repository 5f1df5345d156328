//! Threads of blocking handlers: few, reused, and not to be had.

use std::path::Path;
use std::sync::mpsc;
use std::sync::{Arc, Mutex, OnceLock, Weak};
use std::time::Duration;

use hook_bus::{HookExecutionRequest, HookExecutionResponse, HookSystem};
use hook_protocol::{
    BeforeAgentInput, HookEventName, HookOutput, SessionEndInput, SessionEndReason,
};
use hook_run::{HandlerHook, RunnerLimits};
use hook_tests::{Project, json};
use rustix::process::getuid;
use serde_json::{Value, json};

use super::{PROMPT, failure};

/// What an agent with a blocking guard saw, in a process of its own.
async fn saw(agent: &Path, what: &str, user: Option<u32>) -> Value {
    let mut agent = tokio::process::Command::new(agent);
    agent.arg(what).current_dir("/").kill_on_drop(true);
    if let Some(user) = user {
        agent.uid(user).gid(user);
    }
    let patience = Duration::from_secs(120);
    let ended = tokio::time::timeout(patience, agent.output()).await.expect("it ends").unwrap();
    assert!(ended.status.success(), "{}", String::from_utf8_lossy(&ended.stderr));
    json(&ended.stdout)
}

const AGENT: &str = env!("CARGO_BIN_EXE_blocking-handlers");

#[tokio::test]
async fn fault_42_ten_thousand_fires_of_a_blocking_handler_share_64_threads() {
    let saw = saw(AGENT.as_ref(), "flood", None).await;
    assert_eq!(saw["running"], 64, "{saw}");
    assert!(saw["moreThreads"].as_u64().unwrap() <= 64, "{saw}");
    let responses = &saw["responses"];
    assert_eq!((&responses["answered"], &responses["blocked"]), (&json!(10_000), &json!(0)));
    assert!(responses["queued"].as_u64().unwrap() > 9_000, "waiting is reported: {saw}");
}

#[tokio::test]
async fn fault_42_threads_that_never_return_are_counted_bounded_and_fail_closed() {
    let saw = saw(AGENT.as_ref(), "stuck", None).await;
    let count = |name: &str| saw["responses"][name].as_u64().unwrap();
    assert_eq!((count("answered"), count("blocked")), (0, 600), "{saw}");
    assert_eq!(count("timedOut") + count("exhausted"), 600, "{saw}");
    assert!(count("exhausted") > 0, "{saw}");
    // Those that ran when the limit was reached come on top.
    let stuck = 256..256 + 64;
    assert!(stuck.contains(&saw["abandoned"].as_u64().unwrap()), "{saw}");
    assert!(saw["moreThreads"].as_u64().unwrap() <= stuck.end, "{saw}");
    assert_eq!((&saw["atOnce"]["exhausted"], &saw["atOnce"]["blocked"]), (&json!(1), &json!(1)));
    assert_eq!(saw["afterwards"]["answered"], 1, "they came back: {saw}");
}

#[tokio::test]
async fn fault_42_a_thread_that_cannot_be_started_is_a_failure_and_a_guard_blocks() {
    // The limit does not hold for root. Another user, who has no other processes, cannot come by
    // the binary where it was built.
    let user = getuid().is_root().then_some(54_322);
    let guard = json!({"type": "command", "command": "true", "failBehavior": "block"});
    let settings = json!({"hooks": {"BeforeAgent": [{"hooks": [guard]}]}});
    let project = Project::with_settings(&settings);
    let agent = project.path().join("agent");
    // By another process: what was open for writing in this one may not be executed at once.
    let copied = std::process::Command::new("cp").arg(AGENT).arg(&agent).status();
    assert!(copied.unwrap().success());
    for folder in [project.path().parent().unwrap(), &project.path()] {
        let open = std::os::unix::fs::PermissionsExt::from_mode(0o755);
        std::fs::set_permissions(folder, open).unwrap();
    }
    let saw = saw(&agent, "starved", user).await;
    let responses = &saw["responses"];
    assert_eq!((&responses["notStarted"], &responses["blocked"]), (&json!(3), &json!(3)), "{saw}");
    // The host's own guard, and that of settings that no thread could read; then it can.
    assert_eq!(saw["unread"]["blocked"], json!(3), "{saw}");
    assert_eq!(saw["readLater"]["answered"], json!(1), "{saw}");
    let reloaded = saw["reloaded"].as_str().unwrap_or_default();
    assert!(reloaded.contains("no thread can be started that reads the settings"), "{saw}");
    assert_eq!(
        (&saw["afterwards"]["answered"], &saw["afterwards"]["blocked"]),
        (&json!(1), &json!(0))
    );
}

#[tokio::test]
async fn fault_42_a_thousand_fires_one_after_the_other_take_one_thread_which_ends_with_the_system()
{
    let saw = saw(AGENT.as_ref(), "sequence", None).await;
    assert_eq!((&saw["threads"], &saw["responses"]["answered"]), (&json!(1), &json!(1_000)));
}

fn one_thread(handlers: Vec<HandlerHook>) -> HookSystem {
    let limits = RunnerLimits { max_blocking: 1, ..RunnerLimits::default() };
    let builder = HookSystem::builder(".").limits(limits);
    handlers.into_iter().fold(builder, |builder, handler| builder.handler(handler)).build().unwrap()
}

async fn agent(system: &HookSystem, deadline: Duration) -> HookExecutionResponse {
    let request = HookExecutionRequest::typed(BeforeAgentInput::new(String::new()));
    let response = system.bus().request(request.with_deadline(deadline));
    tokio::time::timeout(PROMPT, response).await.expect("a verdict in time")
}

#[tokio::test]
async fn fault_42_waiting_for_a_thread_is_not_the_hook_s_time_but_the_request_s() {
    let (release, held) = mpsc::channel::<()>();
    let (started, mut running) = tokio::sync::mpsc::unbounded_channel();
    let held = Mutex::new(held);
    let holder = HandlerHook::blocking(HookEventName::SessionEnd, "holder", move |_| {
        started.send(())?;
        held.lock().map_err(|_| "poisoned")?.recv()?;
        Ok(None)
    });
    let guard = HandlerHook::blocking(HookEventName::BeforeAgent, "guard", |_| {
        Ok(Some(HookOutput::deny("no")))
    });
    let timeout = Duration::from_secs(2);
    let system = Arc::new(one_thread(vec![holder, guard.timeout(timeout)]));
    let of_holder = Arc::clone(&system);
    let holder = tokio::spawn(async move {
        of_holder.fire_session_end(SessionEndInput::new(SessionEndReason::Exit)).await
    });
    running.recv().await.unwrap();

    let hurried = agent(&system, Duration::from_millis(50)).await;
    assert_eq!(hurried.error().unwrap().code.as_str(), "deadline_exceeded");

    let mut patient = std::pin::pin!(agent(&system, PROMPT));
    // What is to be seen is that this time passes, and means nothing.
    let waited = timeout + Duration::from_millis(200);
    assert!(tokio::time::timeout(waited, &mut patient).await.is_err(), "the thread is taken");
    release.send(()).unwrap();
    let patient = patient.await;
    assert!(patient.processed.is_blocking_decision(), "{}", failure(&patient.hooks[0]));
    assert!(patient.hooks[0].queued >= timeout, "{:?}", patient.hooks[0].queued);
    assert!(patient.hooks[0].duration < waited, "{:?}", patient.hooks[0].duration);
    holder.await.unwrap();
}

/// A system whose only blocking permit is held by a handler that fires another event of the same
/// system, and says what came of it.
async fn nested(
    fires: fn(&HookSystem, &tokio::runtime::Handle) -> HookExecutionResponse,
) -> String {
    let of_handler = Arc::new(OnceLock::<Weak<HookSystem>>::new());
    let system = Arc::clone(&of_handler);
    let runtime = tokio::runtime::Handle::current();
    let outer = HandlerHook::blocking(HookEventName::BeforeAgent, "outer", move |_| {
        let system = of_handler.get().and_then(Weak::upgrade).ok_or("it is gone")?;
        let response = fires(&system, &runtime);
        let said = response.processed.system_message.clone();
        Ok(Some(
            HookOutput::allow()
                .with_system_message(said.unwrap_or_else(|| failure(&response.hooks[0]))),
        ))
    });
    let inner = HandlerHook::blocking(HookEventName::SessionEnd, "inner", |_| {
        Ok(Some(HookOutput::allow().with_system_message("asked")))
    });
    let built = Arc::new(one_thread(vec![outer, inner]));
    system.set(Arc::downgrade(&built)).unwrap();
    agent(&built, PROMPT).await.processed.system_message.unwrap_or_default()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn fault_42_a_handler_that_waits_for_another_gets_by_with_the_only_permit() {
    let once = nested(|system, runtime| {
        let end = SessionEndInput::new(SessionEndReason::Exit);
        runtime.block_on(system.bus().request(HookExecutionRequest::typed(end)))
    });
    assert_eq!(once.await, "asked");
    let without_end = nested(|system, runtime| runtime.block_on(agent(system, PROMPT)));
    assert!(without_end.await.contains("nested more than 8 deep"));
}

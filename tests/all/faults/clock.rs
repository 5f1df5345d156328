//! Hooks that do not end: the clock decides, and the whole tree goes.

use std::sync::Arc;
use std::time::{Duration, Instant};

use futures::FutureExt;
use hook_bus::{HookExecutionRequest, HookExecutionResponse, HookSystem};
use hook_protocol::{HookEventName, HookOutput};
use hook_run::HandlerHook;
use hook_tests::{Project, fields};
use serde_json::json;
use tokio_stream::StreamExt;

use super::{DENIAL, PROMPT, answer, failure, hanging, patient, project_with, prompt, stdout};

/// Fires a hook that does not end: its verdict waits for the clock and for nothing else.
async fn assert_times_out(system: &HookSystem) -> HookExecutionResponse {
    let started = Instant::now();
    let response = prompt(system).await;
    let took = started.elapsed();
    // Far from the grace of two minutes, and from the seconds of the default.
    let in_time = Duration::from_secs(1)..Duration::from_secs(5);
    assert!(in_time.contains(&took), "not at its time: {took:?}");
    for result in &response.hooks {
        assert_eq!(failure(result), "Hook timed out after 1000ms");
        assert!(!result.success && result.timed_out());
    }
    response
}

#[tokio::test]
async fn fault_01_a_hook_that_sleeps_for_ever_times_out_with_its_children() {
    for command in ["sleep 1000", "sleep 1000; true", "(sleep 1000 & wait); true"] {
        let project = hanging(command);
        assert_times_out(&project.system()).await;
        project.assert_nothing_runs().await;
    }
}

#[tokio::test]
async fn fault_01_a_hook_that_is_told_to_end_may_tidy_up_and_say_so() {
    let tidy = "echo bye; echo bye >&2; touch tidied; exit";
    let project = hanging(&format!("trap '{tidy}' TERM; sleep 1000 & wait"));
    assert_times_out(&patient(&project)).await;
    project.appears("tidied").await;
    project.assert_nothing_runs().await;
}

#[tokio::test]
async fn fault_02_a_hook_that_ignores_term_is_killed() {
    let project = hanging("trap 'touch told' TERM; while :; do sleep 1000; done");
    // The verdict does not wait for the grace, which is two minutes here.
    let system = patient(&project);
    assert_times_out(&system).await;
    project.appears("told").await;
    assert!(!project.processes().is_empty(), "TERM alone does not end it");
    system.kill();
    project.assert_nothing_runs().await;

    // By itself it is killed after the default grace.
    assert_times_out(&project.system()).await;
    project.assert_nothing_runs().await;
}

#[tokio::test]
async fn fault_10_a_hook_that_stops_itself_times_out_and_goes() {
    let project = hanging("kill -STOP $$");
    assert_times_out(&patient(&project)).await;
    project.assert_nothing_runs().await;
}

#[tokio::test]
async fn fault_13_a_denial_before_the_hang_sticks_and_an_allowance_does_not() {
    for (said, expected) in [
        (DENIAL, (true, Some("r"), None)),
        (r#"{"decision":"allow","reason":"r","systemMessage":"m"}"#, (false, None, None)),
    ] {
        let project = hanging(&format!("echo '{said}'; sleep 1000"));
        let response = assert_times_out(&patient(&project)).await;
        assert_eq!(answer(&response), expected);
        assert_eq!(stdout(&response.hooks[0]).trim_end(), said);
        project.assert_nothing_runs().await;
    }
}

#[tokio::test]
async fn fault_14_a_hook_that_closes_its_outputs_and_sleeps_times_out() {
    let project = hanging("exec >&- 2>&-; sleep 1000; true");
    assert_times_out(&patient(&project)).await;
    project.assert_nothing_runs().await;
}

fn with_handler(handler: HandlerHook) -> HookSystem {
    // A second hook, which what happens to the first must not touch.
    let other = HandlerHook::inline(HookEventName::BeforeAgent, "other", |_| {
        Ok(Some(HookOutput::allow().with_system_message("unaffected")))
    });
    HookSystem::builder(".").handler(handler).handler(other).build().unwrap()
}

#[tokio::test]
async fn fault_18_a_panic_in_a_handler_of_any_kind_is_the_failure_of_that_hook() {
    let event = HookEventName::BeforeAgent;
    for handler in [
        HandlerHook::inline(event, "fragile", |_| panic!("oh no")),
        HandlerHook::asynchronous(event, "fragile", |_| async { panic!("oh no") }),
        HandlerHook::blocking(event, "fragile", |_| panic!("oh no")),
    ] {
        let response = prompt(&with_handler(handler)).await;
        assert_eq!(failure(&response.hooks[0]), "handler panicked: oh no");
        let error = &response.processed.aggregated.errors[0];
        assert_eq!(error.hook.as_deref(), Some("fragile"));
        assert_eq!(response.processed.system_message.as_deref(), Some("unaffected"));
    }
}

#[tokio::test(start_paused = true)]
async fn fault_19_an_async_handler_that_never_completes_times_out() {
    let endless = HandlerHook::asynchronous(HookEventName::BeforeAgent, "endless", |_| {
        std::future::pending()
    });
    let system = with_handler(endless.timeout(Duration::from_secs(1)));
    let response = prompt(&system).await;
    assert_eq!(failure(&response.hooks[0]), "Hook timed out after 1000ms");
    assert_eq!(response.processed.system_message.as_deref(), Some("unaffected"));
}

#[tokio::test]
async fn fault_20_a_blocking_handler_that_never_returns_holds_up_nothing() {
    let agent = tokio::process::Command::new(env!("CARGO_BIN_EXE_never-returns"))
        .kill_on_drop(true)
        .output();
    let agent = tokio::time::timeout(PROMPT, agent).await.expect("the process can exit").unwrap();
    assert!(agent.status.success());
    assert_eq!(
        String::from_utf8_lossy(&agent.stdout),
        "served meanwhile\n[\"Hook timed out after 1000ms\"]\n1 thread abandoned\n"
    );
}

fn endless() -> Project {
    project_with(&[json!({"command": "touch running; sleep 1000; true"})])
}

#[tokio::test]
async fn fault_21_a_dropped_caller_leaves_no_process_and_cancelled_is_published() {
    let project = endless();
    let system = patient(&project);
    let mut responses = system.bus().subscribe::<HookExecutionResponse>();
    let input = fields(json!({"prompt": "p"}));
    let mut fire = Box::pin(system.bus().request(HookExecutionRequest::new("BeforeAgent", input)));
    tokio::select! {
        _ = &mut fire => unreachable!("the hook never ends"),
        () = project.appears("running") => {}
    }
    drop(fire);
    let response = tokio::time::timeout(PROMPT, responses.next()).await.unwrap().unwrap().unwrap();
    assert_eq!(response.error().unwrap().code.as_str(), "cancelled");
    project.assert_nothing_runs().await;
}

#[tokio::test]
async fn fault_21_a_caller_that_stops_polling_keeps_no_process_past_its_timeout() {
    let project = hanging("touch running; sleep 1000; true");
    let system = patient(&project);
    let input = fields(json!({"prompt": "p"}));
    let fire = system.bus().request(HookExecutionRequest::new("BeforeAgent", input));
    let mut fire = Box::pin(fire);
    assert!((&mut fire).now_or_never().is_none(), "polled once, and never again");
    project.appears("running").await;
    project.assert_nothing_runs().await;
    // It was answered all the same.
    let response = fire.now_or_never().expect("the answer is there");
    assert!(response.hooks[0].timed_out());
}

#[test]
fn fault_21_a_runtime_that_ends_takes_every_process_with_it() {
    let project = endless();
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let system = Arc::new(patient(&project));
    let fired = Arc::clone(&system);
    runtime.spawn(async move {
        let input = fields(json!({"prompt": "p"}));
        fired.bus().request(HookExecutionRequest::new("BeforeAgent", input)).await
    });
    runtime.block_on(project.appears("running"));
    drop(runtime);
    let left = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    left.block_on(project.assert_nothing_runs());
}

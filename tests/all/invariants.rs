//! The thirteen invariants of docs/dev/architecture.md, each by a test named after it, driven over the
//! public bus.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use futures::FutureExt;
use futures::future::join_all;
use hook_bus::message::HookProgress;
use hook_bus::{
    BusLimits, CorrelationId, HookExecutionRequest, HookExecutionResponse, HookSystem, Lagged,
    MessageBus, NotInitialized, PublishError, Subscription, SubscriptionLimits,
};
use hook_protocol::{
    BeforeAgentInput, FailureCode, HookEventName, HookOutput, NotificationInput, PolicyDecision,
};
use hook_run::HandlerHook;
use hook_settings::FailBehavior;
use hook_tests::{Project, fields, workspace};
use serde_json::json;
use tokio_stream::StreamExt;

/// How long anything here may take before the test is given up: far more than it does.
const PATIENCE: Duration = Duration::from_secs(30);

fn prompt(id: &str) -> HookExecutionRequest {
    HookExecutionRequest::new("BeforeAgent", fields(json!({"prompt": id})))
        .with_correlation_id(CorrelationId::new(id).unwrap())
}

fn inline(output: HookOutput) -> HandlerHook {
    HandlerHook::inline(HookEventName::BeforeAgent, "inline", move |_| Ok(Some(output.clone())))
}

/// A handler that waits until it is let go.
fn waiting(gate: &Arc<tokio::sync::Semaphore>) -> HandlerHook {
    let gate = Arc::clone(gate);
    HandlerHook::asynchronous(HookEventName::BeforeAgent, "waiting", move |_| {
        let gate = Arc::clone(&gate);
        async move {
            gate.acquire().await?.forget();
            Ok(None)
        }
    })
}

fn system_of(handler: HandlerHook) -> HookSystem {
    HookSystem::builder(".").handler(handler).build().unwrap()
}

async fn next(responses: &mut Subscription<HookExecutionResponse>) -> Arc<HookExecutionResponse> {
    let next = tokio::time::timeout(PATIENCE, responses.next()).await;
    next.expect("a response in time").expect("the bus lives").expect("nothing was missed")
}

/// Nothing more comes: whatever is on the bus by now is there already.
async fn assert_no_more(responses: &mut Subscription<HookExecutionResponse>) {
    let more = tokio::time::timeout(Duration::from_millis(50), responses.next()).await;
    assert!(more.is_err(), "a second response: {more:?}");
}

fn codes(responses: &[Arc<HookExecutionResponse>]) -> Vec<Option<FailureCode>> {
    responses.iter().map(|response| response.error().map(|error| error.code)).collect()
}

#[tokio::test]
async fn invariant_01_exactly_one_response_when_a_hook_crashes() {
    let project = Project::with_hook("BeforeAgent", "kill -9 $$");
    let system = project.system();
    let mut responses = system.bus().subscribe();
    let response = system.bus().request(prompt("crash")).await;
    assert!(response.success() && !response.processed.aggregated.success);
    assert_eq!(next(&mut responses).await.correlation_id.as_str(), "crash");
    assert_no_more(&mut responses).await;
}

#[tokio::test]
async fn invariant_01_exactly_one_response_when_a_handler_of_any_kind_panics() {
    let panics = |_: &hook_protocol::HookInput| -> hook_run::HandlerResult { panic!("oh no") };
    let event = HookEventName::BeforeAgent;
    for handler in [
        HandlerHook::inline(event, "inline", panics),
        HandlerHook::blocking(event, "blocking", panics),
        HandlerHook::asynchronous(event, "async", |_| async { panic!("oh no") }),
    ] {
        let system = HookSystem::builder(".")
            .handler(handler)
            .handler(inline(HookOutput::allow().with_system_message("still here")))
            .build()
            .unwrap();
        let mut responses = system.bus().subscribe();
        let response = system.bus().request(prompt("panic")).await;
        let error = &response.processed.aggregated.errors[0];
        assert!(error.message.contains("oh no"), "{error:?}");
        assert_eq!(response.processed.system_message.as_deref(), Some("still here"));
        next(&mut responses).await;
        assert_no_more(&mut responses).await;
    }
}

#[tokio::test]
async fn invariant_01_exactly_one_response_when_the_caller_is_dropped() {
    let gate = Arc::new(tokio::sync::Semaphore::new(0));
    let system = system_of(waiting(&gate));
    system.initialize().await.unwrap();
    let mut responses = system.bus().subscribe();
    let mut request = Box::pin(system.bus().request(prompt("dropped")));
    // Polled once on a live bus: accepted.
    assert!(futures::poll!(&mut request).is_pending());
    drop(request);
    let response = next(&mut responses).await;
    assert_eq!(response.correlation_id.as_str(), "dropped");
    assert_eq!(codes(&[response]), [Some(FailureCode::Cancelled)]);
    assert_no_more(&mut responses).await;
}

#[tokio::test]
async fn invariant_01_a_request_that_was_never_polled_was_never_accepted() {
    let system = system_of(inline(HookOutput::allow()));
    let mut responses = system.bus().subscribe();
    drop(system.bus().request(prompt("unpolled")));
    assert_no_more(&mut responses).await;
}

#[tokio::test(start_paused = true)]
async fn invariant_01_exactly_one_response_when_shut_down_in_mid_flight() {
    let gate = Arc::new(tokio::sync::Semaphore::new(0));
    let system = system_of(waiting(&gate));
    let mut responses = system.bus().subscribe();
    for index in 0..100 {
        system.bus().publish(prompt(&format!("published-{index}"))).await.unwrap();
    }
    let finish_some = async {
        while system.status().in_flight < 100 {
            tokio::task::yield_now().await;
        }
        gate.add_permits(40);
    };
    finish_some.await;
    system.shutdown(Duration::from_millis(200)).await;
    let late = system.bus().request(prompt("late")).await;
    assert_eq!(late.error().unwrap().code, FailureCode::ShuttingDown);

    let mut answered = Vec::new();
    for _ in 0..101 {
        answered.push(next(&mut responses).await);
    }
    assert_no_more(&mut responses).await;
    let codes = codes(&answered);
    assert_eq!(codes.iter().filter(|code| code.is_none()).count(), 40);
    assert_eq!(codes.iter().filter(|code| **code == Some(FailureCode::ShuttingDown)).count(), 61);
}

#[tokio::test]
async fn invariant_01_exactly_one_response_when_the_caller_stops_polling() {
    let project = Project::with_hook("BeforeAgent", "echo $$ > pid; exec sleep 1000");
    let system = project.system();
    let mut responses = system.bus().subscribe();
    let mut unpolled = Box::pin(system.bus().request(prompt("unpolled")));
    // Polled until its hook runs, and then not any more.
    while project.read("pid").trim().is_empty() {
        assert!(futures::poll!(&mut unpolled).is_pending());
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
    system.shutdown(Duration::from_millis(50)).await;
    let response = next(&mut responses).await;
    assert_eq!(codes(&[response]), [Some(FailureCode::ShuttingDown)]);
    assert!(!std::path::Path::new(&format!("/proc/{}", project.read("pid").trim())).exists());
    assert_eq!(unpolled.await.error().unwrap().code, FailureCode::ShuttingDown);
    assert_no_more(&mut responses).await;
}

#[tokio::test]
async fn invariant_04_who_began_to_initialize_and_does_not_poll_holds_up_nobody() {
    let project = Project::with_hook("BeforeAgent", "true");
    let system = project.system();
    let mut first = Box::pin(system.initialize());
    assert!(futures::poll!(&mut first).is_pending());
    tokio::time::timeout(PATIENCE, system.initialize()).await.unwrap().unwrap();
    first.await.unwrap();
}

#[tokio::test]
async fn invariant_01_exactly_one_response_for_duplicate_correlation_ids() {
    let system = system_of(HandlerHook::asynchronous(
        HookEventName::BeforeAgent,
        "echo",
        |input| async move {
            let hook_protocol::EventPayload::BeforeAgent(payload) = &input.payload else {
                return Ok(None);
            };
            Ok(Some(HookOutput::allow().with_system_message(payload.prompt.clone())))
        },
    ));
    let request = |text: &str| {
        HookExecutionRequest::new("BeforeAgent", fields(json!({"prompt": text})))
            .with_correlation_id(CorrelationId::new("same").unwrap())
    };
    let mut responses = system.bus().subscribe::<HookExecutionResponse>();
    let (one, other) =
        tokio::join!(system.bus().request(request("one")), system.bus().request(request("other")));
    assert_eq!(one.processed.system_message.as_deref(), Some("one"));
    assert_eq!(other.processed.system_message.as_deref(), Some("other"));
    next(&mut responses).await;
    next(&mut responses).await;
    assert_no_more(&mut responses).await;
}

#[tokio::test]
async fn invariant_01_exactly_one_response_when_queues_are_full() {
    let gate = Arc::new(tokio::sync::Semaphore::new(0));
    let bus = MessageBus::with_limits(BusLimits { in_flight: 2, ..BusLimits::default() });
    let system = HookSystem::builder(".").bus(bus.clone()).handler(waiting(&gate)).build().unwrap();
    system.initialize().await.unwrap();
    let mut responses = bus.subscribe();
    bus.publish(prompt("first")).await.unwrap();
    bus.publish(prompt("second")).await.unwrap();
    assert_eq!(bus.try_publish(prompt("refused")).unwrap_err(), PublishError::Full);

    // Backpressure: the third waits until one is answered.
    let mut third = Box::pin(bus.publish(prompt("third")));
    assert!(futures::poll!(&mut third).is_pending());
    gate.add_permits(3);
    third.await.unwrap();
    let mut ids = Vec::new();
    for _ in 0..3 {
        ids.push(next(&mut responses).await.correlation_id.to_string());
    }
    ids.sort();
    assert_eq!(ids, ["first", "second", "third"]);
    assert_no_more(&mut responses).await;
}

#[tokio::test]
async fn published_requests_wait_for_room_in_bytes_too() {
    let gate = Arc::new(tokio::sync::Semaphore::new(0));
    let limits = BusLimits { in_flight_bytes: 1_000_000, ..BusLimits::default() };
    let bus = MessageBus::with_limits(limits);
    let system = HookSystem::builder(".").bus(bus.clone()).handler(waiting(&gate)).build().unwrap();
    system.initialize().await.unwrap();
    let large = |size| {
        HookExecutionRequest::new("BeforeAgent", fields(json!({"prompt": "x".repeat(size)})))
    };
    bus.publish(large(600_000)).await.unwrap();
    assert_eq!(bus.try_publish(large(600_000)).unwrap_err(), PublishError::Full);
    bus.try_publish(large(100_000)).unwrap();
    // What is larger than all of it waits until it is alone, and is served then.
    let mut huge = Box::pin(bus.publish(large(5_000_000)));
    assert!(futures::poll!(&mut huge).is_pending());
    gate.add_permits(3);
    assert!(huge.await.unwrap().response().await.unwrap().success());
}

#[tokio::test]
async fn invariant_01_dropping_what_publish_returned_cancels_nothing() {
    let gate = Arc::new(tokio::sync::Semaphore::new(0));
    let system = system_of(waiting(&gate));
    let mut responses = system.bus().subscribe();
    drop(system.bus().publish(prompt("kept")).await.unwrap());
    gate.add_permits(1);
    assert!(next(&mut responses).await.success());
}

#[tokio::test]
async fn invariant_02_the_correlation_id_is_echoed_or_generated() {
    let system = system_of(inline(HookOutput::allow()));
    let given = system.bus().request(prompt("mine")).await;
    assert_eq!(given.correlation_id.as_str(), "mine");
    let text = r#"{"type":"hook-execution-request","eventName":"SessionEnd","input":{"reason":"exit"},"correlationId":null}"#;
    let generated = system.bus().request(HookExecutionRequest::from_json(text)).await;
    assert!(generated.success(), "a missing id is no error");
    let id = generated.correlation_id.as_str();
    assert_eq!((id.len(), id.as_bytes()[14]), (36, b'4'), "a random UUID: {id}");

    for wrong in ["7", "[]", "true", &format!("{:?}", "x".repeat(257))] {
        let text = text.replace("null", wrong);
        let response = system.bus().request(HookExecutionRequest::from_json(&text)).await;
        assert_eq!(response.error().unwrap().code, FailureCode::InvalidRequest);
        assert_eq!(response.correlation_id.as_str().len(), 36);
    }
}

#[tokio::test]
async fn invariant_03_a_rejected_request_never_reaches_the_planner() {
    let calls = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&calls);
    let mut builder = HookSystem::builder(".");
    for event in HookEventName::all() {
        let counted = Arc::clone(&counted);
        builder = builder.handler(HandlerHook::inline(event, "counting", move |_| {
            counted.fetch_add(1, Ordering::Relaxed);
            Ok(None)
        }));
    }
    let system = builder.build().unwrap();
    let mut started = system.bus().subscribe::<HookProgress>();
    let r = r#""type":"hook-execution-request""#;
    for (text, code) in [
        ("not json".to_owned(), FailureCode::InvalidRequest),
        ("[]".to_owned(), FailureCode::InvalidRequest),
        (r#"{"type":"hook-execution-response"}"#.to_owned(), FailureCode::InvalidRequest),
        (format!(r#"{{{r},"eventName":5,"input":{{}}}}"#), FailureCode::InvalidRequest),
        (format!(r#"{{{r},"eventName":"X","input":{{}}}}"#), FailureCode::UnsupportedEvent),
        (format!(r#"{{{r},"eventName":"BeforeTool","input":{{}}}}"#), FailureCode::InvalidPayload),
        (
            format!(r#"{{{r},"eventName":"BeforeModel","input":{{"llm_request":{{}}}}}}"#),
            FailureCode::TranslationFailed,
        ),
    ] {
        let response = system.bus().request(HookExecutionRequest::from_json(&text)).await;
        assert_eq!(response.error().map(|error| error.code), Some(code), "{text}");
        // There is no plan: nothing of it ran, and nothing of it was left out.
        assert!(response.hooks.is_empty() && response.not_started.is_empty(), "{text}");
        assert!(started.next().now_or_never().is_none(), "{text}");
    }
    assert_eq!(calls.load(Ordering::Relaxed), 0);
    let planned = system.bus().request(prompt("a")).await;
    assert_eq!((planned.hooks.len(), calls.load(Ordering::Relaxed)), (1, 1));
    assert!(started.next().now_or_never().is_some());
}

#[tokio::test]
async fn invariant_04_the_engine_is_built_once_under_concurrent_callers() {
    let project = Project::with_hook("BeforeAgent", "true");
    let system = project.system();
    assert!(matches!(system.registry(), Err(NotInitialized::NotYet)));
    assert!(matches!(system.event_handler(), Err(NotInitialized::NotYet)));
    assert!(matches!(system.hooks(), Err(NotInitialized::NotYet)));
    assert!(matches!(system.set_hook_enabled("true", false), Err(NotInitialized::NotYet)));
    assert!(!system.status().initialized && system.status().total_hooks == 0);
    let (calls, fires) = tokio::join!(
        join_all((0..50).map(|_| system.initialize())),
        join_all((0..10).map(|_| system.fire_before_agent(BeforeAgentInput::new("a")))),
    );
    assert!(calls.iter().all(Result::is_ok));
    assert!(fires.iter().all(|fired| fired.failure.is_none()));
    assert!(system.status().initialized);
    let registry = system.registry().unwrap();
    // What is written after that is not read.
    project.write("settings.json", "{}");
    system.initialize().await.unwrap();
    system.fire_before_agent(BeforeAgentInput::new("a")).await;
    assert!(Arc::ptr_eq(&registry, &system.registry().unwrap()));
    assert_eq!(system.status().total_hooks, 1);
    // Until somebody asks for it.
    system.reload().await.unwrap();
    assert_eq!(system.status().total_hooks, 0);
}

#[tokio::test]
async fn invariant_05_no_match_is_a_fresh_success_every_time() {
    let system = HookSystem::builder(".").build().unwrap();
    let mut first = system.fire_before_agent(BeforeAgentInput::new("a")).await;
    assert_eq!(first.aggregated, hook_core::AggregatedHookResult::empty_success());
    first.aggregated.success = false;
    first.aggregated.all_outputs.push(HookOutput::deny("mutated"));
    let second = system.fire_before_agent(BeforeAgentInput::new("a")).await;
    assert!(second.aggregated.success && second.aggregated.all_outputs.is_empty());
}

#[tokio::test]
async fn invariant_04_a_system_that_could_not_be_built_is_not_initialized_and_says_why() {
    let project = Project::new();
    project.write("settings.json", "{");
    let system = project.builder().strict().build().unwrap();
    assert!(system.initialize().await.is_err());
    assert!(!system.status().initialized);
    assert!(matches!(system.registry(), Err(NotInitialized::Failed(_))));
}

#[tokio::test]
async fn invariant_06_a_failure_of_a_direct_fire_names_its_event_and_its_request() {
    let system = HookSystem::builder(".").build().unwrap();
    system.dispose();
    let fired = system.fire_before_agent(BeforeAgentInput::new("a")).await;
    let failure = fired.failure.unwrap();
    assert_eq!(
        (failure.code, failure.event),
        (FailureCode::NoHandler, Some(HookEventName::BeforeAgent))
    );
    assert!(failure.correlation_id.is_some_and(|id| !id.is_empty()));
    // One that comes over the bus has the request's own.
    let system = system_of(HandlerHook::inline(HookEventName::BeforeModel, "h", |_| Ok(None)));
    let input = fields(json!({"llm_request": {}}));
    let request = HookExecutionRequest::new("BeforeModel", input);
    let request = request.with_correlation_id(CorrelationId::new("c-7").unwrap());
    let response = system.bus().request(request).await;
    let failure = response.error().unwrap();
    assert_eq!(failure.event, Some(HookEventName::BeforeModel));
    assert_eq!(failure.correlation_id.as_deref(), Some("c-7"));
    let text = String::from_utf8(response.to_json()).unwrap();
    let read = HookExecutionResponse::from_json(&text).unwrap();
    assert_eq!(read.error(), Some(failure));
}

#[tokio::test]
async fn invariant_06_every_error_path_returns_a_failure_envelope() {
    let system = HookSystem::builder(".").build().unwrap();
    let response = system.bus().request(HookExecutionRequest::from_json(
        r#"{"type":"hook-execution-request","eventName":"SessionStart","input":{"source":"boot"},"correlationId":"c"}"#,
    ))
    .await;
    assert_eq!(response.correlation_id.as_str(), "c");
    assert_eq!(response.event, Some(HookEventName::SessionStart));
    let failure = response.error().unwrap();
    assert_eq!((failure.code.as_str(), failure.code.stage()), ("invalid_payload", "payload"));
    assert!(failure.message.contains("source"), "{failure}");
    let aggregated = &response.processed.aggregated;
    assert!(!aggregated.success && aggregated.all_outputs.is_empty());
    assert_eq!(aggregated.errors[0].stage.as_deref(), Some("payload"));

    // A caller of a fire function gets the same, as a value.
    system.dispose();
    let fired = system.fire_before_agent(BeforeAgentInput::new("a")).await;
    assert_eq!(fired.failure.unwrap().code, FailureCode::NoHandler);
    assert_eq!(fired.decision, PolicyDecision::Proceed);
}

#[tokio::test]
async fn invariant_07_success_is_hook_health_and_not_policy() {
    let denies = Project::with_hook("BeforeAgent", r#"echo '{"decision":"deny","reason":"r"}'"#);
    let denied = denies.system().fire_before_agent(BeforeAgentInput::new("a")).await;
    assert!(denied.aggregated.success && denied.is_blocking_decision());
    let fails = Project::with_hook("BeforeAgent", "exit 3");
    let failed = fails.system().fire_before_agent(BeforeAgentInput::new("a")).await;
    assert!(!failed.aggregated.success && !failed.is_blocking_decision());
    assert!(failed.failure.is_none(), "a hook that fails is no failed stage");
}

#[tokio::test]
async fn invariant_08_only_an_explicit_decision_blocks() {
    let settings = |command: &str, behavior: &str| {
        // What ends by itself has all the time that it needs.
        let timeout = if command.starts_with("sleep") { 300 } else { 60_000 };
        json!({"hooks": {"BeforeAgent": [{"hooks": [{"type": "command", "name": "guard",
            "command": command, "timeout": timeout, "failBehavior": behavior}]}]}})
    };
    for (command, behavior, expected) in [
        ("exit 2", "continue", PolicyDecision::Block),
        (r#"echo '{"decision":"block"}'"#, "continue", PolicyDecision::Block),
        (r#"echo '{"decision":"deny"}'"#, "continue", PolicyDecision::Block),
        (r#"echo '{"decision":"ask"}'"#, "continue", PolicyDecision::Ask),
        (r#"echo '{"continue":false}'"#, "continue", PolicyDecision::Stop),
        ("exit 1", "continue", PolicyDecision::Proceed),
        ("exit 1", "block", PolicyDecision::Block),
        ("kill -9 $$", "continue", PolicyDecision::Proceed),
        ("kill -9 $$", "block", PolicyDecision::Block),
        ("sleep 1000", "continue", PolicyDecision::Proceed),
        ("sleep 1000", "block", PolicyDecision::Block),
        ("no-such-command-anywhere", "continue", PolicyDecision::Proceed),
        (r#"echo '{"decision":"forbid"}'"#, "continue", PolicyDecision::Proceed),
        (r#"echo '{"decision":"forbid"}'"#, "block", PolicyDecision::Block),
    ] {
        let project = Project::with_settings(&settings(command, behavior));
        let system = project.system();
        let result = system.fire_before_agent(BeforeAgentInput::new("a")).await;
        assert_eq!(result.decision, expected, "{command} with {behavior}: {result:?}");
        if command == "exit 1" {
            assert!(result.aggregated.errors.is_empty(), "an odd exit code is no error");
        }
        if behavior == "block" && expected == PolicyDecision::Block {
            assert!(result.reason.unwrap().contains("guard"), "the reason names the hook");
        }
    }
}

#[tokio::test]
async fn invariant_08_a_rejected_request_blocks_where_a_registered_hook_does() {
    let guard = HandlerHook::inline(HookEventName::BeforeTool, "guard", |_| Ok(None))
        .fail_behavior(FailBehavior::Block);
    let system = system_of(guard);
    let rejected = |event: &str| HookExecutionRequest::new(event, fields(json!({})));
    let response = system.bus().request(rejected("BeforeTool")).await;
    assert_eq!(response.error().unwrap().code, FailureCode::InvalidPayload);
    assert!(response.processed.is_blocking_decision());
    assert!(response.processed.reason.as_ref().unwrap().contains("guard"));
    let response = system.bus().request(rejected("AfterTool")).await;
    assert_eq!(response.processed.decision, PolicyDecision::Proceed);
    for text in [
        r#"{"type":"hook-execution-request","eventName":"BeforeTool","input":[]}"#,
        r#"{"type":"hook-execution-request","eventName":"BeforeTool"}"#,
        r#"{"type":"hook-execution-request","eventName":"BeforeTool","input":{},"correlationId":7}"#,
    ] {
        let response = system.bus().request(HookExecutionRequest::from_json(text)).await;
        assert_eq!(response.error().unwrap().code, FailureCode::InvalidRequest);
        assert!(response.processed.is_blocking_decision(), "{text}");
    }
    system.shutdown(Duration::ZERO).await;
    let response = system.bus().request(rejected("BeforeTool")).await;
    assert_eq!(response.error().unwrap().code, FailureCode::ShuttingDown);
    assert!(response.processed.is_blocking_decision());
}

#[tokio::test]
async fn invariant_09_callers_read_the_processed_result() {
    let project = Project::with_settings(&json!({"hooks": {"BeforeAgent": [{"hooks": [
        {"type": "command", "command": r#"echo '{"systemMessage":"shown","suppressOutput":true}'"#},
        {"type": "command", "command": r#"echo '{"continue":false,"stopReason":"enough",
            "hookSpecificOutput":{"additionalContext":"more"}}'"#},
        {"type": "command", "command": r#"echo '{"decision":"block","reason":"no"}'"#},
    ]}]}}));
    let result = project.system().fire_before_agent(BeforeAgentInput::new("a")).await;
    assert_eq!(result.decision, PolicyDecision::Stop, "the strongest");
    assert!(result.should_stop);
    assert_eq!(result.stop_reason.as_deref(), Some("enough"));
    assert!(result.suppress_output && result.system_message.is_none());
    assert_eq!(result.model_message.as_deref(), Some("shown"), "the model sees it all the same");
    assert_eq!(result.additional_context.as_deref(), Some("more"));
}

// Invariant 10 is the property test in parity.rs.

#[tokio::test]
async fn invariant_11_dispose_detaches_and_accepted_requests_finish() {
    let gate = Arc::new(tokio::sync::Semaphore::new(0));
    let bus = MessageBus::new();
    let system = HookSystem::builder(".").bus(bus.clone()).handler(waiting(&gate)).build().unwrap();
    assert!(HookSystem::builder(".").bus(bus.clone()).build().is_err(), "one handler at most");
    system.initialize().await.unwrap();
    let accepted = bus.publish(prompt("accepted")).await.unwrap();
    while system.status().in_flight == 0 {
        tokio::task::yield_now().await;
    }
    system.dispose();
    system.dispose();
    let later = bus.request(prompt("later")).await;
    assert_eq!(later.error().unwrap().code, FailureCode::NoHandler);
    gate.add_permits(1);
    assert!(accepted.response().await.unwrap().success());

    // A bus that is free serves the next system, and dropping that one frees it again.
    drop(HookSystem::builder(".").bus(bus.clone()).build().unwrap());
    let later = bus.request(prompt("later still")).await;
    assert_eq!(later.error().unwrap().code, FailureCode::NoHandler);
}

#[tokio::test]
async fn invariant_11_what_was_accepted_a_moment_ago_finishes_too() {
    let system = system_of(inline(HookOutput::allow()));
    // Accepted, and not begun: its task has not run yet.
    let accepted = system.bus().publish(prompt("accepted")).await.unwrap();
    system.dispose();
    assert!(accepted.response().await.unwrap().success());

    let system = system_of(inline(HookOutput::allow()));
    let mut responses = system.bus().subscribe::<HookExecutionResponse>();
    system.bus().publish(prompt("accepted")).await.unwrap();
    system.shutdown(PATIENCE).await;
    let answered = tokio::time::timeout(Duration::ZERO, responses.next()).await;
    let answered = answered.expect("answered before the shutdown is over").unwrap().unwrap();
    assert!(answered.success(), "{:?}", answered.error());
}

#[tokio::test]
async fn invariant_12_a_subscriber_that_never_reads_delays_nobody_and_learns_what_it_missed() {
    let system = system_of(inline(HookOutput::allow()));
    let limits = SubscriptionLimits { messages: 10, ..SubscriptionLimits::default() };
    let mut sleeper = system.bus().subscribe_with::<HookExecutionResponse>(limits);
    let started = Instant::now();
    for index in 0..100 {
        assert!(system.bus().request(prompt(&index.to_string())).await.success());
    }
    assert!(started.elapsed() < PATIENCE);
    let lagged: Lagged = sleeper.next().await.unwrap().unwrap_err();
    assert_eq!(lagged.missed(), 90);
    let kept = next(&mut sleeper).await;
    assert_eq!(kept.correlation_id.as_str(), "90", "the newest are kept");
}

#[tokio::test]
async fn invariant_12_what_a_subscriber_holds_is_bounded_in_bytes() {
    let system = HookSystem::builder(".").build().unwrap();
    let limits = SubscriptionLimits { bytes: 1_000_000, ..SubscriptionLimits::default() };
    let mut sleeper = system.bus().subscribe_with::<HookExecutionRequest>(limits);
    for _ in 0..100 {
        system.fire_notification(NotificationInput::new("m".repeat(100_000))).await;
    }
    let lagged = sleeper.next().await.unwrap().unwrap_err();
    assert!((90..100).contains(&lagged.missed()), "{lagged}");
}

#[test]
fn invariant_13_no_opentelemetry() {
    let lock = std::fs::read_to_string(workspace().join("Cargo.lock")).unwrap();
    let packages: Vec<&str> =
        lock.lines().filter_map(|line| line.strip_prefix("name = ")).collect();
    assert!(packages.len() > 20);
    assert!(!packages.iter().any(|name| name.contains("opentelemetry") || name.contains("otlp")));
}

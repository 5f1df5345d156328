//! What hooks decide: how decisions rank, what a retry is, and what trigger functions do with them.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use hook_bus::triggers::{
    ToolCall, ToolContent, ToolResult, ToolVerdict, execute_tool_with_hooks,
    fire_session_start_hook,
};
use hook_bus::{
    AgentHost, HookExecutionRequest, HookExecutionResponse, HookSystem, HookSystemBuilder,
};
use hook_json::RawObject;
use hook_protocol::{HookEventName, HookOutput, SessionStartInput, SessionStartSource, ToolName};
use hook_run::HandlerHook;
use hook_settings::FailBehavior;
use hook_tests::{Hook, Project, fields, object};
use serde_json::{Value, json};

const TOOL: HookEventName = HookEventName::BeforeTool;

async fn fire(system: &HookSystem, event: &str, input: Value) -> HookExecutionResponse {
    system.bus().request(HookExecutionRequest::new(event, fields(input))).await
}

fn input() -> Value {
    json!({"tool_name": "t", "tool_input": {}})
}

fn answering(event: HookEventName, name: &str, answer: &Value) -> HandlerHook {
    let answer = fields(answer.clone());
    HandlerHook::inline(event, name, move |_| {
        Ok(Some(HookOutput::read(answer.clone(), &mut Vec::new())))
    })
}

fn with(handlers: impl IntoIterator<Item = HandlerHook>) -> HookSystemBuilder {
    let builder = HookSystem::builder("/");
    handlers.into_iter().fold(builder, |builder, it| builder.handler(it))
}

#[tokio::test]
async fn decisions_rank_in_either_order() {
    let ranked = [
        ("proceed", json!({"decision": "allow"})),
        ("ask", json!({"decision": "ask", "reason": "ask"})),
        ("retry", json!({"decision": "retry", "reason": "retry", "retryAfterMs": 5})),
        ("block", json!({"decision": "deny", "reason": "block"})),
        ("stop", json!({"continue": false, "stopReason": "stop"})),
    ];
    for (weak, weaker) in ranked.iter().enumerate() {
        for (word, stronger) in &ranked[weak..] {
            for pair in [[&weaker.1, stronger], [stronger, &weaker.1]] {
                let hooks = pair.map(|answer| answering(TOOL, "h", answer));
                let response = fire(&with(hooks).build().unwrap(), "BeforeTool", input()).await;
                let processed = &response.processed;
                assert_eq!(processed.decision.as_str(), *word, "{pair:?}");
                let reason = (*word != "proceed").then_some(*word);
                assert_eq!(processed.reason.as_deref(), reason, "{pair:?}");
                assert_eq!(processed.retry_after.is_some(), *word == "retry", "{pair:?}");
            }
        }
    }
}

#[tokio::test]
async fn the_longest_wait_counts_within_its_range() {
    for (waits, expected, warned) in [
        (vec![json!(5), json!(70), json!(6)], 70, ""),
        (vec![json!(0)], 0, ""),
        (vec![json!(null)], 0, ""),
        (vec![json!(600_000)], 600_000, ""),
        (vec![json!(600_001)], 600_000, "retryAfterMs"),
        (vec![json!(-1)], 0, "retryAfterMs"),
        (vec![json!("5")], 0, "retryAfterMs"),
        (vec![json!([5])], 0, "retryAfterMs"),
        (vec![json!("5"), json!(3)], 3, "retryAfterMs"),
    ] {
        let hooks: Vec<Value> = (waits.iter().enumerate())
            .map(|(place, wait)| {
                let answer = json!({"decision": "retry", "reason": "r", "retryAfterMs": wait});
                json!({"type": "command", "name": format!("h{place}"), "command": format!("echo '{answer}'")})
            })
            .collect();
        let project = Project::with_settings(&json!({"hooks": {"BeforeTool": [{"hooks": hooks}]}}));
        let response = fire(&project.system(), "BeforeTool", input()).await;
        let processed = &response.processed;
        assert_eq!(processed.decision.as_str(), "retry", "{waits:?}");
        assert_eq!(processed.retry_after, Some(Duration::from_millis(expected)), "{waits:?}");
        let line = hook_tests::json(&response.to_json());
        assert_eq!(line["processed"]["retryAfterMs"], expected, "{waits:?}");
        let said = processed.warnings.iter().filter(|it| it.contains("retryAfterMs")).count();
        assert_eq!(said, usize::from(!warned.is_empty()), "{waits:?} {:?}", processed.warnings);
    }
}

#[tokio::test]
async fn a_retry_without_use_is_a_warning_and_of_a_guard_a_failure() {
    let after = json!({"tool_name": "t", "tool_input": {}, "tool_response": 1});
    for (behavior, expected) in [("continue", "proceed"), ("block", "block")] {
        let project = Project::with_settings(&json!({"hooks": {"AfterTool": [{"hooks": [{
            "type": "command", "name": "h", "failBehavior": behavior,
            "command": r#"echo '{"decision":"retry","reason":"r"}'"#}]}]}}));
        let response = fire(&project.system(), "AfterTool", after.clone()).await;
        assert_eq!(response.processed.decision.as_str(), expected);
        assert_eq!(response.processed.retry_after, None);
        let said = |text: &String| text.contains("a retry has no effect on AfterTool");
        assert!(response.processed.warnings.iter().any(said), "{:?}", response.processed.warnings);
    }
}

#[test]
fn the_command_ends_with_2_for_a_retry() {
    let project = Project::with_hook(
        "BeforeTool",
        r#"echo '{"decision":"retry","reason":"later","retryAfterMs":7}'"#,
    );
    let finished =
        Hook::new(&project, &["fire", "BeforeTool", "--settings", "settings.json", "--json"]).run();
    assert_eq!(finished.status, 2, "{}", finished.stderr);
    assert_eq!(finished.lines()[0]["processed"]["retryAfterMs"], 7);
}

/// A hook that answers so for the first times, and then lets things go on.
fn at_first(
    event: HookEventName,
    times: usize,
    answer: Value,
    asked: &Arc<AtomicUsize>,
) -> HandlerHook {
    let (asked, answer) = (Arc::clone(asked), fields(answer));
    HandlerHook::inline(event, "at first", move |_| {
        let said = asked.fetch_add(1, Ordering::Relaxed) < times;
        Ok(said.then(|| HookOutput::read(answer.clone(), &mut Vec::new())))
    })
}

fn retry(milliseconds: u64) -> Value {
    json!({"decision": "retry", "reason": "not yet", "retryAfterMs": milliseconds})
}

/// Calls a tool that fails for the first times; what came of it, and how often it ran.
async fn call(host: &AgentHost, failures: usize) -> (ToolResult, usize) {
    let runs = AtomicUsize::new(0);
    let call = ToolCall::new(ToolName::new("t").unwrap(), object(json!({"a": 1})));
    let result = execute_tool_with_hooks(host, call, async |_input| {
        match runs.fetch_add(1, Ordering::Relaxed) < failures {
            true => ToolResult::failed("broken"),
            false => ToolResult::text("done"),
        }
    });
    let result = result.await;
    (result, runs.into_inner())
}

#[tokio::test(start_paused = true)]
async fn a_tool_is_asked_about_again_three_times_at_most() {
    for (times, runs) in [(0, 1), (1, 1), (3, 1), (4, 0), (100, 0)] {
        let asked = Arc::default();
        let host = AgentHost::new(with([at_first(TOOL, times, retry(600_000), &asked)]));
        let begun = tokio::time::Instant::now();
        let (result, ran) = call(&host, 0).await;
        assert_eq!(ran, runs, "{times}");
        assert_eq!(asked.load(Ordering::Relaxed), times.min(3) + 1, "{times}");
        let waited = Duration::from_secs(600) * u32::try_from(times.min(3)).unwrap();
        assert!(begun.elapsed() >= waited, "{times}");
        if runs == 0 {
            let ToolVerdict::Blocked { reason } = &result.verdict else { panic!("{result:?}") };
            assert!(reason.starts_with("not yet"), "{reason}");
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_wait_beyond_the_deadline_is_not_begun() {
    let asked = Arc::default();
    let hook = at_first(TOOL, 100, retry(60_000), &asked);
    let host = AgentHost::new(with([hook]).deadline(Duration::from_secs(30)));
    let begun = tokio::time::Instant::now();
    let (result, ran) = call(&host, 0).await;
    assert!(matches!(result.verdict, ToolVerdict::Blocked { .. }), "{result:?}");
    assert_eq!((ran, asked.load(Ordering::Relaxed)), (0, 1));
    assert!(begun.elapsed() < Duration::from_secs(1));
}

#[tokio::test(start_paused = true)]
async fn a_deadline_counts_from_what_was_fired_and_not_from_what_came_before() {
    // The tool, and the user, take longer than the deadline; the retry does not.
    let asked = Arc::default();
    let hook = at_first(HookEventName::ToolError, 1, retry(0), &asked);
    let host = AgentHost::new(with([hook]).deadline(Duration::from_secs(5)));
    host.hook_system().unwrap().initialize().await.unwrap();
    let runs = AtomicUsize::new(0);
    let call = ToolCall::new(ToolName::new("t").unwrap(), object(json!({})));
    let result = execute_tool_with_hooks(&host, call, async |_input| {
        tokio::time::sleep(Duration::from_secs(60)).await;
        match runs.fetch_add(1, Ordering::Relaxed) {
            0 => ToolResult::failed("broken"),
            _ => ToolResult::text("done"),
        }
    });
    assert_eq!((result.await.error, runs.into_inner()), (None, 2));

    let denied = Arc::default();
    let again = at_first(HookEventName::PermissionDenied, 1, retry(0), &denied);
    let ask = answering(TOOL, "asks", &json!({"decision": "ask", "reason": "sure?"}));
    let questions = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&questions);
    let host = AgentHost::new(with([ask, again]).deadline(Duration::from_secs(5)));
    // To read the settings takes time, too, and here it flies.
    host.hook_system().unwrap().initialize().await.unwrap();
    let host = host.approver(move |_| {
        let is_first = counted.fetch_add(1, Ordering::Relaxed) == 0;
        async move {
            tokio::time::sleep(Duration::from_secs(60)).await;
            !is_first
        }
    });
    let (result, ran) = self::call(&host, 0).await;
    assert_eq!((ran, questions.load(Ordering::Relaxed)), (1, 2), "{result:?}");
}

#[tokio::test(start_paused = true)]
async fn what_hooks_said_before_a_retry_is_not_lost() {
    let warns = |event, name: &str| {
        HandlerHook::inline(event, name, |_| {
            let said = fields(json!({"decision": "nonsense", "systemMessage": "heard"}));
            Ok(Some(HookOutput::read(said, &mut Vec::new())))
        })
    };
    let asked = Arc::default();
    // BeforeTool is retried once, then the tool fails once and is run again.
    let host = AgentHost::new(with([
        at_first(TOOL, 1, retry(0), &asked),
        warns(HookEventName::ToolError, "of error"),
        at_first(HookEventName::ToolError, 1, retry(0), &Arc::default()),
    ]));
    let (result, ran) = call(&host, 1).await;
    assert_eq!((ran, result.error.is_none()), (2, true), "{result:?}");
    let said = |words: &str| result.warnings.iter().any(|it| it.contains(words));
    assert!(said("of error"), "{:?}", result.warnings);
}

#[tokio::test]
async fn a_function_waits_no_longer_than_an_answer_can_ask_for() {
    let hour = Duration::from_secs(3600);
    let hook = HandlerHook::inline(TOOL, "h", move |_| Ok(Some(HookOutput::retry("later", hour))));
    let response = fire(&with([hook]).build().unwrap(), "BeforeTool", input()).await;
    assert_eq!(response.processed.retry_after, Some(Duration::from_secs(600)));
    assert!(response.processed.warnings.iter().any(|it| it.contains("retryAfterMs")));
}

#[tokio::test(start_paused = true)]
async fn all_waits_together_end_with_the_deadline() {
    let asked = Arc::default();
    let hook = at_first(TOOL, 100, retry(20_000), &asked);
    let host = AgentHost::new(with([hook]).deadline(Duration::from_secs(30)));
    let (result, ran) = call(&host, 0).await;
    assert!(matches!(result.verdict, ToolVerdict::Blocked { .. }), "{result:?}");
    assert_eq!((ran, asked.load(Ordering::Relaxed)), (0, 2));
}

#[tokio::test(start_paused = true)]
async fn a_tool_that_failed_runs_again_three_times_at_most_past_its_guards() {
    for (failures, runs) in [(0, 1), (1, 2), (3, 4), (4, 4), (100, 4)] {
        let (asked, guarded) = (Arc::default(), Arc::default());
        let host = AgentHost::new(with([
            at_first(HookEventName::ToolError, 100, retry(1000), &asked),
            at_first(TOOL, 0, json!({}), &guarded),
        ]));
        let (result, ran) = call(&host, failures).await;
        assert_eq!(ran, runs, "{failures}");
        assert_eq!(guarded.load(Ordering::Relaxed), runs, "BeforeTool is passed each time");
        assert_eq!(asked.load(Ordering::Relaxed), failures.min(4), "{failures}");
        assert_eq!(result.error.is_some(), failures > 3, "{failures}");
    }
    // A guard that refuses the second run is not got past by a retry.
    let asked = Arc::default();
    let runs = Arc::new(AtomicUsize::new(0));
    let seen = Arc::clone(&runs);
    let guard = HandlerHook::inline(TOOL, "guard", move |_| {
        Ok((seen.fetch_add(1, Ordering::Relaxed) > 0).then(|| HookOutput::deny("once")))
    });
    let host =
        AgentHost::new(with([at_first(HookEventName::ToolError, 100, retry(0), &asked), guard]));
    let (result, ran) = call(&host, 100).await;
    assert_eq!(ran, 1);
    assert_eq!(result.verdict, ToolVerdict::Blocked { reason: "once".into() });
}

/// An agent whose BeforeTool hook asks, and what it is told about the permission.
fn asking(
    handlers: impl IntoIterator<Item = HandlerHook>,
) -> (AgentHost, Arc<AtomicUsize>, Arc<AtomicUsize>) {
    let (granted, denied) = (Arc::default(), Arc::default());
    let ask = answering(TOOL, "asks", &json!({"decision": "ask", "reason": "sure?"}));
    let observe = at_first(HookEventName::PermissionGranted, 0, json!({}), &granted);
    let denied_too = at_first(HookEventName::PermissionDenied, 0, json!({}), &denied);
    let host = AgentHost::new(with(handlers.into_iter().chain([ask, observe, denied_too])));
    (host, granted, denied)
}

#[tokio::test]
async fn a_permission_is_asked_for_granted_or_refused_and_told() {
    let request = HookEventName::PermissionRequest;
    for (answer, user, ran, asked_user) in [
        (json!({"decision": "allow"}), false, 1, 0),
        (json!({"decision": "deny", "reason": "never"}), true, 0, 0),
        (json!({"continue": false}), true, 0, 0),
        (json!({"decision": "ask"}), true, 1, 1),
        (json!({"systemMessage": "m"}), true, 1, 1),
        (json!({"decision": "ALLOW"}), false, 0, 1),
        (json!({"decision": "retry"}), false, 0, 1),
    ] {
        let (host, granted, denied) = asking([answering(request, "h", &answer)]);
        let questions = Arc::new(AtomicUsize::new(0));
        let counted = Arc::clone(&questions);
        let host = host.approver(move |_| {
            counted.fetch_add(1, Ordering::Relaxed);
            async move { user }
        });
        let (result, runs) = call(&host, 0).await;
        assert_eq!(runs, ran, "{answer} {result:?}");
        assert_eq!(questions.load(Ordering::Relaxed), asked_user, "{answer}");
        let told = (granted.load(Ordering::Relaxed), denied.load(Ordering::Relaxed));
        assert_eq!(told, (ran, 1 - ran), "{answer}");
    }
}

#[tokio::test]
async fn a_guard_that_fails_on_a_permission_request_refuses_it() {
    let guard =
        HandlerHook::inline(HookEventName::PermissionRequest, "guard", |_| Err("broken".into()));
    let allow = answering(HookEventName::PermissionRequest, "allow", &json!({"decision": "allow"}));
    let (host, _, denied) = asking([allow, guard.fail_behavior(FailBehavior::Block)]);
    let (_, runs) = call(&host.approver(|_| async { true }), 0).await;
    assert_eq!((runs, denied.load(Ordering::Relaxed)), (0, 1));
}

#[tokio::test(start_paused = true)]
async fn a_refusal_is_asked_about_once_more() {
    for (answers, ran, questions) in [([false, true, false], 1, 2), ([false, false, true], 0, 2)] {
        let asked = Arc::default();
        let (host, ..) =
            asking([at_first(HookEventName::PermissionDenied, 100, retry(1000), &asked)]);
        let count = Arc::new(AtomicUsize::new(0));
        let counted = Arc::clone(&count);
        let host = host.approver(move |_| {
            let answer = answers[counted.fetch_add(1, Ordering::Relaxed)];
            async move { answer }
        });
        let (result, runs) = call(&host, 0).await;
        assert_eq!((runs, count.load(Ordering::Relaxed)), (ran, questions), "{result:?}");
    }
}

#[tokio::test]
async fn a_response_that_is_no_result_undoes_no_other_hooks() {
    let answer = |response: Value| json!({"hookSpecificOutput": {"tool_response": response}});
    let redacts = answering(HookEventName::AfterTool, "r", &answer(json!({"llmContent": "-"})));
    let adds = answering(HookEventName::AfterTool, "a", &answer(json!({"note": "seen"})));
    let (result, _) = call(&AgentHost::new(with([redacts, adds])), 0).await;
    assert_eq!(result.llm_content, ToolContent::Text("-".into()));
    assert!(result.warnings.iter().any(|it| it.contains("llmContent")), "{:?}", result.warnings);
}

#[tokio::test]
async fn what_an_agent_knows_of_a_call_reaches_its_hooks() {
    let told = Arc::new(Mutex::new(Vec::new()));
    let tells = |event| {
        let told = Arc::clone(&told);
        HandlerHook::inline(event, event.as_str(), move |input| {
            told.lock()
                .unwrap()
                .push(serde_json::from_str::<Value>(input.to_raw().as_str()).unwrap());
            Ok(None)
        })
    };
    let events = [
        HookEventName::BeforeTool,
        HookEventName::ToolError,
        HookEventName::AfterTool,
        HookEventName::SessionStart,
    ];
    let host = AgentHost::new(with(events.map(tells)));
    let mut call = ToolCall::new(ToolName::new("t").unwrap(), RawObject::empty());
    call.recent_tools = vec!["read_file".into()];
    call.token_usage = Some(RawObject::parse(r#"{"total_tokens":7}"#).unwrap());
    let failed = async |_| ToolResult { exit_code: Some(3), ..ToolResult::failed("no") };
    execute_tool_with_hooks(&host, call, failed).await;
    let mut start = SessionStartInput::new(SessionStartSource::Startup);
    start.model = Some("m".into());
    fire_session_start_hook(&host, start).await;
    let told = told.lock().unwrap();
    assert_eq!(told[0]["recent_tools"], json!(["read_file"]));
    assert_eq!(told[0]["token_usage"], json!({"total_tokens": 7}));
    assert_eq!((&told[1]["exit_code"], &told[2]["exit_code"]), (&json!(3), &json!(3)));
    assert!(told[2]["duration_ms"].is_u64() && told[2]["is_error"] == json!(true), "{}", told[2]);
    assert_eq!(told[3]["model"], "m");
}

#[tokio::test]
async fn a_stop_because_of_a_failure_is_told_to_hooks_of_the_result() {
    let told = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&told);
    let hears = HandlerHook::inline(HookEventName::AfterTool, "after", move |_| {
        counted.fetch_add(1, Ordering::Relaxed);
        Ok(None)
    });
    let stops = answering(HookEventName::ToolError, "s", &json!({"continue": false}));
    let (result, runs) = call(&AgentHost::new(with([hears, stops])), 1).await;
    assert!(matches!(result.verdict, ToolVerdict::Stopped { ran: true, .. }), "{result:?}");
    assert_eq!((runs, told.load(Ordering::Relaxed)), (1, 1));
}

#[tokio::test]
async fn what_is_within_an_answer_is_of_its_type_too() {
    for (event, told, specific) in [
        ("Compacting", json!({"messages": []}), json!({"context": [1]})),
        ("BeforeAgent", json!({"prompt": "p"}), json!({"message": {"customType": 5}})),
        ("BeforeSessionTree", json!({"preparation": {}}), json!({"summary": {}})),
    ] {
        let name = HookEventName::from_name(event).unwrap();
        let answer = json!({"hookSpecificOutput": specific});
        let system = with([answering(name, "h", &answer)]).build().unwrap();
        let response = fire(&system, event, told).await;
        let warnings = &response.processed.warnings;
        assert!(warnings.iter().any(|it| it.contains("changes nothing")), "{event}: {warnings:?}");
    }
}

#[tokio::test]
async fn a_hook_replaces_a_tools_response_by_one_of_its_kind() {
    for (response, expected) in [
        (json!({"llmContent": "other"}), "other"),
        (json!("other"), "done"),
        (json!({"text": "other"}), "done"),
    ] {
        let answer = json!({"hookSpecificOutput": {"tool_response": response}});
        let host = AgentHost::new(with([answering(HookEventName::AfterTool, "h", &answer)]));
        let (result, _) = call(&host, 0).await;
        assert_eq!(result.llm_content, ToolContent::Text(expected.into()), "{response}");
        assert_eq!(result.warnings.is_empty(), expected == "other", "{response}");
    }
}

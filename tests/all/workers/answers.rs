//! What workers are told, and what their answers mean.

use std::time::Duration;

use hook_protocol::PolicyDecision;
use hook_tests::Hook;
use serde_json::{Value, json};

use super::{end, fire, is_blocked, project, request, started, why};

/// Answers with what stands in the tool's name.
const SAYS: &str = "
ready()
for call in calls():
    answer(call, **json.loads(tool(call)))
";

#[tokio::test]
async fn an_output_is_read_as_a_script_s_is() {
    let project = project(SAYS, json!({}));
    let system = project.system();
    for (output, decision, reason) in [
        (json!({"decision": "deny", "reason": "r"}), PolicyDecision::Block, Some("r")),
        (json!({"decision": "ask", "reason": "r"}), PolicyDecision::Ask, Some("r")),
        (json!({"decision": "allow"}), PolicyDecision::Proceed, None),
        (json!({"continue": false, "stopReason": "s"}), PolicyDecision::Stop, Some("s")),
        (json!({}), PolicyDecision::Proceed, None),
    ] {
        let response = fire(&system, &json!({"output": output}).to_string()).await;
        let processed = &response.processed;
        assert_eq!(
            (processed.decision, processed.reason.as_deref()),
            (decision, reason),
            "{output}"
        );
        assert_eq!(why(&response), "");
        assert_eq!(response.hooks[0].hook.kind(), "worker");
    }
    // Nothing beside the envelope is no objection, and so is an output that is null.
    for nothing in [json!({}), json!({"output": null}), json!({"error": null, "hookId": "w"})] {
        let response = fire(&system, &nothing.to_string()).await;
        assert_eq!(response.processed.decision, PolicyDecision::Proceed, "{nothing}");
        assert_eq!(why(&response), "", "{nothing}");
    }
    assert_eq!(started(&project).len(), 1);
    end(&project, system).await;
}

#[tokio::test]
async fn an_action_is_a_short_answer() {
    let project = project(SAYS, json!({}));
    let system = project.system();
    for (action, decision) in [
        (json!({"action": "block", "reason": "r"}), PolicyDecision::Block),
        (json!({"action": "retry", "delay": 50, "reason": "r"}), PolicyDecision::Retry),
        (json!({"action": "continue"}), PolicyDecision::Proceed),
        (json!({"action": "skip"}), PolicyDecision::Proceed),
    ] {
        let response = fire(&system, &action.to_string()).await;
        assert_eq!(response.processed.decision, decision, "{action}: {}", why(&response));
        assert_eq!(why(&response), "", "{action}");
        if decision > PolicyDecision::Proceed {
            assert_eq!(response.processed.reason.as_deref(), Some("r"));
        }
        let delay = (decision == PolicyDecision::Retry).then(|| Duration::from_millis(50));
        assert_eq!(response.processed.retry_after, delay);
    }
    end(&project, system).await;
}

/// What an answer that cannot be read does: a guard blocks, another hook has failed and says so.
#[tokio::test]
async fn an_answer_that_means_nothing_is_a_failure() {
    for behavior in ["continue", "block"] {
        let project = project(SAYS, json!({"failBehavior": behavior}));
        let system = project.system();
        for (said, part) in [
            (json!({"action": "explode"}), "`action` is none that is known"),
            (json!({"action": 7}), "`action` is none that is known"),
            (json!({"reason": "no action"}), "`action` is none that is known"),
            (json!({"action": "continue", "decision": "deny"}), "`decision` is not known beside"),
            (json!({"error": "KeyError: 'path'"}), "it failed, and says: KeyError: 'path'"),
            (json!({"error": {"code": 7}}), "it failed, and says: {\"code\": 7}"),
            (json!({"error": "x", "output": {"decision": "allow"}}), "it failed, and says: x"),
        ] {
            let response = fire(&system, &said.to_string()).await;
            assert!(why(&response).contains(part), "{said}: {}", why(&response));
            assert_eq!(is_blocked(&response), behavior == "block", "{said}");
            assert!(!response.processed.warnings.is_empty(), "{said}");
        }
        assert_eq!(started(&project).len(), 1, "a failed answer ends no process");
        end(&project, system).await;
    }
}

#[tokio::test]
async fn late_second_and_unknown_answers_are_dropped() {
    let project = project(
        "
ready()
late = None
for call in calls():
    if tool(call) == 'late':
        late = call
        continue
    for other in ['99', '7' * 30, 'x', '', late['callId'] if late else '0']:
        say(type='hook-answer', callId=other, action='block', reason='no')
    answer(call, output={'systemMessage': 'mine'})
    answer(call, action='block', reason='changed its mind')
",
        json!({"timeout": 4_000}),
    );
    let system = project.system();
    for tool in ["a", "late", "b", "c"] {
        let response = fire(&system, tool).await;
        assert!(!is_blocked(&response), "{tool}");
        match tool {
            "late" => assert_eq!(why(&response), "Hook timed out after 4000ms"),
            _ => assert_eq!(response.processed.system_message.as_deref(), Some("mine"), "{tool}"),
        }
    }
    assert_eq!(started(&project).len(), 1);
    // Five before each of three answers, a second one behind each; the late one comes twice.
    let begun = std::time::Instant::now();
    let status = loop {
        let status = super::status(&system);
        if status.dropped.unknown + status.dropped.late >= 18 {
            break status;
        }
        assert!(begun.elapsed() < super::PROMPT, "{status}");
        tokio::time::sleep(std::time::Duration::from_millis(5)).await;
    };
    assert_eq!((status.dropped.unknown, status.dropped.late), (13, 5), "{status}");
    assert!(status.to_string().contains("dropped answers: 5 too late"), "{status}");
    end(&project, system).await;
}

#[tokio::test]
async fn what_it_writes_on_standard_error_is_its_call_s() {
    let project = project(
        "
ready()
for call in calls():
    print('about', tool(call), file=sys.stderr, flush=True)
    answer(call)
",
        json!({}),
    );
    let system = project.system();
    for tool in ["a", "b"] {
        let response = fire(&system, tool).await;
        let said = String::from_utf8_lossy(&response.hooks[0].process.stderr.bytes).into_owned();
        assert_eq!(said, format!("about {tool}\n"));
    }
    end(&project, system).await;
}

#[tokio::test]
async fn a_call_tells_event_input_and_time() {
    let project = project(
        "
ready()
for call in calls():
    answer(call, output={'systemMessage': json.dumps(call)})
",
        json!({"timeout": 30_000}),
    );
    let system = project.system();
    fire(&system, "first").await;
    let request = request("second")
        .with_correlation_id(hook_bus::message::CorrelationId::new("c-1").unwrap());
    let response = system.bus().request(request).await;
    let told: Value =
        serde_json::from_str(response.processed.system_message.as_deref().unwrap()).unwrap();
    assert_eq!(
        (&told["type"], &told["callId"], &told["hookId"], &told["eventName"]),
        (&json!("hook-call"), &json!("2"), &json!("w"), &json!("BeforeTool"))
    );
    assert_eq!(told["correlationId"], "c-1");
    let left = told["deadlineMs"].as_u64().unwrap();
    assert!((10_000..=30_000).contains(&left), "{left}");
    // The input is what a command hook reads.
    assert_eq!(told["input"]["tool_name"], "second");
    assert_eq!(told["input"]["hook_event_name"], "BeforeTool");
    assert_eq!(told["input"]["session_id"], "test");
    end(&project, system).await;
}

#[tokio::test]
async fn a_call_that_nobody_waits_for_any_more_is_cancelled() {
    let project = project(
        "
ready()
for message in messages():
    note('heard', message['type'] + ' ' + message.get('callId', ''))
    if message['type'] == 'hook-call' and tool(message) == 'answer':
        answer(message)
",
        json!({"timeout": 4_000}),
    );
    let system = project.system();
    // Its time runs out.
    assert_eq!(why(&fire(&system, "hang").await), "Hook timed out after 4000ms");
    // Its caller goes.
    let mut asked = Box::pin(system.bus().request(request("hang")));
    tokio::select! {
        _ = &mut asked => panic!("nobody answers it"),
        () = heard(&project, "hook-call 2") => {}
    }
    drop(asked);
    heard(&project, "hook-call-cancelled 2").await;
    assert_eq!(why(&fire(&system, "answer").await), "");
    let told: Vec<String> = project.read("heard").lines().map(str::to_owned).collect();
    let expected = [
        "hook-call 1",
        "hook-call-cancelled 1",
        "hook-call 2",
        "hook-call-cancelled 2",
        "hook-call 3",
    ];
    assert_eq!(told, expected);
    end(&project, system).await;
}

/// Waits until a worker has noted a line.
async fn heard(project: &hook_tests::Project, line: &str) {
    let begun = std::time::Instant::now();
    while !project.read("heard").lines().any(|heard| heard == line) {
        assert!(begun.elapsed() < super::PROMPT, "{line} never came");
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

#[test]
fn the_binary_asks_it_and_ends_it() {
    let project = project(SAYS, json!({"failBehavior": "block"}));
    for (said, status) in [
        (json!({"output": {"decision": "deny", "reason": "no"}}), 2),
        (json!({}), 0),
        (json!({"error": "broken"}), 2),
    ] {
        let input = json!({"tool_name": said.to_string(), "tool_input": {}}).to_string();
        let fire = ["fire", "BeforeTool", "--settings=settings.json", "--input", &input];
        let fired = Hook::new(&project, &fire).run();
        assert_eq!(fired.status, status, "{fired:?}");
        assert!(fired.stdout.contains('w'), "{fired:?}");
        let left = project.processes();
        project.kill_processes();
        assert_eq!(left, [], "{said}");
    }
}

#[tokio::test]
async fn no_answer_is_lost_behind_many_lines() {
    // All in one write: the last of them is the answer.
    let body = "ready()\nfor call in calls():\n    \
                log = json.dumps({'type': 'hook-log', 'level': 'info', 'message': 'm'})\n    \
                last = json.dumps({'type': 'hook-answer', 'callId': call['callId'], 'action': 'block'})\n    \
                sys.stdout.write((log + '\\n') * int(call['input']['tool_name']) + last + '\\n')\n    \
                sys.stdout.flush()\n";
    let project = project(body, json!({}));
    let system = project.system();
    for lines in [0, 1, 62, 63, 64, 65, 127, 128, 200] {
        assert!(is_blocked(&fire(&system, &lines.to_string()).await), "{lines}");
    }
    end(&project, system).await;
}

#[tokio::test]
async fn what_stands_beside_a_whole_answer_is_not_passed_over() {
    for said in [
        "output={}, action='block', reason='no'",
        "output={}, decision='deny'",
        "error='e', action='continue'",
    ] {
        let body = format!("ready()\nfor call in calls():\n    answer(call, {said})\n");
        let project = project(&body, json!({"failBehavior": "block"}));
        let system = project.system();
        assert!(is_blocked(&fire(&system, "t").await), "{said}");
        end(&project, system).await;
    }
}

#[tokio::test]
async fn what_it_said_right_before_its_end_counts() {
    let body = "ready()\nfor call in calls():\n    answer(call, action='block', reason='last')\n    os._exit(0)\n";
    for _ in 0..5 {
        let project = project(body, json!({}));
        let system = project.system();
        let response = fire(&system, "t").await;
        assert_eq!(response.processed.reason.as_deref(), Some("last"));
        end(&project, system).await;
    }
}

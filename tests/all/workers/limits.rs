//! What a conversation bounds: calls in flight, bytes that wait, lines.

use std::future::pending;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use futures::FutureExt;
use futures::future::{BoxFuture, join_all};
use hook_bus::HookExecutionRequest;
use hook_json::RawJson;
use hook_run::{HostCall, HostCallError, HostServices};
use hook_tests::fields;
use serde_json::json;

use super::{PROMPT, end, fire, is_blocked, project, request, started, why};

/// The 65th call waits until one of those before it is answered, and its time begins only then.
#[tokio::test]
async fn sixty_four_calls_are_in_flight_and_the_others_wait() {
    let project = project(
        "
ready()
held = []
for call in calls():
    held.append(call)
    if len(held) == 64:
        # Nobody else is told of anything meanwhile, and those that wait have no time to lose.
        time.sleep(1.5)
        for call in held: answer(call)
        note('answered', len(held))
        held = None
        break
for call in calls():
    answer(call)
",
        json!({"timeout": 4_000}),
    );
    let system = project.system();
    let asked = (0..65).map(|_| fire(&system, "t"));
    let begun = Instant::now();
    let responses = join_all(asked).await;
    assert!(begun.elapsed() >= Duration::from_millis(1_500));
    for response in &responses {
        assert_eq!(why(response), "");
    }
    let queued: Vec<Duration> = responses.iter().map(|it| it.hooks[0].queued).collect();
    let waited = queued.iter().filter(|it| **it >= Duration::from_secs(1)).count();
    assert_eq!(waited, 1, "{queued:?}");
    // It was queued, and not slow.
    let last = responses.iter().max_by_key(|it| it.hooks[0].queued).unwrap();
    assert!(last.hooks[0].duration < Duration::from_secs(1), "{:?}", last.hooks[0].duration);
    assert_eq!(project.read("answered"), "64\n");
    end(&project, system).await;
}

#[tokio::test]
async fn calls_that_hang_do_not_hold_up_others() {
    let project = project(
        "
ready()
for call in calls():
    note('called', 'x')
    if tool(call) != 'hang': answer(call)
",
        json!({"timeout": 60_000}),
    );
    let system = project.system();
    let hanging = join_all((0..63).map(|_| system.bus().request(request("hang"))));
    let others = async {
        while project.read("called").lines().count() < 63 {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        for _ in 0..100 {
            assert_eq!(why(&fire(&system, "t").await), "");
        }
    };
    tokio::select! {
        _ = hanging => panic!("nobody answers them"),
        done = tokio::time::timeout(PROMPT, others) => done.unwrap(),
    }
    assert_eq!(started(&project).len(), 1);
    end(&project, system).await;
}

/// A larger call than may wait is sent when nothing else does.
#[tokio::test]
async fn an_input_of_twenty_megabytes_arrives() {
    let project = project(
        "
ready()
for call in calls():
    answer(call, output={'systemMessage': str(len(call['input']['tool_input'].get('text', '')))})
",
        json!({"failBehavior": "block"}),
    );
    let system = project.system();
    let large = |size: usize| {
        let input = json!({"tool_name": "t", "tool_input": {"text": "x".repeat(size)}});
        let request = HookExecutionRequest::new("BeforeTool", fields(input));
        async { system.bus().request(request).await }
    };
    let sizes = [20_000_000, 1, 9_000_000, 20_000_000, 3];
    let responses = join_all(sizes.map(large)).await;
    for (size, response) in sizes.iter().zip(responses) {
        let said = response.processed.system_message.clone();
        assert_eq!(said, Some(size.to_string()), "{}", why(&response));
    }
    end(&project, system).await;
}

/// One that does not read: what is to be told waits up to a bound, and calls have their time and no more.
#[tokio::test]
async fn one_that_never_reads_fails_its_calls_in_time() {
    let project = project(
        "ready()\nwhile True: time.sleep(1)\n",
        json!({"timeout": 1_000, "failBehavior": "block"}),
    );
    let system = project.system();
    let megabyte = "x".repeat(1_000_000);
    let asked = (0..20).map(|_| {
        let input = json!({"tool_name": "t", "tool_input": {"text": megabyte}});
        system.bus().request(HookExecutionRequest::new("BeforeTool", fields(input)))
    });
    let responses = tokio::time::timeout(PROMPT, join_all(asked)).await.unwrap();
    for response in &responses {
        assert!(is_blocked(response), "{}", why(response));
        assert!(!why(response).is_empty());
    }
    end(&project, system).await;
}

/// A hook that holds up its place until its timeout is why others are not called: that is said.
#[tokio::test]
async fn a_call_that_gets_no_place_says_so_when_its_request_ends() {
    let project = project(
        "ready()\nfor call in calls(): note('called', 'x')\n",
        json!({"timeout": 60_000, "failBehavior": "block"}),
    );
    let system = project.system();
    let hanging = join_all((0..64).map(|_| system.bus().request(request("hang"))));
    let one_more = async {
        while project.read("called").lines().count() < 64 {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        let late = request("late").with_deadline(Duration::from_millis(100));
        system.bus().request(late).await
    };
    let response = tokio::select! {
        _ = hanging => panic!("nobody answers them"),
        response = tokio::time::timeout(PROMPT, one_more) => response.unwrap(),
    };
    assert!(is_blocked(&response));
    let said = &response.processed.warnings;
    let part = "it was not called: as many calls of its conversation as there may be (64)";
    assert!(said.iter().any(|it| it.contains(part)), "{said:?}");
    let message = hook_tests::json(&response.to_json());
    assert_eq!(message["error"]["details"]["unfinished"], json!(["w"]), "{message}");
    end(&project, system).await;
}

/// Notes by which token requests come from inside of a hook, and keeps that hook waiting.
#[derive(Debug, Default)]
struct Tokens(Mutex<Option<String>>);

impl HostServices for Tokens {
    fn call(&self, call: HostCall) -> BoxFuture<'static, Result<RawJson, HostCallError>> {
        *self.0.lock().unwrap() = Some(call.run_token);
        pending().boxed()
    }
}

/// Calls that come of a hook's own requests have places of their own: 64 for each depth, and no more.
#[tokio::test]
async fn calls_from_inside_of_a_hook_are_bounded_and_do_not_wait_for_those_outside() {
    let project = project(
        "
ready()
for call in calls():
    note('called-' + tool(call), 'x')
    if tool(call) == 'outer':
        say(type='hook-host-call', hostCallId=1, callId=call['callId'], method='tool.execute')
",
        json!({"timeout": 60_000}),
    );
    let tokens = Arc::new(Tokens::default());
    let services = Arc::clone(&tokens) as Arc<dyn HostServices>;
    let system = project.builder().host_services(services).build().unwrap();
    let outer = join_all((0..64).map(|_| system.bus().request(request("outer"))));
    let called = |tool: &'static str| project.read(&format!("called-{tool}")).lines().count();
    let inner = async {
        let token = loop {
            let token = tokens.0.lock().unwrap().clone();
            if let Some(token) = token.filter(|_| called("outer") == 64) {
                break token;
            }
            tokio::time::sleep(Duration::from_millis(5)).await;
        };
        let ask = || system.bus().request(request("inner").with_run_token(token.clone()));
        let hanging = join_all((0..64).map(|_| ask()));
        let one_more = async {
            while called("inner") < 64 {
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
            let late = request("late").with_run_token(token.clone());
            system.bus().request(late.with_deadline(Duration::from_millis(200))).await
        };
        tokio::select! {
            _ = hanging => panic!("nobody answers them"),
            response = one_more => response,
        }
    };
    let response = tokio::select! {
        _ = outer => panic!("nobody answers them"),
        response = tokio::time::timeout(PROMPT, inner) => response.unwrap(),
    };
    assert!(response.processed.warnings.iter().any(|it| it.contains("it was not called")));
    assert_eq!(called("late"), 0);
    end(&project, system).await;
}

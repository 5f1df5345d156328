//! Any bytes from a worker: the engine answers, in time, and a guard blocks unless it was answered.

use hook_protocol::PolicyDecision;
use proptest::prelude::*;
use serde_json::json;

use super::{PROMPT, fire, is_blocked, project, why};

/// Pieces of messages, whole ones, and what is neither.
fn piece() -> impl Strategy<Value = Vec<u8>> {
    let words = proptest::sample::select(vec![
        r#"{"type":"hook-worker","protocol":1}"#,
        r#"{"type":"hook-answer","callId":"1"}"#,
        r#"{"type":"hook-answer","callId":"1","output":{"decision":"deny"}}"#,
        r#"{"type":"hook-answer","callId":"1","output":{"decision":7}}"#,
        r#"{"type":"hook-answer","callId":"1","action":"retry","delay":-1}"#,
        r#"{"type":"hook-answer","callId":"1","error":""}"#,
        r#"{"type":"hook-host-call","hostCallId":{},"callId":"1","method":"ui.confirm"}"#,
        r#"{"type":"hook-log","level":7,"message":null}"#,
        r#"{"type":"hook-worker","hooks":[{"hookId":"","eventName":""}]}"#,
        "\n",
        "\n",
        "\n",
        "{",
        "}",
        "\"",
        ",",
        "[",
        "\\u0000",
        "\\ud800",
        "null",
        " ",
        "\r",
    ]);
    let words = words.prop_map(|word: &str| word.as_bytes().to_vec());
    prop_oneof![6 => words, 1 => proptest::collection::vec(any::<u8>(), 0..12)]
}

#[test]
fn any_bytes_end_in_an_answer_and_a_guard_blocks() {
    let runtime = tokio::runtime::Runtime::new().unwrap();
    // It writes what stands in a file once it was called, and perhaps before it was.
    let project = project(
        "",
        json!({"failBehavior": "block", "timeout": 400, "startTimeout": 300,
        "command": "cat before; IFS= read -r call; cat after"}),
    );
    let config =
        ProptestConfig { cases: 48, failure_persistence: None, ..ProptestConfig::default() };
    let mut runner = proptest::test_runner::TestRunner::new(config);
    let bytes = || proptest::collection::vec(piece(), 0..12);
    let cases = (any::<bool>(), bytes(), bytes());
    let checked = runner.run(&cases, |(is_ready, before, after)| {
        let ready = if is_ready { &b"{\"type\":\"hook-worker\"}\n"[..] } else { b"" };
        std::fs::write(project.path().join("before"), [ready, &before.concat()].concat()).unwrap();
        std::fs::write(project.path().join("after"), after.concat()).unwrap();
        let (blocked, said) = runtime.block_on(async {
            let system = project.system();
            let begun = std::time::Instant::now();
            let response = fire(&system, "t").await;
            assert!(begun.elapsed() < PROMPT);
            system.shutdown(std::time::Duration::ZERO).await;
            (
                is_blocked(&response) || response.processed.decision > PolicyDecision::Proceed,
                why(&response),
            )
        });
        // Only an answer without an objection lets it proceed.
        let all = String::from_utf8_lossy(&[before.concat(), after.concat()].concat()).into_owned();
        prop_assert!(blocked || (said.is_empty() && all.contains("hook-answer")), "{said}");
        prop_assert_eq!(project.processes(), vec![]);
        Ok(())
    });
    checked.unwrap();
}

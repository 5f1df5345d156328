//! Recordings, as `hook trace` and `hook replay` read them.

use hook_json::RawJson;
use hook_record::recording::{Recording, compare};
use proptest::prelude::*;

use super::generate::{Bytes, bytes, damaged};
use super::{LONGEST_MESSAGE, check, runtime};

/// Deeper than a stack allows, and not so deep that reading it a hundred times takes long.
const DEEP: usize = 20_000;

const WORDS: &[&str] = &[
    "type",
    "hook-recording",
    "version",
    "at",
    "request",
    "message",
    "missed",
    "hook-started",
    "hook-finished",
    "hook-execution-request",
    "hook-execution-response",
    "hooks",
    "hook",
    "name",
    "duration",
    "processed",
    "decision",
    "error",
    "exitCode",
    "stdout",
];

fn valid() -> Vec<u8> {
    let sample = "docs/examples/agent-session/session.hookrec";
    let sample = std::fs::read_to_string(hook_tests::workspace().join(sample)).unwrap();
    // What is damaged should be small, so that damages meet.
    sample.lines().take(30).collect::<Vec<_>>().join("\n").into_bytes()
}

fn any_recording() -> impl Strategy<Value = Bytes> {
    let sample = valid();
    let header = String::from_utf8_lossy(&sample).lines().next().unwrap_or_default().to_owned();
    let rest = move |Bytes(rest)| Bytes([header.as_bytes(), b"\n", &rest].concat());
    prop_oneof![1 => bytes(WORDS).prop_map(rest), 3 => damaged(vec![sample])]
}

#[test]
fn any_bytes_are_refused_with_a_line_or_read() {
    let runtime = runtime();
    check(300, any_recording(), |bytes| {
        let recording = match runtime.block_on(Recording::read(bytes.0.as_slice())) {
            Ok(recording) => recording,
            Err(error) => {
                let error = error.to_string();
                prop_assert!(
                    error.starts_with("line ") && error.len() < LONGEST_MESSAGE,
                    "{error}"
                );
                return Ok(());
            }
        };
        let summary = recording.summary();
        let hooks: usize = recording.requests.iter().map(|request| request.hooks.len()).sum();
        prop_assert_eq!(summary.hooks, hooks);
        prop_assert!(summary.waited <= summary.in_hooks.max(recording.duration));
        for request in &recording.requests {
            prop_assert!(request.end() >= request.at);
            let _ = (request.subject(), request.outcome(), request.unreplayable());
            for hook in &request.hooks {
                let _ = (hook.outcome(), hook.duration());
            }
            if let Some(response) = &request.response {
                prop_assert_eq!(compare(&response.message, &response.message), []);
            }
        }
        Ok(())
    });
}

#[test]
fn very_deep_responses_are_compared_without_a_stack() {
    let deep = |leaf: &str| {
        let text = format!(
            "{{\"output\":{{\"finalOutput\":{}{leaf}{}}}}}",
            "{\"a\":".repeat(DEEP),
            "}".repeat(DEEP)
        );
        RawJson::parse(text).unwrap()
    };
    let (one, other) = (deep("1"), deep("2"));
    assert_eq!(compare(&one, &one), []);
    assert_eq!(compare(&one, &other).len(), 1);
}

#[test]
fn a_request_with_very_many_hooks_is_read_without_a_look_at_each_for_each() {
    // With a look at each hook for each that finished, this takes minutes.
    const HOOKS: usize = 30_000;
    let header = r#"{"type":"hook-recording","version":1}"#;
    let hook =
        |index: usize| format!(r#"{{"name":"hook {index}","type":"command","source":"user"}}"#);
    let message = |kind: &str, rest: &str| {
        format!(r#"{{"at":1,"request":0,"message":{{"type":"{kind}",{rest}}}}}"#)
    };
    let told =
        |kind: &'static str, index: usize| message(kind, &format!(r#""hook":{}"#, hook(index)));
    // What started last finishes first.
    let started = (0..HOOKS).map(|index| told("hook-started", index));
    let finished = (0..HOOKS).rev().map(|index| told("hook-finished", index));
    let answered: Vec<String> = (0..HOOKS).rev().map(hook).collect();
    let response =
        message("hook-execution-response", &format!(r#""hooks":[{}]"#, answered.join(",")));
    let lines = std::iter::once(header.to_owned()).chain(started).chain(finished);
    let text = lines.chain([response]).collect::<Vec<_>>().join("\n");

    let begun = std::time::Instant::now();
    let recording = runtime().block_on(Recording::read(text.as_bytes())).unwrap();
    assert!(begun.elapsed() < super::PATIENCE, "{:?}", begun.elapsed());
    let hooks = &recording.requests[0].hooks;
    assert_eq!(hooks.len(), HOOKS);
    assert!(
        hooks.iter().all(|hook| hook.end.is_some() && hook.result.is_some() && !hook.estimated)
    );
    assert_eq!((&*hooks[0].name, &*hooks[HOOKS - 1].name), ("hook 29999", "hook 0"));
}

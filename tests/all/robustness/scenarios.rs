//! Scenario files of `hook test`.

use hook_bus::HookSystem;
use hook_protocol::{Events, HookEventName, HookOutput};
use hook_record::script::{Scenario, TestReport, update};
use hook_run::HandlerHook;
use proptest::prelude::*;

use super::generate::{Bytes, bytes, damaged};
use super::{VERY_DEEP, check, runtime};

const WORDS: &[&str] = &[
    "[[test]]\n",
    "[test.expect]\n",
    "test",
    "name",
    "event",
    "input",
    "message",
    "expect",
    "decision",
    "proceed",
    "reason",
    "hooks",
    "healthy",
    "output",
    "response",
    "error",
    "BeforeTool",
    "/(/",
    "name = \"a\"\n",
    "event = \"BeforeAgent\"\n",
    " = ",
    "1979-05-27T07:32:00Z",
    "inf",
    "nan",
    "'''",
    "#",
];

const VALID: &str = r#"
[[test]] # a comment
name = "an ordinary file may be written"
event = "BeforeTool"
input = { tool_name = "write_file", tool_input = { path = "notes.txt", size = 1.5 } }
expect = { decision = "ask", hooks = ["asks"], reason = "/^says.*so$/" }

[[test]]
name = 'a message'
message = '''{"type": "hook-execution-request", "eventName": "BeforeAgent",
  "input": {"prompt": 7}}'''
expect = { error = "invalid_payload", response = { error = { details = { field = "prompt" } } } }

[[test]]
name = "the rest"
event = "BeforeAgent"
[test.input]
prompt = "é"
[test.expect]
suppressOutput = false
healthy = true
systemMessage = "m"
output = { decision = "ask", continue = true }
"#;

fn system() -> HookSystem {
    let asks = |event| {
        HandlerHook::inline(event, "asks", |_| {
            Ok(Some(HookOutput::ask("says so").with_system_message("m")))
        })
    };
    let builder = HookEventName::all()
        .fold(HookSystem::builder("."), |builder, event| builder.handler(asks(event)));
    builder.build().unwrap()
}

fn any_scenario() -> impl Strategy<Value = Bytes> {
    prop_oneof![1 => bytes(WORDS), 3 => damaged(vec![VALID.as_bytes().to_vec()])]
}

#[test]
fn any_text_is_refused_with_a_reason_or_played_to_the_end() {
    let system = system();
    let runtime = runtime();
    check(400, any_scenario(), |text| {
        let text = text.text();
        let scenario = match Scenario::parse(&text, &Events::built_in()) {
            Ok(scenario) => scenario,
            Err(error) => {
                let lines = text.lines().count().max(1);
                prop_assert!((1..=lines + 1).contains(&error.line()), "{error}");
                prop_assert!(error.column() > 0 && text.get(error.span()).is_some(), "{error}");
                return Ok(());
            }
        };
        prop_assert!(!scenario.tests.is_empty());
        for test in &scenario.tests {
            let report = runtime.block_on(test.run(system.bus()));
            prop_assert_eq!(&report.name, &test.name);
            // It says what differs, and differs from what was expected.
            for mismatch in &report.mismatches {
                prop_assert!(mismatch.expected != mismatch.found, "{:?}", mismatch);
            }
            if test.expect == Default::default() {
                prop_assert_eq!(report.passed(), report.response.success());
            }
        }
        Ok(())
    });
}

#[test]
fn an_update_makes_every_test_pass_that_it_says_it_updated_and_touches_nothing_else() {
    let system = system();
    let runtime = runtime();
    let play = |scenario: &Scenario| -> Vec<TestReport> {
        scenario.tests.iter().map(|test| runtime.block_on(test.run(system.bus()))).collect()
    };
    check(400, any_scenario(), |text| {
        let text = text.text();
        let Ok(scenario) = Scenario::parse(&text, &Events::built_in()) else { return Ok(()) };
        let reports = play(&scenario);
        let numbered: Vec<(usize, &TestReport)> = reports.iter().enumerate().collect();
        let updated = update(&text, &numbered, &Events::built_in()).unwrap();
        if updated.changes.is_empty() {
            prop_assert_eq!(&updated.text, &text);
        }
        let again = Scenario::parse(&updated.text, &Events::built_in()).unwrap();
        prop_assert_eq!(again.tests.len(), scenario.tests.len());
        for (index, report) in play(&again).iter().enumerate() {
            let left = updated.skipped.iter().any(|left| left.test == index);
            prop_assert_eq!(report.passed(), !left, "{}: {:?}", updated.text, report.mismatches);
        }
        // What passes has nothing to be updated.
        for (index, (before, after)) in scenario.tests.iter().zip(&again.tests).enumerate() {
            prop_assert_eq!(&before.name, &after.name);
            if reports[index].passed() && before.expect != Default::default() {
                prop_assert_eq!(&before.expect, &after.expect);
            }
        }
        let comments = |text: &str| text.matches("# a comment").count();
        prop_assert_eq!(comments(&text), comments(&updated.text));
        Ok(())
    });
}

/// A text as TOML, every letter of it escaped that might mean something.
fn toml(text: &str) -> String {
    let escaped = |letter: char| match letter {
        'a'..='z' | ' ' => letter.to_string(),
        other => format!("\\U{:08x}", u32::from(other)),
    };
    format!("\"{}\"", text.chars().map(escaped).collect::<String>())
}

#[test]
fn a_text_passes_exactly_if_it_is_what_the_hook_said_unless_it_stands_between_slashes() {
    let runtime = runtime();
    let text = || prop_oneof![any::<String>(), "[/a]{0,3}", "\\PC{0,8}"];
    check(300, (text(), text()), |(said, expected)| {
        let answer = said.clone();
        let says = HandlerHook::inline(HookEventName::BeforeAgent, "says", move |_| {
            Ok(Some(HookOutput::deny(answer.clone())))
        });
        let system = HookSystem::builder(".").handler(says).build().unwrap();
        // An empty reason is as good as none.
        let reason = if said.is_empty() { "No reason provided".to_owned() } else { said };
        for expected in [&expected, &reason] {
            let is_pattern =
                expected.len() > 1 && expected.starts_with('/') && expected.ends_with('/');
            if is_pattern {
                continue;
            }
            let scenario = format!(
                "[[test]]\nname = \"t\"\nevent = \"BeforeAgent\"\ninput.prompt = \"\"\n\
                 expect.reason = {}",
                toml(expected)
            );
            let scenario = Scenario::parse(&scenario, &Events::built_in()).unwrap();
            let report = runtime.block_on(scenario.tests[0].run(system.bus()));
            prop_assert_eq!(report.passed(), *expected == reason, "{:?}", report.mismatches);
        }
        Ok(())
    });
}

#[test]
fn very_deep_scenarios_overflow_no_stack() {
    let test = "[[test]]\nname = \"t\"\nevent = \"BeforeAgent\"\n";
    let system = system();
    for depth in [50, 200, VERY_DEEP] {
        for text in [
            format!("{test}input.a = {}{}", "[".repeat(depth), "]".repeat(depth)),
            format!("{test}input = {}1{}", "{a=".repeat(depth), "}".repeat(depth)),
            format!("{test}input{} = 1", ".a".repeat(depth)),
            format!("{test}expect.output{} = 1", ".a".repeat(depth)),
            format!("{test}[test.expect.response{}]", ".a".repeat(depth)),
            format!("[[test]]\nname = \"t\"\nmessage = '''{}'''", "[".repeat(depth)),
        ] {
            if let Ok(scenario) = Scenario::parse(&text, &Events::built_in()) {
                let report = runtime().block_on(scenario.tests[0].run(system.bus()));
                assert!(!report.passed() && depth < VERY_DEEP || text.contains("'''"), "{text}");
            }
        }
    }
}

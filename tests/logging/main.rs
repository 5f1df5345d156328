//! What is logged (requirements DELTA-HTEL-001 to -003).
//!
//! In a process of its own: `tracing` remembers of each place in the code whether anybody listened
//! when it was first reached, and the other tests have no listener.

#![cfg(unix)]
#![allow(clippy::unwrap_used, reason = "in a test, what cannot go on should end it")]

use std::io;
use std::sync::{Arc, Mutex};

use hook_bus::HookSystem;
use hook_core::ProcessedHookResult;
use hook_json::RawObject;
use hook_protocol::{BeforeAgentInput, BeforeToolInput, ToolName};
use hook_tests::Project;
use serde_json::json;
use tracing::instrument::WithSubscriber;

#[derive(Clone, Default)]
struct Log(Arc<Mutex<Vec<u8>>>);

impl io::Write for Log {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Log {
    fn subscriber(&self) -> impl tracing::Subscriber + Send + Sync + 'static {
        let writer = self.clone();
        tracing_subscriber::fmt()
            .with_max_level(tracing::Level::DEBUG)
            .with_ansi(false)
            .with_writer(move || writer.clone())
            .finish()
    }

    fn lines(&self) -> Vec<String> {
        let text = String::from_utf8(self.0.lock().unwrap().clone()).unwrap();
        text.lines().map(str::to_owned).collect()
    }
}

async fn logged(system: &HookSystem) -> (ProcessedHookResult, Vec<String>) {
    let log = Log::default();
    let fire = system.fire_before_agent(BeforeAgentInput::new("a"));
    let result = fire.with_subscriber(log.subscriber()).await;
    (result, log.lines())
}

fn records<'l>(lines: &'l [String], message: &str) -> Vec<&'l String> {
    lines.iter().filter(|line| line.contains(message)).collect()
}

#[tokio::test]
async fn one_record_for_each_hook_and_one_summary_for_each_event() {
    let project = Project::with_settings(&json!({"hooks": {"BeforeAgent": [{"hooks": [
        {"type": "command", "name": "good", "command": "echo fine"},
        {"type": "command", "name": "bad", "command": "echo wrong >&2; exit 7"},
    ]}]}}));
    let (result, lines) = logged(&project.system()).await;
    let hooks = records(&lines, "hook finished");
    assert_eq!(hooks.len(), 2, "{lines:#?}");
    for part in [
        "event=\"BeforeAgent\"",
        "hook=\"good\"",
        "kind=\"command\"",
        "duration_ms=",
        "success=true",
        "exit_code=0",
        "stdout=fine",
        "stderr=",
    ] {
        assert!(hooks[0].contains(part), "{part} in {}", hooks[0]);
    }
    assert!(hooks[1].contains("success=false") && hooks[1].contains("exit_code=7"));
    let summary = records(&lines, "event fired");
    assert_eq!(summary.len(), 1);
    for part in ["hooks=2", "succeeded=1", "failed=1", "duration_ms="] {
        assert!(summary[0].contains(part), "{part} in {}", summary[0]);
    }
    // Each failure has a diagnostic, and the result is given all the same.
    let diagnostics = records(&lines, "hook failed");
    assert_eq!(diagnostics.len(), 1);
    assert!(diagnostics[0].contains("Hook exited with code 7"));
    assert_eq!(result.aggregated.all_outputs.len(), 2);
}

#[tokio::test]
async fn a_summary_names_the_tool_and_says_whether_something_was_modified() {
    let change = r#"echo '{"hookSpecificOutput":{"tool_input":{"a":1}}}'"#;
    let deny = r#"echo '{"hookSpecificOutput":{"permissionDecision":"deny"}}'"#;
    for (command, modified) in [(change, true), (deny, false), ("true", false)] {
        let project = Project::with_hook("BeforeTool", command);
        let system = project.system();
        let log = Log::default();
        let name = ToolName::new("edit\nfake").unwrap();
        let fire = system.fire_before_tool(BeforeToolInput::new(name, RawObject::empty()));
        let _ = fire.with_subscriber(log.subscriber()).await;
        let lines = log.lines();
        let summary = records(&lines, "event fired");
        assert_eq!(summary.len(), 1, "{lines:#?}");
        assert!(summary[0].contains(r"tool=edit\nfake"), "{}", summary[0]);
        assert!(summary[0].contains(&format!("modified={modified}")), "{command}: {}", summary[0]);
    }
}

#[tokio::test]
async fn an_event_without_hooks_has_a_summary_too() {
    let (_, lines) = logged(&HookSystem::builder(".").build().unwrap()).await;
    let summary = records(&lines, "event fired");
    assert_eq!(summary.len(), 1, "{lines:#?}");
    assert!(summary[0].contains("hooks=0"));
}

#[tokio::test]
async fn a_request_that_is_cut_off_has_its_summary_too() {
    let project = Project::with_settings(&json!({"hooks": {"BeforeAgent": [{"hooks": [
        {"type": "command", "name": "quick", "command": "echo '{\"decision\":\"deny\"}'"},
        {"type": "command", "name": "slow", "command": "sleep 100"},
    ]}]}}));
    let deadline = std::time::Duration::from_secs(3);
    let (result, lines) = logged(&project.builder().deadline(deadline).build().unwrap()).await;
    assert_eq!(result.failure.unwrap().code.as_str(), "deadline_exceeded");
    let summary = records(&lines, "event fired");
    assert_eq!(summary.len(), 1, "{lines:#?}");
    for part in ["hooks=2", "succeeded=1", "failed=1", "decision=\"block\""] {
        assert!(summary[0].contains(part), "{part} in {}", summary[0]);
    }
}

#[tokio::test]
async fn what_a_hook_wrote_is_escaped_and_cut() {
    let project = Project::with_hook(
        "BeforeAgent",
        r"printf 'a\n\033[31mfake record\377'; head -c 9000 /dev/zero",
    );
    let (_, lines) = logged(&project.system()).await;
    let hooks = records(&lines, "hook finished");
    assert_eq!(hooks.len(), 1);
    assert!(hooks[0].contains(r"a\n\u{1b}[31mfake record\xff"), "{}", &hooks[0][..400]);
    assert!(hooks[0].contains("more bytes)"));
}

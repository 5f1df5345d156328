//! Hooks and their pipes: held open, flooded, never read, closed.

use hook_run::HookExecutionResult;
use hook_tests::{Served, request};
use serde_json::json;

use super::{answer, failure, patient, project, project_with, prompt, prompt_with, stdout};

async fn run(command: &str) -> HookExecutionResult {
    let project = project(command);
    prompt(&project.system()).await.hooks.remove(0)
}

/// Runs a hook that leaves something behind, which holds its stdout open and is to be left alone.
async fn assert_leaks(command: &str) {
    let project = project_with(&[json!({"command": command})]);
    // A verdict at the end of file, or at the timeout, comes after a minute.
    let response = prompt(&patient(&project)).await;
    assert_eq!(answer(&response), (false, None, Some("done")));
    let result = &response.hooks[0];
    assert!(result.success && result.process.leaked);
    assert!(result.warnings[0].contains("held its output open"), "{:?}", result.warnings);
    let left = project.processes();
    assert!(left.iter().any(|process| process.command == "sleep 1000"), "{left:?}");
    project.kill_processes();
}

#[tokio::test]
async fn fault_03_a_background_child_that_keeps_stdout_open_delays_nothing_and_lives_on() {
    assert_leaks(r#"echo '{"systemMessage":"done"}'; sleep 1000 & exit 0"#).await;
}

#[tokio::test]
async fn fault_04_a_grandchild_in_its_own_session_delays_nothing_and_lives_on() {
    assert_leaks(r#"echo '{"systemMessage":"done"}'; setsid sleep 1000 & sleep 0.2; exit 0"#).await;
}

#[tokio::test]
async fn fault_05_a_flood_is_too_large_and_costs_little_memory() {
    const LIMIT_KIBIBYTES: u64 = 16 * 1024;
    // Plain text, what looks like objects, and bytes that are no text at all.
    for flood in ["yes", "yes '{'", "tr '\\0' '\\377' < /dev/zero"] {
        let command = format!("{flood} | head -c 300000000");
        let project = project_with(&[json!({"command": command})]);
        let mut served = Served::start(&project).await;
        served.ask(&request("SessionEnd", &json!({"reason": "exit"}), "warm")).await;
        let before = served.holdings().resident;
        let response = served.ask(&request("BeforeAgent", &json!({"prompt": "p"}), "flood")).await;
        let hook = &response["hooks"][0];
        assert!(hook["error"].as_str().unwrap().starts_with("output_too_large"), "{hook}");
        assert!(hook["warnings"].to_string().contains("295805696 bytes of stdout were cut"));
        let grown = served.holdings().peak.saturating_sub(before);
        assert!(0 < before && grown < LIMIT_KIBIBYTES, "{flood}: grown by {grown} KiB");
    }
}

#[tokio::test]
async fn fault_06_a_hook_that_never_reads_a_large_stdin_succeeds() {
    let project = project("exit 0");
    let response = prompt_with(&project.system(), json!({"prompt": "x".repeat(5_000_000)})).await;
    assert!(response.hooks[0].success, "{}", failure(&response.hooks[0]));
}

#[tokio::test]
async fn fault_07_a_hook_that_writes_a_lot_before_it_reads_a_lot_succeeds() {
    for stream in ["/dev/stdout", "/dev/stderr"] {
        let command = format!("head -c 1000000 /dev/zero > {stream}; wc -c > read");
        let project = project_with(&[json!({"command": command})]);
        let response =
            prompt_with(&project.system(), json!({"prompt": "x".repeat(5_000_000)})).await;
        let result = &response.hooks[0];
        assert!(result.success, "{stream}: {}", failure(result));
        let read: usize = project.read("read").trim().parse().unwrap();
        assert!(read > 5_000_000, "{stream}: it read {read} bytes");
        let captured = |stream: &hook_run::Captured| stream.bytes.len() as u64 + stream.dropped;
        let written = captured(&result.process.stdout) + captured(&result.process.stderr);
        assert_eq!(written, 1_000_000, "{stream}");
    }
}

#[tokio::test]
async fn fault_08_bytes_that_are_no_text_are_replaced_where_they_are_broken_only() {
    for (print, expected) in [
        (r#"printf '{"systemMessage":"a\377b"}'"#, (false, None, Some("a\u{fffd}b"))),
        (r#"printf '\377\376\n{"decision":"deny","reason":"r"}'"#, (true, Some("r"), None)),
        (
            r#"printf '{"systemMessage":"\303'; sleep 0.2; printf '\251"}'"#,
            (false, None, Some("é")),
        ),
    ] {
        let project = project(print);
        assert_eq!(answer(&prompt(&project.system()).await), expected, "{print}");
    }
}

#[tokio::test]
async fn fault_09_a_hook_that_kills_itself_failed_by_that_signal_and_its_denial_sticks() {
    for (command, expected) in [
        ("kill -KILL $$", (false, None, None)),
        (r#"echo '{"decision":"deny","reason":"r"}'; kill -KILL $$"#, (true, Some("r"), None)),
        (r#"echo '{"decision":"allow","systemMessage":"m"}'; kill -KILL $$"#, (false, None, None)),
    ] {
        let project = project(command);
        let response = prompt(&project.system()).await;
        assert_eq!(answer(&response), expected, "{command}");
        let result = &response.hooks[0];
        assert!(!result.success);
        assert_eq!(failure(result), "Hook was terminated by signal SIGKILL");
    }
}

#[tokio::test]
async fn fault_15_nul_bytes_are_text_and_hide_no_denial() {
    assert_eq!(stdout(&run(r"printf 'a\0b'").await), "a\0b");
    for (print, expected) in [
        (r"printf 'a\0b'", (false, None, Some("a\0b"))),
        (r#"printf '{"decision":"deny","reason":"r"}\0\0'"#, (true, Some("r"), None)),
        (r#"printf '\0\n{"decision":"deny","reason":"r"}'"#, (true, Some("r"), None)),
    ] {
        let project = project(print);
        assert_eq!(answer(&prompt(&project.system()).await), expected, "{print}");
    }
}

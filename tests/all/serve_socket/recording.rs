//! Recordings: complete, private, and never in the way.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::time::{Duration, Instant};

use futures::future::join_all;
use hook_tests::{Hook, Project, SocketServed, json};
use rustix::process::Signal;
use serde_json::{Value, json};

use super::prompt;

fn lines(path: &Path) -> Vec<Value> {
    let text = fs::read_to_string(path).unwrap();
    assert!(text.ends_with('\n'), "the last line is whole");
    text.lines().map(|line| json(line.as_bytes())).collect()
}

#[tokio::test]
async fn a_recording_is_complete_under_load() {
    const CLIENTS: usize = 8;
    const REQUESTS: usize = 40;
    let project = Project::with_hook("BeforeAgent", "cat");
    let file = project.home().join("session.jsonl");
    let served =
        SocketServed::start_after(&project, "umask 0", &["--record", file.to_str().unwrap()]).await;
    let play = async |client: usize| {
        let mut connection = served.client().await;
        for turn in 0..REQUESTS {
            connection.send(format!("{}\n", prompt(&format!("{client}/{turn}"), "same"))).await;
        }
        for _ in 0..REQUESTS {
            assert_eq!(connection.receive().await["success"], true);
        }
    };
    join_all((0..CLIENTS).map(play)).await;
    served.signal(Signal::TERM);
    let (_, said) = served.ended().await;
    assert_eq!(said, "");

    assert_eq!(fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);
    let lines = lines(&file);
    assert_eq!((&lines[0]["type"], &lines[0]["version"]), (&json!("hook-recording"), &json!(1)));
    let started_at = lines[0]["startedAt"].as_str().unwrap();
    assert!(started_at.len() == 24 && started_at.ends_with('Z'), "{started_at}");
    let mut by_request: BTreeMap<u64, Vec<&Value>> = BTreeMap::new();
    for line in &lines[1..] {
        assert!(line["at"].is_u64() && line["missed"].is_null(), "{line}");
        by_request.entry(line["request"].as_u64().unwrap()).or_default().push(&line["message"]);
    }
    assert_eq!(by_request.len(), CLIENTS * REQUESTS);
    let mut seen = Vec::new();
    for messages in by_request.values() {
        assert_eq!(messages.len(), 4, "{messages:?}");
        let asked = &messages[0]["input"]["prompt"];
        assert_eq!(messages[3]["output"]["allOutputs"][0]["prompt"], *asked);
        let stdout = messages[2]["hook"]["stdout"].as_str().unwrap();
        assert_eq!(json(stdout.as_bytes())["prompt"], *asked);
        seen.push(asked.as_str().unwrap());
    }
    seen.sort_unstable();
    seen.dedup();
    assert_eq!(seen.len(), CLIENTS * REQUESTS);
}

#[tokio::test]
async fn what_ends_with_the_server_is_still_recorded() {
    let project = Project::with_hook("BeforeAgent", "touch running; exec sleep 1000");
    let file = project.home().join("session.jsonl");
    let served = SocketServed::start(&project, &["--record", file.to_str().unwrap()]).await;
    let mut client = served.client().await;
    client.send(format!("{}\n", prompt("x", "a"))).await;
    project.appears("running").await;
    // What has happened is in the file before anything ends.
    let begun = Instant::now();
    while !fs::read_to_string(&file).unwrap().contains("hook-started") {
        assert!(begun.elapsed() < Duration::from_secs(60));
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    served.signal(Signal::TERM);
    served.ended().await;
    let lines = lines(&file);
    let response =
        lines.iter().find(|line| line["message"]["type"] == "hook-execution-response").unwrap();
    assert_eq!(response["message"]["error"]["code"], "shutting_down");
}

#[test]
fn a_file_that_is_there_is_never_written_to() {
    let project = Project::with_hook("BeforeAgent", "true");
    project.write("kept.jsonl", "precious");
    let finished = Hook::new(
        &project,
        &["serve", "--stdio", "--record=kept.jsonl", "--settings=settings.json"],
    )
    .run();
    insta::assert_snapshot!(finished.shown(&project), @r"
    status: 1
    ----- stdout -----
    ----- stderr -----
    error: failed to begin the recording kept.jsonl: the file is there already; name another one, or remove it
    ");
    assert_eq!(project.read("kept.jsonl"), "precious");
}

#[test]
fn a_client_over_standard_input_is_recorded_too() {
    let project = Project::with_hook("BeforeAgent", "true");
    let arguments = ["serve", "--stdio", "--record=session.jsonl", "--settings=settings.json"];
    let finished =
        Hook::new(&project, &arguments).stdin(format!("{}\nnonsense\n", prompt("x", "a"))).run();
    assert_eq!((finished.status, finished.stderr.as_str()), (0, ""));
    let mut kinds: Vec<_> = lines(&project.path().join("session.jsonl"))
        .iter()
        .map(|line| line["message"]["type"].as_str().unwrap_or("-").to_owned())
        .collect();
    kinds.sort_unstable();
    let response = "hook-execution-response";
    // What was no request has no text, and an answer all the same.
    let expected =
        ["-", "hook-execution-request", response, response, "hook-finished", "hook-started"];
    assert_eq!(kinds, expected);
}

#[tokio::test]
async fn a_recording_that_cannot_be_written_ends_alone() {
    let project = Project::with_hook("BeforeAgent", "echo '{}'");
    let file = project.home().join("session.jsonl");
    // So many kibibytes may a file have.
    let mut served = SocketServed::start_after(
        &project,
        "trap '' XFSZ; ulimit -f 8",
        &["--record", file.to_str().unwrap()],
    )
    .await;
    let mut client = served.client().await;
    for turn in 0..20 {
        let text = "x".repeat(1_000);
        assert_eq!(client.ask(&prompt(&text, &turn.to_string())).await["success"], true);
    }
    let said = served.says().await;
    assert!(said.starts_with("error: failed to write the recording "), "{said}");
    assert_eq!(client.ask(&prompt("x", "last")).await["correlationId"], "last");
    served.signal(Signal::TERM);
    assert_eq!(served.ended().await.1, "", "it is said once");
}

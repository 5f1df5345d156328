//! `hook trace`: a recording as text, as trace events and as JSON lines.

use std::path::PathBuf;
use std::process::Command;

use hook_tests::{Hook, Project, workspace};
use serde_json::json;

use super::recorded::{Recorded, hook, session};

/// The recording of docs/examples/agent-session.
pub(super) fn sample() -> PathBuf {
    workspace().join("docs/examples/agent-session/session.hookrec")
}

pub(super) fn traced(recording: &Recorded, arguments: &[&str]) -> (Project, hook_tests::Finished) {
    let project = Project::new();
    project.write("session.hookrec", &recording.text());
    let all = [&["trace", "session.hookrec"], arguments].concat();
    let finished = Hook::new(&project, &all).env("COLUMNS", "100").run();
    (project, finished)
}

#[test]
fn text_is_a_waterfall_with_a_summary() {
    let (_, finished) = traced(&session(), &[]);
    assert_eq!(finished.status, 0, "{}", finished.stderr);
    insta::assert_snapshot!(finished.stdout, @r"
    2026-03-14T09:26:53.589Z  /home/ada/thing  hook 0.1.0
                                                            0────────────────────────────────────+1.00 s
      +0.000 s  SessionStart startup ✓ proceed      900 µs  ─
      +0.100 s  BeforeTool shell     ✗ block         41 ms      ───
                    no shell today
                  guard              ✗ block         40 ms      ▐█▏
                  audit              ! exit 1        12 ms      ▐
                    Hook exited with code 1
      +0.200 s  AfterTool read       ✓ proceed      501 ms          ───────────────────────
                  slow               ! timed out    500 ms          ▕█████████████████████▉
                    Hook timed out after 500ms
      +0.250 s  BeforeTool read      ✓ proceed      400 µs             ─
                  hasty              ✓ exit 0       300 µs             ▏
      +0.300 s  3 messages missed
      +0.710 s  not a request        ! failed         0 µs                                 ─
                    expected a request
      +0.800 s  BeforeAgent          … unfinished                                              ─
                  endless            … unfinished                                              █████████

    Slowest hooks
        500 ms  slow                      +0.200 s AfterTool read
         40 ms  guard                     +0.100 s BeforeTool shell
         12 ms  audit                     +0.100 s BeforeTool shell
        300 µs  hasty                     +0.250 s BeforeTool read

    Event         requests  held up  hooks  failed   in hooks    longest
    SessionStart         1        0      0       0          -          -
    BeforeTool           2        1      3       1      53 ms      40 ms
    AfterTool            1        0      1       1     500 ms     500 ms
    ?                    1        0      0       0          -          -
    BeforeAgent          1        0      1       0       0 µs       0 µs

    6 requests, 5 hooks, 2 failed; 1.00 s recorded, hooks ran in 540 ms of it
    ");
    insta::assert_snapshot!(finished.stderr, @r"
    warning: session.hookrec: 2 lines mean nothing to this version of hook and are left out
    warning: session.hookrec: the recorder fell behind and missed 3 messages; requests and hooks around there may be incomplete
    ");
}

#[test]
fn each_request_can_have_a_scale_of_its_own() {
    let (_, finished) = traced(&session(), &["--per-request"]);
    let lines: Vec<&str> = finished.stdout.lines().skip(2).take(5).collect();
    insta::assert_snapshot!(lines.join("\n"), @r"
    +0.100 s  BeforeTool shell     ✗ block         41 ms  ────────────────────────────────────────────
                  no shell today
                guard              ✗ block         40 ms  ▐██████████████████████████████████████████▌
                audit              ! exit 1        12 ms   █████████████▌
                  Hook exited with code 1
    ");
}

#[test]
fn text_fits_the_terminal_however_narrow_it_is() {
    let wide = "宽".repeat(40);
    let recording = session()
        .request(1_000_000, 7, "BeforeTool", &json!({"tool_name": wide, "tool_input": {}}))
        .decided(
            1_000_100,
            7,
            "BeforeTool",
            ("ask", json!("a\u{1b}[31m\n\treason ".repeat(20))),
            &[hook(&"name".repeat(30), 0, 0.1, "")],
        );
    let project = Project::new();
    project.write("session.hookrec", &recording.text());
    for columns in [60_usize, 80, 100, 240] {
        let finished = Hook::new(&project, &["trace", "session.hookrec"])
            .env("COLUMNS", &columns.to_string())
            .run();
        assert!(!finished.stdout.contains('\u{1b}'), "{}", finished.stdout);
        // The tables of the summary have a width of their own.
        let waterfall = finished.stdout.split("\n\n").next().unwrap();
        for line in waterfall.lines().skip(1) {
            let width =
                line.chars().map(|letter| if letter == '宽' { 2 } else { 1 }).sum::<usize>();
            assert!(width <= columns, "{width} of {columns}: {line}");
        }
    }
}

#[test]
fn colours_are_for_terminals_unless_they_are_asked_for() {
    let (_, coloured) = traced(&session(), &["--color", "always"]);
    assert!(coloured.stdout.contains("\u{1b}[1m\u{1b}[31m✗ block"), "{}", coloured.stdout);
    let (project, written) = traced(&session(), &["--output", "trace.txt"]);
    assert_eq!(written.stdout, "");
    assert!(!project.read("trace.txt").contains('\u{1b}'));
    assert!(project.read("trace.txt").contains("✗ block"));
}

#[test]
fn json_is_one_line_for_each_request() {
    let (_, finished) = traced(&session(), &["--json"]);
    let lines = finished.lines();
    assert_eq!(lines.len(), 6);
    insta::assert_snapshot!(serde_json::to_string_pretty(&lines[1]).unwrap(), @r#"
{
  "request": 2,
  "correlationId": "c-2",
  "eventName": "BeforeTool",
  "subject": "shell",
  "outcome": "block",
  "start": 100000,
  "end": 141000,
  "reason": "no shell today",
  "input": {
    "tool_name": "shell",
    "tool_input": {
      "path": "a.txt"
    }
  },
  "hooks": [
    {
      "name": "guard",
      "type": "command",
      "source": "project",
      "outcome": "block",
      "start": 100500,
      "end": 140500,
      "success": true,
      "exitCode": 0,
      "duration": 40.0,
      "queued": 0.01,
      "warnings": [],
      "decision": "block",
      "stdout": "{\"decision\":\"deny\",\"reason\":\"no shell today\"}",
      "stderr": ""
    },
    {
      "name": "audit",
      "type": "command",
      "source": "project",
      "outcome": "failed",
      "start": 101000,
      "end": 113500,
      "success": false,
      "exitCode": 1,
      "duration": 12.5,
      "queued": 0.01,
      "warnings": [],
      "decision": "proceed",
      "stdout": "",
      "stderr": "",
      "error": "Hook exited with code 1"
    }
  ]
}
"#);
    let outcomes: Vec<_> = lines.iter().map(|line| line["outcome"].as_str().unwrap()).collect();
    assert_eq!(outcomes, ["proceed", "block", "proceed", "proceed", "failed", "unfinished"]);
    // What the recorder missed of a hook is reckoned from its result.
    let hasty = &lines[3]["hooks"][0];
    assert_eq!(
        (&hasty["estimated"], &hasty["start"], &hasty["end"]),
        (&json!(true), &json!(250_100), &json!(250_400))
    );
    assert_eq!(lines[5].get("end"), None);
    assert_eq!(lines[5]["hooks"][0]["outcome"], "unfinished");
}

#[test]
fn the_sample_of_the_docs_is_traced_in_every_form() {
    let project = Project::new();
    let sample = sample();
    let sample = sample.to_str().unwrap();
    let text = Hook::new(&project, &["trace", sample]).run();
    assert_eq!((text.status, text.stderr.as_str()), (0, ""));
    assert!(text.stdout.contains("24 requests, 26 hooks, 1 failed"), "{}", text.stdout);
    assert!(text.stdout.lines().any(|line| line.contains("■ stop")), "{}", text.stdout);
    assert_eq!(Hook::new(&project, &["trace", sample, "--json"]).run().lines().len(), 24);
    let page = Hook::new(&project, &["trace", sample, "--format", "html"]).run();
    assert_eq!((page.status, page.stderr.as_str()), (0, ""));
}

#[test]
fn what_is_no_recording_is_refused_with_its_line() {
    let project = Project::new();
    let header = Recorded::new().text();
    for (text, said) in [
        (
            String::new(),
            "line 1: this is no recording: the file is empty; `hook serve --record FILE` makes one",
        ),
        (
            "nonsense".to_owned(),
            "line 1: this is no recording: its first line is no JSON object; `hook serve",
        ),
        (
            "{\"type\":\"hook-execution-request\"}".to_owned(),
            "line 1: this is no recording: field `type`: expected \"hook-recording\", found hook-execution-request",
        ),
        (
            header.replace("\"version\":1", "\"version\":2"),
            "line 1: the recording has version 2 of the format, and this hook reads version 1",
        ),
        (
            format!("{header}nonsense\n{{\"at\":1,\"missed\":1}}\n"),
            "line 2: expected one JSON object: expected ident",
        ),
        (
            format!("{header}\n{{\"at\":-1,\"request\":1,\"message\":{{}}}}\n"),
            "line 3: field `at`: expected a whole number, found -1",
        ),
        (
            format!("{header}{{\"request\":1,\"message\":{{}}}}\n"),
            "line 2: field `at`: expected a whole number, found nothing",
        ),
        (
            format!("{header}{{\"at\":1,\"message\":{{}}}}\n"),
            "line 2: field `request`: expected a whole number, found nothing",
        ),
        (
            format!("{header}{{\"at\":1,\"request\":1,\"message\":7}}\n"),
            "line 2: field `message`: expected an object, found a number",
        ),
    ] {
        project.write("broken.hookrec", &text);
        for command in ["trace", "replay"] {
            let finished = Hook::new(&project, &[command, "broken.hookrec"]).run();
            assert_eq!((finished.status, finished.stdout.as_str()), (1, ""), "{text}");
            let expected = format!("error: broken.hookrec: {said}");
            assert!(finished.stderr.starts_with(&expected), "{expected}\n{}", finished.stderr);
        }
    }
    for (arguments, status, said) in [
        (vec!["trace", "no-such-file"], 1, "failed to read the recording no-such-file"),
        (vec!["trace", "broken.hookrec", "--format", "svg"], 64, "text, html"),
        (
            vec!["trace", "broken.hookrec", "--output", "./broken.hookrec"],
            64,
            "is the recording itself",
        ),
        (vec!["trace", "broken.hookrec", "--json", "--format", "html"], 64, "cannot be used"),
        (vec!["trace", "broken.hookrec", "--json", "--per-request"], 64, "--per-request"),
        (vec!["trace", "broken.hookrec", "--format", "html", "--per-request"], 64, "--per-request"),
    ] {
        let finished = Hook::new(&project, &arguments).run();
        assert_eq!(finished.status, status, "{arguments:?}: {}", finished.stderr);
        assert!(finished.stderr.contains(said), "{said}: {}", finished.stderr);
    }
    project.write("session.hookrec", &header);
    let unwritable = ["trace", "session.hookrec", "--output", "no/such/folder/trace.txt"];
    let finished = Hook::new(&project, &unwritable).run();
    assert_eq!(finished.status, 1);
    assert!(
        finished.stderr.starts_with("error: failed to write the trace no/such/folder/trace.txt: "),
        "{}",
        finished.stderr
    );
}

#[test]
fn a_recording_whose_end_is_cut_off_is_read_up_to_there() {
    let whole = session().text();
    let (_, complete) = traced(&session(), &["--json"]);
    let project = Project::new();
    let last = whole.trim_end().rfind('\n').unwrap() + 1;
    project.write("cut.hookrec", &whole[..last + 10]);
    let finished = Hook::new(&project, &["trace", "cut.hookrec", "--json"]).run();
    assert_eq!((finished.status, &finished.stdout), (0, &complete.stdout));
    assert!(
        finished.stderr.contains("warning: cut.hookrec: the last line is cut off and left out"),
        "{}",
        finished.stderr
    );
    // A last line that only lacks its end is a line.
    project.write("whole.hookrec", whole.trim_end());
    let finished = Hook::new(&project, &["trace", "whole.hookrec", "--json"]).run();
    assert_eq!(finished.stdout, complete.stdout);
    assert!(!finished.stderr.contains("cut off"), "{}", finished.stderr);
}

#[test]
fn times_and_values_that_nobody_measured_are_traced_too() {
    let recording = Recorded::new()
        .line(r#"{"at":18446744073709551615,"request":18446744073709551615,"message":{"type":"hook-started","hook":{}}}"#)
        .line(r#"{"at":5,"request":0,"message":{"type":"hook-finished","hook":{"name":7,"duration":1e308,"exitCode":1e400}}}"#)
        .line(r#"{"at":4,"request":0,"message":{"type":"hook-execution-response","hooks":[{"duration":-1},7,{"duration":"x","exitCode":-5}],"processed":[]}}"#)
        .line(r#"{"at":3,"request":0,"message":{"type":"hook-execution-response","hooks":7}}"#)
        .line(r#"{"at":18446744073709551615,"missed":18446744073709551615}"#)
        .line(r#"{"at":1,"missed":18446744073709551615}"#);
    for arguments in [&["--format=text"], &["--per-request"], &["--json"], &["--format=html"]] {
        let (_, finished) = traced(&recording, arguments);
        assert_eq!(finished.status, 0, "{arguments:?}: {}", finished.stderr);
    }
}

/// The lines of a page's shell examples that begin with `hook`.
fn examples(page: &str) -> Vec<String> {
    let text = std::fs::read_to_string(workspace().join(page)).unwrap();
    let blocks = text.split("```sh\n").skip(1).filter_map(|block| block.split("```").next());
    blocks.flat_map(str::lines).map(str::to_owned).collect()
}

#[test]
fn what_the_docs_say_can_be_pasted() {
    let project = Project::new();
    let folder = "docs/examples/agent-session";
    let copied = Command::new("sh")
        .args(["-c", "mkdir -p \"$2/docs/examples\" && cp -R \"$1\" \"$2/docs/examples\"", "sh"])
        .args([workspace().join(folder), project.path()])
        .status();
    assert!(copied.unwrap().success());
    for (page, count) in [("docs/cli/trace.md", 4), ("docs/cli/replay.md", 1)] {
        let lines = examples(page);
        assert_eq!(lines.len(), count, "{page}");
        for line in lines {
            let arguments: Vec<&str> = line.strip_prefix("hook ").unwrap().split(' ').collect();
            let finished = Hook::new(&project, &arguments).run();
            assert_eq!(finished.status, 0, "{line}: {finished:?}");
            if arguments[0] == "replay" {
                let said = finished.stdout.lines().last().unwrap();
                assert!(std::fs::read_to_string(workspace().join(page)).unwrap().contains(said));
            }
            assert_eq!(finished.stderr, "", "{line}");
        }
    }
    assert!(project.read("trace.html").ends_with("</html>\n"));
}

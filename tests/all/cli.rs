//! The command line: fire, run, test, list, and what it says of bad input.

mod check;
mod completions;
mod doctor;
mod enable;
mod exit_codes;
mod explain;
mod fire;
mod generated;
mod groups;
mod help;
mod import;
mod init;
mod links;
mod list;
mod man;
mod names;
mod one_response;
mod pages;
mod questions;
mod recorded;
mod replay;
mod schema;
#[cfg(unix)]
mod tail;
mod terminal;
mod test;
mod trace;
mod trace_page;
mod trust;
mod uninstall;
mod untrusted;

use hook_tests::{Hook, Project};
use serde_json::json;

fn guarded() -> Project {
    Project::with_settings(&json!({"hooks": {"BeforeTool": [
        {"matcher": "shell", "hooks": [{"type": "command", "name": "guard",
            "command": "echo 'not today' >&2; exit 2", "description": "says no"}]},
        {"matcher": "write", "hooks": [{"type": "command", "name": "asks",
            "command": "echo '{\"decision\":\"ask\",\"reason\":\"sure?\"}'"}]},
    ]}}))
}

#[test]
fn fire_ends_as_the_hooks_decide() {
    let project = guarded();
    let r = "--settings=settings.json";
    for (arguments, status) in [
        (vec!["fire", "BeforeTool", "--tool", "read", r], 0),
        (vec!["fire", "BeforeTool", "--tool", "shell", r], 2),
        (vec!["fire", "BeforeTool", "--tool", "write", r], 2),
        (vec!["fire", "BeforeTool", "--input", "{}", r], 1),
        (vec!["fire", "BeforeLunch", r], 64),
        (vec!["fire", "BeforeTool", "--input", "{nonsense", r], 64),
        (vec!["fire", "BeforeTool", "--input", "@no-such-file", r], 1),
        (vec!["fire", "BeforeTool", "--no-such-flag", r], 64),
        (vec!["fire"], 64),
        (vec!["no-such-command"], 64),
        // A guard may be missing.
        (vec!["fire", "BeforeTool", "--settings", "no-such-file.json"], 2),
        (vec!["fire", "BeforeTool", "--project", "no-such-folder"], 2),
        (vec!["run", "no-such-script.jsonl", r], 1),
        (vec!["test", "no-such-scenario.toml", r], 1),
        (vec!["list", "--event", "BeforeTools", r], 64),
        (vec!["--version"], 0),
        (vec!["--help"], 0),
    ] {
        let finished = Hook::new(&project, &arguments).run();
        assert_eq!(finished.status, status, "{arguments:?}: {finished:?}");
        assert!(status != 0 || !finished.stdout.is_empty(), "{arguments:?}");
        assert!(!finished.stdout.is_empty() || !finished.stderr.is_empty(), "{arguments:?}");
    }
}

#[test]
fn fire_json_is_exactly_one_response_message() {
    let project = guarded();
    let finished = Hook::new(
        &project,
        &["fire", "BeforeTool", "--tool", "shell", "--json", "--settings=settings.json"],
    )
    .run();
    let lines = finished.lines();
    assert_eq!(lines.len(), 1);
    assert_eq!(lines[0]["type"], "hook-execution-response");
    assert_eq!(lines[0]["processed"]["decision"], "block");
    assert_eq!(lines[0]["hooks"][0]["name"], "guard");
    assert_eq!(lines[0]["hooks"][0]["exitCode"], 2);
}

#[test]
fn fire_as_hook_can_itself_be_a_hook() {
    let inner = guarded();
    let command = format!(
        "{} fire BeforeTool --as-hook --settings {} --input -",
        hook_tests::hook_binary().display(),
        inner.settings().display()
    );
    let outer = Project::with_hook("BeforeTool", &command);
    let finished = Hook::new(
        &outer,
        &["fire", "BeforeTool", "--tool", "shell", "--json", "--settings=settings.json"],
    )
    .run();
    assert_eq!(finished.status, 2);
    assert_eq!(finished.lines()[0]["processed"]["reason"], "not today");
}

#[test]
fn input_comes_from_a_file_or_standard_input_too() {
    let project = Project::with_hook("BeforeAgent", "cat");
    project.write("input.json", r#"{"prompt":"from a file"}"#);
    let fire = ["fire", "BeforeAgent", "--json", "--settings=settings.json", "--input"];
    let from_file = Hook::new(&project, &[&fire[..], &["@input.json"]].concat()).run();
    let from_stdin = Hook::new(&project, &[&fire[..], &["-"]].concat())
        .stdin(r#"{"prompt":"from stdin"}"#)
        .run();
    for (finished, prompt) in [(from_file, "from a file"), (from_stdin, "from stdin")] {
        assert_eq!(finished.lines()[0]["output"]["allOutputs"][0]["prompt"], prompt);
    }
}

#[test]
fn run_answers_every_line_and_goes_on() {
    let project = guarded();
    let r = r#""type":"hook-execution-request""#;
    let script = [
        r#"{"half": "#.to_owned(),
        String::new(),
        "   ".to_owned(),
        format!(r#"{{{r},"eventName":"BeforeTool","input":{{"tool_name":"shell","tool_input":{{}}}},"correlationId":"a"}}"#),
        "[1, 2]".to_owned(),
        format!(r#"{{{r},"eventName":"BeforeTool","input":{{"tool_name":"read","tool_input":{{}}}},"correlationId":"b"}}"#),
        "\u{0}\u{1b}".to_owned(),
        format!(r#"{{{r},"eventName":"SessionEnd","payload":{{"reason":"exit"}}}}"#),
    ]
    .join("\n");
    for concurrent in ["1", "4"] {
        let finished = Hook::new(
            &project,
            &["run", "-", "--concurrent", concurrent, "--settings=settings.json"],
        )
        .stdin(script.clone())
        .run();
        assert_eq!(finished.status, 0, "a script that was played: {finished:?}");
        let lines = finished.lines();
        let outcomes: Vec<_> = lines
            .iter()
            .map(|line| line["error"]["code"].as_str().or(line["processed"]["decision"].as_str()))
            .collect();
        let invalid = Some("invalid_request");
        assert_eq!(
            outcomes,
            [invalid, Some("block"), invalid, Some("proceed"), invalid, Some("proceed")]
        );
        assert_eq!(lines[0]["error"]["details"]["line"], 1);
        assert_eq!(lines[2]["error"]["details"]["line"], 5);
        assert_eq!(lines[1]["correlationId"], "a");
    }
}

#[test]
fn a_deadline_answers_in_time_and_leaves_nothing_running() {
    let project = Project::with_hook("SessionEnd", "echo $$ > pid; exec sleep 1000");
    let finished = Hook::new(
        &project,
        &[
            "fire",
            "SessionEnd",
            "--input",
            r#"{"reason":"exit"}"#,
            "--json",
            "--timeout=300",
            "--settings=settings.json",
        ],
    )
    .run();
    assert_eq!(finished.status, 1);
    assert_eq!(finished.lines()[0]["error"]["code"], "deadline_exceeded");
    let process = format!("/proc/{}", project.read("pid").trim());
    assert!(!std::path::Path::new(&process).exists(), "the command stays until its hooks are gone");
}

#[test]
fn list_shows_every_hook_and_whether_it_runs() {
    let project = Project::with_settings(&json!({
    "hooksConfig": {"disabled": ["off"]},
    "hooks": {
        "BeforeTool": [{"matcher": "shell", "hooks": [
            {"type": "command", "name": "on", "command": "true", "failBehavior": "block"},
            {"type": "command", "name": "off", "command": "false"}]}],
        "SessionEnd": [{"hooks": [{"type": "command", "command": "nameless"}]}],
    }}));
    let listed = Hook::new(&project, &["list", "--json", "--settings=settings.json"]).run().lines();
    let shown: Vec<_> = listed
        .iter()
        .map(|hook| (hook["name"].as_str().unwrap(), hook["enabled"].as_bool().unwrap()))
        .collect();
    assert_eq!(shown, [("on", true), ("off", false), ("nameless", true)]);
    assert_eq!(listed[0]["matcher"], "shell");
    assert_eq!(listed[0]["failBehavior"], "block");
    assert_eq!(listed[0]["trusted"], true, "naming a file is consent");
    assert_eq!(
        (&listed[0]["line"], listed[0]["file"].as_str()),
        (&json!(1), Some("settings.json"))
    );
    let people =
        Hook::new(&project, &["list", "--event", "BeforeTool", "--settings=settings.json"]).run();
    assert!(people.stdout.contains("✓ on") && people.stdout.contains("- off"), "{}", people.stdout);
    assert!(!people.stdout.contains("nameless"));
}

#[test]
fn settings_problems_are_said_with_their_place() {
    let project = Project::new();
    project.write("broken.json", "{\n  \"hooks\": {\n    \"BeforeTool\": [}\n");
    project.write(
        "good.json",
        &json!({"hooks": {"SessionEnd": [{"hooks": [{"type": "command", "command": "exit 2"}]}]}})
            .to_string(),
    );
    let finished = Hook::new(
        &project,
        &[
            "fire",
            "SessionEnd",
            "--input",
            r#"{"reason":"exit"}"#,
            "--json",
            "--settings=broken.json",
            "--settings=good.json",
        ],
    )
    .run();
    assert!(
        finished.stderr.contains("broken.json:3:20: error: the file is not JSON"),
        "{}",
        finished.stderr
    );
    let response = &finished.lines()[0];
    // The other source's guard still runs, and the response carries the warning.
    assert_eq!(response["processed"]["decision"], "block");
    assert!(response["warnings"][0].as_str().unwrap().contains("broken.json"));
}

#[test]
fn project_hooks_run_only_once_trusted() {
    let project = Project::new();
    project.write(
        ".hooks/settings.json",
        &json!({"hooks": {"SessionEnd": [{"hooks": [{"type": "command", "command": "touch ran"}]}]}})
            .to_string(),
    );
    let fire = ["fire", "SessionEnd", "--input", r#"{"reason":"exit"}"#];
    let untrusted = Hook::new(&project, &fire).run();
    assert_eq!(untrusted.status, 0);
    assert!(untrusted.stderr.contains("not trusted"), "{}", untrusted.stderr);
    assert!(!project.path().join("ran").exists());
    let told = Hook::new(&project, &[&fire[..], &["--json"]].concat()).run().lines();
    assert!(told[0]["warnings"][0].as_str().unwrap().contains("not trusted"), "{}", told[0]);

    let entries = hook_settings::parse(
        &project.read(".hooks/settings.json"),
        hook_settings::HookSource::Project,
        None,
    )
    .hooks;
    let store = hook_trust::TrustStore::new(project.home().join(".config/hooks/trust.json"));
    store.grant(&project.path(), &entries).unwrap();
    let trusted = Hook::new(&project, &fire).run();
    assert!(trusted.stderr.is_empty(), "{}", trusted.stderr);
    assert!(project.path().join("ran").exists());
}

#[test]
fn a_closed_pipe_is_success() {
    let project = guarded();
    let mut child = project
        .command(hook_tests::hook_binary())
        .args(["run", "-", "--settings=settings.json"])
        .stdin(std::process::Stdio::piped())
        .stdout(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    let mut stdin = child.stdin.take().unwrap();
    for _ in 0..3 {
        let _ = std::io::Write::write_all(&mut stdin, b"nonsense\n");
    }
    drop(stdin);
    assert_eq!(child.wait().unwrap().code(), Some(0));
}

/// Starts the binary and gives it time to run its hook, which says so by making a file.
#[cfg(unix)]
fn started(project: &Project, arguments: &[&str], input: &str) -> std::process::Child {
    let mut child = project
        .command(hook_tests::hook_binary())
        .args(arguments)
        .stdin(std::process::Stdio::piped())
        .stdout(std::process::Stdio::piped())
        .stderr(std::process::Stdio::null())
        .spawn()
        .unwrap();
    let stdin = child.stdin.as_mut().unwrap();
    std::io::Write::write_all(stdin, input.as_bytes()).unwrap();
    wait_for(project, "running");
    child
}

/// Waits until a hook has made a file.
#[cfg(unix)]
fn wait_for(project: &Project, file: &str) {
    let begun = std::time::Instant::now();
    while !project.path().join(file).exists() {
        assert!(begun.elapsed().as_secs() < 60, "no hook made {file}");
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
}

#[cfg(unix)]
fn signal(child: &std::process::Child, name: &str) {
    let sent = std::process::Command::new("kill").args([name, &child.id().to_string()]).status();
    assert!(sent.unwrap().success());
}

#[cfg(unix)]
#[test]
fn a_signal_ends_the_hooks_and_everything_is_still_answered() {
    let project = Project::with_hook("SessionEnd", "touch running; exec sleep 1000");
    let request = r#"{"type":"hook-execution-request","eventName":"SessionEnd","input":{"reason":"exit"},"correlationId":"a"}"#;
    let child = started(
        &project,
        &["serve", "--stdio", "--settings=settings.json"],
        &format!("{request}\n"),
    );
    signal(&child, "-TERM");
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(128 + 15));
    let text = String::from_utf8(output.stdout).unwrap();
    let last = hook_tests::json(text.lines().last().unwrap().as_bytes());
    assert_eq!(
        (&last["correlationId"], &last["error"]["code"]),
        (&json!("a"), &json!("shutting_down"))
    );
}

#[cfg(unix)]
#[test]
fn the_signal_itself_is_handed_on_to_hooks() {
    for (signal_name, number) in [("INT", 2), ("TERM", 15), ("HUP", 1), ("QUIT", 3)] {
        let script = "for it in INT TERM HUP QUIT; do trap \"echo $it > got; exit\" $it; done; \
            touch running; while :; do sleep 0.05; done";
        let project = Project::with_hook("SessionEnd", script);
        let mut child = started(
            &project,
            &["fire", "SessionEnd", "--input", r#"{"reason":"exit"}"#, "--settings=settings.json"],
            "",
        );
        signal(&child, &format!("-{signal_name}"));
        assert_eq!(child.wait().unwrap().code(), Some(128 + number));
        assert_eq!(project.read("got").trim(), signal_name);
    }
}

#[cfg(unix)]
#[test]
fn a_second_signal_kills_a_hook_that_ignores_the_first() {
    let project = Project::with_hook(
        "SessionEnd",
        "trap 'touch told' TERM INT; echo $$ > pid; touch running; while :; do sleep 0.1; done",
    );
    let fire =
        ["fire", "SessionEnd", "--input", r#"{"reason":"exit"}"#, "--settings=settings.json"];
    let begun = std::time::Instant::now();
    loop {
        let mut child = started(&project, &fire, "");
        let first = std::time::Instant::now();
        signal(&child, "-INT");
        let is_told = || project.path().join("told").exists();
        while !is_told() && child.try_wait().unwrap().is_none() {
            std::thread::sleep(std::time::Duration::from_millis(5));
        }
        signal(&child, "-INT");
        assert_eq!(child.wait().unwrap().code(), Some(128 + 2));
        let took = first.elapsed();
        let process = format!("/proc/{}", project.read("pid").trim());
        assert!(!std::path::Path::new(&process).exists(), "it stays until its hooks are gone");
        // Where the grace passed first, on a busy machine, the second signal had nothing to kill.
        if took < hook_run::RunnerLimits::default().grace {
            return;
        }
        assert!(begun.elapsed().as_secs() < 60, "the second signal killed nothing");
        for file in ["running", "told"] {
            let _ = std::fs::remove_file(project.path().join(file));
        }
    }
}

#[cfg(target_os = "linux")]
#[test]
fn what_the_command_inherited_does_not_reach_hooks() {
    let project = Project::with_hook("SessionEnd", "ls /proc/self/fd > seen");
    let fire = format!(
        "exec 9</dev/null; exec {} fire SessionEnd --settings settings.json --input '{{\"reason\":\"exit\"}}'",
        hook_tests::hook_binary().display()
    );
    let status = project.command("bash").args(["-c", &fire]).status();
    assert!(status.unwrap().success());
    assert!(
        !project.read("seen").lines().any(|descriptor| descriptor == "9"),
        "{}",
        project.read("seen")
    );
}

//! What is left out of audits and recordings.

use hook_bus::wire::serve_client;
use hook_bus::{HookSystem, HookSystemBuilder};
use hook_protocol::{EventPayload, HookEventName, HookOutput};
use hook_run::HandlerHook;
use hook_settings::{HookSource, SettingsSource};
use hook_tests::{Hook, Project, json, request};
use proptest::prelude::*;
use proptest::test_runner::TestRunner;
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt, duplex};
use tokio_util::sync::CancellationToken;

/// Every name and text of a value.
fn texts(value: &Value) -> Vec<&str> {
    let mut texts = Vec::new();
    let mut waiting = vec![value];
    while let Some(value) = waiting.pop() {
        match value {
            Value::String(text) => texts.push(text.as_str()),
            Value::Array(items) => waiting.extend(items),
            Value::Object(fields) => {
                texts.extend(fields.keys().map(String::as_str));
                waiting.extend(fields.values());
            }
            _ => {}
        }
    }
    texts
}

fn lines(text: &str) -> Vec<Value> {
    text.lines().map(|line| json(line.as_bytes())).collect()
}

fn redact(rules: &Value) -> Value {
    json!({"hooksConfig": {"redact": rules}, "hooks": {"BeforeTool": [{"sequential": true, "hooks": [
        {"type": "command", "name": "echo", "command": "cat; cat answer >&2; exit 2"},
        {"type": "command", "name": "change", "command": "cat answer"}]}]}})
}

/// What `hook serve` writes into a recording and an audit.
fn served(project: &Project, arguments: &[&str]) -> (Vec<Value>, Vec<Value>, String) {
    let input =
        json!({"tool_name": "t", "tool_input": {"password": "hunter2", "a": "x AKIA1234 y"}});
    let input =
        request("BeforeTool", &input, "AKIA1234").to_string().replace("AKIA1", "\\u0041KIA1");
    let all = ["serve", "--stdio", "--record=record", "--audit=audit", "--audit-level=verbose"];
    let finished =
        Hook::new(project, &[&all, arguments].concat()).stdin(format!("{input}\n")).run();
    assert_eq!(finished.status, 0, "{}", finished.stderr);
    // The caller gets all of it.
    assert!(finished.stdout.contains("AKIA1234"), "{}", finished.stdout);
    let (recorded, audited) = (project.read("record"), project.read("audit"));
    (lines(&recorded), lines(&audited), finished.stderr)
}

const ANSWER: &str = r#"{"hookSpecificOutput":{"tool_input":{"a":"\u0041KIA5678","Password":{"n":["hunter2"]}}},"reason":"{\"password\":\"hunter2\"}"}"#;

#[test]
fn patterns_and_fields_are_left_out_of_recordings_and_audits() {
    let project =
        Project::with_settings(&redact(&json!({"patterns": ["AKIA\\d+"], "fields": ["password"]})));
    project.write("answer", ANSWER);
    let (recorded, audited, said) = served(&project, &["--settings=settings.json"]);
    assert_eq!(said, "");
    for line in recorded.iter().chain(&audited) {
        for text in texts(line) {
            assert!(!text.contains("hunter2") && !text.contains("AKIA"), "{line}");
            assert!(!text.contains("\\u0041"), "{line}");
        }
    }
    let request = &recorded[1]["message"];
    assert_eq!(request["correlationId"], "[redacted]");
    let told = json!({"password": "[redacted]", "a": "x [redacted] y"});
    assert_eq!(request["input"]["tool_input"], told);
    let modified = audited.iter().find(|line| line["kind"] == "modified").unwrap();
    assert_eq!(
        modified["changes"],
        json!([
            {"op": "add", "path": "/tool_input/Password", "value": "[redacted]"},
            {"op": "replace", "path": "/tool_input/a", "value": "[redacted]"},
        ])
    );
    let blocked = audited.iter().find(|line| line["kind"] == "blocked").unwrap();
    assert!(blocked["reason"].as_str().unwrap().contains("[redacted]"), "{blocked}");
}

#[test]
fn a_broken_pattern_leaves_all_values_out_and_says_why() {
    let project = Project::with_settings(&redact(&json!({"patterns": ["AKIA", "("]})));
    project.write("answer", ANSWER);
    let (recorded, audited, said) = served(&project, &["--settings=settings.json"]);
    assert!(
        said.contains("error: ") && said.contains("the pattern `(` is not a regular"),
        "{said}"
    );
    for line in recorded.iter().skip(1).chain(&audited) {
        let why = line["withheld"].as_str().unwrap();
        // Not the pattern, which may be the secret itself.
        assert!(why.starts_with("one of `redact.patterns` cannot be used, in "), "{why}");
        for text in texts(line) {
            assert!(!text.contains("hunter2") && !text.contains("AKIA"), "{line}");
        }
        assert!(!line.to_string().contains("tool_name"), "{line}");
    }
    let response = &recorded.last().unwrap()["message"];
    assert_eq!(response["processed"]["decision"], "block");
    assert_eq!(response["hooks"][0]["exitCode"], 2);
    // What is left is still a recording.
    let shown = Hook::new(&project, &["trace", "record"]).run();
    assert_eq!(shown.status, 0, "{}", shown.stderr);
}

#[test]
fn a_project_redacts_nothing_and_is_told_so() {
    let project = Project::new();
    let rules = json!({"patterns": ["AKIA\\d+", "("]});
    let mut settings = redact(&rules);
    settings["hooksConfig"]["auditLevel"] = json!("off");
    project.write(".hooks/settings.json", &settings.to_string());
    project.write("answer", ANSWER);
    let trusted = Hook::new(&project, &["trust", "--yes"]).run();
    assert_eq!(trusted.status, 0, "{}", trusted.stderr);
    let (recorded, audited, said) = served(&project, &[]);
    assert!(said.contains("`redact` has no effect in this file"), "{said}");
    assert!(said.contains("`auditLevel` has no effect in this file"), "{said}");
    assert_eq!(recorded[1]["message"]["input"]["tool_input"]["password"], "hunter2");
    assert!(audited.iter().any(|line| line["kind"] == "modified"), "{audited:?}");
    let checked = Hook::new(&project, &["check", "--json"]).run();
    assert!(checked.stdout.contains("\"not-for-projects\""), "{}", checked.stdout);
}

#[test]
fn the_users_rules_hold_in_every_project_and_a_broken_file_leaves_all_out() {
    let project = Project::new();
    let mut settings = redact(&json!({}));
    settings["hooksConfig"] = json!({});
    project.write(".hooks/settings.json", &settings.to_string());
    project.write("answer", ANSWER);
    assert_eq!(Hook::new(&project, &["trust", "--yes"]).run().status, 0);
    let user = json!({"hooksConfig": {"redact": {"fields": ["password"]}}});
    project.write("../home/.config/hooks/settings.json", &user.to_string());
    let (recorded, _, said) = served(&project, &[]);
    assert_eq!(said, "");
    assert_eq!(recorded[1]["message"]["input"]["tool_input"]["password"], "[redacted]");
    for broken in
        ["{", r#"{"hooksConfig":{"redact":{"field":["password"]}}}"#, r#"{"hooksConfig":[]}"#]
    {
        project.write("../home/.config/hooks/settings.json", broken);
        std::fs::remove_file(project.path().join("record")).unwrap();
        let (recorded, _, _) = served(&project, &[]);
        assert_eq!(recorded[1]["message"]["input"], "[redacted]", "{broken}");
    }
}

#[test]
fn fault_nothing_that_a_pattern_matches_survives_in_a_line() {
    let settings = json!({"hooksConfig": {"redact": {"patterns": ["AKIA\\d"], "fields": ["key"]}}});
    let project = Project::with_settings(&settings);
    let answer = HandlerHook::inline(HookEventName::BeforeTool, "AKIA9", |input| {
        let EventPayload::BeforeTool(input) = &input.payload else { return Ok(None) };
        let text = input.tool_input.as_str().to_owned();
        let mut output = HookOutput::deny(text.clone());
        output.system_message = Some(text);
        Ok(Some(output.with_additional_context("AKIA5")))
    });
    let builder: HookSystemBuilder = HookSystem::builder(project.path());
    let source =
        SettingsSource { source: HookSource::User, ..SettingsSource::explicit(project.settings()) };
    let system = builder.settings(source).handler(answer).build().unwrap();
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let config = ProptestConfig { cases: 40, failure_persistence: None, ..Default::default() };
    let given = ("[a-z \"{}:\\\\]{0,9}", "[a-z \"{}:\\\\]{0,9}", 0_usize..3);
    let tried = TestRunner::new(config).run(&given, |(before, after, levels)| {
        let secret = format!("{before}AKIA1{after}");
        let mut value = json!({"x": &secret, &secret: [1], "KEY": {"y": "hunter2"}});
        for _ in 0..levels {
            value = json!({"text": value.to_string().replace('K', "\\u004b")});
        }
        let request =
            request("BeforeTool", &json!({"tool_name": "t", "tool_input": value}), &secret);
        let control = "{\"type\":\"hook-tail\"}\n{\"type\":\"hook-audit\",\"level\":\"verbose\"}\n";
        let heard = runtime.block_on(heard(&system, &format!("{control}{request}\n")));
        let mut told = 0;
        for line in lines(&heard) {
            if line["type"] == "hook-execution-response" {
                continue;
            }
            told += 1;
            for text in texts(&line) {
                let text = text.replace("\\u004b", "K");
                assert!(!text.contains("AKIA1") && !text.contains("AKIA5"), "{line}");
                assert!(!text.contains("AKIA9") && !text.contains("hunter2"), "{line}");
            }
        }
        assert!(told > 8, "{heard}");
        Ok(())
    });
    tried.unwrap();
}

/// What a client hears of a server, all of it.
async fn heard(system: &HookSystem, sent: &str) -> String {
    let (mut to_server, server_in) = duplex(64 * 1024);
    let (server_out, mut from_server) = duplex(64 * 1024);
    let stop = CancellationToken::new();
    let mut heard = String::new();
    let send = async move {
        to_server.write_all(sent.as_bytes()).await.unwrap();
        drop(to_server);
    };
    let serve = serve_client(system, server_in, server_out, &stop);
    let (_, _, ()) = tokio::join!(serve, from_server.read_to_string(&mut heard), send);
    heard
}

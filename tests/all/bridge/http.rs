//! Hooks that are a server's answer.

use std::time::Duration;

use hook_bus::{HookExecutionRequest, HookSystem};
use hook_settings::SettingsSource;
use hook_tests::{Finished, Hook, Project, fields};
use serde_json::{Value, json};

use super::loopback::{Does, Seen, Server, nobody, say, say_with};
use super::{answer, settings};

const DENIAL: &str = r#"{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"deny","permissionDecisionReason":"r"}}"#;

fn said(event: &str, fields: &Value, project: &Project) -> Value {
    let base = json!({"session_id": "s", "transcript_path": "/t.jsonl", "cwd": "/PROJECT",
        "permission_mode": "default", "hook_event_name": ""});
    super::with(&base, event, fields, project)
}

fn call() -> Value {
    json!({"tool_name": "Bash", "tool_input": {"command": "ls -l"}, "tool_use_id": "u1"})
}

fn denied(reason: &str) -> Value {
    json!({"hookSpecificOutput": {"hookEventName": "PreToolUse", "permissionDecision": "deny",
        "permissionDecisionReason": reason}})
}

/// Runs `hook bridge` for an agent with one hook.
fn ask(agent: &str, event: &str, hook: &Value, said: &Value, env: &[(&str, &str)]) -> Finished {
    let project = Project::new();
    ask_with(
        &project,
        agent,
        &settings(event, hook.clone(), None, agent == "claude"),
        event,
        said,
        env,
    )
}

fn ask_with(
    project: &Project,
    agent: &str,
    settings: &Value,
    event: &str,
    said: &Value,
    env: &[(&str, &str)],
) -> Finished {
    project.write("theirs.json", &settings.to_string());
    let arguments = ["bridge", agent, event, "--settings", "theirs.json"];
    let said = said.to_string().replace("/PROJECT", &project.path().display().to_string());
    let asked = Hook::new(project, &arguments).stdin(said);
    env.iter().fold(asked, |asked, (name, value)| asked.env(name, value)).run()
}

/// Asks Claude's hook about a call of a tool.
fn guarded(hook: &Value) -> Finished {
    let project = Project::new();
    let said = said("PreToolUse", &call(), &project);
    let settings = settings("PreToolUse", hook.clone(), None, true);
    ask_with(&project, "claude", &settings, "PreToolUse", &said, &[])
}

#[test]
fn what_a_hook_is_told_is_posted() {
    let server = Server::new(vec![say("200 OK", DENIAL)]);
    let project = Project::new();
    let said = said("PreToolUse", &call(), &project);
    let hook = json!({"type": "http", "url": server.url("/check?x=1#y"), "headers": {
            "Authorization": "Bearer $TOKEN", "X-Both": "${TOKEN}-$OTHER-$ $1", "X-Lines": "$LINES",
            "Content-Type": "application/x"},
        "allowedEnvVars": ["TOKEN", "LINES", "NOT_SET"]});
    let env = [("TOKEN", "t0ken"), ("OTHER", "secret"), ("LINES", "a\r\nX-Evil: b")];
    let settings = settings("PreToolUse", hook, None, true);
    let finished = ask_with(&project, "claude", &settings, "PreToolUse", &said, &env);
    assert_eq!((finished.status, answer(&finished)), (0, denied("r")), "{finished:?}");
    let Seen::Asked(first, headers, body) = server.next() else { panic!("nothing was asked") };
    assert_eq!(first, "POST /check?x=1 HTTP/1.1");
    // Byte for byte.
    assert_eq!(body, said.to_string());
    let header = |name: &str| {
        let found = headers.iter().filter(|(known, _)| known == name);
        found.map(|(_, value)| value.as_str()).collect::<Vec<_>>()
    };
    assert_eq!(header("host"), [format!("127.0.0.1:{}", server.port)]);
    assert_eq!(header("authorization"), ["Bearer t0ken"]);
    assert_eq!(header("x-both"), ["t0ken--$"]);
    assert_eq!(header("x-lines"), ["aX-Evil: b"]);
    assert_eq!(header("x-evil"), [""; 0]);
    assert_eq!(header("content-type"), ["application/x"]);
    assert_eq!(header("content-length"), [body.len().to_string()]);
}

#[test]
fn a_good_answer_is_a_commands_output() {
    let context = |event: &str, text: &str| json!({"hookSpecificOutput": {"hookEventName": event, "additionalContext": text}});
    let prompt = json!({"prompt": "p"});
    let chunked = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nmore\r\n0\r\n\r\n";
    for (event, fields, does, expected) in [
        ("PreToolUse", call(), say("204 No Content", ""), json!(null)),
        ("PreToolUse", call(), say("200 OK", ""), json!(null)),
        ("PreToolUse", call(), say("200 OK", "plain"), json!(null)),
        ("PreToolUse", call(), say("201 Created", DENIAL), denied("r")),
        ("PreToolUse", call(), say("200 OK", &format!("\u{feff}\n{DENIAL}\n")), denied("r")),
        (
            "PreToolUse",
            call(),
            say("200 OK", r#"{"decision":"block","reason":"old"}"#),
            denied("old"),
        ),
        (
            "UserPromptSubmit",
            prompt.clone(),
            say("200 OK", "more"),
            context("UserPromptSubmit", "more"),
        ),
        (
            "UserPromptSubmit",
            prompt.clone(),
            Does::Say(chunked.into()),
            context("UserPromptSubmit", "more"),
        ),
        (
            "UserPromptSubmit",
            prompt,
            // To the end of the connection.
            Does::Say(b"HTTP/1.0 200 OK\r\n\r\nmore".to_vec()),
            context("UserPromptSubmit", "more"),
        ),
        // Not as of a command, whose last line is the path.
        ("WorktreeCreate", json!({"name": "w"}), say("200 OK", "/tmp/wt"), json!(null)),
        (
            "WorktreeCreate",
            json!({"name": "w"}),
            say(
                "200 OK",
                r#"{"hookSpecificOutput":{"hookEventName":"WorktreeCreate","worktreePath":"/tmp/wt"}}"#,
            ),
            json!("/tmp/wt"),
        ),
    ] {
        let server = Server::new(vec![does]);
        let project = Project::new();
        let said = said(event, &fields, &project);
        // `async` is for commands alone.
        let hook = json!({"type": "http", "url": server.url("/"), "async": true});
        let settings = settings(event, hook, None, true);
        let finished = ask_with(&project, "claude", &settings, event, &said, &[]);
        assert_eq!((finished.status, answer(&finished)), (0, expected), "{event}: {finished:?}");
    }
}

/// Each way in which a server does not answer, with what is said of it.
fn failures() -> Vec<(&'static str, Option<Server>, String)> {
    let huge = "x".repeat(5 * 1024 * 1024);
    let of = |does: Does| Some(Server::new(vec![does]));
    vec![
        ("status", of(say("500 Oops", DENIAL)), "status 500".into()),
        ("no status blocks", of(say("403 Forbidden", "")), "status 403".into()),
        ("slow", of(Does::Wait), "timed out after 1000ms".into()),
        ("huge", of(say("200 OK", &huge)), "longer than 4194304 bytes".into()),
        (
            "cut off",
            of(Does::Say(b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n{}".into())),
            "ended early".into(),
        ),
        ("no HTTP", of(Does::Say(b"220 mail.example.com\r\n".into())), "no answer".into()),
        ("nothing", of(Does::Say(Vec::new())), "no answer".into()),
        (
            "compressed",
            of(say_with("200 OK", "Content-Encoding: gzip\r\n", DENIAL)),
            "compressed".into(),
        ),
        ("refused", None, "cannot connect".into()),
    ]
}

#[test]
fn anything_else_is_a_failure_that_blocks_only_where_the_hook_says_so() {
    for blocks in [false, true] {
        for (name, server, expected) in failures() {
            let url = match &server {
                Some(server) => server.url("/x?secret"),
                None => format!("http://127.0.0.1:{}/x?secret", nobody()),
            };
            let mut hook = json!({"type": "http", "url": url, "timeout": 1});
            if blocks {
                hook["onFailure"] = json!("block");
            }
            let finished = guarded(&hook);
            assert_eq!(finished.status, 0, "{name}: {finished:?}");
            let heard = answer(&finished);
            let told = match blocks {
                true => heard["hookSpecificOutput"]["permissionDecisionReason"]
                    .as_str()
                    .unwrap_or_default(),
                false => {
                    assert_eq!(heard, json!(null), "{name}: {finished:?}");
                    &finished.stderr
                }
            };
            assert_eq!(
                heard["hookSpecificOutput"]["permissionDecision"] == "deny",
                blocks,
                "{name}"
            );
            assert!(told.contains(&expected), "{name} {blocks}: {finished:?}");
            assert!(!told.contains("secret"), "{told}");
            if name == "slow" {
                let server = server.unwrap();
                assert!(matches!(server.next(), Seen::Asked(..)));
                assert_eq!(server.next(), Seen::Gone, "the connection is closed");
            }
        }
    }
}

#[test]
fn a_redirect_is_not_followed() {
    for status in ["301 Moved", "302 Found", "307 Temporary", "308 Permanent"] {
        let other = Server::new(vec![say("200 OK", DENIAL)]);
        let location = format!("Location: {}\r\n", other.url("/"));
        let server = Server::new(vec![say_with(status, &location, DENIAL)]);
        let hook = json!({"type": "http", "url": server.url("/"), "onFailure": "block"});
        let finished = guarded(&hook);
        let reason =
            answer(&finished)["hookSpecificOutput"]["permissionDecisionReason"].to_string();
        assert!(reason.contains("redirects are not followed"), "{finished:?}");
        assert!(!other.has_more(), "{status}");
    }
}

#[test]
fn what_cannot_be_sent_is_a_failure() {
    let server = Server::new(vec![say("200 OK", "")]);
    let to = |url: &str| json!({"type": "http", "url": url});
    let with = |name: &str, value: &str| {
        json!({"type": "http", "url": server.url("/"), "headers": {name: value},
            "allowedEnvVars": ["HOME"]})
    };
    for (mut hook, expected) in [
        (to("nonsense"), "neither `https://` nor `http://`"),
        (to("file:///etc/passwd"), "neither `https://` nor `http://`"),
        (to("http://u:p@127.0.0.1:1/"), "a name and a password"),
        (to("http://127.0.0.1:99999/"), "its port"),
        (to("http://"), "no URL"),
        (with("Content-Length", "3"), "`Content-Length` cannot be set"),
        (with("Transfer-Encoding", "chunked"), "`Transfer-Encoding` cannot be set"),
        (with("a b", "c"), "`a b` is no name"),
    ] {
        hook["onFailure"] = json!("block");
        let finished = guarded(&hook);
        let reason =
            answer(&finished)["hookSpecificOutput"]["permissionDecisionReason"].to_string();
        assert!(reason.contains(expected), "{hook}: {finished:?}");
        assert!(!reason.contains("u:p"), "{reason}");
    }
    assert!(!server.has_more());
}

#[test]
fn settings_say_which_urls_and_variables_there_may_be() {
    let server = Server::new(vec![say("200 OK", DENIAL), say("200 OK", DENIAL)]);
    let project = Project::new();
    let said = said("PreToolUse", &call(), &project);
    let hook = json!({"type": "http", "url": server.url("/a"), "headers": {"X": "$A-$B"},
        "allowedEnvVars": ["A", "B"]});
    for (key, value, is_asked, header) in [
        ("allowedHttpHookUrls", json!([server.url("/*")]), true, "1-2"),
        ("allowedHttpHookUrls", json!(["https://hooks.example.com/*"]), false, ""),
        ("allowedHttpHookUrls", json!([]), false, ""),
        ("allowedHttpHookUrls", json!("all"), false, ""),
        ("httpHookAllowedEnvVars", json!(["B", "C"]), true, "-2"),
    ] {
        let mut settings = settings("PreToolUse", hook.clone(), None, true);
        settings[key] = value.clone();
        let env = [("A", "1"), ("B", "2")];
        let finished = ask_with(&project, "claude", &settings, "PreToolUse", &said, &env);
        if is_asked {
            assert_eq!(answer(&finished), denied("r"), "{key} {value}: {finished:?}");
            let Seen::Asked(_, headers, _) = server.next() else { panic!("nothing was asked") };
            assert!(headers.contains(&("x".to_owned(), header.to_owned())), "{headers:?}");
        } else {
            assert_eq!(answer(&finished), json!(null), "{key} {value}");
            assert!(finished.stderr.contains("`allowedHttpHookUrls`"), "{finished:?}");
        }
    }
    assert!(!server.has_more());
}

#[test]
fn the_same_request_is_made_once() {
    let server = Server::new(vec![say("200 OK", ""), say("200 OK", ""), say("200 OK", "")]);
    let hook = json!({"type": "http", "url": server.url("/")});
    let other = json!({"type": "http", "url": server.url("/"), "headers": {"X": "y"}});
    let project = Project::new();
    let said = said("PreToolUse", &call(), &project);
    let settings = json!({"hooks": {"PreToolUse": [{"hooks": [hook, other]}, {"hooks": [hook]}]}});
    let finished = ask_with(&project, "claude", &settings, "PreToolUse", &said, &[]);
    assert_eq!(finished.status, 0, "{finished:?}");
    assert!(matches!(server.next(), Seen::Asked(..)));
    assert!(matches!(server.next(), Seen::Asked(..)));
    assert!(!server.has_more());
}

#[test]
fn a_projects_hook_asks_once_it_is_trusted_and_until_any_of_it_changes() {
    let server = Server::new((0..8).map(|_| say("200 OK", DENIAL)).collect());
    let project = Project::new();
    let folder = project.home().join(".config/hooks");
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(folder.join("settings.json"), r#"{"hooksConfig":{"agents":["claude"]}}"#)
        .unwrap();
    let run =
        |arguments: &[&str]| Hook::new(&project, arguments).env("CLAUDE_CONFIG_DIR", "").run();
    let fired = |hook: &Value| {
        let settings = settings("PreToolUse", hook.clone(), None, true);
        project.write(".claude/settings.json", &settings.to_string());
        run(&["fire", "BeforeTool", "--tool", "run_shell_command"]).status
    };
    let hook = json!({"type": "http", "url": server.url("/a?b"), "headers": {"X": "y"}});
    assert_eq!(fired(&hook), 0);
    let trusted = run(&["trust", "--yes"]);
    assert_eq!(trusted.status, 0, "{trusted:?}");
    // All of what is agreed to is shown.
    assert!(trusted.stdout.contains("/a?b"), "{trusted:?}");
    assert!(!server.has_more());
    assert_eq!(fired(&hook), 2);
    assert!(matches!(server.next(), Seen::Asked(..)));
    for (key, value) in [
        ("url", json!(server.url("/a?c"))),
        ("headers", json!({"X": "z"})),
        ("allowedEnvVars", json!(["HOME"])),
    ] {
        let mut changed = hook.clone();
        changed[key] = value;
        assert_eq!(fired(&changed), 2, "{changed}: it blocks, and is not asked");
        assert!(!server.has_more(), "{changed}");
    }
    assert_eq!(fired(&hook), 2, "it is again what it was");
}

fn of_copilot(event: &str) -> (String, Value) {
    let said = json!({"sessionId": "s", "timestamp": 1_795_332_885_098_u64, "cwd": "/PROJECT",
        "toolName": "bash", "toolArgs": {"command": "ls"}, "toolResult": {"resultType": "success", "textResultForLlm": "x"}});
    (event.to_owned(), said)
}

#[test]
fn copilot_posts_what_can_grant_only_to_who_proves_to_be_it() {
    let here = [("COPILOT_HOOK_ALLOW_LOCALHOST", "1")];
    let denial = r#"{"permissionDecision":"deny","permissionDecisionReason":"r"}"#;
    let context = r#"{"additionalContext":"c"}"#;
    // Without encryption: to this machine, where it is allowed, and only about what happened.
    for (event, env, variables, expected) in [
        ("postToolUse", &here[..], json!([]), None),
        ("postToolUse", &[], json!([]), Some("COPILOT_HOOK_ALLOW_LOCALHOST")),
        ("postToolUse", &here, json!(["A"]), Some("allowedEnvVars")),
        ("preToolUse", &here, json!([]), Some("at preToolUse its URL must begin with `https://`")),
        ("permissionRequest", &here, json!([]), Some("at permissionRequest its URL")),
    ] {
        let server = Server::new(vec![say("200 OK", context)]);
        let hook = json!({"type": "http", "url": server.url("/"), "allowedEnvVars": variables});
        let (event, said) = of_copilot(event);
        let finished = ask("copilot", &event, &hook, &said, env);
        match expected {
            None => {
                assert_eq!(answer(&finished), json!({"additionalContext": "c"}), "{finished:?}")
            }
            Some(expected) => {
                let all = format!("{}{}", finished.stdout, finished.stderr);
                assert!(all.contains(expected), "{event}: {finished:?}");
                assert!(!server.has_more(), "{event}");
            }
        }
        let denies = answer(&finished)["permissionDecision"] == "deny";
        assert_eq!(denies, event == "preToolUse", "{event}: {finished:?}");
    }
    // With it: whatever goes wrong denies before a tool, except that it took too long.
    for (does, expected) in [
        (say("200 OK", denial), "r"),
        (say("200 OK", ""), ""),
        (say("500 Oops", ""), "status 500"),
        (Does::Say(Vec::new()), "no answer"),
        (Does::Wait, ""),
    ] {
        let server = Server::encrypted(vec![does]);
        let project = Project::new();
        let certificate = project.write("server.pem", &server.certificate).display().to_string();
        let url = format!("https://localhost:{}/", server.port);
        let hook = json!({"type": "http", "url": url, "timeoutSec": 1});
        let (event, said) = of_copilot("preToolUse");
        let settings = settings(&event, hook, None, false);
        let env = [("SSL_CERT_FILE", &*certificate), ("SSL_CERT_DIR", "")];
        let finished = ask_with(&project, "copilot", &settings, &event, &said, &env);
        let reason =
            answer(&finished)["permissionDecisionReason"].as_str().unwrap_or("").to_owned();
        assert!(reason.contains(expected), "{expected}: {finished:?}");
        assert_eq!(answer(&finished).is_null(), expected.is_empty(), "{expected}: {finished:?}");
        assert!(matches!(server.next(), Seen::Asked(..)), "{expected}");
    }
}

#[test]
fn a_server_that_does_not_prove_who_it_is_is_told_nothing() {
    let server = Server::encrypted(vec![say("200 OK", ""), say("200 OK", "")]);
    let project = Project::new();
    let other = include_str!("../../certificate/other.pem");
    let certificate = project.write("other.pem", other).display().to_string();
    let nothing = project.write("nothing.pem", "").display().to_string();
    for (file, expected) in [(certificate, "no encrypted connection"), (nothing, "no certificates")]
    {
        let url = format!("https://localhost:{}/", server.port);
        let hook = json!({"type": "http", "url": url, "onFailure": "block"});
        let said = said("PreToolUse", &call(), &project);
        let settings = settings("PreToolUse", hook, None, true);
        let env = [("SSL_CERT_FILE", &*file), ("SSL_CERT_DIR", "")];
        let finished = ask_with(&project, "claude", &settings, "PreToolUse", &said, &env);
        let reason =
            answer(&finished)["hookSpecificOutput"]["permissionDecisionReason"].to_string();
        assert!(reason.contains(expected), "{finished:?}");
    }
    assert_eq!(server.next(), Seen::Gone);
}

#[tokio::test]
async fn who_no_longer_waits_ends_the_request() {
    let server = Server::new(vec![Does::Wait]);
    let project = Project::new();
    let hook = json!({"type": "http", "url": server.url("/")});
    let path = project.write("theirs.json", &settings("PreToolUse", hook, None, true).to_string());
    let claude = hook_agents::agent("claude").unwrap();
    let source = SettingsSource::explicit(path).for_language(claude, None);
    let system = HookSystem::builder(project.path()).settings(source).build().unwrap();
    let input = json!({"tool_name": "run_shell_command", "tool_input": {"command": "ls"}});
    let request = HookExecutionRequest::new("BeforeTool", fields(input));
    let waiting = system.bus().request(request);
    let asked = tokio::task::spawn_blocking(move || (server.next(), server));
    let server = tokio::select! {
        _ = waiting => panic!("the server does not answer"),
        asked = asked => asked.unwrap().1,
    };
    // The future is dropped by now.
    let gone = tokio::task::spawn_blocking(move || server.next());
    assert_eq!(
        tokio::time::timeout(Duration::from_secs(20), gone).await.unwrap().unwrap(),
        Seen::Gone
    );
}

#[test]
fn an_answer_that_is_cut_off_is_a_failure() {
    let half = &DENIAL[..DENIAL.len() / 2];
    for (behavior, denies) in [("block", true), ("continue", false)] {
        let server = Server::new(vec![say("200 OK", half)]);
        let hook = json!({"type": "http", "url": server.url("/"), "onFailure": behavior});
        let finished = guarded(&hook);
        assert_eq!(finished.stdout.contains("deny"), denies, "{behavior}: {finished:?}");
    }
}

//! What is said over lines of hooks of clients, by the server that the user has: what is no message, greetings,
//! the order of lines, and what ends while a call is in flight (reference/messages.md, "Live hooks").

use std::path::Path;
use std::process::Stdio;
use std::time::{Duration, Instant};

use hook_tests::{Hook, Project, SocketClient, SocketServed, hook_binary, request};
use rustix::process::Signal;
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, BufReader};

/// How long something may take that does not wait for what it must not wait for.
const PROMPT: Duration = Duration::from_secs(20);

fn empty() -> Project {
    Project::with_settings(&json!({"hooks": {}}))
}

/// A guard for every tool, whose calls may take longer than these tests.
fn guard(id: &str) -> Value {
    json!({"type": "hook-register", "hookId": id, "eventName": "BeforeTool",
        "config": {"timeout": 600_000, "failBehavior": "block"}})
}

fn tool(id: &str) -> Value {
    request("BeforeTool", &json!({"tool_name": "t", "tool_input": {}}), id)
}

async fn send(client: &mut SocketClient, message: &Value) {
    client.send(format!("{message}\n")).await;
}

/// Registers a guard.
async fn registered(client: &mut SocketClient, id: &str) {
    assert_eq!(client.ask(&guard(id)).await, json!({"type": "hook-registered", "hookId": id}));
}

fn answer(call: &Value, action: &str) -> Value {
    json!({"type": "hook-answer", "callId": call["callId"], "action": action})
}

/// Answers one call, which is for that request.
async fn answers(hooks: &mut SocketClient, asker: &mut SocketClient, id: &str) {
    send(asker, &tool(id)).await;
    let call = hooks.receive().await;
    assert_eq!(call["type"], "hook-call", "{call}");
    send(hooks, &answer(&call, "continue")).await;
    assert_eq!(asker.receive().await["processed"]["decision"], "proceed");
}

#[tokio::test]
async fn a_line_that_is_no_message_fails_the_calls_that_may_have_been_meant() {
    let project = empty();
    let served = SocketServed::start(&project, &[]).await;
    let (mut hooks, mut asker) = (served.client().await, served.client().await);
    registered(&mut hooks, "g").await;
    let all = ["hook-call-cancelled", "hook-execution-response"];
    for (line, said, why) in [
        ("no {JSON}", &all[..], "expected a message as one JSON object"),
        (r#"{"type":"hook-answer","type":"hook-answer","callId":"ID"}"#, &all, "stands twice"),
        (r#"{"type":"hook-answer"}"#, &["hook-call-cancelled", "hook-error"], "found nothing"),
        (r#"{"type":"hook-answer","callId":ID}"#, &["hook-error"], "expected a string, found "),
        (r#"{"type":"hook-answer","callId":"ID","output":7}"#, &["hook-error"], "no object"),
        (r#"{"type":"hook-anser","callId":"ID"}"#, &all[1..], "no message \"hook-anser\""),
    ] {
        send(&mut asker, &tool("c")).await;
        let call = hooks.receive().await;
        let id = call["callId"].as_str().unwrap();
        let begun = Instant::now();
        hooks.send(line.replace("ID", id) + "\n").await;
        let response = asker.receive().await;
        assert!(begun.elapsed() < PROMPT, "{line}");
        assert_eq!(response["processed"]["decision"], "block", "{line}");
        let error = response["hooks"][0]["error"].as_str().unwrap();
        assert!(error.starts_with("its client sent a line that is no message: "), "{error}");
        assert!(error.contains(why), "{error}");
        let mut heard = Vec::new();
        for _ in said {
            heard.push(hooks.receive().await);
        }
        heard.sort_by_key(|message| message["type"].to_string());
        let kinds: Vec<&Value> = heard.iter().map(|message| &message["type"]).collect();
        assert_eq!(kinds, said, "{line}: {heard:?}");
        let refusal = heard.last().unwrap();
        assert_eq!(refusal["error"]["code"], "invalid_request", "{refusal}");
    }
    // All else goes on, also what it asks itself; an asker without hooks loses nothing by it.
    answers(&mut hooks, &mut asker, "after").await;
    send(&mut asker, &tool("meanwhile")).await;
    let call = hooks.receive().await;
    asker.send("no {JSON}\n").await;
    assert_eq!(asker.receive().await["error"]["code"], "invalid_request");
    // One that names a call which is over is about none that waits.
    send(&mut hooks, &json!({"type": "hook-answer", "callId": 1})).await;
    assert_eq!(hooks.receive().await["error"]["details"], json!({"callId": 1}));
    send(&mut hooks, &answer(&call, "block")).await;
    let response = asker.receive().await;
    assert_eq!(response["hooks"][0].get("error"), None, "{response}");
}

#[tokio::test]
async fn what_is_refused_says_more_in_its_details() {
    let project =
        Project::with_settings(&json!({"hooksConfig": {"registration": {"maxPerEvent": 1}}}));
    let served = SocketServed::start(&project, &[]).await;
    let mut client = served.client().await;
    registered(&mut client, "g").await;
    let with = |field: &str, value: Value| {
        let mut message = guard("h");
        message[field] = value;
        message
    };
    for (message, code, details) in [
        (guard("g"), "duplicate_id", json!({"field": "hookId"})),
        (guard("h"), "limit_exceeded", json!({"limit": 1})),
        (
            with("eventName", json!("BeforTool")),
            "unsupported_event",
            json!({"field": "eventName", "vocabulary": "native", "nearest": "BeforeTool"}),
        ),
        (
            with("config", json!({"timeout": 0})),
            "invalid_request",
            json!({"field": "config.timeout"}),
        ),
        (
            json!({"type": "hook-unregister", "hookId": "none"}),
            "unknown_id",
            json!({"field": "hookId"}),
        ),
        (json!({"type": "hook-unregister"}), "invalid_request", json!({"field": "hookId"})),
        (json!({"type": "hook-host-result"}), "invalid_request", json!({"field": "hostCallId"})),
    ] {
        let refused = client.ask(&message).await;
        assert_eq!(refused["error"]["code"], code, "{refused}");
        assert_eq!(refused["error"]["details"], details, "{refused}");
    }
}

#[tokio::test]
async fn a_greeting_that_is_not_right_is_answered() {
    let project = empty();
    let served = SocketServed::start(&project, &[]).await;
    let mut client = served.client().await;
    let none = "0".repeat(32);
    for (field, value, code, part) in [
        ("clientToken", json!(7), "invalid_request", "expected a string, found 7"),
        ("clientToken", json!(none), "unknown_token", "no client with hooks is known"),
        ("protocol", json!("zwei"), "invalid_request", "and this server 1"),
        ("protocol", json!(0), "invalid_request", "the client speaks 0"),
        ("hostServices", json!("ui.confirm"), "invalid_request", "an array of strings"),
    ] {
        let refused = client.ask(&json!({"type": "hook-hello", field: value})).await;
        assert_eq!(
            (&refused["type"], &refused["request"]),
            (&json!("hook-error"), &json!("hook-hello"))
        );
        assert_eq!(refused["error"]["code"], code, "{refused}");
        assert_eq!(refused["error"]["details"]["field"], field, "{refused}");
        assert!(refused["error"]["message"].as_str().unwrap().contains(part), "{refused}");
    }
    // Of two versions the lower is spoken; a wrong token takes nothing from who has it.
    send(&mut client, &json!({"type": "hook-hello", "protocol": 2})).await;
    registered(&mut client, "g").await;
    let mut asker = served.client().await;
    answers(&mut client, &mut asker, "c").await;
}

#[tokio::test]
async fn a_deadline_that_is_no_number_is_refused_at_each_door() {
    let project = empty();
    let served = SocketServed::start(&project, &[]).await;
    let mut client = served.client().await;
    let call = json!({"hook_event_name": "PreToolUse", "tool_name": "Bash", "tool_input": {}});
    let bridge = json!({"type": "hook-bridge", "agent": "claude", "said": call.to_string()});
    for mut message in [tool("c"), bridge] {
        for (deadline, found) in [
            (json!("5"), "a number, found a string"),
            (json!(1.5), "whole milliseconds, found 1.5"),
        ] {
            message["deadlineMs"] = deadline;
            let refused = client.ask(&message).await.to_string();
            let expected = format!("field `deadlineMs`: expected {found}");
            assert!(refused.contains(&expected), "{refused}");
        }
    }
}

/// What Claude Code says before a tool, with the id that it gives the call.
fn call_of_claude(id: Option<&str>) -> Value {
    let mut call = json!({"session_id": "s", "cwd": "/", "hook_event_name": "PreToolUse",
        "tool_name": "Bash", "tool_input": {"command": "ls"}});
    if let Some(id) = id {
        call["tool_use_id"] = json!(id);
    }
    json!({"type": "hook-bridge", "agent": "claude", "said": call.to_string()})
}

/// Sends a message whose answer comes later, and waits until the server has read it.
async fn begin(asker: &mut SocketClient, message: &Value) {
    send(asker, message).await;
    assert_eq!(asker.ask(&json!({"type": "hook-list"})).await["type"], "hook-hooks");
}

async fn call_to(hooks: &mut SocketClient) -> Value {
    let call = hooks.receive().await;
    assert_eq!(call["type"], "hook-call", "{call}");
    call
}

#[tokio::test]
async fn a_call_that_an_agent_makes_twice_runs_hooks_once() {
    let project = empty();
    let served = SocketServed::start(&project, &[]).await;
    let mut hooks = served.client().await;
    registered(&mut hooks, "g").await;
    let (mut first, mut second) = (served.client().await, served.client().await);
    send(&mut first, &call_of_claude(Some("1"))).await;
    let call = call_to(&mut hooks).await;
    begin(&mut second, &call_of_claude(Some("1"))).await;
    // Another call is none that came twice.
    begin(&mut second, &call_of_claude(Some("2"))).await;
    let other = call_to(&mut hooks).await;
    send(&mut hooks, &answer(&call, "block")).await;
    let (denied, repeated) = (first.receive().await, second.receive().await);
    assert!(denied["stdout"].as_str().unwrap().contains("\"deny\""), "{denied}");
    assert_eq!(denied["stdout"], repeated["stdout"]);
    assert_ne!(denied["correlationId"], repeated["correlationId"]);
    send(&mut hooks, &answer(&other, "continue")).await;
    assert_eq!(second.receive().await["stdout"], "");

    // Where the first one goes away, the second one is asked about.
    send(&mut first, &call_of_claude(Some("3"))).await;
    call_to(&mut hooks).await;
    begin(&mut second, &call_of_claude(Some("3"))).await;
    drop(first);
    assert_eq!(hooks.receive().await["type"], "hook-call-cancelled");
    let call = call_to(&mut hooks).await;
    send(&mut hooks, &answer(&call, "block")).await;
    let denied = second.receive().await;
    assert!(denied["stdout"].as_str().unwrap().contains("\"deny\""), "{denied}");

    // Without an id two calls may be the same and yet two.
    let mut first = served.client().await;
    send(&mut first, &call_of_claude(None)).await;
    let one = call_to(&mut hooks).await;
    begin(&mut second, &call_of_claude(None)).await;
    let two = call_to(&mut hooks).await;
    send(&mut hooks, &answer(&one, "continue")).await;
    send(&mut hooks, &answer(&two, "block")).await;
    assert_eq!(first.receive().await["stdout"], "");
    let denied = second.receive().await;
    assert!(denied["stdout"].as_str().unwrap().contains("\"deny\""), "{denied}");
}

#[tokio::test]
async fn hooks_of_clients_are_told_of_by_the_server_and_by_commands_that_do_not_ask_it() {
    let project = Project::new();
    project.write(".hooks/settings.json", r#"{"hooks": {}}"#);
    let mut process = tokio::process::Command::from(project.command(hook_binary()));
    process.args(["serve", "--socket"]).stderr(Stdio::piped()).stdin(Stdio::null());
    let mut process = process.kill_on_drop(true).spawn().unwrap();
    let mut said = BufReader::new(process.stderr.take().unwrap()).lines();
    let listening = said.next_line().await.unwrap().unwrap();
    let socket = listening.strip_prefix("listening on ").unwrap().to_owned();
    let mut client = SocketClient::connect(Path::new(&socket)).await;
    assert_eq!(client.receive().await["type"], "hook-hello");
    registered(&mut client, "g").await;
    let line = said.next_line().await.unwrap().unwrap();
    assert_eq!(line, "a client registered the hook `g` of BeforeTool");
    for (command, expected) in [
        (&["fire", "BeforeTool"][..], "1 registered guard (BeforeTool) of the server at"),
        (&["list"], "are not listed here"),
        (&["doctor"], "it has 1 registered guard (BeforeTool)"),
    ] {
        let finished = Hook::new(&project, command).run();
        let shown = format!("{}{}", finished.stdout, finished.stderr);
        assert!(shown.contains(expected), "{command:?}: {shown}");
    }
    let changed = Hook::new(&project, &["trust", "--revoke", "--yes"]).run();
    assert!(!changed.stderr.contains("kill -HUP"), "nothing changed: {changed:?}");
    send(&mut client, &json!({"type": "hook-unregister", "hookId": "g"})).await;
    assert_eq!(client.receive().await["type"], "hook-unregistered");
    let line = said.next_line().await.unwrap().unwrap();
    assert_eq!(line, "the registered hook `g` of BeforeTool is gone");
}

#[tokio::test]
async fn lines_take_effect_in_their_order() {
    let project = empty();
    let served = SocketServed::start(&project, &[]).await;
    let mut client = served.client().await;
    for round in 0..20 {
        let unregister = json!({"type": "hook-unregister", "hookId": "g"});
        let lines = [guard("g"), tool("with"), unregister, tool("without")];
        client.send(lines.map(|line| format!("{line}\n")).concat()).await;
        let mut heard = Vec::new();
        for _ in 0..4 {
            heard.push(client.receive().await);
        }
        let of = |kind: &str| heard.iter().position(|it| it["type"] == kind).unwrap();
        assert!(of("hook-registered") < of("hook-unregistered"), "{round}: {heard:?}");
        let call = &heard[of("hook-call")];
        assert_eq!(call["correlationId"], "with", "{round}");
        let without = &heard[of("hook-execution-response")];
        assert_eq!(
            (&without["correlationId"], &without["hooks"]),
            (&json!("without"), &json!([])),
            "{round}"
        );
        send(&mut client, &answer(call, "block")).await;
        let with = client.receive().await;
        assert_eq!(
            (&with["correlationId"], &with["processed"]["decision"]),
            (&json!("with"), &json!("block")),
            "{round}"
        );
    }
}

#[tokio::test]
async fn a_reload_leaves_hooks_of_clients_and_their_calls_alone() {
    let project = empty();
    let mut served = SocketServed::start(&project, &[]).await;
    let (mut hooks, mut asker) = (served.client().await, served.client().await);
    registered(&mut hooks, "g").await;
    for by_signal in [false, true] {
        send(&mut asker, &tool("c")).await;
        let call = hooks.receive().await;
        // Broken settings are said when they are read, so it is known when that was.
        let wrong = json!({"hooks": {"BeforeTool": by_signal}});
        project.write("settings.json", &wrong.to_string());
        match by_signal {
            true => {
                served.signal(Signal::HUP);
                while !served.says().await.contains("BeforeTool") {}
            }
            false => {
                let reloaded = hooks.ask(&json!({"type": "hook-reload"})).await;
                assert_eq!(reloaded["type"], "hook-reloaded", "{reloaded}");
            }
        }
        send(&mut hooks, &answer(&call, "block")).await;
        let response = asker.receive().await;
        assert_eq!(response["processed"]["decision"], "block", "{response}");
        assert_eq!(response["hooks"][0].get("error"), None, "{response}");
        answers(&mut hooks, &mut asker, "after").await;
    }
}

/// A hook's question to the user of whoever asked, as the asker hears it.
async fn question(hooks: &mut SocketClient, asker: &mut SocketClient, asked: &Value) -> Value {
    let hello = json!({"type": "hook-hello", "protocol": 1, "hostServices": ["ui.confirm"]});
    send(asker, &hello).await;
    send(asker, asked).await;
    let call = hooks.receive().await;
    let question = json!({"type": "hook-host-call", "hostCallId": "q", "callId": call["callId"],
        "method": "ui.confirm", "params": {"title": "Sure?"}});
    send(hooks, &question).await;
    let heard = asker.receive().await;
    assert_eq!(heard["type"], "hook-host-call", "{heard}");
    call
}

#[tokio::test]
async fn the_deadline_of_a_request_counts_while_its_user_is_asked() {
    let project = empty();
    let served = SocketServed::start(&project, &[]).await;
    let (mut hooks, mut asker) = (served.client().await, served.client().await);
    registered(&mut hooks, "g").await;
    let mut asked = tool("c");
    asked["deadlineMs"] = json!(1_000);
    let begun = Instant::now();
    let call = question(&mut hooks, &mut asker, &asked).await;
    let mut heard = [asker.receive().await, asker.receive().await];
    heard.sort_by_key(|message| message["type"].to_string());
    let [response, taken_back] = heard;
    assert_eq!(taken_back["type"], "hook-host-call-cancelled", "{taken_back}");
    assert!(begun.elapsed() >= Duration::from_secs(1) && begun.elapsed() < PROMPT);
    assert_eq!(response["processed"]["decision"], "block", "{response}");
    assert_eq!(response["error"]["code"], "deadline_exceeded", "{response}");
    let cancelled = hooks.receive().await;
    assert_eq!(
        (&cancelled["type"], &cancelled["callId"]),
        (&json!("hook-call-cancelled"), &call["callId"])
    );
}

#[tokio::test]
async fn an_asker_that_goes_takes_its_question_along() {
    let project = empty();
    let served = SocketServed::start(&project, &[]).await;
    let (mut hooks, mut asker) = (served.client().await, served.client().await);
    registered(&mut hooks, "g").await;
    let call = question(&mut hooks, &mut asker, &tool("c")).await;
    drop(asker);
    let mut heard = hooks.receive().await;
    if heard["type"] == "hook-host-result" {
        assert!(heard["error"]["message"].as_str().unwrap().contains("is gone"), "{heard}");
        heard = hooks.receive().await;
    }
    assert_eq!(
        (&heard["type"], &heard["callId"]),
        (&json!("hook-call-cancelled"), &call["callId"])
    );
    let mut asker = served.client().await;
    answers(&mut hooks, &mut asker, "after").await;
}

#[tokio::test]
async fn a_server_that_is_to_end_waits_for_no_client_to_come_back() {
    let project = empty();
    let served = SocketServed::start(&project, &[]).await;
    let (mut hooks, mut asker) = (served.client().await, served.client().await);
    registered(&mut hooks, "g").await;
    drop(hooks);
    // It is gone when its hook is asked no more.
    let gone = async {
        loop {
            let mut asked = tool("c");
            asked["deadlineMs"] = json!(200);
            let response = asker.ask(&asked).await;
            if response["hooks"][0]["error"] == "its client is not connected at present" {
                return;
            }
        }
    };
    tokio::time::timeout(PROMPT, gone).await.unwrap();
    let begun = Instant::now();
    served.signal(Signal::TERM);
    served.ended().await;
    assert!(begun.elapsed() < Duration::from_secs(15), "{:?}", begun.elapsed());
}

/// Has a tool run whose own hooks have it run again, and so on; how many calls there were, and what came of the
/// innermost. `client` does for its hooks what `tool.execute` is, and answers calls of its own hooks, if it has any.
async fn looped(client: &mut SocketClient) -> (usize, Value) {
    let hello = json!({"type": "hook-hello", "protocol": 1, "hostServices": ["tool.execute"]});
    send(client, &hello).await;
    send(client, &tool("r")).await;
    let (mut runs, mut open, mut innermost) = (0, Vec::new(), None);
    loop {
        let message = client.receive().await;
        match message["type"].as_str().unwrap() {
            "hook-call" => {
                let id = &message["callId"];
                let run = json!({"type": "hook-host-call", "hostCallId": id, "callId": id,
                    "method": "tool.execute", "params": {"tool": "t", "args": {}}});
                send(client, &run).await;
            }
            "hook-host-call" => {
                runs += 1;
                open.push(message["hostCallId"].clone());
                let mut asked = tool("r");
                asked["runToken"] = message["runToken"].clone();
                send(client, &asked).await;
            }
            "hook-execution-response" => {
                innermost.get_or_insert_with(|| message["hooks"][0].clone());
                let Some(id) = open.pop() else { break };
                let result = json!({"type": "hook-host-result", "hostCallId": id, "result": null});
                send(client, &result).await;
            }
            "hook-host-result" => {
                let call = &message["hostCallId"];
                let answer = json!({"type": "hook-answer", "callId": call, "action": "continue"});
                send(client, &answer).await;
            }
            other => panic!("{other}"),
        }
    }
    (runs, innermost.unwrap())
}

#[tokio::test]
async fn tools_that_hooks_run_are_nested_eight_deep_at_most() {
    let project = empty();
    let served = SocketServed::start(&project, &[]).await;
    let mut client = served.client().await;
    registered(&mut client, "g").await;
    let (runs, innermost) = looped(&mut client).await;
    assert_eq!(runs, 8, "{innermost}");
    let error = innermost["error"].as_str().unwrap();
    assert!(error.contains("nested too deep"), "{error}");

    // The same of a worker.
    let project = Project::new();
    let worker = r#"
import json, sys
def say(**message):
    print(json.dumps(message), flush=True)
say(type="hook-worker", protocol=1)
for line in sys.stdin:
    heard = json.loads(line)
    if heard["type"] == "hook-call":
        id = heard["callId"]
        say(type="hook-host-call", hostCallId=id, callId=id, method="tool.execute", params={"tool": "t", "args": {}})
    elif heard["type"] == "hook-host-result":
        say(type="hook-answer", callId=heard["hostCallId"], action="continue")
"#;
    project.write("worker.py", worker);
    let entry =
        json!({"type": "worker", "command": "exec python3 -B worker.py", "timeout": 600_000});
    let settings = json!({"hooks": {"BeforeTool": [{"hooks": [entry]}]}});
    project.write("settings.json", &settings.to_string());
    let served = SocketServed::start(&project, &[]).await;
    let (runs, innermost) = looped(&mut served.client().await).await;
    assert_eq!(runs, 8, "{innermost}");
    assert!(innermost["error"].as_str().unwrap().contains("nested too deep"), "{innermost}");
}

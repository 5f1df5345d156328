//! Hooks of clients: registered over a connection, called over it, and back after it was lost
//! (reference/messages.md, "Live hooks").

use std::time::Duration;

use hook_bus::live::{HookRegister, LiveConnection, RECONNECT_GRACE};
use hook_bus::{HookExecutionRequest, HookSystem};
use hook_run::FromHook;
use hook_tests::{Project, SocketClient, SocketServed, fields, json, request};
use rustix::process::Signal;
use serde_json::{Value, json};

fn register(message: &Value) -> HookRegister {
    HookRegister::read(&fields(message.clone())).unwrap()
}

fn guard() -> Value {
    json!({"type": "hook-register", "hookId": "guard", "eventName": "PreToolUse", "vocabulary": "a3s",
        "matcher": {"tool": "Bash"}, "config": {"timeout": 3000, "failBehavior": "block"}})
}

fn shell(command: &str) -> Value {
    json!({"tool_name": "run_shell_command", "tool_input": {"command": command}})
}

async fn fire(system: &HookSystem, input: Value) -> Value {
    let request = HookExecutionRequest::new("BeforeTool", fields(input));
    json(&system.bus().request(request).await.to_json())
}

/// The call that comes next, as it stands on a line.
async fn call(client: &mut LiveConnection) -> Value {
    json(&client.next().await.to_line())
}

fn says(client: &LiveConnection, message: Value) {
    client.receive(FromHook::of(&fields(message)).unwrap());
}

/// Fires an event while the client answers the call that comes of it.
async fn answered(
    system: &HookSystem,
    client: &mut LiveConnection,
    input: Value,
    answer: Value,
) -> (Value, Value) {
    let answering = async {
        let call = call(client).await;
        let mut answer = answer;
        answer["type"] = json!("hook-answer");
        answer["callId"] = call["callId"].clone();
        says(client, answer);
        call
    };
    tokio::join!(answering, fire(system, input))
}

#[tokio::test]
async fn it_is_told_and_answers_in_the_words_of_its_vocabulary() {
    let system = Project::new().system();
    let mut client = system.live_clients().connect();
    client.register(register(&guard())).unwrap();

    let answer = json!({"action": "block", "reason": "not that"});
    let (call, response) = answered(&system, &mut client, shell("rm -rf /"), answer).await;
    assert_eq!((&call["type"], &call["hookId"]), (&json!("hook-call"), &json!("guard")));
    assert_eq!(
        (&call["eventName"], &call["input"]["tool"], &call["input"]["args"]["command"]),
        (&json!("PreToolUse"), &json!("Bash"), &json!("rm -rf /"))
    );
    assert!((1..=3000).contains(&call["deadlineMs"].as_u64().unwrap()));
    assert_eq!(call["correlationId"], response["correlationId"]);
    assert_eq!(
        (&response["processed"]["decision"], &response["processed"]["reason"]),
        (&json!("block"), &json!("not that"))
    );
    let hook = &response["hooks"][0];
    assert_eq!((&hook["type"], &hook["source"]), (&json!("registered"), &json!("client")));

    let answer = json!({"action": "continue", "modified": {"args": {"command": "ls"}}});
    let (_, response) = answered(&system, &mut client, shell("ls -l"), answer).await;
    assert_eq!(response["processed"]["modified"]["tool_input"], json!({"command": "ls"}));

    let answer = json!({"action": "retry", "delay": 250, "reason": "busy"});
    let (_, response) = answered(&system, &mut client, shell("ls"), answer).await;
    assert_eq!(
        (&response["processed"]["decision"], &response["processed"]["retryAfterMs"]),
        (&json!("retry"), &json!(250))
    );

    // The matcher is in those words, too.
    let other = json!({"tool_name": "write_file", "tool_input": {"file_path": "a"}});
    assert_eq!(fire(&system, other).await["hooks"], json!([]));
}

#[tokio::test]
async fn in_our_words_it_answers_as_a_script_does() {
    let system = Project::new().system();
    let mut client = system.live_clients().connect();
    let hook = json!({"hookId": "h", "eventName": "BeforeTool", "matcher": "run_.*"});
    client.register(register(&hook)).unwrap();
    for (answer, decision) in [
        (json!({}), "proceed"),
        (json!({"output": {"decision": "ask", "reason": "sure?"}}), "ask"),
        (json!({"output": {"continue": false}}), "stop"),
        (json!({"action": "block"}), "block"),
        (json!({"action": "continue"}), "proceed"),
        (json!({"error": "KeyError: 'path'"}), "proceed"),
        (json!({"action": "blok"}), "proceed"),
    ] {
        let (call, response) = answered(&system, &mut client, shell("ls"), answer.clone()).await;
        assert_eq!(call["input"]["tool_name"], "run_shell_command");
        assert_eq!(response["processed"]["decision"], decision, "{answer}");
    }
    let (_, response) =
        answered(&system, &mut client, shell("ls"), json!({"error": "no\nluck"})).await;
    assert_eq!(response["hooks"][0]["error"], "it failed, and says: no\nluck");
}

#[tokio::test]
async fn the_short_answer_counts_in_any_vocabulary() {
    let system = Project::new().system();
    for (vocabulary, event) in [
        ("native", "BeforeTool"),
        ("a3s", "PreToolUse"),
        ("claude", "PreToolUse"),
        ("codex", "PreToolUse"),
        ("gemini", "BeforeTool"),
        ("qwen", "PreToolUse"),
        ("cursor", "preToolUse"),
        ("copilot", "preToolUse"),
        ("pi", "tool_call"),
        ("omp", "tool_call"),
    ] {
        let mut client = system.live_clients().connect();
        let hook = json!({"hookId": "g", "eventName": event, "vocabulary": vocabulary});
        client.register(register(&hook)).unwrap();
        let answer = json!({"action": "block", "reason": "no"});
        let (_, response) = answered(&system, &mut client, shell("ls"), answer).await;
        assert_eq!(response["processed"]["decision"], "block", "{vocabulary}");
        client.unregister("g").unwrap();
    }
}

#[tokio::test(start_paused = true)]
async fn nobody_waits_for_a_turn_with_a_client_that_is_gone() {
    let system = Project::new().system();
    let mut client = system.live_clients().connect();
    let mut hook = guard();
    hook["config"]["timeout"] = json!(20_000);
    client.register(register(&hook)).unwrap();
    let asked = (0..64).map(|_| fire(&system, shell("ls")));
    let asked = futures::future::join_all(asked);
    let lost = async {
        for _ in 0..64 {
            call(&mut client).await;
        }
        drop(client);
        let begun = tokio::time::Instant::now();
        assert_eq!(fire(&system, shell("ls")).await["processed"]["decision"], "block");
        assert!(begun.elapsed() < Duration::from_secs(1), "{:?}", begun.elapsed());
    };
    let (answers, ()) = tokio::join!(asked, lost);
    assert!(answers.iter().all(|it| it["processed"]["decision"] == "block"));
}

#[tokio::test]
async fn a_connection_that_was_superseded_answers_nothing() {
    let system = Project::new().system();
    let mut client = system.live_clients().connect();
    client.register(register(&guard())).unwrap();
    let token = client.token().to_owned();
    let mut again = system.live_clients().connect();
    again.resume(&token).unwrap();
    let asking = async {
        let asked = call(&mut again).await;
        let answer = |action: &str| json!({"type": "hook-answer", "callId": asked["callId"], "action": action});
        says(&client, answer("continue"));
        says(&again, answer("block"));
    };
    let ((), response) = tokio::join!(asking, fire(&system, shell("ls")));
    assert_eq!(response["processed"]["decision"], "block");
    // A connection that has hooks of its own takes over nobody's.
    let mut other = system.live_clients().connect();
    other.register(register(&json!({"hookId": "o", "eventName": "BeforeAgent"}))).unwrap();
    assert!(other.resume(&token).is_err());
}

#[tokio::test]
async fn whatever_a_guard_says_that_is_no_answer_blocks() {
    let system = Project::new().system();
    let mut client = system.live_clients().connect();
    client.register(register(&guard())).unwrap();
    for answer in [
        json!({"error": "I do not know"}),
        json!({"action": "blok"}),
        json!({"action": 7}),
        json!({"verdict": "fine"}),
        json!({"output": {"action": null}}),
    ] {
        let (_, response) = answered(&system, &mut client, shell("ls"), answer.clone()).await;
        assert_eq!(response["processed"]["decision"], "block", "{answer}");
    }
}

#[tokio::test]
async fn what_is_not_right_is_refused_and_said() {
    let system = Project::new().system();
    let mut client = system.live_clients().connect();
    client.register(register(&guard())).unwrap();
    let with = |field: &str, value: Value| {
        let mut message = guard();
        message["hookId"] = json!("other");
        message[field] = value;
        message
    };
    for (message, code, part) in [
        (guard(), "duplicate_id", "`guard`"),
        (with("eventName", json!("PreTolUse")), "unsupported_event", "did you mean `PreToolUse`"),
        (with("vocabulary", json!("klingon")), "invalid_request", "expected one of native"),
        (with("matcher", json!({"tol": "Bash"})), "invalid_request", "did you mean `tool`"),
        (with("matcher", json!(["Bash"])), "invalid_request", "a string or an object"),
        (with("matcher", json!({"commandPattern": "("})), "invalid_request", "("),
        (with("config", json!({"failBehaviour": "block"})), "invalid_request", "failBehavior"),
        (with("config", json!({"timeout": 0})), "invalid_request", "milliseconds"),
        (with("config", json!({"priority": "high"})), "invalid_request", "whole number"),
        (
            with("config", json!({"async": true, "failBehavior": "block"})),
            "invalid_request",
            "waited for",
        ),
        (with("hookId", json!("  ")), "invalid_request", "blanks"),
        (with("hookId", json!("a\nb")), "invalid_request", "hidden"),
        (with("hookId", json!("\u{1b}[2J")), "invalid_request", "hidden"),
    ] {
        let refused = client.register(register(&message)).unwrap_err();
        assert_eq!(refused.code(), code, "{message}: {refused}");
        assert!(refused.to_string().contains(part), "{refused}");
    }
    for message in [json!({"hookId": "h"}), json!({"hookId": 7, "eventName": "BeforeTool"})] {
        assert_eq!(HookRegister::read(&fields(message)).unwrap_err().code(), "invalid_request");
    }
    assert_eq!(client.list().len(), 1, "none of them is there");
}

#[tokio::test]
async fn clients_may_have_so_many_hooks_and_one_more_is_refused() {
    let system = Project::new().system();
    system.initialize().await.unwrap();
    let mut client = system.live_clients().connect();
    let mut other = system.live_clients().connect();
    let hook = |id: usize| HookRegister::new(format!("h-{id}"), "BeforeTool");
    for id in 0..10 {
        let client = if id % 2 == 0 { &mut client } else { &mut other };
        client.register(hook(id)).unwrap();
    }
    let refused = client.register(hook(10)).unwrap_err();
    assert_eq!(refused.code(), "limit_exceeded", "{refused}");
    assert!(refused.to_string().contains("10 hooks of BeforeTool"), "{refused}");
    client.unregister("h-0").unwrap();
    client.register(hook(10)).unwrap();
    assert_eq!(client.unregister("h-1").unwrap_err().code(), "unknown_id", "it is another's");
    assert_eq!(client.list().iter().filter(|it| it.own).count(), 5);
}

#[tokio::test(start_paused = true)]
async fn a_guard_whose_connection_is_lost_blocks_and_is_missed_when_nobody_comes_back() {
    let system = Project::new().system();
    let mut client = system.live_clients().connect();
    client.register(register(&guard())).unwrap();
    let token = client.token().to_owned();
    drop(client);
    let response = fire(&system, shell("ls")).await;
    assert_eq!(response["processed"]["decision"], "block");
    assert_eq!(response["hooks"][0]["error"], "its client is not connected at present");

    tokio::time::sleep(RECONNECT_GRACE + Duration::from_secs(1)).await;
    let response = fire(&system, shell("ls")).await;
    assert_eq!(response["processed"]["decision"], "proceed");
    let warning = response["warnings"][0].as_str().unwrap().to_owned();
    assert!(warning.contains("this guard of BeforeTool is gone with the client"), "{warning}");
    // A reload does not forget it; the guard's coming back does.
    system.reload().await.unwrap();
    assert!(fire(&system, shell("ls")).await["warnings"].is_array());
    // Another client may have a hook of that name, and brings nothing back.
    let mut other = system.live_clients().connect();
    other.register(register(&guard())).unwrap();
    let (_, response) =
        answered(&system, &mut other, shell("ls"), json!({"action": "continue"})).await;
    assert_eq!(response["warnings"][0].as_str(), Some(&*warning));
    other.unregister("guard").unwrap();
    let mut again = system.live_clients().connect();
    assert!(again.resume(&token).is_err(), "it came too late");
    again.register(register(&guard())).unwrap();
    let (_, response) =
        answered(&system, &mut again, shell("ls"), json!({"action": "continue"})).await;
    assert_eq!(response.get("warnings"), None);
}

#[tokio::test(start_paused = true)]
async fn a_client_that_comes_back_in_time_gets_its_hooks_and_the_calls_that_wait() {
    let system = Project::new().system();
    let mut client = system.live_clients().connect();
    client.register(register(&guard())).unwrap();
    let token = client.token().to_owned();
    let coming_back = async {
        call(&mut client).await;
        drop(client);
        let mut again = system.live_clients().connect();
        assert!(again.resume("0123456789").is_err());
        assert_ne!(again.token(), token);
        assert_eq!(again.resume(&token).unwrap(), ["guard"]);
        let call = call(&mut again).await;
        says(
            &again,
            json!({"type": "hook-answer", "callId": call["callId"], "action": "block",
                "reason": "back"}),
        );
        again
    };
    let (mut client, response) = tokio::join!(coming_back, fire(&system, shell("ls")));
    assert_eq!(response["processed"]["reason"], "back");
    // The grace of the connection that was lost does not end what goes on over another.
    tokio::time::sleep(RECONNECT_GRACE * 2).await;
    let (_, response) =
        answered(&system, &mut client, shell("ls"), json!({"action": "continue"})).await;
    assert_eq!(response["processed"]["decision"], "proceed");
    assert_eq!(response["hooks"].as_array().unwrap().len(), 1);
}

/// A call waits for its answer until its timeout, whatever became of the hook's registration.
#[tokio::test(start_paused = true)]
async fn a_call_of_a_hook_that_was_unregistered_waits_for_its_client_to_come_back() {
    let system = Project::new().system();
    let mut client = system.live_clients().connect();
    client.register(register(&guard())).unwrap();
    let token = client.token().to_owned();
    let coming_back = async {
        let told = call(&mut client).await;
        client.unregister("guard").unwrap();
        drop(client);
        tokio::time::sleep(Duration::from_secs(1)).await;
        let mut again = system.live_clients().connect();
        assert_eq!(again.resume(&token).unwrap(), [""; 0]);
        assert_eq!(call(&mut again).await["callId"], told["callId"]);
        let answer = json!({"type": "hook-answer", "callId": told["callId"], "action": "block",
            "reason": "back"});
        says(&again, answer);
        again
    };
    let (again, response) = tokio::join!(coming_back, fire(&system, shell("ls")));
    assert_eq!(response["processed"]["reason"], "back", "{response}");
    // With nothing left to come back for, nobody waits for it.
    drop(again);
    assert!(system.live_clients().connect().resume(&token).is_err());
}

#[tokio::test(start_paused = true)]
async fn a_hook_that_never_answers_is_told_that_its_call_is_over() {
    let system = Project::new().system();
    let mut client = system.live_clients().connect();
    client.register(register(&guard())).unwrap();
    let asked = async {
        let asked = call(&mut client).await;
        let cancelled = call(&mut client).await;
        assert_eq!(cancelled["type"], "hook-call-cancelled");
        assert_eq!(cancelled["callId"], asked["callId"]);
        asked
    };
    let (asked, response) = tokio::join!(asked, fire(&system, shell("ls")));
    assert_eq!(response["processed"]["decision"], "block");
    assert_eq!(response["hooks"][0]["timedOut"], true);
    // What comes now, or is about no call, changes nothing.
    for id in [asked["callId"].clone(), json!("999"), json!("x"), json!("")] {
        says(&client, json!({"type": "hook-answer", "callId": id, "action": "continue"}));
    }
    let (_, response) =
        answered(&system, &mut client, shell("ls"), json!({"action": "block"})).await;
    assert_eq!(response["processed"]["decision"], "block");
}

async fn send(client: &mut SocketClient, message: &Value) {
    client.send(format!("{message}\n")).await;
}

#[tokio::test]
async fn over_a_socket_one_client_has_hooks_and_another_asks() {
    let project = Project::with_settings(&json!({"hooks": {}}));
    let served = SocketServed::start(&project, &[]).await;
    let mut hooks = served.stranger().await;
    let hello = hooks.receive().await;
    let token = hello["clientToken"].as_str().unwrap();
    assert!(token.len() >= 32, "{hello}");
    send(&mut hooks, &guard()).await;
    assert_eq!(hooks.receive().await, json!({"type": "hook-registered", "hookId": "guard"}));
    send(&mut hooks, &guard()).await;
    let refused = hooks.receive().await;
    assert_eq!(
        (&refused["type"], &refused["request"], &refused["hookId"], &refused["error"]["code"]),
        (&json!("hook-error"), &json!("hook-register"), &json!("guard"), &json!("duplicate_id"))
    );
    let mut asker = served.client().await;
    let hello = json!({"type": "hook-hello", "protocol": 1, "hostServices": ["ui.confirm"]});
    send(&mut asker, &hello).await;
    send(&mut asker, &json!({"type": "hook-list"})).await;
    let listed = asker.receive().await;
    assert_eq!(
        (&listed["hooks"][0]["hookId"], &listed["hooks"][0]["own"]),
        (&json!("guard"), &json!(false))
    );
    send(&mut asker, &request("BeforeTool", &shell("ls"), "c-1")).await;
    let call = hooks.receive().await;
    let ask = json!({"type": "hook-host-call", "hostCallId": {"mine": 1},
        "callId": call["callId"], "method": "ui.confirm", "params": {"title": "Sure?"}});
    send(&mut hooks, &ask).await;
    let asked = asker.receive().await;
    assert_eq!(
        (&asked["type"], &asked["correlationId"], &asked["params"]["title"]),
        (&json!("hook-host-call"), &json!("c-1"), &json!("Sure?"))
    );
    let result = json!({"type": "hook-host-result", "hostCallId": asked["hostCallId"],
        "result": true});
    send(&mut asker, &result).await;
    let result = hooks.receive().await;
    assert_eq!((&result["hostCallId"], &result["result"]), (&json!({"mine": 1}), &json!(true)));
    let answer = json!({"type": "hook-answer", "callId": call["callId"], "action": "block"});
    send(&mut hooks, &answer).await;
    assert_eq!(asker.receive().await["processed"]["decision"], "block");

    // An answer that is longer than one may be is none: a guard that gave it blocks.
    send(&mut asker, &request("BeforeTool", &shell("ls"), "c-2")).await;
    let call = hooks.receive().await;
    let long = "x".repeat(5 * 1024 * 1024);
    let answer =
        json!({"type": "hook-answer", "callId": call["callId"], "output": {"reason": long}});
    send(&mut hooks, &answer).await;
    let response = asker.receive().await;
    assert_eq!(response["processed"]["decision"], "block");
    let error = response["hooks"][0]["error"].as_str().unwrap();
    assert!(error.contains("may have 4194304"), "{error}");
    let refused = hooks.receive().await;
    assert_eq!(refused["error"]["details"]["limit"], 4 * 1024 * 1024, "{refused}");

    send(&mut hooks, &json!({"type": "hook-unregister", "hookId": "guard"})).await;
    assert_eq!(hooks.receive().await["type"], "hook-unregistered");
    send(&mut asker, &request("BeforeTool", &shell("ls"), "c-3")).await;
    assert_eq!(asker.receive().await["hooks"], json!([]));
}

#[tokio::test]
async fn a_server_that_is_told_to_end_tells_hooks_and_its_guards_block() {
    let project = Project::with_settings(&json!({"hooks": {}}));
    let served = SocketServed::start(&project, &[]).await;
    let mut hooks = served.client().await;
    send(&mut hooks, &guard()).await;
    hooks.receive().await;
    let mut asker = served.client().await;
    send(&mut asker, &request("BeforeTool", &shell("ls"), "c-1")).await;
    hooks.receive().await;
    served.signal(Signal::TERM);
    let response = asker.receive().await;
    assert_eq!(
        (&response["error"]["code"], &response["processed"]["decision"]),
        (&json!("shutting_down"), &json!("block"))
    );
    let mut kinds = vec![hooks.receive().await["type"].clone()];
    if kinds != [json!("hook-close")] {
        kinds.push(hooks.receive().await["type"].clone());
    }
    assert!(kinds.contains(&json!("hook-close")), "{kinds:?}");
}

#[tokio::test]
async fn a_server_does_not_wait_for_a_hook_that_is_gone() {
    let project = Project::with_settings(&json!({"hooks": {}}));
    let served = SocketServed::start(&project, &[]).await;
    let mut hooks = served.client().await;
    send(&mut hooks, &guard()).await;
    hooks.receive().await;
    let mut asker = served.client().await;
    send(&mut asker, &request("BeforeTool", &shell("ls"), "c-1")).await;
    hooks.receive().await;
    drop(hooks);
    // It may come back until its timeout, and then the guard blocks.
    assert_eq!(asker.receive().await["processed"]["decision"], "block");
}

/// What a hook asked for and does not wait for any more is taken back from whoever was asked, once.
#[tokio::test]
async fn an_asker_is_told_that_nobody_waits_for_its_answer_any_more() {
    let project = Project::with_settings(&json!({"hooks": {}}));
    let served = SocketServed::start(&project, &["-v"]).await;
    let mut hooks = served.client().await;
    send(&mut hooks, &guard()).await;
    hooks.receive().await;
    let mut asker = served.client().await;
    let hello = json!({"type": "hook-hello", "protocol": 1, "hostServices": ["ui.confirm"]});
    send(&mut asker, &hello).await;
    let answer = |call: &Value| json!({"type": "hook-answer", "callId": call["callId"]});
    let over = |asked: &Value| json!({"type": "hook-host-call-cancelled", "hostCallId": asked["hostCallId"]});

    // The hook takes it back.
    let (call, asked) = question(&mut hooks, &mut asker, "c-1").await;
    let take_back = json!({"type": "hook-host-call", "hostCallId": "back", "callId": call["callId"],
        "method": "cancel", "params": {"hostCallId": "q"}});
    send(&mut hooks, &take_back).await;
    assert_eq!(asker.receive().await, over(&asked));
    assert_eq!(hooks.receive().await["result"], json!(true));
    // Too late, and nothing comes of it.
    let late =
        json!({"type": "hook-host-result", "hostCallId": asked["hostCallId"], "result": true});
    send(&mut asker, &late).await;
    send(&mut hooks, &answer(&call)).await;
    assert_eq!(asker.receive().await["processed"]["decision"], "proceed");

    // The hook answers without waiting; the request is cancelled.
    for end in ["answer", "cancel"] {
        let (call, asked) = question(&mut hooks, &mut asker, end).await;
        if end == "answer" {
            send(&mut hooks, &answer(&call)).await;
        } else {
            send(&mut asker, &json!({"type": "hook-cancel", "correlationId": end})).await;
            assert_eq!(hooks.receive().await["type"], "hook-call-cancelled");
        }
        let mut told = [asker.receive().await, asker.receive().await];
        told.sort_by_key(|message| message["type"].as_str().map(str::to_owned));
        assert_eq!((&told[0]["correlationId"], &told[1]), (&json!(end), &over(&asked)), "{told:?}");
    }

    // Who offers anew has been asked nothing so far, and numbers go on.
    let (call, asked) = question(&mut hooks, &mut asker, "c-5").await;
    send(&mut asker, &hello).await;
    assert_eq!(asker.receive().await, over(&asked));
    assert_eq!(hooks.receive().await["error"]["code"], "failed");
    send(&mut hooks, &answer(&call)).await;
    asker.receive().await;
    let (call, again) = question(&mut hooks, &mut asker, "c-6").await;
    assert_ne!(again["hostCallId"], asked["hostCallId"]);
    let result = json!({"type": "hook-host-result", "hostCallId": again["hostCallId"],
        "result": true});
    send(&mut asker, &result).await;
    assert_eq!(hooks.receive().await["result"], json!(true));
    send(&mut hooks, &answer(&call)).await;
    assert_eq!(asker.receive().await["type"], "hook-execution-response");
    served.signal(Signal::TERM);
    let (_, said) = served.ended().await;
    assert!(said.contains("results of host calls, and chunks, that nothing waited for"), "{said}");
}

/// Fires an event whose hook asks the asker's user: the hook's call, and what the asker is asked.
async fn question(hooks: &mut SocketClient, asker: &mut SocketClient, id: &str) -> (Value, Value) {
    send(asker, &request("BeforeTool", &shell("ls"), id)).await;
    let call = hooks.receive().await;
    let ask = json!({"type": "hook-host-call", "hostCallId": "q", "callId": call["callId"],
        "method": "ui.confirm", "params": {"title": "Sure?"}});
    send(hooks, &ask).await;
    let asked = asker.receive().await;
    assert_eq!((&asked["type"], &asked["correlationId"]), (&json!("hook-host-call"), &json!(id)));
    (call, asked)
}

/// Another reader may take the first of two values where this one takes the last.
#[tokio::test]
async fn no_message_of_a_client_has_a_field_twice() {
    let project = Project::with_settings(&json!({"hooks": {}}));
    let served = SocketServed::start(&project, &[]).await;
    let mut hooks = served.client().await;
    for (kind, fields) in [
        ("hook-hello", r#""hostServices":["exec"],"hostServices":[]"#),
        ("hook-register", r#""hookId":"a","hookId":"b","eventName":"BeforeTool""#),
        ("hook-unregister", r#""hookId":"a","hookId":"b""#),
        ("hook-host-result", r#""hostCallId":"1","hostCallId":"2","result":true"#),
    ] {
        hooks.send(format!("{{\"type\":\"{kind}\",{fields}}}\n")).await;
        let refused = hooks.receive().await;
        assert_eq!((&refused["type"], &refused["request"]), (&json!("hook-error"), &json!(kind)));
        assert_eq!(refused["error"]["code"], "invalid_request", "{refused}");
    }
    let bridge = r#"{"type":"hook-bridge","agent":"claude","said":"{}","said":"{\"a\":1}"}"#;
    hooks.send(format!("{bridge}\n")).await;
    let refused = hooks.receive().await;
    assert_eq!(refused["error"]["code"], "invalid_request", "{refused}");
    assert!(refused["error"]["message"].as_str().unwrap().contains("`said`"), "{refused}");

    // A hook that waits for such a result is told that it has none.
    send(&mut hooks, &guard()).await;
    hooks.receive().await;
    let mut asker = served.client().await;
    send(&mut asker, &json!({"type": "hook-hello", "hostServices": ["ui.confirm"]})).await;
    let (call, asked) = question(&mut hooks, &mut asker, "c-1").await;
    let id = &asked["hostCallId"];
    let result = format!(
        "{{\"type\":\"hook-host-result\",\"hostCallId\":{id},\"result\":false,\"result\":true}}\n"
    );
    asker.send(result).await;
    let error = &hooks.receive().await["error"];
    assert!(error["message"].as_str().unwrap().contains("`result`"), "{error}");
    send(&mut hooks, &json!({"type": "hook-answer", "callId": call["callId"]})).await;
    assert_eq!(asker.receive().await["processed"]["decision"], "proceed");
}

/// A host call that is refused is answered as every host call is: its hook waits for that.
#[tokio::test]
async fn a_host_call_that_is_too_long_is_refused_under_its_id() {
    let project = Project::with_settings(&json!({}));
    let mut served = hook_tests::Served::start(&project).await;
    let call = |id: Value, length: usize| {
        json!({"type": "hook-host-call", "hostCallId": id, "callId": "1", "method": "ui.notify",
            "params": {"message": "x".repeat(length)}})
    };
    let refused = served.ask(&call(json!("h-1"), 5_000_000)).await;
    assert_eq!(
        (&refused["type"], &refused["hostCallId"]),
        (&json!("hook-host-result"), &json!("h-1"))
    );
    assert_eq!(refused["error"]["code"], "invalid_request");
    let message = refused["error"]["message"].as_str().unwrap();
    assert!(message.contains("and may have 4194304"), "{message}");
    // What is no id to be repeated is not.
    let refused = served.ask(&call(json!("x".repeat(5_000_000)), 1)).await;
    assert_eq!(
        (&refused["type"], &refused["request"]),
        (&json!("hook-error"), &json!("hook-host-call"))
    );
}

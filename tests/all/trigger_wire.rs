//! Triggers of clients that misbehave, leave or are left (reference/messages.md, "Triggers"). One that no hook refuses is
//! in `trigger_scenarios`.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use hook_bus::wire::{ClientEnd, serve_client};
use hook_bus::{HandlerHook, HookEventName, HookSystem};
use hook_tests::{Project, Served, SocketServed, json};
use rustix::process::Signal;
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader, DuplexStream, duplex};
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

const DAY: Duration = Duration::from_secs(86_400);

/// A client of a server in this process.
struct Client {
    writer: DuplexStream,
    reader: BufReader<DuplexStream>,
    serving: JoinHandle<ClientEnd>,
    stop: CancellationToken,
}

impl Client {
    async fn of(project: &Project) -> Self {
        Self::connect(Arc::new(project.system())).await
    }

    async fn connect(system: Arc<HookSystem>) -> Self {
        let (writer, input) = duplex(64 * 1024);
        let (output, reader) = duplex(64 * 1024);
        let stop = CancellationToken::new();
        let stopped = stop.clone();
        let serving =
            tokio::spawn(
                async move { serve_client(&system, input, output, &stopped).await.unwrap() },
            );
        let mut client = Self { writer, reader: BufReader::new(reader), serving, stop };
        assert_eq!(client.receive().await["type"], "hook-hello");
        client
    }

    async fn send(&mut self, message: &Value) {
        self.writer.write_all(format!("{message}\n").as_bytes()).await.unwrap();
    }

    async fn receive(&mut self) -> Value {
        let mut line = String::new();
        self.reader.read_line(&mut line).await.unwrap();
        json(line.as_bytes())
    }

    async fn ask(&mut self, message: &Value) -> Value {
        self.send(message).await;
        self.receive().await
    }

    /// Answers a call of a trigger.
    async fn answer(&mut self, call: &Value, result: Value) {
        let id = &call["hostCallId"];
        self.send(&json!({"type": "hook-host-result", "hostCallId": id, "result": result})).await;
    }

    /// Runs a tool to its end: nothing said before is in the way.
    async fn goes_on(&mut self) {
        let call = self.ask(&tool("goes on")).await;
        assert_eq!((&call["method"], &call["triggerId"]), (&json!("tool.run"), &json!("goes on")));
        self.answer(&call, json!({"llmContent": "done"})).await;
        let result = self.receive().await;
        assert_eq!(result["result"]["result"], json!({"llmContent": "done"}), "{result}");
    }
}

fn trigger(id: &str, trigger: &str, call: Value) -> Value {
    json!({"type": "hook-trigger", "triggerId": id, "trigger": trigger, "call": call})
}

fn tool(id: &str) -> Value {
    trigger(id, "tool", json!({"tool_name": "t", "tool_input": {"n": id}}))
}

fn model(id: &str, chunks: &str) -> Value {
    let request = json!({"model": "m", "contents": "Hi"});
    trigger(id, "model", json!({"sdk": "genai", "request": request, "chunks": chunks}))
}

fn cancel(id: &str) -> Value {
    json!({"type": "hook-trigger-cancel", "triggerId": id})
}

fn chunk(id: &str, chunk: Value) -> Value {
    json!({"type": "hook-trigger-chunk", "triggerId": id, "chunk": chunk})
}

/// The code and the text of an error in place of a result.
fn error(message: &Value) -> (&str, &str) {
    assert!(message.get("result").is_none(), "{message}");
    let text = |name| message["error"][name].as_str().unwrap_or_default();
    (text("code"), text("message"))
}

/// A project whose hook notes that a tool ran.
fn noting() -> Project {
    Project::with_hook("AfterTool", "touch ran")
}

#[tokio::test]
async fn a_trigger_that_cannot_be_read_has_an_error_for_a_result() {
    let mut client = Client::of(&Project::new()).await;
    let call = json!({"tool_name": "t", "tool_input": {}});
    let with = |name: &str, value: Value| {
        let mut message = tool("t");
        message[name] = value;
        message
    };
    let body = json!({"model": "m", "contents": "Hi"});
    for (message, expected) in [
        (trigger("t", "tea", call.clone()), "field `trigger`: expected one of `tool` `model`"),
        (with("trigger", Value::Null), "field `trigger`: expected one of"),
        (with("call", Value::Null), "field `call`: expected an object, found nothing"),
        (with("call", json!([])), "field `call`: expected an object, found an array"),
        (with("call", json!({"tool_name": "t"})), "field `tool_input`: expected"),
        (with("call", json!({"tool_name": "", "tool_input": {}})), "field `tool_name`: expected"),
        (with("session", json!(7)), "field `session`: expected an object"),
        (with("session", json!({"cwd": 7})), "field `cwd`: expected a string"),
        (with("session", json!({"maxContinuations": -1})), "field `maxContinuations`"),
        (with("deadlineMs", json!("soon")), "field `deadlineMs`: expected"),
        (with("runToken", json!(7)), "field `runToken`: expected a string"),
        (trigger("t", "model", json!({"sdk": "tea", "request": body})), "field `sdk`"),
        (trigger("t", "model", json!({"chunks": "all", "request": body})), "field `chunks`"),
        (trigger("t", "model", json!({"request": 7})), "field `llm_request`: expected an object"),
        (trigger("t", "notification", json!({"message": ""})), "field `message`: expected"),
        (trigger("t", "session-start", json!({"source": "tea"})), "field `source`: expected"),
    ] {
        let result = client.ask(&message).await;
        assert_eq!(
            (&result["type"], &result["triggerId"]),
            (&json!("hook-trigger-result"), &json!("t"))
        );
        let (code, text) = error(&result);
        assert!(code == "invalid_request" && text.contains(expected), "{text}\n{expected}");
    }
    // A repeated field: the guard might see the other one.
    let twice = r#"{"type":"hook-trigger","triggerId":"t","trigger":"tool","call":{"tool_name":"a","tool_input":{},"tool_input":{}}}"#;
    client.writer.write_all(format!("{twice}\n").as_bytes()).await.unwrap();
    assert!(error(&client.receive().await).1.contains("field `tool_input`: expected one value"));
    // Without an id that a result could have.
    for id in [Value::Null, json!(7), json!("x".repeat(257))] {
        for kind in ["hook-trigger", "hook-trigger-chunk", "hook-trigger-cancel"] {
            let reply = client.ask(&json!({"type": kind, "triggerId": id})).await;
            assert_eq!((&reply["type"], &reply["request"]), (&json!("hook-error"), &json!(kind)));
            assert_eq!(reply["error"]["details"], json!({"field": "triggerId"}));
        }
    }
    client.goes_on().await;
}

#[tokio::test]
async fn what_nothing_waits_for_changes_nothing() {
    let mut client = Client::of(&Project::new()).await;
    client.send(&chunk("never was", json!({}))).await;
    client.send(&cancel("never was")).await;
    let call = client.ask(&tool("t")).await;
    // A tool has no chunks, and its call is not one of a service that the client withdraws.
    client.send(&chunk("t", json!({}))).await;
    client.send(&json!({"type": "hook-hello", "hostServices": []})).await;
    client.answer(&json!({"hostCallId": "77"}), json!({"llmContent": "of another call"})).await;
    client.answer(&call, json!({"llmContent": "first"})).await;
    client.answer(&call, json!({"llmContent": "second"})).await;
    let result = client.receive().await;
    assert_eq!(result["result"]["result"]["llmContent"], "first");
    client.send(&chunk("t", json!({}))).await;
    client.send(&cancel("t")).await;
    client.goes_on().await;
}

#[tokio::test]
async fn a_result_after_a_cancellation_is_dropped_and_no_hook_sees_it() {
    let project = noting();
    let mut client = Client::of(&project).await;
    let call = client.ask(&tool("t")).await;
    let cancelled = client.ask(&cancel("t")).await;
    assert_eq!(
        cancelled,
        json!({"type": "hook-host-call-cancelled", "hostCallId": call["hostCallId"]})
    );
    let result = client.receive().await;
    assert_eq!((&result["triggerId"], error(&result).0), (&json!("t"), "cancelled"));
    client.answer(&call, json!({"llmContent": "late"})).await;
    let again = client.ask(&tool("t")).await;
    assert!(!project.path().join("ran").exists());
    client.answer(&again, json!({"llmContent": "in time"})).await;
    assert_eq!(client.receive().await["result"]["outcome"], "ran");
    assert!(project.path().join("ran").exists());
}

#[tokio::test]
async fn a_cancelled_trigger_ends_its_hooks() {
    let project = Project::with_hook("BeforeTool", "touch looking; sleep 1000");
    let mut client = Client::of(&project).await;
    client.send(&tool("t")).await;
    project.appears("looking").await;
    assert_eq!(error(&client.ask(&cancel("t")).await).0, "cancelled");
    project.assert_nothing_runs().await;
}

#[tokio::test]
async fn an_id_that_is_in_use_is_refused_and_the_first_trigger_goes_on() {
    let mut client = Client::of(&Project::new()).await;
    let call = client.ask(&tool("t")).await;
    let refusal = client.ask(&trigger("t", "prompt", json!({"prompt": "p"}))).await;
    assert_eq!(
        (&refusal["type"], &refusal["request"]),
        (&json!("hook-error"), &json!("hook-trigger"))
    );
    assert_eq!(refusal["error"]["code"], "duplicate_id");
    client.answer(&call, json!({"llmContent": "done"})).await;
    assert_eq!(client.receive().await["result"]["outcome"], "ran");
    client.goes_on().await;
}

#[tokio::test(start_paused = true)]
async fn a_tool_or_a_hook_that_never_ends_has_a_deadline() {
    let after = Arc::new(AtomicBool::new(false));
    let noted = Arc::clone(&after);
    let notes = HandlerHook::inline(HookEventName::AfterTool, "notes", move |_input| {
        noted.store(true, Ordering::Relaxed);
        Ok(None)
    });
    let waits = HandlerHook::asynchronous(HookEventName::BeforeAgent, "waits", async |_input| {
        std::future::pending().await
    });
    let builder = Project::new().builder().handler(notes).handler(waits.timeout(DAY));
    let mut client = Client::connect(Arc::new(builder.build().unwrap())).await;
    let mut message = tool("t");
    message["deadlineMs"] = json!(3_600_000);
    assert_eq!(client.ask(&message).await["method"], "tool.run");
    assert_eq!(client.receive().await["type"], "hook-host-call-cancelled");
    assert_eq!(error(&client.receive().await).0, "deadline_exceeded");
    assert!(!after.load(Ordering::Relaxed));
    let mut message = trigger("p", "prompt", json!({"prompt": "p"}));
    message["deadlineMs"] = json!(3_600_000);
    assert_eq!(error(&client.ask(&message).await).0, "deadline_exceeded");
    client.goes_on().await;
}

#[tokio::test]
async fn a_result_that_is_none_is_a_failed_tool() {
    let project = Project::with_hook("ToolError", "cat > seen");
    let mut client = Client::of(&project).await;
    for result in [Value::Null, json!("text"), json!({}), json!({"llmContent": 7})] {
        let call = client.ask(&tool("t")).await;
        client.answer(&call, result).await;
        let result = client.receive().await;
        let error = result["result"]["result"]["error"].as_str().unwrap();
        assert!(error.contains("has no `llmContent`"), "{error}");
    }
    assert!(project.read("seen").contains("has no `llmContent`"));
}

#[tokio::test]
async fn an_answer_with_a_chunk_that_is_none_is_interrupted() {
    for chunks in ["complete", "each"] {
        let mut client = Client::of(&Project::new()).await;
        let call = client.ask(&model("m", chunks)).await;
        assert_eq!(call["params"]["inspected"], chunks == "each");
        let cancelled = client.ask(&chunk("m", json!("text"))).await;
        assert_eq!(cancelled["type"], "hook-host-call-cancelled");
        let result = client.receive().await;
        assert_eq!(result["result"]["outcome"], "interrupted");
        assert!(result["result"]["reason"].as_str().unwrap().contains("expected an object"));
        client.goes_on().await;
    }
}

#[tokio::test]
async fn an_input_too_deep_to_pass_on_whole_is_never_run_with() {
    let mut client = Client::of(&Project::new()).await;
    let deep = format!("{}{}", "[".repeat(120), "]".repeat(120));
    let deep: Value = serde_json::from_str(&deep).unwrap();
    let call = json!({"tool_name": "t", "tool_input": {"deep": deep}});
    let (code, text) = ("invalid_request", "nest deeper");
    let result = client.ask(&trigger("t", "tool", call)).await;
    assert!(error(&result).0 == code && error(&result).1.contains(text), "{result}");
    // Nor is a result or a chunk shown with something missing.
    let call = client.ask(&tool("t")).await;
    client.answer(&call, json!({"llmContent": [deep]})).await;
    assert_eq!(error(&client.receive().await).0, code);
    let call = client.ask(&model("m", "each")).await;
    assert_eq!(call["method"], "model.call");
    client.send(&chunk("m", json!({"deep": deep}))).await;
    assert_eq!(client.receive().await["type"], "hook-host-call-cancelled");
    assert_eq!(error(&client.receive().await).0, code);
    client.goes_on().await;
}

#[tokio::test]
async fn hooks_of_the_client_itself_see_its_triggers() {
    let mut client = Client::of(&Project::new()).await;
    let guard = json!({"type": "hook-register", "hookId": "g", "eventName": "BeforeTool",
        "config": {"failBehavior": "block"}});
    assert_eq!(client.ask(&guard).await["type"], "hook-registered");
    let call = client.ask(&tool("t")).await;
    assert_eq!((&call["type"], &call["input"]["tool_name"]), (&json!("hook-call"), &json!("t")));
    let answer =
        json!({"type": "hook-answer", "callId": call["callId"], "action": "block", "reason": "no"});
    let result = client.ask(&answer).await;
    assert_eq!(result["result"]["outcome"], "blocked", "{result}");
}

#[tokio::test]
async fn a_thousand_triggers_at_once_have_one_result_each() {
    let project = Project::with_hook("BeforeTool", "! grep -q '\"n\":\"[0-9]*7\"' || exit 2");
    let mut client = Client::of(&project).await;
    let (ids, mut results) = (0..1_000, vec![0; 1_000]);
    let sent = ids.map(|id| format!("{}\n", tool(&id.to_string()))).collect::<String>();
    let Client { writer, .. } = &mut client;
    writer.write_all(sent.as_bytes()).await.unwrap();
    for _ in 0..1_900 {
        let message = client.receive().await;
        let id: usize = message["triggerId"].as_str().unwrap().parse().unwrap();
        if message["type"] == "hook-host-call" {
            assert_ne!(id % 10, 7, "its hook blocks it");
            client.answer(&message, json!({"llmContent": "done"})).await;
            continue;
        }
        let expected = if id % 10 == 7 { "blocked" } else { "ran" };
        assert_eq!(message["result"]["outcome"], expected, "{message}");
        results[id] += 1;
    }
    assert!(results.into_iter().all(|count| count == 1));
    client.goes_on().await;
}

#[tokio::test]
async fn triggers_of_a_client_are_limited_in_number() {
    let mut client = Client::of(&Project::new()).await;
    for id in 0..4_096 {
        let call = client.ask(&tool(&id.to_string())).await;
        assert_eq!(call["method"], "tool.run");
    }
    assert_eq!(error(&client.ask(&tool("more")).await).0, "limit_exceeded");
    client.send(&cancel("0")).await;
    assert_eq!(client.receive().await["type"], "hook-host-call-cancelled");
    assert_eq!(error(&client.receive().await).0, "cancelled");
    client.goes_on().await;
}

#[tokio::test]
async fn an_answer_that_is_too_large_ends_its_trigger() {
    let mut client = Client::of(&Project::new()).await;
    assert_eq!(client.ask(&model("m", "complete")).await["method"], "model.call");
    let large = format!("{}\n", chunk("m", json!({"text": "x".repeat(8 * 1024 * 1024)})));
    for _ in 0..8 {
        client.writer.write_all(large.as_bytes()).await.unwrap();
    }
    assert_eq!(client.receive().await["type"], "hook-host-call-cancelled");
    assert_eq!(error(&client.receive().await).0, "limit_exceeded");
    client.goes_on().await;
}

#[tokio::test]
async fn at_the_end_of_input_what_needs_the_client_is_cancelled_and_the_rest_answered() {
    let project = Project::with_hook(
        "BeforeAgent",
        "sleep 0.2; echo '{\"decision\": \"block\", \"reason\": \"no\"}'",
    );
    let mut client = Client::of(&project).await;
    let call = client.ask(&tool("t")).await;
    client.send(&trigger("p", "prompt", json!({"prompt": "p"}))).await;
    client.writer.shutdown().await.unwrap();
    assert_eq!(
        client.receive().await,
        json!({"type": "hook-host-call-cancelled", "hostCallId": call["hostCallId"]})
    );
    assert_eq!(error(&client.receive().await).0, "cancelled");
    assert_eq!(client.receive().await["result"]["outcome"], "refused");
    assert_eq!(client.serving.await.unwrap(), ClientEnd::Finished);
}

#[tokio::test]
async fn a_server_that_stops_ends_its_triggers_with_an_error_each() {
    let project = Project::with_hook("BeforeAgent", "touch looking; sleep 1000");
    let mut client = Client::of(&project).await;
    client.ask(&tool("t")).await;
    client.send(&trigger("p", "prompt", json!({"prompt": "p"}))).await;
    project.appears("looking").await;
    client.stop.cancel();
    let mut codes = Vec::new();
    while codes.len() < 2 {
        let message = client.receive().await;
        if message["type"] == "hook-trigger-result" {
            codes.push(error(&message).0.to_owned());
        }
    }
    assert_eq!(codes, ["shutting_down", "shutting_down"]);
    assert_eq!(client.serving.await.unwrap(), ClientEnd::Finished);
    project.assert_nothing_runs().await;
}

#[tokio::test]
async fn a_client_that_leaves_while_its_tool_runs_leaves_nothing_running() {
    let project = Project::with_settings(&json!({"hooks": {
        "BeforeAgent": [{"hooks": [{"type": "command", "command": "touch looking; sleep 1000"}]}],
        "AfterTool": [{"hooks": [{"type": "command", "command": "touch ran"}]}]}}));
    let served = SocketServed::start(&project, &[]).await;
    let mut client = served.client().await;
    let call = client.ask(&tool("t")).await;
    assert_eq!(call["method"], "tool.run");
    client.send(format!("{}\n", trigger("p", "prompt", json!({"prompt": "p"})))).await;
    project.appears("looking").await;
    drop(client);
    project.assert_nothing_runs().await;
    assert!(!project.path().join("ran").exists());
    // Another client is served.
    let mut other = served.client().await;
    assert_eq!(other.ask(&tool("t")).await["method"], "tool.run");
    served.signal(Signal::TERM);
    loop {
        let message = other.receive().await;
        if message["type"] == "hook-trigger-result" {
            assert_eq!(error(&message).0, "shutting_down");
            break;
        }
    }
    served.ended().await;
}

#[tokio::test]
async fn a_server_that_is_killed_is_the_end_of_its_clients_input() {
    let project = noting();
    let mut served = Served::start(&project).await;
    let call = served.ask(&tool("t")).await;
    assert_eq!(call["method"], "tool.run");
    rustix::process::kill_process(
        rustix::process::Pid::from_raw(served.id().cast_signed()).unwrap(),
        Signal::KILL,
    )
    .unwrap();
    let (messages, _) = served.finish().await;
    assert_eq!(messages, [Value::Null; 0], "no result: a client must not go on");
    assert!(!project.path().join("ran").exists());
}

#[tokio::test]
async fn a_trigger_inside_of_a_hook_names_it_by_its_token() {
    let command = |command: &str| json!([{"hooks": [{"type": "command", "command": command}]}]);
    let project = Project::with_settings(&json!({"hooks": {
        "BeforeAgent": command(
            "echo $HOOK_RUN_TOKEN > new; mv new token; until [ -e go ]; do sleep 0.02; done"),
        "BeforeTool": command("echo $HOOK_DEPTH > depth")}}));
    let mut client = Client::of(&project).await;
    client.send(&trigger("p", "prompt", json!({"prompt": "p"}))).await;
    project.appears("token").await;
    let mut nested = tool("t");
    nested["runToken"] = project.read("token").trim().into();
    assert_eq!(client.ask(&nested).await["method"], "tool.run");
    assert_eq!(project.read("depth").trim(), "2");
    project.write("go", "");
    assert_eq!(client.receive().await["result"]["outcome"], "proceed");
}

//! What hooks ask of their host (reference/messages.md, "Host calls"), and hooks of other agents that their host is
//! to run.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use futures::FutureExt;
use futures::future::BoxFuture;
use hook_bus::live::{HookRegister, LiveConnection};
use hook_bus::{HookExecutionRequest, HookSystem};
use hook_json::RawJson;
use hook_run::{FromHook, HostCall, HostCallError, HostServices};
use hook_tests::{Project, fields, json, value};
use serde_json::{Value, json};

fn guard() -> HookRegister {
    let mut guard = HookRegister::new("guard", "BeforeTool");
    guard.config = fields(json!({"timeout": 3000, "failBehavior": "block"}));
    guard
}

fn shell(command: &str) -> Value {
    json!({"tool_name": "run_shell_command", "tool_input": {"command": command}})
}

async fn fire(system: &HookSystem, input: Value) -> Value {
    let request = HookExecutionRequest::new("BeforeTool", fields(input));
    json(&system.bus().request(request).await.to_json())
}

async fn call(client: &mut LiveConnection) -> Value {
    json(&client.next().await.to_line())
}

fn says(client: &LiveConnection, message: Value) {
    client.receive(FromHook::of(&fields(message)).unwrap());
}

/// Fires an event whose hook asks its host for that, and gives what it gets.
async fn asked(system: &HookSystem, method: &str, params: Value) -> (Value, Value) {
    let mut client = system.live_clients().connect();
    client.register(guard()).unwrap();
    let asking = async {
        let asked = call(&mut client).await;
        let ask = json!({"type": "hook-host-call", "hostCallId": "a", "callId": asked["callId"],
            "method": method, "params": params});
        says(&client, ask);
        let result = call(&mut client).await;
        says(&client, json!({"type": "hook-answer", "callId": asked["callId"]}));
        result
    };
    let done = tokio::join!(asking, fire(system, shell("ls")));
    client.unregister("guard").unwrap();
    done
}

/// A host that takes its time for a question, and notes what it was asked.
#[derive(Debug, Default)]
struct Host {
    asked: Mutex<Vec<HostCall>>,
}

impl HostServices for Host {
    fn call(&self, call: HostCall) -> BoxFuture<'static, Result<RawJson, HostCallError>> {
        let method = call.method.clone();
        self.asked.lock().unwrap().push(call);
        async move {
            match method.as_str() {
                "ui.confirm" => {
                    tokio::time::sleep(Duration::from_secs(120)).await;
                    Ok(RawJson::from_bool(true))
                }
                "tool.execute" => Err(HostCallError::failed("it is not there")),
                _ => Err(HostCallError::unsupported(&method)),
            }
        }
        .boxed()
    }
}

#[tokio::test(start_paused = true)]
async fn it_asks_its_host_and_the_time_of_a_question_is_not_its_own() {
    let host = Arc::new(Host::default());
    let services = Arc::clone(&host) as Arc<dyn HostServices>;
    let system = Project::new().builder().host_services(services).build().unwrap();
    let mut client = system.live_clients().connect();
    client.register(guard()).unwrap();
    let asking = async {
        let asked = call(&mut client).await;
        let mut results = Vec::new();
        for (id, method) in
            [("a", "ui.confirm"), ("b", "tool.execute"), ("c", "ui.input"), ("d", "brew.tea")]
        {
            let ask = json!({"type": "hook-host-call", "hostCallId": id,
                "callId": asked["callId"], "method": method, "params": {"title": "Really?"}});
            says(&client, ask);
            results.push(call(&mut client).await);
        }
        let answer = json!({"type": "hook-answer", "callId": asked["callId"], "action": "block"});
        says(&client, answer);
        results
    };
    let (results, response) = tokio::join!(asking, fire(&system, shell("ls")));
    assert_eq!(response["processed"]["decision"], "block");
    assert_eq!(response["hooks"][0].get("timedOut"), None, "two minutes went by, of three seconds");
    let codes: Vec<&Value> = results.iter().map(|it| &it["error"]["code"]).collect();
    assert_eq!(codes, [&Value::Null, &json!("failed"), &Value::Null, &json!("unsupported")]);
    assert_eq!((&results[0]["result"], &results[2]["result"]), (&json!(true), &Value::Null));
    let asked = host.asked.lock().unwrap();
    assert_eq!((&*asked[0].method, &*asked[0].hook), ("ui.confirm", "guard"));
    assert_eq!(asked[0].correlation.as_deref(), response["correlationId"].as_str());
    assert!(!asked[0].run_token.is_empty());
}

#[tokio::test]
async fn without_a_host_it_gets_what_there_is_without_a_user() {
    let system = Project::new().system();
    let mut client = system.live_clients().connect();
    client.register(guard()).unwrap();
    let asking = async {
        let asked = call(&mut client).await;
        for (call_id, method, expected) in [
            (asked["callId"].clone(), "ui.confirm", json!({"result": false})),
            (asked["callId"].clone(), "ui.getEditorText", json!({"result": ""})),
            (asked["callId"].clone(), "model.ask", json!({"error": {"code": "unsupported"}})),
            (json!("77"), "ui.confirm", json!({"error": {"code": "no_call"}})),
        ] {
            let ask = json!({"type": "hook-host-call", "hostCallId": 1, "callId": call_id,
                "method": method});
            says(&client, ask);
            let result = call(&mut client).await;
            assert_eq!(result["result"], expected["result"], "{method}");
            assert_eq!(result["error"]["code"], expected["error"]["code"], "{method}");
        }
        let answer = json!({"type": "hook-answer", "callId": asked["callId"]});
        says(&client, answer);
    };
    let ((), response) = tokio::join!(asking, fire(&system, shell("ls")));
    assert_eq!(response["processed"]["decision"], "proceed");
}

#[tokio::test]
async fn the_engine_runs_programs_for_it() {
    let project = Project::new();
    let system = project.system();
    let (result, _) = asked(
        &system,
        "exec",
        json!({"command": "sh", "args": ["-c", "echo $WORD; pwd; echo no >&2; exit 3"],
            "env": {"WORD": "hi"}}),
    )
    .await;
    let real = project.path().canonicalize().unwrap();
    let expected = json!({"stdout": format!("hi\n{}\n", real.display()), "stderr": "no\n",
        "code": 3, "killed": false});
    assert_eq!(result["result"], expected);

    let endless =
        json!({"command": "sh", "args": ["-c", "echo begun; sleep 1000"], "timeout": 200});
    let (result, response) = asked(&system, "exec", endless).await;
    assert_eq!(
        (&result["result"]["stdout"], &result["result"]["killed"]),
        (&json!("begun\n"), &json!(true))
    );
    assert_eq!(response["processed"]["decision"], "proceed");

    let behind = json!({"command": "sh", "args": ["-c", "sleep 1000 & echo done"]});
    let (result, _) = asked(&system, "exec", behind).await;
    let expected = json!({"stdout": "done\n", "stderr": "", "code": 0, "killed": false,
        "leaked": true});
    assert_eq!(result["result"], expected);
    project.kill_processes();

    for (params, part) in [
        (json!({"command": "/not/there"}), "failed to start /not/there"),
        (json!({}), "`params.command`"),
        (json!({"command": "ls", "args": "-l"}), "`params.args`"),
        (json!({"command": "ls", "env": {"A=B": "c"}}), "`params.env`"),
        (json!({"command": "ls", "timeout": 0}), "`params.timeout`"),
        (json!("ls"), "`params`"),
    ] {
        let (result, _) = asked(&system, "exec", params).await;
        let message = result["error"]["message"].as_str().unwrap();
        assert!(message.contains(part), "{message}");
    }
    system.shutdown(Duration::ZERO).await;
}

#[tokio::test]
async fn a_program_ends_with_the_call_that_it_was_run_for() {
    let project = Project::new();
    let system = project.system();
    let mut client = system.live_clients().connect();
    let mut hook = guard();
    hook.config = fields(json!({"timeout": 300, "failBehavior": "block"}));
    client.register(hook).unwrap();
    let asking = async {
        let asked = call(&mut client).await;
        let ask = json!({"type": "hook-host-call", "hostCallId": "a", "callId": asked["callId"],
            "method": "exec", "params": {"command": "sleep", "args": ["1000"]}});
        says(&client, ask);
    };
    let ((), response) = tokio::join!(asking, fire(&system, shell("ls")));
    assert_eq!(response["hooks"][0]["timedOut"], true);
    // It waits until nothing runs any more.
    tokio::time::timeout(Duration::from_secs(20), system.clean_up()).await.unwrap();
}

#[tokio::test]
async fn whoever_may_be_far_away_runs_nothing_here() {
    let system = Project::new().system();
    let mut client = system.live_clients().connect_remote();
    client.register(guard()).unwrap();
    let asking = async {
        let asked = call(&mut client).await;
        let ask = json!({"type": "hook-host-call", "hostCallId": "a", "callId": asked["callId"],
            "method": "exec", "params": {"command": "ls"}});
        says(&client, ask);
        let result = call(&mut client).await;
        says(&client, json!({"type": "hook-answer", "callId": asked["callId"]}));
        result
    };
    let (result, _) = tokio::join!(asking, fire(&system, shell("ls")));
    assert_eq!(result["error"]["code"], "unsupported");
}

#[tokio::test]
async fn whoever_may_be_far_away_does_not_come_back_as_one_that_is_near() {
    let system = Project::new().system();
    let clients = system.live_clients();
    let mut near = clients.connect();
    near.register(guard()).unwrap();
    let token = near.token().to_owned();
    drop(near);
    assert!(clients.connect_remote().resume(&token).is_err());
    assert!(clients.connect().resume(&token).is_ok());
}

/// A host with a model, and an MCP server, that say that.
#[derive(Debug)]
struct Answers {
    result: Result<Value, HostCallError>,
    asked: Mutex<Vec<Value>>,
}

impl Answers {
    fn with(result: Result<Value, HostCallError>) -> Arc<Self> {
        Arc::new(Self { result, asked: Mutex::default() })
    }
}

impl HostServices for Answers {
    fn call(&self, call: HostCall) -> BoxFuture<'static, Result<RawJson, HostCallError>> {
        self.asked.lock().unwrap().push(json!([call.method, value(&call.params)]));
        let result = self.result.clone().map(|it| RawJson::from_value(&it).unwrap());
        async move { result }.boxed()
    }
}

fn of_claude(hook: Value) -> Project {
    Project::with_settings(&json!({"hooks": {"PreToolUse": [
        {"language": "claude", "matcher": "Bash", "hooks": [hook]}]}}))
}

async fn decided(hook: Value, host: &Arc<Answers>) -> Value {
    let services = Arc::clone(host) as Arc<dyn HostServices>;
    let project = of_claude(hook);
    let system = project.builder().host_services(services).build().unwrap();
    fire(&system, shell("rm -rf /")).await
}

#[tokio::test]
async fn a_models_verdict_is_a_hook() {
    let prompt = json!({"type": "prompt", "prompt": "Is this safe? $ARGUMENTS"});
    for (result, decision, failed) in [
        (Ok(json!({"ok": true})), "proceed", false),
        (Ok(json!("{\"ok\": false, \"reason\": \"it deletes all\"}")), "block", false),
        (Ok(json!({"text": "```json\n{\"ok\":false}\n```"})), "block", false),
        (Ok(json!("I think it is fine")), "proceed", true),
        (Err(HostCallError::failed("no credit")), "proceed", true),
        (Err(HostCallError::unsupported("model.ask")), "proceed", true),
    ] {
        let host = Answers::with(result.clone());
        let response = decided(prompt.clone(), &host).await;
        assert_eq!(response["processed"]["decision"], decision, "{result:?}");
        assert_eq!(response["hooks"][0]["success"], !failed, "{result:?}");
        let asked = host.asked.lock().unwrap();
        assert_eq!(asked[0][0], "model.ask");
        let question = asked[0][1]["prompt"].as_str().unwrap();
        assert!(question.starts_with("Is this safe? {") && question.contains("\"Bash\""));
    }
}

#[tokio::test]
async fn a_tool_of_an_mcp_server_is_a_hook() {
    let hook = json!({"type": "mcp_tool", "server": "policy", "tool": "check",
        "input": {"what": "run ${tool_input.command}", "deep": ["${tool_name}", "${not.there}"]}});
    let denial = json!({"hookSpecificOutput": {"hookEventName": "PreToolUse",
        "permissionDecision": "deny", "permissionDecisionReason": "by policy"}});
    let content = json!({"content": [{"type": "text", "text": denial.to_string()}]});
    let host = Answers::with(Ok(content));
    let response = decided(hook.clone(), &host).await;
    assert_eq!(
        (&response["processed"]["decision"], &response["processed"]["reason"]),
        (&json!("block"), &json!("by policy"))
    );
    assert_eq!(
        host.asked.lock().unwrap()[0],
        json!(["mcp.call", {"server": "policy", "tool": "check",
            "arguments": {"what": "run rm -rf /", "deep": ["Bash", ""]}}])
    );
    let host = Answers::with(Ok(json!({"isError": true, "content": []})));
    assert_eq!(decided(hook, &host).await["hooks"][0]["success"], false);
}

/// A host that never answers.
#[derive(Debug)]
struct Silent;

impl HostServices for Silent {
    fn call(&self, _call: HostCall) -> BoxFuture<'static, Result<RawJson, HostCallError>> {
        futures::future::pending().boxed()
    }
}

#[tokio::test(start_paused = true)]
async fn what_hooks_ask_at_once_is_bounded_and_questions_end() {
    let system = Project::new().builder().host_services(Arc::new(Silent)).build().unwrap();
    let mut client = system.live_clients().connect();
    client.register(guard()).unwrap();
    let asking = async {
        let asked = call(&mut client).await;
        let long = "x".repeat(3 * 1024 * 1024);
        for id in 0..3 {
            let ask = json!({"type": "hook-host-call", "hostCallId": id, "callId": asked["callId"],
                "method": "ui.confirm", "params": {"title": long}});
            says(&client, ask);
        }
        call(&mut client).await
    };
    let begun = tokio::time::Instant::now();
    let (refused, response) = tokio::join!(asking, fire(&system, shell("ls")));
    assert_eq!(
        (&refused["hostCallId"], &refused["error"]["code"]),
        (&json!(2), &json!("limit_exceeded"))
    );
    assert_eq!(response["hooks"][0]["timedOut"], true);
    assert!(begun.elapsed() < Duration::from_secs(700), "{:?}", begun.elapsed());
}

#[tokio::test]
async fn results_wait_for_room_and_are_not_lost() {
    let project = Project::new();
    let system = project.system();
    let mut client = system.live_clients().connect();
    let mut hook = guard();
    hook.config = fields(json!({"timeout": 60_000}));
    client.register(hook).unwrap();
    let asking = async {
        let asked = call(&mut client).await;
        for id in 0..4 {
            let ask = json!({"type": "hook-host-call", "hostCallId": id, "callId": asked["callId"],
                "method": "exec", "params": {"command": "head", "args": ["-c", "3900000", "/dev/zero"]}});
            says(&client, ask);
        }
        let mut lengths = Vec::new();
        for _ in 0..4 {
            let result = call(&mut client).await;
            lengths.push(result["result"]["stdout"].as_str().unwrap().len());
        }
        says(&client, json!({"type": "hook-answer", "callId": asked["callId"]}));
        lengths
    };
    let (lengths, _) = tokio::join!(asking, fire(&system, shell("ls")));
    assert_eq!(lengths, [3_900_000; 4]);
}

/// A host that fires the event of the hook which asks it, inside of that hook.
#[derive(Debug, Default)]
struct FiresAgain {
    system: std::sync::OnceLock<Arc<HookSystem>>,
    open: std::sync::atomic::AtomicUsize,
    most: std::sync::atomic::AtomicUsize,
    failed: Mutex<Vec<String>>,
}

impl FiresAgain {
    fn asked(
        self: Arc<Self>,
        call: HostCall,
    ) -> BoxFuture<'static, Result<RawJson, HostCallError>> {
        async move {
            let request = HookExecutionRequest::new("BeforeTool", fields(shell("ls")));
            let system = self.system.get().unwrap();
            let response = system.bus().request(request.with_run_token(call.run_token)).await;
            let failure = response.hooks[0].failure.as_ref();
            self.failed.lock().unwrap().extend(failure.map(ToString::to_string));
            Ok(RawJson::from_text("{\"ok\": true}"))
        }
        .boxed()
    }
}

#[derive(Debug)]
struct Again(Arc<FiresAgain>);

impl HostServices for Again {
    fn call(&self, call: HostCall) -> BoxFuture<'static, Result<RawJson, HostCallError>> {
        Arc::clone(&self.0).asked(call)
    }
}

#[tokio::test]
async fn a_hook_that_its_host_runs_ends_at_a_depth_as_others_do() {
    let host = Arc::new(FiresAgain::default());
    let project = of_claude(json!({"type": "prompt", "prompt": "Is this safe?", "timeout": 20}));
    let services = Arc::new(Again(Arc::clone(&host)));
    let system = Arc::new(project.builder().host_services(services).build().unwrap());
    host.system.set(Arc::clone(&system)).unwrap();
    fire(&system, shell("ls")).await;
    let failed = host.failed.lock().unwrap();
    assert_eq!(failed.len(), 1, "{failed:?}");
    assert!(failed[0].contains("hooks are nested too deep"), "{failed:?}");
}

/// A host that counts what it is asked at once.
#[derive(Debug, Default)]
struct Counts(Arc<FiresAgain>);

impl HostServices for Counts {
    fn call(&self, _call: HostCall) -> BoxFuture<'static, Result<RawJson, HostCallError>> {
        use std::sync::atomic::Ordering::SeqCst;
        let counts = Arc::clone(&self.0);
        async move {
            let open = counts.open.fetch_add(1, SeqCst) + 1;
            counts.most.fetch_max(open, SeqCst);
            tokio::time::sleep(Duration::from_millis(20)).await;
            counts.open.fetch_sub(1, SeqCst);
            Ok(RawJson::from_text("{\"ok\": true}"))
        }
        .boxed()
    }
}

#[tokio::test(start_paused = true)]
async fn what_its_host_runs_takes_a_place_among_the_processes() {
    let counts = Counts::default();
    let seen = Arc::clone(&counts.0);
    let project = of_claude(json!({"type": "prompt", "prompt": "Is this safe?"}));
    let limits = hook_run::RunnerLimits { max_concurrent: 2, ..Default::default() };
    let builder = project.builder().host_services(Arc::new(counts)).limits(limits);
    let system = builder.build().unwrap();
    let asked = (0..10).map(|_| fire(&system, shell("ls")));
    for response in futures::future::join_all(asked).await {
        assert_eq!(response["hooks"][0]["success"], true);
    }
    assert_eq!(seen.most.load(std::sync::atomic::Ordering::SeqCst), 2);
}

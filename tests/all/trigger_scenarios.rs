//! The scenarios of tests/triggers, played by an agent in Rust and by a scripted client of a server. The SDKs play
//! the same ones.

use std::collections::HashMap;
use std::fs;
use std::sync::{Arc, Mutex};

use futures::{StreamExt, stream};
use hook_bus::triggers::{
    ChunkHooks, ModelCall, ModelChunk, ToolCall, ToolResult, call_model_with_hooks,
    execute_tool_with_hooks, fire_after_agent_hook, fire_before_agent_hook, fire_notification_hook,
    fire_pre_compress_hook, fire_session_end_hook, fire_session_start_hook,
};
use hook_bus::{AgentHost, Approval, Sdk};
use hook_json::{ObjectWriter, RawJson, RawObject};
use hook_protocol::{
    BeforeAgentInput, BeforeToolInput, NotificationInput, PreCompressInput, SessionEndInput,
    SessionStartInput,
};
use hook_tests::{Project, Served, fields, object, value, workspace};
use serde_json::{Value, json};

fn scenarios() -> Vec<Value> {
    let read = |name| fs::read_to_string(workspace().join("tests/triggers").join(name)).unwrap();
    let text = ["tool.jsonl", "model.jsonl", "turn.jsonl"].map(read).concat();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn project(scenario: &Value) -> Project {
    let project = Project::with_settings(&scenario["hooks"]);
    for (path, text) in scenario["files"].as_object().into_iter().flatten() {
        project.write(path, text.as_str().unwrap());
    }
    project
}

/// The scenario's steps: those listed, or itself.
fn steps(scenario: &Value) -> Vec<&Value> {
    scenario["steps"].as_array().map_or(vec![scenario], |steps| steps.iter().collect())
}

/// What the agent of one step was asked to do.
#[derive(Debug, Default)]
struct Seen {
    ran: Vec<Value>,
    called: Vec<Value>,
    shown: Vec<Value>,
    asked: Vec<Value>,
}

/// An agent that does what its step says.
#[derive(Debug)]
struct Agent {
    step: Value,
    seen: Mutex<Seen>,
}

impl Agent {
    fn new(step: &Value) -> Arc<Self> {
        Arc::new(Self { step: step.clone(), seen: Mutex::default() })
    }

    /// The script's next entry; the last one repeats.
    fn next(script: &Value, earlier: usize) -> Value {
        let script = script.as_array().unwrap();
        script[earlier.min(script.len() - 1)].clone()
    }

    /// The tool's result, or the text that it throws.
    fn run(&self, input: Value) -> Result<Value, String> {
        let mut seen = self.seen.lock().unwrap();
        let result = Self::next(&self.step["tool"], seen.ran.len());
        seen.ran.push(input);
        thrown(&result).map_or(Ok(result.clone()), Err)
    }

    /// The model's chunks, and the text that it throws at their end.
    fn call(&self, request: Value) -> (Vec<Value>, Option<String>) {
        let mut seen = self.seen.lock().unwrap();
        let answer = Self::next(&self.step["model"], seen.called.len());
        seen.called.push(request);
        let parts = answer.as_array().cloned().unwrap_or_else(|| vec![answer]);
        let error = parts.last().and_then(thrown);
        let chunks = parts.into_iter().filter(|part| thrown(part).is_none()).collect();
        (chunks, error)
    }

    fn show(&self, part: Value) {
        self.seen.lock().unwrap().shown.push(part);
    }

    fn approve(&self, reason: &str) -> Value {
        self.seen.lock().unwrap().asked.push(reason.into());
        self.step["approves"].clone()
    }

    fn has_user(&self) -> bool {
        !self.step["approves"].is_null()
    }

    /// How the step differs from what it expects.
    fn differences(&self, result: &Value) -> Vec<String> {
        let (expected, seen) = (&self.step["expect"], self.seen.lock().unwrap());
        let mut differences = Vec::new();
        if !includes(result, &expected["result"]) {
            differences.push(format!("result: {result}\n  expected: {}", expected["result"]));
        }
        for (name, values) in [
            ("ran", &seen.ran),
            ("called", &seen.called),
            ("shown", &seen.shown),
            ("asked", &seen.asked),
        ] {
            if expected.get(name).is_some_and(|expected| *expected != json!(values)) {
                differences.push(format!("{name}: {values:?}\n  expected: {}", expected[name]));
            }
        }
        differences
    }
}

fn thrown(value: &Value) -> Option<String> {
    value["throws"].as_str().map(str::to_owned)
}

/// Whether a value has what is expected: of an object, all that is listed; `null` is absent.
fn includes(actual: &Value, expected: &Value) -> bool {
    match expected {
        Value::Object(fields) => {
            fields.iter().all(|(name, expected)| includes(&actual[name], expected))
        }
        expected => actual == expected,
    }
}

fn written(write: impl FnOnce(&mut ObjectWriter<'_>)) -> Value {
    value(RawObject::build(write).as_raw())
}

fn raw(value: &Value) -> RawJson {
    RawJson::from_value(value).unwrap()
}

fn text(value: &Value) -> Option<String> {
    value.as_str().map(str::to_owned)
}

/// Plays a step by the functions of `hook_bus::triggers`.
async fn play(agent: &Arc<Agent>, host: &AgentHost) -> Value {
    let (call, trigger) = (&agent.step["call"], agent.step["trigger"].as_str().unwrap());
    match trigger {
        "tool" => {
            let input = BeforeToolInput::try_from(fields(call.clone())).unwrap();
            let call = ToolCall::new(input.tool_name, input.tool_input);
            let result = execute_tool_with_hooks(host, call, async |input: RawObject| match agent
                .run(value(input.as_raw()))
            {
                Ok(result) => ToolResult::read(&raw(&result)).unwrap(),
                Err(error) => ToolResult::failed(error),
            });
            let result = result.await;
            written(|out| result.write_outcome(out))
        }
        "model" => play_model(agent, host).await,
        "prompt" => {
            let prompt = BeforeAgentInput::try_from(fields(call.clone())).unwrap();
            let result = fire_before_agent_hook(host, prompt).await;
            written(|out| result.write_outcome(out))
        }
        "turn-end" => {
            let turn =
                (call["prompt"].as_str().unwrap(), call["prompt_response"].as_str().unwrap());
            let result = fire_after_agent_hook(host, turn).await;
            written(|out| result.write_outcome(out))
        }
        event => {
            let fields = fields(call.clone());
            let result = match event {
                "session-start" => {
                    fire_session_start_hook(host, SessionStartInput::try_from(fields).unwrap())
                        .await
                }
                "session-end" => {
                    fire_session_end_hook(host, SessionEndInput::try_from(fields).unwrap()).await
                }
                "pre-compress" => {
                    fire_pre_compress_hook(host, PreCompressInput::try_from(fields).unwrap()).await
                }
                "notification" => {
                    fire_notification_hook(host, NotificationInput::try_from(fields).unwrap()).await
                }
                other => panic!("there is no trigger {other}"),
            };
            written(|out| result.write_outcome(out))
        }
    }
}

async fn play_model(agent: &Arc<Agent>, host: &AgentHost) -> Value {
    let call = &agent.step["call"];
    let mut model = ModelCall::new(Sdk::Stable, object(call["request"].clone()));
    model.sdk = call["sdk"].as_str().map(|name| Sdk::from_name(name).unwrap());
    model.context = text(&call["context"]);
    let hooks = match call["chunks"].as_str() {
        Some("each") => ChunkHooks::Each,
        _ => ChunkHooks::Complete,
    };
    let mut answer = call_model_with_hooks(host, model, hooks, |request| {
        let (chunks, error) = agent.call(value(request.as_raw()));
        let chunks = chunks.into_iter().map(|chunk| Ok(object(chunk)));
        let stream = stream::iter(chunks.chain(error.map(Err)).collect::<Vec<_>>());
        async { Ok::<_, String>(stream) }
    })
    .await;
    while let Some(part) = answer.next().await {
        match part {
            Ok(ModelChunk::Chunk(chunk)) => agent.show(value(chunk.as_raw())),
            Ok(ModelChunk::Complete(response)) => {
                agent.show(json!({"complete": value(response.as_raw())}));
            }
            Err(_) => break,
        }
    }
    let result = answer.finish().await.unwrap();
    written(|out| result.write_outcome(out))
}

/// Plays a scenario in process: an agent for each session.
async fn in_process(scenario: &Value) -> Vec<String> {
    let project = project(scenario);
    let mut hosts = HashMap::new();
    let current: Arc<Mutex<Option<Arc<Agent>>>> = Arc::default();
    let mut differences = Vec::new();
    for step in steps(scenario) {
        let agent = Agent::new(step);
        *current.lock().unwrap() = Some(Arc::clone(&agent));
        let session = step["session"]["session_id"].as_str().unwrap_or("test");
        let host = hosts.entry(session.to_owned()).or_insert_with(|| {
            let mut host = AgentHost::new(project.builder().session_id(session));
            if let Some(max) = step["session"]["maxContinuations"].as_u64() {
                host = host.max_continuations(max.try_into().unwrap());
            }
            match agent.has_user() {
                false => host,
                true => {
                    let current = Arc::clone(&current);
                    host.approver(move |request| {
                        let agent = current.lock().unwrap().clone().unwrap();
                        async move {
                            match agent.approve(&request.reason) {
                                Value::Bool(granted) => Approval::from(granted),
                                refusal => Approval::Refused { reason: text(&refusal["refused"]) },
                            }
                        }
                    })
                }
            }
        });
        let result = play(&agent, host).await;
        differences.extend(agent.differences(&result));
    }
    named(scenario, differences)
}

fn named(scenario: &Value, differences: Vec<String>) -> Vec<String> {
    let name = scenario["name"].as_str().unwrap();
    differences.into_iter().map(|difference| format!("{name}: {difference}")).collect()
}

/// Plays a scenario as a client of a server.
async fn over_the_wire(scenario: &Value) -> Vec<String> {
    let project = project(scenario);
    let mut client = Served::start(&project).await;
    let mut differences = Vec::new();
    for (index, step) in steps(scenario).into_iter().enumerate() {
        let agent = Agent::new(step);
        let services = if agent.has_user() { vec!["user.approve"] } else { Vec::new() };
        send(&mut client, &json!({"type": "hook-hello", "hostServices": services})).await;
        let id = format!("t-{index}");
        let trigger = json!({"type": "hook-trigger", "triggerId": id, "trigger": step["trigger"],
            "call": step["call"], "session": step["session"]});
        send(&mut client, &trigger).await;
        let result = loop {
            let message = client.receive().await;
            assert_eq!(message["triggerId"], id, "{message}");
            match message["type"].as_str().unwrap() {
                "hook-host-call" => answer(&agent, &mut client, &message).await,
                "hook-trigger-chunk" => match message.get("complete") {
                    Some(response) => agent.show(json!({"complete": response})),
                    None => agent.show(message["chunk"].clone()),
                },
                _ => break message,
            }
        };
        assert_eq!(result["type"], "hook-trigger-result");
        differences.extend(agent.differences(&result["result"]));
    }
    let (more, status) = client.finish().await;
    assert_eq!((more, status), (Vec::new(), Some(0)));
    named(scenario, differences)
}

async fn send(client: &mut Served, message: &Value) {
    client.send(format!("{message}\n")).await;
}

/// Answers a call of a trigger.
async fn answer(agent: &Agent, client: &mut Served, call: &Value) {
    let params = &call["params"];
    let outcome = match call["method"].as_str().unwrap() {
        "tool.run" => agent.run(params["tool_input"].clone()),
        "user.approve" => Ok(agent.approve(params["reason"].as_str().unwrap())),
        "model.call" => {
            let (chunks, error) = agent.call(params["request"].clone());
            for chunk in chunks {
                let line = json!({"type": "hook-trigger-chunk", "triggerId": call["triggerId"],
                    "chunk": chunk});
                send(client, &line).await;
                if params["inspected"] == false {
                    agent.show(chunk);
                }
            }
            error.map_or(Ok(json!({})), Err)
        }
        other => panic!("there is no method {other}"),
    };
    let result = match outcome {
        Ok(result) => json!({"type": "hook-host-result", "hostCallId": call["hostCallId"],
            "result": result}),
        Err(message) => json!({"type": "hook-host-result", "hostCallId": call["hostCallId"],
            "error": {"message": message}}),
    };
    send(client, &result).await;
}

#[tokio::test]
async fn an_agent_in_rust_plays_every_scenario() {
    let scenarios = scenarios();
    let differences: Vec<String> =
        stream::iter(&scenarios).map(in_process).buffer_unordered(4).concat().await;
    assert!(differences.is_empty(), "{}", differences.join("\n"));
}

#[tokio::test]
async fn a_client_of_a_server_plays_every_scenario() {
    let scenarios = scenarios();
    let differences: Vec<String> =
        stream::iter(&scenarios).map(over_the_wire).buffer_unordered(4).concat().await;
    assert!(differences.is_empty(), "{}", differences.join("\n"));
}

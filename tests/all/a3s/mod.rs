//! What the design of A3S's hooks asks of an engine, in each way that a hook may stand there: registered,
//! in a worker, in settings, and as a function of the host.

mod at_once;
mod changes;
mod configuration;
mod matchers;
mod models;
mod tools;

use futures::future::join_all;
use hook_bus::live::{HookRegister, LiveConnection};
use hook_bus::{HookExecutionRequest, HookSystem};
use hook_run::FromHook;
use hook_tests::{Project, fields, json};
use serde_json::{Value, json};

/// A system whose user's settings are these.
async fn system_with(settings: Value) -> (Project, HookSystem) {
    let project = Project::with_settings(&settings);
    let system = project.system();
    system.initialize().await.unwrap();
    (project, system)
}

async fn fire(system: &HookSystem, event: &str, input: Value) -> Value {
    let request = HookExecutionRequest::new(event, fields(input)).with_inputs();
    json(&system.bus().request(request).await.to_json())
}

/// A client with one hook, and what that answers.
struct Client {
    connection: LiveConnection,
    answer: Value,
}

impl Client {
    /// Registers a hook, in the words of A3S unless it says otherwise.
    fn new(system: &HookSystem, mut hook: Value, answer: Value) -> Self {
        let defaults = json!({"hookId": "hook", "eventName": "PreToolUse", "vocabulary": "a3s"});
        for (name, value) in defaults.as_object().unwrap() {
            if hook.get(name).is_none() {
                hook[name] = value.clone();
            }
        }
        let mut connection = system.live_clients().connect();
        connection.register(HookRegister::read(&fields(hook)).unwrap()).unwrap();
        Self { connection, answer }
    }

    async fn called(&mut self) -> Value {
        json(&self.connection.next().await.to_line())
    }

    fn answers(&self, call: &Value) {
        let mut answer = self.answer.clone();
        answer["type"] = json!("hook-answer");
        answer["callId"] = call["callId"].clone();
        self.connection.receive(FromHook::of(&fields(answer)).unwrap());
    }
}

/// Fires an event of which all these clients are told before the first of them answers; the last one
/// answers first.
async fn answered(
    system: &HookSystem,
    clients: &mut [Client],
    event: &str,
    input: Value,
) -> (Vec<Value>, Value) {
    let answering = async {
        let calls = join_all(clients.iter_mut().map(Client::called)).await;
        for (client, call) in clients.iter().zip(&calls).rev() {
            client.answers(call);
        }
        calls
    };
    tokio::join!(answering, fire(system, event, input))
}

/// A hook of a client that is a guard, or not.
fn hook(event: &str, guards: bool) -> Value {
    let behavior = if guards { "block" } else { "continue" };
    json!({"eventName": event, "config": {"failBehavior": behavior}})
}

/// Plays one answer by a client.
async fn by_client(hook: Value, answer: &Value, event: &str, input: &Value) -> Value {
    let (_project, system) = system_with(json!({"hooks": {}})).await;
    let mut clients = [Client::new(&system, hook, answer.clone())];
    answered(&system, &mut clients, event, input.clone()).await.1
}

/// Plays one answer by a command in settings, in the words of A3S or in ours.
async fn by_command(
    (language, name): (Option<&str>, &str),
    guards: bool,
    answer: &Value,
    event: &str,
    input: &Value,
) -> Value {
    let behavior = if guards { "block" } else { "continue" };
    let mut definition = json!({"hooks": [
        {"type": "command", "name": "hook", "command": "cat answer", "failBehavior": behavior}]});
    if let Some(language) = language {
        definition["language"] = json!(language);
    }
    let (project, system) = system_with(json!({"hooks": {name: [definition]}})).await;
    project.write("answer", &answer.to_string());
    fire(&system, event, input.clone()).await
}

/// Plays one answer by a worker that declares its hook.
async fn by_worker(mut hook: Value, answer: &Value, event: &str, input: &Value) -> Value {
    hook["hookId"] = json!("hook");
    let project = Project::new();
    let mut answer = answer.clone();
    answer["type"] = json!("hook-answer");
    let worker = format!(
        "import json, sys\n\
         def say(message):\n    print(json.dumps(message), flush=True)\n\
         say({{'type': 'hook-worker', 'protocol': 1, 'hooks': [json.loads(r'''{hook}''')]}})\n\
         for line in sys.stdin:\n    call = json.loads(line)\n    \
         if call['type'] == 'hook-call':\n        \
         say(dict(json.loads(r'''{answer}'''), callId=call['callId']))\n"
    );
    project.write("worker.py", &worker);
    let entry = json!({"type": "worker", "name": "w", "command": "exec python3 -B worker.py"});
    project.write("settings.json", &json!({"hooks": {"*": [{"hooks": [entry]}]}}).to_string());
    let system = project.system();
    let response = fire(&system, event, input.clone()).await;
    system.shutdown(std::time::Duration::ZERO).await;
    response
}

fn decision(response: &Value) -> &str {
    response["processed"]["decision"].as_str().unwrap()
}

/// All that callers are warned of.
fn warnings(response: &Value) -> String {
    let all = response["warnings"].as_array().into_iter().flatten();
    all.filter_map(Value::as_str).collect::<Vec<_>>().join("\n")
}

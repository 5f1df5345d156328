//! What A3S's hooks are sent, and that docs/dev/a3s.md says what is.

mod failed_tools;
mod generation;
mod page;
mod payloads;

use hook_bus::live::{HookRegister, LiveConnection};
use hook_bus::{HookExecutionRequest, HookSystem};
use hook_run::FromHook;
use hook_tests::{Project, fields, json};
use serde_json::{Value, json};

/// A hook of a client, in the words of an agent.
fn registered(system: &HookSystem, vocabulary: &str, event: &str) -> LiveConnection {
    let hook = json!({"type": "hook-register", "hookId": "h", "eventName": event,
        "vocabulary": vocabulary});
    let mut client = system.live_clients().connect();
    client.register(HookRegister::read(&fields(hook)).unwrap()).unwrap();
    client
}

/// A project without hooks whose user has these.
fn of_user(hooks: &Value) -> Project {
    let project = Project::new();
    let folder = project.home().join(".config/hooks");
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(folder.join("settings.json"), json!({"hooks": hooks}).to_string()).unwrap();
    project
}

/// What a hook wrote into the user's folder.
fn written(project: &Project, file: &str) -> Value {
    let text = std::fs::read_to_string(project.home().join(file)).unwrap_or_default();
    serde_json::from_str(&text).unwrap_or(Value::Null)
}

/// The next input of a hook, which has no objection.
async fn heard(client: &mut LiveConnection) -> Value {
    let call = json(&client.next().await.to_line());
    let answer = json!({"type": "hook-answer", "callId": call["callId"]});
    client.receive(FromHook::of(&fields(answer)).unwrap());
    call["input"].clone()
}

/// What a hook in the words of an agent is sent of an event of ours.
async fn sent(
    system: &HookSystem,
    (vocabulary, event): (&str, &str),
    ours: (&str, Value),
) -> Value {
    let mut client = registered(system, vocabulary, event);
    let request = HookExecutionRequest::new(ours.0, fields(ours.1));
    let (heard, response) = tokio::join!(heard(&mut client), system.bus().request(request));
    assert!(response.success(), "{:?}", response.error());
    client.unregister("h").unwrap();
    heard
}

//! A server that is started again: the guards that clients had registered block until they are back
//! (reference/messages.md, "Hooks of clients").

use std::io::BufRead;
use std::path::PathBuf;
use std::time::Duration;

use hook_bus::live::{HookRegister, LiveConnection, RECONNECT_GRACE};
use hook_bus::{HookExecutionRequest, HookSystem};
use hook_tests::{Project, SocketClient, SocketServed, fields, hook_binary, json, request};
use rustix::process::Signal;
use serde_json::{Value, json};

fn register(id: &str, fail_behavior: &str) -> Value {
    json!({"type": "hook-register", "hookId": id, "eventName": "BeforeTool",
        "matcher": {"tool": "run_shell_command"}, "config": {"failBehavior": fail_behavior}})
}

async fn registers(client: &mut SocketClient, id: &str, fail_behavior: &str) {
    let registered = client.ask(&register(id, fail_behavior)).await;
    assert_eq!(registered, json!({"type": "hook-registered", "hookId": id}));
}

/// What is decided about a tool call.
async fn decided(asker: &mut SocketClient, tool: &str) -> Value {
    let asked = request("BeforeTool", &json!({"tool_name": tool, "tool_input": {}}), "c");
    asker.ask(&asked).await["processed"].clone()
}

/// A connection, and the token that its client was given.
async fn connected(served: &SocketServed) -> (SocketClient, Value) {
    let mut client = served.stranger().await;
    let hello = client.receive().await;
    (client, hello["clientToken"].clone())
}

/// The client of that token comes to a server that does not know it.
async fn comes_back(client: &mut SocketClient, token: &Value) {
    let hello = json!({"type": "hook-hello", "protocol": 1, "clientToken": token});
    assert_eq!(client.ask(&hello).await["error"]["code"], "unknown_token");
}

/// Answers the next call without an objection.
async fn goes_on(client: &mut SocketClient) {
    let call = client.receive().await;
    let answer = json!({"type": "hook-answer", "callId": call["callId"], "action": "continue"});
    client.send(format!("{answer}\n")).await;
}

async fn ends(served: SocketServed, signal: Signal) {
    served.signal(signal);
    served.ended().await;
}

#[tokio::test]
async fn fault_64_between_a_restart_and_their_clients_return_guards_block() {
    for signal in [Signal::KILL, Signal::TERM] {
        let project = Project::with_settings(&json!({"hooks": {}}));
        let served = SocketServed::start(&project, &[]).await;
        let (mut guards, token) = connected(&served).await;
        registers(&mut guards, "first", "block").await;
        registers(&mut guards, "second", "block").await;
        registers(&mut guards, "no-guard", "continue").await;
        ends(served, signal).await;
        drop(guards);

        let served = SocketServed::start(&project, &[]).await;
        let (mut asker, _) = connected(&served).await;
        let decision = decided(&mut asker, "run_shell_command").await;
        assert_eq!(decision["decision"], "block", "{decision}");
        let reason = decision["reason"].as_str().unwrap();
        assert!(reason.contains("its client has not come back yet"), "{reason}");
        assert_eq!(decided(&mut asker, "read_file").await["decision"], "proceed");

        let (mut guards, newer) = connected(&served).await;
        comes_back(&mut guards, &token).await;
        registers(&mut guards, "first", "block").await;
        // The other one is not back yet: one allows, the other blocks.
        let (decision, ()) =
            tokio::join!(decided(&mut asker, "run_shell_command"), goes_on(&mut guards));
        assert_eq!(decision["decision"], "block");
        registers(&mut guards, "second", "continue").await;
        let tool = json!({"tool_name": "run_shell_command", "tool_input": {}});
        asker.send(format!("{}\n", request("BeforeTool", &tool, "c"))).await;
        for _ in 0..2 {
            goes_on(&mut guards).await;
        }
        let response = asker.receive().await;
        assert_eq!(response["processed"]["decision"], "proceed", "{response}");

        // What is remembered now is what there is now: by its new token, and no guard that is none any more.
        ends(served, signal).await;
        let served = SocketServed::start(&project, &[]).await;
        let (mut guards, _) = connected(&served).await;
        comes_back(&mut guards, &newer).await;
        registers(&mut guards, "first", "block").await;
        let unregister = json!({"type": "hook-unregister", "hookId": "first"});
        assert_eq!(guards.ask(&unregister).await["type"], "hook-unregistered");
        let (mut asker, _) = connected(&served).await;
        assert_eq!(decided(&mut asker, "run_shell_command").await["decision"], "proceed");
        ends(served, signal).await;

        let served = SocketServed::start(&project, &[]).await;
        let (mut asker, _) = connected(&served).await;
        assert_eq!(decided(&mut asker, "run_shell_command").await["decision"], "proceed");
    }
}

/// What makes it a guard may be a setting.
#[tokio::test]
async fn fault_64_a_guard_by_a_setting_is_one_after_a_restart_too() {
    let project = Project::with_settings(&json!({"hooks": {},
        "hooksConfig": {"registration": {"failBehavior": "block"}}}));
    let served = SocketServed::start(&project, &[]).await;
    let (mut guards, _) = connected(&served).await;
    let mut hook = register("guard", "block");
    hook.as_object_mut().unwrap().remove("config");
    assert_eq!(guards.ask(&hook).await["type"], "hook-registered");
    ends(served, Signal::KILL).await;
    let served = SocketServed::start(&project, &[]).await;
    let (mut asker, _) = connected(&served).await;
    assert_eq!(decided(&mut asker, "run_shell_command").await["decision"], "block");
    ends(served, Signal::TERM).await;
}

#[tokio::test]
async fn fault_64_only_the_client_that_had_a_guard_ends_its_blocking() {
    let project = Project::with_settings(&json!({"hooks": {}}));
    let served = SocketServed::start(&project, &[]).await;
    let (mut guards, _) = connected(&served).await;
    registers(&mut guards, "guard", "block").await;
    ends(served, Signal::KILL).await;

    let served = SocketServed::start(&project, &[]).await;
    let (mut other, _) = connected(&served).await;
    comes_back(&mut other, &json!("nobody's")).await;
    registers(&mut other, "guard", "continue").await;
    let (mut asker, _) = connected(&served).await;
    assert_eq!(decided(&mut asker, "run_shell_command").await["decision"], "block");
}

/// A system that remembers guards in a file, and the file.
fn remembering(project: &Project) -> (HookSystem, PathBuf) {
    let (system, file) = (project.system(), project.path().join("state/guards.json"));
    let warnings = system.live_clients().save_guards_in(file.clone()).unwrap();
    assert!(warnings.is_empty(), "{warnings:?}");
    (system, file)
}

fn read(message: &Value) -> HookRegister {
    HookRegister::read(&fields(message.clone())).unwrap()
}

async fn fire(system: &HookSystem) -> Value {
    let input = fields(json!({"tool_name": "run_shell_command", "tool_input": {}}));
    json(&system.bus().request(HookExecutionRequest::new("BeforeTool", input)).await.to_json())
}

#[tokio::test(start_paused = true)]
async fn fault_64_a_guard_that_does_not_come_back_is_missed_and_then_forgotten() {
    let project = Project::new();
    let (before, file) = remembering(&project);
    let mut client = before.live_clients().connect();
    client.register(read(&register("guard", "block"))).unwrap();
    assert!(file.exists());

    let (system, _) = remembering(&project);
    assert_eq!(fire(&system).await["processed"]["decision"], "block");
    tokio::time::sleep(RECONNECT_GRACE + Duration::from_secs(1)).await;
    let response = fire(&system).await;
    assert_eq!(response["processed"]["decision"], "proceed");
    let warnings = response["warnings"].to_string();
    assert!(warnings.contains("this guard of BeforeTool is gone with the client"), "{warnings}");
    assert!(!file.exists());
}

#[tokio::test]
async fn fault_64_what_is_no_list_of_guards_is_an_error_and_the_next_guard_is_remembered() {
    let project = Project::new();
    let file = project.write("guards.json", "{\"guards\": 7}");
    let system = project.system();
    let error = system.live_clients().save_guards_in(file.clone()).unwrap_err();
    assert_eq!(error.kind(), std::io::ErrorKind::InvalidData);
    // Nobody knows what they would have refused.
    assert_eq!(fire(&system).await["processed"]["decision"], "block");
    let unreadable = project.write("more.json", r#"{"guards": [7]}"#);
    let other = project.system();
    assert_eq!(other.live_clients().save_guards_in(unreadable).unwrap().len(), 1);
    assert_eq!(fire(&other).await["processed"]["decision"], "block");
    let mut client = system.live_clients().connect();
    client.register(read(&register("guard", "block"))).unwrap();

    let later = project.system();
    assert_eq!(later.live_clients().save_guards_in(file).unwrap(), [""; 0]);
    assert_eq!(fire(&later).await["processed"]["decision"], "block");
}

#[test]
fn fault_64_a_server_that_cannot_remember_guards_says_so_at_its_start() {
    let project = Project::with_settings(&json!({"hooks": {}}));
    // A link that leads nowhere stands where the folder would be.
    let state = project.home().join(".local/state/hook");
    std::fs::create_dir_all(&state).unwrap();
    std::os::unix::fs::symlink("nowhere", state.join("guards")).unwrap();
    let mut server = project.command(hook_binary());
    server.args(["serve", "--socket"]).arg(project.home().join("run/s"));
    let mut server = server.stderr(std::process::Stdio::piped()).spawn().unwrap();
    let mut lines = std::io::BufReader::new(server.stderr.take().unwrap()).lines();
    let mut said = String::new();
    while !said.contains("listening on ") {
        said += &lines.next().unwrap().unwrap();
    }
    server.kill().unwrap();
    server.wait().unwrap();
    assert!(said.contains("guards that clients register may not outlive this server"), "{said}");
}

#[tokio::test]
async fn fault_64_a_guard_that_fits_no_more_is_said() {
    let project = Project::new();
    let guard = r#"{"clientKey": "t", "register": {"hookId": "g", "eventName": "Deployed",
        "vocabulary": "native", "config": {"failBehavior": "block"}}}"#;
    let file = project.write("guards.json", &format!("{{\"guards\": [{guard}]}}"));
    let warnings = project.system().live_clients().save_guards_in(file).unwrap();
    assert_eq!(warnings.len(), 1);
    assert!(
        warnings[0].contains("the guard g of the server before is not in force"),
        "{warnings:?}"
    );
}

#[tokio::test]
async fn fault_102_a_guard_that_cannot_be_remembered_is_not_registered() {
    let project = Project::with_settings(&json!({"hooks": {}}));
    let (system, file) = remembering(&project);
    let mut client = system.live_clients().connect();
    let register = |id: &str, fails: &str| read(&self::register(id, fails));
    client.register(register("first", "block")).unwrap();
    // A folder stands where the file would be.
    std::fs::remove_file(&file).unwrap();
    std::fs::create_dir(&file).unwrap();
    std::fs::write(file.join("x"), "").unwrap();
    let refused = client.register(register("second", "block")).unwrap_err();
    assert_eq!(refused.code(), "not_saved");
    let text = refused.to_string();
    assert!(text.contains("failed to remember the guards of this server"), "{text}");
    client.register(register("no-guard", "continue")).unwrap();
    let ids = |client: &LiveConnection| -> Vec<String> {
        client.list().into_iter().map(|hook| hook.register.hook_id).collect()
    };
    assert_eq!(ids(&client), ["first", "no-guard"]);
    // What would come back with the next server is not taken back either.
    assert_eq!(client.unregister("first").unwrap_err().code(), "not_saved");
    assert_eq!(ids(&client), ["first", "no-guard"]);
    std::fs::remove_dir_all(&file).unwrap();
    client.register(register("second", "block")).unwrap();
    client.unregister("first").unwrap();
    assert_eq!(ids(&client), ["no-guard", "second"]);
    let saved = std::fs::read_to_string(&file).unwrap();
    assert!(saved.contains("\"second\"") && !saved.contains("\"first\""), "{saved}");
}

#[test]
fn fault_102_a_server_without_a_folder_for_its_state_says_so_at_its_start() {
    let project = Project::with_settings(&json!({"hooks": {}}));
    let socket = project.home().join("s");
    let mut server = project.command(hook_binary());
    server.args(["serve", "--socket"]).arg(&socket).env_remove("HOME").env_remove("XDG_STATE_HOME");
    let mut server = server.stderr(std::process::Stdio::piped()).spawn().unwrap();
    let mut lines = std::io::BufReader::new(server.stderr.take().unwrap()).lines();
    let mut said = String::new();
    while !said.contains("listening on ") {
        said += &lines.next().unwrap().unwrap();
    }
    server.kill().unwrap();
    server.wait().unwrap();
    assert!(said.contains("guards that clients register will not outlive this server"), "{said}");
}

//! Faults of clients on the line protocol: hooks that ask the server that runs them, and what all
//! clients together make it hold.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use hook_bus::wire::SocketServer;
use hook_bus::{BusLimits, MessageBus};
use hook_run::RunnerLimits;
use hook_tests::{Project, SocketClient, SocketServed, request};
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

/// Fires `BeforeAgent` into the server that runs it, with one less in its prompt, until that is
/// nothing, and says how deep it is and what it was told.
const ASK: &str = r#"
import json, os, socket, sys
path, token = sys.argv[1:]
left = int(json.load(sys.stdin)["prompt"])
said = os.environ["HOOK_DEPTH"]
if left > 0:
    server = socket.socket(socket.AF_UNIX)
    server.connect(path)
    lines = server.makefile("rw")
    lines.readline()
    request = {"type": "hook-execution-request", "eventName": "BeforeAgent",
               "input": {"prompt": str(left - 1)}}
    if token == "token":
        request["runToken"] = os.environ["HOOK_RUN_TOKEN"]
    lines.write(json.dumps(request) + "\n")
    lines.flush()
    response = json.loads(lines.readline())
    processed = response["processed"]
    errors = [error["message"] for error in response["output"]["errors"]]
    said += " " + " ".join([processed["decision"], processed.get("systemMessage", "")] + errors)
print(json.dumps({"systemMessage": said}))
"#;

/// How a hook asks, so that each way of telling that it does is the only one.
const WAYS: [(&str, &str); 2] = [("setsid -w", "token"), ("", "group")];

/// A project of whose hooks one may run at a time, which asks the server on that socket.
fn project_asking(socket: &Path, fail_behavior: &str, (before, told): (&str, &str)) -> Project {
    let project = Project::new();
    let script = project.write("ask.py", ASK);
    let command = format!("{before} python3 {} {} {told}", script.display(), socket.display());
    let hook = json!({"type": "command", "name": "asks", "command": command, "timeout": 120_000});
    let settings = json!({
        "hooksConfig": {"maxConcurrent": 1, "failBehavior": fail_behavior},
        "hooks": {"BeforeAgent": [{"hooks": [hook]}]}});
    project.write("settings.json", &settings.to_string());
    project
}

async fn ask(client: &mut SocketClient, left: u32) -> Value {
    client.ask(&request("BeforeAgent", &json!({"prompt": left.to_string()}), "c")).await
}

#[tokio::test]
async fn fault_41_hooks_that_ask_the_server_that_runs_them_are_answered_to_depth_eight() {
    for way in WAYS {
        let folder = Project::new();
        let socket = folder.home().join("s/hook.sock");
        let project = project_asking(&socket, "block", way);
        let served = SocketServed::start_at(&project, &socket).await;
        let mut client = served.client().await;
        let response = ask(&mut client, 7).await;
        let said = &response["processed"]["systemMessage"];
        assert_eq!(
            said, "1 proceed 2 proceed 3 proceed 4 proceed 5 proceed 6 proceed 7 proceed 8",
            "{way:?}: {response}"
        );
        assert_eq!(response["processed"]["warnings"], Value::Null, "{response}");
        // One deeper fails at once, and a guard blocks.
        let response = ask(&mut client, 8).await;
        let said = response["processed"]["systemMessage"].as_str().unwrap().to_owned();
        assert!(said.contains("7 proceed 8 block "), "{way:?}: {said}");
        assert!(said.contains("hooks are nested too deep"), "{said}");
        // Those that ran have given their slots back.
        assert_eq!(ask(&mut client, 0).await["processed"]["systemMessage"], "1");
    }
}

#[tokio::test]
async fn fault_41_neither_the_engine_nor_the_bus_makes_a_nested_request_wait_for_its_own_hook() {
    for way in WAYS {
        let folder = Project::new();
        let socket = folder.home().join("hook.sock");
        let project = project_asking(&socket, "continue", way);
        let settings =
            project.read("settings.json").replace("\"maxConcurrent\":1", "\"maxConcurrent\":0");
        project.write("settings.json", &settings);
        let bus = MessageBus::with_limits(BusLimits { in_flight: 1, ..BusLimits::default() });
        let limits = RunnerLimits { max_concurrent: 1, ..RunnerLimits::default() };
        let system = Arc::new(project.builder().bus(bus).limits(limits).build().unwrap());
        let server = SocketServer::bind(&socket).await.unwrap();
        let stop = CancellationToken::new();
        let client = async {
            let mut client = SocketClient::connect(&socket).await;
            client.receive().await;
            let response = ask(&mut client, 2).await;
            stop.cancel();
            response
        };
        let ((), response) = tokio::join!(server.serve(&system, &stop), client);
        let said = &response["processed"]["systemMessage"];
        assert_eq!(said, "1 proceed 2 proceed 3", "{way:?}: {response}");
    }
}

/// An engine in a hook, as `hook fire` is, runs hooks of its own; what they ask is nested all the
/// same.
#[tokio::test]
async fn fault_41_a_hook_of_an_engine_inside_of_a_hook_is_told_by_the_outer_token() {
    let folder = Project::new();
    let socket = folder.home().join("s/hook.sock");
    let project = project_asking(&socket, "continue", WAYS[0]);
    // The hook of the inner engine asks the outer one, which has one slot.
    let inner = project.read("settings.json");
    let inner = project.write("inner.json", &inner);
    let fire = format!(
        "[ $(python3 -c 'import json, sys; print(json.load(sys.stdin)[\"prompt\"])') = 0 ] && exit; \
         {} fire BeforeAgent --settings {} --input '{{\"prompt\": \"1\"}}' --json >&2",
        hook_tests::hook_binary().display(),
        inner.display()
    );
    let hook = json!({"type": "command", "command": fire, "timeout": 120_000});
    let settings = json!({"hooksConfig": {"maxConcurrent": 1},
        "hooks": {"BeforeAgent": [{"hooks": [hook]}]}});
    project.write("settings.json", &settings.to_string());
    let served = SocketServed::start_at(&project, &socket).await;
    let mut client = served.client().await;
    let mut asked = request("BeforeAgent", &json!({"prompt": "1"}), "c");
    asked["streams"] = json!(true);
    let response = client.ask(&asked).await;
    let told = response["hooks"][0]["stderr"].as_str().unwrap();
    assert!(told.contains("2 proceed"), "{response}");
}

#[tokio::test]
async fn fault_41_a_token_that_no_hook_has_is_a_warning() {
    let project = Project::with_hook("BeforeAgent", "echo '{\"systemMessage\":\"ran\"}'");
    let served = SocketServed::start(&project, &[]).await;
    let mut client = served.client().await;
    for token in ["", "made up", &"00000000000000000000000000000000.".repeat(1_000)] {
        let mut asked = request("BeforeAgent", &json!({"prompt": "p"}), "c");
        asked["runToken"] = json!(token);
        let response = tokio::time::timeout(Duration::from_secs(60), client.ask(&asked)).await;
        let response = response.unwrap();
        assert_eq!(response["processed"]["systemMessage"], "ran", "{response}");
        let warnings = response["warnings"].to_string();
        assert!(warnings.contains("runToken: no hook has this token"), "{response}");
    }
    let mut asked = request("BeforeAgent", &json!({"prompt": "p"}), "c");
    asked["runToken"] = json!(7);
    let response = client.ask(&asked).await;
    assert_eq!(response["error"]["code"], "invalid_request", "{response}");
}

/// A worker that blocks what it finds `rm -rf` in.
const GUARD: &str = r#"
import json, sys
print(json.dumps({"type": "hook-worker", "protocol": 1}), flush=True)
for line in sys.stdin:
    call = json.loads(line)
    if call["type"] == "hook-call":
        action = "block" if "rm -rf" in line else "continue"
        print(json.dumps({"type": "hook-answer", "callId": call["callId"], "action": action}), flush=True)
"#;

#[tokio::test]
async fn fault_100_a_live_guard_blocks_what_nests_too_deep_to_be_told() {
    let request = |levels: usize, text: &str| {
        let (open, close) = ("[".repeat(levels), "]".repeat(levels));
        format!(
            r#"{{"type":"hook-execution-request","eventName":"BeforeTool","correlationId":"c","input":{{"tool_name":"t","tool_input":{{"a":{open}"{text}"{close}}}}}}}"#
        ) + "\n"
    };
    let project = Project::new();
    let script = project.write("guard.py", GUARD);
    let command = format!("python3 {}", script.display());
    let worker =
        json!({"type": "worker", "failBehavior": "block", "timeout": 60_000, "command": command});
    let with_worker = json!({"hooks": {"BeforeTool": [{"hooks": [worker]}]}});
    for settings in [with_worker, json!({"hooks": {}})] {
        project.write("settings.json", &settings.to_string());
        let served = SocketServed::start(&project, &[]).await;
        let (mut asker, mut hooks) = (served.client().await, served.client().await);
        let is_registered = settings["hooks"].get("BeforeTool").is_none();
        if is_registered {
            let guard = json!({"type": "hook-register", "hookId": "g", "eventName": "BeforeTool",
                "config": {"timeout": 60_000, "failBehavior": "block"}});
            assert_eq!(hooks.ask(&guard).await["type"], "hook-registered");
        }
        // The envelope, the input and the tool's input have a level each.
        for (levels, text, decision) in [
            (97, "ls", "proceed"),
            (97, "rm -rf /", "block"),
            (98, "rm -rf /", "block"),
            (10_000, "rm -rf /", "block"),
        ] {
            asker.send(request(levels, text)).await;
            if is_registered && levels == 97 {
                let call = hooks.receive().await;
                let action = if call.to_string().contains("rm -rf") { "block" } else { "continue" };
                let answer =
                    json!({"type": "hook-answer", "callId": call["callId"], "action": action});
                hooks.send(format!("{answer}\n")).await;
            }
            let response = asker.receive().await;
            assert_eq!(response["processed"]["decision"], decision, "{levels} {text}: {response}");
            let error = response["hooks"][0]["error"].as_str().unwrap_or_default();
            let is_refused = error.contains("`input` would nest deeper than its 100 levels");
            assert_eq!(is_refused, levels > 97, "{error}");
        }
    }
}

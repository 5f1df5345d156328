//! The payloads of the design, from A3S through the bridge and to its hooks, with and without what is
//! optional; and a tool that a hook has its host run.

use std::sync::{Arc, Mutex};

use futures::FutureExt;
use futures::future::BoxFuture;
use hook_bus::{HookExecutionRequest, HookSystem};
use hook_json::RawJson;
use hook_run::{FromHook, HostCall, HostCallError, HostServices};
use hook_tests::{Hook, Project, fields, json, value};
use serde_json::{Value, json};

use super::{of_user, registered, sent, written};

/// Each event of the design: what must be there, what may be, and our event.
fn payloads() -> Vec<(&'static str, Value, Value, &'static str)> {
    let tool = json!({"tool": "Bash", "args": {"command": "ls"}});
    let model = json!({"name": "m", "provider": "p"});
    vec![
        (
            "PreToolUse",
            tool.clone(),
            json!({"context": {"workingDirectory": "/tmp", "recentTools": ["Read"], "tokenUsage": {"total_tokens": 1}}}),
            "BeforeTool",
        ),
        (
            "PostToolUse",
            tool.clone(),
            json!({"result": {"success": true, "output": "o", "exitCode": 0, "duration": 5}}),
            "AfterTool",
        ),
        ("ToolError", tool.clone(), json!({"error": "e", "exitCode": 1}), "ToolError"),
        ("PermissionRequest", tool.clone(), json!({}), "PermissionRequest"),
        ("PermissionGranted", tool.clone(), json!({"by": "user"}), "PermissionGranted"),
        ("PermissionDenied", tool, json!({"by": "user", "reason": "r"}), "PermissionDenied"),
        (
            "GenerateStart",
            json!({}),
            json!({"prompt": "p", "systemPrompt": "s", "model": model, "tools": ["Bash"]}),
            "BeforeModel",
        ),
        (
            "GenerateEnd",
            json!({}),
            json!({"prompt": "p", "model": model, "response": {"text": "t", "toolCalls": [{"name": "Bash", "args": {}}],
                "usage": {"total_tokens": 7}, "duration": 5}}),
            "AfterModel",
        ),
        (
            "SessionStart",
            json!({}),
            json!({"source": "resume", "model": "m", "systemPrompt": "s"}),
            "SessionStart",
        ),
        (
            "SessionEnd",
            json!({}),
            json!({"reason": "exit", "totalTokens": 1, "totalToolCalls": 2, "duration": 3}),
            "SessionEnd",
        ),
        (
            "PreCompact",
            json!({}),
            json!({"trigger": "auto", "messages": [{"role": "user"}], "usedTokens": 1, "maxTokens": 2}),
            "PreCompress",
        ),
        (
            "PostCompact",
            json!({}),
            json!({"trigger": "manual", "summary": "s", "messageCountBefore": 9, "messageCountAfter": 1}),
            "PostCompress",
        ),
        (
            "ContextWarning",
            json!({}),
            json!({"usedTokens": 1, "maxTokens": 2, "threshold": 0.5}),
            "ContextWarning",
        ),
    ]
}

fn with(one: &Value, more: &Value) -> Value {
    let mut all = one.clone();
    all.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    all
}

/// What hooks of ours and of A3S are sent of an event that A3S asks about.
fn bridged(event: &str, ours: &str, said: &Value) -> (Value, Value) {
    let hook =
        |file: &str| json!([{"type": "command", "command": format!("cat > \"$HOME/{file}\"")}]);
    let ours_and_theirs = match event == ours {
        true => {
            json!({ours: [{"hooks": hook("ours")}, {"language": "a3s", "hooks": hook("theirs")}]})
        }
        false => {
            json!({ours: [{"hooks": hook("ours")}], event: [{"language": "a3s", "hooks": hook("theirs")}]})
        }
    };
    let project = of_user(&ours_and_theirs);
    let finished = Hook::new(&project, &["bridge", "a3s", event]).stdin(said.to_string()).run();
    assert_eq!(finished.status, 0, "{event}: {finished:?}");
    assert_eq!(finished.stdout.trim(), r#"{"action":"continue"}"#, "{event}: {finished:?}");
    (written(&project, "ours"), written(&project, "theirs"))
}

#[test]
fn the_bridge_takes_every_payload_of_the_design_with_and_without_what_is_optional() {
    assert_eq!(payloads().len(), 13);
    for (event, required, optional, ours) in payloads() {
        let base = json!({"eventType": event, "sessionId": "s-1", "timestamp": 1_795_333_221_886_u64, "metadata": {}});
        let least = with(&json!({"eventType": event, "sessionId": "s-1"}), &required);
        for said in [least, with(&with(&base, &required), &optional)] {
            let (native, theirs) = bridged(event, ours, &said);
            assert_eq!(native["hook_event_name"], ours, "{event}");
            assert_eq!(native["session_id"], "s-1", "{event}");
            // Its own hooks get what it said.
            assert_eq!(theirs, said, "{event}");
            for name in ["context", "result", "response"] {
                assert_eq!(native.get(name), None, "{event}: {native}");
            }
        }
    }
}

#[tokio::test]
async fn the_fields_of_the_design_come_back_as_they_went() {
    let system = Project::new().system();
    for (event, required, optional, ours) in payloads() {
        let said =
            with(&with(&json!({"eventType": event, "sessionId": "s-1"}), &required), &optional);
        let (mut native, _) = bridged(event, ours, &said);
        for name in ["hook_event_name", "kind", "files", "transcript_path", "timestamp"] {
            native.as_object_mut().unwrap().remove(name);
        }
        let told = sent(&system, ("a3s", event), (ours, native)).await;
        for (name, value) in said.as_object().unwrap() {
            assert_eq!(&told[name], value, "{event}: {told}");
        }
    }
}

/// A host that notes which tools it is to run.
#[derive(Debug, Default)]
struct Tools(Mutex<Vec<Value>>);

impl HostServices for Tools {
    fn call(&self, call: HostCall) -> BoxFuture<'static, Result<RawJson, HostCallError>> {
        self.0.lock().unwrap().push(value(&call.params));
        async { Ok(RawJson::null()) }.boxed()
    }
}

/// What the host of an agent is asked to run by a hook that calls it `Bash`.
async fn run_by(
    system: &HookSystem,
    tools: &Tools,
    vocabulary: (&str, &str),
    input: Value,
) -> Value {
    let mut client = registered(system, vocabulary.0, vocabulary.1);
    let asking = async {
        let call = json(&client.next().await.to_line());
        client.receive(
            FromHook::of(&fields(
                json!({"type": "hook-host-call", "hostCallId": 1, "callId": call["callId"],
            "method": "tool.execute",
            "params": {"sessionId": "s", "tool": "Bash", "args": {"command": "ls", "timeout": 5}}}),
            ))
            .unwrap(),
        );
        client.next().await;
        client.receive(
            FromHook::of(&fields(json!({"type": "hook-answer", "callId": call["callId"]})))
                .unwrap(),
        );
    };
    let request = HookExecutionRequest::new("AfterTool", fields(input));
    tokio::join!(asking, system.bus().request(request));
    tools.0.lock().unwrap().pop().unwrap()
}

#[tokio::test]
async fn a_tool_that_a_hook_has_run_is_named_as_the_host_names_it() {
    let tools = Arc::new(Tools::default());
    let services = Arc::clone(&tools) as Arc<dyn HostServices>;
    let system = Project::new().builder().host_services(services).build().unwrap();
    let ran = |tool: &str| json!({"tool_name": tool, "tool_input": {}, "tool_response": ""});
    for (vocabulary, tool, expected) in [
        (("a3s", "PostToolUse"), "write_file", "run_shell_command"),
        (("native", "AfterTool"), "write_file", "Bash"),
        // This agent calls its own tools so.
        (("a3s", "PostToolUse"), "Write", "Bash"),
    ] {
        let asked = run_by(&system, &tools, vocabulary, ran(tool)).await;
        assert_eq!(asked["tool"], expected, "{vocabulary:?} {tool}");
        assert_eq!(asked["args"], json!({"command": "ls", "timeout": 5}), "{vocabulary:?} {tool}");
        assert_eq!(asked["sessionId"], "s");
    }
}

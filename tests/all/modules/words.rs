//! The words of modules (`omp`): what each of their events is told of ours, and what an answer means.

use hook_bus::live::{HookRegister, LiveConnection};
use hook_bus::module::ModuleApi;
use hook_bus::{HookExecutionRequest, HookSystem};
use hook_run::FromHook;
use hook_tests::{Project, fields, json};
use serde_json::{Value, json};

use super::Made;

fn hook(event: &str, fail_behavior: &str) -> HookRegister {
    let hook = json!({"type": "hook-register", "hookId": "m", "eventName": event, "vocabulary": "omp",
        "config": {"failBehavior": fail_behavior}});
    HookRegister::read(&fields(hook)).unwrap()
}

async fn fire(system: &HookSystem, event: &str, input: Value) -> Value {
    let mut input = fields(input);
    for (name, value) in [("session_id", "s"), ("transcript_path", "/t")] {
        input.insert(name, hook_json::RawJson::from_text(value));
    }
    json(&system.bus().request(HookExecutionRequest::new(event, input)).await.to_json())
}

/// The call that a module gets of an event of ours, and the response once it has answered that.
async fn asked(
    (theirs, fail_behavior): (&str, &str),
    (ours, input): (&str, &Value),
    answer: &Value,
) -> (Value, Value) {
    let system = Project::new().system();
    let mut client: LiveConnection = system.live_clients().connect();
    client.register(hook(theirs, fail_behavior)).unwrap();
    let answering = async {
        let call = json(&client.next().await.to_line());
        let mut said = json!({"type": "hook-answer", "callId": call["callId"]});
        for (name, value) in answer.as_object().unwrap() {
            said[name] = value.clone();
        }
        client.receive(FromHook::of(&fields(said)).unwrap());
        call
    };
    tokio::join!(answering, fire(&system, ours, input.clone()))
}

fn text(text: &str) -> Value {
    json!([{"type": "text", "text": text}])
}

/// The 25 events of the seed: what they are called, what we are told, and what they are.
fn events() -> Vec<(&'static str, &'static str, Value, Value)> {
    let call = json!({"tool_name": "replace", "tool_call_id": "c",
        "tool_input": {"file_path": "a", "old_string": "x", "new_string": "y"}});
    let edit = json!({"path": "a", "oldText": "x", "newText": "y"});
    let ran = json!({"tool_name": "run_shell_command", "tool_input": {"command": "ls"},
        "tool_response": {"llmContent": "a.txt", "metadata": {"lines": 1}}});
    let stable = json!([{"role": "user", "content": "hi"}]);
    vec![
        (
            "tool_call",
            "BeforeTool",
            call,
            json!({"toolName": "edit", "toolCallId": "c", "input": edit}),
        ),
        (
            "tool_result",
            "AfterTool",
            ran,
            json!({"toolName": "bash", "toolCallId": "", "input": {"command": "ls"},
                "content": text("a.txt"), "details": {"lines": 1}, "isError": false}),
        ),
        (
            "context",
            "BeforeModel",
            json!({"llm_request": {"model": "m", "messages": stable}}),
            json!({"messages": stable}),
        ),
        (
            "before_agent_start",
            "BeforeAgent",
            json!({"prompt": "p", "images": [{"type": "image"}]}),
            json!({"prompt": "p", "images": [{"type": "image"}]}),
        ),
        ("agent_start", "AgentStart", json!({}), json!({})),
        (
            "agent_end",
            "AfterAgent",
            json!({"prompt": "p", "prompt_response": "r", "stop_hook_active": false}),
            json!({"prompt": "p", "last_assistant_message": "r", "stop_hook_active": false,
                "messages": [{"role": "user", "content": text("p")},
                    {"role": "assistant", "content": text("r")}]}),
        ),
        (
            "turn_start",
            "TurnStart",
            json!({"turn_index": 2, "turn_timestamp": 7}),
            json!({"turnIndex": 2, "timestamp": 7}),
        ),
        (
            "turn_end",
            "TurnEnd",
            json!({"turn_index": 2, "message": {"role": "assistant"}, "tool_results": []}),
            json!({"turnIndex": 2, "message": {"role": "assistant"}, "toolResults": []}),
        ),
        ("session_start", "SessionStart", json!({"source": "resume"}), json!({"reason": "resume"})),
        ("session_shutdown", "SessionEnd", json!({"reason": "exit"}), json!({"reason": "exit"})),
        (
            "session_before_switch",
            "BeforeSessionSwitch",
            json!({"reason": "resume", "target": "/b"}),
            json!({"reason": "resume", "targetSessionFile": "/b"}),
        ),
        (
            "session_switch",
            "SessionSwitch",
            json!({"reason": "new", "previous": "/a"}),
            json!({"reason": "new", "previousSessionFile": "/a"}),
        ),
        (
            "session_before_branch",
            "BeforeSessionBranch",
            json!({"entry_id": "e"}),
            json!({"entryId": "e"}),
        ),
        (
            "session_branch",
            "SessionBranch",
            json!({"entry_id": "e", "previous": "/a"}),
            json!({"entryId": "e", "previousSessionFile": "/a"}),
        ),
        (
            "session_before_compact",
            "PreCompress",
            json!({"trigger": "auto", "preparation": {"a": 1}, "custom_instructions": "i"}),
            json!({"trigger": "auto", "preparation": {"a": 1}, "customInstructions": "i",
                "branchEntries": []}),
        ),
        (
            "session.compacting",
            "Compacting",
            json!({"messages": stable}),
            json!({"sessionId": "s", "messages": stable}),
        ),
        (
            "session_compact",
            "PostCompress",
            json!({"trigger": "auto", "summary": "short"}),
            json!({"trigger": "auto", "fromExtension": false,
                "compactionEntry": {"type": "compaction", "summary": "short"}}),
        ),
        (
            "session_before_tree",
            "BeforeSessionTree",
            json!({"preparation": {"targetId": "e"}}),
            json!({"preparation": {"targetId": "e"}}),
        ),
        (
            "session_tree",
            "SessionTree",
            json!({"new_leaf_id": "a", "old_leaf_id": "b", "summary_entry": {"id": "c"}}),
            json!({"newLeafId": "a", "oldLeafId": "b", "summaryEntry": {"id": "c"}}),
        ),
        (
            "auto_compaction_start",
            "AutoCompactionStart",
            json!({"reason": "overflow"}),
            json!({"reason": "overflow"}),
        ),
        (
            "auto_compaction_end",
            "AutoCompactionEnd",
            json!({"result": {"summary": "s"}, "aborted": false, "will_retry": true}),
            json!({"result": {"summary": "s"}, "aborted": false, "willRetry": true}),
        ),
        (
            "auto_retry_start",
            "AutoRetryStart",
            json!({"attempt": 1, "max_attempts": 3, "delay_ms": 20, "error": "busy"}),
            json!({"attempt": 1, "maxAttempts": 3, "delayMs": 20, "errorMessage": "busy"}),
        ),
        (
            "auto_retry_end",
            "AutoRetryEnd",
            json!({"success": true, "attempt": 1}),
            json!({"success": true, "attempt": 1}),
        ),
        ("ttsr_triggered", "RuleTriggered", json!({"rules": ["r"]}), json!({"rules": ["r"]})),
        (
            "todo_reminder",
            "TodoReminder",
            json!({"todos": [{"content": "t"}], "attempt": 1, "max_attempts": 3}),
            json!({"todos": [{"content": "t"}], "attempt": 1, "maxAttempts": 3}),
        ),
    ]
}

#[tokio::test]
async fn each_event_is_told_in_the_fields_of_modules() {
    let events = events();
    assert_eq!(events.len(), 25);
    for (theirs, ours, input, expected) in events {
        let (mut call, response) = asked((theirs, "block"), (ours, &input), &json!({})).await;
        assert_eq!(call["eventName"], theirs);
        assert_eq!(call.get("hasUI"), None, "nobody can be asked");
        let mut told = call["input"].take();
        let base = [("type", json!(theirs)), ("session_id", json!("s"))];
        for (name, value) in base.into_iter().chain([("transcript_path", json!("/t"))]) {
            assert_eq!(told.as_object_mut().unwrap().remove(name), Some(value), "{theirs}");
        }
        assert!(told.as_object_mut().unwrap().remove("cwd").is_some(), "{theirs}");
        assert_eq!(told, expected, "{theirs}");
        assert_eq!(response["success"], true, "{theirs}: {response}");
        assert_eq!(response["warnings"], Value::Null, "{theirs}");
    }
}

#[tokio::test]
async fn the_tools_of_modules_have_names_and_fields_of_their_own() {
    for (tool, input, theirs, told) in [
        ("run_shell_command", json!({"command": "ls"}), "bash", json!({"command": "ls"})),
        ("read_file", json!({"file_path": "a"}), "read", json!({"path": "a"})),
        (
            "write_file",
            json!({"file_path": "a", "content": "c"}),
            "write",
            json!({"path": "a", "content": "c"}),
        ),
        ("grep_search", json!({"pattern": "x"}), "grep", json!({"pattern": "x"})),
        ("glob", json!({"pattern": "x"}), "find", json!({"pattern": "x"})),
        ("list_directory", json!({"dir_path": "d"}), "ls", json!({"path": "d"})),
        ("brew_tea", json!({"path": "d"}), "brew_tea", json!({"path": "d"})),
        ("mcp_git_log", json!({"path": "d"}), "mcp_git_log", json!({"path": "d"})),
    ] {
        let input = json!({"tool_name": tool, "tool_input": input});
        let (call, _) = asked(("tool_call", "block"), ("BeforeTool", &input), &json!({})).await;
        assert_eq!((&call["input"]["toolName"], &call["input"]["input"]), (&json!(theirs), &told));
    }
}

/// An event of ours with its sample, for answers.
fn sample(theirs: &str) -> (&'static str, Value) {
    let events = events();
    let (_, ours, input, _) = events.into_iter().find(|(name, ..)| *name == theirs).unwrap();
    (ours, input)
}

#[tokio::test]
async fn what_a_handler_returns_counts_in_its_own_shape() {
    for (theirs, answer, pointer, expected) in [
        ("tool_call", json!({"block": true, "reason": "r"}), "/processed/reason", json!("r")),
        (
            "tool_call",
            json!({"block": true}),
            "/processed/reason",
            json!("Tool execution was blocked by a hook"),
        ),
        (
            "tool_call",
            json!({"block": false, "reason": "r"}),
            "/processed/decision",
            json!("proceed"),
        ),
        (
            "tool_call",
            json!({"input": {"path": "b", "oldText": "x", "newText": "z"}}),
            "/processed/modified/tool_input",
            json!({"file_path": "b", "old_string": "x", "new_string": "z"}),
        ),
        (
            "tool_result",
            json!({"content": text("n"), "details": {"d": 1}}),
            "/output/finalOutput/hookSpecificOutput/tool_response",
            json!({"llmContent": "n", "metadata": {"d": 1}}),
        ),
        (
            "context",
            json!({"messages": [{"role": "user", "content": "ho"}]}),
            "/output/finalOutput/hookSpecificOutput",
            json!({"llm_request": {"messages": [{"role": "user", "content": "ho"}]}}),
        ),
        (
            "before_agent_start",
            json!({"message": {"customType": "t", "content": "c", "display": true}}),
            "/output/finalOutput/hookSpecificOutput/message",
            json!({"customType": "t", "content": "c", "display": true}),
        ),
        ("session_before_switch", json!({"cancel": true}), "/processed/decision", json!("block")),
        (
            "session_before_switch",
            json!({"cancel": false}),
            "/processed/decision",
            json!("proceed"),
        ),
        (
            "session_before_branch",
            json!({"skipConversationRestore": true}),
            "/output/finalOutput/hookSpecificOutput/skipConversationRestore",
            json!(true),
        ),
        ("session_before_compact", json!({"cancel": true}), "/processed/decision", json!("block")),
        (
            "session_before_compact",
            json!({"compaction": {"summary": "s"}}),
            "/output/finalOutput/hookSpecificOutput/compaction",
            json!({"summary": "s"}),
        ),
        (
            "session_before_tree",
            json!({"summary": {"summary": "s"}}),
            "/output/finalOutput/hookSpecificOutput/summary",
            json!({"summary": "s"}),
        ),
        (
            "session.compacting",
            json!({"context": ["c"], "prompt": "p", "preserveData": {"k": 1}}),
            "/output/finalOutput/hookSpecificOutput",
            json!({"context": ["c"], "prompt": "p", "preserveData": {"k": 1}}),
        ),
        // What nobody looks at may be anything.
        ("turn_end", json!({"block": 7}), "/processed/decision", json!("proceed")),
    ] {
        let (ours, input) = sample(theirs);
        let (_, response) =
            asked((theirs, "continue"), (ours, &input), &json!({"output": answer})).await;
        assert_eq!(response.pointer(pointer), Some(&expected), "{theirs} {answer}: {response}");
        assert_eq!(response["warnings"], Value::Null, "{theirs} {answer}");
    }
}

#[tokio::test]
async fn an_argument_hides_behind_no_other_name() {
    let builder = Project::new().builder().module(Made("guard", |api: &mut ModuleApi| {
        api.on("tool_call", |_event, _ctx| async { Ok(None) });
    }));
    let system = builder.unwrap().build().unwrap();
    for (input, decision) in [
        (json!({"file_path": "/etc/passwd", "path": "ok.txt"}), "block"),
        (json!({"file_path": "ok.txt", "path": "/etc/passwd"}), "block"),
        (json!({"file_path": "ok.txt", "path": "ok.txt"}), "proceed"),
        (json!({"path": "ok.txt"}), "proceed"),
    ] {
        let call = json!({"tool_name": "write_file", "tool_input": input});
        let response = fire(&system, "BeforeTool", call).await;
        assert_eq!(response["processed"]["decision"], decision, "{response}");
    }
}

#[tokio::test]
async fn an_answer_that_is_none_is_a_failure_and_before_a_tool_a_block() {
    for (theirs, answer, says) in [
        ("tool_call", json!({"output": {"blok": true}}), "`blok` changes nothing"),
        ("tool_call", json!({"output": {"block": "yes"}}), "`block` is a string"),
        ("tool_call", json!({"output": {"decision": "block", "reason": "x"}}), "no word"),
        ("tool_call", json!({"output": {"reason": "no"}}), "no word"),
        ("tool_call", json!({"output": {"block": false, "deny": true}}), "no word"),
        ("tool_call", json!({"error": "no luck"}), "no luck"),
        ("tool_result", json!({"output": {"content": "n"}}), "`content` is a string"),
        ("context", json!({"output": {"message": []}}), "no word"),
        ("session_before_tree", json!({"output": {"cancel": 1}}), "`cancel` is a number"),
    ] {
        let (ours, input) = sample(theirs);
        for fail_behavior in ["continue", "block"] {
            let (_, response) = asked((theirs, fail_behavior), (ours, &input), &answer).await;
            let is_denied = theirs == "tool_call" || fail_behavior == "block";
            let expected = if is_denied { "block" } else { "proceed" };
            assert_eq!(
                response["processed"]["decision"], expected,
                "{theirs} {answer}: {response}"
            );
            assert!(!says.is_empty());
        }
    }
}

#[tokio::test]
async fn what_changes_nothing_is_said() {
    let failed = json!({"tool_name": "read_file", "tool_input": {}, "is_error": true,
        "tool_response": {"llmContent": "boom", "error": "boom"}});
    let plain = json!({"tool_name": "read_file", "tool_input": {}, "tool_response": "a"});
    for (input, answer, says) in [
        (&plain, json!({"isError": true}), "`isError` changes nothing"),
        (
            &plain,
            json!({"content": text("b"), "color": 1}),
            "`color` changes nothing on tool_result",
        ),
        (&plain, json!({"details": 1}), "`details`, since the tool's response has no place"),
        (&failed, json!({"content": text("fine")}), "for a tool that failed changes nothing"),
    ] {
        let (_, response) =
            asked(("tool_result", "continue"), ("AfterTool", input), &json!({"output": answer}))
                .await;
        let warnings = response["warnings"].to_string();
        assert!(warnings.contains(says), "{answer}: {response}");
        if input["is_error"] == true {
            assert_eq!(
                response["output"]["finalOutput"]["hookSpecificOutput"].get("tool_response"),
                None
            );
        }
    }
}

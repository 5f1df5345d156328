//! Registered hooks of one priority: at once, and all their answers merged.

use hook_json::RawObject;
use hook_protocol::events::BeforeTool;
use hook_protocol::{HookEventName, HookOutput};
use hook_run::HandlerHook;
use serde_json::{Value, json};

use super::{Client, answered, decision, fire, system_with, warnings};

fn call() -> Value {
    json!({"tool_name": "run_shell_command", "tool_input": {"command": "ls", "timeout": 5, "cwd": "/"}})
}

fn named(name: &str) -> Value {
    json!({"hookId": name})
}

fn args(args: Value) -> Value {
    json!({"action": "continue", "modified": {"args": args}})
}

/// What comes of answers by hooks that are registered in this order.
async fn merged(answers: &[Value]) -> Value {
    let (_project, system) = system_with(json!({"hooks": {}})).await;
    let names = ["one", "two", "three"];
    let clients = names.iter().zip(answers);
    let mut clients: Vec<Client> =
        clients.map(|(name, answer)| Client::new(&system, named(name), answer.clone())).collect();
    answered(&system, &mut clients, "BeforeTool", call()).await.1
}

#[tokio::test]
async fn registered_hooks_of_one_priority_are_asked_at_once_and_all_their_answers_count() {
    let on = json!({"action": "continue"});
    let block = json!({"action": "block", "reason": "no"});
    let retry = json!({"action": "retry", "delay": 10, "reason": "busy"});
    for (answers, expected, reason) in [
        ([retry.clone(), block.clone(), on.clone()], "block", Some("no")),
        ([block.clone(), retry.clone(), on.clone()], "block", Some("no")),
        ([on.clone(), retry.clone(), on.clone()], "retry", Some("busy")),
        ([on.clone(), on.clone(), on], "proceed", None),
    ] {
        let response = merged(&answers).await;
        assert_eq!(decision(&response), expected, "{response}");
        assert_eq!(response["processed"]["reason"].as_str(), reason, "{response}");
        let names: Vec<&str> = response["hooks"]
            .as_array()
            .unwrap()
            .iter()
            .map(|it| it["name"].as_str().unwrap())
            .collect();
        assert_eq!(names, ["one", "two", "three"], "in the order of registration");
        assert_eq!(response.get("notStarted"), None, "{response}");
    }
}

#[tokio::test]
async fn changes_of_hooks_that_were_asked_at_once_add_up_and_the_later_of_one_field_wins() {
    let both = [
        args(json!({"command": "ls", "timeout": 30, "cwd": "/"})),
        args(json!({"command": "ls -l", "timeout": 5, "cwd": "/"})),
    ];
    for answers in [both.clone(), [both[1].clone(), both[0].clone()]] {
        let response = merged(&answers).await;
        assert_eq!(
            response["processed"]["modified"]["tool_input"],
            json!({"command": "ls -l", "timeout": 30, "cwd": "/"}),
            "what a hook repeats is no change of it: {response}"
        );
        assert_eq!(warnings(&response), "", "{response}");
    }
    let response = merged(&[
        args(json!({"command": "one", "timeout": 5, "cwd": "/"})),
        args(json!({"command": "two", "timeout": 5, "cwd": "/"})),
    ])
    .await;
    assert_eq!(response["processed"]["modified"]["tool_input"]["command"], "two");
    let said = "tool_input.command was set by hook one and is replaced by hook two";
    assert!(warnings(&response).contains(said), "{response}");
    // Taken away by one, and changed by another.
    let response = merged(&[
        args(json!({"command": "ls", "timeout": 9, "cwd": "/", "new": 1})),
        args(json!({"command": "ls"})),
    ])
    .await;
    let left = &response["processed"]["modified"]["tool_input"];
    assert_eq!(left, &json!({"command": "ls", "new": 1}), "{response}");
    let said = "tool_input.timeout was set by hook one and is taken away by hook two";
    assert!(warnings(&response).contains(said), "{response}");
}

#[tokio::test]
async fn fields_that_a_hook_repeats_undo_no_change_of_another_in_our_words_either() {
    let (_project, system) = system_with(json!({"hooks": {}})).await;
    let native = |name: &str, input: Value| {
        let hook = json!({"hookId": name, "eventName": "BeforeTool", "vocabulary": "native"});
        let output = json!({"output": {"hookSpecificOutput": {"tool_input": input}}});
        Client::new(&system, hook, output)
    };
    let mut clients = [
        native("one", json!({"command": "ls -l"})),
        native("two", json!({"command": "ls", "timeout": 30})),
    ];
    let (_, response) = answered(&system, &mut clients, "BeforeTool", call()).await;
    assert_eq!(
        response["processed"]["modified"]["tool_input"],
        json!({"command": "ls -l", "timeout": 30}),
        "{response}"
    );
    assert_eq!(warnings(&response), "");
}

#[tokio::test]
async fn sequential_registered_hooks_are_told_what_those_before_them_changed() {
    let (_project, system) = system_with(json!({"hooks": {}})).await;
    let changes = HandlerHook::on::<BeforeTool>("changes", |_, answer| {
        answer.replace_tool_input(RawObject::parse(r#"{"a":1}"#).unwrap());
        Ok(())
    });
    let looks = HandlerHook::inline(HookEventName::BeforeTool, "looks", |_| {
        Ok(Some(HookOutput::default()))
    });
    let _changes = system.register(changes.sequential(true)).unwrap();
    let _looks = system.register(looks).unwrap();
    let response = fire(&system, "BeforeTool", call()).await;
    let told = &response["hooks"][1]["input"]["tool_input"];
    assert_eq!(told["a"], 1, "{response}");
}

/// What a guard gives back with all arguments counts with what others changed beside it: it has not seen
/// that, and is asked about it.
#[tokio::test]
async fn a_guard_that_gives_all_arguments_is_asked_again_about_what_another_changed_at_once() {
    let (_project, system) = system_with(json!({"hooks": {}})).await;
    let rewrites = args(json!({"command": "rm -rf /", "timeout": 5, "cwd": "/"}));
    let slower = args(json!({"command": "ls", "timeout": 30, "cwd": "/"}));
    let guard = json!({"hookId": "guard", "config": {"failBehavior": "block"}});
    let mut clients =
        [Client::new(&system, named("rewrites"), rewrites), Client::new(&system, guard, slower)];
    let answering = async {
        let calls = [clients[0].called().await, clients[1].called().await];
        for (client, call) in clients.iter().zip(&calls) {
            client.answers(call);
        }
        let again = clients[1].called().await;
        clients[1].answer = json!({"action": "block", "reason": "not that"});
        clients[1].answers(&again);
        again
    };
    let (again, response) = tokio::join!(answering, fire(&system, "BeforeTool", call()));
    assert_eq!(
        again["input"]["args"],
        json!({"command": "rm -rf /", "timeout": 30, "cwd": "/"}),
        "{again}"
    );
    assert_eq!(decision(&response), "block", "{response}");
    assert_eq!(response["processed"]["reason"], "not that");
}
